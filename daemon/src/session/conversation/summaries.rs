//! Summaries that stand for messages which left the context.

use afd_proto::conversation::SummaryInfo;
use rusqlite::{Connection, OptionalExtension, Row, named_params};

use crate::store::{Result, new_uid, now_ms};

/// A summary with its row.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Row.
    pub id: i64,
    /// Row of the session.
    pub session: i64,
    /// How often a language model was asked for a better one.
    pub attempts: i64,
    /// It.
    pub info: SummaryInfo,
}

const COLUMNS: &str = "id, session_id, after, upto, text, method, model, tokens, due_at, attempts, error, created_at";

fn read(row: &Row<'_>) -> rusqlite::Result<Kept> {
    Ok(Kept {
        id: row.get("id")?,
        session: row.get("session_id")?,
        attempts: row.get("attempts")?,
        info: SummaryInfo {
            after: row.get("after")?,
            upto: row.get("upto")?,
            text: row.get("text")?,
            method: row.get("method")?,
            model: row.get("model")?,
            tokens: row.get("tokens")?,
            pending: row.get::<_, Option<i64>>("due_at")?.is_some(),
            error: row.get("error")?,
            created_at: row.get("created_at")?,
        },
    })
}

/// Keeps an extractive summary; a language model is to be asked for a better one if `due`.
///
/// # Errors
/// What SQLite says.
pub fn add(
    connection: &Connection,
    origin: &str,
    session: i64,
    (after, upto): (i64, i64),
    text: &str,
    tokens: i64,
    due: bool,
) -> Result<()> {
    let now = now_ms();
    // A newer one covers what the older ones were to be asked for.
    connection
        .prepare_cached("UPDATE summaries SET due_at = NULL WHERE session_id = :session_id")?
        .execute(named_params! {":session_id": session})?;
    connection
        .prepare_cached(
            "INSERT INTO summaries (uid, origin, session_id, after, upto, text, method, tokens, due_at, created_at, updated_at)
             VALUES (:uid, :origin, :session_id, :after, :upto, :text, 'extractive', :tokens, :due_at, :now, :now)",
        )?
        .execute(named_params! {
            ":uid": new_uid(),
            ":origin": origin,
            ":session_id": session,
            ":after": after,
            ":upto": upto,
            ":text": text,
            ":tokens": tokens,
            ":due_at": due.then_some(now),
            ":now": now,
        })?;
    Ok(())
}

/// The newest summary of a session that covers nothing before a message.
///
/// # Errors
/// What SQLite says.
pub fn newest(connection: &Connection, session: i64, cleared_to: i64) -> Result<Option<Kept>> {
    let sql =
        format!("SELECT {COLUMNS} FROM summaries WHERE session_id = :session_id AND upto > :upto ORDER BY upto DESC, id DESC LIMIT 1");
    Ok(connection.prepare_cached(&sql)?.query_row(named_params! {":session_id": session, ":upto": cleared_to}, read).optional()?)
}

/// The newest summary that a language model wrote about nothing but what comes after a message, up to and with another.
///
/// # Errors
/// What SQLite says.
pub fn written(connection: &Connection, session: i64, cleared_to: i64, upto: i64) -> Result<Option<Kept>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM summaries WHERE session_id = :session_id AND after >= :after AND upto <= :upto AND method = 'model'
            ORDER BY upto DESC LIMIT 1"
    );
    Ok(connection
        .prepare_cached(&sql)?
        .query_row(named_params! {":session_id": session, ":after": cleared_to, ":upto": upto}, read)
        .optional()?)
}

/// All summaries of a session, first one first.
///
/// # Errors
/// What SQLite says.
pub fn all(connection: &Connection, session: i64) -> Result<Vec<SummaryInfo>> {
    let sql = format!("SELECT {COLUMNS} FROM summaries WHERE session_id = :session ORDER BY upto, id");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map(named_params! {":session": session}, |row| read(row).map(|kept| kept.info))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// The summary that a language model is to be asked for next, if it is time.
///
/// # Errors
/// What SQLite says.
pub fn due(connection: &Connection, now: i64) -> Result<Option<Kept>> {
    let sql = format!("SELECT {COLUMNS} FROM summaries WHERE due_at IS NOT NULL AND due_at <= :due_at ORDER BY due_at LIMIT 1");
    Ok(connection.prepare_cached(&sql)?.query_row(named_params! {":due_at": now}, read).optional()?)
}

/// When the next one is due, UTC milliseconds.
///
/// # Errors
/// What SQLite says.
pub fn next_due(connection: &Connection) -> Result<Option<i64>> {
    Ok(connection
        .prepare_cached("SELECT min(due_at) AS min_due_at FROM summaries WHERE due_at IS NOT NULL")?
        .query_row([], |row| row.get("min_due_at"))?)
}

/// Puts what a language model wrote in the place of an extractive summary.
///
/// # Errors
/// What SQLite says.
pub fn improve(connection: &Connection, id: i64, text: &str, model: &str, tokens: i64) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE summaries SET text = :text, method = 'model', model = :model, tokens = :tokens, due_at = NULL,
                attempts = attempts + 1, error = NULL,
                updated_at = :updated_at WHERE id = :id",
        )?
        .execute(named_params! {":id": id, ":text": text, ":model": model, ":tokens": tokens, ":updated_at": now_ms()})?;
    Ok(())
}

/// Notes that a language model gave none, and when it is to be asked again; never, without a time.
///
/// # Errors
/// What SQLite says.
pub fn failed(connection: &Connection, id: i64, error: &str, again_at: Option<i64>) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE summaries SET error = :error, due_at = :due_at, attempts = attempts + 1, updated_at = :updated_at WHERE id = :id",
        )?
        .execute(named_params! {":id": id, ":error": error, ":due_at": again_at, ":updated_at": now_ms()})?;
    Ok(())
}
