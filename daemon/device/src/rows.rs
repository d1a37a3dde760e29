//! The database rows for devices, to which other tables refer by id.

use rusqlite::Connection;

use afd_store::{Result, Sql as _, args, new_uid, now_ms};

/// Returns the row id of a device, or `None` if it has no row yet.
pub fn find(connection: &Connection, name: &str) -> Result<Option<i64>> {
    connection.first("SELECT id FROM devices WHERE name = :name", args! {name}, |row| row.get("id"))
}

/// Returns the row id of a device. Inserts or undeletes the row if necessary, and updates the device's kind in it.
pub fn row_id(connection: &Connection, origin: &str, name: &str, kind: &str) -> Result<i64> {
    let now = now_ms();
    connection.one(
        "INSERT INTO devices (uid, origin, name, kind, created_at, updated_at) VALUES (:uid, :origin, :name, :kind, :now, :now)
             ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, deleted_at = NULL RETURNING id",
        args! {uid: new_uid(), origin, name, kind, now},
        |row| row.get("id"),
    )
}
