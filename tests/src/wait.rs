//! Polling with a deadline, for conditions that no event announces.

use std::time::{Duration, Instant};

/// Calls `poll` until it returns a value; `what` names the condition in the panic message.
///
/// # Panics
/// If there is no value within 30 seconds.
pub fn until<T>(what: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(value) = poll() {
            return value;
        }
        assert!(Instant::now() < deadline, "timed out waiting for {what}");
        std::thread::yield_now();
    }
}
