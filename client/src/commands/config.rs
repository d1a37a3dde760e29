//! The `config` commands.

use afd_proto::Secret;
use afd_proto::config::{ConfigGet, ConfigList, ConfigSet, ConfigUnset, KeyParams, SetParams};
use afd_proto::vocabulary::NoParams;
use clap::Subcommand;

use super::{Call, Group};
use afd_link::options::Context;

/// Settings, and where each value comes from.
#[derive(Debug, Subcommand)]
pub enum Config {
    /// List all settings
    List,
    /// Show a setting
    Get {
        /// Name of the setting, for example artifacts.dir
        key: String,
    },
    /// Change a setting in the configuration file
    Set {
        /// Name of the setting, for example artifacts.dir
        key: String,
        /// New value of the setting
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Remove a setting from the configuration file
    Unset {
        /// Name of the setting, for example artifacts.dir
        key: String,
    },
}

/// Returns whether a setting holds a path, which is resolved against the caller's working directory.
fn is_path(key: &str) -> bool {
    key == "memory.db" || (key.starts_with("artifacts.") && (key.ends_with("dir") || key.ends_with("_file")))
}

impl Group for Config {
    fn call(self, _: &Context) -> Call {
        match self {
            Config::List => Call::of::<ConfigList>(NoParams {}),
            Config::Get { key } => Call::of::<ConfigGet>(KeyParams { key }),
            Config::Set { key, value } => {
                let value = if is_path(&key) && !value.is_empty() { super::absolute(&value) } else { value };
                Call::of::<ConfigSet>(SetParams { key, value: Secret::new(value) })
            }
            Config::Unset { key } => Call::of::<ConfigUnset>(KeyParams { key }),
        }
    }
}
