//! Splitting messages into sentences, clauses and lines.

use serde_json::Value;

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

/// Returns the lines of a tool's result, about `most`: those of flattened JSON, else its sentences.
pub fn tool_lines(content: &str, most: usize) -> Vec<String> {
    match serde_json::from_str(content.trim()) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => {
            let mut lines = Vec::new();
            push_lines(&value, "", "", most, &mut lines);
            lines
        }
        _ => unwrapped(content),
    }
}

/// Minimum length of a line that may go on in the next one, in characters.
const WRAPPED: usize = 40;

/// Returns the sentences of a text whose lines may be wrapped.
fn unwrapped(text: &str) -> Vec<String> {
    let mut joined = String::new();
    let mut length = 0;
    for line in text.lines().map(str::trim) {
        let goes_on = length >= WRAPPED
            && joined.ends_with(|c: char| c.is_alphanumeric() || c == ',')
            && line.starts_with(char::is_lowercase)
            && !line.contains(['|', '=']);
        joined.push(if goes_on { ' ' } else { '\n' });
        joined.push_str(line);
        length = line.chars().count();
    }
    clauses(&joined).into_iter().map(str::to_owned).collect()
}

/// Maximum length of a JSON object that is written as one line, in characters.
const MAX_ROW: usize = 160;
/// Maximum length of the text that names an object, in characters.
const MAX_LABEL: usize = 60;

/// Flattens a JSON value: `name: value`, or the sentences of a longer string. Members of a small flat object share a
/// line, so that related values stay together. The lines of a larger object begin with `label`, the name of the object in
/// its list, unless they contain it.
fn push_lines(value: &Value, name: &str, label: &str, most: usize, lines: &mut Vec<String>) {
    if lines.len() >= most {
        return;
    }
    let mut push = |line: String| {
        let is_named = label.is_empty() || line.contains(label);
        lines.push(if is_named { line } else { format!("{label}: {line}") });
    };
    match value {
        Value::Object(members) => {
            let flat = members.values().all(|v| !v.is_object() && !v.is_array());
            let shown = members
                .iter()
                .filter_map(|(key, value)| scalar(value).map(|text| format!("{key}: {text}")))
                .collect::<Vec<_>>()
                .join(", ");
            if flat && !name.is_empty() && shown.chars().count() <= MAX_ROW {
                push(shown);
            } else {
                members.iter().for_each(|(key, value)| push_lines(value, key, label, most, lines));
            }
        }
        Value::Array(items) => {
            let name = if name.is_empty() { "item" } else { name };
            for item in items {
                push_lines(item, name, label_of(item).unwrap_or(label), most, lines);
            }
        }
        Value::String(text) if text.split_whitespace().nth(3).is_some() => {
            unwrapped(text).into_iter().for_each(push);
        }
        other => scalar(other).into_iter().for_each(|text| push(format!("{name}: {text}"))),
    }
}

/// Names of the members by which people tell the objects of a list from each other.
const NAMES: [&str; 6] = ["name", "title", "label", "subject", "from", "id"];

/// Returns the text that names an object in a list.
fn label_of(item: &Value) -> Option<&str> {
    let members = item.as_object()?;
    let label = NAMES.iter().find_map(|name| members.get(*name)?.as_str()).map(str::trim)?;
    (!label.is_empty() && label.chars().count() <= MAX_LABEL).then_some(label)
}

/// Returns a non-blank string, a number or a truth value as text, or `None` for other values.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(holds) => Some(holds.to_string()),
        _ => None,
    }
}
