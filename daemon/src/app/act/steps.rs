//! One action of a call of several actions: what its failure means, and the page after it.

use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::vocabulary::ObservationSource;

use super::execute::Performed;
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::{Call, Result};
use afd_experience::visual::states;

/// Returns whether a failed action says only that the page has changed since the look, or that the target is elsewhere, so
/// that the call can read the screen again and choose another action.
pub(super) fn is_about_page(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::TargetNotFound
            | ErrorCode::TargetAmbiguous
            | ErrorCode::TargetCovered
            | ErrorCode::RefAliasStale
            | ErrorCode::Timeout
    )
}

/// Returns whether an error shows that nothing was sent to the device.
pub(super) fn is_unsent(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::DeviceUnreachable
            | ErrorCode::DeviceBusy
            | ErrorCode::DeviceAuth
            | ErrorCode::DeviceUnknown
            | ErrorCode::Cancelled
            | ErrorCode::ShuttingDown
            | ErrorCode::StoreFull
            | ErrorCode::StoreUnavailable
    )
}

impl Call {
    /// Reads the page after an action until the outcome is certain, waits for the state `expected` if another page may be a
    /// stage on the way to it, and records and learns the page.
    ///
    /// # Errors
    /// If the device cannot be read.
    pub(super) async fn page_after(
        &self,
        done: &Performed,
        patience: Duration,
        expected: Option<i64>,
    ) -> Result<ScreenCapture> {
        let outcome = self.outcome(&done.before, done.inputs, patience).await?;
        let (capture, changed) = self.unless_stage(outcome, (expected, &[]), (&done.before, done.inputs)).await?;
        self.record_and_learn(&capture, ObservationSource::Page, None).await;
        if changed != Some(true) {
            self.look_after(done.before.content.clone(), done.inputs);
        }
        Ok(capture)
    }

    /// Returns the name of the page in front: that of its state, else its title.
    pub(super) async fn name_in_front(&self, capture: &ScreenCapture) -> Option<String> {
        let title = capture.place().title;
        let Some(state) = self.state_in_front(capture).await else { return title };
        let found = self.core.store.read(move |c| states::get(c, state)).await;
        found.ok().flatten().map(|state| state.called().to_owned()).or(title)
    }
}
