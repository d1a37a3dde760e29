//! The `visual` commands.

use afd_proto::files::{ExportParams, ImportParams, VisualExport, VisualImport};
use afd_proto::graph::{
    GraphFormat, GraphParams, PathParams, TransitionsParams, VisualGraph, VisualPath, VisualTransitions,
};
use afd_proto::history::{DeleteParams, HistoryParams, UndoParams, VisualDelete, VisualHistory, VisualUndo};
use afd_proto::template_match::{MatchParams, VisualMatch};
use afd_proto::visual::{
    CleanupParams, ComponentsParams, LearnParams, RenameParams, StatesParams, VisualCleanup, VisualComponents,
    VisualLearn, VisualRename, VisualStates,
};
use clap::{Args, Subcommand};

use super::{Call, Group, absolute, non_empty, read_list};
use afd_link::options::Context;
use afd_link::outcome::Failure;

/// Learned components and states of screens, and paths between them.
#[derive(Debug, Subcommand)]
pub enum Visual {
    /// Learn the current screen; settled observations are learned automatically unless visual.learn is off
    Learn(Learn),
    /// Find components on the screen by their pictures
    Match(Match),
    /// List the learned components of an app or site
    #[command(alias = "list")]
    Components(Components),
    /// List the learned states of an app or site
    States(States),
    /// List the transitions between states
    Transitions(Transitions),
    /// Find the path to a state, or to the page of a component
    Path(Path),
    /// Draw the state graph
    Graph(Graph),
    /// Rename a component or a state
    Rename(Rename),
    /// Delete a component or a state
    Delete(Delete),
    /// Remove components that are dynamic text
    Cleanup(Cleanup),
    /// List the items that were forgotten, merged, renamed or deleted, newest first
    History(History),
    /// Undo a change that `visual history` lists
    Undo(Undo),
    /// Import visual memory files, in the format of the original tool
    Import(Import),
    /// Export visual memory files, in the format of the original tool
    Export(Export),
}

/// App and site; by default those of the page the session observed last.
#[derive(Debug, Args)]
pub struct Scope {
    /// App by its package or program name
    #[arg(long)]
    app: Option<String>,
    /// Site in a browser, by its name, host or URL
    #[arg(long)]
    site: Option<String>,
}

/// Options for `learn`.
#[derive(Debug, Args)]
pub struct Learn {
    #[command(flatten)]
    scope: Scope,
    /// Name for the page
    #[arg(long)]
    page: Option<String>,
    /// File with detections as JSON; - for standard input
    #[arg(long, value_name = "FILE")]
    detections: Option<String>,
    /// Run the configured detector (visual.detector) on a picture of the screen
    #[arg(long, conflicts_with = "detections")]
    detect: bool,
    /// Picture that the detections belong to or the detector runs on, instead of the screen
    #[arg(long, value_name = "FILE")]
    picture: Option<String>,
    /// Store a picture of the page and of each component that has none
    #[arg(long)]
    pictures: bool,
    /// Number of consecutive misses after which a component is forgotten; saved for this app or site
    #[arg(long, value_name = "N")]
    forget_threshold: Option<u32>,
}

/// Options for `match`.
#[derive(Debug, Args)]
pub struct Match {
    #[command(flatten)]
    scope: Scope,
    /// Only components in this state, by id or name
    #[arg(long)]
    state: Option<String>,
    /// Only this component; repeatable
    #[arg(long, value_name = "NAME")]
    component: Vec<String>,
    /// Picture to search instead of the screen
    #[arg(long, value_name = "FILE")]
    picture: Option<String>,
}

/// Options for `components`.
#[derive(Debug, Args)]
pub struct Components {
    #[command(flatten)]
    scope: Scope,
    /// Only components without a label or a name of their own
    #[arg(long)]
    unlabelled: bool,
    /// Only components in this state, by id or name
    #[arg(long)]
    state: Option<String>,
    /// Only components whose name or label contains this text
    #[arg(long)]
    query: Option<String>,
    /// Maximum number of components
    #[arg(long)]
    limit: Option<u32>,
    /// Cursor from the previous page
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<i64>,
}

/// Options for `states`.
#[derive(Debug, Args)]
pub struct States {
    #[command(flatten)]
    scope: Scope,
    /// Include states that were seen only once and are not defined yet
    #[arg(long)]
    all: bool,
}

/// Options for `transitions`.
#[derive(Debug, Args)]
pub struct Transitions {
    #[command(flatten)]
    scope: Scope,
    /// Only transitions from this state, by id or name
    #[arg(long)]
    from: Option<String>,
}

/// Options for `path`.
#[derive(Debug, Args)]
pub struct Path {
    #[command(flatten)]
    scope: Scope,
    /// Where the path starts: id or name of a state, or a component [default: the page the session observed last]
    #[arg(long, alias = "component")]
    from: Option<String>,
    /// Where the path ends: id or name of a state, a component, or text on the page
    #[arg(long, alias = "contact")]
    to: String,
    /// Minimise the number of steps instead of maximising reliability
    #[arg(long)]
    shortest: bool,
    /// Maximum number of alternative paths
    #[arg(long, value_name = "N")]
    alternatives: Option<u32>,
}

/// Options for `graph`.
#[derive(Debug, Args)]
pub struct Graph {
    #[command(flatten)]
    scope: Scope,
    /// Output format of the graph
    #[arg(long, value_enum, default_value_t = GraphFormat::Dot)]
    format: GraphFormat,
    /// File to write the graph to
    #[arg(long, value_name = "FILE")]
    save_file: Option<String>,
}

/// Options for `rename`.
#[derive(Debug, Args)]
pub struct Rename {
    #[command(flatten)]
    scope: Scope,
    /// Current name of the component, or id or name of the state
    #[arg(long)]
    old: String,
    /// New name of the component or state
    #[arg(long)]
    new: String,
}

/// Options for `delete`.
#[derive(Debug, Args)]
pub struct Delete {
    #[command(flatten)]
    scope: Scope,
    /// Name of the component to delete
    #[arg(long, required_unless_present = "state", conflicts_with = "state")]
    component: Option<String>,
    /// Id or name of the state to delete
    #[arg(long)]
    state: Option<String>,
    /// Delete permanently, with its pictures and the records needed to undo it
    #[arg(long)]
    purge: bool,
}

/// Options for `cleanup`.
#[derive(Debug, Args)]
pub struct Cleanup {
    #[command(flatten)]
    scope: Scope,
    /// Print what would be removed without removing it
    #[arg(long)]
    dry_run: bool,
}

/// Options for `history`.
#[derive(Debug, Args)]
pub struct History {
    #[command(flatten)]
    scope: Scope,
    /// Maximum number of changes
    #[arg(long)]
    limit: Option<u32>,
    /// Cursor from the previous page
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<i64>,
}

/// Options for `undo`.
#[derive(Debug, Args)]
pub struct Undo {
    #[command(flatten)]
    scope: Scope,
    /// Number of the change [default: the newest that was not undone]
    #[arg(long, value_name = "N")]
    id: Option<i64>,
}

/// Options for `import`.
#[derive(Debug, Args)]
pub struct Import {
    /// Directory of one app, or of several apps; its files are not changed
    #[arg(value_name = "DIR")]
    dir: String,
    /// Name to give the imported app
    #[arg(long)]
    app: Option<String>,
    /// Print what would be imported without changing anything
    #[arg(long)]
    dry_run: bool,
}

/// Options for `export`.
#[derive(Debug, Args)]
pub struct Export {
    /// Directory to write the files to
    #[arg(value_name = "DIR")]
    dir: String,
    /// Only this app, with its sites
    #[arg(long)]
    app: Option<String>,
    /// Only this site of the app
    #[arg(long, requires = "app")]
    site: Option<String>,
}

impl Learn {
    fn params(self) -> Result<LearnParams, Failure> {
        Ok(LearnParams {
            app: self.scope.app,
            site: self.scope.site,
            page: self.page,
            detections: self.detections.map(|file| read_list("--detections", &file)).transpose()?,
            detect: self.detect,
            picture: self.picture.as_deref().map(absolute),
            pictures: self.pictures,
            forget_threshold: self.forget_threshold,
            ..LearnParams::default()
        })
    }
}

impl Match {
    fn params(self) -> MatchParams {
        let Match { scope: Scope { app, site }, state, component, picture } = self;
        MatchParams {
            app,
            site,
            state,
            components: non_empty(component),
            picture: picture.as_deref().map(absolute),
            ..MatchParams::default()
        }
    }
}

impl Components {
    fn params(self) -> ComponentsParams {
        let Components { scope: Scope { app, site }, unlabelled, state, query, limit, cursor } = self;
        ComponentsParams { app, site, unlabelled, state, query, limit, cursor, ..ComponentsParams::default() }
    }
}

impl Path {
    fn params(self) -> PathParams {
        let Path { scope: Scope { app, site }, from, to, shortest, alternatives } = self;
        PathParams { app, site, from, to, shortest, alternatives, ..PathParams::default() }
    }
}

impl Graph {
    fn params(self) -> GraphParams {
        let Graph { scope: Scope { app, site }, format, save_file } = self;
        GraphParams {
            app,
            site,
            format: Some(format),
            save_file: save_file.as_deref().map(absolute),
            ..GraphParams::default()
        }
    }
}

impl Delete {
    fn params(self) -> DeleteParams {
        let Delete { scope: Scope { app, site }, component, state, purge } = self;
        DeleteParams { app, site, component, state, purge, ..DeleteParams::default() }
    }
}

impl Group for Visual {
    fn call(self, _: &Context) -> Call {
        match self {
            Visual::Learn(learn) => Call::parsed::<VisualLearn>(learn.params()),
            Visual::Match(matching) => Call::of::<VisualMatch>(matching.params()),
            Visual::Components(components) => Call::of::<VisualComponents>(components.params()),
            Visual::States(States { scope: Scope { app, site }, all }) => {
                Call::of::<VisualStates>(StatesParams { app, site, all, ..StatesParams::default() })
            }
            Visual::Transitions(Transitions { scope: Scope { app, site }, from }) => {
                Call::of::<VisualTransitions>(TransitionsParams { app, site, from, ..TransitionsParams::default() })
            }
            Visual::Path(path) => Call::of::<VisualPath>(path.params()),
            Visual::Graph(graph) => Call::of::<VisualGraph>(graph.params()),
            Visual::Rename(Rename { scope: Scope { app, site }, old, new }) => {
                Call::plain::<VisualRename>(RenameParams { app, site, old, new, ..RenameParams::default() })
            }
            Visual::Delete(delete) => Call::of::<VisualDelete>(delete.params()),
            Visual::Cleanup(Cleanup { scope: Scope { app, site }, dry_run }) => {
                Call::of::<VisualCleanup>(CleanupParams { app, site, dry_run, ..CleanupParams::default() })
            }
            Visual::History(History { scope: Scope { app, site }, limit, cursor }) => {
                Call::of::<VisualHistory>(HistoryParams { app, site, limit, cursor, ..HistoryParams::default() })
            }
            Visual::Undo(Undo { scope: Scope { app, site }, id }) => {
                Call::of::<VisualUndo>(UndoParams { app, site, id, ..UndoParams::default() })
            }
            Visual::Import(Import { dir, app, dry_run }) => {
                Call::of::<VisualImport>(ImportParams { dir: absolute(&dir), app, dry_run, session: None })
            }
            Visual::Export(Export { dir, app, site }) => {
                Call::of::<VisualExport>(ExportParams { dir: absolute(&dir), app, site })
            }
        }
    }
}
