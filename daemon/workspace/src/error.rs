//! Errors of session operations.

use afd_store::StoreError;

/// Error of an operation on a session.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The requested row does not exist. The variant holds the error message.
    #[error("{0}")]
    Missing(String),
    /// The request conflicts with the current state. The variant holds the error message and a hint.
    #[error("{0}")]
    Conflict(String, String),
    /// The session has ended.
    #[error("the session has ended")]
    Ended,
    /// The session was deleted.
    #[error("the session was deleted")]
    Deleted,
    /// The database operation failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<rusqlite::Error> for SessionError {
    fn from(error: rusqlite::Error) -> Self {
        StoreError::from(error).into()
    }
}
