//! How many entries there are.

use rusqlite::Connection;

use afd_store::Result;
use afd_store::Sql as _;

/// Returns the largest row id of an entry, which is about how many there are; 0 if there is none.
pub fn last_id(connection: &Connection) -> Result<i64> {
    connection.one("SELECT coalesce(max(id), 0) AS last FROM entries", [], |row| row.get("last"))
}
