//! Edits the configuration file without changing its comments and formatting.

use std::path::Path;

use parking_lot::Mutex;
use toml_edit::{DocumentMut, Item, Table, value};

use super::{Browser, ConfigError, DeviceKind, DeviceSettings, InvalidSetting, Proxy};

/// Writes a device's settings to the configuration file.
///
/// # Errors
/// If the file cannot be read, parsed or replaced, or the result would be invalid.
pub fn add_device(path: &Path, name: &str, device: &DeviceSettings) -> Result<(), ConfigError> {
    change(path, |document| insert_device(document, name, device))
}

/// Inserts a device's settings into the document of the configuration file.
pub(super) fn insert_device(
    document: &mut DocumentMut,
    name: &str,
    device: &DeviceSettings,
) -> Result<(), &'static str> {
    let devices = document.entry("device").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let devices =
        devices.as_table_mut().ok_or("`device` is not a table of its own; write each device as [device.NAME]")?;
    let mut table = Table::new();
    if device.kind != DeviceKind::default() {
        table["kind"] = value(device.kind.word());
    }
    table["url"] = value(&device.url);
    if let Some(token) = &device.token {
        table["token"] = value(token.expose());
    }
    if device.timeout_ms != 10_000 {
        table["timeout_ms"] = value(i64::try_from(device.timeout_ms).unwrap_or(i64::MAX));
    }
    if device.dump_timeout_ms != 5_000 {
        table["dump_timeout_ms"] = value(i64::try_from(device.dump_timeout_ms).unwrap_or(i64::MAX));
    }
    if device.proxy != Proxy::Auto {
        table["proxy"] = value(device.proxy.word());
    }
    if let Some(serial) = &device.adb_serial {
        table["adb_serial"] = value(serial);
    }
    let allowed =
        [("allow_shell", device.allow_shell), ("allow_intent", device.allow_intent), ("allow_apps", device.allow_apps)];
    for (key, allowed) in allowed {
        if allowed {
            table[key] = value(true);
        }
    }
    if let Some(usb) = &device.usb {
        let mut usb_table = Table::new();
        usb_table["serial"] = value(&usb.serial);
        usb_table["local_port"] = value(i64::from(usb.local_port));
        usb_table["device_port"] = value(i64::from(usb.device_port));
        usb_table["own_forward"] = value(usb.own_forward);
        table["usb"] = Item::Table(usb_table);
    }
    if device.kind == DeviceKind::Browser {
        let mut browser = Table::new();
        if let Some(attach) = &device.browser.attach {
            browser["attach"] = value(attach);
        } else if device.browser.profile != Browser::default().profile {
            browser["profile"] = value(&device.browser.profile);
        }
        if !browser.is_empty() {
            table["browser"] = Item::Table(browser);
        }
    }
    devices.insert(name, Item::Table(table));
    Ok(())
}

/// Removes a device's settings from the configuration file.
///
/// # Errors
/// If the file cannot be read, parsed or replaced, or the result would be invalid.
pub fn remove_device(path: &Path, name: &str) -> Result<(), ConfigError> {
    if !path.exists() {
        return Ok(());
    }
    change(path, |document| {
        if let Some(devices) = document.get_mut("device").and_then(Item::as_table_like_mut) {
            devices.remove(name);
        }
        if name == "default" {
            document.remove("remote");
            document.remove("connection");
        }
        Ok(())
    })
}

/// Applies an edit to the configuration file. The file stays unchanged if the daemon would reject the edited file at
/// its next start.
pub(super) fn change(
    path: &Path,
    edit: impl FnOnce(&mut DocumentMut) -> Result<(), &'static str>,
) -> Result<(), ConfigError> {
    // Serialise edits, because concurrent edits could undo each other.
    static EDITING: Mutex<()> = Mutex::new(());
    let _editing = EDITING.lock();
    let io = |error| ConfigError::Io { path: path.to_owned(), error };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(io(error)),
    };
    let mut document: DocumentMut = text.parse().map_err(|_| ConfigError::Bad {
        path: path.to_owned(),
        error: "the file is not valid TOML; fix it first".into(),
    })?;
    let bad = |error: InvalidSetting| ConfigError::Bad { path: path.to_owned(), error };
    edit(&mut document).map_err(|e| bad(e.into()))?;
    let text = document.to_string();
    super::reading::parse(&text).map_err(bad)?;
    // If the path is a symbolic link, its target is replaced, not the link.
    crate::file::replace(&path.canonicalize().unwrap_or_else(|_| path.to_owned()), text.as_bytes()).map_err(io)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_results_are_not_written() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("config.toml");
        let device = DeviceSettings::at("http://h:1");
        for before in [
            "device = 1\n",
            "[[device]]\nx = 1\n",
            "device = { a = { url = 'http://h:1' } }\n",
            "[limits]\nin_flight = 0\n",
        ] {
            std::fs::write(&path, before).expect("writes");
            assert!(add_device(&path, "b", &device).is_err(), "{before}");
            assert_eq!(std::fs::read_to_string(&path).expect("reads"), before);
        }
    }

    #[test]
    fn comments_and_formatting_are_kept() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("sub/config.toml");
        let device = DeviceSettings { token: Some("t".to_owned().into()), ..DeviceSettings::at("http://h:1") };
        add_device(&path, "a", &device).expect("adds");
        let mine = format!("{}\n# mine\n[limits]\nbatch = 3 # few\n", std::fs::read_to_string(&path).expect("reads"));
        std::fs::write(&path, mine).expect("writes");
        add_device(&path, "b.c", &device).expect("adds");
        remove_device(&path, "a").expect("removes");
        let text = std::fs::read_to_string(&path).expect("reads");
        assert!(text.contains("# mine") && text.contains("batch = 3 # few") && !text.contains("[device.a]"), "{text}");
        let (file, unknown) = super::super::reading::read(&path).expect("reads");
        assert_eq!(file.devices().keys().collect::<Vec<_>>(), ["b.c"]);
        assert!(unknown.is_empty());
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).expect("is there").permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
}
