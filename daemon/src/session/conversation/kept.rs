//! The sentences of messages that are worth keeping.

use std::collections::HashMap;

use afd_proto::conversation::Role;
use rusqlite::{Connection, OptionalExtension, named_params};

use super::Conversation;
use super::facts;
use super::messages::Prepared;
use crate::store::{Result, new_uid, now_ms, word};

/// How often a session said what: what is known, and what the messages that are being appended add to it.
#[derive(Debug, Default)]
pub struct Seen(HashMap<i64, (i64, i64)>);

impl Seen {
    /// How often a hash came up before; counts it.
    fn count(&mut self, connection: &Connection, session: i64, hash: i64) -> Result<i64> {
        if let Some((before, more)) = self.0.get_mut(&hash) {
            *more += 1;
            return Ok(*before + *more - 1);
        }
        let before = connection
            .prepare_cached("SELECT seen FROM message_terms WHERE session_id = :session_id AND hash = :hash")?
            .query_row(named_params! {":session_id": session, ":hash": hash}, |row| row.get("seen"))
            .optional()?
            .unwrap_or(0);
        self.0.insert(hash, (before, 1));
        Ok(before)
    }

    /// Writes what was added.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn save(&self, connection: &Connection, session: i64) -> Result<()> {
        let mut add = connection.prepare_cached(
            "INSERT INTO message_terms (session_id, hash, seen) VALUES (:session_id, :hash, :seen)
             ON CONFLICT (session_id, hash) DO UPDATE SET seen = seen + excluded.seen",
        )?;
        self.0.iter().try_for_each(|(hash, (_, more))| {
            add.execute(named_params! {":session_id": session, ":hash": hash, ":seen": more}).map(|_| ())
        })?;
        Ok(())
    }
}

/// Keeps the sentences of a message, the last one of a conversation.
///
/// # Errors
/// What SQLite says.
pub fn keep(connection: &Connection, origin: &str, conversation: &Conversation, prepared: &Prepared, seen: &mut Seen) -> Result<()> {
    let (session, now) = (conversation.session, now_ms());
    let mut insert = connection.prepare_cached(
        "INSERT INTO message_facts (uid, origin, session_id, position, role, text, tokens, score, rank, sentence, template, updated_at)
         VALUES (:uid, :origin, :session, :position, :role, :text, :tokens, :score, :rank, :sentence, :template, :now)
         ON CONFLICT (session_id, sentence) DO UPDATE SET position = excluded.position, updated_at = excluded.updated_at",
    )?;
    for (candidate, tokens) in &prepared.facts {
        let words = candidate.words.iter().map(|word| seen.count(connection, session, *word)).collect::<Result<Vec<_>>>()?;
        let alike = seen.count(connection, session, candidate.template)? + 1;
        let score = facts::score(candidate, &words);
        insert.execute(named_params! {
            ":uid": new_uid(),
            ":origin": origin,
            ":session": session,
            ":position": conversation.position,
            ":role": prepared.message.role.word(),
            ":text": candidate.text,
            ":tokens": tokens,
            ":score": score,
            ":rank": facts::among(score, alike),
            ":sentence": candidate.sentence,
            ":template": candidate.template,
            ":now": now,
        })?;
    }
    Ok(())
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

/// The best sentences after one message and before another, best first: at most so many of each voice, so that what tools print does
/// not push out what people say.
///
/// # Errors
/// What SQLite says.
pub fn facts(connection: &Connection, session: i64, after: i64, before: i64, of_each: usize) -> Result<Vec<Fact>> {
    // From the beginning on, the best ones are read by rank; of a later stretch, all of it.
    let index = if after == 0 { "message_facts_best" } else { "message_facts_places" };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT f.position, f.role, f.text, f.tokens, f.score, coalesce(t.seen, 1) AS times FROM message_facts f INDEXED BY {index}
         LEFT JOIN message_terms t ON t.session_id = f.session_id AND t.hash = f.template
         WHERE f.session_id = :session AND f.position > :after AND f.position < :before AND f.role = :role ORDER BY f.rank DESC,
         f.position LIMIT :limit"
    ))?;
    let limit = i64::try_from(of_each).unwrap_or(i64::MAX);
    let mut found: Vec<Fact> = Vec::new();
    for role in [Role::User, Role::Assistant, Role::Tool] {
        let values = named_params! {":session": session, ":after": after, ":before": before, ":role": role.word(), ":limit": limit};
        let rows = statement.query_map(values, |row| {
            Ok(Fact {
                position: row.get("position")?,
                role: word(row, "role")?,
                text: row.get("text")?,
                tokens: row.get("tokens")?,
                score: facts::among(row.get("score")?, row.get("times")?),
            })
        })?;
        found.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.position.cmp(&b.position)));
    Ok(found)
}
