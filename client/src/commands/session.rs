//! `session`

use afd_proto::coverage::{CoverageParams, SessionCoverage};
use afd_proto::findings::{TestedMark, TestedParams};
use afd_proto::progress::{ProgressParams, ResumeParams, SessionProgress, SessionResume};
use afd_proto::session::{
    EndParams, ExportParams, ListParams, ReportFormat, ReportParams, SessionEnd, SessionExport, SessionList, SessionReport, SessionShow,
    SessionStart, SessionStatus, ShowParams, StartParams,
};
use clap::{Args, Subcommand};

use super::findings::{Bug, Place, Task, TestResult};
use super::{Call, absolute, map, pair, some};
use crate::cli::{Context, Group};

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
        #[arg(long, value_enum, default_value_t = ReportFormat::Html)]
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

fn path(path: Option<String>) -> Option<String> {
    path.as_deref().map(absolute)
}

/// Options of `list`.
#[derive(Debug, Args)]
pub struct List {
    /// Only active or ended ones
    #[arg(long, value_enum)]
    status: Option<SessionStatus>,
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

impl Start {
    fn params(self) -> StartParams {
        StartParams {
            goal: self.goal,
            app: self.app,
            directory: path(self.directory),
            model: self.model,
            max_tokens: self.max_tokens,
            tracked_keys: self.track,
            context: map(self.context),
            tasks: self.task,
            auto_progress: self.auto_progress,
            progress_dir: path(self.progress_dir),
            ..StartParams::default()
        }
    }
}

impl Progress {
    fn params(self) -> ProgressParams {
        ProgressParams {
            next_steps: some(self.next_step),
            blockers: if self.no_blockers { Some(Vec::new()) } else { some(self.blocker) },
            directory: path(self.directory),
            auto: self.auto,
            dir: path(self.dir),
            ..ProgressParams::default()
        }
    }
}

impl Tested {
    fn params(self) -> TestedParams {
        let Tested { elements, passed, failed, place: Place { page, app } } = self;
        TestedParams { elements, passed: (passed || failed).then_some(passed), page, app, ..TestedParams::default() }
    }
}

impl Group for Session {
    fn call(self, context: &Context) -> Call {
        match self {
            Session::Start(start) => Call::of::<SessionStart>(start.params()),
            Session::List(List { status, app, limit, cursor }) => Call::of::<SessionList>(ListParams { status, app, limit, cursor }),
            Session::Show => Call::of::<SessionShow>(ShowParams::default()),
            Session::End { file } => Call::of::<SessionEnd>(EndParams { file: path(file), ..EndParams::default() }),
            Session::Progress(progress) => Call::of::<SessionProgress>(progress.params()),
            Session::Resume { file } => Call::of::<SessionResume>(ResumeParams { file: path(file), ..ResumeParams::default() }),
            Session::Report { format, file } => {
                Call::of::<SessionReport>(ReportParams { format: Some(format), file: path(file), ..ReportParams::default() })
            }
            Session::Export { file } => Call::of::<SessionExport>(ExportParams { file: path(file), ..ExportParams::default() }),
            Session::Coverage { app } => Call::of::<SessionCoverage>(CoverageParams { app, ..CoverageParams::default() }),
            Session::Tested(tested) => Call::of::<TestedMark>(tested.params()),
            Session::Task(task) => task.call(context),
            Session::Bug(bug) => bug.call(context),
            Session::Result(result) => result.call(context),
        }
    }
}
