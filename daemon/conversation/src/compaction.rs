//! Compaction: when a context is too full, its oldest messages are replaced by a summary. The message record itself
//! keeps everything.
//!
//! At first, the summary is extractive: it has the sentences with the best scores, in the order in which they were
//! said. If a language model is configured, it writes a better version later, and the next extractive summary starts
//! with that text. A compaction also returns strong facts of the user. The caller saves them as patterns, which outlive
//! the conversation. Facts from tools and the assistant are not returned, because tools print text written by strangers
//! and the assistant repeats it.
//!
//! Where to cut: the newest `keep` messages stay, together with the earlier messages of the turn in which they start,
//! so that the turn stays whole. If these messages alone exceed the threshold, only the newest ones within half of it
//! stay, with the rest of their turn if that fits. A turn that is too long on its own is cut between two steps, never
//! between a tool call and its result. The request of that turn is still sent with the context (see `assemble`).

use afd_proto::conversation::Role;
use rusqlite::Connection;

use super::kept::{self, Fact};
use super::messages::{self, Wanted};
use super::{Conversation, summaries, totals};
use afd_base::config::Conversation as Settings;
use afd_base::model::Counter;
use afd_store::Result;

/// Maximum size of a summary, in tokens. The smaller of this limit and `MAX_SUMMARY_PERCENT` applies.
const MAX_SUMMARY_TOKENS: i64 = 1_000;
/// Maximum size of a summary, in per cent of the context.
const MAX_SUMMARY_PERCENT: i64 = 10;
/// Maximum number of facts of each role that are considered for a summary.
const MAX_CANDIDATES: usize = 200;
/// Maximum number of facts that become patterns in one compaction.
const MAX_LEARNED: usize = 20;
/// Minimum score of a fact that becomes a pattern.
const MIN_PATTERN_SCORE: f64 = 0.42;

/// Size limits for a conversation's context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of tokens.
    pub tokens: i64,
    /// Maximum number of messages.
    pub messages: i64,
    /// Percentage of either limit above which the context is compacted.
    pub threshold: i64,
    /// Number of newest messages that are kept.
    pub keep: i64,
}

impl Limits {
    /// Returns a conversation's limits: its own where they are set, otherwise the configured ones.
    pub fn of(conversation: &Conversation, settings: &Settings) -> Self {
        let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        Self {
            tokens: conversation.max_tokens.unwrap_or(number(settings.max_tokens)),
            messages: number(settings.max_messages),
            threshold: number(settings.compaction_threshold),
            keep: number(settings.keep_recent),
        }
    }

    /// Returns whether a conversation's context is above the threshold.
    pub fn exceeded(&self, conversation: &Conversation) -> bool {
        let above = |used: i64, limit: i64| i128::from(used) * 100 > i128::from(limit) * i128::from(self.threshold);
        above(conversation.used, self.tokens) || above(conversation.since_compaction(), self.messages)
    }
}

/// Result of a compaction.
#[derive(Debug, Clone, Default)]
pub struct CompactionOutcome {
    /// Number of messages removed from the context.
    pub messages: i64,
    /// The user's strongest facts in these messages, which are worth learning.
    pub facts: Vec<Fact>,
}

/// Returns the position of the last message to remove from the context, or `None` if none may be removed. See the
/// module documentation for the rule.
fn last_to_compact(connection: &Connection, c: &Conversation, limits: Limits) -> Result<Option<i64>> {
    let begins = c.summarised_to();
    let available = limits.tokens * limits.threshold / 100;
    let kept_from = |first: i64| -> Result<i64> { Ok(c.tokens - totals::running(connection, c.id, first - 1)?) };
    let mut first = c.position - limits.keep + 1;
    let too_much = kept_from(first)? > available;
    if too_much {
        // The messages to keep alone exceed the threshold, so keep only the newest ones, up to half of the threshold.
        first = totals::first_reaching(connection, c.id, begins, c.tokens - available / 2)?.unwrap_or(c.position);
    }
    let stretch = (begins + 2, first);
    let turn = messages::last_matching(connection, c.id, Wanted::User, stretch)?;
    let begin = match turn {
        Some(turn) if kept_from(turn)? <= available => Some(turn),
        // Cut at the next step, so that the rest fits; if there is none, at the previous one.
        turn if too_much => match messages::next_step_start(connection, c.id, first)? {
            Some(step) => Some(step),
            None => messages::last_matching(connection, c.id, Wanted::NotTool, stretch)?.or(turn),
        },
        Some(turn) => Some(turn),
        None => messages::last_matching(connection, c.id, Wanted::NotTool, stretch)?,
    };
    Ok(begin.map(|begin| begin - 1).filter(|upto| *upto > begins))
}

/// Compacts a conversation and updates its totals in `conversation`. If `use_model` is set, schedules a request to the
/// language model for a better summary.
pub fn compact(
    connection: &Connection,
    origin: &str,
    conversation: &mut Conversation,
    limits: Limits,
    counter: &Counter,
    use_model: bool,
) -> Result<CompactionOutcome> {
    let Some(upto) = last_to_compact(connection, conversation, limits)? else {
        return Ok(CompactionOutcome::default());
    };
    let (id, begins, after) = (conversation.id, conversation.summarised_to(), conversation.cleared_to);
    let max_tokens = MAX_SUMMARY_TOKENS.min(limits.tokens * MAX_SUMMARY_PERCENT / 100);
    let (text, tokens) = extract(connection, id, after, upto, max_tokens, counter)?;
    summaries::add(connection, origin, id, (after, upto), &text, tokens, use_model)?;
    conversation.compacted_to = upto;
    conversation.used = conversation.tokens - totals::running(connection, id, upto)? + tokens;
    for rule in messages::rules(connection, id, after)? {
        conversation.used += if rule.position <= upto { rule.tokens } else { 0 };
    }
    let fresh = kept::facts(connection, id, (begins, upto + 1), (MAX_LEARNED, MAX_LEARNED))?;
    let worth = |fact: &Fact| fact.score >= MIN_PATTERN_SCORE && fact.role == Role::User;
    let facts = fresh.into_iter().filter(worth).take(MAX_LEARNED).collect();
    Ok(CompactionOutcome { messages: upto - begins, facts })
}

/// Builds an extractive summary of the messages after `after`, up to and including `upto`. Returns the summary, of at
/// most `max_tokens` tokens, with its token count. If a language model has already summarised the oldest of these
/// messages and its text fits, the summary starts with that text.
pub fn extract(
    connection: &Connection,
    conversation: i64,
    after: i64,
    upto: i64,
    max_tokens: i64,
    counter: &Counter,
) -> Result<(String, i64)> {
    let written = summaries::written(connection, conversation, after, upto)?;
    let (mut lines, mut spent, from) = match written {
        Some(kept) if kept.info.tokens <= max_tokens => (vec![kept.info.text], kept.info.tokens, kept.info.upto),
        _ => (Vec::new(), 0, after),
    };
    let found = kept::facts(connection, conversation, (from, upto + 1), (MAX_CANDIDATES, MAX_CANDIDATES))?;
    let chosen = choose(found, max_tokens - spent);
    lines.extend(chosen.iter().map(|fact| format!("- {}", fact.text)));
    let text = if lines.is_empty() {
        format!("{} messages; no facts were found in them.", upto - after)
    } else {
        lines.join("\n")
    };
    spent = counter.count(&text);
    Ok((text, spent))
}

/// Shares of the summary reserved for each role, per cent. Tool output is the largest part of a conversation, but
/// matters least. The rest goes to the best remaining facts of any role.
const ROLE_SHARES: [(Role, i64); 3] = [(Role::User, 50), (Role::Assistant, 30), (Role::Tool, 20)];

/// Token cost of a line in addition to its fact: a dash, the speaker and position, and a newline.
pub const LINE: i64 = 7;

/// Selects the best facts that fit in `max_tokens` tokens, and returns them in the order in which they were said.
pub fn choose(best_first: Vec<Fact>, max_tokens: i64) -> Vec<Fact> {
    let mut chosen: Vec<Fact> = Vec::new();
    let mut spent = 0;
    let mut rest = best_first;
    for (role, share) in ROLE_SHARES {
        let (own, others): (Vec<Fact>, Vec<Fact>) = rest.into_iter().partition(|f| f.role == role);
        let mut left = take_fitting(own, max_tokens * share / 100, &mut chosen, &mut spent);
        left.extend(others);
        rest = left;
    }
    rest.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.position.cmp(&b.position)));
    let available = max_tokens - spent;
    take_fitting(rest, available, &mut chosen, &mut spent);
    chosen.sort_by_key(|f| f.position);
    chosen
}

/// Moves the facts that fit in `available` tokens to `chosen`, and returns the others.
fn take_fitting(best_first: Vec<Fact>, available: i64, chosen: &mut Vec<Fact>, spent: &mut i64) -> Vec<Fact> {
    let (mut used, mut left) = (0, Vec::new());
    for fact in best_first {
        let cost = fact.tokens + LINE;
        if used + cost <= available {
            used += cost;
            chosen.push(fact);
        } else {
            left.push(fact);
        }
    }
    *spent += used;
    left
}
