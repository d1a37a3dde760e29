//! The daemon while it runs: since when, how busy it is, and whether it is to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::store::now_ms;

/// How the daemon runs.
pub struct Runtime {
    /// Start, UTC milliseconds.
    pub started_at: i64,
    started: Instant,
    /// Open connections.
    pub connections: AtomicU64,
    calls: Arc<AtomicU64>,
    stop: watch::Sender<bool>,
}

impl Default for Runtime {
    fn default() -> Self {
        Self {
            started_at: now_ms(),
            started: Instant::now(),
            connections: AtomicU64::new(0),
            calls: Arc::default(),
            stop: watch::Sender::new(false),
        }
    }
}

impl Runtime {
    /// How long it has run.
    pub fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// Asks the daemon to stop.
    pub fn request_stop(&self) {
        self.stop.send_replace(true);
    }

    /// Becomes true when the daemon is to stop.
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    /// Counts a call until the guard is dropped.
    pub fn enter(&self) -> InFlight {
        self.calls.fetch_add(1, Ordering::SeqCst);
        InFlight(self.calls.clone())
    }

    /// Calls being worked on.
    pub fn in_flight(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }
}

/// Counts a call.
pub struct InFlight(Arc<AtomicU64>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
