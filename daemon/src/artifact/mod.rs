//! Files on disk with their rows: named by their content, written in one step, limited in size and age.
//!
//! A file is written beside its place and renamed, then its row is committed; when either fails, nothing is left of both.
//! What is written to the shared root is named by its hash, so that equal content is stored once.

mod error;
mod files;
mod limits;
mod new;
mod rows;
mod watch;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use afd_proto::artifact::{Deleted, Written};
use parking_lot::{Mutex, MutexGuard};

use crate::config::ArtifactSettings;
use crate::store::Store;
use crate::task::{Tasks, run_blocking};

pub use error::ArtifactError;
pub use new::{New, Place};
pub use rows::{Filter, NewRow, count, file_of, find, id_of, insert_imported, keep, list};

/// The artifacts.
pub struct Artifacts {
    store: Arc<Store>,
    /// Writing and deleting take turns, for they may be about the same file.
    alone: tokio::sync::Mutex<()>,
    watcher: Mutex<Option<watch::Watch>>,
    /// Bytes written since the limits were looked at.
    fresh: AtomicU64,
}

impl Artifacts {
    /// The artifacts of a store.
    pub fn new(store: Arc<Store>) -> Self {
        Self { store, alone: tokio::sync::Mutex::default(), watcher: Mutex::default(), fresh: AtomicU64::new(0) }
    }

    /// Begins to notice when files vanish or come back.
    pub async fn watch(&self, tasks: &Tasks) {
        let files = self.store.read(|c| rows::newest_files(c, watch::MAX_FILES)).await.unwrap_or_default();
        *self.watcher() = watch::start(&self.store, tasks);
        files.iter().for_each(|file| self.watch_file(file));
    }

    fn watcher(&self) -> MutexGuard<'_, Option<watch::Watch>> {
        self.watcher.lock()
    }

    fn watch_file(&self, file: &Path) {
        if let Some(watch) = self.watcher().as_mut() {
            watch.add(file);
        }
    }

    /// Writes a file and its row.
    ///
    /// # Errors
    /// [`ArtifactError`]; then neither is there.
    pub async fn save(&self, new: New) -> Result<Written, ArtifactError> {
        let _alone = self.alone.lock().await;
        let size = new.content.len() as u64;
        let store = self.store.origin().to_owned();
        let (file, new) = run_blocking(move || (files::write(&store, &new), new)).await?;
        let file = file?;
        let (origin, session, row) = (self.store.origin().to_owned(), new.session, NewRow::of(&new, &file));
        match self.store.write(move |c| rows::insert(c, &origin, session, &row)).await {
            Ok(written) => {
                self.fresh.fetch_add(size, Ordering::Relaxed);
                self.watch_file(&file.path);
                Ok(written)
            }
            Err(error) => {
                if file.created {
                    let _ = std::fs::remove_file(&file.path);
                }
                Err(error.into())
            }
        }
    }

    /// Bytes written since [`Artifacts::tidy`].
    pub fn fresh_bytes(&self) -> u64 {
        self.fresh.load(Ordering::Relaxed)
    }

    /// Deletes an artifact, and its file unless another artifact has it or it was changed since; `None` when there is none.
    ///
    /// # Errors
    /// When the file or the row cannot be deleted.
    pub async fn delete(&self, id: i64) -> Result<Option<Deleted>, ArtifactError> {
        let _alone = self.alone.lock().await;
        let Some(last) = self.store.read_all(move |c| rows::last_of_its_file(c, id)).await? else { return Ok(None) };
        // The file goes first: if that fails, the row is still there to try again.
        let file_deleted = match last {
            Some((path, hash)) => {
                if let Some(watch) = self.watcher().as_mut() {
                    watch.remove(&path);
                }
                run_blocking(move || files::remove_if(&path, &hash)).await??
            }
            None => false,
        };
        self.store.write(move |c| rows::delete(c, id)).await?;
        Ok(Some(Deleted { artifact_id: id, file_deleted }))
    }

    /// Keeps the limits of the shared root, and looks which files are there; says what came of it.
    ///
    /// # Errors
    /// When the database cannot be used.
    pub async fn tidy(&self, settings: &ArtifactSettings) -> Result<String, ArtifactError> {
        let _alone = self.alone.lock().await;
        self.fresh.store(0, Ordering::Relaxed);
        limits::tidy(&self.store, settings).await
    }
}
