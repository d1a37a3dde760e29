//! Pieces of long work: each is a write of its own, short enough that other writes need not wait long.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::writer::Slots;

/// Time of a piece if other writes wait for the writer.
const SHORT: Duration = Duration::from_millis(6);
/// Time of a piece if none do. Longer pieces need fewer commits, and each commit writes every changed page.
const LONG: Duration = Duration::from_millis(15);

/// Says when a piece of long work has to end. [`super::Store::write_long`] makes one for each write.
pub struct Piece {
    started: Instant,
    end: End,
}

/// When a piece ends.
enum End {
    /// With the work.
    Never,
    /// After this time.
    After(Duration),
    /// After [`SHORT`] or [`LONG`], as others wait or not.
    Shared(Arc<Slots>),
}

impl Piece {
    pub(super) fn begin(slots: Arc<Slots>) -> Self {
        Self { started: Instant::now(), end: End::Shared(slots) }
    }

    /// Returns a piece that never has to end, for work that is done at once.
    pub fn whole() -> Self {
        Self { started: Instant::now(), end: End::Never }
    }

    /// Returns a piece that lasts this long, whoever waits.
    pub fn lasting(time: Duration) -> Self {
        Self { started: Instant::now(), end: End::After(time) }
    }

    /// Returns whether the work has to stop here. Ask after each row: a piece does at least one.
    pub fn is_over(&self) -> bool {
        let took = self.started.elapsed();
        match &self.end {
            End::Never => false,
            End::After(time) => took > *time,
            // One write is the piece itself.
            End::Shared(slots) => took > LONG || (took > SHORT && slots.taken() > 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn piece_ends_earlier_if_other_writes_wait() {
        let slots = Arc::new(Slots::default());
        let permit = || slots.clone().try_take().expect("a slot");
        let own = permit();
        let at =
            |ms, end| Piece { started: Instant::now().checked_sub(Duration::from_millis(ms)).expect("a time"), end };
        let shared = |ms| at(ms, End::Shared(slots.clone()));
        assert!(!shared(8).is_over() && shared(16).is_over());
        let other = permit();
        assert!(shared(8).is_over());
        drop((own, other));
        assert!(at(8, End::After(SHORT)).is_over() && !at(1_000, End::Never).is_over());
    }
}
