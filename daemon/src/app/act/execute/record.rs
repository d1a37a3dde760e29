//! Records actions: the intent before the inputs are sent, and the event afterwards.

use std::time::Instant;

use afd_proto::ErrorCode;
use afd_proto::events::Message;
use afd_proto::memory::EventStatus;
use serde_json::json;

use super::super::plan::Plan;
use crate::app::{Call, Core, Error, Result, recall};
use afd_base::live::Live;
use afd_device::DeviceGuard;
use afd_experience::memory::events::{self, Event, Request};
use afd_experience::memory::{Place, log, record};
use afd_store::{Connection, new_uid, now_ms};

impl Call {
    /// Creates the event for a plan that has not been executed yet.
    pub(super) fn new_event(&self, plan: &Plan, request: Option<Request>, guard: &DeviceGuard) -> Event {
        Event {
            uid: new_uid(),
            seq: guard.next_seq(),
            request,
            category: plan.category,
            op: plan.action.verb.word().to_owned(),
            status: EventStatus::Failed,
            sent: false,
            action: Some(plan.action.clone()),
            failure: None,
            error: None,
            result: None,
            evidence: plan.evidence.clone(),
            duration_ms: 0,
            before: self.place_before(),
            parent: None,
            judges: false,
            at: now_ms(),
        }
    }

    /// Returns the page that the session saw last, or an unknown place if the device has received input since.
    fn place_before(&self) -> Place {
        let seen = self.core.experience.views.seen(self.session_id, self.device_id);
        seen.filter(|s| s.reliable && s.inputs == self.device().inputs()).map(|s| s.place).unwrap_or_default()
    }

    /// Commits the intent to act. For a recovery, returns the uid and the cause of the failure that it responds to.
    pub(super) async fn record_intent(&self, event: &Event) -> Result<Option<(String, String)>> {
        let (origin, event) = (self.origin(), event.clone());
        Ok(self.core.store.write_first(move |c| events::intend(c, &origin, &event)).await?)
    }

    /// Like [`Call::fail`], but keeps the device's message out of the recorded event.
    pub(super) async fn fail_redacted<B>(&self, mut event: Event, started: Instant, error: Error) -> Result<B> {
        event.error = Some(Error::new(error.code, "the action failed; the device's message is not recorded").to_json());
        self.fail(event, started, error).await
    }

    /// Records a failed action and returns its error.
    pub(super) async fn fail<B>(&self, mut event: Event, started: Instant, error: Error) -> Result<B> {
        event.status = if error.code == ErrorCode::OutcomeUnknown { EventStatus::Unknown } else { EventStatus::Failed };
        event.failure = Some(error.code);
        event.error.get_or_insert_with(|| error.to_json());
        let (sent, app) = (event.sent, event.before.app.clone());
        match self.commit(event, started).await {
            Err(store) if sent => Err(unrecorded(store)),
            Err(store) => Err(store),
            Ok(()) => Err(recall::with_remembered(&self.core, error, app, self.session_id).await),
        }
    }

    /// Commits an event and publishes it to subscribers.
    pub(in crate::app) async fn commit(&self, mut event: Event, started: Instant) -> Result<()> {
        event.duration_ms = i64::try_from(started.elapsed().as_millis()).unwrap_or(i64::MAX);
        event.at = now_ms();
        let (origin, uid) = (self.origin(), event.uid.clone());
        let live = self.core.live.clone();
        // Target and text are not logged: they may be private.
        tracing::info!(
            device = self.echo.device,
            session = self.echo.session,
            op = event.op,
            status = %event.status,
            error = event.failure.map(ErrorCode::name),
            duration_ms = event.duration_ms,
            "action"
        );
        let record = move |c: &Connection| {
            record::event(c, &origin, &event)?;
            log::one(c, &uid)
        };
        self.core.store.write_then(record, move |recorded| publish(&live, recorded)).await?;
        Ok(())
    }
}

/// Publishes an event to subscribers. Runs on the writer thread, so that events are published in commit order.
fn publish(live: &Live, recorded: &Option<afd_proto::memory::Event>) {
    if let Some(event) = recorded {
        live.publish(Message::Event(Box::new(event.clone())));
    }
}

impl Core {
    /// Returns the error for a call whose task panicked. If an intent was open, its outcome is unknown, and an event
    /// records that.
    pub(super) async fn aborted(&self, trace: String, why: &str) -> Error {
        let live = self.live.clone();
        let close = move |c: &Connection| {
            let closed =
                events::close_open_intents(c, Some(&trace), "an internal error occurred before the device responded")?;
            closed.first().map(|uid| log::one(c, uid)).transpose().map(Option::flatten)
        };
        match self.store.write_then(close, move |recorded| publish(&live, recorded)).await {
            Ok(None) => Error::new(ErrorCode::Internal, format!("the action was aborted: {why}"))
                .hint("internal error; nothing was sent, see the afd log for details"),
            Ok(Some(_)) => Error::new(
                ErrorCode::OutcomeUnknown,
                "the action was sent, but an internal error occurred before the device responded",
            )
            .hint("it may have taken effect: observe again before deciding whether to repeat it"),
            Err(store) => unrecorded(store.into()),
        }
    }
}

/// Returns the error for an action that was sent but whose event could not be stored. It is `OUTCOME_UNKNOWN`, because
/// callers retry after a plain failure.
pub(super) fn unrecorded(store: Error) -> Error {
    Error::new(
        ErrorCode::OutcomeUnknown,
        format!("the action was sent, but its event could not be recorded: {}", store.message),
    )
    .hint("observe again to see what happened; `afctl status` shows the state of the database")
    .details(json!({"store": store.code.name()}))
}
