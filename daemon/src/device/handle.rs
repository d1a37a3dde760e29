//! A device as calls see it: a name with its own address, token and time-out, on the queue of the physical device; and having
//! it for oneself, in the order in which it was asked for.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use afd_proto::device::{DeviceInfo, DeviceSource, DeviceState, LeaseInfo};
use afd_proto::picture::Overlay;
use afd_proto::{Secret, events::Message};
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::actor::{Actor, Answering, Answers, Question, Waiters, Waiting};
use super::lease::Busy;
use super::reading::{Reading, TreeReading};
use super::{Driver, DriverError, Input, Shot, Top};
use crate::live::Live;
use crate::store::now_ms;

/// Gives out the numbers of the order of what happens.
pub type NextSeq = Arc<dyn Fn() -> i64 + Send + Sync>;

/// A read that has its place in the queue of a device.
pub struct PendingRead<T> {
    answer: oneshot::Receiver<Result<T, DriverError>>,
    _waiting: Waiting,
}

impl<T> PendingRead<T> {
    /// Waits for the answer.
    ///
    /// # Errors
    /// [`DriverError`]
    pub async fn answer(self) -> Result<T, DriverError> {
        let failed = |_| DriverError::Failed("the device's task failed; it is started again".to_owned());
        self.answer.await.map_err(failed)?
    }
}

/// A device.
pub struct Device {
    name: String,
    source: DeviceSource,
    driver: Arc<dyn Driver>,
    actor: Arc<Actor>,
    health: Mutex<Health>,
    last_seen: AtomicI64,
    next_seq: NextSeq,
    live: Arc<Live>,
    row: OnceLock<i64>,
}

struct Health {
    state: DeviceState,
    error: Option<String>,
}

impl Device {
    pub(super) fn new(
        name: String,
        source: DeviceSource,
        driver: Arc<dyn Driver>,
        actor: Arc<Actor>,
        next_seq: NextSeq,
        live: Arc<Live>,
    ) -> Arc<Self> {
        Arc::new(Self {
            name,
            source,
            driver,
            actor,
            health: Mutex::new(Health { state: DeviceState::Unknown, error: None }),
            last_seen: AtomicI64::new(0),
            next_seq,
            live,
            row: OnceLock::new(),
        })
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
    pub fn source(&self) -> DeviceSource {
        self.source
    }

    /// Its row in the database, once it is known.
    pub fn row(&self) -> &OnceLock<i64> {
        &self.row
    }

    /// How many inputs it was sent, by whatever name.
    pub fn inputs(&self) -> u64 {
        self.actor.inputs()
    }

    pub(super) fn actor(&self) -> &Arc<Actor> {
        &self.actor
    }

    fn driver(&self) -> &dyn Driver {
        &*self.driver
    }

    fn next_seq(&self) -> i64 {
        (self.next_seq)()
    }

    /// Whether nobody waits for it or holds it.
    pub fn is_idle(&self) -> bool {
        self.actor.waiting() == 0 && self.actor.lease.current().is_none()
    }

    /// What a client is told about it.
    pub fn info(&self) -> DeviceInfo {
        let health = self.health.lock();
        let last_seen = self.last_seen.load(Ordering::Relaxed);
        DeviceInfo {
            name: self.name.clone(),
            kind: self.kind().to_owned(),
            url: self.url(),
            capabilities: self.driver.capabilities().iter().map(|c| (*c).to_owned()).collect(),
            state: health.state,
            error: health.error.clone(),
            last_seen_at: (last_seen > 0).then_some(last_seen),
            lease: self.actor.lease.current(),
            waiting: self.actor.waiting(),
            source: self.source,
        }
    }

    /// Takes or renews the lease.
    ///
    /// # Errors
    /// [`Busy`] while another session holds one.
    pub fn take_lease(&self, session: &str, ttl: Duration) -> Result<LeaseInfo, Busy> {
        self.actor.lease.take(session, ttl)
    }

    /// Gives the lease back; false when this session holds none.
    pub fn release_lease(&self, session: &str) -> bool {
        self.actor.lease.release(session)
    }

    /// Whether this session may act.
    ///
    /// # Errors
    /// [`Busy`] while another session holds a lease.
    pub fn check_lease(&self, session: &str) -> Result<(), Busy> {
        self.actor.lease.check(session)
    }

    /// Queues for the device. The place in the queue is kept from now on.
    ///
    /// # Errors
    /// [`DriverError::Crowded`] when too many wait already.
    pub fn queue(self: &Arc<Self>) -> Result<Ticket, DriverError> {
        let (granted, waiting) = self.actor.reserve()?;
        Ok(Ticket { device: self.clone(), granted, _waiting: waiting })
    }

    /// Queues a question. Its place in the queue is kept from now on.
    fn ask<T: Clone>(
        self: &Arc<Self>,
        token: Option<Secret>,
        question: impl FnOnce(Waiters<T>) -> Question,
    ) -> Result<PendingRead<T>, DriverError> {
        let (reply, answer) = oneshot::channel();
        let waiting = self.actor.read(self.clone(), token, question(Waiters::one(reply)))?;
        Ok(PendingRead { answer, _waiting: waiting })
    }

    /// Asks whether it is there.
    ///
    /// # Errors
    /// [`DriverError`]
    pub async fn health(self: &Arc<Self>) -> Result<String, DriverError> {
        self.ask(None, Question::Health)?.answer().await
    }

    /// Asks what is in front.
    ///
    /// # Errors
    /// [`DriverError::Crowded`]
    pub fn top(self: &Arc<Self>, token: Option<Secret>) -> Result<PendingRead<Reading<Top>>, DriverError> {
        self.ask(token, Question::Top)
    }

    /// Asks what is on the screen.
    ///
    /// # Errors
    /// [`DriverError::Crowded`]
    pub fn tree(self: &Arc<Self>, token: Option<Secret>) -> Result<PendingRead<TreeReading>, DriverError> {
        self.ask(token, Question::Tree)
    }

    /// Asks for a picture of the screen.
    ///
    /// # Errors
    /// [`DriverError::Crowded`]
    pub fn screenshot(self: &Arc<Self>, token: Option<Secret>, shot: Shot) -> Result<PendingRead<Arc<Vec<u8>>>, DriverError> {
        self.ask(token, |waiters| Question::Screenshot(shot, waiters))
    }

    /// The marks that the device itself draws.
    ///
    /// # Errors
    /// [`DriverError`]
    pub async fn overlay(self: &Arc<Self>, token: Option<Secret>) -> Result<Overlay, DriverError> {
        self.ask(token, Question::Overlay)?.answer().await
    }

    /// Installed packages.
    ///
    /// # Errors
    /// [`DriverError`]
    pub async fn packages(
        self: &Arc<Self>,
        token: Option<Secret>,
        filter: Option<String>,
        system: bool,
    ) -> Result<Vec<String>, DriverError> {
        self.ask(token, |waiters| Question::Packages { filter, system, waiters })?.answer().await
    }

    /// Width and height of the screen, once a tree told them.
    pub fn screen_size(&self) -> Option<(i32, i32)> {
        *self.actor.size.lock()
    }

    /// Asks the driver and tells who waits.
    async fn ask_driver(&self, question: Question, token: Option<&Secret>) {
        let driver = self.driver();
        match question {
            Question::Tree(waiters) => waiters.tell(self.read_tree(token).await),
            Question::Health(waiters) => waiters.tell(self.noted(driver.health().await)),
            Question::Top(waiters) => waiters.tell(self.noted(driver.top(token).await).map(|top| self.stamp(top))),
            Question::Screenshot(shot, waiters) => waiters.tell(self.noted(driver.screenshot(token, shot).await).map(Arc::new)),
            Question::Overlay(waiters) => waiters.tell(self.noted(driver.overlay(token).await)),
            Question::Packages { filter, system, waiters } => {
                waiters.tell(self.noted(driver.packages(token, filter.as_deref(), system).await));
            }
        }
    }

    async fn read_tree(&self, token: Option<&Secret>) -> Result<TreeReading, DriverError> {
        let snapshot = self.noted(self.driver.snapshot(token).await)?;
        if snapshot.size.is_some() {
            *self.actor.size.lock() = snapshot.size;
        }
        Ok(self.stamp(Arc::new(snapshot)))
    }

    fn stamp<T>(&self, value: T) -> Reading<T> {
        Reading { value, seq: self.next_seq(), inputs: self.inputs(), at: Instant::now() }
    }

    fn noted<T>(&self, result: Result<T, DriverError>) -> Result<T, DriverError> {
        self.note(result.as_ref().err());
        result
    }

    /// Keeps the state that clients are told.
    pub(super) fn note(&self, error: Option<&DriverError>) {
        let state = match error {
            None => DeviceState::Ready,
            Some(DriverError::Unreachable(_) | DriverError::Lost(_)) => DeviceState::Unreachable,
            Some(DriverError::Auth(_)) => DeviceState::Unauthorized,
            Some(DriverError::Nonsense(_)) => DeviceState::Failing,
            // It answered, so it is there.
            Some(DriverError::Refused { .. }) => DeviceState::Ready,
            // Says nothing about the device.
            Some(DriverError::Crowded(_) | DriverError::Failed(_)) => return,
        };
        if state != DeviceState::Unreachable {
            self.last_seen.store(now_ms(), Ordering::Relaxed);
        }
        let mut health = self.health.lock();
        let changed = health.state != state;
        *health = Health { state, error: error.filter(|_| state != DeviceState::Ready).map(ToString::to_string) };
        drop(health);
        if changed {
            self.live.publish(Message::Device { device: self.name.clone(), state });
        }
    }
}

impl Answers for Device {
    fn answer<'a>(&'a self, question: Question, token: Option<&'a Secret>) -> Answering<'a> {
        Box::pin(self.ask_driver(question, token))
    }
}

/// A place in the queue of a device.
pub struct Ticket {
    device: Arc<Device>,
    granted: oneshot::Receiver<oneshot::Sender<()>>,
    _waiting: Waiting,
}

impl Ticket {
    /// Waits for the device; nobody else gets it until the guard is dropped.
    ///
    /// # Errors
    /// [`DriverError::Failed`] when the device was removed meanwhile.
    pub async fn guard(self) -> Result<DeviceGuard, DriverError> {
        let done = self.granted.await.map_err(|_| DriverError::removed())?;
        Ok(DeviceGuard { device: self.device, _done: done, _waiting: self._waiting })
    }
}

/// The device is mine until this is dropped.
pub struct DeviceGuard {
    device: Arc<Device>,
    _done: oneshot::Sender<()>,
    _waiting: Waiting,
}

impl DeviceGuard {
    /// What is on the screen now.
    ///
    /// # Errors
    /// [`DriverError`]
    pub async fn tree(&self, token: Option<&Secret>) -> Result<TreeReading, DriverError> {
        self.device.read_tree(token).await
    }

    /// Does something, once.
    ///
    /// # Errors
    /// [`DriverError`]; [`DriverError::Lost`] when it may have been done.
    pub async fn perform(&self, token: Option<&Secret>, input: &Input) -> Result<String, DriverError> {
        self.device.actor().count_input();
        let result = self.device.driver().perform(token, input).await;
        self.device.note(result.as_ref().err());
        result
    }

    /// The next number in the order of what happens.
    pub fn next_seq(&self) -> i64 {
        self.device.next_seq()
    }
}
