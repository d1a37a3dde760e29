//! Checkpoints the write-ahead log on a separate thread. On the writer thread, writes would have to wait for a
//! checkpoint.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::{Condvar, Mutex};
use rusqlite::{Connection, OpenFlags};

use super::{Result, StoreError};
use afd_base::task::Tasks;

/// Number of pages of the log at which it is checkpointed, and of further pages until the next checkpoint.
const FIRST: i32 = 1_000;
const STEP: i32 = 500;
/// Number of pages of the log from which long work waits for a running checkpoint. Without this limit, an import adds
/// pages faster than the thread moves them into the database.
const HOLD: i32 = 2_000;
/// Number of pages of the log from which the writer checkpoints it itself. Under constant writing, the other thread
/// never reaches the end of the log.
const MAX: i32 = 8_000;

thread_local! {
    /// Pages of the log after the last commit of this thread.
    static PAGES: Cell<i32> = const { Cell::new(0) };
}

/// A request to the thread, or its current work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Nothing,
    Move,
    /// The thread is moving the log into the database.
    Moving,
    End,
}

struct Shared {
    wanted: Mutex<Wanted>,
    changed: Condvar,
}

/// Handle of the checkpoint thread.
pub(super) struct Checkpoints {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// Pages of the log at the last request.
    asked: i32,
}

impl Checkpoints {
    /// Starts the thread for a database.
    pub(super) fn start(path: &Path, tasks: &Tasks) -> Result<Self> {
        let shared = Arc::new(Shared { wanted: Mutex::new(Wanted::Nothing), changed: Condvar::new() });
        let (own, path, tasks) = (shared.clone(), path.to_owned(), tasks.clone());
        let thread = std::thread::Builder::new()
            .name("checkpoints".into())
            .spawn(move || serve(&own, &path, &tasks))
            .map_err(|e| StoreError::Unavailable(format!("cannot start the checkpoint thread: {e}")))?;
        Ok(Self { shared, thread: Some(thread), asked: 0 })
    }

    /// Makes a connection count the pages of the log instead of checkpointing at its commits. Call it on the thread
    /// that commits.
    pub(super) fn count_pages(connection: &Connection) {
        connection.wal_hook(Some(|_, pages| {
            PAGES.set(pages);
            Ok(())
        }));
    }

    /// Requests a checkpoint if the log has grown. Call it after commits, on the thread that made them.
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

    /// Returns whether long work must wait, because the log is long and a checkpoint is requested or running. Call this
    /// on the thread that commits.
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
