//! Fact scoring: selects the sentences in a message that are worth keeping when a conversation exceeds its budget. It
//! uses heuristics and no language model. All functions are pure.
//!
//! * **Split.** A message is split into sentences, and a long sentence into clauses, because people often mention
//!   important facts in passing.
//! * **Base score.** Figures, names and identifiers raise it. So do an answer to a question, and cue words for a rule,
//!   a decision, a correction, a preference, a name or a finding. Questions, requests, small talk, stories and
//!   announcements of the next step lower it.
//! * **Untrusted text.** The cue words of tool output and pasted text do not count, because anyone may have written it.
//! * **Novelty.** `score` weights the base score by how rare the sentence's rarest words are in the conversation so
//!   far.
//! * **Repetition.** `discount_repeats` lowers the score of a sentence whose template is frequent. The result changes
//!   only at powers of two, so that a selection seldom changes.
//! * **Echoes.** A statement gains score when a later message repeats its figures or names (`echoes`).
//!
//! Words, templates and whole sentences are identified by 64-bit hashes. The end-to-end tests evaluate the weights on
//! `tests/conversations`: the conversations in `tuned` were inspected while the rules were written, those in `held`
//! were not.

mod corrections;
pub mod cues;
mod fold;
mod split;

use std::collections::{HashMap, HashSet};

use afd_proto::conversation::Role;

use afd_base::text::{self, cut, is_dense};
pub use corrections::{names_differ, replaced_words};
use cues::{Cue, Cues};
pub use fold::folded;
use fold::inner;

/// Maximum number of sentences that are scored in a message: half from its start and half from its end.
const MAX_EXAMINED: usize = 400;
/// Maximum number of sentences that are kept from a message.
const MAX_KEPT: usize = 60;
/// Maximum length of a kept sentence, in characters; longer ones are truncated.
const MAX_CHARS: usize = 320;
/// Maximum number of words that are hashed in a sentence.
const MAX_HASHED: usize = 48;
/// Number of a sentence's rarest words that determine its novelty.
const RAREST_WORDS: usize = 3;
/// Minimum base score at which a sentence is a candidate.
const MIN_SCORE: f64 = 0.02;
/// Maximum number of words in a user message that counts as an answer or a decision as a whole.
const SHORT_MESSAGE_WORDS: usize = 24;
/// Like `SHORT_MESSAGE_WORDS`, but in characters, for a script without spaces.
const SHORT_MESSAGE_CHARS: usize = 40;
/// Factor for the score of a pasted line, relative to the same line written by the user.
const PASTED: f64 = 0.6;
/// Minimum number of lines in a log of which one can differ from the others.
const FEW_LINES: usize = 8;
/// Amount added to the score of a line that differs from the others in a log.
const DIFFERS: f64 = 0.2;
/// Maximum number of words in a request that only asks for the next step.
const SHORT_REQUEST: usize = 8;
/// Maximum length of the previous sentence that is stored with a statement, in characters.
const MAX_ABOUT: usize = 110;

/// Kind of statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A standing instruction or preference of the user.
    Rule,
    /// A choice, answer or correction by the user.
    Decision,
    /// Any other statement.
    Statement,
}

impl Kind {
    /// Returns the word that represents the kind in the database.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Rule => "rule",
            Kind::Decision => "decision",
            Kind::Statement => "statement",
        }
    }

    /// Returns the kind that a word in the database represents.
    pub fn of(word: &str) -> Self {
        match word {
            "rule" => Kind::Rule,
            "decision" => Kind::Decision,
            _ => Kind::Statement,
        }
    }
}

/// A sentence or clause that may be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Text of the sentence or clause.
    pub text: String,
    /// Place of the candidate in the order of the message's sentences, from 0.
    pub place: usize,
    /// Kind of the statement.
    pub kind: Kind,
    /// Whether it corrects an earlier statement.
    pub corrects: bool,
    /// Whether it only asks for the next step and states nothing that stays valid.
    pub asks: bool,
    /// The previous sentence, if the candidate is meaningless without it.
    pub about: Option<About>,
    /// Base score, from the sentence alone.
    pub base_score: f64,
    /// Hash of the folded sentence.
    pub sentence: i64,
    /// Hash of the sentence with its numbers and names masked.
    pub template: i64,
    /// Sorted hashes of the distinct words in the candidate.
    pub words: Vec<i64>,
}

/// The sentence before a statement, stored because the statement is meaningless without it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Text of that sentence.
    pub text: String,
    /// Role of the sentence's speaker: the statement's role, or the assistant if the sentence is from the previous
    /// message. `None` if the role was not recorded.
    pub by: Option<Role>,
}

/// Returns the sentences in a message that may be kept, best first. `before` is the last question or sentence of the
/// previous message (see [`lead`]). A system message has no candidates.
pub fn candidates(role: Role, content: &str, before: Option<&str>) -> Vec<Candidate> {
    if role == Role::System {
        return Vec::new();
    }
    let lines = if role == Role::Tool { split::tool_lines(content, MAX_EXAMINED) } else { Vec::new() };
    let sentences: Vec<&str> =
        if role == Role::Tool { lines.iter().map(String::as_str).collect() } else { split::clauses(content) };
    let skipped = MAX_EXAMINED / 2..sentences.len().saturating_sub(MAX_EXAMINED / 2);
    let examined =
        sentences.iter().enumerate().filter(|(i, _)| sentences.len() <= MAX_EXAMINED || !skipped.contains(i));
    let pasted = if role == Role::User { split::pasted(content) } else { Vec::new() };
    let is_pasted = |sentence: &str| {
        let at = (sentence.as_ptr() as usize).wrapping_sub(content.as_ptr() as usize);
        pasted.iter().any(|range| range.contains(&at))
    };
    let message = Whole {
        role,
        is_short: is_short(content),
        before,
        answers: before.is_some_and(is_question),
        lines: sentences.len(),
    };
    let mut seen = HashSet::new();
    let mut found: Vec<Candidate> = examined
        .filter_map(|(place, sentence)| {
            candidate(&message, place, (sentence, is_pasted(sentence)), place.checked_sub(1).map(|i| sentences[i]))
        })
        .filter(|c| c.base_score >= MIN_SCORE && seen.insert(c.sentence))
        .collect();
    if role == Role::Tool {
        raise_what_differs(&mut found);
    }
    found.sort_by(|a, b| b.base_score.total_cmp(&a.base_score));
    found.truncate(MAX_KEPT);
    found
}

/// Raises the lines of a log that are unlike all others in it, if most lines are alike.
fn raise_what_differs(found: &mut [Candidate]) {
    let mut alike: HashMap<i64, usize> = HashMap::new();
    found.iter().for_each(|line| *alike.entry(line.template).or_default() += 1);
    let repeated: usize = alike.values().filter(|count| **count > 1).sum();
    if found.len() < FEW_LINES || repeated * 2 < found.len() {
        return;
    }
    for line in found.iter_mut().filter(|line| alike[&line.template] == 1) {
        line.base_score += DIFFERS;
    }
}

/// Returns the sentences of a message. Long sentences are split into clauses.
pub fn sentences(role: Role, content: &str) -> Vec<String> {
    let mut lines = match role {
        Role::Tool => split::tool_lines(content, MAX_EXAMINED),
        _ => split::clauses(content).into_iter().map(str::to_owned).collect(),
    };
    lines.truncate(MAX_EXAMINED);
    lines
}

/// Returns whether a message is short enough to be an answer or a decision as a whole.
fn is_short(content: &str) -> bool {
    let dense = content.chars().take(SHORT_MESSAGE_CHARS + 1).filter(|c| is_dense(*c)).count();
    content.split_whitespace().nth(SHORT_MESSAGE_WORDS).is_none() && dense <= SHORT_MESSAGE_CHARS && content.len() < 400
}

/// Returns the last question among the final four sentences of a message, or else its last sentence, as one line. A
/// short answer in the next message refers to it.
pub fn lead(content: &str) -> Option<String> {
    let sentences = split::clauses(content);
    let asked = sentences.iter().rev().take(4).find(|s| is_question(s)).or(sentences.last())?;
    Some(cut::brief(asked, MAX_ABOUT))
}

fn is_question(sentence: &str) -> bool {
    let end = sentence.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '?' | '\u{ff1f}' | '\u{61f}'));
    end.ends_with(['?', '\u{ff1f}', '\u{61f}'])
        || ["吗", "呢", "か。", "ですか", "ますか", "까"]
            .iter()
            .any(|m| sentence.trim_end_matches(['。', '.']).ends_with(m))
}

/// Properties of the message that contains a sentence.
struct Whole<'a> {
    role: Role,
    is_short: bool,
    /// Last question or sentence of the previous message.
    before: Option<&'a str>,
    /// Whether `before` is a question.
    answers: bool,
    lines: usize,
}

fn candidate(
    message: &Whole<'_>,
    place: usize,
    (sentence, pasted): (&str, bool),
    previous: Option<&str>,
) -> Option<Candidate> {
    let trimmed = sentence.trim_start_matches(['-', '*', '\u{2022}', '#', '>', ' ', '|']).trim();
    let shown = cut::head(trimmed, MAX_CHARS);
    let words: Vec<String> = text::words(shown);
    if words.is_empty() || (message.role == Role::Tool && words.len() < 2) {
        return None;
    }
    let (folded, plain) = (folded(shown), shown.split_whitespace().collect::<Vec<_>>());
    // Anyone may have written tool output or pasted text, so its cue words do not count.
    let foreign = message.role == Role::Tool || pasted;
    let cues = if foreign { Cues::default() } else { Cues::of(&folded) };
    let kind = if foreign { Kind::Statement } else { kind(message, shown, &cues) };
    // Numbers differ every time, so they do not show whether a sentence is new.
    let mut hashes: Vec<i64> = words
        .iter()
        .filter(|w| !w.chars().all(|c| c.is_ascii_digit()))
        .take(MAX_HASHED)
        .map(|w| text::hash(w))
        .collect();
    hashes.sort_unstable();
    hashes.dedup();
    let user = message.role == Role::User;
    let holds = [Cue::Rule, Cue::Preference, Cue::Decision].into_iter().any(|cue| cues.has(cue));
    let asks = user && !holds && (cues.starts(Cue::Request) || is_question(shown)) && !corrections::contrasts(&folded);
    Some(Candidate {
        base_score: base_score(message, shown, &plain, &cues) * if pasted { PASTED } else { 1.0 },
        corrects: user
            && !asks
            && (corrections::contrasts(&folded)
                || (cues.has(Cue::Correction)
                    && (cues.starts(Cue::Correction) || cues.has(Cue::Decision) || message.is_short))),
        asks,
        about: user.then(|| about(message, &folded, &words, previous)).flatten(),
        sentence: text::hash(&folded),
        template: text::hash(&format!("template {}", template(&plain))),
        words: hashes,
        text: if shown.len() < trimmed.len() { format!("{shown} ...") } else { shown.to_owned() },
        place,
        kind,
    })
}

/// Returns the previous sentence if this one is too short to be understood without it.
fn about(message: &Whole<'_>, folded: &str, words: &[String], previous: Option<&str>) -> Option<About> {
    let content = words.iter().filter(|w| !text::is_stop(w) && !w.chars().all(|c| c.is_ascii_digit())).count();
    let depends = content <= 2 && !folded.contains(':') || message.is_short && (message.answers || words.len() <= 12);
    match previous {
        Some(previous) if depends && content <= 2 => {
            Some(About { text: cut::brief(previous, MAX_ABOUT), by: Some(message.role) })
        }
        None if depends => message.before.map(|text| About { text: text.to_owned(), by: Some(Role::Assistant) }),
        _ => None,
    }
}

fn kind(message: &Whole<'_>, sentence: &str, cues: &Cues) -> Kind {
    if message.role != Role::User || is_question(sentence) && !message.is_short {
        return Kind::Statement;
    }
    let story = cues.count(Cue::Anecdote);
    if cues.count(Cue::Rule) + cues.count(Cue::Preference) > story {
        Kind::Rule
    } else if cues.count(Cue::Decision) > story || (message.is_short && message.answers) {
        Kind::Decision
    } else {
        Kind::Statement
    }
}

/// Returns whether a word is specific: it contains a digit, or looks like a name, an identifier or an address. `first`
/// says whether it starts the sentence, where a capital letter does not indicate a name.
pub fn is_specific(word: &str, first: bool) -> bool {
    is_figure(word) || is_identifier(word) || is_name(word, first)
}

fn is_figure(word: &str) -> bool {
    inner(word).chars().any(char::is_numeric)
}

fn is_identifier(word: &str) -> bool {
    let inner = inner(word);
    let camel = inner.chars().skip(1).any(char::is_uppercase);
    inner.contains(['@', '_', '/', '\\']) || (inner.contains([':', '-', '.']) && inner.len() > 4) || camel
}

fn is_name(word: &str, first: bool) -> bool {
    let mut characters = inner(word).chars();
    !first && characters.next().is_some_and(char::is_uppercase) && characters.next().is_some()
}

/// Returns the sentence with its specific words masked.
fn template(words: &[&str]) -> String {
    let masked = words.iter().enumerate().map(|(i, w)| match w.contains(is_dense) {
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

/// Returns the specificity of a sentence, 0 to 0.87. Figures count most, then identifiers, quotes and names.
fn specificity(sentence: &str, words: &[&str]) -> f64 {
    let (mut figures, mut identifiers, mut names) = (0, 0, 0);
    for (i, word) in words.iter().enumerate().filter(|(_, w)| !w.contains(is_dense)) {
        if is_figure(word) {
            figures += 1;
        } else if is_identifier(word) {
            identifiers += 1;
        } else if is_name(word, i == 0) {
            names += 1;
        }
    }
    if sentence.contains(is_dense) {
        figures += usize::from(sentence.contains(is_numeral)) + usize::from(sentence.contains(char::is_numeric));
        identifiers += sentence
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|w| w.len() > 1 && !w.starts_with(|c: char| c.is_ascii_digit()))
            .count();
    }
    let quoted = sentence.contains(['"', '\u{201c}', '\u{201e}', '\u{ab}', '\u{300c}', '`', '【', '《']);
    let part = |n: usize, most: usize| n.min(most) as f64;
    0.2 * part(figures, 2) + 0.12 * part(identifiers, 2) + 0.05 * part(names, 3) + if quoted { 0.08 } else { 0.0 }
}

/// Returns the base score of a sentence; see the module documentation.
fn base_score(message: &Whole<'_>, sentence: &str, words: &[&str], cues: &Cues) -> f64 {
    let specific = specificity(sentence, words);
    if message.role == Role::Tool {
        return tool_score(message, sentence, words, specific);
    }
    let user = message.role == Role::User;
    let cue = |cue: Cue, each: f64, most: usize| each * (cues.count(cue).min(most) as f64);
    let mut score = if user { 0.3 } else { 0.15 } + specific;
    score +=
        cue(Cue::Quantity, 0.1, 2) + cue(Cue::Naming, 0.1, 2) + cue(Cue::Finding, if user { 0.06 } else { 0.14 }, 2);
    if user {
        score += cue(Cue::Rule, 0.2, 2)
            + cue(Cue::Decision, 0.2, 2)
            + cue(Cue::Preference, 0.15, 2)
            + cue(Cue::Correction, 0.12, 2);
        score += if cues.starts(Cue::Conclusion) { 0.1 } else { 0.0 };
        if message.is_short && (message.answers || specific > 0.0 || cues.has(Cue::Decision)) {
            score += if message.answers { 0.35 } else { 0.2 };
        }
        if cues.starts(Cue::Request) {
            score -= if words.len() > SHORT_REQUEST { 0.1 } else { 0.25 };
        }
    } else {
        score += if sentence.contains("**") { 0.2 } else { 0.0 };
        score -= cue(Cue::Process, 0.25, 2);
    }
    score -= cue(Cue::Anecdote, 0.16, 3) + cue(Cue::SmallTalk, 0.12, 2);
    if is_question(sentence) {
        score -= 0.35;
    }
    if specific <= 0.0
        && !message.answers
        && text::words(sentence).iter().all(|w| text::is_stop(w) || w.chars().count() < 3)
    {
        score -= 0.3;
    }
    if words.len() > 60 {
        score -= 0.2;
    }
    score - markup(sentence)
}

/// Scores a line of tool output by its specific words, without cue words. The more lines the output has, the lower the
/// score.
fn tool_score(message: &Whole<'_>, sentence: &str, words: &[&str], specific: f64) -> f64 {
    let letters = sentence.chars().filter(|c| c.is_alphabetic()).count();
    let mut score = 0.1 + specific + if letters >= 8 { 0.1 } else { 0.0 };
    if is_log_line(words) {
        score -= 0.25;
    }
    (score - markup(sentence))
        / (1.0 + 0.15 * f64::from(u32::try_from(message.lines.max(1)).unwrap_or(u32::MAX).ilog2()))
}

/// Returns whether a line looks like a log entry: one of its first two words is a time of day.
fn is_log_line(words: &[&str]) -> bool {
    let is_time = |w: &&str| {
        w.len() >= 5 && w.matches(':').count() >= 1 && w.chars().all(|c| c.is_ascii_digit() || ":.-TZ[],+".contains(c))
    };
    words.len() > 3 && words.iter().take(2).any(is_time)
}

/// Returns the penalty for a sentence in which more than an eighth of the characters are markup.
fn markup(sentence: &str) -> f64 {
    let marks = sentence.chars().filter(|c| matches!(c, '{' | '}' | '[' | ']' | '<' | '>' | '|')).count();
    if marks * 8 > sentence.chars().count() { 0.4 } else { 0.0 }
}

/// Returns whether a sentence by the user corrects something, judging by the sentence alone.
pub fn takes_back(sentence: &str) -> bool {
    let folded = folded(sentence);
    corrections::contrasts(&folded) || Cues::of(&folded).has(Cue::Correction)
}

/// Returns the base score weighted by novelty. `seen` holds how often each word of the candidate occurred before.
pub fn score(candidate: &Candidate, seen: &[i64]) -> f64 {
    let mut rare: Vec<f64> = seen.iter().map(|n| 1.0 / (1.0 + (1.0 + *n as f64).ln())).collect();
    rare.sort_by(|a, b| b.total_cmp(a));
    let taken = rare.len().clamp(1, RAREST_WORDS);
    let novelty = rare.iter().take(taken).sum::<f64>() / taken as f64;
    candidate.base_score * (0.5 + 0.5 * novelty)
}

/// Discounts a score by the number of sentences with the same template, `template_count`. The result changes only at
/// powers of two, so that a selection based on it stays stable.
pub fn discount_repeats(score: f64, template_count: i64) -> f64 {
    score / (1.0 + f64::from(template_count.max(1).ilog2())).sqrt()
}

/// Maximum number of words in a message that are compared with earlier statements.
const MAX_ECHOED: usize = 60;

/// Returns the figures, identifiers and names of a message, folded. An earlier statement that contains one of these
/// words is assumed to be important.
pub fn echoes(content: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut first = true;
    for word in content.split_whitespace() {
        let trimmed = word.trim_matches(|c: char| !c.is_alphanumeric());
        let long = trimmed.chars().count();
        let marked = (is_figure(word) && (long >= 2 || trimmed.chars().all(|c| c.is_ascii_digit())))
            || is_identifier(word)
            || (is_name(word, first) && long >= 4);
        first = word.ends_with(['.', '!', '?', ':']);
        let folded = folded(trimmed);
        if marked && !trimmed.is_empty() && !text::is_stop(&folded) && !found.contains(&folded) {
            found.push(folded);
        }
        if found.len() >= MAX_ECHOED {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests;
