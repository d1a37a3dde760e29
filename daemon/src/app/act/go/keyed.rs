//! Walks with a request key: what was done is recorded after each step, and a repeated call returns it.

use std::sync::Arc;

use afd_proto::go::{ActGoTo, GoToParams, GoToResult};
use afd_proto::{ErrorCode, Method};

use super::record::Key;
use super::walk;
use crate::app::visual::goal::Asked;
use crate::app::{Call, Core, Error, Result};
use afd_experience::memory::requests;

/// Returns the request key of a walk; `None` if the caller gave none.
///
/// # Errors
/// If the key is empty or too long.
pub(super) fn of(core: &Arc<Core>, params: &GoToParams) -> Result<Option<Key>> {
    let Some(key) = &params.request_key else { return Ok(None) };
    if !(1..=256).contains(&key.len()) {
        return Err(Error::param("requestKey", "1 to 256 bytes", key.len()));
    }
    let mut asked = params.clone();
    (asked.request_key, asked.then, asked.device, asked.session) = (None, None, None, None);
    (asked.url, asked.token) = (None, None);
    let hash = core.experience.secrets.hash(&serde_json::to_string(&asked).unwrap_or_default());
    Ok(Some(Key { name: key.clone(), hash }))
}

/// Walks, or returns what an earlier call with the same key did.
///
/// # Errors
/// Those of the walk; `CONFLICT` if the key was used for another call.
pub(super) async fn run_once(call: &Call, params: GoToParams, asked: Asked, key: Option<Key>) -> Result<GoToResult> {
    let Some(key) = key else { return walk::run(call, params, asked, None).await };
    let name = format!("{}/{}/{}", call.echo.session, call.echo.device, key.name);
    let key = Key { name: name.clone(), ..key };
    let _lock = call.core.locks.calls.lock((ActGoTo::INFO.name, name.clone())).await;
    let recorded = call.core.store.read(move |c| requests::find(c, ActGoTo::INFO.name, &name)).await?;
    if let Some(recorded) = recorded {
        if recorded.hash != key.hash {
            return Err(Error::new(ErrorCode::Conflict, "this requestKey was already used for a different call")
                .hint("use a new key for each walk"));
        }
        return replayed(recorded);
    }
    let (origin, begun) = (call.core.store.origin().to_owned(), key.clone());
    let begin =
        move |c: &afd_store::Connection| requests::begin(c, &origin, ActGoTo::INFO.name, &begun.name, &begun.hash);
    call.core.store.write_first(begin).await?;
    let walked = walk::run(call, params, asked, Some(&key)).await;
    // The page at the end is not recorded, as with other actions.
    let record = walked.as_ref().ok().map(|result| GoToResult { look: None, ..result.clone() });
    let record = record.and_then(|result| serde_json::to_string(&result).ok());
    let stored = call.core.store.write(move |c| match &record {
        Some(result) => requests::finish(c, ActGoTo::INFO.name, &key.name, result),
        // Nothing was sent, so the key can be used again.
        None => requests::forget(c, ActGoTo::INFO.name, &key.name),
    });
    if let Err(error) = stored.await {
        tracing::warn!(%error, "cannot record the result of a walk");
    }
    walked
}

/// Returns the recorded result of an earlier call.
fn replayed(recorded: requests::RecordedCall) -> Result<GoToResult> {
    let result = recorded.result.as_deref().map(serde_json::from_str::<GoToResult>);
    match result {
        Some(Ok(result)) => Ok(GoToResult { replayed: true, ..result }),
        Some(Err(error)) => Err(Error::new(ErrorCode::Internal, format!("cannot read the recorded result: {error}"))),
        None => Err(Error::new(ErrorCode::OutcomeUnknown, "this walk was started, but its steps were not recorded")
            .hint("look at the page, and see `afctl events`, before repeating it with a new requestKey")),
    }
}
