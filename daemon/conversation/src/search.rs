//! Quotes from older messages that answer the current question.
//!
//! Which messages are about the question is found by the caller, in the search index. Here, a message that is short is
//! quoted whole, because its sentences explain each other; of a longer one, the sentences that share most with the
//! question are quoted.

use afd_base::text::cut;
use afd_base::text::language::Language;
use afd_base::text::tokens::{self, Wanted};
use afd_proto::conversation::{RecordedMessage, Role};
use rusqlite::Connection;

use super::{messages, prepared};
use afd_store::Result;

/// A quote from an older message that matches the current question.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// Position of the message.
    pub position: i64,
    /// Role of the speaker.
    pub role: Role,
    /// Name of the speaker or, for tool output, of the tool.
    pub source: Option<String>,
    /// Text of the quote.
    pub text: String,
    /// Score of the match, in which rarer words count more.
    pub score: f64,
    /// Time when the message was recorded, in Unix milliseconds.
    pub at: i64,
}

/// Maximum length of a message that is quoted whole, in characters.
const WHOLE: usize = 400;
/// Maximum number of sentences that are taken from one message.
const PER_MESSAGE: usize = 6;
/// Maximum length of a recalled sentence, in characters.
const MAX_SENTENCE: usize = 320;

/// Returns quotes from the messages at `positions`, in the same order. `words` are the words of the question, each with
/// its rarity.
pub fn recall(
    connection: &Connection,
    conversation: i64,
    words: &[(f64, Wanted)],
    positions: &[i64],
) -> Result<Vec<Recalled>> {
    let mut recalled = Vec::new();
    for position in positions {
        let found = messages::between(connection, conversation, position - 1, *position)?.pop();
        let Some(message) = found.filter(|m| m.message.role != Role::System) else { continue };
        recalled.extend(best_quotes(&message, words));
    }
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

/// Returns a short message as one quote, or the sentences of a longer one that contain at least one of the words, best
/// first.
fn best_quotes(message: &RecordedMessage, words: &[(f64, Wanted)]) -> Vec<Recalled> {
    let content = prepared::said_text(&message.message);
    let length = content.chars().count();
    if length <= WHOLE && message.message.role != Role::Tool {
        let whole = cut::one_line(&content);
        let quoted = Recalled { text: whole.clone(), ..quote(message, &whole, 1.0) };
        return if whole.is_empty() { Vec::new() } else { vec![quoted] };
    }
    let language = Language::of(&content);
    let mut found: Vec<Recalled> = super::facts::sentences(message.message.role, &content)
        .into_iter()
        .filter_map(|sentence| {
            let own = tokens::of_part(&sentence, language);
            let score: f64 = words.iter().filter(|(_, wanted)| wanted.is_in(&own)).map(|(rarity, _)| rarity).sum();
            let length = 1.0 + sentence.chars().count() as f64 / 200.0;
            (score > 0.0).then(|| quote(message, &sentence, score / length))
        })
        .collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.truncate(PER_MESSAGE);
    found
}
