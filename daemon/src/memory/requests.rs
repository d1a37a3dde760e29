//! What came of calls that carried a request key (see `migrations/05-requests`).

use rusqlite::{Connection, OptionalExtension, named_params};
use serde_json::Value;

use super::notes;
use crate::store::{Result, new_uid, now_ms};

/// How long an outcome is kept, milliseconds: longer than anybody asks again.
const KEPT_MS: i64 = 24 * 3600 * 1000;
/// The largest result that is kept, bytes.
const MAX_RESULT: usize = 256 << 10;
/// The method whose results hold notes.
pub const NOTING: &str = "memory.save";

/// A call that was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Hash of the call that the key was used for.
    pub hash: String,
    /// Whether it was done.
    pub done: bool,
    /// Its result as JSON; missing when it was too large to be kept, or spoke of what was deleted since.
    pub result: Option<String>,
}

/// What was recorded of a key.
///
/// # Errors
/// When the database cannot be read.
pub fn find(connection: &Connection, method: &str, key: &str) -> Result<Option<Recorded>> {
    Ok(connection
        .prepare_cached("SELECT request_hash, done, result FROM requests WHERE method = :method AND request_key = :key")?
        .query_row(named_params! {":method": method, ":key": key}, |row| {
            Ok(Recorded { hash: row.get("request_hash")?, done: row.get("done")?, result: row.get("result")? })
        })
        .optional()?)
}

/// Records that a call is begun.
///
/// # Errors
/// When the key is there already, or the database cannot be written.
pub fn begin(connection: &Connection, origin: &str, method: &str, key: &str, hash: &str) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO requests (uid, origin, method, request_key, request_hash, begun_at, updated_at)
             VALUES (:uid, :origin, :method, :key, :hash, :now, :now)",
        )?
        .execute(named_params! {
            ":uid": new_uid(),
            ":origin": origin,
            ":method": method,
            ":key": key,
            ":hash": hash,
            ":now": now_ms(),
        })?;
    Ok(())
}

/// Records what came of a call.
///
/// # Errors
/// When the database cannot be written.
pub fn finish(connection: &Connection, method: &str, key: &str, result: &str) -> Result<()> {
    let result = Some(result).filter(|r| r.len() <= MAX_RESULT);
    let speaks_of_deleted = |result: &str| -> Result<bool> {
        let value: Value = serde_json::from_str(result).unwrap_or_default();
        let uids = [value.pointer("/note/uid")].into_iter().chain(value["similar"].as_array().into_iter().flatten().map(|n| n.get("uid")));
        uids.flatten().filter_map(Value::as_str).try_fold(false, |found, uid| Ok(found || notes::is_deleted(connection, uid)?))
    };
    // It may have been deleted since it was read.
    let result = match result {
        Some(result) if method == NOTING && speaks_of_deleted(result)? => None,
        other => other,
    };
    connection
        .prepare_cached("UPDATE requests SET done = 1, result = :result, updated_at = :now WHERE method = :method AND request_key = :key")?
        .execute(named_params! {":method": method, ":key": key, ":result": result, ":now": now_ms()})?;
    Ok(())
}

/// Forgets a call that failed and changed nothing: its key may be used again.
///
/// # Errors
/// When the database cannot be written.
pub fn forget(connection: &Connection, method: &str, key: &str) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM requests WHERE method = :method AND request_key = :key")?
        .execute(named_params! {":method": method, ":key": key})?;
    Ok(())
}

/// Forgets the results that speak of a thing which was deleted; that the calls were done is still known.
///
/// # Errors
/// When the database cannot be written.
pub fn forget_results_about(connection: &Connection, method: &str, uid: &str) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE requests SET result = NULL, updated_at = :now WHERE method = :method AND result IS NOT NULL AND instr(result, :uid)",
        )?
        .execute(named_params! {":method": method, ":uid": uid, ":now": now_ms()})?;
    Ok(())
}

/// Deletes what is older than a day; returns how many rows.
///
/// # Errors
/// When the database cannot be written.
pub fn prune(connection: &Connection) -> Result<usize> {
    Ok(connection.execute("DELETE FROM requests WHERE begun_at < :oldest", named_params! {":oldest": now_ms() - KEPT_MS})?)
}
