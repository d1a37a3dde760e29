//! Startup errors.

/// Reason why the daemon did not start, or why it ended with a failure.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Another daemon already uses this socket or this database. The variant holds the message.
    #[error("{0}")]
    AlreadyRunning(String),
    /// The socket cannot be created or used.
    #[error("cannot use the socket {path}: {why}")]
    Socket {
        /// Path of the socket.
        path: String,
        /// Reason why the socket cannot be used.
        why: String,
    },
    /// The configuration is invalid.
    #[error("invalid configuration: {0}")]
    Config(#[from] afd_base::config::ConfigError),
    /// The database is damaged.
    #[error("{}: {why}; `afctl backup restore` replaces it with the newest backup, and `memory.required = false` in the settings lets the \
             daemon work without recording", path.display())]
    Damaged {
        /// Path of the database.
        path: std::path::PathBuf,
        /// Description of the damage.
        why: String,
    },
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] afd_store::StoreError),
    /// A backup cannot be restored.
    #[error("cannot restore: {0}")]
    Backup(#[from] afd_store::backup::BackupError),
    /// A critical background thread panicked. The variant holds the message.
    #[error("{0}; restart the daemon")]
    Failed(String),
    /// A system call that the daemon depends on failed. The variant holds the message.
    #[error("{0}")]
    System(String),
}

impl StartError {
    /// Converts an error from the store. For a damaged database, adds its path and advice.
    pub(super) fn of_store(error: afd_store::StoreError, database: &std::path::Path) -> Self {
        match error {
            error @ afd_store::StoreError::Damaged(_) => {
                Self::Damaged { path: database.to_owned(), why: error.to_string() }
            }
            other => Self::Store(other),
        }
    }
}
