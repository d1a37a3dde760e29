//! The order of queued writes and reads.
//!
//! Device writes come first, in the order of their submission. All other work takes turns: each caller has a lane, in
//! which its work keeps its order, so that one busy caller cannot starve others. After [`IN_A_ROW`] consecutive device
//! writes, a lane gets its turn before the next device write. Long work never shares a group with other writes, because
//! those writes would have to wait for the long work.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rusqlite::Connection;

use super::Result;

/// Maximum number of consecutive device writes before a lane gets its turn.
const IN_A_ROW: usize = 16;
/// The lane for the daemon's own work.
const OWN: u64 = 0;

tokio::task_local! {
    static LANE: u64;
    static OPENING: Arc<Opening>;
}

type WriteRows = Box<dyn Fn(&Connection) -> Result<()> + Send + Sync>;

/// Rows that are written in the same transaction as a call's first write, for example the record that the call has
/// begun. If a crash prevents that write, no trace of the call remains, and the call can be repeated.
pub struct Opening {
    write: WriteRows,
    is_committed: AtomicBool,
}

impl Opening {
    /// Creates an opening whose rows have not been written yet. `write` writes the rows. It may be called more than
    /// once, and must change nothing if the rows already exist.
    pub fn new(write: impl Fn(&Connection) -> Result<()> + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { write: Box::new(write), is_committed: AtomicBool::new(false) })
    }

    /// Returns whether the rows have been committed.
    pub fn is_committed(&self) -> bool {
        self.is_committed.load(Ordering::Acquire)
    }

    pub(super) fn write(&self, connection: &Connection) -> Result<()> {
        (self.write)(connection)
    }

    pub(super) fn set_committed(&self) {
        self.is_committed.store(true, Ordering::Release);
    }
}

/// Runs work as a call with this opening: its first write also writes the opening's rows.
pub fn with_opening<F: Future>(opening: Arc<Opening>, work: F) -> impl Future<Output = F::Output> {
    OPENING.scope(opening, work)
}

/// Returns the current task's opening; `None` if there is none, or if its rows are already committed.
pub(super) fn opening() -> Option<Arc<Opening>> {
    OPENING.try_with(Arc::clone).ok().filter(|opening| !opening.is_committed())
}

/// Returns the number of a new, unused lane.
pub fn new_lane() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(OWN + 1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Returns the current task's lane.
pub fn lane() -> u64 {
    LANE.try_with(|lane| *lane).unwrap_or(OWN)
}

/// Runs work in a lane: its reads and writes take turns with those in other lanes.
pub fn in_lane<F: Future>(lane: u64, work: F) -> impl Future<Output = F::Output> {
    LANE.scope(lane, work)
}

/// The queue that a write joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// The queue for device writes, which record actions that were or are about to be performed on a device.
    Device,
    /// A lane, for a write that takes turns with writes in other lanes.
    Lane(u64),
    /// Like [`Turn::Lane`], for long work: a write that takes several milliseconds.
    Long(u64),
    /// Like [`Turn::Lane`], for a write whose caller does not wait for it: the response to the call is sent before the
    /// write is done.
    Behind(u64),
}

/// A queued write, numbered in the order of submission.
struct Ticketed<W> {
    ticket: u64,
    is_long: bool,
    write: W,
}

/// A write that was taken from the queue.
pub(super) struct Next<W> {
    pub(super) write: W,
    /// Whether this is long work, which ends its group.
    pub(super) is_long: bool,
}

/// The queued writes.
pub(super) struct Queue<W> {
    devices: VecDeque<Ticketed<W>>,
    lanes: HashMap<u64, VecDeque<Ticketed<W>>>,
    /// The lanes with queued writes, in the order of their turns.
    turns: VecDeque<u64>,
    /// Tickets of the queued writes whose callers do not wait for them.
    behind: BTreeSet<u64>,
    in_a_row: usize,
    tickets: u64,
}

impl<W> Default for Queue<W> {
    fn default() -> Self {
        Self {
            devices: VecDeque::new(),
            lanes: HashMap::new(),
            turns: VecDeque::new(),
            behind: BTreeSet::new(),
            in_a_row: 0,
            tickets: 0,
        }
    }
}

impl<W> Queue<W> {
    pub(super) fn push(&mut self, turn: Turn, write: W) {
        self.tickets += 1;
        let ticketed = Ticketed { ticket: self.tickets, is_long: matches!(turn, Turn::Long(_)), write };
        match turn {
            Turn::Device => self.devices.push_back(ticketed),
            Turn::Lane(lane) | Turn::Long(lane) | Turn::Behind(lane) => {
                if turn == Turn::Behind(lane) {
                    self.behind.insert(self.tickets);
                }
                let queue = self.lanes.entry(lane).or_default();
                if queue.is_empty() {
                    self.turns.push_back(lane);
                }
                queue.push_back(ticketed);
            }
        }
    }

    /// Takes the next write, including long work.
    pub(super) fn pop(&mut self) -> Option<W> {
        self.pop_into_group(true, false).map(|next| next.write)
    }

    /// Takes the next write for a group. Returns `None` if there is no write, or if the next write must begin another
    /// group. `holds_long` makes long work wait, so that other writes overtake it.
    pub(super) fn pop_into_group(&mut self, is_first: bool, holds_long: bool) -> Option<Next<W>> {
        let next = if holds_long {
            self.turns.iter().position(|lane| !self.is_long(*lane))
        } else {
            (!self.turns.is_empty()).then_some(0)
        };
        let lanes_first = self.in_a_row >= IN_A_ROW && next.is_some();
        if !lanes_first && let Some(next) = self.devices.pop_front() {
            self.in_a_row += 1;
            return Some(Next { write: next.write, is_long: false });
        }
        let lane = *self.turns.get(next?)?;
        if self.is_long(lane) && !is_first {
            return None;
        }
        self.in_a_row = 0;
        self.turns.remove(next?);
        let queue = self.lanes.get_mut(&lane)?;
        let next = queue.pop_front();
        if queue.is_empty() {
            self.lanes.remove(&lane);
        } else {
            self.turns.push_back(lane);
        }
        let next = next?;
        self.behind.remove(&next.ticket);
        Some(Next { write: next.write, is_long: next.is_long })
    }

    /// Returns whether the next write in a lane is long work.
    fn is_long(&self, lane: u64) -> bool {
        self.lanes.get(&lane).and_then(VecDeque::front).is_some_and(|next| next.is_long)
    }

    /// Returns whether there are no device writes and the next write in every lane is long work.
    pub(super) fn is_all_long(&self) -> bool {
        self.devices.is_empty() && self.turns.iter().all(|lane| self.is_long(*lane))
    }

    pub(super) fn len(&self) -> usize {
        self.devices.len() + self.lanes.values().map(VecDeque::len).sum::<usize>()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.devices.is_empty() && self.turns.is_empty()
    }

    /// Returns a mark for a position in the queue, after all writes that have been pushed so far.
    pub(super) fn mark(&self) -> u64 {
        self.tickets
    }

    /// Returns whether all writes pushed before a mark have been popped. If `lane` is given, writes in other lanes do
    /// not count if their callers wait for them, because no caller has received their results yet.
    pub(super) fn is_past(&self, mark: u64, lane: Option<u64>) -> bool {
        let fronts = self
            .lanes
            .iter()
            .filter(|(of, _)| lane.is_none_or(|own| own == **of))
            .filter_map(|(_, queue)| queue.front());
        let oldest =
            fronts.chain(self.devices.front()).map(|next| next.ticket).chain(self.behind.first().copied()).min();
        oldest.is_none_or(|oldest| oldest > mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(queue: &mut Queue<&'static str>) -> Vec<&'static str> {
        std::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn long_work_shares_no_group_and_is_not_starved() {
        let mut queue = Queue::default();
        queue.push(Turn::Long(1), "import");
        queue.push(Turn::Device, "tap");
        queue.push(Turn::Lane(2), "note");
        let mut group = || take_group(&mut queue);
        assert_eq!((group(), group(), group()), (vec!["tap"], vec!["import"], vec!["note"]));
        let mut queue = Queue::default();
        queue.push(Turn::Long(1), "import");
        (0..100).for_each(|_| queue.push(Turn::Device, "tap"));
        let mut groups = 0;
        while take_group(&mut queue).first() != Some(&"import") {
            groups += 1;
        }
        assert_eq!(groups, 1, "it has its turn after {IN_A_ROW} writes about devices");
    }

    #[test]
    fn other_writes_go_before_long_work_that_is_held() {
        let mut queue = Queue::default();
        queue.push(Turn::Long(1), "import");
        queue.push(Turn::Lane(2), "note");
        queue.push(Turn::Device, "tap");
        assert!(!queue.is_all_long());
        let held: Vec<_> = std::iter::from_fn(|| queue.pop_into_group(true, true)).map(|next| next.write).collect();
        assert_eq!((held, queue.is_all_long()), (vec!["tap", "note"], true));
        assert_eq!(take_group(&mut queue), ["import"]);
    }

    fn take_group(queue: &mut Queue<&'static str>) -> Vec<&'static str> {
        let mut group = Vec::new();
        while let Some(next) = queue.pop_into_group(group.is_empty(), false) {
            group.push(next.write);
            if next.is_long {
                break;
            }
        }
        group
    }

    #[test]
    fn lanes_take_turns_and_keep_their_order() {
        let mut queue = Queue::default();
        for write in ["a1", "a2", "a3"] {
            queue.push(Turn::Lane(1), write);
        }
        queue.push(Turn::Lane(2), "b1");
        queue.push(Turn::Device, "tap");
        queue.push(Turn::Lane(2), "b2");
        assert_eq!(drain(&mut queue), ["tap", "a1", "b1", "a2", "b2", "a3"]);
        assert!(queue.is_empty() && queue.lanes.is_empty());
    }

    #[test]
    fn devices_do_not_starve_the_lanes() {
        let mut queue = Queue::default();
        queue.push(Turn::Lane(1), "note");
        (0..100).for_each(|_| queue.push(Turn::Device, "tap"));
        assert_eq!(drain(&mut queue).iter().position(|write| *write == "note"), Some(IN_A_ROW));
    }

    #[test]
    fn a_mark_is_passed_when_all_before_it_are_done() {
        let mut queue = Queue::default();
        queue.push(Turn::Lane(1), "a1");
        queue.push(Turn::Lane(1), "a2");
        let mark = queue.mark();
        queue.push(Turn::Lane(2), "b1");
        assert_eq!((queue.pop(), queue.is_past(mark, None)), (Some("a1"), false));
        assert_eq!((queue.pop(), queue.is_past(mark, None)), (Some("b1"), false));
        assert_eq!((queue.pop(), queue.is_past(mark, None)), (Some("a2"), true));
    }

    #[test]
    fn a_lane_waits_for_what_others_were_told_of() {
        let mut queue = Queue::default();
        queue.push(Turn::Lane(1), "a1");
        let mark = queue.mark();
        assert!(queue.is_past(mark, Some(2)) && !queue.is_past(mark, Some(1)) && !queue.is_past(mark, None));
        queue.push(Turn::Behind(1), "a2");
        queue.push(Turn::Device, "tap");
        let mark = queue.mark();
        assert!(!queue.is_past(mark, Some(2)));
        assert_eq!((queue.pop(), queue.is_past(mark, Some(2))), (Some("tap"), false));
        assert_eq!((queue.pop(), queue.is_past(mark, Some(2))), (Some("a1"), false));
        assert_eq!((queue.pop(), queue.is_past(mark, Some(2))), (Some("a2"), true));
    }
}
