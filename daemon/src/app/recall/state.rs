//! State of recall: the in-memory index, the configured model, and the configured Qdrant.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;

use super::progress::Progress;
use afd_base::config::RecallSettings;
use afd_base::model::embed::{Embedder, EmbeddingEndpoint, SentenceModel};
use afd_base::task::run_blocking;
use afd_recall::index::Index;
use afd_recall::qdrant::Qdrant;

/// The configured Qdrant.
#[derive(Default)]
pub struct Outside {
    by: Option<RecallSettings>,
    qdrant: Option<std::result::Result<Arc<Qdrant>, String>>,
}

impl Outside {
    /// Returns the Qdrant named in the settings, or the reason why it cannot be used; `None` if the settings name no
    /// Qdrant.
    pub fn of(&mut self, settings: &RecallSettings) -> Option<std::result::Result<Arc<Qdrant>, String>> {
        if self.by.as_ref() != Some(settings) || matches!(self.qdrant, Some(Err(_))) {
            self.qdrant = Qdrant::new(settings).map(|qdrant| qdrant.map(Arc::new)).transpose();
            self.by = Some(settings.clone());
        }
        self.qdrant.clone()
    }
}

/// State of recall: the in-memory index, the configured model, and the configured Qdrant.
#[derive(Default)]
pub struct Recall {
    pub(super) index: RwLock<Index>,
    /// Wakes the task that loads the index before a search needs it.
    pub(super) unread: Arc<Notify>,
    /// Lock held by the task or call that loads the index.
    pub(super) reading: tokio::sync::Mutex<()>,
    /// Identities of the models whose vectors are loaded into the index.
    pub(super) was_read: Mutex<HashSet<String>>,
    pub(super) model: tokio::sync::Mutex<Configured>,
    /// Identity of a model, and the entry version up to which all vectors that the model can compute have been
    /// computed.
    pub(super) looked: Mutex<(String, i64)>,
    /// Wakes the task that computes embeddings.
    pub(super) wake: Arc<Notify>,
    /// Progress of deriving entries from their rows.
    pub(super) progress: Progress,
    /// Wakes the task that uploads changed entries to Qdrant.
    pub(super) changed: Arc<Notify>,
    /// The configured Qdrant.
    pub(super) outside: Mutex<Outside>,
    /// Interrupts the pause before an upload is retried.
    pub(super) again: Arc<Notify>,
    /// Whether Qdrant may have lost entries and a full check is therefore due.
    pub(super) doubted: AtomicBool,
    /// Reason why changes could not be uploaded to Qdrant.
    pub(super) unsent: Mutex<Option<String>>,
    /// Reason why vectors could not be computed.
    pub(super) failing: Mutex<Option<String>>,
}

/// Pause before a model that could not be opened is tried again.
const RETRIED: Duration = Duration::from_secs(30);

/// The configured model.
#[derive(Default)]
pub(super) struct Configured {
    /// Settings from which the model was created.
    by: Option<RecallSettings>,
    tried: Option<Instant>,
    model: Option<Arc<dyn Embedder>>,
    sentence: Option<Arc<SentenceModel>>,
    /// Reason why the model cannot be used.
    error: Option<String>,
}

impl Configured {
    async fn of(settings: &RecallSettings) -> Self {
        let mut configured = Self { by: Some(settings.clone()), tried: Some(Instant::now()), ..Self::default() };
        if let Some(dir) = settings.model_dir.clone() {
            // The files are read completely, to detect whether they have changed.
            let opened = run_blocking(move || SentenceModel::open(&dir)).await;
            match opened.map_err(|panic| panic.to_string()).and_then(|opened| opened) {
                Ok(model) => {
                    let model = Arc::new(model);
                    configured.sentence = Some(model.clone());
                    configured.model = Some(model);
                }
                Err(error) => configured.error = Some(error),
            }
            // Opening a model may take long, so the pause begins afterwards.
            configured.tried = Some(Instant::now());
            return configured;
        }
        match EmbeddingEndpoint::new(settings) {
            Ok(endpoint) => configured.model = endpoint.map(|e| Arc::new(e) as Arc<dyn Embedder>),
            Err(error) => configured.error = Some(error.to_string()),
        }
        configured
    }
}

/// The configured model, which is used in addition to the built-in one, or the reason why there is none.
#[derive(Clone)]
pub struct Current {
    /// The configured model; `None` if there is none or it cannot be used.
    pub model: Option<Arc<dyn Embedder>>,
    /// Reason why the configured model cannot be used.
    pub error: Option<String>,
}

impl Recall {
    /// Returns the configured model. Reads its files again when the settings or the files have changed.
    pub async fn model(&self, settings: &RecallSettings) -> Current {
        let mut configured = self.model.lock().await;
        let changed = configured.sentence.as_ref().is_some_and(|sentence| sentence.has_changed());
        if changed
            && configured.by.as_ref() == Some(settings)
            && configured.sentence.as_ref().is_some_and(|s| s.is_changing())
        {
            return Current { model: None, error: Some("the files of the sentence model are changing".to_owned()) };
        }
        let failed = configured.error.is_some() && configured.tried.is_none_or(|at| at.elapsed() > RETRIED);
        if failed || changed || configured.by.as_ref() != Some(settings) {
            *configured = Configured::of(settings).await;
        }
        Current { model: configured.model.clone(), error: configured.error.clone() }
    }

    /// Makes the next use of the configured model read the model's files again.
    pub async fn read_again(&self) {
        *self.model.lock().await = Configured::default();
    }

    /// Drops a sentence model that has not been used for the time `after`.
    pub async fn drop_unused(&self, after: Duration) {
        if let Some(sentence) = &self.model.lock().await.sentence {
            sentence.drop_unused(after);
        }
    }

    /// Waits until searches can find the entries of earlier commits, but at most one second.
    pub async fn catch_up(&self) {
        self.progress.catch_up().await;
    }

    /// Returns whether all vectors that a model can compute have been computed for the entries up to an index version.
    pub fn is_complete(&self, identity: &str, version: i64) -> bool {
        let looked = self.looked.lock();
        looked.0 == identity && looked.1 >= version
    }

    /// Restarts the search for entries without vectors, for example after vectors were deleted.
    pub fn look_again(&self) {
        *self.looked.lock() = (String::new(), 0);
    }

    /// Wakes the task that computes embeddings and the task that uploads changes to Qdrant.
    pub fn nudge(&self) {
        self.wake.notify_one();
        self.changed.notify_one();
    }

    /// Makes recall apply new settings immediately.
    pub fn settings_changed(&self) {
        *self.unsent.lock() = None;
        self.again.notify_one();
        self.nudge();
    }

    /// Records that Qdrant was reached, and interrupts the pause before an upload is retried.
    pub fn was_reached(&self) {
        if self.unsent.lock().is_some() {
            self.again.notify_one();
        }
    }

    /// Records that Qdrant seems to have lost entries.
    pub fn doubt(&self) {
        self.doubted.store(true, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// Returns the configured Qdrant, or the reason why it cannot be used; `None` if the settings name no Qdrant.
    pub fn outside(&self, settings: &RecallSettings) -> Option<std::result::Result<Arc<Qdrant>, String>> {
        self.outside.lock().of(settings)
    }
}
