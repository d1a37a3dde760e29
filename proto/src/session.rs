//! `session.*`: what an agent is doing, how far it is, and how somebody else goes on.

use std::collections::BTreeMap;

use crate::coverage::Coverage;
use crate::findings::{Bug, BugCounts, ResultCounts, TestResult, TestedElement};
use crate::tasks::{CurrentTask, Task, TaskCounts};

/// Parameters that name a session.
pub trait SessionCall {
    /// Its name.
    fn session(&self) -> &str;
}

session_params! {
    /// Parameters of `session.start`.
    #[derive(Default)]
    pub struct StartParams {
        /// What is to be reached.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub goal: Option<String>,
        /// Package that it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// Working directory, whose git state belongs to the progress; an absolute path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub directory: Option<String>,
        /// Language model that the agent uses, or the name of a tokenizer such as `o200k_base`; by default that of the settings.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub model: Option<String>,
        /// Size of its context, tokens; by default that of the settings.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_tokens: Option<u64>,
        /// Names of context keys to track beside those of the settings.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub tracked_keys: Vec<String>,
        /// Values of context keys to begin with.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub context: BTreeMap<String, String>,
        /// Tasks to queue, first one first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub tasks: Vec<String>,
        /// Whether progress files are written on every change.
        #[serde(default)]
        pub auto_progress: bool,
        /// Where they go; an absolute path. By default the state directory. Without `autoProgress` it says nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub progress_dir: Option<String>,
    }

    /// Parameters of `session.show`, `session.coverage` and the like.
    #[derive(Default)]
    pub struct ShowParams {
    }

    /// Parameters of `session.end`.
    #[derive(Default)]
    pub struct EndParams {
        /// Where the report goes; an absolute path. By default it becomes an artifact.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub file: Option<String>,
    }

    /// Parameters of `session.report`.
    #[derive(Default)]
    pub struct ReportParams {
        /// `html` (by default) or `markdown`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub format: Option<ReportFormat>,
        /// Where it goes; an absolute path. By default it becomes an artifact.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub file: Option<String>,
    }

    /// Parameters of `session.export`.
    #[derive(Default)]
    pub struct ExportParams {
        /// Where it goes; an absolute path. By default it is answered, or becomes an artifact when it is large.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub file: Option<String>,
    }
}

words! {
    /// Whether a session goes on.
    SessionStatus {
        /// It does.
        Active = "active",
        /// It was ended.
        Ended = "ended",
    }
}

words! {
    /// How a report is written.
    ReportFormat {
        /// One page with its pictures in it.
        Html = "html",
        /// Text with headings and lists.
        Markdown = "markdown",
    }
}

params! {
    /// Parameters of `session.list`.
    #[derive(Default)]
    pub struct ListParams {
        /// Only `active` or `ended` ones.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub status: Option<SessionStatus>,
        /// Only those about this package.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// At most this many, by default 20, at most 10,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub limit: Option<u32>,
        /// The `nextCursor` of the previous answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cursor: Option<i64>,
    }
}

wire! {
    /// A session.
    pub struct SessionInfo {
        /// Its name.
        pub session: String,
        /// Names it in every copy of this memory.
        pub uid: String,
        /// Whether it goes on.
        pub status: SessionStatus,
        /// What is to be reached.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub goal: Option<String>,
        /// Package that it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// Working directory.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub directory: Option<String>,
        /// When it was started, or first used, UTC milliseconds.
        pub started_at: i64,
        /// When it was ended, UTC milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub ended_at: Option<i64>,
        /// When something of it was recorded last, UTC milliseconds.
        pub last_activity_at: i64,
        /// Whether progress files are written on every change.
        pub auto_progress: bool,
        /// Tasks by status.
        pub tasks: TaskCounts,
        /// Bugs by severity and status.
        pub bugs: BugCounts,
        /// Test results by status.
        pub results: ResultCounts,
    }

    /// Sessions, newest first.
    pub struct Sessions {
        /// The sessions.
        pub sessions: Vec<SessionInfo>,
        /// Give this as `cursor` for the next page; absent on the last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next_cursor: Option<i64>,
    }

    /// Figures of a session.
    #[derive(Default, Eq)]
    pub struct Statistics {
        /// Actions that were done.
        pub actions_performed: i64,
        /// Checks that held, and elements that passed.
        pub assertions_passed: i64,
        /// Checks that did not hold, and elements that failed.
        pub assertions_failed: i64,
        /// Everything else that failed or whose outcome is unknown.
        pub errors_encountered: i64,
        /// Observations.
        pub observations: i64,
        /// Artifacts.
        pub artifacts: i64,
        /// Notes.
        pub notes: i64,
        /// Messages of its conversation.
        pub messages: i64,
    }

    /// A page that a session was on, with what it looked like last.
    pub struct VisitedPage {
        /// Package.
        pub app: String,
        /// `package/activity`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub activity: Option<String>,
        /// Page key.
        pub key: String,
        /// The state that the visual memory knows it as.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub state: Option<String>,
        /// That state's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
        /// How often it was observed.
        pub observations: i64,
        /// First time, UTC milliseconds.
        pub first_seen: i64,
        /// Last time, UTC milliseconds.
        pub last_seen: i64,
        /// The last look at it.
        pub snapshot: PageSnapshot,
    }

    /// A look at a page.
    pub struct PageSnapshot {
        /// The observation.
        pub observation_id: String,
        /// Fingerprint.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub fingerprint: Option<String>,
        /// Hash of its content.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub content_hash: Option<String>,
        /// How many nodes it had.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub node_count: Option<i64>,
        /// How many of them could be touched.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub ref_count: Option<i64>,
    }

    /// A session in full.
    pub struct SessionShown {
        /// The session.
        #[serde(flatten)]
        pub info: SessionInfo,
        /// Progress, coverage, findings and figures in words.
        pub summary: String,
        /// Figures.
        pub statistics: Statistics,
        /// What was tested of what is known.
        pub coverage: Coverage,
        /// The task that is worked on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub current_task: Option<CurrentTask>,
        /// Tasks that wait, in the order in which they are due; at most 50.
        pub queue: Vec<Task>,
        /// Open bugs, worst first; at most 50.
        pub open_bugs: Vec<Bug>,
        /// Pages, last seen first; at most 50.
        pub pages: Vec<VisitedPage>,
        /// What is to be done next.
        pub next_steps: Vec<String>,
        /// What stands in the way.
        pub blockers: Vec<String>,
        /// Context keys.
        pub context: BTreeMap<String, String>,
    }

    /// A report that was written.
    pub struct ReportWritten {
        /// The session.
        pub session: String,
        /// How.
        pub format: ReportFormat,
        /// The file.
        pub file: String,
        /// The artifact.
        pub artifact_id: i64,
        /// Its size, bytes.
        pub size_bytes: i64,
        /// How many pictures are in it.
        pub pictures: i64,
    }

    /// A session that was ended.
    pub struct Ended {
        /// The session.
        pub session: String,
        /// When, UTC milliseconds.
        pub ended_at: i64,
        /// The final summary.
        pub summary: String,
        /// How many messages were compacted at the end.
        pub compacted: i64,
        /// The report.
        pub report: ReportWritten,
        /// The progress file, unless it could not be written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub progress_file: Option<String>,
        /// What could not be written or found out.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub warnings: Vec<String>,
    }

    /// Everything about a session.
    pub struct Export {
        /// What this document is: `afd-session`.
        pub format: String,
        /// Version of that.
        pub version: u32,
        /// The session.
        pub info: SessionInfo,
        /// The summary.
        pub summary: String,
        /// Figures.
        pub statistics: Statistics,
        /// What was tested of what is known.
        pub coverage: Coverage,
        /// All tasks.
        pub tasks: Vec<Task>,
        /// All bugs.
        pub bugs: Vec<Bug>,
        /// All test results.
        pub results: Vec<TestResult>,
        /// All elements that were marked as tested.
        pub tested: Vec<TestedElement>,
        /// All pages.
        pub pages: Vec<VisitedPage>,
        /// The whole conversation, first message first.
        pub messages: Vec<crate::conversation::Recorded>,
        /// Its summaries.
        pub summaries: Vec<crate::conversation::SummaryInfo>,
        /// What was learned in it.
        pub patterns: Vec<crate::pattern::Pattern>,
        /// Events, first one first.
        pub events: Vec<crate::memory::Event>,
        /// Notes.
        pub notes: Vec<crate::notes::Note>,
        /// Artifacts.
        pub artifacts: Vec<crate::artifact::Artifact>,
        /// What is to be done next.
        pub next_steps: Vec<String>,
        /// What stands in the way.
        pub blockers: Vec<String>,
        /// Context keys.
        pub context: BTreeMap<String, String>,
    }

    /// An export: the document itself, or where it was written.
    pub struct Exported {
        /// The session.
        pub session: String,
        /// The document, when it is small and no file was asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub document: Option<Box<Export>>,
        /// The file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub file: Option<String>,
        /// The artifact.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub artifact_id: Option<i64>,
        /// Its size, bytes.
        pub size_bytes: i64,
    }
}

methods! {
    /// Starts a session with what it is for; what was recorded under its name before belongs to it.
    SessionStart = "session.start" (StartParams, SESSION) -> SessionShown, Admin, [Conflict, StoreUnavailable, StoreFull], r#"{"session":"checkout-1","goal":"test the checkout","app":"org.example.shop"}"#;
    /// Lists sessions, newest first.
    SessionList = "session.list" (ListParams) -> Sessions, Read, [StoreUnavailable], r#"{"status":"active"}"#;
    /// Shows a session: summary, figures, tasks, bugs, pages.
    SessionShow = "session.show" (ShowParams, SESSION) -> SessionShown, Read, [NotFound, StoreUnavailable], "{}";
    /// Ends a session: compacts its conversation, writes the final summary, progress and report.
    SessionEnd = "session.end" (EndParams, SESSION) -> Ended, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"session":"checkout-1"}"#;
    /// Writes a report of a session for people, with its screenshots.
    SessionReport = "session.report" (ReportParams, SESSION) -> ReportWritten, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"session":"checkout-1","format":"html"}"#;
    /// Gives everything about a session as one document.
    SessionExport = "session.export" (ExportParams, SESSION) -> Exported, Read, [NotFound, StoreUnavailable, StoreFull], r#"{"session":"checkout-1"}"#;
}
