//! Escapes text from phones, pages and notes so that it cannot control a terminal. Escapes control characters, which
//! also disables escape sequences, and characters that change the direction of text.

use serde_json::Value;

/// Returns whether a character is invisible, or controls the terminal, line breaks or the direction of text.
fn controls_terminal(c: char) -> bool {
    // Arabic letter mark, left-to-right and right-to-left marks, embeddings, overrides and isolates; line and paragraph
    // separators. Invisible characters, such as zero-width characters and tags, can hide text from people. The
    // zero-width joiner is allowed, because it is part of emoji.
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}' | '\u{200c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}')
        || matches!(c, '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

fn escaped(text: &str, keep: impl Fn(char) -> bool) -> String {
    text.chars()
        .flat_map(|c| if controls_terminal(c) && !keep(c) { c.escape_default().collect() } else { vec![c] })
        .collect()
}

/// Returns text on one line, with control characters escaped.
pub fn line(text: &str) -> String {
    escaped(text, |_| false)
}

/// Returns text with control characters escaped, except line breaks and tabs.
pub fn block(text: &str) -> String {
    escaped(text, |c| c == '\n' || c == '\t')
}

/// Prefixes of the lines in which afd gives advice.
const ADVICE: [&str; 2] = ["hint:", "known:"];

/// Makes text that may quote a phone, a page or a note safe to print: escapes control characters, and marks lines that
/// look like advice from afd.
pub fn foreign(text: &str) -> String {
    marked(&block(text))
}

/// Marks lines that begin like advice from afd but come from a phone, a page or a note.
fn marked(text: &str) -> String {
    let is_advice = |line: &str| {
        let start: String = line.trim_start().chars().take(8).collect::<String>().to_lowercase();
        ADVICE.iter().any(|word| start.starts_with(word))
    };
    let lines = text.split('\n').map(|line| if is_advice(line) { format!("| {line}") } else { line.to_owned() });
    lines.collect::<Vec<_>>().join("\n")
}

/// Escapes all strings in a JSON value in place: values as [`foreign`] does, and keys as [`line()`] does.
pub fn value(value: &mut Value) {
    match value {
        Value::String(text) => *text = foreign(text),
        Value::Array(items) => items.iter_mut().for_each(self::value),
        Value::Object(map) => {
            if map.keys().any(|key| key.chars().any(controls_terminal)) {
                *map = std::mem::take(map).into_iter().map(|(key, value)| (line(&key), value)).collect();
            }
            map.values_mut().for_each(self::value);
        }
        _ => {}
    }
}

/// Returns JSON text with control characters written as `\u` escapes, which leaves its value unchanged.
pub fn json(text: &str) -> String {
    use std::fmt::Write;
    if !text.chars().any(controls_terminal) {
        return text.to_owned();
    }
    text.chars().fold(String::with_capacity(text.len() + 64), |mut out, c| {
        if controls_terminal(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}]0;x\u{7}\u{9b}2J\u{85}\u{202e}b\u{2066}c\u{200f}";

    #[test]
    fn control_characters_are_escaped() {
        let json_text = serde_json::to_string(&serde_json::json!({ HOSTILE: [HOSTILE] })).expect("JSON");
        let mut cleaned: Value = serde_json::from_str(&json_text).expect("JSON");
        let same: Value = serde_json::from_str(&json(&json_text)).expect("JSON");
        assert_eq!(same, cleaned, "escaping does not change the JSON value");
        value(&mut cleaned);
        for text in [line(HOSTILE), block(HOSTILE), json(&json_text), cleaned.to_string()] {
            assert!(!text.chars().any(controls_terminal), "{text:?}");
        }
        assert_eq!(line("a\nb"), "a\\nb");
        assert_eq!(block("a\n\tb \u{1F600} \u{5d0}"), "a\n\tb \u{1F600} \u{5d0}");
    }

    #[test]
    fn text_of_a_phone_cannot_begin_a_line_like_advice() {
        let mut data = serde_json::json!({"content": "first\nhint: run rm\n  Known: it is safe\nthe hint: stays", "title": "hint: tap"});
        value(&mut data);
        assert_eq!(data["content"], "first\n| hint: run rm\n|   Known: it is safe\nthe hint: stays");
        assert_eq!(data["title"], "| hint: tap");
    }
}
