//! The `backup` commands.

use afd_proto::backup::{
    Backup as Entry, BackupCreate, BackupDelete, BackupList, BackupVerify, Backups, DeleteParams, Deleted, Restored,
    Verified, VerifyParams,
};
use afd_proto::vocabulary::NoParams;
use clap::Subcommand;
use serde_json::Value;

use super::{Call, Group};
use crate::dial::{self, Purpose};
use crate::human::{bytes, count, human, paint, parts, table};
use crate::options::Context;
use crate::outcome::Failure;

/// Backups of the memory.
#[derive(Debug, Subcommand)]
pub enum Backup {
    /// Copy the memory and its artifacts, and check the copy
    Create,
    /// List the backups, newest first
    List,
    /// Check that a backup can be restored
    Verify {
        /// Name of the backup [default: the newest]
        name: Option<String>,
    },
    /// Put a backup in the place of the memory; stops the daemon, and keeps what was there
    Restore {
        /// Name of the backup [default: the newest]
        name: Option<String>,
    },
    /// Delete a backup
    Delete {
        /// Name of the backup
        name: String,
    },
}

human! {
    BackupCreate => |b: &Entry| format!("{} {}\n", paint(parts::GOOD, "made"), line(b));
    BackupList => list;
    BackupVerify => verified;
    BackupDelete => |d: &Deleted| format!("{} {}\n", paint(parts::GOOD, "deleted"), d.name);
}

fn line(backup: &Entry) -> String {
    format!(
        "{}: database {}, {} ({})",
        backup.name,
        bytes(backup.database_bytes),
        count(backup.artifacts, "artifact"),
        bytes(backup.artifact_bytes)
    )
}

fn list(list: &Backups) -> String {
    let row = |b: &Entry| {
        let (database, artifacts) = (bytes(b.database_bytes), format!("{} ({})", b.artifacts, bytes(b.artifact_bytes)));
        [b.name.clone(), parts::time(b.created_at), b.reason.to_string(), database, artifacts, b.version.clone()]
    };
    let mut out = format!("{}\n", paint(parts::DIM, &format!("{}, {} on disk", list.dir, bytes(list.total_bytes))));
    out += &table(["name", "made", "reason", "database", "artifacts", "version"], list.backups.iter().map(row));
    for name in &list.unreadable {
        out += &format!("{} {name}\n", paint(parts::WARN, "no backup:"));
    }
    out
}

fn verified(v: &Verified) -> String {
    let good = format!(
        "{} {}: database and {} checked\n",
        paint(parts::GOOD, "good"),
        v.backup.name,
        count(v.artifacts_checked, "artifact")
    );
    good + &lost(v.artifacts_lost, &v.lost)
}

/// Lists artifacts of which a backup has no intact copy.
fn lost(total: u64, paths: &[String]) -> String {
    let lines: String = paths.iter().map(|path| format!("  {path}\n")).collect();
    let more = total.saturating_sub(paths.len() as u64);
    let more = if more > 0 { format!("  and {more} more\n") } else { String::new() };
    if total == 0 {
        String::new()
    } else {
        format!("{}\n{lines}{more}", paint(parts::WARN, "no intact copy of these artifacts:"))
    }
}

/// Stops the daemon and restores a backup. The next command starts the daemon again.
fn restore(context: &Context, name: Option<String>) -> Result<Value, Failure> {
    let option = name.as_ref().map_or_else(|| "--restore".to_owned(), |name| format!("--restore={name}"));
    // A daemon that runs says whether the backup is good before it is stopped.
    if let Ok(mut connection) = dial::connect(&context.global, Purpose::RunningOnly) {
        let known = connection.call_as::<BackupVerify>(&VerifyParams { name });
        known.map_err(|e| dial::failure(e, &context.global))?;
    }
    // Commands of others must not start the daemon in between.
    let lock = dial::start_lock(&context.global)?;
    dial::stop(&context.global)?;
    let restored = dial::run_once(&context.global, &option);
    drop(lock);
    restored.map_err(|failure| failure.with_hint("the memory is as it was; `afctl backup list` lists the backups"))
}

fn restored(data: &Value) -> Option<String> {
    let restored: Restored = serde_json::from_value(data.clone()).ok()?;
    let mut out = format!("{} {} into {}\n", paint(parts::GOOD, "restored"), line(&restored.backup), restored.database);
    if restored.artifacts > 0 {
        out += &format!("put back {}\n", count(restored.artifacts, "missing artifact"));
    }
    out += &lost(restored.artifacts_lost, &restored.lost);
    if let Some(dir) = restored.replaced {
        out += &format!("what was there is kept in {dir}\n");
    }
    Some(out)
}

impl Group for Backup {
    fn call(self, _: &Context) -> Call {
        match self {
            Backup::Create => Call::of::<BackupCreate>(NoParams {}),
            Backup::List => Call::of::<BackupList>(NoParams {}),
            Backup::Verify { name } => Call::of::<BackupVerify>(VerifyParams { name }),
            Backup::Restore { name } => {
                Call::local("backup", "restore", Some(restored), move |context| restore(context, name))
            }
            Backup::Delete { name } => Call::of::<BackupDelete>(DeleteParams { name }),
        }
    }
}
