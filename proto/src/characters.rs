//! Characters in JSON that programs cut in halves.

/// Replaces lone surrogates, such as `\ud83d` without its second half, with U+FFFD. A program may have
/// truncated text in the middle of an emoji, and most parsers of JSON refuse the rest.
pub fn whole_characters(text: &str) -> String {
    if !text.contains("\\u") {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = match unit(rest) {
            Some(0xd800..=0xdbff) if matches!(rest.get(6..).and_then(unit), Some(0xdc00..=0xdfff)) => 12,
            Some(0xd800..=0xdfff) => {
                out.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            Some(_) => 6,
            // An escape of two characters, or invalid JSON.
            None => rest.char_indices().nth(2).map_or(rest.len(), |(end, _)| end),
        };
        out.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    out + rest
}

/// Returns the UTF-16 code unit of a `\uXXXX` escape at the start of `text`.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_characters_are_replaced() {
        let text = |json: &str| serde_json::from_str::<String>(&whole_characters(json)).expect("a text");
        assert_eq!(text(r#""cut \ud83d""#), "cut \u{fffd}");
        assert_eq!(text(r#""\ude00 \ud83d\ude00 \ud83d\ud83d\ude00""#), "\u{fffd} \u{1f600} \u{fffd}\u{1f600}");
        assert_eq!(text(r#""\\ud83d \\\ud83dx \n\u00e9""#), "\\ud83d \\\u{fffd}x \n\u{e9}");
    }
}
