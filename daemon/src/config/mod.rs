//! Settings: where each value comes from, and what is in force.
//!
//! Precedence is flag, environment, file, default. The file is TOML; unknown keys are warned about by name; a bad file is
//! refused at the start and, at a reload, keeps the old settings.

mod edit;
mod file;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::watch;

pub use edit::{add_device, remove_device};
pub use file::{DeviceSettings, File, Limits, check_name, check_url};

/// A fault of the settings.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The file is not what it should be.
    #[error("{}: {message}", path.display())]
    Bad {
        /// The file.
        path: PathBuf,
        /// Where and why.
        message: String,
    },
}

/// What the flags and the environment of the daemon decide, for as long as it lives.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// The socket.
    pub socket: PathBuf,
    /// The settings file.
    pub config: PathBuf,
    /// The database, when a flag or `AF_DB` names it.
    pub database: Option<PathBuf>,
}

/// The settings in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The database.
    pub database: PathBuf,
    /// Configured devices by name.
    pub devices: BTreeMap<String, DeviceSettings>,
    /// Limits of the socket.
    pub limits: Limits,
    /// How long calls in flight may go on after a stop was asked for.
    pub drain: Duration,
    /// Keys of the file that nobody knows.
    pub warnings: Vec<String>,
}

/// The settings and the way to change them.
pub struct Config {
    overrides: Overrides,
    current: watch::Sender<Arc<Settings>>,
    error: Mutex<Option<String>>,
}

impl Config {
    /// Reads the file.
    ///
    /// # Errors
    /// When the file is there and bad.
    pub fn load(overrides: Overrides) -> Result<Self, ConfigError> {
        let settings = resolve(&overrides)?;
        for warning in &settings.warnings {
            tracing::warn!(key = %warning, file = %overrides.config.display(), "unknown key in the settings");
        }
        Ok(Self { overrides, current: watch::Sender::new(Arc::new(settings)), error: Mutex::new(None) })
    }

    /// The settings in force.
    pub fn get(&self) -> Arc<Settings> {
        self.current.borrow().clone()
    }

    /// The settings file, whether it exists or not.
    pub fn path(&self) -> &Path {
        &self.overrides.config
    }

    /// The socket.
    pub fn socket(&self) -> &Path {
        &self.overrides.socket
    }

    /// Why the file was last refused.
    pub fn error(&self) -> Option<String> {
        self.error.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Reads the file again. Returns the settings before and after; a bad file changes nothing.
    ///
    /// # Errors
    /// When the file is bad.
    pub fn reload(&self) -> Result<(Arc<Settings>, Arc<Settings>), ConfigError> {
        let read = resolve(&self.overrides);
        *self.error.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = read.as_ref().err().map(ToString::to_string);
        let after = Arc::new(read?);
        let before = self.current.send_replace(after.clone());
        Ok((before, after))
    }
}

fn resolve(overrides: &Overrides) -> Result<Settings, ConfigError> {
    let (file, warnings) = file::read(&overrides.config)?;
    Ok(Settings {
        database: overrides.database.clone().or(file.memory.db.clone()).unwrap_or_else(afd_proto::paths::database),
        devices: file.devices(),
        limits: file.limits.clone(),
        drain: Duration::from_millis(file.daemon.drain_ms),
        warnings,
    })
}
