//! Carrying out an action: lease check, guard, intent, act, the device is free again, durable event, reply .

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use afd_proto::ErrorCode;
use afd_proto::act::ActCall;
use afd_proto::events::Message;
use afd_proto::memory::{Category, EventStatus};
use afd_proto::vocabulary::{Action, DeviceCall, Point, Reply, Verb};
use rusqlite::Connection;
use serde::Serialize;
use serde_json::{Value, json};

use super::guard::{Aim, Hit};
use super::look::Look;
use super::scroll::{Search, Sought};
use super::{Call, Core, Error, Result, scope};
use crate::device::{DeviceGuard, DriverError, Input, Ticket};
use crate::live::Live;
use crate::memory::events::{self, Event, Request};
use crate::memory::{Place, log, record};
use crate::store::{new_uid, now_ms};
use crate::task::checkpoint;

/// Makes the inputs of a plan from the point that the guard found.
pub(super) type Inputs = Box<dyn FnOnce(Option<Point>) -> Vec<Input> + Send>;

/// What is to be done.
pub(super) struct Plan {
    pub category: Category,
    pub action: Action,
    pub aim: Option<Aim>,
    pub steps: Steps,
    pub evidence: Option<Value>,
    /// Whether the device's words are for the caller only, and not for the record.
    pub private: bool,
}

impl Plan {
    /// An action without a target.
    pub(super) fn of(verb: Verb, steps: Steps) -> Self {
        Self { category: Category::Act, action: Action::of(verb), aim: None, steps, evidence: None, private: false }
    }

    /// An action that is one input.
    pub(super) fn plain(verb: Verb, input: Input) -> Self {
        Self::of(verb, Steps::Send(Box::new(move |_| vec![input])))
    }

    /// With a parameter of its action.
    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.action.params.insert(name.to_owned(), value.into());
        self
    }
}

/// How it is done.
pub(super) enum Steps {
    /// Inputs, one after the other.
    Send(Inputs),
    /// Scrolling until something is found.
    Search(Search),
}

/// What came of it.
pub(super) struct Done {
    pub event: String,
    pub result: String,
    pub hit: Option<Hit>,
    pub scrolls: u32,
    pub duration_ms: u64,
    pub answered: Option<(String, String)>,
}

/// Carries out a plan, or returns the recorded outcome of its request key. What was begun is finished and recorded even
/// if the caller goes away meanwhile.
pub(super) async fn once<P, B>(core: &Arc<Core>, params: &P, plan: Plan, body: fn(Done) -> B) -> Result<Reply<B>>
where
    P: DeviceCall + ActCall + Serialize,
    B: Serialize + serde::de::DeserializeOwned + Send + 'static,
{
    let addressed = core.addressed(params)?;
    let request = match params.request_key() {
        Some(key) if key.is_empty() || key.len() > 256 => return Err(Error::param("requestKey", "1 to 256 bytes", key.len())),
        Some(key) => Some(Request { key: key.to_owned(), hash: core.secrets.hash(&fingerprint(params, &plan)) }),
        None => None,
    };
    let running = core.runtime.enter();
    // Queued before anything can overtake: calls of one connection act in the order in which they came. A call whose key
    // another call works on queues only once that one is done, or the two would wait for each other.
    let (session, device) = (addressed.echo.session.clone(), addressed.echo.device.clone());
    let lock = request.as_ref().map(|r| (session, device, r.key.clone()));
    let alone = lock.clone().map(|lock| core.turns.acts.try_lock(lock));
    let queue = addressed.target.device.clone();
    let ticket = if matches!(alone, Some(None)) { None } else { Some(queue.queue()?) };
    let trace = addressed.echo.trace_id.clone();
    let task = scope::spawn(async move {
        let _running = running;
        let call = addressed.open().await?;
        let _alone = match (lock, alone) {
            (Some(lock), Some(None)) => Some(call.core.turns.acts.lock(lock).await),
            (_, alone) => alone.flatten(),
        };
        if let Some(replayed) = call.replay(request.as_ref()).await? {
            return Ok(call.reply(replayed));
        }
        let ticket = match ticket {
            Some(ticket) => ticket,
            None => call.device().queue()?,
        };
        call.carry_out(plan, request, ticket, body).await.map(|body| call.reply(body))
    });
    match task.await {
        Ok(done) => done,
        Err(failed) => Err(core.cut_off(trace, &failed.to_string()).await),
    }
}

/// What a call is about, for telling whether a request key is used for another call.
fn fingerprint<P: Serialize>(params: &P, plan: &Plan) -> String {
    let mut value = serde_json::to_value(params).unwrap_or_default();
    if let Some(object) = value.as_object_mut() {
        // Device and session are part of the key already, whatever way they were named.
        for name in ["device", "session", "url", "token", "requestKey"] {
            object.remove(name);
        }
    }
    format!("{}.{}{value}", plan.category, plan.action.verb)
}

impl Call {
    async fn replay<B: serde::de::DeserializeOwned>(&self, request: Option<&Request>) -> Result<Option<B>> {
        let Some(request) = request else { return Ok(None) };
        let (session, device, key) = (self.session_id, self.device_id, request.key.clone());
        let Some(outcome) = self.core.store.read(move |c| events::outcome(c, session, device, &key)).await? else { return Ok(None) };
        if outcome.hash != request.hash {
            return Err(
                Error::new(ErrorCode::Conflict, "this requestKey was used for another call").hint("use a new key for each new action")
            );
        }
        match (outcome.result, outcome.error) {
            (Some(mut result), _) => {
                result["replayed"] = json!(true);
                let body = serde_json::from_value(result);
                body.map(Some).map_err(|e| Error::new(ErrorCode::Internal, format!("the recorded outcome cannot be read: {e}")))
            }
            (None, Some(error)) => {
                let mut error = Error::from_json(&error);
                let mut details = error.details.take().filter(Value::is_object).unwrap_or_else(|| json!({}));
                details["replayed"] = json!(true);
                Err(error.details(details).hint("this is the recorded outcome of the requestKey; use a new key to try again"))
            }
            (None, None) => Err(Error::new(ErrorCode::Internal, "the recorded outcome is empty")),
        }
    }

    async fn carry_out<B: Serialize>(&self, plan: Plan, request: Option<Request>, ticket: Ticket, body: fn(Done) -> B) -> Result<B> {
        let begun = Instant::now();
        self.device().check_lease(&self.echo.session)?;
        let scope = scope::current();
        let turn = tokio::select! {
            turn = ticket.guard() => turn?,
            () = scope.cancelled() => return Err(scope::cancelled()),
        };
        // Somebody may have taken a lease while this waited.
        self.device().check_lease(&self.echo.session)?;
        let mut event = self.new_event(&plan, request, &turn);
        let hit = match self.guard(plan.aim.as_ref(), &turn, &mut event).await {
            Ok(hit) => hit,
            Err(error) => {
                drop(turn);
                // A call that was cancelled is not recorded, so that its key may be used again.
                scope.commit()?;
                return self.fail(event, begun, error).await;
            }
        };
        if let (Some(hit), Some(action)) = (&hit, &mut event.action) {
            action.target.clone_from(&hit.target);
            action.point = Some(hit.point);
            event.evidence = Some(hit.evidence.clone());
        }
        // From here on the action is sent, whoever goes away.
        scope.commit()?;
        let answered = self.intend(&event).await?;
        event.parent = answered.as_ref().map(|(uid, _)| uid.clone());
        event.sent = true;
        let outcome = self.perform(&turn, plan.steps, hit, &mut event).await;
        // The device is free while the event is being committed.
        drop(turn);
        match outcome {
            Ok(Sought { result, hit, scrolls }) => {
                let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
                let body = body(Done { event: event.uid.clone(), result, hit, scrolls, duration_ms, answered });
                event.status = EventStatus::Ok;
                event.result = serde_json::to_value(&body).ok();
                if let Some(recorded) = event.result.as_mut().and_then(Value::as_object_mut).filter(|_| plan.private) {
                    recorded.remove("output");
                }
                self.commit(event, begun).await.map_err(unrecorded)?;
                Ok(body)
            }
            Err(error) if plan.private => self.fail_silently(event, begun, error).await,
            Err(error) => self.fail(event, begun, error).await,
        }
    }

    async fn perform(&self, turn: &DeviceGuard, steps: Steps, hit: Option<Hit>, event: &mut Event) -> Result<Sought> {
        match steps {
            Steps::Send(inputs) => {
                let result = self.send(turn, inputs(hit.as_ref().map(|h| h.point)), event).await?;
                Ok(Sought { result, hit, scrolls: 0 })
            }
            Steps::Search(search) => self.search(turn, &search, event).await,
        }
    }

    fn new_event(&self, plan: &Plan, request: Option<Request>, turn: &DeviceGuard) -> Event {
        Event {
            uid: new_uid(),
            seq: turn.next_seq(),
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

    /// The page that the session saw last, unless the device was sent something since.
    fn place_before(&self) -> Place {
        let seen = self.core.views.seen(self.session_id, self.device_id);
        seen.filter(|s| s.reliable && s.inputs == self.device().inputs()).map(|s| s.place).unwrap_or_default()
    }

    /// Reads the screen again and finds the target on it.
    async fn guard(&self, aim: Option<&Aim>, turn: &DeviceGuard, event: &mut Event) -> Result<Option<Hit>> {
        let Some(aim) = aim else { return Ok(None) };
        let reading = match (turn.tree(self.target.token.as_ref()).await, aim) {
            (Ok(reading), _) => reading,
            // A point needs no tree: a phone whose tree cannot be read can still be touched.
            (Err(DriverError::Refused { .. }), Aim::Point(point)) => {
                return Ok(Some(Hit { point: *point, target: None, moved: false, evidence: json!({"x": point.x, "y": point.y}) }));
            }
            (Err(error), _) => return Err(error.into()),
        };
        let look = Look::of(reading, false, false);
        if look.reliable() {
            let structure = look.structures.as_ref().map(|s| self.structure_key(&s.front));
            let place = Place { structure, ..look.place() };
            let seen = event.before.observation.take().filter(|_| event.before.page_key == place.page_key);
            event.before = Place { observation: seen, ..place };
        }
        event.seq = turn.next_seq();
        if event.before.page_key.is_none() && look.snapshot().nodes.is_empty() && !matches!(aim, Aim::Point(_)) {
            return Err(Error::new(ErrorCode::TargetNotFound, look.doubt.unwrap_or("the screen is empty"))
                .hint("tap by coordinates, or turn the accessibility service on"));
        }
        // What was typed must not come into memory as something that was looked for.
        let typed = matches!(aim, Aim::Node { value, .. } if self.core.secrets.was_typed(value));
        let hit = self.aim(aim, &look).map_err(|error| match typed {
            true => Error { message: "what was typed does not name one target on the screen".to_owned(), ..error },
            false => error,
        });
        if let Err(error) = &hit {
            if let Some(place) = self.shown_elsewhere(aim, &look) {
                event.before = place;
            }
            if let Some(action) = event.action.as_mut().filter(|_| !typed) {
                action.target = self.missed(aim);
            }
            let wanted = if typed { json!("typed text") } else { wanted(aim) };
            event.evidence = Some(json!({"wanted": wanted, "details": error.details}));
        }
        hit.map(Some)
    }

    async fn intend(&self, event: &Event) -> Result<Option<(String, String)>> {
        let (origin, event) = (self.origin(), event.clone());
        Ok(self.core.store.write(move |c| events::intend(c, &origin, &event)).await?)
    }

    async fn send(&self, turn: &DeviceGuard, inputs: Vec<Input>, event: &mut Event) -> std::result::Result<String, DriverError> {
        let mut words = Vec::new();
        for (done, input) in inputs.iter().enumerate() {
            match turn.perform(self.target.token.as_ref(), input).await {
                Ok(result) => {
                    checkpoint("act");
                    words.push(result);
                }
                Err(error) => {
                    // Nothing reached the device if the very first input did not.
                    event.sent = done > 0 || !matches!(error, DriverError::Unreachable(_));
                    return Err(match error {
                        DriverError::Unreachable(why) if done > 0 => {
                            DriverError::Lost(format!("{done} of {} steps were done, then: {why}", inputs.len()))
                        }
                        other => other,
                    });
                }
            }
        }
        Ok(words.join("; "))
    }

    /// The device's words go to the caller, and not into the record.
    async fn fail_silently<B>(&self, mut event: Event, begun: Instant, error: Error) -> Result<B> {
        event.error = Some(Error::new(error.code, "it failed; what the device said of it is not recorded").to_json());
        self.fail(event, begun, error).await
    }

    async fn fail<B>(&self, mut event: Event, begun: Instant, error: Error) -> Result<B> {
        event.status = if error.code == ErrorCode::OutcomeUnknown { EventStatus::Unknown } else { EventStatus::Failed };
        event.failure = Some(error.code);
        event.error.get_or_insert_with(|| error.to_json());
        let sent = event.sent;
        match self.commit(event, begun).await {
            Err(store) if sent => Err(unrecorded(store)),
            Err(store) => Err(store),
            Ok(()) => Err(error),
        }
    }

    /// Puts an event on disk and tells who listens.
    pub(super) async fn commit(&self, mut event: Event, begun: Instant) -> Result<()> {
        event.duration_ms = i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX);
        event.at = now_ms();
        let (origin, uid) = (self.origin(), event.uid.clone());
        let live = self.core.live.clone();
        let record = move |c: &Connection| {
            record::event(c, &origin, &event)?;
            log::one(c, &uid)
        };
        self.core.store.write_then(record, move |recorded| publish(&live, recorded)).await?;
        Ok(())
    }
}

/// Tells who listens about an event; on the writer thread, so that events are told in the order of their commits.
fn publish(live: &Live, recorded: &Option<afd_proto::memory::Event>) {
    if let Some(event) = recorded {
        live.publish(Message::Event(Box::new(event.clone())));
    }
}

impl Core {
    /// What a call is answered whose task panicked: if it was sent, nobody knows what came of it, and that is recorded.
    async fn cut_off(&self, trace: String, why: &str) -> Error {
        let live = self.live.clone();
        let close = move |c: &Connection| {
            let closed = events::close_open_intents(c, Some(&trace), "a part of the daemon failed before the device answered")?;
            closed.first().map(|uid| log::one(c, uid)).transpose().map(Option::flatten)
        };
        match self.store.write_then(close, move |recorded| publish(&live, recorded)).await {
            Ok(None) => Error::new(ErrorCode::Internal, format!("the action ended early: {why}"))
                .hint("this is a fault of afd; nothing was sent, and its log says more"),
            Ok(Some(_)) => {
                Error::new(ErrorCode::OutcomeUnknown, "the action was sent, and a part of the daemon failed before its answer came")
                    .hint("it may have happened: observe again before you decide, and do not simply repeat it")
            }
            Err(store) => unrecorded(store.into()),
        }
    }
}

/// Something was sent and what came of it is not on disk: the caller must not take that for a failure to be tried again.
fn unrecorded(store: Error) -> Error {
    Error::new(ErrorCode::OutcomeUnknown, format!("the action was sent, but its event could not be recorded: {}", store.message))
        .hint("observe again to see what happened; see `afctl status` for the database")
        .details(json!({"store": store.code.name()}))
}

/// What was looked for, for the event.
fn wanted(aim: &Aim) -> Value {
    let entries: BTreeMap<&str, Value> = match aim {
        Aim::Point(p) => BTreeMap::from([("x", json!(p.x)), ("y", json!(p.y))]),
        Aim::Node { by, value, exact } => BTreeMap::from([("by", json!(by.word())), ("value", json!(value)), ("exactMatch", json!(exact))]),
        Aim::Alias { alias, .. } => BTreeMap::from([("by", json!("ref")), ("value", json!(alias))]),
    };
    json!(entries)
}
