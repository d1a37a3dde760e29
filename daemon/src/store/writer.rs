//! The one thread that writes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{Damage, Result, StoreError};

/// At most this many pieces of work share a commit.
const GROUP: usize = 256;
/// How long a group waits for those who were in the group before: their next work comes right after its acknowledgement.
/// A lone caller never waits.
const LINGER: Duration = Duration::from_micros(300);

/// What is to be told about a piece of work once the fate of its commit is known.
type Acknowledge = Box<dyn FnOnce(Result<()>) + Send>;

/// Does the work on the connection, or takes the reason why it cannot be done; returns whether it went well and what to
/// tell afterwards.
type Work = Box<dyn FnOnce(Result<&Connection>) -> (bool, Acknowledge) + Send>;

pub(super) struct Writer {
    sender: Mutex<Option<Sender<Work>>>,
    pending: Arc<AtomicU64>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    pub(super) fn start(connection: Connection, damage: Damage) -> Result<Self> {
        let (sender, receiver) = channel();
        let pending = Arc::new(AtomicU64::new(0));
        let counter = pending.clone();
        let thread = std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || run(&connection, &receiver, &counter, &damage))
            .map_err(|e| StoreError::Unavailable(format!("cannot start the writer: {e}")))?;
        Ok(Self { sender: Mutex::new(Some(sender)), pending, thread: Mutex::new(Some(thread)) })
    }

    pub(super) fn pending(&self) -> u64 {
        self.pending.load(Ordering::Relaxed)
    }

    pub(super) async fn submit<T: Send + 'static>(&self, work: impl FnOnce(&Connection) -> Result<T> + Send + 'static) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        self.send(work, move |result| {
            let _ = reply.send(result);
        });
        answer.await.map_err(|_| StoreError::Unavailable("the writer has stopped".into()))?
    }

    pub(super) fn submit_behind(&self, what: &'static str, work: impl FnOnce(&Connection) -> Result<()> + Send + 'static) {
        self.send(work, move |result| {
            if let Err(error) = result {
                tracing::warn!(%error, "cannot record {what}");
            }
        });
    }

    fn send<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
        tell: impl FnOnce(Result<T>) + Send + 'static,
    ) {
        let job: Work = Box::new(move |connection| {
            let result = connection.and_then(work);
            let ok = result.is_ok();
            // The work's own error says more than that of its group.
            let acknowledge: Acknowledge = Box::new(move |commit| tell(result.and_then(|value| commit.map(|()| value))));
            (ok, acknowledge)
        });
        self.pending.fetch_add(1, Ordering::Relaxed);
        let sent = locked(&self.sender).as_ref().is_some_and(|sender| sender.send(job).is_ok());
        if !sent {
            // The work is dropped, and with it the reply channel: the caller learns that way.
            self.pending.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Does what was handed over, tidies up, and ends the thread. Later work is refused.
    pub(super) fn close(&self) {
        *locked(&self.sender) = None;
        let thread = locked(&self.thread).take();
        if thread.is_some_and(|t| t.join().is_err()) {
            tracing::error!("the writer thread panicked");
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.close();
    }
}

fn run(connection: &Connection, receiver: &Receiver<Work>, pending: &AtomicU64, damage: &Damage) {
    let mut queue = Vec::new();
    let mut expected = 1;
    loop {
        if queue.is_empty() {
            match receiver.recv() {
                Ok(work) => queue.push(work),
                Err(_) => break,
            }
        }
        let group = gather(std::mem::take(&mut queue), receiver, expected);
        let count = group.len();
        let acknowledge = commit_group(connection, group, damage);
        queue.extend(receiver.try_iter().take(GROUP));
        // Those who are told now will be back at once; together with those who wait already they make one group. Two groups
        // that take turns would cost a commit each.
        expected = count + queue.len();
        pending.fetch_sub(count as u64, Ordering::Relaxed);
        acknowledge();
    }
    if let Err(error) = connection.execute_batch("PRAGMA optimize; PRAGMA wal_checkpoint(TRUNCATE);") {
        tracing::debug!(%error, "cannot tidy up the database");
    }
}

/// Fills a group with what is there, and waits a moment until as many as are expected have come.
fn gather(mut group: Vec<Work>, receiver: &Receiver<Work>, expected: usize) -> Vec<Work> {
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
    let begun = match damage.get() {
        Some(what) => Err(StoreError::Unavailable(what)),
        None => connection.execute_batch("BEGIN IMMEDIATE").map_err(StoreError::from),
    };
    let mut begun = begun;
    let mut acknowledgements: Vec<Acknowledge> = Vec::with_capacity(group.len());
    for work in group {
        acknowledgements.push(match &begun {
            Ok(()) => in_savepoint(connection, work, damage),
            Err(error) => work(Err(again(error))).1,
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
        note_damage(error, damage);
        tracing::warn!(%error, "a group of writes was not committed");
    }
    move || {
        for acknowledge in acknowledgements {
            acknowledge(match &committed {
                Ok(()) => Ok(()),
                Err(error) => Err(again(error)),
            });
        }
    }
}

/// The same error for one more caller.
fn again(error: &StoreError) -> StoreError {
    match error {
        StoreError::Full => StoreError::Full,
        StoreError::Unavailable(what) => StoreError::Unavailable(what.clone()),
        other => StoreError::Unavailable(other.to_string()),
    }
}

fn note_damage(error: &StoreError, damage: &Damage) {
    if let StoreError::Unavailable(what) = error
        && what.starts_with("it is damaged")
    {
        damage.set(what.clone());
    }
}

/// Runs a statement that is run again and again.
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
