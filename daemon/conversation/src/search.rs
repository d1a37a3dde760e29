//! Search over the messages of conversations.
//!
//! The index is a plain table with a row for each word of a message, ordered by conversation. A full-text index would
//! cover all conversations, so a search would read other sessions' messages, or slow down as their number grows. Words
//! are folded and stemmed. A search reads the newest messages first, and only as many as it ranks, so its time depends
//! on the limit and not on the size of the record.

use std::collections::{BTreeSet, HashMap};

use afd_proto::conversation::{FoundMessage, RecordedMessage, Role};
use rusqlite::{Connection, Row};

use super::word_index::key;
use super::{messages, prepared, supersede};
use afd_base::text::{self, cut};
use afd_store::{Conditions, Result, Sql as _, args, read, word};

/// Number of messages that are ranked for each returned message.
const CANDIDATES_FOR_EACH: usize = 3;
/// Minimum number of messages that are ranked in total.
const MIN_CANDIDATES: usize = 60;
/// Maximum number of messages that are ranked in total.
const MAX_CANDIDATES: usize = 200;
/// Number of messages in a page of matches for a word.
const PAGE: i64 = 256;
/// Maximum number of pages of matches that a query reads.
const MAX_PAGES: usize = 16;
/// Maximum number of words in a query.
const MAX_TERMS: usize = 12;
/// Length of the excerpt from a found message, in characters.
const SNIPPET: usize = 160;

/// Returns the positions of up to `limit` messages before `before` that contain a word, newest first.
fn positions(connection: &Connection, conversation: i64, word: &str, before: i64, limit: i64) -> Result<Vec<i64>> {
    let mut statement = connection.prepare_cached(
        "SELECT position FROM message_words WHERE conversation_id = :conversation_id AND word = :word AND position < :before
         ORDER BY position DESC LIMIT :limit",
    )?;
    let values = args! {conversation_id: conversation, word: key(word), before, limit};
    let rows = statement.query_map(values, |row| row.get("position"))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the number of messages that contain a word. Stops counting once the number exceeds what a search would read.
fn frequency(connection: &Connection, conversation: i64, word: &str) -> Result<i64> {
    let most = PAGE * i64::try_from(MAX_PAGES).unwrap_or(1) + 1;
    connection.one(
        "SELECT count(*) AS count FROM (SELECT 1 FROM message_words WHERE conversation_id = :conversation_id AND word = :word LIMIT :most)",
        args! {conversation_id: conversation, word: key(word), most},
        |row| row.get("count"),
    )
}

/// Returns whether a message contains a word.
fn has(connection: &Connection, conversation: i64, word: &str, position: i64) -> Result<bool> {
    Ok(connection.first(
        "SELECT 1 AS one FROM message_words WHERE conversation_id = :conversation_id AND word = :word AND position = :position",
        args! {conversation_id: conversation, word: key(word), position},
        |row| {
            row.get::<_, i64>("one")
        },
    )?
        .is_some())
}

/// A sentence of an older message that matches the current question.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// Position of the message.
    pub position: i64,
    /// Role of the speaker.
    pub role: Role,
    /// Name of the tool, for tool output.
    pub source: Option<String>,
    /// Text of the sentence.
    pub text: String,
    /// Score of the match, in which rarer words count more.
    pub score: f64,
    /// Time when the message was recorded, in Unix milliseconds.
    pub at: i64,
}

/// Maximum number of words in a question that recall searches for.
const RECALL_WORDS: usize = 14;
/// Maximum number of messages that recall finds for each word.
const RECALL_OF_WORD: i64 = 24;
/// Maximum number of messages that recall reads.
const RECALL_READ: usize = 24;
/// Maximum number of sentences that are taken from one message.
const PER_MESSAGE: usize = 6;
/// Maximum length of a recalled sentence, in characters.
const MAX_SENTENCE: usize = 320;

/// Returns the sentences from messages between `after` and `before` (both exclusive) that best match the words of
/// `asked`, best first.
pub fn recall(
    connection: &Connection,
    conversation: i64,
    asked: &str,
    (after, before): (i64, i64),
) -> Result<Vec<Recalled>> {
    let mut words: Vec<(f64, String)> = Vec::new();
    for word in text::words(asked).into_iter().filter(|w| !text::is_stop(w) && w.chars().count() > 1) {
        if !words.iter().any(|(_, known)| *known == word) {
            words.push((supersede::weight(connection, conversation, &word)?, word));
        }
    }
    words.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    words.truncate(RECALL_WORDS);
    let mut found: HashMap<i64, f64> = HashMap::new();
    for (weight, word) in &words {
        for position in
            positions(connection, conversation, word, before, RECALL_OF_WORD)?.into_iter().filter(|p| *p > after)
        {
            *found.entry(position).or_default() += weight;
        }
    }
    let mut best: Vec<(i64, f64)> = found.into_iter().collect();
    best.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    best.truncate(RECALL_READ);
    let mut recalled = Vec::new();
    for (position, _) in best {
        let found = messages::between(connection, conversation, position - 1, position)?.pop();
        let Some(message) = found.filter(|m| m.message.role != Role::System) else { continue };
        recalled.extend(sentences(&message, &words));
    }
    recalled.sort_by(|a: &Recalled, b| b.score.total_cmp(&a.score).then(b.position.cmp(&a.position)));
    Ok(recalled)
}

/// Returns all sentences in a message as quotes, in order.
pub fn quotes(message: &RecordedMessage) -> Vec<Recalled> {
    let said = prepared::said_text(&message.message);
    let sentences = super::facts::sentences(message.message.role, &said).into_iter();
    sentences.map(|text| quote(message, &text, 0.0)).collect()
}

fn quote(message: &RecordedMessage, text: &str, score: f64) -> Recalled {
    let role = message.message.role;
    let source = message.message.name.clone().filter(|_| role == Role::Tool);
    Recalled { position: message.position, role, source, text: cut::brief(text, MAX_SENTENCE), score, at: message.at }
}

/// Returns the sentences in a message that contain at least one of the words, best first.
fn sentences(message: &RecordedMessage, words: &[(f64, String)]) -> Vec<Recalled> {
    let content = prepared::said_text(&message.message);
    let mut found: Vec<Recalled> = super::facts::sentences(message.message.role, &content)
        .into_iter()
        .filter_map(|sentence| {
            let own = text::words(&sentence);
            let matches = |word: &str| own.iter().any(|w| text::stem(w) == text::stem(word));
            let score: f64 = words.iter().filter(|(_, word)| matches(word)).map(|(weight, _)| weight).sum();
            let length = 1.0 + sentence.chars().count() as f64 / 200.0;
            (score > 0.0).then(|| quote(message, &sentence, score / length))
        })
        .collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.truncate(PER_MESSAGE);
    found
}

/// Conditions that found messages must meet.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Row ids of the conversations to search.
    pub conversations: Vec<i64>,
    /// Role of the speaker; `None` for any role.
    pub role: Option<Role>,
    /// Earliest recording time, in Unix milliseconds.
    pub since: Option<i64>,
    /// Latest recording time, in Unix milliseconds.
    pub until: Option<i64>,
}

fn found(row: &Row<'_>) -> rusqlite::Result<FoundMessage> {
    let content: String = row.get("content")?;
    let content: afd_proto::conversation::Content = serde_json::from_str(&content).unwrap_or_default();
    Ok(read!(row => FoundMessage {
        uid, session, conversation, position, name, at,
        role: word(row, "role")?,
        text: content.text(),
        score: 0.0,
    }))
}

/// Returns the message at `position` if it meets the conditions of a filter.
fn one(connection: &Connection, conversation: i64, position: i64, filter: &Filter) -> Result<Option<FoundMessage>> {
    let wanted = Conditions::new("m.deleted_at IS NULL AND s.deleted_at IS NULL")
        .given("m.role = :role", ":role", filter.role.map(|r| r.word().to_owned()))
        .given("m.at >= :since", ":since", filter.since)
        .given("m.at <= :until", ":until", filter.until)
        .value(":conversation", conversation)
        .value(":position", position);
    let sql = format!(
        "SELECT m.uid, m.position, m.role, m.name, m.content, m.at, s.name AS session, v.name AS conversation
         FROM messages m JOIN conversations v ON v.id = m.conversation_id JOIN sessions s ON s.id = v.session_id
         WHERE m.conversation_id = :conversation AND m.position = :position AND {}",
        wanted.sql()
    );
    connection.first(&sql, &*wanted.values(), found)
}

/// Returns the messages of a conversation that contain all words or, if `any` is set, at least one of them, newest
/// first.
fn matching(
    connection: &Connection,
    conversation: i64,
    terms: &[String],
    (any, most): (bool, usize),
    filter: &Filter,
) -> Result<Vec<FoundMessage>> {
    let mut lists: Vec<Vec<i64>> = Vec::new();
    for term in terms {
        lists.push(positions(connection, conversation, term, i64::MAX, PAGE)?);
    }
    let mut messages = Vec::new();
    if any {
        let mut wanted: BTreeSet<i64> = lists.iter().flat_map(|l| l.iter().take(most / 2).copied()).collect();
        while let Some(position) = wanted.pop_last().filter(|_| messages.len() < most) {
            messages.extend(one(connection, conversation, position, filter)?);
        }
        return Ok(messages);
    }
    // The messages with the rarest word are checked for the others, page by page, until there are enough.
    let mut sizes = Vec::new();
    for (list, term) in lists.iter().zip(terms) {
        let is_full = list.len() as i64 >= PAGE;
        sizes.push(if is_full { frequency(connection, conversation, term)? } else { list.len() as i64 });
    }
    let Some(rarest) = (0..terms.len()).min_by_key(|i| sizes[*i]) else { return Ok(messages) };
    let mut page = lists[rarest].clone();
    for _ in 0..MAX_PAGES {
        for position in &page {
            let mut fits = true;
            for (i, term) in terms.iter().enumerate().filter(|(i, _)| *i != rarest) {
                // A page that is not full is the last one.
                fits = fits
                    && (lists[i].binary_search_by(|p| position.cmp(p)).is_ok()
                        || lists[i].len() as i64 >= PAGE && has(connection, conversation, term, *position)?);
            }
            if fits {
                messages.extend(one(connection, conversation, *position, filter)?);
            }
            if messages.len() >= most {
                return Ok(messages);
            }
        }
        match page.last() {
            Some(last) if page.len() as i64 >= PAGE => {
                page = positions(connection, conversation, &terms[rarest], *last, PAGE)?
            }
            _ => break,
        }
    }
    Ok(messages)
}

/// Returns up to `MAX_TERMS` distinct words from a query. Queries have no special syntax.
pub fn terms(query: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for term in text::words(query) {
        if !found.contains(&term) && found.len() < MAX_TERMS {
            found.push(term);
        }
    }
    found
}

/// Returns the messages that best match the words of a query, best first, with an excerpt as their text. The flag says
/// whether these messages contain all words. If no message contains all words, returns messages that contain some of
/// them.
pub fn find(
    connection: &Connection,
    terms: &[String],
    filter: &Filter,
    limit: usize,
) -> Result<(Vec<FoundMessage>, bool)> {
    let most = limit.saturating_mul(CANDIDATES_FOR_EACH).clamp(MIN_CANDIDATES, MAX_CANDIDATES);
    let mut candidates = Vec::new();
    let mut all = true;
    for any in [false, true] {
        for conversation in &filter.conversations {
            candidates.extend(matching(connection, *conversation, terms, (any, most), filter)?);
        }
        all = !any;
        if !candidates.is_empty() {
            break;
        }
    }
    let stems: Vec<&str> = terms.iter().map(|term| text::stem(term)).collect();
    for message in &mut candidates {
        let folded = text::fold(&message.text);
        let whole = stems.iter().filter(|t| folded.contains(**t)).count() as f64 / stems.len().max(1) as f64;
        // A match in a short message counts more.
        message.score = (whole / (1.0 + folded.len() as f64 / 4_000.0).sqrt() * 1000.0).round() / 1000.0;
        message.text =
            text::snippet(&message.text, &stems, SNIPPET).unwrap_or_else(|| cut::brief(&message.text, SNIPPET));
    }
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.at.cmp(&a.at)).then(b.position.cmp(&a.position)));
    candidates.truncate(limit);
    Ok((candidates, all && !terms.is_empty()))
}
