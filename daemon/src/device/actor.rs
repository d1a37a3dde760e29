//! One task per physical device keeps its order, whatever names the device goes by: first come, first served; identical reads
//! that wait together share one answer, unless an action stands between them. Waiting never holds the device.
//!
//! The queue outlives the task: when a read panics, its callers are told, the task is started again, and what waits stays queued.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use afd_proto::Secret;
use afd_proto::picture::Overlay;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use super::lease::Lease;
use super::reading::{Reading, TreeReading};
use super::{DriverError, Shot, Top};
use crate::task::{Tasks, checkpoint};

/// At most this many calls wait for one device.
const MAX_WAITING: u64 = 4096;

/// Those who wait for one answer.
pub(super) struct Waiters<T>(Vec<oneshot::Sender<Result<T, DriverError>>>);

impl<T: Clone> Waiters<T> {
    pub(super) fn one(waiter: oneshot::Sender<Result<T, DriverError>>) -> Self {
        Self(vec![waiter])
    }

    pub(super) fn tell(self, answer: Result<T, DriverError>) {
        for waiter in self.0 {
            let _ = waiter.send(answer.clone());
        }
    }

    fn is_empty(&mut self) -> bool {
        self.0.retain(|waiter| !waiter.is_closed());
        self.0.is_empty()
    }
}

/// What a read asks for, and who waits for it.
pub(super) enum Question {
    Health(Waiters<String>),
    Top(Waiters<Reading<Top>>),
    Tree(Waiters<TreeReading>),
    Screenshot(Shot, Waiters<Arc<Vec<u8>>>),
    Overlay(Waiters<Overlay>),
    Packages { filter: Option<String>, system: bool, waiters: Waiters<Vec<String>> },
}

impl Question {
    /// Takes over who waits for the same; gives back what is another question.
    fn join(&mut self, other: Question) -> Option<Question> {
        match (self, other) {
            (Question::Health(own), Question::Health(more)) => own.0.extend(more.0),
            (Question::Top(own), Question::Top(more)) => own.0.extend(more.0),
            (Question::Tree(own), Question::Tree(more)) => own.0.extend(more.0),
            (Question::Screenshot(shot, own), Question::Screenshot(same, more)) if *shot == same => own.0.extend(more.0),
            (Question::Overlay(own), Question::Overlay(more)) => own.0.extend(more.0),
            (Question::Packages { filter, system, waiters }, Question::Packages { filter: same, system: too, waiters: more })
                if *filter == same && *system == too =>
            {
                waiters.0.extend(more.0);
            }
            (_, other) => return Some(other),
        }
        None
    }

    /// Whether nobody waits for it any more.
    fn is_forgotten(&mut self) -> bool {
        match self {
            Question::Health(w) => w.is_empty(),
            Question::Top(w) => w.is_empty(),
            Question::Tree(w) => w.is_empty(),
            Question::Screenshot(_, w) => w.is_empty(),
            Question::Overlay(w) => w.is_empty(),
            Question::Packages { waiters, .. } => waiters.is_empty(),
        }
    }
}

/// A future that tells who waits.
pub(super) type Answering<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// What answers questions: one name of the physical device.
pub(super) trait Answers: Send + Sync {
    /// Asks the device and tells who waits.
    fn answer<'a>(&'a self, question: Question, token: Option<&'a Secret>) -> Answering<'a>;
}

enum Job {
    Read { device: Arc<dyn Answers>, token: Option<Secret>, question: Question },
    Guard { granted: oneshot::Sender<oneshot::Sender<()>> },
}

/// Counts a job in the queue, which is there even when nobody waits for it any more, until it is dropped.
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

/// Counts a call that waits for the device or holds it, until it is dropped.
pub(super) struct Waiting(Arc<Actor>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// One physical device: its queue, its lease, and what it was sent.
pub(super) struct Actor {
    jobs: mpsc::UnboundedSender<(Job, Queued)>,
    queued: Arc<AtomicU64>,
    waiting: AtomicU64,
    inputs: AtomicU64,
    pub(super) lease: Lease,
    /// Width and height of the screen, as the tree told them last.
    pub(super) size: Mutex<Option<(i32, i32)>>,
}

impl Actor {
    /// Starts the task of a device. It ends when the actor is dropped.
    pub(super) fn start(name: &str, tasks: &Tasks) -> Arc<Self> {
        let (jobs, receiver) = mpsc::unbounded_channel();
        let name = format!("device:{name}");
        let queue = Arc::new(tokio::sync::Mutex::new(Queue { name: name.clone(), receiver, jobs: VecDeque::new(), held: None }));
        tasks.spawn(name, move || {
            let queue = queue.clone();
            async move { queue.lock().await.run().await }
        });
        Arc::new(Self {
            jobs,
            queued: Arc::default(),
            waiting: AtomicU64::new(0),
            inputs: AtomicU64::new(0),
            lease: Lease::default(),
            size: Mutex::default(),
        })
    }

    /// Calls that wait for the device or hold it.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::SeqCst)
    }

    /// How many inputs it was sent.
    pub(super) fn inputs(&self) -> u64 {
        self.inputs.load(Ordering::SeqCst)
    }

    pub(super) fn count_input(&self) {
        self.inputs.fetch_add(1, Ordering::SeqCst);
    }

    fn submit(self: &Arc<Self>, job: Job) -> Result<Waiting, DriverError> {
        let waiting = Waiting(self.clone());
        if self.waiting.fetch_add(1, Ordering::SeqCst) >= MAX_WAITING {
            return Err(DriverError::Crowded(MAX_WAITING));
        }
        let queued = Queued::new(&self.queued).ok_or(DriverError::Crowded(MAX_WAITING))?;
        self.jobs.send((job, queued)).map_err(|_| DriverError::removed())?;
        Ok(waiting)
    }

    /// Queues a read.
    pub(super) fn read(
        self: &Arc<Self>,
        device: Arc<dyn Answers>,
        token: Option<Secret>,
        question: Question,
    ) -> Result<Waiting, DriverError> {
        self.submit(Job::Read { device, token, question })
    }

    /// Queues for having the device alone.
    pub(super) fn reserve(self: &Arc<Self>) -> Result<(oneshot::Receiver<oneshot::Sender<()>>, Waiting), DriverError> {
        let (granted, grant) = oneshot::channel();
        Ok((grant, self.submit(Job::Guard { granted })?))
    }
}

/// What waits for a device. It is kept when the task is started again.
struct Queue {
    name: String,
    receiver: mpsc::UnboundedReceiver<(Job, Queued)>,
    jobs: VecDeque<(Job, Queued)>,
    /// Ends, with an error, when the guard that was given out last is dropped.
    held: Option<oneshot::Receiver<()>>,
}

impl Queue {
    async fn run(&mut self) {
        loop {
            if let Some(held) = &mut self.held {
                let _ = held.await;
                self.held = None;
            }
            if self.jobs.is_empty() {
                match self.receiver.recv().await {
                    Some(job) => self.jobs.push_back(job),
                    None => return,
                }
            }
            while let Ok(job) = self.receiver.try_recv() {
                self.jobs.push_back(job);
            }
            checkpoint(&self.name);
            match self.jobs.pop_front().map(|(job, _)| job) {
                Some(Job::Guard { granted }) => {
                    let (done, ended) = oneshot::channel::<()>();
                    if granted.send(done).is_ok() {
                        self.held = Some(ended);
                    }
                }
                Some(Job::Read { device, token, mut question }) => {
                    self.join_alike(&device, token.as_ref(), &mut question);
                    if !question.is_forgotten() {
                        device.answer(question, token.as_ref()).await;
                    }
                }
                None => {}
            }
        }
    }

    /// Takes equal reads through the same name out of the queue, up to the first guard.
    fn join_alike(&mut self, through: &Arc<dyn Answers>, with: Option<&Secret>, question: &mut Question) {
        let end = self.jobs.iter().position(|(job, _)| matches!(job, Job::Guard { .. })).unwrap_or(self.jobs.len());
        let rest = self.jobs.split_off(end);
        for (job, queued) in std::mem::take(&mut self.jobs) {
            match job {
                Job::Read { device, token, question: other } if Arc::ptr_eq(&device, through) && token.as_ref() == with => {
                    let another = question.join(other);
                    self.jobs.extend(another.map(|question| (Job::Read { device, token, question }, queued)));
                }
                job => self.jobs.push_back((job, queued)),
            }
        }
        self.jobs.extend(rest);
    }
}
