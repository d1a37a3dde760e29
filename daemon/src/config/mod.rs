//! Settings: where each value comes from, and what is in force.
//!
//! Precedence is flag, environment, file, default. The file is TOML; unknown keys are warned about by name; a bad file is
//! refused at the start and, at a reload, keeps the old settings.

mod agent;
mod edit;
mod error;
mod file;
pub mod keys;
mod section;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;

pub use agent::{Conversation, LanguageModelSettings, Provider};
pub use edit::{add_device, remove_device};
pub use error::{ConfigError, Unfit};
pub use file::{Adb, DeviceSettings, File, Limits, OutputFormat, Proxy, Usb, Visual, check_name, check_url, read as read_file};

/// What the flags and the environment of the daemon decide, for as long as it lives.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// The socket.
    pub socket: PathBuf,
    /// The settings file.
    pub config: PathBuf,
    /// Values of settings by key.
    pub values: BTreeMap<&'static str, Override>,
}

/// A value that is not the file's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// The value, a path.
    pub value: PathBuf,
    /// The variable that it comes from; none for a flag.
    pub variable: Option<&'static str>,
}

/// The settings in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The database.
    pub database: PathBuf,
    /// Configured devices by name.
    pub devices: BTreeMap<String, DeviceSettings>,
    /// Where artifacts go, and for how long.
    pub artifacts: ArtifactSettings,
    /// Limits of the socket.
    pub limits: Limits,
    /// How `adb` is called.
    pub adb: Adb,
    /// What is learned of screens.
    pub visual: Visual,
    /// Where progress files go.
    pub progress_dir: PathBuf,
    /// How conversations are kept.
    pub conversation: Conversation,
    /// The language model.
    pub model: LanguageModelSettings,
    /// How long calls in flight may go on after a stop was asked for.
    pub drain: Duration,
    /// Keys of the file that nobody knows.
    pub warnings: Vec<String>,
}

/// Where artifacts go, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactSettings {
    /// The shared root.
    pub dir: PathBuf,
    /// File of full screens.
    pub screen_file: Option<PathBuf>,
    /// File of screenshots.
    pub screenshot_file: Option<PathBuf>,
    /// Directory of pages.
    pub page_dir: Option<PathBuf>,
    /// The most that the files in the shared root may take, bytes.
    pub max_bytes: u64,
    /// How long files in the shared root are kept.
    pub max_age: Duration,
}

/// The settings and the way to change them.
pub struct Config {
    overrides: Overrides,
    /// The database of this start. Another one in the settings counts from the next start on, and so does what lies beside it.
    in_use: PathBuf,
    current: watch::Sender<Arc<Settings>>,
    error: Mutex<Option<String>>,
}

impl Config {
    /// Reads the file.
    ///
    /// # Errors
    /// When the file is there and bad.
    pub fn load(overrides: Overrides) -> Result<Self, ConfigError> {
        let settings = resolve(&overrides, None)?;
        for warning in &settings.warnings {
            tracing::warn!(key = %warning, file = %overrides.config.display(), "unknown key in the settings");
        }
        let in_use = settings.database.clone();
        Ok(Self { overrides, in_use, current: watch::Sender::new(Arc::new(settings)), error: Mutex::new(None) })
    }

    /// The settings in force.
    pub fn get(&self) -> Arc<Settings> {
        self.current.borrow().clone()
    }

    /// The settings file, whether it exists or not.
    pub fn path(&self) -> &Path {
        &self.overrides.config
    }

    /// What flags and environment decide.
    pub fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    /// Where artifacts go unless something else is said.
    fn default_artifacts(&self) -> PathBuf {
        default_artifacts(&self.in_use)
    }

    /// The socket.
    pub fn socket(&self) -> &Path {
        &self.overrides.socket
    }

    /// Why the file was last refused.
    pub fn error(&self) -> Option<String> {
        self.error.lock().clone()
    }

    /// Reads the file again. Returns the settings before and after; a bad file changes nothing.
    ///
    /// # Errors
    /// When the file is bad.
    pub fn reload(&self) -> Result<(Arc<Settings>, Arc<Settings>), ConfigError> {
        let read = resolve(&self.overrides, Some(&self.in_use));
        *self.error.lock() = read.as_ref().err().map(ToString::to_string);
        let after = Arc::new(read?);
        let before = self.current.send_replace(after.clone());
        Ok((before, after))
    }
}

/// `in_use` is the database that the daemon uses already.
fn resolve(overrides: &Overrides, in_use: Option<&Path>) -> Result<Settings, ConfigError> {
    let (file, warnings) = file::read(&overrides.config)?;
    // A relative path in the file is meant from where the file is.
    let base = overrides.config.parent().unwrap_or(Path::new("/")).to_owned();
    // A bare name of a key file may be that of a credential that systemd brings.
    let secrets_dir = std::env::var_os("CREDENTIALS_DIRECTORY").map_or_else(|| base.clone(), PathBuf::from);
    let path = |key: &str, in_file: &Option<PathBuf>| {
        overrides.values.get(key).map(|o| o.value.clone()).or_else(|| in_file.as_ref().map(|p| base.join(p)))
    };
    let database = path("memory.db", &file.memory.db).unwrap_or_else(afd_proto::paths::database);
    let artifacts = &file.artifacts;
    Ok(Settings {
        devices: file.devices(),
        artifacts: ArtifactSettings {
            dir: path("artifacts.dir", &artifacts.dir).unwrap_or_else(|| default_artifacts(in_use.unwrap_or(&database))),
            screen_file: path("artifacts.screen_file", &artifacts.screen_file),
            screenshot_file: path("artifacts.screenshot_file", &artifacts.screenshot_file),
            page_dir: path("artifacts.page_dir", &artifacts.page_dir),
            max_bytes: artifacts.max_bytes,
            max_age: Duration::from_secs(artifacts.max_age_days.saturating_mul(86_400)),
        },
        database,
        limits: file.limits.clone(),
        adb: file.adb.clone(),
        visual: file.visual.clone(),
        progress_dir: path("sessions.progress_dir", &file.sessions.progress_dir).unwrap_or_else(afd_proto::paths::state_dir),
        conversation: file.conversation.clone(),
        model: LanguageModelSettings { key_file: file.model.key_file.as_ref().map(|f| secrets_dir.join(f)), ..file.model.clone() },
        drain: Duration::from_millis(file.daemon.drain_ms),
        warnings,
    })
}

/// The directory of artifacts, beside the database.
fn default_artifacts(database: &Path) -> PathBuf {
    database.parent().unwrap_or(Path::new("/")).join("artifacts")
}
