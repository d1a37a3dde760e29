//! Executes an action plan exactly once and records it.
//!
//! Steps: queue for the device, check the lease, read the screen and resolve the target on it, commit an intent, send
//! the inputs, release the device, commit the event in place of the intent, reply.
//!
//! An action cannot be undone, hence these invariants: the intent is durable before anything is sent, so that a crash
//! leaves an `OUTCOME_UNKNOWN` event and never a gap; inputs are sent at most once; a call with a request key that was
//! used before returns the recorded outcome; once the call is committed (see `CallScope`), it runs to its end in a task
//! of its own, even if the client disconnects. Errors that occur after sending are reported as `OUTCOME_UNKNOWN` unless
//! the outcome is known.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use afd_proto::ErrorCode;
use afd_proto::act::{ActCall, Then, WithLook};
use afd_proto::events::Message;
use afd_proto::memory::EventStatus;
use afd_proto::vocabulary::{DeviceCall, Point, Reply, Target, Verb};
use futures_util::FutureExt;
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Value, json};

use super::plan::{Plan, Steps};
use super::resolve_target::{ResolvedTarget, TargetSpec};
use super::screen_capture::ScreenCapture;
use super::scroll::SearchOutcome;
use super::{Call, Core, Error, Result, recall, scope};
use afd_base::live::Live;
use afd_base::task::{failpoint, shielded};
use afd_device::{DeviceGuard, DriverError, Input, Ticket};
use afd_experience::memory::events::{self, Event, Request};
use afd_experience::memory::{Place, log, record};
use afd_screen::page::select::Gesture;
use afd_store::{Connection, new_uid, now_ms};

/// Outcome of an executed plan, from which the response body is built.
pub(super) struct ActionOutcome {
    pub event: String,
    pub result: String,
    pub resolved: Option<ResolvedTarget>,
    pub scrolls: u32,
    pub duration_ms: u64,
    /// For a recovery: uid and cause of the failure that it responds to.
    pub recovers_from: Option<(String, String)>,
}

/// Executes a plan, or returns the outcome recorded for its request key. Once sending has started, the plan is finished
/// and recorded even if the caller disconnects.
pub(super) async fn execute_once<P, B>(
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
        Some(key) => Some(Request { key: key.to_owned(), hash: core.secrets.hash(&fingerprint(params, &plan)) }),
        None => None,
    };
    let then = params.then();
    let running = core.runtime.enter();
    // Queue before the first await, so that calls of one connection act in the order in which they arrived. A call
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

/// Serialises what a call does, to detect a request key that is reused for a different call.
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
        let started = Instant::now();
        self.device().check_lease(&self.echo.session)?;
        let scope = scope::current();
        let guard = tokio::select! {
            guard = ticket.guard() => guard?,
            () = scope.cancelled() => return Err(scope::cancelled()),
        };
        // Another session may have taken the lease while this call was queued.
        self.device().check_lease(&self.echo.session)?;
        let mut event = self.new_event(&plan, request, &guard);
        let resolved = match self.resolve_target(plan.target_spec.as_ref(), &guard, &mut event).await {
            Ok(resolved) => resolved,
            Err(error) => {
                drop(guard);
                // A cancelled call is not recorded, so that its request key can be used again.
                scope.commit()?;
                return self.fail(event, started, error).await;
            }
        };
        if let (Some(resolved), Some(action)) = (&resolved, &mut event.action) {
            // The name may be what somebody typed into a field; memory recognises an element by the rest.
            action.target = resolved.target.clone().map(|target| Target { name: None, ..target });
            action.point = Some(resolved.point);
            event.evidence = Some(resolved.evidence.clone());
        }
        // From here on the action is sent, even if the caller disconnects.
        scope.commit()?;
        let recovers_from = self.record_intent(&event).await?;
        event.parent = recovers_from.as_ref().map(|(uid, _)| uid.clone());
        event.sent = true;
        let outcome = self.perform(&guard, plan.steps, resolved, &mut event).await;
        let (content, inputs) = (event.before.content.clone(), self.device().inputs());
        let scrolls = matches!(plan.action.verb, Verb::Scroll | Verb::ScrollTo);
        self.core.views.note_action(self.device_id, &event.before, scrolls, inputs);
        // Release the device before the event is committed.
        drop(guard);
        match outcome {
            Ok(SearchOutcome { result, resolved, scrolls }) => {
                let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
                let mut body = body(ActionOutcome {
                    event: event.uid.clone(),
                    result,
                    resolved,
                    scrolls,
                    duration_ms,
                    recovers_from,
                });
                event.status = EventStatus::Ok;
                // Only a repeated call with its key is answered from the record.
                event.result = event.request.as_ref().and_then(|_| serde_json::to_value(&body).ok());
                if let Some(recorded) = event.result.as_mut().and_then(Value::as_object_mut).filter(|_| plan.private) {
                    recorded.remove("output");
                }
                let (action, before) = (event.action.clone(), event.before.clone());
                self.commit(event, started).await.map_err(unrecorded)?;
                let look = match then {
                    Some(then) => {
                        shielded("look-after-act", self.look_then(then, action.as_ref(), &before, inputs)).await
                    }
                    None => None,
                };
                // A look that saw the outcome needs no other one.
                if look.as_ref().is_none_or(|look| look.changed != Some(true)) {
                    self.look_after(content, inputs);
                }
                look.into_iter().for_each(|look| body.set_look(look));
                Ok(body)
            }
            Err(error) if plan.private => self.fail_redacted(event, started, error).await,
            Err(error) => self.fail(event, started, error).await,
        }
    }

    async fn perform(
        &self,
        guard: &DeviceGuard,
        steps: Steps,
        resolved: Option<ResolvedTarget>,
        event: &mut Event,
    ) -> Result<SearchOutcome> {
        match steps {
            Steps::Send(inputs) => {
                let inputs = inputs(resolved.as_ref().map(|r| r.point));
                let (count, answers) = (inputs.len(), Mutex::default());
                let sent = AssertUnwindSafe(self.send_each(guard, inputs, event, &answers)).catch_unwind().await;
                match sent {
                    Ok(sent) => sent?,
                    // The device did all of it: what failed came after its answer.
                    Err(_) if answers.lock().len() == count => {}
                    Err(panic) => std::panic::resume_unwind(panic),
                }
                Ok(SearchOutcome { result: answers.into_inner().join("; "), resolved, scrolls: 0 })
            }
            Steps::Search(search) => self.search(guard, &search, event).await,
            Steps::Fill(text) => self.fill(guard, &text, resolved, event).await,
            Steps::Type(text) => self.type_text(guard, &text, event).await,
            Steps::Drag(to, ms) => self.drag(guard, &to, ms, resolved, event).await,
        }
    }

    /// Drags a target to another one, which is looked for before anything is sent.
    async fn drag(
        &self,
        guard: &DeviceGuard,
        to: &TargetSpec,
        ms: u32,
        resolved: Option<ResolvedTarget>,
        event: &mut Event,
    ) -> Result<SearchOutcome> {
        event.sent = false;
        let Some(from) = resolved else {
            return Err(Error::param("value", "the label or alias of what is dragged", "nothing"));
        };
        let capture = ScreenCapture::of(guard.tree(self.target.token.as_ref()).await?, false, false);
        let Point { x, y } = self.find_target(to, &capture, Gesture::Press)?.point;
        event.sent = true;
        let result = self.send(guard, vec![Input::Swipe([from.point.x, from.point.y, x, y], ms)], event).await?;
        Ok(SearchOutcome { result, resolved: Some(from), scrolls: 0 })
    }

    fn new_event(&self, plan: &Plan, request: Option<Request>, guard: &DeviceGuard) -> Event {
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
        let seen = self.core.views.seen(self.session_id, self.device_id);
        seen.filter(|s| s.reliable && s.inputs == self.device().inputs()).map(|s| s.place).unwrap_or_default()
    }

    /// Reads the screen and resolves the target on it. Updates `event` with the page that was found and, on failure,
    /// with what was looked for.
    async fn resolve_target(
        &self,
        spec: Option<&TargetSpec>,
        guard: &DeviceGuard,
        event: &mut Event,
    ) -> Result<Option<ResolvedTarget>> {
        let Some(spec) = spec else { return Ok(None) };
        let reading = match (guard.tree(self.target.token.as_ref()).await, spec) {
            (Ok(reading), _) => reading,
            // A point needs no tree: a phone whose tree cannot be read can still be tapped.
            (Err(DriverError::Refused { .. }), TargetSpec::Point(point)) => {
                return Ok(Some(ResolvedTarget {
                    point: *point,
                    target: None,
                    moved: false,
                    fit: None,
                    unmarked: false,
                    evidence: json!({"x": point.x, "y": point.y}),
                }));
            }
            (Err(error), _) => return Err(error.into()),
        };
        let capture = ScreenCapture::of(reading, false, false);
        if capture.reliable() {
            let structure = capture.structures.as_ref().map(|s| self.structure_key(&s.front));
            let place = Place { structure, ..capture.place() };
            let seen = event.before.observation.take().filter(|_| event.before.page_key == place.page_key);
            event.before = Place { observation: seen, ..place };
        }
        event.seq = guard.next_seq();
        if event.before.page_key.is_none()
            && capture.snapshot().nodes.is_empty()
            && !matches!(spec, TargetSpec::Point(_))
        {
            return Err(Error::new(ErrorCode::TargetNotFound, capture.doubt.unwrap_or("the screen is empty"))
                .hint("tap by coordinates, or enable the accessibility service"));
        }
        // Typed text must not enter memory as the value of a selector.
        let typed = matches!(spec, TargetSpec::Node { value, .. } if self.core.secrets.was_typed(value));
        let gesture = match event.action.as_ref().map(|a| a.verb) {
            Some(Verb::LongPress | Verb::Drag) => Gesture::Press,
            Some(Verb::Fill) => Gesture::Fill,
            _ => Gesture::Tap,
        };
        let resolved = match self.find_target(spec, &capture, gesture) {
            Ok(found) => self.unless_known_elsewhere(spec, &capture, &event.before, found).await,
            Err(error) => Err(self.known_elsewhere(spec, &capture, &event.before, error).await),
        };
        let resolved = resolved.map_err(|error| match typed {
            true => {
                Error { message: "the typed text does not match exactly one target on the screen".to_owned(), ..error }
            }
            false => error,
        });
        if let Err(error) = &resolved {
            if let Some(place) = self.page_of_alias(spec, &capture) {
                event.before = place;
            }
            if let Some(action) = event.action.as_mut().filter(|_| !typed) {
                action.target = self.unresolved_target(spec);
            }
            let wanted = if typed { json!("typed text") } else { spec_json(spec) };
            event.evidence = Some(json!({"wanted": wanted, "details": error.details}));
        }
        resolved.map(Some)
    }

    /// Commits the intent to act. Returns uid and cause of the failure that a recovery responds to.
    async fn record_intent(&self, event: &Event) -> Result<Option<(String, String)>> {
        let (origin, event) = (self.origin(), event.clone());
        Ok(self.core.store.write_first(move |c| events::intend(c, &origin, &event)).await?)
    }

    /// Sends inputs in order and returns the device's results, joined by "; ". Clears `event.sent` if nothing reached
    /// the device.
    pub(super) async fn send(
        &self,
        guard: &DeviceGuard,
        inputs: Vec<Input>,
        event: &mut Event,
    ) -> std::result::Result<String, DriverError> {
        let answers = Mutex::default();
        self.send_each(guard, inputs, event, &answers).await?;
        Ok(answers.into_inner().join("; "))
    }

    /// Like [`Call::send`]; adds each result to `answers` as it comes.
    async fn send_each(
        &self,
        guard: &DeviceGuard,
        inputs: Vec<Input>,
        event: &mut Event,
        answers: &Mutex<Vec<String>>,
    ) -> std::result::Result<(), DriverError> {
        for (done, input) in inputs.iter().enumerate() {
            match guard.perform(self.target.token.as_ref(), input).await {
                Ok(result) => {
                    failpoint("act");
                    answers.lock().push(result);
                    failpoint("answered");
                }
                Err(error) => {
                    // If the first input did not reach the device, nothing did.
                    event.sent = done > 0 || !matches!(error, DriverError::Unreachable(_));
                    return Err(match error {
                        DriverError::Unreachable(why) if done > 0 => DriverError::Lost(format!(
                            "{done} of {} steps were done, then the connection failed: {why}",
                            inputs.len()
                        )),
                        other => other,
                    });
                }
            }
        }
        Ok(())
    }

    /// Like [`Call::fail`], but keeps the device's message out of the recorded event.
    async fn fail_redacted<B>(&self, mut event: Event, started: Instant, error: Error) -> Result<B> {
        event.error = Some(Error::new(error.code, "the action failed; the device's message is not recorded").to_json());
        self.fail(event, started, error).await
    }

    /// Records a failed action and returns its error.
    async fn fail<B>(&self, mut event: Event, started: Instant, error: Error) -> Result<B> {
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
    pub(super) async fn commit(&self, mut event: Event, started: Instant) -> Result<()> {
        event.duration_ms = i64::try_from(started.elapsed().as_millis()).unwrap_or(i64::MAX);
        event.at = now_ms();
        let (origin, uid) = (self.origin(), event.uid.clone());
        let live = self.core.live.clone();
        // Without target and text, which are nobody's business but the memory's.
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

/// Publishes an event to subscribers. Runs on the writer thread, so that events are published in the order of their
/// commits.
fn publish(live: &Live, recorded: &Option<afd_proto::memory::Event>) {
    if let Some(event) = recorded {
        live.publish(Message::Event(Box::new(event.clone())));
    }
}

impl Core {
    /// Returns the error for a call whose task panicked. If an intent was open, the outcome is unknown, and an event
    /// records that.
    async fn aborted(&self, trace: String, why: &str) -> Error {
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

/// Error for an action that was sent but whose event could not be stored: not a plain failure, which the caller would
/// retry.
fn unrecorded(store: Error) -> Error {
    Error::new(
        ErrorCode::OutcomeUnknown,
        format!("the action was sent, but its event could not be recorded: {}", store.message),
    )
    .hint("observe again to see what happened; `afctl status` shows the state of the database")
    .details(json!({"store": store.code.name()}))
}

/// Describes what was looked for, as evidence for the event.
fn spec_json(spec: &TargetSpec) -> Value {
    let entries: BTreeMap<&str, Value> = match spec {
        TargetSpec::Point(p) => BTreeMap::from([("x", json!(p.x)), ("y", json!(p.y))]),
        TargetSpec::Node { by, value, exact, .. } => {
            BTreeMap::from([("by", json!(by.word())), ("value", json!(value)), ("exactMatch", json!(exact))])
        }
        TargetSpec::Alias { alias, .. } => BTreeMap::from([("by", json!("ref")), ("value", json!(alias))]),
    };
    json!(entries)
}
