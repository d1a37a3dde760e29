//! Putting a context together: the messages for the model's next turn, within a budget (seeds 002 and 004).
//!
//! What changes least comes first, so that a prompt cache stays valid: the rules with goal and tasks, what is known, the summary of what
//! was said before, the recent turns, and at the very end what is true right now. Recent turns begin at a point that moves in steps,
//! so that one turn more only adds to the end. The same memory and budget give the same bytes.

use std::collections::BTreeMap;

use afd_proto::context::{Allocation, ContextPart, LeftOut};
use afd_proto::conversation::{Content, Message, Part, Recorded, Role};

use super::compaction;
use super::kept::Fact;
use super::messages::tokens;
use crate::model::Counter;
use crate::session::json;
use crate::text::cut;

/// Share of the history that recent turns may take, per cent; the rest is for the summary.
const RECENT: i64 = 60;
/// The most of a budget that the summary takes, however much is left over, per cent.
const SUMMARY: i64 = 50;
/// What a sentence must be worth to be taken into the summary.
const WORTH: f64 = 0.2;
/// A message takes at most this part of what recent turns may take.
const LONG: i64 = 3;

/// Something that is known, in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What kind of thing: the left-out ones are counted by it.
    pub kind: &'static str,
    /// The line.
    pub text: String,
}

/// What a context is made of.
#[derive(Debug, Clone, Default)]
pub struct Material {
    /// What was said as `system`.
    pub rules: Vec<Recorded>,
    /// How many more rules there are, and their tokens.
    pub rules_missing: (i64, i64),
    /// Context keys that seldom change.
    pub context: BTreeMap<String, String>,
    /// Goal and tasks, most important first.
    pub task: Vec<Item>,
    /// What is known, most important first.
    pub knowledge: Vec<Item>,
    /// What a language model wrote about the beginning.
    pub written: Option<String>,
    /// Sentences that were said before the recent turns, best first.
    pub facts: Vec<Fact>,
    /// The request that the first recent message answers, when it is not among them.
    pub request: Option<Recorded>,
    /// Recent messages, oldest first.
    pub recent: Vec<Recorded>,
    /// Bugs that are known and not among what is known, by number.
    pub more_bugs: i64,
    /// What is true right now, most important first.
    pub now: Vec<Item>,
    /// Tokens of all that was said since the last clearing.
    pub said: i64,
    /// Messages that are not among the recent ones, and their tokens.
    pub older: (i64, i64),
}

/// A context.
#[derive(Debug, Clone, Default)]
pub struct Assembled {
    /// The messages.
    pub messages: Vec<Message>,
    /// What they are.
    pub parts: Vec<ContextPart>,
    /// What did not fit.
    pub left_out: Vec<LeftOut>,
    /// Tokens of the messages.
    pub tokens: i64,
    /// How many of them stay the same for a while.
    pub stable: i64,
}

/// How many tokens of recent turns a budget has room for: the whole share while nothing of the conversation has to be left out.
pub fn room_for_turns(allocation: &Allocation, said: i64) -> i64 {
    let share = if said <= allocation.history { 100 } else { RECENT };
    (allocation.history * share / 100).max(1)
}

/// From how many tokens of the conversation on its turns are recent: as many as fit, in steps of half of that.
pub fn recent_from(said: i64, room: i64) -> i64 {
    let step = (room / 2).max(1);
    (said - room + step - 1).max(0) / step * step
}

struct Desk<'a> {
    counter: &'a Counter,
    out: Assembled,
}

fn said(role: Role, text: String) -> Message {
    Message { role, content: Content::Text(text), tool_calls: Vec::new(), tool_call_id: None, name: None, failed: false }
}

impl Desk<'_> {
    fn leave_out(&mut self, what: &str, count: i64, tokens: i64, why: &str) {
        if count > 0 {
            self.out.left_out.push(LeftOut { what: what.to_owned(), count, tokens, why: why.to_owned() });
        }
    }

    fn put(&mut self, part: &str, messages: Vec<Message>) -> i64 {
        let cost: i64 = messages.iter().map(|m| tokens(m, self.counter)).sum();
        if !messages.is_empty() {
            self.out.parts.push(ContextPart { part: part.to_owned(), messages: as_i64(messages.len()), tokens: cost });
        }
        self.out.tokens += cost;
        self.out.messages.extend(messages);
        cost
    }

    /// The lines that fit under a heading, in their order; the others are left out.
    fn section(&mut self, heading: &str, items: &[Item], most: i64) -> Option<String> {
        let mut spent = self.counter.count(heading) + 5;
        let mut text = heading.to_owned();
        let mut missing: BTreeMap<&'static str, (i64, i64)> = BTreeMap::new();
        for item in items {
            let cost = self.counter.count(&item.text) + 3;
            if spent + cost <= most {
                spent += cost;
                text.push_str("\n- ");
                text.push_str(&item.text);
            } else {
                let left = missing.entry(item.kind).or_default();
                *left = (left.0 + 1, left.1 + cost);
            }
        }
        for (kind, (count, tokens)) in missing {
            self.leave_out(kind, count, tokens, "its share of the budget is full");
        }
        (text.len() > heading.len()).then_some(text)
    }

    fn rules(&mut self, material: &Material, allocation: &Allocation) -> i64 {
        let rules: Vec<String> = material.rules.iter().map(|m| m.message.content.text()).filter(|t| !t.trim().is_empty()).collect();
        let keys: Vec<Item> =
            material.context.iter().map(|(key, value)| Item { kind: "context keys", text: format!("{key}: {value}") }).collect();
        // Context keys are short and go first; the rules take the rest of the share.
        let keys = self.section("## Current context (use as defaults)", &keys, allocation.system / 2);
        let spent = keys.as_ref().map_or(0, |text| self.counter.count(text));
        let whole = rules.join("\n\n");
        let room = (allocation.system - spent - 8).max(16);
        let cost = self.counter.count(&whole);
        let shown = cut_to(&whole, cost, room, self.counter);
        if cost > room {
            self.leave_out("rules", 1, cost - room, "longer than their share of the budget: the middle is cut out");
        }
        let (count, tokens) = material.rules_missing;
        self.leave_out("rules", count, tokens, "only the first and the newest rules are sent");
        let task = self.section("## Goal and tasks", &material.task, allocation.current_task);
        let blocks: Vec<String> = [(!shown.is_empty()).then_some(shown), keys, task].into_iter().flatten().collect();
        if blocks.is_empty() { 0 } else { self.put("system", vec![said(Role::System, blocks.join("\n\n"))]) }
    }

    /// What was said before; `told` has been told already.
    fn summary(&mut self, material: &Material, told: &str, most: i64) {
        let heading = "[Previous context summary]";
        let mut lines = vec![heading.to_owned()];
        let mut room = most - self.counter.count(heading) - 6;
        if let Some(written) = &material.written {
            let cost = self.counter.count(written);
            let shown = cut_to(written, cost, room.max(0), self.counter);
            room -= self.counter.count(&shown);
            lines.push(shown);
        }
        let fresh: Vec<&Fact> = material.facts.iter().filter(|f| !told.contains(&f.text)).collect();
        // Where there is much room, what is worth little may come too.
        let ample = fresh.iter().map(|f| f.tokens + 2).sum::<i64>() * 4 <= room;
        let good: Vec<Fact> = fresh.into_iter().filter(|f| ample || f.score >= WORTH).cloned().collect();
        let (all, cost) = (as_i64(good.len()), good.iter().map(|f| f.tokens + 2).sum::<i64>());
        let chosen = compaction::choose(good, room);
        let (left, rest) = (all - as_i64(chosen.len()), cost - chosen.iter().map(|f| f.tokens + 2).sum::<i64>());
        lines.extend(chosen.iter().map(|f| format!("- {}", f.text)));
        self.leave_out("facts", left, rest, "the share of the summary is full");
        let why = match (lines.len() > 1, told.is_empty()) {
            (true, _) => "older than the recent turns: the summary stands for them",
            (false, false) => "older than the recent turns: what was particular in them is among what is known",
            (false, true) => "older than the recent turns, and nothing particular was said in them",
        };
        self.leave_out("messages", material.older.0, material.older.1, why);
        if lines.len() > 1 {
            self.put("summary", vec![said(Role::System, lines.join("\n"))]);
        }
    }
}

/// Puts a context together.
pub fn assemble(material: &Material, allocation: &Allocation, budget: i64, counter: &Counter) -> Assembled {
    let mut desk = Desk { counter, out: Assembled::default() };
    let system = desk.rules(material, allocation);
    // A quarter of what is known is about right now.
    let now = desk.section("## Right now", &material.now, allocation.knowledge / 4);
    let now_cost = now.as_ref().map_or(0, |text| counter.count(text) + 4);
    let known = desk.section("## What is known", &material.knowledge, allocation.knowledge - allocation.knowledge / 4);
    let told = known.clone().unwrap_or_default();
    let known = known.map_or(0, |text| desk.put("knowledge", vec![said(Role::System, text)]));
    let unspent = (allocation.system + allocation.current_task - system).max(0) + (allocation.knowledge * 3 / 4 - known).max(0);
    let room = room_for_turns(allocation, material.said);
    desk.summary(material, &told, (allocation.history - room + unspent).min(budget * SUMMARY / 100));
    let left = budget - allocation.tools - allocation.buffer - desk.out.tokens - now_cost;
    desk.leave_out("bugs", material.more_bugs, 0, "less bad than those that are told");
    let recent: Vec<&Message> = material.request.iter().chain(&material.recent).map(|r| &r.message).collect();
    // A turn that is too long by itself may take what nothing else took.
    let long = recent.iter().map(|m| tokens(m, counter)).sum::<i64>() > room;
    let turns = turns(&mut desk, &recent, if long { left.max(1) } else { room.min(left.max(1)) });
    desk.put("history", turns);
    desk.out.stable = as_i64(desk.out.messages.len());
    if let Some(now) = now {
        desk.put("now", vec![said(Role::System, now)]);
    }
    desk.out
}

/// Steps of turns: what is said, or calls of tools with their answers, which are never parted. Calls without an answer and answers
/// without a call would be refused; returns how many of both there are.
fn steps(recent: &[&Message]) -> (Vec<Vec<Message>>, i64) {
    let mut steps: Vec<Vec<Message>> = Vec::new();
    let mut alone = 0;
    for message in recent.iter().filter(|m| m.role != Role::System) {
        if message.role != Role::Tool {
            steps.push(vec![(*message).clone()]);
            continue;
        }
        let asks = |m: &Message| m.tool_calls.iter().any(|call| Some(&call.id) == message.tool_call_id.as_ref());
        let answered = |step: &[Message]| step[1..].iter().any(|m| m.tool_call_id == message.tool_call_id);
        match steps.iter_mut().rev().find(|step| asks(&step[0]) && !answered(step)) {
            Some(step) => step.push((*message).clone()),
            None => alone += 1,
        }
    }
    for step in &mut steps {
        let answers: Vec<String> = step[1..].iter().filter_map(|m| m.tool_call_id.clone()).collect();
        let before = step[0].tool_calls.len();
        step[0].tool_calls.retain(|call| answers.contains(&call.id));
        alone += as_i64(before - step[0].tool_calls.len());
    }
    steps.retain(|step| !(step[0].content.is_empty() && step[0].tool_calls.is_empty()));
    (steps, alone)
}

fn turns(desk: &mut Desk<'_>, recent: &[&Message], room: i64) -> Vec<Message> {
    let counter = desk.counter;
    let cost = |step: &[Message]| step.iter().map(|m| tokens(m, counter)).sum::<i64>();
    let (mut steps, alone) = steps(recent);
    desk.leave_out("calls or answers of tools", alone, 0, "a call without its answer, or an answer without its call, would be refused");
    if steps.iter().map(|s| cost(s)).sum::<i64>() <= room {
        return steps.concat();
    }
    let mut shortened = 0;
    for step in &mut steps {
        let long = (room / LONG / as_i64(step.len())).max(8);
        for message in step.iter_mut().filter(|m| tokens(m, counter) > long) {
            shorten(message, long, counter);
            shortened += 1;
        }
    }
    desk.leave_out("parts of long messages", shortened, 0, "longer than there is room for: their middle is cut out");
    // The request of the turn stays, and of what was done since then the newest.
    let request = steps.iter().rposition(|s| s[0].role == Role::User);
    let mut kept: Vec<usize> = request.into_iter().collect();
    let mut spent = request.map_or(0, |i| cost(&steps[i]));
    for (i, step) in steps.iter().enumerate().rev().filter(|(i, _)| Some(*i) != request) {
        let more = cost(step);
        if spent + more > room {
            break;
        }
        spent += more;
        kept.push(i);
    }
    kept.sort_unstable();
    let lost: Vec<&Vec<Message>> = steps.iter().enumerate().filter(|(i, _)| !kept.contains(i)).map(|(_, s)| s).collect();
    let (count, tokens) = (as_i64(lost.iter().map(|s| s.len()).sum()), lost.iter().map(|s| cost(s)).sum());
    desk.leave_out("steps of recent turns", count, tokens, "the share of recent turns is full");
    kept.into_iter().flat_map(|i| steps[i].clone()).collect()
}

/// A picture in words.
fn in_words(part: &Part) -> String {
    match part {
        Part::Text { text } => text.clone(),
        Part::Image { width, height, .. } => {
            let size = width.zip(*height).map_or(String::new(), |(w, h)| format!(" of {w} x {h}"));
            format!("[a picture{size} was here]")
        }
    }
}

/// Makes a message cost no more than this: pictures become words, and of long texts and arguments the middle is cut out.
fn shorten(message: &mut Message, most: i64, counter: &Counter) {
    let cost_of = |arguments: &serde_json::Map<String, serde_json::Value>| counter.count(&json(arguments));
    let each = (most / 2 / as_i64(message.tool_calls.len()).max(1)).max(4);
    for call in &mut message.tool_calls {
        let cost = cost_of(&call.arguments);
        if cost > each {
            let shown = cut_to(&json(&call.arguments), cost, each, counter);
            call.arguments = serde_json::Map::from_iter([("leftOut".to_owned(), serde_json::Value::from(shown))]);
        }
    }
    let calls: i64 = message.tool_calls.iter().map(|c| counter.count(&c.name) + cost_of(&c.arguments)).sum();
    let room = (most - calls - 8).max(4);
    let text = match &message.content {
        Content::Text(text) => text.clone(),
        Content::Parts(parts) => parts.iter().map(in_words).collect::<Vec<_>>().join("\n"),
    };
    message.content = Content::Text(cut_to(&text, counter.count(&text), room, counter));
}

/// The beginning and the end of a text that has `cost` tokens, so that they have at most `most`, with a mark between them.
pub fn cut_to(text: &str, cost: i64, most: i64, counter: &Counter) -> String {
    if cost <= most {
        return text.to_owned();
    }
    let letters = as_i64(text.chars().count());
    let mut share = (letters * most / cost.max(1)).max(0);
    // Each round is nearer; a text whose parts differ much needs several.
    for _ in 0..16 {
        let mark = format!("\n[... {} tokens left out ...]\n", cost - most);
        let size = |part: i64| usize::try_from(part).unwrap_or(0);
        let shown = format!("{}{mark}{}", cut::head(text, size(share * 2 / 3)), cut::tail(text, size(share / 3)));
        if counter.count(&shown) <= most {
            return shown;
        }
        share = share * 4 / 5;
    }
    cut::head(text, usize::try_from(most).unwrap_or(0) / 2).to_owned()
}

fn as_i64(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
