//! `daemon` and `status`

use afd_proto::daemon::{DaemonReload, DaemonShutdown, DaemonStatus, DaemonVersion};
use afd_proto::vocabulary::NoParams;
use clap::Subcommand;

use super::Call;
use crate::cli::{Context, Group};

/// Start, stop and inspect the daemon.
#[derive(Debug, Subcommand)]
pub enum Daemon {
    /// Start it if it is not running
    Start,
    /// Show its state; never starts it
    Status,
    /// Version, protocol and capabilities
    Version,
    /// Read the configuration file again
    Reload,
    /// Finish the calls in flight, then stop; never starts it
    Shutdown,
}

/// Returns the call of `status`.
pub fn status() -> Call {
    Call::of::<DaemonStatus>(NoParams {}).without_starting()
}

impl Group for Daemon {
    fn call(self, _: &Context) -> Call {
        match self {
            Daemon::Start | Daemon::Version => Call::of::<DaemonVersion>(NoParams {}),
            Daemon::Status => status(),
            Daemon::Reload => Call::of::<DaemonReload>(NoParams {}),
            Daemon::Shutdown => Call::of::<DaemonShutdown>(NoParams {}).without_starting(),
        }
    }
}
