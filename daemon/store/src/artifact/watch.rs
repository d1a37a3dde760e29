//! Watches for artifact files that disappear or reappear.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use parking_lot::Mutex;

use super::rows;
use crate::Store;
use afd_base::task::{Tasks, failpoint};

/// Maximum number of watched directories. Files in other directories are checked only when they are listed.
const MAX_DIRS: usize = 64;
/// Maximum number of watched files. Only the newest files are watched.
pub(super) const MAX_FILES: usize = 10_000;

/// The watched files. Changes to other files in the same directories are ignored. The database may be one of those
/// other files, and recording a change to the database would itself change the database.
struct Files {
    watched: HashSet<PathBuf>,
    /// The watched files in the order in which they were added.
    order: VecDeque<PathBuf>,
    limit: usize,
}

impl Files {
    fn new(limit: usize) -> Self {
        Self { watched: HashSet::new(), order: VecDeque::new(), limit }
    }

    /// Adds a file. If this exceeds the limit, the file that was added first is dropped.
    fn add(&mut self, file: &Path) {
        if !self.watched.insert(file.to_owned()) {
            return;
        }
        self.order.push_back(file.to_owned());
        while self.watched.len() > self.limit || self.order.len() > self.limit.saturating_mul(2) {
            let Some(oldest) = self.order.pop_front() else { return };
            self.watched.remove(&oldest);
        }
    }

    fn remove(&mut self, file: &Path) {
        if self.watched.remove(file) {
            self.order.retain(|other| other != file);
        }
    }
}

pub(super) struct Watch {
    watcher: RecommendedWatcher,
    dirs: HashSet<PathBuf>,
    files: Arc<Mutex<Files>>,
}

/// Starts the watcher. Returns `None` if that fails; files are then still checked when they are listed.
pub(super) fn start(store: &Arc<Store>, tasks: &Tasks) -> Option<Watch> {
    let (store, task, files) =
        (store.clone(), tasks.thread("artifact-watcher"), Arc::new(Mutex::new(Files::new(MAX_FILES))));
    let watched = files.clone();
    let handler = move |event: notify::Result<notify::Event>| {
        let Some(event) = event.ok().filter(|e| !e.kind.is_access()) else { return };
        task.catch_panic(|| {
            failpoint("artifact-watcher");
            let files = watched.lock();
            for path in event.paths.into_iter().filter(|p| files.watched.contains(p)) {
                store.try_write_behind(
                    "the state of an artifact's file",
                    move |c| rows::update_presence(c, &path),
                    |()| {},
                );
            }
        });
    };
    let watcher =
        notify::recommended_watcher(handler).inspect_err(|e| tracing::warn!(%e, "cannot watch artifacts")).ok()?;
    Some(Watch { watcher, dirs: HashSet::new(), files })
}

impl Watch {
    /// Stops watching a file that was deleted on purpose, so that another file can be watched instead.
    pub(super) fn remove(&mut self, file: &Path) {
        self.files.lock().remove(file);
    }

    pub(super) fn add(&mut self, file: &Path) {
        let Some(dir) = file.parent().filter(|d| d.is_dir()) else { return };
        self.files.lock().add(file);
        if self.dirs.len() >= MAX_DIRS || self.dirs.contains(dir) {
            return;
        }
        match self.watcher.watch(dir, RecursiveMode::NonRecursive) {
            Ok(()) => {
                self.dirs.insert(dir.to_owned());
            }
            Err(error) => tracing::debug!(%error, dir = %dir.display(), "cannot watch an artifact directory"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_files_are_watched() {
        let mut files = Files::new(3);
        let path = |n: u32| PathBuf::from(format!("/{n}"));
        (0..10).for_each(|n| files.add(&path(n)));
        assert_eq!(files.watched, [7, 8, 9].map(path).into());
        files.remove(&path(8));
        files.add(&path(10));
        assert_eq!(files.watched, [7, 9, 10].map(path).into());
        for _ in 0..10 {
            files.remove(&path(10));
            files.add(&path(10));
        }
        assert_eq!(files.watched, [7, 9, 10].map(path).into());
        assert!(files.order.len() <= 6);
    }
}
