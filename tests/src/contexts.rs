//! Scores of contexts: how many of the facts that a turn needs are in the messages that are sent for it.
//!
//! The conversations stand in `tests/conversations`: `tuned` was looked at while the rules were made, `held` was not. Both were written by
//! people who had not seen the rules. A fact counts as kept if all its words stand within `NEAR` characters of each other.

use std::path::Path;

use afd::model::{Counter, Tokenizers};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Client;

/// Budgets at which contexts are scored, tokens.
pub const BUDGETS: [i64; 3] = [2_000, 4_000, 8_000];
/// Distance within which the words of a fact stand together, characters.
const NEAR: usize = 400;
/// Tokens that a tool result is cut to by the third baseline.
const CUT: i64 = 100;

/// A recorded conversation with what its later turns need.
#[derive(Debug, Deserialize)]
pub struct Conversation {
    /// Name of the file.
    pub id: String,
    /// Language of the user.
    pub language: String,
    /// Messages in the form of `conversation.append`.
    pub messages: Vec<Value>,
    /// Facts that later turns need.
    pub facts: Vec<Fact>,
    /// Messages of the user that need some of them.
    pub asks: Vec<Ask>,
}

/// A fact that was said once.
#[derive(Debug, Deserialize)]
pub struct Fact {
    id: String,
    kind: String,
    by: String,
    /// Words that must all be there; of a list, one.
    need: Vec<Value>,
}

/// A message at which facts are needed.
#[derive(Debug, Deserialize)]
pub struct Ask {
    /// Index of the message.
    pub after: usize,
    needs: Vec<String>,
}

/// Reads the conversations of a half: `tuned` or `held`.
///
/// # Panics
/// If a file cannot be read.
pub fn load(half: &str) -> Vec<Conversation> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("conversations").join(half);
    let mut files: Vec<_> = std::fs::read_dir(&dir).expect("a directory").filter_map(Result::ok).map(|e| e.path()).collect();
    files.sort();
    files.iter().map(|file| serde_json::from_slice(&std::fs::read(file).expect("reads")).expect("a conversation")).collect()
}

fn folded(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Fact {
    /// Returns whether a folded text holds the fact.
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

/// Returns the text of messages as it is sent, tool calls included.
pub fn text_of(messages: &[Value]) -> String {
    let one = |m: &Value| {
        let content = m["content"].as_str().unwrap_or_default();
        let calls = m["toolCalls"].as_array().into_iter().flatten().map(|c| format!(" {} {}", c["name"], c["arguments"]));
        format!("{content}{}\n", calls.collect::<String>())
    };
    messages.iter().map(one).collect()
}

fn tokens(message: &Value, counter: &Counter) -> i64 {
    4 + counter.count(&text_of(std::slice::from_ref(message)))
}

/// A way of choosing messages without a memory.
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

/// Names of what is compared, in the order of the scores.
pub const WAYS: [&str; 4] = ["context", "newest messages", "newest of the user", "newest, tool results cut"];

/// Score at one budget.
#[derive(Debug, Clone, Default)]
pub struct Score {
    /// Number of facts that were needed.
    pub needed: usize,
    /// Number of them that each of `WAYS` kept.
    pub kept: [usize; 4],
    /// The same by kind of fact, and by who said it, for the context alone: name, needed, kept.
    pub groups: Vec<(String, usize, usize)>,
    /// Smallest share of the budget that a context used, where the conversation did not fit, per cent.
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

    /// Adds another score.
    pub fn add(&mut self, other: &Score) {
        self.needed += other.needed;
        (0..4).for_each(|i| self.kept[i] += other.kept[i]);
        for (name, needed, kept) in &other.groups {
            (0..*needed).for_each(|i| self.count(name, i < *kept));
        }
        self.least_used = if self.least_used == 0 { other.least_used } else { self.least_used.min(other.least_used.max(1)) };
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
                    score.missing.push(format!("{} {} after {}: {} {:?}", conversation.id, fact.id, ask.after, fact.kind, fact.need));
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

/// Replays a conversation with a context before each answer. Returns for each but the first which share of its tokens, per cent, is a byte
/// prefix of the one before, where the conversation did not fit any more.
pub fn prefixes(client: &mut Client, conversation: &Conversation, budget: i64) -> Vec<i64> {
    let counter = Tokenizers::default().counter("o200k_base");
    let mut before: Option<String> = None;
    let (mut shares, mut recorded) = (Vec::new(), 0);
    for message in &conversation.messages {
        // A conversation that is much smaller is sent whole.
        if message["role"] == "assistant" && recorded > budget * 8 / 10 {
            let context = client.ok("conversation.context", json!({"budget": budget}));
            let text = context["messages"].as_array().expect("messages").iter().map(|m| format!("{m}\n")).collect::<String>();
            let whole = context["tokensOfAll"].as_i64() < Some(budget * 9 / 10);
            if let Some(before) = before.as_ref().filter(|_| !whole) {
                let same = before.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
                let same = (0..=same).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
                shares.push(counter.count(&text[..same]) * 100 / counter.count(&text).max(1));
            }
            before = Some(text);
        }
        let appended = client.ok("conversation.append", json!({"messages": [message]}));
        recorded = appended["usage"]["recordedTokens"].as_i64().unwrap_or(0);
    }
    shares
}
