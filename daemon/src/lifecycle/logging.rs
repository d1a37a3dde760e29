//! Logging to standard error, which systemd or `afctl` redirect. Lines that belong to a call carry its trace id.

use std::fmt;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};

use super::Args;
use crate::control;

/// Prefix of a log line: the time, unless the journal adds its own, and the trace id of the current call.
struct TimeAndTrace {
    time: Option<SystemTime>,
}

impl FormatTime for TimeAndTrace {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        if let Some(time) = &self.time {
            time.format_time(writer)?;
        }
        match (control::current_trace(), &self.time) {
            (Some(trace), Some(_)) => write!(writer, " {trace}"),
            (Some(trace), None) => write!(writer, "{trace}"),
            (None, _) => Ok(()),
        }
    }
}

pub(super) fn start(args: &Args) {
    let filter = EnvFilter::try_new(&args.log).unwrap_or_else(|_| EnvFilter::new("info"));
    let journal = std::env::var_os("JOURNAL_STREAM").is_some();
    let timer = TimeAndTrace { time: (!journal).then_some(SystemTime) };
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false).with_timer(timer);
    if builder.try_init().is_err() {
        tracing::debug!("logging is already initialised");
    }
}
