//! Input for assembling a context, and shortening of text.

use afd_proto::conversation::{Content, Message, RecordedMessage, Role};

use super::super::kept::Fact;
use super::super::search::Recalled;
use afd_base::model::Counter;
use afd_base::text::cut;

/// The parts of a conversation that are loaded to assemble a context.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Model-written summary of the oldest messages.
    pub written: Option<String>,
    /// Valid statements from before the recent turns, best first.
    pub facts: Vec<Fact>,
    /// Request that the first recent message belongs to, if the request itself is older than the recent messages.
    pub request: Option<RecordedMessage>,
    /// Recent messages, oldest first.
    pub recent: Vec<RecordedMessage>,
    /// State of the turns at the beginning of the current step.
    pub start: Start,
    /// Sentences of older messages that match the current question, best first.
    pub recalled: Vec<Recalled>,
    /// Folded text of each replaced statement. Replaced statements are not quoted.
    pub replaced: Vec<String>,
    /// Older messages that fill the rest of the budget, newest first.
    pub fill: Vec<RecordedMessage>,
    /// Number of messages older than the recent ones, and their total tokens.
    pub older: (i64, i64),
    /// Whether quotes from older messages fill the rest of the budget.
    pub fills: bool,
    /// Whether the next turn will probably begin a new step, at which the memory and the turns change.
    pub moves: bool,
}

pub(super) fn text_message(role: Role, text: String) -> Message {
    Message { role, content: Content::Text(text), ..Message::default() }
}

/// Replaces the middle of `text`, which has `cost` tokens, with a note, so that the result has at most `max_tokens`
/// tokens.
pub fn cut_middle(text: &str, cost: i64, max_tokens: i64, counter: &Counter) -> String {
    if cost <= max_tokens {
        return text.to_owned();
    }
    let characters = as_i64(text.chars().count());
    let size = |part: i64| usize::try_from(part).unwrap_or(0);
    let mark = format!("\n[... {} tokens left out ...]\n", cost - max_tokens);
    let cut_to =
        |share: i64| format!("{}{mark}{}", cut::head(text, size(share * 2 / 3)), cut::tail(text, size(share / 3)));
    // Tokens are not spread evenly, and text is only cut after a word or line, so search for the longest result that
    // fits.
    let (mut fits, mut too_long) = (0, (characters * max_tokens / cost.max(1)).max(0) * 5 / 4);
    let mut best = None;
    for _ in 0..CUT_ATTEMPTS {
        let share = if best.is_none() { too_long * 4 / 5 } else { i64::midpoint(fits, too_long) };
        let shown = cut_to(share);
        if counter.count(&shown) <= max_tokens {
            (fits, best) = (share, Some(shown));
        } else {
            too_long = share;
        }
        if best.is_some() && (too_long - fits) * 40 <= too_long {
            break;
        }
    }
    best.unwrap_or_else(|| cut::head(text, size(max_tokens) / 2).to_owned())
}

/// Maximum number of attempts to adjust the length of shortened text.
const CUT_ATTEMPTS: usize = 16;

pub(super) fn as_i64(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// State of the turns at the beginning of the current step of a conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Start {
    /// Position of the newest message when the step began; 0 if all turns are included.
    pub upto: i64,
    /// Position of the last message that is shortened to its brief length.
    pub settled_to: i64,
    /// Maximum tokens of the turns when the step began. The memory gets the tokens that the turns did not use.
    pub tokens: i64,
}
