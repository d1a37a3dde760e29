//! One task per device keeps its order: first come, first served; identical reads that wait together share one answer,
//! unless an action stands between them (DESIGN 6.2).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use afd_proto::device::{DeviceInfo, LeaseInfo};
use afd_proto::picture::Overlay;
use afd_proto::{Secret, events::Message};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::lease::{Busy, Lease};
use super::turn::{Ticket, Waiting};
use super::{Driver, DriverError, Shot, Source, Top};
use crate::live::Live;
use crate::page::Snapshot;
use crate::store::now_ms;

/// What a read asks for. Equal questions share an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Question {
    Health,
    Top,
    Tree,
    Screenshot(Shot),
    Overlay,
    Packages { filter: Option<String>, system: bool },
}

/// What a read found, and when in the order of the device.
#[derive(Debug, Clone)]
pub struct Reading<T> {
    /// What was found.
    pub value: T,
    /// Its place in the order of what happens.
    pub seq: i64,
    /// How many inputs the device had been sent before.
    pub inputs: u64,
    /// When.
    pub at: Instant,
}

/// A reading of the tree.
pub type TreeReading = Reading<Arc<Snapshot>>;

#[derive(Debug, Clone)]
enum Answer {
    Health(String),
    Top(Reading<Top>),
    Tree(TreeReading),
    Screenshot(Arc<Vec<u8>>),
    Overlay(Overlay),
    Packages(Vec<String>),
}

type Reply = oneshot::Sender<Result<Answer, DriverError>>;

enum Job {
    Read { question: Question, token: Option<Secret>, reply: Reply },
    Turn { granted: oneshot::Sender<oneshot::Sender<()>> },
}

/// Gives out the numbers of the order of what happens.
pub type NextSeq = Arc<dyn Fn() -> i64 + Send + Sync>;

/// A device.
pub struct Device {
    name: String,
    source: Source,
    pub(super) driver: Arc<dyn Driver>,
    jobs: mpsc::UnboundedSender<Job>,
    pub(super) waiting: AtomicU64,
    pub(super) inputs: AtomicU64,
    lease: Lease,
    health: Mutex<Health>,
    last_seen: AtomicI64,
    pub(super) next_seq: NextSeq,
    live: Arc<Live>,
    row: OnceLock<i64>,
    /// Width and height of the screen, as the tree told them last.
    size: Mutex<Option<(i32, i32)>>,
}

struct Health {
    state: &'static str,
    error: Option<String>,
}

impl Device {
    /// Starts the task of a device. It ends when the device is dropped.
    pub(super) fn start(name: String, source: Source, driver: Arc<dyn Driver>, next_seq: NextSeq, live: Arc<Live>) -> Arc<Self> {
        let (jobs, receiver) = mpsc::unbounded_channel();
        let device = Arc::new(Self {
            name,
            source,
            driver,
            jobs,
            waiting: AtomicU64::new(0),
            inputs: AtomicU64::new(0),
            lease: Lease::default(),
            health: Mutex::new(Health { state: "unknown", error: None }),
            last_seen: AtomicI64::new(0),
            next_seq,
            live,
            row: OnceLock::new(),
            size: Mutex::default(),
        });
        tokio::spawn(run(Arc::downgrade(&device), receiver));
        device
    }

    /// Its name; the URL for an ad-hoc one.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Name of its kind.
    pub fn kind(&self) -> &'static str {
        self.driver.kind()
    }

    /// Where it is, without credentials.
    pub fn url(&self) -> String {
        self.driver.url()
    }

    /// Where its settings come from.
    pub fn source(&self) -> Source {
        self.source
    }

    /// Its row in the database, once it is known.
    pub fn row(&self) -> &OnceLock<i64> {
        &self.row
    }

    /// How many inputs it was sent.
    pub fn inputs(&self) -> u64 {
        self.inputs.load(Ordering::SeqCst)
    }

    /// Whether nobody waits for it or holds it.
    pub fn is_idle(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) == 0 && self.lease.current().is_none()
    }

    /// Takes the place of the same device with other settings: its lease goes on, and what was seen through it is not
    /// taken for the present.
    pub(super) fn inherit(&self, other: &Device) {
        self.lease.inherit(&other.lease);
        self.inputs.store(other.inputs() + 1, Ordering::SeqCst);
    }

    /// What a client is told about it.
    pub fn info(&self) -> DeviceInfo {
        let health = self.health.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let last_seen = self.last_seen.load(Ordering::Relaxed);
        DeviceInfo {
            name: self.name.clone(),
            kind: self.kind().to_owned(),
            url: self.url(),
            capabilities: self.driver.capabilities().iter().map(|c| (*c).to_owned()).collect(),
            state: health.state.to_owned(),
            error: health.error.clone(),
            last_seen_at: (last_seen > 0).then_some(last_seen),
            lease: self.lease.current(),
            waiting: self.waiting.load(Ordering::SeqCst),
            source: self.source.name().to_owned(),
        }
    }

    /// Takes or renews the lease.
    ///
    /// # Errors
    /// [`Busy`] while another session holds one.
    pub fn take_lease(&self, session: &str, ttl: std::time::Duration) -> Result<LeaseInfo, Busy> {
        self.lease.take(session, ttl)
    }

    /// Gives the lease back; false when this session holds none.
    pub fn release_lease(&self, session: &str) -> bool {
        self.lease.release(session)
    }

    /// Whether this session may act.
    ///
    /// # Errors
    /// [`Busy`] while another session holds a lease.
    pub fn check_lease(&self, session: &str) -> Result<(), Busy> {
        self.lease.check(session)
    }

    async fn ask(&self, question: Question, token: Option<Secret>) -> Result<Answer, DriverError> {
        let (reply, answer) = oneshot::channel();
        let _waiting = Waiting::new(&self.waiting);
        let gone = || DriverError::Unreachable("the device was removed".to_owned());
        self.jobs.send(Job::Read { question, token, reply }).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    /// Asks whether it is there.
    ///
    /// # Errors
    /// [`DriverError`]
    pub async fn health(&self) -> Result<String, DriverError> {
        match self.ask(Question::Health, None).await? {
            Answer::Health(kind) => Ok(kind),
            _ => Err(mixed_up()),
        }
    }

    /// What is in front.
    ///
    /// # Errors
    /// [`DriverError`]
    pub async fn top(&self, token: Option<Secret>) -> Result<Reading<Top>, DriverError> {
        match self.ask(Question::Top, token).await? {
            Answer::Top(top) => Ok(top),
            _ => Err(mixed_up()),
        }
    }

    /// What is on the screen.
    ///
    /// # Errors
    /// [`DriverError`]
    pub async fn tree(&self, token: Option<Secret>) -> Result<TreeReading, DriverError> {
        match self.ask(Question::Tree, token).await? {
            Answer::Tree(tree) => Ok(tree),
            _ => Err(mixed_up()),
        }
    }

    /// A picture of the screen.
    ///
    /// # Errors
    /// [`DriverError`]
    pub async fn screenshot(&self, token: Option<Secret>, shot: Shot) -> Result<Arc<Vec<u8>>, DriverError> {
        match self.ask(Question::Screenshot(shot), token).await? {
            Answer::Screenshot(picture) => Ok(picture),
            _ => Err(mixed_up()),
        }
    }

    /// The marks that the device itself draws.
    ///
    /// # Errors
    /// [`DriverError`]
    pub async fn overlay(&self, token: Option<Secret>) -> Result<Overlay, DriverError> {
        match self.ask(Question::Overlay, token).await? {
            Answer::Overlay(overlay) => Ok(overlay),
            _ => Err(mixed_up()),
        }
    }

    /// Width and height of the screen, once a tree told them.
    pub fn screen_size(&self) -> Option<(i32, i32)> {
        *self.size.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Installed packages.
    ///
    /// # Errors
    /// [`DriverError`]
    pub async fn packages(&self, token: Option<Secret>, filter: Option<String>, system: bool) -> Result<Vec<String>, DriverError> {
        match self.ask(Question::Packages { filter, system }, token).await? {
            Answer::Packages(packages) => Ok(packages),
            _ => Err(mixed_up()),
        }
    }

    /// Queues for the device. The place in the queue is kept from now on.
    pub fn queue(self: &Arc<Self>) -> Ticket {
        let (granted, grant) = oneshot::channel();
        self.waiting.fetch_add(1, Ordering::SeqCst);
        // If the task is gone, the grant never comes and the ticket says so.
        let _ = self.jobs.send(Job::Turn { granted });
        Ticket { device: self.clone(), grant }
    }

    pub(super) async fn read_tree(&self, token: Option<&Secret>) -> Result<TreeReading, DriverError> {
        let result = self.driver.snapshot(token).await;
        self.note(result.as_ref().err());
        let snapshot = result?;
        if snapshot.size.is_some() {
            *self.size.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = snapshot.size;
        }
        Ok(self.stamp(Arc::new(snapshot)))
    }

    fn stamp<T>(&self, value: T) -> Reading<T> {
        Reading { value, seq: (self.next_seq)(), inputs: self.inputs(), at: Instant::now() }
    }

    async fn answer(&self, question: &Question, token: Option<&Secret>) -> Result<Answer, DriverError> {
        let result = match question {
            Question::Tree => return self.read_tree(token).await.map(Answer::Tree),
            Question::Health => self.driver.health().await.map(Answer::Health),
            Question::Top => self.driver.top(token).await.map(|top| Answer::Top(self.stamp(top))),
            Question::Screenshot(shot) => self.driver.screenshot(token, *shot).await.map(|p| Answer::Screenshot(Arc::new(p))),
            Question::Overlay => self.driver.overlay(token).await.map(Answer::Overlay),
            Question::Packages { filter, system } => self.driver.packages(token, filter.as_deref(), *system).await.map(Answer::Packages),
        };
        self.note(result.as_ref().err());
        result
    }

    /// Keeps the state that clients are told.
    pub(super) fn note(&self, error: Option<&DriverError>) {
        let state = match error {
            None => "ready",
            Some(DriverError::Unreachable(_) | DriverError::Lost(_)) => "unreachable",
            Some(DriverError::Auth(_)) => "unauthorized",
            Some(DriverError::Nonsense(_)) => "failing",
            // It answered, so it is there.
            Some(DriverError::Refused { .. }) => "ready",
        };
        if state != "unreachable" {
            self.last_seen.store(now_ms(), Ordering::Relaxed);
        }
        let mut health = self.health.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let changed = health.state != state;
        *health = Health { state, error: error.filter(|_| state != "ready").map(ToString::to_string) };
        drop(health);
        if changed {
            self.live.publish(Message::Device { device: self.name.clone(), state: state.to_owned() });
        }
    }
}

fn mixed_up() -> DriverError {
    DriverError::Nonsense("the device task answered another question".to_owned())
}

async fn run(device: std::sync::Weak<Device>, mut receiver: mpsc::UnboundedReceiver<Job>) {
    let mut queue: VecDeque<Job> = VecDeque::new();
    loop {
        if queue.is_empty() {
            match receiver.recv().await {
                Some(job) => queue.push_back(job),
                None => return,
            }
        }
        while let Ok(job) = receiver.try_recv() {
            queue.push_back(job);
        }
        match queue.pop_front() {
            Some(Job::Turn { granted }) => {
                let (done, ended) = oneshot::channel::<()>();
                if granted.send(done).is_ok() {
                    // Ends with an error when the turn is dropped, which is how turns end.
                    let _ = ended.await;
                }
            }
            Some(Job::Read { question, token, reply }) => {
                let Some(device) = device.upgrade() else { return };
                let mut together = take_like(&mut queue, &question, &token);
                together.push(reply);
                together.retain(|reply| !reply.is_closed());
                if !together.is_empty() {
                    let answer = device.answer(&question, token.as_ref()).await;
                    for reply in together {
                        let _ = reply.send(answer.clone());
                    }
                }
            }
            None => {}
        }
    }
}

/// Takes the replies of equal reads out of the queue, up to the first turn.
fn take_like(queue: &mut VecDeque<Job>, wanted: &Question, with: &Option<Secret>) -> Vec<Reply> {
    let end = queue.iter().position(|job| matches!(job, Job::Turn { .. })).unwrap_or(queue.len());
    let rest = queue.split_off(end);
    let mut together = Vec::new();
    for job in std::mem::take(queue) {
        match job {
            Job::Read { question, token, reply } if question == *wanted && token == *with => together.push(reply),
            other => queue.push_back(other),
        }
    }
    queue.extend(rest);
    together
}
