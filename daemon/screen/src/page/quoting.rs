//! Quotation marks around texts that others wrote, such that no text can leave its line.

use std::fmt::Write as _;

/// Quotes text on a single line. Control and bidirectional characters are escaped. Text of more than `max` characters
/// is cut and ends with an ellipsis.
pub fn quoted(text: &str, max: usize) -> String {
    let text = text.trim();
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for (i, c) in text.chars().enumerate() {
        if i == max {
            out.push('\u{2026}');
            break;
        }
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c => push_plain(&mut out, c),
        }
    }
    out.push('"');
    out
}

fn push_plain(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\t' => out.push(' '),
        c if is_steering(c) => drop(write!(out, "\\u{{{:x}}}", u32::from(c))),
        c => out.push(c),
    }
}

/// Returns text on a single line, with the same escapes as [`quoted`] but for quotation marks and backslashes.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.trim().chars().for_each(|c| push_plain(&mut out, c));
    out
}

/// Returns whether a character changes how a line is displayed: a control, a line separator, an invisible character, or
/// a mark that changes the direction of text.
fn is_steering(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}' | '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
