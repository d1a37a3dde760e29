//! Helpers shared by the tables of a session: JSON columns and the modification time.

use rusqlite::Connection;

use afd_store::{Result, Sql as _, args, now_ms};

/// Serialises a value as JSON; `null` if that fails.
pub fn json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// Parses a list stored as JSON; empty if the text is malformed.
pub fn parse_list<T: serde::de::DeserializeOwned>(text: &str) -> Vec<T> {
    serde_json::from_str(text).unwrap_or_default()
}

/// Sets the modification time of a session to now.
pub fn touch(connection: &Connection, session: i64) -> Result<()> {
    connection.run(
        "UPDATE sessions SET updated_at = :updated_at WHERE id = :id",
        args! {id: session, updated_at: now_ms()},
    )?;
    Ok(())
}
