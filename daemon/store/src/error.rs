//! Errors that database operations return.

use std::panic::AssertUnwindSafe;

use afd_base::task::{Panicked, panic_message};

/// Why a database operation failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk is full.
    #[error("no space left for the memory database")]
    Full,
    /// Another program holds a lock on the database.
    #[error("another program holds the lock of the memory database, and did not release it in time")]
    Locked,
    /// The database is damaged. Contains a description of the damage.
    #[error("the memory database is damaged: {0}")]
    Damaged(String),
    /// The database cannot be used: it is stopped, read-only, or cannot be opened.
    #[error("the memory database cannot be used: {0}")]
    Unavailable(String),
    /// The database has a newer schema than this version of the program supports.
    #[error(
        "the memory database has schema version {found}, and this version of afd supports at most {known}: install the newer afd again, or \
         restore a backup from before the upgrade (`afctl backup restore NAME`; its reason is `migration`)"
    )]
    TooNew {
        /// Schema version of the database.
        found: u32,
        /// Newest supported schema version.
        known: u32,
    },
    /// The work panicked, and its changes were rolled back. Contains the panic message.
    #[error("a database operation panicked: {0}")]
    Panicked(String),
    /// Any other SQLite error.
    #[error("memory database error: {0}")]
    Sql(#[source] rusqlite::Error),
}

impl StoreError {
    /// Converts an I/O error that concerns the database file, or a file beside it.
    pub fn from_io(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Self::Full,
            _ => Self::Unavailable(error.to_string()),
        }
    }

    /// Returns whether a row has a value that this version cannot decode.
    pub fn is_unreadable_row(&self) -> bool {
        matches!(self, Self::Sql(rusqlite::Error::FromSqlConversionFailure(..)))
    }

    /// Returns whether a constraint was violated, for example because another row already has a value that must be
    /// unique.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Sql(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation))
    }

    /// Copies the error for another caller. Variants that cannot be copied become `Unavailable` with the same message.
    pub(super) fn duplicate(&self) -> StoreError {
        match self {
            StoreError::Full => StoreError::Full,
            StoreError::Locked => StoreError::Locked,
            StoreError::Damaged(what) => StoreError::Damaged(what.clone()),
            StoreError::Unavailable(what) => StoreError::Unavailable(what.clone()),
            other => StoreError::Unavailable(other.to_string()),
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => StoreError::Full,
            Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => StoreError::Locked,
            Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => {
                StoreError::Damaged(error.to_string())
            }
            Some(
                rusqlite::ErrorCode::ReadOnly | rusqlite::ErrorCode::CannotOpen | rusqlite::ErrorCode::SystemIoFailure,
            ) => StoreError::Unavailable(error.to_string()),
            _ => StoreError::Sql(error),
        }
    }
}

impl From<Panicked> for StoreError {
    fn from(panicked: Panicked) -> Self {
        StoreError::Panicked(panicked.0)
    }
}

/// Result of a database operation.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Runs the work and converts a panic to an error, so that the work's changes are rolled back as for any other error.
pub(crate) fn catch_panic<T, E: From<StoreError>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    std::panic::catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(StoreError::Panicked(panic_message(panic.as_ref())).into()))
}

/// Why the content of the database is at risk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Risk {
    /// The database's schema is about to be changed.
    Migration,
    /// The database file was deleted or replaced. The open connection can still read the content.
    Gone,
}
