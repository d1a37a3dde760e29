//! The queue of calls to a physical device. Each physical device has a single task, even if it has several names. The
//! task executes reads and grants exclusive access in FIFO order. Identical reads that are queued together share one
//! result, unless an action is queued between them. A call that is only queued does not hold the device.
//!
//! The queue outlives the task. If a read panics, its callers get an error and the task is restarted with the same
//! queue.

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use afd_proto::Secret;
use afd_proto::device::TabInfo;
use afd_proto::picture::Overlay;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::lease::Lease;
use super::reading::{Reading, TreeReading};
use super::{DriverError, ForegroundApp, ScreenshotOptions};
use afd_base::task::{Tasks, failpoint};
use afd_screen::page::Screen;

/// Maximum number of calls that may wait for one device.
const MAX_WAITING: u64 = 4096;

/// The callers that wait for the result of one read.
pub(super) struct Waiters<T>(Vec<oneshot::Sender<Result<T, DriverError>>>);

impl<T: Clone> Waiters<T> {
    pub(super) fn one(waiter: oneshot::Sender<Result<T, DriverError>>) -> Self {
        Self(vec![waiter])
    }

    pub(super) fn send(self, result: Result<T, DriverError>) {
        for waiter in self.0 {
            let _ = waiter.send(result.clone());
        }
    }

    fn is_empty(&mut self) -> bool {
        self.0.retain(|waiter| !waiter.is_closed());
        self.0.is_empty()
    }
}

/// A read of a device, and the callers that wait for its result.
pub(super) enum ReadRequest {
    Health(Waiters<String>),
    Token(Waiters<()>),
    ForegroundApp(Waiters<Reading<ForegroundApp>>),
    Tree(Waiters<TreeReading>),
    Screenshot(ScreenshotOptions, Waiters<Arc<Vec<u8>>>),
    Overlay(Waiters<Overlay>),
    /// Lists the tabs.
    Tabs(Waiters<Vec<TabInfo>>),
    Packages {
        filter: Option<String>,
        system: bool,
        waiters: Waiters<Vec<String>>,
    },
}

impl ReadRequest {
    /// Takes over the waiters of `other` if both reads are identical; otherwise returns `other`.
    fn merge(&mut self, other: ReadRequest) -> Option<ReadRequest> {
        match (self, other) {
            (ReadRequest::Health(own), ReadRequest::Health(more)) => own.0.extend(more.0),
            (ReadRequest::Token(own), ReadRequest::Token(more)) => own.0.extend(more.0),
            (ReadRequest::ForegroundApp(own), ReadRequest::ForegroundApp(more)) => own.0.extend(more.0),
            (ReadRequest::Tree(own), ReadRequest::Tree(more)) => own.0.extend(more.0),
            (ReadRequest::Screenshot(shot, own), ReadRequest::Screenshot(same, more)) if *shot == same => {
                own.0.extend(more.0)
            }
            (ReadRequest::Overlay(own), ReadRequest::Overlay(more)) => own.0.extend(more.0),
            (ReadRequest::Tabs(own), ReadRequest::Tabs(more)) => own.0.extend(more.0),
            (
                ReadRequest::Packages { filter, system, waiters },
                ReadRequest::Packages { filter: same, system: too, waiters: more },
            ) if *filter == same && *system == too => {
                waiters.0.extend(more.0);
            }
            (_, other) => return Some(other),
        }
        None
    }

    /// Returns whether no caller is still waiting for the result.
    fn is_abandoned(&mut self) -> bool {
        match self {
            ReadRequest::Health(w) => w.is_empty(),
            ReadRequest::Token(w) => w.is_empty(),
            ReadRequest::ForegroundApp(w) => w.is_empty(),
            ReadRequest::Tree(w) => w.is_empty(),
            ReadRequest::Screenshot(_, w) => w.is_empty(),
            ReadRequest::Overlay(w) => w.is_empty(),
            ReadRequest::Tabs(w) => w.is_empty(),
            ReadRequest::Packages { waiters, .. } => waiters.is_empty(),
        }
    }
}

/// Future that executes a read and sends the result to its waiters.
pub(super) type HandlerFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// A named device that executes reads. Several named devices may share one physical device.
pub(super) trait ReadHandler: Send + Sync {
    /// Reads from the device and sends the result to the waiters.
    fn execute_read<'a>(&'a self, request: ReadRequest, token: Option<&'a Secret>) -> HandlerFuture<'a>;
}

enum Job {
    Read { device: Arc<dyn ReadHandler>, token: Option<Secret>, request: ReadRequest },
    Guard { granted: oneshot::Sender<oneshot::Sender<()>> },
}

/// A guard for a queued job. The job is counted until the guard is dropped, even if its caller has stopped waiting.
struct Queued(Arc<AtomicU64>);

impl Queued {
    fn new(count: &Arc<AtomicU64>) -> Option<Self> {
        let queued = Self(count.clone());
        (count.fetch_add(1, Ordering::SeqCst) < MAX_WAITING).then_some(queued)
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A guard for a call that waits for the device or holds it. The call is counted until the guard is dropped.
pub(super) struct Waiting(Arc<Actor>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A physical device: its queue, its lease, and the number of inputs sent to it.
pub(super) struct Actor {
    jobs: mpsc::UnboundedSender<(Job, Queued)>,
    queued: Arc<AtomicU64>,
    waiting: AtomicU64,
    inputs: AtomicU64,
    /// Time at which the current read or exclusive access started; `None` while the device is idle.
    turn: Arc<Mutex<Option<Instant>>>,
    pub(super) lease: Lease,
    /// Queues of the screens of sessions, by the session's name. Those that nothing uses are forgotten in time.
    sessions: Mutex<BTreeMap<String, Arc<Actor>>>,
    /// The screen from the last read of the element tree.
    pub(super) tree: Mutex<Option<Arc<Screen>>>,
}

impl Actor {
    /// Starts the task for a physical device. The task ends when the actor is dropped.
    pub(super) fn start(name: &str, tasks: &Tasks) -> Arc<Self> {
        // What was seen before a queue was replaced is not taken for what is there now.
        static FIRST: AtomicU64 = AtomicU64::new(0);
        let (jobs, receiver) = mpsc::unbounded_channel();
        let (name, turn) = (format!("device:{name}"), Arc::new(Mutex::new(None)));
        let queue = Queue { name: name.clone(), receiver, jobs: VecDeque::new(), held: None, turn: turn.clone() };
        let queue = Arc::new(tokio::sync::Mutex::new(queue));
        tasks.spawn(name, move || {
            let queue = queue.clone();
            async move { queue.lock().await.run().await }
        });
        Arc::new(Self {
            jobs,
            queued: Arc::default(),
            waiting: AtomicU64::new(0),
            inputs: AtomicU64::new(FIRST.fetch_add(1 << 32, Ordering::Relaxed)),
            turn,
            lease: Lease::default(),
            sessions: Mutex::default(),
            tree: Mutex::default(),
        })
    }

    /// Returns the queue of the screen of a session. A queue that is in use is kept when the settings change.
    pub(super) fn of_session(&self, device: &str, session: &str, tasks: &Tasks) -> Arc<Self> {
        let mut sessions = self.sessions.lock();
        sessions.retain(|_, actor| Arc::strong_count(actor) > 1 || actor.lease.current().is_some());
        let start = || Self::start(&format!("{device}:{session}"), tasks);
        sessions.entry(session.to_owned()).or_insert_with(start).clone()
    }

    /// Returns the number of calls that wait for the device or hold it.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::SeqCst)
    }

    /// Returns how long the current read or exclusive access has taken, or `None` while the device is idle.
    pub(super) fn turn_time(&self) -> Option<Duration> {
        self.turn.lock().map(|begun| begun.elapsed())
    }

    /// Returns a number that increases with each input sent to the device. Each queue begins with another number.
    pub(super) fn inputs(&self) -> u64 {
        self.inputs.load(Ordering::SeqCst)
    }

    pub(super) fn count_input(&self) {
        self.inputs.fetch_add(1, Ordering::SeqCst);
    }

    fn submit(self: &Arc<Self>, job: Job) -> Result<Waiting, DriverError> {
        let waiting = Waiting(self.clone());
        if self.waiting.fetch_add(1, Ordering::SeqCst) >= MAX_WAITING {
            return Err(DriverError::QueueFull(MAX_WAITING));
        }
        let queued = Queued::new(&self.queued).ok_or(DriverError::QueueFull(MAX_WAITING))?;
        self.jobs.send((job, queued)).map_err(|_| DriverError::removed())?;
        Ok(waiting)
    }

    /// Queues a read.
    pub(super) fn read(
        self: &Arc<Self>,
        device: Arc<dyn ReadHandler>,
        token: Option<Secret>,
        request: ReadRequest,
    ) -> Result<Waiting, DriverError> {
        self.submit(Job::Read { device, token, request })
    }

    /// Queues a request for exclusive access to the device.
    pub(super) fn reserve(self: &Arc<Self>) -> Result<(oneshot::Receiver<oneshot::Sender<()>>, Waiting), DriverError> {
        let (granted, grant) = oneshot::channel();
        Ok((grant, self.submit(Job::Guard { granted })?))
    }
}

/// The jobs that wait for a device. The queue is kept when the task is restarted.
struct Queue {
    name: String,
    receiver: mpsc::UnboundedReceiver<(Job, Queued)>,
    jobs: VecDeque<(Job, Queued)>,
    /// Receiver that resolves (with an error) when the guard that currently holds the device is dropped.
    held: Option<oneshot::Receiver<()>>,
    turn: Arc<Mutex<Option<Instant>>>,
}

impl Queue {
    async fn run(&mut self) {
        loop {
            if let Some(held) = &mut self.held {
                let _ = held.await;
                self.held = None;
            }
            *self.turn.lock() = None;
            if self.jobs.is_empty() {
                match self.receiver.recv().await {
                    Some(job) => self.jobs.push_back(job),
                    None => return,
                }
            }
            while let Ok(job) = self.receiver.try_recv() {
                self.jobs.push_back(job);
            }
            failpoint(&self.name);
            *self.turn.lock() = Some(Instant::now());
            match self.jobs.pop_front().map(|(job, _)| job) {
                Some(Job::Guard { granted }) => {
                    let (done, released) = oneshot::channel::<()>();
                    if granted.send(done).is_ok() {
                        self.held = Some(released);
                    }
                }
                Some(Job::Read { device, token, mut request }) => {
                    self.merge_identical_reads(&device, token.as_ref(), &mut request);
                    if !request.is_abandoned() {
                        device.execute_read(request, token.as_ref()).await;
                    }
                }
                None => {}
            }
        }
    }

    /// Merges into `request` all identical reads through the same device and token that are queued before the first
    /// guard.
    fn merge_identical_reads(
        &mut self,
        own_device: &Arc<dyn ReadHandler>,
        own_token: Option<&Secret>,
        request: &mut ReadRequest,
    ) {
        let end = self.jobs.iter().position(|(job, _)| matches!(job, Job::Guard { .. })).unwrap_or(self.jobs.len());
        let rest = self.jobs.split_off(end);
        for (job, queued) in std::mem::take(&mut self.jobs) {
            match job {
                Job::Read { device, token, request: other }
                    if Arc::ptr_eq(&device, own_device) && token.as_ref() == own_token =>
                {
                    let unmerged = request.merge(other);
                    self.jobs.extend(unmerged.map(|request| (Job::Read { device, token, request }, queued)));
                }
                job => self.jobs.push_back((job, queued)),
            }
        }
        self.jobs.extend(rest);
    }
}
