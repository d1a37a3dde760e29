//! What can go wrong with the database.

use crate::task::Panicked;

/// Why the database did not do it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no room left.
    #[error("there is no room left for the memory database")]
    Full,
    /// It is damaged.
    #[error("the memory database cannot be used: it is damaged ({0})")]
    Damaged(String),
    /// It cannot be used: stopped, read-only, or not to be opened.
    #[error("the memory database cannot be used: {0}")]
    Unavailable(String),
    /// A newer daemon made it.
    #[error("the memory database has schema {found}, which is newer than {known}, the newest that this version knows")]
    TooNew {
        /// Its schema.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// The work itself panicked, and was undone.
    #[error("a piece of database work failed: {0}")]
    Panicked(String),
    /// Anything else that SQLite says.
    #[error("the memory database: {0}")]
    Sql(#[source] rusqlite::Error),
}

impl StoreError {
    /// The same error for one more caller.
    pub(super) fn again(&self) -> StoreError {
        match self {
            StoreError::Full => StoreError::Full,
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
            Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => StoreError::Damaged(error.to_string()),
            Some(rusqlite::ErrorCode::ReadOnly | rusqlite::ErrorCode::CannotOpen | rusqlite::ErrorCode::SystemIoFailure) => {
                StoreError::Unavailable(error.to_string())
            }
            _ => StoreError::Sql(error),
        }
    }
}

impl From<Panicked> for StoreError {
    fn from(panicked: Panicked) -> Self {
        StoreError::Panicked(panicked.0)
    }
}

/// The result of a piece of database work.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
