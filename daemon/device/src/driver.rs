//! The interface of drivers: reading screens, performing inputs, and the optional features of some kinds of devices.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use afd_proto::Secret;
use afd_proto::act::{Amount, Direction};
use afd_proto::keys::KeyName;
use afd_proto::picture::Overlay;
use afd_screen::page::Snapshot;

use super::DriverError;

/// Future returned by the methods of a driver.
pub type DriverFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, DriverError>> + Send + 'a>>;

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A key by its name.
    Named(KeyName),
    /// A key by the number that devices of this kind use for it.
    Code(i32),
}

/// An input that every kind of device supports.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Tap at a point, device pixels.
    Tap(f64, f64),
    /// Long press at a point, device pixels and milliseconds.
    LongPress(f64, f64, u32),
    /// Double tap at a point, device pixels.
    DoubleTap(f64, f64),
    /// Swipe `[x1, y1, x2, y2]` in device pixels; duration in milliseconds.
    Swipe([f64; 4], u32),
    /// Scroll of the whole screen.
    Scroll(Direction, Amount),
    /// Back button.
    Back,
    /// Home button.
    Home,
    /// Presses of keys in order, in as few requests as the device allows.
    Keys(Vec<Key>),
    /// Text to type into the focused field.
    Text(Secret),
    /// Launch of an app.
    Launch(String),
    /// Stop of an app.
    Stop(String),
}

/// A command to a device.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// An input.
    Input(Input),
    /// A shell command and the time that it may take, milliseconds; see [`Shell`].
    Shell(Secret, u32),
    /// A message to an app of the device; see [`Intents`].
    Intent(Intent),
}

impl From<Input> for Command {
    fn from(input: Input) -> Self {
        Command::Input(input)
    }
}

/// Settings of the overlay of marks that the device draws. An absent offset leaves the current one unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverlaySetting {
    /// Whether the overlay is shown.
    pub enabled: bool,
    /// Maximum number of marks.
    pub max_marks: u32,
    /// Whether only interactive elements are marked.
    pub interactive_only: bool,
    /// Whether the marks are refreshed automatically.
    pub auto_refresh: bool,
    /// Refresh interval, milliseconds.
    pub refresh_interval_ms: u32,
    /// Horizontal offset of the marks (positive: right), device pixels.
    pub offset_x: Option<i32>,
    /// Vertical offset of the marks (positive: down), device pixels.
    pub offset_y: Option<i32>,
}

/// A message that asks an app of the device to do something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Intent {
    /// Action, for example `android.intent.action.VIEW`.
    pub action: Option<String>,
    /// Data URI.
    pub data: Option<String>,
    /// Package that the intent is limited to.
    pub package: Option<String>,
    /// Component, as `package/class`.
    pub component: Option<String>,
    /// String extras by name.
    pub extras: BTreeMap<String, String>,
}

/// The reason why a device does not accept a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadParam {
    /// Path of the parameter.
    pub path: String,
    /// Description of the accepted values.
    pub expected: &'static str,
    /// The received value, quoted, or a description of it.
    pub got: String,
}

/// Options of a screenshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScreenshotOptions {
    /// Maximum length of the longer side, pixels.
    pub max_dim: u32,
    /// JPEG quality, 1 to 100.
    pub quality: u32,
    /// Whether the overlay of the device is hidden in the picture.
    pub hide_overlay: bool,
}

/// The foreground app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForegroundApp {
    /// Name of the app.
    pub app: Option<String>,
    /// Its place: `package/activity`, or a URL.
    pub place: Option<String>,
}

/// A driver of one kind of device. It may retry reads. It may resend an input only if the input was certainly not
/// delivered.
pub trait Driver: Send + Sync + 'static {
    /// Returns the name of the kind of device.
    fn kind(&self) -> &'static str;

    /// Returns the capabilities of devices of this kind, by the names that clients see. The capabilities of the
    /// optional traits are not included.
    fn capabilities(&self) -> &'static [&'static str];

    /// Returns the URL of the device, without credentials.
    fn url(&self) -> String;

    /// Returns the positions of the characters that the device cannot type, counted in characters from 0.
    fn cannot_type(&self, _text: &str) -> Vec<usize> {
        Vec::new()
    }

    /// Returns the number that devices of this kind use for a key; `None` if they have no key numbers.
    fn key_code(&self, _key: KeyName) -> Option<i32> {
        None
    }

    /// Checks the name of an app.
    ///
    /// # Errors
    /// If no app can have this name.
    fn check_app(&self, name: &str) -> Result<(), BadParam>;

    /// Returns advice for an error; `None` if there is no specific advice for devices of this kind.
    fn advice(&self, _error: &DriverError) -> Option<&'static str> {
        None
    }

    /// Checks that the device responds; returns the type that it reports.
    fn health(&self) -> DriverFuture<'_, String>;

    /// Checks that the device accepts the token.
    fn check_token<'a>(&'a self, token: Option<&'a Secret>) -> DriverFuture<'a, ()>;

    /// Reads the foreground app.
    fn top<'a>(&'a self, token: Option<&'a Secret>) -> DriverFuture<'a, ForegroundApp>;

    /// Reads the element tree of the screen.
    fn snapshot<'a>(&'a self, token: Option<&'a Secret>) -> DriverFuture<'a, Snapshot>;

    /// Takes a screenshot, as JPEG.
    fn screenshot<'a>(&'a self, token: Option<&'a Secret>, shot: ScreenshotOptions) -> DriverFuture<'a, Vec<u8>>;

    /// Performs an input once; returns the message of the device.
    fn perform<'a>(&'a self, token: Option<&'a Secret>, input: &'a Input) -> DriverFuture<'a, String>;

    /// Returns the interface to the overlay; `None` if the device draws none.
    fn overlays(&self) -> Option<&dyn Overlays> {
        None
    }

    /// Returns the interface to the installed apps; `None` if the device does not list them.
    fn packages(&self) -> Option<&dyn Packages> {
        None
    }

    /// Returns the interface to the shell; `None` if the device has none.
    fn shell(&self) -> Option<&dyn Shell> {
        None
    }

    /// Returns the interface for messages to apps; `None` if the device does not support them.
    fn intents(&self) -> Option<&dyn Intents> {
        None
    }
}

/// Devices that draw marks over the screen.
pub trait Overlays: Send + Sync {
    /// Reads the state of the overlay.
    fn overlay<'a>(&'a self, token: Option<&'a Secret>) -> DriverFuture<'a, Overlay>;

    /// Changes the overlay; returns its state.
    fn set_overlay<'a>(&'a self, token: Option<&'a Secret>, setting: &'a OverlaySetting) -> DriverFuture<'a, Overlay>;
}

/// Devices that list their installed apps.
pub trait Packages: Send + Sync {
    /// Lists the installed apps whose name contains `filter`, or all of them. `system` includes system apps.
    fn packages<'a>(
        &'a self,
        token: Option<&'a Secret>,
        filter: Option<&'a str>,
        system: bool,
    ) -> DriverFuture<'a, Vec<String>>;
}

/// Devices with a shell.
pub trait Shell: Send + Sync {
    /// Runs a command that may take `ms` milliseconds; returns its output.
    fn run<'a>(&'a self, token: Option<&'a Secret>, command: &'a Secret, ms: u32) -> DriverFuture<'a, String>;
}

/// Devices whose apps accept messages.
pub trait Intents: Send + Sync {
    /// Checks the parts of an intent.
    ///
    /// # Errors
    /// If a part is not acceptable.
    fn check(&self, intent: &Intent) -> Result<(), BadParam>;

    /// Sends a checked intent; returns the message of the device.
    fn send<'a>(&'a self, token: Option<&'a Secret>, intent: &'a Intent) -> DriverFuture<'a, String>;
}
