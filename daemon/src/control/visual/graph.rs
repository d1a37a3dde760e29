//! `visual.transitions`, `visual.path`, `visual.graph`

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::graph::{Drawn, GraphFormat, GraphParams, Path, PathParams, Route, Transition, Transitions, TransitionsParams};
use afd_proto::visual::{Dismissal, Interrupt, ScopeCall, States, StatesParams};
use afd_proto::vocabulary::{DEFAULT_SESSION, Hint, HintKind};
use rusqlite::Connection;

use super::super::artifacts::{Content, absolute};
use super::super::rows::count;
use super::super::{Call, Core, Error, Result};
use super::{about, find, short};
use crate::memory::{log, moves};
use crate::page::structure::Structure;
use crate::store::{Result as Stored, now_ms};
use crate::visual::graph::{self, Edge, Graph};
use crate::visual::path::{self, Wanted};
use crate::visual::scope::{self, Known};
use crate::visual::states::{self, State};
use crate::visual::{index, render};

pub(super) fn read(connection: &Connection, known: &Known) -> Stored<Graph> {
    let moves = moves::of_app(connection, &known.scope.app, now_ms())?;
    graph::read(connection, known.id, &moves)
}

async fn load(core: &Arc<Core>, known: &Known) -> Result<Graph> {
    let known = known.clone();
    Ok(core.store.read_all(move |c| read(c, &known)).await?)
}

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

fn transition(graph: &Graph, edge: &Edge) -> Transition {
    let code = |id: &i64| graph.states.get(id).and_then(|s| s.code.clone()).unwrap_or_default();
    let (from, to) = (code(&edge.from), code(&edge.to));
    Transition {
        key: format!("{from}|{}|{to}", edge.action),
        from,
        to,
        action: edge.action.clone(),
        target: edge.what.as_ref().and_then(|a| a.target.clone()),
        count: edge.count,
        attempts: edge.attempts,
        success_rate: rounded(edge.success_rate),
        probability: rounded(edge.probability),
        mean_ms: edge.mean_ms,
        last_used: edge.last_used,
    }
}

/// `visual.transitions`
///
/// # Errors
/// When nothing is known of the app or the state.
pub async fn transitions(core: &Arc<Core>, params: &TransitionsParams) -> Result<Transitions> {
    let known = find::scope(core, params.scope()).await?;
    let graph = load(core, &known).await?;
    let from = match &params.from {
        Some(given) => Some(find::state(graph.named(known.id), given).ok_or_else(|| find::no_state(graph.named(known.id), given))?.id),
        None => None,
    };
    let edges = graph.known_edges().filter(|e| from.is_none_or(|f| f == e.from));
    Ok(Transitions { about: about(&known), transitions: edges.map(|e| transition(&graph, e)).collect() })
}

/// `visual.states`
///
/// # Errors
/// When nothing is known of the app.
pub async fn states(core: &Arc<Core>, params: &StatesParams) -> Result<States> {
    let known = find::scope(core, params.scope()).await?;
    let (scope, all) = (known.clone(), params.all);
    let (graph, own, defining, hosts) = core
        .store
        .read_all(move |c| {
            Ok((read(c, &scope)?, states::list(c, scope.id, all)?, states::defining(c, scope.id)?, scope::hosts(c, scope.id)?))
        })
        .await?;
    let mut names: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    defining.into_iter().for_each(|(state, name)| names.entry(state).or_default().push(name));
    let states = own.into_iter().map(|s| wire(&graph, &s, names.remove(&s.id).unwrap_or_default())).collect();
    Ok(States { about: about(&known), hosts, states })
}

fn wire(graph: &Graph, state: &State, defining_components: Vec<String>) -> afd_proto::visual::State {
    let called = |id: &i64| graph.states.get(id).map(|s| s.called().to_owned());
    let interrupt = graph.interrupts.iter().find(|i| i.state == state.id).map(|i| Interrupt {
        over: i.over.iter().filter_map(called).collect(),
        dismissals: i
            .dismissals
            .iter()
            .map(|e| Dismissal { action: e.action.clone(), count: e.count, probability: rounded(e.probability) })
            .collect(),
    });
    afd_proto::visual::State {
        id: state.code.clone(),
        uid: state.uid.clone(),
        name: state.name.clone(),
        description: state.description.clone(),
        kind: state.kind,
        place: (!state.place.is_empty()).then(|| state.place.clone()),
        title: state.title.clone(),
        visit_count: state.visit_count,
        first_seen: state.first_seen,
        last_seen: state.last_seen,
        defining_components,
        visible_texts: state.texts.clone(),
        interrupt,
    }
}

impl Call {
    /// What takes a pop-up away, if the dialog in front is one that comes up anywhere.
    pub(in super::super) async fn way_out(&self, dialog: &Structure) -> Option<Hint> {
        let recognised = self.core.visual.recognise(dialog)?;
        let scope = index::of(dialog);
        let found = self.core.store.read(move |c| scope::find(c, &scope)?.map(|known| read(c, &known)).transpose()).await;
        let graph = found.map_err(|error| tracing::debug!(%error, "no way out")).ok().flatten()?;
        let interrupt = graph.interrupts.iter().find(|i| i.state == recognised.state)?;
        let way = interrupt.dismissals.first()?;
        Some(Hint {
            kind: HintKind::Interrupt,
            text: format!(
                "this comes up over {} pages; {} takes it away ({} of {})",
                interrupt.over.len(),
                way.action,
                way.count,
                way.attempts
            ),
            target: way.what.as_ref().and_then(|a| a.target.clone()),
            confidence: rounded(way.probability),
            evidence: graph.states.get(&interrupt.state).map(|s| s.uid.clone()).into_iter().collect(),
        })
    }
}

/// What a path is looked for in.
struct Ground {
    graph: Graph,
    start: Option<i64>,
    from: BTreeSet<i64>,
    goals: BTreeSet<i64>,
    components: BTreeMap<i64, BTreeSet<String>>,
}

fn ground(connection: &Connection, known: &Known, params: &PathParams, device: Option<&str>) -> Stored<Ground> {
    let graph = read(connection, known)?;
    let places: Vec<&State> = graph.named(known.id).collect();
    let goals = find::pages(connection, known.id, &places, &params.to)?;
    let from = match &params.from {
        Some(given) => find::pages(connection, known.id, &places, given)?,
        None => BTreeSet::new(),
    };
    let seen = log::context(connection, params.session.as_deref().unwrap_or(DEFAULT_SESSION), device)?;
    let start = match seen.observation_id.as_deref() {
        Some(uid) => find::seen_in(connection, uid)?.map(|s| s.id),
        None => None,
    };
    let mut components: BTreeMap<i64, BTreeSet<String>> = BTreeMap::new();
    for (state, name) in states::defining(connection, known.id)? {
        components.entry(state).or_default().insert(name);
    }
    Ok(Ground { graph, start, from, goals, components })
}

/// `visual.path`
///
/// # Errors
/// When nothing is known of the app, of where it begins, or of the goal.
pub async fn path(core: &Arc<Core>, params: &PathParams) -> Result<Path> {
    let others = params.alternatives.unwrap_or(2);
    if others > 10 {
        return Err(Error::param("alternatives", "at most 10", others));
    }
    let known = find::scope(core, params.scope()).await?;
    let device = params.device.as_deref().map(|d| core.devices.name_of(d));
    let (scope, asked) = (known.clone(), params.clone());
    let ground = core.store.read_all(move |c| ground(c, &scope, &asked, device.as_deref())).await?;
    let graph = &ground.graph;
    let from = match &params.from {
        Some(given) => *ground.from.first().ok_or_else(|| find::no_state(graph.named(known.id), given))?,
        None => ground.start.filter(|s| graph.states.contains_key(s)).ok_or_else(no_start)?,
    };
    if ground.goals.is_empty() {
        return Err(find::no_state(graph.named(known.id), &params.to));
    }
    let wanted = Wanted { from, goals: ground.goals.clone(), shortest: params.shortest, routes: others as usize + 1 };
    Ok(answer(&known, &ground, &wanted))
}

fn no_start() -> Error {
    Error::new(ErrorCode::NotFound, "the page that the session saw last is not a state that is known")
        .hint("name where it begins with `from`, or observe the page twice")
}

fn answer(known: &Known, ground: &Ground, wanted: &Wanted) -> Path {
    let graph = &ground.graph;
    let name = |id: i64| {
        graph.states.get(&id).map(short).unwrap_or_else(|| afd_proto::visual::StateRef { id: String::new(), name: "?".to_owned() })
    };
    let mut routes = path::routes(graph, wanted).into_iter();
    let best = routes.next();
    let goal = best.as_ref().and_then(|r| r.edges.last()).map(|e| e.to).or_else(|| best.as_ref().map(|_| wanted.from));
    let to = name(goal.or(wanted.goals.first().copied()).unwrap_or_default());
    let from = name(wanted.from);
    let wire = |r: path::Route<'_>| Route {
        steps: r.edges.iter().map(|e| transition(graph, e)).collect(),
        probability: rounded(r.probability),
        expected_ms: r.expected_ms,
    };
    let nearest = if best.is_none() { path::nearest(graph, wanted, &ground.components).map(name) } else { None };
    let text = match (&best, &nearest) {
        (Some(route), _) if route.edges.is_empty() => format!("already at {:?}", to.name),
        (Some(route), _) => {
            let steps: Vec<&str> = route.edges.iter().map(|e| e.action.as_str()).collect();
            format!("from {:?}: {}", from.name, steps.join(", then "))
        }
        (None, _) if wanted.goals.iter().all(|g| graph.is_interrupt(*g)) => {
            format!("{:?} is a pop-up: it comes up by itself, and is no place to go to", to.name)
        }
        (None, Some(near)) if near.id != from.id => {
            format!("no way from {:?} to {:?} is known; {:?} can be reached and is most like it", from.name, to.name, near.name)
        }
        (None, _) => format!("no way from {:?} to {:?} is known", from.name, to.name),
    };
    let interrupts = graph.interrupts.iter().filter_map(|i| graph.states.get(&i.state)).map(|s| self::wire(graph, s, Vec::new())).collect();
    Path {
        about: about(known),
        known: best.is_some(),
        from,
        to,
        text,
        route: best.map(wire),
        alternatives: routes.map(wire).collect(),
        nearest,
        interrupts,
    }
}

/// `visual.graph`
///
/// # Errors
/// When nothing is known of the app, or the file cannot be written.
pub async fn draw(core: &Arc<Core>, params: &GraphParams) -> Result<Drawn> {
    let known = find::scope(core, params.scope()).await?;
    let file = params.save_file.as_deref().map(|path| absolute("saveFile", path)).transpose()?;
    let graph = load(core, &known).await?;
    let format = params.format.unwrap_or(GraphFormat::Dot);
    let picture = render::Picture::of(&graph);
    let drawing = match format {
        GraphFormat::Dot => picture.dot(),
        GraphFormat::Mermaid => picture.mermaid(),
        GraphFormat::Svg => picture.svg(),
    };
    let artifact = match file {
        Some(file) => {
            let (mime_type, extension) = drawn(format);
            let bytes = drawing.clone().into_bytes();
            let content = Content { kind: "state_graph", mime_type, extension, op: "visual.graph", bytes };
            Some(core.save_for_session(params.session.as_deref().unwrap_or(DEFAULT_SESSION), content, "saveFile", Some(file)).await?)
        }
        None => None,
    };
    Ok(Drawn {
        about: about(&known),
        format,
        states: count(picture.states()),
        transitions: count(picture.edges()),
        graph: if artifact.is_some() { None } else { Some(drawing) },
        artifact,
    })
}

/// What a drawing is as a file: its media type and the end of its name.
fn drawn(format: GraphFormat) -> (&'static str, &'static str) {
    match format {
        GraphFormat::Dot => ("text/vnd.graphviz", "dot"),
        GraphFormat::Mermaid => ("text/plain", "mmd"),
        GraphFormat::Svg => ("image/svg+xml", "svg"),
    }
}
