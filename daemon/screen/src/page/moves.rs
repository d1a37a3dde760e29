//! Outcomes of actions between page structures, with counts. The memory records the counts, and the state graph is
//! built from them.

use afd_proto::memory::OutcomeKind;
use afd_proto::vocabulary::Action;

/// An outcome of an action on one page structure, with the number of times it occurred.
#[derive(Debug, Clone)]
pub struct Move {
    /// Key of the structure before the action.
    pub from: String,
    /// The action that was performed.
    pub action: Action,
    /// Key of the action; equivalent actions have the same key.
    pub action_key: String,
    /// Kind of the outcome.
    pub kind: OutcomeKind,
    /// Key of the structure after the action; `None` if nothing changed or the action failed.
    pub to: Option<String>,
    /// Key of the structure of the page under the dialog, if the structure after the action is a dialog.
    pub below: Option<String>,
    /// Number of times the outcome occurred.
    pub count: i64,
    /// Number of times the outcome occurred, with each occurrence weighted by its age.
    pub weight: f64,
    /// Time until the structure after the action appeared, summed over all occurrences, in milliseconds.
    pub duration_ms: i64,
    /// Time of the last attempt, in Unix milliseconds.
    pub last_at: i64,
}
