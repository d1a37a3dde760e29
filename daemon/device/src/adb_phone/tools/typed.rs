//! Texts that were typed, to keep them out of logs. They are held in memory only.

use std::collections::VecDeque;
use std::time::Instant;

use afd_proto::Secret;
use base64::Engine as _;
use parking_lot::Mutex;

/// Number of texts that are remembered.
const MAX_TEXTS: usize = 500;
/// Length from which a text is replaced, in characters. A shorter one would also be found where it was not typed.
const MIN_LENGTH: usize = 3;
/// What replaces a text.
const INSTEAD: &str = "[typed text]";

/// Length from which the beginning of a text is replaced, in characters: fields may log each key.
const MIN_BEGINNING: usize = 4;

/// The texts that were typed last.
#[derive(Default)]
pub struct Typed {
    texts: Mutex<VecDeque<(Secret, Instant)>>,
    /// Time at which the last text was typed that is forgotten.
    forgotten: Mutex<Option<Instant>>,
}

impl Typed {
    /// Remembers a text, and each of its lines.
    pub fn note(&self, text: &Secret) {
        let mut texts = self.texts.lock();
        for line in text.expose().lines().filter(|line| line.trim().chars().count() >= MIN_LENGTH) {
            for line in [line, line.trim()] {
                texts.retain(|(known, _)| known.expose() != line);
                texts.push_back((Secret::new(line), Instant::now()));
            }
        }
        while texts.len() > MAX_TEXTS {
            *self.forgotten.lock() = texts.pop_front().map(|(_, at)| at);
        }
    }

    /// Returns the time since which all texts are remembered; `None` if none is forgotten.
    pub fn since(&self) -> Option<Instant> {
        *self.forgotten.lock()
    }

    /// Returns what replaces the texts that are remembered.
    pub fn filter(&self) -> Filter {
        let texts = self.texts.lock();
        let mut forms: Vec<String> = texts.iter().flat_map(|(typed, _)| forms(typed.expose())).collect();
        let mut texts: Vec<String> = texts.iter().map(|(typed, _)| typed.expose().to_ascii_lowercase()).collect();
        // A text may contain another one.
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        forms.dedup();
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        texts.dedup();
        Filter { forms, texts }
    }
}

/// Replaces typed texts.
pub struct Filter {
    /// The forms in which they may appear, in lower case.
    forms: Vec<String>,
    /// The texts as they are, in lower case.
    texts: Vec<String>,
}

impl Filter {
    /// Returns a text in which those that were typed are replaced, as they are and in the forms in which programs log them, and
    /// their beginnings as words. Case is ignored.
    pub fn without(&self, text: &str) -> String {
        let text = self.forms.iter().fold(text.to_owned(), |text, form| {
            replaced(&text, |lower, at| lower[at..].starts_with(form.as_str()).then_some(form.len()))
        });
        self.texts.iter().fold(text, |text, typed| replaced(&text, |lower, at| beginning(lower, at, typed)))
    }
}

/// Returns the length of the beginning of a typed text at a position, if it is a word of its own there.
fn beginning(lower: &str, at: usize, typed: &str) -> Option<usize> {
    let is_in_word = |c: char| c.is_alphanumeric();
    if lower[..at].chars().next_back().is_some_and(is_in_word) {
        return None;
    }
    let same = lower[at..].chars().zip(typed.chars()).take_while(|(one, other)| one == other);
    let (count, length) = same.fold((0, 0), |(count, length), (c, _)| (count + 1, length + c.len_utf8()));
    let ends = !lower[at + length..].chars().next().is_some_and(is_in_word);
    (count >= MIN_BEGINNING && ends).then_some(length)
}

/// Returns the forms in which a text may appear.
fn forms(text: &str) -> Vec<String> {
    let kept = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let encoded = |blank: &str| -> String {
        let one = |byte: u8| match byte {
            b' ' => blank.to_owned(),
            byte if kept(byte) => char::from(byte).to_string(),
            byte => format!("%{byte:02x}"),
        };
        text.bytes().map(one).collect()
    };
    let escaped: String = text.chars().map(|c| if "\"\\".contains(c) { format!("\\{c}") } else { c.into() }).collect();
    let base64 = base64::engine::general_purpose::STANDARD_NO_PAD.encode(text);
    let for_urls = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
    let quoted = text.replace('\'', "'\\''");
    let blanks = text.replace(' ', "%s");
    let mut forms = vec![text.to_owned(), blanks, encoded("%20"), encoded("+"), escaped, quoted, base64, for_urls];
    forms.iter_mut().for_each(|form| *form = form.to_ascii_lowercase());
    forms.dedup();
    forms
}

/// Replaces what `found` finds in the text in lower case: it returns the length of a match at a position.
fn replaced(text: &str, found: impl Fn(&str, usize) -> Option<usize>) -> String {
    // Both have the same length, because only ASCII letters change.
    let lower = text.to_ascii_lowercase();
    let (mut out, mut from) = (String::new(), 0);
    for (at, _) in lower.char_indices() {
        if at < from {
            continue;
        }
        if let Some(length) = found(&lower, at) {
            out.push_str(INSTEAD);
            from = at + length;
        } else {
            let next = at + text[at..].chars().next().map_or(1, char::len_utf8);
            out.push_str(&text[at..next]);
            from = next;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_texts_are_replaced_in_all_forms() {
        let typed = Typed::default();
        typed.note(&Secret::new("Hunter 2!"));
        typed.note(&Secret::new("ab"));
        typed.note(&Secret::new("first line\nsecond line"));
        for line in [
            "password=Hunter 2!;",
            "q=hunter%202%21&x",
            "q=hunter+2%21",
            "HUNTER 2!",
            "input text Hunter%s2!",
            "SHVudGVyIDIh",
            "is second line here",
            "text changed: hunter",
        ] {
            let shown = typed.filter().without(line);
            assert!(shown.contains(INSTEAD), "{line}: {shown}");
            assert!(!shown.to_lowercase().contains("hunter") && !shown.contains("second line"), "{shown}");
        }
        assert_eq!(typed.filter().without("a cab is about"), "a cab is about");
    }

    #[test]
    fn time_of_what_is_forgotten_is_known() {
        let typed = Typed::default();
        typed.note(&Secret::new("first"));
        (0..MAX_TEXTS - 1).for_each(|n| typed.note(&Secret::new(format!("text {n}"))));
        typed.note(&Secret::new("first"));
        assert_eq!(typed.since(), None);
        typed.note(&Secret::new("one more"));
        assert!(typed.since().is_some() && typed.filter().without("first one") != "first one");
    }

    #[test]
    fn longer_texts_are_replaced_first() {
        let typed = Typed::default();
        typed.note(&Secret::new("secret"));
        typed.note(&Secret::new("secret word"));
        assert_eq!(typed.filter().without("a secret word"), format!("a {INSTEAD}"));
    }
}
