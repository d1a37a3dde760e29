//! The `session` commands.

use afd_proto::coverage::{CoverageParams, SessionCoverage};
use afd_proto::findings::{TestedMark, TestedParams};
use afd_proto::progress::{ProgressParams, ResumeParams, SessionProgress, SessionResume};
use afd_proto::session::{
    DeleteParams, EndParams, ListParams, ReportFormat, ReportParams, SessionDelete, SessionEnd, SessionList,
    SessionReport, SessionShow, SessionStart, SessionStatus, SessionUpdate, ShowParams, StartParams, UpdateParams,
};
use afd_proto::transfer::{ExportFormat, ExportParams, ImportParams, SessionExport, SessionImport};
use afd_proto::vocabulary::RecordScope;
use clap::{Args, Subcommand};

use super::findings::{Bug, Place, Task, TestResult};
use super::{Call, Group, absolute, map, non_empty, pair};
use afd_link::options::Context;

/// Test sessions: goal, tasks, findings, progress, resume. --session selects the session.
#[derive(Debug, Subcommand)]
pub enum Session {
    /// Start a session with its goal and tasks
    Start(Start),
    /// List sessions, newest first
    List(List),
    /// Show a session's summary, statistics, tasks, bugs and pages
    Show,
    /// End the session: compact its conversation, write the final summary, progress files and report
    End {
        /// File to write the report to [default: stored as an artifact]
        #[arg(long, value_name = "FILE")]
        file: Option<String>,
    },
    /// Write the progress files, and set next steps and blockers
    Progress(Progress),
    /// Resume a session: return the prompt for the language model
    Resume {
        /// Progress file to restore the session from if it is not in this database
        #[arg(long, value_name = "FILE")]
        file: Option<String>,
    },
    /// Write a report with screenshots
    Report {
        /// Report format [default: from the file extension, else html]
        #[arg(long, value_enum)]
        format: Option<ReportFormat>,
        /// File to write the report to [default: stored as an artifact]
        #[arg(long, value_name = "FILE")]
        file: Option<String>,
    },
    /// Rename a session, or change its goal or app
    Update {
        /// New name of the session
        #[arg(long)]
        name: Option<String>,
        /// New goal of the session; an empty value removes it
        #[arg(long)]
        goal: Option<String>,
        /// New package of the app under test; an empty value removes it
        #[arg(long)]
        app: Option<String>,
        /// Visibility of the session's digest and, by default, of what the session records from now on
        #[arg(long, value_enum)]
        scope: Option<RecordScope>,
    },
    /// Delete a session with its messages and everything derived from them
    Delete {
        /// Also delete the session's bugs, test results and notes
        #[arg(long)]
        findings: bool,
    },
    /// Import a session from a file written by `export --format lines`
    Import {
        /// File to import the session from
        file: String,
        /// Name for the session [default: the name in the file]
        #[arg(long)]
        name: Option<String>,
        /// Merge new and newer records into a session that already exists here
        #[arg(long)]
        merge: bool,
    },
    /// Export everything about a session, as one JSON document or as lines for `session import`
    Export {
        /// Format of the export
        #[arg(long, value_enum, default_value_t = ExportFormat::Document)]
        format: ExportFormat,
        /// File to write the export to
        #[arg(long, value_name = "FILE")]
        file: Option<String>,
    },
    /// Show which of the known pages and elements were tested
    Coverage {
        /// Package of the app [default: the app of the session, else its most used app]
        #[arg(long)]
        app: Option<String>,
    },
    /// Mark elements as tested
    Tested(Tested),
    /// Manage tasks
    #[command(subcommand)]
    Task(Task),
    /// Report and list bugs
    #[command(subcommand)]
    Bug(Bug),
    /// Record and list test results
    #[command(subcommand)]
    Result(TestResult),
}

/// Options for `start`.
#[derive(Debug, Args)]
pub struct Start {
    /// Goal of the session
    #[arg(long)]
    goal: Option<String>,
    /// Package of the app under test
    #[arg(long)]
    app: Option<String>,
    /// Working directory whose git state is included in the progress files
    #[arg(long, value_name = "DIR")]
    directory: Option<String>,
    /// The agent's language model, or a tokenizer such as o200k_base
    #[arg(long)]
    model: Option<String>,
    /// Size of the model's context in tokens
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Context key to track; repeatable
    #[arg(long, value_name = "KEY")]
    track: Vec<String>,
    /// Context key to set, with its value; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    context: Vec<(String, String)>,
    /// Description of a task to queue; repeatable
    #[arg(long, value_name = "TEXT")]
    task: Vec<String>,
    /// Write progress files on every change
    #[arg(long)]
    auto_progress: bool,
    /// Directory to write the progress files to
    #[arg(long, value_name = "DIR")]
    progress_dir: Option<String>,
    /// Visibility of the session's digest and, by default, its records: everyone who uses the app, or only the session
    #[arg(long, value_enum)]
    scope: Option<RecordScope>,
}

/// Makes an optional path absolute.
fn absolute_if_given(path: Option<String>) -> Option<String> {
    path.as_deref().map(absolute)
}

/// Options for `list`.
#[derive(Debug, Args)]
pub struct List {
    /// Only active or only ended sessions
    #[arg(long, value_enum)]
    status: Option<SessionStatus>,
    /// Only sessions for this package
    #[arg(long)]
    app: Option<String>,
    /// Maximum number of sessions
    #[arg(long)]
    limit: Option<u32>,
    /// Cursor from the previous page
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<i64>,
}

/// Options for `progress`.
#[derive(Debug, Args)]
pub struct Progress {
    /// Next step for the session; repeatable; replaces the previous next steps
    #[arg(long, value_name = "TEXT")]
    next_step: Vec<String>,
    /// What blocks the session; repeatable; replaces the previous blockers
    #[arg(long, value_name = "TEXT")]
    blocker: Vec<String>,
    /// Remove all blockers
    #[arg(long, conflicts_with = "blocker")]
    no_blockers: bool,
    /// Working directory whose git state is included in the progress files
    #[arg(long, value_name = "DIR")]
    directory: Option<String>,
    /// Whether to write the progress files on every change from now on
    #[arg(long, value_name = "BOOL")]
    auto: Option<bool>,
    /// Directory to write the progress files to
    #[arg(long, value_name = "DIR")]
    dir: Option<String>,
}

/// Options for `tested`.
#[derive(Debug, Args)]
pub struct Tested {
    /// Elements that were tested, by component name, resource id or label
    #[arg(required = true)]
    elements: Vec<String>,
    /// Accept elements that are on no known page
    #[arg(long)]
    new: bool,
    /// Record that an assertion about the elements held
    #[arg(long)]
    passed: bool,
    /// Record that an assertion about the elements failed
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
            directory: absolute_if_given(self.directory),
            model: self.model,
            max_tokens: self.max_tokens,
            tracked_keys: self.track,
            context: map(self.context),
            tasks: self.task,
            auto_progress: self.auto_progress,
            progress_dir: absolute_if_given(self.progress_dir),
            scope: self.scope,
            ..StartParams::default()
        }
    }
}

impl Progress {
    fn params(self) -> ProgressParams {
        ProgressParams {
            next_steps: non_empty(self.next_step),
            blockers: if self.no_blockers { Some(Vec::new()) } else { non_empty(self.blocker) },
            directory: absolute_if_given(self.directory),
            auto: self.auto,
            dir: absolute_if_given(self.dir),
            ..ProgressParams::default()
        }
    }
}

impl Tested {
    fn params(self) -> TestedParams {
        let Tested { elements, new, passed, failed, place: Place { page, app } } = self;
        TestedParams {
            elements,
            new,
            passed: (passed || failed).then_some(passed),
            page,
            app,
            ..TestedParams::default()
        }
    }
}

impl Group for Session {
    fn call(self, context: &Context) -> Call {
        match self {
            Session::Start(start) => Call::of::<SessionStart>(start.params()),
            Session::List(List { status, app, limit, cursor }) => {
                Call::of::<SessionList>(ListParams { status, app, limit, cursor })
            }
            Session::Show => Call::of::<SessionShow>(ShowParams::default()),
            Session::End { file } => {
                Call::of::<SessionEnd>(EndParams { file: absolute_if_given(file), ..EndParams::default() })
            }
            Session::Progress(progress) => Call::of::<SessionProgress>(progress.params()),
            Session::Resume { file } => {
                Call::of::<SessionResume>(ResumeParams { file: absolute_if_given(file), ..ResumeParams::default() })
            }
            Session::Report { format, file } => Call::of::<SessionReport>(ReportParams {
                format,
                file: absolute_if_given(file),
                ..ReportParams::default()
            }),
            Session::Update { name, goal, app, scope } => {
                Call::of::<SessionUpdate>(UpdateParams { name, goal, app, scope, ..UpdateParams::default() })
            }
            Session::Delete { findings } => {
                Call::of::<SessionDelete>(DeleteParams { findings, ..DeleteParams::default() })
            }
            Session::Import { file, name, merge } => {
                Call::of::<SessionImport>(ImportParams { file: absolute(&file), name, merge })
            }
            Session::Export { format, file } => Call::of::<SessionExport>(ExportParams {
                format: Some(format),
                file: absolute_if_given(file),
                ..ExportParams::default()
            }),
            Session::Coverage { app } => {
                Call::of::<SessionCoverage>(CoverageParams { app, ..CoverageParams::default() })
            }
            Session::Tested(tested) => Call::of::<TestedMark>(tested.params()),
            Session::Task(task) => task.call(context),
            Session::Bug(bug) => bug.call(context),
            Session::Result(result) => result.call(context),
        }
    }
}
