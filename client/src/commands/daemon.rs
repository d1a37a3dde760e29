//! `daemon`

use clap::Subcommand;

use super::Call;

/// The daemon itself.
#[derive(Debug, Subcommand)]
pub enum Daemon {
    /// Start it, if it does not run
    Start,
    /// How it is doing; never starts it
    Status,
    /// Version, protocol and capabilities
    Version,
    /// Read the settings again
    Reload,
    /// Finish what is in flight, then stop; never starts it
    Shutdown,
}

impl Daemon {
    /// The call.
    pub fn call(&self) -> Call {
        Call::new(match self {
            Daemon::Start | Daemon::Version => "daemon.version",
            Daemon::Status => "daemon.status",
            Daemon::Reload => "daemon.reload",
            Daemon::Shutdown => "daemon.shutdown",
        })
    }

    /// Whether it makes no sense to start a daemon for this.
    pub fn never_starts(&self) -> bool {
        matches!(self, Daemon::Status | Daemon::Shutdown)
    }
}
