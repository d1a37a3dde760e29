//! Tries elements that the memory does not know, where the known ways end.
//!
//! Only elements that usually lead to another page are tried: rows, the links of sites, and buttons and pictures that share
//! words with the goal. They are enabled, have a name, are not risky, and are neither switches nor fields. Those that
//! share words with the goal come first, then those that lead to settings or menus, then those that were never tried, then
//! those that lead to known pages which the walk has not seen; pictures come last, because most of them lead back.
//! Elements that promise something, because they share words with the goal or lead to settings or menus, are tried before
//! the walk goes back, the others afterwards.

use afd_proto::go::GoStepKind;
use afd_proto::vocabulary::{Role, Verb};

use super::state::Walk;
use super::step::Step;
use crate::app::act::described::{changes_setting, leads_on};
use crate::app::observe::screen_capture::ScreenCapture;
use afd_base::text::tokens;
use afd_experience::visual::graph::Edge;
use afd_screen::page::folding::fold;
use afd_screen::page::snapshot::Flag;
use afd_screen::page::{Ref, naming, target};

/// Maximum number of pages that are opened one behind another by trying elements.
const MAX_DEPTH: u32 = 3;
/// The same for elements that promise nothing, if the goal is not known.
const MAX_BLIND_DEPTH: u32 = 2;
/// Names of elements behind which apps put what has no place of its own.
const HUBS: [&str; 28] = [
    "settings",
    "preferences",
    "options",
    "more",
    "menu",
    "einstellungen",
    "optionen",
    "mehr",
    "ajustes",
    "configuraci\u{f3}n",
    "opciones",
    "m\u{e1}s",
    "param\u{e8}tres",
    "r\u{e9}glages",
    "plus",
    "impostazioni",
    "altro",
    "configura\u{e7}\u{f5}es",
    "mais",
    "instellingen",
    "meer",
    "ustawienia",
    "wi\u{119}cej",
    "\u{43d}\u{430}\u{441}\u{442}\u{440}\u{43e}\u{439}\u{43a}\u{438}",
    "\u{8bbe}\u{7f6e}",
    "\u{66f4}\u{591a}",
    "\u{8a2d}\u{5b9a}",
    "\u{305d}\u{306e}\u{4ed6}",
];

/// Returns the key under which it is remembered that an element of a page was tried.
pub(super) fn tried_key(capture: &ScreenCapture, name: &str) -> String {
    let page = capture.place();
    format!("{:?}|{:?}|{name}", page.page_key, page.title)
}

/// Returns the key under which it is remembered that an element did not lead to another page. Equal rows are of one kind.
pub(super) fn kind_key(capture: &ScreenCapture, node: usize) -> String {
    let (page, node) = (capture.place(), &capture.snapshot().nodes[node]);
    format!("{:?}|{:?}|{}|{:?}|{}", page.page_key, page.title, node.role, node.res_id, node.class)
}

/// Rank of an element: the number of words that it shares with the goal, whether it leads to settings or a menu, whether it
/// was never tried, and whether it is more than a picture.
type Rank = (usize, bool, bool, bool);

impl Walk<'_> {
    /// Returns the step that tries an element that promises something.
    pub(super) fn explore_hopeful(&mut self, capture: &ScreenCapture, state: Option<i64>) -> Option<Step> {
        self.try_one(capture, state, true)
    }

    /// Returns the step that tries an element; `None` if nothing is left to try, or nothing may be tried. Behind
    /// other pages, rows are often choices, so only what promises something is tried there.
    pub(super) fn explore(&mut self, capture: &ScreenCapture, state: Option<i64>) -> Option<Step> {
        let blind = if self.goal_pages.is_empty() { MAX_BLIND_DEPTH } else { 1 };
        self.try_one(capture, state, self.depth >= blind)
    }

    fn try_one(&mut self, capture: &ScreenCapture, state: Option<i64>, only_hopeful: bool) -> Option<Step> {
        if self.explored >= self.params.explore() || self.depth >= MAX_DEPTH {
            return None;
        }
        let (snapshot, refs) = (capture.snapshot(), capture.refs());
        let wanted = tokens::of_query(self.asked.words().0);
        let mut best: Option<(usize, Rank)> = None;
        for (index, element) in refs.iter().enumerate().filter(|(_, element)| self.may_try(capture, state, element)) {
            let node = &snapshot.nodes[element.node];
            let own = tokens::of_text(naming::called(element).unwrap_or_default());
            let common = wanted.iter().filter(|word| word.is_in(&own)).count();
            let is_hub = leads_on(node) && HUBS.contains(&fold(&element.label.title).as_str());
            // Buttons do something, and pictures in a bar lead back, unless their names say otherwise.
            if common == 0 && !is_hub && (only_hopeful || !leads_on(node)) {
                continue;
            }
            let is_new = self.known_from(capture, state, element).is_empty();
            let rank = (common, is_hub, is_new, node.role != Role::Image);
            if best.as_ref().is_none_or(|(_, most)| rank > *most) {
                best = Some((index, rank));
            }
        }
        let element = &refs[best?.0];
        self.tried.insert(tried_key(capture, naming::called(element)?));
        self.tried_kind = Some(kind_key(capture, element.node));
        let plan = self.touch(capture, Verb::Tap, &target::describe(snapshot, element.node))?;
        self.explored += 1;
        Some(Step::plain(GoStepKind::Explore, plan))
    }

    /// Returns whether an element with the name of the goal is in sight, and may be tried.
    pub(super) fn can_try_goal(&self, capture: &ScreenCapture, state: Option<i64>) -> bool {
        capture.refs().iter().any(|element| self.is_called_like_goal(element) && self.may_try(capture, state, element))
    }

    fn is_called_like_goal(&self, element: &Ref) -> bool {
        fold(&element.label.title) == fold(self.asked.words().0)
    }

    /// Returns whether an element may be tried: it is usable, has a name of its own, changes no setting, is not risky, is no
    /// button with the name of the goal, which the caller wants to press, and was neither tried nor is known to lead to a
    /// page that the walk has seen. Elements like one that did not lead to another page are choices, and the tab of the page
    /// in front has its title.
    fn may_try(&self, capture: &ScreenCapture, state: Option<i64>, element: &Ref) -> bool {
        let snapshot = capture.snapshot();
        let node = &snapshot.nodes[element.node];
        let leads = matches!(node.role, Role::Button | Role::Row | Role::Image | Role::View);
        let is_usable =
            node.is(Flag::Enabled) && snapshot.is_content(node) && snapshot.hidden_by(element.node).is_none();
        let Some(name) = naming::called(element).filter(|_| leads && is_usable) else { return false };
        let is_risky = !self.params.allow_risky && self.rules.is_risky(snapshot, element);
        !is_risky
            && (leads_on(node) || !self.is_called_like_goal(element))
            && !changes_setting(capture, element.node)
            && !self.tried.contains(&tried_key(capture, name))
            && !self.choices.contains(&kind_key(capture, element.node))
            && capture.place().title.is_none_or(|title| fold(&title) != fold(name))
            && target::describe(snapshot, element.node).ordinal.is_none()
            && !self.known_from(capture, state, element).iter().any(|to| self.visited.contains(to))
    }

    /// Returns the states to which an element of the state in front is known to lead.
    fn known_from(&self, capture: &ScreenCapture, state: Option<i64>, element: &Ref) -> Vec<i64> {
        let wanted = target::key(&target::describe(capture.snapshot(), element.node));
        let edges = self.graph.iter().flat_map(|graph| &graph.edges).filter(|edge| Some(edge.from) == state);
        let is_same = |edge: &&Edge| {
            let known = edge.what.as_ref().and_then(|action| action.target.as_ref());
            known.is_some_and(|known| target::key(known) == wanted)
        };
        edges.filter(is_same).map(|edge| edge.to).collect()
    }
}
