//! Storage of facts: scored sentences of messages, and the term counts their scores depend on.

use std::collections::HashMap;

use afd_proto::conversation::Role;
use rusqlite::{Connection, OptionalExtension, named_params};

use super::Conversation;
use super::facts;
use super::messages::Prepared;
use crate::store::{Result, new_uid, now_ms, word};

/// Term counts of a session by hash: the stored count, and what the messages being appended add to it.
#[derive(Debug, Default)]
pub struct TermCounts(HashMap<i64, (i64, i64)>);

impl TermCounts {
    /// Returns the number of previous occurrences of a hash, and counts this one.
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

    /// Writes the added counts.
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

/// Scores and stores the candidate facts of the last message of a conversation. A sentence that was stored before only moves to this
/// message.
pub fn keep(connection: &Connection, origin: &str, conversation: &Conversation, prepared: &Prepared, seen: &mut TermCounts) -> Result<()> {
    let (session, now) = (conversation.session, now_ms());
    let mut insert = connection.prepare_cached(
        "INSERT INTO message_facts (uid, origin, session_id, position, role, text, tokens, score, rank, sentence, template, updated_at)
         VALUES (:uid, :origin, :session, :position, :role, :text, :tokens, :score, :rank, :sentence, :template, :now)
         ON CONFLICT (session_id, sentence) DO UPDATE SET position = excluded.position, updated_at = excluded.updated_at",
    )?;
    for (candidate, tokens) in &prepared.facts {
        let words = candidate.words.iter().map(|word| seen.count(connection, session, *word)).collect::<Result<Vec<_>>>()?;
        let template_count = seen.count(connection, session, candidate.template)? + 1;
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
            ":rank": facts::discount_repeats(score, template_count),
            ":sentence": candidate.sentence,
            ":template": candidate.template,
            ":now": now,
        })?;
    }
    Ok(())
}

/// A stored fact.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// Position of the last message that contains it.
    pub position: i64,
    /// Role of the speaker.
    pub role: Role,
    /// The sentence.
    pub text: String,
    /// Its token count.
    pub tokens: i64,
    /// Score, discounted by the current number of sentences with the same template.
    pub score: f64,
}

/// Returns the best facts between positions `after` and `before` (both exclusive), best first. Each role contributes up to `per_role`, so
/// that tool output cannot crowd out what people said.
pub fn facts(connection: &Connection, session: i64, after: i64, before: i64, per_role: usize) -> Result<Vec<Fact>> {
    // Over the whole conversation the rank index yields the best ones directly; a later range is read completely and sorted.
    let index = if after == 0 { "message_facts_best" } else { "message_facts_places" };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT f.position, f.role, f.text, f.tokens, f.score, coalesce(t.seen, 1) AS times FROM message_facts f INDEXED BY {index}
         LEFT JOIN message_terms t ON t.session_id = f.session_id AND t.hash = f.template
         WHERE f.session_id = :session AND f.position > :after AND f.position < :before AND f.role = :role ORDER BY f.rank DESC,
         f.position LIMIT :limit"
    ))?;
    let limit = i64::try_from(per_role).unwrap_or(i64::MAX);
    let mut found: Vec<Fact> = Vec::new();
    for role in [Role::User, Role::Assistant, Role::Tool] {
        let values = named_params! {":session": session, ":after": after, ":before": before, ":role": role.word(), ":limit": limit};
        let rows = statement.query_map(values, |row| {
            Ok(Fact {
                position: row.get("position")?,
                role: word(row, "role")?,
                text: row.get("text")?,
                tokens: row.get("tokens")?,
                score: facts::discount_repeats(row.get("score")?, row.get("times")?),
            })
        })?;
        found.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.position.cmp(&b.position)));
    Ok(found)
}
