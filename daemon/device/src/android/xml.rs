//! Repairs the XML of dumps. Some programs write characters that XML forbids, and characters beyond 16 bits as two halves.

use std::borrow::Cow;

/// Character that replaces those that XML forbids, as Android's own dump does.
const REPLACED: char = '.';

/// Returns the document in the output of a program, which may print other text before and after it; `None` if there is none.
pub fn document(output: &str) -> Option<&str> {
    let found = ["hierarchy", "displays"].into_iter().filter_map(|tag| Some((output.find(&format!("<{tag}"))?, tag)));
    let (start, tag) = found.min()?;
    let rest = &output[start..];
    let close = format!("</{tag}>");
    let end = rest.find(&close).map(|at| at + close.len()).or_else(|| rest.find("/>").map(|at| at + 2));
    end.map(|end| &rest[..end])
}

/// Returns a document without what XML forbids.
pub fn repaired(document: &str) -> Cow<'_, str> {
    let is_wrong = |c: char| !is_allowed(u32::from(c));
    if !document.contains(is_wrong) && !document.contains("&#") {
        return Cow::Borrowed(document);
    }
    let mut out = String::with_capacity(document.len());
    let mut rest = document;
    while let Some(at) = rest.find("&#") {
        push(&mut out, &rest[..at]);
        rest = &rest[at..];
        let Some((code, length)) = reference(rest) else {
            out.push_str("&amp;#");
            rest = &rest[2..];
            continue;
        };
        rest = &rest[length..];
        let (code, more) = whole(code, rest);
        rest = &rest[more..];
        match char::from_u32(code).filter(|_| is_allowed(code)) {
            // The characters that have a meaning in XML stay references.
            Some(c) if c.is_ascii() => out.push_str(&format!("&#{code};")),
            Some(c) => out.push(c),
            None => out.push(REPLACED),
        }
    }
    push(&mut out, rest);
    Cow::Owned(out)
}

fn push(out: &mut String, text: &str) {
    out.extend(text.chars().map(|c| if is_allowed(u32::from(c)) { c } else { REPLACED }));
}

/// Parses the reference to a character at the start of a text; returns the character's code and the length of the reference.
fn reference(text: &str) -> Option<(u32, usize)> {
    let body = text.strip_prefix("&#")?;
    let end = body.bytes().take(10).position(|b| b == b';')?;
    let code = match body[..end].strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => body[..end].parse(),
    };
    Some((code.ok()?, 2 + end + 1))
}

/// Joins the first half of a character with the second half, if `rest` starts with it. Returns the code and the length of
/// the second half's reference.
fn whole(first: u32, rest: &str) -> (u32, usize) {
    match (first, reference(rest)) {
        (0xd800..=0xdbff, Some((second @ 0xdc00..=0xdfff, length))) => {
            (0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00), length)
        }
        _ => (first, 0),
    }
}

/// Returns whether XML 1.0 allows a character.
fn is_allowed(code: u32) -> bool {
    matches!(code, 0x9 | 0xa | 0xd | 0x20..=0xd7ff | 0xe000..=0xfffd | 0x10000..=0x10_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_is_cut_out_of_other_output() {
        let glued = "WARNING: linker\n<?xml version='1.0'?><hierarchy><node/></hierarchy>UI hierchary dumped to: /dev/tty\nKilled";
        assert_eq!(document(glued), Some("<hierarchy><node/></hierarchy>"));
        assert_eq!(document("<hierarchy rotation=\"0\"/>\n"), Some("<hierarchy rotation=\"0\"/>"));
        let windows = "<displays><display><window><hierarchy><a/></hierarchy></window></display></displays>";
        assert_eq!(document(&format!("{windows}\n{glued}")), Some(windows));
        assert_eq!(document("ERROR: could not get idle state."), None);
        assert_eq!(document("</hierarchy> <hierarchy"), None);
    }

    #[test]
    fn forbidden_characters_are_replaced_and_halves_are_joined() {
        assert_eq!(repaired("a &#55357;&#56832; b"), "a \u{1f600} b");
        assert_eq!(repaired("a &#xD83D;&#xDE00;"), "a \u{1f600}");
        assert_eq!(repaired("half &#55357; &#0; \u{1}"), "half . . .");
        assert_eq!(repaired("&#10;&#34;&#xe9; &#nothing; &#"), "&#10;&#34;\u{e9} &amp;#nothing; &amp;#");
        assert!(matches!(repaired("<a>plain</a>"), Cow::Borrowed(_)));
    }
}
