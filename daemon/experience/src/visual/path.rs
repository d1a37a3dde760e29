//! Routes through the state graph.
//!
//! Idea: the cost of an edge is its risk, which is the negative logarithm of its probability, plus a little for its
//! duration and for each step. Risks add up along a route as probabilities multiply, so the cheapest route is roughly
//! the most reliable one. Yen's algorithm returns the best few routes. For the fewest steps, a breadth-first search is
//! enough.
//!
//! Invariant: interrupts are never part of a route, and a route uses only one edge between two states, the best one.
//!
//! Constants: a step costs as much as a risk of about 2 %, and ten seconds cost as much as a risk of about 10 %. A step
//! that was never measured counts as one second. `tests/e2e/golden.rs` compares the routes that have the fewest steps
//! with those of the source tool.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pathfinding::directed::{bfs::bfs, bfs::bfs_reach, yen::yen};

use super::graph::{Edge, Graph};

/// Cost of a step in addition to its risk, because every step may have unexpected effects. Costs are in millionths of
/// the unit of the negative natural logarithm of a probability.
const STEP: u64 = 20_000;
/// Cost of a millisecond of duration. Ten seconds cost about as much as a risk of 10 %.
const MILLISECOND: u64 = 10;
/// Assumed duration of a step that was never measured, in milliseconds.
const UNMEASURED_MS: i64 = 1_000;

/// A route from one state to another.
#[derive(Debug, Clone)]
pub struct Route<'a> {
    /// Edges of the route; empty if the start is a goal.
    pub edges: Vec<&'a Edge>,
    /// Probability that all steps succeed.
    pub probability: f64,
    /// Expected duration, in milliseconds.
    pub expected_ms: i64,
}

/// A query for routes.
#[derive(Debug, Clone)]
pub struct RouteQuery {
    /// Row id of the start state.
    pub from: i64,
    /// Row ids of the goals; reaching any of them is enough.
    pub goals: BTreeSet<i64>,
    /// Whether to search for the fewest steps, regardless of their probability.
    pub shortest: bool,
    /// Maximum number of routes.
    pub routes: usize,
}

fn cost(edge: &Edge) -> u64 {
    let risk = -edge.probability.clamp(1e-6, 1.0).ln() * 1e6;
    let time = u64::try_from(edge.mean_ms.unwrap_or(UNMEASURED_MS).clamp(0, 600_000)).unwrap_or_default();
    risk as u64 + STEP + time * MILLISECOND
}

/// Returns the best edge between each pair of states: the cheapest one or, for the fewest steps, the one that was seen
/// first.
fn best_edges<'a>(graph: &'a Graph, shortest: bool) -> HashMap<i64, Vec<&'a Edge>> {
    let mut best: HashMap<i64, Vec<&'a Edge>> = HashMap::new();
    // Includes pages that were seen only once, because they can be goals, too.
    for edge in
        graph.edges.iter().filter(|e| e.from != e.to && !graph.is_interrupt(e.from) && !graph.is_interrupt(e.to))
    {
        let out = best.entry(edge.from).or_default();
        match out.iter_mut().find(|e| e.to == edge.to) {
            Some(known) if !shortest && cost(edge) < cost(known) => *known = edge,
            Some(_) => {}
            None => out.push(edge),
        }
    }
    best
}

/// Returns the best routes, best first. The list is empty if no route is known.
pub fn routes<'a>(graph: &'a Graph, wanted: &RouteQuery) -> Vec<Route<'a>> {
    let best = best_edges(graph, wanted.shortest);
    let out = |state: &i64| best.get(state).map(Vec::as_slice).unwrap_or_default();
    let is_goal = |state: &i64| wanted.goals.contains(state);
    let found: Vec<Vec<i64>> = if wanted.shortest {
        bfs(&wanted.from, |s| out(s).iter().map(|e| e.to).collect::<Vec<_>>(), is_goal).into_iter().collect()
    } else {
        let steps = |s: &i64| out(s).iter().map(|e| (e.to, cost(e))).collect::<Vec<_>>();
        yen(&wanted.from, steps, is_goal, wanted.routes.max(1)).into_iter().map(|(states, _)| states).collect()
    };
    let edge_of = |pair: &[i64]| out(&pair[0]).iter().copied().find(|e| e.to == pair[1]);
    found.iter().filter_map(|states| states.windows(2).map(edge_of).collect::<Option<Vec<_>>>()).map(route).collect()
}

fn route(edges: Vec<&Edge>) -> Route<'_> {
    Route {
        probability: edges.iter().map(|e| e.probability).product(),
        expected_ms: edges.iter().map(|e| e.mean_ms.unwrap_or(UNMEASURED_MS)).sum(),
        edges,
    }
}

/// Returns the reachable state that has most in common with an unreachable goal, by components and place. Of equally
/// similar states, returns the one that takes the fewest steps to reach.
pub fn nearest(graph: &Graph, wanted: &RouteQuery, components: &BTreeMap<i64, BTreeSet<String>>) -> Option<i64> {
    let best = best_edges(graph, true);
    let reached: Vec<i64> =
        bfs_reach(wanted.from, |s| best.get(s).into_iter().flatten().map(|e| e.to).collect::<Vec<_>>()).collect();
    let empty = BTreeSet::new();
    let set = |state: &i64| components.get(state).unwrap_or(&empty);
    let likeness = |state: &i64| {
        let of = |goal: &i64| {
            let (a, b) = (set(state), set(goal));
            let (common, union) = (a.intersection(b).count(), a.union(b).count());
            let place =
                usize::from(graph.states.get(goal).map(|g| &g.place) == graph.states.get(state).map(|s| &s.place));
            (common * 1000).checked_div(union).unwrap_or_default() + place * 500
        };
        wanted.goals.iter().map(of).max().unwrap_or_default()
    };
    reached.into_iter().rev().max_by_key(likeness)
}
