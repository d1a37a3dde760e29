//! Preparation of messages before they are recorded: tokens, text, images and statements. All functions are pure.

use afd_proto::conversation::{Content, Message, Part, Role};

use super::facts::{self, Candidate};
use super::headings;
use afd_base::model::Counter;
use afd_store::to_json;

/// Tokens that a message costs in addition to its content.
const MESSAGE_OVERHEAD: i64 = 4;
/// Number of image pixels that cost one token.
const PIXELS_PER_TOKEN: u64 = 750;
/// Width and height that are assumed for an image of unknown size, in pixels.
const UNKNOWN_SIDE: u32 = 1024;

/// Counts the tokens of a message: a fixed overhead, its content, and its tool calls.
pub fn tokens(message: &Message, counter: &Counter) -> i64 {
    let content = match &message.content {
        Content::Text(text) => counter.count(text),
        Content::Parts(parts) => parts.iter().map(|part| tokens_of_part(part, counter)).sum(),
    };
    let calls: i64 = message
        .tool_calls
        .iter()
        .map(|call| counter.count(&call.name) + counter.count(&to_json(&call.arguments)))
        .sum();
    MESSAGE_OVERHEAD + content + calls
}

/// Counts the tokens of the extra fields of a message and its calls, such as reasoning, in case they are sent.
pub fn extra_tokens(message: &Message, counter: &Counter) -> i64 {
    let of = |extra: &serde_json::Map<String, serde_json::Value>| {
        if extra.is_empty() { 0 } else { counter.count(&to_json(extra)) }
    };
    of(&message.extra) + message.tool_calls.iter().map(|call| of(&call.extra)).sum::<i64>()
}

/// Counts the tokens of a message part. An image's tokens are proportional to its area.
pub fn tokens_of_part(part: &Part, counter: &Counter) -> i64 {
    match part {
        Part::Text { text } => counter.count(text),
        Part::Image { width, height, .. } => {
            let pixels = u64::from(width.unwrap_or(UNKNOWN_SIDE)) * u64::from(height.unwrap_or(UNKNOWN_SIDE));
            i64::try_from(pixels.div_ceil(PIXELS_PER_TOKEN)).unwrap_or(i64::MAX)
        }
    }
}

/// A message with its token count and candidate facts. Both are computed before the write transaction, to keep the
/// writer thread free.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// Message to record.
    pub message: Message,
    /// Token count of the message.
    pub tokens: i64,
    /// Name of the tokenizer that counted the tokens.
    pub tokenizer: &'static str,
    /// Sentences that are candidates for facts, with their token counts.
    pub facts: Vec<(Candidate, i64)>,
}

impl Prepared {
    /// Returns the uids of the artifacts that the message's images refer to.
    pub fn pictures(&self) -> Vec<&str> {
        pictures(&self.message)
    }

    /// Counts the tokens of a message and extracts its statements. `before` is the text of the previous message.
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

/// Returns the token count of a message after it was shortened to the limit for older messages of its role.
pub fn brief_tokens(role: Role, tokens: i64) -> i64 {
    tokens.min(brief_limit(role))
}

/// Returns the maximum tokens of an older message in a context. The migration that adds `brief_running` uses the same
/// limits.
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

/// Returns a message's own text, without parts of an earlier context that a client sent back in the message.
pub fn said_text(message: &Message) -> String {
    let starts = [headings::DATA, headings::HEADING, headings::KEYS];
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

/// Returns the text of a message that the next one may answer. Only assistant messages have such text, because text
/// from a tool or page must not become part of a user's statement.
pub fn asked_by(message: &Message) -> Option<String> {
    (message.role == Role::Assistant).then(|| said_text(message))
}

/// Returns the searchable text of a message: its content and its tool calls.
pub fn searched_text(message: &Message) -> String {
    let calls: String =
        message.tool_calls.iter().map(|call| format!("\n{} {}", call.name, to_json(&call.arguments))).collect();
    said_text(message) + &calls
}
