//! Counted outcomes of actions between page structures. The memory counts them; the state graph is built from them.

use afd_proto::memory::OutcomeKind;
use afd_proto::vocabulary::Action;

/// How often an action on one page structure led to one outcome.
#[derive(Debug, Clone)]
pub struct Move {
    /// Key of the structure before the action.
    pub from: String,
    /// The action.
    pub action: Action,
    /// Key that is equal for actions that do the same.
    pub action_key: String,
    /// What came of it.
    pub kind: OutcomeKind,
    /// Key of the structure after the action; `None` when nothing changed, and for failures.
    pub to: Option<String>,
    /// Key of the page structure under it, when it is a dialog.
    pub below: Option<String>,
    /// How often.
    pub count: i64,
    /// The same, weighted by age.
    pub weight: f64,
    /// Total time until it arrived, milliseconds.
    pub duration_ms: i64,
    /// Time of the last attempt, UTC milliseconds.
    pub last_at: i64,
}
