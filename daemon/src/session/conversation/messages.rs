//! The record of messages, and the sentences of them that are worth keeping.

use afd_proto::conversation::{Content, Message, Part, Recorded, Role, ToolCall};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::super::{json, list_of};
use super::Conversation;
use super::facts::{self, Candidate};
use crate::model::Counter;
use crate::store::{Result, new_uid, now_ms};

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
    /// Counts and reads a message.
    pub fn of(message: Message, counter: &Counter) -> Self {
        let candidates = facts::candidates(message.role, &message.content.text());
        let facts = candidates.into_iter().map(|c| (counter.count(&c.text), c)).map(|(n, c)| (c, n)).collect();
        Self { tokens: tokens(&message, counter), tokenizer: counter.name(), facts, message }
    }
}

fn role_word(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

fn role_of(word: &str) -> Role {
    match word {
        "system" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => Role::Tool,
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
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?15)",
        )?
        .execute(params![
            new_uid(),
            origin,
            conversation.session,
            conversation.position,
            conversation.turn,
            role_word(message.role),
            json(&message.content),
            (!message.tool_calls.is_empty()).then(|| json(&message.tool_calls)),
            message.tool_call_id,
            message.name,
            message.failed,
            prepared.tokens,
            conversation.tokens,
            prepared.tokenizer,
            now
        ])?;
    for (candidate, tokens) in &prepared.facts {
        keep(connection, origin, conversation, message.role, candidate, *tokens, now)?;
    }
    Ok(())
}

/// How often a hash came up before; counts it.
fn count(connection: &Connection, session: i64, hash: i64) -> Result<i64> {
    let seen: i64 = connection
        .prepare_cached(
            "INSERT INTO message_terms (session_id, hash, seen) VALUES (?1, ?2, 1)
             ON CONFLICT (session_id, hash) DO UPDATE SET seen = seen + 1 RETURNING seen",
        )?
        .query_row((session, hash), |row| row.get(0))?;
    Ok(seen - 1)
}

fn keep(
    connection: &Connection,
    origin: &str,
    conversation: &Conversation,
    role: Role,
    candidate: &Candidate,
    tokens: i64,
    now: i64,
) -> Result<()> {
    let session = conversation.session;
    let seen = candidate.words.iter().map(|word| count(connection, session, *word)).collect::<Result<Vec<_>>>()?;
    let alike = count(connection, session, candidate.template)? + 1;
    let score = facts::score(candidate, &seen);
    connection
        .prepare_cached(
            "INSERT INTO message_facts (uid, origin, session_id, position, role, text, tokens, score, rank, sentence, template, updated_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
             ON CONFLICT (session_id, sentence) DO UPDATE SET position = excluded.position, updated_at = excluded.updated_at",
        )?
        .execute(params![
            new_uid(),
            origin,
            session,
            conversation.position,
            role_word(role),
            candidate.text,
            tokens,
            score,
            facts::among(score, alike),
            candidate.sentence,
            candidate.template,
            now
        ])?;
    Ok(())
}

const COLUMNS: &str = "uid, position, turn, role, content, tool_calls, tool_call_id, name, failed, tokens, tokenizer, at";

fn read(row: &Row<'_>) -> rusqlite::Result<Recorded> {
    let content: String = row.get(4)?;
    let calls: Vec<ToolCall> = row.get::<_, Option<String>>(5)?.map(|text| list_of(&text)).unwrap_or_default();
    Ok(Recorded {
        uid: row.get(0)?,
        position: row.get(1)?,
        turn: row.get(2)?,
        message: Message {
            role: role_of(&row.get::<_, String>(3)?),
            content: serde_json::from_str(&content).unwrap_or_default(),
            tool_calls: calls,
            tool_call_id: row.get(6)?,
            name: row.get(7)?,
            failed: row.get(8)?,
        },
        tokens: row.get(9)?,
        tokenizer: row.get(10)?,
        in_context: false,
        at: row.get(11)?,
    })
}

fn query(connection: &Connection, condition: &str, values: &[Value]) -> Result<Vec<Recorded>> {
    let sql = format!("SELECT {COLUMNS} FROM messages WHERE deleted_at IS NULL AND {condition}");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map(rusqlite::params_from_iter(values), read)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Messages after one and up to another, oldest first.
///
/// # Errors
/// What SQLite says.
pub fn between(connection: &Connection, session: i64, after: i64, upto: i64) -> Result<Vec<Recorded>> {
    let values = [session, after, upto].map(Value::from);
    query(connection, "session_id = ?1 AND position > ?2 AND position <= ?3 ORDER BY position", &values)
}

/// The newest messages before one, newest first.
///
/// # Errors
/// What SQLite says.
pub fn newest(connection: &Connection, session: i64, before: i64, limit: usize) -> Result<Vec<Recorded>> {
    let values = [session, before, i64::try_from(limit).unwrap_or(i64::MAX)].map(Value::from);
    query(connection, "session_id = ?1 AND position < ?2 ORDER BY position DESC LIMIT ?3", &values)
}

/// The newest messages of people and of the model that have a text, after one, oldest first.
///
/// # Errors
/// What SQLite says.
pub fn last_said(connection: &Connection, session: i64, after: i64, limit: usize) -> Result<Vec<Recorded>> {
    let values = [session, after, i64::try_from(limit).unwrap_or(i64::MAX)].map(Value::from);
    let condition = "session_id = ?1 AND position > ?2 AND role IN ('user', 'assistant') AND content NOT IN ('\"\"', '[]')
        ORDER BY position DESC LIMIT ?3";
    let mut found = query(connection, condition, &values)?;
    found.reverse();
    Ok(found)
}

/// The rules: what was said as `system` after a message, oldest first, at most so many of the newest.
///
/// # Errors
/// What SQLite says.
pub fn rules(connection: &Connection, session: i64, after: i64, limit: usize) -> Result<Vec<Recorded>> {
    let values = [session, after, i64::try_from(limit).unwrap_or(i64::MAX)].map(Value::from);
    let mut found = query(connection, "session_id = ?1 AND role = 'system' AND position > ?2 ORDER BY position DESC LIMIT ?3", &values)?;
    found.reverse();
    Ok(found)
}

/// Tokens of all messages up to and with one.
///
/// # Errors
/// What SQLite says.
pub fn running(connection: &Connection, session: i64, position: i64) -> Result<i64> {
    let found = connection
        .prepare_cached("SELECT running FROM messages WHERE session_id = ?1 AND position <= ?2 ORDER BY position DESC LIMIT 1")?
        .query_row((session, position), |row| row.get(0))
        .optional()?;
    Ok(found.unwrap_or(0))
}

/// The first message of the first turn that begins after a message, when at least so many tokens were said.
///
/// # Errors
/// What SQLite says.
pub fn turn_after(connection: &Connection, session: i64, after: i64, tokens: i64) -> Result<Option<i64>> {
    // What was said before a message is what was said with it, less its own.
    let first = connection
        .prepare_cached("SELECT min(position) FROM messages WHERE session_id = ?1 AND running >= ?2 AND position > ?3")?
        .query_row((session, tokens, after), |row| row.get::<_, Option<i64>>(0))?;
    let Some(first) = first else { return Ok(None) };
    Ok(connection
        .prepare_cached(
            "SELECT position FROM messages WHERE session_id = ?1 AND role = 'user' AND position >= ?2 AND running - tokens >= ?3
             ORDER BY position LIMIT 1",
        )?
        .query_row((session, first, tokens), |row| row.get(0))
        .optional()?)
}

/// The beginning of the last turn, or of the conversation after a message.
///
/// # Errors
/// What SQLite says.
pub fn last_turn(connection: &Connection, session: i64, after: i64) -> Result<i64> {
    let found = connection
        .prepare_cached("SELECT max(position) FROM messages WHERE session_id = ?1 AND role = 'user' AND position > ?2")?
        .query_row((session, after), |row| row.get::<_, Option<i64>>(0))?;
    Ok(found.unwrap_or(after + 1))
}

/// The last message of a stretch, ends included, with whose kind of message something may begin.
///
/// # Errors
/// What SQLite says.
pub fn last_begin(connection: &Connection, session: i64, kind: &str, (from, to): (i64, i64)) -> Result<Option<i64>> {
    let sql = format!("SELECT max(position) FROM messages WHERE session_id = ?1 AND {kind} AND position BETWEEN ?2 AND ?3");
    Ok(connection.prepare_cached(&sql)?.query_row((session, from, to), |row| row.get(0))?)
}

/// The calls of tools that a message makes and that have no answer yet, looked for in the newest turns.
///
/// # Errors
/// What SQLite says.
pub fn call(connection: &Connection, session: i64, before: i64, id: &str) -> Result<Option<ToolCall>> {
    let values = [session, before].map(Value::from);
    let condition = "session_id = ?1 AND position <= ?2 AND position > ?2 - 200 AND tool_calls IS NOT NULL ORDER BY position DESC";
    let found = query(connection, condition, &values)?;
    Ok(found.into_iter().flat_map(|m| m.message.tool_calls).find(|call| call.id == id))
}

/// A sentence worth keeping.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// The message that said it last.
    pub position: i64,
    /// Who said it.
    pub role: Role,
    /// It.
    pub text: String,
    /// Its tokens.
    pub tokens: i64,
    /// What it is worth.
    pub score: f64,
}

/// The best sentences after one message and before another, best first.
///
/// # Errors
/// What SQLite says.
pub fn facts(connection: &Connection, session: i64, after: i64, before: i64, limit: usize) -> Result<Vec<Fact>> {
    let mut statement = connection.prepare_cached(
        "SELECT f.position, f.role, f.text, f.tokens, f.score, coalesce(t.seen, 1) FROM message_facts f
         LEFT JOIN message_terms t ON t.session_id = f.session_id AND t.hash = f.template
         WHERE f.session_id = ?1 AND f.position > ?2 AND f.position < ?3 ORDER BY f.rank DESC, f.position LIMIT ?4",
    )?;
    let found = statement.query_map((session, after, before, i64::try_from(limit).unwrap_or(i64::MAX)), |row| {
        Ok(Fact {
            position: row.get(0)?,
            role: role_of(&row.get::<_, String>(1)?),
            text: row.get(2)?,
            tokens: row.get(3)?,
            score: facts::among(row.get(4)?, row.get(5)?),
        })
    })?;
    let mut found: Vec<Fact> = found.collect::<rusqlite::Result<_>>()?;
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.position.cmp(&b.position)));
    Ok(found)
}
