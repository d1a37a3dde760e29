//! The recent turns: groups messages into steps, and shortens or drops those that do not fit.

use std::collections::{HashMap, HashSet};

use afd_proto::conversation::{Content, Message, Part, RecordedMessage, Role};

use super::super::prepared::{brief_limit, extra_tokens, tokens};
use super::history::{History, as_i64, cut_middle};
use super::window::Plan;
use afd_base::model::Counter;
use afd_base::text;
use afd_store::to_json;

/// Maximum tokens of an older tool result, and of an older assistant message, when turns must be shortened further.
const SHORT: [(Role, i64); 2] = [(Role::Tool, 60), (Role::Assistant, 120)];

/// Callback for omitted content: description, count, tokens and reason.
type Report<'a> = &'a mut dyn FnMut(&str, i64, i64, &str);

/// The turns that fit in a context.
#[derive(Debug, Default)]
pub struct Turns {
    /// Messages that are sent as turns, oldest first.
    pub messages: Vec<Message>,
    /// Position of each message, and whether the message is included unchanged.
    shown: Vec<(i64, bool)>,
    /// Position of the newest message that was dropped; 0 if none was.
    pub dropped_to: i64,
}

impl Turns {
    /// Returns the positions of the unchanged messages, and the folded text of each shortened message by position.
    pub fn visible(&self) -> (HashSet<i64>, HashMap<i64, String>) {
        let cut = self.shown.iter().zip(&self.messages).filter(|((_, whole), _)| !whole);
        let cut = cut.map(|((position, _), message)| (*position, text::fold(&message.content.text())));
        (self.shown.iter().filter(|(_, whole)| *whole).map(|(position, _)| *position).collect(), cut.collect())
    }
}

/// A message and its position; `cut` is set if the message was shortened.
#[derive(Debug, Clone)]
struct Shown {
    position: i64,
    message: Message,
    cost: i64,
    cut: bool,
}

/// A single message, or an assistant message with the results of its tool calls.
type Step = Vec<Shown>;

/// Recent messages, grouped into steps. Messages up to `Start::settled_to` are shortened to their brief lengths.
pub struct Settled {
    steps: Vec<Step>,
    unpaired: i64,
    cut: i64,
}

impl Settled {
    /// Groups the recent messages into steps, and shortens those up to `Start::settled_to`.
    pub fn of(history: &History, counter: &Counter) -> Self {
        let recent: Vec<&RecordedMessage> = history.request.iter().chain(&history.recent).collect();
        let (mut steps, unpaired) = steps(&recent, counter);
        let mut cut = 0;
        for shown in steps.iter_mut().flatten().filter(|m| m.position <= history.start.settled_to) {
            cut += i64::from(shorten(shown, brief_limit(shown.message.role), counter));
        }
        Self { steps, unpaired, cut }
    }

    /// Returns the total tokens of the messages up to a position.
    pub fn tokens_upto(&self, position: i64) -> i64 {
        self.steps.iter().flatten().filter(|m| m.position <= position).map(|m| m.cost).sum()
    }

    /// Returns the total tokens of the last exchange.
    pub fn last_exchange_tokens(&self) -> i64 {
        last_exchange(&self.steps).into_iter().map(|i| total(&self.steps[i..=i])).sum()
    }

    /// Returns the messages that fit in `available` tokens. To make them fit, first shortens older tool results and
    /// older assistant messages, then drops the oldest steps, then shortens long messages in the last exchange. The
    /// amount to remove grows by one step of the plan at a time, so that it stays the same over many calls.
    pub fn fit(self, available: i64, plan: &Plan, counter: &Counter, report: Report<'_>) -> Turns {
        let Self { mut steps, unpaired, mut cut } = self;
        report("unpaired tool calls or results", unpaired, 0, "model APIs reject one without the other");
        let protected = last_exchange(&steps);
        let over = total(&steps) - available;
        let step = plan.step.clamp(1, (available / 8).max(1));
        let goal = if over > 0 { available - (step - over % step) % step } else { available };
        cut += shorten_older(&mut steps, &protected, goal, counter);
        let (lost, lost_tokens, dropped_to) = drop_oldest(&mut steps, &protected, goal);
        report("steps of recent turns", lost, lost_tokens, "the budget is used up; older steps go first");
        cut += squeeze(&mut steps, available, counter);
        report("parts of long messages", cut, 0, "older tool results are cut first; the middle was left out");
        let shown: Vec<Shown> = steps.into_iter().flatten().collect();
        Turns {
            shown: shown.iter().map(|m| (m.position, !m.cut)).collect(),
            messages: shown.into_iter().map(|m| m.message).collect(),
            dropped_to,
        }
    }
}

/// Returns the total tokens of the steps.
fn total(steps: &[Step]) -> i64 {
    steps.iter().flatten().map(|m| m.cost).sum()
}

/// Shortens older tool results, then older assistant messages, oldest first, until the steps have at most `goal`
/// tokens. Returns the number of shortened messages.
fn shorten_older(steps: &mut [Step], protected: &[usize], goal: i64, counter: &Counter) -> i64 {
    let mut cut = 0;
    let mut over = total(steps) - goal;
    for (role, limit) in SHORT {
        for i in (0..steps.len()).filter(|i| !protected.contains(i)) {
            for shown in steps[i].iter_mut().filter(|m| m.message.role == role) {
                if over <= 0 {
                    return cut;
                }
                let before = shown.cost;
                cut += i64::from(shorten(shown, limit.max(before - over), counter));
                over -= before - shown.cost;
            }
        }
    }
    cut
}

/// Drops the oldest steps until the rest has at most `goal` tokens. Returns the number of dropped messages, their total
/// tokens, and the position of the newest one.
fn drop_oldest(steps: &mut Vec<Step>, protected: &[usize], goal: i64) -> (i64, i64, i64) {
    let (mut lost, mut lost_tokens, mut dropped_to) = (0, 0, 0);
    let mut over = total(steps) - goal;
    let mut i = 0;
    steps.retain(|step| {
        let keep = over <= 0 || protected.contains(&i);
        i += 1;
        if !keep {
            let cost: i64 = step.iter().map(|m| m.cost).sum();
            over -= cost;
            lost += as_i64(step.len());
            lost_tokens += cost;
            dropped_to = step.iter().map(|m| m.position).fold(dropped_to, i64::max);
        }
        keep
    });
    (lost, lost_tokens, dropped_to)
}

/// Returns the indexes of the steps in the last exchange: the last request and the two newest steps.
fn last_exchange(steps: &[Step]) -> Vec<usize> {
    let request = steps.iter().rposition(|s| s[0].message.role == Role::User);
    let mut found: Vec<usize> = request.into_iter().chain(steps.len().checked_sub(1)).collect();
    // Include the step before the newest one: an answer precedes a new request, and a result may need the previous
    // step.
    found.extend(steps.len().checked_sub(2));
    found.sort_unstable();
    found.dedup();
    found
}

/// Shortens the longest remaining messages until all fit: first tool results, then also assistant messages, then also
/// user messages. Returns how many times messages were shortened in total.
fn squeeze(steps: &mut [Step], available: i64, counter: &Counter) -> i64 {
    let mut cut = 0;
    for roles in [&[Role::Tool][..], &[Role::Tool, Role::Assistant], &[Role::Tool, Role::Assistant, Role::User]] {
        for divisor in [2, 4, 8, 16, 32, 64] {
            if total(steps) <= available {
                return cut;
            }
            let limit = (available / divisor).max(8);
            for shown in steps.iter_mut().flatten().filter(|m| roles.contains(&m.message.role)) {
                cut += i64::from(shorten(shown, limit, counter));
            }
        }
    }
    cut
}

/// Groups messages into steps. Drops calls without a result and results without a call, and returns their number.
fn steps(recent: &[&RecordedMessage], counter: &Counter) -> (Vec<Step>, i64) {
    let mut steps: Vec<Step> = Vec::new();
    let mut unpaired = 0;
    let shown = |m: &RecordedMessage| Shown { position: m.position, message: m.message.clone(), cost: 0, cut: false };
    for recorded in recent.iter().filter(|m| m.message.role != Role::System) {
        let message = &recorded.message;
        if message.role != Role::Tool {
            steps.push(vec![shown(recorded)]);
            continue;
        }
        let asks = |m: &Message| m.tool_calls.iter().any(|call| Some(&call.id) == message.tool_call_id.as_ref());
        let answered = |step: &[Shown]| step[1..].iter().any(|m| m.message.tool_call_id == message.tool_call_id);
        match steps.iter_mut().rev().find(|step| asks(&step[0].message) && !answered(step)) {
            Some(step) => step.push(shown(recorded)),
            None => unpaired += 1,
        }
    }
    for step in &mut steps {
        let answers: Vec<String> = step[1..].iter().filter_map(|m| m.message.tool_call_id.clone()).collect();
        let before = step[0].message.tool_calls.len();
        step[0].message.tool_calls.retain(|call| answers.contains(&call.id));
        unpaired += as_i64(before - step[0].message.tool_calls.len());
    }
    steps.retain(|step| !(step[0].message.content.is_empty() && step[0].message.tool_calls.is_empty()));
    // Reasoning and signatures belong to the turn in progress. Providers do not accept them for earlier turns.
    let request = steps.iter().rposition(|step| step[0].message.role == Role::User);
    for (i, step) in steps.iter_mut().enumerate() {
        for shown in step {
            if shown.message.role != Role::Assistant || request.is_some_and(|request| i < request) {
                forget_extra(&mut shown.message);
            }
            shown.cost = tokens(&shown.message, counter) + extra_tokens(&shown.message, counter);
        }
    }
    (steps, unpaired)
}

fn forget_extra(message: &mut Message) {
    message.extra.clear();
    message.tool_calls.iter_mut().for_each(|call| call.extra.clear());
}

/// Returns the text of a part, or a placeholder for an image.
fn part_text(part: &Part) -> String {
    match part {
        Part::Text { text } => text.clone(),
        Part::Image { width, height, .. } => {
            let size = width.zip(*height).map_or(String::new(), |(w, h)| format!(" of {w} x {h}"));
            format!("[image{size} omitted]")
        }
    }
}

/// Shortens a message to about `max_tokens` tokens: images become placeholders, and long text and arguments lose their
/// middle. Returns whether the message was longer than that.
fn shorten(shown: &mut Shown, max_tokens: i64, counter: &Counter) -> bool {
    if shown.cost <= max_tokens {
        return false;
    }
    let message = &mut shown.message;
    forget_extra(message);
    let cost_of = |arguments: &serde_json::Map<String, serde_json::Value>| counter.count(&to_json(arguments));
    let each = (max_tokens / 2 / as_i64(message.tool_calls.len()).max(1)).max(4);
    for call in &mut message.tool_calls {
        let cost = cost_of(&call.arguments);
        if cost > each {
            let text = cut_middle(&to_json(&call.arguments), cost, each, counter);
            call.arguments = serde_json::Map::from_iter([("leftOut".to_owned(), serde_json::Value::from(text))]);
        }
    }
    let calls: i64 = message.tool_calls.iter().map(|c| counter.count(&c.name) + cost_of(&c.arguments)).sum();
    let available = (max_tokens - calls - 4).max(4);
    let text = match &message.content {
        Content::Text(text) => text.clone(),
        Content::Parts(parts) => parts.iter().map(part_text).collect::<Vec<_>>().join("\n"),
    };
    message.content = Content::Text(cut_middle(&text, counter.count(&text), available, counter));
    shown.cost = tokens(message, counter);
    shown.cut = true;
    true
}
