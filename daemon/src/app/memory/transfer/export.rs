//! Implements `memory.export`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use afd_proto::upkeep::{ExportParams, Exported};
use serde_json::{Value, json};

use super::kinds::{self, END, SCOPE, Subject};
use super::whole;
use crate::app::checks::absolute;
use crate::app::session::lines::{LINES_FORMAT, LINES_VERSION};
use crate::app::{Core, Error, Result};
use afd_base::file;
use afd_experience::visual;
use afd_store::exchange::{Record, dump_kind};
use afd_store::{Connection, SCHEMA};

/// Implements `memory.export`.
///
/// # Errors
/// If the file cannot be written or belongs to the daemon.
pub async fn export(core: &Arc<Core>, params: &ExportParams) -> Result<Exported> {
    let path = absolute("file", &params.file)?;
    if core.is_daemon_file(&path).await? {
        return Err(Error::param("file", "a file that does not belong to the daemon", path.display()));
    }
    if std::fs::symlink_metadata(&path).is_ok_and(|meta| !meta.is_file() && !meta.is_symlink()) {
        return Err(Error::param("file", "a regular file, or a new one", path.display()));
    }
    // An export must never contain a partial import.
    let _turn = whole(core).await?;
    let target = path.clone();
    let written = core.store.read_all(move |c| {
        let mut records = BTreeMap::new();
        let done = file::replace_with(&target, |out| write(c, out, &mut records));
        Ok(done.map(|bytes| (bytes, records)))
    });
    let (bytes, records) = written.await?.map_err(|error| Error::param("file", "a writable file", error))?;
    Ok(Exported { file: path.display().to_string(), records, bytes })
}

fn write(connection: &Connection, out: &mut dyn Write, records: &mut BTreeMap<String, u64>) -> io::Result<()> {
    let header = json!({"format": LINES_FORMAT, "version": LINES_VERSION, "schema": SCHEMA, "scope": SCOPE});
    writeln!(out, "{header}")?;
    for (subject, kind) in kinds::all() {
        let (mut count, mut failure) = (0, None);
        let each = |record: Record| {
            count += 1;
            if failure.is_none() {
                failure = writeln!(out, "{}", Value::Object(record)).err();
            }
        };
        let dumped = match subject {
            Subject::Visual => visual::transfer::dump(connection, &kind, each),
            _ => dump_kind(connection, &kind, each),
        };
        dumped.map_err(io::Error::other)?;
        failure.map_or(Ok(()), Err)?;
        if count > 0 {
            records.insert(kind.name.to_owned(), count);
        }
    }
    writeln!(out, "{}", json!({"type": END, "records": records.values().sum::<u64>()}))
}
