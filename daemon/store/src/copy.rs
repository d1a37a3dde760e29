//! Makes online copies of a database, and checks copies.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::{Result, SCHEMA, StoreError, migrate, schema_of};

/// Copies a consistent snapshot of the database of a connection to a new file. Writes continue meanwhile. The copy is a
/// single file, without a write-ahead log.
///
/// # Errors
/// When the copy cannot be written.
pub fn copy(from: &Connection, to: &Path) -> Result<()> {
    let mut target = Connection::open(to)?;
    let copied = Backup::new(from, &mut target)?.step(-1)?;
    if !matches!(copied, StepResult::Done) {
        return Err(StoreError::Unavailable("the database is busy".to_owned()));
    }
    target.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
    target.close().map_err(|(_, error)| error)?;
    sync(to)
}

/// Opens a temporary copy and begins a transaction, which fails once `stop` is set. Its writes do not survive a crash.
///
/// # Errors
/// When it cannot be opened.
pub fn open_scratch(path: &Path, stop: Arc<AtomicBool>) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.progress_handler(10_000, Some(move || stop.load(Ordering::Relaxed)))?;
    super::connections::prepare(&connection)?;
    connection
        .execute_batch("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA secure_delete = OFF; BEGIN")?;
    Ok(connection)
}

fn sync(path: &Path) -> Result<()> {
    let synced = std::fs::File::open(path).and_then(|file| file.sync_all());
    synced.map_err(|e| StoreError::Unavailable(format!("cannot sync {}: {e}", path.display())))
}

/// Opens a copy for reading and checks the integrity of its tables and indexes. Returns the connection and its schema
/// version.
///
/// # Errors
/// `Damaged` with the first fault, `TooNew` for a schema of a newer version.
pub fn open_copy(path: &Path) -> Result<(Connection, u32)> {
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    if let Some(fault) = integrity(&connection)? {
        return Err(StoreError::Damaged(fault));
    }
    let schema = schema_of(&connection)?;
    if schema > SCHEMA {
        return Err(StoreError::TooNew { found: schema, known: SCHEMA });
    }
    Ok((connection, schema))
}

/// Like [`open_copy`], for a copy from an untrusted source: also checks that it has the tables of its schema version.
///
/// # Errors
/// Those of [`open_copy`]; `Damaged` if a table is missing or there is no schema version.
pub fn open_foreign(path: &Path) -> Result<(Connection, u32)> {
    let (connection, schema) = open_copy(path)?;
    match migrate::foreign(&connection, schema)? {
        Some(why) => Err(StoreError::Damaged(format!("it is no memory of afd: {why}"))),
        None => Ok((connection, schema)),
    }
}

/// Returns the first fault of the tables and indexes of a database; `None` if there is none.
///
/// # Errors
/// When it cannot be read at all.
pub(super) fn integrity(connection: &Connection) -> Result<Option<String>> {
    let found = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>("integrity_check"))?;
    Ok((found != "ok").then_some(found))
}
