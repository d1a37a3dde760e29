//! `daemon.doctor`: checks of the daemon and its dependencies.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use afd_proto::daemon::TaskState;
use afd_proto::doctor::{DaemonDoctor, Diagnosis, Finding, Level};
use futures_util::future::join_all;
use tokio::time::timeout;

use super::backups;
use crate::app::{Core, Methods, recall};
use afd_base::file::{TEMP_PREFIX, with_suffix};
use afd_base::task::{Tasks, run_blocking};
use afd_device::{Device, DriverError};
use afd_experience::memory;
use afd_store::{Store, now_ms};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<DaemonDoctor, _, _>(|core, _| async move { Ok(examine(&core).await) });
}

/// Maximum time for a device to respond.
const DEVICE_TIMEOUT: Duration = Duration::from_secs(10);
/// Free space below which a warning is given, in bytes.
const LOW_SPACE: u64 = 1 << 30;
/// Free space below which writes are about to fail, in bytes.
const NO_SPACE: u64 = 50 << 20;
/// Size of the write-ahead log above which something probably prevents checkpoints, in bytes.
const LARGE_WAL: u64 = 512 << 20;
/// Age above which a temporary file counts as abandoned.
const LEFT_AFTER: Duration = Duration::from_secs(3600);
/// Time by which the clock may be behind the newest recorded time before it counts as wrong, in milliseconds.
const CLOCK_SLACK_MS: i64 = 60_000;

fn finding(check: impl Into<String>, level: Level, message: impl Into<String>, advice: Option<&str>) -> Finding {
    Finding { check: check.into(), level, message: message.into(), advice: advice.map(str::to_owned) }
}

fn good(check: &str, message: impl Into<String>) -> Finding {
    finding(check, Level::Ok, message, None)
}

/// Implements `daemon.doctor`.
pub async fn examine(core: &Arc<Core>) -> Diagnosis {
    let own = core.clone();
    let on_disk = run_blocking(move || {
        let mut found = disk(&own);
        found.push(settings(&own));
        found.extend(leftovers(&own));
        found
    });
    let devices = core.devices.list();
    let (database, clock, on_disk, recall, devices) = tokio::join!(
        database(core),
        clock(&core.store),
        on_disk,
        recall::examine(core),
        join_all(devices.iter().map(device_works))
    );
    let mut findings = database;
    findings.push(backup(core).await);
    findings.extend(on_disk.unwrap_or_default());
    findings.extend(clock);
    findings.extend(tasks(&core.tasks));
    findings.extend(recall.into_iter().map(|(check, found)| match found {
        Ok(message) => good(check, message),
        Err(error) => finding(
            check,
            Level::Error,
            error,
            Some("`afctl recall status` shows what waits; `afctl config list` the settings"),
        ),
    }));
    if devices.is_empty() {
        findings.push(finding("devices", Level::Warning, "none is configured", Some("`afctl init` adds one")));
    }
    findings.extend(devices);
    Diagnosis { ok: findings.iter().all(|f| f.level != Level::Error), findings }
}

async fn database(core: &Arc<Core>) -> Vec<Finding> {
    let path = core.database().display().to_string();
    let restore = "`afctl backup restore` replaces it with the newest backup, and keeps the old file";
    if let Some(damage) = core.damage() {
        return vec![finding("database", Level::Error, format!("{path}: {damage}"), Some(restore))];
    }
    let mut found = match core.store.check().await {
        Ok(None) => vec![good("database", format!("{path} is intact"))],
        Ok(Some(damage)) => vec![finding("database", Level::Error, format!("{path}: {damage}"), Some(restore))],
        Err(error) => vec![finding(
            "database",
            Level::Error,
            format!("{path}: {error}"),
            Some("check the file and its directory"),
        )],
    };
    // A write detects a full disk, a deleted file, and a writer that is stuck.
    match timeout(DEVICE_TIMEOUT, core.store.flush()).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            found.push(finding("database", Level::Error, format!("cannot be written: {error}"), Some(restore)))
        }
        Err(_) => found.push(finding(
            "database",
            Level::Warning,
            "a write has been under way for 10 s",
            Some("`afctl job list` shows what runs"),
        )),
    }
    found
}

async fn backup(core: &Core) -> Finding {
    let settings = core.config.get().backup.clone();
    let list = match backups::list(&core.config).await {
        Ok(list) => list,
        Err(error) => {
            return finding(
                "backups",
                Level::Error,
                error.to_string(),
                Some("correct the directory in the setting `backup.dir`"),
            );
        }
    };
    let Some(newest) = list.backups.first() else {
        return finding("backups", Level::Warning, "there are none yet", Some("`afctl backup create` makes one"));
    };
    let age = Duration::from_millis(u64::try_from(now_ms() - newest.created_at).unwrap_or_default());
    let hours = age.as_secs() / 3600;
    if settings.every.is_some_and(|every| age > every * 2 + LEFT_AFTER) {
        let advice = "`afctl job run backup` makes one, or reports why it cannot";
        return finding("backups", Level::Warning, format!("the newest is {hours} h old"), Some(advice));
    }
    if !list.unreadable.is_empty() {
        let message = format!("these files in {} are not backups: {}", list.dir, list.unreadable.join(", "));
        return finding("backups", Level::Warning, message, Some("remove them, or move them elsewhere"));
    }
    good("backups", format!("{}, the newest {} ({hours} h old)", list.backups.len(), newest.name))
}

/// Returns the nearest existing ancestor of a path, or the path itself if it exists.
fn existing(path: &Path) -> PathBuf {
    path.ancestors().find(|p| p.exists()).unwrap_or(Path::new("/")).to_owned()
}

/// Returns a finding if no file can be created in a directory.
fn unwritable(what: &str, dir: &Path) -> Option<Finding> {
    let error = tempfile::Builder::new().prefix(TEMP_PREFIX).tempfile_in(dir).err()?;
    let message = format!("nothing can be written in {}: {error}", dir.display());
    let advice = "correct its permissions, or choose another directory; `afctl config list` shows the settings";
    Some(finding(format!("directory of {what}"), Level::Error, message, Some(advice)))
}

fn disk(core: &Core) -> Vec<Finding> {
    let settings = core.config.get();
    let database = core.database();
    let mut found = Vec::new();
    let mut seen = Vec::new();
    for (what, dir) in [
        ("database", existing(database.parent().unwrap_or(&database))),
        ("artifacts", existing(&settings.artifacts.dir)),
        ("backups", existing(&settings.backup.dir)),
    ] {
        found.extend(unwritable(what, &dir));
        let disk = std::fs::metadata(&dir).map(|meta| meta.dev()).ok();
        if seen.contains(&disk) {
            continue;
        }
        seen.push(disk);
        let name = format!("disk of {what}");
        let advice = Some("free some space; `afctl status` shows how much each part uses");
        match rustix::fs::statvfs(&dir) {
            Err(error) => found.push(finding(name, Level::Warning, format!("{}: {error}", dir.display()), None)),
            Ok(disk) => {
                let free = disk.f_bavail.saturating_mul(disk.f_frsize);
                let message = format!("{} MiB free in {}", free >> 20, dir.display());
                let level = if free < NO_SPACE { Level::Error } else { Level::Warning };
                found.push(if free < LOW_SPACE { finding(name, level, message, advice) } else { good(&name, message) });
            }
        }
    }
    let size = std::fs::metadata(with_suffix(&database, "-wal")).map_or(0, |meta| meta.len());
    if size > LARGE_WAL {
        let message = format!("the write-ahead log has {} MiB", size >> 20);
        found.push(finding("database", Level::Warning, message, Some("`afctl daemon restart` empties it")));
    }
    found
}

fn settings(core: &Core) -> Finding {
    let path = core.config.path();
    let (warnings, file) = (core.config.get().warnings.clone(), path.display());
    if let Some(error) = core.config.error() {
        return finding(
            "settings",
            Level::Error,
            error,
            Some("fix the file; the previous settings stay in effect until then"),
        );
    }
    if !warnings.is_empty() {
        let message = format!("{file} has unknown settings: {}", warnings.join(", "));
        return finding("settings", Level::Warning, message, Some("`afctl config list` lists those that exist"));
    }
    let silent = core
        .config
        .get()
        .devices
        .iter()
        .find(|(_, d)| d.token_file.is_some() && d.token.is_none())
        .map(|(name, _)| name.clone());
    if let Some(name) = silent {
        let message = format!("the file that device.{name}.token_file names cannot be read, or holds no token");
        return finding("settings", Level::Error, message, Some("the log has the path that was tried"));
    }
    let mode = std::fs::metadata(path).map_or(0, |meta| meta.mode());
    if mode & 0o077 != 0 && core.config.get().devices.values().any(|device| device.token.is_some()) {
        let message = format!("{file} holds tokens, and others may read it (mode {:o})", mode & 0o777);
        return finding("settings", Level::Warning, message, Some("`chmod 600` it"));
    }
    good(
        "settings",
        if path.exists() { format!("{file} is valid") } else { format!("{file} does not exist; the defaults apply") },
    )
}

/// Finds temporary files that a killed daemon left behind.
fn leftovers(core: &Core) -> Option<Finding> {
    let settings = core.config.get();
    let database = core.database();
    let old = |path: &Path| {
        let changed = std::fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok();
        changed.is_some_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > LEFT_AFTER))
    };
    let mut left = Vec::new();
    for dir in
        [database.parent().map(Path::to_owned), Some(settings.artifacts.dir.clone()), Some(settings.backup.dir.clone())]
            .into_iter()
            .flatten()
    {
        let entries = std::fs::read_dir(&dir).into_iter().flatten().flatten();
        left.extend(
            entries
                .filter(|e| e.file_name().to_string_lossy().starts_with(TEMP_PREFIX))
                .map(|e| e.path())
                .filter(|p| old(p)),
        );
    }
    let first = left.first()?.display().to_string();
    let message = format!("{} temporary files of a daemon that was killed, such as {first}", left.len());
    Some(finding("leftovers", Level::Warning, message, Some("delete them")))
}

async fn clock(store: &Store) -> Option<Finding> {
    let newest = store.read(memory::newest_at).await.ok().flatten()?;
    let ahead = newest - now_ms();
    (ahead > CLOCK_SLACK_MS).then(|| {
        let message = format!("it is {} s behind the newest recorded time", ahead / 1000);
        finding("clock", Level::Warning, message, Some("set the clock: times, ages and limits depend on it"))
    })
}

fn tasks(tasks: &Tasks) -> Vec<Finding> {
    let failed = tasks.list().into_iter().filter(|task| task.restarts > 0 || task.state == TaskState::Restarting);
    let found = failed.map(|task| {
        let message = format!(
            "{} failed {} times, the last time with: {}",
            task.name,
            task.restarts,
            task.last_error.unwrap_or_default()
        );
        finding("tasks", Level::Warning, message, Some("this is a bug in afd: please report it with the log"))
    });
    found.collect()
}

async fn device_works(device: &Arc<Device>) -> Finding {
    let check = format!("device {}", device.name());
    let work = async {
        let health = device.health().await?;
        let reading = device.tree(None)?.answer().await;
        Ok::<_, DriverError>((health, reading?.value.place_advice))
    };
    match timeout(DEVICE_TIMEOUT, work).await {
        Err(_) => finding(
            check,
            Level::Error,
            "no answer within 10 s",
            Some("check whether another call holds it: `afctl status`"),
        ),
        Ok(Ok((_, Some(advice)))) => {
            let message = format!("{} answers, but it cannot tell which page is in front", device.url());
            finding(check, Level::Warning, message, Some(advice))
        }
        Ok(Ok(_)) => {
            let typing = device.typing().map(|typing| format!("; {typing}")).unwrap_or_default();
            good(&check, format!("{} answers, and its screen can be read{typing}", device.url()))
        }
        Ok(Err(error)) => {
            let advice = error.advice().replace("device.NAME.", &format!("device.{}.", device.name()));
            finding(check, Level::Error, error.to_string(), Some(&advice))
        }
    }
}
