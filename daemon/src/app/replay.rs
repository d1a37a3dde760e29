//! Idempotency: executes a writing call with a request key once, records its outcome, and replays it for repeated
//! calls.
//!
//! * The start of the call is recorded in the same transaction as its first write. Its result is recorded afterwards,
//!   in the background. A call that a crash interrupted before its first write is therefore executed again when it is
//!   repeated. A call that had already written something returns `OUTCOME_UNKNOWN`, because its remaining writes may be
//!   missing.
//! * Calls with effects outside the database are recorded before they start.
//! * The record of a failed call is deleted, so that the call can be retried.
//! * A lock on method and key is held until the result is stored, so that a concurrent call with the same key waits.
//! * The record contains a keyed hash of method and parameters. A key that is reused for a different call is refused.
//! * Calls that can repair the daemon are executed even if the database cannot be read or written.
//! * Outcomes are kept for a day.
//!
//! Actions have their own scheme, based on intents and events (`act::execute`), because inputs sent to a device cannot
//! be undone.

use std::sync::Arc;

use afd_proto::events::Message;
use afd_proto::vocabulary::DEFAULT_SESSION;
use afd_proto::{Effect, ErrorCode, MethodInfo};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, poll_immediate};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::OwnedMutexGuard;

use super::{Core, Error, Result, scope};
use afd_experience::memory::requests;
use afd_store::{Opening, Store, with_opening};

/// Future that executes a call and returns its result as JSON.
pub type Work = BoxFuture<'static, Result<Box<RawValue>>>;

/// Result of a call, as JSON.
pub struct Response {
    /// Result as JSON.
    pub result: Box<RawValue>,
    /// Whether this is the recorded result of an earlier call.
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
/// If the key is empty, longer than 256 bytes, or not a string.
pub fn check_key(key: Value) -> Result<String> {
    match key {
        Value::String(key) if (1..=256).contains(&key.len()) => Ok(key),
        Value::String(key) => Err(Error::param("requestKey", "1 to 256 bytes", key.len())),
        other => Err(Error::param("requestKey", "a string of 1 to 256 bytes", other)),
    }
}

/// Executes a call, or returns the outcome recorded for its key. Once started, a writing call runs to completion.
/// Writing calls on a connection start in the order in which they were sent, with or without a key.
///
/// # Errors
/// The errors of the call; `CANCELLED` if it was cancelled before it started; `CONFLICT` if the key was used for a
/// different call; `OUTCOME_UNKNOWN` if the daemon stopped while the call was running.
pub async fn run(
    core: &Arc<Core>,
    method: &'static MethodInfo,
    key: Option<String>,
    params: &str,
    work: Work,
) -> Result<Response> {
    if !method.takes_request_key() {
        return work.await.map(Response::fresh);
    }
    // Stopping or reloading the daemon must work even if the database does not.
    let done = match key.filter(|_| !method.name.starts_with("daemon.") && !method.is_repeatable()) {
        Some(key) => run_once(core, method, key, params, work).await,
        None => {
            let scope = scope::current();
            let order = scope.in_order().await;
            // Actions commit later, when they have acquired the device.
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

/// Polls `work` once while it holds `order`, so that it starts before the next call on the connection, then runs it to
/// completion.
async fn start(mut work: Work, order: OwnedMutexGuard<()>) -> Result<Box<RawValue>> {
    let first = poll_immediate(&mut work).await;
    drop(order);
    match first {
        Some(done) => done,
        None => work.await,
    }
}

async fn run_once(
    core: &Arc<Core>,
    method: &'static MethodInfo,
    key: String,
    params: &str,
    work: Work,
) -> Result<Response> {
    let hash = core.experience.secrets.hash(&format!("{}{params}", method.name));
    // Reading the key takes time; hold the order, so that calls on a connection still take effect in sequence.
    let order = scope::current().in_order().await;
    let lock = core.locks.calls.lock((method.name, key.clone())).await;
    let call = KeyedCall { core: core.clone(), method: method.name, key, hash };
    core.finish(async move { call.run(order, work, lock).await }).await?
}

/// A call with a request key.
#[derive(Clone)]
struct KeyedCall {
    core: Arc<Core>,
    method: &'static str,
    key: String,
    hash: String,
}

impl KeyedCall {
    /// Executes the call, unless its outcome is already recorded. `lock` is held until the result is stored.
    async fn run(self, order: OwnedMutexGuard<()>, work: Work, lock: impl Send + 'static) -> Result<Response> {
        let (method, key) = (self.method, self.key.clone());
        match self.core.store.read(move |c| requests::find(c, method, &key)).await {
            Ok(Some(recorded)) if recorded.hash != self.hash => {
                return Err(Error::new(ErrorCode::Conflict, "this requestKey was already used for a different call")
                    .hint("use a new key for each new call"));
            }
            Ok(Some(recorded)) if recorded.done => return replayed(recorded.result),
            Ok(Some(_)) => return Err(interrupted()),
            Ok(None) => {}
            Err(error) if can_repair_daemon(method) => {
                tracing::debug!(%error, method, "cannot read whether the call was executed before")
            }
            Err(error) => return Err(error.into()),
        }
        let opening = self.opening();
        if !writes_only_to_database(method) {
            let begun = with_opening(opening.clone(), self.core.store.write(|_| Ok(()))).await;
            match begun {
                // Calls that can repair the daemon must work even if the database cannot be written.
                Err(error) if can_repair_daemon(method) => {
                    tracing::warn!(%error, method, "executed without recording the request key");
                    return start(work, order).await.map(Response::fresh);
                }
                begun => begun?,
            }
        }
        scope::current().set_opening(opening.clone());
        let result = start(with_opening(opening.clone(), work).boxed(), order).await;
        let text = result.as_ref().ok().map(|result| result.get().to_owned());
        if text.is_some() || opening.is_committed() {
            let running = self.core.runtime.enter();
            tokio::spawn(async move {
                self.record(text).await;
                drop((lock, running));
            });
        }
        result.map(Response::fresh)
    }

    /// Returns the record that is written together with the first write of the call.
    fn opening(&self) -> Arc<Opening> {
        let (origin, call) = (self.core.store.origin().to_owned(), self.clone());
        Opening::new(move |c| requests::begin(c, &origin, call.method, &call.key, &call.hash))
    }

    /// Stores the result of the call. If the call failed, deletes the record of its start.
    async fn record(self, result: Option<String>) {
        let (opening, method, key) = (self.opening(), self.method, self.key);
        let stored = self.core.store.write(move |c| match &result {
            Some(result) => requests::finish(c, method, &key, result),
            None => requests::forget(c, method, &key),
        });
        // A call that wrote nothing has no record yet.
        if let Err(error) = with_opening(opening, stored).await {
            tracing::warn!(%error, method, "cannot record the outcome of a call with a request key");
        }
    }
}

/// Returns whether a method has no effects outside the database, apart from files that a repeated call writes again.
fn writes_only_to_database(method: &str) -> bool {
    ["memory.", "session.", "conversation.", "recall.", "pattern."].into_iter().any(|group| method.starts_with(group))
}

/// Returns whether a method can repair the daemon. Such methods change the configuration, the devices, or the backups,
/// which may fill the disk.
fn can_repair_daemon(method: &str) -> bool {
    ["config.", "device.", "backup."].into_iter().any(|group| method.starts_with(group))
}

fn replayed(result: Option<String>) -> Result<Response> {
    let too_large = || {
        Error::new(ErrorCode::Conflict, "this call was already executed, and its result was not kept")
            .hint("read the data that it changed instead of repeating the call")
    };
    let text = result.ok_or_else(too_large)?;
    let raw = RawValue::from_string(text)
        .map_err(|e| Error::new(ErrorCode::Internal, format!("cannot read the recorded result: {e}")))?;
    Ok(Response { result: raw, is_recorded: true })
}

/// Returns the error for a call that did not finish because the daemon that started it died.
fn interrupted() -> Error {
    Error::new(ErrorCode::OutcomeUnknown, "this call was started, but the daemon stopped before it finished")
        .hint("check whether it took effect before repeating it with a new requestKey")
}

/// Deletes recorded outcomes that are older than a day.
pub(super) async fn prune(store: &Store) -> afd_store::job::Outcome {
    let deleted = store.write(requests::prune).await?;
    Ok(format!("{deleted} outcomes of request keys deleted"))
}
