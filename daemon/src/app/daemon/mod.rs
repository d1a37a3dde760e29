//! `daemon.*`: version, status, reload and shutdown.

pub mod backups;
pub(in crate::app) mod call_counts;
pub mod catching_up;
pub mod config;
pub mod doctor;
pub(in crate::app) mod empty_memory;
pub mod jobs;
pub mod metrics;
pub(in crate::app) mod rescue;
pub(in crate::app) mod runtime;
pub(in crate::app) mod sizes;
pub(in crate::app) mod substitute;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use afd_proto::MethodInfo;
use afd_proto::daemon::{
    DaemonMethods, DaemonReload, DaemonShutdown, DaemonStatus, DaemonVersion, MethodList, MethodSummary, ReloadResult,
    ShutdownResult, Sizes, Status, StoreStatus, Version,
};

use super::{Core, Result};
use crate::app::Methods;
use crate::app::device::forwards;
use afd_base::config::Settings;
use afd_base::config::keys::waiting_for_restart;
use afd_base::file;
use afd_base::task::run_blocking;
use afd_store::SCHEMA;
use runtime::Runtime;
use sizes::OnDisk;

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<DaemonVersion, _, _>(|core, _| async move { Ok(version(&core.runtime)) });
    methods.add::<DaemonStatus, _, _>(|core, _| async move { Ok(status(&core).await) });
    methods.add::<DaemonMethods, _, _>(|_, _| async move { Ok(self::methods()) });
    methods.add::<DaemonReload, _, _>(|core, _| async move { reload(&core).await });
    methods.add::<DaemonShutdown, _, _>(|core, _| async move { Ok(shutdown(&core.runtime)) });
}

/// Implements `daemon.version`.
pub fn version(runtime: &Runtime) -> Version {
    Version {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: afd_proto::PROTOCOL,
        capabilities: afd_proto::CAPABILITIES.iter().map(|c| (*c).to_owned()).collect(),
        pid: std::process::id(),
        started_at: runtime.started_at,
    }
}

/// Implements `daemon.status`.
pub async fn status(core: &Arc<Core>) -> Status {
    let sizes = sizes_on_disk(core).await;
    let damage = core.damage();
    Status {
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        uptime_ms: u64::try_from(core.runtime.uptime().as_millis()).unwrap_or(u64::MAX),
        socket: core.runtime.socket().display().to_string(),
        database: core.database().display().to_string(),
        config: core.config.path().display().to_string(),
        log: core.runtime.log(),
        connections: core.runtime.connections.load(Ordering::SeqCst),
        calls_in_flight: core.runtime.in_flight(),
        devices: core.devices.list().iter().map(|d| d.info()).collect(),
        store: StoreStatus {
            writable: damage.is_none(),
            advice: damage.as_ref().map(|_| advice(core)),
            damage,
            recorded: core.recorded(),
            size_bytes: sizes.database,
            schema: SCHEMA,
            pending_writes: core.store.pending(),
        },
        sizes: Sizes { wal_bytes: sizes.wal, artifact_bytes: sizes.artifacts, backup_bytes: sizes.backups },
        last_backup_at: sizes.last_backup_at,
        tasks: core.tasks.list(),
        config_error: core.config.error(),
        config_warnings: core.config.get().warnings.clone(),
    }
}

/// Returns advice on what to do about a memory that cannot be used.
fn advice(core: &Core) -> String {
    if let Some(failing) = core.store.failing() {
        let cause = if failing.locked {
            "end the other program"
        } else {
            "free some disk space, or check the log for disk errors"
        };
        return format!("{cause}: recording resumes with the next successful write");
    }
    let without = if core.config.get().memory_required {
        "; `memory.required = false` lets devices be used without recording meanwhile"
    } else {
        ""
    };
    format!("`afctl backup list` shows the backups, `afctl backup restore` puts the newest in place{without}")
}

/// Time for which sizes on disk are cached, because reading the sizes of many files takes a while.
const SIZES_AGE: Duration = Duration::from_secs(5);

async fn sizes_on_disk(core: &Arc<Core>) -> OnDisk {
    let mut known = core.runtime.sizes.lock().await;
    if let Some((_, sizes)) = known.as_ref().filter(|(at, _)| at.elapsed() < SIZES_AGE) {
        return sizes.clone();
    }
    let own = core.clone();
    let sizes = run_blocking(move || sizes(&own)).await.unwrap_or_default();
    *known = Some((Instant::now(), sizes.clone()));
    sizes
}

fn sizes(core: &Core) -> OnDisk {
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |meta| meta.len());
    let (database, settings) = (core.database(), core.config.get());
    let backups = rescue::backups(&settings);
    let newest = backups.list().ok().and_then(|(list, _)| list.into_iter().next());
    OnDisk {
        database: size(&database),
        wal: size(&file::with_suffix(&database, "-wal")),
        artifacts: file::size_of_trees(std::slice::from_ref(&settings.artifacts.dir)),
        backups: backups.size(),
        last_backup_at: newest.map(|b| b.created_at),
    }
}

/// Implements `daemon.methods`.
pub fn methods() -> MethodList {
    let summary = |info: &'static MethodInfo| MethodSummary {
        name: info.name.to_owned(),
        summary: info.summary().to_owned(),
        effect: info.effect,
        takes: info.takes,
        request_key: info.takes_request_key(),
        errors: info.all_errors().collect(),
    };
    MethodList { methods: afd_proto::methods().map(summary).collect() }
}

impl Core {
    /// Re-reads the configuration file on a blocking thread. Returns the settings before and after.
    pub(super) async fn reload_settings(self: &Arc<Self>) -> Result<(Arc<Settings>, Arc<Settings>)> {
        let core = self.clone();
        Ok(run_blocking(move || core.config.reload()).await??)
    }
}

/// Implements `daemon.reload`.
///
/// # Errors
/// If the configuration file is invalid; nothing changes in that case.
pub async fn reload(core: &Arc<Core>) -> Result<ReloadResult> {
    // Serialises reloads, so that settings are applied in the order in which they were read.
    let _lock = core.locks.settings.lock().await;
    let (before, after) = core.reload_settings().await?;
    core.devices.set_adb(&after.adb);
    forwards::release_unused(&core.tasks, &before, &after);
    let changes = core.devices.apply(&after.devices);
    let restart_needed = waiting_for_restart(&after, core.store.path());
    // A change made through RPC also triggers the file watcher, which then finds nothing new to log.
    if before != after {
        core.recall.settings_changed();
        tracing::info!(added = ?changes.added, changed = ?changes.changed, removed = ?changes.removed, "settings reloaded");
    }
    Ok(ReloadResult {
        added: changes.added,
        changed: changes.changed,
        removed: changes.removed,
        warnings: after.warnings.clone(),
        restart_needed,
    })
}

/// Implements `daemon.shutdown`.
pub fn shutdown(runtime: &Runtime) -> ShutdownResult {
    tracing::info!("shutdown requested by a client");
    runtime.request_stop();
    ShutdownResult { stopping: true }
}
