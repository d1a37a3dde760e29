//! `config`

use clap::Subcommand;

use super::Call;

/// The settings, and where each comes from.
#[derive(Debug, Subcommand)]
pub enum Config {
    /// All settings
    List,
    /// One setting
    Get {
        /// For example artifacts.dir
        key: String,
    },
    /// Change a setting in the settings file
    Set {
        /// For example artifacts.dir
        key: String,
        /// Its value
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Take a setting out of the settings file
    Unset {
        /// For example artifacts.dir
        key: String,
    },
}

/// Whether a key names a file or a directory: a relative one is meant from here.
fn is_path(key: &str) -> bool {
    key == "memory.db" || (key.starts_with("artifacts.") && (key.ends_with("dir") || key.ends_with("_file")))
}

impl Config {
    /// The call.
    pub fn call(&self) -> Call {
        match self {
            Config::List => Call::new("config.list"),
            Config::Get { key } => Call::new("config.get").with("key", key.clone()),
            Config::Set { key, value } => {
                let value = if is_path(key) && !value.is_empty() { super::absolute(value) } else { value.clone() };
                Call::new("config.set").with("key", key.clone()).with("value", value)
            }
            Config::Unset { key } => Call::new("config.unset").with("key", key.clone()),
        }
    }
}
