//! The settings file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use afd_proto::Secret;
use serde::Deserialize;

use super::agent::{self, Conversation, LanguageModelSettings};
use super::{ConfigError, Unfit};

/// What the file may say.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct File {
    /// `[device.<name>]`
    pub device: BTreeMap<String, DeviceSettings>,
    /// `[remote]`: a lone device, named `default`, as `af` writes it.
    pub remote: Remote,
    /// `[connection]`: how the lone device is reached, as `af` writes it.
    pub connection: Connection,
    /// `[memory]`
    pub memory: Memory,
    /// `[artifacts]`
    pub artifacts: Artifacts,
    /// `[limits]`
    pub limits: Limits,
    /// `[daemon]`
    pub daemon: Daemon,
    /// `[adb]`
    pub adb: Adb,
    /// `[visual]`
    pub visual: Visual,
    /// `[sessions]`
    pub sessions: Sessions,
    /// `[conversation]`
    pub conversation: Conversation,
    /// `[model]`
    pub model: LanguageModelSettings,
    /// `[output]`, which only clients read.
    pub output: Output,
}

/// A device.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct DeviceSettings {
    /// Base URL of the phone's service.
    pub url: String,
    /// Bearer token.
    #[serde(default)]
    pub token: Option<Secret>,
    /// Time-out of one request, milliseconds.
    #[serde(default = "ten_seconds")]
    pub timeout_ms: u64,
    /// When requests go through the system's proxy.
    #[serde(default)]
    pub proxy: Proxy,
    /// Whether `act.shell` may run commands on it.
    #[serde(default)]
    pub allow_shell: bool,
    /// Whether `act.intent` may send intents on it.
    #[serde(default)]
    pub allow_intent: bool,
    /// The cable, when the URL leads through a forward of `adb`.
    #[serde(default)]
    pub usb: Option<Usb>,
}

impl DeviceSettings {
    /// A device at a URL, everything else as usual.
    pub fn at(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            token: None,
            timeout_ms: ten_seconds(),
            proxy: Proxy::Auto,
            allow_shell: false,
            allow_intent: false,
            usb: None,
        }
    }
}

/// When requests go through the system's proxy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Proxy {
    /// Unless the phone is near: on this machine, or in a private or overlay network.
    #[default]
    Auto,
    /// Never.
    Direct,
    /// As the environment says.
    System,
}

/// A cable, and the forward that `adb` made over it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Usb {
    /// The phone's serial number, or `host:port` for one that `adb connect` reached.
    #[serde(alias = "device")]
    pub serial: String,
    /// Port on this machine.
    pub local_port: u16,
    /// Port of the service on the phone.
    pub device_port: u16,
    /// Whether the forward is ours to remove.
    #[serde(default = "yes")]
    pub own_forward: bool,
}

fn yes() -> bool {
    true
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

/// The way `af` says how its one device is reached.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Connection {
    /// `usb-forward`, or something else.
    pub transport: Option<String>,
    /// The cable.
    pub usb: Option<Usb>,
}

/// Where the memory is.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// The database.
    pub db: Option<PathBuf>,
}

/// Where artifacts go, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Artifacts {
    /// The shared root.
    pub dir: Option<PathBuf>,
    /// File of full screens.
    pub screen_file: Option<PathBuf>,
    /// File of screenshots.
    pub screenshot_file: Option<PathBuf>,
    /// Directory of pages.
    pub page_dir: Option<PathBuf>,
    /// The most that the files in the shared root may take, bytes.
    pub max_bytes: u64,
    /// How long files in the shared root are kept, days.
    pub max_age_days: u64,
}

impl Default for Artifacts {
    fn default() -> Self {
        Self { dir: None, screen_file: None, screenshot_file: None, page_dir: None, max_bytes: 1 << 30, max_age_days: 30 }
    }
}

/// How `adb` is called.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Adb {
    /// The program.
    pub path: PathBuf,
    /// Port of its server on this machine.
    pub server_port: Option<u16>,
}

impl Default for Adb {
    fn default() -> Self {
        Self { path: PathBuf::from("adb"), server_port: None }
    }
}

/// What is learned of what screens look like.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Visual {
    /// Whether every settled observation teaches.
    pub learn: bool,
    /// `tesseract`, or a program that is given a picture and prints detections.
    pub detector: Option<String>,
    /// How long it may take, milliseconds.
    pub detector_timeout_ms: u64,
    /// The program tesseract.
    pub tesseract_path: PathBuf,
    /// The languages that it reads, as it names them.
    pub tesseract_languages: String,
}

impl Default for Visual {
    fn default() -> Self {
        Self {
            learn: true,
            detector: None,
            detector_timeout_ms: 30_000,
            tesseract_path: PathBuf::from("tesseract"),
            tesseract_languages: "eng".to_owned(),
        }
    }
}

/// Where sessions leave files.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Sessions {
    /// The directory of progress files.
    pub progress_dir: Option<PathBuf>,
}

/// How clients print.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Output {
    /// `auto`, `human`, `json` or `text`.
    pub default: Option<String>,
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
    /// How long a connection must have been silent before it is closed to make room for another one, milliseconds.
    pub idle_ms: u64,
    /// Subscriptions per connection.
    pub subscriptions: u32,
    /// The most of rows, pictures and outputs that travels in an answer, bytes; more is written to a file.
    pub inline_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame_bytes: 8 << 20,
            connections: 512,
            in_flight: 64,
            batch: 256,
            half_frame_ms: 30_000,
            idle_ms: 60_000,
            subscriptions: 16,
            inline_bytes: 64 << 10,
        }
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
                token: self.remote.token.clone(),
                usb: self.connection.usb.clone().filter(|_| self.connection.transport.as_deref() == Some("usb-forward")),
                ..DeviceSettings::at(url)
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
    parse(&text).map_err(|error| ConfigError::Bad { path: path.to_owned(), error })
}

/// Reads the text of a settings file.
///
/// # Errors
/// Where and why. The parser quotes the line at fault, which may hold a token: that is left out.
pub(super) fn parse(text: &str) -> Result<(File, Vec<String>), Unfit> {
    let deserializer = toml::Deserializer::parse(text).map_err(|e| place(text, &e))?;
    let mut unknown = Vec::new();
    let file: File = serde_ignored::deserialize(deserializer, |key| unknown.push(key.to_string())).map_err(|e| place(text, &e))?;
    validate(&file)?;
    Ok((file, unknown))
}

fn place(text: &str, error: &toml::de::Error) -> Unfit {
    Unfit::from(match error.span() {
        Some(span) => format!("line {}: {}", text[..span.start.min(text.len())].matches('\n').count() + 1, error.message()),
        None => error.message().to_owned(),
    })
}

fn validate(file: &File) -> Result<(), Unfit> {
    for (name, device) in file.devices() {
        check_name(&name).map_err(|e| format!("device.{name}: {e}"))?;
        check_url(&device.url).map_err(|e| format!("device.{name}.url: {e}"))?;
        if device.usb.as_ref().is_some_and(|u| u.local_port == 0 || u.device_port == 0) {
            return Err(format!("device.{name}.usb has a port 0, expected 1 to 65535").into());
        }
        if !(1..=600_000).contains(&device.timeout_ms) {
            return Err(format!("device.{name}.timeout_ms is {}, expected 1 to 600000", device.timeout_ms).into());
        }
    }
    if let Some(output) = file.output.default.as_deref().filter(|o| !OUTPUTS.contains(o)) {
        return Err(format!("output.default is {output:?}, expected one of {}", OUTPUTS.join(", ")).into());
    }
    for (key, value) in [("max_bytes", file.artifacts.max_bytes), ("max_age_days", file.artifacts.max_age_days)] {
        if value == 0 {
            return Err(format!("artifacts.{key} is 0, expected at least 1").into());
        }
    }
    if !(1..=600_000).contains(&file.visual.detector_timeout_ms) {
        return Err(format!("visual.detector_timeout_ms is {}, expected 1 to 600000", file.visual.detector_timeout_ms).into());
    }
    agent::validate(&file.conversation, &file.model)?;
    if file.adb.server_port == Some(0) {
        return Err("adb.server_port is 0, expected 1 to 65535".into());
    }
    let limits = &file.limits;
    let positive = [
        ("frame_bytes", limits.frame_bytes),
        ("connections", limits.connections),
        ("in_flight", limits.in_flight),
        ("batch", limits.batch),
        ("inline_bytes", limits.inline_bytes),
    ];
    match positive.iter().find(|(_, v)| *v == 0) {
        Some((key, _)) => Err(format!("limits.{key} is 0, expected at least 1").into()),
        None => Ok(()),
    }
}

/// What `output.default` may be.
pub(super) const OUTPUTS: &[&str] = &["auto", "human", "json", "text"];

/// Checks a device name.
///
/// # Errors
/// What was expected.
pub fn check_name(name: &str) -> Result<(), Unfit> {
    let fits = (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if fits { Ok(()) } else { Err(format!("expected 1 to 64 letters, digits, '-', '_' or '.', got {name:?}").into()) }
}

/// Checks a base URL.
///
/// # Errors
/// What was expected.
pub fn check_url(url: &str) -> Result<(), Unfit> {
    let rest = url.strip_prefix("http://").unwrap_or("");
    if rest.is_empty() || rest.starts_with('/') || url.contains(char::is_whitespace) {
        return Err("expected a URL such as http://192.168.1.20:8081".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests;
