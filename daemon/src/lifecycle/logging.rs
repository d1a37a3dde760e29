//! Logs go to standard error; systemd and `afctl` decide where that leads.

use tracing_subscriber::EnvFilter;

use super::Args;

pub(super) fn start(args: &Args) {
    let filter = EnvFilter::try_new(&args.log).unwrap_or_else(|_| EnvFilter::new("info"));
    // The journal has times of its own.
    let journal = std::env::var_os("JOURNAL_STREAM").is_some();
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false);
    let started = if journal { builder.without_time().try_init() } else { builder.try_init() };
    if started.is_err() {
        tracing::debug!("logging was started before");
    }
}
