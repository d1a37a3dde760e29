//! `visual.transitions`, `visual.states`, `visual.path`, `visual.graph`: queries on the graph of states and
//! transitions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::graph::{
    GraphFormat, GraphParams, Path, PathParams, RenderedGraph, Route, Transition, Transitions, TransitionsParams,
    VisualGraph, VisualPath, VisualTransitions,
};
use afd_proto::visual::{Dismissal, Interrupt, ScopeCall, States, StatesParams, VisualStates};
use afd_proto::vocabulary::{By, Hint, HintKind, Target, TargetSelector};

use super::{about, find, goal, state_ref};
use crate::app::artifacts::Content;
use crate::app::checks::absolute;
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::rows::count;
use crate::app::{Call, Core, Error, Methods, Result};
use afd_experience::memory::{log, outcomes};
use afd_experience::visual::graph::{self, Edge, Graph};
use afd_experience::visual::path::{self, RouteQuery};
use afd_experience::visual::scope::{self, Known, Scope};
use afd_experience::visual::states::{self, State};
use afd_experience::visual::{index, render};
use afd_screen::page::structure::Structure;
use afd_store::{Connection, Result as Stored, Store, now_ms};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<VisualStates, _, _>(|core, p| async move { states(&core, &p).await });
    methods.add::<VisualTransitions, _, _>(|core, p| async move { transitions(&core, &p).await });
    methods.add::<VisualPath, _, _>(|core, p| async move { path(&core, &p).await });
    methods.add::<VisualGraph, _, _>(|core, p| async move { draw(&core, &p).await });
}

/// Reads the graph of a scope.
pub(in crate::app) fn read(connection: &Connection, known: &Known) -> Stored<Graph> {
    let moves = outcomes::of_app(connection, &known.scope.app, now_ms())?;
    graph::read(connection, known.id, &moves)
}

/// Returns the app or site in front, or the one below a dialog.
pub(in crate::app) fn scope_in_front(capture: &ScreenCapture) -> Option<Scope> {
    capture.structures().map(|s| index::of(s.below.as_ref().unwrap_or(&s.front)))
}

/// An app or site, if it is known, and its graph.
pub(in crate::app) type Place = Option<(Known, Graph)>;

/// Returns what is known of an app or site.
pub(in crate::app) fn known_of(connection: &Connection, place: Option<&Scope>) -> Stored<Place> {
    let known = place.map(|place| scope::find(connection, place)).transpose()?.flatten();
    known.map(|known| read(connection, &known).map(|graph| (known, graph))).transpose()
}

async fn load(store: &Store, known: &Known) -> Result<Graph> {
    let known = known.clone();
    Ok(store.read_all(move |c| read(c, &known)).await?)
}

/// Rounds a value to three decimal places.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// Converts an edge to its wire type.
fn transition(graph: &Graph, edge: &Edge) -> Transition {
    let code = |id: &i64| graph.states.get(id).map(|s| s.reference().to_owned()).unwrap_or_default();
    let (from, to) = (code(&edge.from), code(&edge.to));
    let name = |id: &i64| graph.states.get(id).and_then(|s| s.name.clone().or_else(|| s.title.clone()));
    Transition {
        key: format!("{from}|{}|{to}", edge.action),
        from,
        to,
        from_name: name(&edge.from),
        to_name: name(&edge.to),
        action: edge.action.clone(),
        target: edge.what.as_ref().and_then(|a| a.target.clone()),
        selector: edge.what.as_ref().and_then(|a| a.target.as_ref()).and_then(selector_of),
        count: edge.count,
        attempts: edge.attempts,
        success_rate: rounded(edge.success_rate),
        probability: rounded(edge.probability),
        mean_ms: edge.mean_ms,
        last_used: edge.last_used,
    }
}

/// Returns the selector by which an action can find a target: its title, which is stable, else its label, else its id.
fn selector_of(target: &Target) -> Option<TargetSelector> {
    let by = |by, value: &Option<String>| {
        value.clone().filter(|v| !v.is_empty()).map(|v| TargetSelector {
            by: Some(by),
            value: Some(v),
            ..TargetSelector::default()
        })
    };
    by(By::Label, &target.title).or_else(|| by(By::Label, &target.label)).or_else(|| by(By::ResId, &target.res_id))
}

/// `visual.transitions`: lists the known transitions in a scope, or only the transitions from one state.
///
/// # Errors
/// `NOT_FOUND` if the app or the state is unknown.
pub async fn transitions(core: &Arc<Core>, params: &TransitionsParams) -> Result<Transitions> {
    let known = find::scope(core, params.scope()).await?;
    let graph = load(&core.store, &known).await?;
    let from = match &params.from {
        Some(given) => {
            let state = find::state(graph.named(known.id), "from", given)?;
            Some(state.ok_or_else(|| find::no_state(graph.named(known.id), given))?.id)
        }
        None => None,
    };
    let edges = graph.known_edges().filter(|e| from.is_none_or(|f| f == e.from));
    Ok(Transitions { about: about(&known), transitions: edges.map(|e| transition(&graph, e)).collect() })
}

/// `visual.states`: lists the states in a scope.
///
/// # Errors
/// `NOT_FOUND` if the app is unknown.
pub async fn states(core: &Arc<Core>, params: &StatesParams) -> Result<States> {
    let known = find::scope(core, params.scope()).await?;
    let (scope, all) = (known.clone(), params.all);
    let (graph, own, defining, hosts) = core
        .store
        .read_all(move |c| {
            Ok((
                read(c, &scope)?,
                states::list(c, scope.id, all)?,
                states::defining(c, scope.id)?,
                scope::hosts(c, scope.id)?,
            ))
        })
        .await?;
    let mut names: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    defining.into_iter().for_each(|(state, name)| names.entry(state).or_default().push(name));
    let states = own.into_iter().map(|s| state_to_wire(&graph, &s, names.remove(&s.id).unwrap_or_default())).collect();
    Ok(States { about: about(&known), hosts, states })
}

/// Converts a state to its wire type.
fn state_to_wire(graph: &Graph, state: &State, defining_components: Vec<String>) -> afd_proto::visual::State {
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
        origin: state.origin.clone(),
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
    /// Returns a hint on how to dismiss the foreground dialog, if it is a known interrupt: a pop-up that appears over
    /// several pages.
    pub(in super::super) async fn dismissal_hint(&self, dialog: &Structure) -> Option<Hint> {
        let recognised = self.core.experience.visual.recognise(dialog)?;
        let scope = index::of(dialog);
        let found =
            self.core.store.read(move |c| scope::find(c, &scope)?.map(|known| read(c, &known)).transpose()).await;
        let graph =
            found.map_err(|error| tracing::debug!(%error, "cannot look up how to dismiss a dialog")).ok().flatten()?;
        let interrupt = graph.interrupts.iter().find(|i| i.state == recognised.state)?;
        let dismissal = interrupt.dismissals.first()?;
        Some(Hint {
            kind: HintKind::Interrupt,
            text: format!(
                "this pop-up appears over {} pages; {} dismisses it ({} of {} attempts)",
                interrupt.over.len(),
                dismissal.action,
                dismissal.count,
                dismissal.attempts
            ),
            target: dismissal.what.as_ref().and_then(|a| a.target.clone()),
            first: None,
            selector: dismissal.what.as_ref().and_then(|a| a.target.as_ref()).and_then(selector_of),
            alias: None,
            outcome: None,
            confidence: rounded(dismissal.probability),
            evidence: graph.states.get(&interrupt.state).map(|s| s.uid.clone()).into_iter().collect(),
        })
    }
}

/// Data for a path search, read in one transaction.
struct PathContext {
    graph: Graph,
    /// State that the session observed last.
    start: Option<i64>,
    /// States that `from` refers to; empty if it was not given, an error if it is ambiguous.
    from: Result<BTreeSet<i64>>,
    /// States that `to` refers to; an error if it is ambiguous.
    goals: Result<BTreeSet<i64>>,
    /// Names of the defining components of each state.
    components: BTreeMap<i64, BTreeSet<String>>,
}

/// Reads the data for a path search.
fn path_context(
    connection: &Connection,
    known: &Known,
    params: &PathParams,
    device: Option<&str>,
) -> Stored<PathContext> {
    let graph = read(connection, known)?;
    let places: Vec<&State> = graph.states.values().filter(|s| s.app == known.id).collect();
    let goals = match find::state(places.iter().copied(), "to", &params.to) {
        Err(ambiguous) => Err(ambiguous),
        Ok(Some(state)) => Ok(BTreeSet::from([state.id])),
        Ok(None) => match goal::led_to(&graph, &params.to) {
            goals if goals.is_empty() => find::pages(connection, known.id, &places, "to", &params.to)?,
            goals => Ok(goals),
        },
    };
    let from = match &params.from {
        Some(given) => find::pages(connection, known.id, &places, "from", given)?,
        None => Ok(BTreeSet::new()),
    };
    let seen = log::context(connection, params.session(), device)?;
    let start = match seen.observation_id.as_deref() {
        Some(uid) => find::state_of_observation(connection, uid)?.map(|s| s.id),
        None => None,
    };
    let mut components: BTreeMap<i64, BTreeSet<String>> = BTreeMap::new();
    for (state, name) in states::defining(connection, known.id)? {
        components.entry(state).or_default().insert(name);
    }
    Ok(PathContext { graph, start, from, goals, components })
}

/// `visual.path`: finds routes between two states. The start is the state that the session observed last, unless `from`
/// is given.
///
/// # Errors
/// `NOT_FOUND` if the app, the start or the goal is unknown, `INVALID_PARAMS` if several states match the name given
/// for the start or the goal.
pub async fn path(core: &Arc<Core>, params: &PathParams) -> Result<Path> {
    let others = params.alternatives();
    let known = find::scope(core, params.scope()).await?;
    let device = params.device.as_deref().map(|d| core.devices.name_of(d));
    let (scope, asked) = (known.clone(), params.clone());
    let PathContext { graph, start, from, goals, components } =
        core.store.read_all(move |c| path_context(c, &scope, &asked, device.as_deref())).await?;
    let (named, goals) = (from?, goals?);
    let from = match &params.from {
        Some(given) => *named.first().ok_or_else(|| find::no_state(graph.named(known.id), given))?,
        None => start.filter(|s| graph.states.contains_key(s)).ok_or_else(no_start)?,
    };
    if goals.is_empty() {
        return Err(find::no_state(graph.named(known.id), &params.to));
    }
    let wanted = RouteQuery { from, goals, shortest: params.shortest, routes: others as usize + 1 };
    Ok(answer(&known, &graph, &components, &wanted))
}

fn no_start() -> Error {
    Error::new(ErrorCode::NotFound, "the page that the session observed last is not a known state")
        .hint("pass the starting state as `from`, or observe the page twice")
}

/// Searches for routes and describes the result, both as data and in words.
fn answer(known: &Known, graph: &Graph, components: &BTreeMap<i64, BTreeSet<String>>, wanted: &RouteQuery) -> Path {
    let name = |id: i64| {
        graph
            .states
            .get(&id)
            .map(state_ref)
            .unwrap_or_else(|| afd_proto::visual::StateRef { id: String::new(), name: "?".to_owned() })
    };
    let mut routes = path::routes(graph, wanted).into_iter();
    let best = routes.next();
    let goal = best.as_ref().and_then(|r| r.edges.last()).map(|e| e.to).or_else(|| best.as_ref().map(|_| wanted.from));
    let to = name(goal.or(wanted.goals.first().copied()).unwrap_or_default());
    let from = name(wanted.from);
    let route_to_wire = |r: path::Route<'_>| Route {
        steps: r.edges.iter().map(|e| transition(graph, e)).collect(),
        probability: rounded(r.probability),
        expected_ms: r.expected_ms,
    };
    let nearest = if best.is_none() { path::nearest(graph, wanted, components).map(name) } else { None };
    let text = match (&best, &nearest) {
        (Some(route), _) if route.edges.is_empty() => format!("already at {:?}", to.name),
        (Some(route), _) => {
            let steps: Vec<&str> = route.edges.iter().map(|e| e.action.as_str()).collect();
            format!("from {:?}: {}", from.name, steps.join(", then "))
        }
        (None, _) if wanted.goals.iter().all(|g| graph.is_interrupt(*g)) => {
            format!("{:?} is a pop-up: it appears on its own and cannot be navigated to", to.name)
        }
        (None, Some(near)) if near.id != from.id => {
            format!(
                "no known path from {:?} to {:?}; the most similar reachable state is {:?}",
                from.name, to.name, near.name
            )
        }
        (None, _) => format!("no known path from {:?} to {:?}", from.name, to.name),
    };
    let interrupts = graph
        .interrupts
        .iter()
        .filter_map(|i| graph.states.get(&i.state))
        .map(|s| state_to_wire(graph, s, Vec::new()))
        .collect();
    Path {
        about: about(known),
        known: best.is_some(),
        from,
        to,
        text,
        route: best.map(route_to_wire),
        alternatives: routes.map(route_to_wire).collect(),
        nearest,
        interrupts,
    }
}

/// `visual.graph`: renders the graph as DOT (the default), Mermaid or SVG, returned inline or saved to a file.
///
/// # Errors
/// `NOT_FOUND` if the app is unknown, or another error if the file cannot be written.
pub async fn draw(core: &Arc<Core>, params: &GraphParams) -> Result<RenderedGraph> {
    let known = find::scope(core, params.scope()).await?;
    let file = params.save_file.as_deref().map(|path| absolute("saveFile", path)).transpose()?;
    let graph = load(&core.store, &known).await?;
    let format = params.format.unwrap_or(GraphFormat::Dot);
    let picture = render::Picture::of(&graph);
    let drawing = match format {
        GraphFormat::Dot => picture.dot(),
        GraphFormat::Mermaid => picture.mermaid(),
        GraphFormat::Svg => picture.svg(),
    };
    let artifact = match file {
        Some(file) => {
            let (mime_type, extension) = file_type(format);
            let bytes = drawing.clone().into_bytes();
            let content = Content { kind: "state_graph", mime_type, extension, op: "visual.graph", bytes };
            let session = params.session();
            core.sessions.row(&core.store, session).await?;
            Some(core.save_for_session(session, content, "saveFile", Some(file)).await?)
        }
        None => None,
    };
    Ok(RenderedGraph {
        about: about(&known),
        format,
        states: count(picture.states()),
        transitions: count(picture.edges()),
        graph: if artifact.is_some() { None } else { Some(drawing) },
        artifact,
    })
}

/// Returns the media type and file extension of a graph format.
fn file_type(format: GraphFormat) -> (&'static str, &'static str) {
    match format {
        GraphFormat::Dot => ("text/vnd.graphviz", "dot"),
        GraphFormat::Mermaid => ("text/plain", "mmd"),
        GraphFormat::Svg => ("image/svg+xml", "svg"),
    }
}
