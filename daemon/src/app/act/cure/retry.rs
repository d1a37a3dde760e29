//! Recovering within an action whose target is missing or covered, so that it can be tried again.

use afd_proto::recover::RecoverStop;
use tokio::time::Instant;

use super::trouble::Trouble;
use super::{Bounds, Cure, RETRY_LIMIT, known};
use crate::app::act::leased::Leased;
use crate::app::{Call, Error, Result};
use afd_experience::memory::failures;
use afd_experience::memory::views::LastSeen;

/// Maximum number of actions to recover within another one.
const MAX_STEPS: usize = 5;

impl Call {
    /// Recovers from the failure of an action that was just recorded. `seen` is the page that the session saw last, if no
    /// input was sent since. Returns what was done, in one sentence, if the target of the action can be touched now; `None` if
    /// nothing had to be done.
    ///
    /// # Errors
    /// The error of the action, with what was done, if the device has not recovered.
    pub(in crate::app) async fn recover(&self, error: Error, seen: Option<LastSeen>) -> Result<Option<String>> {
        match self.cure(seen).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(why)) => Err(error.add_hint(&why)),
            Err(why) => Err(error.add_hint(&format!("not recovered: {}", why.message))),
        }
    }

    /// Returns what was done, or why the device has not recovered.
    async fn cure(&self, seen: Option<LastSeen>) -> Result<std::result::Result<Option<String>, String>> {
        let mut leased = Leased::take(self)?;
        let first = self.settled_page().await?;
        let origin = self.origin();
        let read = move |c: &afd_store::Connection| {
            let failure = failures::open(c, &origin)?;
            let known = failure.as_ref().map(|failure| known::of(c, failure)).transpose()?;
            Ok((failure, known.unwrap_or_default()))
        };
        let (failure, known) = self.core.store.read_all(read).await?;
        // Without such a page, the one in front is as good as any.
        let seen = seen.map(|seen| seen.place);
        let trouble = Trouble::of(failure.as_ref(), None, seen, first.place().page_key);
        let deadline = Instant::now() + RETRY_LIMIT;
        let bounds = Bounds { max_steps: MAX_STEPS, allow_risky: false, may_leave: false, deadline };
        let mut cure = Cure::new(self, trouble, known, bounds, None);
        let ended = cure.run(first, &mut leased).await?;
        let name = match &ended.page {
            Some(page) => self.name_in_front(page).await,
            None => None,
        };
        let said = cure.sentence(&ended, name.as_deref());
        Ok(match ended.stopped {
            RecoverStop::Recovered => Ok(Some(said).filter(|_| !cure.steps.is_empty())),
            _ => Err(said),
        })
    }
}
