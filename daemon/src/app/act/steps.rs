//! The page after one action of a call of several actions.

use std::time::Duration;

use afd_proto::look::{Look, Then};
use afd_proto::vocabulary::ObservationSource;

use super::execute::Performed;
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::{Call, Result};
use afd_experience::visual::states;

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

    /// Returns the page at the end of a call of several actions, in the form that the caller wants.
    pub(super) async fn look_at_end(&self, mut page: ScreenCapture, then: Then, waited_ms: u64) -> Look {
        let mut look = Look { waited_ms, ..Look::default() };
        if let Err(error) = self.show(&mut page, then, &mut look).await {
            look.note = Some(format!("the page cannot be shown: {}", error.message));
        }
        look.incidents = self.incidents(None).await;
        look
    }

    /// Returns the name of the page in front: that of its state, else its title.
    pub(super) async fn name_in_front(&self, capture: &ScreenCapture) -> Option<String> {
        let title = capture.place().title;
        let Some(state) = self.state_in_front(capture).await else { return title };
        let found = self.core.store.read(move |c| states::get(c, state)).await;
        found.ok().flatten().map(|state| state.called().to_owned()).or(title)
    }
}
