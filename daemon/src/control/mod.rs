//! What one call does from start to end: the only place that ties devices, pages and memory together.

pub mod act;
pub mod admin;
pub mod artifacts;
mod carry;
pub mod config;
pub mod conversation;
pub mod devices;
mod error;
pub mod events;
mod forwards;
mod guard;
mod hints;
pub mod import;
pub mod jobs;
pub mod memory;
pub mod notes;
pub mod observe;
mod paging;
pub mod patterns;
mod reading;
pub mod recover;
pub mod replay;
mod rows;
mod scope;
pub mod screenshot;
mod scroll;
pub mod session;
pub mod shell;
pub mod usb;
pub mod verify;
pub mod visual;
pub mod waiting;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use afd_proto::Secret;
use afd_proto::vocabulary::{DEFAULT_SESSION, DeviceCall, Echo, Reply};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::artifact::Artifacts;
use crate::config::Config;
use crate::device::{Device, DriverError, PendingRead, Registry, Resolved};
use crate::job::Jobs;
use crate::live::Live;
use crate::memory::{Origin, secrets::Secrets, views::Views};
use crate::model::Tokenizers;
use crate::store::{Store, new_uid, now_ms};
use crate::sync::KeyedLocks;
use crate::task::Tasks;
use crate::visual::Index;
use crate::{device, session as sessions};

pub use error::{Error, Result};
pub use scope::{CallScope, ProgressSink, Step, current_trace, run_call};
use waiting::WatchStreams;

/// Everything that a call may need.
pub struct Core {
    /// Background tasks.
    pub tasks: Tasks,
    /// Settings.
    pub config: Config,
    /// The database.
    pub store: Arc<Store>,
    /// The devices.
    pub devices: Registry,
    /// What happens.
    pub live: Arc<Live>,
    /// Files that were written.
    pub artifacts: Artifacts,
    /// Background work.
    pub jobs: Jobs,
    /// What screens are recognised by.
    pub visual: Arc<Index>,
    /// What sessions see right now.
    views: Views,
    /// Hashes of typed text.
    secrets: Arc<Secrets>,
    /// Acts with a request key that are under way: session, device and key.
    act_keys: KeyedLocks<(String, String, String)>,
    /// Other calls with one: method and key.
    keys: KeyedLocks<(&'static str, String)>,
    /// Who waits for what to come up.
    watch_streams: WatchStreams,
    /// What counts tokens.
    pub tokenizers: Arc<Tokenizers>,
    /// Writers of progress files.
    progress: KeyedLocks<String>,
    /// Writers of conversations.
    conversations: KeyedLocks<String>,
    /// Whether somebody sees to it that tokenizers go in time.
    sweeping: std::sync::atomic::AtomicBool,
    sessions: Mutex<HashMap<String, i64>>,
    /// Start, UTC milliseconds.
    pub started_at: i64,
    started: Instant,
    /// Open connections.
    pub connections: AtomicU64,
    calls: AtomicU64,
    stop: watch::Sender<bool>,
    /// Held while settings are read and put into force.
    reloading: tokio::sync::Mutex<()>,
}

impl Core {
    /// Opens the database and takes up the configured devices. Must run inside the runtime.
    ///
    /// # Errors
    /// When the database or its key cannot be used.
    pub fn open(config: Config) -> std::result::Result<Arc<Self>, crate::store::StoreError> {
        let settings = config.get();
        let tasks = Tasks::default();
        let store = Arc::new(Store::open(&settings.database, &tasks, crate::memory::last_seq)?);
        let secrets =
            Secrets::open(&settings.database).map_err(|e| crate::store::StoreError::Unavailable(format!("its key cannot be used: {e}")))?;
        let live = Arc::new(Live::default());
        let undone = store.undone();
        let numbers = store.clone();
        let devices = Registry::new(Arc::new(move || numbers.next_seq()), live.clone(), tasks.clone());
        devices.set_adb(&settings.adb);
        devices.apply(&settings.devices);
        Ok(Arc::new(Self {
            tasks: tasks.clone(),
            config,
            artifacts: Artifacts::new(store.clone()),
            jobs: Jobs::new(tasks),
            visual: Arc::new(Index::new(undone)),
            store,
            devices,
            live,
            views: Views::default(),
            secrets: Arc::new(secrets),
            act_keys: KeyedLocks::default(),
            keys: KeyedLocks::default(),
            watch_streams: WatchStreams::default(),
            tokenizers: Arc::default(),
            progress: KeyedLocks::default(),
            conversations: KeyedLocks::default(),
            sweeping: std::sync::atomic::AtomicBool::new(false),
            sessions: Mutex::default(),
            started_at: now_ms(),
            started: Instant::now(),
            connections: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            stop: watch::Sender::new(false),
            reloading: tokio::sync::Mutex::default(),
        }))
    }

    /// Settles what an earlier daemon left: intents that were open become events; returns how many.
    ///
    /// # Errors
    /// When the database cannot be used.
    pub async fn settle(&self) -> std::result::Result<usize, crate::store::StoreError> {
        let secrets = self.secrets.clone();
        self.store.read(move |c| secrets.recall(c)).await?;
        self.store
            .write(|c| crate::memory::events::close_open_intents(c, None, "the daemon ended before the device answered"))
            .await
            .map(|closed| closed.len())
    }

    /// Asks the daemon to stop.
    pub fn request_stop(&self) {
        self.stop.send_replace(true);
    }

    /// Becomes true when the daemon is to stop.
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    /// Counts a call until the guard is dropped.
    pub fn enter(self: &Arc<Self>) -> InFlight {
        self.calls.fetch_add(1, Ordering::SeqCst);
        InFlight(self.clone())
    }

    /// Does work of several steps to its end, even if the caller goes away meanwhile.
    ///
    /// # Errors
    /// `CANCELLED` when the call was cancelled before; then nothing was begun.
    async fn finish<T: Send + 'static>(self: &Arc<Self>, work: impl Future<Output = T> + Send + 'static) -> Result<T> {
        scope::current().commit()?;
        let running = self.enter();
        let done = scope::spawn(async move {
            let _running = running;
            work.await
        });
        done.await.map_err(|e| Error::new(afd_proto::ErrorCode::Internal, format!("the work ended early: {e}")))
    }

    /// Calls being worked on.
    pub fn in_flight(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    async fn session_row(&self, name: &str) -> Result<i64> {
        let known = self.sessions.lock().get(name).copied();
        if let Some(id) = known {
            return Ok(id);
        }
        let (origin, wanted) = (self.store.origin().to_owned(), name.to_owned());
        let id = self.store.write(move |c| sessions::row_id(c, &origin, &wanted)).await?;
        self.sessions.lock().insert(name.to_owned(), id);
        Ok(id)
    }

    async fn device_row(&self, device: &Device) -> Result<i64> {
        if let Some(id) = device.row().get() {
            return Ok(*id);
        }
        let (origin, name, kind) = (self.store.origin().to_owned(), device.name().to_owned(), device.kind());
        let id = self.store.write(move |c| device::row_id(c, &origin, &name, kind)).await?;
        Ok(*device.row().get_or_init(|| id))
    }

    /// Finds device and session of a call, without waiting for anything.
    fn addressed<P: DeviceCall>(self: &Arc<Self>, params: &P) -> Result<Addressed> {
        let address = params.address();
        let session = address.session.unwrap_or(DEFAULT_SESSION);
        check_session(session)?;
        let target = self.devices.resolve(&address)?;
        let echo = Echo {
            device: target.device.name().to_owned(),
            session: session.to_owned(),
            trace_id: current_trace().unwrap_or_else(new_uid),
        };
        Ok(Addressed { core: self.clone(), echo, target })
    }

    /// Finds device and session of a call.
    ///
    /// # Errors
    /// When the call means no device, or the session's name is of no use.
    pub async fn call<P: DeviceCall>(self: &Arc<Self>, params: &P) -> Result<Call> {
        self.addressed(params)?.open().await
    }

    /// Like [`Core::call`], for a call that begins with a read of the device: that is queued first, before anything else is waited
    /// for, so that the calls of a connection begin in their order.
    async fn call_reading<P: DeviceCall, T>(
        self: &Arc<Self>,
        params: &P,
        read: impl FnOnce(&Arc<Device>, Option<Secret>) -> std::result::Result<PendingRead<T>, DriverError>,
    ) -> Result<(Call, PendingRead<T>)> {
        let addressed = self.addressed(params)?;
        let first = read(&addressed.target.device, addressed.target.token.clone())?;
        Ok((addressed.open().await?, first))
    }
}

/// Device and session of a call, by name.
struct Addressed {
    core: Arc<Core>,
    echo: Echo,
    target: Resolved,
}

impl Addressed {
    /// Records session and device where they are new.
    async fn open(self) -> Result<Call> {
        Ok(Call {
            session_id: self.core.session_row(&self.echo.session).await?,
            device_id: self.core.device_row(&self.target.device).await?,
            core: self.core,
            echo: self.echo,
            target: self.target,
        })
    }
}

/// A session's name: 1 to 128 characters, none of them a control character.
fn check_session(name: &str) -> Result<()> {
    if name.is_empty() || name.chars().count() > 128 || name.chars().any(char::is_control) {
        return Err(Error::param("session", "1 to 128 printable characters", name));
    }
    Ok(())
}

/// Counts a call.
pub struct InFlight(Arc<Core>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A call with its device and session.
#[derive(Clone)]
pub struct Call {
    core: Arc<Core>,
    echo: Echo,
    target: Resolved,
    session_id: i64,
    device_id: i64,
}

impl Call {
    fn device(&self) -> &Arc<Device> {
        &self.target.device
    }

    fn origin(&self) -> Origin {
        Origin {
            store: self.core.store.origin().to_owned(),
            session: self.session_id,
            device: self.device_id,
            trace: self.echo.trace_id.clone(),
        }
    }

    fn reply<T>(&self, body: T) -> Reply<T> {
        Reply { echo: self.echo.clone(), body }
    }
}
