//! Conversations: the message record, and the selection of messages for the context of a language model.
//!
//! A session has a conversation called `main`, and can have others. Messages are numbered from 1:
//!
//! * Messages up to `cleared_to` were cleared.
//! * Messages up to `dropped_to` were replaced by a summary on request.
//! * Messages up to `compacted_to` are represented by a summary if they do not fit.
//!
//! A context contains as many of the other messages as fit.

pub mod assemble;
pub mod budget;
pub mod compaction;
pub mod erase;
mod fact_rows;
pub mod facts;
mod headings;
pub mod ids;
pub mod kept;
pub mod keys;
pub mod messages;
pub mod prepared;
pub mod rolling;
pub mod search;
pub mod shapes;
pub mod summaries;
mod supersede;
pub mod totals;
pub mod typed;

use std::collections::BTreeMap;

use rusqlite::{Connection, Row};

use afd_store::{Result, Sql as _, args, new_uid, now_ms, parse_list, read, to_json};
use keys::ContextValue;
use rolling::Line;

/// A conversation's state, apart from its messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conversation {
    /// Row id of the conversation; 0 until the conversation is saved for the first time.
    pub id: i64,
    /// Uid of the conversation; empty until the conversation is saved for the first time.
    pub uid: String,
    /// Row id of the session.
    pub session: i64,
    /// Name of the conversation, unique in the session.
    pub name: String,
    /// Model whose tokenizer counts the tokens; `None` for the configured default.
    pub model: Option<String>,
    /// Size of the context, in tokens; `None` for the configured default.
    pub max_tokens: Option<i64>,
    /// Names of context keys tracked in addition to the configured ones.
    pub tracked: Vec<String>,
    /// Values of the context keys.
    pub context: BTreeMap<String, ContextValue>,
    /// Lines of the rolling summary.
    pub rolling: Vec<Line>,
    /// Position of the last message.
    pub position: i64,
    /// Number of the last turn.
    pub turn: i64,
    /// Position of the last cleared message.
    pub cleared_to: i64,
    /// Position of the last message that was removed from the context on request.
    pub dropped_to: i64,
    /// Position of the last message that a summary represents.
    pub compacted_to: i64,
    /// Total tokens of all messages.
    pub tokens: i64,
    /// Total tokens of all messages if each is shortened to its brief length.
    pub brief_tokens: i64,
    /// Total tokens of the messages since the last compaction, including the summary.
    pub used: i64,
}

pub use afd_proto::vocabulary::DEFAULT_CONVERSATION as MAIN;

impl Conversation {
    /// Returns the position of the last message that was cleared or removed from the context on request.
    pub fn begins_after(&self) -> i64 {
        self.cleared_to.max(self.dropped_to)
    }

    /// Returns the position of the last message that was cleared or is represented by a summary.
    pub fn summarised_to(&self) -> i64 {
        self.cleared_to.max(self.compacted_to)
    }

    /// Returns the number of messages since the last compaction.
    pub fn since_compaction(&self) -> i64 {
        self.position - self.summarised_to()
    }
}

const COLUMNS: &str =
    "id, uid, session_id, name, model, max_tokens, tracked, context, rolling, position, turn, cleared_to, dropped_to, compacted_to,
    tokens, brief_tokens, used_tokens";

fn read(row: &Row<'_>) -> rusqlite::Result<Conversation> {
    let text = |name: &str| row.get::<_, String>(name);
    Ok(read!(row => Conversation {
        id, uid, name, model, max_tokens, position, turn, cleared_to, dropped_to, compacted_to, tokens, brief_tokens,
        session: row.get("session_id")?,
        tracked: parse_list(&text("tracked")?),
        context: serde_json::from_str(&text("context")?).unwrap_or_default(),
        rolling: parse_list(&text("rolling")?),
        used: row.get("used_tokens")?,
    }))
}

/// Returns a session's conversation by name, or a new, unsaved conversation if there is none.
pub fn named(connection: &Connection, session: i64, name: &str) -> Result<Conversation> {
    let sql = format!("SELECT {COLUMNS} FROM conversations WHERE session_id = :session_id AND name = :name");
    let found = connection.first(&sql, args! {session_id: session, name}, read)?;
    Ok(found.unwrap_or_else(|| Conversation { session, name: name.to_owned(), ..Conversation::default() }))
}

/// Returns a session's main conversation, or a new, unsaved conversation if there is none.
pub fn of(connection: &Connection, session: i64) -> Result<Conversation> {
    named(connection, session, MAIN)
}

/// Returns a conversation by its row id, if it exists.
pub fn by_id(connection: &Connection, id: i64) -> Result<Option<Conversation>> {
    let sql = format!("SELECT {COLUMNS} FROM conversations WHERE id = :id");
    connection.first(&sql, args! {id}, read)
}

/// Returns all conversations of a session, oldest first.
pub fn all(connection: &Connection, session: i64) -> Result<Vec<Conversation>> {
    let sql = format!("SELECT {COLUMNS} FROM conversations WHERE session_id = :session_id ORDER BY id");
    connection.all(&sql, args! {session_id: session}, read)
}

/// Returns the row ids of the conversations of a session, or of all sessions.
pub fn ids(connection: &Connection, session: Option<i64>) -> Result<Vec<i64>> {
    connection.all(
        "SELECT id FROM conversations WHERE :session_id IS NULL OR session_id = :session_id",
        args! {session_id: session},
        |row| row.get("id"),
    )
}

/// Inserts a conversation that is not stored yet, and sets its row id.
pub fn create(connection: &Connection, origin: &str, c: &mut Conversation) -> Result<()> {
    if c.id == 0 {
        save(connection, origin, c)?;
        c.id = named(connection, c.session, &c.name)?.id;
    }
    Ok(())
}

/// Inserts or updates a conversation.
pub fn save(connection: &Connection, origin: &str, c: &Conversation) -> Result<()> {
    connection.run(
        "INSERT INTO conversations (session_id, name, uid, origin, model, max_tokens, tracked, context, rolling, position, turn,
                cleared_to, dropped_to, compacted_to, tokens, brief_tokens, used_tokens, updated_at)
             VALUES (:session_id, :name, :uid, :origin, :model, :max_tokens, :tracked, :context, :rolling, :position, :turn,
                :cleared_to, :dropped_to, :compacted_to, :tokens, :brief_tokens, :used_tokens, :updated_at)
             ON CONFLICT (session_id, name) DO UPDATE SET model = excluded.model, max_tokens = excluded.max_tokens,
                tracked = excluded.tracked, context = excluded.context, rolling = excluded.rolling, position = excluded.position,
                turn = excluded.turn, cleared_to = excluded.cleared_to, dropped_to = excluded.dropped_to,
                compacted_to = excluded.compacted_to, tokens = excluded.tokens, brief_tokens = excluded.brief_tokens,
                used_tokens = excluded.used_tokens, updated_at = excluded.updated_at",
        args! {
            session_id: c.session, name: if c.name.is_empty() { MAIN } else { &c.name }, uid: new_uid(), origin,
            model: c.model, max_tokens: c.max_tokens, tracked: to_json(&c.tracked), context: to_json(&c.context),
            rolling: to_json(&c.rolling), position: c.position, turn: c.turn, cleared_to: c.cleared_to,
            dropped_to: c.dropped_to, compacted_to: c.compacted_to, tokens: c.tokens, brief_tokens: c.brief_tokens,
            used_tokens: c.used, updated_at: now_ms()
        },
    )?;
    Ok(())
}
