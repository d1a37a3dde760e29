//! State of the running daemon: start time, connections and calls in flight, stop request.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::call_counts::Calls;
use super::sizes::OnDisk;
use afd_store::now_ms;

/// State of the running daemon.
pub struct Runtime {
    /// Start time, in Unix milliseconds.
    pub started_at: i64,
    started: Instant,
    /// Number of open connections.
    pub connections: AtomicU64,
    /// Statistics about calls since the daemon started, by method.
    pub calls: Calls,
    in_flight: Arc<AtomicU64>,
    stop: watch::Sender<bool>,
    log: OnceLock<PathBuf>,
    socket: OnceLock<PathBuf>,
    /// Sizes on disk, and when they were read.
    pub(in crate::app) sizes: tokio::sync::Mutex<Option<(Instant, OnDisk)>>,
}

impl Default for Runtime {
    fn default() -> Self {
        Self {
            started_at: now_ms(),
            started: Instant::now(),
            connections: AtomicU64::new(0),
            calls: Calls::default(),
            in_flight: Arc::default(),
            stop: watch::Sender::new(false),
            log: OnceLock::new(),
            socket: OnceLock::new(),
            sizes: tokio::sync::Mutex::default(),
        }
    }
}

impl Runtime {
    /// Returns the time since the daemon started.
    pub fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// Sets the path at which the daemon listens.
    pub fn set_socket(&self, path: PathBuf) {
        let _ = self.socket.set(path);
    }

    /// Returns the path at which the daemon listens; empty until it starts to listen.
    pub fn socket(&self) -> &Path {
        self.socket.get().map_or(Path::new(""), PathBuf::as_path)
    }

    /// Sets the path of the log file.
    pub fn set_log(&self, file: PathBuf) {
        let _ = self.log.set(file);
    }

    /// Returns the path of the log file, if there is one.
    pub fn log(&self) -> Option<String> {
        self.log.get().map(|file| file.display().to_string())
    }

    /// Asks the daemon to stop.
    pub fn request_stop(&self) {
        self.stop.send_replace(true);
    }

    /// Returns a receiver that becomes true once the daemon has been asked to stop.
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    /// Counts a call as in flight until the returned guard is dropped.
    pub fn enter(&self) -> InFlight {
        self.in_flight.fetch_add(1, Ordering::SeqCst);
        InFlight(self.in_flight.clone())
    }

    /// Returns the number of calls in flight.
    pub fn in_flight(&self) -> u64 {
        self.in_flight.load(Ordering::SeqCst)
    }
}

/// Guard that counts a call as in flight until it is dropped.
pub struct InFlight(Arc<AtomicU64>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
