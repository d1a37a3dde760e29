//! The modification time of a session.

use rusqlite::Connection;

use afd_store::{Result, Sql as _, args, now_ms};

/// Sets the modification time of a session to now.
pub fn touch(connection: &Connection, session: i64) -> Result<()> {
    connection.run(
        "UPDATE sessions SET updated_at = :updated_at WHERE id = :id",
        args! {id: session, updated_at: now_ms()},
    )?;
    Ok(())
}
