//! Counted transitions between page structures. The memory counts them; the state graph is built from them.

use afd_proto::vocabulary::Action;

/// A counted transition from one page structure to another.
#[derive(Debug, Clone)]
pub struct Move {
    /// Key of the structure before the action.
    pub from: String,
    /// The action.
    pub action: Action,
    /// Key that is equal for actions that do the same.
    pub action_key: String,
    /// Key of the structure after the action; `None` for failures.
    pub to: Option<String>,
    /// Key of the page structure under it, when it is a dialog.
    pub below: Option<String>,
    /// Number of times the action led there.
    pub successes: i64,
    /// Number of times the action failed.
    pub failures: i64,
    /// Successes, weighted by age.
    pub success_weight: f64,
    /// Failures, weighted by age.
    pub failure_weight: f64,
    /// Total duration of all successes, milliseconds.
    pub duration_ms: i64,
    /// Time of the last attempt, UTC milliseconds.
    pub last_at: i64,
}
