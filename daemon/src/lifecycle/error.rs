//! Why the daemon did not start.

/// Why the daemon did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Another daemon serves this socket or this database.
    #[error("{0}")]
    Taken(String),
    /// The socket cannot be made.
    #[error("the socket {path} cannot be used: {why}")]
    Socket {
        /// Where.
        path: String,
        /// Why.
        why: String,
    },
    /// The settings are bad.
    #[error("the settings are refused: {0}")]
    Config(#[from] crate::config::ConfigError),
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] crate::store::StoreError),
    /// A vital part failed while it ran.
    #[error("{0}; start it again")]
    Failed(String),
    /// The machine refuses something that is needed.
    #[error("{0}")]
    System(String),
}
