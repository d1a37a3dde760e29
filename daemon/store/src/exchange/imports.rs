//! Accepted imports and their decisions. A resumed import starts at the beginning of its file. Records that are already
//! in the database change nothing, and the import keeps the decisions of the earlier run.

use std::collections::HashSet;

use rusqlite::Connection;

use super::super::sql::{Sql as _, args};
use crate::{Result, now_ms};

/// An import that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// Row id.
    pub id: i64,
    /// Name of the copy of the file in the directory of the database.
    pub file: String,
    /// Whether it may change existing sessions.
    pub merge: bool,
}

/// Inserts an accepted import.
///
/// # Errors
/// When the database cannot be written.
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
/// When the database cannot be read.
pub fn incomplete(connection: &Connection) -> Result<Vec<Import>> {
    connection.all("SELECT id, file, merge FROM imports ORDER BY id", [], |row| {
        Ok(Import { id: row.get("id")?, file: row.get("file")?, merge: row.get("merge")? })
    })
}

/// Deletes a completed import and its decisions.
///
/// # Errors
/// When the database cannot be written.
pub fn complete(connection: &Connection, import: i64) -> Result<()> {
    connection.run("DELETE FROM imports WHERE id = :id", args! {id: import})?;
    Ok(())
}

/// Stores the decision of an import to use the version in its file for a uid.
pub(super) fn choose(connection: &Connection, import: i64, uid: &str) -> Result<()> {
    connection.run(
        "INSERT OR IGNORE INTO import_choices (import_id, uid) VALUES (:import_id, :uid)",
        args! {import_id: import, uid},
    )?;
    Ok(())
}

/// Returns the uids for which an import decided to use the version in its file.
pub(super) fn choices(connection: &Connection, import: i64) -> Result<HashSet<String>> {
    connection.all("SELECT uid FROM import_choices WHERE import_id = :import_id", args! {import_id: import}, |row| {
        row.get("uid")
    })
}
