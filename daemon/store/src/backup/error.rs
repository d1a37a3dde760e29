//! Errors of backups.

use std::path::{Path, PathBuf};

use crate::StoreError;

/// Why a backup cannot be made, checked or restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// There is no such backup; holds the message.
    #[error("{0}")]
    NotFound(String),
    /// The manifest of the backup cannot be read.
    #[error("{name} is not a backup: {why}")]
    Unreadable {
        /// Name of the directory.
        name: String,
        /// The cause.
        why: String,
    },
    /// The content differs from what was written, or the database was already damaged.
    #[error("{name} is damaged: {why}")]
    Damaged {
        /// Name of the backup, or a description of the copy.
        name: String,
        /// The first fault.
        why: String,
    },
    /// There is no space left.
    #[error("no space left for {0}")]
    Full(PathBuf),
    /// A file operation failed.
    #[error("{path}: {error}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        error: std::io::Error,
    },
    /// A database operation failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl BackupError {
    /// Wraps an I/O error with the path that it concerns.
    pub(super) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |error| match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Self::Full(path),
            _ => Self::Io { path, error },
        }
    }

    /// Wraps the error of opening a copy of a database.
    pub(super) fn copied(name: &str, error: StoreError) -> Self {
        match error {
            StoreError::Damaged(why) => Self::Damaged { name: name.to_owned(), why },
            other => Self::Store(other),
        }
    }
}

/// Result of an operation on backups.
pub type Result<T> = std::result::Result<T, BackupError>;
