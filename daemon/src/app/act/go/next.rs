//! Decides the next step of a walk on the newest look.
//!
//! The order is: dismiss what is in front of the page, open the app of the goal if another one is in front, scroll to the
//! goal on its page, take the known or predicted way, try elements that promise something, go back to a page from which a
//! way is known, try other elements that are not known (both within the caller's bound).

use afd_proto::go::{GoStepKind, GoStop};
use afd_proto::vocabulary::{Action, By, Role, Target, Verb};

use super::state::Walk;
use super::step::Step;
use crate::app::act::plan::Plan;
use crate::app::act::touching;
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::visual::goal::{Asked, title_of};
use afd_device::Input;
use afd_experience::visual::graph::Edge;
use afd_screen::page::folding::fold;
use afd_screen::page::select::{self, Compare, Fit, Gesture, Selector};
use afd_screen::page::snapshot::Flag;
use afd_screen::page::structure::asks_for_password;
use afd_screen::page::{site, target};

/// Maximum number of attempts to dismiss what is in front of a page, one after another.
const MAX_DISMISSALS: u32 = 3;
/// Maximum number of times that Back is pressed where no way is known.
const MAX_BACKS: u32 = 4;

/// The decision.
pub(super) enum Next {
    Act(Box<Step>),
    Stop(GoStop),
}

impl Next {
    fn act(step: Step) -> Self {
        Next::Act(Box::new(step))
    }
}

impl Walk<'_> {
    /// Returns whether the goal is reached.
    pub(super) fn has_arrived(&self, capture: &ScreenCapture, state: Option<i64>) -> bool {
        if let Asked::Address(url) = self.asked {
            return self.opened && capture.reliable() && !asks_for_password(capture.snapshot()) && is_at(capture, url);
        }
        if self.goal.is_page() {
            return state.is_some_and(|state| self.goal.states.contains(&state));
        }
        if self.is_behind {
            return true;
        }
        self.is_inside(capture) && self.is_in_sight(capture) && !self.tries_goal(capture, state)
    }

    /// Returns whether an element that has the name of the goal is tried next, because the goal may be behind it. An element
    /// that was touched before is the goal itself: if it led to a page, that page would be the goal.
    fn tries_goal(&self, capture: &ScreenCapture, state: Option<i64>) -> bool {
        let may_try = matches!(self.asked, Asked::Words(_))
            && !self.was_touched(self.asked.words().0)
            && self.explored < self.params.explore();
        may_try && !self.goal.is_page() && self.can_try_goal(capture, state)
    }

    /// Returns whether an element with a title was touched before.
    fn was_touched(&self, title: &str) -> bool {
        let wanted = fold(title);
        let mut edges = self.graph.iter().flat_map(|graph| &graph.edges);
        edges.any(|edge| title_of(edge).is_some_and(|own| fold(own) == wanted))
    }

    /// Returns whether the element or the text that is the goal is in sight.
    pub(super) fn is_in_sight(&self, capture: &ScreenCapture) -> bool {
        let (snapshot, refs) = (capture.snapshot(), capture.refs());
        let named = |label: &str| {
            let selector = Selector { by: By::Label, value: label, exact: false };
            select::find(snapshot, refs, &selector, Gesture::Tap).best.iter().any(|found| found.fit <= Fit::Whole)
        };
        let says = |text: &str| !select::saying(snapshot, refs, text, Compare::Words).is_empty();
        // A caller who asks for a text takes it anywhere. Words that were taken for a text mean the whole text.
        let shows = |text: &str| if matches!(self.asked, Asked::Text(_)) { says(text) } else { named(text) };
        self.goal.element.as_deref().is_some_and(named) || self.goal.text.as_deref().is_some_and(shows)
    }

    /// Decides the next step.
    pub(super) fn next(&mut self, capture: &ScreenCapture, state: Option<i64>) -> Next {
        if !capture.reliable() {
            return Next::Stop(GoStop::Unreadable);
        }
        if let Asked::Address(url) = self.asked {
            return match self.opening {
                true if asks_for_password(capture.snapshot()) => Next::Stop(GoStop::Login),
                true => Next::Stop(GoStop::Elsewhere),
                false => self.open(url),
            };
        }
        if let Some(dismissal) = self.dismissal(capture, state) {
            return dismissal;
        }
        self.dismissed = 0;
        let is_inside = self.is_inside(capture);
        if is_inside
            && self.tries_goal(capture, state)
            && let Some(step) = self.explore(capture, state)
        {
            return Next::act(step);
        }
        if !is_inside && let Some(next) = self.open_place() {
            return next;
        }
        // The last step should have led to a page of the goal, and led to one like it.
        if is_inside && self.likely != state && self.likely == self.hoped && self.note_change(capture, state) {
            return Next::Stop(GoStop::Changed);
        }
        if is_inside && let Some(step) = self.scroll_to_goal(capture, state) {
            return Next::act(step);
        }
        if let Some(next) = self.way(capture, state) {
            return Next::act(next);
        }
        if is_inside && self.note_change(capture, state) {
            return Next::Stop(GoStop::Changed);
        }
        if !is_inside {
            return self.back_or_open(capture);
        }
        if asks_for_password(capture.snapshot()) && !self.goal.states.is_empty() {
            return Next::Stop(GoStop::Login);
        }
        if let Some(step) = self.explore_hopeful(capture, state) {
            return Next::act(step);
        }
        // A page from which a way is known is probably behind this one. Trying elements may lead anywhere.
        let is_known = !self.goal.states.is_empty();
        let back = if is_known { self.back_or_open(capture) } else { Next::Stop(GoStop::NoWay) };
        match back {
            Next::Stop(_) => match self.explore(capture, state) {
                Some(step) => Next::act(step),
                None if is_known => back,
                None => self.back_or_open(capture),
            },
            back => back,
        }
    }

    /// Returns how to dismiss what is in front of the page; `None` if nothing is.
    fn dismissal(&mut self, capture: &ScreenCapture, state: Option<i64>) -> Option<Next> {
        let structures = capture.structures()?;
        let front = &structures.front;
        let interrupt =
            state.and_then(|state| self.graph.as_ref()?.interrupts.iter().find(|interrupt| interrupt.state == state));
        let is_foreign = front.dialog && structures.below.as_ref().is_some_and(|below| below.app != front.app);
        let leads_on = state.is_some_and(|state| {
            self.goal.states.contains(&state) || self.edge_from(Some(state), &|edge| self.is_usable(edge)).is_some()
        });
        if interrupt.is_none() && !is_foreign && (!front.dialog || leads_on) {
            return None;
        }
        if self.dismissed >= MAX_DISMISSALS {
            return Some(Next::Stop(GoStop::Covered));
        }
        let known: Vec<Edge> = interrupt.map(|interrupt| interrupt.dismissals.clone()).unwrap_or_default();
        for edge in known.iter().filter(|edge| self.is_usable(edge)) {
            if let Some(plan) = self.plan_of(capture, edge) {
                self.dismissed += 1;
                return Some(Next::act(Step { kind: GoStepKind::Dismiss, ..Step::of(edge, plan, None) }));
            }
        }
        // Back usually closes a dialog without agreeing.
        self.dismissed += 1;
        Some(Next::act(Step::plain(GoStepKind::Dismiss, Plan::single(Verb::Back, Input::Back))))
    }

    /// Returns the step that brings the goal into sight on a page that has it. It is tried once on each page.
    fn scroll_to_goal(&mut self, capture: &ScreenCapture, state: Option<i64>) -> Option<Step> {
        let here = [state, self.likely].into_iter().flatten().find(|page| self.goal.states.contains(page))?;
        let label = self.goal.element.clone().or(self.goal.text.clone())?;
        if !scrolls(capture) || !self.scrolled.insert((Some(here), label.clone())) {
            // The page is known to have had it, and does not have it now.
            if Some(here) == state {
                self.goal.states.remove(&here);
            }
            return None;
        }
        Some(Step::scroll(self.call, &label))
    }

    /// Returns whether a walk may use an edge.
    pub(super) fn is_usable(&self, edge: &Edge) -> bool {
        let Some(action) = &edge.what else { return false };
        self.is_possible(edge) && action.slots.is_empty() && (self.params.allow_risky || !self.is_risky(action))
    }

    /// Returns whether a walk could use an edge if it needed no text and were not risky.
    fn is_possible(&self, edge: &Edge) -> bool {
        let Some(action) = &edge.what else { return false };
        let is_known = match action.verb {
            // Equal elements may have changed their order, so the right one is not known.
            Verb::Tap | Verb::LongPress | Verb::DoubleTap | Verb::Hover => action
                .target
                .as_ref()
                .is_some_and(|target| target.ordinal.is_none() && !matches!(target.role, Role::Switch | Role::Field)),
            Verb::Back | Verb::Home | Verb::Launch | Verb::Fill | Verb::Text => true,
            _ => false,
        };
        is_known && !self.failed.contains(&(edge.from, edge.action_key.clone()))
    }

    fn is_risky(&self, action: &Action) -> bool {
        action.target.as_ref().is_some_and(|target| self.rules.is_risky_target(target))
    }

    /// Returns the next step of the known way: from the state in front, else from the page that it probably is.
    fn way(&mut self, capture: &ScreenCapture, state: Option<i64>) -> Option<Step> {
        let length = |walk: &Self, page| walk.way_of(page, &|edge| walk.is_usable(edge)).map(|(_, length)| length);
        let likely = self.likely.filter(|likely| Some(*likely) != state).map(Some);
        // The longer way may lead back to where the shorter one begins.
        let mut pages: Vec<Option<i64>> = [Some(state), likely].into_iter().flatten().collect();
        pages.sort_by_key(|page| length(self, *page).unwrap_or(usize::MAX));
        let step = pages.into_iter().find_map(|page| self.way_from(capture, page));
        if step.is_none() {
            self.note_what_blocks(state);
        }
        step
    }

    fn way_from(&mut self, capture: &ScreenCapture, page: Option<i64>) -> Option<Step> {
        loop {
            let edge = self.edge_from(page, &|edge| self.is_usable(edge))?;
            if let Some(plan) = self.plan_of(capture, &edge) {
                return Some(Step::of(&edge, plan, self.name_of(edge.to)));
            }
            let is_there = self.front == page;
            if is_there && let Some(step) = self.scroll_for(capture, &edge) {
                return Some(step);
            }
            if let Some((plan, edge)) = self.plan_of_renamed(capture, &edge) {
                return Some(Step::of(&edge, plan, self.name_of(edge.to)));
            }
            if !is_there && let Some(step) = self.scroll_for(capture, &edge) {
                return Some(step);
            }
            self.failed.insert((edge.from, edge.action_key.clone()));
        }
    }

    /// Notes why no way can be used, if there is one that only a risky element or a text keeps from being used.
    fn note_what_blocks(&mut self, state: Option<i64>) {
        let allows = |edge: &Edge, risky: bool, text: bool| {
            let Some(action) = &edge.what else { return false };
            self.is_possible(edge)
                && (text || action.slots.is_empty())
                && (risky || self.params.allow_risky || !self.is_risky(action))
        };
        let blocked = [
            (GoStop::Risky, self.edge_from(state, &|edge| allows(edge, true, false))),
            (GoStop::NeedsText, self.edge_from(state, &|edge| allows(edge, true, true))),
        ];
        let first = blocked.into_iter().find_map(|(stop, edge)| Some((stop, edge?.action)));
        self.blocked = first.or(self.blocked.take());
    }

    /// Returns the step that scrolls to the target of an edge, once for each page.
    fn scroll_for(&mut self, capture: &ScreenCapture, edge: &Edge) -> Option<Step> {
        let wanted = edge.what.as_ref()?.target.as_ref()?;
        let title = target::title(wanted).filter(|title| !title.is_empty())?.trim_end_matches('…').to_owned();
        (scrolls(capture) && self.scrolled.insert((Some(edge.from), title.clone())))
            .then(|| Step::scroll(self.call, &title))
    }

    /// Returns the plan for an edge; `None` if its target is not in sight, or is risky as it is now.
    pub(super) fn plan_of(&self, capture: &ScreenCapture, edge: &Edge) -> Option<Plan> {
        let action = edge.what.as_ref()?;
        let text = |name: &str| action.params.get(name).and_then(|value| value.as_str()).map(str::to_owned);
        match action.verb {
            Verb::Back => Some(Plan::single(Verb::Back, Input::Back)),
            Verb::Home => Some(Plan::single(Verb::Home, Input::Home)),
            Verb::Launch => {
                let package = text("package")?;
                self.call.device().check_app(&package).ok()?;
                Some(Plan::launch(&package))
            }
            verb => self.touch(capture, verb, action.target.as_ref()?),
        }
    }

    /// Returns the plan that touches a described element, if it is in sight and may be touched.
    pub(super) fn touch(&self, capture: &ScreenCapture, verb: Verb, wanted: &Target) -> Option<Plan> {
        touching::touch(capture, verb, wanted, (!self.params.allow_risky).then_some(&self.rules))
    }

    /// Returns the last resorts: Back, as long as it stays in the app, then the app itself.
    fn back_or_open(&mut self, capture: &ScreenCapture) -> Next {
        let why = self.blocked.as_ref().map_or(GoStop::NoWay, |(stop, _)| *stop);
        let is_unknown = self.goal.states.is_empty() && self.depth == 0;
        if is_unknown && (self.params.app.is_none() || self.opening) {
            return Next::Stop(why);
        }
        let is_inside = self.is_inside(capture);
        // In a browser, Back may lead to pages of other sites that the user saw before.
        let most = self.explored + if self.is_browser() { 0 } else { MAX_BACKS };
        match self.app_to_open() {
            Some(app) if !is_inside && !self.opening => self.open(&app),
            _ if is_inside && !is_unknown && self.may_go_back() && self.backs < most && self.blocked.is_none() => {
                self.backs += 1;
                self.depth = self.depth.saturating_sub(1);
                Next::act(Step::plain(GoStepKind::Way, Plan::single(Verb::Back, Input::Back)))
            }
            _ => Next::Stop(why),
        }
    }

    /// Returns whether a page from which a way may lead on is behind the one in front. Of an unknown goal, only the pages that
    /// were opened to find it are left again.
    fn may_go_back(&self) -> bool {
        !self.goal_pages.is_empty() || self.depth > 0
    }

    /// Returns the step that opens the app of the goal where another one is in front of a phone, once.
    fn open_place(&mut self) -> Option<Next> {
        let app = self.app_to_open().filter(|_| !self.opening && !self.is_browser())?;
        Some(self.open(&app))
    }

    /// Notes what is known of the goal if it has changed; returns whether it has.
    fn note_change(&mut self, capture: &ScreenCapture, state: Option<i64>) -> bool {
        self.changed = self.changed_goal(capture, state);
        self.changed.is_some()
    }

    fn is_browser(&self) -> bool {
        self.call.device().check_tabs().is_ok()
    }

    /// Returns the app of the goal as it can be opened. A site is opened by its name in a browser; on a phone, the app that
    /// shows it is.
    fn app_to_open(&self) -> Option<String> {
        let place = self.place.as_ref()?;
        let app = match &place.site {
            Some(site) if self.is_browser() => site,
            _ => &place.app,
        };
        self.call.device().check_app(app).ok().map(|()| app.clone())
    }

    /// Returns the step that relaunches the app where the walk would end, if the caller allows it, once. Everything may then
    /// be tried again.
    pub(super) fn recovery(&mut self, stopped: GoStop) -> Option<Step> {
        let may_help = matches!(stopped, GoStop::NoWay | GoStop::Covered | GoStop::Unreadable);
        if !self.params.recover || !may_help || std::mem::replace(&mut self.recovered, true) {
            return None;
        }
        let app = self.app_to_open()?;
        self.failed.clear();
        self.scrolled.clear();
        (self.backs, self.dismissed, self.depth, self.opening) = (0, 0, 0, true);
        Some(Step::plain(GoStepKind::Recover, Plan::relaunch(&app).recovery()))
    }

    fn open(&mut self, what: &str) -> Next {
        self.opening = true;
        Next::act(Step::plain(GoStepKind::Open, Plan::launch(what)))
    }
}

/// Returns whether something on the page scrolls.
fn scrolls(capture: &ScreenCapture) -> bool {
    capture.snapshot().content().any(|n| n.is(Flag::Scrollable) && n.is(Flag::Visible))
}

/// Returns whether the site of an address is in front.
fn is_at(capture: &ScreenCapture, url: &str) -> bool {
    let shown = capture.structures().and_then(|structures| structures.front.site.clone());
    shown.is_some() && shown == site::name_of(url)
}
