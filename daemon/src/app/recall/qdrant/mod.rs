//! The external index: the configured Qdrant. `send` uploads changed entries, and `ask` queries it for entries from
//! other stores.
//! A session's private entries never leave this machine. The database records up to which entry version changes were
//! uploaded. Uploads that fail are therefore retried until they succeed.

mod ask;
mod send;

use std::sync::Arc;
use std::time::{Duration, Instant};

use afd_proto::recall_upkeep::QdrantStatus;

use super::super::Core;
use super::Recall;
use afd_base::config::RecallSettings;
use afd_base::model::embed::BUILTIN;
use afd_recall::{outbox, vectors};
use afd_store::Result;

pub use ask::{Answer, ask, get};
pub use send::start;

/// Returns the identity of the model whose vectors are uploaded: the configured one, or the built-in one. `None` while
/// the configured model cannot be used.
async fn searched_model(recall: &Recall, settings: &RecallSettings) -> Option<String> {
    let current = recall.model(settings).await;
    match current.model {
        Some(model) => Some(model.identity().to_owned()),
        None => current.error.is_none().then(|| BUILTIN.to_owned()),
    }
}

/// Returns the status of uploads to the configured Qdrant.
///
/// # Errors
/// If the database cannot be read.
pub async fn status(core: &Arc<Core>, settings: &RecallSettings) -> Result<Option<QdrantStatus>> {
    let Some(qdrant) = core.recall.outside(settings) else { return Ok(None) };
    let url = settings.qdrant().unwrap_or_default().to_owned();
    let wanted = match (&qdrant, searched_model(&core.recall, settings).await) {
        (Ok(qdrant), Some(identity)) => Some((qdrant.collection(&identity), identity)),
        _ => None,
    };
    let (at, origin) = (url.clone(), core.store.origin().to_owned());
    let read = core.store.read_all(move |c| {
        let Some((collection, identity)) = wanted else { return Ok((None, outbox::pending(c, 0)?)) };
        let mut pending = 0;
        for other in outbox::others(c, &at, &origin, 0)? {
            pending = outbox::pending(c, other.followed())?.max(pending);
        }
        // Nothing more can be uploaded before the model has computed a vector.
        if vectors::find_model(c, &identity)?.is_none() {
            return Ok((None, pending));
        }
        if outbox::find(c, &at, &collection, &origin)?.is_none() {
            pending = outbox::pending(c, 0)?;
        }
        Ok((Some(collection), pending))
    });
    let (collection, pending) = read.await?;
    let error = qdrant.err().or_else(|| core.recall.unsent.lock().clone());
    Ok(Some(QdrantStatus { url, collection, pending, error }))
}

/// Maximum time that a response waits until a deletion has reached Qdrant.
const MAX_TELLING: Duration = Duration::from_millis(500);
/// Interval at which a waiting response checks whether a deletion has reached Qdrant.
const TELLING_POLL: Duration = Duration::from_millis(10);

/// Returns the URL of a Qdrant that may still hold deleted data: the configured Qdrant if changes are still pending
/// after a short wait, or a previously configured Qdrant.
pub async fn still_holding(core: &Arc<Core>) -> Option<String> {
    let settings = core.config.get().recall.clone();
    let started = Instant::now();
    loop {
        let status = status(core, &settings).await.ok()?;
        match status {
            Some(status) if status.pending > 0 => {
                if status.error.is_some() || started.elapsed() >= MAX_TELLING {
                    let (url, origin) = (status.url.clone(), core.store.origin().to_owned());
                    if core.store.read_all(move |c| outbox::was_reached(c, &url, &origin)).await.unwrap_or(true) {
                        return Some(status.url);
                    }
                    break;
                }
            }
            _ => break,
        }
        tokio::time::sleep(TELLING_POLL).await;
    }
    let url = settings.qdrant().unwrap_or_default().to_owned();
    let origin = core.store.origin().to_owned();
    core.store.read_all(move |c| outbox::elsewhere(c, &url, &origin)).await.ok().flatten()
}
