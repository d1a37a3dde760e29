//! Which sentences are worth keeping when a conversation does not fit: no language model is asked.
//!
//! A fact is a statement that says something particular (figures, names, quoted words), that says something which was not said
//! before, and that is not one of many of the same make. Requests, questions and what tools print all the time are none.

use std::collections::HashSet;

use afd_proto::conversation::Role;
use sha2::{Digest, Sha256};

use crate::text::{self, cut};

/// At most this many sentences of a message are looked at: the first half and the last half of them.
const LOOKED_AT: usize = 400;
/// At most this many sentences of a message are kept.
const KEPT: usize = 40;
/// Letters of a sentence that is kept; what is longer is cut.
const LONGEST: usize = 400;
/// Requests of at most so many words are mere steps.
const SHORT_REQUEST: usize = 8;
/// Fewer words than this say nothing by themselves.
const SHORTEST: usize = 3;
/// At most this many words of a sentence are counted.
const COUNTED: usize = 48;
/// So many of the rarest words say how new a sentence is.
const RAREST: usize = 3;
/// What is worth less is not kept.
const LEAST: f64 = 0.05;

/// More particulars than this, or words that announce a fact, say no more.
const PARTICULARS: usize = 2;
const ANNOUNCED: usize = 3;

/// A sentence that may be worth keeping.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// It.
    pub text: String,
    /// What it is worth by itself.
    pub worth: f64,
    /// Hash of it.
    pub sentence: i64,
    /// Hash of it without its figures and names.
    pub template: i64,
    /// Hashes of its words.
    pub words: Vec<i64>,
}

/// Words that announce a fact: rules, wishes, decisions, faults, what things are called and found by.
#[rustfmt::skip]
const CUES: &[&str] = &[
    "remember", "note", "important", "always", "never", "must", "only", "except", "unless", "until", "whenever", "rule", "rules",
    "allowed", "forbidden", "required", "requires", "exclusively", "instead", "rather", "avoid", "limit", "maximum", "minimum",
    "most", "least", "policy", "scope", "keep", "not", "don't", "can't", "cannot", "won't", "anymore", "prefer", "prefers",
    "preferred", "preference", "favourite", "favorite", "allergic", "allergy", "vegetarian", "vegan", "hates", "decided",
    "decision", "agreed", "cancelled", "canceled", "moved", "postponed", "changed", "switched", "chosen", "deadline", "due",
    "expires", "expiry", "valid", "appointment", "bug", "error", "fails", "failed", "crash", "crashes", "broken", "wrong",
    "defect", "missing", "freezes", "hangs", "throws", "duplicate", "duplicated", "ignores", "loses", "skipped", "code", "pin",
    "password", "passcode", "passphrase", "word", "confirmation", "reference", "ticket", "case", "order", "booking",
    "reservation", "account", "iban", "licence", "license", "serial", "key", "token", "voucher", "coupon", "login", "username",
    "address", "number", "seat", "room", "gate", "locker", "floor", "version", "name", "called", "belongs", "owned", "owner",
    "responsible", "contact", "means", "because", "found", "merke", "wichtig", "immer", "niemals", "nie", "nur", "passwort",
    "nummer", "heisst", "statt", "ausser", "bis", "allergisch", "toujours", "jamais", "seulement", "allergique", "numero", "mot",
    "siempre", "nunca", "solo", "alergico", "clave",
];

/// What announces a fact in writing without spaces (Chinese, Japanese) or with endings (Korean).
const DENSE_CUES: &[&str] = &[
    "决定",
    "记住",
    "记得",
    "密码",
    "一定",
    "不要",
    "必须",
    "喜欢",
    "过敏",
    "号",
    "名字",
    "约",
    "截止",
    "只能",
    "改成",
    "地址",
    "电话",
    "错误",
    "失败",
    "严重",
    "必ず",
    "覚えて",
    "好き",
    "番号",
    "決め",
    "予約",
    "締切",
    "名前",
    "기억",
    "번호",
    "예약",
    "이름",
    "반드시",
];

/// What a request begins with.
const REQUESTS: &[&str] = &[
    "please", "can", "could", "go", "goto", "navigate", "open", "tap", "click", "press", "scroll", "show", "tell", "check", "try", "do",
    "now", "next", "continue", "run", "let", "close", "take", "look", "start", "type", "enter", "swipe", "find", "use",
];

/// A hash for the database.
fn hash(text: &str) -> i64 {
    let digest = Sha256::digest(text.as_bytes());
    i64::from_le_bytes(digest[..8].try_into().unwrap_or_default())
}

/// The sentences of a message that may be worth keeping, best first.
pub fn candidates(role: Role, content: &str) -> Vec<Candidate> {
    if role == Role::System {
        return Vec::new();
    }
    let flat = if role == Role::Tool { leaves(content) } else { None };
    let sentences: Vec<&str> = match &flat {
        Some(lines) => lines.iter().map(String::as_str).collect(),
        None => cut::sentences(content).collect(),
    };
    let skipped = LOOKED_AT / 2..sentences.len().saturating_sub(LOOKED_AT / 2);
    let looked_at = sentences.iter().enumerate().filter(|(i, _)| sentences.len() <= LOOKED_AT || !skipped.contains(i));
    let share = if role == Role::Tool { diluted(sentences.len()) } else { 1.0 };
    let mut seen = HashSet::new();
    let mut found: Vec<Candidate> = looked_at
        .filter_map(|(_, sentence)| candidate(role, sentence, share))
        .filter(|c| c.worth >= LEAST && seen.insert(c.sentence))
        .collect();
    found.sort_by(|a, b| b.worth.total_cmp(&a.worth));
    found.truncate(KEPT);
    found
}

/// What a JSON document says, a line for each value.
fn leaves(content: &str) -> Option<Vec<String>> {
    let value: serde_json::Value =
        serde_json::from_str(content.trim()).ok().filter(|v: &serde_json::Value| v.is_object() || v.is_array())?;
    let mut lines = Vec::new();
    collect(&value, "", &mut lines);
    Some(lines)
}

fn collect(value: &serde_json::Value, name: &str, lines: &mut Vec<String>) {
    if lines.len() >= LOOKED_AT {
        return;
    }
    match value {
        serde_json::Value::Object(members) => members.iter().for_each(|(key, value)| collect(value, key, lines)),
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, name, lines)),
        serde_json::Value::String(text) if text.split_whitespace().nth(3).is_some() => {
            lines.extend(cut::sentences(text).map(str::to_owned))
        }
        serde_json::Value::String(text) if !text.trim().is_empty() => lines.push(format!("{name}: {}", text.trim())),
        serde_json::Value::Number(number) => lines.push(format!("{name}: {number}")),
        _ => {}
    }
}

/// What each of many lines that a tool prints is worth: the more there are, the less each matters.
fn diluted(lines: usize) -> f64 {
    1.0 / (1.0 + 0.15 * f64::from(lines.max(1).ilog2()))
}

/// Whether a line is one of a log: it begins with a time of the day.
fn is_logged(words: &[&str]) -> bool {
    let is_time =
        |w: &&str| w.len() >= 5 && w.matches(':').count() >= 1 && w.chars().all(|c| c.is_ascii_digit() || ":.-TZ[],+".contains(c));
    words.len() > 3 && words.iter().take(2).any(is_time)
}

fn candidate(role: Role, sentence: &str, share: f64) -> Option<Candidate> {
    let trimmed = sentence.trim_start_matches(['-', '*', '\u{2022}', '#', '>', ' ']).trim();
    let shown = cut::head(trimmed, LONGEST);
    let words: Vec<String> = text::words(shown);
    let plain: Vec<&str> = shown.split_whitespace().collect();
    // Scripts without spaces have few blanks and many tokens.
    // A value of a document says something by itself when it is a particular one.
    let value = role == Role::Tool && plain.len() == 2 && plain[0].ends_with(':') && is_particular(plain[1], false);
    if plain.len() < SHORTEST && words.len() < SHORTEST * 2 && !value || words.is_empty() {
        return None;
    }
    // Figures are new each time, and tell nothing of whether the sentence is.
    let mut hashes: Vec<i64> = words.iter().filter(|w| !w.chars().all(|c| c.is_ascii_digit())).take(COUNTED).map(|w| hash(w)).collect();
    hashes.sort_unstable();
    hashes.dedup();
    Some(Candidate {
        worth: worth(role, shown, &plain) * share,
        sentence: hash(&text::fold(shown)),
        template: hash(&format!("template {}", template(&plain))),
        words: hashes,
        text: if shown.len() < trimmed.len() { format!("{shown} ...") } else { shown.to_owned() },
    })
}

/// Whether a word is particular: has a figure in it, is quoted, is a name, an identifier or an address.
fn is_particular(word: &str, first: bool) -> bool {
    let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
    let mut letters = inner.chars();
    let Some(initial) = letters.next() else { return false };
    let rest: Vec<char> = letters.collect();
    let identifier = inner.contains(['@', '_', '/', '\\', ':']) || (inner.contains(['-', '.']) && inner.len() > 4);
    let camel = rest.iter().any(|c| c.is_uppercase());
    inner.chars().any(|c| c.is_numeric()) || identifier || camel || (initial.is_uppercase() && !first && !rest.is_empty())
}

/// The sentence without what is particular in it.
fn template(words: &[&str]) -> String {
    let masked = words.iter().enumerate().map(|(i, w)| match w.contains(text::is_dense) {
        // Such a word is a whole clause: only its figures are masked.
        true => w.chars().map(|c| if is_figure(c) { '#' } else { c }).collect(),
        false if is_particular(w, i == 0) => "#".to_owned(),
        false => text::fold(w),
    });
    masked.collect::<Vec<_>>().join(" ")
}

/// Whether a character is a figure, in writing without spaces too.
fn is_figure(c: char) -> bool {
    c.is_numeric()
        || "\u{4e00}\u{4e8c}\u{4e09}\u{56db}\u{4e94}\u{516d}\u{4e03}\u{516b}\u{4e5d}\u{5341}\u{767e}\u{5343}\u{4e07}\u{4e24}".contains(c)
}

/// How much is particular in a sentence without spaces: figures, foreign words, and what announces a fact.
fn particular_in_dense(sentence: &str) -> f64 {
    let figures = sentence.contains(is_figure);
    let foreign = sentence.split(|c: char| !c.is_ascii_alphanumeric()).any(|w| w.len() > 1);
    let cues = DENSE_CUES.iter().filter(|cue| sentence.contains(*cue)).count().min(2);
    0.2 * f64::from(u8::from(figures)) + 0.2 * f64::from(u8::from(foreign)) + 0.2 * cues as f64
}

fn worth(role: Role, sentence: &str, words: &[&str]) -> f64 {
    let folded: Vec<String> =
        words.iter().map(|w| text::fold(w.trim_matches(|c: char| !c.is_alphanumeric()))).filter(|w| !w.is_empty()).collect();
    let mut worth: f64 = match role {
        Role::User => 0.5,
        Role::Assistant => 0.4,
        _ => 0.3,
    };
    let particular = words.iter().enumerate().filter(|(i, w)| !w.contains(text::is_dense) && is_particular(w, *i == 0)).count();
    worth += 0.2 * (particular.min(PARTICULARS) as f64);
    if sentence.chars().filter(|c| text::is_dense(*c)).count() * 2 > sentence.chars().filter(|c| c.is_alphanumeric()).count() {
        worth += particular_in_dense(sentence);
    }
    if sentence.contains(['"', '\u{201c}', '\u{ab}', '\u{300c}', '`']) {
        worth += 0.15;
    }
    let announced = folded.iter().filter(|w| CUES.contains(&w.as_str())).count();
    worth += 0.2 * (announced.min(ANNOUNCED) as f64);
    let states = [" is ", " are ", " was ", " were ", " has ", " have ", " = ", ": ", " ist ", " sind ", " est ", " es ", "是", "は"];
    if states.iter().any(|s| sentence.contains(s)) {
        worth += 0.2;
    }
    if sentence.ends_with(['?', '\u{ff1f}', '\u{61f}']) {
        worth -= 0.5;
    }
    if folded.first().is_some_and(|w| REQUESTS.contains(&w.as_str())) {
        // A long one says more than what to do next.
        worth -= if words.len() > SHORT_REQUEST { 0.15 } else { 0.4 };
    }
    if words.len() > 60 {
        worth -= 0.3;
    }
    if role == Role::Tool && is_logged(words) {
        worth -= 0.6;
    }
    let marks = sentence.chars().filter(|c| matches!(c, '{' | '}' | '[' | ']' | '<' | '>' | '|')).count();
    if marks * 8 > sentence.chars().count() {
        worth -= 0.5;
    }
    worth
}

/// What a sentence is worth in its conversation: `seen` says how often each of its words came up before.
pub fn score(candidate: &Candidate, seen: &[i64]) -> f64 {
    let mut rare: Vec<f64> = seen.iter().map(|n| 1.0 / (1.0 + (1.0 + *n as f64).ln())).collect();
    rare.sort_by(|a, b| b.total_cmp(a));
    let taken = rare.len().clamp(1, RAREST);
    let novelty = rare.iter().take(taken).sum::<f64>() / taken as f64;
    candidate.worth * (0.25 + 0.75 * novelty)
}

/// What a sentence is worth beside others of the same make, of which there are `alike`. It changes only when their number doubles,
/// so that a choice made by it stays the same for long.
pub fn among(score: f64, alike: i64) -> f64 {
    score / (1.0 + f64::from(alike.max(1).ilog2())).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(role: Role, text: &str) -> f64 {
        candidates(role, text).first().map_or(0.0, |c| c.worth)
    }

    #[test]
    fn statements_with_particulars_are_worth_more_than_requests() {
        let facts = [
            "The staging password is Tulip-4711.",
            "My favourite colour is teal.",
            "We decided to ship on the 14th of March.",
            "Bug: the total stays at 10 when two items are in the cart",
            "Das Konto von Frau Meier hat die Nummer 88-1204.",
            "订单号是 48213，收件人是王芳。",
        ];
        for fact in facts {
            for request in
                ["Now open the next page please.", "Can you tell me what is on the screen?", "ok", "Done.", "Scroll down a bit more"]
            {
                assert!(best(Role::User, fact) > best(Role::User, request) + 0.1, "{fact} / {request}");
            }
        }
    }

    #[test]
    fn what_a_tool_prints_is_read_as_what_it_says() {
        let found =
            candidates(Role::Tool, r#"{"success":true,"order":{"orderId":"A-48213","note":"The courier comes on Friday at nine."}}"#);
        let texts: Vec<&str> = found.iter().map(|c| c.text.as_str()).collect();
        assert!(texts.contains(&"The courier comes on Friday at nine."), "{texts:?}");
    }

    #[test]
    fn what_was_said_before_is_worth_less_and_so_is_one_of_many() {
        let candidate = candidates(Role::User, "The tea costs 3 dollars.").remove(0);
        let new = score(&candidate, &vec![0; candidate.words.len()]);
        let old = score(&candidate, &vec![50; candidate.words.len()]);
        assert!(new > old * 2.0);
        assert!(among(1.0, 1) > among(1.0, 40) && among(1.0, 40) > 0.3);
        assert!((among(1.0, 33) - among(1.0, 60)).abs() < f64::EPSILON, "it changes only now and then");
    }

    #[test]
    fn a_long_message_brings_a_bounded_number() {
        let text: String = (0..20_000).map(|i| format!("Item {i} is called Widget-{i} and costs {i} euros.\n")).collect();
        assert_eq!(candidates(Role::User, &text).len(), KEPT);
    }
}
