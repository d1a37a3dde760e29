//! Threads that read, with a connection each: a slow lookup or a file elsewhere never holds a read up.
//!
//! A read whose caller went away is interrupted, or not begun.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use parking_lot::Mutex;
use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::writer::caught;
use super::{Result, StoreError};
use crate::task::{Tasks, checkpoint};

/// How many reads go on at once.
const THREADS: usize = 4;
/// At most this many reads wait.
const QUEUE: usize = 4096;

/// A read is asked this often whether anybody still waits for it, in steps of SQLite's virtual machine: some 10 us.
const STEPS_BETWEEN_LOOKS: i32 = 1000;

/// Reads on the connection, or takes the reason why there is none.
type Work = Box<dyn FnOnce(Result<&Connection>) + Send>;

struct Job {
    abandoned: Arc<AtomicBool>,
    work: Work,
}

/// Ends a read whose caller does not wait any more.
struct Caller(Arc<AtomicBool>);

impl Drop for Caller {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
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
        let abandoned = Arc::new(AtomicBool::new(false));
        let work = move |connection: Result<&Connection>| {
            let _ = reply.send(connection.and_then(|connection| caught(|| work(connection))));
        };
        let job = Job { abandoned: abandoned.clone(), work: Box::new(work) };
        self.sender.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => StoreError::Unavailable(format!("{QUEUE} reads wait already")),
            TrySendError::Disconnected(_) => StoreError::Unavailable("the readers have stopped".into()),
        })?;
        let _caller = Caller(abandoned);
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
        // A flag and no interruption from outside: an interruption is lost on a connection between two statements.
        let abandoned = job.abandoned;
        if abandoned.load(Ordering::Relaxed) {
            continue;
        }
        let seen = connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || abandoned.load(Ordering::Relaxed)));
        (job.work)(seen.map(|()| &*connection).map_err(StoreError::from));
        let _ = connection.progress_handler(0, None::<fn() -> bool>);
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
        // Also where the caller leaves before the first statement begins.
        for _ in 0..THREADS * 2 {
            let (begun, has_begun) = oneshot::channel();
            let (left, has_left) = std::sync::mpsc::channel::<()>();
            let endless = readers.submit(move |c| {
                let _ = begun.send(());
                let _ = has_left.recv();
                Ok(c.query_row(ENDLESS, [], |row| row.get::<_, i64>("max(i)"))?)
            });
            tokio::select! {
                _ = endless => panic!("it has no end"),
                _ = has_begun => {}
            }
            drop(left);
        }
        let one = readers.submit(|c| Ok(c.query_row("SELECT 1 AS one", [], |row| row.get::<_, i64>("one"))?)).await;
        assert_eq!(one.expect("reads"), 1);
        let failed = readers.submit(|_| -> Result<()> { panic!("a fault") }).await;
        assert!(matches!(failed, Err(StoreError::Panicked(why)) if why == "a fault"));
    }
}
