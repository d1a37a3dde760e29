//! `config`

use afd_proto::Secret;
use afd_proto::config::{ConfigGet, ConfigList, ConfigSet, ConfigUnset, KeyParams, SetParams};
use afd_proto::vocabulary::NoParams;
use clap::Subcommand;

use super::Call;
use crate::cli::{Context, Group};

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
