//! Threads that read, with a connection each: a slow lookup or a file elsewhere never holds a read up.
//!
//! A read whose caller went away is interrupted, or not begun.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use parking_lot::Mutex;
use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::{Connection, InterruptHandle};
use tokio::sync::oneshot;

use super::writer::caught;
use super::{Result, StoreError};
use crate::task::{Tasks, checkpoint};

/// How many reads go on at once.
const THREADS: usize = 4;
/// At most this many reads wait.
const QUEUE: usize = 4096;

/// How far a read is.
enum Progress {
    Waiting,
    Running(InterruptHandle),
    Over,
}

/// A read as its caller and its thread share it.
type Shared = Arc<Mutex<Progress>>;

/// Reads on the connection, or takes the reason why there is none.
type Work = Box<dyn FnOnce(Result<&Connection>) + Send>;

struct Job {
    progress: Shared,
    work: Work,
}

/// Ends a read whose caller does not wait any more.
struct Caller(Shared);

impl Drop for Caller {
    fn drop(&mut self) {
        // Under the lock: once the thread has said that it is over, its connection works for somebody else.
        let mut progress = self.0.lock();
        if let Progress::Running(handle) = &*progress {
            handle.interrupt();
        }
        *progress = Progress::Over;
    }
}

pub(super) type Pool = r2d2::Pool<SqliteConnectionManager>;

pub(super) struct Readers {
    sender: SyncSender<Job>,
}

impl Readers {
    pub(super) fn start(manager: SqliteConnectionManager, tasks: &Tasks) -> Result<(Self, Pool)> {
        let pool = r2d2::Pool::builder()
            .max_size(u32::try_from(THREADS).unwrap_or(u32::MAX))
            .min_idle(Some(0))
            .idle_timeout(Some(Duration::from_secs(300)))
            .test_on_check_out(false)
            .build_unchecked(manager);
        let (sender, receiver) = sync_channel(QUEUE);
        let receiver = Arc::new(Mutex::new(receiver));
        for n in 0..THREADS {
            let (pool, receiver, task) = (pool.clone(), receiver.clone(), tasks.thread(format!("store-reader-{n}")));
            std::thread::Builder::new()
                .name(format!("store-reader-{n}"))
                .spawn(move || while task.piece(|| run(&pool, &receiver)).is_none() {})
                .map_err(|e| StoreError::Unavailable(format!("cannot start a reader: {e}")))?;
        }
        Ok((Self { sender }, pool))
    }

    pub(super) async fn submit<T: Send + 'static>(&self, work: impl FnOnce(&Connection) -> Result<T> + Send + 'static) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let progress = Shared::new(Mutex::new(Progress::Waiting));
        let work = move |connection: Result<&Connection>| {
            let _ = reply.send(connection.and_then(|connection| caught(|| work(connection))));
        };
        let job = Job { progress: progress.clone(), work: Box::new(work) };
        self.sender.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => StoreError::Unavailable(format!("{QUEUE} reads wait already")),
            TrySendError::Disconnected(_) => StoreError::Unavailable("the readers have stopped".into()),
        })?;
        let _caller = Caller(progress);
        answer.await.map_err(|_| StoreError::Unavailable("a reader failed".into()))?
    }
}

/// Reads until nobody can ask any more.
fn run(pool: &Pool, receiver: &Mutex<Receiver<Job>>) {
    loop {
        let Ok(job) = receiver.lock().recv() else { return };
        let connection = match pool.get() {
            Ok(connection) => connection,
            Err(error) => {
                (job.work)(Err(StoreError::Unavailable(error.to_string())));
                continue;
            }
        };
        {
            let mut progress = job.progress.lock();
            if matches!(*progress, Progress::Over) {
                continue;
            }
            *progress = Progress::Running(connection.get_interrupt_handle());
        }
        (job.work)(Ok(&connection));
        *job.progress.lock() = Progress::Over;
        drop(connection);
        checkpoint("store-reader");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";

    #[tokio::test]
    async fn a_read_that_nobody_waits_for_makes_room() {
        let dir = tempfile::tempdir().expect("a directory");
        let manager = SqliteConnectionManager::file(dir.path().join("m.db"));
        let (readers, _) = Readers::start(manager, &Tasks::default()).expect("starts");
        let readers = Arc::new(readers);
        // More than there are threads: all of them busy for ever, unless they are interrupted.
        for _ in 0..THREADS * 2 {
            let (begun, has_begun) = oneshot::channel();
            let endless = readers.submit(move |c| {
                let _ = begun.send(());
                Ok(c.query_row(ENDLESS, [], |row| row.get::<_, i64>("max(i)"))?)
            });
            tokio::select! {
                _ = endless => panic!("it has no end"),
                _ = has_begun => {}
            }
        }
        let one = readers.submit(|c| Ok(c.query_row("SELECT 1 AS one", [], |row| row.get::<_, i64>("one"))?)).await;
        assert_eq!(one.expect("reads"), 1);
        let failed = readers.submit(|_| -> Result<()> { panic!("a fault") }).await;
        assert!(matches!(failed, Err(StoreError::Panicked(why)) if why == "a fault"));
    }
}
