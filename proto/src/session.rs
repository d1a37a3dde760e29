//! `session.*`: test sessions with a goal, tasks, findings, progress and reports.

use std::collections::BTreeMap;

use crate::coverage::Coverage;
use crate::findings::{Bug, BugCounts, ResultCounts};
use crate::tasks::{CurrentTask, Task, TaskCounts};
use crate::vocabulary::RecordScope;

session_params! {
    /// Parameters of `session.start`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "SessionStartParams"))]
    pub struct StartParams {
        /// Goal of the session.
        pub goal: Option<String> where chars 1..=2000,
        /// Package that the session is about.
        pub app: Option<String> where chars 1..=255,
        /// Absolute path of the working directory whose git state is reported with the progress.
        pub directory: Option<String>,
        /// Language model whose tokenizer counts the tokens, or the name of a tokenizer such as `o200k_base`; by
        /// default the configured model.
        pub model: Option<String> where chars 1..=200,
        /// Context size of the model, in tokens; by default the configured size.
        pub max_tokens: Option<u64> where 256..=100_000_000,
        /// Names of context keys to track in addition to the configured ones.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub tracked_keys: Vec<String> where items 0..=100,
        /// Initial values of context keys, by key; at most 100.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub context: BTreeMap<String, String>,
        /// Descriptions of tasks to queue, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub tasks: Vec<String> where items 0..=1000,
        /// Whether to write progress files on every change.
        #[serde(default)]
        pub auto_progress: bool,
        /// Absolute path of a directory for the progress files; by default the state directory. Ignored without
        /// `autoProgress`.
        pub progress_dir: Option<String>,
        /// Visibility of the session's digest, and default visibility of its records.
        pub scope: Option<RecordScope> = RecordScope::App,
    }

    /// Parameters of `session.show`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "SessionShowParams"))]
    pub struct ShowParams {
    }

    /// Parameters of `session.update`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "SessionUpdateParams"))]
    pub struct UpdateParams {
        /// New name of the session: 1 to 128 printable characters.
        pub name: Option<String>,
        /// New goal of the session; an empty string removes it.
        pub goal: Option<String> where chars 0..=2000,
        /// New package that the session is about; an empty string removes it.
        pub app: Option<String> where chars 0..=255,
        /// New visibility of the session's digest, and new default visibility of the records that the session makes
        /// from now on.
        pub scope: Option<RecordScope>,
    }

    /// Parameters of `session.delete`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "SessionDeleteParams"))]
    pub struct DeleteParams {
        /// Whether to also delete the session's bugs, test results and notes. By default, those with the scope `app`
        /// are kept.
        #[serde(default)]
        pub findings: bool,
    }

    /// Parameters of `session.end`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "SessionEndParams"))]
    pub struct EndParams {
        /// Absolute path of a file for the report; by default the report is saved in the shared artifact directory.
        pub file: Option<String>,
    }

    /// Parameters of `session.report`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "SessionReportParams"))]
    pub struct ReportParams {
        /// Format of the report; by default derived from the extension of `file` (`.html`, `.md`, `.xml`, `.json`),
        /// else `html`.
        pub format: Option<ReportFormat>,
        /// Absolute path of a file for the report; by default the report is saved in the shared artifact directory.
        pub file: Option<String>,
    }
}

words! {
    /// Status of a session.
    SessionStatus {
        /// The session is active.
        Active = "active",
        /// The session has ended.
        Ended = "ended",
    }
}

words! {
    /// Format of a report.
    ReportFormat {
        /// A single HTML page with embedded pictures.
        Html = "html",
        /// Markdown text.
        Markdown = "markdown",
        /// JUnit XML: the test results as test cases.
        Junit = "junit",
        /// JSON document.
        Json = "json",
    }
}

params! {
    /// Parameters of `session.list`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "SessionListParams"))]
    pub struct ListParams {
        /// Only sessions with this status.
        pub status: Option<SessionStatus>,
        /// Only sessions about this package.
        pub app: Option<String>,
        /// Maximum number of sessions.
        pub limit: Option<u32> where 1..=10_000 = 20,
        /// Value of `nextCursor` from the previous page.
        pub cursor: Option<i64>,
    }
}

wire! {
    /// A session with counts of its tasks, bugs and test results.
    pub struct SessionInfo {
        /// Name of the session.
        pub session: String,
        /// Unique id, the same in every copy of this memory.
        pub uid: String,
        /// Uid of the memory that the session came from; absent if it originated in this memory.
        pub origin: Option<String>,
        /// Status of the session.
        pub status: SessionStatus,
        /// Goal of the session.
        pub goal: Option<String>,
        /// Package that the session is about.
        pub app: Option<String>,
        /// `session` if the session's digest and, by default, its records are visible only to the session itself;
        /// absent otherwise.
        pub scope: Option<RecordScope>,
        /// Working directory whose git state is reported with the progress.
        pub directory: Option<String>,
        /// Time at which the session was started, else first used, in Unix milliseconds.
        pub started_at: i64,
        /// Time at which the session ended, in Unix milliseconds; absent while it is active.
        pub ended_at: Option<i64>,
        /// Time of the session's last recorded activity, in Unix milliseconds.
        pub last_activity_at: i64,
        /// Whether the progress files are written on every change.
        pub auto_progress: bool,
        /// Number of tasks by status.
        pub tasks: TaskCounts,
        /// Number of bugs by severity and by status.
        pub bugs: BugCounts,
        /// Number of test results by outcome.
        pub results: ResultCounts,
    }

    /// A page of sessions, newest first.
    pub struct Sessions {
        /// Sessions on this page.
        pub sessions: Vec<SessionInfo>,
        /// Cursor for the next page; absent on the last page.
        pub next_cursor: Option<i64>,
    }

    /// Statistics of a session.
    #[derive(Default, Eq)]
    pub struct Statistics {
        /// Number of successful actions and recoveries.
        pub actions_performed: i64,
        /// Number of passed verifications.
        pub assertions_passed: i64,
        /// Number of failed verifications. Elements that were marked as failed are not counted.
        pub assertions_failed: i64,
        /// Number of other events that failed or whose outcome is unknown.
        pub errors_encountered: i64,
        /// Number of observations.
        pub observations: i64,
        /// Number of artifacts.
        pub artifacts: i64,
        /// Number of notes.
        pub notes: i64,
        /// Number of messages in all conversations of the session.
        pub messages: i64,
    }

    /// A page that a session visited, with the last observation of the page.
    pub struct VisitedPage {
        /// Package of the app that the page belongs to; empty if unknown.
        pub app: String,
        /// Activity as `package/activity`.
        pub activity: Option<String>,
        /// Key that the page is matched by.
        pub key: String,
        /// Id of the state that the page is recognised as; absent if there is none.
        pub state: Option<String>,
        /// Name of the state that the page is recognised as.
        pub name: Option<String>,
        /// Number of observations of the page.
        pub observations: i64,
        /// Time of the first observation of the page, in Unix milliseconds.
        pub first_seen: i64,
        /// Time of the last observation of the page, in Unix milliseconds.
        pub last_seen: i64,
        /// Details of the last observation; absent for a page that was visited in another copy of this memory.
        pub snapshot: Option<PageSnapshot>,
    }

    /// Details of a page observation.
    pub struct PageSnapshot {
        /// Id of the observation.
        pub observation_id: String,
        /// Fingerprint of the page.
        pub fingerprint: Option<String>,
        /// Hash of the page's content.
        pub content_hash: Option<String>,
        /// Number of nodes on the screen.
        pub node_count: Option<i64>,
        /// Number of interactive elements.
        pub ref_count: Option<i64>,
    }

    /// A conversation of a session.
    pub struct ConversationInfo {
        /// Name of the conversation.
        pub conversation: String,
        /// Unique id, the same in every copy of this memory.
        pub uid: String,
        /// Number of messages in the conversation.
        pub messages: i64,
        /// Number of tokens in all messages of the conversation.
        pub tokens: i64,
    }

    /// Findings of the last session about an app.
    pub struct LastFound {
        /// Name of the newest session that has findings or a summary.
        pub session: String,
        /// Time at which the session named in `session` ended, in Unix milliseconds; absent if it was never ended.
        pub ended_at: Option<i64>,
        /// Summary written when the session named in `session` ended.
        pub summary: Option<String>,
        /// Number of test results of the session named in `session`, by outcome.
        pub results: ResultCounts,
        /// Bugs found in the session named in `session`, worst first, then its tests that failed or could not be
        /// completed; at most 10 of each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub found: Vec<String>,
    }

    /// Open work from earlier sessions about an app, as far as it is shared with other sessions of the app.
    pub struct LeftOpen {
        /// Name of the newest session that left tasks, next steps or blockers open; absent if none did.
        pub session: Option<String>,
        /// Time at which the session named in `session` ended, in Unix milliseconds; absent if it was never ended.
        pub ended_at: Option<i64>,
        /// Goal of the session named in `session`.
        pub goal: Option<String>,
        /// Summary written when the session named in `session` ended.
        pub summary: Option<String>,
        /// Descriptions of the active and pending tasks of the session named in `session`, in the order in which to do
        /// them; at most 10.
        pub tasks: Vec<String>,
        /// Number of active and pending tasks of the session named in `session`.
        pub tasks_total: i64,
        /// Next steps that the caller stated in the session named in `session`; at most 10.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub next_steps: Vec<String>,
        /// Blockers that the caller stated in the session named in `session`; at most 10.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub blockers: Vec<String>,
        /// Open bugs in the app, worst first; at most 10.
        pub bugs: Vec<String>,
        /// Number of open bugs in the app.
        pub bugs_total: i64,
        /// Findings of the last session about the app, open or not; absent if no session has any.
        pub last: Option<LastFound>,
    }

    /// A session with all the information needed to continue it.
    pub struct SessionDetails {
        /// The session, with counts of its tasks, bugs and test results.
        #[serde(flatten)]
        pub info: SessionInfo,
        /// Prose summary of progress, coverage, findings and statistics.
        pub summary: String,
        /// Statistics of the session.
        pub statistics: Statistics,
        /// Coverage of the pages and elements in the visual memory.
        pub coverage: Coverage,
        /// Active task; absent if there is none.
        pub current_task: Option<CurrentTask>,
        /// Pending tasks, in the order in which they will be started; at most 50.
        pub queue: Vec<Task>,
        /// Open bugs, worst first; at most 50.
        pub open_bugs: Vec<Bug>,
        /// Visited pages, most recent first; at most 50.
        pub pages: Vec<VisitedPage>,
        /// Next steps: those stated by the caller, then those derived from tasks, bugs and pages.
        pub next_steps: Vec<String>,
        /// Blockers: those stated by the caller, then pending tasks that depend on a failed one.
        pub blockers: Vec<String>,
        /// Context keys and their values.
        pub context: BTreeMap<String, String>,
        /// Conversations, oldest first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub conversations: Vec<ConversationInfo>,
        /// Open work from earlier sessions about the same app; only in the result of `session.start`.
        pub before: Option<LeftOpen>,
    }

    /// Result of `session.delete`.
    pub struct Deleted {
        /// Name of the deleted session.
        pub session: String,
        /// Unique id of the session.
        pub uid: String,
        /// Number of deleted messages.
        pub messages: i64,
        /// Number of deleted statements, summaries and patterns that were derived from messages.
        pub derived: i64,
        /// Number of deleted tasks.
        pub tasks: i64,
        /// Number of deleted bugs, test results and notes; without `findings`, only those with the scope `session` are
        /// deleted.
        pub findings: i64,
        /// Number of bugs, test results and notes that are kept for the app.
        pub kept: i64,
        /// Session name shown in the kept records; absent if no records are kept. Calling `session.delete` with this
        /// name and `findings` deletes these records later.
        pub remainder: Option<String>,
        /// Paths of the session's reports and exports that were saved to files named by the caller; these files are not
        /// deleted.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub files_left: Vec<String>,
        /// Names of the backups that still contain the session, newest first; `backup.delete` deletes a backup.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub backups: Vec<String>,
    }

    /// Result of `session.report`.
    pub struct ReportResult {
        /// Name of the session.
        pub session: String,
        /// Format of the report.
        pub format: ReportFormat,
        /// Absolute path of the report.
        pub file: String,
        /// Id of the report's artifact.
        pub artifact_id: i64,
        /// Size of the file, in bytes.
        pub size_bytes: i64,
        /// Number of pictures embedded in the report.
        pub pictures: i64,
    }

    /// Result of `session.end`.
    pub struct EndResult {
        /// Name of the session.
        pub session: String,
        /// Time at which the session ended, in Unix milliseconds.
        pub ended_at: i64,
        /// Final summary of the session.
        pub summary: String,
        /// Number of messages that were compacted when the session ended.
        pub compacted: i64,
        /// Report that was written when the session ended.
        pub report: ReportResult,
        /// Path of the machine-readable progress file; absent if it could not be written.
        pub progress_file: Option<String>,
        /// Warnings about files that could not be written and data that could not be determined.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub warnings: Vec<String>,
    }
}

methods! {
    /// Starts a session with a goal and tasks; earlier records under the session's name become part of it.
    SessionStart = "session.start" (StartParams, SESSION) -> SessionDetails, Admin, [Conflict, StoreUnavailable, StoreFull], r#"{"session":"checkout-1","goal":"test the checkout","app":"org.example.shop"}"#, SESSION_START;
    /// Lists sessions, newest first.
    SessionList = "session.list" (ListParams) -> Sessions, Read, [StoreUnavailable], r#"{"status":"active"}"#;
    /// Returns a session with its summary, statistics, tasks, bugs and pages.
    SessionShow = "session.show" (ShowParams, SESSION) -> SessionDetails, Read, [NotFound, StoreUnavailable], "{}";
    /// Ends a session: compacts its conversation and writes the report, the final summary and the progress files.
    SessionEnd = "session.end" (EndParams, SESSION) -> EndResult, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"session":"checkout-1"}"#;
    /// Writes a report on a session, with its screenshots.
    SessionReport = "session.report" (ReportParams, SESSION) -> ReportResult, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"session":"checkout-1","format":"html"}"#, REPORT;
    /// Renames a session, or changes its goal, app or scope.
    SessionUpdate = "session.update" (UpdateParams, SESSION) -> SessionInfo, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"session":"checkout-1","goal":"test the coupons"}"#;
    /// Deletes a session with its messages and tasks; findings and notes of the app are kept unless `findings` is set.
    SessionDelete = "session.delete" (DeleteParams, SESSION) -> Deleted, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"session":"checkout-1"}"#;
}
