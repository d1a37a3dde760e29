//! Accepted imports and their decisions. A resumed import starts at the beginning of its file: records that are in the
//! database already change nothing, and it keeps the decisions of the earlier run.

use std::collections::HashSet;

use rusqlite::{Connection, named_params};

use crate::{Result, now_ms};

/// An import that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// Row id.
    pub id: i64,
    /// Name of the copy of the file in the directory of the database.
    pub file: String,
    /// Whether it may change sessions that were here before.
    pub merge: bool,
}

/// Inserts an accepted import.
///
/// # Errors
/// When the database cannot be written.
pub fn accept(connection: &Connection, file: &str, merge: bool) -> Result<Import> {
    let id = connection
        .prepare_cached("INSERT INTO imports (file, merge, created_at) VALUES (:file, :merge, :now) RETURNING id")?
        .query_row(named_params! {":file": file, ":merge": merge, ":now": now_ms()}, |row| row.get("id"))?;
    Ok(Import { id, file: file.to_owned(), merge })
}

/// Returns the imports that are not complete, oldest first.
///
/// # Errors
/// When the database cannot be read.
pub fn incomplete(connection: &Connection) -> Result<Vec<Import>> {
    let mut statement = connection.prepare_cached("SELECT id, file, merge FROM imports ORDER BY id")?;
    let found = statement
        .query_map([], |row| Ok(Import { id: row.get("id")?, file: row.get("file")?, merge: row.get("merge")? }))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Deletes a completed import and its decisions.
///
/// # Errors
/// When the database cannot be written.
pub fn complete(connection: &Connection, import: i64) -> Result<()> {
    connection.prepare_cached("DELETE FROM imports WHERE id = :id")?.execute(named_params! {":id": import})?;
    Ok(())
}

/// Stores a decision of an import in favour of its file.
pub(super) fn choose(connection: &Connection, import: i64, uid: &str) -> Result<()> {
    connection
        .prepare_cached("INSERT OR IGNORE INTO import_choices (import_id, uid) VALUES (:import_id, :uid)")?
        .execute(named_params! {":import_id": import, ":uid": uid})?;
    Ok(())
}

/// Returns the decisions of an import.
pub(super) fn choices(connection: &Connection, import: i64) -> Result<HashSet<String>> {
    let mut statement = connection.prepare_cached("SELECT uid FROM import_choices WHERE import_id = :import_id")?;
    let found = statement.query_map(named_params! {":import_id": import}, |row| row.get("uid"))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
