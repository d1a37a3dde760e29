//! The state graph: states, and the edges between them, built from counted transitions and from imported edges.
//!
//! Transitions are counted between page structures. The graph looks up the structures of each state when it is read, so
//! a state that is learned, merged or restored later has its edges at once.
//!
//! A dialog that appeared over several pages is an interrupt and not a destination. A transition that ended in such a
//! dialog counts as leading to the page under it, and the actions that leave the dialog are its dismissals. A
//! transition that happened during a wait counts only if it occurred at least twice. The success rate of an edge is
//! weighted by age. Its probability is the mean of a Beta distribution that starts at (1, 1), with the weighted
//! attempts added.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use afd_proto::visual::StateKind;
use afd_proto::vocabulary::Verb;
use rusqlite::Connection;

use super::states::{self, State};
use afd_screen::page::moves::Move;
use afd_screen::page::target;
use afd_store::{Result, Sql as _, args, read};

/// Minimum number of pages over which a dialog must have appeared to be an interrupt. It must also have appeared after
/// more than one action, or spontaneously.
const INTERRUPT_MIN_PAGES: usize = 3;

/// Minimum number of times that a transition during a wait must occur for it to count. A person may have caused a
/// single occurrence.
const SPONTANEOUS_MIN: i64 = 2;

/// An edge from one state to another.
#[derive(Debug, Clone)]
pub struct Edge {
    /// Row id of the state at which the edge begins.
    pub from: i64,
    /// Row id of the state to which the edge leads.
    pub to: i64,
    /// Key of the action. Equivalent actions have the same key.
    pub action_key: String,
    /// Description of the action in words.
    pub action: String,
    /// The action in structured form; `None` for imported edges.
    pub what: Option<afd_proto::vocabulary::Action>,
    /// Number of times that the action led to the state `to`.
    pub count: i64,
    /// Number of times that the action was tried in the state `from`, including failures and other outcomes.
    pub attempts: i64,
    /// Share of the attempts that led to the state `to`, weighted by age, 0 to 1.
    pub success_rate: f64,
    /// Estimated probability of success: the success rate, pulled towards 0.5 while there are few attempts.
    pub probability: f64,
    /// Mean duration, in milliseconds; `None` if it was never measured.
    pub mean_ms: Option<i64>,
    /// Time of the last success, in Unix milliseconds.
    pub last_used: Option<i64>,
    /// Other members of the imported row, as JSON; `None` if there are none.
    pub extra: Option<String>,
}

impl Edge {
    /// Returns whether the action is Back. Where it leads depends on the page before.
    pub fn is_back(&self) -> bool {
        self.what.as_ref().is_some_and(|action| action.verb == Verb::Back)
    }

    /// Returns whether the action opens an app, which it does from everywhere.
    pub fn is_launch(&self) -> bool {
        self.what.as_ref().is_some_and(|action| action.verb == Verb::Launch)
    }
}

/// A pop-up that may appear over any page.
#[derive(Debug, Clone)]
pub struct Interrupt {
    /// Row id of the pop-up's state.
    pub state: i64,
    /// Row ids of the states over which the pop-up appeared.
    pub over: Vec<i64>,
    /// Actions that dismiss the pop-up, most reliable first.
    pub dismissals: Vec<Edge>,
}

/// An edge of an imported memory.
#[derive(Debug, Clone)]
pub struct Imported {
    /// Row id of the imported edge.
    pub id: i64,
    /// Row id of the state at which the edge begins.
    pub from: i64,
    /// The action as written in the file.
    pub action: String,
    /// Row id of the state to which the edge leads.
    pub to: i64,
    /// Number of uses according to the file.
    pub count: i64,
    /// Success rate according to the file.
    pub success_rate: f64,
    /// Time of the last use, in Unix milliseconds.
    pub last_used: Option<i64>,
    /// Other members of the row in the file, as JSON.
    pub extra: Option<String>,
}

/// States, edges and interrupts of a scope.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    /// States by row id, including those of other scopes that edges lead to.
    pub states: BTreeMap<i64, State>,
    /// Edges, in the order in which they were first seen.
    pub edges: Vec<Edge>,
    /// Interrupts, by row id of their state.
    pub interrupts: Vec<Interrupt>,
}

/// Returns the imported edges of a scope, in the order of their file.
pub fn imported(connection: &Connection, app: i64) -> Result<Vec<Imported>> {
    connection.all(
        "SELECT id, from_state, action, to_state, count, success_rate, last_used, extra FROM imported_edges WHERE app_id = :app_id
            ORDER BY position",
        args! {app_id: app},
        |row| {
            Ok(read!(row => Imported {
                id, action, count, success_rate, last_used, extra,
                from: row.get("from_state")?,
                to: row.get("to_state")?,
            }))
        },
    )
}

/// Builds the graph of a scope: its own states, and those that transitions lead to or come from.
pub fn read(connection: &Connection, app: i64, moves: &[Move]) -> Result<Graph> {
    let mut states: BTreeMap<i64, State> =
        states::list(connection, app, true)?.into_iter().map(|s| (s.id, s)).collect();
    let keys: BTreeSet<&str> =
        moves.iter().flat_map(|m| [Some(m.from.as_str()), m.to.as_deref(), m.below.as_deref()]).flatten().collect();
    let by_key: HashMap<String, i64> =
        states::by_structure(connection, &keys.into_iter().collect::<Vec<_>>())?.into_iter().collect();
    for id in by_key.values() {
        if !states.contains_key(id)
            && let Some(state) = states::get(connection, *id)?
        {
            states.insert(*id, state);
        }
    }
    let own = dialog_components(connection, &states)?;
    let mut graph = build(states, &by_key, moves, &imported(connection, app)?, &own);
    graph.restrict_to(app);
    Ok(graph)
}

/// Returns the labels and resource ids of the components of each dialog.
fn dialog_components(connection: &Connection, states: &BTreeMap<i64, State>) -> Result<HashMap<i64, BTreeSet<String>>> {
    let mut statement = connection.prepare_cached(
        "SELECT c.label, c.res_id FROM state_components sc JOIN components c ON c.id = sc.component_id WHERE sc.state_id = :state",
    )?;
    let mut parts: HashMap<i64, BTreeSet<String>> = HashMap::new();
    for state in states.values().filter(|s| s.kind == StateKind::Dialog) {
        let mut rows = statement.query(args! {state: state.id})?;
        while let Some(row) = rows.next()? {
            let known = [row.get::<_, Option<String>>("label")?, row.get("res_id")?];
            parts.entry(state.id).or_default().extend(known.into_iter().flatten());
        }
    }
    Ok(parts)
}

/// Returns whether an action targets the dialog itself, or has no target. A tap next to the dialog may dismiss it, too,
/// but the element that was tapped may be missing the next time.
fn targets_dialog(dismissal: &Edge, parts: Option<&BTreeSet<String>>) -> bool {
    let Some(action) = &dismissal.what else { return false };
    let has = |text: Option<&String>| text.is_some_and(|t| parts.is_some_and(|p| p.contains(t)));
    match &action.target {
        // System ids belong to different buttons in different dialogs, so a label takes precedence.
        Some(target) => has(target.label.as_ref()) || (target.label.is_none() && has(target.res_id.as_ref())),
        None => action.point.is_none() && action.verb != Verb::Wait,
    }
}

/// Attempts at one action in one state, and their outcomes.
#[derive(Default)]
struct Attempts<'a> {
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

/// Pairs of state and action key, in the order of their first attempt, and the attempts for each pair.
type AttemptTable<'a> = (Vec<(i64, &'a str)>, HashMap<(i64, &'a str), Attempts<'a>>);

/// Counts attempts and outcomes by state and action.
fn tally<'a>(
    moves: &'a [Move],
    state_of: &impl Fn(&str) -> Option<i64>,
    interrupting: &BTreeMap<i64, BTreeSet<i64>>,
    is_dialog: &impl Fn(i64) -> bool,
) -> AttemptTable<'a> {
    let mut order: Vec<(i64, &str)> = Vec::new();
    let mut tried: HashMap<(i64, &str), Attempts<'a>> = HashMap::new();
    for m in moves {
        let Some(from) = state_of(&m.from) else { continue };
        let entry = tried.entry((from, m.action_key.as_str())).or_insert_with(|| {
            order.push((from, m.action_key.as_str()));
            Attempts::default()
        });
        entry.attempts += m.count;
        entry.weight += m.weight;
        let Some(to) = m.to.as_deref().and_then(state_of) else { continue };
        // A transition to a pop-up leads to the page under it. A dialog appeared spontaneously if it covers a page
        // other than the one acted on, or if it appeared without an action.
        let under = m.below.as_deref().and_then(state_of);
        let by_itself = is_dialog(to)
            && (m.action.verb == Verb::Wait || under.is_some_and(|under| under != from && !is_dialog(from)));
        let to = if interrupting.contains_key(&to) || by_itself { under } else { Some(to) };
        let Some(to) = to.filter(|to| !(m.action.verb == Verb::Wait && *to == from)) else { continue };
        if !entry.outcomes.contains_key(&to) {
            entry.order.push(to);
        }
        let outcome = entry.outcomes.entry(to).or_insert(Outcome {
            sample: m,
            count: 0,
            weight: 0.0,
            duration_ms: 0,
            last_at: 0,
        });
        outcome.count += m.count;
        outcome.weight += m.weight;
        outcome.duration_ms += m.duration_ms;
        outcome.last_at = outcome.last_at.max(m.last_at);
    }
    (order, tried)
}

/// Builds the graph from counted transitions and imported edges.
fn build(
    states: BTreeMap<i64, State>,
    by_key: &HashMap<String, i64>,
    moves: &[Move],
    imported: &[Imported],
    parts: &HashMap<i64, BTreeSet<String>>,
) -> Graph {
    let state_of = |key: &str| by_key.get(key).copied().filter(|id| states.contains_key(id));
    let interrupting = interrupts(&states, moves, &state_of);
    let (order, tried) = tally(moves, &state_of, &interrupting, &|id| states[&id].kind == StateKind::Dialog);
    let mut edges = Vec::new();
    let mut dismissals: HashMap<i64, Vec<Edge>> = HashMap::new();
    for (from, key) in order {
        let t = &tried[&(from, key)];
        for to in &t.order {
            let edge = edge(from, *to, t, &t.outcomes[to]);
            if t.outcomes[to].sample.action.verb == Verb::Wait && edge.count < SPONTANEOUS_MIN {
                continue;
            }
            match interrupting.contains_key(&from) {
                true => dismissals.entry(from).or_default().push(edge),
                false => edges.push(edge),
            }
        }
    }
    for edge in imported.iter().filter(|i| states.contains_key(&i.from) && states.contains_key(&i.to)).map(from_import)
    {
        // An edge that was exported and imported again is already known from events.
        if !edges
            .iter()
            .any(|e: &Edge| e.what.is_some() && (e.from, e.to) == (edge.from, edge.to) && e.action == edge.action)
        {
            edges.push(edge);
        }
    }
    let edges = merge_duplicates(edges);
    let interrupts = interrupting.into_iter().map(|(state, over)| {
        let mut merged = dismissals.remove(&state).unwrap_or_default();
        merged.retain(|dismissal| targets_dialog(dismissal, parts.get(&state)));
        Interrupt { state, over: over.into_iter().collect(), dismissals: merge_dismissals(merged) }
    });
    let interrupts: Vec<Interrupt> = interrupts.collect();
    Graph { states, edges, interrupts }
}

/// The pages over which a dialog appeared, and the actions after which it appeared.
#[derive(Default)]
struct Appearances<'a> {
    pages: BTreeSet<i64>,
    actions: BTreeSet<&'a str>,
    appeared_spontaneously: bool,
}

/// Returns the interrupts, each with the pages over which it appeared: dialogs that appeared over several pages, after
/// more than one action or spontaneously.
fn interrupts(
    states: &BTreeMap<i64, State>,
    moves: &[Move],
    state_of: &impl Fn(&str) -> Option<i64>,
) -> BTreeMap<i64, BTreeSet<i64>> {
    let mut appearances: BTreeMap<i64, Appearances<'_>> = BTreeMap::new();
    for m in moves {
        let Some(to) = m.to.as_deref().and_then(state_of).filter(|to| states[to].kind == StateKind::Dialog) else {
            continue;
        };
        let under = m.below.as_deref().and_then(state_of).or_else(|| state_of(&m.from));
        let appearance = appearances.entry(to).or_default();
        appearance.pages.extend(under.filter(|u| states[u].kind != StateKind::Dialog));
        appearance.actions.insert(&m.action_key);
        appearance.appeared_spontaneously |= m.action.verb == Verb::Wait;
    }
    let anywhere =
        |c: &Appearances<'_>| c.pages.len() >= INTERRUPT_MIN_PAGES && (c.actions.len() > 1 || c.appeared_spontaneously);
    appearances.into_iter().filter(|(_, c)| anywhere(c)).map(|(state, c)| (state, c.pages)).collect()
}

/// Returns the edge for one outcome of an action.
fn edge(from: i64, to: i64, tried: &Attempts<'_>, outcome: &Outcome<'_>) -> Edge {
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

/// Merges edges between the same states with the same action text, for example for two buttons that cannot be
/// distinguished.
fn merge_duplicates(edges: Vec<Edge>) -> Vec<Edge> {
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

/// Converts an imported edge to an edge of the graph.
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

/// Merges the edges that leave an interrupt by the same action. They all dismiss it, wherever they lead.
fn merge_dismissals(edges: Vec<Edge>) -> Vec<Edge> {
    let mut merged: Vec<Edge> = Vec::new();
    for edge in edges.into_iter().filter(|e| e.from != e.to) {
        match merged.iter_mut().find(|w| w.action_key == edge.action_key) {
            Some(dismissal) => {
                dismissal.count += edge.count;
                dismissal.success_rate = (dismissal.success_rate + edge.success_rate).min(1.0);
                dismissal.last_used = dismissal.last_used.max(edge.last_used);
            }
            None => merged.push(edge),
        }
    }
    for dismissal in &mut merged {
        dismissal.probability = (dismissal.count as f64 + 1.0) / (dismissal.attempts as f64 + 2.0);
    }
    merged.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(b.count.cmp(&a.count)));
    merged
}

impl Graph {
    /// Restricts the graph to a scope: its own states, and those of other scopes that its edges lead to or come from.
    fn restrict_to(&mut self, app: i64) {
        let own: BTreeSet<i64> = self.states.values().filter(|s| s.app == app).map(|s| s.id).collect();
        self.edges.retain(|e| own.contains(&e.from) || own.contains(&e.to));
        self.interrupts.retain(|i| own.contains(&i.state) || i.over.iter().any(|s| own.contains(s)));
        let mut used: BTreeSet<i64> = self.edges.iter().flat_map(|e| [e.from, e.to]).collect();
        used.extend(self.interrupts.iter().map(|i| i.state));
        self.states.retain(|id, _| own.contains(id) || used.contains(id));
    }

    /// Returns the graph of two scopes.
    pub fn plus(mut self, other: Self) -> Self {
        let key = |edge: &Edge| (edge.from, edge.to, edge.action_key.clone());
        let known: BTreeSet<_> = self.edges.iter().map(key).collect();
        self.edges.extend(other.edges.into_iter().filter(|edge| !known.contains(&key(edge))));
        let interrupts: BTreeSet<i64> = self.interrupts.iter().map(|interrupt| interrupt.state).collect();
        self.interrupts.extend(other.interrupts.into_iter().filter(|one| !interrupts.contains(&one.state)));
        self.states.extend(other.states);
        self
    }

    /// Returns the edges whose two ends are both in a scope.
    pub fn own_edges(&self, app: i64) -> impl Iterator<Item = &Edge> {
        let own = move |id: &i64| self.states.get(id).is_some_and(|s| s.app == app);
        self.known_edges().filter(move |e| own(&e.from) && own(&e.to))
    }

    /// Returns whether a state is an interrupt.
    pub fn is_interrupt(&self, state: i64) -> bool {
        self.interrupts.iter().any(|i| i.state == state)
    }

    /// Returns the defined states of a scope, including interrupts.
    pub fn named(&self, app: i64) -> impl Iterator<Item = &State> + Clone {
        self.states.values().filter(move |s| s.code.is_some() && s.app == app)
    }

    /// Returns the states that can be a destination: defined states that are not interrupts.
    pub fn places(&self) -> impl Iterator<Item = &State> + Clone {
        self.states.values().filter(|s| s.code.is_some() && !self.is_interrupt(s.id))
    }

    /// Returns the edges between defined states.
    pub fn known_edges(&self) -> impl Iterator<Item = &Edge> {
        let defined = |id: &i64| self.states.get(id).is_some_and(|s| s.code.is_some());
        self.edges.iter().filter(move |e| defined(&e.from) && defined(&e.to))
    }
}
