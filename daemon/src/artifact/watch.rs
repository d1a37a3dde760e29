//! Noticing when files vanish or come back.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use parking_lot::Mutex;

use super::rows;
use crate::store::Store;

/// At most this many directories are watched; the files in others are looked at when they are listed.
const MAX_DIRS: usize = 64;
/// At most this many files.
pub(super) const MAX_FILES: usize = 10_000;

/// The files that are watched. Whatever else happens in their directories is none of our business, the more so as our own
/// database may lie there, which every note would change again.
type Files = Arc<Mutex<HashSet<PathBuf>>>;

pub(super) struct Watch {
    watcher: RecommendedWatcher,
    dirs: HashSet<PathBuf>,
    files: Files,
}

/// Starts to watch; without a watcher, files are still looked at when they are listed.
pub(super) fn start(store: &Arc<Store>) -> Option<Watch> {
    let (store, files) = (store.clone(), Files::default());
    let watched = files.clone();
    let handler = move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else { return };
        if event.kind.is_access() {
            return;
        }
        let files = watched.lock();
        for path in event.paths.into_iter().filter(|p| files.contains(p)) {
            store.try_write_behind("a file that vanished or came back", move |c| rows::note(c, &path));
        }
    };
    let watcher = notify::recommended_watcher(handler).inspect_err(|e| tracing::warn!(%e, "cannot watch artifacts")).ok()?;
    Some(Watch { watcher, dirs: HashSet::new(), files })
}

impl Watch {
    pub(super) fn add(&mut self, file: &Path) {
        let Some(dir) = file.parent().filter(|d| d.is_dir()) else { return };
        let mut files = self.files.lock();
        if files.len() >= MAX_FILES || !files.insert(file.to_owned()) {
            return;
        }
        drop(files);
        if self.dirs.len() >= MAX_DIRS || self.dirs.contains(dir) {
            return;
        }
        match self.watcher.watch(dir, RecursiveMode::NonRecursive) {
            Ok(()) => {
                self.dirs.insert(dir.to_owned());
            }
            Err(error) => tracing::debug!(%error, dir = %dir.display(), "cannot watch a directory of artifacts"),
        }
    }
}
