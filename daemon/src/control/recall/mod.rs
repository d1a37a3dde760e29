//! `recall.*` and `model.*`: stores, searches and assembles what is remembered.

mod context;
mod describe;
pub mod embed;
mod evaluate;
mod follow;
mod models;
mod moments;
mod search;
mod show;
mod store;
mod upkeep;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use rusqlite::Connection;
use tokio::sync::Notify;

pub use context::context;
pub use evaluate::evaluate;
pub use follow::start as follow;
pub use models::{add as add_model, remove as remove_model, status};
pub(super) use moments::{for_request, for_task, near_rows, rows_about, with_remembered};
pub use search::{get, search};
pub use store::{delete, store};
pub use upkeep::{JOB as UPKEEP_JOB, run_job as run_upkeep, upkeep};

use crate::config::RecallSettings;
use crate::model::embed::{BUILTIN, Embedder, EmbeddingEndpoint, SentenceModel};
use crate::recall::index::Index;
use crate::recall::vectors;
use crate::store::Result;

/// The index in memory, and the model of the settings.
#[derive(Default)]
pub struct Recall {
    index: RwLock<Index>,
    model: Mutex<Configured>,
    /// Wakes what makes embeddings, and what derives entries.
    wake: Arc<Notify>,
    due: Arc<Notify>,
}

/// The model of the settings.
#[derive(Default)]
struct Configured {
    /// Settings that it was made by.
    by: Option<(Option<std::path::PathBuf>, Option<String>, String)>,
    model: Option<Arc<dyn Embedder>>,
    sentence: Option<Arc<SentenceModel>>,
    /// Why it cannot be used.
    error: Option<String>,
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
    /// Returns the model of the settings. Reads its files when the settings have changed.
    pub fn model(&self, settings: &RecallSettings) -> Current {
        let by = Some((settings.model_dir.clone(), settings.endpoint_url.clone(), settings.endpoint_model.clone()));
        let mut configured = self.model.lock();
        if configured.by != by {
            *configured = Configured { by, ..Configured::default() };
            if let Some(dir) = &settings.model_dir {
                match SentenceModel::open(dir) {
                    Ok(model) => {
                        let model = Arc::new(model);
                        configured.sentence = Some(model.clone());
                        configured.model = Some(model);
                    }
                    Err(error) => configured.error = Some(error),
                }
            } else {
                match EmbeddingEndpoint::new(settings) {
                    Ok(endpoint) => configured.model = endpoint.map(|e| Arc::new(e) as Arc<dyn Embedder>),
                    Err(error) => configured.error = Some(error.to_string()),
                }
            }
        }
        Current { model: configured.model.clone(), error: configured.error.clone() }
    }

    /// Drops a sentence model that was not used for some time.
    pub fn drop_unused(&self, after: Duration) {
        if let Some(sentence) = &self.model.lock().sentence {
            sentence.drop_unused(after);
        }
    }

    /// Drops the index; it is read again when it is needed.
    pub fn shrink(&self) {
        *self.index.write() = Index::default();
    }

    /// Wakes what derives entries that the writer has left.
    pub fn catch_up(&self) {
        self.due.notify_one();
    }

    /// Wakes what makes embeddings.
    pub fn nudge(&self) {
        self.wake.notify_one();
    }

    /// Runs work on an index that is up to date with the connection of a reader: it must not follow what a write may take back. `identity` is that of the model whose vectors are searched beside
    /// those of the built-in one; `work` gets the row ids of both, if they have made vectors.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn with_index<T>(
        &self,
        c: &Connection,
        identity: Option<&str>,
        work: impl FnOnce(&Index, Option<i64>, Option<i64>) -> Result<T>,
    ) -> Result<T> {
        let builtin = vectors::find_model(c, BUILTIN)?.map(|m| m.id);
        let other = identity.map(|identity| vectors::find_model(c, identity)).transpose()?.flatten().map(|m| m.id);
        let models: Vec<i64> = builtin.into_iter().chain(other).collect();
        self.index.write().follow(c, &models)?;
        work(&self.index.read(), builtin, other)
    }
}
