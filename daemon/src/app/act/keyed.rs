//! Calls of several actions with a request key: what was done is recorded after each action, and a repeated call returns
//! it.

use std::future::Future;

use afd_proto::ErrorCode;
use afd_proto::vocabulary::DeviceCall;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::app::{Call, Core, Error, Result};
use afd_experience::memory::requests;

/// The request key of a call.
#[derive(Clone)]
pub(in crate::app) struct Key {
    method: &'static str,
    /// Key, with the session and the device to which it belongs.
    name: String,
    /// Keyed hash of the parameters.
    hash: String,
}

/// The result of a call of several actions.
pub(in crate::app) trait Progress: Clone + Serialize + DeserializeOwned + Send {
    /// Returns what is recorded of the result. The page at the end is not, as with other actions.
    fn without_page(self) -> Self;
    /// Returns the result of a call that was cut off.
    fn interrupted(self) -> Self;
    /// Marks the recorded result of an earlier call.
    fn replayed(self) -> Self;
}

impl Key {
    /// Returns the request key of a call; `None` if the caller gave none.
    ///
    /// # Errors
    /// If the key is empty or too long.
    pub(in crate::app) fn of<P: DeviceCall + Serialize>(
        core: &Core,
        method: &'static str,
        params: &P,
        key: Option<&str>,
    ) -> Result<Option<Self>> {
        let Some(key) = key else { return Ok(None) };
        if !(1..=256).contains(&key.len()) {
            return Err(Error::param("requestKey", "1 to 256 bytes", key.len()));
        }
        let mut asked = serde_json::to_value(params).unwrap_or_default();
        if let Some(object) = asked.as_object_mut() {
            // Device and session are part of the name, however the caller named them.
            for name in ["device", "session", "url", "token", "requestKey", "then"] {
                object.remove(name);
            }
        }
        let hash = core.experience.secrets.hash(&asked.to_string());
        Ok(Some(Self { method, name: key.to_owned(), hash }))
    }

    /// Records what a call has done so far and the action that it takes next, before that is sent. It is returned if the
    /// daemon stops before the next record.
    pub(in crate::app) async fn progress<R: Progress>(&self, call: &Call, so_far: R) {
        let text = serde_json::to_string(&so_far.interrupted()).unwrap_or_default();
        let (method, name) = (self.method, self.name.clone());
        let progress = move |c: &afd_store::Connection| requests::progress(c, method, &name, &text);
        if let Err(error) = call.core.store.write_first(progress).await {
            tracing::warn!(%error, "cannot record the actions of a call");
        }
    }

    /// Returns the recorded result of an earlier call with the key.
    ///
    /// # Errors
    /// `CONFLICT` if the key was used for another call, `OUTCOME_UNKNOWN` if that call recorded nothing.
    async fn recorded<R: Progress>(&self, call: &Call) -> Result<Option<R>> {
        let (method, name) = (self.method, self.name.clone());
        let Some(recorded) = call.core.store.read(move |c| requests::find(c, method, &name)).await? else {
            return Ok(None);
        };
        if recorded.hash != self.hash {
            return Err(Error::new(ErrorCode::Conflict, "this requestKey was already used for a different call")
                .hint("use a new key for each call"));
        }
        match recorded.result.as_deref().map(serde_json::from_str::<R>) {
            Some(Ok(result)) => Ok(Some(result.replayed())),
            Some(Err(error)) => {
                Err(Error::new(ErrorCode::Internal, format!("cannot read the recorded result: {error}")))
            }
            None => Err(Error::new(
                ErrorCode::OutcomeUnknown,
                format!("this {method} was started, but its actions were not recorded"),
            )
            .hint("look at the page, and see `afctl events`, before repeating it with a new requestKey")),
        }
    }
}

/// Runs a call, or returns what an earlier call with the same key did. `run` gets the key under which to record.
///
/// # Errors
/// Those of the call; `CONFLICT` if the key was used for another call.
pub(in crate::app) async fn run_once<R, F>(
    call: &Call,
    key: Option<Key>,
    run: impl FnOnce(Option<Key>) -> F,
) -> Result<R>
where
    R: Progress,
    F: Future<Output = Result<R>>,
{
    let Some(key) = key else { return run(None).await };
    let key = Key { name: format!("{}/{}/{}", call.echo.session, call.echo.device, key.name), ..key };
    let _lock = call.core.locks.calls.lock((key.method, key.name.clone())).await;
    if let Some(recorded) = key.recorded(call).await? {
        return Ok(recorded);
    }
    let (origin, begun) = (call.core.store.origin().to_owned(), key.clone());
    let begin = move |c: &afd_store::Connection| requests::begin(c, &origin, begun.method, &begun.name, &begun.hash);
    call.core.store.write_first(begin).await?;
    let done = run(Some(key.clone())).await;
    let record = done.as_ref().ok().and_then(|result| serde_json::to_string(&result.clone().without_page()).ok());
    let is_sent = done.as_ref().is_err_and(|error| error.code == ErrorCode::OutcomeUnknown);
    let stored = call.core.store.write(move |c| match &record {
        Some(result) => requests::finish(c, key.method, &key.name, result),
        // Nothing is recorded of an action that may have been sent. A repeated call says so.
        None if is_sent => Ok(()),
        // Nothing was sent, so the key can be used again.
        None => requests::forget(c, key.method, &key.name),
    });
    if let Err(error) = stored.await {
        tracing::warn!(%error, "cannot record the result of a call");
    }
    done
}
