//! Signal handling: SIGTERM and SIGINT start the drain, a second SIGTERM or SIGINT exits immediately, and SIGHUP
//! reloads the configuration.

use std::sync::Arc;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::StartError;
use crate::app::{Core, daemon};
use afd_base::task::failpoint;

pub(super) fn listen(core: &Arc<Core>) -> Result<(), StartError> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])
        .map_err(|e| StartError::System(format!("cannot listen for signals: {e}")))?;
    let (core, tasks) = (core.clone(), core.tasks.clone());
    let runtime = tokio::runtime::Handle::current();
    let listener = move || {
        let mut stopping = false;
        for signal in &mut signals {
            failpoint("signals");
            match signal {
                SIGHUP => {
                    let core = core.clone();
                    runtime.spawn(async move {
                        super::systemd::reloading();
                        if let Err(error) = daemon::reload(&core).await {
                            tracing::warn!(%error, "cannot reload the configuration; the previous one stays in force");
                        }
                        super::systemd::ready();
                    });
                }
                _ if stopping => std::process::exit(128 + signal),
                _ => {
                    tracing::info!(signal, "stopping");
                    stopping = true;
                    core.runtime.request_stop();
                }
            }
        }
    };
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || tasks.run_critical("signals", listener))
        .map(|_| ())
        .map_err(|e| StartError::System(format!("cannot listen for signals: {e}")))
}
