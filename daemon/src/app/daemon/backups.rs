//! `backup.*`, and automatic backups.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::backup::{
    Backup, BackupCreate, BackupDelete, BackupList, BackupReason, BackupVerify, Backups as BackupsFound, DeleteParams,
    Deleted, Verified, VerifyParams,
};

use super::rescue;
use crate::app::memory::transfer;
use crate::app::{Core, Error, Methods, Result};
use afd_base::config::{Config, Settings};
use afd_base::task::run_blocking;
use afd_store::backup::{BackupError, Backups};
use afd_store::job::Outcome;
use afd_store::now_ms;

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<BackupCreate, _, _>(|core, _| async move { create(&core).await });
    methods.add::<BackupList, _, _>(|core, _| async move { list(&core.config).await });
    methods.add::<BackupVerify, _, _>(|core, p| async move { verify(&core.config, p).await });
    methods.add::<BackupDelete, _, _>(|core, p| async move { delete(&core.config, p).await });
}

/// Name of the job that makes scheduled backups.
pub(in crate::app) const BACKUP_JOB: &str = "backup";

impl From<BackupError> for Error {
    fn from(error: BackupError) -> Self {
        let message = error.to_string();
        match error {
            BackupError::NotFound(_) => {
                Self::new(ErrorCode::NotFound, message).hint("`afctl backup list` lists the backups")
            }
            BackupError::Full(_) => Self::new(ErrorCode::StoreFull, message)
                .hint("free some disk space, delete a backup, or set `backup.dir` to another disk"),
            BackupError::Damaged { .. } => Self::new(ErrorCode::StoreUnavailable, message)
                .hint("`afctl backup list` lists the other backups; `afctl doctor` checks the memory"),
            BackupError::Unreadable { .. } | BackupError::Io { .. } => {
                Self::new(ErrorCode::StoreUnavailable, message).hint("check the directory in the setting `backup.dir`")
            }
            BackupError::Store(error) => error.into(),
        }
    }
}

/// Makes a backup of the current memory. If the backup fails because the database seems to be damaged, the database is
/// checked.
async fn make(core: &Arc<Core>, reason: BackupReason) -> Result<Backup> {
    if let Some(damage) = core.substitute.as_ref().and_then(|_| core.damage()) {
        return Err(Error::new(ErrorCode::StoreUnavailable, format!("there is no memory to copy: {damage}"))
            .hint("`afctl backup restore` repairs it from the newest backup"));
    }
    // A backup must never contain a partial import.
    let _turn = transfer::whole(core).await?;
    let (backups, database) = (rescue::backups(&core.config.get()), core.store.path().to_owned());
    let made = core.store.read_all(move |c| Ok(backups.create(c, &database, reason))).await?;
    if matches!(made, Err(BackupError::Damaged { .. })) {
        core.store.check().await?;
    }
    Ok(made?)
}

/// Implements `backup.create`.
///
/// # Errors
/// If the backup cannot be written, or if the database is damaged.
pub async fn create(core: &Arc<Core>) -> Result<Backup> {
    let own = core.clone();
    core.finish(async move { make(&own, BackupReason::Request).await }).await?
}

/// Runs work with the configured backups on a blocking thread.
async fn on<T: Send + 'static>(
    config: &Config,
    work: impl FnOnce(&Backups) -> afd_store::backup::Result<T> + Send + 'static,
) -> Result<T> {
    let backups = rescue::backups(&config.get());
    Ok(run_blocking(move || work(&backups)).await??)
}

/// Implements `backup.list`.
///
/// # Errors
/// If the backup directory cannot be read.
pub async fn list(config: &Config) -> Result<BackupsFound> {
    on(config, |backups| {
        let (list, unreadable) = backups.list()?;
        Ok(BackupsFound {
            dir: backups.dir().display().to_string(),
            backups: list,
            unreadable,
            total_bytes: backups.size(),
        })
    })
    .await
}

/// Implements `backup.verify`.
///
/// # Errors
/// If there is no such backup, or if it is damaged.
pub async fn verify(config: &Config, params: VerifyParams) -> Result<Verified> {
    on(config, move |backups| backups.verify(params.name.as_deref())).await
}

/// Implements `backup.delete`.
///
/// # Errors
/// If there is no such backup.
pub async fn delete(config: &Config, params: DeleteParams) -> Result<Deleted> {
    on(config, move |backups| backups.delete(&params.name).map(|()| Deleted { name: params.name })).await
}

/// Makes a backup if one is due, and deletes old ones.
pub(in crate::app) async fn run_job(core: &Arc<Core>) -> Outcome {
    let settings = core.config.get().backup.clone();
    let Some(every) = settings.every else { return Ok("switched off by `backup.every_hours`".to_owned()) };
    let newest = on(&core.config, |backups| backups.list()).await?.0.into_iter().next();
    let age = newest
        .map_or(Duration::MAX, |b| Duration::from_millis(u64::try_from(now_ms() - b.created_at).unwrap_or_default()));
    if age < every {
        return Ok("not due".to_owned());
    }
    let made = make(core, BackupReason::Schedule).await?;
    let gone = on(&core.config, move |backups| backups.prune(settings.keep, settings.max_bytes)).await?;
    Ok(format!("made {}, deleted {}", made.name, gone.len()))
}

/// Returns the names of the backups that contain data recorded at `recorded_at` (Unix milliseconds), newest first. The
/// list is empty if the directory cannot be read.
pub(in crate::app) async fn holding(config: &Config, recorded_at: i64) -> Vec<String> {
    let (all, _) = on(config, |backups| backups.list()).await.unwrap_or_default();
    all.into_iter().filter(|b| b.created_at >= recorded_at).map(|b| b.name).collect()
}

pub use afd_store::backup::restore::{finish as finish_restore, is_pending as is_restore_pending};

/// Removes the files of interrupted backups and restores. The caller must hold the database locks.
pub fn remove_unfinished(settings: &Settings) {
    rescue::backups(settings).remove_unfinished(&settings.database);
    afd_store::backup::restore::remove_unfinished(&settings.database);
}

/// Restores a backup into a database that no process has open.
///
/// # Errors
/// A [`BackupError`] if the backup cannot be restored; the database then stays as it was.
pub fn restore(
    settings: &Settings,
    name: Option<&str>,
    database: &Path,
) -> afd_store::backup::Result<afd_proto::backup::Restored> {
    afd_store::backup::restore::restore(&rescue::backups(settings), name, database)
}
