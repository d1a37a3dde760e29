//! Compaction: older messages leave the context, and sentences that were said stand for them until a language model has written
//! something better (seed 002, `compact`). The record keeps everything.

use afd_proto::conversation::Role;
use afd_proto::pattern::PatternKind;
use rusqlite::Connection;

use super::kept::{self, Fact};
use super::messages;
use super::{Conversation, summaries};
use crate::config::Conversation as Settings;
use crate::model::Counter;
use crate::session::patterns;
use crate::store::Result;

/// The most that a summary takes, tokens, and the share of the context that it may take at all.
const SUMMARY: (i64, i64) = (1_000, 10);
/// At most this many sentences of each voice are chosen from.
const CHOSEN_FROM: usize = 200;
/// At most this many become patterns at a time.
const LEARNED: usize = 20;
/// What is worth less does not become a pattern.
const WORTH_LEARNING: f64 = 0.7;

/// Sizes of a conversation's context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Tokens.
    pub tokens: i64,
    /// Messages.
    pub messages: i64,
    /// Per cent of either from which on it is compacted.
    pub threshold: i64,
    /// Newest messages that stay.
    pub keep: i64,
}

impl Limits {
    /// Those of a conversation.
    pub fn of(conversation: &Conversation, settings: &Settings) -> Self {
        let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        Self {
            tokens: conversation.max_tokens.unwrap_or(number(settings.max_tokens)),
            messages: number(settings.max_messages),
            threshold: number(settings.compaction_threshold),
            keep: number(settings.keep_recent),
        }
    }

    /// Whether a context is fuller than it should be.
    pub fn exceeded(&self, conversation: &Conversation) -> bool {
        let above = |used: i64, limit: i64| i128::from(used) * 100 > i128::from(limit) * i128::from(self.threshold);
        above(conversation.used, self.tokens) || above(conversation.in_context(), self.messages)
    }
}

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    /// Messages that left the context.
    pub messages: i64,
    /// Key facts that became patterns.
    pub facts: i64,
}

/// The last message that is to leave the context; `None` when none may. A turn stays whole if it can; one that is too long by itself
/// is cut between two steps, and its request is sent all the same.
fn last_to_go(connection: &Connection, c: &Conversation, limits: Limits) -> Result<Option<i64>> {
    let begins = c.begins_after();
    let room = limits.tokens * limits.threshold / 100;
    let kept_from = |first: i64| -> Result<i64> { Ok(c.tokens - messages::running(connection, c.session, first - 1)?) };
    let mut first = c.position - limits.keep + 1;
    let too_much = kept_from(first)? > room;
    if too_much {
        // If what is to stay is too much by itself, less of it stays.
        first = messages::first_with(connection, c.session, begins, c.tokens - room / 2)?.unwrap_or(c.position);
    }
    let stretch = (begins + 2, first);
    let turn = messages::last_begin(connection, c.session, "role = 'user'", stretch)?;
    let begin = match turn {
        Some(turn) if kept_from(turn)? <= room => Some(turn),
        // The next step, so that no more stays than there is room for; else the one before.
        turn if too_much => match messages::next_begin(connection, c.session, first)? {
            Some(step) => Some(step),
            None => messages::last_begin(connection, c.session, "role <> 'tool'", stretch)?.or(turn),
        },
        Some(turn) => Some(turn),
        None => messages::last_begin(connection, c.session, "role <> 'tool'", stretch)?,
    };
    Ok(begin.map(|begin| begin - 1).filter(|upto| *upto > begins))
}

/// Compacts a conversation, whose figures go on with it. `asks` tells whether a language model is to write a better summary.
///
/// # Errors
/// What SQLite says.
pub fn compact(
    connection: &Connection,
    origin: &str,
    conversation: &mut Conversation,
    limits: Limits,
    counter: &Counter,
    app: Option<&str>,
    asks: bool,
) -> Result<Done> {
    let Some(upto) = last_to_go(connection, conversation, limits)? else { return Ok(Done::default()) };
    let (session, begins, after) = (conversation.session, conversation.begins_after(), conversation.cleared_to);
    let most = SUMMARY.0.min(limits.tokens * SUMMARY.1 / 100);
    let (text, tokens) = extract(connection, session, after, upto, most, counter)?;
    summaries::add(connection, origin, session, (after, upto), &text, tokens, asks)?;
    conversation.compacted_to = upto;
    conversation.used = conversation.tokens - messages::running(connection, session, upto)? + tokens;
    for rule in messages::rules(connection, session, after)? {
        conversation.used += if rule.position <= upto { rule.tokens } else { 0 };
    }
    let fresh = kept::facts(connection, session, begins, upto + 1, LEARNED)?;
    let facts = learn(connection, origin, session, app, &fresh)?;
    Ok(Done { messages: upto - begins, facts })
}

/// What was said, in the words in which it was said: after what a language model wrote about the beginning, if it did.
///
/// # Errors
/// What SQLite says.
pub fn extract(connection: &Connection, session: i64, after: i64, upto: i64, most: i64, counter: &Counter) -> Result<(String, i64)> {
    let written = summaries::written(connection, session, after, upto)?;
    let (mut lines, mut spent, from) = match written {
        Some(kept) if kept.info.tokens <= most => (vec![kept.info.text], kept.info.tokens, kept.info.upto),
        _ => (Vec::new(), 0, after),
    };
    let found = kept::facts(connection, session, from, upto + 1, CHOSEN_FROM)?;
    let chosen = choose(found, most - spent);
    lines.extend(chosen.iter().map(|fact| format!("- {}", fact.text)));
    let text =
        if lines.is_empty() { format!("{} messages, none of which said anything particular.", upto - after) } else { lines.join("\n") };
    spent = counter.count(&text);
    Ok((text, spent))
}

/// The shares of the room that what people, the model and tools said may take first, per cent: tools say most, and least of it
/// matters. What is left over then goes to the best of all.
const VOICES: [(Role, i64); 3] = [(Role::User, 50), (Role::Assistant, 30), (Role::Tool, 20)];

/// The best of them that fit, in the order in which they were said.
pub fn choose(best_first: Vec<Fact>, most: i64) -> Vec<Fact> {
    let mut chosen: Vec<Fact> = Vec::new();
    let mut spent = 0;
    let mut rest = best_first;
    for (role, share) in VOICES {
        let (own, others): (Vec<Fact>, Vec<Fact>) = rest.into_iter().partition(|f| f.role == role);
        let mut left = take(own, most * share / 100, &mut chosen, &mut spent);
        left.extend(others);
        rest = left;
    }
    rest.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.position.cmp(&b.position)));
    let room = most - spent;
    take(rest, room, &mut chosen, &mut spent);
    chosen.sort_by_key(|f| f.position);
    chosen
}

/// Takes those that fit; returns the others.
fn take(best_first: Vec<Fact>, room: i64, chosen: &mut Vec<Fact>, spent: &mut i64) -> Vec<Fact> {
    let (mut used, mut left) = (0, Vec::new());
    for fact in best_first {
        // A dash and a line end go with each.
        let cost = fact.tokens + 2;
        if used + cost <= room {
            used += cost;
            chosen.push(fact);
        } else {
            left.push(fact);
        }
    }
    *spent += used;
    left
}

/// Words by which a person says what they want.
const WANTS: &[&str] = &["prefer", "always", "never", "i want", "i like", "favourite", "favorite", "please use", "don't use"];

fn learn(connection: &Connection, origin: &str, session: i64, app: Option<&str>, facts: &[Fact]) -> Result<i64> {
    let mut learned = 0;
    for fact in facts.iter().filter(|f| f.score >= WORTH_LEARNING).take(LEARNED) {
        let folded = crate::text::fold(&fact.text);
        let wants = fact.role == Role::User && WANTS.iter().any(|w| folded.contains(w));
        let kind = if wants { PatternKind::UserPreference } else { PatternKind::KeyFact };
        let new =
            patterns::New { kind, text: &fact.text, app: app.unwrap_or(""), page: "", data: None, prior: None, session: Some(session) };
        patterns::save(connection, origin, &new)?;
        learned += 1;
    }
    Ok(learned)
}
