//! The message record of a conversation: append-only, with a running token total.
//!
//! `running` holds the tokens of all messages up to and including a row, so the size of any range is the difference of
//! two rows, and the position at which a given total is reached is found by index.

use afd_proto::conversation::{Content, Message, Part, RecordedMessage, Role, ToolCall};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, named_params};

use super::super::{json, parse_list};
use super::Conversation;
use super::facts::{self, Candidate};
use super::kept::{self, Said, TermCounts};
use super::search;
use afd_base::model::Counter;
use afd_store::{Page, Piece, Result, elsewhere, new_uid, now_ms, word};

/// Tokens a message costs in addition to its content.
const MESSAGE_OVERHEAD: i64 = 4;
/// Pixels of an image per token.
const PIXELS_PER_TOKEN: u64 = 750;
/// Assumed width and height of an image of unknown size, pixels.
const UNKNOWN_SIDE: u32 = 1024;

/// Counts the tokens of a message: a fixed overhead, its content, and its tool calls.
pub fn tokens(message: &Message, counter: &Counter) -> i64 {
    let content = match &message.content {
        Content::Text(text) => counter.count(text),
        Content::Parts(parts) => parts.iter().map(|part| tokens_of_part(part, counter)).sum(),
    };
    let calls: i64 =
        message.tool_calls.iter().map(|call| counter.count(&call.name) + counter.count(&json(&call.arguments))).sum();
    MESSAGE_OVERHEAD + content + calls
}

/// Counts the tokens of what a client's message has besides, if it is handed over: reasoning, and other fields of
/// calls.
pub fn extra_tokens(message: &Message, counter: &Counter) -> i64 {
    let of = |extra: &serde_json::Map<String, serde_json::Value>| {
        if extra.is_empty() { 0 } else { counter.count(&json(extra)) }
    };
    of(&message.extra) + message.tool_calls.iter().map(|call| of(&call.extra)).sum::<i64>()
}

/// Counts the tokens of a part; an image costs in proportion to its area.
pub fn tokens_of_part(part: &Part, counter: &Counter) -> i64 {
    match part {
        Part::Text { text } => counter.count(text),
        Part::Image { width, height, .. } => {
            let pixels = u64::from(width.unwrap_or(UNKNOWN_SIDE)) * u64::from(height.unwrap_or(UNKNOWN_SIDE));
            i64::try_from(pixels.div_ceil(PIXELS_PER_TOKEN)).unwrap_or(i64::MAX)
        }
    }
}

/// A message with its token count and candidate facts, computed before the write transaction so that the writer thread
/// is not held up.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The message.
    pub message: Message,
    /// Its token count.
    pub tokens: i64,
    /// Name of the tokenizer that counted them.
    pub tokenizer: &'static str,
    /// Sentences that are candidates for facts, with their token counts.
    pub facts: Vec<(Candidate, i64)>,
}

impl Prepared {
    /// Returns the uids of the artifacts its images refer to.
    pub fn pictures(&self) -> Vec<&str> {
        pictures(&self.message)
    }

    /// Counts the tokens of a message and extracts its statements. `before` is the text of the message before.
    pub fn of(message: Message, before: Option<&str>, counter: &Counter) -> Self {
        let lead = before.and_then(facts::lead).filter(|_| message.role == Role::User);
        let facts = statements(&message, lead.as_deref(), counter);
        Self { tokens: tokens(&message, counter), tokenizer: counter.name(), facts, message }
    }
}

/// Returns the statements of a message with their token counts.
pub fn statements(message: &Message, lead: Option<&str>, counter: &Counter) -> Vec<(Candidate, i64)> {
    let found = facts::candidates(message.role, &said_text(message), lead);
    found
        .into_iter()
        .map(|c| (counter.count(&c.text) + c.about.as_ref().map_or(0, |a| counter.count(&a.text) + 4), c))
        .map(|(n, c)| (c, n))
        .collect()
}

/// Returns the tokens of a message once its middle has been cut to the length that older messages have in a context, by
/// role.
pub fn brief_tokens(role: Role, tokens: i64) -> i64 {
    tokens.min(brief_limit(role))
}

/// Returns the maximum tokens of an older message in a context. The migration that adds `brief_running` states the same
/// figures.
pub fn brief_limit(role: Role) -> i64 {
    match role {
        Role::Tool => 240,
        Role::Assistant => 480,
        Role::User | Role::System => 960,
    }
}

/// Returns the uids of the artifacts that the images of a message refer to.
pub fn pictures(message: &Message) -> Vec<&str> {
    let Content::Parts(parts) = &message.content else { return Vec::new() };
    let artifacts = parts.iter().filter_map(|part| match part {
        Part::Image { artifact, .. } => artifact.as_deref(),
        Part::Text { .. } => None,
    });
    artifacts.collect()
}

/// Returns the uids of the artifacts that the messages of a conversation show.
pub fn shown(connection: &Connection, conversation: i64) -> Result<Vec<String>> {
    let values = named_params! {":conversation": conversation};
    let with_pictures = query(connection, "conversation_id = :conversation AND content LIKE '%\"artifact\"%'", values)?;
    Ok(with_pictures.iter().flat_map(|m| pictures(&m.message)).map(str::to_owned).collect())
}

/// Returns the number of messages of a conversation that were not deleted.
pub fn count(connection: &Connection, conversation: i64) -> Result<i64> {
    Ok(connection
        .prepare_cached("SELECT count(*) AS count FROM messages INDEXED BY messages_live WHERE conversation_id = :conversation_id AND deleted_at IS NULL")?
        .query_row(named_params! {":conversation_id": conversation}, |row| row.get("count"))?)
}

/// Returns the name of the tool whose result a message is: its own, else that of the call.
fn tool_of(connection: &Connection, conversation: i64, position: i64, message: &Message) -> Result<Option<String>> {
    match (message.role, &message.name, &message.tool_call_id) {
        (Role::Tool, None, Some(id)) => Ok(call(connection, conversation, position, id)?.map(|call| call.name)),
        (_, name, _) => Ok(name.clone()),
    }
}

/// Number of messages whose statements and search entries are made in one step after an upgrade.
const INDEX_BATCH: i64 = 100;

/// Makes the statements and search entries of some messages that have none yet, oldest first. Returns whether none are
/// left.
pub fn index_some(connection: &Connection, origin: &str, piece: &Piece) -> Result<bool> {
    let mut statement = connection.prepare_cached(
        "SELECT id, conversation_id, position FROM messages WHERE indexed = 0 ORDER BY id LIMIT :limit",
    )?;
    let rows = statement.query_map(named_params! {":limit": INDEX_BATCH}, |row| {
        Ok((row.get("id")?, row.get("conversation_id")?, row.get("position")?))
    })?;
    let rows: Vec<(i64, i64, i64)> = rows.collect::<rusqlite::Result<_>>()?;
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
        connection
            .prepare_cached("UPDATE messages SET indexed = 1 WHERE id = :id")?
            .execute(named_params! {":id": id})?;
        if piece.is_over() {
            return Ok(false);
        }
    }
    Ok(i64::try_from(rows.len()).unwrap_or(0) < INDEX_BATCH)
}

/// Returns what a message says by itself: its texts, without those that a context handed over and a client appended
/// again.
pub fn said_text(message: &Message) -> String {
    let starts = [super::assemble::DATA, super::assemble::HEADING, super::assemble::KEYS];
    let is_ours = |text: &str| starts.iter().any(|start| text.starts_with(start));
    match &message.content {
        Content::Text(text) if is_ours(text) => String::new(),
        Content::Text(text) => text.clone(),
        Content::Parts(parts) => {
            let own = parts.iter().filter_map(|part| match part {
                Part::Text { text } if !is_ours(text) => Some(text.as_str()),
                _ => None,
            });
            own.collect::<Vec<_>>().join("\n")
        }
    }
}

/// Returns what a message says that the next one may answer: only what the assistant says, because a text of a tool or
/// page must not become part of what the user said.
pub fn asked_by(message: &Message) -> Option<String> {
    (message.role == Role::Assistant).then(|| said_text(message))
}

/// Returns the text by which a message is found: its content, and the calls that it makes.
pub fn searched_text(message: &Message) -> String {
    let calls: String =
        message.tool_calls.iter().map(|call| format!("\n{} {}", call.name, json(&call.arguments))).collect();
    said_text(message) + &calls
}

/// Writes what is derived from a message: its statements and its search entries.
pub fn derive(
    connection: &Connection,
    origin: &str,
    said: Said<'_>,
    message: &Message,
    statements: &[(Candidate, i64)],
    seen: &mut TermCounts,
) -> Result<()> {
    kept::keep(connection, origin, said, statements, seen)?;
    kept::echo(connection, said, &said_text(message))?;
    search::index(connection, said.conversation, said.position, &searched_text(message))
}

/// Appends a message to a conversation, with its statements and its search entry, and updates the position, turn and
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
    connection
        .prepare_cached(
            "INSERT INTO messages (uid, origin, conversation_id, position, turn, role, content, tool_calls, tool_call_id, name, extra, failed,
                tokens, running, brief_running, tokenizer, indexed, at, updated_at)
             VALUES (:uid, :origin, :conversation_id, :position, :turn, :role, :content, :tool_calls, :tool_call_id, :name, :extra, :failed,
                :tokens, :running, :brief_running, :tokenizer, 1, :now, :now)",
        )?
        .execute(named_params! {
            ":uid": new_uid(),
            ":origin": origin,
            ":conversation_id": conversation.id,
            ":position": conversation.position,
            ":turn": conversation.turn,
            ":role": message.role.word(),
            ":content": json(&message.content),
            ":tool_calls": (!message.tool_calls.is_empty()).then(|| json(&message.tool_calls)),
            ":tool_call_id": message.tool_call_id,
            ":name": message.name,
            ":failed": message.failed,
            ":tokens": prepared.tokens,
            ":extra": (!message.extra.is_empty()).then(|| json(&message.extra)),
            ":running": conversation.tokens,
            ":brief_running": conversation.brief_tokens,
            ":tokenizer": prepared.tokenizer,
            ":now": now,
        })?;
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
    Ok(RecordedMessage {
        uid: row.get("uid")?,
        origin: row.get("elsewhere")?,
        position: row.get("position")?,
        turn: row.get("turn")?,
        message: Message {
            role: word(row, "role")?,
            content: serde_json::from_str(&content).unwrap_or_default(),
            tool_calls: calls,
            tool_call_id: row.get("tool_call_id")?,
            name: row.get("name")?,
            extra: row
                .get::<_, Option<String>>("extra")?
                .and_then(|text| serde_json::from_str(&text).ok())
                .unwrap_or_default(),
            failed: row.get("failed")?,
        },
        tokens: row.get("tokens")?,
        tokenizer: row.get("tokenizer")?,
        in_context: false,
        at: row.get("at")?,
    })
}

fn query(connection: &Connection, condition: &str, values: &[(&str, &dyn ToSql)]) -> Result<Vec<RecordedMessage>> {
    let sql = format!("SELECT {COLUMNS} FROM messages WHERE deleted_at IS NULL AND {condition}");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map(values, read)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Returns the messages after position `after` up to and including `upto`, oldest first.
pub fn between(connection: &Connection, conversation: i64, after: i64, upto: i64) -> Result<Vec<RecordedMessage>> {
    let values = named_params! {":conversation": conversation, ":after": after, ":upto": upto};
    query(
        connection,
        "conversation_id = :conversation AND position > :after AND position <= :upto ORDER BY position",
        values,
    )
}

/// Returns a page of messages, newest first, and the cursor of the next page.
pub fn newest(connection: &Connection, conversation: i64, page: Page) -> Result<(Vec<RecordedMessage>, Option<i64>)> {
    let (before, limit) = (page.cursor.unwrap_or(i64::MAX), page.reads());
    let values = named_params! {":conversation": conversation, ":before": before, ":limit": limit};
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
    let values = named_params! {":conversation": conversation, ":after": after, ":limit": limit};
    let condition = "conversation_id = :conversation AND position > :after AND (role = 'user' OR (role = 'assistant' AND tool_calls IS NULL)) AND content NOT IN ('\"\"', '[]')
        ORDER BY position DESC LIMIT :limit";
    let mut found = query(connection, condition, values)?;
    found.reverse();
    Ok(found)
}

/// Maximum number of system messages in a context.
const MAX_RULES: usize = 8;

/// Returns the system messages ("rules") after position `after`, oldest first. If there are more than `MAX_RULES`,
/// these are the first one, which usually states the purpose, and the newest.
pub fn rules(connection: &Connection, conversation: i64, after: i64) -> Result<Vec<RecordedMessage>> {
    let of = "conversation_id = :conversation AND role = 'system' AND position > :after ORDER BY position";
    let values = named_params! {":conversation": conversation, ":after": after};
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
    Ok(connection
        .prepare_cached(
            "SELECT count(*) AS count, coalesce(sum(tokens), 0) AS total FROM messages WHERE conversation_id = :conversation_id AND role = 'system'
                AND position > :position",
        )?
        .query_row(named_params! {":conversation_id": conversation, ":position": after}, |row| Ok((row.get("count")?, row.get("total")?)))?)
}

/// Returns the request that the message at position `before` belongs to: the last user message between `after` and
/// `before`.
pub fn request_of(
    connection: &Connection,
    conversation: i64,
    after: i64,
    before: i64,
) -> Result<Option<RecordedMessage>> {
    let values = named_params! {":conversation": conversation, ":after": after, ":before": before};
    let condition = "conversation_id = :conversation AND role = 'user' AND position > :after AND position < :before ORDER BY position DESC LIMIT 1";
    Ok(query(connection, condition, values)?.pop())
}

/// Returns the tokens of all messages up to and including `position`.
pub fn running(connection: &Connection, conversation: i64, position: i64) -> Result<i64> {
    let found = connection
        .prepare_cached(
            "SELECT running FROM messages WHERE conversation_id = :conversation_id AND position <= :position ORDER BY position DESC LIMIT 1",
        )?
        .query_row(named_params! {":conversation_id": conversation, ":position": position}, |row| row.get("running"))
        .optional()?;
    Ok(found.unwrap_or(0))
}

/// Returns the tokens by which the conversation grew from one answer of the assistant to the next, at most, over the
/// last `answers` answers. The first message counts as an answer.
pub fn growth(connection: &Connection, conversation: i64, answers: i64) -> Result<i64> {
    let sql = "SELECT running - tokens AS before FROM messages
        WHERE conversation_id = :conversation_id AND (role = 'assistant' OR position = 1) ORDER BY position DESC LIMIT :answers";
    let mut statement = connection.prepare_cached(sql)?;
    let before = statement
        .query_map(named_params! {":conversation_id": conversation, ":answers": answers}, |row| row.get("before"))?;
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
    Ok(connection
        .prepare_cached(
            "SELECT position FROM messages WHERE conversation_id = :conversation_id AND running >= :running AND position > :position
            ORDER BY running LIMIT 1",
        )?
        .query_row(named_params! {":conversation_id": conversation, ":running": tokens, ":position": after}, |row| row.get("position"))
        .optional()?)
}

/// Returns the position of the first message after `after` at which the brief running total reaches `tokens`.
pub fn first_reaching_brief(
    connection: &Connection,
    conversation: i64,
    after: i64,
    tokens: i64,
) -> Result<Option<i64>> {
    Ok(connection
        .prepare_cached(
            "SELECT position FROM messages WHERE conversation_id = :conversation_id AND brief_running >= :tokens AND position > :position
                AND deleted_at IS NULL ORDER BY brief_running LIMIT 1",
        )?
        .query_row(named_params! {":conversation_id": conversation, ":tokens": tokens, ":position": after}, |row| row.get("position"))
        .optional()?)
}

/// Returns the brief tokens of all messages up to and including `position`.
pub fn brief_running(connection: &Connection, conversation: i64, position: i64) -> Result<i64> {
    let found = connection
        .prepare_cached(
            "SELECT brief_running FROM messages WHERE conversation_id = :conversation_id AND position <= :position
                ORDER BY position DESC LIMIT 1",
        )?
        .query_row(named_params! {":conversation_id": conversation, ":position": position}, |row| {
            row.get("brief_running")
        })
        .optional()?;
    Ok(found.unwrap_or(0))
}

/// Returns the last message in the inclusive range `from..=to` that meets `kind`, an SQL condition such as `role =
/// 'user'`.
pub fn last_matching(
    connection: &Connection,
    conversation: i64,
    kind: &str,
    (from, to): (i64, i64),
) -> Result<Option<i64>> {
    let sql = format!(
        "SELECT max(position) AS max_position FROM messages WHERE conversation_id = :conversation_id AND {kind} AND position BETWEEN :from AND :to"
    );
    Ok(connection
        .prepare_cached(&sql)?
        .query_row(named_params! {":conversation_id": conversation, ":from": from, ":to": to}, |row| {
            row.get("max_position")
        })?)
}

/// Returns the first message at or after `from` that is not a tool result.
pub fn next_step_start(connection: &Connection, conversation: i64, from: i64) -> Result<Option<i64>> {
    Ok(connection
        .prepare_cached(
            "SELECT position FROM messages WHERE conversation_id = :conversation_id AND position >= :position AND role <> 'tool' ORDER BY position
                LIMIT 1",
        )?
        .query_row(named_params! {":conversation_id": conversation, ":position": from}, |row| row.get("position"))
        .optional()?)
}

/// Number of messages searched backwards for the call that a tool result belongs to.
pub const CALL_LOOKBACK: i64 = 200;

/// Returns the tool call with this id, if one of the last `CALL_LOOKBACK` messages up to `before` made it.
pub fn call(connection: &Connection, conversation: i64, before: i64, id: &str) -> Result<Option<ToolCall>> {
    let mut statement = connection.prepare_cached(
        "SELECT tool_calls FROM messages WHERE conversation_id = :conversation AND position <= :before AND position > :after
            AND tool_calls IS NOT NULL
         ORDER BY position DESC",
    )?;
    let mut rows = statement
        .query(named_params! {":conversation": conversation, ":before": before, ":after": before - CALL_LOOKBACK})?;
    while let Some(row) = rows.next()? {
        let calls: Vec<ToolCall> = parse_list(&row.get::<_, String>("tool_calls")?);
        if let Some(call) = calls.into_iter().find(|call| call.id == id) {
            return Ok(Some(call));
        }
    }
    Ok(None)
}
