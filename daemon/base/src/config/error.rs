//! Errors of the configuration file.

use std::path::PathBuf;

/// An error of the configuration file.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// I/O error.
        #[source]
        error: std::io::Error,
    },
    /// The file is invalid.
    #[error("{}: {error}", path.display())]
    Bad {
        /// Path of the file.
        path: PathBuf,
        /// Where and why it is invalid.
        #[source]
        error: InvalidSetting,
    },
}

/// An invalid setting, with the value that was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidSetting(String);

impl From<String> for InvalidSetting {
    fn from(what: String) -> Self {
        Self(what)
    }
}

impl From<&str> for InvalidSetting {
    fn from(what: &str) -> Self {
        Self(what.to_owned())
    }
}
