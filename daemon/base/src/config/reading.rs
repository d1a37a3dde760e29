//! Reading the configuration file, and checks of what is in it.

use std::path::Path;

use afd_proto::Secret;

use super::file::{DeviceKind, File};
use super::section::SettingValue as _;
use super::{ConfigError, InvalidSetting, agent};

/// Maximum size of the configuration file, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Reads the configuration file. Returns its content and the names of unknown keys. A missing file counts as empty.
///
/// # Errors
/// If the file cannot be read, is not valid TOML, or contains a value that has the wrong type or is out of range.
pub fn read(path: &Path) -> Result<(File, Vec<String>), ConfigError> {
    let bytes = match crate::file::read_capped(path, MAX_FILE) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((File::default(), Vec::new())),
        Err(error) => return Err(ConfigError::Io { path: path.to_owned(), error }),
    };
    let text = String::from_utf8(bytes)
        .map_err(|_| ConfigError::Bad { path: path.to_owned(), error: "the file is not UTF-8".into() })?;
    parse(&text).map_err(|error| ConfigError::Bad { path: path.to_owned(), error })
}

/// Parses the text of a configuration file. Returns its content and the names of unknown keys.
///
/// # Errors
/// If the text is invalid. The error says where and why. It omits the line that the parser quotes, because the line may
/// contain a token.
pub fn parse(text: &str) -> Result<(File, Vec<String>), InvalidSetting> {
    let deserializer = toml::Deserializer::parse(text).map_err(|e| located(text, &e))?;
    let mut unknown = Vec::new();
    let file: File =
        serde_ignored::deserialize(deserializer, |key| unknown.push(key.to_string())).map_err(|e| located(text, &e))?;
    validate(&file)?;
    Ok((file, unknown))
}

fn located(text: &str, error: &toml::de::Error) -> InvalidSetting {
    InvalidSetting::from(match error.span() {
        Some(span) => {
            format!("line {}: {}", text[..span.start.min(text.len())].matches('\n').count() + 1, error.message())
        }
        None => error.message().to_owned(),
    })
}

/// Checks the settings of a file.
///
/// # Errors
/// If a value is not acceptable. The error names its key and says what was expected.
fn validate(file: &File) -> Result<(), InvalidSetting> {
    for (name, device) in file.devices() {
        let within = |e: InvalidSetting| format!("device.{name}.{e}");
        check_name(&name).map_err(|e| format!("device.{name}: {e}"))?;
        check_url(device.kind, &device.url).map_err(|e| format!("device.{name}.url: {e}"))?;
        device.check("", None).map_err(within)?;
        if device.token.as_ref().is_some_and(|token| !is_sendable(token)) {
            return Err(format!("device.{name}.token: expected printable ASCII characters, without spaces").into());
        }
        if device.token.is_some() && device.token_file.is_some() {
            return Err(format!("device.{name}: expected either token or token_file, got both").into());
        }
        if !Path::new(&device.browser.profile).is_absolute() {
            check_name(&device.browser.profile).map_err(|e| format!("device.{name}.browser.profile: {e}"))?;
        }
        if let Some(attach) = &device.browser.attach {
            check_attach(attach).map_err(|expected| format!("device.{name}.browser.attach: expected {expected}"))?;
        }
        if device.usb.as_ref().is_some_and(|usb| usb.serial.is_empty()) {
            return Err(format!("device.{name}.usb.serial is missing, expected the serial number of the phone").into());
        }
    }
    file.artifacts.check("", None)?;
    file.backup.check("", None)?;
    file.limits.check("", None)?;
    file.adb.check("", None)?;
    file.visual.check("", None)?;
    file.observe.check("", None)?;
    file.conversation.check("", None)?;
    file.model.check("", None)?;
    file.recall.check("", None)?;
    agent::validate(&file.conversation, &file.model, &file.recall)
}

/// Checks the debugging address of a browser, and returns it. It must be one of this machine: whoever can connect there can
/// do what the user can, and the protocol has no encryption.
///
/// # Errors
/// Describes the accepted addresses if this is none of them.
pub fn check_attach(text: &str) -> Result<url::Url, &'static str> {
    const ADDRESS: &str = "the debugging address of a browser on this machine, such as http://127.0.0.1:9222";
    let url = url::Url::parse(text).map_err(|_| ADDRESS)?;
    let is_local = match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    };
    let is_plain = url.scheme() == "http" && url.username().is_empty() && url.password().is_none();
    if is_local && is_plain && matches!(url.path(), "/" | "") { Ok(url) } else { Err(ADDRESS) }
}

/// Checks a device name.
///
/// # Errors
/// If the name is invalid. The error says what was expected.
pub fn check_name(name: &str) -> Result<(), InvalidSetting> {
    let fits = (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if fits { Ok(()) } else { Err(format!("expected 1 to 64 letters, digits, '-', '_' or '.', got {name:?}").into()) }
}

/// Returns whether a token can be sent in an HTTP header.
pub fn is_sendable(token: &Secret) -> bool {
    token.expose().bytes().all(|b| b.is_ascii_graphic())
}

/// Checks a base URL.
///
/// # Errors
/// If the URL is invalid. The error says what was expected.
pub fn check_url(kind: DeviceKind, url: &str) -> Result<(), InvalidSetting> {
    if kind == DeviceKind::Adb {
        let is_serial =
            |serial: &str| !serial.is_empty() && serial.len() <= 256 && serial.chars().all(|c| c.is_ascii_graphic());
        return match url.strip_prefix("adb:") {
            Some(serial) if is_serial(serial) => Ok(()),
            _ => Err("expected `adb:` and a serial number of `adb devices`, such as adb:emulator-5554".into()),
        };
    }
    if kind == DeviceKind::Browser {
        let is_page = |url: &url::Url| matches!(url.scheme(), "http" | "https") && url.has_host();
        let parsed = url::Url::parse(url).ok().filter(|url| is_page(url) || url.as_str() == "about:blank");
        return parsed.map(|_| ()).ok_or_else(|| "expected the URL of a page, such as https://example.com".into());
    }
    let rest = url.strip_prefix("http://").unwrap_or("");
    if rest.is_empty() || rest.starts_with('/') || url.contains(char::is_whitespace) {
        return Err("expected a URL such as http://192.168.1.20:8081".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests;
