//! Devices: drivers, one actor per physical device that serialises access, leases, and the registry.
//!
//! Higher layers are independent of the kind of device: they read [`Snapshot`]s and send [`Input`]s.

mod actor;
pub mod adb;
pub mod autofish;
mod handle;
mod identity;
mod kinds;
mod lease;
mod reading;
mod registry;
mod rows;
pub mod transfer;
mod usb;

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use afd_proto::act::{Amount, Direction};
use afd_proto::picture::Overlay;
use afd_proto::{ErrorCode, Secret};

use afd_base::config;
use afd_screen::page::Snapshot;

pub use handle::{Device, DeviceGuard, PendingRead, Ticket};
pub use lease::Busy;
pub use reading::{Reading, TreeReading};
pub use registry::{Changes, Registry, ResolveError, Resolved};
pub use rows::{find, row_id};

/// Future returned by the methods of a driver.
pub type DriverFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, DriverError>> + Send + 'a>>;

/// Why no driver can be created from the settings of a device.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The URL is not acceptable as that of a device.
    #[error(transparent)]
    InvalidSetting(#[from] config::InvalidSetting),
    /// The URL cannot be parsed.
    #[error("{0}")]
    Url(#[from] url::ParseError),
    /// The HTTP client cannot be created.
    #[error("cannot create an HTTP client: {0}")]
    Client(#[from] reqwest::Error),
}

/// Why a request to a device failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    /// The device could not be reached, or did not respond to a read.
    #[error("cannot reach the device: {0}")]
    Unreachable(String),
    /// The device rejected the token.
    #[error("the device rejected the token: {0}")]
    Auth(String),
    /// The device responded with an error.
    #[error("the device reported an error: {message}")]
    Refused {
        /// HTTP status, if there was one.
        status: Option<u16>,
        /// Error message of the device.
        message: String,
    },
    /// The response of the device could not be parsed.
    #[error("malformed response from the device: {0}")]
    Protocol(String),
    /// The action was sent but its response was lost: it may or may not have happened.
    #[error("the action was sent, but its response was lost: {0}")]
    Lost(String),
    /// The queue of the device is full; holds the limit.
    #[error("the queue of the device is full ({0} waiting calls)")]
    QueueFull(u64),
    /// The daemon itself failed.
    #[error("{0}")]
    Failed(String),
}

impl DriverError {
    pub(crate) fn removed() -> Self {
        DriverError::Failed("the device was removed".to_owned())
    }

    /// Returns the error code for the wire.
    pub fn code(&self) -> ErrorCode {
        match self {
            DriverError::Unreachable(_) => ErrorCode::DeviceUnreachable,
            DriverError::Auth(_) => ErrorCode::DeviceAuth,
            DriverError::Refused { .. } | DriverError::Protocol(_) => ErrorCode::DeviceError,
            DriverError::Lost(_) => ErrorCode::OutcomeUnknown,
            DriverError::QueueFull(_) => ErrorCode::LimitExceeded,
            DriverError::Failed(_) => ErrorCode::Internal,
        }
    }
}

/// An action that a driver can perform.
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
    /// Press of a key, by Android key code.
    Key(i32),
    /// Presses of keys in order, by Android key code, in as few requests as the device allows.
    Keys(Vec<i32>),
    /// Text to type into the focused field.
    Text(Secret),
    /// Launch of an app, by package.
    Launch(String),
    /// Stop of an app, by package.
    Stop(String),
    /// Change of the overlay that the device draws.
    Overlay(OverlaySetting),
    /// Shell command and the time it may take, milliseconds.
    Shell(Secret, u32),
    /// Android intent to send.
    Intent(Intent),
}

/// Settings of the overlay of marks that the device draws. An absent offset keeps the current one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverlaySetting {
    /// Whether the overlay is shown.
    pub enabled: bool,
    /// Maximum number of marks.
    pub max_marks: u32,
    /// Mark interactive elements only.
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

/// An Android intent. Its parts must be validated: the device puts them into a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// How a screenshot is taken.
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
    /// Its package.
    pub app: Option<String>,
    /// Its activity, as `package/activity`.
    pub place: Option<String>,
}

/// Driver of a kind of device. It may retry reads; an input may only be sent again if it certainly was not delivered.
pub trait Driver: Send + Sync + 'static {
    /// Returns the name of the kind.
    fn kind(&self) -> &'static str;

    /// Returns the capabilities, as named to clients.
    fn capabilities(&self) -> &'static [&'static str];

    /// Returns the URL of the device, without credentials.
    fn url(&self) -> String;

    /// Returns the positions of the characters that the device cannot type, counted in characters from 0.
    fn cannot_type(&self, _text: &str) -> Vec<usize> {
        Vec::new()
    }

    /// Checks that the device responds; returns the type that it reports.
    fn health(&self) -> DriverFuture<'_, String>;

    /// Reads the foreground app.
    fn top<'a>(&'a self, token: Option<&'a Secret>) -> DriverFuture<'a, ForegroundApp>;

    /// Reads the element tree of the screen.
    fn snapshot<'a>(&'a self, token: Option<&'a Secret>) -> DriverFuture<'a, Snapshot>;

    /// Takes a screenshot, as JPEG.
    fn screenshot<'a>(&'a self, token: Option<&'a Secret>, shot: ScreenshotOptions) -> DriverFuture<'a, Vec<u8>>;

    /// Reads the state of the overlay that the device draws.
    fn overlay<'a>(&'a self, token: Option<&'a Secret>) -> DriverFuture<'a, Overlay>;

    /// Lists installed packages.
    fn packages<'a>(
        &'a self,
        token: Option<&'a Secret>,
        filter: Option<&'a str>,
        system: bool,
    ) -> DriverFuture<'a, Vec<String>>;

    /// Performs an action once; returns the message of the device.
    fn perform<'a>(&'a self, token: Option<&'a Secret>, input: &'a Input) -> DriverFuture<'a, String>;
}
