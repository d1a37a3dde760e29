//! The one thread that writes.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::{Damage, Result, StoreError};
use crate::task::{Tasks, checkpoint, reason};

/// At most this many pieces of work share a commit.
const GROUP: usize = 256;
/// At most this many pieces of work wait.
const QUEUE: usize = 4096;
/// How long a group waits for those who were in the group before: their next work comes right after its acknowledgement.
/// A lone caller never waits.
const LINGER: Duration = Duration::from_micros(300);

/// What is to be told about a piece of work once the fate of its commit is known.
type Acknowledge = Box<dyn FnOnce(Result<()>) + Send>;

/// Does the work on the connection, or takes the reason why it cannot be done; returns whether it went well and what to
/// tell afterwards.
type Work = Box<dyn FnOnce(Result<&Connection>) -> (bool, Acknowledge) + Send>;

/// A piece of work and its room in the queue.
struct Queued {
    work: Work,
    _room: OwnedSemaphorePermit,
}

pub(super) struct Writer {
    sender: Mutex<Option<Sender<Queued>>>,
    room: Arc<Semaphore>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    pub(super) fn start(connection: Connection, damage: Damage, tasks: &Tasks) -> Result<Self> {
        let (sender, receiver) = channel();
        let tasks = tasks.clone();
        let thread = std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || tasks.run_vital("store-writer", || run(&connection, &receiver, &damage)))
            .map_err(|e| StoreError::Unavailable(format!("cannot start the writer: {e}")))?;
        Ok(Self { sender: Mutex::new(Some(sender)), room: Arc::new(Semaphore::new(QUEUE)), thread: Mutex::new(Some(thread)) })
    }

    pub(super) fn pending(&self) -> u64 {
        (QUEUE - self.room.available_permits()) as u64
    }

    /// Does the work and waits for its commit. `then` runs on the writer thread, in the order of the commits, before the caller
    /// is told.
    pub(super) async fn submit<T, E>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
        then: impl FnOnce(&T) + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let room = self.wait_for_room().await?;
        self.send(room, work, move |result| {
            if let Ok(done) = &result {
                then(done);
            }
            let _ = reply.send(result);
        });
        answer.await.map_err(|_| StoreError::Unavailable("the writer has stopped".into()))?
    }

    async fn wait_for_room(&self) -> Result<OwnedSemaphorePermit> {
        self.room.clone().acquire_owned().await.map_err(|_| StoreError::Unavailable("the writer has stopped".into()))
    }

    /// Hands work over that nobody waits for; waits only for room in the queue.
    pub(super) async fn submit_behind<T: Send + 'static>(
        &self,
        what: &'static str,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
        then: impl FnOnce(&T) + Send + 'static,
    ) {
        match self.wait_for_room().await {
            Ok(room) => self.send(room, work, move |result| log_failure(what, result.as_ref().map(then))),
            Err(error) => log_failure::<()>(what, Err(&error)),
        }
    }

    /// The same where nothing can wait: without room, the work is not done.
    pub(super) fn try_submit_behind<T: Send + 'static>(
        &self,
        what: &'static str,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
        then: impl FnOnce(&T) + Send + 'static,
    ) {
        match self.room.clone().try_acquire_owned() {
            Ok(room) => self.send(room, work, move |result| log_failure(what, result.as_ref().map(then))),
            Err(_) => tracing::debug!("too much is being written; not recorded: {what}"),
        }
    }

    fn send<T: Send + 'static, E: From<StoreError> + Send + 'static>(
        &self,
        room: OwnedSemaphorePermit,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
        tell: impl FnOnce(Result<T, E>) + Send + 'static,
    ) {
        let job: Work = Box::new(move |connection| {
            let result = connection.map_err(E::from).and_then(|connection| caught(|| work(connection)));
            let ok = result.is_ok();
            // The work's own error says more than that of its group.
            let acknowledge: Acknowledge = Box::new(move |commit| tell(result.and_then(|value| commit.map(|()| value).map_err(E::from))));
            (ok, acknowledge)
        });
        // If the writer is gone the work is dropped, and with it the reply channel: the caller learns that way.
        let _ = self.sender.lock().as_ref().map(|sender| sender.send(Queued { work: job, _room: room }));
    }

    /// Does what was handed over, tidies up, and ends the thread. Later work is refused.
    pub(super) fn close(&self) {
        *self.sender.lock() = None;
        let thread = self.thread.lock().take();
        if thread.is_some_and(|t| t.join().is_err()) {
            tracing::error!("the writer thread panicked");
        }
    }
}

fn log_failure<T>(what: &'static str, result: std::result::Result<T, &StoreError>) {
    if let Err(error) = result {
        tracing::warn!(%error, "cannot record {what}");
    }
}

/// Work that panics is undone like work that fails.
pub(super) fn caught<T, E: From<StoreError>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(StoreError::Panicked(reason(panic.as_ref())).into()))
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.close();
    }
}

fn run(connection: &Connection, receiver: &Receiver<Queued>, damage: &Damage) {
    let mut queue = Vec::new();
    let mut expected = 1;
    loop {
        if queue.is_empty() {
            match receiver.recv() {
                Ok(work) => queue.push(work),
                Err(_) => break,
            }
        }
        checkpoint("store-writer");
        let group = gather(std::mem::take(&mut queue), receiver, expected);
        let count = group.len();
        let (work, rooms): (Vec<Work>, Vec<_>) = group.into_iter().map(|queued| (queued.work, queued._room)).unzip();
        let acknowledge = commit_group(connection, work, damage);
        queue.extend(receiver.try_iter().take(GROUP));
        // Those who are told now will be back at once; together with those who wait already they make one group. Two groups
        // that take turns would cost a commit each.
        expected = count + queue.len();
        drop(rooms);
        acknowledge();
    }
    if let Err(error) = connection.execute_batch("PRAGMA optimize; PRAGMA wal_checkpoint(TRUNCATE);") {
        tracing::debug!(%error, "cannot tidy up the database");
    }
}

/// Fills a group with what is there, and waits a moment until as many as are expected have come.
fn gather(mut group: Vec<Queued>, receiver: &Receiver<Queued>, expected: usize) -> Vec<Queued> {
    let deadline = Instant::now() + LINGER;
    while group.len() < GROUP {
        let next = match receiver.try_recv() {
            Ok(next) => Some(next),
            Err(_) if group.len() < expected => receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok(),
            Err(_) => None,
        };
        match next {
            Some(next) => group.push(next),
            None => break,
        }
    }
    group
}

/// Does the work and commits it; what is returned tells its callers.
fn commit_group(connection: &Connection, group: Vec<Work>, damage: &Damage) -> impl FnOnce() {
    let mut begun = match damage.get() {
        Some(what) => Err(StoreError::Damaged(what)),
        None => connection.execute_batch("BEGIN IMMEDIATE").map_err(StoreError::from),
    };
    let mut acknowledgements: Vec<Acknowledge> = Vec::with_capacity(group.len());
    for work in group {
        acknowledgements.push(match &begun {
            Ok(()) => in_savepoint(connection, work, damage),
            Err(error) => work(Err(error.again())).1,
        });
        // A full disk makes SQLite roll everything back by itself; going on would commit the rest piece by piece.
        if begun.is_ok() && connection.is_autocommit() {
            begun = Err(StoreError::Unavailable("a write of the same group failed, and the group was rolled back".to_owned()));
        }
    }
    let committed = begun.and_then(|()| connection.execute_batch("COMMIT").map_err(StoreError::from));
    if let Err(error) = &committed {
        damage.count_undone();
        if !connection.is_autocommit() {
            let _ = connection.execute_batch("ROLLBACK");
        }
        damage.note(error);
        tracing::warn!(%error, "a group of writes was not committed");
    }
    move || {
        for acknowledge in acknowledgements {
            acknowledge(committed.as_ref().copied().map_err(StoreError::again));
        }
    }
}

fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(|_| ())
}

fn in_savepoint(connection: &Connection, work: Work, damage: &Damage) -> Acknowledge {
    if let Err(error) = execute(connection, "SAVEPOINT work") {
        return work(Err(error.into())).1;
    }
    let (ok, acknowledge) = work(Ok(connection));
    if !ok {
        damage.count_undone();
    }
    let ended = if ok { Ok(()) } else { execute(connection, "ROLLBACK TO work") };
    match ended.and_then(|()| execute(connection, "RELEASE work")) {
        Ok(()) => acknowledge,
        Err(error) => {
            let error = StoreError::from(error);
            Box::new(move |_| acknowledge(Err(error)))
        }
    }
}
