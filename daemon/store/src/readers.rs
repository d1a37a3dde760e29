//! Dedicated reader threads, so that a read never waits for blocking work elsewhere, such as a slow DNS lookup or file
//! access.
//!
//! A read sees a consistent snapshot of the database. A read is interrupted, or never started, if its caller no longer
//! waits for the result. Callers take turns, as for writes, so that a caller with many slow reads delays other callers
//! by at most one of these reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::error::catch_panic;
use super::queue::{Queue, Turn, lane};
use super::{Result, StoreError};
use afd_base::erased;
use afd_base::task::{Tasks, failpoint};

/// Number of reads that run concurrently.
const THREADS: usize = 4;
/// Maximum number of queued reads.
const MAX_QUEUED: usize = 4096;

/// Interval at which a running read checks whether it was abandoned, in instructions of SQLite's virtual machine. 1000
/// instructions take about 10 microseconds.
const STEPS_BETWEEN_CHECKS: i32 = 1000;

/// A read: a function that returns a value whose type only the caller knows.
type Read = Box<dyn FnOnce(&Connection) -> Result<erased::Value> + Send>;

struct Job {
    abandoned: Arc<AtomicBool>,
    work: Read,
    reply: oneshot::Sender<Result<erased::Value>>,
}

/// Marks a read as abandoned when its caller stops waiting.
struct AbandonOnDrop(Arc<AtomicBool>);

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(super) type Pool = r2d2::Pool<SqliteConnectionManager>;

/// The queued reads.
#[derive(Default)]
struct Waiting {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: Queue<Job>,
    stopped: bool,
}

impl Waiting {
    /// Waits for the next read and returns it. Returns `None` if the readers have been stopped.
    fn next(&self) -> Option<Job> {
        let mut state = self.state.lock();
        loop {
            if let Some(job) = state.queue.pop() {
                return Some(job);
            }
            if state.stopped {
                return None;
            }
            self.changed.wait(&mut state);
        }
    }
}

pub(super) struct Readers {
    waiting: Arc<Waiting>,
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.waiting.state.lock().stopped = true;
        self.waiting.changed.notify_all();
    }
}

impl Readers {
    pub(super) fn start(manager: SqliteConnectionManager, tasks: &Tasks) -> Result<(Self, Pool)> {
        let pool = r2d2::Pool::builder()
            .max_size(u32::try_from(THREADS).unwrap_or(u32::MAX))
            .min_idle(Some(0))
            .idle_timeout(Some(Duration::from_secs(300)))
            .test_on_check_out(false)
            .build_unchecked(manager);
        let waiting = Arc::new(Waiting::default());
        for n in 0..THREADS {
            let (pool, waiting, task) = (pool.clone(), waiting.clone(), tasks.thread(format!("store-reader-{n}")));
            std::thread::Builder::new()
                .name(format!("store-reader-{n}"))
                .spawn(move || while task.catch_panic(|| run(&pool, &waiting)).is_none() {})
                .map_err(|e| StoreError::Unavailable(format!("cannot start a reader: {e}")))?;
        }
        Ok((Self { waiting }, pool))
    }

    pub(super) async fn submit<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.submit_boxed(Box::new(move |c| work(c).map(erased::hide))).await.map(erased::reveal)
    }

    async fn submit_boxed(&self, work: Read) -> Result<erased::Value> {
        let (reply, answer) = oneshot::channel();
        let abandoned = Arc::new(AtomicBool::new(false));
        self.push(Job { abandoned: abandoned.clone(), work, reply })?;
        let _abandon_on_drop = AbandonOnDrop(abandoned);
        answer.await.map_err(|_| StoreError::Unavailable("a reader thread failed".into()))?
    }

    fn push(&self, job: Job) -> Result<()> {
        let mut state = self.waiting.state.lock();
        if state.queue.len() >= MAX_QUEUED {
            return Err(StoreError::Unavailable(format!("the queue of reads is full ({MAX_QUEUED})")));
        }
        state.queue.push(Turn::Lane(lane()), job);
        drop(state);
        self.waiting.changed.notify_one();
        Ok(())
    }
}

/// Runs a read in a transaction, so that it sees a consistent snapshot of the database. This also avoids locking and
/// checking the file for each statement, which is most of the cost of a small statement.
fn in_snapshot(connection: &Connection, work: Read) -> Result<erased::Value> {
    let snapshot = connection.unchecked_transaction()?;
    let done = catch_panic(|| work(connection));
    let ended = snapshot.finish();
    let value = done?;
    ended?;
    Ok(value)
}

/// Runs reads until the readers are stopped.
fn run(pool: &Pool, waiting: &Waiting) {
    while let Some(job) = waiting.next() {
        let connection = match pool.get() {
            Ok(connection) => connection,
            Err(error) => {
                let _ = job.reply.send(Err(StoreError::Unavailable(error.to_string())));
                continue;
            }
        };
        // Use a flag, because `sqlite3_interrupt` has no effect on a connection that is between two statements.
        let abandoned = job.abandoned;
        if abandoned.load(Ordering::Relaxed) {
            continue;
        }
        let seen = connection.progress_handler(STEPS_BETWEEN_CHECKS, Some(move || abandoned.load(Ordering::Relaxed)));
        let _ = job.reply.send(seen.map_err(StoreError::from).and_then(|()| in_snapshot(&connection, job.work)));
        let _ = connection.progress_handler(0, None::<fn() -> bool>);
        drop(connection);
        failpoint("store-reader");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::Receiver;

    use super::*;

    const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";

    #[tokio::test]
    async fn callers_take_turns() {
        let dir = tempfile::tempdir().expect("a directory");
        let (readers, _) =
            Readers::start(SqliteConnectionManager::file(dir.path().join("m.db")), &Tasks::default()).expect("starts");
        let readers = Arc::new(readers);
        let (order, ran) = std::sync::mpsc::channel();
        let (begun, has_begun) = std::sync::mpsc::channel();
        let (gate, gates): (Vec<_>, Vec<_>) = (0..THREADS).map(|_| std::sync::mpsc::channel::<()>()).unzip();
        // All threads are busy, then one caller submits ten reads before another submits one.
        let read = |lane: u64, gate: Option<Receiver<()>>| {
            let (readers, order, begun) = (readers.clone(), order.clone(), begun.clone());
            let work = async move {
                let work = move |_: &Connection| {
                    match gate {
                        Some(gate) => drop((begun.send(()), gate.recv())),
                        None => drop(order.send(lane)),
                    }
                    Ok(())
                };
                readers.submit(work).await
            };
            Box::pin(crate::queue::in_lane(lane, work))
        };
        let mut busy = futures_util::future::join_all(gates.into_iter().map(|gate| read(1, Some(gate))));
        let queued = (0..10).map(|_| read(1, None)).chain([read(2, None)]);
        let mut queued = futures_util::future::join_all(queued);
        // The first poll submits them.
        let poll = async |reads: &mut futures_util::future::JoinAll<_>| {
            std::future::poll_fn(|cx| std::task::Poll::Ready(std::pin::Pin::new(&mut *reads).poll(cx)))
                .await
                .is_pending()
        };
        assert!(poll(&mut busy).await);
        (0..THREADS).for_each(|_| has_begun.recv().expect("begins"));
        assert!(poll(&mut queued).await);
        gate.into_iter().for_each(drop);
        assert!(busy.await.iter().chain(&queued.await).all(Result::is_ok));
        drop(order);
        let ran: Vec<u64> = ran.iter().collect();
        let turn = ran.iter().position(|lane| *lane == 2).expect("it ran");
        assert!(turn <= THREADS + 1, "{ran:?}");
    }

    #[tokio::test]
    async fn abandoned_read_frees_its_thread() {
        let dir = tempfile::tempdir().expect("a directory");
        let manager = SqliteConnectionManager::file(dir.path().join("m.db"));
        let (readers, _) = Readers::start(manager, &Tasks::default()).expect("starts");
        let readers = Arc::new(readers);
        // More reads than threads: unless abandoned reads are interrupted, all threads stay busy for ever.
        for _ in 0..THREADS * 2 {
            let (begun, has_begun) = oneshot::channel();
            let endless = readers.submit(move |c| {
                let _ = begun.send(());
                Ok(c.query_row(ENDLESS, [], |row| row.get::<_, i64>("max(i)"))?)
            });
            tokio::select! {
                _ = endless => panic!("the endless query returned"),
                _ = has_begun => {}
            }
        }
        // Repeat this with callers that leave before the first statement starts.
        for _ in 0..THREADS * 2 {
            let (begun, has_begun) = oneshot::channel();
            let (left, has_left) = std::sync::mpsc::channel::<()>();
            let endless = readers.submit(move |c| {
                let _ = begun.send(());
                let _ = has_left.recv();
                Ok(c.query_row(ENDLESS, [], |row| row.get::<_, i64>("max(i)"))?)
            });
            tokio::select! {
                _ = endless => panic!("the endless query returned"),
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
