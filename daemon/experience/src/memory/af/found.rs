//! The importable contents of an `af` memory.

use std::collections::BTreeMap;

use afd_proto::import::{ImportOutcome, Remark, Tally};
use afd_proto::vocabulary::Action;

use crate::memory::notes::NewNote;
use afd_store::artifact::NewRow;

/// A row and the session to which it belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InSession<T> {
    /// Name of the session in `af`.
    pub session: String,
    /// The row that belongs to the session.
    pub row: T,
}

/// The page of an action or a failure.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AfPage {
    /// Package of the app.
    pub app: String,
    /// Activity, as `package/activity`.
    pub activity: String,
    /// Page key.
    pub key: String,
    /// Readable fingerprint of the page.
    pub fingerprint: String,
}

/// Counts for an action on a page, and the page that the action led to. Rows that differ only in the check after the
/// action are merged.
#[derive(Debug, Clone, PartialEq)]
pub struct AfTransition {
    /// Page before the action.
    pub page: AfPage,
    /// The action.
    pub action: Action,
    /// Activity and fingerprint of the page that the action led to.
    pub post: Option<(String, String)>,
    /// Verb of the check after the action.
    pub verify_op: Option<String>,
    /// Numbers of successes, verified successes and failures, in this order.
    pub counts: [i64; 3],
    /// Time of the last success, in Unix milliseconds.
    pub last_success_at: Option<i64>,
}

/// A recovery that was tried after a failure.
#[derive(Debug, Clone, PartialEq)]
pub struct AfRecovery {
    /// Page on which the failure happened.
    pub page: AfPage,
    /// Cause of the failure, as an error code of this daemon.
    pub cause: String,
    /// The action that was tried as a recovery.
    pub action: Action,
    /// Numbers of successes and failures, in this order.
    pub counts: [i64; 2],
    /// Time of the last success, in Unix milliseconds.
    pub last_success_at: Option<i64>,
}

/// Everything that can be imported from an `af` memory.
#[derive(Debug, Default)]
pub struct AfMemory {
    /// Identity of the memory: its oldest timestamp, which all its copies share, or its path if it has no timestamp.
    pub identity: String,
    /// Notes, oldest first.
    pub notes: Vec<InSession<NewNote>>,
    /// Transitions by page and action.
    pub transitions: BTreeMap<(String, String), AfTransition>,
    /// Recoveries by page, cause and action.
    pub recoveries: BTreeMap<(String, String, String), AfRecovery>,
    /// Artifacts, oldest first.
    pub artifacts: Vec<InSession<NewRow>>,
    /// Row counts by table: notes, transitions, recoveries, artifacts, events.
    pub tallies: [Tally; 5],
    /// Rows that were cleaned or skipped, with the reasons.
    pub remarks: Vec<Remark>,
}

/// Index of the tally for notes in [`AfMemory::tallies`].
pub const NOTES: usize = 0;
/// Index of the tally for transitions in [`AfMemory::tallies`].
pub const TRANSITIONS: usize = 1;
/// Index of the tally for recoveries in [`AfMemory::tallies`].
pub const RECOVERIES: usize = 2;
/// Index of the tally for artifacts in [`AfMemory::tallies`].
pub const ARTIFACTS: usize = 3;
/// Index of the tally for events in [`AfMemory::tallies`].
pub const EVENTS: usize = 4;
/// Names of the tables, in the order of [`AfMemory::tallies`].
pub(super) const TABLES: [&str; 5] = ["notes", "transitions", "recoveries", "artifacts", "events"];

impl AfMemory {
    /// Counts a row that was cleaned or skipped, and records the reason.
    pub(super) fn remark(&mut self, table: usize, id: i64, outcome: ImportOutcome, why: impl Into<String>) {
        let tally = &mut self.tallies[table];
        *(if outcome == ImportOutcome::Skipped { &mut tally.skipped } else { &mut tally.cleaned }) += 1;
        self.remarks.push(Remark { table: TABLES[table].to_owned(), id, outcome, why: why.into() });
    }
}
