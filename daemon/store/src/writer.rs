//! The writer thread and its queue.

use std::any::Any;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rusqlite::{Connection, InterruptHandle};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::checkpoints::Checkpoints;
use super::damage::{Damage, Files};
use super::error::catch_panic;
use super::group::{Changes, MAX_GROUP, Rescue, Watch, Watched, commit_group};
use super::queue::{self, Opening, Queue, Turn, lane};
use super::work::{Done, Queued, Report, Work};
use super::{Result, StoreError};
use afd_base::erased;
use afd_base::task::{Tasks, failpoint};

/// Maximum number of queued writes.
const MAX_QUEUED: usize = 4096;
/// How long a group waits for the callers of the previous group, which usually submit their next writes as soon as
/// their previous writes are acknowledged. A single caller never waits.
const LINGER: Duration = Duration::from_micros(300);
/// How often the writer checks whether long work may run again.
const HOLD_POLL: Duration = Duration::from_millis(1);
/// How often `close` checks whether the writer thread has ended.
const CLOSE_POLL: Duration = Duration::from_millis(5);

/// Callback that receives the value of a committed write.
type Then<T = dyn Any> = Box<dyn FnOnce(&T) + Send>;

/// Work that runs between two groups of writes, outside of their transactions.
type Alone = Box<dyn FnOnce(&Connection) + Send>;

/// A request to the writer thread.
enum Request {
    Write(Turn, Queued),
    /// Reports when all earlier writes have been committed or have failed.
    Flush(Flush),
    /// Runs work outside of a transaction.
    Alone(Alone, OwnedSemaphorePermit),
}

/// A caller that waits for the writes before its mark. If it has a lane, it does not wait for writes in other lanes
/// whose callers are still waiting for them.
struct Flush {
    lane: Option<u64>,
    reply: oneshot::Sender<Result<()>>,
    permit: OwnedSemaphorePermit,
}

pub(super) struct Writer {
    sender: Mutex<Option<Sender<Request>>>,
    slots: Arc<Slots>,
    thread: Mutex<Option<JoinHandle<()>>>,
    ending: Arc<Ending>,
    changes: Arc<Changes>,
}

/// The writer queue's slots, which limit the number of requests.
pub(super) struct Slots(Arc<Semaphore>);

impl Default for Slots {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_QUEUED)))
    }
}

impl Slots {
    /// Returns the number of requests that are queued or running.
    pub(super) fn taken(&self) -> usize {
        MAX_QUEUED - self.0.available_permits()
    }

    /// Takes a slot if one is free.
    pub(super) fn try_take(&self) -> Option<OwnedSemaphorePermit> {
        self.0.clone().try_acquire_owned().ok()
    }
}

/// State for ending the writer thread if it takes too long to finish.
struct Ending {
    interrupt: InterruptHandle,
    is_late: AtomicBool,
}

impl Writer {
    /// Starts the writer thread. `path` is the path of the database. `rescue` is called if the database's files are
    /// found to have been deleted.
    pub(super) fn start(
        connection: Connection,
        path: &Path,
        damage: Damage,
        rescue: Rescue,
        tasks: &Tasks,
    ) -> Result<Self> {
        let changes = Arc::<Changes>::default();
        changes.note(&connection)?;
        let (sender, receiver) = channel();
        let ending = Arc::new(Ending { interrupt: connection.get_interrupt_handle(), is_late: AtomicBool::new(false) });
        let own = ending.clone();
        let mut checkpoints = Checkpoints::start(path, tasks)?;
        let (tasks, mut watch) =
            (tasks.clone(), Watch { files: Files::of(path), damage, rescue, changes: changes.clone() });
        let thread = std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || {
                tasks.run_critical("store-writer", || {
                    Checkpoints::count_pages(&connection);
                    run(&connection, &receiver, &mut watch, (&mut checkpoints, &own.is_late));
                })
            })
            .map_err(|e| StoreError::Unavailable(format!("cannot start the writer: {e}")))?;
        Ok(Self {
            sender: Mutex::new(Some(sender)),
            slots: Arc::default(),
            thread: Mutex::new(Some(thread)),
            ending,
            changes,
        })
    }

    /// Sets the callback for commits that change the watched table.
    pub(super) fn watch(&self, watched: Watched) {
        self.changes.watch(watched);
    }

    pub(super) fn slots(&self) -> &Arc<Slots> {
        &self.slots
    }

    /// Runs the work and waits for its commit. `then` runs on the writer thread, in commit order, before the caller
    /// gets the result.
    pub(super) async fn submit<T, E>(
        &self,
        turn: Turn,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
        then: Option<Then<T>>,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let opening = queue::opening();
        let own = opening.clone();
        let work: Work = Box::new(move |c| {
            let opened = own.map_or(Ok(()), |opening| opening.write(c));
            erased::hide_result(opened.map_err(E::from).and_then(|()| work(c)))
        });
        let then = then.map(|then| -> Then {
            Box::new(move |value| {
                if let Some(value) = value.downcast_ref() {
                    then(value);
                }
            })
        });
        match self.submit_boxed(turn, work, then, opening).await {
            Ok(done) => erased::reveal_result(done),
            Err(error) => Err(error.into()),
        }
    }

    async fn submit_boxed(&self, turn: Turn, work: Work, then: Option<Then>, opening: Option<Arc<Opening>>) -> Done {
        let (reply, answer) = oneshot::channel();
        let permit = self.acquire_permit().await?;
        let report = move |done: Done| {
            if let (Ok(Ok(_)), Some(opening)) = (&done, opening) {
                opening.set_committed();
            }
            if let (Ok(Ok(value)), Some(then)) = (&done, then) {
                then(&**value);
            }
            let _ = reply.send(done);
        };
        self.send(turn, permit, work, Box::new(report));
        answer.await.map_err(|_| StoreError::Unavailable("the writer has stopped".into()))?
    }

    async fn acquire_permit(&self) -> Result<OwnedSemaphorePermit> {
        self.slots.0.clone().acquire_owned().await.map_err(|_| StoreError::Unavailable("the writer has stopped".into()))
    }

    /// Waits until all writes submitted so far have been committed or have failed. If `lane` is given, does not wait
    /// for writes in other lanes whose callers are still waiting for them.
    pub(super) async fn flush(&self, lane: Option<u64>) -> Result<()> {
        let (reply, answer) = oneshot::channel();
        let permit = self.acquire_permit().await?;
        let _ = self.sender.lock().as_ref().map(|sender| sender.send(Request::Flush(Flush { lane, reply, permit })));
        answer.await.map_err(|_| StoreError::Unavailable("the writer has stopped".into()))?
    }

    /// Runs work between two groups of writes, outside of a transaction.
    pub(super) async fn alone<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let work: Alone = Box::new(move |connection| drop(reply.send(catch_panic(|| work(connection)))));
        let permit = self.acquire_permit().await?;
        let _ = self.sender.lock().as_ref().map(|sender| sender.send(Request::Alone(work, permit)));
        answer.await.map_err(|_| StoreError::Unavailable("the writer has stopped".into()))?
    }

    /// Queues a device write without waiting for its commit; waits only while the queue is full.
    pub(super) async fn submit_behind<T: Send + 'static>(
        &self,
        what: &'static str,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
        then: impl FnOnce(&T) + Send + 'static,
    ) {
        match self.acquire_permit().await {
            Ok(permit) => self.send_logged(Turn::Device, permit, what, work, then),
            Err(error) => log_failure(what, &error),
        }
    }

    /// Queues work in the caller's lane without waiting. The work is dropped if the queue is full.
    pub(super) fn try_submit_behind<T: Send + 'static>(
        &self,
        what: &'static str,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
        then: impl FnOnce(&T) + Send + 'static,
    ) {
        match self.slots.try_take() {
            Some(permit) => self.send_logged(Turn::Behind(lane()), permit, what, work, then),
            None => tracing::debug!("the write queue is full; not recorded: {what}"),
        }
    }

    fn send_logged<T: Send + 'static>(
        &self,
        turn: Turn,
        permit: OwnedSemaphorePermit,
        what: &'static str,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
        then: impl FnOnce(&T) + Send + 'static,
    ) {
        let report = move |done: Done| match done {
            Ok(Ok(value)) => then(&erased::reveal(value)),
            Ok(Err(error)) => log_failure(what, &erased::reveal(error)),
            Err(error) => log_failure(what, &error),
        };
        self.send(turn, permit, Box::new(move |c| erased::hide_result(work(c))), Box::new(report));
    }

    fn send(&self, turn: Turn, permit: OwnedSemaphorePermit, work: Work, report: Report) {
        // If the writer has stopped, the work is dropped together with its reply channel, so the caller gets an error.
        let _ = self
            .sender
            .lock()
            .as_ref()
            .map(|sender| sender.send(Request::Write(turn, Queued { work, report, _permit: permit })));
    }

    /// Finishes the queued work, empties the write-ahead log and ends the writer thread. Later work is refused. Work
    /// that is unfinished at the deadline is rolled back or not begun, and its callers get an error.
    pub(super) fn close(&self, deadline: Option<Instant>) {
        *self.sender.lock() = None;
        let Some(thread) = self.thread.lock().take() else { return };
        while let Some(deadline) = deadline.filter(|_| !thread.is_finished()) {
            if Instant::now() >= deadline && !self.ending.is_late.swap(true, Ordering::SeqCst) {
                tracing::warn!("the last writes did not finish in time and are discarded");
            }
            if self.ending.is_late.load(Ordering::SeqCst) {
                // Interrupt repeatedly, because an interrupt ends only the current statement, and another statement may
                // follow.
                self.ending.interrupt.interrupt();
            }
            std::thread::sleep(CLOSE_POLL);
        }
        if thread.join().is_err() {
            tracing::error!("the writer thread panicked");
        }
    }
}

fn log_failure(what: &'static str, error: &StoreError) {
    tracing::warn!(%error, "cannot record {what}");
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.close(None);
    }
}

/// The pending requests: writes, flushes, and work outside of transactions.
#[derive(Default)]
struct Waiting {
    queue: Queue<Queued>,
    flushes: Vec<(u64, Flush)>,
    alone: Vec<(Alone, OwnedSemaphorePermit)>,
}

impl Waiting {
    fn add(&mut self, request: Request) {
        match request {
            Request::Write(turn, write) => self.queue.push(turn, write),
            Request::Flush(flush) => self.flushes.push((self.queue.mark(), flush)),
            Request::Alone(work, permit) => self.alone.push((work, permit)),
        }
    }

    fn has_only_long_work(&self) -> bool {
        self.queue.is_all_long() && self.alone.is_empty()
    }

    fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.flushes.is_empty() && self.alone.is_empty()
    }

    /// Answers the flushes whose writes are done. `failure` is the last group's error, if it failed.
    fn answer_flushes(&mut self, failure: Option<&StoreError>) {
        let waiting = std::mem::take(&mut self.flushes);
        for (mark, flush) in waiting {
            if self.queue.is_past(mark, flush.lane) {
                drop(flush.permit);
                let _ = flush.reply.send(failure.map_or(Ok(()), |error| Err(error.duplicate())));
            } else {
                self.flushes.push((mark, flush));
            }
        }
    }
}

fn run(
    connection: &Connection,
    receiver: &Receiver<Request>,
    watch: &mut Watch,
    (log, is_late): (&mut Checkpoints, &AtomicBool),
) {
    let mut waiting = Waiting::default();
    let mut expected = 1;
    loop {
        if is_late.load(Ordering::SeqCst) {
            return;
        }
        if waiting.is_empty() {
            match receiver.recv() {
                Ok(request) => waiting.add(request),
                Err(_) => break,
            }
        }
        let holds_long = log.holds_long_work();
        if holds_long && waiting.has_only_long_work() {
            match receiver.recv_timeout(HOLD_POLL) {
                Ok(request) => waiting.add(request),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(HOLD_POLL),
            }
            waiting.answer_flushes(None);
            continue;
        }
        failpoint("store-writer");
        gather(&mut waiting, receiver, expected);
        let group = commit_group(connection, &mut waiting.queue, watch, holds_long);
        receiver.try_iter().for_each(|request| waiting.add(request));
        // The callers acknowledged below usually submit their next write at once. Together with the writes already
        // queued, these should form one group, because two alternating groups would cost a commit each.
        expected = (group.permits.len() + waiting.queue.len()).min(MAX_GROUP);
        drop(group.permits);
        for acknowledge in group.acknowledgements {
            acknowledge(group.committed.as_ref().copied().map_err(StoreError::duplicate));
        }
        waiting.answer_flushes(group.committed.as_ref().err());
        log.committed(connection);
        std::mem::take(&mut waiting.alone).into_iter().for_each(|(work, _permit)| work(connection));
        watch.changes.tell(connection);
    }
    if let Err(error) = connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);") {
        tracing::debug!(%error, "cannot empty the write-ahead log on closing");
    }
}

/// Moves the submitted requests to `waiting`. Waits up to [`LINGER`] until at least `expected` writes are queued.
fn gather(waiting: &mut Waiting, receiver: &Receiver<Request>, expected: usize) {
    receiver.try_iter().for_each(|request| waiting.add(request));
    let deadline = Instant::now() + LINGER;
    while waiting.queue.len() < expected && waiting.flushes.is_empty() && waiting.alone.is_empty() {
        match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(request) => waiting.add(request),
            Err(_) => break,
        }
    }
}
