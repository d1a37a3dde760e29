//! Connection limit: decides which connections get a slot.
//!
//! Up to the limit every connection gets a slot. Beyond it, the connection that has been idle longest is evicted if it
//! has been idle for long enough. If there is no such connection, a few reserved slots serve only the admin methods, so
//! that no number of clients can keep the owner from querying the status or shutting the daemon down.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{Resource, Rlimit};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Number of reserved slots beyond the limit.
const RESERVED: usize = 8;
/// Number of file descriptors that are reserved for everything except connections: the database, phones, files that are
/// being written.
const OTHER_DESCRIPTORS: u64 = 128;
/// Minimum value of the connection limit, however few file descriptors are available.
const MIN_CONNECTIONS: u64 = 8;
/// Idle time after which a connection that never sent anything may be evicted.
const SILENT_TIMEOUT: Duration = Duration::from_secs(1);

/// Slot held by a connection. Dropping this value frees the slot.
pub(super) struct Slot {
    slots: Arc<Slots>,
    id: u64,
    reserved: bool,
    opened: Instant,
    /// Time of the last activity in milliseconds after `opened`, plus one; 0 if there was none.
    last_activity: AtomicU64,
    busy: AtomicBool,
    evicted: CancellationToken,
}

/// All connection slots, and the limits on their number.
#[derive(Default)]
pub(super) struct Slots {
    taken: Mutex<Vec<Entry>>,
    next_id: AtomicU64,
    /// The configured connection limit, and the limit that the number of file descriptors allows.
    limits: Mutex<(usize, usize)>,
}

struct Entry {
    id: u64,
    slot: std::sync::Weak<Slot>,
}

impl Slots {
    /// Assigns a slot to a new connection. Returns `None` if not even a reserved slot is available.
    pub(super) fn admit(self: &Arc<Self>, limit: usize, idle: Duration) -> Option<Arc<Slot>> {
        // This is declared before the lock guard and therefore dropped after it, because dropping the last reference to
        // a slot takes the lock.
        let open: Vec<Arc<Slot>>;
        let mut taken = self.taken.lock();
        open = taken.iter().filter_map(|entry| entry.slot.upgrade()).collect();
        let (reserved, ordinary): (Vec<_>, Vec<_>) =
            open.iter().filter(|p| !p.evicted.is_cancelled()).partition(|p| p.reserved);
        let in_reserve =
            ordinary.len() >= self.possible(limit) && !make_room(&ordinary, |p| p.idle_for() >= p.max_idle(idle));
        if in_reserve && reserved.len() >= RESERVED && !make_room(&reserved, |_| true) {
            return None;
        }
        let slot = Arc::new(Slot {
            slots: self.clone(),
            id: self.next_id.fetch_add(1, Ordering::Relaxed),
            reserved: in_reserve,
            opened: Instant::now(),
            last_activity: AtomicU64::new(0),
            busy: AtomicBool::new(false),
            evicted: CancellationToken::new(),
        });
        taken.push(Entry { id: slot.id, slot: Arc::downgrade(&slot) });
        Some(slot)
    }

    /// Returns the maximum number of connections: the configured number, or fewer if this process may not open enough
    /// file descriptors.
    fn possible(&self, configured: usize) -> usize {
        let mut limits = self.limits.lock();
        if limits.0 != configured {
            *limits = (configured, allow_descriptors(configured));
            if limits.1 < configured {
                tracing::warn!(
                    possible = limits.1,
                    configured,
                    "the limit of open files allows fewer connections than the settings"
                );
            }
        }
        limits.1
    }
}

/// Raises this process's file descriptor limit, as far as permitted, to the number that `connections` connections need.
/// Returns the number of connections for which the limit suffices, at most `connections`.
fn allow_descriptors(connections: usize) -> usize {
    let wanted = u64::try_from(connections).unwrap_or(u64::MAX).saturating_add(OTHER_DESCRIPTORS);
    let mut limit = rustix::process::getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < wanted) {
        let raised = Rlimit {
            current: Some(limit.maximum.map_or(wanted, |maximum| maximum.min(wanted))),
            maximum: limit.maximum,
        };
        if rustix::process::setrlimit(Resource::Nofile, raised).is_ok() {
            limit = raised;
        }
    }
    let possible = limit.current.unwrap_or(u64::MAX).saturating_sub(OTHER_DESCRIPTORS).max(MIN_CONNECTIONS);
    connections.min(usize::try_from(possible).unwrap_or(usize::MAX))
}

/// Evicts the connection that has been idle longest, among those that are not busy and that `may_go` accepts. Returns
/// `false` if there is no such connection.
fn make_room(slots: &[&Arc<Slot>], may_go: impl Fn(&Slot) -> bool) -> bool {
    let longest_idle =
        slots.iter().filter(|p| !p.busy.load(Ordering::Relaxed) && may_go(p)).max_by_key(|p| p.idle_for());
    longest_idle.inspect(|slot| slot.evicted.cancel()).is_some()
}

impl Slot {
    /// Returns whether only the admin methods are served on this slot.
    pub(super) fn is_reserved(&self) -> bool {
        self.reserved
    }

    /// Records that the client sent a message or was sent a response.
    pub(super) fn record_activity(&self) {
        let since = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        self.last_activity.store(since + 1, Ordering::Relaxed);
    }

    /// Sets whether the client is waiting for a response or has subscriptions; if so, its connection is not evicted.
    pub(super) fn set_busy(&self, busy: bool) {
        self.busy.store(busy, Ordering::Relaxed);
    }

    fn idle_for(&self) -> Duration {
        self.opened
            .elapsed()
            .saturating_sub(Duration::from_millis(self.last_activity.load(Ordering::Relaxed).saturating_sub(1)))
    }

    /// Returns the idle time after which the connection may be evicted.
    fn max_idle(&self, idle: Duration) -> Duration {
        if self.last_activity.load(Ordering::Relaxed) == 0 { idle.min(SILENT_TIMEOUT) } else { idle }
    }

    /// Returns whether the slot has been given to another connection.
    pub(super) fn is_evicted(&self) -> bool {
        self.evicted.is_cancelled()
    }

    /// Waits until the slot is given to another connection.
    pub(super) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.taken.lock().retain(|entry| entry.id != self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn idle_connections_are_evicted_and_busy_ones_stay() {
        let slots = Arc::new(Slots::default());
        let silent = slots.admit(2, IDLE).expect("a slot");
        let active = slots.admit(2, IDLE).expect("a slot");
        tokio::time::advance(Duration::from_millis(500)).await;
        active.record_activity();
        assert!(slots.admit(2, IDLE).expect("a slot").is_reserved(), "none was idle for long enough");
        tokio::time::advance(Duration::from_secs(1)).await;
        let next = slots.admit(2, IDLE).expect("a slot");
        assert!(!next.is_reserved() && silent.evicted.is_cancelled() && !active.evicted.is_cancelled());
        next.record_activity();
        active.set_busy(true);
        tokio::time::advance(IDLE).await;
        next.record_activity();
        assert!(slots.admit(2, IDLE).expect("a slot").is_reserved(), "one is busy and one was just active");
        tokio::time::advance(IDLE).await;
        assert!(!slots.admit(2, IDLE).expect("a slot").is_reserved());
        assert!(next.evicted.is_cancelled() && !active.evicted.is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn newest_connection_takes_over_a_reserved_slot() {
        let slots = Arc::new(Slots::default());
        let _held = slots.admit(1, IDLE).expect("a slot");
        let reserve: Vec<_> = (0..RESERVED).map(|_| slots.admit(1, IDLE).expect("a slot")).collect();
        assert!(reserve.iter().all(|p| p.is_reserved()));
        let newest = slots.admit(1, IDLE).expect("a slot");
        assert!(newest.is_reserved() && !newest.evicted.is_cancelled());
        assert_eq!(reserve.iter().filter(|p| p.evicted.is_cancelled()).count(), 1);
    }
}
