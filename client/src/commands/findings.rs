//! `session task`, `session bug`, `session result`

use afd_proto::findings::{
    BugAdd, BugAddParams, BugList, BugListParams, BugResolve, BugResolveParams, BugShow, BugShowParams, BugStatus, ResultAdd,
    ResultAddParams, ResultList, ResultListParams, ResultStatus, Severity,
};
use afd_proto::tasks::{
    Finish, TaskAdd, TaskAddParams, TaskFinish, TaskFinishParams, TaskList, TaskListParams, TaskStart, TaskStartParams, TaskStatus,
    TaskUpdate, TaskUpdateParams,
};
use clap::{Args, Subcommand};

use super::Call;
use crate::cli::{Context, Group};

/// Where it is; by default the page that the session saw last.
#[derive(Debug, Args)]
pub struct Place {
    /// Page key, activity or URL
    #[arg(long)]
    pub(super) page: Option<String>,
    /// Package
    #[arg(long)]
    pub(super) app: Option<String>,
}

/// What is to be done.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Queue a task
    Add {
        /// What is to be done
        description: String,
        /// Higher ones come first
        #[arg(long, allow_negative_numbers = true)]
        priority: Option<i64>,
        /// Number of a task that comes first; may be given several times
        #[arg(long, value_name = "N")]
        after: Vec<i64>,
    },
    /// Begin the task that is due, or a certain one
    Start {
        /// Its number
        #[arg(long, value_name = "N")]
        id: Option<i64>,
        /// Put the one that is worked on back in the queue
        #[arg(long)]
        switch: bool,
    },
    /// Note how far a task is, or change it
    Update {
        /// Its number; by default the one that is worked on
        #[arg(long, value_name = "N")]
        id: Option<i64>,
        /// How far it is
        #[arg(long)]
        progress: Option<String>,
        /// Another description
        #[arg(long)]
        description: Option<String>,
        /// Another priority
        #[arg(long, allow_negative_numbers = true)]
        priority: Option<i64>,
    },
    /// Finish a task
    Finish {
        /// Its number; by default the one that is worked on
        #[arg(long, value_name = "N")]
        id: Option<i64>,
        /// How it ended [default: passed]
        #[arg(long, value_enum)]
        status: Option<Finish>,
        /// What came of it
        #[arg(long)]
        summary: Option<String>,
    },
    /// Tasks of the session
    List {
        /// Only those of this status
        #[arg(long, value_enum)]
        status: Option<TaskStatus>,
        /// At most this many [default: 100]
        #[arg(long)]
        limit: Option<u32>,
    },
}

/// What is wrong.
#[derive(Debug, Subcommand)]
pub enum Bug {
    /// Record a bug
    Add {
        /// One line
        title: String,
        /// How bad it is [default: medium]
        #[arg(long, value_enum)]
        severity: Option<Severity>,
        /// What it is about
        #[arg(long)]
        description: Option<String>,
        /// A step to make it happen; may be given several times
        #[arg(long, value_name = "TEXT")]
        step: Vec<String>,
        /// What should happen
        #[arg(long)]
        expected: Option<String>,
        /// What happens
        #[arg(long)]
        actual: Option<String>,
        /// Where it is
        #[command(flatten)]
        place: Place,
        /// Number or uid of an artifact, or latest for the newest screenshot of the session
        #[arg(long, value_name = "ARTIFACT")]
        screenshot: Option<String>,
    },
    /// Bugs of all sessions, newest first, and their counts
    List {
        /// Only those of this session
        #[arg(long, value_name = "NAME")]
        for_session: Option<String>,
        /// Only those of this severity
        #[arg(long, value_enum)]
        severity: Option<Severity>,
        /// Only open or resolved ones
        #[arg(long, value_enum)]
        status: Option<BugStatus>,
        /// Where it is
        #[command(flatten)]
        place: Place,
        /// At most this many [default: 20]
        #[arg(long)]
        limit: Option<u32>,
        /// Go on where the previous answer ended
        #[arg(long, value_name = "CURSOR")]
        cursor: Option<i64>,
    },
    /// A bug in full
    Show {
        /// Its number
        #[arg(long, value_name = "N")]
        id: i64,
    },
    /// Mark a bug as resolved
    Resolve {
        /// Its number
        #[arg(long, value_name = "N")]
        id: i64,
        /// Why
        #[arg(long)]
        reason: String,
    },
}

/// What was tested.
#[derive(Debug, Subcommand)]
pub enum TestResult {
    /// Record a test result
    Add {
        /// What was tested
        name: String,
        /// How it ended
        #[arg(long, value_enum)]
        status: ResultStatus,
        /// Where it is
        #[command(flatten)]
        place: Place,
        /// How long it took
        #[arg(long, value_name = "MS")]
        duration_ms: Option<u64>,
        /// What was seen
        #[arg(long)]
        summary: Option<String>,
        /// Number or uid of an artifact, or latest for the newest screenshot of the session
        #[arg(long, value_name = "ARTIFACT")]
        evidence: Option<String>,
        /// Number of the bug that it found
        #[arg(long, value_name = "N")]
        bug: Option<i64>,
    },
    /// Test results of all sessions, newest first, and their counts
    List {
        /// Only those of this session
        #[arg(long, value_name = "NAME")]
        for_session: Option<String>,
        /// Only those that ended so
        #[arg(long, value_enum)]
        status: Option<ResultStatus>,
        /// Only those on pages that contain this
        #[arg(long)]
        page: Option<String>,
        /// At most this many [default: 20]
        #[arg(long)]
        limit: Option<u32>,
        /// Go on where the previous answer ended
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
