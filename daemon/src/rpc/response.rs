//! Responses that wait to be read by clients, and the limit on the total memory that they use.
//!
//! Small responses are bounded by the limits on connections and on calls in flight. Large responses are not: a few
//! hundred clients that request large responses and never read them could hold gigabytes. Therefore each large response
//! reserves its size from a shared budget until it has been written. If the budget does not suffice, an error replaces
//! the response.

use tokio::sync::{Semaphore, SemaphorePermit};

/// Unit in which response memory is counted, in bytes. Smaller responses are not counted.
const UNIT: usize = 1 << 20;
/// Maximum number of units that all responses together may hold. This is more than a single response of the maximum
/// size needs.
const UNITS: usize = 96;

static FREE: Semaphore = Semaphore::const_new(UNITS);

/// The text of a response, together with its share of the response memory, which is freed when this value is dropped.
#[derive(Default)]
pub(super) struct Response {
    text: String,
    held: Held,
}

impl Response {
    pub(super) fn new(text: String, held: Held) -> Self {
        Self { text, held }
    }

    /// Returns the text, and the memory share to hold until the text has been written.
    pub(super) fn into_parts(self) -> (String, Held) {
        (self.text, self.held)
    }
}

impl AsRef<[u8]> for Response {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

/// Share of the response memory that one response holds.
#[derive(Default)]
pub(super) struct Held(Option<SemaphorePermit<'static>>);

impl Held {
    /// Enlarges the share to the size that a response of `bytes` bytes needs. Returns `false` if too little memory is
    /// free.
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
