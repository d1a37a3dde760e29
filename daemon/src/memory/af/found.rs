//! What the memory of `af` holds that can be taken over.

use std::collections::BTreeMap;

use afd_proto::import::{Remark, Taken, Tally};
use afd_proto::vocabulary::Action;

use crate::artifact::NewRow;
use crate::memory::notes::NewNote;

/// Something that belongs to a session, by its name there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Of<T> {
    /// The session.
    pub session: String,
    /// What it is.
    pub row: T,
}

/// Where something was done.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AfPage {
    /// Package.
    pub app: String,
    /// `package/activity`.
    pub activity: String,
    /// Page key.
    pub key: String,
    /// Fingerprint.
    pub fingerprint: String,
}

/// What an action did on a page; rows that differ only in what was checked afterwards are one.
#[derive(Debug, Clone, PartialEq)]
pub struct AfTransition {
    /// Where.
    pub page: AfPage,
    /// What.
    pub action: Action,
    /// Where it led to: activity and fingerprint.
    pub post: Option<(String, String)>,
    /// The check.
    pub verify_op: Option<String>,
    /// How often it succeeded, was verified, failed.
    pub counts: [i64; 3],
    /// UTC milliseconds.
    pub last_success_at: Option<i64>,
}

/// What cured a failure.
#[derive(Debug, Clone, PartialEq)]
pub struct AfRecovery {
    /// Where it failed.
    pub page: AfPage,
    /// Why, as our code.
    pub cause: String,
    /// What was done.
    pub action: Action,
    /// How often it worked, and how often not.
    pub counts: [i64; 2],
    /// UTC milliseconds.
    pub last_success_at: Option<i64>,
}

/// What there is to take over.
#[derive(Debug, Default)]
pub struct Found {
    /// Tells this memory from others of its kind: when it was first used. Copies of it have the same.
    pub identity: String,
    /// Notes, oldest first.
    pub notes: Vec<Of<NewNote>>,
    /// Transitions by page and action.
    pub transitions: BTreeMap<(String, String), AfTransition>,
    /// Recoveries by page, cause and action.
    pub recoveries: BTreeMap<(String, String, String), AfRecovery>,
    /// Artifacts, oldest first.
    pub artifacts: Vec<Of<NewRow>>,
    /// Rows by table: notes, transitions, recoveries, artifacts, events.
    pub tallies: [Tally; 5],
    /// What was cleaned or left behind.
    pub remarks: Vec<Remark>,
}

/// Places in [`Found::tallies`].
pub const NOTES: usize = 0;
/// Transitions.
pub const TRANSITIONS: usize = 1;
/// Recoveries.
pub const RECOVERIES: usize = 2;
/// Artifacts.
pub const ARTIFACTS: usize = 3;
/// Events.
pub const EVENTS: usize = 4;
/// Names of the tables, by place.
pub(super) const TABLES: [&str; 5] = ["notes", "transitions", "recoveries", "artifacts", "events"];

impl Found {
    /// Notes what became of a row that was not taken over as it is.
    pub(super) fn remark(&mut self, table: usize, id: i64, outcome: Taken, why: impl Into<String>) {
        let tally = &mut self.tallies[table];
        *(if outcome == Taken::Skipped { &mut tally.skipped } else { &mut tally.cleaned }) += 1;
        self.remarks.push(Remark { table: TABLES[table].to_owned(), id, outcome, why: why.into() });
    }
}
