//! The settings file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use afd_proto::Secret;
use serde::Deserialize;

use super::ConfigError;

/// What the file may say.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct File {
    /// `[device.<name>]`
    pub device: BTreeMap<String, DeviceSettings>,
    /// `[remote]`: a lone device, named `default`.
    pub remote: Remote,
    /// `[memory]`
    pub memory: Memory,
    /// `[limits]`
    pub limits: Limits,
    /// `[daemon]`
    pub daemon: Daemon,
}

/// A device.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct DeviceSettings {
    /// Base URL of the phone's service.
    pub url: String,
    /// Bearer token.
    pub token: Option<Secret>,
    /// Time-out of one request, milliseconds.
    #[serde(default = "ten_seconds")]
    pub timeout_ms: u64,
}

fn ten_seconds() -> u64 {
    10_000
}

/// The way `af` names its one device.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Remote {
    /// Base URL.
    pub url: Option<String>,
    /// Bearer token.
    pub token: Option<Secret>,
}

/// Where the memory is.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// The database.
    pub db: Option<PathBuf>,
}

/// Limits of the socket (DESIGN 3).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Largest message, bytes.
    pub frame_bytes: usize,
    /// Open connections.
    pub connections: usize,
    /// Requests in flight per connection; further ones are not read before one is answered.
    pub in_flight: usize,
    /// Calls in one batch.
    pub batch: usize,
    /// How long part of a message may wait for the rest, or an answer for its reader, milliseconds.
    pub half_frame_ms: u64,
    /// Subscriptions per connection.
    pub subscriptions: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { frame_bytes: 8 << 20, connections: 512, in_flight: 64, batch: 256, half_frame_ms: 30_000, subscriptions: 16 }
    }
}

/// The daemon itself.
#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub struct Daemon {
    /// How long calls in flight may go on after a stop was asked for, milliseconds.
    pub drain_ms: u64,
}

impl Default for Daemon {
    fn default() -> Self {
        Self { drain_ms: 10_000 }
    }
}

impl File {
    /// All devices; a lone `[remote]` is the device `default`.
    pub fn devices(&self) -> BTreeMap<String, DeviceSettings> {
        let mut devices = self.device.clone();
        if let Some(url) = &self.remote.url {
            devices.entry("default".to_owned()).or_insert_with(|| DeviceSettings {
                url: url.clone(),
                token: self.remote.token.clone(),
                timeout_ms: ten_seconds(),
            });
        }
        devices
    }
}

/// Reads the file and the names of the keys in it that nobody knows. No file is an empty file.
///
/// # Errors
/// When it cannot be read, is no TOML, or a value is of the wrong type or out of range.
pub fn read(path: &Path) -> Result<(File, Vec<String>), ConfigError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((File::default(), Vec::new())),
        Err(error) => return Err(ConfigError::Io { path: path.to_owned(), error }),
    };
    parse(&text).map_err(|message| ConfigError::Bad { path: path.to_owned(), message })
}

/// Reads the text of a settings file.
///
/// # Errors
/// Where and why. The parser quotes the line at fault, which may hold a token: that is left out.
pub(super) fn parse(text: &str) -> Result<(File, Vec<String>), String> {
    let deserializer = toml::Deserializer::parse(text).map_err(|e| place(text, &e))?;
    let mut unknown = Vec::new();
    let file: File = serde_ignored::deserialize(deserializer, |key| unknown.push(key.to_string())).map_err(|e| place(text, &e))?;
    validate(&file)?;
    Ok((file, unknown))
}

fn place(text: &str, error: &toml::de::Error) -> String {
    match error.span() {
        Some(span) => format!("line {}: {}", text[..span.start.min(text.len())].matches('\n').count() + 1, error.message()),
        None => error.message().to_owned(),
    }
}

fn validate(file: &File) -> Result<(), String> {
    for (name, device) in file.devices() {
        check_name(&name).map_err(|e| format!("device.{name}: {e}"))?;
        check_url(&device.url).map_err(|e| format!("device.{name}.url: {e}"))?;
        if !(1..=600_000).contains(&device.timeout_ms) {
            return Err(format!("device.{name}.timeout_ms is {}, expected 1 to 600000", device.timeout_ms));
        }
    }
    let limits = &file.limits;
    let positive = [
        ("frame_bytes", limits.frame_bytes),
        ("connections", limits.connections),
        ("in_flight", limits.in_flight),
        ("batch", limits.batch),
    ];
    match positive.iter().find(|(_, v)| *v == 0) {
        Some((key, _)) => Err(format!("limits.{key} is 0, expected at least 1")),
        None => Ok(()),
    }
}

/// Checks a device name.
///
/// # Errors
/// What was expected.
pub fn check_name(name: &str) -> Result<(), String> {
    let fits = (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if fits { Ok(()) } else { Err(format!("expected 1 to 64 letters, digits, '-', '_' or '.', got {name:?}")) }
}

/// Checks a base URL.
///
/// # Errors
/// What was expected.
pub fn check_url(url: &str) -> Result<(), String> {
    let rest = url.strip_prefix("http://").unwrap_or("");
    if rest.is_empty() || rest.starts_with('/') || url.contains(char::is_whitespace) {
        return Err("expected a URL such as http://192.168.1.20:8081".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(File, Vec<String>), String> {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("config.toml");
        std::fs::write(&path, text).expect("writes");
        read(&path).map_err(|e| e.to_string())
    }

    #[test]
    fn unknown_keys_are_named() {
        let (file, unknown) = parse("[device.a]\nurl = 'http://h:1'\ncolour = 1\n[limit]\nx = 1").expect("reads");
        assert_eq!(file.devices().len(), 1);
        assert_eq!(unknown, ["device.a.colour", "limit"]);
    }

    #[test]
    fn a_lone_remote_is_the_default_device() {
        let (file, unknown) = parse("[remote]\nurl = 'http://h:1'\ntoken = 't'").expect("reads");
        assert_eq!(file.devices()["default"].url, "http://h:1");
        assert!(unknown.is_empty());
    }

    #[test]
    fn faults_are_placed_and_tell_no_token() {
        for (text, expected) in [
            ("[device.a]\nurl = 5\ntoken = 'hunter2'", "line 2"),
            ("[remote]\ntoken = 'hunter2\nurl = 1", "line 2"),
            ("[device.a]\nurl = 'ftp://x'", "device.a.url: expected a URL"),
            ("[device.a]\nurl = 'http://x'\ntimeout_ms = 0", "timeout_ms is 0"),
            ("[limits]\nin_flight = 0", "limits.in_flight is 0"),
        ] {
            let error = parse(text).expect_err("bad file");
            assert!(error.contains(expected) && !error.contains("hunter2"), "{error}");
        }
    }
}
