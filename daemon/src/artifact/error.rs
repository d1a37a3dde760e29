//! Why an artifact was not written.

use std::path::{Path, PathBuf};

use crate::store::StoreError;
use crate::task::Panicked;

/// Why an artifact was not written.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// There is no room left.
    #[error("there is no room left for {}", .0.display())]
    Full(PathBuf),
    /// Something else than a file is there.
    #[error("{} is there, and is no regular file", .0.display())]
    NoFile(PathBuf),
    /// The file cannot be written or read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: std::io::Error,
    },
    /// Its row cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The work itself failed.
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
