//! Executes messages and builds their responses: single calls, notifications and batches, as defined by JSON-RPC 2.0.

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
use super::response::{Held, Response};
use crate::app;
use crate::app::Error;
use afd_base::task::panic_message;

/// Maximum size of a response, in bytes.
pub(super) const MAX_RESPONSE: usize = 64 << 20;

/// Maximum size of a batch response, in bytes. The whole response is held in memory until it is sent.
const MAX_BATCH_RESPONSE: usize = 16 << 20;

/// Connection state needed to execute a call.
#[derive(Clone)]
pub(super) struct Caller {
    pub methods: Methods,
    pub connection: ConnectionId,
    /// Maximum number of calls in a batch.
    pub batch: usize,
    /// Whether the call is part of a batch.
    pub in_batch: bool,
    /// Whether only the methods in [`ADMIN_METHODS`] are served, because the connection has a reserved slot.
    pub reserved: bool,
    /// Calls in flight on the connection; `None` for notifications, which are not tracked.
    pub calls: Option<Arc<Calls>>,
    /// Sink for notifications; `None` where the connection or message cannot carry them.
    pub sink: Option<(MethodSink, Arc<BoundedSubscriptions>)>,
}

impl Caller {
    fn count_subscription(&self, created: bool) {
        if let Some(calls) = &self.calls {
            calls.count_subscription(created);
        }
    }
}

/// Methods that are served on a reserved slot, when the connection limit is reached.
const ADMIN_METHODS: [&str; 3] = ["daemon.version", "daemon.status", "daemon.shutdown"];

/// Executes a message. Returns its response, or `None` for a notification or a batch that contains only notifications.
pub(super) async fn handle_message(caller: Caller, bytes: Vec<u8>) -> Option<Response> {
    if caller.reserved && !is_admin_call(&bytes) {
        let (id, _) = prepare_error(&bytes);
        return Some(small(error_response(id, connection_limit_error())));
    }
    if is_batch(&bytes) {
        return batch(&caller, &bytes).await;
    }
    let response = single(&caller, &bytes).await?;
    let mut held = Held::default();
    if !held.grow_to(response.as_json().get().len()) {
        let (id, _) = prepare_error(&bytes);
        return Some(small(error_response(id, too_much_unread())));
    }
    Some(Response::new(into_text(response), held))
}

fn small(response: MethodResponse) -> Response {
    Response::new(into_text(response), Held::default())
}

fn too_much_unread() -> ErrorObjectOwned {
    let why = "the daemon holds too many large responses that were not read yet";
    to_rpc(
        Error::new(ErrorCode::LimitExceeded, why).hint("read them, ask for less at a time, or try again in a moment"),
    )
}

/// Returns whether a message is a batch.
pub(super) fn is_batch(bytes: &[u8]) -> bool {
    bytes.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'[')
}

/// Converts a response to its JSON text without copying.
pub(super) fn into_text(response: MethodResponse) -> String {
    String::from(Box::<str>::from(response.into_json()))
}

/// Returns whether a message calls one of the admin methods.
pub(super) fn is_admin_call(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Request<'_>>(bytes).is_ok_and(|request| ADMIN_METHODS.contains(&request.method.as_ref()))
}

/// A message in which only the presence of `id` matters: a notification has no `id`, a request has one.
#[derive(serde::Deserialize)]
struct MayHaveId {
    #[serde(default, deserialize_with = "present")]
    id: Option<()>,
}

/// Accepts any value, `null` included: only the presence of the field matters.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<()>, D::Error> {
    serde::de::IgnoredAny::deserialize(deserializer).map(|_| Some(()))
}

/// Serialises the synchronous calls of all batches, so that batches together block at most one worker thread.
static BATCH_SYNC_CALLS: Semaphore = Semaphore::const_new(1);

async fn batch(caller: &Caller, bytes: &[u8]) -> Option<Response> {
    let Ok(calls) = serde_json::from_slice::<Vec<&RawValue>>(bytes) else {
        return Some(small(error_response(Id::Null, parse_error())));
    };
    if calls.is_empty() {
        return Some(small(error_response(Id::Null, invalid_request("a batch must contain at least one call"))));
    }
    if calls.len() > caller.batch {
        let error = limit_error(format!("a batch of {} calls exceeds the limit of {}", calls.len(), caller.batch));
        return Some(small(error_response(Id::Null, error)));
    }
    // A subscription is answered through the sink, which a batch response cannot include.
    let caller = Caller { sink: None, in_batch: true, ..caller.clone() };
    let (mut responses, mut held) = (String::new(), Held::default());
    for (i, call) in calls.into_iter().enumerate() {
        if i > 0 {
            // A run of synchronous calls must not monopolise the worker thread.
            tokio::task::yield_now().await;
        }
        // The calls in a batch run sequentially, in order.
        let Some(response) = single(&caller, call.get().as_bytes()).await else { continue };
        if caller.calls.as_ref().is_some_and(|calls| calls.is_closed()) {
            // The notifications in the batch are still executed, but no client reads the response.
            (responses, held) = (String::new(), Held::default());
            continue;
        }
        let response = response.into_json();
        if responses.len() + response.get().len() > MAX_BATCH_RESPONSE {
            let error = limit_error(format!("the batch response exceeds the limit of {MAX_BATCH_RESPONSE} bytes"));
            return Some(small(error_response(Id::Null, error)));
        }
        if !held.grow_to(responses.len() + response.get().len()) {
            return Some(small(error_response(Id::Null, too_much_unread())));
        }
        responses.push(if responses.is_empty() { '[' } else { ',' });
        responses.push_str(response.get());
    }
    if responses.is_empty() {
        return None;
    }
    responses.push(']');
    Some(Response::new(responses, held))
}

async fn single(caller: &Caller, bytes: &[u8]) -> Option<MethodResponse> {
    if let Ok(request) = serde_json::from_slice::<Request<'_>>(bytes) {
        return call(caller, request).await;
    }
    // A request with a malformed id is not a notification: its sender is waiting for a response.
    let without_id = serde_json::from_slice::<MayHaveId>(bytes).is_ok_and(|m| m.id.is_none());
    if without_id && let Ok(notification) = serde_json::from_slice::<Notification<'_, Option<&RawValue>>>(bytes) {
        let params = notification.params.map(Cow::Borrowed);
        let request = Request { params, ..Request::borrowed(&notification.method, None, Id::Null) };
        // Notifications are not tracked: a notification runs to its end even if its client disconnects.
        call(&Caller { sink: None, calls: None, ..caller.clone() }, request).await;
        return None;
    }
    let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
    let error = if is_json {
        invalid_request("expected jsonrpc \"2.0\", a method, and as id a string, a non-negative integer or null")
    } else {
        parse_error()
    };
    let (id, _) = prepare_error(bytes);
    Some(error_response(id.into_owned(), error))
}

/// Executes a call. Returns `None` for a subscription, whose response goes through the sink.
async fn call(caller: &Caller, request: Request<'_>) -> Option<MethodResponse> {
    let name = request.method.as_ref();
    let text = request.params.as_ref().map(|p| unsubscribe_params(name, p.get()));
    let params = Params::new(text.as_deref());
    let id = request.id;
    let mut extensions = Extensions::new();
    if let Some(calls) = caller.calls.as_ref().filter(|_| caller.sink.is_some() && name.starts_with("rpc.")) {
        extensions.insert(calls.clone());
    }
    let response = match caller.methods.method(name) {
        None => error_response(id.into_owned(), unknown_method(name)),
        Some(MethodCallback::Sync(run)) => {
            // Acquiring cannot fail: the semaphore is never closed.
            let _permit = if caller.in_batch { BATCH_SYNC_CALLS.acquire().await.ok() } else { None };
            run(id, params, MAX_RESPONSE, extensions)
        }
        Some(MethodCallback::Async(run)) => {
            let tracked = caller.calls.as_ref().map_or_else(calls::untracked, |calls| calls.enter(&id));
            let own = id.clone().into_owned();
            let work = run(id.into_owned(), params.into_owned(), caller.connection, MAX_RESPONSE, extensions);
            let outcome = AssertUnwindSafe(app::run_call(tracked.scope.clone(), work)).catch_unwind().await;
            match outcome {
                Ok(Ok(response)) => response,
                Ok(Err(error)) => error_response(own, to_rpc(error)),
                Err(panic) => error_response(own, panicked(name, &panic_message(panic.as_ref()))),
            }
        }
        Some(MethodCallback::Unsubscription(run)) => {
            let own = id.clone().into_owned();
            let response = run(id, params, caller.connection, MAX_RESPONSE, extensions);
            if ended(&response) {
                caller.count_subscription(false);
                response
            } else {
                error_response(own, unknown_subscription(text.as_deref()))
            }
        }
        Some(MethodCallback::Subscription(run)) => {
            let Some((sink, subscription_limit)) = &caller.sink else {
                return Some(error_response(id.into_owned(), calls::needs_connection()));
            };
            let Some(subscription_permit) = subscription_limit.acquire() else {
                let error = limit_error("this connection has too many subscriptions".to_owned());
                return Some(error_response(id.into_owned(), error));
            };
            let id_provider = &RandomIntegerIdProvider;
            let state = SubscriptionState { conn_id: caller.connection, id_provider, subscription_permit };
            let response = run(id, params, sink.clone(), state, extensions).await;
            let accepted = response.is_success();
            if accepted {
                caller.count_subscription(true);
            }
            let (_, notify, _) = response.into_parts();
            if let Some(notify) = notify {
                notify.notify(accepted);
            }
            return None;
        }
    };
    Some(response)
}

/// Converts the parameters of `events.unsubscribe` from this protocol's object to the array that jsonrpsee expects.
fn unsubscribe_params<'a>(method: &str, params: &'a str) -> Cow<'a, str> {
    let id = (method == events::UNSUBSCRIBE)
        .then(|| serde_json::from_str::<events::UnsubscribeParams>(params).ok())
        .flatten();
    id.map_or(Cow::Borrowed(params), |p| Cow::Owned(format!("[{}]", p.subscription)))
}

/// Returns whether a subscription was ended. jsonrpsee returns `false` for an unknown subscription.
fn ended(response: &MethodResponse) -> bool {
    #[derive(serde::Deserialize)]
    struct Ended {
        result: bool,
    }
    response.is_success() && serde_json::from_str::<Ended>(response.as_json().get()).is_ok_and(|a| a.result)
}

fn unknown_subscription(params: Option<&str>) -> ErrorObjectOwned {
    let ids: Option<Vec<serde_json::Value>> = params.and_then(|p| serde_json::from_str(p).ok());
    match ids.as_deref() {
        Some([id]) if id.is_u64() || id.is_string() => to_rpc(
            Error::new(ErrorCode::NotFound, format!("this connection has no subscription {id}"))
                .hint("a subscription ends with its connection; only the connection that made it can end it"),
        ),
        _ => to_rpc(Error::param("subscription", "the id returned by `events.subscribe`", params.unwrap_or("nothing"))),
    }
}

/// Returns an error response.
pub(super) fn error_response(id: Id<'_>, error: ErrorObjectOwned) -> MethodResponse {
    MethodResponse::error(id, error)
}

fn panicked(method: &str, why: &str) -> ErrorObjectOwned {
    tracing::error!(method, error = why, "a call panicked");
    to_rpc(
        Error::new(ErrorCode::Internal, "the call ended early").hint("this is a bug in afd; see its log for details"),
    )
}

fn parse_error() -> ErrorObjectOwned {
    to_rpc(Error::new(ErrorCode::ParseError, "the message is not valid JSON"))
}

fn invalid_request(what: &str) -> ErrorObjectOwned {
    to_rpc(Error::new(ErrorCode::InvalidRequest, format!("the message is not a JSON-RPC 2.0 request: {what}")))
}

fn unknown_method(name: &str) -> ErrorObjectOwned {
    let short: String = name.chars().take(80).collect();
    to_rpc(
        Error::new(ErrorCode::UnknownMethod, format!("no such method: {short:?}"))
            .hint("`rpc.discover` lists the methods"),
    )
}

pub(super) fn connection_limit_error() -> ErrorObjectOwned {
    to_rpc(
        Error::new(ErrorCode::LimitExceeded, "the limit of open connections is reached")
            .hint("close unused connections or raise `limits.connections`; `daemon.status` and `daemon.shutdown` are still served"),
    )
}

/// Returns the error for an exceeded limit.
pub(super) fn limit_error(what: String) -> ErrorObjectOwned {
    to_rpc(Error::new(ErrorCode::LimitExceeded, what))
}
