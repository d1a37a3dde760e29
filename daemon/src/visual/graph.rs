//! The state graph: states laid over the moves that memory counted, and over edges that were imported.
//!
//! A pop-up that came up over several pages is no place to go: it is an interrupt. What led to it counts as having led to the
//! page under it, and what leads out of it is how it is dismissed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use afd_proto::visual::StateKind;
use afd_proto::vocabulary::Verb;
use rusqlite::{Connection, named_params};

use super::states::{self, State};
use crate::page::moves::Move;
use crate::page::target;
use crate::store::Result;

/// A dialog that came up over so many pages, and not by one action only, is an interrupt.
const INTERRUPTS: usize = 3;

/// What came by waiting so often did so by itself; once may have been somebody's hand.
const BY_ITSELF: i64 = 2;

/// What leads from one state to another.
#[derive(Debug, Clone)]
pub struct Edge {
    /// Row of the state.
    pub from: i64,
    /// Row of the state.
    pub to: i64,
    /// What two actions that do the same have in common.
    pub action_key: String,
    /// What is done, in words.
    pub action: String,
    /// The same as data, when events told it.
    pub what: Option<afd_proto::vocabulary::Action>,
    /// How often it led there.
    pub count: i64,
    /// How often the action was tried on that state, failures and other outcomes included.
    pub attempts: i64,
    /// The part of the tries that led there, older ones weighing less.
    pub success_rate: f64,
    /// The same, pulled towards one half while little is known (Beta counts from 1 and 1).
    pub probability: f64,
    /// How long it took on average, milliseconds; `None` when nobody measured it.
    pub mean_ms: Option<i64>,
    /// When it led there last, UTC milliseconds.
    pub last_used: Option<i64>,
    /// Other members of the file that it came from, as JSON.
    pub extra: Option<String>,
}

/// A pop-up that comes up anywhere.
#[derive(Debug, Clone)]
pub struct Interrupt {
    /// Row of the state.
    pub state: i64,
    /// The states that it came up over.
    pub over: Vec<i64>,
    /// What takes it away, the surest first.
    pub dismissals: Vec<Edge>,
}

/// An edge that came with an imported memory.
#[derive(Debug, Clone)]
pub struct Imported {
    /// Row.
    pub id: i64,
    /// Row of the state.
    pub from: i64,
    /// As the file has it.
    pub action: String,
    /// Row of the state.
    pub to: i64,
    /// How often.
    pub count: i64,
    /// Success rate of the file.
    pub success_rate: f64,
    /// UTC milliseconds.
    pub last_used: Option<i64>,
    /// Other members, as JSON.
    pub extra: Option<String>,
}

/// States, edges and interrupts of a scope.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    /// By row, those of other scopes that edges lead to included.
    pub states: BTreeMap<i64, State>,
    /// In the order in which they were first seen.
    pub edges: Vec<Edge>,
    /// By row of the state.
    pub interrupts: Vec<Interrupt>,
}

/// The imported edges of a scope, in the order of their file.
///
/// # Errors
/// What SQLite says.
pub fn imported(connection: &Connection, app: i64) -> Result<Vec<Imported>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, from_state, action, to_state, count, success_rate, last_used, extra FROM imported_edges WHERE app_id = :app_id
            ORDER BY position",
    )?;
    let found = statement.query_map(named_params! {":app_id": app}, |row| {
        Ok(Imported {
            id: row.get("id")?,
            from: row.get("from_state")?,
            action: row.get("action")?,
            to: row.get("to_state")?,
            count: row.get("count")?,
            success_rate: row.get("success_rate")?,
            last_used: row.get("last_used")?,
            extra: row.get("extra")?,
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Reads the graph of a scope: its own states, and those that the moves lead to or come from.
///
/// # Errors
/// What SQLite says.
pub fn read(connection: &Connection, app: i64, moves: &[Move]) -> Result<Graph> {
    let mut states: BTreeMap<i64, State> = states::list(connection, app, true)?.into_iter().map(|s| (s.id, s)).collect();
    let keys: BTreeSet<&str> = moves.iter().flat_map(|m| [Some(m.from.as_str()), m.to.as_deref(), m.below.as_deref()]).flatten().collect();
    let by_key: HashMap<String, i64> = states::by_structure(connection, &keys.into_iter().collect::<Vec<_>>())?.into_iter().collect();
    for id in by_key.values() {
        if !states.contains_key(id)
            && let Some(state) = states::get(connection, *id)?
        {
            states.insert(*id, state);
        }
    }
    let own = parts_of_dialogs(connection, &states)?;
    let mut graph = build(states, &by_key, moves, &imported(connection, app)?, &own);
    graph.keep_to(app);
    Ok(graph)
}

/// The labels and resource ids of what belongs to each dialog.
fn parts_of_dialogs(connection: &Connection, states: &BTreeMap<i64, State>) -> Result<HashMap<i64, BTreeSet<String>>> {
    let mut statement = connection.prepare_cached(
        "SELECT c.label, c.res_id FROM state_components sc JOIN components c ON c.id = sc.component_id WHERE sc.state_id = :state",
    )?;
    let mut parts: HashMap<i64, BTreeSet<String>> = HashMap::new();
    for state in states.values().filter(|s| s.kind == StateKind::Dialog) {
        let mut rows = statement.query(named_params! {":state": state.id})?;
        while let Some(row) = rows.next()? {
            let known = [row.get::<_, Option<String>>("label")?, row.get("res_id")?];
            parts.entry(state.id).or_default().extend(known.into_iter().flatten());
        }
    }
    Ok(parts)
}

/// Whether an action was done to the dialog itself, or to nothing in particular. A tap beside it may take it away too, but what
/// was tapped there is not there the next time.
fn is_part(way: &Edge, parts: Option<&BTreeSet<String>>) -> bool {
    let Some(action) = &way.what else { return false };
    let has = |text: Option<&String>| text.is_some_and(|t| parts.is_some_and(|p| p.contains(t)));
    match &action.target {
        // Ids of the system stand for other buttons in other dialogs: there the words count.
        Some(target) => has(target.label.as_ref()) || (target.label.is_none() && has(target.res_id.as_ref())),
        None => action.point.is_none() && action.verb != Verb::Wait,
    }
}

/// What was counted for an action on a state.
#[derive(Default)]
struct Tried<'a> {
    attempts: i64,
    weight: f64,
    outcomes: BTreeMap<i64, Outcome<'a>>,
    order: Vec<i64>,
}

struct Outcome<'a> {
    sample: &'a Move,
    count: i64,
    weight: f64,
    duration_ms: i64,
    last_at: i64,
}

/// What was tried where, and what came of it, in the order of the first try.
type Tries<'a> = (Vec<(i64, &'a str)>, HashMap<(i64, &'a str), Tried<'a>>);

fn tally<'a>(moves: &'a [Move], state_of: &impl Fn(&str) -> Option<i64>, interrupting: &BTreeMap<i64, BTreeSet<i64>>) -> Tries<'a> {
    let mut order: Vec<(i64, &str)> = Vec::new();
    let mut tried: HashMap<(i64, &str), Tried<'a>> = HashMap::new();
    for m in moves {
        let Some(from) = state_of(&m.from) else { continue };
        let entry = tried.entry((from, m.action_key.as_str())).or_insert_with(|| {
            order.push((from, m.action_key.as_str()));
            Tried::default()
        });
        entry.attempts += m.successes + m.failures;
        entry.weight += m.success_weight + m.failure_weight;
        let Some(to) = m.to.as_deref().and_then(state_of) else { continue };
        // What ended in an interrupt led to the page that this lies over.
        let to = if interrupting.contains_key(&to) { m.below.as_deref().and_then(state_of) } else { Some(to) };
        let Some(to) = to.filter(|to| !(m.action.verb == Verb::Wait && *to == from)) else { continue };
        if !entry.outcomes.contains_key(&to) {
            entry.order.push(to);
        }
        let outcome = entry.outcomes.entry(to).or_insert(Outcome { sample: m, count: 0, weight: 0.0, duration_ms: 0, last_at: 0 });
        outcome.count += m.successes;
        outcome.weight += m.success_weight;
        outcome.duration_ms += m.duration_ms;
        outcome.last_at = outcome.last_at.max(m.last_at);
    }
    (order, tried)
}

/// Lays states over moves.
fn build(
    states: BTreeMap<i64, State>,
    by_key: &HashMap<String, i64>,
    moves: &[Move],
    imported: &[Imported],
    parts: &HashMap<i64, BTreeSet<String>>,
) -> Graph {
    let state_of = |key: &str| by_key.get(key).copied().filter(|id| states.contains_key(id));
    let interrupting = interrupts(&states, moves, &state_of);
    let (order, tried) = tally(moves, &state_of, &interrupting);
    let mut edges = Vec::new();
    let mut dismissals: HashMap<i64, Vec<Edge>> = HashMap::new();
    for (from, key) in order {
        let t = &tried[&(from, key)];
        for to in &t.order {
            let edge = edge(from, *to, t, &t.outcomes[to]);
            if t.outcomes[to].sample.action.verb == Verb::Wait && edge.count < BY_ITSELF {
                continue;
            }
            match interrupting.contains_key(&from) {
                true => dismissals.entry(from).or_default().push(edge),
                false => edges.push(edge),
            }
        }
    }
    for edge in imported.iter().filter(|i| states.contains_key(&i.from) && states.contains_key(&i.to)).map(from_import) {
        // What was exported and came back is known from events already.
        if !edges.iter().any(|e: &Edge| e.what.is_some() && (e.from, e.to) == (edge.from, edge.to) && e.action == edge.action) {
            edges.push(edge);
        }
    }
    let edges = joined(edges);
    let interrupts = interrupting.into_iter().map(|(state, over)| {
        let mut ways = dismissals.remove(&state).unwrap_or_default();
        ways.retain(|way| is_part(way, parts.get(&state)));
        Interrupt { state, over: over.into_iter().collect(), dismissals: ways_out(ways) }
    });
    let interrupts: Vec<Interrupt> = interrupts.collect();
    Graph { states, edges, interrupts }
}

/// Where a dialog came up.
#[derive(Default)]
struct Comings<'a> {
    pages: BTreeSet<i64>,
    actions: BTreeSet<&'a str>,
    by_itself: bool,
}

/// Dialogs that came up over several pages by more than one action, or by themselves, and the pages.
fn interrupts(states: &BTreeMap<i64, State>, moves: &[Move], state_of: &impl Fn(&str) -> Option<i64>) -> BTreeMap<i64, BTreeSet<i64>> {
    let mut comings: BTreeMap<i64, Comings<'_>> = BTreeMap::new();
    for m in moves {
        let Some(to) = m.to.as_deref().and_then(state_of).filter(|to| states[to].kind == StateKind::Dialog) else { continue };
        let under = m.below.as_deref().and_then(state_of).or_else(|| state_of(&m.from));
        let coming = comings.entry(to).or_default();
        coming.pages.extend(under.filter(|u| states[u].kind != StateKind::Dialog));
        coming.actions.insert(&m.action_key);
        coming.by_itself |= m.action.verb == Verb::Wait;
    }
    let anywhere = |c: &Comings<'_>| c.pages.len() >= INTERRUPTS && (c.actions.len() > 1 || c.by_itself);
    comings.into_iter().filter(|(_, c)| anywhere(c)).map(|(state, c)| (state, c.pages)).collect()
}

fn edge(from: i64, to: i64, tried: &Tried<'_>, outcome: &Outcome<'_>) -> Edge {
    let measured = outcome.count > 0 && outcome.duration_ms > 0;
    Edge {
        from,
        to,
        action_key: outcome.sample.action_key.clone(),
        action: target::sentence(&outcome.sample.action),
        what: Some(outcome.sample.action.clone()),
        count: outcome.count,
        attempts: tried.attempts,
        success_rate: if tried.weight > 0.0 { outcome.weight / tried.weight } else { 0.0 },
        probability: (outcome.weight + 1.0) / (tried.weight + 2.0),
        mean_ms: measured.then(|| outcome.duration_ms / outcome.count),
        last_used: (outcome.last_at > 0).then_some(outcome.last_at),
        extra: None,
    }
}

/// Edges that read the same are one, as two buttons that nothing tells apart lead to the same page.
fn joined(edges: Vec<Edge>) -> Vec<Edge> {
    let mut at: HashMap<(i64, i64, String), usize> = HashMap::new();
    let mut out: Vec<Edge> = Vec::with_capacity(edges.len());
    for edge in edges {
        match at.get(&(edge.from, edge.to, edge.action.clone())) {
            Some(i) => {
                let known = &mut out[*i];
                let all = (known.attempts + edge.attempts).max(1) as f64;
                let mean = |a: f64, b: f64| (a * known.attempts as f64 + b * edge.attempts as f64) / all;
                (known.success_rate, known.probability) =
                    (mean(known.success_rate, edge.success_rate), mean(known.probability, edge.probability));
                known.count += edge.count;
                known.attempts += edge.attempts;
                known.mean_ms = known.mean_ms.or(edge.mean_ms);
                known.last_used = known.last_used.max(edge.last_used);
            }
            None => {
                at.insert((edge.from, edge.to, edge.action.clone()), out.len());
                out.push(edge);
            }
        }
    }
    out
}

fn from_import(i: &Imported) -> Edge {
    let count = i.count as f64;
    Edge {
        from: i.from,
        to: i.to,
        action_key: i.action.clone(),
        action: i.action.clone(),
        what: None,
        count: i.count,
        attempts: i.count,
        success_rate: i.success_rate,
        probability: (count * i.success_rate + 1.0) / (count + 2.0),
        mean_ms: None,
        last_used: i.last_used,
        extra: i.extra.clone(),
    }
}

/// The ways out of an interrupt, by action: wherever they lead, they dismiss it.
fn ways_out(edges: Vec<Edge>) -> Vec<Edge> {
    let mut ways: Vec<Edge> = Vec::new();
    for edge in edges.into_iter().filter(|e| e.from != e.to) {
        match ways.iter_mut().find(|w| w.action_key == edge.action_key) {
            Some(way) => {
                way.count += edge.count;
                way.success_rate = (way.success_rate + edge.success_rate).min(1.0);
                way.last_used = way.last_used.max(edge.last_used);
            }
            None => ways.push(edge),
        }
    }
    for way in &mut ways {
        way.probability = (way.count as f64 + 1.0) / (way.attempts as f64 + 2.0);
    }
    ways.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(b.count.cmp(&a.count)));
    ways
}

impl Graph {
    /// Keeps what touches a scope: its states, and those of others that its edges lead to or come from.
    fn keep_to(&mut self, app: i64) {
        let own: BTreeSet<i64> = self.states.values().filter(|s| s.app == app).map(|s| s.id).collect();
        self.edges.retain(|e| own.contains(&e.from) || own.contains(&e.to));
        self.interrupts.retain(|i| own.contains(&i.state) || i.over.iter().any(|s| own.contains(s)));
        let mut used: BTreeSet<i64> = self.edges.iter().flat_map(|e| [e.from, e.to]).collect();
        used.extend(self.interrupts.iter().map(|i| i.state));
        self.states.retain(|id, _| own.contains(id) || used.contains(id));
    }

    /// The edges whose both ends belong to a scope.
    pub fn own_edges(&self, app: i64) -> impl Iterator<Item = &Edge> {
        let own = move |id: &i64| self.states.get(id).is_some_and(|s| s.app == app);
        self.known_edges().filter(move |e| own(&e.from) && own(&e.to))
    }

    /// Whether a state is an interrupt.
    pub fn is_interrupt(&self, state: i64) -> bool {
        self.interrupts.iter().any(|i| i.state == state)
    }

    /// The states of a scope that can be named, interrupts among them.
    pub fn named(&self, app: i64) -> impl Iterator<Item = &State> + Clone {
        self.states.values().filter(move |s| s.code.is_some() && s.app == app)
    }

    /// The states that can be gone to: defined, and no interrupts.
    pub fn places(&self) -> impl Iterator<Item = &State> + Clone {
        self.states.values().filter(|s| s.code.is_some() && !self.is_interrupt(s.id))
    }

    /// The edges between states that can be named.
    pub fn known_edges(&self) -> impl Iterator<Item = &Edge> {
        let defined = |id: &i64| self.states.get(id).is_some_and(|s| s.code.is_some());
        self.edges.iter().filter(move |e| defined(&e.from) && defined(&e.to))
    }
}
