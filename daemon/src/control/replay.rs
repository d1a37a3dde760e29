//! Idempotency: executes a writing call with a request key once, records its outcome, and replays it for repeated calls.
//!
//! Before the work starts, the key is recorded as begun; afterwards the result is stored with it, or the key is deleted if the
//! call failed, so that it can be retried. A key that was begun and never finished means that the daemon died during the call
//! or could not store its outcome: repeating the call yields `OUTCOME_UNKNOWN`. Actions have their own scheme, based on intents
//! and events, since what was sent to a device cannot be undone.

use std::sync::Arc;

use afd_proto::events::Message;
use afd_proto::vocabulary::DEFAULT_SESSION;
use afd_proto::{Effect, ErrorCode, MethodInfo};
use futures_util::future::{BoxFuture, poll_immediate};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::OwnedMutexGuard;

use super::{Core, Error, Result, scope};
use afd_experience::memory::requests;

/// The work of a call, which results in JSON.
pub type Work = BoxFuture<'static, Result<Box<RawValue>>>;

/// Result of a call, as JSON.
pub struct Response {
    /// The JSON.
    pub result: Box<RawValue>,
    /// Whether it is the recorded result of an earlier call.
    is_recorded: bool,
}

impl Response {
    fn fresh(result: Box<RawValue>) -> Self {
        Self { result, is_recorded: false }
    }
}

/// Checks a request key.
///
/// # Errors
/// If it is empty, longer than 256 bytes, or not a string.
pub fn check_key(key: Value) -> Result<String> {
    match key {
        Value::String(key) if (1..=256).contains(&key.len()) => Ok(key),
        Value::String(key) => Err(Error::param("requestKey", "1 to 256 bytes", key.len())),
        other => Err(Error::param("requestKey", "a string of 1 to 256 bytes", other)),
    }
}

/// Executes a call, or returns the outcome recorded for its key. Once started, a writing call is finished. The writing calls of a
/// connection start in the order in which they were sent, with or without a key.
///
/// # Errors
/// Those of the call; `CANCELLED` if it was cancelled before it started; `CONFLICT` if the key was used for a different call;
/// `OUTCOME_UNKNOWN` if the daemon stopped while the call was running.
pub async fn run(core: &Arc<Core>, method: &'static MethodInfo, key: Option<String>, params: &str, work: Work) -> Result<Response> {
    if !method.takes_request_key() {
        return work.await.map(Response::fresh);
    }
    // Stopping or reloading the daemon must work even if the database does not.
    let done = match key.filter(|_| !method.name.starts_with("daemon.") && !method.is_repeatable()) {
        Some(key) => run_once(core, method, key, params, work).await,
        None => {
            let scope = scope::current();
            let order = scope.in_order().await;
            // Actions commit later, when they have the device.
            if !method.is_recorded_as_event() && !method.is_repeatable() {
                scope.commit()?;
            }
            start(work, order).await.map(Response::fresh)
        }
    };
    if method.effect == Effect::Admin && done.as_ref().is_ok_and(|done| !done.is_recorded) {
        core.live.publish(Message::Changed { method: method.name.to_owned(), session: session_of(method, params) });
    }
    done
}

/// Returns the session that a call belongs to.
fn session_of(method: &MethodInfo, params: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        session: Option<String>,
    }
    let named = || serde_json::from_str::<Named>(params).ok()?.session;
    method.takes.session.then(|| named().unwrap_or_else(|| DEFAULT_SESSION.to_owned()))
}

/// Polls `work` once while it holds `order`, so that it starts before the next call of the connection, then runs it to completion.
async fn start(mut work: Work, order: OwnedMutexGuard<()>) -> Result<Box<RawValue>> {
    let first = poll_immediate(&mut work).await;
    drop(order);
    match first {
        Some(done) => done,
        None => work.await,
    }
}

async fn run_once(core: &Arc<Core>, method: &'static MethodInfo, key: String, params: &str, work: Work) -> Result<Response> {
    let (worker, hash) = (core.clone(), core.secrets.hash(&format!("{}{params}", method.name)));
    // Recording the key takes time; hold the order, so that calls of a connection still take effect in sequence.
    let order = scope::current().in_order().await;
    let key_lock = core.locks.calls.lock((method.name, key.clone())).await;
    let done = async move {
        let _key_lock = key_lock;
        worker.run_recorded(method.name, (key, hash), order, work).await
    };
    core.finish(done).await?
}

impl Core {
    async fn run_recorded(
        self: &Arc<Self>,
        method: &'static str,
        (key, hash): (String, String),
        order: OwnedMutexGuard<()>,
        work: Work,
    ) -> Result<Response> {
        let (origin, named, wanted) = (self.store.origin().to_owned(), key.clone(), hash.clone());
        let recorded = self.store.write(move |c| {
            let known = requests::find(c, method, &named)?;
            if known.is_none() {
                requests::begin(c, &origin, method, &named, &wanted)?;
            }
            Ok(known)
        });
        let recorded = match recorded.await {
            // Calls that can repair the daemon must work even if the database cannot be written.
            Err(error) if can_repair_daemon(method) => {
                tracing::warn!(%error, method, "executed without recording the request key");
                return start(work, order).await.map(Response::fresh);
            }
            recorded => recorded?,
        };
        match recorded {
            Some(recorded) if recorded.hash != hash => {
                return Err(Error::new(ErrorCode::Conflict, "this requestKey was already used for a different call")
                    .hint("use a new key for each new call"));
            }
            Some(recorded) if recorded.done => return replayed(recorded.result),
            Some(_) => return Err(interrupted()),
            None => {}
        }
        let result = start(work, order).await;
        let text = result.as_ref().ok().map(|result| result.get().to_owned());
        let recorded = self.store.write(move |c| match &text {
            Some(text) => requests::finish(c, method, &key, text),
            None => requests::forget(c, method, &key),
        });
        if let Err(error) = recorded.await {
            tracing::warn!(%error, method, "cannot record the outcome of a call with a request key");
        }
        scope::report(1, Some(1), "recorded");
        result.map(Response::fresh)
    }
}

/// Returns whether a method can repair the daemon: those that change the configuration, the devices and the backups, which may fill the disk.
fn can_repair_daemon(method: &str) -> bool {
    ["config.", "device.", "backup."].into_iter().any(|group| method.starts_with(group))
}

fn replayed(result: Option<String>) -> Result<Response> {
    let too_large = || {
        Error::new(ErrorCode::Conflict, "this call was already executed, and its result was not kept")
            .hint("read the data that it changed instead of repeating the call")
    };
    let text = result.ok_or_else(too_large)?;
    let raw = RawValue::from_string(text).map_err(|e| Error::new(ErrorCode::Internal, format!("cannot read the recorded result: {e}")))?;
    Ok(Response { result: raw, is_recorded: true })
}

/// Error for a call that was started by a daemon that died before it finished.
fn interrupted() -> Error {
    Error::new(ErrorCode::OutcomeUnknown, "this call was started, but the daemon stopped before it finished")
        .hint("check whether it took effect before repeating it with a new requestKey")
}

/// Deletes outcomes older than a day.
pub(super) async fn prune(core: &Core) -> afd_store::job::Outcome {
    let deleted = core.store.write(requests::prune).await?;
    Ok(format!("{deleted} outcomes of request keys deleted"))
}
