//! Device handles. A [`Device`] is a named device with its own URL, token and timeout. All names of one physical device
//! share its queue.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use afd_proto::device::{DeviceInfo, DeviceSource, DeviceState, LeaseInfo};
use afd_proto::events::Message;
use parking_lot::Mutex;

use super::actor::Actor;
use super::lease::Busy;
use super::{Driver, DriverError, Manages};
use afd_base::live::Live;
use afd_base::task::Tasks;
use afd_store::now_ms;

/// Number of screens of sessions above which those that nothing uses are forgotten.
const MAX_SCREENS: usize = 256;

/// A function that returns the next sequence number for events, intents and readings.
pub type NextSeq = Arc<dyn Fn() -> i64 + Send + Sync>;

/// A named device, attached to the queue of its physical device; or the screen of one session on such a device, attached
/// to the queue of that screen.
pub struct Device {
    named: Arc<Named>,
    driver: Arc<dyn Driver>,
    /// Manages the device if the driver does not.
    manages: Option<Arc<dyn Manages>>,
    actor: Arc<Actor>,
    row: OnceLock<i64>,
    /// The screens of sessions, by the session's name; `None` if this is such a screen.
    screens: Option<Mutex<BTreeMap<String, Arc<Device>>>>,
}

/// What a named device and the screens of its sessions share.
struct Named {
    name: String,
    source: DeviceSource,
    health: Mutex<Health>,
    last_seen: AtomicI64,
    next_seq: NextSeq,
    live: Arc<Live>,
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
        manages: Option<Arc<dyn Manages>>,
        actor: Arc<Actor>,
        next_seq: NextSeq,
        live: Arc<Live>,
    ) -> Arc<Self> {
        let named = Named {
            name,
            source,
            health: Mutex::new(Health { state: DeviceState::Unknown, error: None }),
            last_seen: AtomicI64::new(0),
            next_seq,
            live,
        };
        let screens = Some(Mutex::default());
        Arc::new(Self { named: Arc::new(named), driver, manages, actor, row: OnceLock::new(), screens })
    }

    /// Returns the screen of a session: this device itself, if its sessions share one screen.
    pub(super) fn for_session(self: &Arc<Self>, session: &str, tasks: &Tasks) -> Arc<Self> {
        let Some(screens) = &self.screens else { return self.clone() };
        let mut screens = screens.lock();
        if let Some(known) = screens.get(session) {
            return known.clone();
        }
        let Some(driver) = self.driver.for_session(session) else { return self.clone() };
        if screens.len() >= MAX_SCREENS {
            screens.retain(|_, screen| Arc::strong_count(screen) > 1 || !screen.is_idle());
        }
        let actor = self.actor.of_session(&self.named.name, session, tasks);
        let (named, manages) = (self.named.clone(), self.manages.clone());
        let screen = Arc::new(Self { named, driver, manages, actor, row: OnceLock::new(), screens: None });
        screens.insert(session.to_owned(), screen.clone());
        screen
    }

    /// Gives the screen of a session to another session; with `None`, to whichever session needs one next.
    pub fn hand_over(&self, session: &str, to: Option<&str>) {
        let Some(screens) = &self.screens else { return };
        let known = screens.lock().remove(session).map(|screen| screen.driver.clone());
        let driver = known.or_else(|| self.driver.for_session(session));
        driver.into_iter().for_each(|driver| driver.hand_over(to));
    }

    /// Undoes what the driver did to something that goes on without it.
    pub async fn close(&self) {
        if let Err(error) = self.driver.close().await {
            tracing::debug!(device = self.named.name, %error, "cannot close the device");
        }
    }

    /// Returns whether this is the screen of one session.
    pub fn is_of_session(&self) -> bool {
        self.screens.is_none()
    }

    /// Returns the queue of this device, and those of the screens of its sessions.
    fn actors(&self) -> Vec<Arc<Actor>> {
        let screens = self
            .screens
            .iter()
            .flat_map(|screens| screens.lock().values().map(|screen| screen.actor.clone()).collect::<Vec<_>>());
        std::iter::once(self.actor.clone()).chain(screens).collect()
    }

    /// Returns the device's name; the name of an ad-hoc device is its URL.
    pub fn name(&self) -> &str {
        &self.named.name
    }

    /// Returns the name of the kind of device.
    pub fn kind(&self) -> &'static str {
        self.driver.kind()
    }

    /// Returns the device's URL, without credentials.
    pub fn url(&self) -> String {
        self.driver.url()
    }

    /// Returns where the settings of the device come from.
    pub fn source(&self) -> DeviceSource {
        self.named.source
    }

    /// Returns the cell that caches the id of the device's database row.
    pub fn row(&self) -> &OnceLock<i64> {
        &self.row
    }

    /// Returns the number of inputs sent to the physical device, under any of its names.
    pub fn inputs(&self) -> u64 {
        self.actor.inputs()
    }

    /// Returns how long the current read or exclusive access has taken, or `None` while the device is idle.
    pub fn turn_time(&self) -> Option<Duration> {
        self.actors().iter().filter_map(|actor| actor.turn_time()).max()
    }

    pub(super) fn actor(&self) -> &Arc<Actor> {
        &self.actor
    }

    pub(super) fn driver(&self) -> &dyn Driver {
        &*self.driver
    }

    pub(super) fn manages(&self) -> Option<&dyn Manages> {
        self.driver.manages().or(self.manages.as_deref())
    }

    pub(super) fn next_seq(&self) -> i64 {
        (self.named.next_seq)()
    }

    /// Returns whether the device is not leased and no call waits for it or holds it.
    pub fn is_idle(&self) -> bool {
        self.actors().iter().all(|actor| actor.waiting() == 0 && actor.lease.current().is_none())
    }

    /// Returns whether any call waits for the device or holds it.
    pub fn is_busy(&self) -> bool {
        self.actors().iter().any(|actor| actor.waiting() > 0)
    }

    /// Returns the device's description for clients.
    pub fn info(&self) -> DeviceInfo {
        let (health, actors) = (self.named.health.lock(), self.actors());
        let last_seen = self.named.last_seen.load(Ordering::Relaxed);
        DeviceInfo {
            name: self.named.name.clone(),
            kind: self.kind().to_owned(),
            url: self.url(),
            capabilities: self.capabilities(),
            state: health.state,
            error: health.error.clone(),
            last_seen_at: (last_seen > 0).then_some(last_seen),
            lease: actors.iter().find_map(|actor| actor.lease.current()),
            waiting: actors.iter().map(|actor| actor.waiting()).sum(),
            source: self.named.source,
        }
    }

    /// Takes the lease, or renews it if this session already holds it. Returns the lease and its generation, with which
    /// [`Device::end_lease`] ends only this lease.
    ///
    /// # Errors
    /// [`Busy`] if another session holds the lease.
    pub fn take_lease(&self, session: &str, ttl: Duration) -> Result<(LeaseInfo, u64), Busy> {
        self.actor.lease.take(session, ttl)
    }

    /// Takes or extends the lease for an operation of several actions. A lease that the session took in another way stays as
    /// it is. Returns the generation if the lease is the operation's own.
    ///
    /// # Errors
    /// [`Busy`] if another session holds the lease.
    pub fn extend_lease(&self, session: &str, own: Option<u64>, ttl: Duration) -> Result<Option<u64>, Busy> {
        self.actor.lease.extend(session, own, ttl)
    }

    /// Ends the lease with this generation, unless it has been taken or renewed again since.
    pub fn end_lease(&self, generation: u64) {
        self.actor.lease.end(generation);
    }

    /// Returns whether this session holds the lease.
    pub fn leased_to(&self, session: &str) -> bool {
        let is_held = |actor: &Arc<Actor>| actor.lease.current().is_some_and(|held| held.session == session);
        self.actors().iter().any(is_held)
    }

    /// Releases the lease if this session holds it. Returns whether the lease was released.
    pub fn release_lease(&self, session: &str) -> bool {
        self.actors().iter().any(|actor| actor.lease.release(session))
    }

    /// Checks that no other session's lease prevents this session from acting on the device.
    ///
    /// # Errors
    /// [`Busy`] if another session holds the lease.
    pub fn check_lease(&self, session: &str) -> Result<(), Busy> {
        self.actor.lease.check(session)
    }

    /// Returns the width and height of the screen in device pixels, as reported with the last element tree.
    pub fn screen_size(&self) -> Option<(i32, i32)> {
        self.actor.tree.lock().as_ref().and_then(|tree| tree.size)
    }

    pub(super) fn track_health<T>(&self, result: Result<T, DriverError>) -> Result<T, DriverError> {
        self.update_health(result.as_ref().err());
        result.map_err(|error| self.advised(error))
    }

    /// Adds the driver's advice to an error.
    pub fn advised(&self, error: DriverError) -> DriverError {
        let advice = self.driver.advice(&error);
        error.advised(advice)
    }

    /// After a request, updates the device state that clients see, and publishes it if it changed.
    pub(super) fn update_health(&self, error: Option<&DriverError>) {
        let state = match error {
            None => DeviceState::Ready,
            Some(DriverError::Unreachable(_) | DriverError::Lost(_)) => DeviceState::Unreachable,
            Some(DriverError::Auth(_)) => DeviceState::Unauthorized,
            Some(DriverError::Protocol(_)) => DeviceState::Failing,
            // The device responded, so it is reachable.
            Some(DriverError::Refused { .. } | DriverError::Covered(_) | DriverError::Unanswered(_)) => {
                DeviceState::Ready
            }
            // These errors do not concern the state of the device.
            Some(DriverError::QueueFull(_) | DriverError::Failed(_) | DriverError::Unsupported { .. }) => return,
        };
        if state != DeviceState::Unreachable {
            self.named.last_seen.store(now_ms(), Ordering::Relaxed);
        }
        let mut health = self.named.health.lock();
        let changed = health.state != state;
        *health = Health { state, error: error.filter(|_| state != DeviceState::Ready).map(ToString::to_string) };
        drop(health);
        if changed {
            tracing::info!(device = self.named.name, %state, "device state changed");
            self.named.live.publish(Message::Device { device: self.named.name.clone(), state });
        }
    }
}
