//! One step of a walk: performs it, reads the page, and compares it with the expected one.

use std::collections::HashSet;
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::go::{GoStep, GoStepKind};
use afd_proto::vocabulary::By;
use serde::Serialize;

use super::state::Walk;
use crate::app::act::failing::{is_about_page, is_unsent};
use crate::app::act::plan::{Plan, Steps};
use crate::app::act::scroll::Search;
use crate::app::act::target_spec::{TargetSpec, named_target};
use crate::app::act::then::{PATIENCE, patience};
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::visual::goal::Asked;
use crate::app::{Call, Error, Result};
use afd_experience::visual::graph::Edge;
use afd_proto::vocabulary::Verb;
use afd_screen::page::folding::fold;
use afd_screen::page::target;

/// Maximum duration of a search for an element by scrolling.
const SEARCH: Duration = Duration::from_secs(30);

/// A step to take.
pub(super) struct Step {
    pub kind: GoStepKind,
    pub plan: Plan,
    /// The edge of the known way.
    pub edge: Option<Edge>,
    /// Name of the page to which it should lead.
    pub expected: Option<String>,
}

impl Step {
    /// Creates a step of the known way.
    pub(super) fn of(edge: &Edge, plan: Plan, expected: Option<String>) -> Self {
        Self { kind: GoStepKind::Way, plan, edge: Some(edge.clone()), expected }
    }

    /// Creates a step of which it is not known where it leads.
    pub(super) fn plain(kind: GoStepKind, plan: Plan) -> Self {
        Self { kind, plan, edge: None, expected: None }
    }

    /// Creates a step that scrolls to a label or text.
    pub(super) fn scroll(call: &Call, text: &str) -> Self {
        let search = Search { text: text.to_owned(), by: None, exact: false, only_down: false, timeout: SEARCH };
        let mut plan = Plan::of(Verb::ScrollTo, Steps::Search(search));
        // Typed text must not enter memory as the label of a target.
        match call.core.experience.secrets.was_typed(text) {
            true => plan.action.slots.push("text".to_owned()),
            false => plan.action.target = Some(named_target(By::Text, text)),
        }
        Self::plain(GoStepKind::Scroll, plan)
    }

    fn mean(&self) -> Option<Duration> {
        let ms = self.edge.as_ref().and_then(|edge| edge.mean_ms)?;
        u64::try_from(ms).ok().map(Duration::from_millis)
    }
}

/// Returns the record of a step that was not taken yet.
pub(super) fn planned(step: &Step) -> GoStep {
    GoStep {
        kind: step.kind,
        action: step.plan.sentence(),
        event_id: None,
        expected: step.expected.clone(),
        probability: step.edge.as_ref().map(|edge| (edge.probability * 1000.0).round() / 1000.0),
        led_to: None,
        as_expected: None,
        failure_cause: None,
    }
}

/// What followed a step.
pub(super) enum Taken {
    /// The page in front.
    Page(Box<ScreenCapture>),
    /// Another call acted on the device meanwhile.
    Disturbed(Box<ScreenCapture>),
}

/// The uid of a step's event.
#[derive(Serialize)]
struct StepEvent(String);

impl Walk<'_> {
    /// Takes a step. `state` is the state in front before it.
    ///
    /// # Errors
    /// If the action failed in a way that ends the walk, or if the page cannot be read afterwards.
    pub(super) async fn take(&mut self, step: Step, before: &ScreenCapture, state: Option<i64>) -> Result<Taken> {
        let mut taken = planned(&step);
        self.blocked = None;
        let (edge, mean, kind) = (step.edge.clone(), step.mean(), step.kind);
        let touched = match &step.plan.target_spec {
            Some(TargetSpec::Described(wanted)) => target::title(&wanted.target).map(str::to_owned),
            _ => None,
        };
        let (verb, ticket) = (step.plan.action.verb, self.call.device().queue()?);
        let plan = Plan { decided_at: Some(before.reading.inputs), ..step.plan };
        let performed = self.call.perform_once(plan, None, ticket, |done| StepEvent(done.event)).await;
        let (event, done) = match performed {
            Ok(performed) => performed,
            Err(error) => return self.not_performed(taken, error, edge, verb).await,
        };
        self.opened |= kind == GoStepKind::Open;
        taken.event_id = Some(event.0);
        // From here on the step was taken, even if the page cannot be read.
        self.steps.push(taken);
        // Where another page is expected, a slow one gets more time.
        let least = if edge.is_some() { 2 * PATIENCE } else { PATIENCE };
        let patience = patience(mean, least);
        let expected = edge.as_ref().filter(|_| kind == GoStepKind::Way).map(|edge| edge.to);
        let capture = self.call.page_after(&done, patience, expected).await?;
        if capture.reading.inputs != done.inputs {
            return Ok(Taken::Disturbed(Box::new(capture)));
        }
        let now = self.call.state_in_front(&capture).await;
        let led_to = match now {
            Some(now) => self.name_of(now).or(capture.place().title),
            None => capture.place().title,
        };
        // Scrolling stays on the page to which the step before led.
        self.hoped = if kind == GoStepKind::Scroll { self.hoped } else { expected };
        let is_perhaps = expected.is_some_and(|expected| self.is_perhaps(&capture, now, expected));
        // Whether a page is the expected one under another name is not known.
        let as_expected =
            expected.map(|expected| now == Some(expected)).filter(|as_expected| *as_expected || !is_perhaps);
        if let Some(taken) = self.steps.last_mut() {
            (taken.led_to, taken.as_expected) = (led_to, as_expected);
        }
        let is_same = before.place().screen == capture.place().screen;
        let is_same_page = is_same || (now.is_some() && now == state && has_same_elements(before, &capture));
        if kind == GoStepKind::Explore && is_same_page {
            self.choices.extend(self.tried_kind.take());
        }
        if kind == GoStepKind::Explore && !is_same_page {
            self.depth += 1;
            let is_page = capture.reliable() && capture.structures().is_some_and(|s| !s.front.dialog);
            self.is_behind |= is_page && self.is_named_like_goal(&touched);
        }
        // Back left the app, so the page before was its first; or Back does nothing here.
        if verb == Verb::Back && edge.is_none() && (is_same || !self.is_inside(&capture)) {
            self.backs = u32::MAX;
        }
        if as_expected.is_none_or(|as_expected| !as_expected) && expected.is_some() {
            self.relearn(&capture).await;
        }
        self.judge(edge, kind, (state, now), is_same);
        Ok(Taken::Page(Box::new(capture)))
    }

    /// Marks an action that did not lead where it should, so that the walk does not try it again.
    fn judge(
        &mut self,
        edge: Option<Edge>,
        kind: GoStepKind,
        (before, now): (Option<i64>, Option<i64>),
        is_same: bool,
    ) {
        let Some(edge) = edge else { return };
        let missed = match kind {
            GoStepKind::Way => now != Some(edge.to),
            _ => is_same || (now.is_some() && now == before),
        };
        if missed {
            self.failed.insert((edge.from, edge.action_key));
        }
    }

    /// Handles an action that was not performed. The walk goes on if only the page has changed.
    async fn not_performed(
        &mut self,
        mut taken: GoStep,
        error: Error,
        edge: Option<Edge>,
        verb: Verb,
    ) -> Result<Taken> {
        taken.failure_cause = Some(error.code.name().to_owned());
        let is_repeated =
            self.steps.last().is_some_and(|last| last.failure_cause.is_some() && last.action == taken.action);
        // A browser refuses Back on the first page of its history.
        let is_end = verb == Verb::Back && error.code == ErrorCode::DeviceError;
        let is_disturbed = error.code == ErrorCode::Conflict;
        let goes_on = is_about_page(error.code) || is_end || is_disturbed;
        if !is_unsent(error.code) || self.steps.iter().any(|step| step.event_id.is_some()) {
            self.steps.push(taken);
        }
        if !goes_on {
            return Err(error);
        }
        if is_end {
            self.backs = u32::MAX;
        }
        if let Some(edge) = edge.filter(|_| is_repeated || is_end) {
            self.failed.insert((edge.from, edge.action_key));
        }
        let capture = self.call.settled_page().await?;
        Ok(if is_disturbed { Taken::Disturbed(Box::new(capture)) } else { Taken::Page(Box::new(capture)) })
    }

    /// Returns whether an action names an element that has the name of the goal.
    fn is_named_like_goal(&self, title: &Option<String>) -> bool {
        matches!(self.asked, Asked::Words(_))
            && title.as_deref().is_some_and(|title| fold(title) == fold(self.asked.words().0))
    }
}

/// Returns whether at least half of the titles of two captures are the same. The pages of two items are one state, but have
/// other elements.
fn has_same_elements(before: &ScreenCapture, after: &ScreenCapture) -> bool {
    let titles = |capture: &ScreenCapture| -> HashSet<String> {
        capture.refs().iter().map(|element| element.label.title.clone()).collect()
    };
    let (before, after) = (titles(before), titles(after));
    2 * before.intersection(&after).count() >= before.union(&after).count()
}
