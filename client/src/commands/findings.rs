//! `session task`, `session bug`, `session result`

use clap::{Args, Subcommand, ValueEnum};

use super::{Call, some, word};

/// Where it is; by default the page that the session saw last.
#[derive(Debug, Args)]
pub struct Place {
    /// Page key, activity or URL
    #[arg(long)]
    page: Option<String>,
    /// Package
    #[arg(long)]
    app: Option<String>,
}

impl Place {
    pub(super) fn on(&self, call: Call) -> Call {
        call.maybe("page", self.page.clone()).maybe("app", self.app.clone())
    }
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

/// How a task ends.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Finish {
    /// Well
    Passed,
    /// Not well
    Failed,
    /// Given up
    Skipped,
}

/// Where a task stands.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum TaskStatus {
    /// Waiting
    Pending,
    /// Worked on
    Active,
    /// Well
    Passed,
    /// Not well
    Failed,
    /// Given up
    Skipped,
}

/// How bad a bug is.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Severity {
    /// Data is lost, or nothing works
    Critical,
    /// Something important does not work
    High,
    /// Something does not work well
    Medium,
    /// It could be nicer
    Low,
}

/// Where a bug stands.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum BugStatus {
    /// It is there
    Open,
    /// It counts as resolved
    Resolved,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ResultStatus {
    /// Well
    Passed,
    /// Not well
    Failed,
    /// Given up
    Skipped,
    /// It could not be carried out
    Error,
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

impl Task {
    /// The call.
    pub fn call(&self) -> Call {
        match self {
            Task::Add { description, priority, after } => Call::new("session.task.add")
                .with("description", description.clone())
                .maybe("priority", *priority)
                .maybe("blockedBy", (!after.is_empty()).then(|| after.clone())),
            Task::Start { id, switch } => Call::new("session.task.start").maybe("id", *id).with("switch", *switch),
            Task::Update { id, progress, description, priority } => Call::new("session.task.update")
                .maybe("id", *id)
                .maybe("progress", progress.clone())
                .maybe("description", description.clone())
                .maybe("priority", *priority),
            Task::Finish { id, status, summary } => {
                Call::new("session.task.finish").maybe("id", *id).maybe("status", word(*status)).maybe("summary", summary.clone())
            }
            Task::List { status, limit } => Call::new("session.task.list").maybe("status", word(*status)).maybe("limit", *limit),
        }
    }
}

impl Bug {
    /// The call.
    pub fn call(&self) -> Call {
        match self {
            Bug::Add { title, severity, description, step, expected, actual, place, screenshot } => place.on(Call::new("session.bug.add")
                .with("title", title.clone())
                .maybe("severity", word(*severity))
                .maybe("description", description.clone())
                .maybe("steps", some(step))
                .maybe("expected", expected.clone())
                .maybe("actual", actual.clone())
                .maybe("screenshot", screenshot.clone())),
            Bug::List { for_session, severity, status, place, limit, cursor } => place.on(Call::new("session.bug.list")
                .maybe("session", for_session.clone())
                .maybe("severity", word(*severity))
                .maybe("status", word(*status))
                .maybe("limit", *limit)
                .maybe("cursor", *cursor)),
            Bug::Show { id } => Call::new("session.bug.show").with("id", *id),
            Bug::Resolve { id, reason } => Call::new("session.bug.resolve").with("id", *id).with("reason", reason.clone()),
        }
    }
}

impl TestResult {
    /// The call.
    pub fn call(&self) -> Call {
        match self {
            TestResult::Add { name, status, place, duration_ms, summary, evidence, bug } => place.on(Call::new("session.result.add")
                .with("name", name.clone())
                .maybe("status", word(Some(*status)))
                .maybe("durationMs", *duration_ms)
                .maybe("summary", summary.clone())
                .maybe("evidence", evidence.clone())
                .maybe("bug", *bug)),
            TestResult::List { for_session, status, page, limit, cursor } => Call::new("session.result.list")
                .maybe("session", for_session.clone())
                .maybe("status", word(*status))
                .maybe("page", page.clone())
                .maybe("limit", *limit)
                .maybe("cursor", *cursor),
        }
    }
}
