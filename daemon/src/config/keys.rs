//! The settings by key: what they are, where each comes from, and changing one.

use std::collections::BTreeMap;
use std::path::Path;

use afd_proto::config::{Setting, Source};
use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, Table};

use super::{Config, ConfigError, DeviceSettings, File, Settings, edit};

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Secret,
    Path,
    Number,
    Flag,
    /// Words, with commas between them when they are set.
    List,
}

/// A setting.
struct Key {
    name: &'static str,
    kind: Kind,
    about: &'static str,
    /// Whether it counts only from the next start on.
    restart: bool,
}

const fn key(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, about, restart: false }
}

const fn at_start(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, about, restart: true }
}

const KEYS: &[Key] = &[
    at_start("memory.db", Kind::Path, "the memory database"),
    key("artifacts.dir", Kind::Path, "shared root of artifacts"),
    key("artifacts.screen_file", Kind::Path, "file of full screens"),
    key("artifacts.screenshot_file", Kind::Path, "file of screenshots"),
    key("artifacts.page_dir", Kind::Path, "directory of pages"),
    key("artifacts.max_bytes", Kind::Number, "the most that files in the shared root may take, bytes"),
    key("artifacts.max_age_days", Kind::Number, "how long files in the shared root are kept, days"),
    key("output.default", Kind::Text, "how afctl prints: auto, human, json or text"),
    key("remote.url", Kind::Text, "base URL of the device `default`"),
    key("remote.token", Kind::Secret, "token of the device `default`"),
    key("connection.transport", Kind::Text, "how the device `default` is reached: usb-forward or nothing"),
    key("connection.usb.device", Kind::Text, "serial of the device `default`"),
    key("connection.usb.local_port", Kind::Number, "port on this machine that leads to the device `default`"),
    key("connection.usb.device_port", Kind::Number, "port of the service on the device `default`"),
    key("limits.frame_bytes", Kind::Number, "largest message, bytes"),
    key("limits.connections", Kind::Number, "open connections"),
    key("limits.in_flight", Kind::Number, "requests in flight per connection"),
    key("limits.batch", Kind::Number, "calls in one batch"),
    key("limits.half_frame_ms", Kind::Number, "how long part of a message may wait for the rest, milliseconds"),
    key("limits.idle_ms", Kind::Number, "silence after which a connection makes room for another one, milliseconds"),
    key("limits.subscriptions", Kind::Number, "subscriptions per connection"),
    key("limits.inline_bytes", Kind::Number, "the most of rows, pictures and outputs in an answer, bytes"),
    key("daemon.drain_ms", Kind::Number, "how long calls may go on after a stop was asked for, milliseconds"),
    key("visual.learn", Kind::Flag, "whether every settled observation teaches components and states"),
    key("visual.detector", Kind::Text, "what detects components on pictures: tesseract, or a program of yours"),
    key("visual.detector_timeout_ms", Kind::Number, "how long the detector may take, milliseconds"),
    key("visual.tesseract_path", Kind::Path, "the program tesseract"),
    key("visual.tesseract_languages", Kind::Text, "the languages that tesseract reads, such as eng or deu+eng"),
    key("adb.path", Kind::Path, "the program adb"),
    key("sessions.progress_dir", Kind::Path, "directory of progress files"),
    key("conversation.model", Kind::Text, "language model or tokenizer whose tokens are counted"),
    key("conversation.max_tokens", Kind::Number, "size of a context, tokens"),
    key("conversation.max_messages", Kind::Number, "the most messages in a context"),
    key("conversation.compaction_threshold", Kind::Number, "above this share of either a context is compacted, per cent"),
    key("conversation.keep_recent", Kind::Number, "how many of the newest messages compaction leaves"),
    key("conversation.summary_lines", Kind::Number, "lines of the rolling summary"),
    key("conversation.recent_messages", Kind::Number, "messages that are sent with it"),
    key("conversation.brief_request", Kind::Number, "letters of a request in a line of it"),
    key("conversation.brief_answer", Kind::Number, "letters of an answer in a line of it"),
    key("conversation.tracked_keys", Kind::List, "context keys"),
    key("conversation.context_calls", Kind::List, "tools whose successful calls set context keys"),
    key("conversation.split_system", Kind::Number, "share of a budget for rules and context keys, per cent"),
    key("conversation.split_knowledge", Kind::Number, "for notes, experience, bugs and patterns, per cent"),
    key("conversation.split_history", Kind::Number, "for summary and recent turns, per cent"),
    key("conversation.split_current_task", Kind::Number, "for goal and tasks, per cent"),
    key("conversation.split_tools", Kind::Number, "for the definitions of the caller's tools, per cent"),
    key("conversation.split_buffer", Kind::Number, "left empty, per cent"),
    key("conversation.tokenizer_idle_ms", Kind::Number, "how long the tables of a tokenizer stay after they were used, milliseconds"),
    key("model.provider", Kind::Text, "language model for summaries: openai or anthropic; none without it"),
    key("model.base_url", Kind::Text, "its base URL, unless it is the provider's own"),
    key("model.name", Kind::Text, "its name"),
    key("model.key_env", Kind::Text, "variable of the daemon's environment that holds its key"),
    key("model.key_file", Kind::Path, "file that holds its key; a bare name may be a systemd credential"),
    key("model.timeout_ms", Kind::Number, "how long its answer may take, milliseconds"),
    key("model.attempts", Kind::Number, "how often it is asked for a summary before that is given up"),
    key("model.retry_ms", Kind::Number, "how long it is left alone after a failure, milliseconds; twice as long each time"),
    key("model.max_input_chars", Kind::Number, "the most of a conversation that it is given at once, characters"),
    key("model.max_output_tokens", Kind::Number, "the most that it may answer, tokens"),
    key("adb.server_port", Kind::Number, "port of the adb server on this machine"),
];

/// The keys whose values are not in force yet: they count from the next start on. `in_use` is the database of this one.
pub fn waiting_for_restart(settings: &Settings, in_use: &Path) -> Vec<String> {
    let waits = |key: &&Key| match key.name {
        "memory.db" => settings.database != in_use,
        _ => false,
    };
    KEYS.iter().filter(|key| key.restart).filter(waits).map(|key| key.name.to_owned()).collect()
}

/// The keys of `[device.<name>]`.
const DEVICE_KEYS: &[Key] = &[
    key("url", Kind::Text, "base URL of the phone's service"),
    key("token", Kind::Secret, "bearer token"),
    key("timeout_ms", Kind::Number, "time-out of one request, milliseconds"),
    key("proxy", Kind::Text, "auto, direct or system"),
    key("allow_shell", Kind::Flag, "whether act.shell may run commands"),
    key("allow_intent", Kind::Flag, "whether act.intent may send intents"),
    key("usb.serial", Kind::Text, "serial of the phone"),
    key("usb.local_port", Kind::Number, "port on this machine that leads to it"),
    key("usb.device_port", Kind::Number, "port of the service on the phone"),
    key("usb.own_forward", Kind::Flag, "whether the forward is removed with the device"),
];

/// Why a setting cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// There is no such key.
    #[error("there is no setting {0:?}")]
    Unknown(String),
    /// The value does not fit.
    #[error("{key} expects {expected}")]
    Unfit {
        /// The key.
        key: String,
        /// What it expects.
        expected: String,
    },
    /// The file cannot be read or written, or would be bad.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// The description of a key, static or of a device.
fn find(name: &str) -> Option<&'static Key> {
    if let Some(key) = KEYS.iter().find(|k| k.name == name) {
        return Some(key);
    }
    let rest = name.strip_prefix("device.")?;
    // A device's name may hold dots: the key is the longest end that fits.
    DEVICE_KEYS.iter().find(|k| rest.strip_suffix(k.name).and_then(|r| r.strip_suffix('.')).is_some_and(|device| !device.is_empty()))
}

/// The parts of a key; a device's name is one part.
fn parts(name: &str) -> Vec<&str> {
    let Some(rest) = name.strip_prefix("device.") else { return name.split('.').collect() };
    let Some(key) = find(name) else { return name.split('.').collect() };
    let device = rest.strip_suffix(key.name).and_then(|r| r.strip_suffix('.')).unwrap_or(rest);
    ["device", device].into_iter().chain(key.name.split('.')).collect()
}

/// What nobody sets.
fn default_of(name: &str, config: &Config) -> Value {
    let file = File::default();
    match name {
        "memory.db" => json!(afd_proto::paths::database()),
        "artifacts.dir" => json!(config.default_artifacts()),
        "artifacts.max_bytes" => json!(file.artifacts.max_bytes),
        "artifacts.max_age_days" => json!(file.artifacts.max_age_days),
        "output.default" => json!("auto"),
        "limits.frame_bytes" => json!(file.limits.frame_bytes),
        "limits.connections" => json!(file.limits.connections),
        "limits.in_flight" => json!(file.limits.in_flight),
        "limits.batch" => json!(file.limits.batch),
        "limits.half_frame_ms" => json!(file.limits.half_frame_ms),
        "limits.idle_ms" => json!(file.limits.idle_ms),
        "limits.subscriptions" => json!(file.limits.subscriptions),
        "limits.inline_bytes" => json!(file.limits.inline_bytes),
        "daemon.drain_ms" => json!(file.daemon.drain_ms),
        "adb.path" => json!(file.adb.path),
        "visual.learn" => json!(file.visual.learn),
        "visual.detector_timeout_ms" => json!(file.visual.detector_timeout_ms),
        "visual.tesseract_path" => json!(file.visual.tesseract_path),
        "visual.tesseract_languages" => json!(file.visual.tesseract_languages),
        "sessions.progress_dir" => json!(afd_proto::paths::state_dir()),
        _ if name.starts_with("conversation.") => field(&file.conversation, name),
        _ if name.starts_with("model.") => field(&file.model, name),
        _ if name.ends_with(".timeout_ms") => json!(10_000),
        _ if name.ends_with(".proxy") => json!("auto"),
        _ if name.ends_with(".allow_shell") || name.ends_with(".allow_intent") => json!(false),
        _ => Value::Null,
    }
}

/// A field of a table, by the key of its setting.
fn field<T: serde::Serialize>(table: &T, name: &str) -> Value {
    let last = name.rsplit('.').next().unwrap_or(name);
    serde_json::to_value(table).ok().and_then(|t| t.get(last).cloned()).unwrap_or_default()
}

fn document(config: &Config) -> Result<DocumentMut, ConfigError> {
    let path = config.path();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(ConfigError::Io { path: path.to_owned(), error }),
    };
    text.parse().map_err(|_| ConfigError::Bad { path: path.to_owned(), error: "it is not valid TOML; mend it first".into() })
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

fn entry(config: &Config, document: &DocumentMut, name: &str, key: &Key) -> Setting {
    let (mut value, (source, origin)) = match (config.overrides().values.get(key.name), in_file(document, name)) {
        (Some(o), _) => (json!(o.value), (if o.variable.is_some() { Source::Env } else { Source::Flag }, o.variable.map(str::to_owned))),
        (None, Some(value)) => (value, (Source::File, Some(config.path().display().to_string()))),
        (None, None) => (default_of(name, config), (Source::Default, None)),
    };
    if let Some(url) = value.as_str().filter(|_| key.name.ends_with("url"))
        && let Some((scheme, rest)) = url.split_once("://")
        && let Some((_, host)) = rest.rsplit_once('@')
    {
        // Credentials in a URL are nobody's business.
        value = json!(format!("{scheme}://{host}"));
    }
    if key.kind == Kind::Secret && !value.is_null() {
        value = json!("<redacted>");
    }
    Setting { key: name.to_owned(), value, source, origin, about: key.about.to_owned(), needs_restart: key.restart }
}

/// All settings. The keys of a device are those that its table has, and those that have a default.
///
/// # Errors
/// When the file cannot be read.
pub fn list(config: &Config) -> Result<Vec<Setting>, KeyError> {
    let document = document(config)?;
    let mut entries: Vec<Setting> = KEYS.iter().map(|k| entry(config, &document, k.name, k)).collect();
    let devices = document.get("device").and_then(Item::as_table_like);
    for (device, _) in devices.into_iter().flat_map(|d| d.iter()) {
        let all = DEVICE_KEYS.iter().map(|k| entry(config, &document, &format!("device.{device}.{}", k.name), k));
        entries.extend(all.filter(|e| !e.value.is_null()));
    }
    Ok(entries)
}

/// One setting.
///
/// # Errors
/// [`KeyError`]
pub fn get(config: &Config, name: &str) -> Result<Setting, KeyError> {
    let key = find(name).ok_or_else(|| KeyError::Unknown(name.to_owned()))?;
    Ok(entry(config, &document(config)?, name, key))
}

fn typed(name: &str, key: &Key, text: &str) -> Result<toml_edit::Value, KeyError> {
    let unfit = |expected: &str| KeyError::Unfit { key: name.to_owned(), expected: expected.to_owned() };
    Ok(match key.kind {
        Kind::Number => {
            let number = text.trim().replace('_', "").parse::<i64>().ok().filter(|n| *n >= 0);
            number.ok_or_else(|| unfit("a whole number of at least 0"))?.into()
        }
        Kind::Flag => text.trim().parse::<bool>().map_err(|_| unfit("true or false"))?.into(),
        Kind::List => text.split(',').map(str::trim).filter(|w| !w.is_empty()).collect::<toml_edit::Array>().into(),
        Kind::Path if text.is_empty() => return Err(unfit("a path")),
        Kind::Text | Kind::Secret | Kind::Path => text.into(),
    })
}

/// Writes a setting into the file.
///
/// # Errors
/// [`KeyError`]; then the file is as it was.
pub fn set(config: &Config, name: &str, text: &str) -> Result<(), KeyError> {
    set_all(config, None, &[(name, text)])
}

/// Writes a device and settings into the file, all or none.
///
/// # Errors
/// [`KeyError`]; then the file is as it was.
pub fn set_all(config: &Config, device: Option<(&str, &DeviceSettings)>, settings: &[(&str, &str)]) -> Result<(), KeyError> {
    let mut values = Vec::with_capacity(settings.len());
    for (name, text) in settings {
        let key = find(name).ok_or_else(|| KeyError::Unknown((*name).to_owned()))?;
        values.push((*name, typed(name, key, text)?));
    }
    // If the file is bad as it is, the value is not to blame.
    super::file::read(config.path())?;
    let last = values.last().map(|(name, _)| *name);
    let changed = edit::change(config.path(), |document| {
        if let Some((name, settings)) = device {
            edit::insert_device(document, name, settings)?;
        }
        values.into_iter().try_for_each(|(name, value)| insert(document, name, value))
    });
    changed.map_err(|error| match (error, last) {
        (ConfigError::Bad { error, .. }, Some(name)) => KeyError::Unfit { key: name.to_owned(), expected: expected(&error.to_string()) },
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

/// What was expected, from the complaint about a file that has the value.
fn expected(complaint: &str) -> String {
    let tail = complaint.rsplit_once("expected ").map_or(complaint, |(_, tail)| tail);
    match tail.trim_matches('`') {
        "u16" => "a port from 0 to 65535".to_owned(),
        "u32" | "u64" | "usize" => "a whole number of at least 0".to_owned(),
        // The parser lists the words of a choice, each in backquotes.
        other => other.replace('`', ""),
    }
}

/// Takes a setting out of the file; false when it was not in it.
///
/// # Errors
/// [`KeyError`]; then the file is as it was.
pub fn unset(config: &Config, name: &str) -> Result<bool, KeyError> {
    find(name).ok_or_else(|| KeyError::Unknown(name.to_owned()))?;
    if in_file(&document(config)?, name).is_none() {
        return Ok(false);
    }
    edit::change(config.path(), |document| {
        let parts = parts(name);
        let (last, tables) = parts.split_last().ok_or("the key is empty")?;
        let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
        for part in tables {
            table = table.get_mut(part).and_then(Item::as_table_like_mut).ok_or("a part of the key is a value, not a table")?;
        }
        table.remove(last);
        Ok(())
    })?;
    Ok(true)
}

/// Keys that are spelt like this one, best first.
pub fn alike(name: &str) -> Vec<&'static str> {
    let last = name.rsplit('.').next().unwrap_or(name);
    let mut found: BTreeMap<usize, Vec<&'static str>> = BTreeMap::new();
    for key in KEYS {
        let same = key.name.split('.').filter(|p| name.split('.').any(|n| n == *p)).count() + usize::from(key.name.contains(last));
        if same > 0 {
            found.entry(usize::MAX - same).or_default().push(key.name);
        }
    }
    found.into_values().flatten().take(5).collect()
}

#[cfg(test)]
mod tests;
