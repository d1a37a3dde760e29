//! From a message to its answer: single calls, notifications and batches, as JSON-RPC 2.0 has them.

use std::sync::Arc;

use afd_proto::{ErrorCode, events};
use jsonrpsee::core::id_providers::RandomIntegerIdProvider;
use jsonrpsee::core::server::helpers::prepare_error;
use jsonrpsee::core::server::{BatchResponseBuilder, BoundedSubscriptions, MethodResponse, SubscriptionState};
use jsonrpsee::types::{ErrorObjectOwned, Id, Notification, Params, Request};
use jsonrpsee::{ConnectionId, Extensions, MethodCallback, MethodSink, Methods};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::register::to_rpc;
use crate::control::Error;

/// The largest answer, bytes.
const MAX_ANSWER: usize = 64 << 20;

/// What a connection brings to its calls.
#[derive(Clone)]
pub(super) struct Caller {
    pub methods: Methods,
    pub connection: ConnectionId,
    pub batch: usize,
    /// Where subscriptions send to; connections that cannot carry them have none.
    pub sink: Option<(MethodSink, Arc<BoundedSubscriptions>)>,
}

/// Answers a message; notifications, and batches of nothing else, have no answer.
pub(super) async fn message(caller: Caller, bytes: Vec<u8>) -> Option<String> {
    match bytes.iter().find(|b| !b.is_ascii_whitespace()) {
        Some(b'[') => batch(&caller, &bytes).await,
        _ => single(&caller, &bytes).await.map(|r| r.into_json().get().to_owned()),
    }
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

async fn batch(caller: &Caller, bytes: &[u8]) -> Option<String> {
    let Ok(calls) = serde_json::from_slice::<Vec<&RawValue>>(bytes) else {
        return Some(fault(Id::Null, parse_error()).into_json().get().to_owned());
    };
    if calls.is_empty() {
        return Some(fault(Id::Null, invalid_request("a batch holds at least one call")).into_json().get().to_owned());
    }
    if calls.len() > caller.batch {
        let error = limit(format!("a batch of {} calls exceeds the limit of {}", calls.len(), caller.batch));
        return Some(fault(Id::Null, error).into_json().get().to_owned());
    }
    let mut answers = BatchResponseBuilder::new_with_limit(MAX_ANSWER);
    for call in calls {
        // One after the other: a batch keeps its order.
        if let Some(answer) = single_in_batch(caller, call.get().as_bytes()).await
            && let Err(too_large) = answers.append(answer)
        {
            return Some(too_large.into_json().get().to_owned());
        }
    }
    (!answers.is_empty()).then(|| MethodResponse::from_batch(answers.finish()).into_json().get().to_owned())
}

async fn single_in_batch(caller: &Caller, bytes: &[u8]) -> Option<MethodResponse> {
    // The answer of a subscription goes its own way, which a batch has no place for.
    let without = Caller { sink: None, ..caller.clone() };
    single(&without, bytes).await
}

async fn single(caller: &Caller, bytes: &[u8]) -> Option<MethodResponse> {
    if let Ok(request) = serde_json::from_slice::<Request<'_>>(bytes) {
        return call(caller, request).await;
    }
    // An id that cannot be read makes no notification: that would be silence where an answer is waited for.
    let without_id = serde_json::from_slice::<MayHaveId>(bytes).is_ok_and(|m| m.id.is_none());
    if without_id && let Ok(notification) = serde_json::from_slice::<Notification<'_, Option<&RawValue>>>(bytes) {
        let params = notification.params.map(RawValue::get);
        let request = Request::borrowed(&notification.method, params.and_then(|p| serde_json::from_str(p).ok()), Id::Null);
        call(&Caller { sink: None, ..caller.clone() }, request).await;
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

/// Carries out a call. The answer of a subscription has gone to the sink already.
async fn call(caller: &Caller, request: Request<'_>) -> Option<MethodResponse> {
    let name = request.method.to_string();
    let text = request.params.as_ref().map(|p| unsubscription(&name, p.get()));
    let params = Params::new(text.as_deref());
    let id = request.id;
    let mut extensions = Extensions::new();
    extensions.insert(caller.connection);
    let answer = match caller.methods.method(&name) {
        None => fault(id.into_owned(), unknown_method(&name)),
        Some(MethodCallback::Sync(run)) => run(id, params, MAX_ANSWER, extensions),
        Some(MethodCallback::Async(run)) => run(id.into_owned(), params.into_owned(), caller.connection, MAX_ANSWER, extensions).await,
        Some(MethodCallback::Unsubscription(run)) => run(id, params, caller.connection, MAX_ANSWER, extensions),
        Some(MethodCallback::Subscription(run)) => {
            let Some((sink, bound)) = &caller.sink else {
                let error = Error::new(ErrorCode::Unsupported, "a subscription needs a connection of its own, and no batch")
                    .hint("use lines, Content-Length frames or a WebSocket");
                return Some(fault(id.into_owned(), to_rpc(error)));
            };
            let Some(permit) = bound.acquire() else {
                return Some(fault(id.into_owned(), limit("this connection has too many subscriptions".to_owned())));
            };
            let state =
                SubscriptionState { conn_id: caller.connection, id_provider: &RandomIntegerIdProvider, subscription_permit: permit };
            let answer = run(id, params, sink.clone(), state, extensions).await;
            let accepted = answer.is_success();
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
fn unsubscription(method: &str, params: &str) -> String {
    let id = (method == events::UNSUBSCRIBE).then(|| serde_json::from_str::<events::UnsubscribeParams>(params).ok()).flatten();
    id.map_or_else(|| params.to_owned(), |p| format!("[{}]", p.subscription))
}

/// An error as an answer.
pub(super) fn fault(id: Id<'_>, error: ErrorObjectOwned) -> MethodResponse {
    MethodResponse::error(id, error)
}

fn parse_error() -> ErrorObjectOwned {
    ErrorObjectOwned::owned(-32700, "the message is not valid JSON", None::<()>)
}

fn invalid_request(what: &str) -> ErrorObjectOwned {
    ErrorObjectOwned::owned(-32600, format!("this is no JSON-RPC 2.0 request: {what}"), None::<()>)
}

fn unknown_method(name: &str) -> ErrorObjectOwned {
    let short: String = name.chars().take(80).collect();
    ErrorObjectOwned::owned(
        -32601,
        format!("there is no method {short:?}"),
        Some(serde_json::json!({"hint": "`rpc.discover` lists the methods"})),
    )
}

/// A limit was exceeded.
pub(super) fn limit(what: String) -> ErrorObjectOwned {
    to_rpc(Error::new(ErrorCode::LimitExceeded, what))
}
