//! Artifacts: files on disk that each have a row in the database. Files are written atomically. The shared root, in
//! which most of them are stored, is limited in size and age.
//!
//! A file is written under a temporary name beside its destination and then renamed. Then its row is committed. If
//! either step fails, a new file is removed again, and no row remains. Files in the shared root are named after the
//! hash of their content, so that equal content is stored once.

mod error;
mod files;
mod limits;
mod new;
mod rows;
mod watch;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use afd_proto::artifact::{DeletedArtifact, SavedArtifact};
use parking_lot::{Mutex, MutexGuard};

use crate::{Store, now_ms};
use afd_base::config::ArtifactSettings;
use afd_base::task::{Tasks, run_blocking};

pub use error::ArtifactError;
pub use new::{NewArtifact, Place};
pub use rows::{
    Filter, NewRow, count, file_of, find, id_of, insert_imported, keep, list, only_of_messages, re_root, stored,
    written,
};

/// The artifacts of a store.
pub struct Artifacts {
    store: Arc<Store>,
    /// Serialises writes and deletions, because several may concern the same file.
    write_lock: tokio::sync::Mutex<()>,
    watcher: Mutex<Option<watch::Watch>>,
    /// Number of bytes written since the limits were last enforced.
    written_bytes: AtomicU64,
}

impl Artifacts {
    /// Creates a handle for the artifacts of a store.
    pub fn new(store: Arc<Store>) -> Self {
        Self {
            store,
            write_lock: tokio::sync::Mutex::default(),
            watcher: Mutex::default(),
            written_bytes: AtomicU64::new(0),
        }
    }

    /// Starts watching for files that disappear or reappear.
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
    /// If the file or its row cannot be written. Then neither a new row nor a new file remains.
    pub async fn save(&self, new: NewArtifact) -> Result<SavedArtifact, ArtifactError> {
        let _guard = self.write_lock.lock().await;
        let size = new.content.len() as u64;
        let store = self.store.origin().to_owned();
        let (file, new) = run_blocking(move || (files::write(&store, &new), new)).await?;
        let file = file?;
        let (origin, session, row) = (self.store.origin().to_owned(), new.session, NewRow::of(&new, &file));
        match self.store.write(move |c| rows::insert(c, &origin, session, &row)).await {
            Ok(written) => {
                self.written_bytes.fetch_add(size, Ordering::Relaxed);
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

    /// Returns the number of bytes written since the last [`Artifacts::tidy`].
    pub fn bytes_since_tidy(&self) -> u64 {
        self.written_bytes.load(Ordering::Relaxed)
    }

    /// Deletes an artifact. Also deletes its file if the file is below the shared root, no other artifact uses the
    /// file, and the file has not been changed since it was written. Returns `None` if there is no such artifact.
    ///
    /// # Errors
    /// If the file or the row cannot be deleted.
    pub async fn delete(&self, id: i64, root: &Path) -> Result<Option<DeletedArtifact>, ArtifactError> {
        let _guard = self.write_lock.lock().await;
        let Some(last) = self.store.read_all(move |c| rows::file_if_unshared(c, id)).await? else { return Ok(None) };
        // Delete the file first. If that fails, the row still exists, so the deletion can be repeated.
        let file_deleted = match last {
            Some((path, hash)) => {
                if let Some(watch) = self.watcher().as_mut() {
                    watch.remove(&path);
                }
                let root = root.to_owned();
                run_blocking(
                    move || if files::is_below(&path, &root) { files::remove_if(&path, &hash) } else { Ok(false) },
                )
                .await??
            }
            None => false,
        };
        self.store.write(move |c| rows::delete(c, id)).await?;
        Ok(Some(DeletedArtifact { artifact_id: id, file_deleted }))
    }

    /// Deletes the pictures to which the visual memory no longer refers, and returns their number. `in_use` contains
    /// the uids of the pictures to which it refers. Pictures younger than `min_age_ms` (milliseconds) stay, because the
    /// references to them may not have been written yet.
    ///
    /// # Errors
    /// If the database cannot be read or written, or a file cannot be deleted.
    pub async fn delete_unused(
        &self,
        in_use: &HashSet<String>,
        min_age_ms: i64,
        root: &Path,
    ) -> Result<usize, ArtifactError> {
        let before = now_ms() - min_age_ms;
        let mut deleted = 0;
        for kind in rows::REFERENCED_KINDS {
            let all = self.store.read_all(move |c| rows::of_kind(c, kind, before)).await?;
            for (id, _) in all.into_iter().filter(|(_, uid)| !in_use.contains(uid)) {
                deleted += usize::from(self.delete(id, root).await?.is_some());
            }
        }
        Ok(deleted)
    }

    /// Enforces the limits of the shared root, records which files are missing, and returns a summary.
    ///
    /// # Errors
    /// If the database cannot be read or written.
    pub async fn tidy(&self, settings: &ArtifactSettings) -> Result<String, ArtifactError> {
        let _guard = self.write_lock.lock().await;
        self.written_bytes.store(0, Ordering::Relaxed);
        limits::tidy(&self.store, settings).await
    }
}
