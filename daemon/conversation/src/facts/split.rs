//! Splitting messages into sentences, clauses and lines.

use afd_base::text::{cut, is_dense};

/// Maximum length of a sentence that is not split, in words.
const LONG_WORDS: usize = 30;
/// Maximum length of a sentence that is not split, in characters, for a script without spaces.
const LONG_CHARS: usize = 48;
/// Minimum length of a clause, in words.
const SHORT_WORDS: usize = 8;
/// Minimum length of a clause, in characters, for a script without spaces.
const SHORT_CHARS: usize = 14;

/// Conjunctions before which a long sentence can be split.
const CONJUNCTIONS: &[&str] = &[
    "and", "but", "so", "und", "aber", "y", "pero", "et", "mais", "because", "weil", "porque", "which", "anyway",
    "also", "then",
];

/// Returns the sentences in `text`. Long sentences are split at commas and conjunctions.
pub fn clauses(text: &str) -> Vec<&str> {
    cut::sentences(text).flat_map(split).collect()
}

/// Minimum number of consecutive short lines in a user message that count as pasted. People usually write paragraphs.
const PASTED_LINES: usize = 6;
/// Maximum length of a line that counts as short, in characters.
const PASTED_LINE: usize = 160;

/// Returns the byte ranges of `text` that look pasted, such as an offer, an email or a log. These parts are assumed
/// not to be written by the user.
pub fn pasted(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let (mut from, mut to, mut lines) = (0, 0, 0);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let is_short = line.chars().count() <= PASTED_LINE;
        if line.trim().is_empty() {
            // A blank line does not end a pasted block.
        } else if is_short {
            if lines == 0 {
                from = at;
            }
            (to, lines) = (end, lines + 1);
        } else {
            if lines >= PASTED_LINES {
                found.push(from..to);
            }
            lines = 0;
        }
        at = end;
    }
    if lines >= PASTED_LINES {
        found.push(from..to);
    }
    found
}

/// Splits a sentence that is too long.
fn split(sentence: &str) -> Vec<&str> {
    let dense = sentence.chars().filter(|c| is_dense(*c)).count();
    let is_dense_text = dense * 3 > sentence.chars().count();
    if if is_dense_text { dense <= LONG_CHARS } else { sentence.split_whitespace().nth(LONG_WORDS).is_none() } {
        return vec![sentence];
    }
    let size = |part: &str| {
        if is_dense_text { part.chars().filter(|c| is_dense(*c)).count() } else { part.split_whitespace().count() }
    };
    let least = if is_dense_text { SHORT_CHARS } else { SHORT_WORDS };
    let mut found = Vec::new();
    let mut begin = 0;
    for at in breaks(sentence) {
        if size(&sentence[begin..at]) >= least && size(&sentence[at..]) >= least {
            found.push(sentence[begin..at].trim());
            begin = at;
        }
    }
    found.push(sentence[begin..].trim());
    found.retain(|part| !part.is_empty());
    found
}

/// Returns the offsets at which a sentence may be split: after a comma, semicolon or dash, and before a conjunction.
fn breaks(sentence: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut previous = ' ';
    for (at, c) in sentence.char_indices() {
        let after = at + c.len_utf8();
        let spaced = sentence[after..].starts_with(char::is_whitespace);
        if matches!(c, '\u{ff0c}' | '\u{3001}' | '\u{ff1b}')
            || (matches!(c, ',' | ';' | '\u{2013}' | '\u{2014}') && (spaced || sentence[after..].starts_with(is_dense)))
        {
            found.push(after);
        } else if c.is_whitespace() && !matches!(previous, ',' | ';') {
            let next = sentence[after..].split_whitespace().next().unwrap_or("");
            if CONJUNCTIONS.contains(&next.to_lowercase().as_str()) {
                found.push(after);
            }
        }
        previous = c;
    }
    found
}

/// Flattens a JSON object or array into about `most` lines: `name: value`, or the sentences of a longer string. Members
/// of a small flat object share a line, so that related values stay together. Returns `None` for other content.
pub fn json_lines(content: &str, most: usize) -> Option<Vec<String>> {
    let value: serde_json::Value =
        serde_json::from_str(content.trim()).ok().filter(|v: &serde_json::Value| v.is_object() || v.is_array())?;
    let mut lines = Vec::new();
    push_lines(&value, "", most, &mut lines);
    Some(lines)
}

/// Maximum length of a JSON object that is written as one line, in characters.
const MAX_ROW: usize = 160;

fn push_lines(value: &serde_json::Value, name: &str, most: usize, lines: &mut Vec<String>) {
    use serde_json::Value;
    if lines.len() >= most {
        return;
    }
    match value {
        Value::Object(members) => {
            let flat = members.values().all(|v| !v.is_object() && !v.is_array());
            let shown = members
                .iter()
                .filter_map(|(key, value)| scalar(value).map(|text| format!("{key}: {text}")))
                .collect::<Vec<_>>()
                .join(", ");
            if flat && !name.is_empty() && shown.chars().count() <= MAX_ROW {
                lines.push(shown);
            } else {
                members.iter().for_each(|(key, value)| push_lines(value, key, most, lines));
            }
        }
        Value::Array(items) => {
            items.iter().for_each(|item| push_lines(item, if name.is_empty() { "item" } else { name }, most, lines))
        }
        Value::String(text) if text.split_whitespace().nth(3).is_some() => {
            lines.extend(clauses(text).into_iter().map(str::to_owned))
        }
        other => lines.extend(scalar(other).map(|text| format!("{name}: {text}"))),
    }
}

/// Returns a non-blank string or a number as text, or `None` for other values.
fn scalar(value: &serde_json::Value) -> Option<String> {
    match value {
        serde_json::Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        serde_json::Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
