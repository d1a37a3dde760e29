//! What an update of the app may have changed: pages with another title or in another place, and elements with another
//! name.
//!
//! Invariant: nothing found here is a fact. A walk taps by it rows and links outside of content, and buttons with the id or
//! the title of a known one; it compares each page with the one that should follow, and does not arrive by it.

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
use afd_screen::page::{Ref, renamed, structure};

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
        // A title with a number is content, which many pages share.
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
    /// title is in the place of the element's. On a page that did not change its own name, the rows of a list may be content,
    /// so that another one is another thing, unless the page is a menu.
    fn now_called(&self, capture: &ScreenCapture, wanted: &Target, page: i64) -> Option<usize> {
        let (snapshot, refs) = (capture.snapshot(), capture.refs());
        let only = |fits: &dyn Fn(&Ref) -> bool| {
            let mut found = (0..refs.len()).filter(|index| fits(&refs[*index]));
            found.next().filter(|_| found.next().is_none())
        };
        let node = |element: &Ref| &snapshot.nodes[element.node];
        let title = target::title(wanted).filter(|title| !title.is_empty())?;
        let folded = fold(title);
        let is_titled = |element: &Ref| fold(&element.label.title) == folded;
        if refs.iter().any(is_titled) {
            // Where the page was built otherwise, a button may be what a row was. Elsewhere it may do something else.
            let may_be_button = wanted.role == Role::Button || self.front != Some(page);
            let is_button = |element: &Ref| may_be_button && node(element).role == Role::Button;
            let leads = |element: &Ref| leads_on(node(element)) || is_button(element);
            return only(&|element| is_titled(element) && leads(element));
        }
        let now = self.successor(capture, page, title)?;
        let has_own_id = |element: &Ref| {
            let id = &node(element).res_id;
            id.is_some() && refs.iter().filter(|other| node(other).res_id == *id).count() == 1
        };
        let may_be_content = self.front == Some(page) && !self.is_menu(page);
        let is_content = |element: &Ref| may_be_content && structure::in_list(snapshot, element.node);
        only(&|element| {
            let own = node(element);
            element.label.title == now
                && own.role == wanted.role
                && own.res_id == wanted.res_id
                && (leads_on(own) || has_own_id(element))
                && !is_content(element)
        })
    }

    /// Returns whether the rows of a page are known to lead to different places. Those of content lead to pages of one kind.
    fn is_menu(&self, page: i64) -> bool {
        let Some(graph) = &self.graph else { return false };
        let is_row = |edge: &&Edge| {
            let target = edge.what.as_ref().and_then(|action| action.target.as_ref());
            edge.from == page && target.is_some_and(|target| target.role == Role::Row)
        };
        let led_to = graph.edges.iter().filter(is_row).filter_map(|edge| graph.states.get(&edge.to));
        led_to.map(|state| state.place.as_str()).collect::<BTreeSet<_>>().len() > 1
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
        let is_dialog = capture.structures().is_none_or(|structures| structures.front.dialog);
        let action = edge.what.as_ref().filter(|action| action.verb == Verb::Tap && !is_dialog)?;
        let page = if edge.from == UNKNOWN { self.likely? } else { edge.from };
        let index = self.now_called(capture, action.target.as_ref()?, page)?;
        let now = target::describe(capture.snapshot(), capture.refs()[index].node);
        let plan = self.touch(capture, Verb::Tap, &now)?;
        Some((plan, Edge { probability: edge.probability * TRUST, ..edge.clone() }))
    }

    /// Returns what is known of the goal, in words, if it is probably on this page under another name, or is this page: on a
    /// page that is known, or like the one to which the last step should have led. A text that is no title of an element may
    /// be a value, which changes.
    pub(super) fn changed_goal(&self, capture: &ScreenCapture, state: Option<i64>) -> Option<String> {
        let is_known = state == self.likely;
        // Another page that had the element may still have it under its name.
        let is_last = !is_known || self.goal.states.is_empty();
        let page = self.likely.filter(|page| self.goal_pages.contains(page) && is_last)?;
        if !is_known && self.hoped != self.likely {
            return None;
        }
        let called = self.name_of(page)?;
        let Some(label) = self.goal.element.as_ref().or(self.goal.text.as_ref()) else {
            let (called, title) = (self.shown(&called), capture.place().title.map(|own| self.shown(&own)));
            return (state != self.likely).then(|| match title {
                Some(title) if title == called => format!("page {called} is built otherwise than before"),
                Some(title) => format!("the page looks like {called}, but is called {title}"),
                None => format!("the page looks like {called}"),
            });
        };
        let now = self.successor(capture, page, label)?;
        let is_title = capture.refs().iter().any(|element| element.label.title == now);
        (is_title || self.goal.text.is_none())
            .then(|| format!("{} is not on the page; {} is in its place", self.shown(label), self.shown(&now)))
    }

    /// Returns a text of a page in quotes, unless it was typed.
    fn shown(&self, text: &str) -> String {
        match self.call.core.experience.secrets.was_typed(text) {
            true => "the typed text".to_owned(),
            false => quoted(text, MAX_TITLE),
        }
    }
}
