//! Conversations: the message record, and which part of it is in the context of the language model.
//!
//! Messages are numbered from 1 and never deleted. Those up to `cleared_to` were cleared, those up to `compacted_to` are represented by a
//! summary; the rest is in the context.

pub mod assemble;
pub mod budget;
pub mod compaction;
pub mod facts;
pub mod kept;
pub mod keys;
pub mod messages;
pub mod rolling;
pub mod shapes;
pub mod summaries;

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, named_params};

use super::{json, parse_list};
use crate::store::{Result, new_uid, now_ms};
use keys::ContextValue;
use rolling::Line;

/// State of a conversation apart from its messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conversation {
    /// Row id of the session.
    pub session: i64,
    /// Model whose tokenizer counts; `None` for the configured default.
    pub model: Option<String>,
    /// Size of the context, tokens; `None` for the configured default.
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
    /// Position of the last message that a summary represents.
    pub compacted_to: i64,
    /// Tokens of all messages.
    pub tokens: i64,
    /// Tokens of the messages in the context, including the summary.
    pub used: i64,
}

impl Conversation {
    /// Returns the position of the last message that is not in the context.
    pub fn begins_after(&self) -> i64 {
        self.cleared_to.max(self.compacted_to)
    }

    /// Returns the number of messages in the context.
    pub fn in_context(&self) -> i64 {
        self.position - self.begins_after()
    }
}

/// Returns the conversation of a session; empty if it has no messages yet.
pub fn of(connection: &Connection, session: i64) -> Result<Conversation> {
    let found = connection
        .prepare_cached(
            "SELECT model, max_tokens, tracked, context, rolling, position, turn, cleared_to, compacted_to, tokens, used_tokens
             FROM conversations WHERE session_id = :session_id",
        )?
        .query_row(named_params! {":session_id": session}, |row| {
            let text = |name: &str| row.get::<_, String>(name);
            Ok(Conversation {
                session,
                model: row.get("model")?,
                max_tokens: row.get("max_tokens")?,
                tracked: parse_list(&text("tracked")?),
                context: serde_json::from_str(&text("context")?).unwrap_or_default(),
                rolling: parse_list(&text("rolling")?),
                position: row.get("position")?,
                turn: row.get("turn")?,
                cleared_to: row.get("cleared_to")?,
                compacted_to: row.get("compacted_to")?,
                tokens: row.get("tokens")?,
                used: row.get("used_tokens")?,
            })
        })
        .optional()?;
    Ok(found.unwrap_or(Conversation { session, ..Conversation::default() }))
}

/// Inserts or updates a conversation.
pub fn save(connection: &Connection, origin: &str, c: &Conversation) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO conversations (session_id, uid, origin, model, max_tokens, tracked, context, rolling, position, turn, cleared_to,
                compacted_to, tokens, used_tokens, updated_at)
             VALUES (:session_id, :uid, :origin, :model, :max_tokens, :tracked, :context, :rolling, :position, :turn, :cleared_to,
             :compacted_to, :tokens, :used_tokens, :updated_at)
             ON CONFLICT (session_id) DO UPDATE SET model = excluded.model, max_tokens = excluded.max_tokens, tracked = excluded.tracked,
                context = excluded.context, rolling = excluded.rolling, position = excluded.position, turn = excluded.turn,
                cleared_to = excluded.cleared_to, compacted_to = excluded.compacted_to, tokens = excluded.tokens,
                used_tokens = excluded.used_tokens, updated_at = excluded.updated_at",
        )?
        .execute(named_params! {
            ":session_id": c.session,
            ":uid": new_uid(),
            ":origin": origin,
            ":model": c.model,
            ":max_tokens": c.max_tokens,
            ":tracked": json(&c.tracked),
            ":context": json(&c.context),
            ":rolling": json(&c.rolling),
            ":position": c.position,
            ":turn": c.turn,
            ":cleared_to": c.cleared_to,
            ":compacted_to": c.compacted_to,
            ":tokens": c.tokens,
            ":used_tokens": c.used,
            ":updated_at": now_ms(),
        })?;
    Ok(())
}
