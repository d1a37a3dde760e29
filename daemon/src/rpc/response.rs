//! Responses that wait to be read, and the memory that all of them together may hold.
//!
//! Small responses are bounded by the limits of connections and of calls in flight. Large ones are not: a few hundred
//! clients that ask for much and never read could hold gigabytes. So each large response takes its size from one
//! account until it has been written; if the account is empty, it is replaced by an error.

use tokio::sync::{Semaphore, SemaphorePermit};

/// Responses are counted in units of this size; smaller ones are not counted, bytes.
const UNIT: usize = 1 << 20;
/// Number of units that all responses may hold: more than one response of the maximum size.
const UNITS: usize = 96;

static FREE: Semaphore = Semaphore::const_new(UNITS);

/// The text of a response, which holds its share of the memory until it is dropped.
#[derive(Default)]
pub(super) struct Response {
    text: String,
    held: Held,
}

impl Response {
    pub(super) fn new(text: String, held: Held) -> Self {
        Self { text, held }
    }

    /// Returns the text, and what is to be kept until it has been written.
    pub(super) fn into_parts(self) -> (String, Held) {
        (self.text, self.held)
    }
}

impl AsRef<[u8]> for Response {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

/// Share of the memory for responses.
#[derive(Default)]
pub(super) struct Held(Option<SemaphorePermit<'static>>);

impl Held {
    /// Enlarges the share to that of a response of this size, bytes; false if the others leave too little.
    pub(super) fn grow_to(&mut self, bytes: usize) -> bool {
        let units = (bytes / UNIT).min(UNITS);
        let more = units.saturating_sub(self.0.as_ref().map_or(0, SemaphorePermit::num_permits));
        if more == 0 {
            return true;
        }
        let Ok(permit) = FREE.try_acquire_many(u32::try_from(more).unwrap_or(u32::MAX)) else { return false };
        match &mut self.0 {
            Some(held) => held.merge(permit),
            None => self.0 = Some(permit),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_responses_share_one_account() {
        let (mut first, mut second) = (Held::default(), Held::default());
        assert!(first.grow_to(UNIT - 1) && first.0.is_none(), "a small response takes nothing");
        assert!(first.grow_to(10 * UNIT) && first.grow_to(50 * UNIT) && first.grow_to(20 * UNIT));
        assert!(second.grow_to(46 * UNIT));
        assert!(!second.grow_to(47 * UNIT), "the account is empty");
        drop(first);
        assert!(second.grow_to(usize::MAX), "one response gets everything, however large it is");
    }
}
