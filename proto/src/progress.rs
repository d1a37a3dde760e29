//! `session.progress` and `session.resume`: progress files, and continuing a session.

use std::collections::BTreeMap;

use crate::findings::{BugStatus, ResultStatus, Severity, TestedElement};
use crate::session::{Statistics, VisitedPage};
use crate::tasks::{CurrentTask, Task, TaskStatus};
use crate::vocabulary::RecordScope;

/// Returns the status that is assumed for bugs in files from other tools, because such files contain no status.
fn open() -> BugStatus {
    BugStatus::Open
}

session_params! {
    /// Parameters of `session.progress`.
    #[derive(Default)]
    pub struct ProgressParams {
        /// Next steps, most urgent first; this list replaces the previous one.
        pub next_steps: Option<Vec<String>> where items 0..=100,
        /// Blockers of the session; this list replaces the previous one.
        pub blockers: Option<Vec<String>> where items 0..=100,
        /// Absolute path of the working directory whose git state is reported. The path is remembered for the session.
        pub directory: Option<String>,
        /// Whether to write the progress files on every change from now on; by default this setting remains unchanged.
        pub auto: Option<bool>,
        /// Absolute path of a directory for the progress files; by default the session's progress directory, else the
        /// state directory.
        pub dir: Option<String>,
    }

    /// Parameters of `session.resume`.
    #[derive(Default)]
    pub struct ResumeParams {
        /// Absolute path of a progress file from which to restore a session that does not exist here.
        pub file: Option<String>,
    }
}

wire! {
    /// Machine-readable progress of a session; the content of a progress file.
    pub struct Progress {
        /// Name of the session.
        pub session_id: String,
        /// Version of the daemon that wrote the file.
        pub agent_version: String,
        /// Time at which the file was written, in RFC 3339 format, UTC.
        pub timestamp: String,
        /// Goal of the session.
        pub goal: Option<String>,
        /// Package that the session is about.
        pub app: Option<String>,
        /// `session` if the digest of the session is visible only to the session itself; absent otherwise.
        pub scope: Option<RecordScope>,
        /// Time at which the session was started, else first used, in RFC 3339 format, UTC; absent in files from older
        /// versions.
        pub started_at: Option<String>,
        /// Prose summary of the progress.
        pub summary: String,
        /// Finished tasks, in the order in which they were finished.
        pub completed_tasks: Vec<CompletedTask>,
        /// Active task; null if there is none.
        pub current_task: crate::Nullable<CurrentTask>,
        /// Pending tasks, in the order in which they will be started.
        pub pending_tasks: Vec<PendingTask>,
        /// Bugs, open ones first, each group sorted by severity, worst first.
        pub bugs: Vec<BugSummary>,
        /// Open critical bugs, one line each.
        pub critical_findings: Vec<String>,
        /// Coverage of pages and elements.
        pub coverage: ProgressCoverage,
        /// Next steps, most urgent first: those stated by the caller, then those derived from tasks, bugs and pages.
        pub next_steps: Vec<String>,
        /// Blockers: those stated by the caller, then those derived from tasks.
        pub blockers: Vec<String>,
        /// Number of next steps and blockers, counted from the start of each list, that the caller stated; absent in
        /// files from older versions.
        pub stated: Option<Stated>,
        /// Hash and subject of the last commit in the working directory; null if unknown.
        pub last_commit: crate::Nullable<String>,
        /// Uncommitted changes in the working directory, as printed by `git status`.
        pub uncommitted_changes: Vec<String>,
        /// Statistics of the session; absent in files from other tools.
        #[serde(default)]
        pub statistics: Statistics,
        /// Context keys and their values.
        #[serde(default)]
        pub context: BTreeMap<String, String>,
        /// Test results, oldest first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub results: Vec<ResultSummary>,
        /// Elements that were marked as tested.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub tested: Vec<TestedElement>,
        /// Visited pages, most recent first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub pages: Vec<VisitedPage>,
    }

    /// Number of next steps and blockers that the caller stated.
    #[derive(Copy, Eq)]
    pub struct Stated {
        /// Number of next steps.
        pub next_steps: u32,
        /// Number of blockers.
        pub blockers: u32,
    }

    /// Summary of a test result.
    pub struct ResultSummary {
        /// Uid of the result.
        pub id: String,
        /// Name of the test.
        pub name: String,
        /// Outcome of the test.
        pub status: ResultStatus,
        /// Key, activity or URL of the page.
        pub page: Option<String>,
        /// Description of the observed behaviour.
        pub summary: Option<String>,
        /// Duration of the test, in milliseconds.
        pub duration_ms: Option<i64>,
        /// `session` if the result is visible only to the session that recorded it; absent otherwise.
        pub scope: Option<RecordScope>,
    }

    /// A finished task.
    pub struct CompletedTask {
        /// Uid of the task.
        pub id: String,
        /// Description of the task.
        pub description: String,
        /// Outcome: `passed`, `failed` or `skipped`.
        pub status: TaskStatus,
        /// Summary of the outcome; may be empty.
        pub summary: String,
        /// Time at which the task was finished, in RFC 3339 format, UTC.
        pub completed_at: String,
        /// `session` if the task is visible only to the session that it belongs to; absent otherwise.
        pub scope: Option<RecordScope>,
    }

    /// A pending task.
    pub struct PendingTask {
        /// Uid of the task.
        pub id: String,
        /// Description of the task.
        pub description: String,
        /// Priority of the task; tasks with higher values come first.
        pub priority: i64,
        /// Uids of the tasks that still block this one.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub blocked_by: Vec<String>,
        /// `session` if the task is visible only to the session that it belongs to; absent otherwise.
        pub scope: Option<RecordScope>,
    }

    /// Summary of a bug.
    pub struct BugSummary {
        /// Uid of the bug; absent in files from other tools.
        #[serde(default)]
        pub id: String,
        /// Title of the bug.
        pub title: String,
        /// Severity of the bug.
        pub severity: Severity,
        /// Status of the bug; by default `open`.
        #[serde(default = "open")]
        pub status: BugStatus,
        /// Key, activity or URL of the page.
        pub page: Option<String>,
        /// Actual behaviour.
        pub actual: Option<String>,
        /// `session` if the bug is visible only to the session that found it; absent otherwise.
        pub scope: Option<RecordScope>,
    }

    /// Summary of the coverage.
    pub struct ProgressCoverage {
        /// Names of the visited pages.
        pub pages_visited: Vec<String>,
        /// Number of elements marked as tested.
        pub elements_tested_count: i64,
        /// Coverage as a percentage; equals `coveragePercent` in the result of `session.coverage`.
        pub coverage_percent: f64,
    }

    /// Result of `session.progress`.
    pub struct ProgressResult {
        /// Name of the session.
        pub session: String,
        /// Path of the machine-readable progress file.
        pub file: String,
        /// Path of the human-readable progress file.
        pub report_file: String,
        /// Whether both progress files are written on every change.
        pub auto: bool,
        /// Content of the machine-readable progress file.
        pub progress: Progress,
        /// Warnings about data that could not be determined, for example the git state.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub warnings: Vec<String>,
    }

    /// Result of `session.resume`.
    pub struct ResumeResult {
        /// Name of the session.
        pub session: String,
        /// Whether the session had ended and was reopened.
        pub reopened: bool,
        /// Whether the session was restored from a progress file.
        pub from_file: bool,
        /// Summary of the session in one line.
        pub summary: String,
        /// Prompt that instructs the language model how to continue the session.
        pub resumption_prompt: String,
        /// Current progress, without the lists of results, tested elements and pages.
        pub progress: Progress,
        /// Pending tasks, in the order in which they will be started.
        pub task_queue: Vec<Task>,
        /// Context keys and their values.
        pub context: BTreeMap<String, String>,
    }
}

methods! {
    /// Writes the progress files of a session, after updating its next steps, blockers and settings if they are given.
    SessionProgress = "session.progress" (ProgressParams, SESSION) -> ProgressResult, Admin, [Conflict, NotFound, StoreUnavailable, StoreFull], r#"{"session":"checkout-1","nextSteps":["check the coupon field"],"auto":true}"#;
    /// Resumes a session from memory or from a progress file, and returns a prompt for continuing it.
    SessionResume = "session.resume" (ResumeParams, SESSION) -> ResumeResult, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"session":"checkout-1"}"#, SESSION_RESUME;
}
