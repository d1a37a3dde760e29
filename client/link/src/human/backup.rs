//! Renders the results of the `backup` commands.

use afd_proto::backup::{
    Backup as Entry, BackupCreate, BackupDelete, BackupList, BackupVerify, Backups, Deleted, Restored, Verified,
};
use serde_json::Value;

use super::parts::{self, bytes, count, paint, table};
use super::render::human;

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

/// Renders the list of artifacts without an intact copy in the backup.
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

/// Renders the result of `backup restore`. Returns `None` if `data` is not such a result.
pub fn restored(data: &Value) -> Option<String> {
    let restored: Restored = serde_json::from_value(data.clone()).ok()?;
    let mut out = format!("{} {} into {}\n", paint(parts::GOOD, "restored"), line(&restored.backup), restored.database);
    if restored.artifacts > 0 {
        out += &format!("put back {}\n", count(restored.artifacts, "missing artifact"));
    }
    out += &lost(restored.artifacts_lost, &restored.lost);
    if let Some(dir) = restored.replaced {
        out += &format!("the replaced database is kept in {dir}\n");
    }
    Some(out)
}
