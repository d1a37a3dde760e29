//! What leads from one page to another: memory counts it, and the state graph is laid over it.

use afd_proto::vocabulary::Action;

/// What leads from one structure to another.
#[derive(Debug, Clone)]
pub struct Move {
    /// Structure before.
    pub from: String,
    /// What was done.
    pub action: Action,
    /// What two actions that do the same have in common.
    pub action_key: String,
    /// Structure after; `None` for failures.
    pub to: Option<String>,
    /// Structure of the page under that, when it is a dialog.
    pub below: Option<String>,
    /// How often it led there.
    pub successes: i64,
    /// How often it failed.
    pub failures: i64,
    /// Successes, older ones weighing less.
    pub success_weight: f64,
    /// Failures, older ones weighing less.
    pub failure_weight: f64,
    /// How long all successes took, milliseconds.
    pub duration_ms: i64,
    /// When it was done last, UTC milliseconds.
    pub last_at: i64,
}
