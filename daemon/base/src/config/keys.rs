//! Access to settings by key: lists settings with their values and the source of each value, and changes settings.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use afd_proto::config::{Setting, Source};
use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, Table};

use super::file::{DEVICE_SECTIONS, SECTIONS};
use super::section::{Key, Kind, range_text};
use super::{Config, ConfigError, DeviceSettings, Settings, edit};

/// Returns the declarations of all settings except the device settings.
fn keys() -> impl Iterator<Item = &'static Key> {
    SECTIONS.iter().copied().flatten().filter(|key| key.kind != Kind::Table)
}

/// Returns the declarations of the device settings. Their names lack the prefix `device.<name>.`.
fn device_keys() -> impl Iterator<Item = &'static Key> {
    DEVICE_SECTIONS.iter().copied().flatten().filter(|key| key.kind != Kind::Table)
}

/// Returns the settings that environment variables can override, as pairs of a setting's name and a variable's name.
pub fn variables() -> impl Iterator<Item = (&'static str, &'static str)> {
    keys().filter_map(|key| Some((key.name, key.env?)))
}

/// Returns the keys of changed settings that take effect only after a restart. `in_use` is the path of the database
/// that this process uses.
pub fn waiting_for_restart(settings: &Settings, in_use: &Path) -> Vec<String> {
    let waits = |key: &&Key| match key.name {
        "memory.db" => settings.database != in_use,
        _ => false,
    };
    keys().filter(|key| key.restart).filter(waits).map(|key| key.name.to_owned()).collect()
}

/// Why a setting cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// There is no setting with this key.
    #[error("no such setting: {0:?}")]
    Unknown(String),
    /// The new value is invalid.
    #[error("{key} expects {expected}")]
    InvalidValue {
        /// The setting's key.
        key: String,
        /// Description of the expected value.
        expected: String,
    },
    /// The setting can be switched on, or changed if it is no switch, only in the configuration file. Contains the key.
    #[error("{0} can be changed in the file only; a switch can be switched off")]
    FileOnly(String),
    /// The configuration file cannot be read or written, or would become invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// Returns the declaration of the setting with this key, which may be a device setting.
fn find(name: &str) -> Option<&'static Key> {
    if let Some(key) = keys().find(|k| k.name == name) {
        return Some(key);
    }
    let rest = name.strip_prefix("device.")?;
    // A device name may contain dots, so the key is matched at the end.
    device_keys()
        .find(|k| rest.strip_suffix(k.name).and_then(|r| r.strip_suffix('.')).is_some_and(|device| !device.is_empty()))
}

/// Splits a key at its dots. The name of a device is a single part, even if it contains dots.
fn parts(name: &str) -> Vec<&str> {
    let Some(rest) = name.strip_prefix("device.") else { return name.split('.').collect() };
    let Some(key) = find(name) else { return name.split('.').collect() };
    let device = rest.strip_suffix(key.name).and_then(|r| r.strip_suffix('.')).unwrap_or(rest);
    ["device", device].into_iter().chain(key.name.split('.')).collect()
}

/// Returns a setting's default.
fn default_of(key: &Key, config: &Config) -> Value {
    match key.name {
        "memory.db" => json!(afd_proto::paths::database()),
        "artifacts.dir" => json!(config.default_artifacts()),
        "backup.dir" => json!(config.default_backups_dir()),
        "sessions.progress_dir" => json!(afd_proto::paths::state_dir()),
        _ => key.default_value(),
    }
}

/// Returns all settings as a Markdown table.
pub fn markdown() -> String {
    let mut out = "| setting | default | meaning |\n|---|---|---|\n".to_owned();
    let devices = device_keys().map(|key| (format!("device.NAME.{}", key.name), key));
    for (name, key) in devices.chain(keys().map(|key| (key.name.to_owned(), key))) {
        let mut notes = Vec::new();
        if let Kind::Choice(words) = key.kind {
            notes.push(words.join(", "));
        }
        notes.extend(key.range.as_ref().filter(|r| **r != (1..=u64::MAX)).map(range_text));
        notes.extend(key.env.map(|env| format!("env `{env}`")));
        notes.extend(key.file_only.then(|| "in the file only".to_owned()));
        notes.extend(key.restart.then(|| "after a restart".to_owned()));
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        let default = key.default_text.map_or_else(|| default_in_words(key), str::to_owned);
        let _ = writeln!(out, "| `{name}` | {default} | {}{notes} |", key.about());
    }
    out
}

fn default_in_words(key: &Key) -> String {
    match key.default_value() {
        Value::Null => String::new(),
        Value::String(text) => format!("`{text}`"),
        Value::Array(words) => {
            words.iter().filter_map(Value::as_str).map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ")
        }
        value => format!("`{value}`"),
    }
}

fn document(config: &Config) -> Result<DocumentMut, ConfigError> {
    let path = config.path();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(ConfigError::Io { path: path.to_owned(), error }),
    };
    text.parse().map_err(|_| ConfigError::Bad {
        path: path.to_owned(),
        error: "the file is not valid TOML; fix it first".into(),
    })
}

fn in_file(document: &DocumentMut, name: &str) -> Option<Value> {
    let item = parts(name).into_iter().try_fold(document.as_item(), |item, part| item.get(part))?;
    match item.as_value()? {
        toml_edit::Value::String(v) => Some(json!(v.value())),
        toml_edit::Value::Integer(v) => Some(json!(v.value())),
        toml_edit::Value::Boolean(v) => Some(json!(v.value())),
        toml_edit::Value::Array(list) => Some(list.iter().map(|v| json!(v.as_str().unwrap_or_default())).collect()),
        other => Some(json!(other.to_string().trim())),
    }
}

/// Returns the value of a setting in the sections `[remote]` and `[connection]` of `af`, taken from the equivalent
/// setting of the device `default`. Returns `None` if the file does not contain that setting.
fn of_default_device(document: &DocumentMut, name: &str) -> Option<Value> {
    let key = match name {
        "remote.url" => "url",
        "remote.token" => "token",
        "connection.transport" => return in_file(document, "device.default.usb.serial").map(|_| json!("usb-forward")),
        "connection.usb.device" => "usb.serial",
        "connection.usb.local_port" => "usb.local_port",
        "connection.usb.device_port" => "usb.device_port",
        _ => return None,
    };
    in_file(document, &format!("device.default.{key}"))
}

fn entry(config: &Config, document: &DocumentMut, name: &str, key: &Key) -> Setting {
    let (mut value, (source, origin)) = match (config.overrides().values.get(key.name), in_file(document, name)) {
        (Some(o), _) => (
            json!(o.value),
            (if o.variable.is_some() { Source::Env } else { Source::Flag }, o.variable.map(str::to_owned)),
        ),
        (None, Some(value)) => (value, (Source::File, Some(config.path().display().to_string()))),
        (None, None) if of_default_device(document, name).is_some() => (
            of_default_device(document, name).unwrap_or_default(),
            (Source::File, Some(config.path().display().to_string())),
        ),
        (None, None) => (default_of(key, config), (Source::Default, None)),
    };
    if let Some(url) = value.as_str().filter(|_| key.name.ends_with("url")) {
        value = json!(without_credentials(url));
    }
    if key.kind == Kind::Secret && !value.is_null() {
        value = json!("<redacted>");
    }
    Setting { key: name.to_owned(), value, source, origin, about: key.about().to_owned(), needs_restart: key.restart }
}

/// Returns a URL without the parts that may contain secrets: credentials, query and fragment.
fn without_credentials(url: &str) -> String {
    let shown = url.split(['?', '#']).next().unwrap_or_default();
    match shown.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?.1))) {
        Some((scheme, host)) => format!("{scheme}://{host}"),
        None => shown.to_owned(),
    }
}

/// Returns all settings with their values. A device's settings are included if they are set or have a default.
///
/// # Errors
/// If the file cannot be read.
pub fn list(config: &Config) -> Result<Vec<Setting>, KeyError> {
    let document = document(config)?;
    let mut entries: Vec<Setting> = keys().map(|k| entry(config, &document, k.name, k)).collect();
    let devices = document.get("device").and_then(Item::as_table_like);
    for (device, _) in devices.into_iter().flat_map(|d| d.iter()) {
        let all = device_keys().map(|k| entry(config, &document, &format!("device.{device}.{}", k.name), k));
        entries.extend(all.filter(|e| !e.value.is_null()));
    }
    Ok(entries)
}

/// Returns the setting with this key, and its value.
///
/// # Errors
/// If the key is unknown or the file cannot be read.
pub fn get(config: &Config, name: &str) -> Result<Setting, KeyError> {
    let key = find(name).ok_or_else(|| KeyError::Unknown(name.to_owned()))?;
    Ok(entry(config, &document(config)?, name, key))
}

fn typed(name: &str, key: &Key, text: &str) -> Result<toml_edit::Value, KeyError> {
    let invalid = |expected: &str| KeyError::InvalidValue { key: name.to_owned(), expected: expected.to_owned() };
    Ok(match key.kind {
        Kind::Number => {
            let number = text.trim().replace('_', "").parse::<i64>().ok().filter(|n| *n >= 0);
            let range = key.range.as_ref().map_or_else(|| "at least 0".to_owned(), range_text);
            number.ok_or_else(|| invalid(&format!("a whole number, {range}")))?.into()
        }
        Kind::Flag => text.trim().parse::<bool>().map_err(|_| invalid("true or false"))?.into(),
        Kind::List => words(text).ok_or_else(|| invalid("words between commas, or a list of texts as JSON"))?.into(),
        Kind::Path if text.is_empty() => return Err(invalid("a path")),
        Kind::Choice(words) if !words.contains(&text) => return Err(invalid(&format!("one of: {}", words.join(", ")))),
        Kind::Text | Kind::Choice(_) | Kind::Secret | Kind::Path | Kind::Table => text.into(),
    })
}

/// Parses a list, which is either words separated by commas or a JSON array of strings. Returns `None` for anything
/// else that looks like JSON.
fn words(text: &str) -> Option<toml_edit::Array> {
    if text.trim_start().starts_with('[') {
        return serde_json::from_str::<Vec<String>>(text).ok().map(|words| words.into_iter().collect());
    }
    let plain = !text.contains(['[', ']', '"', '{', '}']);
    plain.then(|| text.split(',').map(str::trim).filter(|w| !w.is_empty()).collect())
}

/// Writes a setting to the configuration file.
///
/// # Errors
/// If the key is unknown, the value is invalid, or the file cannot be written. The file is then unchanged.
pub fn set(config: &Config, name: &str, text: &str) -> Result<(), KeyError> {
    set_all(config, None, &[(name, text)])
}

/// Writes a device, if one is given, and several settings to the configuration file, either all of them or none.
///
/// # Errors
/// If a key is unknown, a value is invalid, or the file cannot be written. The file is then unchanged.
pub fn set_all(
    config: &Config,
    device: Option<(&str, &DeviceSettings)>,
    settings: &[(&str, &str)],
) -> Result<(), KeyError> {
    let mut values = Vec::with_capacity(settings.len());
    for (name, text) in settings {
        let key = find(name).ok_or_else(|| KeyError::Unknown((*name).to_owned()))?;
        if key.file_only && (key.kind != Kind::Flag || text.trim() != "false") {
            return Err(KeyError::FileOnly((*name).to_owned()));
        }
        values.push((*name, typed(name, key, text)?));
    }
    // Report an already invalid file now, so that a later error is not attributed to the new value.
    super::reading::read(config.path())?;
    let last = values.last().map(|(name, _)| *name);
    let changed = edit::change(config.path(), |document| {
        if let Some((name, settings)) = device {
            edit::insert_device(document, name, settings)?;
        }
        values.into_iter().try_for_each(|(name, value)| insert(document, name, value))
    });
    changed.map_err(|error| match (error, last) {
        (ConfigError::Bad { error, .. }, Some(name)) => {
            KeyError::InvalidValue { key: name.to_owned(), expected: expected(&error.to_string()) }
        }
        (other, _) => KeyError::Config(other),
    })
}

fn insert(document: &mut DocumentMut, name: &str, value: toml_edit::Value) -> Result<(), &'static str> {
    let parts = parts(name);
    let (last, tables) = parts.split_last().ok_or("the key is empty")?;
    let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
    for part in tables {
        let item = table.entry(part).or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        table = item.as_table_like_mut().ok_or("a part of the key is a value, not a table")?;
    }
    table.insert(last, Item::Value(value));
    Ok(())
}

/// Extracts a description of the expected value from the parser's error about the changed file.
fn expected(complaint: &str) -> String {
    let tail = complaint.rsplit_once("expected ").map_or(complaint, |(_, tail)| tail);
    match tail.trim_matches('`') {
        "u16" => "a port from 0 to 65535".to_owned(),
        "u32" | "u64" | "usize" => "a whole number of at least 0".to_owned(),
        // The parser lists the words of a choice in backquotes.
        other => other.replace('`', ""),
    }
}

/// Removes a setting from the configuration file. Returns false if it was not set there.
///
/// # Errors
/// If the key is unknown, or the file would be invalid without the setting. The file is then unchanged.
pub fn unset(config: &Config, name: &str) -> Result<bool, KeyError> {
    let key = find(name).ok_or_else(|| KeyError::Unknown(name.to_owned()))?;
    // Without a list of what is denied, more is allowed.
    if key.file_only && key.kind != Kind::Flag {
        return Err(KeyError::FileOnly(name.to_owned()));
    }
    if in_file(&document(config)?, name).is_none() {
        return Ok(false);
    }
    edit::change(config.path(), |document| {
        let parts = parts(name);
        let (last, tables) = parts.split_last().ok_or("the key is empty")?;
        let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
        for part in tables {
            table = table
                .get_mut(part)
                .and_then(Item::as_table_like_mut)
                .ok_or("a part of the key is a value, not a table")?;
        }
        table.remove(last);
        Ok(())
    })?;
    Ok(true)
}

/// Returns up to five existing keys that are similar to `name`, best match first.
pub fn alike(name: &str) -> Vec<&'static str> {
    let last = name.rsplit('.').next().unwrap_or(name);
    let mut found: BTreeMap<usize, Vec<&'static str>> = BTreeMap::new();
    for key in keys() {
        let same = key.name.split('.').filter(|p| name.split('.').any(|n| n == *p)).count()
            + usize::from(key.name.contains(last));
        if same > 0 {
            found.entry(usize::MAX - same).or_default().push(key.name);
        }
    }
    found.into_values().flatten().take(5).collect()
}

#[cfg(test)]
mod tests;
