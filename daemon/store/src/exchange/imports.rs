//! Accepted imports, and the decisions that each has made so far. An interrupted import is resumed from the beginning
//! of its file: records that are already in the database change nothing, and earlier decisions still apply.

use std::collections::HashSet;

use rusqlite::Connection;

use super::super::sql::{Sql as _, args};
use crate::{Result, now_ms};

/// An import that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// Row id of the import.
    pub id: i64,
    /// File name of the copy of the imported file. The copy is in the database's directory.
    pub file: String,
    /// Whether the import may change existing sessions.
    pub merge: bool,
}

/// Inserts the row for an accepted import.
///
/// # Errors
/// If the database cannot be written.
pub fn accept(connection: &Connection, file: &str, merge: bool) -> Result<Import> {
    let id = connection.one(
        "INSERT INTO imports (file, merge, created_at) VALUES (:file, :merge, :now) RETURNING id",
        args! {file, merge, now: now_ms()},
        |row| row.get("id"),
    )?;
    Ok(Import { id, file: file.to_owned(), merge })
}

/// Returns the imports that are not complete, oldest first.
///
/// # Errors
/// If the database cannot be read.
pub fn incomplete(connection: &Connection) -> Result<Vec<Import>> {
    connection.all("SELECT id, file, merge FROM imports ORDER BY id", [], |row| {
        Ok(Import { id: row.get("id")?, file: row.get("file")?, merge: row.get("merge")? })
    })
}

/// Deletes a completed import and its decisions.
///
/// # Errors
/// If the database cannot be written.
pub fn complete(connection: &Connection, import: i64) -> Result<()> {
    connection.run("DELETE FROM imports WHERE id = :id", args! {id: import})?;
    Ok(())
}

/// Records that an import uses the version from its file for the record with this uid.
pub(super) fn choose(connection: &Connection, import: i64, uid: &str) -> Result<()> {
    connection.run(
        "INSERT OR IGNORE INTO import_choices (import_id, uid) VALUES (:import_id, :uid)",
        args! {import_id: import, uid},
    )?;
    Ok(())
}

/// Returns the uids of the records for which an import uses the version from its file.
pub(super) fn choices(connection: &Connection, import: i64) -> Result<HashSet<String>> {
    connection.all("SELECT uid FROM import_choices WHERE import_id = :import_id", args! {import_id: import}, |row| {
        row.get("uid")
    })
}
