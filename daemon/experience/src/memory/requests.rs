//! Results of write calls with a request key, so that a repeated call is not executed twice. Acts are not stored here,
//! because their events contain the request key; a walk of several acts is.

use rusqlite::Connection;
use serde_json::Value;

use super::notes;
use afd_store::{Result, Sql as _, args, new_uid, now_ms};

/// Time for which a result is kept, in milliseconds. No caller retries for that long.
const KEPT_MS: i64 = 24 * 3600 * 1000;
/// Maximum size of a result that is kept, in bytes.
const MAX_RESULT: usize = 256 << 10;
/// Name of the method that saves a note. Its results contain notes.
pub const SAVE_NOTE_METHOD: &str = "memory.save";

/// A recorded write call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedCall {
    /// Hash of the call that used the key.
    pub hash: String,
    /// Whether the call has finished.
    pub done: bool,
    /// Result as JSON; what was done so far, if the call has not finished. `None` if there is none, if it was too large, or if
    /// it was cleared because data in it was deleted.
    pub result: Option<String>,
}

/// Returns the recorded call with this method and request key.
pub fn find(connection: &Connection, method: &str, key: &str) -> Result<Option<RecordedCall>> {
    connection.first(
        "SELECT request_hash, done, result FROM requests WHERE method = :method AND request_key = :key",
        args! {method, key},
        |row| Ok(RecordedCall { hash: row.get("request_hash")?, done: row.get("done")?, result: row.get("result")? }),
    )
}

/// Records that a call has started, unless the call is already recorded.
///
/// # Errors
/// Returns an error if the database cannot be written.
pub fn begin(connection: &Connection, origin: &str, method: &str, key: &str, hash: &str) -> Result<()> {
    connection.run(
        "INSERT INTO requests (uid, origin, method, request_key, request_hash, begun_at, updated_at)
             VALUES (:uid, :origin, :method, :key, :hash, :now, :now) ON CONFLICT (method, request_key) DO NOTHING",
        args! {uid: new_uid(), origin, method, key, hash, now: now_ms()},
    )?;
    Ok(())
}

/// Records the result of a call that has started.
pub fn finish(connection: &Connection, method: &str, key: &str, result: &str) -> Result<()> {
    let result = Some(result).filter(|r| r.len() <= MAX_RESULT);
    let mentions_deleted = |result: &str| -> Result<bool> {
        let value: Value = serde_json::from_str(result).unwrap_or_default();
        let uids = [value.pointer("/note/uid")]
            .into_iter()
            .chain(value["similar"].as_array().into_iter().flatten().map(|n| n.get("uid")));
        uids.flatten()
            .filter_map(Value::as_str)
            .try_fold(false, |found, uid| Ok(found || notes::is_deleted(connection, uid)?))
    };
    // A note may have been deleted since it was read for the result.
    let result = match result {
        Some(result) if method == SAVE_NOTE_METHOD && mentions_deleted(result)? => None,
        other => other,
    };
    connection.run(
        "UPDATE requests SET done = 1, result = :result, updated_at = :now WHERE method = :method AND request_key = :key",
        args! {method, key, result, now: now_ms()},
    )?;
    Ok(())
}

/// Records what a call that is running has done so far. The call is not done yet.
pub fn progress(connection: &Connection, method: &str, key: &str, so_far: &str) -> Result<()> {
    connection.run(
        "UPDATE requests SET result = :so_far, updated_at = :now WHERE method = :method AND request_key = :key AND done = 0",
        args! {method, key, so_far: Some(so_far).filter(|text| text.len() <= MAX_RESULT), now: now_ms()},
    )?;
    Ok(())
}

/// Removes a call that failed and changed nothing, so that its key can be used again.
pub fn forget(connection: &Connection, method: &str, key: &str) -> Result<()> {
    connection.run("DELETE FROM requests WHERE method = :method AND request_key = :key", args! {method, key})?;
    Ok(())
}

/// Clears the results of a method that contain the uid of a deleted record. The calls stay recorded as done.
pub fn forget_results_about(connection: &Connection, method: &str, uid: &str) -> Result<()> {
    connection.run(
        "UPDATE requests SET result = NULL, updated_at = :now WHERE method = :method AND result IS NOT NULL AND instr(result, :uid)",
        args! {method, uid, now: now_ms()},
    )?;
    Ok(())
}

/// Clears the results of all methods that may quote messages. The calls stay recorded as done.
pub fn forget_what_was_said(connection: &Connection) -> Result<()> {
    connection.run(
        "UPDATE requests SET result = NULL, updated_at = :now WHERE result IS NOT NULL
                AND (method LIKE 'conversation.%' OR method LIKE 'session.%' OR method LIKE 'pattern.%' OR method LIKE 'memory.%'
                OR method LIKE 'recall.%' OR method LIKE 'act.%')",
        args! {now: now_ms()},
    )?;
    Ok(())
}

/// Deletes calls that are older than a day. Returns the number of deleted rows.
pub fn prune(connection: &Connection) -> Result<usize> {
    Ok(connection.execute("DELETE FROM requests WHERE begun_at < :oldest", args! {oldest: now_ms() - KEPT_MS})?)
}
