//! Columns of sessions and of what belongs to them.

use rusqlite::{Connection, named_params};

use crate::store::{Result, now_ms};

/// A value as JSON.
pub fn json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// A list that is kept as JSON.
pub fn list_of<T: serde::de::DeserializeOwned>(text: &str) -> Vec<T> {
    serde_json::from_str(text).unwrap_or_default()
}

/// Notes that something of a session changed.
///
/// # Errors
/// What SQLite says.
pub fn touch(connection: &Connection, session: i64) -> Result<()> {
    connection
        .prepare_cached("UPDATE sessions SET updated_at = :updated_at WHERE id = :id")?
        .execute(named_params! {":id": session, ":updated_at": now_ms()})?;
    Ok(())
}
