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

/// Returns year, month, day, hour, minute and second of a time in UTC.
pub fn parts(ms: i64) -> [i64; 6] {
    let (days, second) = (ms.div_euclid(86_400_000), ms.div_euclid(1_000).rem_euclid(86_400));
    // Years begin in March here, so that the leap day is the last of its year.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    [year + era * 400 + i64::from(month <= 2), month, day, second / 3_600, second / 60 % 60, second % 60]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_their_parts() {
        assert_eq!(parts(0), [1970, 1, 1, 0, 0, 0]);
        assert_eq!(parts(951_782_399_000), [2000, 2, 28, 23, 59, 59]);
        assert_eq!(parts(951_868_799_000), [2000, 2, 29, 23, 59, 59]);
        assert_eq!(parts(EPOCH_MS), [2026, 3, 31, 23, 33, 20]);
    }
}
