//! Why something is not done with a session.

use crate::store::StoreError;

/// Why something is not done with a session.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// There is no such thing.
    #[error("{0}")]
    Missing(String),
    /// It contradicts what is there, and what to do about it.
    #[error("{0}")]
    Conflict(String, String),
    /// The session has ended.
    #[error("the session has ended")]
    Ended,
    /// The database did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<rusqlite::Error> for SessionError {
    fn from(error: rusqlite::Error) -> Self {
        StoreError::from(error).into()
    }
}
