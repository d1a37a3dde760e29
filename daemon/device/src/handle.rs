//! Device handles. A [`Device`] is a name with its own URL, token and timeout, attached to the queue of the physical
//! device. A [`Ticket`] is a place in that queue; once granted, its [`DeviceGuard`] gives exclusive access.

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

use super::actor::{Actor, HandlerFuture, ReadHandler, ReadRequest, Waiters, Waiting};
use super::lease::Busy;
use super::reading::{Reading, TreeReading};
use super::{BadParam, Command, Driver, DriverError, ForegroundApp, Intent, Key, OverlaySetting, ScreenshotOptions};
use afd_base::live::Live;
use afd_proto::keys::KeyName;
use afd_store::now_ms;

/// Returns the next sequence number for events, intents and readings.
pub type NextSeq = Arc<dyn Fn() -> i64 + Send + Sync>;

/// A read that is queued for a device.
pub struct PendingRead<T> {
    answer: oneshot::Receiver<Result<T, DriverError>>,
    _waiting: Waiting,
}

impl<T> PendingRead<T> {
    /// Waits for the result of the read.
    ///
    /// # Errors
    /// [`DriverError`]
    pub async fn answer(self) -> Result<T, DriverError> {
        let failed = |_| DriverError::Failed("the device's task panicked and is being restarted".to_owned());
        self.answer.await.map_err(failed)?
    }
}

/// A named device.
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

    /// Returns the name; for an ad-hoc device this is the URL.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name of the kind of device.
    pub fn kind(&self) -> &'static str {
        self.driver.kind()
    }

    /// Returns the URL, without credentials.
    pub fn url(&self) -> String {
        self.driver.url()
    }

    /// Returns where the settings of the device come from.
    pub fn source(&self) -> DeviceSource {
        self.source
    }

    /// Returns the cell that caches the id of the device's database row.
    pub fn row(&self) -> &OnceLock<i64> {
        &self.row
    }

    /// Returns the number of inputs sent to the physical device, under any of its names.
    pub fn inputs(&self) -> u64 {
        self.actor.inputs()
    }

    /// Returns how long the current read or action has had the device; `None` while it is idle.
    pub fn turn_time(&self) -> Option<Duration> {
        self.actor.turn_time()
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

    /// Whether no call waits for or holds the device, and it is not leased.
    pub fn is_idle(&self) -> bool {
        self.actor.waiting() == 0 && self.actor.lease.current().is_none()
    }

    /// Whether any call waits for or holds the device.
    pub fn is_busy(&self) -> bool {
        self.actor.waiting() > 0
    }

    /// Returns the description for clients.
    pub fn info(&self) -> DeviceInfo {
        let health = self.health.lock();
        let last_seen = self.last_seen.load(Ordering::Relaxed);
        DeviceInfo {
            name: self.name.clone(),
            kind: self.kind().to_owned(),
            url: self.url(),
            capabilities: self.capabilities(),
            state: health.state,
            error: health.error.clone(),
            last_seen_at: (last_seen > 0).then_some(last_seen),
            lease: self.actor.lease.current(),
            waiting: self.actor.waiting(),
            source: self.source,
        }
    }

    fn capabilities(&self) -> Vec<String> {
        let driver = self.driver();
        let optional = [
            ("overlay", driver.overlays().is_some()),
            ("packages", driver.packages().is_some()),
            ("shell", driver.shell().is_some()),
            ("intent", driver.intents().is_some()),
        ];
        let optional = optional.into_iter().filter(|(_, has)| *has).map(|(name, _)| name);
        driver.capabilities().iter().copied().chain(optional).map(str::to_owned).collect()
    }

    /// Returns the number by which devices of this kind know a key; `None` if they have no numbers.
    pub fn key_code(&self, key: KeyName) -> Option<i32> {
        self.driver.key_code(key)
    }

    /// Checks the name of an app.
    ///
    /// # Errors
    /// If no app can have this name.
    pub fn check_app(&self, name: &str) -> Result<(), BadParam> {
        self.driver.check_app(name)
    }

    /// Checks that the device understands a key.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] if it is a number, and devices of this kind have none.
    pub fn check_key(&self, key: Key) -> Result<(), DriverError> {
        match key {
            Key::Code(_) if self.driver.key_code(KeyName::Enter).is_none() => {
                Err(self.unsupported("has no key codes", "press a key by its name, as in `key: \"enter\"`"))
            }
            _ => Ok(()),
        }
    }

    /// Checks the parts of an intent.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] if devices of this kind take none; in the result, if a part is not acceptable.
    pub fn check_intent(&self, intent: &Intent) -> Result<Result<(), BadParam>, DriverError> {
        let intents = self.driver.intents().ok_or_else(|| self.no_intents())?;
        Ok(intents.check(intent))
    }

    /// Checks that the device has a shell.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] if it has none.
    pub fn check_shell(&self) -> Result<(), DriverError> {
        self.driver.shell().map(|_| ()).ok_or_else(|| self.no_shell())
    }

    fn unsupported(&self, what: &'static str, instead: &'static str) -> DriverError {
        DriverError::Unsupported { kind: self.kind(), what, instead }
    }

    fn no_shell(&self) -> DriverError {
        self.unsupported("has no shell", "act on the screen, as with act.tap and act.text")
    }

    fn no_intents(&self) -> DriverError {
        self.unsupported("takes no intents", "open the app with act.launch, and act on its screen")
    }

    fn no_overlay(&self) -> DriverError {
        self.unsupported("draws no overlay", "take a screenshot with marks: observe.screenshot with `annotate`")
    }

    fn no_packages(&self) -> DriverError {
        self.unsupported("does not list its apps", "open one by its name with act.launch")
    }

    /// Takes or renews the lease. Returns it with its generation, by which [`Device::end_lease`] ends just this one.
    ///
    /// # Errors
    /// [`Busy`] while another session holds it.
    pub fn take_lease(&self, session: &str, ttl: Duration) -> Result<(LeaseInfo, u64), Busy> {
        self.actor.lease.take(session, ttl)
    }

    /// Ends a lease unless it has been taken or renewed again since.
    pub fn end_lease(&self, generation: u64) {
        self.actor.lease.end(generation);
    }

    /// Returns whether a session holds the lease.
    pub fn leased_to(&self, session: &str) -> bool {
        self.actor.lease.current().is_some_and(|held| held.session == session)
    }

    /// Releases the lease; false if this session does not hold it.
    pub fn release_lease(&self, session: &str) -> bool {
        self.actor.lease.release(session)
    }

    /// Checks that this session may act.
    ///
    /// # Errors
    /// [`Busy`] while another session holds the lease.
    pub fn check_lease(&self, session: &str) -> Result<(), Busy> {
        self.actor.lease.check(session)
    }

    /// Queues for exclusive access. The position in the queue is taken immediately, not when the ticket is first
    /// polled.
    ///
    /// # Errors
    /// [`DriverError::QueueFull`] when too many calls are waiting.
    pub fn queue(self: &Arc<Self>) -> Result<Ticket, DriverError> {
        let (granted, waiting) = self.actor.reserve()?;
        Ok(Ticket { device: self.clone(), granted, _waiting: waiting })
    }

    /// Queues a read. Its position in the queue is taken immediately.
    fn queue_read<T: Clone>(
        self: &Arc<Self>,
        token: Option<Secret>,
        request: impl FnOnce(Waiters<T>) -> ReadRequest,
    ) -> Result<PendingRead<T>, DriverError> {
        let (reply, answer) = oneshot::channel();
        let waiting = self.actor.read(self.clone(), token, request(Waiters::one(reply)))?;
        Ok(PendingRead { answer, _waiting: waiting })
    }

    /// Checks that the device responds; returns the type that it reports.
    pub async fn health(self: &Arc<Self>) -> Result<String, DriverError> {
        self.queue_read(None, ReadRequest::Health)?.answer().await
    }

    /// Checks that the device accepts the token.
    pub async fn check_token(self: &Arc<Self>, token: Option<Secret>) -> Result<(), DriverError> {
        self.queue_read(token, ReadRequest::Token)?.answer().await
    }

    /// Queues a read of the foreground app.
    ///
    /// # Errors
    /// [`DriverError::QueueFull`] when too many calls are waiting.
    pub fn top(self: &Arc<Self>, token: Option<Secret>) -> Result<PendingRead<Reading<ForegroundApp>>, DriverError> {
        self.queue_read(token, ReadRequest::ForegroundApp)
    }

    /// Queues a read of the element tree.
    ///
    /// # Errors
    /// [`DriverError::QueueFull`] when too many calls are waiting.
    pub fn tree(self: &Arc<Self>, token: Option<Secret>) -> Result<PendingRead<TreeReading>, DriverError> {
        self.queue_read(token, ReadRequest::Tree)
    }

    /// Queues a screenshot; the result is a JPEG.
    ///
    /// # Errors
    /// [`DriverError::QueueFull`] when too many calls are waiting.
    pub fn screenshot(
        self: &Arc<Self>,
        token: Option<Secret>,
        shot: ScreenshotOptions,
    ) -> Result<PendingRead<Arc<Vec<u8>>>, DriverError> {
        self.queue_read(token, |waiters| ReadRequest::Screenshot(shot, waiters))
    }

    /// Reads the state of the overlay that the device draws.
    pub async fn overlay(self: &Arc<Self>, token: Option<Secret>) -> Result<Overlay, DriverError> {
        self.queue_read(token, ReadRequest::Overlay)?.answer().await
    }

    /// Lists installed packages.
    pub async fn packages(
        self: &Arc<Self>,
        token: Option<Secret>,
        filter: Option<String>,
        system: bool,
    ) -> Result<Vec<String>, DriverError> {
        self.queue_read(token, |waiters| ReadRequest::Packages { filter, system, waiters })?.answer().await
    }

    /// Returns width and height of the screen in device pixels; `None` until a tree reported them.
    pub fn screen_size(&self) -> Option<(i32, i32)> {
        *self.actor.size.lock()
    }

    /// Reads from the driver and sends the result to the waiters.
    async fn read_for(&self, request: ReadRequest, token: Option<&Secret>) {
        let driver = self.driver();
        match request {
            ReadRequest::Tree(waiters) => waiters.send(self.read_tree(token).await),
            ReadRequest::Health(waiters) => waiters.send(self.track_health(driver.health().await)),
            ReadRequest::ForegroundApp(waiters) => {
                waiters.send(self.track_health(driver.top(token).await).map(|top| self.stamp(top)))
            }
            ReadRequest::Screenshot(shot, waiters) => {
                waiters.send(self.track_health(driver.screenshot(token, shot).await).map(Arc::new))
            }
            ReadRequest::Token(waiters) => waiters.send(self.track_health(driver.check_token(token).await)),
            ReadRequest::Overlay(waiters) => {
                let state = match driver.overlays() {
                    Some(overlays) => overlays.overlay(token).await,
                    None => Err(self.no_overlay()),
                };
                waiters.send(self.track_health(state));
            }
            ReadRequest::Packages { filter, system, waiters } => {
                let listed = match driver.packages() {
                    Some(packages) => packages.packages(token, filter.as_deref(), system).await,
                    None => Err(self.no_packages()),
                };
                waiters.send(self.track_health(listed));
            }
        }
    }

    async fn read_tree(&self, token: Option<&Secret>) -> Result<TreeReading, DriverError> {
        let snapshot = self.track_health(self.driver.snapshot(token).await)?;
        if snapshot.size.is_some() {
            *self.actor.size.lock() = snapshot.size;
        }
        Ok(self.stamp(Arc::new(snapshot)))
    }

    fn stamp<T>(&self, value: T) -> Reading<T> {
        Reading { value, seq: self.next_seq(), inputs: self.inputs(), at: Instant::now() }
    }

    fn track_health<T>(&self, result: Result<T, DriverError>) -> Result<T, DriverError> {
        self.update_health(result.as_ref().err());
        result.map_err(|error| self.advised(error))
    }

    /// Adds to an error what may help with devices of this kind.
    pub fn advised(&self, error: DriverError) -> DriverError {
        let advice = self.driver.advice(&error);
        error.advised(advice)
    }

    /// Updates the state reported to clients; publishes it if it changed.
    pub(super) fn update_health(&self, error: Option<&DriverError>) {
        let state = match error {
            None => DeviceState::Ready,
            Some(DriverError::Unreachable(_) | DriverError::Lost(_)) => DeviceState::Unreachable,
            Some(DriverError::Auth(_)) => DeviceState::Unauthorized,
            Some(DriverError::Protocol(_)) => DeviceState::Failing,
            // It responded, so it is reachable.
            Some(DriverError::Refused { .. }) => DeviceState::Ready,
            // These say nothing about the device.
            Some(DriverError::QueueFull(_) | DriverError::Failed(_) | DriverError::Unsupported { .. }) => return,
        };
        if state != DeviceState::Unreachable {
            self.last_seen.store(now_ms(), Ordering::Relaxed);
        }
        let mut health = self.health.lock();
        let changed = health.state != state;
        *health = Health { state, error: error.filter(|_| state != DeviceState::Ready).map(ToString::to_string) };
        drop(health);
        if changed {
            tracing::info!(device = self.name, %state, "device");
            self.live.publish(Message::Device { device: self.name.clone(), state });
        }
    }
}

impl ReadHandler for Device {
    fn execute_read<'a>(&'a self, request: ReadRequest, token: Option<&'a Secret>) -> HandlerFuture<'a> {
        Box::pin(self.read_for(request, token))
    }
}

/// A place in the queue for exclusive access to a device.
pub struct Ticket {
    device: Arc<Device>,
    granted: oneshot::Receiver<oneshot::Sender<()>>,
    _waiting: Waiting,
}

impl Ticket {
    /// Waits for exclusive access, which lasts until the guard is dropped.
    ///
    /// # Errors
    /// [`DriverError::Failed`] if the device was removed meanwhile.
    pub async fn guard(self) -> Result<DeviceGuard, DriverError> {
        let done = self.granted.await.map_err(|_| DriverError::removed())?;
        Ok(DeviceGuard { device: self.device, _done: done, _waiting: self._waiting })
    }
}

/// Exclusive access to a device until dropped.
pub struct DeviceGuard {
    device: Arc<Device>,
    _done: oneshot::Sender<()>,
    _waiting: Waiting,
}

impl DeviceGuard {
    /// Reads the element tree.
    pub async fn tree(&self, token: Option<&Secret>) -> Result<TreeReading, DriverError> {
        self.device.read_tree(token).await
    }

    /// Does something once.
    ///
    /// # Errors
    /// [`DriverError`]; [`DriverError::Lost`] if it is unknown whether it happened.
    pub async fn perform(&self, token: Option<&Secret>, command: &Command) -> Result<String, DriverError> {
        let (device, driver) = (&self.device, self.device.driver());
        device.actor().count_input();
        let result = match command {
            Command::Input(input) => driver.perform(token, input).await,
            Command::Shell(command, ms) => match driver.shell() {
                Some(shell) => shell.run(token, command, *ms).await,
                None => Err(device.no_shell()),
            },
            Command::Intent(intent) => match driver.intents() {
                Some(intents) => intents.send(token, intent).await,
                None => Err(device.no_intents()),
            },
        };
        device.track_health(result)
    }

    /// Changes the overlay that the device draws; returns its state.
    ///
    /// # Errors
    /// [`DriverError`]
    pub async fn set_overlay(&self, token: Option<&Secret>, setting: &OverlaySetting) -> Result<Overlay, DriverError> {
        let (device, driver) = (&self.device, self.device.driver());
        let Some(overlays) = driver.overlays() else { return Err(device.no_overlay()) };
        device.actor().count_input();
        device.track_health(overlays.set_overlay(token, setting).await)
    }

    /// Returns the positions of the characters that the device cannot type, counted in characters from 0.
    pub fn cannot_type(&self, text: &str) -> Vec<usize> {
        self.device.driver().cannot_type(text)
    }

    /// Returns the next sequence number.
    pub fn next_seq(&self) -> i64 {
        self.device.next_seq()
    }
}
