//! The approximate number of entries.

use rusqlite::Connection;

use afd_store::Result;
use afd_store::Sql as _;

/// Returns the largest row id of an entry, which approximates the number of entries; 0 if there are none.
pub fn last_id(connection: &Connection) -> Result<i64> {
    connection.one("SELECT coalesce(max(id), 0) AS last FROM entries", [], |row| row.get("last"))
}
