//! Checkpoints the write-ahead log on a separate thread. If the writer thread did this, writes would have to wait for
//! each checkpoint.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::{Condvar, Mutex};
use rusqlite::{Connection, OpenFlags};

use super::{Result, StoreError};
use afd_base::task::Tasks;

/// Size of the write-ahead log (pages) at which it is first checkpointed, and growth (pages) before each next
/// checkpoint.
const FIRST: i32 = 1_000;
const STEP: i32 = 500;
/// Size of the write-ahead log (pages) above which long work waits for a running checkpoint. Without this limit, an
/// import would add pages faster than the thread moves them into the database.
const HOLD: i32 = 2_000;
/// Size of the write-ahead log (pages) above which the writer itself performs the checkpoint, because the other thread
/// never reaches the end of the log if writes never pause.
const MAX: i32 = 8_000;

thread_local! {
    /// Number of pages in the write-ahead log after this thread's last commit.
    static PAGES: Cell<i32> = const { Cell::new(0) };
}

/// What the checkpoint thread must do next, or is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Nothing,
    Move,
    /// The thread is moving the write-ahead log into the database.
    Moving,
    End,
}

struct Shared {
    wanted: Mutex<Wanted>,
    changed: Condvar,
}

/// Handle to the checkpoint thread.
pub(super) struct Checkpoints {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// Number of pages in the write-ahead log when a checkpoint was last requested.
    asked: i32,
}

impl Checkpoints {
    /// Starts the checkpoint thread for the database at this path.
    pub(super) fn start(path: &Path, tasks: &Tasks) -> Result<Self> {
        let shared = Arc::new(Shared { wanted: Mutex::new(Wanted::Nothing), changed: Condvar::new() });
        let (own, path, tasks) = (shared.clone(), path.to_owned(), tasks.clone());
        let thread = std::thread::Builder::new()
            .name("checkpoints".into())
            .spawn(move || serve(&own, &path, &tasks))
            .map_err(|e| StoreError::Unavailable(format!("cannot start the checkpoint thread: {e}")))?;
        Ok(Self { shared, thread: Some(thread), asked: 0 })
    }

    /// Makes a connection count the pages of the write-ahead log at each commit instead of checkpointing. Call this on
    /// the thread that commits.
    pub(super) fn count_pages(connection: &Connection) {
        connection.wal_hook(Some(|_, pages| {
            PAGES.set(pages);
            Ok(())
        }));
    }

    /// Requests a checkpoint if the write-ahead log has grown enough. Call this after a commit, on the thread that made
    /// it.
    pub(super) fn committed(&mut self, connection: &Connection) {
        let pages = PAGES.get();
        if pages < self.asked {
            self.asked = 0;
        }
        if pages >= MAX {
            if let Err(error) = checkpoint(connection) {
                tracing::debug!(%error, "cannot checkpoint the write-ahead log");
            }
        } else if pages >= FIRST && pages >= self.asked + STEP {
            self.asked = pages;
            self.ask(Wanted::Move);
        }
    }

    /// Returns whether long work must wait, because the write-ahead log is large and a checkpoint is requested or
    /// running. Call this on the thread that commits.
    pub(super) fn holds_long_work(&self) -> bool {
        PAGES.get() >= HOLD && matches!(*self.shared.wanted.lock(), Wanted::Move | Wanted::Moving)
    }

    fn ask(&self, wanted: Wanted) {
        *self.shared.wanted.lock() = wanted;
        self.shared.changed.notify_one();
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.ask(Wanted::End);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn checkpoint(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}

fn open(path: &PathBuf) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

fn serve(shared: &Shared, path: &Path, tasks: &Tasks) {
    let supervised = tasks.thread("checkpoints");
    let path = path.to_owned();
    let mut connection = None;
    loop {
        {
            let mut wanted = shared.wanted.lock();
            if *wanted == Wanted::Moving {
                *wanted = Wanted::Nothing;
            }
            while *wanted == Wanted::Nothing {
                shared.changed.wait(&mut wanted);
            }
            if *wanted == Wanted::End {
                return;
            }
            *wanted = Wanted::Moving;
        }
        let moved = supervised.catch_panic(|| {
            if connection.is_none() {
                connection = Some(open(&path)?);
            }
            connection.as_ref().map_or(Ok(()), checkpoint)
        });
        if let Some(Err(error)) = moved {
            tracing::debug!(%error, "cannot checkpoint the write-ahead log; the writer does so when it gets long");
            connection = None;
        }
    }
}
