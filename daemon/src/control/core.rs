//! What every use case needs.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::runtime::Runtime;
use super::turns::Turns;
use super::{Error, Result, WatchStreams, scope};
use crate::artifact::Artifacts;
use crate::config::Config;
use crate::device::Registry;
use crate::job::Jobs;
use crate::live::Live;
use crate::memory::{secrets::Secrets, views::Views};
use crate::model::Tokenizers;
use crate::store::Store;
use crate::task::Tasks;
use crate::visual::Index;

/// Everything that a call may need.
pub struct Core {
    /// How the daemon runs.
    pub runtime: Runtime,
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
    pub(super) views: Views,
    /// Hashes of typed text.
    pub(super) secrets: Arc<Secrets>,
    /// Who waits for whom.
    pub(super) turns: Turns,
    /// Who waits for what to come up.
    pub(super) watch_streams: WatchStreams,
    /// What counts tokens.
    pub tokenizers: Arc<Tokenizers>,
    /// Rows of sessions by name.
    pub(super) sessions: Mutex<HashMap<String, i64>>,
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
            runtime: Runtime::default(),
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
            turns: Turns::default(),
            watch_streams: WatchStreams::default(),
            tokenizers: Arc::default(),
            sessions: Mutex::default(),
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

    /// Does work of several steps to its end, even if the caller goes away meanwhile.
    ///
    /// # Errors
    /// `CANCELLED` when the call was cancelled before; then nothing was begun.
    pub(super) async fn finish<T: Send + 'static>(self: &Arc<Self>, work: impl Future<Output = T> + Send + 'static) -> Result<T> {
        scope::current().commit()?;
        let running = self.runtime.enter();
        let done = scope::spawn(async move {
            let _running = running;
            work.await
        });
        done.await.map_err(|e| Error::new(afd_proto::ErrorCode::Internal, format!("the work ended early: {e}")))
    }
}
