//! Shared state of all use cases.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::daemon::rescue;
use super::daemon::runtime::Runtime;
use super::daemon::substitute::Substitute;
use super::handles::{Experience, Screens, Sessions};
use super::locks::CallLocks;
use super::recall::Recall;
use super::{Error, Result, scope};
use afd_base::config::Config;
use afd_base::erased;
use afd_base::live::Live;
use afd_base::task::Tasks;
use afd_device::Registry;
use afd_screen::page::risk::RiskRules;
use afd_store::artifact::Artifacts;
use afd_store::job::Jobs;
use afd_store::{self as store, Store, StoreError};

/// State shared by all calls: settings, database, devices and in-memory indexes.
pub struct Core {
    /// Process state: start time, calls in flight, stop request.
    pub runtime: Runtime,
    /// Supervised background tasks.
    pub tasks: Tasks,
    /// Configuration file and current settings.
    pub config: Config,
    /// The memory database.
    pub store: Arc<Store>,
    /// The empty database that replaces a damaged one. While it is in use, nothing is recorded permanently.
    pub(super) substitute: Option<Substitute>,
    /// Registry of all devices.
    pub devices: Registry,
    /// Broadcast of events, observations and state changes to subscribers.
    pub live: Arc<Live>,
    /// Artifact files and their database rows.
    pub artifacts: Artifacts,
    /// Background jobs that run at intervals, such as backups.
    pub jobs: Jobs,
    /// Index of recall entries, and the configured embedding model.
    pub recall: Recall,
    /// Session views, hashes of typed text, and the index of screen states.
    pub experience: Experience,
    /// Newest captures of the devices, and their observation streams.
    pub(super) screens: Screens,
    /// The sessions and their conversations.
    pub sessions: Sessions,
    /// Locks that serialise calls.
    pub(super) locks: CallLocks,
}

impl Core {
    /// Opens the database and registers the configured devices. Must run inside the Tokio runtime. If the settings
    /// allow it, an empty database replaces a damaged one until the process ends.
    ///
    /// # Errors
    /// If the database or its key file cannot be used.
    pub fn open(config: Config) -> std::result::Result<Arc<Self>, StoreError> {
        let settings = config.get();
        let tasks = Tasks::default();
        let opened = store::probe(&settings.database).and_then(|()| {
            Store::open(&settings.database, &tasks, rescue::rescue(&settings), afd_experience::memory::last_seq)
        });
        let (store, substitute) = match Substitute::reason(&opened).filter(|_| !settings.memory_required) {
            Some(why) => {
                tracing::error!(%why, "working without recording");
                let substitute = Substitute::create(why)?;
                (
                    Store::open(&substitute.database(), &tasks, |_, _| {}, afd_experience::memory::last_seq)?,
                    Some(substitute),
                )
            }
            None => (opened?, None),
        };
        let store = Arc::new(store);
        let experience = Experience::open(&store)?;
        let live = Arc::new(Live::default());
        let sequence = store.clone();
        let devices = Registry::new(Arc::new(move || sequence.next_seq()), live.clone(), tasks.clone());
        devices.set_adb(&settings.adb);
        devices.apply(&settings.devices);
        Ok(Arc::new(Self {
            runtime: Runtime::default(),
            tasks: tasks.clone(),
            config,
            artifacts: Artifacts::new(store.clone()),
            jobs: Jobs::new(tasks),
            recall: Recall::default(),
            store,
            substitute,
            devices,
            live,
            experience,
            screens: Screens::default(),
            sessions: Sessions::default(),
            locks: CallLocks::default(),
        }))
    }

    /// Restores state from the previous run: loads the hashes of typed text, and converts open intents to
    /// `OUTCOME_UNKNOWN` events. Returns the number of intents closed.
    ///
    /// # Errors
    /// If the database cannot be used.
    pub async fn close_open_intents(&self) -> std::result::Result<usize, StoreError> {
        let secrets = self.experience.secrets.clone();
        self.store.read(move |c| secrets.load_typed(c)).await?;
        self.store
            .write(|c| {
                afd_experience::memory::events::close_open_intents(
                    c,
                    None,
                    "the daemon stopped before the device responded",
                )
            })
            .await
            .map(|closed| closed.len())
    }

    /// Returns the rules by which elements are risky.
    pub(super) fn risk_rules(&self) -> RiskRules {
        let settings = self.config.get();
        RiskRules::new(&settings.risk.risky, &settings.risk.harmless)
    }

    /// Returns whether the database is damaged and the settings allow the daemon to work without it, which requires a
    /// restart.
    pub fn must_restart_to_work(&self) -> bool {
        self.substitute.is_none() && !self.config.get().memory_required && self.store.damage().is_some()
    }

    /// Commits the call and runs `work` to completion, even if the caller disconnects.
    ///
    /// # Errors
    /// `CANCELLED` if the call was cancelled before it committed; the work is not started in that case.
    pub(super) async fn finish<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T> {
        self.finish_boxed(work.map(erased::hide).boxed()).await.map(erased::reveal)
    }

    async fn finish_boxed(self: &Arc<Self>, work: BoxFuture<'static, erased::Value>) -> Result<erased::Value> {
        scope::current().commit()?;
        let running = self.runtime.enter();
        let done = scope::spawn(async move {
            let _running = running;
            work.await
        });
        done.await.map_err(|e| Error::new(afd_proto::ErrorCode::Internal, format!("the work was aborted: {e}")))
    }
}
