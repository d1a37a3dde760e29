//! What `daemon.doctor` looks at: the model of the settings, and the Qdrant.

use std::sync::Arc;
use std::time::Duration;

use super::qdrant;
use super::search::Embedded;
use crate::app::Core;
use afd_recall::points::Filters;
use afd_store::now_ms;

/// How long a model may take for a text.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was looked at, and that it works, or why it does not.
pub type Examined = (&'static str, std::result::Result<String, String>);

/// Tries the model and the Qdrant that the settings name.
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
