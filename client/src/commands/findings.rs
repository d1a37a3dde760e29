//! The `session task`, `session bug` and `session result` commands.

use afd_proto::findings::{
    BugAdd, BugAddParams, BugList, BugListParams, BugReopen, BugReopenParams, BugResolve, BugResolveParams, BugShow,
    BugShowParams, BugStatus, BugUpdate, BugUpdateParams, ResultAdd, ResultAddParams, ResultList, ResultListParams,
    ResultStatus, Severity,
};
use afd_proto::tasks::{
    FinishStatus, TaskAdd, TaskAddParams, TaskFinish, TaskFinishParams, TaskList, TaskListParams, TaskStart,
    TaskStartParams, TaskStatus, TaskUpdate, TaskUpdateParams,
};
use afd_proto::vocabulary::RecordScope;
use clap::{Args, Subcommand};

use super::{Call, Group, non_empty};
use afd_link::options::Context;

/// Page and app of a finding; by default, those that the session observed last.
#[derive(Debug, Args)]
pub struct Place {
    /// Page of the bug or result: page key, activity or URL
    #[arg(long)]
    pub(super) page: Option<String>,
    /// Package of the app with the bug or result
    #[arg(long)]
    pub(super) app: Option<String>,
}

/// Manage tasks.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Queue a task
    Add {
        /// Description of the task
        description: String,
        /// Priority of the task; tasks with higher values come first
        #[arg(long, allow_negative_numbers = true)]
        priority: Option<i64>,
        /// Number of a task that must be finished first; repeatable
        #[arg(long, value_name = "N")]
        after: Vec<i64>,
        /// Visibility: everyone who uses the app, or only this session [default: the scope of the session]
        #[arg(long, value_enum)]
        scope: Option<RecordScope>,
    },
    /// Start the next task in the queue, or a specific one
    Start {
        /// Task number [default: the next task in the queue]
        #[arg(long, value_name = "N")]
        id: Option<i64>,
        /// Return the active task to the queue
        #[arg(long)]
        switch: bool,
    },
    /// Record progress on a task, or change it
    Update {
        /// Task number [default: the active task]
        #[arg(long, value_name = "N")]
        id: Option<i64>,
        /// Progress made on the task so far
        #[arg(long)]
        progress: Option<String>,
        /// New description of the task
        #[arg(long)]
        description: Option<String>,
        /// New priority of the task; tasks with higher values come first
        #[arg(long, allow_negative_numbers = true)]
        priority: Option<i64>,
        /// New visibility of the task
        #[arg(long, value_enum)]
        scope: Option<RecordScope>,
    },
    /// Finish a task
    Finish {
        /// Task number [default: the active task]
        #[arg(long, value_name = "N")]
        id: Option<i64>,
        /// Outcome of the task
        #[arg(long, value_enum)]
        status: Option<FinishStatus>,
        /// Summary of the task's result
        #[arg(long)]
        summary: Option<String>,
    },
    /// List the tasks of the session
    List {
        /// Only tasks with this status
        #[arg(long, value_enum)]
        status: Option<TaskStatus>,
        /// Maximum number of tasks
        #[arg(long)]
        limit: Option<u32>,
    },
}

/// Report and list bugs.
#[derive(Debug, Subcommand)]
pub enum Bug {
    /// Report a bug
    Add {
        /// Title of the bug, on one line
        title: String,
        /// Severity of the bug
        #[arg(long, value_enum)]
        severity: Option<Severity>,
        /// Description of the bug
        #[arg(long)]
        description: Option<String>,
        /// Step to reproduce the bug; repeatable
        #[arg(long, value_name = "TEXT")]
        step: Vec<String>,
        /// Behaviour expected of the app
        #[arg(long)]
        expected: Option<String>,
        /// Behaviour observed instead
        #[arg(long)]
        actual: Option<String>,
        /// Location of the bug
        #[command(flatten)]
        place: Place,
        /// Screenshot: number or uid of an artifact, or latest for the newest screenshot of the session
        #[arg(long, value_name = "ARTIFACT")]
        screenshot: Option<String>,
        /// Add to the description what the app logged since the last action, and the last crash
        #[arg(long)]
        from_log: bool,
        /// Visibility: everyone who uses the app, or only this session [default: the scope of the session]
        #[arg(long, value_enum)]
        scope: Option<RecordScope>,
    },
    /// List the bugs of all sessions with counts, newest first, except those private to a session
    List {
        /// Only bugs from this session
        #[arg(long, value_name = "NAME")]
        for_session: Option<String>,
        /// Only bugs of this severity
        #[arg(long, value_enum)]
        severity: Option<Severity>,
        /// Only open or only resolved bugs
        #[arg(long, value_enum)]
        status: Option<BugStatus>,
        /// Location of the bugs
        #[command(flatten)]
        place: Place,
        /// Maximum number of bugs
        #[arg(long)]
        limit: Option<u32>,
        /// Cursor from the previous page
        #[arg(long, value_name = "CURSOR")]
        cursor: Option<i64>,
    },
    /// Show a bug in full
    Show {
        /// Bug number
        #[arg(long, value_name = "N")]
        id: i64,
    },
    /// Change a bug; an empty value removes the field
    Update(BugUpdateOptions),
    /// Reopen a resolved bug
    Reopen {
        /// Bug number
        #[arg(long, value_name = "N")]
        id: i64,
    },
    /// Mark a bug as resolved
    Resolve {
        /// Bug number
        #[arg(long, value_name = "N")]
        id: i64,
        /// Why the bug counts as resolved, for example "fixed in 2.4"
        #[arg(long)]
        reason: String,
    },
}

/// Options for `bug update`.
#[derive(Debug, Args)]
pub struct BugUpdateOptions {
    /// Bug number
    #[arg(long, value_name = "N")]
    id: i64,
    /// New title of the bug, on one line
    #[arg(long)]
    title: Option<String>,
    /// New severity of the bug
    #[arg(long, value_enum)]
    severity: Option<Severity>,
    /// New description of the bug
    #[arg(long)]
    description: Option<String>,
    /// Step to reproduce the bug; repeatable; replaces the previous steps; an empty step removes them
    #[arg(long, value_name = "TEXT")]
    step: Vec<String>,
    /// New description of the expected behaviour
    #[arg(long)]
    expected: Option<String>,
    /// New description of the actual behaviour
    #[arg(long)]
    actual: Option<String>,
    /// New location of the bug
    #[command(flatten)]
    place: Place,
    /// New screenshot: number or uid of an artifact, or latest for the newest screenshot of the session
    #[arg(long, value_name = "ARTIFACT")]
    screenshot: Option<String>,
    /// Who sees the bug from now on
    #[arg(long, value_enum)]
    scope: Option<RecordScope>,
}

impl BugUpdateOptions {
    fn params(self) -> BugUpdateParams {
        let Place { page, app } = self.place;
        BugUpdateParams {
            id: self.id,
            title: self.title,
            severity: self.severity,
            description: self.description,
            steps: non_empty(self.step).map(|steps| steps.into_iter().filter(|step| !step.is_empty()).collect()),
            expected: self.expected,
            actual: self.actual,
            page,
            app,
            screenshot: self.screenshot,
            scope: self.scope,
            session: None,
        }
    }
}

/// Record and list test results.
#[derive(Debug, Subcommand)]
pub enum TestResult {
    /// Record a test result
    Add {
        /// Name of the test
        name: String,
        /// Outcome of the test
        #[arg(long, value_enum)]
        status: ResultStatus,
        /// Location of the test
        #[command(flatten)]
        place: Place,
        /// Duration of the test in milliseconds
        #[arg(long, value_name = "MS")]
        duration_ms: Option<u64>,
        /// Summary of what was observed in the test
        #[arg(long)]
        summary: Option<String>,
        /// Evidence for the result: number or uid of an artifact, or latest for the newest screenshot of the session
        #[arg(long, value_name = "ARTIFACT")]
        evidence: Option<String>,
        /// Number of the bug that the test found
        #[arg(long, value_name = "N")]
        bug: Option<i64>,
        /// Visibility: everyone who uses the app, or only this session [default: the scope of the session]
        #[arg(long, value_enum)]
        scope: Option<RecordScope>,
    },
    /// List the test results of all sessions with counts, newest first, except those private to a session
    List {
        /// Only results from this session
        #[arg(long, value_name = "NAME")]
        for_session: Option<String>,
        /// Only results with this outcome
        #[arg(long, value_enum)]
        status: Option<ResultStatus>,
        /// Only results on pages whose page key, activity or URL contains this text
        #[arg(long)]
        page: Option<String>,
        /// Only results recorded at or after this time, in Unix milliseconds
        #[arg(long, value_name = "MS")]
        since: Option<i64>,
        /// Maximum number of results
        #[arg(long)]
        limit: Option<u32>,
        /// Cursor from the previous page
        #[arg(long, value_name = "CURSOR")]
        cursor: Option<i64>,
    },
}

impl Group for Task {
    fn call(self, _: &Context) -> Call {
        match self {
            Task::Add { description, priority, after, scope } => Call::of::<TaskAdd>(TaskAddParams {
                description,
                priority,
                blocked_by: after,
                scope,
                ..TaskAddParams::default()
            }),
            Task::Start { id, switch } => {
                Call::of::<TaskStart>(TaskStartParams { id, switch, ..TaskStartParams::default() })
            }
            Task::Update { id, progress, description, priority, scope } => Call::of::<TaskUpdate>(TaskUpdateParams {
                id,
                progress,
                description,
                priority,
                scope,
                ..TaskUpdateParams::default()
            }),
            Task::Finish { id, status, summary } => {
                Call::of::<TaskFinish>(TaskFinishParams { id, status, summary, ..TaskFinishParams::default() })
            }
            Task::List { status, limit } => {
                Call::of::<TaskList>(TaskListParams { status, limit, ..TaskListParams::default() })
            }
        }
    }
}

impl Group for Bug {
    fn call(self, _: &Context) -> Call {
        match self {
            Bug::Add {
                title,
                severity,
                description,
                step,
                expected,
                actual,
                place: Place { page, app },
                screenshot,
                from_log,
                scope,
            } => Call::of::<BugAdd>(BugAddParams {
                title,
                severity,
                description,
                steps: step,
                expected,
                actual,
                page,
                app,
                screenshot,
                from_log,
                scope,
                ..BugAddParams::default()
            }),
            Bug::List { for_session, severity, status, place: Place { page, app }, limit, cursor } => {
                Call::of::<BugList>(BugListParams { session: for_session, severity, status, app, page, limit, cursor })
            }
            Bug::Show { id } => Call::of::<BugShow>(BugShowParams { id, ..BugShowParams::default() }),
            Bug::Update(options) => Call::of::<BugUpdate>(options.params()),
            Bug::Reopen { id } => Call::of::<BugReopen>(BugReopenParams { id, ..BugReopenParams::default() }),
            Bug::Resolve { id, reason } => {
                Call::of::<BugResolve>(BugResolveParams { id, reason, ..BugResolveParams::default() })
            }
        }
    }
}

impl Group for TestResult {
    fn call(self, _: &Context) -> Call {
        match self {
            TestResult::Add {
                name,
                status,
                place: Place { page, app },
                duration_ms,
                summary,
                evidence,
                bug,
                scope,
            } => Call::of::<ResultAdd>(ResultAddParams {
                name,
                status,
                page,
                app,
                duration_ms,
                summary,
                evidence,
                bug,
                scope,
                session: None,
            }),
            TestResult::List { for_session, status, page, since, limit, cursor } => {
                Call::of::<ResultList>(ResultListParams { session: for_session, status, page, since, limit, cursor })
            }
        }
    }
}
