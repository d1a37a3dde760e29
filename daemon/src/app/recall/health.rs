//! Checks for `daemon.doctor`: the configured model and the configured Qdrant.

use std::sync::Arc;
use std::time::Duration;

use super::qdrant;
use super::search::Embedded;
use crate::app::Core;
use afd_recall::points::Filters;
use afd_store::now_ms;

/// Maximum time for a model to embed text.
const PATIENCE: Duration = Duration::from_secs(10);

/// Name of a check, with a message if it passed or the reason why it failed.
pub type Examined = (&'static str, std::result::Result<String, String>);

/// Checks whether the configured model and the configured Qdrant work.
pub async fn examine(core: &Arc<Core>) -> Vec<Examined> {
    let settings = core.config.get().recall.clone();
    let current = core.recall.model(&settings).await;
    let mut found = Vec::new();
    let (embedded, failed) = Embedded::of("Does it work?", current.model.as_ref(), PATIENCE).await;
    match (current.error.or(failed), embedded.identity()) {
        (Some(error), _) => found.push(("embeddings", Err(error))),
        (None, Some(identity)) => found.push(("embeddings", Ok(format!("{identity} makes vectors")))),
        (None, None) => {}
    }
    if let Some(url) = settings.qdrant() {
        let filters = Filters { now: now_ms(), ..Filters::default() };
        let (_, without) = qdrant::ask(&core.recall, &settings, embedded.searched(), &filters, 1).await;
        found.push(("qdrant", without.map_or_else(|| Ok(format!("{url} answers")), Err)));
    }
    found
}
