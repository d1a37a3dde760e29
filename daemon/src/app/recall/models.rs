//! Implements `model.*` and `recall.status`.

use std::path::Path;
use std::sync::Arc;

use afd_proto::Secret;
use afd_proto::config::{KeyParams, SetParams};
use afd_proto::model::{
    EmbeddingModel, ModelAdd, ModelAddParams, ModelAdded, ModelRemove, ModelRemoveParams, ModelRemoved,
};
use afd_proto::recall_upkeep::{EntryCount, RecallStatus, RecallStatusOf, RecallStatusParams};

use super::{Recall, qdrant};
use crate::app::checks::absolute;
use crate::app::daemon::config;
use crate::app::{Core, Error, Methods, Result};
use afd_base::model::embed::{self, BUILTIN, Trial};
use afd_base::task::run_blocking;
use afd_recall::{entries, vectors};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<ModelAdd, _, _>(|core, p| async move { add(&core, &p).await });
    methods.add::<ModelRemove, _, _>(|core, p| async move { remove(&core, &p).await });
    methods.add::<RecallStatusOf, _, _>(|core, p| async move { status(&core, &p).await });
}

/// Setting that names the directory of the sentence model.
const SETTING: &str = "recall.model_dir";
/// Number of vectors that are deleted in one write.
const DELETED: i64 = 500;
/// Setting that names an embedding endpoint instead of a directory.
const ENDPOINT: &str = "recall.endpoint_url";

/// `model.add`: checks the model in a directory, and configures it.
///
/// # Errors
/// `INVALID_PARAMS` if the model cannot be used; the message names the file.
pub async fn add(core: &Arc<Core>, params: &ModelAddParams) -> Result<ModelAdded> {
    let directory = absolute("directory", &params.directory)?;
    let dir = directory.clone();
    let tried = run_blocking(move || embed::tried(&dir)).await?;
    let Trial { identity, dimensions, sentence_ms } = tried.map_err(|why| {
        Error::param("directory", "a sentence model (config.json, tokenizer.json, model.safetensors)", why)
    })?;
    config::unset(core, KeyParams { key: ENDPOINT.to_owned() }).await?;
    let value = Secret::from(directory.display().to_string());
    config::set(core, SetParams { key: SETTING.to_owned(), value }).await?;
    core.recall.read_again().await;
    core.recall.nudge();
    let wanted = identity.clone();
    let pending = core.store.read_all(move |c| pending(c, &wanted, false)).await?;
    Ok(ModelAdded {
        identity,
        dimensions: u32::try_from(dimensions).unwrap_or(u32::MAX),
        sentence_ms,
        directory: directory.display().to_string(),
        pending,
    })
}

/// Returns the number of entries for which the model will still compute vectors. For a remote model, private entries do
/// not count, because they are not sent to it.
fn pending(c: &afd_store::Connection, identity: &str, remote: bool) -> afd_store::Result<i64> {
    let private = if remote { entries::count_private(c)? } else { 0 };
    let all = entries::counts(c)?.0.iter().map(|(_, count)| count).sum::<i64>() - private;
    let made = vectors::find_model(c, identity)?.map(|model| vectors::count(c, model.id)).transpose()?.unwrap_or(0);
    Ok((all - made).max(0))
}

/// `model.remove`: returns to the built-in model.
///
/// # Errors
/// If the settings cannot be changed.
pub async fn remove(core: &Arc<Core>, _: &ModelRemoveParams) -> Result<ModelRemoved> {
    for key in [SETTING, ENDPOINT] {
        config::unset(core, KeyParams { key: key.to_owned() }).await?;
    }
    let mut deleted: i64 = 0;
    loop {
        let some = core.store.write(|c| vectors::delete_others(c, &[BUILTIN], DELETED)).await?;
        deleted += some.len() as i64;
        if some.is_empty() {
            break;
        }
    }
    core.recall.look_again();
    core.recall.drop_index();
    Ok(ModelRemoved { deleted })
}

/// Implements `recall.status`.
///
/// # Errors
/// If the database cannot be read.
pub async fn status(core: &Arc<Core>, _: &RecallStatusParams) -> Result<RecallStatus> {
    let settings = core.config.get().recall.clone();
    let current = core.recall.model(&settings).await;
    let named = current.model.as_ref().map(|model| model.identity().to_owned());
    let remote = current.model.as_ref().is_some_and(|model| model.is_remote());
    let broken = current.error.map(|error| {
        let name = settings.model_dir.as_deref().map_or_else(String::new, |dir: &Path| dir.display().to_string());
        EmbeddingModel { identity: name, dimensions: None, embedded: 0, pending: 0, error: Some(error) }
    });
    let qdrant = qdrant::status(core, &settings).await?;
    Recall::read_first(core, named.as_deref()).await?;
    let (own, failing) = (core.clone(), core.recall.failing.lock().clone());
    let read = core.store.read_all(move |c| {
        let (counts, due) = entries::counts(c)?;
        let mut models: Vec<EmbeddingModel> = broken.into_iter().collect();
        for identity in named.iter().map(String::as_str).chain([BUILTIN]) {
            let row = vectors::find_model(c, identity)?;
            models.push(EmbeddingModel {
                identity: identity.to_owned(),
                dimensions: row.as_ref().and_then(|model| u32::try_from(model.dimensions).ok()),
                embedded: row.as_ref().map(|model| vectors::count(c, model.id)).transpose()?.unwrap_or(0),
                pending: pending(c, identity, remote && identity != BUILTIN)?,
                error: failing.clone().filter(|_| identity != BUILTIN),
            });
        }
        let bytes = own.recall.with_index(c, named.as_deref(), |index, _, _| Ok(index.bytes()))?;
        Ok(RecallStatus {
            entries: counts.into_iter().map(|(kind, count)| EntryCount { kind, count }).collect(),
            due,
            models,
            index_bytes: bytes as u64,
            qdrant,
        })
    });
    Ok(read.await?)
}
