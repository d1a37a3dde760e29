//! The ways on from the page in front: what the graph knows of it, and what is predicted from other pages.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::state::{UNKNOWN, Walk};
use crate::app::act::described::leads_on;
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::visual::goal::{leads_behind, title_of};
use afd_experience::prediction::{Effect, Prediction};
use afd_experience::visual::graph::{Edge, Graph};
use afd_proto::visual::StateKind;
use afd_proto::vocabulary::{Action, Verb};
use afd_screen::page::folding::fold;
use afd_screen::page::target;

/// Least probability of a way that was never taken from this page.
const MIN_GUESS: f64 = 0.3;
/// Least probability of another way. Less is as good as no way.
const MIN_WAY: f64 = 0.1;

impl Walk<'_> {
    /// Finds the ways on from the page in front.
    pub(super) async fn look_around(&mut self, capture: &ScreenCapture, state: Option<i64>) {
        let edges = self.graph.iter().flat_map(|graph| &graph.edges);
        let here = edges.filter(|edge| Some(edge.from) == state && self.is_steady(edge));
        self.here = here.cloned().collect();
        // A goal that is on no known page is not on the way to one.
        if self.goal.states.is_empty() {
            return;
        }
        let mut known: HashMap<(String, i64), usize> = HashMap::new();
        for (index, edge) in self.here.iter().enumerate() {
            known.insert((edge.action_key.clone(), edge.to), index);
        }
        let from = state.unwrap_or(UNKNOWN);
        for (action, prediction) in self.call.ways(capture).await {
            if (prediction.is_guess() && !may_guess(capture, &action)) || self.is_in_front(capture, &action) {
                continue;
            }
            for way in ways(from, &action, &prediction) {
                match known.get(&(way.action_key.clone(), way.to)) {
                    Some(index) => {
                        let edge = &mut self.here[*index];
                        edge.probability = edge.probability.max(way.probability);
                    }
                    None => self.here.push(way),
                }
            }
        }
        self.add_moved(capture, from);
    }

    /// Returns whether an action opens the app in front of a phone, which does not change its page.
    fn is_in_front(&self, capture: &ScreenCapture, action: &Action) -> bool {
        let package = action.params.get("package").and_then(|package| package.as_str());
        let has_tabs = self.call.device().check_tabs().is_ok();
        action.verb == Verb::Launch && !has_tabs && package.is_some() && package == capture.place().app.as_deref()
    }

    /// Adds the rows and links that have the title of an element elsewhere in the app which leads to a known page: an update
    /// may have moved them here. What is known of an element on this page goes before, and a dialog asks for a choice.
    fn add_moved(&mut self, capture: &ScreenCapture, from: i64) {
        let Some(graph) = &self.graph else { return };
        if capture.structures().is_none_or(|structures| structures.front.dialog) {
            return;
        }
        if self.by_title.is_empty() {
            self.by_title = pages_by_title(graph);
        }
        let (snapshot, refs) = (capture.snapshot(), capture.refs());
        let own: HashSet<String> = self.here.iter().filter_map(title_of).map(fold).collect();
        let mut moved = Vec::new();
        for element in refs.iter().filter(|element| leads_on(&snapshot.nodes[element.node])) {
            let title = fold(&element.label.title);
            let Some(pages) = self.by_title.get(&title).filter(|_| !own.contains(&title)) else { continue };
            let target = target::describe(snapshot, element.node);
            let action = Action { target: Some(target), ..Action::of(Verb::Tap) };
            moved.extend(pages.iter().map(|to| guess(from, *to, &action)));
        }
        self.here.extend(moved);
    }
}

/// Returns the pages to which elements lead, by the folded title of the element.
fn pages_by_title(graph: &Graph) -> HashMap<String, BTreeSet<i64>> {
    let mut pages: HashMap<String, BTreeSet<i64>> = HashMap::new();
    let is_page = |id: i64| graph.states.get(&id).is_some_and(|state| state.kind == StateKind::Page);
    for edge in
        graph.edges.iter().filter(|edge| leads_behind(edge) && edge.success_rate >= MIN_GUESS && is_page(edge.to))
    {
        if let Some(title) = title_of(edge).filter(|title| !title.is_empty()) {
            pages.entry(fold(title)).or_default().insert(edge.to);
        }
    }
    pages
}

/// Returns an edge that was never taken.
fn guess(from: i64, to: i64, action: &Action) -> Edge {
    Edge {
        from,
        to,
        action_key: target::action_key(action),
        action: target::sentence(action),
        what: Some(action.clone()),
        count: 0,
        attempts: 0,
        success_rate: MIN_GUESS,
        probability: MIN_GUESS,
        mean_ms: None,
        last_used: None,
        extra: None,
    }
}

/// Returns whether an action may be taken on this page because of what it did on others. Of elements, only rows and links are:
/// a button with the same name may do something else here.
fn may_guess(capture: &ScreenCapture, action: &Action) -> bool {
    let (snapshot, refs) = (capture.snapshot(), capture.refs());
    match &action.target {
        Some(wanted) => {
            let found = target::locate(snapshot, refs, wanted).map(|index| &snapshot.nodes[refs[index].node]);
            action.verb == Verb::Tap && found.is_some_and(leads_on)
        }
        None => matches!(action.verb, Verb::Back | Verb::Launch),
    }
}

/// Returns an edge for each known page to which an action may lead.
fn ways<'a>(from: i64, action: &'a Action, prediction: &'a Prediction) -> impl Iterator<Item = Edge> + 'a {
    let least = if prediction.is_guess() { MIN_GUESS } else { MIN_WAY };
    prediction.likely.iter().filter(move |one| one.probability >= least).filter_map(move |one| {
        let Effect::Page(destination) = &one.effect else { return None };
        let (attempts, probability) = (prediction.attempts, one.probability);
        Some(Edge { attempts, success_rate: probability, probability, ..guess(from, destination.state?, action) })
    })
}
