//! Full-text search over the messages of conversations.
//!
//! An entry of the index holds the words of a message and two tokens for where it was said, so that a search within a conversation or a
//! session never reads what others said. Entries are read newest first and only as many as are ranked, so the time depends on the
//! limit and not on the size of the record.

use std::collections::HashMap;

use afd_proto::conversation::{FoundMessage, RecordedMessage, Role};
use rusqlite::{Connection, Row, named_params};

use super::facts::cues::is_stop;
use super::kept;
use super::messages;
use crate::store::{Conditions, Result, word};
use crate::text::{self, Query, TokenKind, cut};

/// Maximum length of the indexed text of a message, characters: from its start, and from its end.
const MAX_TEXT: (usize, usize) = (48_000, 16_000);
/// Maximum number of messages that are ranked for one query.
const CANDIDATES: usize = 200;
/// Maximum number of words of a query that are searched for one by one.
const MAX_TERMS: usize = 12;
/// Length of an excerpt, characters.
const SNIPPET: usize = 160;

fn conversation_token(conversation: i64) -> String {
    text::whole(TokenKind::App, &format!("conversation {conversation}"))
}

fn session_token(session: i64) -> String {
    text::whole(TokenKind::App, &format!("session {session}"))
}

/// Writes the index entry of a message, given its row id.
pub fn index(connection: &Connection, (session, conversation): (i64, i64), message: i64, text: &str) -> Result<()> {
    let (head, tail) = (cut::head(text, MAX_TEXT.0), text.get(cut::head(text, MAX_TEXT.0).len()..).unwrap_or(""));
    let mut tokens = vec![conversation_token(conversation), session_token(session)];
    tokens.extend(text::words(head));
    tokens.extend(text::words(cut::tail(tail, MAX_TEXT.1)));
    connection
        .prepare_cached("INSERT INTO message_index (rowid, tokens) VALUES (:rowid, :tokens)")?
        .execute(named_params! {":rowid": message, ":tokens": tokens.join(" ")})?;
    Ok(())
}

/// Removes the index entry of a message.
pub fn remove(connection: &Connection, message: i64) -> Result<()> {
    connection.prepare_cached("DELETE FROM message_index WHERE rowid = :rowid")?.execute(named_params! {":rowid": message})?;
    Ok(())
}

/// Returns the positions of the newest messages of a conversation before a position that have a word.
pub fn positions(connection: &Connection, conversation: i64, word: &str, before: i64, limit: usize) -> Result<Vec<i64>> {
    // A word of one letter or with a quote cannot be a token.
    let mut statement = connection.prepare_cached(
        "SELECT m.position FROM message_index x CROSS JOIN messages m ON m.id = x.rowid
         WHERE message_index MATCH :expression AND m.position < :before AND m.deleted_at IS NULL ORDER BY x.rowid DESC LIMIT :limit",
    )?;
    let expression = format!("\"{}\" AND {}", conversation_token(conversation), phrase(word));
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map(named_params! {":expression": expression, ":before": before, ":limit": limit}, |row| row.get("position"))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Number of letters from which on a word also stands for its other forms, and of letters at its end that may differ.
const STEM: (usize, usize) = (6, 2);

/// Returns an FTS5 phrase for a word; a long one also finds its other forms.
fn phrase(word: &str) -> String {
    let letters = word.chars().count();
    let clean: String = word.replace('"', "");
    if letters >= STEM.0 && word.chars().all(char::is_alphabetic) && !word.contains(text::is_dense) {
        let stem: String = clean.chars().take(letters - STEM.1).collect();
        return format!("\"{stem}\" *");
    }
    format!("\"{clean}\"")
}

/// A sentence of an older message that has to do with what is being asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// Position of the message.
    pub position: i64,
    /// Who said it.
    pub role: Role,
    /// Tool that said it.
    pub source: Option<String>,
    /// The sentence.
    pub text: String,
    /// How well it matches; the rarer the words, the higher.
    pub score: f64,
    /// Time of recording, UTC milliseconds.
    pub at: i64,
}

/// Number of words of a question that are searched for, of messages found by each, and of messages that are read.
const RECALL: (usize, usize, usize) = (14, 24, 24);
/// Maximum number of sentences taken from one message.
const PER_MESSAGE: usize = 6;
/// Maximum length of a sentence, characters.
const MAX_SENTENCE: usize = 320;

/// Returns the sentences of messages between `after` and `before` (both exclusive) that match the words of `asked` best, best first.
pub fn recall(connection: &Connection, conversation: i64, asked: &str, (after, before): (i64, i64)) -> Result<Vec<Recalled>> {
    let mut words: Vec<(f64, String)> = Vec::new();
    for word in text::words(asked).into_iter().filter(|w| !is_stop(w) && w.chars().count() > 1) {
        if !words.iter().any(|(_, known)| *known == word) {
            words.push((kept::weight(connection, conversation, &word)?, word));
        }
    }
    words.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    words.truncate(RECALL.0);
    let mut found: HashMap<i64, f64> = HashMap::new();
    for (weight, word) in &words {
        for position in positions(connection, conversation, word, before, RECALL.1)?.into_iter().filter(|p| *p > after) {
            *found.entry(position).or_default() += weight;
        }
    }
    let mut best: Vec<(i64, f64)> = found.into_iter().collect();
    best.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    best.truncate(RECALL.2);
    let mut recalled = Vec::new();
    for (position, _) in best {
        let Some(message) = messages::between(connection, conversation, position - 1, position)?.pop() else { continue };
        recalled.extend(sentences(&message, &words));
    }
    recalled.sort_by(|a: &Recalled, b| b.score.total_cmp(&a.score).then(b.position.cmp(&a.position)));
    Ok(recalled)
}

/// Returns the sentences of a message as quotes, in order.
pub fn quotes(message: &RecordedMessage) -> Vec<Recalled> {
    let said = messages::said_text(&message.message);
    let sentences = super::facts::sentences(message.message.role, &said).into_iter();
    sentences.map(|text| quote(message, &text, 0.0)).collect()
}

fn quote(message: &RecordedMessage, text: &str, score: f64) -> Recalled {
    let role = message.message.role;
    let source = message.message.name.clone().filter(|_| role == Role::Tool);
    Recalled { position: message.position, role, source, text: cut::brief(text, MAX_SENTENCE), score, at: message.at }
}

/// Returns the sentences of a message that have one of the words, best first.
fn sentences(message: &RecordedMessage, words: &[(f64, String)]) -> Vec<Recalled> {
    let content = messages::said_text(&message.message);
    let mut found: Vec<Recalled> = super::facts::sentences(message.message.role, &content)
        .into_iter()
        .filter_map(|sentence| {
            let own = text::words(&sentence);
            let matches = |word: &str| own.iter().any(|w| w == word || same_stem(w, word));
            let score: f64 = words.iter().filter(|(_, word)| matches(word)).map(|(weight, _)| weight).sum();
            let length = 1.0 + sentence.chars().count() as f64 / 200.0;
            (score > 0.0).then(|| quote(message, &sentence, score / length))
        })
        .collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.truncate(PER_MESSAGE);
    found
}

/// Returns whether two words differ only in their last letters.
fn same_stem(a: &str, b: &str) -> bool {
    let letters = b.chars().count();
    letters >= STEM.0 && b.chars().all(char::is_alphabetic) && b.char_indices().nth(letters - STEM.1).is_some_and(|(end, _)| a.starts_with(&b[..end]))
}

/// Conditions that found messages must meet.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Row id of the session; `None` for all sessions.
    pub session: Option<i64>,
    /// Row id of the conversation; `None` for all.
    pub conversation: Option<i64>,
    /// Who said it; `None` for anybody.
    pub role: Option<Role>,
    /// Earliest and latest time of recording, UTC milliseconds.
    pub since: Option<i64>,
    /// See `since`.
    pub until: Option<i64>,
}

fn found(row: &Row<'_>) -> rusqlite::Result<FoundMessage> {
    let content: String = row.get("content")?;
    let content: afd_proto::conversation::Content = serde_json::from_str(&content).unwrap_or_default();
    Ok(FoundMessage {
        uid: row.get("uid")?,
        session: row.get("session")?,
        conversation: row.get("conversation")?,
        position: row.get("position")?,
        role: word(row, "role")?,
        name: row.get("name")?,
        text: content.text(),
        score: 0.0,
        at: row.get("at")?,
    })
}

/// Returns the newest messages that match a full-text expression.
fn matching(connection: &Connection, expression: &str, filter: &Filter, limit: usize) -> Result<Vec<FoundMessage>> {
    let place = filter.conversation.map(conversation_token).or(filter.session.map(session_token));
    let scoped = place.map_or_else(|| format!("({expression})"), |token| format!("\"{token}\" AND ({expression})"));
    let wanted = Conditions::new("m.deleted_at IS NULL")
        .given("m.role = :role", ":role", filter.role.map(|r| r.word().to_owned()))
        .given("m.at >= :since", ":since", filter.since)
        .given("m.at <= :until", ":until", filter.until)
        .value(":expression", scoped)
        .value(":limit", i64::try_from(limit).unwrap_or(i64::MAX));
    // CROSS JOIN makes SQLite read the index first, newest first, and stop at the limit.
    let sql = format!(
        "SELECT m.uid, m.position, m.role, m.name, m.content, m.at, s.name AS session, v.name AS conversation
         FROM message_index x CROSS JOIN messages m ON m.id = x.rowid JOIN conversations v ON v.id = m.conversation_id
         JOIN sessions s ON s.id = v.session_id
         WHERE message_index MATCH :expression AND s.deleted_at IS NULL AND {} ORDER BY x.rowid DESC LIMIT :limit",
        wanted.sql()
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(&*wanted.values(), found)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the messages that match a query best, best first, with an excerpt as text, and whether all words had to match; if no message
/// has all of them, those that have some.
pub fn find(connection: &Connection, query: &Query, filter: &Filter, limit: usize) -> Result<(Vec<FoundMessage>, bool)> {
    let mut candidates = matching(connection, &query.all(), filter, CANDIDATES.max(limit))?;
    let all = !candidates.is_empty();
    if !all && query.terms().count() > 1 {
        for expression in query.each().iter().take(MAX_TERMS) {
            candidates.extend(matching(connection, expression, filter, CANDIDATES / 4)?);
        }
    }
    let terms: Vec<&str> = query.terms().collect();
    let mut seen = std::collections::HashSet::new();
    candidates.retain(|m| seen.insert(m.uid.clone()));
    for message in &mut candidates {
        let folded = text::fold(&message.text);
        let whole = terms.iter().filter(|t| folded.contains(**t)).count() as f64 / terms.len().max(1) as f64;
        // A word says more in a short message.
        message.score = (whole / (1.0 + folded.len() as f64 / 4_000.0).sqrt() * 1000.0).round() / 1000.0;
        message.text = text::snippet(&message.text, &terms, SNIPPET).unwrap_or_else(|| cut::brief(&message.text, SNIPPET));
    }
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.at.cmp(&a.at)).then(b.position.cmp(&a.position)));
    candidates.truncate(limit);
    Ok((candidates, all))
}
