//! Log of changes made by upkeep.

use rusqlite::Connection;

use afd_proto::recall_upkeep::UpkeepChange;

use afd_store::{Result, Sql as _, args, json, now_ms};

/// Maximum number of upkeep runs that the log keeps.
const KEPT: i64 = 500;

/// Logs an upkeep run and the changes that it made.
pub fn add(connection: &Connection, changes: &[UpkeepChange]) -> Result<()> {
    let changes = serde_json::to_string(changes).unwrap_or_default();
    connection.run("INSERT INTO upkeep_log (at, changes) VALUES (:now, :changes)", args! {now: now_ms(), changes})?;
    connection
        .run("DELETE FROM upkeep_log WHERE id <= (SELECT max(id) FROM upkeep_log) - :kept", args! {kept: KEPT})?;
    Ok(())
}

/// Returns up to `limit` upkeep runs, newest first, each with its time (Unix milliseconds) and its changes.
pub fn newest(connection: &Connection, limit: i64) -> Result<Vec<(i64, Vec<UpkeepChange>)>> {
    let mut statement =
        connection.prepare_cached("SELECT at, changes FROM upkeep_log ORDER BY id DESC LIMIT :limit")?;
    let rows = statement.query_map(args! {limit}, |row| Ok((row.get("at")?, json(row, "changes")?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
