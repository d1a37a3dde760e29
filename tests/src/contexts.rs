//! Scores contexts: how many of the facts that a turn needs are in the messages sent for it.
//!
//! The conversations are in `tests/conversations`. Those in `tuned` were used to develop the rules, those in `held`
//! were not. The authors of both had not seen the rules. A fact counts as kept if all its words occur within `NEAR`
//! characters of each other.

use std::path::Path;

use afd_base::model::{Counter, Tokenizers};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Client;

/// Budgets at which contexts are scored, in tokens.
pub const BUDGETS: [i64; 3] = [2_000, 4_000, 8_000];
/// Maximum distance between the words of a fact, in characters.
const NEAR: usize = 400;
/// Number of tokens to which the third baseline truncates tool results.
const CUT: i64 = 100;

/// A recorded conversation, with the facts that its later turns need.
#[derive(Debug, Deserialize)]
pub struct Conversation {
    /// Name of the file.
    pub id: String,
    /// Language of the user.
    pub language: String,
    /// Messages in the format of `conversation.append`.
    pub messages: Vec<Value>,
    /// Facts that later turns need.
    pub facts: Vec<Fact>,
    /// User messages that need some of these facts.
    pub asks: Vec<Ask>,
}

/// A fact that occurs once in a conversation.
#[derive(Debug, Deserialize)]
pub struct Fact {
    id: String,
    kind: String,
    by: String,
    /// Words that must all occur; of a nested list, at least one.
    need: Vec<Value>,
}

/// A message at which facts are needed.
#[derive(Debug, Deserialize)]
pub struct Ask {
    /// Index of the message.
    pub after: usize,
    needs: Vec<String>,
}

/// Reads the conversations of one set: `tuned` or `held`.
///
/// # Panics
/// If a file cannot be read.
pub fn load(half: &str) -> Vec<Conversation> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("conversations").join(half);
    let mut files: Vec<_> =
        std::fs::read_dir(&dir).expect("a directory").filter_map(Result::ok).map(|e| e.path()).collect();
    files.sort();
    files
        .iter()
        .map(|file| serde_json::from_slice(&std::fs::read(file).expect("reads")).expect("a conversation"))
        .collect()
}

fn folded(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Fact {
    /// Returns whether a folded text contains the fact.
    fn is_in(&self, text: &str) -> bool {
        let options = |need: &Value| -> Vec<String> {
            match need {
                Value::Array(list) => list.iter().filter_map(Value::as_str).map(folded).collect(),
                other => other.as_str().map(folded).into_iter().collect(),
            }
        };
        let needs: Vec<Vec<String>> = self.need.iter().map(options).collect();
        let Some((first, others)) = needs.split_first() else { return false };
        first.iter().flat_map(|word| text.match_indices(word.as_str())).any(|(at, _)| {
            let from = (0..=at.saturating_sub(NEAR)).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
            let to = (at + NEAR..=text.len()).find(|i| text.is_char_boundary(*i)).unwrap_or(text.len());
            others.iter().all(|words| words.iter().any(|word| text[from..to].contains(word.as_str())))
        })
    }
}

/// Returns the text of messages as sent, including tool calls.
pub fn text_of(messages: &[Value]) -> String {
    let one = |m: &Value| {
        let content = m["content"].as_str().unwrap_or_default();
        let calls =
            m["toolCalls"].as_array().into_iter().flatten().map(|c| format!(" {} {}", c["name"], c["arguments"]));
        format!("{content}{}\n", calls.collect::<String>())
    };
    messages.iter().map(one).collect()
}

fn tokens(message: &Value, counter: &Counter) -> i64 {
    4 + counter.count(&text_of(std::slice::from_ref(message)))
}

/// Returns the text of the newest messages that fit the budget, as a baseline without a memory. `wanted` selects and
/// may shorten messages.
fn newest(messages: &[Value], budget: i64, counter: &Counter, wanted: impl Fn(&Value) -> Option<Value>) -> String {
    let mut kept: Vec<Value> = Vec::new();
    let mut spent = 0;
    for message in messages.iter().rev().filter_map(wanted) {
        spent += tokens(&message, counter);
        if spent > budget {
            break;
        }
        kept.push(message);
    }
    kept.reverse();
    text_of(&kept)
}

/// Names of the compared methods, in the order of the scores.
pub const WAYS: [&str; 4] = ["context", "newest messages", "newest of the user", "newest, tool results cut"];

/// Score at one budget.
#[derive(Debug, Clone, Default)]
pub struct Score {
    /// Number of facts that were needed.
    pub needed: usize,
    /// Number of these facts that each of `WAYS` kept.
    pub kept: [usize; 4],
    /// Counts for the context alone, by kind of fact and by speaker: name, needed, kept.
    pub groups: Vec<(String, usize, usize)>,
    /// Smallest share of the budget that a context used, per cent. Counts only conversations that exceed the budget.
    pub least_used: i64,
    /// Facts that were missing.
    pub missing: Vec<String>,
}

impl Score {
    fn count(&mut self, group: &str, kept: bool) {
        let at = self.groups.iter().position(|g| g.0 == group).unwrap_or_else(|| {
            self.groups.push((group.to_owned(), 0, 0));
            self.groups.len() - 1
        });
        self.groups[at].1 += 1;
        self.groups[at].2 += usize::from(kept);
    }

    /// Adds the counts of another score.
    pub fn add(&mut self, other: &Score) {
        self.needed += other.needed;
        (0..4).for_each(|i| self.kept[i] += other.kept[i]);
        for (name, needed, kept) in &other.groups {
            (0..*needed).for_each(|i| self.count(name, i < *kept));
        }
        self.least_used =
            if self.least_used == 0 { other.least_used } else { self.least_used.min(other.least_used.max(1)) };
        self.missing.extend(other.missing.iter().cloned());
    }

    /// Returns the best of the baselines.
    pub fn best_baseline(&self) -> usize {
        self.kept[1..].iter().copied().max().unwrap_or(0)
    }
}

/// Replays a conversation and scores the contexts at its asks, one score per budget.
pub fn score(client: &mut Client, conversation: &Conversation) -> Vec<Score> {
    let counter = Tokenizers::default().counter("o200k_base");
    let mut scores = vec![Score { least_used: 100, ..Score::default() }; BUDGETS.len()];
    let mut from = 0;
    for ask in &conversation.asks {
        for chunk in conversation.messages[from..=ask.after].chunks(20) {
            client.ok("conversation.append", json!({"messages": chunk}));
        }
        from = ask.after + 1;
        let said = &conversation.messages[..=ask.after];
        let all: i64 = said.iter().map(|m| tokens(m, &counter)).sum();
        for (score, budget) in scores.iter_mut().zip(BUDGETS) {
            let context = client.ok("conversation.context", json!({"budget": budget}));
            let sent = context["messages"].as_array().expect("messages");
            let used = context["tokens"].as_i64().unwrap_or(0);
            assert!(used <= budget, "{used} of {budget}");
            if all > budget {
                score.least_used = score.least_used.min(used * 100 / budget);
            }
            let of_user = |m: &Value| (m["role"] == "user").then(|| m.clone());
            let cut = |m: &Value| Some(if m["role"] == "tool" { cut_result(m, &counter) } else { m.clone() });
            let texts = [
                text_of(sent),
                newest(said, budget, &counter, |m| Some(m.clone())),
                newest(said, budget, &counter, of_user),
                newest(said, budget, &counter, cut),
            ]
            .map(|text| folded(&text));
            for fact in conversation.facts.iter().filter(|f| ask.needs.contains(&f.id)) {
                score.needed += 1;
                for (kept, text) in score.kept.iter_mut().zip(&texts) {
                    *kept += usize::from(fact.is_in(text));
                }
                let kept = fact.is_in(&texts[0]);
                score.count(&fact.kind, kept);
                score.count(&format!("by {}", fact.by), kept);
                if !kept {
                    score.missing.push(format!(
                        "{} {} after {}: {} {:?}",
                        conversation.id, fact.id, ask.after, fact.kind, fact.need
                    ));
                }
            }
        }
    }
    scores
}

fn cut_result(message: &Value, counter: &Counter) -> Value {
    let text = message["content"].as_str().unwrap_or_default();
    let mut shown = text;
    while counter.count(shown) > CUT {
        let half = (0..=shown.len() * 4 / 5).rev().find(|i| shown.is_char_boundary(*i)).unwrap_or(0);
        shown = &shown[..half];
    }
    let mut cut = message.clone();
    cut["content"] = json!(shown);
    cut
}

/// How much of a prompt repeats from one call to the next, if the conversation exceeds the budget.
#[derive(Debug, Clone, Default)]
pub struct Repeats {
    /// Number of calls that have a previous call.
    pub calls: usize,
    /// Number of these calls for which the previous `stableMessages` was right: that number of messages was unchanged.
    pub right: usize,
    /// Tokens of the messages that were reported as stable, and of all messages.
    pub claimed: (i64, i64),
    /// For each call, the share of its tokens in the common byte prefix with the previous call, per cent.
    pub shares: Vec<i64>,
    /// The same for the baseline of the newest messages.
    pub newest: Vec<i64>,
}

impl Repeats {
    /// Adds the figures of another conversation.
    pub fn add(&mut self, other: &Repeats) {
        self.calls += other.calls;
        self.right += other.right;
        self.claimed = (self.claimed.0 + other.claimed.0, self.claimed.1 + other.claimed.1);
        self.shares.extend(&other.shares);
        self.newest.extend(&other.newest);
    }

    /// Returns the means of the shares of contexts and of the newest messages, per cent.
    pub fn means(&self) -> (i64, i64) {
        let mean = |shares: &[i64]| shares.iter().sum::<i64>() / i64::try_from(shares.len().max(1)).unwrap_or(1);
        (mean(&self.shares), mean(&self.newest))
    }
}

/// Returns the share of the tokens of a text in its common byte prefix with the previous text, per cent.
fn repeated(before: &str, text: &str, counter: &Counter) -> i64 {
    let same = before.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
    let same = (0..=same).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    counter.count(&text[..same]) * 100 / counter.count(text).max(1)
}

/// Replays a conversation, and requests a context before each answer.
pub fn repeats(client: &mut Client, conversation: &Conversation, budget: i64) -> Repeats {
    let counter = Tokenizers::default().counter("o200k_base");
    let lines = |messages: &[Value]| messages.iter().map(|m| format!("{m}\n")).collect::<String>();
    let mut before: Option<(Vec<Value>, usize, String)> = None;
    let (mut found, mut recorded) = (Repeats::default(), 0);
    for (i, message) in conversation.messages.iter().enumerate() {
        // A conversation that is much smaller than the budget is sent as a whole.
        if message["role"] == "assistant" && recorded > budget * 8 / 10 {
            let context = client.ok("conversation.context", json!({"budget": budget}));
            let sent = context["messages"].as_array().expect("messages").clone();
            let stable = context["stableMessages"].as_u64().and_then(|n| usize::try_from(n).ok()).expect("a number");
            let newest = newest(&conversation.messages[..i], budget, &counter, |m| Some(m.clone()));
            let whole = context["tokensOfAll"].as_i64() < Some(budget * 9 / 10);
            if let Some((last, stable, last_newest)) = before.as_ref().filter(|_| !whole) {
                found.calls += 1;
                found.right += usize::from(sent.len() >= *stable && last[..*stable] == sent[..*stable]);
                found.claimed.0 += counter.count(&lines(&last[..*stable]));
                found.claimed.1 += counter.count(&lines(last));
                found.shares.push(repeated(&lines(last), &lines(&sent), &counter));
                found.newest.push(repeated(last_newest, &newest, &counter));
            }
            before = Some((sent, stable, newest));
        }
        let appended = client.ok("conversation.append", json!({"messages": [message]}));
        recorded = appended["usage"]["recordedTokens"].as_i64().unwrap_or(0);
    }
    found
}
