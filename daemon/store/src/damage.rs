//! Known damage to the database, and the number of rolled-back writes.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::error::StoreError;
use afd_base::file::{self, with_suffix};

/// Maximum number of suspicions that checks may clear. After that, writes stay refused, because the database keeps
/// failing.
const MAX_DISPELLED: u32 = 3;

/// Prefix of the text in a mark that records a deleted or replaced file.
const GONE: &str = "gone: ";

/// Why writes are refused.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    /// An operation encountered a fault. A check must determine whether the file is damaged.
    Suspected(String),
    /// A check found damage in the file.
    Damaged(String),
    /// The file that this daemon opened was deleted or replaced.
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
    /// Error message of the failed write.
    pub why: String,
    /// Whether the write failed because another program holds the database lock.
    pub locked: bool,
}

#[derive(Debug, Default)]
struct Inner {
    state: Mutex<Option<State>>,
    dispelled: Mutex<u32>,
    /// Why the last write failed, or `None` if it did not fail.
    failing: Mutex<Option<Failing>>,
    rollbacks: Arc<AtomicU64>,
    suspected: Notify,
}

/// Known damage to the database, and the number of rolled-back writes. Known damage makes all writes fail, and is
/// remembered across restarts.
#[derive(Debug, Clone)]
pub(super) struct Damage {
    inner: Arc<Inner>,
    /// Path of the file that records the damage for the daemon's next start.
    mark: PathBuf,
}

/// Returns the path of the file that marks a database as damaged.
pub fn damage_mark(database: &Path) -> PathBuf {
    with_suffix(database, ".damaged")
}

impl Damage {
    pub(super) fn new(database: &Path) -> Self {
        Self { inner: Arc::default(), mark: damage_mark(database) }
    }

    /// Returns whether an earlier daemon process found damage that has not been repaired since.
    pub(super) fn is_marked(&self) -> bool {
        self.mark.exists()
    }

    /// Returns the message that an earlier daemon process recorded if it found the file deleted or replaced. A check of
    /// the current file cannot detect which data is missing.
    pub(super) fn marked_as_gone(&self) -> Option<String> {
        let text = std::fs::read_to_string(&self.mark).ok()?;
        let what = text.strip_prefix(GONE)?;
        Some(format!(
            "{what}; its content is in the newest backup. To continue without it, delete {}",
            self.mark.display()
        ))
    }

    /// Makes all writes fail for a reason that the mark already records.
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

    /// Records the error of the last write that changed anything, or `None` if that write was committed.
    pub(super) fn set_failing(&self, error: Option<&StoreError>) {
        let why = error.map(|error| Failing { why: error.to_string(), locked: matches!(error, StoreError::Locked) });
        let mut failing = self.inner.failing.lock();
        if let Some(Failing { why, .. }) = why.as_ref().filter(|_| failing.is_none()) {
            tracing::error!(why, "the memory database cannot be written");
        }
        *failing = why;
    }

    /// Returns why the last write failed, or `None` if it did not fail.
    pub(super) fn failing(&self) -> Option<Failing> {
        self.inner.failing.lock().clone()
    }

    pub(super) fn count_rollback(&self) {
        self.inner.rollbacks.fetch_add(1, Ordering::SeqCst);
    }

    /// Records damage that a check found in the database file.
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

    /// Waits until damage is suspected, or the file was deleted or replaced.
    pub(super) async fn suspected(&self) {
        self.inner.suspected.notified().await;
    }

    /// Records that a check found no fault. Removes the mark of earlier damage. Also clears a suspicion, unless
    /// [`MAX_DISPELLED`] suspicions have already been cleared.
    pub(super) fn dispel(&self) {
        let _ = std::fs::remove_file(&self.mark);
        let mut state = self.inner.state.lock();
        let Some(State::Suspected(what)) = &*state else { return };
        let mut dispelled = self.inner.dispelled.lock();
        *dispelled += 1;
        if *dispelled <= MAX_DISPELLED {
            tracing::warn!(%what, "the check found no fault; writes are accepted again");
            *state = None;
        }
    }
}

/// Device and inode number of a file.
type FileId = (u64, u64);

fn id(path: &Path) -> Option<FileId> {
    std::fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()))
}

/// The database files that this daemon opened. If these files have been deleted, data that is written to them is lost
/// at the daemon's next start.
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

    /// Checks, after a commit, that the paths still lead to the files that were written. The error describes the
    /// problem.
    pub(super) fn check(&mut self) -> Result<(), String> {
        let now = (id(&self.database), id(&self.log));
        // The first write creates the write-ahead log.
        self.ids.1 = self.ids.1.or(now.1);
        if now == self.ids {
            return Ok(());
        }
        let which = if now.0 == self.ids.0 { &self.log } else { &self.database };
        Err(format!("{} was deleted or replaced while the daemon used it", which.display()))
    }
}
