//! Computes vectors with the configured model in the background: for new and changed entries, and for all entries when
//! the model has changed.

use std::sync::Arc;
use std::time::Duration;

use super::describe::describe;
use crate::app::Core;
use afd_base::model::ModelError;
use afd_base::model::embed::Embedder;
use afd_base::text::{self, cut};
use afd_recall::{entries, vectors};
use afd_store::Result;

/// Number of texts that are embedded in one batch. A sentence model takes tens of milliseconds per text, and other work
/// must not wait long.
const BATCH: usize = 16;
/// Delay before the next attempt after a first failure. The delay doubles with each further failure.
const FIRST_RETRY: Duration = Duration::from_secs(2);
/// Maximum delay before the next attempt after repeated failures.
const LONGEST_RETRY: Duration = Duration::from_secs(300);

/// Starts the background task that computes vectors.
pub fn start(core: &Arc<Core>) {
    let weak = Arc::downgrade(core);
    let wake = core.recall.wake.clone();
    core.tasks.spawn("embeddings", move || {
        let (weak, wake) = (weak.clone(), wake.clone());
        async move {
            let mut delay = FIRST_RETRY;
            loop {
                let Some(core) = weak.upgrade() else { return };
                let done = batch(&core).await;
                let idle = Duration::from_millis(core.config.get().recall.model_idle_ms);
                core.recall.drop_unused(idle).await;
                *core.recall.failing.lock() = done.as_ref().err().map(ToString::to_string);
                drop(core);
                match done {
                    Ok(true) => tokio::task::yield_now().await,
                    Ok(false) => {
                        delay = FIRST_RETRY;
                        // The timeout also drops a model that only a search has loaded.
                        let _ = tokio::time::timeout(idle, wake.notified()).await;
                    }
                    Err(error) => {
                        tracing::warn!(%error, "cannot make embeddings; it is tried again");
                        let _ = tokio::time::timeout(delay, wake.notified()).await;
                        delay = (delay * 2).min(LONGEST_RETRY);
                    }
                }
            }
        }
    });
}

/// Computes a batch of vectors. Returns whether there may be more to compute.
async fn batch(core: &Arc<Core>) -> std::result::Result<bool, ModelError> {
    let settings = core.config.get().recall.clone();
    let Some(model) = core.recall.model(&settings).await.model else { return Ok(false) };
    let identity = model.identity().to_owned();
    let after = {
        let looked = core.recall.looked.lock();
        if looked.0 == identity { looked.1 } else { 0 }
    };
    let wanted = identity.clone();
    let remote = model.is_remote();
    let read = core.store.read_all(move |c| lacking(c, &wanted, after, remote)).await;
    let (lacking, upto) = read.map_err(|e| ModelError::Temporary(e.to_string()))?;
    let Some(upto) = upto else { return Ok(false) };
    if !lacking.is_empty() {
        write(core, &model, lacking).await?;
    }
    *core.recall.looked.lock() = (identity, upto);
    Ok(true)
}

/// Row ids of entries without a current vector, with their searchable text, and the version up to which entries were
/// checked.
type Lacking = (Vec<(i64, String)>, Option<i64>);

/// Returns the next entries without a vector. If the model is remote, a session's private entries are left out.
fn lacking(c: &afd_store::Connection, identity: &str, after: i64, remote: bool) -> Result<Lacking> {
    let model = vectors::find_model(c, identity)?;
    // Without a row of the model there are no vectors, even if entries were checked before.
    let after = if model.is_some() { after } else { 0 };
    let (entries, upto) = vectors::lacking(c, model.map_or(0, |m| m.id), after, BATCH)?;
    let mut found = Vec::new();
    for entry in entries {
        let Some(source) = entries::source_of(c, entry)? else { continue };
        let described = describe(c, &source)?.filter(|described| !(remote && described.private));
        found.extend(described.map(|described| (entry, described.searched())));
    }
    Ok((found, upto))
}

/// Maximum length of the text that is embedded, in characters. Models read no more, and endpoints refuse longer texts.
const MAX_TEXT: usize = 6_000;

async fn write(
    core: &Arc<Core>,
    model: &Arc<dyn Embedder>,
    lacking: Vec<(i64, String)>,
) -> std::result::Result<(), ModelError> {
    let short = |text: &str| cut::head(text, MAX_TEXT).to_owned();
    let made = match model.embed(lacking.iter().map(|(_, text)| short(text)).collect()).await {
        Err(ModelError::Permanent(why)) if lacking.len() > 1 => {
            // One text that the model refuses must not prevent the vectors of the others.
            let mut made = Vec::new();
            for (_, text) in &lacking {
                made.push(
                    model.embed(vec![short(text)]).await.ok().and_then(|mut vectors| vectors.pop()).unwrap_or_default(),
                );
            }
            if made.iter().all(Vec::is_empty) {
                return Err(ModelError::Permanent(why));
            }
            made
        }
        made => made?,
    };
    let identity = model.identity().to_owned();
    let written = core.store.write(move |c| {
        let dimensions = made.iter().map(Vec::len).max().unwrap_or(0) as i64;
        let row = vectors::model(c, &identity, dimensions)?;
        if row.dimensions != dimensions {
            return Ok(Err(format!(
                "the model made vectors of {} components before, and of {dimensions} now",
                row.dimensions
            )));
        }
        for ((entry, text), vector) in lacking.iter().zip(&made) {
            if vectors::put_current(c, row.id, *entry, text::hash(text), vector)? {
                entries::announce(c, *entry)?;
            }
        }
        Ok(Ok(()))
    });
    written.await.map_err(|e| ModelError::Temporary(e.to_string()))?.map_err(ModelError::Permanent)?;
    core.recall.changed.notify_one();
    Ok(())
}
