//! The state of a walk: what is known, what was tried, and the steps so far.

use std::collections::{BTreeMap, HashSet};

use afd_proto::go::{GoStep, GoStop, GoToParams};
use tokio::time::Instant;

use super::record::Key;
use crate::app::Call;
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::visual::goal::{Asked, Goal};
use afd_experience::visual::graph::{Edge, Graph};
use afd_experience::visual::path::{RouteQuery, routes};
use afd_experience::visual::scope::Known;
use afd_screen::page::risk::RiskRules;

/// What is known of the app or site in which the goal is.
pub(super) struct Map {
    pub known: Known,
    pub graph: Graph,
}

/// A walk in progress.
pub(super) struct Walk<'a> {
    pub call: &'a Call,
    pub params: &'a GoToParams,
    pub asked: &'a Asked,
    /// The goal, as far as it is known.
    pub goal: Goal,
    /// `None` if nothing is known of the app.
    pub map: Option<Map>,
    pub rules: RiskRules,
    /// Actions that did not lead where they should, by the row id of the state and the key of the action.
    pub failed: HashSet<(i64, String)>,
    /// Pages on which it was scrolled for an element, by the row id of the state and the element.
    pub scrolled: HashSet<(Option<i64>, String)>,
    /// Elements that were tried, by page and element.
    pub tried: HashSet<String>,
    /// Number of elements that were tried.
    pub explored: u32,
    /// Number of pages that were opened by trying elements and not left again.
    pub depth: u32,
    /// Row ids of the states that were in front during the walk.
    pub visited: HashSet<i64>,
    /// Number of times that Back was pressed where no way was known.
    pub backs: u32,
    /// Number of times that something in front of the page was dismissed since the last other step.
    pub dismissed: u32,
    /// Whether the app was opened.
    pub opened: bool,
    /// What kept a known way from being used.
    pub blocked: Option<GoStop>,
    pub steps: Vec<GoStep>,
    pub started: Instant,
    pub deadline: Instant,
    pub key: Option<&'a Key>,
}

impl Walk<'_> {
    /// Returns the row id of the state in front, if the page is known.
    pub(super) async fn state_in_front(&self, capture: &ScreenCapture) -> Option<i64> {
        let structure = &capture.structures().filter(|_| capture.reliable())?.front;
        self.call.recognised(structure).await.map(|recognised| recognised.state)
    }

    /// Returns the name of a state.
    pub(super) fn name_of(&self, state: i64) -> Option<String> {
        let map = self.map.as_ref()?;
        map.graph.states.get(&state).map(|state| state.called().to_owned())
    }

    /// Returns the edge at which a known way from a state to the goal begins. Only edges that a walk may use count.
    pub(super) fn edge_from(&self, state: i64, is_usable: &dyn Fn(&Edge) -> bool) -> Option<Edge> {
        let map = self.map.as_ref()?;
        let edges = map.graph.edges.iter().filter(|edge| is_usable(edge)).cloned().collect();
        let usable = Graph { edges, interrupts: map.graph.interrupts.clone(), states: BTreeMap::new() };
        let wanted = RouteQuery { from: state, goals: self.goal.states.clone(), shortest: false, routes: 1 };
        routes(&usable, &wanted).into_iter().next()?.edges.first().map(|edge| (*edge).clone())
    }
}
