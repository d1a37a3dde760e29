//! Quotation marks around texts that others wrote, such that no text can leave its line.

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
