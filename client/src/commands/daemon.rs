//! The `daemon` commands, and `status`.

use afd_proto::daemon::{DaemonMethods, DaemonReload, DaemonShutdown, DaemonStatus, DaemonVersion, MethodList, MethodSummary};
use afd_proto::vocabulary::NoParams;
use clap::Subcommand;

use serde_json::{Value, json};

use super::{Call, Group};
use crate::dial::{self, Purpose};
use crate::human::{human, table};
use crate::options::Context;
use crate::outcome::Failure;

/// Start, stop and inspect the daemon.
#[derive(Debug, Subcommand)]
pub enum Daemon {
    /// Start the daemon if it is not running
    Start,
    /// Show the state of the daemon, without starting it
    Status,
    /// Show version, protocol and capabilities
    Version,
    /// List the methods that the daemon serves
    Methods,
    /// Reload the configuration file
    Reload,
    /// Stop the daemon after its calls in flight have finished, and start it again
    Restart,
    /// Stop the daemon after its calls in flight have finished; never starts it
    Shutdown,
}

human! {
    DaemonMethods => methods;
    DaemonShutdown => |_| "stopped\n".to_owned();
}

fn methods(list: &MethodList) -> String {
    let row = |m: &MethodSummary| [m.name.clone(), m.effect.to_string(), m.summary.clone()];
    table(["method", "effect", "summary"], list.methods.iter().map(row))
}

/// Creates the call of `status`.
pub fn status() -> Call {
    Call::of::<DaemonStatus>(NoParams {}).without_starting()
}

/// Stops the daemon and starts it again; returns the version that runs now.
fn restart(context: &Context) -> Result<Value, Failure> {
    dial::stop(&context.global)?;
    let mut connection = dial::connect(&context.global, Purpose::Call)?;
    let version = connection.call_as::<DaemonVersion>(&NoParams {}).map_err(|e| dial::failure(e, &context.global))?;
    Ok(json!(version))
}

impl Group for Daemon {
    fn call(self, _: &Context) -> Call {
        match self {
            Daemon::Start | Daemon::Version => Call::plain::<DaemonVersion>(NoParams {}),
            Daemon::Status => status(),
            Daemon::Methods => Call::of::<DaemonMethods>(NoParams {}),
            Daemon::Reload => Call::plain::<DaemonReload>(NoParams {}),
            Daemon::Restart => Call::local("daemon", "restart", None, restart),
            Daemon::Shutdown => Call::of::<DaemonShutdown>(NoParams {}).without_starting(),
        }
    }
}
