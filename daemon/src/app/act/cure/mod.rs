//! Recovering from a failure: chooses actions one after another, and checks after each one whether the trouble is gone.
//!
//! First come the actions that fixed the same failure on the same page before, best first ([`known`]), then a ladder of
//! general means ([`ladder`]). Invariants:
//!
//! * Nothing is done if the screen shows no trouble ([`trouble`]).
//! * Each action is sent at most once and recorded as an event that is linked to the failure.
//! * Risky elements are not touched, and a page that has a field with text is not left, unless the caller allows it.
//! * A recovery holds the device's lease. It ends between two actions if it is cancelled, if its client has gone, if the
//!   daemon stops, or if another call acted on the device.

mod auto;
mod known;
mod ladder;
mod retry;
mod trouble;

use std::collections::HashSet;
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::recover::{RecoverAutoResult, RecoverBasis, RecoverStep, RecoverStop};
use serde::Serialize;
use tokio::time::Instant;

use crate::app::act::failing::{is_about_page, is_unsent};
use crate::app::act::keyed::Key;
use crate::app::act::leased::Leased;
use crate::app::act::plan::Plan;
use crate::app::act::then::{PATIENCE, patience};
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::visual::state_ref;
use crate::app::{Call, Error, Result, scope};
use afd_experience::visual::states;
use afd_screen::page::outline::quoted;
use afd_screen::page::risk::RiskRules;

pub(in crate::app) use auto::auto;
use known::Known;
use trouble::Trouble;

/// Maximum length of a name in a sentence, in characters.
const MAX_NAME: usize = 60;

/// What a recovery may do.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// Maximum number of actions.
    max_steps: usize,
    /// Whether risky elements may be touched, and pages with a filled field may be left.
    allow_risky: bool,
    /// Whether the page on which the action failed may be left, and the app relaunched.
    may_leave: bool,
    deadline: Instant,
}

/// An action chosen to recover.
struct Choice {
    basis: RecoverBasis,
    plan: Plan,
    /// Number of times that it worked before, and was tried; `None` for general means.
    counts: Option<(i64, i64)>,
}

/// The end of a recovery.
struct Ended {
    stopped: RecoverStop,
    failed_with: Option<ErrorCode>,
    /// The page in front, if it could be read.
    page: Option<ScreenCapture>,
}

/// A recovery in progress.
struct Cure<'a> {
    call: &'a Call,
    trouble: Trouble,
    bounds: Bounds,
    rules: RiskRules,
    /// What fixed the failure here before and was not tried yet, best first.
    known: Vec<Known>,
    /// General means that were tried, with the page on which they were.
    tried: HashSet<(RecoverBasis, Option<String>)>,
    dismissed: u32,
    /// Whether what is left would leave a page that has a field with text.
    unsaved: bool,
    steps: Vec<RecoverStep>,
    started: Instant,
    key: Option<&'a Key>,
}

/// The uid of an action's event.
#[derive(Serialize)]
struct StepEvent(String);

impl<'a> Cure<'a> {
    fn new(call: &'a Call, trouble: Trouble, known: Vec<Known>, bounds: Bounds, key: Option<&'a Key>) -> Self {
        Self {
            call,
            trouble,
            bounds,
            rules: call.core.risk_rules(),
            known,
            tried: HashSet::new(),
            dismissed: 0,
            unsaved: false,
            steps: Vec::new(),
            started: Instant::now(),
            key,
        }
    }

    /// Acts until the trouble is gone or nothing is left to do.
    ///
    /// # Errors
    /// If the device fails, or another session holds its lease, before anything was sent.
    async fn run(&mut self, first: ScreenCapture, leased: &mut Leased<'_>) -> Result<Ended> {
        let mut capture = first;
        loop {
            if self.trouble.is_over(self.call, &capture) {
                return Ok(self.end(RecoverStop::Recovered, Some(capture)));
            }
            if let Some(stopped) = self.must_stop() {
                return Ok(self.end(stopped, Some(capture)));
            }
            let choice = match self.choose(&capture).await {
                Ok(Some(choice)) => choice,
                Ok(None) => {
                    let stopped = if self.unsaved { RecoverStop::Unsaved } else { RecoverStop::NothingLeft };
                    return Ok(self.end(stopped, Some(capture)));
                }
                Err(error) => return self.failed(error, Some(capture)),
            };
            if let Err(error) = leased.renew() {
                return self.failed(error, Some(capture));
            }
            let taken = planned(&choice);
            scope::report(self.steps.len() as u64, None, taken.action.clone());
            if let Some(key) = self.key {
                let mut so_far = self.so_far(&self.end(RecoverStop::Interrupted, None), None);
                let pending = Some(ErrorCode::OutcomeUnknown.name().to_owned());
                so_far.steps.push(RecoverStep { failure_cause: pending, ..taken.clone() });
                key.progress(self.call, so_far).await;
            }
            match self.take(choice, taken, &capture).await {
                Ok((page, false)) => capture = page,
                Ok((page, true)) => return Ok(self.end(RecoverStop::Disturbed, Some(page))),
                Err(error) => return self.failed(error, None),
            }
        }
    }

    /// Performs an action and reads the page. Returns the page, and whether another call acted on the device meanwhile.
    async fn take(
        &mut self,
        choice: Choice,
        mut taken: RecoverStep,
        before: &ScreenCapture,
    ) -> Result<(ScreenCapture, bool)> {
        let ticket = self.call.device().queue()?;
        let plan = Plan { decided_at: Some(before.reading.inputs), ..choice.plan };
        let performed = self.call.perform_once(plan, None, ticket, |done| StepEvent(done.event)).await;
        let (event, done) = match performed {
            Ok(performed) => performed,
            Err(error) => {
                let (cause, is_disturbed) = (error.code, error.code == ErrorCode::Conflict);
                if !is_unsent(cause) || !self.steps.is_empty() {
                    self.steps.push(RecoverStep { failure_cause: Some(cause.name().to_owned()), ..taken });
                }
                // Another means may work where this one did not.
                if !is_about_page(cause) && cause != ErrorCode::DeviceError && !is_disturbed {
                    return Err(error);
                }
                return Ok((self.call.settled_page().await?, is_disturbed));
            }
        };
        taken.event_id = Some(event.0);
        self.steps.push(taken);
        let capture = self.call.page_after(&done, patience(None, PATIENCE), None).await?;
        let led_to = self.call.name_in_front(&capture).await;
        if let Some(taken) = self.steps.last_mut() {
            taken.led_to = led_to;
        }
        let is_disturbed = capture.reading.inputs != done.inputs;
        Ok((capture, is_disturbed))
    }

    fn must_stop(&self) -> Option<RecoverStop> {
        if scope::current().is_asked_to_stop() {
            return Some(RecoverStop::Cancelled);
        }
        if *self.call.core.runtime.stopping().borrow() {
            return Some(RecoverStop::Interrupted);
        }
        if self.steps.len() >= self.bounds.max_steps {
            return Some(RecoverStop::Limit);
        }
        (Instant::now() >= self.bounds.deadline).then_some(RecoverStop::Timeout)
    }

    fn end(&self, stopped: RecoverStop, page: Option<ScreenCapture>) -> Ended {
        Ended { stopped, failed_with: None, page }
    }

    /// Ends a recovery because of an error. Before the first action, the error is the result of the call.
    fn failed(&self, error: Error, page: Option<ScreenCapture>) -> Result<Ended> {
        if self.steps.is_empty() {
            return Err(error);
        }
        let stopped = if error.code == ErrorCode::Cancelled { RecoverStop::Cancelled } else { RecoverStop::Failed };
        Ok(Ended { stopped, failed_with: Some(error.code), page })
    }

    /// Returns the result, without the page at the end. `at` is the name of that page.
    fn so_far(&self, ended: &Ended, at: Option<&str>) -> RecoverAutoResult {
        RecoverAutoResult {
            recovered: ended.stopped == RecoverStop::Recovered,
            stopped: ended.stopped,
            text: self.sentence(ended, at),
            failure_cause: self.trouble.cause.clone(),
            failure_event_id: self.trouble.event.clone(),
            at: None,
            steps: self.steps.clone(),
            failed_with: ended.failed_with.map(|cause| cause.name().to_owned()),
            duration_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            look: None,
            replayed: false,
        }
    }

    /// Returns the result in one sentence.
    fn sentence(&self, ended: &Ended, at: Option<&str>) -> String {
        let after = self.trouble.cause.as_ref().map(|cause| format!(" after {cause}")).unwrap_or_default();
        let done: Vec<&str> = self.steps.iter().map(|step| step.action.as_str()).collect();
        let by = if done.is_empty() { String::new() } else { format!(" by {}", done.join(", then ")) };
        if ended.stopped == RecoverStop::Recovered {
            let sign = self.trouble.sign(self.call);
            return match done.is_empty() {
                true => format!("nothing to do{after}: {sign}"),
                false => format!("recovered{after}{by}: {sign}"),
            };
        }
        let place = at.map(|at| format!(" on {}", quoted(at, MAX_NAME))).unwrap_or_default();
        let cause = ended.failed_with.map(|cause| format!(" ({})", cause.name())).unwrap_or_default();
        format!("not recovered{after}{by}: stopped{place}, because {}{cause}", because(ended.stopped))
    }

    /// Returns the result with the name of the page at the end.
    async fn result(&self, ended: &Ended) -> RecoverAutoResult {
        let name = match &ended.page {
            Some(page) => self.call.name_in_front(page).await,
            None => None,
        };
        let state = match &ended.page {
            Some(page) => self.call.state_in_front(page).await,
            None => None,
        };
        let at = match state {
            // Without a name, the result still says what was done.
            Some(state) => self.call.core.store.read(move |c| states::get(c, state)).await.ok().flatten(),
            None => None,
        };
        RecoverAutoResult { at: at.map(|state| state_ref(&state)), ..self.so_far(ended, name.as_deref()) }
    }
}

/// Returns the record of an action that was not sent yet.
fn planned(choice: &Choice) -> RecoverStep {
    RecoverStep {
        basis: choice.basis,
        action: choice.plan.sentence(),
        event_id: None,
        worked: choice.counts.map(|(worked, _)| worked),
        tried: choice.counts.map(|(_, tried)| tried),
        led_to: None,
        failure_cause: None,
    }
}

/// Returns the end of the sentence that says why a recovery stopped.
fn because(stopped: RecoverStop) -> &'static str {
    match stopped {
        RecoverStop::Recovered => "the device has recovered",
        RecoverStop::NothingLeft => "nothing is left to try",
        RecoverStop::Unsaved => "the page has a field with text, which leaving it could lose (allowRisky allows it)",
        RecoverStop::Disturbed => "another call acted on the device",
        RecoverStop::Failed => "an action failed",
        RecoverStop::Limit => "the maximum number of actions is used up",
        RecoverStop::Timeout => "the time is used up",
        RecoverStop::Cancelled => "the call was cancelled",
        RecoverStop::Interrupted => "the daemon stopped",
    }
}

/// Maximum duration of a recovery that an action asks for.
const RETRY_LIMIT: Duration = Duration::from_secs(30);
