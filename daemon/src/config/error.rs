//! Faults of the settings.

use std::path::PathBuf;

/// A fault of the settings.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: std::io::Error,
    },
    /// The file is not what it should be.
    #[error("{}: {error}", path.display())]
    Bad {
        /// The file.
        path: PathBuf,
        /// Where and why.
        #[source]
        error: Unfit,
    },
}

/// What does not fit in the settings, and what was expected there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unfit(String);

impl From<String> for Unfit {
    fn from(what: String) -> Self {
        Self(what)
    }
}

impl From<&str> for Unfit {
    fn from(what: &str) -> Self {
        Self(what.to_owned())
    }
}
