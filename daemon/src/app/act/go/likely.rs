//! What an update of the app may have changed: pages with another title or in another place, and elements with another
//! name.
//!
//! Invariant: nothing found here is a fact. A walk may tap by it what it may tap anyway, and each page is compared with the
//! one that should follow; but a walk does not arrive by it.

use std::collections::BTreeSet;

use super::state::{UNKNOWN, Walk};
use crate::app::act::described::leads_on;
use crate::app::act::plan::Plan;
use crate::app::observe::screen_capture::ScreenCapture;
use afd_experience::visual::graph::Edge;
use afd_experience::visual::states::State;
use afd_proto::visual::StateKind;
use afd_proto::vocabulary::{Role, Target, Verb};
use afd_screen::page::element::visible_texts;
use afd_screen::page::folding::fold;
use afd_screen::page::outline::quoted;
use afd_screen::page::target::{self, MAX_TITLE};
use afd_screen::page::{Ref, renamed};

/// Share of an edge's probability that remains if its element or its page has another name.
const TRUST: f64 = 0.5;

impl Walk<'_> {
    /// Returns the known pages that the page in front may be under another title, or in another place. A page that was seen
    /// since the state in front is known is none of them.
    fn may_be(&self, capture: &ScreenCapture, state: Option<i64>) -> BTreeSet<i64> {
        let Some(front) = capture.structures().map(|structures| &structures.front).filter(|front| !front.dialog) else {
            return BTreeSet::new();
        };
        let Some(graph) = &self.graph else { return BTreeSet::new() };
        // A title with a number or a name is content, which many pages share.
        let title = front.title.as_deref().filter(|title| !title.contains('#')).map(fold);
        let is_titled = |own: &Option<String>| title.is_some() && own.as_deref().map(fold) == title;
        let mut found = self.call.core.experience.visual.alike(front);
        found.extend(graph.states.values().filter(|state| is_titled(&state.title)).map(|state| state.id));
        let known_since = state.and_then(|state| graph.states.get(&state)).map_or(i64::MAX, |state| state.first_seen);
        let is_older = |page: &State| page.kind == StateKind::Page && page.last_seen < known_since;
        found.retain(|id| graph.states.get(id).is_some_and(is_older));
        found
    }

    /// Returns whether the page in front may be a known page under another title, or in another place.
    pub(super) fn is_perhaps(&self, capture: &ScreenCapture, state: Option<i64>, page: i64) -> bool {
        self.may_be(capture, state).contains(&page)
    }

    /// Finds the known page that the page in front probably is: the one to which the last step should have led, else the
    /// only one that it may be. A page that was in front during the walk is still what it was.
    pub(super) fn find_likely(&mut self, capture: &ScreenCapture, state: Option<i64>) {
        let mut candidates = self.may_be(capture, state);
        candidates.retain(|page| !self.visited.contains(page));
        let hoped = self.hoped.filter(|page| candidates.contains(page));
        let only = || candidates.first().copied().filter(|_| candidates.len() == 1);
        self.likely = hoped.or_else(only).or(state);
    }

    /// Returns the index of the ref that an element of a known page is now: the only one with its title, else the one whose
    /// title is in the place of the element's.
    fn now_called(&self, capture: &ScreenCapture, wanted: &Target, page: i64) -> Option<usize> {
        let refs = capture.refs();
        let only = |fits: &dyn Fn(&Ref) -> bool| {
            let mut found = (0..refs.len()).filter(|index| fits(&refs[*index]));
            found.next().filter(|_| found.next().is_none())
        };
        let node = |element: &Ref| &capture.snapshot().nodes[element.node];
        let title = target::title(wanted).filter(|title| !title.is_empty())?;
        let folded = fold(title);
        let is_titled = |element: &Ref| fold(&element.label.title) == folded;
        if refs.iter().any(is_titled) {
            let leads = |element: &Ref| leads_on(node(element)) || node(element).role == Role::Button;
            return only(&|element| is_titled(element) && leads(element));
        }
        let now = self.successor(capture, page, title)?;
        only(&|element| {
            let own = node(element);
            element.label.title == now && own.role == wanted.role && own.res_id == wanted.res_id
        })
    }

    /// Returns the text that is now in the place of a text of a known page. The title of the page itself is not among the
    /// titles of its elements, but has a place as well.
    fn successor(&self, capture: &ScreenCapture, page: i64, text: &str) -> Option<String> {
        let before = &self.graph.as_ref()?.states.get(&page)?.texts;
        let title = capture.place().title;
        let titles = capture.refs().iter().map(|element| element.label.title.as_str()).chain(title.as_deref());
        renamed::successor(before, &visible_texts(capture.snapshot()), &titles.collect(), text)
    }

    /// Returns the plan for an edge whose element may have another name or another place now.
    pub(super) fn plan_of_renamed(&self, capture: &ScreenCapture, edge: &Edge) -> Option<(Plan, Edge)> {
        let action = edge.what.as_ref().filter(|action| action.verb == Verb::Tap)?;
        let page = if edge.from == UNKNOWN { self.likely? } else { edge.from };
        let index = self.now_called(capture, action.target.as_ref()?, page)?;
        let now = target::describe(capture.snapshot(), capture.refs()[index].node);
        let plan = self.touch(capture, Verb::Tap, &now)?;
        Some((plan, Edge { probability: edge.probability * TRUST, ..edge.clone() }))
    }

    /// Returns what is known of the goal, in words, if it is probably on this page under another name, or is this page. A text
    /// may be a value that has changed, so it says nothing.
    pub(super) fn changed_goal(&self, capture: &ScreenCapture, state: Option<i64>) -> Option<String> {
        let page = self.likely.filter(|page| self.goal.states.contains(page))?;
        let called = self.name_of(page)?;
        // Another page that had the element may still have it under its name.
        let may_be_elsewhere = self.goal.element.is_some() && state == self.likely && self.goal.states.len() > 1;
        if self.goal.text.is_some() || may_be_elsewhere {
            return None;
        }
        let Some(label) = &self.goal.element else {
            let (called, title) =
                (quoted(&called, MAX_TITLE), capture.place().title.map(|own| quoted(&own, MAX_TITLE)));
            return (state != self.likely).then(|| match title {
                Some(title) if title == called => format!("page {called} is built otherwise than before"),
                Some(title) => format!("the page looks like {called}, but is called {title}"),
                None => format!("the page looks like {called}"),
            });
        };
        let now = self.successor(capture, page, label)?;
        let secrets = &self.call.core.experience.secrets;
        let label = if secrets.was_typed(label) { "the typed text".to_owned() } else { quoted(label, MAX_TITLE) };
        Some(format!("{label} is not on the page; {} is in its place", quoted(&now, MAX_TITLE)))
    }
}
