//! The devices: a driver each, an actor that keeps their order, leases, the registry.
//!
//! Nothing above this room knows that a phone is a phone: it sees [`Snapshot`]s and sends [`Input`]s.

mod actor;
pub mod adb;
pub mod autofish;
mod handle;
mod identity;
mod lease;
mod reading;
mod registry;
mod rows;
mod usb;

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use afd_proto::act::{Amount, Direction};
use afd_proto::picture::Overlay;
use afd_proto::{ErrorCode, Secret};

use crate::config;
use crate::page::Snapshot;

pub use handle::{Device, DeviceGuard, PendingRead, Ticket};
pub use lease::Busy;
pub use reading::{Reading, TreeReading};
pub use registry::{Changes, Registry, Resolved, Unresolved};
pub use rows::{find, row_id};

/// A future that a driver returns.
pub type Driven<'a, T> = Pin<Box<dyn Future<Output = Result<T, DriverError>> + Send + 'a>>;

/// Why there can be no driver for the settings of a device.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The URL is not one of a device.
    #[error(transparent)]
    Unfit(#[from] config::Unfit),
    /// The URL cannot be read.
    #[error("{0}")]
    Url(#[from] url::ParseError),
    /// The system gives no HTTP client.
    #[error("cannot make an HTTP client: {0}")]
    Client(#[from] reqwest::Error),
}

/// Why a device did not do it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    /// It could not be reached, or did not answer a question.
    #[error("the device cannot be reached: {0}")]
    Unreachable(String),
    /// It refused the token.
    #[error("the device refused the token: {0}")]
    Auth(String),
    /// It answered that it could not do it.
    #[error("the device could not do it: {message}")]
    Refused {
        /// HTTP status or the like.
        status: Option<u16>,
        /// Its own words.
        message: String,
    },
    /// It answered nonsense.
    #[error("the device gave an answer that cannot be understood: {0}")]
    Nonsense(String),
    /// The action was sent and its answer was lost.
    #[error("the action was sent, but its answer was lost: {0}")]
    Lost(String),
    /// Too many calls wait for it.
    #[error("{0} calls wait for the device, which is the limit")]
    Crowded(u64),
    /// Our own part failed.
    #[error("{0}")]
    Failed(String),
}

impl DriverError {
    pub(crate) fn removed() -> Self {
        DriverError::Failed("the device was removed".to_owned())
    }

    /// The code on the wire.
    pub fn code(&self) -> ErrorCode {
        match self {
            DriverError::Unreachable(_) => ErrorCode::DeviceUnreachable,
            DriverError::Auth(_) => ErrorCode::DeviceAuth,
            DriverError::Refused { .. } | DriverError::Nonsense(_) => ErrorCode::DeviceError,
            DriverError::Lost(_) => ErrorCode::OutcomeUnknown,
            DriverError::Crowded(_) => ErrorCode::LimitExceeded,
            DriverError::Failed(_) => ErrorCode::Internal,
        }
    }
}

/// What a driver can be asked to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A tap, device pixels.
    Tap(f64, f64),
    /// A press that lasts, device pixels and milliseconds.
    LongPress(f64, f64, u32),
    /// Two taps in quick succession, device pixels.
    DoubleTap(f64, f64),
    /// From one point to another, device pixels, in milliseconds.
    Swipe([f64; 4], u32),
    /// A scroll of the whole screen.
    Scroll(Direction, Amount),
    /// Back.
    Back,
    /// Home.
    Home,
    /// A key by its code.
    Key(i32),
    /// Text into the focused field.
    Text(Secret),
    /// Opens an app.
    Launch(String),
    /// Stops an app.
    Stop(String),
    /// Shows or hides the marks that the device itself draws.
    Overlay(OverlaySetting),
    /// A command of its shell, and how long it may take, milliseconds.
    Shell(Secret, u32),
    /// An intent.
    Intent(Intent),
}

/// The marks that a device itself draws; what is not said stays or is as usual.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverlaySetting {
    /// Whether they are shown.
    pub enabled: bool,
    /// At most this many.
    pub max_marks: u32,
    /// Only what can be acted on.
    pub interactive_only: bool,
    /// Whether they follow the screen.
    pub auto_refresh: bool,
    /// How often, milliseconds.
    pub refresh_interval_ms: u32,
    /// Moves them to the right, device pixels.
    pub offset_x: Option<i32>,
    /// Moves them down, device pixels.
    pub offset_y: Option<i32>,
}

/// An intent. Its parts must have been checked: the device puts them into a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// Action.
    pub action: Option<String>,
    /// URI.
    pub data: Option<String>,
    /// Package.
    pub package: Option<String>,
    /// `package/class`.
    pub component: Option<String>,
    /// Texts by name.
    pub extras: BTreeMap<String, String>,
}

/// How a picture is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shot {
    /// Longest side, pixels.
    pub max_dim: u32,
    /// JPEG quality, 1 to 100.
    pub quality: u32,
    /// Whether the marks that the device itself draws are left out.
    pub hide_overlay: bool,
}

/// What is in front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Top {
    /// The package.
    pub app: Option<String>,
    /// `package/activity`.
    pub place: Option<String>,
}

/// A kind of device. Reads may be repeated by the driver, inputs never.
pub trait Driver: Send + Sync + 'static {
    /// Name of the kind.
    fn kind(&self) -> &'static str;

    /// What it can do, in words for clients.
    fn capabilities(&self) -> &'static [&'static str];

    /// Where it is, without credentials.
    fn url(&self) -> String;

    /// Asks whether it is there; returns its own name for itself.
    fn health(&self) -> Driven<'_, String>;

    /// What is in front.
    fn top<'a>(&'a self, token: Option<&'a Secret>) -> Driven<'a, Top>;

    /// What is on the screen.
    fn snapshot<'a>(&'a self, token: Option<&'a Secret>) -> Driven<'a, Snapshot>;

    /// A picture of the screen as JPEG.
    fn screenshot<'a>(&'a self, token: Option<&'a Secret>, shot: Shot) -> Driven<'a, Vec<u8>>;

    /// The marks that the device itself draws.
    fn overlay<'a>(&'a self, token: Option<&'a Secret>) -> Driven<'a, Overlay>;

    /// Installed packages.
    fn packages<'a>(&'a self, token: Option<&'a Secret>, filter: Option<&'a str>, system: bool) -> Driven<'a, Vec<String>>;

    /// Does something, once; returns the device's own words.
    fn perform<'a>(&'a self, token: Option<&'a Secret>, input: &'a Input) -> Driven<'a, String>;
}
