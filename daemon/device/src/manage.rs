//! The interface for managing a device: its apps, settings, log, and recordings of its screen.

use std::path::PathBuf;
use std::time::Duration;

use afd_proto::Secret;
use afd_proto::incident::Incident;
use afd_proto::manage::{DeviceConfiguration, LogLevel, LogRow};

use super::error::{BadParam, DriverFuture};

/// A change of an installed app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppChange {
    /// Installs an app from a file of this machine, or replaces it.
    Install {
        /// The file.
        file: PathBuf,
        /// Whether the app gets all permissions that it asks for when it is installed.
        grant: bool,
    },
    /// Uninstalls an app.
    Uninstall {
        /// Name of the app.
        app: String,
        /// Whether its data stays.
        keep_data: bool,
    },
    /// Stops an app with this name and deletes its data.
    Clear(String),
    /// Gives an app a permission, or takes it away.
    Grant {
        /// Name of the app.
        app: String,
        /// Name of the permission.
        permission: String,
        /// Whether the permission is taken away.
        revoke: bool,
    },
}

/// The lines of a log that a caller wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogQuery {
    /// Name of the app that wrote the lines; `None` for all apps.
    pub app: Option<String>,
    /// Maximum age of a line.
    pub age: Duration,
    /// Lowest severity.
    pub level: LogLevel,
    /// Maximum number of lines; the newest count.
    pub limit: usize,
}

/// Lines of a log, oldest first.
#[derive(Debug, Clone, PartialEq)]
pub struct LogPart {
    /// The lines.
    pub rows: Vec<LogRow>,
    /// Whether older lines were left out because of the limit.
    pub truncated: bool,
    /// Age of the oldest line that could have been returned.
    pub age: Duration,
}

/// Optional interface for devices whose apps, settings and log can be managed.
pub trait Manages: Send + Sync {
    /// Checks the parts of a change.
    ///
    /// # Errors
    /// If a part is not acceptable.
    fn check_app_change(&self, change: &AppChange) -> Result<(), BadParam>;

    /// Changes an installed app once, and returns the device's message.
    fn change_app<'a>(&'a self, change: &'a AppChange) -> DriverFuture<'a, String>;

    /// Returns the names of the apps that can be opened and that are called like this.
    fn apps_named<'a>(&'a self, name: &'a str) -> DriverFuture<'a, Vec<String>>;

    /// Reads the settings of the device. With `app`, the language is that of the app.
    fn configuration<'a>(&'a self, app: Option<&'a str>) -> DriverFuture<'a, DeviceConfiguration>;

    /// Checks the values of settings.
    ///
    /// # Errors
    /// If a value is not acceptable.
    fn check_configuration(&self, wanted: &DeviceConfiguration) -> Result<(), BadParam>;

    /// Changes the settings that are given, and returns what they were before, as the JSON of a [`DeviceConfiguration`].
    fn configure<'a>(&'a self, wanted: &'a DeviceConfiguration) -> DriverFuture<'a, String>;

    /// Reads the log.
    fn log<'a>(&'a self, query: &'a LogQuery) -> DriverFuture<'a, LogPart>;

    /// Returns the apps that crashed or stopped responding since this was asked last.
    fn incidents(&self) -> DriverFuture<'_, Vec<Incident>>;

    /// Notes a text that is typed on the device, to keep it out of logs.
    fn typed(&self, text: &Secret);

    /// Starts a recording of the screen, which ends after `max` at the latest. Returns false if one runs already.
    fn start_recording(&self, max: Duration) -> DriverFuture<'_, bool>;

    /// Ends the recording of the screen. Returns the video and the time since the start; `None` if there is no recording.
    fn stop_recording(&self) -> DriverFuture<'_, Option<(Vec<u8>, Duration)>>;
}
