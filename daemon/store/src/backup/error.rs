//! Errors of backup operations.

use std::path::{Path, PathBuf};

use crate::StoreError;

/// Why a backup cannot be made, checked or restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// There is no such backup. Contains the error message.
    #[error("{0}")]
    NotFound(String),
    /// The manifest of the backup cannot be read.
    #[error("{name} is not a backup: {why}")]
    Unreadable {
        /// Name of the backup's directory.
        name: String,
        /// Why the backup cannot be read.
        why: String,
    },
    /// The backup's content differs from what was written, or its database was already damaged when it was copied.
    #[error("{name} is damaged: {why}")]
    Damaged {
        /// Name of the backup, or a description of the copy.
        name: String,
        /// Description of the first fault.
        why: String,
    },
    /// No space is left for the file or directory at this path.
    #[error("no space left for {0}")]
    Full(PathBuf),
    /// A file operation failed.
    #[error("{path}: {error}")]
    Io {
        /// Path of the file or directory.
        path: PathBuf,
        /// The I/O error.
        error: std::io::Error,
    },
    /// A database operation failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl BackupError {
    /// Returns a function that converts an I/O error for this path.
    pub(super) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |error| match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Self::Full(path),
            _ => Self::Io { path, error },
        }
    }

    /// Converts an error that occurred while a copy of a database was opened.
    pub(super) fn copied(name: &str, error: StoreError) -> Self {
        match error {
            StoreError::Damaged(why) => Self::Damaged { name: name.to_owned(), why },
            other => Self::Store(other),
        }
    }
}

/// Result of a backup operation.
pub type Result<T> = std::result::Result<T, BackupError>;
