//! Errors that occur when artifacts are written or deleted.

use std::path::{Path, PathBuf};

use crate::StoreError;
use afd_base::task::Panicked;

/// Why an artifact could not be written or deleted.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// The disk is full.
    #[error("no space left for {}", .0.display())]
    Full(PathBuf),
    /// The path exists and is not a regular file.
    #[error("{} exists and is not a regular file", .0.display())]
    NotAFile(PathBuf),
    /// The file cannot be written, read or deleted.
    #[error("{}: {error}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// The I/O error.
        #[source]
        error: std::io::Error,
    },
    /// The artifact's row cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file operation panicked.
    #[error(transparent)]
    Panicked(#[from] Panicked),
}

impl ArtifactError {
    pub(super) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        |error| match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => ArtifactError::Full(path.to_owned()),
            _ => ArtifactError::Io { path: path.to_owned(), error },
        }
    }
}
