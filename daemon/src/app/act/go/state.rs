//! The state of a walk: what is known, what was tried, and the steps so far.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use afd_proto::go::{GoStep, GoStop, GoToParams};
use tokio::time::Instant;

use crate::app::Call;
use crate::app::act::keyed::Key;
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::visual::goal::{Asked, Goal};
use afd_experience::visual::graph::{Edge, Graph};
use afd_experience::visual::index;
use afd_experience::visual::path::{RouteQuery, routes};
use afd_experience::visual::scope::Scope;
use afd_screen::page::risk::RiskRules;

/// Row id for the page in front if it is no known state.
pub(super) const UNKNOWN: i64 = -1;

/// A walk in progress.
pub(super) struct Walk<'a> {
    pub call: &'a Call,
    pub params: &'a GoToParams,
    pub asked: &'a Asked,
    /// The goal, as far as it is known.
    pub goal: Goal,
    /// Row ids of the states in which the goal was known to be at the beginning.
    pub goal_pages: BTreeSet<i64>,
    /// App or site in which the goal is; `None` if it is not known which one is in front.
    pub place: Option<Scope>,
    /// `None` if nothing is known of the app.
    pub graph: Option<Graph>,
    /// Row id of the state in front.
    pub front: Option<i64>,
    /// The pages that elements or pages with a title lead to or are, by the folded title; empty until it is needed.
    pub by_title: HashMap<String, BTreeSet<i64>>,
    /// Ways on from the page in front.
    pub here: Vec<Edge>,
    /// Row id of the known page that the page in front is, or probably is after an update of the app.
    pub likely: Option<i64>,
    /// Row id of the page to which the last step should have led.
    pub hoped: Option<i64>,
    /// What is known of a goal that has another name now, in words.
    pub changed: Option<String>,
    pub rules: RiskRules,
    /// Actions that did not lead where they should, by the row id of the state and the key of the action.
    pub failed: HashSet<(i64, String)>,
    /// Pages on which it was scrolled for an element, by the row id of the state and the element.
    pub scrolled: HashSet<(Option<i64>, String)>,
    /// Elements that were tried, by page and element.
    pub tried: HashSet<String>,
    /// Kind of the element that was tried last, by page and element.
    pub tried_kind: Option<String>,
    /// Kinds of elements of which one did not lead to another page.
    pub choices: HashSet<String>,
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
    /// Whether it was tried to open the app or the address.
    pub opening: bool,
    /// Whether the app or the address was opened.
    pub opened: bool,
    /// Whether the app was relaunched because no way led on.
    pub recovered: bool,
    /// Whether an element with the name of the goal was tried, and led to another page.
    pub is_behind: bool,
    /// What keeps a known way from the page in front from being used, and the action in words.
    pub blocked: Option<(GoStop, String)>,
    /// Why the screen in front is unreliable.
    pub doubt: Option<&'static str>,
    pub steps: Vec<GoStep>,
    pub started: Instant,
    pub deadline: Instant,
    pub key: Option<&'a Key>,
}

impl Walk<'_> {
    /// Returns whether the app or site of the goal is in front, or a dialog over it.
    pub(super) fn is_inside(&self, capture: &ScreenCapture) -> bool {
        let Some(place) = &self.place else { return true };
        let structures = capture.structures();
        structures
            .is_some_and(|s| [Some(&s.front), s.below.as_ref()].into_iter().flatten().any(|s| index::of(s) == *place))
    }

    /// Returns the name of a state.
    pub(super) fn name_of(&self, state: i64) -> Option<String> {
        self.graph.as_ref()?.states.get(&state).map(|state| state.called().to_owned())
    }

    /// Returns whether an edge leads to its page whatever came before. In a tab, Back opens the page before, so it is taken as
    /// it is predicted, and only from the page in front.
    pub(super) fn is_steady(&self, edge: &Edge) -> bool {
        !edge.is_back() || self.call.device().check_tabs().is_err()
    }

    /// Returns the edge at which a known way from a page to the goal begins. Only edges that a walk may use count.
    pub(super) fn edge_from(&self, page: Option<i64>, is_usable: &dyn Fn(&Edge) -> bool) -> Option<Edge> {
        self.way_of(page, is_usable).map(|(edge, _)| edge)
    }

    /// Returns the edge at which a known way from a page to the goal begins, and the number of edges of that way. What is
    /// known of the page in front is in `here`.
    pub(super) fn way_of(&self, page: Option<i64>, is_usable: &dyn Fn(&Edge) -> bool) -> Option<(Edge, usize)> {
        let graph = self.graph.as_ref()?;
        let from = page.unwrap_or(UNKNOWN);
        // Opening an app leads to the same page from everywhere, so it is a step from the page in front, or none.
        let elsewhere = graph
            .edges
            .iter()
            .filter(|edge| Some(edge.from) != self.front && self.is_steady(edge) && !edge.is_launch());
        let edges = self.here.iter().chain(elsewhere).filter(|edge| is_usable(edge)).cloned().collect();
        let usable = Graph { edges, interrupts: graph.interrupts.clone(), states: BTreeMap::new() };
        let wanted = RouteQuery { from, goals: self.goal.states.clone(), shortest: false, routes: 1 };
        let route = routes(&usable, &wanted).into_iter().next()?;
        route.edges.first().map(|edge| ((*edge).clone(), route.edges.len()))
    }
}
