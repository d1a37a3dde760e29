//! Doing it once: a call that writes and carries a request key is recorded; the same call again returns its outcome.
//!
//! Acts are recorded as events and have their own way of doing so (`carry`), as what was sent to a device cannot be undone.

use std::pin::pin;
use std::sync::Arc;

use afd_proto::{ErrorCode, MethodInfo};
use futures_util::future::poll_immediate;
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::OwnedMutexGuard;

use super::{Core, Error, Result, scope};
use crate::memory::requests;

/// The answer of a call, as it is or as it was recorded.
#[derive(Clone)]
pub enum Answer<R> {
    /// It was done now.
    Fresh(R),
    /// It was done before.
    Recorded(Arc<RawValue>),
}

impl<R: Serialize> Serialize for Answer<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Answer::Fresh(result) => result.serialize(serializer),
            Answer::Recorded(text) => text.serialize(serializer),
        }
    }
}

/// A request key of a call, checked.
///
/// # Errors
/// When it is empty, too long, or no text.
pub fn check_key(key: Value) -> Result<String> {
    match key {
        Value::String(key) if (1..=256).contains(&key.len()) => Ok(key),
        Value::String(key) => Err(Error::param("requestKey", "1 to 256 bytes", key.len())),
        other => Err(Error::param("requestKey", "a text of 1 to 256 bytes", other)),
    }
}

/// Does a call, or returns what was recorded of its key. A call that writes is finished once it has begun, and the calls of a
/// connection begin in their order, with a key or without.
///
/// # Errors
/// Those of the call; `CANCELLED` when it was cancelled before it began; `CONFLICT` when the key was used for another one;
/// `OUTCOME_UNKNOWN` when the daemon ended while it was done.
pub async fn run<R, F>(core: &Arc<Core>, method: &'static MethodInfo, key: Option<String>, params: &str, work: F) -> Result<Answer<R>>
where
    R: Serialize + Send + 'static,
    F: Future<Output = Result<R>> + Send + 'static,
{
    if !method.takes_request_key() {
        return work.await.map(Answer::Fresh);
    }
    // A daemon that is asked to stop, or to look at its settings, must obey whatever its memory is like.
    match key.filter(|_| !method.name.starts_with("daemon.")) {
        Some(key) => once(core, method, key, params, work).await,
        None => {
            let scope = scope::current();
            let order = scope.in_order().await;
            // Acts commit to what they do when their turn comes.
            if !method.is_recorded_as_event() {
                scope.commit()?;
            }
            begin(work, order).await.map(Answer::Fresh)
        }
    }
}

/// Polls some work once before the next call of its connection begins, then works on.
async fn begin<T>(work: impl Future<Output = T>, order: OwnedMutexGuard<()>) -> T {
    let mut work = pin!(work);
    let first = poll_immediate(work.as_mut()).await;
    drop(order);
    match first {
        Some(done) => done,
        None => work.await,
    }
}

async fn once<R, F>(core: &Arc<Core>, method: &'static MethodInfo, key: String, params: &str, work: F) -> Result<Answer<R>>
where
    R: Serialize + Send + 'static,
    F: Future<Output = Result<R>> + Send + 'static,
{
    let (own, hash) = (core.clone(), core.secrets.hash(&format!("{}{params}", method.name)));
    // What is recorded first must not change the order in which the calls of a connection take effect.
    let order = scope::current().in_order().await;
    let alone = core.turns.calls.lock((method.name, key.clone())).await;
    let done = async move {
        let _alone = alone;
        own.do_once(method.name, (key, hash), order, work).await
    };
    core.finish(done).await?
}

impl Core {
    async fn do_once<R, F>(
        self: &Arc<Self>,
        method: &'static str,
        (key, hash): (String, String),
        order: OwnedMutexGuard<()>,
        work: F,
    ) -> Result<Answer<R>>
    where
        R: Serialize,
        F: Future<Output = Result<R>>,
    {
        let (origin, named, wanted) = (self.store.origin().to_owned(), key.clone(), hash.clone());
        let recorded = self.store.write(move |c| {
            let known = requests::find(c, method, &named)?;
            if known.is_none() {
                requests::begin(c, &origin, method, &named, &wanted)?;
            }
            Ok(known)
        });
        let recorded = match recorded.await {
            // What mends a daemon must be possible while its memory cannot be written.
            Err(error) if mends(method) => {
                tracing::warn!(%error, method, "done without a record of its request key");
                return begin(work, order).await.map(Answer::Fresh);
            }
            recorded => recorded?,
        };
        match recorded {
            Some(recorded) if recorded.hash != hash => {
                return Err(
                    Error::new(ErrorCode::Conflict, "this requestKey was used for another call").hint("use a new key for each new call")
                );
            }
            Some(recorded) if recorded.done => return replayed(recorded.result),
            Some(_) => return Err(interrupted()),
            None => {}
        }
        let result = begin(work, order).await;
        let text = result.as_ref().ok().map(serde_json::to_string).transpose();
        let text = text.map_err(|e| Error::new(ErrorCode::Internal, format!("the result cannot be recorded: {e}")))?;
        let recorded = self.store.write(move |c| match &text {
            Some(text) => requests::finish(c, method, &key, text),
            None => requests::forget(c, method, &key),
        });
        if let Err(error) = recorded.await {
            tracing::warn!(%error, method, "the outcome of a call with a request key is not recorded");
        }
        scope::report(1, Some(1), "recorded");
        result.map(Answer::Fresh)
    }
}

fn mends(method: &str) -> bool {
    ["config.", "device."].into_iter().any(|group| method.starts_with(group))
}

fn replayed<R>(result: Option<String>) -> Result<Answer<R>> {
    let too_large = || {
        Error::new(ErrorCode::Conflict, "this call was done before, and its result is not kept")
            .hint("read what it changed instead of asking again")
    };
    let text = result.ok_or_else(too_large)?;
    let raw =
        RawValue::from_string(text).map_err(|e| Error::new(ErrorCode::Internal, format!("the recorded result cannot be read: {e}")))?;
    Ok(Answer::Recorded(raw.into()))
}

fn interrupted() -> Error {
    Error::new(ErrorCode::OutcomeUnknown, "this call was begun, and the daemon ended before it was done")
        .hint("look at what it was to change before you repeat it with a new requestKey")
}

/// Deletes outcomes that nobody will ask for.
pub(super) async fn prune(core: &Core) -> crate::job::Outcome {
    let deleted = core.store.write(requests::prune).await?;
    Ok(format!("{deleted} outcomes of request keys deleted"))
}
