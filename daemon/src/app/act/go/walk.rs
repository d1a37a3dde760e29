//! The walk: decide, act, look, compare, until the goal is reached or nothing is left to do.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::act::ActCall;
use afd_proto::go::{GoStep, GoStop, GoToParams, GoToResult};
use afd_proto::visual::StateRef;
use serde_json::json;
use tokio::time::Instant;

use super::next::Next;
use super::state::Walk;
use super::step;
use crate::app::act::keyed::Key;
use crate::app::act::leased::Leased;
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::visual::goal::{Asked, Goal, called, on_page, resolve};
use crate::app::visual::graph::{Place, known_of, scope_in_front};
use crate::app::visual::said::{Asker, Source};
use crate::app::visual::{graph, state_ref};
use crate::app::{Call, Error, Result, scope};
use afd_experience::visual::graph::Graph;
use afd_experience::visual::scope as scopes;
use afd_experience::visual::states;
use afd_screen::page::outline::quoted;
use afd_screen::page::pattern;
use afd_store::{Connection, Result as Stored};

/// Maximum number of apps in which the goal is looked up for an error.
const MAX_APPS: usize = 20;
/// Maximum length of a page's name in a sentence, in characters.
const MAX_NAME: usize = 60;

/// The end of a walk.
struct Ended {
    stopped: GoStop,
    cause: Option<ErrorCode>,
    /// The page in front, if it could be read.
    page: Option<ScreenCapture>,
}

/// Returns the end of the sentence that says why a walk stopped.
fn because(stopped: GoStop) -> &'static str {
    match stopped {
        GoStop::Arrived => "arrived",
        GoStop::NoWay => "no known way leads on from here",
        GoStop::Risky => "the only known way leads through an element that is marked as risky",
        GoStop::Changed => "the goal seems to have changed",
        GoStop::NeedsText => "the only known way leads through a field that needs text",
        GoStop::Login => "the page asks for a password",
        GoStop::Covered => "something in front of the page does not go away",
        GoStop::Unreadable => "the screen cannot be read reliably",
        GoStop::Disturbed => "another call acted on the device",
        GoStop::Failed => "an action failed",
        GoStop::Limit => "the maximum number of steps is used up",
        GoStop::Timeout => "the time is used up",
        GoStop::Elsewhere => "another page came instead of the one with the address",
        GoStop::Cancelled => "the call was cancelled",
        GoStop::Interrupted => "the daemon stopped",
    }
}

/// Walks to a goal.
///
/// # Errors
/// If the device cannot be read or another session holds its lease before the first step, or if nothing known fits the
/// goal and nothing may be tried.
pub(super) async fn run(call: &Call, params: GoToParams, asked: Asked, key: Option<&Key>) -> Result<GoToResult> {
    let started = Instant::now();
    let mut leased = Leased::take(call)?;
    let first = call.settled_page().await?;
    let mut walk = Walk {
        call,
        params: &params,
        asked: &asked,
        goal: Goal::default(),
        goal_pages: BTreeSet::new(),
        place: None,
        graph: None,
        front: None,
        by_title: HashMap::new(),
        here: Vec::new(),
        likely: None,
        hoped: None,
        changed: None,
        rules: call.core.risk_rules(),
        failed: HashSet::new(),
        scrolled: HashSet::new(),
        tried: HashSet::new(),
        tried_kind: None,
        choices: HashSet::new(),
        explored: 0,
        depth: 0,
        visited: HashSet::new(),
        backs: 0,
        dismissed: 0,
        opening: false,
        opened: false,
        recovered: false,
        is_behind: false,
        blocked: None,
        doubt: None,
        steps: Vec::new(),
        started,
        deadline: started + Duration::from_millis(params.timeout_ms()),
        key,
    };
    walk.find_goal(&first).await?;
    let ended = walk.go(first, &mut leased).await?;
    walk.result(ended).await
}

/// Returns the goal, and what is known of its app or site. It is looked up in `place`; with `anywhere`, the id of a state is
/// enough for one of another app.
fn known_goal(
    connection: &Connection,
    place: Option<&scopes::Scope>,
    (asked, asker, anywhere): (&Asked, &Asker, bool),
) -> Stored<(Place, Result<Option<Goal>>)> {
    let found = known_of(connection, place)?;
    let goal = match &found {
        Some((known, graph)) => resolve(connection, known, graph, (asked, asker))?,
        None => Ok(None),
    };
    if let (Ok(None), Asked::State(id), true) = (&goal, asked, anywhere)
        && let [state] = states::by_id(connection, id)?.as_slice()
        && let Some(known) = scopes::get(connection, state.app)?
    {
        let graph = graph::read(connection, &known)?;
        let goal = resolve(connection, &known, &graph, (asked, asker))?;
        return Ok((Some((known, graph)), goal));
    }
    Ok((found, goal))
}

/// Adds what is known of the app or site in front to the graph of the goal's, unless it is the same.
fn with_front(connection: &Connection, graph: Place, front: Option<&scopes::Scope>) -> Stored<Option<Graph>> {
    let is_other = graph.as_ref().is_none_or(|(known, _)| Some(&known.scope) != front);
    let other = if is_other { known_of(connection, front)? } else { None };
    Ok(match (graph, other) {
        (Some((_, graph)), Some((_, other))) => Some(graph.plus(other)),
        (graph, other) => graph.or(other).map(|(_, graph)| graph),
    })
}

impl Walk<'_> {
    /// Reads what is known of the app in front and of the app of the goal, and resolves the goal: in the app that the caller
    /// names, else in the one in front. The id of a state is enough for one of another app.
    async fn find_goal(&mut self, capture: &ScreenCapture) -> Result<()> {
        let front = scope_in_front(capture);
        let named = self.params.app.as_ref().map(|app| scopes::Scope { app: app.clone(), site: None });
        let (asked, asker, is_named) = (self.asked.clone(), self.call.asker(), named.is_some());
        let place = named.or_else(|| front.clone());
        let read = move |c: &Connection| {
            let (found, goal) = known_goal(c, place.as_ref(), (&asked, &asker, !is_named))?;
            let place = found.as_ref().map(|(known, _)| known.scope.clone()).or(place);
            Ok((place, with_front(c, found, front.as_ref())?, goal))
        };
        let goal;
        (self.place, self.graph, goal) = self.call.core.store.read_all(read).await?;
        let (words, field) = self.asked.words();
        let (words, goal) = (words.to_owned(), goal?);
        if goal.is_none() && matches!(self.asked, Asked::State(_)) {
            return Err(Error::new(ErrorCode::NotFound, format!("no such state: {}", quoted(&words, MAX_NAME))).hint(
                "`afctl visual states` lists what is known; open the app first if another one is in front (afctl: --app APP)",
            ));
        }
        // The page in front may not be learned yet.
        let titles = || capture.refs().iter().map(|r| r.label.title.as_str());
        let goal = match (goal, self.asked) {
            (None, Asked::Words(words)) => on_page(titles(), words),
            (goal, _) => goal,
        };
        // Words that mean nothing known may still be on a page that is found by trying.
        self.goal = goal.unwrap_or(Goal { element: Some(words.clone()), ..Goal::default() });
        self.goal_pages = self.goal.states.clone();
        let is_hopeless = self.goal_pages.is_empty() && !matches!(self.asked, Asked::Address(_));
        if is_hopeless && self.params.explore() == 0 && self.params.app.is_none() && !self.is_in_sight(capture) {
            let elsewhere = self.apps_that_know().await?;
            let hint = match elsewhere.first() {
                Some(app) => format!("it is known in {app}: open that app first (afctl: --app {app})"),
                None => "look at the page, or set explore to let it try elements (afctl: --explore 10)".to_owned(),
            };
            let what = if self.call.core.experience.secrets.was_typed(&words) {
                "the typed text".to_owned()
            } else {
                quoted(&words, MAX_NAME)
            };
            return Err(Error::new(
                ErrorCode::NotFound,
                format!("{field}: nothing known in the app in front fits {what}"),
            )
            .hint(hint)
            .details(json!({"path": field, "apps": elsewhere})));
        }
        Ok(())
    }

    /// Reads the graphs again after a step led elsewhere: that is known now. If they cannot be read, the walk goes on with
    /// what it knew.
    pub(super) async fn relearn(&mut self, capture: &ScreenCapture) {
        let (place, front) = (self.place.clone(), scope_in_front(capture));
        let read = move |c: &Connection| with_front(c, known_of(c, place.as_ref())?, front.as_ref());
        match self.call.core.store.read_all(read).await {
            Ok(graph) => {
                self.graph = graph.or(self.graph.take());
                self.by_title.clear();
            }
            Err(error) => tracing::debug!(%error, "cannot read the graph again"),
        }
    }

    /// Returns the other apps in which the goal is known, for the error.
    async fn apps_that_know(&self) -> Result<Vec<String>> {
        let (asked, place) = (self.asked.clone(), self.place.clone());
        let found = self.call.core.store.read_all(move |c| {
            let mut apps = Vec::new();
            for known in scopes::all(c)?.into_iter().filter(|known| known.scope.site.is_none()).take(MAX_APPS) {
                if Some(&known.scope) == place.as_ref() {
                    continue;
                }
                let graph = graph::read(c, &known)?;
                let is_own = |id: &i64| graph.states.get(id).is_some_and(|state| state.app == known.id);
                let goal = called(c, &known, &graph, asked.words().0)?;
                if goal.is_some_and(|goal| goal.states.iter().any(is_own)) {
                    apps.push(known.scope.app);
                }
            }
            Ok(apps)
        });
        Ok(found.await?)
    }

    async fn go(&mut self, first: ScreenCapture, leased: &mut Leased<'_>) -> Result<Ended> {
        let mut capture = first;
        loop {
            let state = self.call.state_in_front(&capture).await;
            self.visited.extend(state);
            self.doubt = capture.doubt;
            if self.has_arrived(&capture, state) {
                return Ok(Ended { stopped: GoStop::Arrived, cause: None, page: Some(capture) });
            }
            if let Some(stopped) = self.must_stop() {
                return match stopped {
                    GoStop::Cancelled => self.failed(scope::cancelled(), Some(capture)),
                    stopped => Ok(Ended { stopped, cause: None, page: Some(capture) }),
                };
            }
            self.front = state;
            self.find_likely(&capture, state);
            self.look_around(&capture, state).await;
            let chosen = match self.next(&capture, state) {
                Next::Stop(stopped) => match self.recovery(stopped) {
                    Some(chosen) => chosen,
                    None => return Ok(Ended { stopped, cause: None, page: Some(capture) }),
                },
                Next::Act(chosen) => *chosen,
            };
            if let Err(error) = leased.renew() {
                return self.failed(error, Some(capture));
            }
            scope::report(self.steps.len() as u64, None, chosen.plan.sentence());
            if let Some(key) = self.key {
                let pending = GoStep {
                    failure_cause: Some(ErrorCode::OutcomeUnknown.name().to_owned()),
                    ..step::planned(&chosen)
                };
                let mut so_far = self.so_far(&Ended { stopped: GoStop::Interrupted, cause: None, page: None }, None);
                so_far.steps.push(pending);
                key.progress(self.call, so_far).await;
            }
            match self.take(chosen, &capture, state).await {
                Ok(step::Taken::Page(page)) => capture = *page,
                Ok(step::Taken::Disturbed(page)) => {
                    return Ok(Ended { stopped: GoStop::Disturbed, cause: None, page: Some(*page) });
                }
                Err(error) => return self.failed(error, None),
            }
        }
    }

    /// Ends a walk because of an error. Before the first step, the error is the result of the call.
    fn failed(&self, error: Error, page: Option<ScreenCapture>) -> Result<Ended> {
        if self.steps.iter().all(|step| step.event_id.is_none() && step.failure_cause.is_none()) {
            return Err(error);
        }
        let stopped = if error.code == ErrorCode::Cancelled { GoStop::Cancelled } else { GoStop::Failed };
        Ok(Ended { stopped, cause: Some(error.code), page })
    }

    fn must_stop(&self) -> Option<GoStop> {
        if scope::current().is_asked_to_stop() {
            return Some(GoStop::Cancelled);
        }
        if *self.call.core.runtime.stopping().borrow() {
            return Some(GoStop::Interrupted);
        }
        if self.steps.len() >= self.params.max_steps() as usize {
            return Some(GoStop::Limit);
        }
        (Instant::now() >= self.deadline).then_some(GoStop::Timeout)
    }

    fn so_far(&self, ended: &Ended, at: Option<StateRef>) -> GoToResult {
        let done = self.steps.iter().filter(|step| step.event_id.is_some()).count();
        let steps = if done == 1 { "1 step".to_owned() } else { format!("{done} steps") };
        let goal = self.goal_in_words(at.as_ref().filter(|_| ended.stopped == GoStop::Arrived));
        let place = at.as_ref().map(|at| format!(" on {}", quoted(&at.name, MAX_NAME))).unwrap_or_default();
        let text = match ended.stopped {
            GoStop::Arrived if done == 0 && self.goal.is_page() => format!("already at {goal}{}", self.because_of()),
            GoStop::Arrived if done == 0 => format!("{goal} is in sight on this page"),
            GoStop::Arrived => format!("arrived at {goal} in {steps}{}", self.because_of()),
            stopped => {
                let why = match (stopped, &self.blocked, self.doubt) {
                    (GoStop::Risky | GoStop::NeedsText, Some((_, action)), _) => format!(" ({action})"),
                    (GoStop::Unreadable, _, Some(doubt)) => format!(" ({doubt})"),
                    (GoStop::Changed, ..) => self.changed.as_ref().map(|what| format!(" ({what})")).unwrap_or_default(),
                    (GoStop::NoWay, ..) if self.goal_pages.is_empty() => {
                        " (nothing known there fits the goal)".to_owned()
                    }
                    _ => ended.cause.map(|cause| format!(" ({})", cause.name())).unwrap_or_default(),
                };
                format!("stopped{place} after {steps}: {}{why}", because(stopped))
            }
        };
        GoToResult {
            arrived: ended.stopped == GoStop::Arrived,
            stopped: ended.stopped,
            text,
            goal,
            at,
            steps: self.steps.clone(),
            failure_cause: ended.cause.map(|cause| cause.name().to_owned()),
            duration_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            look: None,
            replayed: false,
        }
    }

    /// Returns from what the goal is known, if it is not from its name.
    fn because_of(&self) -> String {
        match &self.goal.source {
            Some(Source::Task) => ", where a task in these words was done".to_owned(),
            Some(Source::Note(topic)) => format!(", which the note {} names", quoted(topic, MAX_NAME)),
            None => String::new(),
        }
    }

    /// Returns what the goal was taken for, in words. `arrived` is the page that was reached.
    fn goal_in_words(&self, arrived: Option<&StateRef>) -> String {
        let named = |label: &str| match self.call.core.experience.secrets.was_typed(label) {
            true => "the typed text".to_owned(),
            false => quoted(label, MAX_NAME),
        };
        if let Asked::Address(url) = self.asked {
            return quoted(pattern::origin(url), MAX_NAME);
        }
        match (&self.goal.element, &self.goal.text) {
            (Some(label), _) => named(label),
            (None, Some(text)) => format!("the text {}", named(text)),
            (None, None) => {
                let known = || self.goal.states.iter().find_map(|state| self.name_of(*state));
                let name = arrived.map(|at| at.name.clone()).or_else(known);
                format!("page {}", named(name.as_deref().unwrap_or(self.asked.words().0)))
            }
        }
    }

    async fn result(&self, ended: Ended) -> Result<GoToResult> {
        let state = match &ended.page {
            Some(page) => self.call.state_in_front(page).await,
            None => None,
        };
        let at = match state {
            Some(state) => {
                let found = self.call.core.store.read(move |c| states::get(c, state)).await;
                // Without a name, the result still says what was done.
                found.ok().flatten().map(|state| state_ref(&state))
            }
            None => None,
        };
        let mut result = self.so_far(&ended, at);
        if let (Some(then), Some(page)) = (self.params.then(), ended.page) {
            result.look = Some(self.call.look_at_end(page, then, result.duration_ms).await);
        }
        Ok(result)
    }
}
