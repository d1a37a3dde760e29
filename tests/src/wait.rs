//! Polling with a deadline, for conditions that no event announces.

use std::time::{Duration, Instant};

/// Pause between two polls.
const PAUSE: Duration = Duration::from_millis(2);

/// Calls `poll` until it returns a value; `what` names the condition in the panic message.
///
/// # Panics
/// If there is no value within 30 seconds.
pub fn until<T>(what: &str, poll: impl FnMut() -> Option<T>) -> T {
    until_for(what, Duration::from_secs(30), poll)
}

/// Like [`until`], with another limit.
///
/// # Panics
/// If there is no value within that time.
pub fn until_for<T>(what: &str, within: Duration, mut poll: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + within;
    loop {
        if let Some(value) = poll() {
            return value;
        }
        assert!(Instant::now() < deadline, "timed out waiting for {what}");
        // A busy loop would take CPU time from the daemon that is waited for.
        std::thread::sleep(PAUSE);
    }
}
