//! Keeping what comes from phones, pages and notes from steering a terminal: escapes, control characters, and characters that
//! turn the direction of text.

use serde_json::Value;

/// Whether a character does something to a terminal or to the order of a line, instead of being shown.
fn steers(c: char) -> bool {
    // Arabic letter mark, left-to-right and right-to-left marks, embeddings and overrides, isolates; line and paragraph separators.
    c.is_control() || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escaped(text: &str, keep: impl Fn(char) -> bool) -> String {
    text.chars().flat_map(|c| if steers(c) && !keep(c) { c.escape_default().collect() } else { vec![c] }).collect()
}

/// A text on one line.
pub fn line(text: &str) -> String {
    escaped(text, |_| false)
}

/// A text that may have lines and tabs.
pub fn block(text: &str) -> String {
    escaped(text, |c| c == '\n' || c == '\t')
}

/// All texts of a value, keys included.
pub fn value(value: &mut Value) {
    match value {
        Value::String(text) if text.chars().any(steers) => *text = block(text),
        Value::Array(items) => items.iter_mut().for_each(self::value),
        Value::Object(map) => {
            if map.keys().any(|key| key.chars().any(steers)) {
                *map = std::mem::take(map).into_iter().map(|(key, value)| (line(&key), value)).collect();
            }
            map.values_mut().for_each(self::value);
        }
        _ => {}
    }
}

/// JSON with the characters that steer written as escapes, which mean the same.
pub fn json(text: &str) -> String {
    use std::fmt::Write;
    if !text.chars().any(steers) {
        return text.to_owned();
    }
    text.chars().fold(String::with_capacity(text.len() + 64), |mut out, c| {
        if steers(c) {
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
    fn nothing_that_steers_is_left() {
        let json_text = serde_json::to_string(&serde_json::json!({ HOSTILE: [HOSTILE] })).expect("JSON");
        let mut cleaned: Value = serde_json::from_str(&json_text).expect("JSON");
        let same: Value = serde_json::from_str(&json(&json_text)).expect("JSON");
        assert_eq!(same, cleaned, "escaped JSON means the same");
        value(&mut cleaned);
        for text in [line(HOSTILE), block(HOSTILE), json(&json_text), cleaned.to_string()] {
            assert!(!text.chars().any(steers), "{text:?}");
        }
        assert_eq!(line("a\nb"), "a\\nb");
        assert_eq!(block("a\n\tb \u{1F600} \u{5d0}"), "a\n\tb \u{1F600} \u{5d0}");
    }
}
