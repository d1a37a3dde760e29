//! The `session task`, `session bug` and `session result` commands.

use afd_proto::findings::{
    BugAdd, BugAddParams, BugList, BugListParams, BugResolve, BugResolveParams, BugShow, BugShowParams, BugStatus, ResultAdd,
    ResultAddParams, ResultList, ResultListParams, ResultStatus, Severity,
};
use afd_proto::tasks::{
    FinishStatus, TaskAdd, TaskAddParams, TaskFinish, TaskFinishParams, TaskList, TaskListParams, TaskStart, TaskStartParams, TaskStatus,
    TaskUpdate, TaskUpdateParams,
};
use clap::{Args, Subcommand};

use super::{Call, Group};
use crate::options::Context;

/// Page and app of a finding; by default those the session observed last.
#[derive(Debug, Args)]
pub struct Place {
    /// Page key, activity or URL
    #[arg(long)]
    pub(super) page: Option<String>,
    /// Package name
    #[arg(long)]
    pub(super) app: Option<String>,
}

/// Manage tasks.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Queue a task
    Add {
        /// Task description
        description: String,
        /// Priority; higher comes first [default: 0]
        #[arg(long, allow_negative_numbers = true)]
        priority: Option<i64>,
        /// Number of a task that must be finished first; repeatable
        #[arg(long, value_name = "N")]
        after: Vec<i64>,
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
        /// Progress so far
        #[arg(long)]
        progress: Option<String>,
        /// New description
        #[arg(long)]
        description: Option<String>,
        /// New priority
        #[arg(long, allow_negative_numbers = true)]
        priority: Option<i64>,
    },
    /// Finish a task
    Finish {
        /// Task number [default: the active task]
        #[arg(long, value_name = "N")]
        id: Option<i64>,
        /// Outcome [default: passed]
        #[arg(long, value_enum)]
        status: Option<FinishStatus>,
        /// Summary of the result
        #[arg(long)]
        summary: Option<String>,
    },
    /// List the tasks of the session
    List {
        /// Only tasks with this status
        #[arg(long, value_enum)]
        status: Option<TaskStatus>,
        /// Maximum number of tasks [default: 100]
        #[arg(long)]
        limit: Option<u32>,
    },
}

/// Report and list bugs.
#[derive(Debug, Subcommand)]
pub enum Bug {
    /// Report a bug
    Add {
        /// One-line title
        title: String,
        /// Severity [default: medium]
        #[arg(long, value_enum)]
        severity: Option<Severity>,
        /// Description
        #[arg(long)]
        description: Option<String>,
        /// Step to reproduce the bug; repeatable
        #[arg(long, value_name = "TEXT")]
        step: Vec<String>,
        /// Expected behaviour
        #[arg(long)]
        expected: Option<String>,
        /// Actual behaviour
        #[arg(long)]
        actual: Option<String>,
        /// Location of the bug
        #[command(flatten)]
        place: Place,
        /// Screenshot: number or uid of an artifact, or latest for the newest screenshot of the session
        #[arg(long, value_name = "ARTIFACT")]
        screenshot: Option<String>,
    },
    /// List the bugs of all sessions with counts, newest first
    List {
        /// Only bugs of this session
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
        /// Maximum number of bugs [default: 20]
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
    /// Mark a bug as resolved
    Resolve {
        /// Bug number
        #[arg(long, value_name = "N")]
        id: i64,
        /// Reason, for example "fixed in 2.4"
        #[arg(long)]
        reason: String,
    },
}

/// Record and list test results.
#[derive(Debug, Subcommand)]
pub enum TestResult {
    /// Record a test result
    Add {
        /// Name of the test
        name: String,
        /// Outcome
        #[arg(long, value_enum)]
        status: ResultStatus,
        /// Location of the test
        #[command(flatten)]
        place: Place,
        /// Duration in milliseconds
        #[arg(long, value_name = "MS")]
        duration_ms: Option<u64>,
        /// Summary of what was observed
        #[arg(long)]
        summary: Option<String>,
        /// Evidence: number or uid of an artifact, or latest for the newest screenshot of the session
        #[arg(long, value_name = "ARTIFACT")]
        evidence: Option<String>,
        /// Number of the bug that the test found
        #[arg(long, value_name = "N")]
        bug: Option<i64>,
    },
    /// List the test results of all sessions with counts, newest first
    List {
        /// Only results of this session
        #[arg(long, value_name = "NAME")]
        for_session: Option<String>,
        /// Only results with this outcome
        #[arg(long, value_enum)]
        status: Option<ResultStatus>,
        /// Only results on pages whose page key, activity or URL contains this
        #[arg(long)]
        page: Option<String>,
        /// Maximum number of results [default: 20]
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
            Task::Add { description, priority, after } => Call::of::<TaskAdd>(TaskAddParams {
                description,
                priority: priority.unwrap_or_default(),
                blocked_by: after,
                ..TaskAddParams::default()
            }),
            Task::Start { id, switch } => Call::of::<TaskStart>(TaskStartParams { id, switch, ..TaskStartParams::default() }),
            Task::Update { id, progress, description, priority } => {
                Call::of::<TaskUpdate>(TaskUpdateParams { id, progress, description, priority, ..TaskUpdateParams::default() })
            }
            Task::Finish { id, status, summary } => {
                Call::of::<TaskFinish>(TaskFinishParams { id, status, summary, ..TaskFinishParams::default() })
            }
            Task::List { status, limit } => Call::of::<TaskList>(TaskListParams { status, limit, ..TaskListParams::default() }),
        }
    }
}

impl Group for Bug {
    fn call(self, _: &Context) -> Call {
        match self {
            Bug::Add { title, severity, description, step, expected, actual, place: Place { page, app }, screenshot } => {
                Call::of::<BugAdd>(BugAddParams {
                    title,
                    severity,
                    description,
                    steps: step,
                    expected,
                    actual,
                    page,
                    app,
                    screenshot,
                    ..BugAddParams::default()
                })
            }
            Bug::List { for_session, severity, status, place: Place { page, app }, limit, cursor } => {
                Call::of::<BugList>(BugListParams { session: for_session, severity, status, app, page, limit, cursor })
            }
            Bug::Show { id } => Call::of::<BugShow>(BugShowParams { id, ..BugShowParams::default() }),
            Bug::Resolve { id, reason } => Call::of::<BugResolve>(BugResolveParams { id, reason, ..BugResolveParams::default() }),
        }
    }
}

impl Group for TestResult {
    fn call(self, _: &Context) -> Call {
        match self {
            TestResult::Add { name, status, place: Place { page, app }, duration_ms, summary, evidence, bug } => {
                Call::of::<ResultAdd>(ResultAddParams { name, status, page, app, duration_ms, summary, evidence, bug, session: None })
            }
            TestResult::List { for_session, status, page, limit, cursor } => {
                Call::of::<ResultList>(ResultListParams { session: for_session, status, page, since: None, limit, cursor })
            }
        }
    }
}
