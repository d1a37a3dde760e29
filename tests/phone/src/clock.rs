//! The phone's clock: real, or advanced manually.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

/// Time at which every clock starts, in Unix milliseconds.
pub const EPOCH_MS: i64 = 1_775_000_000_000;

/// A source of milliseconds.
#[derive(Debug)]
pub enum Clock {
    /// Runs in real time, but starts at [`EPOCH_MS`], so that the screen does not depend on the date.
    Real(Instant),
    /// Stands still until it is advanced.
    Manual(AtomicI64),
}

impl Clock {
    /// Creates a running clock.
    pub fn real() -> Self {
        Clock::Real(Instant::now())
    }

    /// Creates a manual clock that shows [`EPOCH_MS`].
    pub fn manual() -> Self {
        Clock::Manual(AtomicI64::new(EPOCH_MS))
    }

    /// Returns the time, milliseconds since the Unix epoch.
    pub fn now_ms(&self) -> i64 {
        match self {
            Clock::Real(start) => EPOCH_MS + i64::try_from(start.elapsed().as_millis()).unwrap_or(i64::MAX - EPOCH_MS),
            Clock::Manual(now) => now.load(Ordering::SeqCst),
        }
    }

    /// Advances a manual clock; returns false for a real one.
    pub fn advance(&self, ms: i64) -> bool {
        match self {
            Clock::Real(_) => false,
            Clock::Manual(now) => {
                now.fetch_add(ms, Ordering::SeqCst);
                true
            }
        }
    }
}
