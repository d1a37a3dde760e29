//! The record of messages.

use afd_proto::conversation::{Content, Message, Part, Recorded, Role, ToolCall};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, named_params};

use super::super::{json, list_of};
use super::Conversation;
use super::facts::{self, Candidate};
use crate::model::Counter;
use crate::store::{Page, Result, new_uid, now_ms, word};

/// What a message costs beside what it says (seed 002).
const OVERHEAD: i64 = 4;
/// Pixels of a picture that cost a token (seed 002).
const PIXELS_PER_TOKEN: u64 = 750;
/// Width and height of a picture of which nobody knows them (seed 002).
const UNKNOWN_SIDE: u32 = 1024;

/// The tokens of a message (seed 002, "Token Management").
pub fn tokens(message: &Message, counter: &Counter) -> i64 {
    let content = match &message.content {
        Content::Text(text) => counter.count(text),
        Content::Parts(parts) => parts.iter().map(|part| tokens_of_part(part, counter)).sum(),
    };
    let calls: i64 = message.tool_calls.iter().map(|call| counter.count(&call.name) + counter.count(&json(&call.arguments))).sum();
    OVERHEAD + content + calls
}

/// The tokens of a part; a picture costs by its size.
pub fn tokens_of_part(part: &Part, counter: &Counter) -> i64 {
    match part {
        Part::Text { text } => counter.count(text),
        Part::Image { width, height, .. } => {
            let pixels = u64::from(width.unwrap_or(UNKNOWN_SIDE)) * u64::from(height.unwrap_or(UNKNOWN_SIDE));
            i64::try_from(pixels.div_ceil(PIXELS_PER_TOKEN)).unwrap_or(i64::MAX)
        }
    }
}

/// A message with what was found out about it where that held nobody up.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// It.
    pub message: Message,
    /// Its tokens.
    pub tokens: i64,
    /// What counted them.
    pub tokenizer: &'static str,
    /// Its sentences that may be worth keeping, with their tokens.
    pub facts: Vec<(Candidate, i64)>,
}

impl Prepared {
    /// Uids of the artifacts that it shows.
    pub fn pictures(&self) -> Vec<&str> {
        let Content::Parts(parts) = &self.message.content else { return Vec::new() };
        parts
            .iter()
            .filter_map(|part| match part {
                Part::Image { artifact, .. } => artifact.as_deref(),
                Part::Text { .. } => None,
            })
            .collect()
    }

    /// Counts and reads a message.
    pub fn of(message: Message, counter: &Counter) -> Self {
        let candidates = facts::candidates(message.role, &message.content.text());
        let facts = candidates.into_iter().map(|c| (counter.count(&c.text), c)).map(|(n, c)| (c, n)).collect();
        Self { tokens: tokens(&message, counter), tokenizer: counter.name(), facts, message }
    }
}

/// Writes a message at the end of a conversation, whose figures go on with it.
///
/// # Errors
/// What SQLite says.
pub fn append(connection: &Connection, origin: &str, conversation: &mut Conversation, prepared: &Prepared) -> Result<()> {
    let now = now_ms();
    let message = &prepared.message;
    conversation.position += 1;
    conversation.turn += i64::from(message.role == Role::User);
    conversation.tokens += prepared.tokens;
    conversation.used += prepared.tokens;
    connection
        .prepare_cached(
            "INSERT INTO messages (uid, origin, session_id, position, turn, role, content, tool_calls, tool_call_id, name, failed, tokens,
                running, tokenizer, at, updated_at)
             VALUES (:uid, :origin, :session_id, :position, :turn, :role, :content, :tool_calls, :tool_call_id, :name, :failed, :tokens,
             :running, :tokenizer, :now, :now)",
        )?
        .execute(named_params! {
            ":uid": new_uid(),
            ":origin": origin,
            ":session_id": conversation.session,
            ":position": conversation.position,
            ":turn": conversation.turn,
            ":role": message.role.word(),
            ":content": json(&message.content),
            ":tool_calls": (!message.tool_calls.is_empty()).then(|| json(&message.tool_calls)),
            ":tool_call_id": message.tool_call_id,
            ":name": message.name,
            ":failed": message.failed,
            ":tokens": prepared.tokens,
            ":running": conversation.tokens,
            ":tokenizer": prepared.tokenizer,
            ":now": now,
        })?;
    Ok(())
}

const COLUMNS: &str = "uid, position, turn, role, content, tool_calls, tool_call_id, name, failed, tokens, tokenizer, at";

fn read(row: &Row<'_>) -> rusqlite::Result<Recorded> {
    let content: String = row.get("content")?;
    let calls: Vec<ToolCall> = row.get::<_, Option<String>>("tool_calls")?.map(|text| list_of(&text)).unwrap_or_default();
    Ok(Recorded {
        uid: row.get("uid")?,
        position: row.get("position")?,
        turn: row.get("turn")?,
        message: Message {
            role: word(row, "role")?,
            content: serde_json::from_str(&content).unwrap_or_default(),
            tool_calls: calls,
            tool_call_id: row.get("tool_call_id")?,
            name: row.get("name")?,
            failed: row.get("failed")?,
        },
        tokens: row.get("tokens")?,
        tokenizer: row.get("tokenizer")?,
        in_context: false,
        at: row.get("at")?,
    })
}

fn query(connection: &Connection, condition: &str, values: &[(&str, &dyn ToSql)]) -> Result<Vec<Recorded>> {
    let sql = format!("SELECT {COLUMNS} FROM messages WHERE deleted_at IS NULL AND {condition}");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map(values, read)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Messages after one and up to another, oldest first.
///
/// # Errors
/// What SQLite says.
pub fn between(connection: &Connection, session: i64, after: i64, upto: i64) -> Result<Vec<Recorded>> {
    let values = named_params! {":session": session, ":after": after, ":upto": upto};
    query(connection, "session_id = :session AND position > :after AND position <= :upto ORDER BY position", values)
}

/// A page of messages, newest first, and the cursor of the next one.
///
/// # Errors
/// What SQLite says.
pub fn newest(connection: &Connection, session: i64, page: Page) -> Result<(Vec<Recorded>, Option<i64>)> {
    let (before, limit) = (page.cursor.unwrap_or(i64::MAX), page.reads());
    let values = named_params! {":session": session, ":before": before, ":limit": limit};
    let mut found = query(connection, "session_id = :session AND position < :before ORDER BY position DESC LIMIT :limit", values)?;
    let next = page.cut(&mut found, |message| message.position);
    Ok((found, next))
}

/// The newest requests and final answers, after a message, oldest first: what is said beside a call of a tool is neither.
///
/// # Errors
/// What SQLite says.
pub fn last_said(connection: &Connection, session: i64, after: i64, limit: usize) -> Result<Vec<Recorded>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let values = named_params! {":session": session, ":after": after, ":limit": limit};
    let condition = "session_id = :session AND position > :after AND (role = 'user' OR (role = 'assistant' AND tool_calls IS NULL)) AND content NOT IN ('\"\"', '[]')
        ORDER BY position DESC LIMIT :limit";
    let mut found = query(connection, condition, values)?;
    found.reverse();
    Ok(found)
}

/// At most this many rules stay in a context.
const RULES: usize = 8;

/// The rules: what was said as `system` after a message, oldest first. Of many, the first, which says what all is about, and the newest.
///
/// # Errors
/// What SQLite says.
pub fn rules(connection: &Connection, session: i64, after: i64) -> Result<Vec<Recorded>> {
    let of = "session_id = :session AND role = 'system' AND position > :after ORDER BY position";
    let values = named_params! {":session": session, ":after": after};
    let mut found = query(connection, &format!("{of} DESC LIMIT {RULES}"), values)?;
    if found.len() == RULES
        && let Some(first) = query(connection, &format!("{of} LIMIT 1"), values)?.pop()
        && found.last().is_some_and(|oldest| oldest.position > first.position)
    {
        found.pop();
        found.push(first);
    }
    found.reverse();
    Ok(found)
}

/// How many rules there are after a message, and their tokens.
///
/// # Errors
/// What SQLite says.
pub fn count_rules(connection: &Connection, session: i64, after: i64) -> Result<(i64, i64)> {
    Ok(connection
        .prepare_cached(
            "SELECT count(*) AS count, coalesce(sum(tokens), 0) AS total FROM messages WHERE session_id = :session_id AND role = 'system'
                AND position > :position",
        )?
        .query_row(named_params! {":session_id": session, ":position": after}, |row| Ok((row.get("count")?, row.get("total")?)))?)
}

/// The request that a message answers: the last one of a person before it and after another.
///
/// # Errors
/// What SQLite says.
pub fn request_of(connection: &Connection, session: i64, after: i64, before: i64) -> Result<Option<Recorded>> {
    let values = named_params! {":session": session, ":after": after, ":before": before};
    let condition = "session_id = :session AND role = 'user' AND position > :after AND position < :before ORDER BY position DESC LIMIT 1";
    Ok(query(connection, condition, values)?.pop())
}

/// Tokens of all messages up to and with one.
///
/// # Errors
/// What SQLite says.
pub fn running(connection: &Connection, session: i64, position: i64) -> Result<i64> {
    let found = connection
        .prepare_cached(
            "SELECT running FROM messages WHERE session_id = :session_id AND position <= :position ORDER BY position DESC LIMIT 1",
        )?
        .query_row(named_params! {":session_id": session, ":position": position}, |row| row.get("running"))
        .optional()?;
    Ok(found.unwrap_or(0))
}

/// The first message after another with which at least so many tokens were said.
///
/// # Errors
/// What SQLite says.
pub fn first_with(connection: &Connection, session: i64, after: i64, tokens: i64) -> Result<Option<i64>> {
    Ok(connection
        .prepare_cached(
            "SELECT position FROM messages WHERE session_id = :session_id AND running >= :running AND position > :position
            ORDER BY running LIMIT 1",
        )?
        .query_row(named_params! {":session_id": session, ":running": tokens, ":position": after}, |row| row.get("position"))
        .optional()?)
}

/// The first message of the first turn that begins after a message, when at least so many tokens were said.
///
/// # Errors
/// What SQLite says.
pub fn turn_after(connection: &Connection, session: i64, after: i64, tokens: i64) -> Result<Option<i64>> {
    let Some(first) = first_with(connection, session, after, tokens)? else { return Ok(None) };
    // What was said before a message is what was said with it, less its own.
    Ok(connection
        .prepare_cached(
            "SELECT position FROM messages WHERE session_id = :session_id AND role = 'user' AND position >= :position
                AND running - tokens >= :tokens
             ORDER BY position LIMIT 1",
        )?
        .query_row(named_params! {":session_id": session, ":position": first, ":tokens": tokens}, |row| row.get("position"))
        .optional()?)
}

/// The beginning of the last turn, or of the conversation after a message.
///
/// # Errors
/// What SQLite says.
pub fn last_turn(connection: &Connection, session: i64, after: i64) -> Result<i64> {
    let found = connection
        .prepare_cached(
            "SELECT max(position) AS max_position FROM messages WHERE session_id = :session_id AND role = 'user' AND position > :position",
        )?
        .query_row(named_params! {":session_id": session, ":position": after}, |row| row.get::<_, Option<i64>>("max_position"))?;
    Ok(found.unwrap_or(after + 1))
}

/// The last message of a stretch, ends included, with whose kind of message something may begin.
///
/// # Errors
/// What SQLite says.
pub fn last_begin(connection: &Connection, session: i64, kind: &str, (from, to): (i64, i64)) -> Result<Option<i64>> {
    let sql = format!(
        "SELECT max(position) AS max_position FROM messages WHERE session_id = :session_id AND {kind} AND position BETWEEN :from AND :to"
    );
    Ok(connection
        .prepare_cached(&sql)?
        .query_row(named_params! {":session_id": session, ":from": from, ":to": to}, |row| row.get("max_position"))?)
}

/// The first message from one on that no answer of a tool is.
///
/// # Errors
/// What SQLite says.
pub fn next_begin(connection: &Connection, session: i64, from: i64) -> Result<Option<i64>> {
    Ok(connection
        .prepare_cached(
            "SELECT position FROM messages WHERE session_id = :session_id AND position >= :position AND role <> 'tool' ORDER BY position
                LIMIT 1",
        )?
        .query_row(named_params! {":session_id": session, ":position": from}, |row| row.get("position"))
        .optional()?)
}

/// How far back the call of an answer is looked for, messages.
const CALLED: i64 = 200;

/// The call of this id, if one of the newest messages made it.
///
/// # Errors
/// What SQLite says.
pub fn call(connection: &Connection, session: i64, before: i64, id: &str) -> Result<Option<ToolCall>> {
    let mut statement = connection.prepare_cached(
        "SELECT tool_calls FROM messages WHERE session_id = :session AND position <= :before AND position > :after
            AND tool_calls IS NOT NULL
         ORDER BY position DESC",
    )?;
    let mut rows = statement.query(named_params! {":session": session, ":before": before, ":after": before - CALLED})?;
    while let Some(row) = rows.next()? {
        let calls: Vec<ToolCall> = list_of(&row.get::<_, String>("tool_calls")?);
        if let Some(call) = calls.into_iter().find(|call| call.id == id) {
            return Ok(Some(call));
        }
    }
    Ok(None)
}
