//! Waiting for something that has no event: polling with a deadline.

use std::time::{Duration, Instant};

/// Asks again and again until there is an answer.
///
/// # Panics
/// When there is none within 30 seconds.
pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "gave up waiting for {what}");
        std::thread::yield_now();
    }
}
