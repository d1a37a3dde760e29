//! Summaries that replace compacted messages in the context.

use afd_proto::conversation::SummaryInfo;
use rusqlite::{Connection, Row};

use afd_store::exchange::Record;
use afd_store::{Result, Sql as _, args, new_uid, now_ms, read};

/// A stored summary.
#[derive(Debug, Clone)]
pub struct StoredSummary {
    /// Row id of the summary.
    pub id: i64,
    /// Row id of the conversation.
    pub conversation: i64,
    /// Number of times a language model was asked for a better version.
    pub attempts: i64,
    /// Text and state of the summary, as reported to callers.
    pub info: SummaryInfo,
}

const COLUMNS: &str =
    "id, conversation_id, after, upto, text, method, model, tokens, due_at, attempts, error, created_at";

fn read(row: &Row<'_>) -> rusqlite::Result<StoredSummary> {
    Ok(StoredSummary {
        id: row.get("id")?,
        conversation: row.get("conversation_id")?,
        attempts: row.get("attempts")?,
        info: read!(row => SummaryInfo {
            after, upto, text, method, model, tokens, error, created_at,
            pending: row.get::<_, Option<i64>>("due_at")?.is_some(),
        }),
    })
}

/// Returns whether a summary record from another copy of the memory covers a message that was deleted here. Such a
/// summary may quote the message.
pub fn quotes_deleted(connection: &Connection, record: &Record) -> Result<bool> {
    let number = |field: &str| record.get(field).and_then(serde_json::Value::as_i64).unwrap_or_default();
    let conversation = record.get("conversation").and_then(serde_json::Value::as_str);
    connection.one(
        "SELECT EXISTS (SELECT 1 FROM messages m JOIN conversations c ON c.id = m.conversation_id WHERE c.uid = :conversation
                AND m.position > :after AND m.position <= :upto AND m.deleted_at IS NOT NULL) AS found",
        args! {conversation, after: number("after"), upto: number("upto")},
        |row| {
            row.get("found")
        },
    )
}

/// Inserts an extractive summary of the messages after `after` up to and including `upto`. If `due` is set, schedules
/// a request to the language model for a better version.
pub fn add(
    connection: &Connection,
    origin: &str,
    conversation: i64,
    (after, upto): (i64, i64),
    text: &str,
    tokens: i64,
    due: bool,
) -> Result<()> {
    let now = now_ms();
    // The new summary covers the messages of all previous ones, so their pending requests are dropped.
    connection.run(
        "UPDATE summaries SET due_at = NULL WHERE conversation_id = :conversation_id",
        args! {conversation_id: conversation},
    )?;
    connection.run(
        "INSERT INTO summaries (uid, origin, conversation_id, after, upto, text, method, tokens, due_at, created_at, updated_at)
             VALUES (:uid, :origin, :conversation_id, :after, :upto, :text, 'extractive', :tokens, :due_at, :now, :now)",
        args! {
            uid: new_uid(), origin, conversation_id: conversation, after, upto, text, tokens,
            due_at: due.then_some(now), now
        },
    )?;
    Ok(())
}

/// Returns the newest summary whose last message comes after position `cleared_to`.
pub fn newest(connection: &Connection, conversation: i64, cleared_to: i64) -> Result<Option<StoredSummary>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM summaries WHERE conversation_id = :conversation_id AND upto > :upto ORDER BY upto DESC, id DESC LIMIT 1"
    );
    connection.first(&sql, args! {conversation_id: conversation, upto: cleared_to}, read)
}

/// Returns the newest model-written summary that covers only messages after `cleared_to`, up to and including `upto`.
pub fn written(
    connection: &Connection,
    conversation: i64,
    cleared_to: i64,
    upto: i64,
) -> Result<Option<StoredSummary>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM summaries WHERE conversation_id = :conversation_id AND after >= :after AND upto <= :upto AND method = 'model'
            ORDER BY upto DESC LIMIT 1"
    );
    connection.first(&sql, args! {conversation_id: conversation, after: cleared_to, upto}, read)
}

/// Returns all summaries of a conversation, ordered by the last message that each covers.
pub fn all(connection: &Connection, conversation: i64) -> Result<Vec<SummaryInfo>> {
    let sql = format!("SELECT {COLUMNS} FROM summaries WHERE conversation_id = :conversation ORDER BY upto, id");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map(args! {conversation}, |row| read(row).map(|kept| kept.info))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Returns the summary whose request to the language model is due at `now` (Unix milliseconds) and has been due
/// longest.
pub fn due(connection: &Connection, now: i64) -> Result<Option<StoredSummary>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM summaries WHERE due_at IS NOT NULL AND due_at <= :due_at ORDER BY due_at LIMIT 1"
    );
    connection.first(&sql, args! {due_at: now}, read)
}

/// Returns the time at which the next request to the language model is due, in Unix milliseconds.
pub fn next_due(connection: &Connection) -> Result<Option<i64>> {
    connection.one("SELECT min(due_at) AS min_due_at FROM summaries WHERE due_at IS NOT NULL", [], |row| {
        row.get("min_due_at")
    })
}

/// Replaces the text of a summary with the version that a language model wrote. Returns whether the summary still
/// exists.
pub fn improve(connection: &Connection, kept: &StoredSummary, text: &str, model: &str, tokens: i64) -> Result<bool> {
    let changed = connection.run(
        "UPDATE summaries SET text = :text, method = 'model', model = :model, tokens = :tokens, due_at = NULL,
                attempts = attempts + 1, error = NULL, updated_at = :updated_at
             WHERE id = :id AND conversation_id = :conversation_id AND upto = :upto AND created_at = :created_at",
        args! {
            id: kept.id, conversation_id: kept.conversation, upto: kept.info.upto, created_at: kept.info.created_at,
            text, model, tokens, updated_at: now_ms()
        },
    )?;
    Ok(changed > 0)
}

/// Records a failed request to the language model and schedules the next attempt at `again_at` (Unix milliseconds). If
/// `again_at` is `None`, there is no further attempt.
pub fn failed(connection: &Connection, kept: &StoredSummary, error: &str, again_at: Option<i64>) -> Result<()> {
    connection.run(
        "UPDATE summaries SET error = :error, due_at = :due_at, attempts = attempts + 1, updated_at = :updated_at
             WHERE id = :id AND conversation_id = :conversation_id AND upto = :upto AND created_at = :created_at",
        args! {
            id: kept.id, conversation_id: kept.conversation, upto: kept.info.upto, created_at: kept.info.created_at,
            error, due_at: again_at, updated_at: now_ms()
        },
    )?;
    Ok(())
}
