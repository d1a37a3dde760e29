//! The location of backups, and the automatic backup when the content of the database is at risk.

use afd_proto::backup::{Backup, BackupReason};

use afd_base::config::Settings;
use afd_store::backup::{ArtifactFiles, Backups, Stored};
use afd_store::{self as store, Connection, Risk, artifact, now_ms};

/// Reads the paths and hashes of the artifact files that a database refers to.
fn files_of(connection: &Connection) -> store::Result<Vec<Stored>> {
    Ok(artifact::stored(connection)?.into_iter().map(|(path, hash)| Stored { path, hash }).collect())
}

/// Returns the backups of the configured memory.
pub(in crate::app) fn backups(settings: &Settings) -> Backups {
    let artifacts = ArtifactFiles { root: settings.artifacts.dir.clone(), of: files_of, re_root: artifact::re_root };
    Backups::new(settings.backup.dir.clone(), artifacts)
}

/// Returns a callback that makes a backup when the content of the database is at risk. It logs failures.
pub(in crate::app) fn rescue(settings: &Settings) -> impl Fn(&Connection, Risk) + Send + 'static {
    let (backups, database) = (backups(settings), settings.database.clone());
    move |connection, risk| {
        let reason = match risk {
            Risk::Migration => BackupReason::Migration,
            Risk::Gone => BackupReason::Rescue,
        };
        if risk == Risk::Migration && has_recent(&backups, connection) {
            return;
        }
        match backups.create(connection, &database, reason) {
            Ok(backup) => tracing::warn!(name = backup.name, %reason, "made a backup"),
            Err(error) => tracing::error!(%error, %reason, "cannot make a backup"),
        }
    }
}

/// Returns whether the newest backup was made before the same migration, within a day. A daemon that restarts
/// repeatedly because its migration fails must not fill the disk.
fn has_recent(backups: &Backups, connection: &Connection) -> bool {
    let schema = store::schema_of(connection).ok();
    let same = |b: &Backup| {
        b.reason == BackupReason::Migration && Some(b.schema) == schema && now_ms() - b.created_at < RECENT_MS
    };
    backups.find(None).is_ok_and(|newest| same(&newest))
}

/// Time within which one backup before a migration is enough, in milliseconds.
const RECENT_MS: i64 = 86_400_000;
