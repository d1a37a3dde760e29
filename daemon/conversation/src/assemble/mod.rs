//! Context assembly: builds the messages for the model's next turn within a token budget.
//!
//! The parts that change least come first, so that a prompt cache stays valid: rules, goal and tasks (the only system
//! part), knowledge about the app, the memory of older turns, the recent turns, and finally the current state and the
//! quotes recalled for the question. Recorded text from tools, pages and people is placed in messages that mark it as
//! data.
//!
//! A conversation that fits is sent whole. Otherwise, rules, tasks and knowledge use at most their shares of the
//! budget, and the conversation gets the rest. The point at which the recent turns start moves in steps (`window`). The
//! memory depends on that point alone, so a new turn normally only appends messages. Recalled quotes follow the turns
//! and fill the room that is left.
//!
//! Invariants:
//!
//! * The last exchange is included.
//! * Tool results are shortened before messages from people, and older messages before newer ones.
//! * A tool call is never separated from its result.
//! * Each omission is reported with a reason.
//! * Equal inputs produce equal bytes.
//!
//! The end-to-end tests score the shares on `tests/conversations` (`score.rs`): a context must contain at least as many
//! needed facts as each baseline, use 95 % of its budget, and mostly repeat the previous context.

mod history;
mod memory;
mod outdated;
mod turns;
mod window;

use std::collections::BTreeMap;

use afd_proto::context::{Allocation, ContextPart, Omission};
use afd_proto::conversation::{Message, RecordedMessage, Role};

pub use super::headings::{DATA, HEADING, KEYS};
use super::prepared::{extra_tokens, tokens};
use afd_base::model::Counter;
use afd_base::text::cut;
pub use history::{History, Start, cut_middle};
use history::{as_i64, text_message};
use memory::Memory;
pub use memory::wanted as memory_wanted;
pub use window::Plan;

/// Minimum share of the budget for the system part, for knowledge and for the current state, per cent.
const MIN_SHARE: i64 = 5;
/// Share of the budget up to which a context is filled, per cent. It is slightly more than the required 95 %, because
/// the costs of lines are estimates.
const FILL_PERCENT: i64 = 96;

/// A one-line entry in a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Kind of entry, by which omitted entries are counted.
    pub kind: &'static str,
    /// Text of the line.
    pub text: String,
}

/// Content of a context apart from the conversation.
#[derive(Debug, Clone, Default)]
pub struct Background {
    /// System messages.
    pub rules: Vec<RecordedMessage>,
    /// Number of system messages that were not loaded, and their total tokens.
    pub omitted_rules: (i64, i64),
    /// Goal and tasks, in order of importance.
    pub task: Vec<Item>,
    /// Progress, blockers and next steps, in order of importance. These are marked as data, because others may have
    /// written them.
    pub recorded: Vec<Item>,
    /// Knowledge about the app (bugs, patterns, notes), in order of importance.
    pub knowledge: Vec<Item>,
    /// Number of open bugs that are not in `knowledge`.
    pub omitted_bugs: i64,
    /// Context keys with their values.
    pub context: BTreeMap<String, String>,
    /// Current state (page, its patterns, related notes), in order of importance.
    pub now: Vec<Item>,
}

/// An assembled context.
#[derive(Debug, Clone, Default)]
pub struct Assembled {
    /// Messages of the context, in the order in which they are sent.
    pub messages: Vec<Message>,
    /// Parts of the context, in the order of the messages.
    pub parts: Vec<ContextPart>,
    /// Blocks of the system part: first the rules, which rarely change, then the goal and tasks, which change often.
    pub system: Vec<String>,
    /// Omitted content, with the reasons.
    pub left_out: Vec<Omission>,
    /// Total tokens of the messages.
    pub tokens: i64,
    /// Tokens of the last message among the turns.
    pub question_tokens: i64,
    /// Number of leading messages that are expected to stay the same on the next call.
    pub stable: i64,
    /// Position of the first message that is included as a turn.
    pub first: i64,
    /// Position of the newest message that should have been a turn but did not fit; 0 if all of them fitted.
    pub dropped_to: i64,
}

/// The parts of a context other than the conversation, and the token budget. The conversation gets the tokens that
/// these parts leave.
#[derive(Clone)]
pub struct Draft<'a> {
    counter: &'a Counter,
    budget: i64,
    out: Assembled,
    /// Rendered context keys, shown at the start of the last message.
    keys: Option<String>,
    /// Rendered current state, shown in the last message.
    now: Option<String>,
    now_cost: i64,
}

impl<'a> Draft<'a> {
    /// Builds the parts other than the conversation. `budget` and `said` (the size of the conversation) are in tokens.
    /// If everything fits, no part is limited to its share.
    pub fn new(background: &Background, budget: i64, said: i64, allocation: &Allocation, counter: &'a Counter) -> Self {
        let mut draft = Self { counter, budget, out: Assembled::default(), keys: None, now: None, now_cost: 0 };
        let wanted = draft.build(background, (budget, budget, budget));
        if wanted + said > budget {
            draft = Self { counter, budget, out: Assembled::default(), keys: None, now: None, now_cost: 0 };
            let least = budget * MIN_SHARE / 100;
            let system = (allocation.system + allocation.current_task).max(least);
            // A quarter of the knowledge share is for the current state.
            let now = (allocation.knowledge / 4).max(least);
            draft.build(background, (system, (allocation.knowledge - now).max(least), now));
        }
        draft.omit("bugs", background.omitted_bugs, 0, "less severe than the bugs listed");
        draft
    }

    /// Builds the parts within their limits, and returns their total tokens.
    fn build(&mut self, background: &Background, (system, knowledge, now): (i64, i64, i64)) -> i64 {
        self.system(background, system);
        if let Some(text) = self.section(&format!("{DATA}\n## Known facts"), &background.knowledge, knowledge) {
            self.put("knowledge", vec![text_message(Role::User, text)]);
        }
        let keys: Vec<Item> = background
            .context
            .iter()
            .map(|(key, value)| Item { kind: "context keys", text: cut::one_line(&format!("{key}: {value}")) })
            .collect();
        let keys = self.section(KEYS, &keys, now);
        let recorded = self.section("## Progress and next steps", &background.recorded, system / 2);
        let now = self.section(
            "## Right now",
            &background.now,
            now - keys.as_ref().map_or(0, |text| self.counter.count(text)),
        );
        let parts: Vec<String> = [recorded, now].into_iter().flatten().collect();
        let state = (!parts.is_empty()).then(|| parts.join("\n"));
        let counter = self.counter;
        let cost = |text: &Option<String>| text.as_ref().map_or(0, |text| counter.count(text) + 2);
        if keys.is_some() || state.is_some() {
            self.now_cost = cost(&keys) + cost(&state) + counter.count(DATA) + 8;
        }
        (self.keys, self.now) = (keys, state);
        self.out.tokens + self.now_cost
    }

    /// Adds the system message: the rules, the goal and the tasks. All of these were recorded deliberately.
    fn system(&mut self, background: &Background, available: i64) {
        let rules: Vec<String> =
            background.rules.iter().map(|m| m.message.content.text()).filter(|t| !t.trim().is_empty()).collect();
        let task = self.section("## Goal and tasks", &background.task, available / 2);
        let left = (available - task.as_ref().map_or(0, |text| self.counter.count(text)) - 8).max(16);
        let whole = rules.join("\n\n");
        let cost = self.counter.count(&whole);
        let shown = cut_middle(&whole, cost, left, self.counter);
        if cost > left {
            self.omit("rules", 1, cost - left, "longer than their share of the budget; the middle was cut");
        }
        let (count, tokens) = background.omitted_rules;
        self.omit("rules", count, tokens, "only the first and the newest rules are included");
        self.out.system = [(!shown.is_empty()).then_some(shown), task].into_iter().flatten().collect();
        if !self.out.system.is_empty() {
            self.put("system", vec![text_message(Role::System, self.out.system.join("\n\n"))]);
        }
    }

    /// Splits the rest of the budget between the recent turns and the memory of older ones. `said` is the number of
    /// tokens in the conversation, `newest` the number of tokens in the newest messages, which should stay unchanged.
    pub fn plan(&self, said: i64, newest: i64) -> Plan {
        Plan::new(self.budget, self.room(), (said, newest))
    }

    /// Returns whether a conversation of `said` tokens begins a new step if it grows by `growth` tokens.
    pub fn moves(&self, plan: &Plan, said: i64, growth: i64) -> bool {
        if plan.whole { said + growth > self.room() } else { plan.began(said + growth) > plan.began(said) }
    }

    /// Returns the plan for a conversation that fits and whose older messages were removed on request.
    pub fn plan_with_memory(&self, plan: Plan) -> Plan {
        plan.with_memory(self.budget, self.room())
    }

    /// Returns the number of tokens that are left for the conversation.
    fn room(&self) -> i64 {
        self.budget - self.out.tokens - self.now_cost
    }

    /// Adds the conversation and returns the assembled context.
    pub fn finish(mut self, history: &History, plan: &Plan) -> Assembled {
        let counter = self.counter;
        let background = self.out.messages.len();
        let known: String = self.out.messages.iter().map(|m| m.content.text()).collect();
        let turns = turns::Settled::of(history, counter);
        let mut memory = Memory::new(counter);
        if !plan.whole {
            let left = (history.start.tokens - turns.tokens_upto(history.start.upto)).clamp(0, plan.turns);
            let left = if plan.quotes_first { 0 } else { left };
            // The last exchange takes precedence over older content.
            let beside = self.room() - plan.reserve - turns.last_exchange_tokens();
            memory.choose(history, (plan.memory + left).min(window::rounded(beside, self.budget)), &known);
            let messages = memory.messages();
            self.put("summary", messages);
        }
        let reserve = if plan.whole { 0 } else { plan.reserve };
        let available = (self.budget - self.out.tokens - self.now_cost - reserve).max(1);
        let turns = turns.fit(available, plan, counter, &mut |what, count, tokens, why| {
            omit(&mut self.out.left_out, what, count, tokens, why);
        });
        self.out.dropped_to = turns.dropped_to;
        let (visible, cut) = turns.visible();
        self.out.question_tokens = turns.messages.last().map_or(0, |m| tokens(m, counter) + extra_tokens(m, counter));
        self.put("history", turns.messages);
        self.out.stable = as_i64(if history.moves { background } else { self.out.messages.len() });
        let room = (self.budget * FILL_PERCENT + 99) / 100 - self.out.tokens - self.now_cost;
        let recalled = if plan.whole || !history.fills { None } else { memory.recall(history, (&visible, &cut), room) };
        self.report(history, &memory);
        self.put_last(recalled);
        self.out
    }

    /// Adds the last message: the current state, and the quotes recalled for the question.
    fn put_last(&mut self, recalled: Option<String>) {
        let recorded: Vec<String> = [self.now.take(), recalled].into_iter().flatten().collect();
        // The agent should use the context keys, so they come before the line that marks data.
        let recorded = (!recorded.is_empty()).then(|| format!("{DATA}\n{}", recorded.join("\n")));
        let blocks: Vec<String> = [self.keys.take(), recorded].into_iter().flatten().collect();
        if !blocks.is_empty() {
            self.put("now", vec![text_message(Role::User, blocks.join("\n\n"))]);
        }
    }

    /// Reports which statements and messages are missing from the context.
    fn report(&mut self, history: &History, memory: &Memory<'_>) {
        let (left, tokens) = memory.missing(&history.facts);
        self.omit("facts", left, tokens, "the budget is used up");
        let why = if memory.is_empty() {
            "older than the recent turns"
        } else {
            "older than the recent turns; covered by the summary"
        };
        self.omit("messages", history.older.0, history.older.1, why);
    }

    /// Reports omitted content, unless `count` is 0.
    fn omit(&mut self, what: &str, count: i64, tokens: i64, why: &str) {
        omit(&mut self.out.left_out, what, count, tokens, why);
    }

    /// Appends the messages of a part.
    fn put(&mut self, part: &str, messages: Vec<Message>) {
        let cost: i64 = messages.iter().map(|m| tokens(m, self.counter) + extra_tokens(m, self.counter)).sum();
        if !messages.is_empty() {
            self.out.parts.push(ContextPart { part: part.to_owned(), messages: as_i64(messages.len()), tokens: cost });
        }
        self.out.tokens += cost;
        self.out.messages.extend(messages);
    }

    /// Renders a heading and the items that fit, in order. Reports the remaining items as omitted. Returns `None` if no
    /// item fits.
    fn section(&mut self, heading: &str, items: &[Item], max_tokens: i64) -> Option<String> {
        let mut spent = self.counter.count(heading) + 5;
        let mut text = heading.to_owned();
        let mut missing: BTreeMap<&'static str, (i64, i64)> = BTreeMap::new();
        for item in items {
            let cost = self.counter.count(&item.text) + 3;
            if spent + cost <= max_tokens {
                spent += cost;
                text.push_str("\n- ");
                text.push_str(&item.text);
            } else {
                let left = missing.entry(item.kind).or_default();
                *left = (left.0 + 1, left.1 + cost);
            }
        }
        for (kind, (count, tokens)) in missing {
            self.omit(kind, count, tokens, "its share of the budget is used up");
        }
        (text.len() > heading.len()).then_some(text)
    }
}

fn omit(left_out: &mut Vec<Omission>, what: &str, count: i64, tokens: i64, why: &str) {
    if count > 0 {
        left_out.push(Omission { what: what.to_owned(), count, tokens, why: why.to_owned() });
    }
}

#[cfg(test)]
mod tests;
