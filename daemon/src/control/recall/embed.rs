//! Makes the vectors of the model of the settings in the background: of entries that are new or have changed, and of all when the model has.

use std::sync::Arc;
use std::time::Duration;

use super::super::Core;
use super::describe::describe;
use crate::model::ModelError;
use crate::model::embed::Embedder;
use crate::recall::{entries, vectors};
use crate::store::Result;
use crate::text;

/// Texts of a batch: a sentence model takes some tens of milliseconds for each, and other work is to get its turn.
const BATCH: i64 = 16;
/// Delay after a failure, and the longest one.
const RETRY: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(300));

/// Starts the background task.
pub fn start(core: &Arc<Core>) {
    let weak = Arc::downgrade(core);
    let wake = core.recall.wake.clone();
    core.tasks.spawn("embeddings", move || {
        let (weak, wake) = (weak.clone(), wake.clone());
        async move {
            let mut delay = RETRY.0;
            loop {
                let Some(core) = weak.upgrade() else { return };
                let done = batch(&core).await;
                let idle = Duration::from_millis(core.config.get().recall.model_idle_ms);
                core.recall.drop_unused(idle);
                drop(core);
                match done {
                    Ok(true) => tokio::task::yield_now().await,
                    Ok(false) => {
                        delay = RETRY.0;
                        // A model that a search has loaded is dropped, too.
                        let _ = tokio::time::timeout(idle, wake.notified()).await;
                    }
                    Err(error) => {
                        tracing::warn!(%error, "cannot make embeddings; it is tried again");
                        let _ = tokio::time::timeout(delay, wake.notified()).await;
                        delay = (delay * 2).min(RETRY.1);
                    }
                }
            }
        }
    });
}

/// Makes some vectors. Returns whether there may be more to make.
async fn batch(core: &Arc<Core>) -> std::result::Result<bool, ModelError> {
    let settings = core.config.get().recall.clone();
    let Some(model) = core.recall.model(&settings).model else { return Ok(false) };
    let identity = model.identity().to_owned();
    let lacking = core.store.read_all(move |c| lacking(c, &identity)).await.map_err(|e| ModelError::Temporary(e.to_string()))?;
    if lacking.is_empty() {
        return Ok(false);
    }
    let more = lacking.len() as i64 == BATCH;
    write(core, &model, lacking).await?;
    Ok(more)
}

/// Returns entries without a current vector, with what is searched of them.
fn lacking(c: &rusqlite::Connection, identity: &str) -> Result<Vec<(i64, String)>> {
    let model = vectors::find_model(c, identity)?.map_or(0, |m| m.id);
    let mut found = Vec::new();
    for entry in vectors::lacking(c, model, BATCH)? {
        let Some(source) = entries::source_of(c, entry)? else { continue };
        found.extend(describe(c, &source)?.map(|described| (entry, described.searched())));
    }
    Ok(found)
}

async fn write(core: &Arc<Core>, model: &Arc<dyn Embedder>, lacking: Vec<(i64, String)>) -> std::result::Result<(), ModelError> {
    let made = model.embed(lacking.iter().map(|(_, text)| text.clone()).collect()).await?;
    let identity = model.identity().to_owned();
    let written = core.store.write(move |c| {
        let dimensions = made.first().map_or(0, Vec::len) as i64;
        let row = vectors::model(c, &identity, dimensions)?;
        if row.dimensions != dimensions {
            return Ok(Err(format!("the model made vectors of {} components before, and of {dimensions} now", row.dimensions)));
        }
        for ((entry, text), vector) in lacking.iter().zip(&made) {
            vectors::put(c, row.id, *entry, text::hash(text), vector)?;
            entries::announce(c, *entry)?;
        }
        Ok(Ok(()))
    });
    written.await.map_err(|e| ModelError::Temporary(e.to_string()))?.map_err(ModelError::Permanent)
}
