//! Who may connect when many do.
//!
//! Up to the limit everybody gets a place. Beyond it, the connection that has been silent for longest makes room, once it has
//! been silent for long enough; where none has, a few reserved places answer the owner's methods, so that no crowd of clients
//! can keep the owner from asking for the status or the end of the daemon.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Places beyond the limit.
const RESERVED: usize = 8;
/// A connection that never said anything may be closed after so long when its place is needed.
const SILENT: Duration = Duration::from_secs(1);

/// The place of one connection; it is given back when this is dropped.
pub(super) struct Place {
    places: Arc<Places>,
    id: u64,
    reserved: bool,
    opened: Instant,
    /// Milliseconds after `opened` when something was last heard, plus one; 0 is never.
    heard: AtomicU64,
    busy: AtomicBool,
    evicted: CancellationToken,
}

/// All places.
#[derive(Default)]
pub(super) struct Places {
    taken: Mutex<Vec<Seat>>,
    next_id: AtomicU64,
}

struct Seat {
    id: u64,
    place: std::sync::Weak<Place>,
}

impl Places {
    /// A place for a new connection; `None` when not even a reserved one is left.
    pub(super) fn admit(self: &Arc<Self>, limit: usize, idle: Duration) -> Option<Arc<Place>> {
        // Outlives the lock: the last of a place takes the lock when it is dropped.
        let open: Vec<Arc<Place>>;
        let mut taken = self.taken.lock();
        open = taken.iter().filter_map(|seat| seat.place.upgrade()).collect();
        let (reserved, ordinary): (Vec<_>, Vec<_>) = open.iter().filter(|p| !p.evicted.is_cancelled()).partition(|p| p.reserved);
        let in_reserve = ordinary.len() >= limit && !make_room(&ordinary, |p| p.idle_for() >= p.patience(idle));
        if in_reserve && reserved.len() >= RESERVED && !make_room(&reserved, |_| true) {
            return None;
        }
        let place = Arc::new(Place {
            places: self.clone(),
            id: self.next_id.fetch_add(1, Ordering::Relaxed),
            reserved: in_reserve,
            opened: Instant::now(),
            heard: AtomicU64::new(0),
            busy: AtomicBool::new(false),
            evicted: CancellationToken::new(),
        });
        taken.push(Seat { id: place.id, place: Arc::downgrade(&place) });
        Some(place)
    }
}

/// Closes the connection that has been silent for longest, if one of these may be closed.
fn make_room(places: &[&Arc<Place>], may_go: impl Fn(&Place) -> bool) -> bool {
    let silent = places.iter().filter(|p| !p.busy.load(Ordering::Relaxed) && may_go(p)).max_by_key(|p| p.idle_for());
    silent.inspect(|place| place.evicted.cancel()).is_some()
}

impl Place {
    /// Whether only the owner's methods are answered here.
    pub(super) fn is_reserved(&self) -> bool {
        self.reserved
    }

    /// Notes that the client said something, or was answered.
    pub(super) fn speaks(&self) {
        let since = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        self.heard.store(since + 1, Ordering::Relaxed);
    }

    /// Notes whether the client waits for an answer, or follows events.
    pub(super) fn set_busy(&self, busy: bool) {
        self.busy.store(busy, Ordering::Relaxed);
    }

    fn idle_for(&self) -> Duration {
        self.opened.elapsed().saturating_sub(Duration::from_millis(self.heard.load(Ordering::Relaxed).saturating_sub(1)))
    }

    /// How long it may be silent.
    fn patience(&self, idle: Duration) -> Duration {
        if self.heard.load(Ordering::Relaxed) == 0 { idle.min(SILENT) } else { idle }
    }

    /// Whether the place is needed for somebody else.
    pub(super) fn is_evicted(&self) -> bool {
        self.evicted.is_cancelled()
    }

    /// Ends when the place is needed for somebody else.
    pub(super) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken.lock().retain(|seat| seat.id != self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn the_silent_make_room_and_the_busy_stay() {
        let places = Arc::new(Places::default());
        let silent = places.admit(2, IDLE).expect("a place");
        let spoke = places.admit(2, IDLE).expect("a place");
        tokio::time::advance(Duration::from_millis(500)).await;
        spoke.speaks();
        assert!(places.admit(2, IDLE).expect("a place").is_reserved(), "nobody was silent for long enough");
        tokio::time::advance(Duration::from_secs(1)).await;
        let next = places.admit(2, IDLE).expect("a place");
        assert!(!next.is_reserved() && silent.evicted.is_cancelled() && !spoke.evicted.is_cancelled());
        next.speaks();
        spoke.set_busy(true);
        tokio::time::advance(IDLE).await;
        next.speaks();
        assert!(places.admit(2, IDLE).expect("a place").is_reserved(), "one is busy and one just spoke");
        tokio::time::advance(IDLE).await;
        assert!(!places.admit(2, IDLE).expect("a place").is_reserved());
        assert!(next.evicted.is_cancelled() && !spoke.evicted.is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn the_reserve_goes_to_the_newest() {
        let places = Arc::new(Places::default());
        let _held = places.admit(1, IDLE).expect("a place");
        let reserve: Vec<_> = (0..RESERVED).map(|_| places.admit(1, IDLE).expect("a place")).collect();
        assert!(reserve.iter().all(|p| p.is_reserved()));
        let newest = places.admit(1, IDLE).expect("a place");
        assert!(newest.is_reserved() && !newest.evicted.is_cancelled());
        assert_eq!(reserve.iter().filter(|p| p.evicted.is_cancelled()).count(), 1);
    }
}
