//! A daemon inside another program, such as a test: without its own arguments, signal handling or log.

use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

use super::{StartError, serve, start};
use crate::app::Core;
use afd_base::config::Overrides;

/// A running daemon that shares the process. Dropping this value stops the daemon abruptly, without a drain, as if its
/// process had been killed.
pub struct Hosted {
    /// Ends the daemon's thread when this sender is dropped.
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    core: Weak<Core>,
}

impl Hosted {
    /// Starts a daemon and returns once it is ready. Values that `overrides` does not contain come from the process
    /// environment.
    ///
    /// # Errors
    /// If the daemon cannot start.
    pub fn start(overrides: Overrides) -> Result<Self, StartError> {
        let (runtime, core, listener, locks) = start(overrides)?;
        let weak = Arc::downgrade(&core);
        let (end, ended) = oneshot::channel::<()>();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let life = move || {
            runtime.block_on(async {
                tokio::select! {
                    result = serve(core, listener, &locks, move || _ = ready.send(())) => {
                        if let Err(error) = result {
                            tracing::error!(%error, "the daemon ended");
                        }
                    }
                    _ = ended => {}
                }
            });
            runtime.shutdown_timeout(Duration::from_secs(5));
        };
        let thread = std::thread::Builder::new()
            .name("afd".into())
            .spawn(life)
            .map_err(|e| StartError::System(format!("cannot start the daemon's thread: {e}")))?;
        is_ready.recv().map_err(|_| StartError::Failed("it ended before it was ready".into()))?;
        Ok(Self { end: Some(end), thread: Some(thread), core: weak })
    }

    /// Stops the daemon as SIGTERM does: calls in flight are finished and the last writes are flushed.
    pub fn stop(mut self) {
        if let Some(core) = self.core.upgrade() {
            core.runtime.request_stop();
        }
        self.join();
    }

    fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Hosted {
    fn drop(&mut self) {
        drop(self.end.take());
        self.join();
    }
}
