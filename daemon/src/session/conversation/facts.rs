//! Fact scoring: which sentences to keep when a conversation exceeds its budget. Pure heuristics, no language model.
//!
//! A fact is a statement that is specific (numbers, names, quoted words), new in its conversation, and not one of many that follow the
//! same template. Requests, questions and routine tool output are not facts. The score has three factors:
//!
//! 1. The base score depends on the sentence alone: the role of the speaker, specific words, cue words ("always", "password", "bug"),
//!    quotes and verbs of state raise it; questions, requests, very long sentences, log lines and markup lower it. Lines of tool output
//!    count less the more of them there are.
//! 2. `score` multiplies it by novelty: the rarity of the three rarest words in the session so far.
//! 3. `discount_repeats` divides by the square root of 1 + log2 of the number of sentences with the same template, that is the sentence
//!    with its numbers and names masked. The logarithm is rounded down, so that a selection changes seldom and prompt caches stay valid.
//!
//! Words, templates and whole sentences are identified by 64-bit hashes.

use std::collections::HashSet;

use afd_proto::conversation::Role;
use sha2::{Digest, Sha256};

use crate::text::{self, cut};

/// Maximum number of sentences of a message that are scored: half from its start and half from its end.
const MAX_EXAMINED: usize = 400;
/// Maximum number of sentences kept of a message.
const MAX_KEPT: usize = 40;
/// Maximum length of a kept sentence, characters; longer ones are truncated.
const MAX_CHARS: usize = 400;
/// Requests of up to this many words are treated as plain instructions.
const MAX_SHORT_REQUEST_WORDS: usize = 8;
/// Minimum number of words of a sentence that can stand alone.
const MIN_WORDS: usize = 3;
/// Maximum number of words of a sentence that are hashed.
const MAX_HASHED: usize = 48;
/// Number of rarest words that determine the novelty of a sentence.
const RAREST_WORDS: usize = 3;
/// Minimum base score of a candidate.
const MIN_SCORE: f64 = 0.05;

/// Maximum number of specific words that raise the score.
const MAX_SPECIFIC_WORDS: usize = 2;
/// Maximum number of cue words that raise the score.
const MAX_CUES: usize = 3;

/// A sentence that may be kept as a fact.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The sentence.
    pub text: String,
    /// Base score, from the sentence alone.
    pub base_score: f64,
    /// Hash of the folded sentence.
    pub sentence: i64,
    /// Hash of the sentence with its numbers and names masked.
    pub template: i64,
    /// Sorted hashes of its distinct words.
    pub words: Vec<i64>,
}

/// Cue words that suggest a fact: rules, preferences, decisions, defects, names and identifiers.
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

/// Cues in scripts without spaces (Chinese, Japanese) or with suffixes (Korean), matched as substrings.
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

/// Words that typically start a request.
const REQUESTS: &[&str] = &[
    "please", "can", "could", "go", "goto", "navigate", "open", "tap", "click", "press", "scroll", "show", "tell", "check", "try", "do",
    "now", "next", "continue", "run", "let", "close", "take", "look", "start", "type", "enter", "swipe", "find", "use",
];

/// Returns a 64-bit hash that fits an SQLite integer.
fn hash(text: &str) -> i64 {
    let digest = Sha256::digest(text.as_bytes());
    i64::from_le_bytes(digest[..8].try_into().unwrap_or_default())
}

/// Returns the sentences of a message that may be kept, best first. System messages have none.
pub fn candidates(role: Role, content: &str) -> Vec<Candidate> {
    if role == Role::System {
        return Vec::new();
    }
    let flat = if role == Role::Tool { json_lines(content) } else { None };
    let sentences: Vec<&str> = match &flat {
        Some(lines) => lines.iter().map(String::as_str).collect(),
        None => cut::sentences(content).collect(),
    };
    let skipped = MAX_EXAMINED / 2..sentences.len().saturating_sub(MAX_EXAMINED / 2);
    let examined = sentences.iter().enumerate().filter(|(i, _)| sentences.len() <= MAX_EXAMINED || !skipped.contains(i));
    let share = if role == Role::Tool { line_weight(sentences.len()) } else { 1.0 };
    let mut seen = HashSet::new();
    let mut found: Vec<Candidate> = examined
        .filter_map(|(_, sentence)| candidate(role, sentence, share))
        .filter(|c| c.base_score >= MIN_SCORE && seen.insert(c.sentence))
        .collect();
    found.sort_by(|a, b| b.base_score.total_cmp(&a.base_score));
    found.truncate(MAX_KEPT);
    found
}

/// Flattens a JSON object or array into lines: `name: value`, or the sentences of a longer text. `None` for other content.
fn json_lines(content: &str) -> Option<Vec<String>> {
    let value: serde_json::Value =
        serde_json::from_str(content.trim()).ok().filter(|v: &serde_json::Value| v.is_object() || v.is_array())?;
    let mut lines = Vec::new();
    push_lines(&value, "", &mut lines);
    Some(lines)
}

fn push_lines(value: &serde_json::Value, name: &str, lines: &mut Vec<String>) {
    if lines.len() >= MAX_EXAMINED {
        return;
    }
    match value {
        serde_json::Value::Object(members) => members.iter().for_each(|(key, value)| push_lines(value, key, lines)),
        serde_json::Value::Array(items) => items.iter().for_each(|item| push_lines(item, name, lines)),
        serde_json::Value::String(text) if text.split_whitespace().nth(3).is_some() => {
            lines.extend(cut::sentences(text).map(str::to_owned))
        }
        serde_json::Value::String(text) if !text.trim().is_empty() => lines.push(format!("{name}: {}", text.trim())),
        serde_json::Value::Number(number) => lines.push(format!("{name}: {number}")),
        _ => {}
    }
}

/// Returns the weight of one line of tool output: the more lines there are, the less each counts.
fn line_weight(lines: usize) -> f64 {
    1.0 / (1.0 + 0.15 * f64::from(lines.max(1).ilog2()))
}

/// Returns whether a line looks like a log entry: one of its first two words is a time of day.
fn is_log_line(words: &[&str]) -> bool {
    let is_time =
        |w: &&str| w.len() >= 5 && w.matches(':').count() >= 1 && w.chars().all(|c| c.is_ascii_digit() || ":.-TZ[],+".contains(c));
    words.len() > 3 && words.iter().take(2).any(is_time)
}

fn candidate(role: Role, sentence: &str, share: f64) -> Option<Candidate> {
    let trimmed = sentence.trim_start_matches(['-', '*', '\u{2022}', '#', '>', ' ']).trim();
    let shown = cut::head(trimmed, MAX_CHARS);
    let words: Vec<String> = text::words(shown);
    let plain: Vec<&str> = shown.split_whitespace().collect();
    // A `name: value` line of a JSON document can stand alone if the value is specific.
    let value = role == Role::Tool && plain.len() == 2 && plain[0].ends_with(':') && is_specific(plain[1], false);
    // In scripts without spaces a sentence has little whitespace but many tokens, so either count is enough.
    if plain.len() < MIN_WORDS && words.len() < MIN_WORDS * 2 && !value || words.is_empty() {
        return None;
    }
    // Numbers differ every time, so they say nothing about whether the sentence is new.
    let mut hashes: Vec<i64> = words.iter().filter(|w| !w.chars().all(|c| c.is_ascii_digit())).take(MAX_HASHED).map(|w| hash(w)).collect();
    hashes.sort_unstable();
    hashes.dedup();
    Some(Candidate {
        base_score: base_score(role, shown, &plain) * share,
        sentence: hash(&text::fold(shown)),
        template: hash(&format!("template {}", template(&plain))),
        words: hashes,
        text: if shown.len() < trimmed.len() { format!("{shown} ...") } else { shown.to_owned() },
    })
}

/// Returns whether a word is specific: it contains a digit, or looks like a name, an identifier or an address. `first` says whether it
/// starts the sentence, where a capital letter means nothing.
fn is_specific(word: &str, first: bool) -> bool {
    let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
    let mut characters = inner.chars();
    let Some(initial) = characters.next() else { return false };
    let rest: Vec<char> = characters.collect();
    let identifier = inner.contains(['@', '_', '/', '\\', ':']) || (inner.contains(['-', '.']) && inner.len() > 4);
    let camel = rest.iter().any(|c| c.is_uppercase());
    inner.chars().any(|c| c.is_numeric()) || identifier || camel || (initial.is_uppercase() && !first && !rest.is_empty())
}

/// Returns the sentence with its specific words masked.
fn template(words: &[&str]) -> String {
    let masked = words.iter().enumerate().map(|(i, w)| match w.contains(text::is_dense) {
        // A word of a script without spaces is a whole clause: mask only its numerals.
        true => w.chars().map(|c| if is_numeral(c) { '#' } else { c }).collect(),
        false if is_specific(w, i == 0) => "#".to_owned(),
        false => text::fold(w),
    });
    masked.collect::<Vec<_>>().join(" ")
}

/// Returns whether a character is a numeral, including Chinese ones.
fn is_numeral(c: char) -> bool {
    c.is_numeric()
        || "\u{4e00}\u{4e8c}\u{4e09}\u{56db}\u{4e94}\u{516d}\u{4e03}\u{516b}\u{4e5d}\u{5341}\u{767e}\u{5343}\u{4e07}\u{4e24}".contains(c)
}

/// Returns the specificity of a sentence in a script without spaces: numerals, Latin words, and cues.
fn dense_specificity(sentence: &str) -> f64 {
    let has_numeral = sentence.contains(is_numeral);
    let foreign = sentence.split(|c: char| !c.is_ascii_alphanumeric()).any(|w| w.len() > 1);
    let cues = DENSE_CUES.iter().filter(|cue| sentence.contains(*cue)).count().min(2);
    0.2 * f64::from(u8::from(has_numeral)) + 0.2 * f64::from(u8::from(foreign)) + 0.2 * cues as f64
}

/// Returns the base score of a sentence; see the module documentation.
fn base_score(role: Role, sentence: &str, words: &[&str]) -> f64 {
    let folded: Vec<String> =
        words.iter().map(|w| text::fold(w.trim_matches(|c: char| !c.is_alphanumeric()))).filter(|w| !w.is_empty()).collect();
    let mut base_score: f64 = match role {
        Role::User => 0.5,
        Role::Assistant => 0.4,
        _ => 0.3,
    };
    let specific_words = words.iter().enumerate().filter(|(i, w)| !w.contains(text::is_dense) && is_specific(w, *i == 0)).count();
    base_score += 0.2 * (specific_words.min(MAX_SPECIFIC_WORDS) as f64);
    if sentence.chars().filter(|c| text::is_dense(*c)).count() * 2 > sentence.chars().filter(|c| c.is_alphanumeric()).count() {
        base_score += dense_specificity(sentence);
    }
    if sentence.contains(['"', '\u{201c}', '\u{ab}', '\u{300c}', '`']) {
        base_score += 0.15;
    }
    let cue_words = folded.iter().filter(|w| CUES.contains(&w.as_str())).count();
    base_score += 0.2 * (cue_words.min(MAX_CUES) as f64);
    let states = [" is ", " are ", " was ", " were ", " has ", " have ", " = ", ": ", " ist ", " sind ", " est ", " es ", "是", "は"];
    if states.iter().any(|s| sentence.contains(s)) {
        base_score += 0.2;
    }
    if sentence.ends_with(['?', '\u{ff1f}', '\u{61f}']) {
        base_score -= 0.5;
    }
    if folded.first().is_some_and(|w| REQUESTS.contains(&w.as_str())) {
        // A long request usually states more than the next step.
        base_score -= if words.len() > MAX_SHORT_REQUEST_WORDS { 0.15 } else { 0.4 };
    }
    if words.len() > 60 {
        base_score -= 0.3;
    }
    if role == Role::Tool && is_log_line(words) {
        base_score -= 0.6;
    }
    let marks = sentence.chars().filter(|c| matches!(c, '{' | '}' | '[' | ']' | '<' | '>' | '|')).count();
    if marks * 8 > sentence.chars().count() {
        base_score -= 0.5;
    }
    base_score
}

/// Returns the base score weighted by novelty. `seen` holds how many times each word occurred before.
pub fn score(candidate: &Candidate, seen: &[i64]) -> f64 {
    let mut rare: Vec<f64> = seen.iter().map(|n| 1.0 / (1.0 + (1.0 + *n as f64).ln())).collect();
    rare.sort_by(|a, b| b.total_cmp(a));
    let taken = rare.len().clamp(1, RAREST_WORDS);
    let novelty = rare.iter().take(taken).sum::<f64>() / taken as f64;
    candidate.base_score * (0.25 + 0.75 * novelty)
}

/// Discounts a score by the number of sentences with the same template, `template_count`. The result changes only at powers of two,
/// so that a selection based on it stays stable.
pub fn discount_repeats(score: f64, template_count: i64) -> f64 {
    score / (1.0 + f64::from(template_count.max(1).ilog2())).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(role: Role, text: &str) -> f64 {
        candidates(role, text).first().map_or(0.0, |c| c.base_score)
    }

    #[test]
    fn specific_statements_score_higher_than_requests() {
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
    fn json_tool_output_yields_its_text_values() {
        let found =
            candidates(Role::Tool, r#"{"success":true,"order":{"orderId":"A-48213","note":"The courier comes on Friday at nine."}}"#);
        let texts: Vec<&str> = found.iter().map(|c| c.text.as_str()).collect();
        assert!(texts.contains(&"The courier comes on Friday at nine."), "{texts:?}");
    }

    #[test]
    fn repeated_words_and_templates_lower_the_score() {
        let candidate = candidates(Role::User, "The tea costs 3 dollars.").remove(0);
        let new = score(&candidate, &vec![0; candidate.words.len()]);
        let old = score(&candidate, &vec![50; candidate.words.len()]);
        assert!(new > old * 2.0);
        assert!(discount_repeats(1.0, 1) > discount_repeats(1.0, 40) && discount_repeats(1.0, 40) > 0.3);
        assert!((discount_repeats(1.0, 33) - discount_repeats(1.0, 60)).abs() < f64::EPSILON, "the discount changes only at powers of two");
    }

    #[test]
    fn long_message_yields_a_bounded_number_of_candidates() {
        let text: String = (0..20_000).map(|i| format!("Item {i} is called Widget-{i} and costs {i} euros.\n")).collect();
        assert_eq!(candidates(Role::User, &text).len(), MAX_KEPT);
    }
}
