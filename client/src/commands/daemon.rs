//! The `daemon` commands, and `status`.

use std::io::Write;
use std::time::{Duration, Instant};

use afd_proto::daemon::{
    DaemonMethods, DaemonMetrics, DaemonReload, DaemonShutdown, DaemonStatus, DaemonVersion, MethodLoad, Metrics,
    Status as DaemonState,
};
use afd_proto::job::JobList;
use afd_proto::vocabulary::NoParams;
use clap::{Args, Subcommand};

use serde_json::{Value, json};

use super::{Call, Group, service};
use afd_link::dial::{self, Purpose};
use afd_link::human;
use afd_link::options::Context;
use afd_link::outcome::{FAILED, Failure};
use afd_link::safe;

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
    /// Show the daemon's metrics in the Prometheus text format; never starts the daemon
    Metrics,
    /// Reload the configuration file
    Reload,
    /// Stop the daemon after its calls in flight have finished, then start it again
    Restart,
    /// Stop the daemon after its calls in flight have finished; never starts it
    Shutdown,
}

/// Options for `status`.
#[derive(Debug, Default, Args)]
pub struct Status {
    /// Refresh the state continuously, with the rates and durations of calls, until Ctrl-C
    #[arg(long, short)]
    watch: bool,
    /// Interval between updates, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(100..=3_600_000))]
    every_ms: u64,
}

impl Status {
    /// Returns the call for the `status` command.
    pub fn call(self) -> Call {
        if self.watch {
            return Call::local("daemon", "watch", None, move |context| {
                watch(context, Duration::from_millis(self.every_ms))
            });
        }
        Call::of::<DaemonStatus>(NoParams {}).without_starting()
    }
}

/// Shows the daemon's state and refreshes it until the daemon exits or the program is interrupted.
fn watch(context: &Context, every: Duration) -> Result<Value, Failure> {
    let mut connection = dial::connect(&context.global, Purpose::RunningOnly)?;
    let mut before: Vec<MethodLoad> = Vec::new();
    let mut looked = Instant::now();
    loop {
        let failure = |e| dial::failure(e, &context.global);
        let mut state = json!(connection.call_as::<DaemonStatus>(&NoParams {}).map_err(failure)?);
        // Text from a phone must not control the terminal.
        safe::value(&mut state);
        let state: DaemonState =
            serde_json::from_value(state).map_err(|e| Failure::new("INTERNAL", e.to_string(), FAILED))?;
        let jobs = connection.call_as::<JobList>(&NoParams {}).map_err(failure)?;
        let metrics: Metrics = connection.call_as::<DaemonMetrics>(&NoParams {}).map_err(failure)?;
        let since = looked.elapsed();
        looked = Instant::now();
        let failing = jobs.jobs.iter().filter(|job| job.running || job.last_error.is_some());
        let jobs: String = failing
            .map(|j| format!("job {}: {}\n", j.name, safe::line(j.last_error.as_deref().unwrap_or("running"))))
            .collect();
        let rest = human::daemon::rates(&before, &metrics.methods, since);
        let mut out = anstream::stdout();
        // Move the cursor to the top, print the new text, and erase what is left of the previous one.
        let shown = format!("{}\n{jobs}{rest}", human::status(&state)).replace('\n', "\u{1b}[K\r\n");
        if write!(out, "\u{1b}[H{shown}\u{1b}[J").and_then(|()| out.flush()).is_err() {
            return Ok(Value::Null);
        }
        before = metrics.methods;
        std::thread::sleep(every);
    }
}

/// Stops the daemon and starts it again; returns the version that is running now.
fn restart(context: &Context) -> Result<Value, Failure> {
    dial::stop(&context.global)?;
    service::revive(context)?;
    let mut connection = dial::connect(&context.global, Purpose::Call)?;
    let version = connection.call_as::<DaemonVersion>(&NoParams {}).map_err(|e| dial::failure(e, &context.global))?;
    Ok(json!(version))
}

impl Group for Daemon {
    fn call(self, _: &Context) -> Call {
        match self {
            Daemon::Start | Daemon::Version => Call::plain::<DaemonVersion>(NoParams {}),
            Daemon::Status => Status::default().call(),
            Daemon::Methods => Call::of::<DaemonMethods>(NoParams {}),
            Daemon::Metrics => Call::of::<DaemonMetrics>(NoParams {}).without_starting(),
            Daemon::Reload => Call::plain::<DaemonReload>(NoParams {}),
            Daemon::Restart => Call::local("daemon", "restart", None, restart),
            Daemon::Shutdown => Call::of::<DaemonShutdown>(NoParams {}).without_starting(),
        }
    }
}
