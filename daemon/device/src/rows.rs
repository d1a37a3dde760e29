//! The database rows for devices, to which other tables refer by id.

use rusqlite::Connection;

use afd_store::{Result, Sql as _, args, new_uid, now_ms};

/// Gives the screens of a session whose name changes to its new name, unless another session had a screen there under that
/// name.
pub fn rename_screens(connection: &Connection, session: &str, new: &str) -> Result<()> {
    connection.execute(
        "UPDATE OR IGNORE devices SET name = part_of || '/' || :new, updated_at = :now WHERE name = part_of || '/' || :session",
        args! {session, new, now: now_ms()},
    )?;
    Ok(())
}

/// Returns the row id of a device, or of the screen that a session has on it. Inserts or undeletes the row if necessary,
/// and updates the device's kind in it.
pub fn row_id(connection: &Connection, origin: &str, name: &str, screen_of: Option<&str>, kind: &str) -> Result<i64> {
    let now = now_ms();
    let part_of = screen_of.map(|_| name);
    // Names of devices have no slash, except those that are URLs, and these share one screen.
    let name = screen_of.map_or_else(|| name.to_owned(), |session| format!("{name}/{session}"));
    connection.one(
        "INSERT INTO devices (uid, origin, name, part_of, kind, created_at, updated_at)
             VALUES (:uid, :origin, :name, :part_of, :kind, :now, :now) ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, deleted_at = NULL RETURNING id",
        args! {uid: new_uid(), origin, name, part_of, kind, now},
        |row| row.get("id"),
    )
}
