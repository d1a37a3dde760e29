//! `daemon.*`: version, status, reload and shutdown.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use afd_proto::MethodInfo;
use afd_proto::daemon::{MethodList, MethodSummary, ReloadResult, ShutdownResult, Status, StoreStatus, Version};

use super::{Core, Result, forwards};
use crate::config;
use crate::config::Settings;
use crate::store::SCHEMA;
use crate::task::run_blocking;

/// `daemon.version`
pub fn version(core: &Core) -> Version {
    Version {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: afd_proto::PROTOCOL,
        capabilities: afd_proto::CAPABILITIES.iter().map(|c| (*c).to_owned()).collect(),
        pid: std::process::id(),
        started_at: core.runtime.started_at,
    }
}

/// `daemon.status`
pub fn status(core: &Core) -> Status {
    let damage = core.store.damage();
    Status {
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        uptime_ms: u64::try_from(core.runtime.uptime().as_millis()).unwrap_or(u64::MAX),
        socket: core.config.socket().display().to_string(),
        database: core.store.path().display().to_string(),
        config: core.config.path().display().to_string(),
        connections: core.runtime.connections.load(Ordering::SeqCst),
        calls_in_flight: core.runtime.in_flight(),
        devices: core.devices.list().iter().map(|d| d.info()).collect(),
        store: StoreStatus {
            writable: damage.is_none(),
            damage,
            size_bytes: std::fs::metadata(core.store.path()).map_or(0, |m| m.len()),
            schema: SCHEMA,
            pending_writes: core.store.pending(),
        },
        tasks: core.tasks.list(),
        config_error: core.config.error(),
        config_warnings: core.config.get().warnings.clone(),
    }
}

/// `daemon.methods`
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

/// `daemon.reload`
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
    let restart_needed = config::keys::waiting_for_restart(&after, core.store.path());
    // A change made through RPC also triggers the file watcher, which then finds nothing new to log.
    if before != after {
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

/// `daemon.shutdown`
pub fn shutdown(core: &Core) -> ShutdownResult {
    tracing::info!("shutdown requested by a client");
    core.runtime.request_stop();
    ShutdownResult { stopping: true }
}
