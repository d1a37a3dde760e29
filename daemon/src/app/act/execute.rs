//! Executes an action plan at most once and records it.
//!
//! Steps: queue for the device, check the lease, read the screen and resolve the target on it, commit an intent, send
//! the inputs, release the device, commit the event in place of the intent, reply.
//!
//! An action cannot be undone. Therefore these invariants hold:
//!
//! * The intent is durable before any input is sent. A crash then leaves an `OUTCOME_UNKNOWN` event and no gap.
//! * Inputs are sent at most once.
//! * A call with a request key that was used before returns the recorded outcome. A lock on the key makes concurrent
//!   calls with the same key wait for the first one.
//! * Once a call is committed (see `CallScope`), it runs to its end in its own task, even if the client disconnects. A
//!   call that is cancelled earlier is not recorded, so its request key can be used again.
//! * An error that occurs after sending is reported as `OUTCOME_UNKNOWN` unless the outcome is known.

mod record;
mod resolve;
mod send;

use std::sync::Arc;
use std::time::Instant;

use afd_proto::ErrorCode;
use afd_proto::act::ActCall;
use afd_proto::look::{Then, WithLook};
use afd_proto::memory::EventStatus;
use afd_proto::vocabulary::{Action, DeviceCall, Reply, Verb};
use serde::Serialize;
use serde_json::{Value, json};

use super::failing::may_retry;
use super::plan::Plan;
use super::resolve_target::ResolvedTarget;
use super::scroll::SearchOutcome;
use crate::app::memory::predict::Expectation;
use crate::app::{Call, Core, Error, Result, scope};
use afd_base::task::shielded;
use afd_device::{DeviceGuard, Ticket};
use afd_experience::memory::Place;
use afd_experience::memory::events::{self, Event, Request};
use afd_experience::memory::views::LastSeen;
use record::unrecorded;
use resolve::note_target;

/// Outcome of executing a plan, from which the response body is built.
pub(in crate::app) struct ActionOutcome {
    pub event: String,
    pub result: String,
    pub resolved: Option<ResolvedTarget>,
    pub scrolls: u32,
    pub duration_ms: u64,
    /// Uid and cause of the failure that a recovery responds to; `None` for other actions.
    pub recovers_from: Option<(String, String)>,
    /// What was done to recover before the action, in one sentence.
    pub recovery: Option<String>,
}

/// An action whose target could not be resolved, so that nothing was sent.
struct Unresolved {
    error: Error,
    /// Uid of the event that records it.
    event: String,
    /// The page that the session saw last, if no input was sent since.
    seen: Option<LastSeen>,
}

/// An action that was performed and recorded.
pub(in crate::app) struct Performed {
    /// Uid of the event.
    pub event: String,
    /// The action as recorded.
    pub action: Option<Action>,
    /// The page before the action.
    pub before: Place,
    /// Number of inputs sent to the device so far.
    pub inputs: u64,
    /// What was known of the action before; `None` if it was not asked for.
    pub expectation: Option<Expectation>,
}

/// Executes a plan, or returns the outcome recorded for its request key. Once sending has started, the daemon completes
/// and records the plan even if the caller disconnects.
pub(in crate::app) async fn execute_once<P, B>(
    core: &Arc<Core>,
    params: &P,
    plan: Plan,
    body: fn(ActionOutcome) -> B,
) -> Result<Reply<B>>
where
    P: DeviceCall + ActCall + Serialize,
    B: Serialize + serde::de::DeserializeOwned + WithLook + Send + 'static,
{
    let addressed = core.addressed(params)?;
    let request = match params.request_key() {
        Some(key) if key.is_empty() || key.len() > 256 => {
            return Err(Error::param("requestKey", "1 to 256 bytes", key.len()));
        }
        Some(key) => {
            Some(Request { key: key.to_owned(), hash: core.experience.secrets.hash(&fingerprint(params, &plan)) })
        }
        None => None,
    };
    let then = params.then();
    let plan = Plan { strict: params.is_strict(), expects: then.is_some(), ..plan };
    let running = core.runtime.enter();
    // Queue before the first await, so that calls on one connection act in the order in which they arrived. A call
    // whose request key is in use by another call queues only after that call is done; otherwise the two would
    // deadlock.
    let (session, device) = (addressed.echo.session.clone(), addressed.echo.device.clone());
    let lock = request.as_ref().map(|r| (session, device, r.key.clone()));
    let key_lock = lock.clone().map(|lock| core.locks.acts.try_lock(lock));
    let queue = addressed.target.device.clone();
    let ticket = if matches!(key_lock, Some(None)) { None } else { Some(queue.queue()?) };
    let trace = addressed.echo.trace_id.clone();
    let task = scope::spawn(async move {
        let _running = running;
        let call = addressed.open().await?;
        let _key_lock = match (lock, key_lock) {
            (Some(lock), Some(None)) => Some(call.core.locks.acts.lock(lock).await),
            (_, key_lock) => key_lock.flatten(),
        };
        if let Some(replayed) = call.replay(request.as_ref()).await? {
            return Ok(call.reply(replayed));
        }
        let ticket = match ticket {
            Some(ticket) => ticket,
            None => call.device().queue()?,
        };
        call.execute(plan, request, ticket, then, body).await.map(|body| call.reply(body))
    });
    match task.await {
        Ok(done) => done,
        Err(failed) => Err(core.aborted(trace, &failed.to_string()).await),
    }
}

/// Serialises the parameters that describe the action, to detect a request key that is reused for a different call.
fn fingerprint<P: Serialize>(params: &P, plan: &Plan) -> String {
    let mut value = serde_json::to_value(params).unwrap_or_default();
    if let Some(object) = value.as_object_mut() {
        // Device and session are already part of the key, however the caller named them.
        for name in ["device", "session", "url", "token", "requestKey", "then"] {
            object.remove(name);
        }
    }
    format!("{}.{}{value}", plan.category, plan.action.verb)
}

impl Call {
    async fn replay<B: serde::de::DeserializeOwned>(&self, request: Option<&Request>) -> Result<Option<B>> {
        let Some(request) = request else { return Ok(None) };
        let (session, device, key) = (self.session_id, self.device_id, request.key.clone());
        let Some(outcome) = self.core.store.read(move |c| events::outcome(c, session, device, &key)).await? else {
            return Ok(None);
        };
        if outcome.hash != request.hash {
            return Err(Error::new(ErrorCode::Conflict, "this requestKey was already used for a different call")
                .hint("use a new key for each new action"));
        }
        match (outcome.result, outcome.error) {
            (Some(mut result), _) => {
                result["replayed"] = json!(true);
                let body = serde_json::from_value(result);
                body.map(Some)
                    .map_err(|e| Error::new(ErrorCode::Internal, format!("cannot read the recorded outcome: {e}")))
            }
            (None, Some(error)) => {
                let mut error = Error::from_json(&error);
                let mut details = error.details.take().filter(Value::is_object).unwrap_or_else(|| json!({}));
                details["replayed"] = json!(true);
                Err(error
                    .details(details)
                    .hint("this is the outcome recorded for the requestKey; use a new key to try again"))
            }
            (None, None) => Err(Error::new(ErrorCode::Internal, "the recorded outcome is empty")),
        }
    }

    async fn execute<B: Serialize + WithLook>(
        &self,
        plan: Plan,
        request: Option<Request>,
        ticket: Ticket,
        then: Option<Then>,
        body: fn(ActionOutcome) -> B,
    ) -> Result<B> {
        let (mut body, done) = match plan.recover {
            true => self.perform_or_recover(plan, request, ticket, body).await?,
            false => self.perform_once(plan, request, ticket, body).await?,
        };
        let look = match then {
            Some(then) => {
                let look = self.look_then(then, &done);
                shielded("look-after-act", look).await
            }
            None => None,
        };
        // If the capture after the action showed a change, no further read is needed.
        if look.as_ref().is_none_or(|look| look.changed != Some(true)) {
            self.look_after(done.before.content, done.inputs);
        }
        look.into_iter().for_each(|look| body.set_look(look));
        Ok(body)
    }

    /// Performs and records a plan. If nothing was sent because the target is missing or covered, recovers and tries it once
    /// more. The request key then belongs to the second attempt.
    async fn perform_or_recover<B: Serialize>(
        &self,
        plan: Plan,
        request: Option<Request>,
        ticket: Ticket,
        body: fn(ActionOutcome) -> B,
    ) -> Result<(B, Performed)> {
        let Unresolved { error, event, seen } = match self.attempt(plan.clone(), request.clone(), ticket, body).await? {
            Err(unresolved) if may_retry(unresolved.error.code) => unresolved,
            done => return done.map_err(|unresolved| unresolved.error),
        };
        let recovery = self.recover(error, seen).await?;
        if request.is_some() {
            self.core.store.write_first(move |c| events::release_key(c, &event)).await?;
        }
        let (ticket, said) = (self.device().queue()?, recovery.clone());
        let plan = Plan { recovery, ..plan };
        self.perform_once(plan, request, ticket, body).await.map_err(|error| match said {
            Some(said) if error.code == ErrorCode::Cancelled => {
                Error::new(error.code, format!("the call was cancelled before the action, but it has {said}"))
            }
            Some(said) => error.add_hint(&said),
            None => error,
        })
    }

    /// Performs and records a plan, without a look at the page afterwards.
    pub(in crate::app) async fn perform_once<B: Serialize>(
        &self,
        plan: Plan,
        request: Option<Request>,
        ticket: Ticket,
        body: fn(ActionOutcome) -> B,
    ) -> Result<(B, Performed)> {
        self.attempt(plan, request, ticket, body).await?.map_err(|unresolved| unresolved.error)
    }

    /// Like [`Call::perform_once`], but returns the recorded error apart if the target could not be resolved.
    async fn attempt<B: Serialize>(
        &self,
        plan: Plan,
        request: Option<Request>,
        ticket: Ticket,
        body: fn(ActionOutcome) -> B,
    ) -> Result<std::result::Result<(B, Performed), Unresolved>> {
        let (started, scope) = (Instant::now(), scope::current());
        let guard = self.turn(ticket, plan.decided_at).await?;
        let mut event = self.new_event(&plan, request, &guard);
        let seen = self.core.experience.views.seen(self.session_id, self.device_id);
        let seen = seen.filter(|seen| seen.reliable && seen.inputs == self.device().inputs());
        let resolved = match self.resolve_target(plan.target_spec.as_ref(), &guard, &mut event).await {
            Ok(resolved) => resolved,
            Err(error) => {
                drop(guard);
                // A cancelled call is not recorded, so that its request key can be used again.
                scope.commit()?;
                let uid = event.uid.clone();
                let error = match self.fail::<()>(event, started, error).await {
                    Err(error) => error,
                    Ok(()) => Error::new(ErrorCode::Internal, "a failure was not returned"),
                };
                return Ok(Err(Unresolved { error, event: uid, seen }));
            }
        };
        if let Some(resolved) = &resolved {
            note_target(&mut event, resolved);
        }
        let expectation = self.expectation_of((plan.expects, plan.strict), &event).await?;
        // From here on the action is sent, even if the caller disconnects.
        scope.commit()?;
        let recovers_from = self.record_intent(&event).await?;
        event.parent = recovers_from.as_ref().map(|(uid, _)| uid.clone());
        event.sent = true;
        let outcome = self.perform(&guard, plan.steps, resolved, &mut event).await;
        let inputs = self.device().inputs();
        let scrolls = matches!(plan.action.verb, Verb::Scroll | Verb::ScrollTo);
        self.core.experience.views.note_action(self.device_id, &event.before, scrolls, inputs);
        // Release the device before the event is committed.
        drop(guard);
        let SearchOutcome { result, resolved, scrolls } = match outcome {
            Ok(outcome) => outcome,
            Err(error) if plan.private => return self.fail_redacted(event, started, error).await,
            Err(error) => return self.fail(event, started, error).await,
        };
        let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let uid = event.uid.clone();
        let body = body(ActionOutcome {
            event: uid.clone(),
            result,
            resolved,
            scrolls,
            duration_ms,
            recovers_from,
            recovery: plan.recovery,
        });
        event.status = EventStatus::Ok;
        // The result is recorded only for a call with a request key, because only such a call can be replayed.
        event.result = event.request.as_ref().and_then(|_| serde_json::to_value(&body).ok());
        if let Some(recorded) = event.result.as_mut().and_then(Value::as_object_mut).filter(|_| plan.private) {
            recorded.remove("output");
        }
        let (action, before) = (event.action.clone(), event.before.clone());
        let done = Performed { event: uid, action, before, inputs, expectation };
        self.commit(event, started).await.map_err(unrecorded)?;
        Ok(Ok((body, done)))
    }

    /// Waits for the turn of a call. `decided_at` is the number of inputs that the device had received when the action was
    /// decided, if that matters.
    async fn turn(&self, ticket: Ticket, decided_at: Option<u64>) -> Result<DeviceGuard> {
        self.device().check_lease(&self.echo.session)?;
        let scope = scope::current();
        let guard = tokio::select! {
            guard = ticket.guard() => guard?,
            () = scope.cancelled() => return Err(scope::cancelled()),
        };
        // Another session may have taken the lease while this call was queued.
        self.device().check_lease(&self.echo.session)?;
        if scope.is_asked_to_stop() {
            return Err(scope::cancelled());
        }
        if decided_at.is_some_and(|inputs| inputs != self.device().inputs()) {
            return Err(Error::new(ErrorCode::Conflict, "another call acted on the device meanwhile"));
        }
        Ok(guard)
    }

    /// Returns what is known of an action before it is sent, if the plan expects to be told or is strict.
    ///
    /// # Errors
    /// `CONFLICT` if the plan is strict, and the action never had an effect on its page.
    async fn expectation_of(&self, (expects, strict): (bool, bool), event: &Event) -> Result<Option<Expectation>> {
        let Some(action) = event.action.as_ref().filter(|_| expects || strict) else { return Ok(None) };
        let known = self.expectation(action, &event.before, strict).await;
        match known.warning.as_ref().filter(|_| strict) {
            Some(warning) => Err(Error::new(ErrorCode::Conflict, format!("nothing was sent: {warning}"))
                .hint("repeat the call without `strict` to do it all the same, or try another element")),
            None => Ok(Some(known)),
        }
    }
}
