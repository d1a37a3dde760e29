//! Sessions: who works on what. They appear by use.

use rusqlite::Connection;

use crate::store::{Result, new_uid, now_ms};

/// The row of a session; made when it is first used.
///
/// # Errors
/// What SQLite says.
pub fn row_id(connection: &Connection, origin: &str, name: &str) -> Result<i64> {
    let now = now_ms();
    Ok(connection
        .prepare_cached(
            "INSERT INTO sessions (uid, origin, name, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?4)
             ON CONFLICT (name) DO UPDATE SET deleted_at = NULL RETURNING id",
        )?
        .query_row((new_uid(), origin, name, now), |row| row.get(0))?)
}

/// The row of a session that is known, without making one.
///
/// # Errors
/// What SQLite says.
pub fn find(connection: &Connection, name: &str) -> Result<Option<i64>> {
    use rusqlite::OptionalExtension;
    Ok(connection.prepare_cached("SELECT id FROM sessions WHERE name = ?1")?.query_row([name], |row| row.get(0)).optional()?)
}
