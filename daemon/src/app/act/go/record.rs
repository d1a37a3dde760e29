//! The request key of a walk, under which its steps are recorded.

use afd_proto::Method;
use afd_proto::go::{ActGoTo, GoStop, GoToResult};

use crate::app::Call;
use afd_experience::memory::requests;

/// The request key of a walk.
#[derive(Clone)]
pub(super) struct Key {
    /// Key, with the session and the device to which it belongs.
    pub name: String,
    /// Keyed hash of the parameters.
    pub hash: String,
}

/// Records what a walk has done so far and the step that it takes next, before that is sent. It is returned if the daemon
/// stops before the next record.
pub(super) async fn record(call: &Call, key: &Key, so_far: GoToResult) {
    let so_far = GoToResult { stopped: GoStop::Interrupted, ..so_far };
    let (key, text) = (key.name.clone(), serde_json::to_string(&so_far).unwrap_or_default());
    let progress = move |c: &afd_store::Connection| requests::progress(c, ActGoTo::INFO.name, &key, &text);
    if let Err(error) = call.core.store.write_first(progress).await {
        tracing::warn!(%error, "cannot record the steps of a walk");
    }
}
