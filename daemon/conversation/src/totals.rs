//! Running token totals, which give the size of a range of messages and the position at which a total is reached.

use rusqlite::Connection;

use afd_store::{Result, Sql as _, args};

/// Returns the total tokens of all messages up to and including `position`.
pub fn running(connection: &Connection, conversation: i64, position: i64) -> Result<i64> {
    let found = connection.first(
        "SELECT running FROM messages WHERE conversation_id = :conversation_id AND position <= :position ORDER BY position DESC LIMIT 1",
        args! {conversation_id: conversation, position},
        |row| row.get("running"),
    )?;
    Ok(found.unwrap_or(0))
}

/// Returns the largest growth of the conversation, in tokens, from one assistant answer to the next, over the last
/// `answers` answers. The first message counts as an answer.
pub fn growth(connection: &Connection, conversation: i64, answers: i64) -> Result<i64> {
    let sql = "SELECT running - tokens AS before FROM messages
        WHERE conversation_id = :conversation_id AND (role = 'assistant' OR position = 1) ORDER BY position DESC LIMIT :answers";
    let mut statement = connection.prepare_cached(sql)?;
    let before = statement.query_map(args! {conversation_id: conversation, answers}, |row| row.get("before"))?;
    let (mut most, mut after) = (0, running(connection, conversation, i64::MAX)?);
    for before in before {
        let before: i64 = before?;
        most = most.max(after - before);
        after = before;
    }
    Ok(most)
}

/// Returns the position of the first message after `after` at which the running total reaches `tokens`.
pub fn first_reaching(connection: &Connection, conversation: i64, after: i64, tokens: i64) -> Result<Option<i64>> {
    connection.first(
        "SELECT position FROM messages WHERE conversation_id = :conversation_id AND running >= :running AND position > :position
            ORDER BY running LIMIT 1",
        args! {conversation_id: conversation, running: tokens, position: after},
        |row| row.get("position"),
    )
}

/// Returns the position of the first message after `after` at which the running total of brief lengths reaches
/// `tokens`.
pub fn first_reaching_brief(
    connection: &Connection,
    conversation: i64,
    after: i64,
    tokens: i64,
) -> Result<Option<i64>> {
    connection.first(
        "SELECT position FROM messages WHERE conversation_id = :conversation_id AND brief_running >= :tokens AND position > :position
                AND deleted_at IS NULL ORDER BY brief_running LIMIT 1",
        args! {conversation_id: conversation, tokens, position: after},
        |row| row.get("position"),
    )
}

/// Returns the total tokens of all messages up to and including `position`, each shortened to its brief length.
pub fn brief_running(connection: &Connection, conversation: i64, position: i64) -> Result<i64> {
    let found = connection.first(
        "SELECT brief_running FROM messages WHERE conversation_id = :conversation_id AND position <= :position
                ORDER BY position DESC LIMIT 1",
        args! {conversation_id: conversation, position},
        |row| row.get("brief_running"),
    )?;
    Ok(found.unwrap_or(0))
}
