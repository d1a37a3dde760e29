//! Known damage of the database, and the number of rolled-back writes.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::error::StoreError;
use afd_base::file::{self, with_suffix};

/// Number of suspicions that a check may dispel, so that a database that fails again and again is left alone in the
/// end.
const MAX_DISPELLED: u32 = 3;

/// What the mark of a deleted file begins with.
const GONE: &str = "gone: ";

/// Why nothing can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    /// An operation met a fault; a check tells whether it is one of the file.
    Suspected(String),
    /// A check found a fault of the file.
    Damaged(String),
    /// The file is no longer that of this daemon: it was deleted or replaced.
    Gone(String),
}

impl State {
    fn what(&self) -> &str {
        match self {
            State::Suspected(what) | State::Damaged(what) | State::Gone(what) => what,
        }
    }
}

/// Why writes fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failing {
    /// The error of the last one.
    pub why: String,
    /// Whether another program holds the lock.
    pub locked: bool,
}

#[derive(Debug, Default)]
struct Inner {
    state: Mutex<Option<State>>,
    dispelled: Mutex<u32>,
    /// Why the last write failed, if none has succeeded since.
    failing: Mutex<Option<Failing>>,
    rollbacks: Arc<AtomicU64>,
    suspected: Notify,
}

/// Remembers damage once it is known, also across starts, and counts rolled-back writes. Any of it stops all writes.
#[derive(Debug, Clone)]
pub(super) struct Damage {
    inner: Arc<Inner>,
    /// File that tells the next start about damage.
    mark: PathBuf,
}

/// Returns the file that marks a database as damaged.
pub fn damage_mark(database: &Path) -> PathBuf {
    with_suffix(database, ".damaged")
}

impl Damage {
    pub(super) fn new(database: &Path) -> Self {
        Self { inner: Arc::default(), mark: damage_mark(database) }
    }

    /// Returns whether an earlier daemon found damage that nobody has repaired since.
    pub(super) fn is_marked(&self) -> bool {
        self.mark.exists()
    }

    /// Returns what an earlier daemon said when the file was deleted or replaced: then a check of the file that is
    /// there now tells nothing of what is missing from it.
    pub(super) fn marked_as_gone(&self) -> Option<String> {
        let text = std::fs::read_to_string(&self.mark).ok()?;
        let what = text.strip_prefix(GONE)?;
        Some(format!(
            "{what}; what it held is in the newest backup. To go on without it, delete {}",
            self.mark.display()
        ))
    }

    /// Refuses writes for a reason that is marked already.
    pub(super) fn set_marked(&self, what: String) {
        *self.inner.state.lock() = Some(State::Damaged(what));
    }

    fn write_mark(&self, text: &str) {
        if let Err(error) = file::replace(&self.mark, text.as_bytes()) {
            tracing::warn!(%error, "cannot mark the database as damaged");
        }
    }

    pub(super) fn get(&self) -> Option<String> {
        self.inner.state.lock().as_ref().map(|state| state.what().to_owned())
    }

    /// Returns whether the file was deleted or replaced.
    pub(super) fn is_gone(&self) -> bool {
        matches!(*self.inner.state.lock(), Some(State::Gone(_)))
    }

    /// Returns the shared counter of rolled-back writes.
    pub(super) fn rollback_count(&self) -> Arc<AtomicU64> {
        self.inner.rollbacks.clone()
    }

    /// Records why the last write that changed anything was not committed; `None` if it was.
    pub(super) fn set_failing(&self, error: Option<&StoreError>) {
        let why = error.map(|error| Failing { why: error.to_string(), locked: matches!(error, StoreError::Locked) });
        let mut failing = self.inner.failing.lock();
        if let Some(Failing { why, .. }) = why.as_ref().filter(|_| failing.is_none()) {
            tracing::error!(why, "the memory database cannot be written");
        }
        *failing = why;
    }

    /// Returns why the last write failed, if none has succeeded since.
    pub(super) fn failing(&self) -> Option<Failing> {
        self.inner.failing.lock().clone()
    }

    pub(super) fn count_rollback(&self) {
        self.inner.rollbacks.fetch_add(1, Ordering::SeqCst);
    }

    /// Records a fault that a check found in the file.
    pub(super) fn set(&self, what: String) {
        tracing::error!(%what, "the memory database is damaged; further writes are refused");
        self.write_mark(&what);
        let mut state = self.inner.state.lock();
        if !matches!(*state, Some(State::Gone(_))) {
            *state = Some(State::Damaged(what));
        }
    }

    /// Records that the file was deleted or replaced.
    pub(super) fn set_gone(&self, what: String) {
        tracing::error!(%what, "further writes are refused");
        self.write_mark(&format!("{GONE}{what}"));
        *self.inner.state.lock() = Some(State::Gone(what));
        self.inner.suspected.notify_one();
    }

    pub(super) fn set_if_damaged(&self, error: &StoreError) {
        let StoreError::Damaged(what) = error else { return };
        let mut state = self.inner.state.lock();
        if state.is_none() {
            tracing::error!(%what, "the memory database seems to be damaged; writes are refused until it has been checked");
            *state = Some(State::Suspected(what.clone()));
            self.inner.suspected.notify_one();
        }
    }

    /// Waits until there is something to check.
    pub(super) async fn suspected(&self) {
        self.inner.suspected.notified().await;
    }

    /// A check found no fault: removes the mark of an earlier one, and a suspicion, unless there were several.
    pub(super) fn dispel(&self) {
        let _ = std::fs::remove_file(&self.mark);
        let mut state = self.inner.state.lock();
        let Some(State::Suspected(what)) = &*state else { return };
        let mut dispelled = self.inner.dispelled.lock();
        *dispelled += 1;
        if *dispelled <= MAX_DISPELLED {
            tracing::warn!(%what, "the check found no fault; the database is written again");
            *state = None;
        }
    }
}

/// Device and inode number of a file.
type FileId = (u64, u64);

fn id(path: &Path) -> Option<FileId> {
    std::fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()))
}

/// The files of the database as this daemon opened them. What is written into deleted files is lost at the next start.
#[derive(Debug)]
pub(super) struct Files {
    database: PathBuf,
    log: PathBuf,
    ids: (Option<FileId>, Option<FileId>),
}

impl Files {
    pub(super) fn of(database: &Path) -> Self {
        Self { database: database.to_owned(), log: with_suffix(database, "-wal"), ids: (id(database), None) }
    }

    /// Checks after a commit that the files are still those that were written; returns what is amiss.
    pub(super) fn check(&mut self) -> Result<(), String> {
        let now = (id(&self.database), id(&self.log));
        // The log is made by the first write.
        self.ids.1 = self.ids.1.or(now.1);
        if now == self.ids {
            return Ok(());
        }
        let which = if now.0 == self.ids.0 { &self.log } else { &self.database };
        Err(format!("{} was deleted or replaced while the daemon used it", which.display()))
    }
}
