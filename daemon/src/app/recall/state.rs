//! The index in memory, the model of the settings, and the Qdrant of the settings.

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

/// The Qdrant of the settings.
#[derive(Default)]
pub struct Outside {
    by: Option<RecallSettings>,
    qdrant: Option<std::result::Result<Arc<Qdrant>, String>>,
}

impl Outside {
    /// Returns the Qdrant of these settings, or why it cannot be used; `None` if they name none.
    pub fn of(&mut self, settings: &RecallSettings) -> Option<std::result::Result<Arc<Qdrant>, String>> {
        if self.by.as_ref() != Some(settings) || matches!(self.qdrant, Some(Err(_))) {
            self.qdrant = Qdrant::new(settings).map(|qdrant| qdrant.map(Arc::new)).transpose();
            self.by = Some(settings.clone());
        }
        self.qdrant.clone()
    }
}

/// The index in memory, and the model of the settings.
#[derive(Default)]
pub struct Recall {
    pub(super) index: RwLock<Index>,
    /// Wakes the task that reads the index before a search needs it.
    pub(super) unread: Arc<Notify>,
    /// Held by the task or call that reads the index.
    pub(super) reading: tokio::sync::Mutex<()>,
    /// Models whose vectors the index has.
    pub(super) was_read: Mutex<HashSet<String>>,
    pub(super) model: tokio::sync::Mutex<Configured>,
    /// Identity of a model, and the version up to which entries have its vectors, as far as they can.
    pub(super) looked: Mutex<(String, i64)>,
    /// Wakes the task that makes embeddings.
    pub(super) wake: Arc<Notify>,
    /// How far the entries are in step with their rows.
    pub(super) progress: Progress,
    /// Wakes the task that sends changed entries to the index outside.
    pub(super) changed: Arc<Notify>,
    /// The index outside.
    pub(super) outside: Mutex<Outside>,
    /// Ends the pause before changes are sent again.
    pub(super) again: Arc<Notify>,
    /// Whether the index outside may have lost entries, so that it is compared with those here.
    pub(super) doubted: AtomicBool,
    /// Why changes could not be sent there.
    pub(super) unsent: Mutex<Option<String>>,
    /// Why vectors could not be made.
    pub(super) failing: Mutex<Option<String>>,
}

/// Pause before a model that failed is tried again.
const RETRIED: Duration = Duration::from_secs(30);

/// The model of the settings.
#[derive(Default)]
pub(super) struct Configured {
    /// Settings that it was made by.
    by: Option<RecallSettings>,
    tried: Option<Instant>,
    model: Option<Arc<dyn Embedder>>,
    sentence: Option<Arc<SentenceModel>>,
    /// Why it cannot be used.
    error: Option<String>,
}

impl Configured {
    async fn of(settings: &RecallSettings) -> Self {
        let mut configured = Self { by: Some(settings.clone()), tried: Some(Instant::now()), ..Self::default() };
        if let Some(dir) = settings.model_dir.clone() {
            // Its files are read whole, to tell whether they are the same as before.
            let opened = run_blocking(move || SentenceModel::open(&dir)).await;
            match opened.map_err(|panic| panic.to_string()).and_then(|opened| opened) {
                Ok(model) => {
                    let model = Arc::new(model);
                    configured.sentence = Some(model.clone());
                    configured.model = Some(model);
                }
                Err(error) => configured.error = Some(error),
            }
            // A trial may take long: the pause begins after it.
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

/// A model that makes vectors beside the built-in one, or why there is none.
#[derive(Clone)]
pub struct Current {
    /// The model.
    pub model: Option<Arc<dyn Embedder>>,
    /// Why the one of the settings cannot be used.
    pub error: Option<String>,
}

impl Recall {
    /// Returns the model of the settings. Reads its files when the settings or the files have changed.
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

    /// Reads the files of the model again when it is needed next.
    pub async fn read_again(&self) {
        *self.model.lock().await = Configured::default();
    }

    /// Drops a sentence model that was not used for some time.
    pub async fn drop_unused(&self, after: Duration) {
        if let Some(sentence) = &self.model.lock().await.sentence {
            sentence.drop_unused(after);
        }
    }

    /// Waits until what was committed before can be found.
    pub async fn catch_up(&self) {
        self.progress.catch_up().await;
    }

    /// Returns whether all entries up to a version of the index have vectors of a model, as far as they can.
    pub fn is_complete(&self, identity: &str, version: i64) -> bool {
        let looked = self.looked.lock();
        looked.0 == identity && looked.1 >= version
    }

    /// Looks again for all entries without vectors, as after these were deleted.
    pub fn look_again(&self) {
        *self.looked.lock() = (String::new(), 0);
    }

    /// Wakes what makes embeddings, and what sends changes to an index outside.
    pub fn nudge(&self) {
        self.wake.notify_one();
        self.changed.notify_one();
    }

    /// Takes up new settings at once.
    pub fn settings_changed(&self) {
        *self.unsent.lock() = None;
        self.again.notify_one();
        self.nudge();
    }

    /// Tells that an index outside was reached: what waits to send again need not wait.
    pub fn was_reached(&self) {
        if self.unsent.lock().is_some() {
            self.again.notify_one();
        }
    }

    /// Tells that an index outside seems to have lost something.
    pub fn doubt(&self) {
        self.doubted.store(true, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// Returns the Qdrant of the settings, or why it cannot be used; `None` if they name none.
    pub fn outside(&self, settings: &RecallSettings) -> Option<std::result::Result<Arc<Qdrant>, String>> {
        self.outside.lock().of(settings)
    }
}
