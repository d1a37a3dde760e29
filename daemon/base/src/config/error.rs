//! Errors that occur when the configuration file is read or changed.

use std::path::PathBuf;

/// Why the configuration file cannot be used or changed.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// The I/O error.
        #[source]
        error: std::io::Error,
    },
    /// The content of the file is invalid.
    #[error("{}: {error}", path.display())]
    Bad {
        /// Path of the file.
        path: PathBuf,
        /// Where and why the file is invalid.
        #[source]
        error: InvalidSetting,
    },
}

/// A message that says why a setting is invalid and, usually, what was expected.
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
