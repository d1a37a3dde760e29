//! Pieces of long work. Each piece is a separate write that is short enough not to delay other writes for long.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::writer::Slots;

/// Maximum duration of a piece while other writes are waiting.
const SHORT: Duration = Duration::from_millis(6);
/// Maximum duration of a piece while no other writes are waiting. Longer pieces need fewer commits, which saves time
/// because each commit writes every page that was changed.
const LONG: Duration = Duration::from_millis(15);

/// Time limit of a piece of long work. [`super::Store::write_long`] creates one for each write.
pub struct Piece {
    started: Instant,
    end: End,
}

/// When a piece must end.
enum End {
    /// The piece ends only when all the work is done.
    Never,
    /// The piece ends after this time.
    After(Duration),
    /// The piece ends after [`SHORT`] if other writes are waiting, otherwise after [`LONG`].
    Shared(Arc<Slots>),
}

impl Piece {
    pub(super) fn begin(slots: Arc<Slots>) -> Self {
        Self { started: Instant::now(), end: End::Shared(slots) }
    }

    /// Returns a piece without a time limit, for work that is not split.
    pub fn whole() -> Self {
        Self { started: Instant::now(), end: End::Never }
    }

    /// Returns a piece with this time limit, even if other writes are waiting.
    pub fn lasting(time: Duration) -> Self {
        Self { started: Instant::now(), end: End::After(time) }
    }

    /// Returns whether the piece's work must stop. Call this after each row, so that a piece processes at least one
    /// row.
    pub fn is_over(&self) -> bool {
        let took = self.started.elapsed();
        match &self.end {
            End::Never => false,
            End::After(time) => took > *time,
            // The piece itself has one of the taken slots.
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
