//! `session`

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Map, Value};

use super::{Call, absolute};

/// What an agent is doing, how far it is, and how somebody else goes on. The session is the one of --session.
#[derive(Debug, Subcommand)]
pub enum Session {
    /// Begin a session with what it is for
    Start(Start),
    /// Sessions, newest first
    List(List),
    /// Summary, figures, tasks, bugs and pages of a session
    Show,
    /// Compact, write the final summary, progress and report, and close the session
    End {
        /// Where the report goes
        #[arg(long, value_name = "FILE")]
        file: Option<String>,
    },
    /// Write the progress files, and say what they are to hold
    Progress(Progress),
    /// Go on with a session: what to tell the language model
    Resume {
        /// A progress file to take a session from that this memory does not know
        #[arg(long, value_name = "FILE")]
        file: Option<String>,
    },
    /// Write a report with its screenshots
    Report {
        /// How it is written
        #[arg(long, value_enum, default_value = "html")]
        format: ReportFormat,
        /// Where it goes
        #[arg(long, value_name = "FILE")]
        file: Option<String>,
    },
    /// Everything about a session as one JSON document
    Export {
        /// Where it goes
        #[arg(long, value_name = "FILE")]
        file: Option<String>,
    },
    /// Which pages and elements were tested, of those that are known
    Coverage {
        /// Package
        #[arg(long)]
        app: Option<String>,
    },
    /// Mark elements as tested
    Tested(Tested),
    /// What is to be done
    #[command(subcommand)]
    Task(Task),
    /// What is wrong
    #[command(subcommand)]
    Bug(Bug),
    /// What was tested
    #[command(subcommand)]
    Result(TestResult),
}

/// How a report is written.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ReportFormat {
    /// One page with its pictures in it
    Html,
    /// Text with headings and lists
    Markdown,
}

/// Options of `start`.
#[derive(Debug, Args)]
pub struct Start {
    /// What is to be reached
    #[arg(long)]
    goal: Option<String>,
    /// Package that it is about
    #[arg(long)]
    app: Option<String>,
    /// Working directory, whose git state belongs to the progress
    #[arg(long, value_name = "DIR")]
    directory: Option<String>,
    /// Language model of the agent, or a tokenizer such as o200k_base
    #[arg(long)]
    model: Option<String>,
    /// Size of its context, tokens
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Context key to track; may be given several times
    #[arg(long, value_name = "KEY")]
    track: Vec<String>,
    /// Context key and value; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    context: Vec<(String, String)>,
    /// Task to queue; may be given several times
    #[arg(long, value_name = "TEXT")]
    task: Vec<String>,
    /// Write progress files on every change
    #[arg(long)]
    auto_progress: bool,
    /// Where they go
    #[arg(long, value_name = "DIR")]
    progress_dir: Option<String>,
}

/// Reads `KEY=VALUE`.
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

/// Pairs as an object; none is nothing.
pub(super) fn object(pairs: &[(String, String)]) -> Option<Value> {
    let map: Map<String, Value> = pairs.iter().map(|(k, v)| (k.clone(), Value::from(v.clone()))).collect();
    (!map.is_empty()).then_some(Value::Object(map))
}

fn some(list: &[String]) -> Option<Vec<String>> {
    (!list.is_empty()).then(|| list.to_vec())
}

fn path(path: &Option<String>) -> Option<String> {
    path.as_deref().map(absolute)
}

/// Options of `list`.
#[derive(Debug, Args)]
pub struct List {
    /// Only active or ended ones
    #[arg(long, value_enum)]
    status: Option<Status>,
    /// Only those about this package
    #[arg(long)]
    app: Option<String>,
    /// At most this many [default: 20]
    #[arg(long)]
    limit: Option<u32>,
    /// Go on where the previous answer ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<i64>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Status {
    /// Worked on
    Active,
    Ended,
}

/// Options of `progress`.
#[derive(Debug, Args)]
pub struct Progress {
    /// What is to be done next; may be given several times, and replaces what was said before
    #[arg(long, value_name = "TEXT")]
    next_step: Vec<String>,
    /// What stands in the way; may be given several times, and replaces what was said before
    #[arg(long, value_name = "TEXT")]
    blocker: Vec<String>,
    /// Nothing stands in the way any more
    #[arg(long, conflicts_with = "blocker")]
    no_blockers: bool,
    /// Working directory, whose git state belongs to the progress
    #[arg(long, value_name = "DIR")]
    directory: Option<String>,
    /// Write the files on every change from now on, or no longer
    #[arg(long, value_name = "BOOL")]
    auto: Option<bool>,
    /// Where they go
    #[arg(long, value_name = "DIR")]
    dir: Option<String>,
}

/// Options of `tested`.
#[derive(Debug, Args)]
pub struct Tested {
    /// Elements by name of their component, resource id or label
    #[arg(required = true)]
    elements: Vec<String>,
    /// Whether an assertion about them held
    #[arg(long, value_name = "BOOL")]
    passed: Option<bool>,
    #[command(flatten)]
    place: Place,
}

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
    fn on(&self, call: Call) -> Call {
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

/// The word of a value, as it is typed and on the wire.
pub(super) fn word<T: ValueEnum>(value: Option<T>) -> Option<String> {
    value.and_then(|v| v.to_possible_value().map(|p| p.get_name().to_owned()))
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

impl Session {
    /// The call.
    pub fn call(&self) -> Call {
        match self {
            Session::Start(s) => Call::new("session.start")
                .maybe("goal", s.goal.clone())
                .maybe("app", s.app.clone())
                .maybe("directory", path(&s.directory))
                .maybe("model", s.model.clone())
                .maybe("maxTokens", s.max_tokens)
                .maybe("trackedKeys", some(&s.track))
                .maybe("context", object(&s.context))
                .maybe("tasks", some(&s.task))
                .with("autoProgress", s.auto_progress)
                .maybe("progressDir", path(&s.progress_dir)),
            Session::List(l) => Call::new("session.list")
                .maybe("status", word(l.status))
                .maybe("app", l.app.clone())
                .maybe("limit", l.limit)
                .maybe("cursor", l.cursor),
            Session::Show => Call::new("session.show"),
            Session::End { file } => Call::new("session.end").maybe("file", path(file)),
            Session::Progress(p) => {
                let blockers = if p.no_blockers { Some(Vec::new()) } else { some(&p.blocker) };
                Call::new("session.progress")
                    .maybe("nextSteps", some(&p.next_step))
                    .maybe("blockers", blockers)
                    .maybe("directory", path(&p.directory))
                    .maybe("auto", p.auto)
                    .maybe("dir", path(&p.dir))
            }
            Session::Resume { file } => Call::new("session.resume").maybe("file", path(file)),
            Session::Report { format, file } => Call::new("session.report").maybe("format", word(Some(*format))).maybe("file", path(file)),
            Session::Export { file } => Call::new("session.export").maybe("file", path(file)),
            Session::Coverage { app } => Call::new("session.coverage").maybe("app", app.clone()),
            Session::Tested(t) => t.place.on(Call::new("session.tested").with("elements", t.elements.clone()).maybe("passed", t.passed)),
            Session::Task(task) => task.call(),
            Session::Bug(bug) => bug.call(),
            Session::Result(result) => result.call(),
        }
    }
}

impl Task {
    fn call(&self) -> Call {
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
    fn call(&self) -> Call {
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
    fn call(&self) -> Call {
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
