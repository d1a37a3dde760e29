//! How many entries there are.

use rusqlite::Connection;

use afd_store::Result;

/// Returns the largest row id of an entry, which is about how many there are; 0 if there is none.
pub fn last_id(connection: &Connection) -> Result<i64> {
    Ok(connection
        .prepare_cached("SELECT coalesce(max(id), 0) AS last FROM entries")?
        .query_row([], |row| row.get("last"))?)
}
