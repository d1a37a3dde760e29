//! From a message to its answer: single calls, notifications and batches, as JSON-RPC 2.0 has them.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use afd_proto::{ErrorCode, events};
use futures_util::FutureExt;
use jsonrpsee::core::id_providers::RandomIntegerIdProvider;
use jsonrpsee::core::server::helpers::prepare_error;
use jsonrpsee::core::server::{BoundedSubscriptions, MethodResponse, SubscriptionState};
use jsonrpsee::types::{ErrorObjectOwned, Id, Notification, Params, Request};
use jsonrpsee::{ConnectionId, Extensions, MethodCallback, MethodSink, Methods};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::Semaphore;

use super::calls::{self, Calls};
use super::register::to_rpc;
use crate::control::{self, Error};
use crate::task::reason;

/// The largest answer, bytes.
pub(super) const MAX_ANSWER: usize = 64 << 20;

/// The largest answer of a batch, bytes: it is held in memory until it is sent.
const MAX_BATCH_ANSWER: usize = 16 << 20;

/// What a connection brings to its calls.
#[derive(Clone)]
pub(super) struct Caller {
    pub methods: Methods,
    pub connection: ConnectionId,
    pub batch: usize,
    /// Whether the call is one of a batch.
    pub in_batch: bool,
    /// Whether only the owner's methods are served: the connection has one of the places that are kept for them.
    pub reserved: bool,
    /// The calls of the connection; a connection that carries one request at a time keeps no record.
    pub calls: Option<Arc<Calls>>,
    /// Where notifications go; connections that cannot carry them have none.
    pub sink: Option<(MethodSink, Arc<BoundedSubscriptions>)>,
}

impl Caller {
    fn follows(&self, on: bool) {
        if let Some(calls) = &self.calls {
            calls.follow(on);
        }
    }
}

/// Methods that are answered when all other places are taken.
const OWNERS: [&str; 3] = ["daemon.version", "daemon.status", "daemon.shutdown"];

/// Answers a message; notifications, and batches of nothing else, have no answer.
pub(super) async fn message(caller: Caller, bytes: Vec<u8>) -> Option<String> {
    if caller.reserved && !is_owners(&bytes) {
        let (id, _) = prepare_error(&bytes);
        return Some(text_of(fault(id, places_taken())));
    }
    match bytes.iter().find(|b| !b.is_ascii_whitespace()) {
        Some(b'[') => batch(&caller, &bytes).await,
        _ => single(&caller, &bytes).await.map(text_of),
    }
}

/// An answer as it is sent, without a copy.
pub(super) fn text_of(answer: MethodResponse) -> String {
    String::from(Box::<str>::from(answer.into_json()))
}

/// Whether a message is one that is answered on a reserved place.
pub(super) fn is_owners(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Request<'_>>(bytes).is_ok_and(|request| OWNERS.contains(&request.method.as_ref()))
}

/// Tells a notification from a request.
#[derive(serde::Deserialize)]
struct MayHaveId {
    #[serde(default, deserialize_with = "present")]
    id: Option<()>,
}

/// Whatever the value is, `null` included: it is there.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<()>, D::Error> {
    serde::de::IgnoredAny::deserialize(deserializer).map(|_| Some(()))
}

/// Calls of batches that are answered at once take turns, so that batches together keep no more than one thread from others.
static TURN: Semaphore = Semaphore::const_new(1);

async fn batch(caller: &Caller, bytes: &[u8]) -> Option<String> {
    let Ok(calls) = serde_json::from_slice::<Vec<&RawValue>>(bytes) else {
        return Some(text_of(fault(Id::Null, parse_error())));
    };
    if calls.is_empty() {
        return Some(text_of(fault(Id::Null, invalid_request("a batch holds at least one call"))));
    }
    if calls.len() > caller.batch {
        let error = limit(format!("a batch of {} calls exceeds the limit of {}", calls.len(), caller.batch));
        return Some(text_of(fault(Id::Null, error)));
    }
    // The answer of a subscription goes its own way, which a batch has no place for.
    let caller = Caller { sink: None, in_batch: true, ..caller.clone() };
    let mut answers = String::new();
    for (i, call) in calls.into_iter().enumerate() {
        if i > 0 {
            // Calls that are answered at once must not keep a thread to themselves.
            tokio::task::yield_now().await;
        }
        // One after the other: a batch keeps its order.
        let Some(answer) = single(&caller, call.get().as_bytes()).await else { continue };
        let answer = answer.into_json();
        if answers.len() + answer.get().len() > MAX_BATCH_ANSWER {
            let error = limit(format!("the answers of a batch exceed the limit of {MAX_BATCH_ANSWER} bytes"));
            return Some(text_of(fault(Id::Null, error)));
        }
        answers.push(if answers.is_empty() { '[' } else { ',' });
        answers.push_str(answer.get());
    }
    if answers.is_empty() {
        return None;
    }
    answers.push(']');
    Some(answers)
}

async fn single(caller: &Caller, bytes: &[u8]) -> Option<MethodResponse> {
    if let Ok(request) = serde_json::from_slice::<Request<'_>>(bytes) {
        return call(caller, request).await;
    }
    // An id that cannot be read makes no notification: that would be silence where an answer is waited for.
    let without_id = serde_json::from_slice::<MayHaveId>(bytes).is_ok_and(|m| m.id.is_none());
    if without_id && let Ok(notification) = serde_json::from_slice::<Notification<'_, Option<&RawValue>>>(bytes) {
        let params = notification.params.map(Cow::Borrowed);
        let request = Request { params, ..Request::borrowed(&notification.method, None, Id::Null) };
        // Nobody waits for its answer, so that it is done even when its client is gone by then.
        call(&Caller { sink: None, calls: None, ..caller.clone() }, request).await;
        return None;
    }
    let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
    let error = if is_json {
        invalid_request("expected jsonrpc \"2.0\", a method, and as id a text, a whole number of at least 0, or null")
    } else {
        parse_error()
    };
    let (id, _) = prepare_error(bytes);
    Some(fault(id.into_owned(), error))
}

/// Executes a call. The answer of a subscription has gone to the sink already.
async fn call(caller: &Caller, request: Request<'_>) -> Option<MethodResponse> {
    let name = request.method.as_ref();
    let text = request.params.as_ref().map(|p| unsubscription(name, p.get()));
    let params = Params::new(text.as_deref());
    let id = request.id;
    let mut extensions = Extensions::new();
    if let Some(calls) = caller.calls.as_ref().filter(|_| caller.sink.is_some() && name.starts_with("rpc.")) {
        extensions.insert(calls.clone());
    }
    let answer = match caller.methods.method(name) {
        None => fault(id.into_owned(), unknown_method(name)),
        Some(MethodCallback::Sync(run)) => {
            // It is never closed.
            let _turn = if caller.in_batch { TURN.acquire().await.ok() } else { None };
            run(id, params, MAX_ANSWER, extensions)
        }
        Some(MethodCallback::Async(run)) => {
            let entered = caller.calls.as_ref().map_or_else(calls::unknown, |calls| calls.enter(&id));
            let own = id.clone().into_owned();
            let work = run(id.into_owned(), params.into_owned(), caller.connection, MAX_ANSWER, extensions);
            let done = AssertUnwindSafe(control::run_call(entered.scope.clone(), work)).catch_unwind().await;
            match done {
                Ok(Ok(answer)) => answer,
                Ok(Err(error)) => fault(own, to_rpc(error)),
                Err(panic) => fault(own, panicked(name, &reason(panic.as_ref()))),
            }
        }
        Some(MethodCallback::Unsubscription(run)) => {
            let own = id.clone().into_owned();
            let answer = run(id, params, caller.connection, MAX_ANSWER, extensions);
            if ended(&answer) {
                caller.follows(false);
                answer
            } else {
                fault(own, unknown_subscription(text.as_deref()))
            }
        }
        Some(MethodCallback::Subscription(run)) => {
            let Some((sink, bound)) = &caller.sink else {
                return Some(fault(id.into_owned(), calls::needs_connection()));
            };
            let Some(permit) = bound.acquire() else {
                return Some(fault(id.into_owned(), limit("this connection has too many subscriptions".to_owned())));
            };
            let state =
                SubscriptionState { conn_id: caller.connection, id_provider: &RandomIntegerIdProvider, subscription_permit: permit };
            let answer = run(id, params, sink.clone(), state, extensions).await;
            let accepted = answer.is_success();
            if accepted {
                caller.follows(true);
            }
            let (_, notify, _) = answer.into_parts();
            if let Some(notify) = notify {
                notify.notify(accepted);
            }
            return None;
        }
    };
    Some(answer)
}

/// Parameters are objects everywhere, but the library takes a subscription id from an array.
fn unsubscription<'a>(method: &str, params: &'a str) -> Cow<'a, str> {
    let id = (method == events::UNSUBSCRIBE).then(|| serde_json::from_str::<events::UnsubscribeParams>(params).ok()).flatten();
    id.map_or(Cow::Borrowed(params), |p| Cow::Owned(format!("[{}]", p.subscription)))
}

/// Whether a subscription was ended: the library answers `false` for one that it does not know.
fn ended(answer: &MethodResponse) -> bool {
    #[derive(serde::Deserialize)]
    struct Ended {
        result: bool,
    }
    answer.is_success() && serde_json::from_str::<Ended>(answer.as_json().get()).is_ok_and(|a| a.result)
}

fn unknown_subscription(params: Option<&str>) -> ErrorObjectOwned {
    let ids: Option<Vec<serde_json::Value>> = params.and_then(|p| serde_json::from_str(p).ok());
    match ids.as_deref() {
        Some([id]) if id.is_u64() || id.is_string() => to_rpc(
            Error::new(ErrorCode::NotFound, format!("this connection has no subscription {id}"))
                .hint("a subscription ends with its connection; only the connection that made it can end it"),
        ),
        _ => to_rpc(Error::param("subscription", "the id that `events.subscribe` answered", params.unwrap_or("nothing"))),
    }
}

/// An error as an answer.
pub(super) fn fault(id: Id<'_>, error: ErrorObjectOwned) -> MethodResponse {
    MethodResponse::error(id, error)
}

fn panicked(method: &str, why: &str) -> ErrorObjectOwned {
    tracing::error!(method, error = why, "a call panicked");
    to_rpc(Error::new(ErrorCode::Internal, "the call ended early").hint("this is a fault of afd; its log says more"))
}

fn parse_error() -> ErrorObjectOwned {
    to_rpc(Error::new(ErrorCode::ParseError, "the message is not valid JSON"))
}

fn invalid_request(what: &str) -> ErrorObjectOwned {
    to_rpc(Error::new(ErrorCode::InvalidRequest, format!("the message is not a JSON-RPC 2.0 request: {what}")))
}

fn unknown_method(name: &str) -> ErrorObjectOwned {
    let short: String = name.chars().take(80).collect();
    to_rpc(Error::new(ErrorCode::UnknownMethod, format!("there is no method {short:?}")).hint("`rpc.discover` lists the methods"))
}

pub(super) fn places_taken() -> ErrorObjectOwned {
    to_rpc(Error::new(ErrorCode::LimitExceeded, "the limit of open connections is reached").hint(
        "close connections that are not used, or raise `limits.connections`; `daemon.status` and `daemon.shutdown` are still answered",
    ))
}

/// A limit was exceeded.
pub(super) fn limit(what: String) -> ErrorObjectOwned {
    to_rpc(Error::new(ErrorCode::LimitExceeded, what))
}
