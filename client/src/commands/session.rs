//! `session`

use clap::{Args, Subcommand, ValueEnum};

use super::findings::{Bug, Place, Task, TestResult};
use super::{Call, absolute, object, pair, some, word};

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
    /// An assertion about them held
    #[arg(long)]
    passed: bool,
    /// An assertion about them did not hold
    #[arg(long, conflicts_with = "passed")]
    failed: bool,
    #[command(flatten)]
    place: Place,
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
            Session::Tested(t) => t.place.on(Call::new("session.tested")
                .with("elements", t.elements.clone())
                .maybe("passed", (t.passed || t.failed).then_some(t.passed))),
            Session::Task(task) => task.call(),
            Session::Bug(bug) => bug.call(),
            Session::Result(result) => result.call(),
        }
    }
}
