//! Captures the outcome of an action for the caller, if the call has the parameter `then`.
//!
//! The device is released before the capture. The screen is then read until one of these outcomes is certain:
//!
//! * *Changed:* the screen differs from the screen before the action, and has settled. A page that does not settle is
//!   returned after [`SETTLE_LIMIT`].
//! * *Unchanged:* the screen is still the same after [`PATIENCE`], or after [`NOTHING_AFTER`] if memory expects another page.
//!   The wait is longer if memory knows that the action takes longer on this page: 1.5 times the longest mean time of its
//!   outcomes, but at most [`MAX_PATIENCE`].
//! * *Keyboard opened:* this counts as an outcome even if the page is the same. A keyboard that closed does not end the
//!   wait, because another page may follow.
//! * *Unknown:* another call sent input to the device meanwhile, or the screen before the action is not known.
//!
//! If memory expects another page than the one that came, the expected one may still be loading, so it is waited for
//! ([`super::stage`]). Then the outcome is compared with the expected one ([`super::surprise`]).
//!
//! The capture is recorded as an observation for the session.

use std::time::Duration;

use afd_proto::look::{KeyboardChange, Look, Then};
use afd_proto::observe::Format;
use afd_proto::vocabulary::{Action, ObservationSource, Verb};
use tokio::time::Instant;

use crate::app::act::execute::Performed;
use crate::app::act::surprise::{MAX_SURPRISE, MIN_EXPECTED};
use crate::app::memory::predict::{Expectation, Named};
use crate::app::observe::capture::{CaptureOptions, SETTLE_INTERVAL};
use crate::app::observe::outline::Shape;
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::rows::ref_rows;
use crate::app::{Call, Error, Result};
use afd_experience::memory::Place;
use afd_experience::memory::projection::NOTHING_AFTER_MS;

/// Minimum wait before an unchanged page is reported.
pub(in crate::app) const PATIENCE: Duration = Duration::from_secs(1);
/// Maximum wait before an unchanged page is reported if the action is known to take longer than [`PATIENCE`].
const MAX_PATIENCE: Duration = Duration::from_secs(5);
/// Maximum wait for a changed page to settle, measured from the first read after the action.
const SETTLE_LIMIT: Duration = Duration::from_secs(3);
/// Interval before the next read, as a percentage of the previous interval.
const GROWTH: u32 = 170;
/// Minimum wait before an unchanged page is reported if another page is expected. Memory takes an unchanged page for the
/// outcome after the same time.
const NOTHING_AFTER: Duration = Duration::from_millis(NOTHING_AFTER_MS.unsigned_abs());

impl Call {
    /// Captures the outcome of an action.
    pub(in crate::app) async fn look_then(&self, then: Then, done: &Performed) -> Look {
        let (before, inputs, action) = (&done.before, done.inputs, done.action.as_ref());
        let started = Instant::now();
        let Expectation { named: expected, mean_ms, warning } = done.expectation.clone().unwrap_or_default();
        let wanted = expected.as_ref().and_then(|named| named.prediction.expected_state(MIN_EXPECTED));
        let possible = expected.as_ref().map(|named| named.prediction.states(MAX_SURPRISE)).unwrap_or_default();
        // A page that is expected may be slow this time.
        let least = if wanted.is_some() { NOTHING_AFTER } else { PATIENCE };
        let mean = mean_ms.and_then(|ms| u64::try_from(ms).ok()).map(Duration::from_millis);
        let patience = patience(mean, least).max(least);
        let mut look = Look {
            changed: None,
            expected: expected.as_ref().filter(|named| named.is_worth_telling()).map(Named::brief),
            as_expected: None,
            surprise: None,
            warning,
            keyboard: None,
            note: None,
            news: None,
            incidents: Vec::new(),
            waited_ms: 0,
            observation: None,
            refs: None,
        };
        let outcome = match self.outcome(before, inputs, patience).await {
            Ok((capture, changed)) => {
                self.unless_stage((capture, changed), (wanted, &possible), (before, inputs)).await
            }
            Err(error) => Err(error),
        };
        let mut came = None;
        match outcome {
            Ok((mut capture, changed)) => {
                // Before the page is learned, because a page that was not known is known afterwards.
                let now = self.state_in_front(&capture).await;
                look.changed = changed;
                look.keyboard = match (before.keyboard, capture.place().keyboard) {
                    _ if before.screen.is_none() => None,
                    (false, true) => Some(KeyboardChange::Opened),
                    (true, false) => Some(KeyboardChange::Closed),
                    _ => None,
                };
                look.note = note(changed, look.keyboard, action, capture.reading.inputs == inputs);
                if let Err(error) = self.show(&mut capture, then, &mut look).await {
                    look.note = Some(failed(&error));
                }
                came = Some((capture, now));
            }
            Err(error) => look.note = Some(failed(&error)),
        }
        look.news = self.device().news();
        look.incidents = self.incidents(Some(&done.event)).await;
        if let Some((capture, now)) = &came {
            self.judge(&mut look, done, (capture, *now)).await;
        }
        look.waited_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        look
    }

    /// Reads the screen until it has changed and settled, or until `patience` has passed. Returns the last capture and
    /// whether the page changed. The latter is `None` if another call sent input to the device, or if the screen before
    /// the action is not known.
    pub(in crate::app) async fn outcome(
        &self,
        before: &Place,
        inputs: u64,
        patience: Duration,
    ) -> Result<(ScreenCapture, Option<bool>)> {
        let started = Instant::now();
        let mut distance = SETTLE_INTERVAL;
        loop {
            let first = self.device().tree(self.target.token.clone())?;
            let capture = self.capture(CaptureOptions { settle: true, wait: Duration::ZERO }, first).await?;
            if capture.reading.inputs != inputs {
                return Ok((capture, None));
            }
            let (Some(then), Some(now)) = (before.screen, capture.place().screen) else {
                return Ok((capture, None));
            };
            let (changed, over) = (then != now, started.elapsed());
            // A keyboard that opened is an outcome, even if the page is the same. A keyboard that closed may be
            // followed by another page.
            let keyboard = !before.keyboard && capture.place().keyboard;
            if keyboard && !changed && capture.settled {
                return Ok((capture, Some(false)));
            }
            if (changed && (capture.settled || over >= SETTLE_LIMIT)) || (!changed && over >= patience) {
                return Ok((capture, Some(changed)));
            }
            let rest = patience.saturating_sub(over);
            tokio::time::sleep(if changed { SETTLE_INTERVAL } else { distance.min(rest) }).await;
            distance = distance * GROWTH / 100;
        }
    }

    /// Adds a capture to `look`, and records it as seen by the session.
    pub(in crate::app) async fn show(&self, capture: &mut ScreenCapture, then: Then, look: &mut Look) -> Result<()> {
        let since = match then {
            Then::Page | Then::None => None,
            // For an unchanged page, only the difference to the session's last observation is returned.
            Then::Outline if look.changed != Some(false) => None,
            Then::Diff | Then::Outline => {
                self.core.experience.views.shown(self.session_id, self.device_id).map(|s| s.observation.clone())
            }
        };
        let format = if then == Then::Page { Format::Rows } else { Format::Outline };
        let shape = Shape { format: Some(format), since, after_action: true, ..Shape::default() };
        let mut context = self.shaped(capture, ObservationSource::Page, &shape).await?;
        if then == Then::Page {
            context.elements = None;
            let predicted = self.predicted(capture).await;
            look.refs = Some(ref_rows(capture, None, false, &self.core.risk_rules(), &predicted));
        }
        look.observation = Some(context);
        Ok(())
    }
}

/// Returns the wait before an unchanged page is the outcome, given the mean time that the action took: `least` if it is not
/// known.
pub(in crate::app) fn patience(mean: Option<Duration>, least: Duration) -> Duration {
    mean.map_or(least, |mean| (mean * 3 / 2).clamp(PATIENCE, MAX_PATIENCE))
}

fn failed(error: &Error) -> String {
    format!("the action was done; the capture failed: {}", error.message)
}

/// Returns the note about an outcome; `None` if there is nothing to add.
fn note(
    changed: Option<bool>,
    keyboard: Option<KeyboardChange>,
    action: Option<&Action>,
    alone: bool,
) -> Option<String> {
    let text = match (changed, keyboard, action.map(|a| a.verb)) {
        (None, ..) if !alone => "another call acted on the device meanwhile, so the result of this action is not known",
        (Some(false), Some(KeyboardChange::Opened), _) => "the keyboard opened",
        (Some(false), Some(KeyboardChange::Closed), _) => "the keyboard closed",
        (Some(false), None, Some(Verb::Text)) => "nothing changed: probably no field has the focus; tap a field first",
        (Some(false), None, Some(Verb::Scroll | Verb::Swipe | Verb::Drag)) => {
            "nothing changed: this is the end, or nothing here scrolls that way"
        }
        (Some(false), None, Some(Verb::ScrollTo)) => "nothing had to be scrolled",
        (Some(false), None, _) => "nothing changed",
        _ => return None,
    };
    Some(text.to_owned())
}
