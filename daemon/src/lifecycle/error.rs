//! Startup errors.

/// Why the daemon did not start or ended with a failure.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Another daemon already uses this socket or this database.
    #[error("{0}")]
    AlreadyRunning(String),
    /// The socket cannot be created or used.
    #[error("cannot use the socket {path}: {why}")]
    Socket {
        /// Path of the socket.
        path: String,
        /// The cause.
        why: String,
    },
    /// The configuration is invalid.
    #[error("invalid configuration: {0}")]
    Config(#[from] crate::config::ConfigError),
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] crate::store::StoreError),
    /// A critical background thread panicked.
    #[error("{0}; restart the daemon")]
    Failed(String),
    /// A system call that the daemon depends on failed.
    #[error("{0}")]
    System(String),
}
