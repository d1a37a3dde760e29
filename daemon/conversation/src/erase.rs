//! Erasing messages and conversations, with all data derived from them.

use rusqlite::Connection;

use super::{Conversation, messages, prepared, save};
use afd_store::{Result, Sql as _, args, artifact, now_ms};

/// Result of erasing a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Erased {
    /// Number of erased statements, summaries and other data derived from the message.
    pub derived: i64,
    /// Row ids of the artifacts of the message's images.
    pub artifacts: Vec<i64>,
    /// Time when the message was recorded, in Unix milliseconds.
    pub recorded_at: i64,
}

/// Erases a message. Its row stays at its position, without content. Returns `None` if there is no such message.
pub fn message(
    connection: &Connection,
    origin: &str,
    conversation: &mut Conversation,
    position: i64,
) -> Result<Option<Erased>> {
    let Some(recorded) = messages::between(connection, conversation.id, position - 1, position)?.pop() else {
        return Ok(None);
    };
    let shown: Vec<String> = prepared::pictures(&recorded.message).into_iter().map(str::to_owned).collect();
    let artifacts = pictures(connection, conversation.session, &shown, Some(&recorded.uid))?;
    let mut erased = Erased { artifacts, recorded_at: recorded.at, ..Erased::default() };
    let values = args! {conversation_id: conversation.id, position};
    let run = |sql: &str| -> Result<i64> { Ok(i64::try_from(connection.run(sql, values)?).unwrap_or(0)) };
    let id: i64 = connection.one(
        "SELECT id FROM messages WHERE conversation_id = :conversation_id AND position = :position",
        values,
        |row| row.get("id"),
    )?;
    // Statements that replaced a statement of this message, or that answer it, quote its text.
    run("UPDATE message_facts SET was = NULL WHERE conversation_id = :conversation_id AND position IN
            (SELECT superseded_by FROM message_facts WHERE conversation_id = :conversation_id AND position = :position)")?;
    run("UPDATE message_facts SET about = NULL WHERE conversation_id = :conversation_id AND position = :position + 1")?;
    erased.derived += run(
        "DELETE FROM message_facts WHERE conversation_id = :conversation_id AND (position = :position OR again = :position)",
    )?;
    erased.derived += run(
        "DELETE FROM summaries WHERE conversation_id = :conversation_id AND after < :position AND upto >= :position",
    )?;
    connection.run(
        "UPDATE messages SET content = '\"\"', tool_calls = NULL, name = NULL, extra = NULL, deleted_at = :now, updated_at = :now
             WHERE id = :id",
        args! {id, now: now_ms()},
    )?;
    conversation.rolling.retain(|line| line.turn != recorded.turn);
    let arguments: Vec<String> = recorded
        .message
        .tool_calls
        .iter()
        .flat_map(|c| c.arguments.values())
        .filter_map(|v| v.as_str().map(str::to_owned))
        .collect();
    conversation.context.retain(|_, known| !arguments.contains(&known.value));
    save(connection, origin, conversation)?;
    Ok(Some(erased))
}

/// Erases a conversation. Returns the number of erased messages, and the number of erased statements and summaries.
pub fn conversation(connection: &Connection, conversation: i64) -> Result<(i64, i64)> {
    let run = |sql: &str| -> Result<i64> {
        let done = connection.run(sql, args! {conversation})?;
        Ok(i64::try_from(done).unwrap_or(i64::MAX))
    };
    run("DELETE FROM message_terms WHERE conversation_id = :conversation")?;
    let derived = run("DELETE FROM message_facts WHERE conversation_id = :conversation")?
        + run("DELETE FROM summaries WHERE conversation_id = :conversation")?;
    run("DELETE FROM messages WHERE conversation_id = :conversation AND deleted_at IS NOT NULL")?;
    let messages = run("DELETE FROM messages WHERE conversation_id = :conversation")?;
    run("DELETE FROM conversations WHERE id = :conversation")?;
    Ok((messages, derived))
}

/// Returns the row ids of the artifacts in `shown` (uids) that nothing else uses once a message is erased. `erased` is
/// the uid of that message, or `None` if all messages of the session are erased.
pub fn pictures(connection: &Connection, session: i64, shown: &[String], erased: Option<&str>) -> Result<Vec<i64>> {
    if shown.is_empty() {
        return Ok(Vec::new());
    }
    let mut alone: Vec<String> = shown.to_vec();
    let mut statement = connection.prepare_cached(
        "SELECT content FROM messages WHERE deleted_at IS NULL AND content LIKE '%\"artifact\"%' AND CASE WHEN :erased IS NULL
            THEN conversation_id NOT IN (SELECT id FROM conversations WHERE session_id = :session) ELSE uid <> :erased END",
    )?;
    let rows = statement.query_map(args! {session, erased}, |row| row.get::<_, String>("content"))?;
    for content in rows {
        let content = content?;
        alone.retain(|uid| !content.contains(uid.as_str()));
    }
    artifact::only_of_messages(connection, session, &alone)
}
