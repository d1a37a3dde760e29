//! The empty memory that replaces a damaged one until the process ends.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use afd_store::{Store, StoreError};

/// Directory of the empty memory. It is deleted when this value is dropped.
pub struct Substitute {
    pub(in crate::app) dir: tempfile::TempDir,
    why: String,
}

impl Substitute {
    /// Returns the reason why a database cannot be used for recording; `None` if it can be used, or if it belongs to
    /// another program or a newer version.
    pub(in crate::app) fn reason(opened: &std::result::Result<Store, StoreError>) -> Option<String> {
        match opened {
            Ok(store) => store.damage(),
            Err(error @ (StoreError::Damaged(_) | StoreError::Full | StoreError::Unavailable(_))) => {
                Some(error.to_string())
            }
            Err(_) => None,
        }
    }

    pub(in crate::app) fn create(why: String) -> std::result::Result<Self, StoreError> {
        let dir = tempfile::Builder::new()
            .prefix("afd-unrecorded-")
            .permissions(std::fs::Permissions::from_mode(0o700))
            .tempdir();
        let dir =
            dir.map_err(|e| StoreError::Unavailable(format!("cannot create a directory for a temporary memory: {e}")))?;
        Ok(Self { dir, why })
    }

    pub(in crate::app) fn database(&self) -> PathBuf {
        self.dir.path().join("memory.db")
    }

    /// Returns the reason why the configured memory is not used.
    pub(in crate::app) fn why(&self) -> &str {
        &self.why
    }
}
