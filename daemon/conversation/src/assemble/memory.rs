//! The memory of older turns: statements by the user, separate from those by the assistant, tools and pages.
//!
//! Statements are selected by their value per token. They are rendered in the order in which they were said, with the
//! speaker and the date. A replaced statement is left out, or shown as `was` with its replacement. The user's
//! statements have a message of their own; all others are in a message that marks them as data. Line breaks in quotes
//! are removed, so that a quote cannot imitate another line.

use std::collections::{BTreeMap, HashMap, HashSet};

use afd_proto::conversation::{Message, Role};

use super::super::facts::Kind;
use super::super::headings::{DATA, HEADING};
use super::super::kept::Fact;
use super::super::prepared::tokens;
use super::super::search::{self, Recalled};
use super::history::{History, as_i64, cut_middle, text_message};
use super::outdated::Corrections;
use afd_base::model::Counter;
use afd_base::text::cut;
use afd_store::rfc3339;

/// Token cost of a line in addition to its text: the message number, the speaker and a newline.
const LINE: i64 = 4;
/// Token cost of adding another statement from the same message to a line.
const JOIN: i64 = 1;
/// Shares of the memory reserved for each role, per cent. The rest goes to the best remaining statements of any role.
const ROLE_SHARES: [(Role, i64); 3] = [(Role::User, 90), (Role::Assistant, 5), (Role::Tool, 1)];
/// Bonus for the user's rules, which stay in force until they are replaced.
const RULE_GAIN: f64 = 0.2;
/// Bonus for the user's decisions, which stay in force until they are replaced.
const DECISION_GAIN: f64 = 0.2;
/// Tokens added to a statement's length when its value is computed, so that the shortest statements do not always win.
const BASE_COST: f64 = 18.0;
/// Exponent applied to the sum of a statement's length and `BASE_COST`.
const COST_WEIGHT: f64 = 0.6;
/// Weight of statements by the assistant, relative to the user's statements.
const ASSISTANT_WORTH: f64 = 0.8;
/// Weight of statements by tools and pages, relative to the user's statements.
const TOOL_WORTH: f64 = 0.7;
/// Bonus that a user's statement gets for the better of its neighbours in the message, as a share of that neighbour's
/// score. People explain important things in several sentences.
const NEIGHBOUR_GAIN: f64 = 0.2;

/// First line of the statements by the user.
const SAID: &str =
    "Quotes of what the user said earlier (with the numbers of their messages; of two that disagree the later counts):";
/// First line of the other statements.
const OBSERVED: &str = "What the assistant, tools and pages said earlier:";
/// First line of the recalled quotes.
const RECALLED: &str = "## Recalled for the last message (quotes of earlier messages)";

/// The memory of older turns: the statements and the model-written summary that were selected for it.
pub struct Memory<'a> {
    counter: &'a Counter,
    written: Option<String>,
    user: Vec<Fact>,
    observed: Vec<Fact>,
    chosen: HashSet<i64>,
}

impl<'a> Memory<'a> {
    /// Returns an empty memory.
    pub fn new(counter: &'a Counter) -> Self {
        Self { counter, written: None, user: Vec::new(), observed: Vec::new(), chosen: HashSet::new() }
    }

    /// Returns whether no statement or summary was selected.
    pub fn is_empty(&self) -> bool {
        self.written.is_none() && self.chosen.is_empty()
    }

    /// Selects content that fits in `max_tokens`: the model-written summary, then statements. Skips statements whose
    /// text occurs in `known`.
    pub fn choose(&mut self, history: &History, max_tokens: i64, known: &str) {
        let mut available = max_tokens - self.counter.count(SAID) - self.counter.count(HEADING) - 10;
        if available <= 0 {
            return;
        }
        if let Some(written) = &history.written {
            let cost = self.counter.count(written);
            let shown = cut_middle(written, cost, (available / 2).max(0), self.counter);
            available -= self.counter.count(&shown);
            self.written = Some(shown);
        }
        let request = history.request.as_ref().map(|m| m.position);
        let mut rest: Vec<&Fact> =
            history.facts.iter().filter(|f| !known.contains(&f.text) && Some(f.position) != request).collect();
        let gains = neighbour_gains(&rest);
        let worth = |fact: &Fact| density(fact, gains.get(&fact.id).copied().unwrap_or(0.0));
        best_first(&mut rest, worth, |fact| (-fact.position, fact.place));
        let mut picked = Picked { lines: HashSet::new(), facts: Vec::new(), spent: 0, slack: max_tokens / 50 };
        for (role, share) in ROLE_SHARES {
            let limit = picked.spent + available * share / 100;
            rest.retain(|fact| fact.role != role || !picked.take(fact, limit.min(available)));
        }
        picked.add(&mut rest, available);
        loop {
            self.set(&picked.facts);
            let spent: i64 = self.messages().iter().map(|m| tokens(m, self.counter)).sum();
            // Costs are estimates, so remove the least valuable statements, or add more.
            if spent <= max_tokens {
                if max_tokens - spent < picked.slack || !picked.add(&mut rest, available + max_tokens - spent) {
                    break;
                }
            } else if !picked.give_up(spent - max_tokens) {
                break;
            }
        }
        let recent: HashSet<i64> = history.recent.iter().map(|m| m.position).collect();
        let corrections = Corrections::among(&history.facts);
        let chosen = self.chosen.clone();
        let shown = |id: i64, position: i64| chosen.contains(&id) || recent.contains(&position);
        picked.facts.retain(|fact| !corrections.outdate(fact.position, &fact.text, shown));
        self.set(&picked.facts);
    }

    fn set(&mut self, facts: &[Fact]) {
        self.chosen = facts.iter().map(|f| f.id).collect();
        let (mut user, mut observed): (Vec<Fact>, Vec<Fact>) =
            facts.iter().cloned().partition(|f| f.role == Role::User);
        user.sort_by_key(|f| (f.position, f.place));
        observed.sort_by_key(|f| (f.position, f.place));
        (self.user, self.observed) = (user, observed);
    }

    /// Returns the messages that make up the memory.
    pub fn messages(&self) -> Vec<Message> {
        let mut messages = Vec::new();
        if !self.user.is_empty() {
            messages.push(text_message(Role::User, format!("{HEADING}\n{SAID}\n{}", lines(&self.user))));
        }
        let mut blocks: Vec<String> = self.written.iter().cloned().collect();
        if !self.observed.is_empty() {
            blocks.push(format!("{OBSERVED}\n{}", lines(&self.observed)));
        }
        if !blocks.is_empty() {
            messages.push(text_message(Role::User, format!("{HEADING}\n{DATA}\n{}", blocks.join("\n"))));
        }
        messages
    }

    /// Returns the number of statements that were not selected, and their total tokens.
    pub fn missing(&self, facts: &[Fact]) -> (i64, i64) {
        let missing = facts.iter().filter(|f| !self.chosen.contains(&f.id));
        missing.fold((0, 0), |(count, tokens), fact| (count + 1, tokens + fact.tokens))
    }

    /// Returns quotes that fill up to `room` tokens: sentences that match the question, then the best statements that
    /// are not included yet, then sentences from turns that did not fit and from older messages. `visible` has the
    /// positions of the messages that are included in full, and `shortened` the folded text of each shortened message.
    pub fn recall(
        &mut self,
        history: &History,
        (visible, shortened): (&HashSet<i64>, &HashMap<i64, String>),
        room: i64,
    ) -> Option<String> {
        let available = room - self.counter.count(RECALLED) - self.counter.count(DATA) - 12;
        let mut taken: BTreeMap<i64, Vec<String>> = BTreeMap::new();
        let mut who: BTreeMap<i64, (String, i64)> = BTreeMap::new();
        let shown: HashSet<String> = self.user.iter().chain(&self.observed).map(|f| folded(&f.text)).collect();
        let mut own: HashSet<String> = HashSet::new();
        let mut of_message: HashMap<i64, String> = HashMap::new();
        let mut spent = 0;
        let mut rest: Vec<&Fact> = history.facts.iter().filter(|f| !self.chosen.contains(&f.id)).collect();
        best_first(&mut rest, |fact| density(fact, 0.0), |fact| (-fact.position, fact.place));
        let best = history.recalled.iter().map(Quote::of_recalled);
        // Sentences from other messages are only added while there is room.
        let recent = history.recent.iter().rev().filter(|m| m.message.role != Role::System);
        let unquoted = recent.chain(&history.fill).filter(|m| !visible.contains(&m.position));
        let more = unquoted.flat_map(search::quotes).map(|found| Quote::of_recalled(&found));
        let corrections = Corrections::among(&history.facts);
        let quotes = best.chain(rest.into_iter().map(Quote::of_fact)).chain(more);
        for mut quote in quotes.filter(|q| !visible.contains(&q.position)) {
            if available - spent < LINE * 2 {
                break;
            }
            let is_shown = |id: i64, position: i64| self.chosen.contains(&id) || visible.contains(&position);
            let holds = |sentence: &str| {
                let key = folded(sentence);
                let is_replaced = |old: &String| key.contains(old.as_str()) || old.contains(&key);
                (quote.fact.is_some() || !history.replaced.iter().any(is_replaced))
                    && !corrections.outdate(quote.position, sentence, is_shown)
            };
            if !holds(&quote.said) {
                // The other sentences of a message still hold.
                let kept: Vec<&str> = cut::sentences(&quote.said).filter(|sentence| holds(sentence)).collect();
                if quote.fact.is_some() || kept.is_empty() {
                    continue;
                }
                let kept = kept.join(" ");
                (quote.text, quote.said) = (kept.clone(), kept);
            }
            let key = folded(&quote.said);
            // The text shown for a statement can contain more of its message than the sentence alone.
            let says =
                |texts: &HashMap<i64, String>| texts.get(&quote.position).is_some_and(|text| text.contains(&key));
            let repeats = shown.contains(&key) || own.contains(&key) || says(&of_message) || says(shortened);
            if repeats {
                continue;
            }
            let cost = self.counter.count(&quote.text) + if taken.contains_key(&quote.position) { JOIN } else { LINE };
            if spent + cost > available {
                continue;
            }
            spent += cost;
            self.chosen.extend(quote.fact);
            own.insert(key);
            of_message.entry(quote.position).or_default().push_str(&folded(&quote.text));
            taken.entry(quote.position).or_default().push(quote.text);
            who.insert(quote.position, (quote.who, quote.at));
        }
        if taken.is_empty() {
            return None;
        }
        Some(recalled_text(taken, who))
    }
}

/// Renders recalled sentences, grouped by date: one line for each message, with the message's position and speaker.
fn recalled_text(taken: BTreeMap<i64, Vec<String>>, mut who: BTreeMap<i64, (String, i64)>) -> String {
    let mut day = String::new();
    let mut text = RECALLED.to_owned();
    for (position, sentences) in taken {
        let (who, at) = who.remove(&position).unwrap_or_default();
        push_line(&mut text, &mut day, at, &format!("{position} {who}: {}", sentences.join(" \u{2026} ")));
    }
    text
}

/// Statements selected so far, best first.
struct Picked {
    lines: HashSet<i64>,
    facts: Vec<Fact>,
    spent: i64,
    /// The selection is complete once fewer tokens than this are unused.
    slack: i64,
}

impl Picked {
    /// Moves the statements in `rest` that fit within `limit` tokens to the selection, in order. Returns whether any
    /// was added.
    fn add(&mut self, rest: &mut Vec<&Fact>, limit: i64) -> bool {
        let before = self.facts.len();
        rest.retain(|fact| !self.take(fact, limit));
        self.facts.len() > before
    }

    /// Removes the most recently added statements until this frees `over` tokens. Afterwards, no more statements are
    /// added. Returns whether any statement was removed.
    fn give_up(&mut self, mut over: i64) -> bool {
        let before = self.facts.len();
        self.slack = i64::MAX;
        while let Some(fact) = self.facts.pop_if(|_| over > 0) {
            over -= fact.tokens + JOIN;
        }
        self.facts.len() < before
    }

    /// Adds a statement if it fits within `limit` tokens. Returns whether it was added.
    fn take(&mut self, fact: &Fact, limit: i64) -> bool {
        let cost = fact.tokens + if self.lines.contains(&fact.position) { JOIN } else { LINE };
        if self.spent + cost > limit {
            return false;
        }
        self.spent += cost;
        self.lines.insert(fact.position);
        self.facts.push(fact.clone());
        true
    }
}

/// Sorts statements by decreasing value (`worth`), and statements of equal value by `order`.
fn best_first(facts: &mut Vec<&Fact>, worth: impl Fn(&Fact) -> f64, order: impl Fn(&Fact) -> (i64, i64)) {
    let mut keyed: Vec<(f64, (i64, i64), &Fact)> = facts.iter().map(|fact| (worth(fact), order(fact), *fact)).collect();
    keyed.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    facts.clear();
    facts.extend(keyed.into_iter().map(|(_, _, fact)| fact));
}

/// Returns the bonuses that the user's statements get for their neighbours, by row id.
fn neighbour_gains(facts: &[&Fact]) -> HashMap<i64, f64> {
    let of_user = || facts.iter().filter(|f| f.role == Role::User);
    let scores: HashMap<(i64, i64), f64> = of_user().map(|f| ((f.position, f.place), f.score)).collect();
    let near = |f: &Fact, by: i64| scores.get(&(f.position, f.place + by)).copied().unwrap_or(0.0);
    of_user().map(|f| (f.id, NEIGHBOUR_GAIN * near(f, -1).max(near(f, 1)))).collect()
}

/// Returns the value of a statement per token; `gain` is added to its score.
fn density(fact: &Fact, gain: f64) -> f64 {
    let in_force = match fact.kind {
        Kind::Rule => RULE_GAIN,
        Kind::Decision => DECISION_GAIN,
        Kind::Statement => 0.0,
    };
    let worth = match fact.role {
        Role::User | Role::System => 1.0,
        Role::Assistant => ASSISTANT_WORTH,
        Role::Tool => TOOL_WORTH,
    };
    worth * (fact.score + in_force + gain) / (BASE_COST + fact.tokens as f64).powf(COST_WEIGHT)
}

fn folded(text: &str) -> String {
    afd_base::text::fold(text)
}

/// Returns the name of the speaker, as it is shown in a line.
fn speaker(role: Role, source: Option<&str>) -> String {
    match (role, source) {
        (Role::Tool, Some(source)) => format!("tool {}", one_line(source)),
        (role, _) => role.word().to_owned(),
    }
}

fn one_line(text: &str) -> String {
    afd_base::text::cut::one_line(text)
}

/// A sentence for the list of recalled quotes.
struct Quote {
    position: i64,
    who: String,
    at: i64,
    /// The sentence as it is shown, with any context that it needs.
    text: String,
    /// The sentence without additions.
    said: String,
    fact: Option<i64>,
}

impl Quote {
    fn of_fact(fact: &Fact) -> Self {
        Self {
            position: fact.position,
            who: speaker(fact.role, fact.source.as_deref()),
            at: fact.at,
            text: shown(fact),
            said: fact.text.clone(),
            fact: Some(fact.id),
        }
    }

    fn of_recalled(found: &Recalled) -> Self {
        let text = one_line(&found.text);
        let said = text.clone();
        Self {
            position: found.position,
            who: speaker(found.role, found.source.as_deref()),
            at: found.at,
            text,
            said,
            fact: None,
        }
    }
}

/// Renders a statement, with the previous sentence if it is meaningless without it, and with the text that it replaces.
fn shown(fact: &Fact) -> String {
    let about = fact.about.as_ref().map_or(String::new(), |about| match about.by {
        Some(by) if by == fact.role => format!("{} ", one_line(&about.text)),
        by => format!("({}: \"{}\") ", by.map_or("before", Role::word), one_line(&about.text)),
    });
    let was = fact.was.as_ref().map_or(String::new(), |was| format!(" (was: {})", one_line(was)));
    format!("{about}{}{was}", one_line(&fact.text))
}

/// Renders statements in the given order. Statements from the same message share a line.
fn lines(facts: &[Fact]) -> String {
    let mut text = String::new();
    let mut day = String::new();
    let mut i = 0;
    while i < facts.len() {
        let of_message = facts[i..].iter().take_while(|f| f.position == facts[i].position).count();
        let mut line = format!("{} {}: ", facts[i].position, speaker(facts[i].role, facts[i].source.as_deref()));
        for (n, fact) in facts[i..i + of_message].iter().enumerate() {
            if n > 0 {
                let next = facts[i + n - 1].place + 1 == fact.place;
                line.push_str(if next { " " } else { " \u{2026} " });
                if next {
                    // The line already contains the previous sentence.
                    line.push_str(&shown(&Fact { about: None, ..fact.clone() }));
                    continue;
                }
            }
            line.push_str(&shown(fact));
        }
        push_line(&mut text, &mut day, facts[i].at, &line);
        i += of_message;
    }
    text.trim_start_matches('\n').to_owned()
}

/// Appends a line. If the day differs from that of the previous line, appends the date first.
fn push_line(text: &mut String, day: &mut String, at: i64, line: &str) {
    let date: String = rfc3339(at).chars().take(10).collect();
    if *day != date {
        text.push_str(&format!("\n{date}"));
        *day = date;
    }
    text.push('\n');
    text.push_str(line);
}

/// Returns an upper bound on the tokens of a memory that contains all of these statements.
pub fn wanted(facts: &[Fact]) -> i64 {
    let lines = facts.iter().map(|f| f.position).collect::<HashSet<i64>>().len();
    let heading = if lines == 0 { 0 } else { HEADINGS };
    heading + facts.iter().map(|f| f.tokens + JOIN).sum::<i64>() + as_i64(lines) * (LINE - JOIN)
}

/// Number of tokens that [`wanted`] adds for a memory's headings.
const HEADINGS: i64 = 60;
