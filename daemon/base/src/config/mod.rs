//! The values of settings, and where each value comes from.
//!
//! Flags take precedence over environment variables, environment variables over the configuration file, and the file
//! over defaults. The file is TOML. Unknown keys are logged as warnings. An invalid file is rejected: at startup,
//! loading fails; at a reload, the previous settings stay in effect.

mod agent;
mod edit;
mod error;
mod file;
pub mod keys;
mod reading;
mod section;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;

pub use agent::{Conversation, LanguageModelSettings, Provider, RecallSettings};
pub use edit::{add_device, remove_device};
pub use error::{ConfigError, InvalidSetting};
pub use file::{
    Adb, Browser, DeviceKind, DeviceSettings, File, Limits, Observe, OutputFormat, Proxy, Risk, Usb, Visual,
};
pub use reading::{check_attach, check_name, check_url, is_sendable, parse, read as read_file};

/// Settings that command-line flags and environment variables override for as long as the daemon runs.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// Path of the daemon's socket.
    pub socket: PathBuf,
    /// Path of the configuration file.
    pub config: PathBuf,
    /// Overridden values by setting key.
    pub values: BTreeMap<&'static str, Override>,
}

/// A value that overrides a setting in the configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// The overriding value, which is a path.
    pub value: PathBuf,
    /// Environment variable from which the value comes; `None` if it comes from a flag.
    pub variable: Option<&'static str>,
}

/// The settings in effect.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Path of the memory database.
    pub database: PathBuf,
    /// Settings of the configured devices by device name.
    pub devices: BTreeMap<String, DeviceSettings>,
    /// Locations and limits of artifacts.
    pub artifacts: ArtifactSettings,
    /// Whether the daemon refuses to work while its memory is damaged.
    pub memory_required: bool,
    /// Retention limits of the memory.
    pub retention: Retention,
    /// Location, interval and retention of backups.
    pub backup: BackupSettings,
    /// Limits for the socket.
    pub limits: Limits,
    /// The `adb` program and its server.
    pub adb: Adb,
    /// How the daemon learns from screens, and how it detects components in pictures.
    pub visual: Visual,
    /// Captures that the daemon makes on its own.
    pub observe: Observe,
    /// Which elements are risky.
    pub risk: Risk,
    /// Directory in which progress files are written.
    pub progress_dir: PathBuf,
    /// How conversations are stored and assembled into a context.
    pub conversation: Conversation,
    /// The language model that writes summaries.
    pub model: LanguageModelSettings,
    /// Settings for recall, the search over remembered entries.
    pub recall: RecallSettings,
    /// How long calls in flight may continue after a shutdown request.
    pub drain: Duration,
    /// Unknown keys in the configuration file.
    pub warnings: Vec<String>,
}

/// Locations and limits of artifacts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactSettings {
    /// Root directory for artifacts.
    pub dir: PathBuf,
    /// File to which full-screen dumps are written.
    pub screen_file: Option<PathBuf>,
    /// File to which screenshots are written.
    pub screenshot_file: Option<PathBuf>,
    /// Directory to which pages are written.
    pub page_dir: Option<PathBuf>,
    /// Maximum total size of the files in the root directory, in bytes.
    pub max_bytes: u64,
    /// Maximum age of the files in the root directory.
    pub max_age: Duration,
}

/// Retention limits of the memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// Maximum size of the content of the database, in bytes.
    pub max_bytes: u64,
    /// Maximum size of the write-ahead log, in bytes.
    pub max_wal_bytes: u64,
    /// Maximum age of events.
    pub events: Duration,
    /// Maximum age of observations.
    pub observations: Duration,
}

/// Location, interval and retention of backups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupSettings {
    /// Directory in which backups are stored.
    pub dir: PathBuf,
    /// Interval of automatic backups; `None` if they are disabled.
    pub every: Option<Duration>,
    /// Number of automatic backups to keep.
    pub keep: usize,
    /// Maximum total size of all backups, in bytes.
    pub max_bytes: u64,
}

/// The settings, which can be reloaded.
pub struct Config {
    overrides: Overrides,
    /// Path of the database that this process uses. Changes to `memory.db`, and to the default directories beside the
    /// database, take effect only after a restart.
    in_use: PathBuf,
    current: watch::Sender<Arc<Settings>>,
    error: Mutex<Option<String>>,
}

impl Config {
    /// Reads the configuration file, and logs its unknown keys as warnings.
    ///
    /// # Errors
    /// If the file exists and is invalid.
    pub fn load(overrides: Overrides) -> Result<Self, ConfigError> {
        let settings = resolve(&overrides, None)?;
        for warning in &settings.warnings {
            tracing::warn!(key = %warning, file = %overrides.config.display(), "unknown key in the configuration file");
        }
        let in_use = settings.database.clone();
        Ok(Self { overrides, in_use, current: watch::Sender::new(Arc::new(settings)), error: Mutex::new(None) })
    }

    /// Returns the settings in effect.
    pub fn get(&self) -> Arc<Settings> {
        self.current.borrow().clone()
    }

    /// Returns the path of the database that was configured when the process started.
    pub fn in_use(&self) -> &Path {
        &self.in_use
    }

    /// Returns the path of the configuration file, which need not exist.
    pub fn path(&self) -> &Path {
        &self.overrides.config
    }

    /// Returns the settings that flags and environment variables override.
    pub fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    /// Returns the default root directory for artifacts.
    fn default_artifacts(&self) -> PathBuf {
        default_artifacts(&self.in_use)
    }

    /// Returns the default directory for backups.
    fn default_backups_dir(&self) -> PathBuf {
        default_backups(&self.in_use)
    }

    /// Returns the path of the socket.
    pub fn socket(&self) -> &Path {
        &self.overrides.socket
    }

    /// Returns why the configuration file was rejected at the last reload; `None` if it was accepted.
    pub fn error(&self) -> Option<String> {
        self.error.lock().clone()
    }

    /// Reads the configuration file again. Returns the previous and the new settings. If the file is invalid, the
    /// previous settings stay in effect.
    ///
    /// # Errors
    /// If the file is invalid.
    pub fn reload(&self) -> Result<(Arc<Settings>, Arc<Settings>), ConfigError> {
        let read = resolve(&self.overrides, Some(&self.in_use));
        *self.error.lock() = read.as_ref().err().map(ToString::to_string);
        let after = Arc::new(read?);
        let before = self.current.send_replace(after.clone());
        Ok((before, after))
    }
}

/// Combines the settings from flags, environment, file and defaults. `in_use` is the path of the database that the
/// daemon already uses; `None` at startup.
fn resolve(overrides: &Overrides, in_use: Option<&Path>) -> Result<Settings, ConfigError> {
    let (file, warnings) = reading::read(&overrides.config)?;
    // A relative path in the file is relative to the directory of the file.
    let base = overrides.config.parent().unwrap_or(Path::new("/")).to_owned();
    // A key file that is given by a bare name may be a systemd credential.
    let secrets_dir = std::env::var_os("CREDENTIALS_DIRECTORY").map_or_else(|| base.clone(), PathBuf::from);
    let path = |key: &str, in_file: &Option<PathBuf>| {
        overrides.values.get(key).map(|o| o.value.clone()).or_else(|| in_file.as_ref().map(|p| base.join(p)))
    };
    let database = path("memory.db", &file.memory.db).unwrap_or_else(afd_proto::paths::database);
    let artifacts = &file.artifacts;
    Ok(Settings {
        devices: with_tokens(file.devices(), &secrets_dir),
        artifacts: ArtifactSettings {
            dir: path("artifacts.dir", &artifacts.dir)
                .unwrap_or_else(|| default_artifacts(in_use.unwrap_or(&database))),
            screen_file: path("artifacts.screen_file", &artifacts.screen_file),
            screenshot_file: path("artifacts.screenshot_file", &artifacts.screenshot_file),
            page_dir: path("artifacts.page_dir", &artifacts.page_dir),
            max_bytes: artifacts.max_bytes,
            max_age: days(artifacts.max_age_days),
        },
        memory_required: file.memory.required,
        retention: Retention {
            max_bytes: file.memory.max_bytes,
            max_wal_bytes: file.memory.max_wal_bytes,
            events: days(file.memory.max_event_days),
            observations: days(file.memory.max_observation_days),
        },
        backup: BackupSettings {
            dir: path("backup.dir", &file.backup.dir).unwrap_or_else(|| default_backups(in_use.unwrap_or(&database))),
            every: (file.backup.every_hours > 0).then(|| Duration::from_secs(file.backup.every_hours * 3600)),
            keep: file.backup.keep,
            max_bytes: file.backup.max_bytes,
        },
        database,
        limits: file.limits.clone(),
        adb: file.adb.clone(),
        visual: file.visual.clone(),
        observe: file.observe.clone(),
        risk: file.risk.clone(),
        progress_dir: path("sessions.progress_dir", &file.sessions.progress_dir)
            .unwrap_or_else(afd_proto::paths::state_dir),
        conversation: file.conversation.clone(),
        model: LanguageModelSettings {
            key_file: file.model.key_file.as_ref().map(|f| secrets_dir.join(f)),
            ..file.model.clone()
        },
        recall: RecallSettings {
            model_dir: path("recall.model_dir", &file.recall.model_dir),
            endpoint_key_file: file.recall.endpoint_key_file.as_ref().map(|f| secrets_dir.join(f)),
            qdrant_key_file: file.recall.qdrant_key_file.as_ref().map(|f| secrets_dir.join(f)),
            ..file.recall.clone()
        },
        drain: Duration::from_millis(file.daemon.drain_ms),
        warnings,
    })
}

/// Reads the tokens of devices that have a token file. Relative paths are relative to `dir`. A device whose token file
/// cannot be read gets no token, so that the other devices still work.
fn with_tokens(mut devices: BTreeMap<String, DeviceSettings>, dir: &Path) -> BTreeMap<String, DeviceSettings> {
    for (name, device) in &mut devices {
        let Some(file) = device.token_file.as_ref().map(|file| dir.join(file)) else { continue };
        let text = crate::file::read_capped(&file, MAX_TOKEN).map_err(|e| e.to_string());
        let text = text.and_then(|bytes| String::from_utf8(bytes).map_err(|_| "not text".to_owned()));
        let token = text.map(|text| afd_proto::Secret::new(text.trim().to_owned()));
        match token.and_then(|token| {
            if is_sendable(&token) && !token.expose().is_empty() { Ok(token) } else { Err("no token".to_owned()) }
        }) {
            Ok(token) => device.token = Some(token),
            Err(why) => {
                tracing::warn!(device = name, file = %file.display(), why, "cannot read the token file")
            }
        }
    }
    devices
}

/// Maximum size of a token file, in bytes.
const MAX_TOKEN: u64 = 4 << 10;

fn days(number: u64) -> Duration {
    Duration::from_secs(number.saturating_mul(86_400))
}

/// Returns the directory `backups` beside the database.
fn default_backups(database: &Path) -> PathBuf {
    database.parent().unwrap_or(Path::new("/")).join("backups")
}

/// Returns the directory `artifacts` beside the database.
fn default_artifacts(database: &Path) -> PathBuf {
    database.parent().unwrap_or(Path::new("/")).join("artifacts")
}
