//! The message record of a conversation: append-only, with a running token total.
//!
//! The `running` column holds the total tokens of all messages up to and including its row. The size of a range is
//! therefore the difference between two rows, and an index finds the position at which a given total is reached.

use afd_proto::conversation::{Message, RecordedMessage, Role, ToolCall};
use rusqlite::{Connection, Row, ToSql};

use super::Conversation;
use super::facts::{self, Candidate};
use super::kept::{self, Said, TermCounts};
use super::prepared::{Prepared, asked_by, brief_tokens, pictures, said_text, statements};
use afd_base::model::Counter;
use afd_store::{Page, Piece, Result, Sql as _, args, elsewhere, new_uid, now_ms, parse_list, read, to_json, word};

/// Returns the uids of the artifacts of the images in the messages of a conversation.
pub fn shown(connection: &Connection, conversation: i64) -> Result<Vec<String>> {
    let values = args! {conversation};
    let with_pictures = query(connection, "conversation_id = :conversation AND content LIKE '%\"artifact\"%'", values)?;
    Ok(with_pictures.iter().flat_map(|m| pictures(&m.message)).map(str::to_owned).collect())
}

/// Returns the number of messages of a conversation that were not deleted.
pub fn count(connection: &Connection, conversation: i64) -> Result<i64> {
    connection.one(
        "SELECT count(*) AS count FROM messages INDEXED BY messages_live WHERE conversation_id = :conversation_id AND deleted_at IS NULL",
        args! {conversation_id: conversation},
        |row| row.get("count"),
    )
}

/// Returns the tool name in a message. For a tool result without a name, returns the name of the tool that was called.
fn tool_of(connection: &Connection, conversation: i64, position: i64, message: &Message) -> Result<Option<String>> {
    match (message.role, &message.name, &message.tool_call_id) {
        (Role::Tool, None, Some(id)) => Ok(call(connection, conversation, position, id)?.map(|call| call.name)),
        (_, name, _) => Ok(name.clone()),
    }
}

/// Number of messages whose statements are derived in one step after an upgrade.
const INDEX_BATCH: i64 = 100;

/// Derives the statements of up to `INDEX_BATCH` messages that do not have them yet, oldest first.
/// Returns whether all messages have them now.
pub fn index_some(connection: &Connection, origin: &str, piece: &Piece) -> Result<bool> {
    let rows: Vec<(i64, i64, i64)> = connection.all(
        "SELECT id, conversation_id, position FROM messages WHERE indexed = 0 ORDER BY id LIMIT :limit",
        args! {limit: INDEX_BATCH},
        |row| Ok((row.get("id")?, row.get("conversation_id")?, row.get("position")?)),
    )?;
    let counter = Counter::estimate();
    for (id, conversation, position) in &rows {
        let mut found = between(connection, *conversation, position - 2, *position)?;
        if let Some(recorded) = found.pop().filter(|m| m.position == *position) {
            let before = found
                .pop()
                .filter(|_| recorded.message.role == Role::User)
                .and_then(|m| asked_by(&m.message))
                .and_then(|text| facts::lead(&text));
            let mut seen = TermCounts::default();
            let source = tool_of(connection, *conversation, *position, &recorded.message)?;
            let source = source.as_deref();
            let said = Said {
                conversation: *conversation,
                position: *position,
                role: recorded.message.role,
                source,
                at: recorded.at,
            };
            let statements = statements(&recorded.message, before.as_deref(), &counter);
            derive(connection, origin, said, &recorded.message, &statements, &mut seen)?;
            seen.save(connection, *conversation)?;
        }
        connection.run("UPDATE messages SET indexed = 1 WHERE id = :id", args! {id})?;
        if piece.is_over() {
            return Ok(false);
        }
    }
    Ok(i64::try_from(rows.len()).unwrap_or(0) < INDEX_BATCH)
}

/// Writes the statements derived from a message.
pub fn derive(
    connection: &Connection,
    origin: &str,
    said: Said<'_>,
    message: &Message,
    statements: &[(Candidate, i64)],
    seen: &mut TermCounts,
) -> Result<()> {
    kept::keep(connection, origin, said, statements, seen)?;
    kept::echo(connection, said, &said_text(message))
}

/// Appends a message to a conversation, with its statements, and updates the position, turn and
/// token totals of `conversation`.
pub fn append(
    connection: &Connection,
    origin: &str,
    conversation: &mut Conversation,
    prepared: &Prepared,
    seen: &mut TermCounts,
) -> Result<()> {
    let now = now_ms();
    let message = &prepared.message;
    conversation.position += 1;
    conversation.turn += i64::from(message.role == Role::User);
    conversation.tokens += prepared.tokens;
    conversation.brief_tokens += brief_tokens(message.role, prepared.tokens);
    conversation.used += prepared.tokens;
    connection.run(
        "INSERT INTO messages (uid, origin, conversation_id, position, turn, role, content, tool_calls, tool_call_id, name, extra, failed,
                tokens, running, brief_running, tokenizer, indexed, at, updated_at)
             VALUES (:uid, :origin, :conversation_id, :position, :turn, :role, :content, :tool_calls, :tool_call_id, :name, :extra, :failed,
                :tokens, :running, :brief_running, :tokenizer, 1, :now, :now)",
        args! {
            uid: new_uid(), origin, conversation_id: conversation.id, position: conversation.position,
            turn: conversation.turn, role: message.role.word(), content: to_json(&message.content),
            tool_calls: (!message.tool_calls.is_empty()).then(|| to_json(&message.tool_calls)),
            tool_call_id: message.tool_call_id, name: message.name, failed: message.failed, tokens: prepared.tokens,
            extra: (!message.extra.is_empty()).then(|| to_json(&message.extra)), running: conversation.tokens,
            brief_running: conversation.brief_tokens, tokenizer: prepared.tokenizer, now
        },
    )?;
    let source = tool_of(connection, conversation.id, conversation.position, message)?;
    let source = source.as_deref();
    let said =
        Said { conversation: conversation.id, position: conversation.position, role: message.role, source, at: now };
    derive(connection, origin, said, message, &prepared.facts, seen)
}

const COLUMNS: &str = concat!(
    "uid, position, turn, role, content, tool_calls, tool_call_id, name, extra, failed, tokens, tokenizer, at, ",
    elsewhere!("messages")
);

fn read(row: &Row<'_>) -> rusqlite::Result<RecordedMessage> {
    let content: String = row.get("content")?;
    let calls: Vec<ToolCall> =
        row.get::<_, Option<String>>("tool_calls")?.map(|text| parse_list(&text)).unwrap_or_default();
    Ok(read!(row => RecordedMessage {
        uid, position, turn, tokens, tokenizer, at,
        origin: row.get("elsewhere")?,
        message: read!(row => Message {
            tool_call_id, name, failed,
            role: word(row, "role")?,
            content: serde_json::from_str(&content).unwrap_or_default(),
            tool_calls: calls,
            extra: row
                .get::<_, Option<String>>("extra")?
                .and_then(|text| serde_json::from_str(&text).ok())
                .unwrap_or_default(),
        }),
        in_context: false,
    }))
}

/// A message with the session and the conversation that it belongs to.
#[derive(Debug, Clone)]
pub struct Kept {
    /// The message.
    pub recorded: RecordedMessage,
    /// Row id of the session.
    pub session: i64,
    /// Name of the session.
    pub session_name: String,
    /// Row id of the conversation.
    pub conversation: i64,
    /// Name of the conversation.
    pub conversation_name: String,
}

/// Returns the message with this row id, unless it or its session was deleted.
pub fn one(connection: &Connection, id: i64) -> Result<Option<Kept>> {
    let names = "v.session_id, s.name AS session_name, v.name AS conversation_name";
    let sql = format!(
        "SELECT {COLUMNS}, conversation_id, session_id, session_name, conversation_name FROM
            (SELECT m.*, {names} FROM messages m JOIN conversations v ON v.id = m.conversation_id
             JOIN sessions s ON s.id = v.session_id WHERE m.id = :id AND m.deleted_at IS NULL AND s.deleted_at IS NULL)
            AS messages"
    );
    connection.first(&sql, args! {id}, |row| {
        Ok(Kept {
            recorded: read(row)?,
            session: row.get("session_id")?,
            session_name: row.get("session_name")?,
            conversation: row.get("conversation_id")?,
            conversation_name: row.get("conversation_name")?,
        })
    })
}

fn query(connection: &Connection, condition: &str, values: &[(&str, &dyn ToSql)]) -> Result<Vec<RecordedMessage>> {
    let sql = format!("SELECT {COLUMNS} FROM messages WHERE deleted_at IS NULL AND {condition}");
    connection.all(&sql, values, read)
}

/// Returns the messages after position `after` up to and including `upto`, oldest first.
pub fn between(connection: &Connection, conversation: i64, after: i64, upto: i64) -> Result<Vec<RecordedMessage>> {
    let values = args! {conversation, after, upto};
    query(
        connection,
        "conversation_id = :conversation AND position > :after AND position <= :upto ORDER BY position",
        values,
    )
}

/// Returns a page of messages, newest first, and the cursor for the next page.
pub fn newest(connection: &Connection, conversation: i64, page: Page) -> Result<(Vec<RecordedMessage>, Option<i64>)> {
    let (before, limit) = (page.cursor.unwrap_or(i64::MAX), page.reads());
    let values = args! {conversation, before, limit};
    let mut found = query(
        connection,
        "conversation_id = :conversation AND position < :before ORDER BY position DESC LIMIT :limit",
        values,
    )?;
    let next = page.cut(&mut found, |message| message.position);
    Ok((found, next))
}

/// Returns the newest `limit` non-empty user requests and final answers after position `after`, oldest first. Assistant
/// messages with tool calls are not final answers.
pub fn last_requests_and_answers(
    connection: &Connection,
    conversation: i64,
    after: i64,
    limit: usize,
) -> Result<Vec<RecordedMessage>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let values = args! {conversation, after, limit};
    let condition = "conversation_id = :conversation AND position > :after AND (role = 'user' OR (role = 'assistant' AND tool_calls IS NULL)) AND content NOT IN ('\"\"', '[]')
        ORDER BY position DESC LIMIT :limit";
    let mut found = query(connection, condition, values)?;
    found.reverse();
    Ok(found)
}

/// Maximum number of system messages in a context.
const MAX_RULES: usize = 8;

/// Returns the system messages ("rules") after position `after`, oldest first. If there are more than `MAX_RULES`,
/// returns the first one, which usually states the purpose, and the newest ones.
pub fn rules(connection: &Connection, conversation: i64, after: i64) -> Result<Vec<RecordedMessage>> {
    let of = "conversation_id = :conversation AND role = 'system' AND position > :after ORDER BY position";
    let values = args! {conversation, after};
    let mut found = query(connection, &format!("{of} DESC LIMIT {MAX_RULES}"), values)?;
    if found.len() == MAX_RULES
        && let Some(first) = query(connection, &format!("{of} LIMIT 1"), values)?.pop()
        && found.last().is_some_and(|oldest| oldest.position > first.position)
    {
        found.pop();
        found.push(first);
    }
    found.reverse();
    Ok(found)
}

/// Returns the number of system messages after position `after`, and their total tokens.
pub fn count_rules(connection: &Connection, conversation: i64, after: i64) -> Result<(i64, i64)> {
    connection.one(
        "SELECT count(*) AS count, coalesce(sum(tokens), 0) AS total FROM messages WHERE conversation_id = :conversation_id AND role = 'system'
                AND position > :position",
        args! {conversation_id: conversation, position: after},
        |row| Ok((row.get("count")?, row.get("total")?)),
    )
}

/// Returns the request that the message at position `before` belongs to: the last user message between `after` and
/// `before`.
pub fn request_of(
    connection: &Connection,
    conversation: i64,
    after: i64,
    before: i64,
) -> Result<Option<RecordedMessage>> {
    let values = args! {conversation, after, before};
    let condition = "conversation_id = :conversation AND role = 'user' AND position > :after AND position < :before ORDER BY position DESC LIMIT 1";
    Ok(query(connection, condition, values)?.pop())
}

/// Kind of message that [`last_matching`] searches for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// User messages.
    User,
    /// All messages except tool results.
    NotTool,
    /// User and assistant messages.
    Said,
}

impl Wanted {
    fn condition(self) -> &'static str {
        match self {
            Self::User => "role = 'user'",
            Self::NotTool => "role <> 'tool'",
            Self::Said => "role NOT IN ('tool', 'system')",
        }
    }
}

/// Returns the position of the last wanted message in the inclusive range `from..=to`.
pub fn last_matching(
    connection: &Connection,
    conversation: i64,
    wanted: Wanted,
    (from, to): (i64, i64),
) -> Result<Option<i64>> {
    let sql = format!(
        "SELECT max(position) AS max_position FROM messages
         WHERE conversation_id = :conversation_id AND {} AND position BETWEEN :from AND :to",
        wanted.condition()
    );
    connection.one(&sql, args! {conversation_id: conversation, from, to}, |row| row.get("max_position"))
}

/// Returns the position of the first message at or after `from` that is not a tool result.
pub fn next_step_start(connection: &Connection, conversation: i64, from: i64) -> Result<Option<i64>> {
    connection.first(
        "SELECT position FROM messages WHERE conversation_id = :conversation_id AND position >= :position AND role <> 'tool' ORDER BY position
                LIMIT 1",
        args! {conversation_id: conversation, position: from},
        |row| row.get("position"),
    )
}

/// Maximum number of messages that are searched backwards for the call that a tool result belongs to.
pub const CALL_LOOKBACK: i64 = 200;

/// Returns the tool call with this id, if one of the last `CALL_LOOKBACK` messages up to `before` made it.
pub fn call(connection: &Connection, conversation: i64, before: i64, id: &str) -> Result<Option<ToolCall>> {
    let mut statement = connection.prepare_cached(
        "SELECT tool_calls FROM messages WHERE conversation_id = :conversation AND position <= :before AND position > :after
            AND tool_calls IS NOT NULL
         ORDER BY position DESC",
    )?;
    let mut rows = statement.query(args! {conversation, before, after: before - CALL_LOOKBACK})?;
    while let Some(row) = rows.next()? {
        let calls: Vec<ToolCall> = parse_list(&row.get::<_, String>("tool_calls")?);
        if let Some(call) = calls.into_iter().find(|call| call.id == id) {
            return Ok(Some(call));
        }
    }
    Ok(None)
}
