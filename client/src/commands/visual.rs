//! `visual`

use clap::{Args, Subcommand, ValueEnum};

use super::{Call, absolute, read_list};
use crate::outcome::Failure;

/// What screens are made of, and how to get from one to another.
#[derive(Debug, Subcommand)]
pub enum Visual {
    /// Learn the screen now; settled observations teach by themselves unless visual.learn is off
    Learn(Learn),
    /// Find components on the screen by what they look like
    Match(Match),
    /// Components of an app or site
    #[command(alias = "list")]
    Components(Components),
    /// States of an app or site
    States(States),
    /// What leads from state to state
    Transitions(Transitions),
    /// The way to a state, or to the page of a component
    Path(Path),
    /// Draw the state graph
    Graph(Graph),
    /// Rename a component or a state
    Rename(Rename),
    /// Delete a component or a state
    Delete(Delete),
    /// Take away components that are dynamic text
    Cleanup(Cleanup),
    /// What was forgotten, merged, renamed and deleted, newest first
    History(History),
    /// Undo a change
    Undo(Undo),
    /// Take over the files of the tool that this memory comes from
    Import(Import),
    /// Write the files of that tool
    Export(Export),
}

/// What it is about; by default the page that the session saw last.
#[derive(Debug, Args)]
pub struct Scope {
    /// Package or program
    #[arg(long)]
    app: Option<String>,
    /// Site in a browser: its name, its host, or a URL
    #[arg(long)]
    site: Option<String>,
}

impl Scope {
    fn on(&self, call: Call) -> Call {
        call.maybe("app", self.app.clone()).maybe("site", self.site.clone())
    }
}

/// Options of `learn`.
#[derive(Debug, Args)]
pub struct Learn {
    #[command(flatten)]
    scope: Scope,
    /// What to call the page
    #[arg(long)]
    page: Option<String>,
    /// Detections as JSON: a file, or - for standard input
    #[arg(long, value_name = "FILE")]
    detections: Option<String>,
    /// Run the detector of the settings (visual.detector) on a picture of the screen
    #[arg(long, conflicts_with = "detections")]
    detect: bool,
    /// The picture that the detections are of, or that the detector is run on, instead of the screen
    #[arg(long, value_name = "FILE")]
    picture: Option<String>,
    /// Keep a picture of the page and of each component that has none
    #[arg(long)]
    pictures: bool,
    /// Forget components that were missed so often in a row; kept for this app or site
    #[arg(long, value_name = "N")]
    forget_threshold: Option<u32>,
}

/// Options of `match`.
#[derive(Debug, Args)]
pub struct Match {
    #[command(flatten)]
    scope: Scope,
    /// Only components of this state: its id or name
    #[arg(long)]
    state: Option<String>,
    /// Only this component; may be given several times
    #[arg(long, value_name = "NAME")]
    component: Vec<String>,
    /// Look at this picture instead of the screen
    #[arg(long, value_name = "FILE")]
    picture: Option<String>,
}

/// Options of `components`.
#[derive(Debug, Args)]
pub struct Components {
    #[command(flatten)]
    scope: Scope,
    /// Only those without a label or a name of their own
    #[arg(long)]
    unlabelled: bool,
    /// Only those of this state: its id or name
    #[arg(long)]
    state: Option<String>,
    /// Only those whose name or label contains this
    #[arg(long)]
    query: Option<String>,
    /// At most this many [default: 100]
    #[arg(long)]
    limit: Option<u32>,
    /// Go on where the previous answer ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<i64>,
}

/// Options of `states`.
#[derive(Debug, Args)]
pub struct States {
    #[command(flatten)]
    scope: Scope,
    /// Also those that were seen once and are not defined yet
    #[arg(long)]
    all: bool,
}

/// Options of `transitions`.
#[derive(Debug, Args)]
pub struct Transitions {
    #[command(flatten)]
    scope: Scope,
    /// Only those that begin at this state: its id or name
    #[arg(long)]
    from: Option<String>,
}

/// Options of `path`.
#[derive(Debug, Args)]
pub struct Path {
    #[command(flatten)]
    scope: Scope,
    /// Where it begins: id or name of a state, or a component; by default the page that the session saw last
    #[arg(long, alias = "component")]
    from: Option<String>,
    /// The goal: id or name of a state, a component, or a text on the page
    #[arg(long, alias = "contact")]
    to: String,
    /// The fewest steps, whatever their chance
    #[arg(long)]
    shortest: bool,
    /// How many other ways to tell [default: 2]
    #[arg(long, value_name = "N")]
    alternatives: Option<u32>,
}

/// Options of `graph`.
#[derive(Debug, Args)]
pub struct Graph {
    #[command(flatten)]
    scope: Scope,
    /// How to draw it
    #[arg(long, value_enum, default_value_t = Format::Dot)]
    format: Format,
    /// Write it to this file
    #[arg(long, value_name = "FILE")]
    save_file: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For Graphviz
    Dot,
    /// For Markdown pages
    Mermaid,
    /// A picture
    Svg,
}

/// Options of `rename`.
#[derive(Debug, Args)]
pub struct Rename {
    #[command(flatten)]
    scope: Scope,
    /// Name of a component, or id or name of a state
    #[arg(long)]
    old: String,
    /// Its new name
    #[arg(long)]
    new: String,
}

/// Options of `delete`.
#[derive(Debug, Args)]
pub struct Delete {
    #[command(flatten)]
    scope: Scope,
    /// Name of a component
    #[arg(long, required_unless_present = "state", conflicts_with = "state")]
    component: Option<String>,
    /// Id or name of a state
    #[arg(long)]
    state: Option<String>,
}

/// Options of `cleanup`.
#[derive(Debug, Args)]
pub struct Cleanup {
    #[command(flatten)]
    scope: Scope,
    /// Only tell what would go
    #[arg(long)]
    dry_run: bool,
}

/// Options of `history`.
#[derive(Debug, Args)]
pub struct History {
    #[command(flatten)]
    scope: Scope,
    /// At most this many [default: 20]
    #[arg(long)]
    limit: Option<u32>,
    /// Go on where the previous answer ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<i64>,
}

/// Options of `undo`.
#[derive(Debug, Args)]
pub struct Undo {
    #[command(flatten)]
    scope: Scope,
    /// Number of the change; by default the newest that was not undone
    #[arg(long, value_name = "N")]
    id: Option<i64>,
}

/// Options of `import`.
#[derive(Debug, Args)]
pub struct Import {
    /// Directory of an app, or of several; nothing in it is changed
    #[arg(value_name = "DIR")]
    dir: String,
    /// What to call the app
    #[arg(long)]
    app: Option<String>,
    /// Tell what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
}

/// Options of `export`.
#[derive(Debug, Args)]
pub struct Export {
    /// Directory to write into
    #[arg(value_name = "DIR")]
    dir: String,
    /// Only this app, with its sites
    #[arg(long)]
    app: Option<String>,
    /// Only this site of it
    #[arg(long, requires = "app")]
    site: Option<String>,
}

impl Visual {
    /// The verb, as it is typed.
    pub fn verb(&self) -> &'static str {
        match self {
            Visual::Learn(_) => "learn",
            Visual::Match(_) => "match",
            Visual::Components(_) => "components",
            Visual::States(_) => "states",
            Visual::Transitions(_) => "transitions",
            Visual::Path(_) => "path",
            Visual::Graph(_) => "graph",
            Visual::Rename(_) => "rename",
            Visual::Delete(_) => "delete",
            Visual::Cleanup(_) => "cleanup",
            Visual::History(_) => "history",
            Visual::Undo(_) => "undo",
            Visual::Import(_) => "import",
            Visual::Export(_) => "export",
        }
    }

    /// The call.
    ///
    /// # Errors
    /// When the detections cannot be read.
    pub fn call(&self) -> Result<Call, Failure> {
        Ok(match self {
            Visual::Learn(l) => l
                .scope
                .on(Call::new("visual.learn"))
                .maybe("page", l.page.clone())
                .maybe("detections", l.detections.as_deref().map(|file| read_list("--detections", file)).transpose()?)
                .maybe("detect", l.detect.then_some(true))
                .maybe("picture", l.picture.as_deref().map(absolute))
                .maybe("pictures", l.pictures.then_some(true))
                .maybe("forgetThreshold", l.forget_threshold),
            Visual::Match(m) => m
                .scope
                .on(Call::new("visual.match"))
                .maybe("state", m.state.clone())
                .maybe("components", (!m.component.is_empty()).then(|| m.component.clone()))
                .maybe("picture", m.picture.as_deref().map(absolute)),
            Visual::Components(c) => c
                .scope
                .on(Call::new("visual.components"))
                .maybe("unlabelled", c.unlabelled.then_some(true))
                .maybe("state", c.state.clone())
                .maybe("query", c.query.clone())
                .maybe("limit", c.limit)
                .maybe("cursor", c.cursor),
            Visual::States(s) => s.scope.on(Call::new("visual.states")).maybe("all", s.all.then_some(true)),
            Visual::Transitions(t) => t.scope.on(Call::new("visual.transitions")).maybe("from", t.from.clone()),
            Visual::Path(p) => p
                .scope
                .on(Call::new("visual.path"))
                .maybe("from", p.from.clone())
                .with("to", p.to.clone())
                .maybe("shortest", p.shortest.then_some(true))
                .maybe("alternatives", p.alternatives),
            Visual::Graph(g) => {
                let format = match g.format {
                    Format::Dot => "dot",
                    Format::Mermaid => "mermaid",
                    Format::Svg => "svg",
                };
                let file = g.save_file.as_deref().map(absolute);
                g.scope.on(Call::new("visual.graph")).with("format", format).maybe("saveFile", file)
            }
            Visual::Rename(r) => r.scope.on(Call::new("visual.rename")).with("old", r.old.clone()).with("new", r.new.clone()),
            Visual::Delete(d) => {
                d.scope.on(Call::new("visual.delete")).maybe("component", d.component.clone()).maybe("state", d.state.clone())
            }
            Visual::Cleanup(c) => c.scope.on(Call::new("visual.cleanup")).maybe("dryRun", c.dry_run.then_some(true)),
            Visual::History(h) => h.scope.on(Call::new("visual.history")).maybe("limit", h.limit).maybe("cursor", h.cursor),
            Visual::Undo(u) => u.scope.on(Call::new("visual.undo")).maybe("id", u.id),
            Visual::Import(i) => Call::new("visual.import")
                .with("dir", absolute(&i.dir))
                .maybe("app", i.app.clone())
                .maybe("dryRun", i.dry_run.then_some(true)),
            Visual::Export(e) => {
                Call::new("visual.export").with("dir", absolute(&e.dir)).maybe("app", e.app.clone()).maybe("site", e.site.clone())
            }
        })
    }
}
