//! Copies a database while it is in use, and checks copies.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::{Result, SCHEMA, StoreError, migrate, schema_of};

/// Copies a consistent snapshot of a connection's database to a new file. Writes can continue while the copy is made.
/// The copy is a single file, without a write-ahead log.
///
/// # Errors
/// If the copy cannot be written.
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

/// Opens a temporary copy and begins a transaction, which fails once `stop` is set. Writes to the copy do not survive a
/// crash.
///
/// # Errors
/// If the copy cannot be opened.
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
/// `Damaged`, with a description of the first fault, or `TooNew` if the schema is newer than this version supports.
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
/// The errors of [`open_copy`], and `Damaged` if a table or the schema version is missing.
pub fn open_foreign(path: &Path) -> Result<(Connection, u32)> {
    let (connection, schema) = open_copy(path)?;
    match migrate::foreign(&connection, schema)? {
        Some(why) => Err(StoreError::Damaged(format!("it is no memory of afd: {why}"))),
        None => Ok((connection, schema)),
    }
}

/// Returns a description of the first fault in a database's tables and indexes; `None` if there is none.
///
/// # Errors
/// If the database cannot be read at all.
pub(super) fn integrity(connection: &Connection) -> Result<Option<String>> {
    let found = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>("integrity_check"))?;
    Ok((found != "ok").then_some(found))
}
