//! Devices: drivers, actors (one for each physical device, to serialise access to it), leases, and the registry.
//!
//! Higher layers are independent of the kind of device: they read [`Snapshot`](afd_screen::page::Snapshot)s and send
//! [`Command`]s.

mod abilities;
mod actor;
pub mod adb;
mod adb_phone;
mod android;
pub mod autofish;
mod browser;
mod driver;
mod error;
mod handle;
mod identity;
mod kinds;
mod lease;
mod manage;
mod reading;
mod reads;
mod registry;
mod rows;
pub mod transfer;
mod turn;
mod usb;

pub use android::dump;
pub use driver::{
    Command, Download, DownloadState, Driver, ForegroundApp, Input, Intent, Intents, Key, OverlaySetting, Overlays,
    Packages, PageTools, Reveals, ScreenshotOptions, Shell, Tabs, ToolCall, Transfers,
};
pub use error::{BadParam, DriverError, DriverFuture, SetupError, Why};
pub use handle::Device;
pub use kinds::{check_attach, example_url, new_settings, open};
pub use lease::Busy;
pub use manage::{AppChange, LogPart, LogQuery, Manages};
pub use reading::{Reading, TreeReading};
pub use reads::PendingRead;
pub use registry::{Changes, Registry, ResolveError, Resolved};
pub use rows::{rename_screens, row_id};
pub use turn::{DeviceGuard, Ticket};
