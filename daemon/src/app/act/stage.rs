//! Pages that appear on the way to the expected one, such as one that loads.

use std::time::Duration;

use tokio::time::Instant;

use crate::app::observe::capture::CaptureOptions;
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::{Call, Result};
use afd_experience::memory::Place;

/// How long another known page, or a page that is not known, may be a stage on the way to the expected one.
const STAGE: Duration = Duration::from_millis(1_500);
const STAGE_UNKNOWN: Duration = Duration::from_secs(4);
/// Interval between reads while the expected page may still come.
const STAGE_INTERVAL: Duration = Duration::from_millis(300);

impl Call {
    /// Returns the row id of the state in front, if the page is known.
    pub(in crate::app) async fn state_in_front(&self, capture: &ScreenCapture) -> Option<i64> {
        let structure = &capture.structures().filter(|_| capture.reliable())?.front;
        self.recognised(structure).await.map(|recognised| recognised.state)
    }

    /// Waits until the state with the row id `expected` is in front, if another page is, which may be a stage on the way to it. A
    /// state in `possible` is no stage. `before` is the page before the action, `inputs` the number of inputs sent to the device so far. Returns the last
    /// capture, and whether the page changed.
    pub(in crate::app) async fn unless_stage(
        &self,
        (mut capture, mut changed): (ScreenCapture, Option<bool>),
        (expected, possible): (Option<i64>, &[i64]),
        (before, inputs): (&Place, u64),
    ) -> Result<(ScreenCapture, Option<bool>)> {
        let Some(expected) = expected.filter(|_| changed == Some(true)) else { return Ok((capture, changed)) };
        let started = Instant::now();
        loop {
            let now = self.state_in_front(&capture).await;
            // A page that is not known may be one that loads.
            let limit = if now.is_none() { STAGE_UNKNOWN } else { STAGE };
            let is_outcome = now.is_some_and(|now| now == expected || possible.contains(&now));
            if is_outcome || started.elapsed() >= limit {
                break;
            }
            if capture.structures().is_some_and(|s| s.front.dialog) {
                break;
            }
            tokio::time::sleep(STAGE_INTERVAL).await;
            let read = self.device().tree(self.target.token.clone())?;
            capture = self.capture(CaptureOptions { settle: true, ..CaptureOptions::default() }, read).await?;
            if capture.reading.inputs != inputs {
                changed = None;
                break;
            }
            changed = Some(capture.place().screen != before.screen);
        }
        Ok((capture, changed))
    }
}
