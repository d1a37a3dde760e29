//! Folding of labels, so that typed text can be matched with displayed text. Folding removes differences in Unicode
//! compatibility forms, case, whitespace, quotes, dashes and ellipses, and drops invisible characters.

use unicode_normalization::UnicodeNormalization;

/// Maximum length of a label or value in an outline, in characters.
pub(super) const MAX_TEXT: usize = 200;

/// Folds text so that it can be compared with other folded text.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return words(&text.to_lowercase());
    }
    // Lower-casing can add combining marks, so the text is normalised again. Both forms of sharp s count as one letter,
    // and so do both forms of sigma.
    let lower: String = fold_all_but_case(text).to_lowercase().nfkc().collect();
    lower.replace('\u{df}', "ss").replace('\u{3c2}', "\u{3c3}").replace("i\u{307}", "i")
}

fn fold_all_but_case(text: &str) -> String {
    let plain: String = text.nfkc().filter(|c| !is_invisible(*c)).map(plain).collect();
    words(&plain)
}

/// Replaces each run of whitespace with a single space, and trims the text.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether a character is invisible: a joiner, direction mark, variation selector or soft hyphen.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// Returns the ASCII form of a quotation mark, apostrophe or dash. Other characters are returned unchanged.
fn plain(c: char) -> char {
    match c {
        '\u{60}'
        | '\u{b4}'
        | '\u{2b9}'
        | '\u{2bb}'
        | '\u{2bc}'
        | '\u{2018}'..='\u{201b}'
        | '\u{2032}'
        | '\u{2039}'
        | '\u{203a}' => '\'',
        '\u{ab}'
        | '\u{bb}'
        | '\u{201c}'..='\u{201f}'
        | '\u{2033}'
        | '\u{300c}'..='\u{300f}'
        | '\u{301d}'..='\u{301f}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{2e3a}' | '\u{2e3b}' | '\u{fe58}' | '\u{fe63}' => '-',
        c => c,
    }
}

/// Returns whether text is empty or contains only whitespace, invisible characters and private-use characters. Icon
/// fonts draw private-use characters as icons.
pub fn is_icon(text: &str) -> bool {
    let drawn = |c: char| matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10fffd}');
    text.chars().all(|c| drawn(c) || c.is_whitespace() || is_invisible(c))
}

/// Reverses the escapes that an outline prints in a label: `\u{200f}`, `\n`, `\"` and `\\`. Returns `None` if the text
/// contains no backslash.
pub fn unescape(text: &str) -> Option<String> {
    let (mut rest, mut out) = (text, String::with_capacity(text.len()));
    rest.contains('\\').then_some(())?;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let code = after.strip_prefix("u{").and_then(|a| a.split_once('}'));
        let code =
            code.and_then(|(hex, tail)| Some((u32::from_str_radix(hex, 16).ok().and_then(char::from_u32)?, tail)));
        match (code, after.chars().next()) {
            (Some((c, tail)), _) => {
                out.push(c);
                rest = tail;
            }
            (None, Some('n')) => {
                out.push('\n');
                rest = &after[1..];
            }
            (None, Some(c @ ('"' | '\\'))) => {
                out.push(c);
                rest = &after[1..];
            }
            (None, _) => {
                out.push('\\');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    Some(out)
}

/// How closely text matches a search text, from closest to least close.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// The text equals the search text.
    Exact,
    /// The search text equals the title of a label that contains more text.
    Title,
    /// The text equals the search text after folding.
    Whole,
    /// The text begins with the search text.
    Start,
    /// A word in the text begins with the search text.
    Word,
    /// The search text occurs only inside a word, or only in a detail of a label.
    Part,
}

/// A search text, folded once.
#[derive(Debug, Clone)]
pub struct Wanted {
    raw: Vec<String>,
    folded: Vec<String>,
}

impl Wanted {
    /// Prepares a search text that a caller typed or copied from an outline.
    pub fn new(text: &str) -> Self {
        let raw: Vec<String> = std::iter::once(text.trim().to_owned()).chain(unescape(text.trim())).collect();
        // An outline cuts labels at `MAX_TEXT` characters and adds an ellipsis.
        let whole =
            |text: &String| text.strip_suffix('\u{2026}').filter(|t| t.chars().count() >= MAX_TEXT).map(str::to_owned);
        let folded =
            raw.iter().map(|t| fold(&whole(t).unwrap_or_else(|| t.clone()))).filter(|t| !t.is_empty()).collect();
        Self { raw, folded }
    }

    /// Returns how closely `text` matches, or `None` if it does not contain the search text.
    pub fn fit(&self, text: &str) -> Option<Fit> {
        let text = text.trim();
        if self.raw.iter().any(|raw| raw == text) {
            return Some(Fit::Exact);
        }
        let folded = fold(text);
        self.folded.iter().filter_map(|wanted| fit(&folded, wanted)).min()
    }

    /// Returns whether `text` contains the search text, ignoring case. An occurrence inside a word counts.
    pub fn is_in(&self, text: &str) -> bool {
        let folded = fold(text);
        self.folded.iter().any(|wanted| folded.contains(wanted.as_str()))
    }

    /// Returns whether `text` equals the search text or contains it as whole words. In scripts that do not separate
    /// words, the search text may occur anywhere. A search text in capitals, such as `ON`, is found inside longer text
    /// only if it is in capitals there too.
    pub fn is_words_of(&self, text: &str) -> bool {
        let folded = fold(text);
        if self.folded.contains(&folded) {
            return true;
        }
        self.raw.iter().any(|raw| match is_capitals(raw) {
            true => has_words(&fold_all_but_case(text), &fold_all_but_case(raw)),
            false => self.folded.iter().any(|wanted| has_words(&folded, wanted)),
        })
    }
}

fn is_capitals(text: &str) -> bool {
    text.chars().filter(|c| c.is_alphabetic()).count() > 1
        && text.chars().all(|c| !c.is_lowercase())
        && text.chars().any(char::is_uppercase)
}

fn has_words(text: &str, wanted: &str) -> bool {
    let is_bound = |outside: Option<char>, inside: Option<char>| match (outside, inside) {
        (Some(a), Some(b)) => !(is_word(a) && is_word(b)),
        _ => true,
    };
    !wanted.is_empty()
        && text.match_indices(wanted).any(|(at, _)| {
            let end = at + wanted.len();
            is_bound(text[..at].chars().next_back(), wanted.chars().next())
                && is_bound(text[end..].chars().next(), wanted.chars().next_back())
        })
}

/// Returns whether a character is part of a word in a script that separates words.
fn is_word(c: char) -> bool {
    (c.is_alphanumeric() && !afd_base::text::is_dense(c)) || c == '_'
}

fn fit(text: &str, wanted: &str) -> Option<Fit> {
    if text == wanted {
        return Some(Fit::Whole);
    }
    let mut places = text.match_indices(wanted).map(|(at, _)| at).peekable();
    places.peek()?;
    let begins_word = |at: usize| text[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
    Some(match places.clone().next() {
        Some(0) => Fit::Start,
        _ if places.any(begins_word) => Fit::Word,
        _ => Fit::Part,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_equals_what_is_shown() {
        for (shown, typed) in [
            ("Don\u{2019}t allow", "don't allow"),
            ("Text\u{a0}size", "Text size"),
            ("Save \u{2026}", "Save ..."),
            ("Pages 3\u{2013}5", "Pages 3-5"),
            ("\u{201c}Pro\u{201d} plan", "\"Pro\" plan"),
            ("Sign  out", "Sign out"),
            ("\u{200f}\u{62d}\u{641}\u{638}\u{200f}", "\u{62d}\u{641}\u{638}"),
            ("\u{2764}\u{fe0f} Likes", "\u{2764} likes"),
            ("\u{ff37}i-Fi", "wi\u{2011}fi"),
            ("STRASSE", "Stra\u{df}e"),
        ] {
            assert_eq!(fold(shown), fold(typed), "{shown:?}");
            assert_eq!(Wanted::new(typed).fit(shown), Some(Fit::Whole), "{shown:?}");
        }
        assert_ne!(fold("resume"), fold("r\u{e9}sum\u{e9}"), "accents tell words apart");
    }

    #[test]
    fn printed_labels_can_be_typed_back() {
        assert_eq!(unescape(r#"\u{200f}a\u{200f}"#).as_deref(), Some("\u{200f}a\u{200f}"));
        assert_eq!(unescape(r#"two\nlines \"q\" \\ C:\dir"#).as_deref(), Some("two\nlines \"q\" \\ C:\\dir"));
        assert_eq!(unescape("plain"), None);
        assert_eq!(Wanted::new(r"\u{200f}a\u{200f}").fit("\u{200f}a\u{200f}"), Some(Fit::Exact));
    }

    #[test]
    fn checks_compare_whole_words() {
        let has = |text: &str, wanted: &str| Wanted::new(wanted).is_words_of(text);
        assert!(!has("No services are on.", "ser") && !has("Phone", "on") && has("No services are on.", "on"));
        assert!(
            !has("No services are on.", "ON") && !has("Phone", "ON") && has("On", "ON") && has("Dark theme, ON", "ON")
        );
        assert!(has("Dark theme, off, OFF", "Dark theme, off") && has("3 items", "3") && !has("13 items", "3"));
        assert!(has("\u{8bbe}\u{7f6e}\u{548c}\u{9690}\u{79c1}", "\u{9690}\u{79c1}"), "no spaces between words");
        assert!(has("C++ guide", "C++") && has("#general", "#general"));
    }

    #[test]
    fn icons_are_no_names() {
        assert!(
            is_icon("\u{e8b6}")
                && is_icon(" \u{f015}\u{200b}")
                && is_icon("")
                && !is_icon("\u{d7}")
                && !is_icon("\u{1f600}")
        );
    }
}
