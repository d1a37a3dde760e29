//! How far a session is, and going on with it. Both belong to `session.*`.

use std::collections::BTreeMap;

use crate::findings::{BugStatus, Severity};
use crate::session::Statistics;
use crate::tasks::{CurrentTask, Task, TaskStatus};

session_params! {
    /// Parameters of `session.progress`.
    #[derive(Default)]
    pub struct ProgressParams {
        /// What is to be done next, first things first; replaces what was said before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next_steps: Option<Vec<String>>,
        /// What stands in the way; replaces what was said before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub blockers: Option<Vec<String>>,
        /// Working directory, whose git state belongs to the progress; an absolute path. It is kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub directory: Option<String>,
        /// Whether the files are written on every change from now on; unchanged when it is left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub auto: Option<bool>,
        /// Where the files go; an absolute path. By default where they are written on every change, else the state directory.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub dir: Option<String>,
    }

    /// Parameters of `session.resume`.
    #[derive(Default)]
    pub struct ResumeParams {
        /// A progress file to take a session from that this memory does not know; an absolute path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub file: Option<String>,
    }
}

wire! {
    /// The machine-readable progress of a session (seed 002, "Progress File Format").
    pub struct Progress {
        /// Name of the session.
        pub session_id: String,
        /// Version of the daemon that wrote it.
        pub agent_version: String,
        /// When, as RFC 3339 in UTC.
        pub timestamp: String,
        /// What is to be reached.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub goal: Option<String>,
        /// Package.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// The summary.
        pub summary: String,
        /// Tasks that are done, first one first.
        pub completed_tasks: Vec<CompletedTask>,
        /// The one that is worked on.
        pub current_task: Option<CurrentTask>,
        /// Those that wait, in the order in which they are due.
        pub pending_tasks: Vec<PendingTask>,
        /// Bugs, worst first, open ones before resolved ones.
        pub bugs: Vec<BugSummary>,
        /// What is critical among them, in words.
        pub critical_findings: Vec<String>,
        /// What was covered.
        pub coverage: ProgressCoverage,
        /// What is to be done next, first things first.
        pub next_steps: Vec<String>,
        /// What stands in the way.
        pub blockers: Vec<String>,
        /// The last commit of the working directory: hash and subject.
        pub last_commit: Option<String>,
        /// What is changed and not committed there, as `git status` names it.
        pub uncommitted_changes: Vec<String>,
        /// Figures.
        pub statistics: Statistics,
        /// Context keys.
        #[serde(default)]
        pub context: BTreeMap<String, String>,
    }

    /// A task that is done.
    pub struct CompletedTask {
        /// Its uid.
        pub id: String,
        /// What was to be done.
        pub description: String,
        /// How it ended.
        pub status: TaskStatus,
        /// What came of it.
        pub summary: String,
        /// When, as RFC 3339 in UTC.
        pub completed_at: String,
    }

    /// A task that waits.
    pub struct PendingTask {
        /// Its uid.
        pub id: String,
        /// What is to be done.
        pub description: String,
        /// Higher ones come first.
        pub priority: i64,
        /// Uids of tasks that come before it and are not done.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub blocked_by: Vec<String>,
    }

    /// A bug in short.
    pub struct BugSummary {
        /// Its uid.
        pub id: String,
        /// Title.
        pub title: String,
        /// How bad it is.
        pub severity: Severity,
        /// Where it stands.
        pub status: BugStatus,
        /// Where.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page: Option<String>,
    }

    /// What was covered, in short.
    pub struct ProgressCoverage {
        /// Pages that were visited.
        pub pages_visited: Vec<String>,
        /// How many elements were marked as tested.
        pub elements_tested_count: i64,
        /// Per cent.
        pub coverage_percent: f64,
    }

    /// Progress that was written.
    pub struct ProgressWritten {
        /// The session.
        pub session: String,
        /// The machine-readable file.
        pub file: String,
        /// The report for people.
        pub report_file: String,
        /// Whether both are written on every change.
        pub auto: bool,
        /// What they say.
        pub progress: Progress,
        /// What could not be found out, for example why git says nothing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub warnings: Vec<String>,
    }

    /// A session that goes on.
    pub struct Resumed {
        /// The session.
        pub session: String,
        /// Whether it had been ended and is active again.
        pub reopened: bool,
        /// Whether it came from a file.
        pub from_file: bool,
        /// One line about it.
        pub summary: String,
        /// What to tell the language model.
        pub resumption_prompt: String,
        /// Where it stands.
        pub progress: Progress,
        /// Tasks that wait, in the order in which they are due.
        pub task_queue: Vec<Task>,
        /// Context keys.
        pub context: BTreeMap<String, String>,
    }
}

methods! {
    /// Writes the progress files of a session, and says what they are to hold and when they are written.
    SessionProgress = "session.progress" (ProgressParams, SESSION) -> ProgressWritten, Admin, [Conflict, NotFound, StoreUnavailable, StoreFull], r#"{"session":"checkout-1","nextSteps":["check the coupon field"],"auto":true}"#;
    /// Takes a session up again, from memory or from a progress file, and tells what the language model needs to go on.
    SessionResume = "session.resume" (ResumeParams, SESSION) -> Resumed, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"session":"checkout-1"}"#;
}
