//! Pure functions on text: folding, words, excerpts, and the analyser of the search index (`tokens`).

pub mod cut;
mod gist;
pub mod language;
pub mod snippet;
pub mod tokens;

use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

pub use gist::gist;
pub use language::{is_stop, stem};

/// Folds text for comparison: removes the differences in compatibility forms, accents and case.
pub fn fold(text: &str) -> String {
    lower(&strip_accents(text))
}

/// Lower-cases text for caseless matching: sharp s becomes `ss`, and final sigma becomes sigma.
fn lower(text: &str) -> String {
    let lower = text.to_lowercase();
    if lower.is_ascii() { lower } else { lower.replace('\u{df}', "ss").replace('\u{3c2}', "\u{3c3}") }
}

/// Folds text but keeps its case, which is needed to split camel-case words.
fn strip_accents(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    text.nfkd().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).nfc().collect()
}

/// The class of a character: separator, part of a word, or part of a script without spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Gap,
    Word,
    Dense,
}

/// Returns whether a character is indexed in pairs. These are the characters of scripts without spaces between words,
/// of Hangul (whose words have suffixes), and symbols such as emoji (each of which is a word).
pub fn is_dense(c: char) -> bool {
    matches!(c as u32,
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF |
        0x2190..=0x2BFF | 0x2E80..=0x2FDF | 0x3005..=0x3007 | 0x3021..=0x3029 | 0x3040..=0x312F | 0x31F0..=0x31FF |
        0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x1F000..=0x1FAFF | 0x20000..=0x3FFFF)
}

fn class(c: char) -> Class {
    if is_dense(c) {
        Class::Dense
    } else if c.is_alphanumeric() {
        Class::Word
    } else {
        Class::Gap
    }
}

/// A maximal run of characters of the same class.
struct Run {
    class: Class,
    text: String,
}

fn runs(text: &str) -> Vec<Run> {
    runs_by(&strip_accents(text), class)
}

fn runs_by(text: &str, class: impl Fn(char) -> Class) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut last = Class::Gap;
    for c in text.chars() {
        let class = class(c);
        if class == Class::Gap {
            last = class;
            continue;
        }
        match runs.last_mut().filter(|_| class == last) {
            Some(run) => run.text.push(c),
            None => runs.push(Run { class, text: c.to_string() }),
        }
        last = class;
    }
    runs
}

/// Returns the folded parts of a camel-case word; empty if the word has only one part.
fn camel_parts(word: &str) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    let mut parts: Vec<String> = Vec::new();
    let mut part = String::new();
    for (i, c) in chars.iter().enumerate() {
        let before = i.checked_sub(1).map(|b| chars[b]);
        let after = chars.get(i + 1);
        let begins = before.is_some_and(|b| {
            (c.is_uppercase() && (b.is_lowercase() || after.is_some_and(|a| a.is_lowercase())))
                || (c.is_numeric() != b.is_numeric())
        });
        if begins {
            parts.push(std::mem::take(&mut part));
        }
        part.push_str(&lower(&c.to_string()));
    }
    parts.push(part);
    parts.retain(|p| !p.is_empty());
    if parts.len() > 1 { parts } else { Vec::new() }
}

/// Returns a hash of `text` that is the same on every machine.
pub fn hash(text: &str) -> i64 {
    let digest = Sha256::digest(text.as_bytes());
    i64::from_le_bytes(digest[..8].try_into().unwrap_or_default())
}

/// Returns whether a character joins the parts of a word: `wi-fi` equals `wifi`, and `recycler_view` equals
/// `recyclerview`.
fn is_joiner(c: char) -> bool {
    matches!(c, '-' | '_' | '\'' | '\u{2010}' | '\u{2011}' | '\u{2019}')
}

/// Removes the characters that join the parts of words.
pub fn joined(folded: &str) -> String {
    folded.replace(is_joiner, "")
}

/// Returns the compound words in `text`, each with its parts joined.
fn compounds(text: &str) -> Vec<String> {
    let unaccented = strip_accents(text);
    let words = unaccented.split(|c: char| class(c) != Class::Word && !is_joiner(c));
    let parts = |word: &&str| word.split(is_joiner).filter(|p| !p.is_empty()).count() > 1;
    words.filter(parts).map(|word| joined(&lower(word))).collect()
}

/// Returns a run's pairs of adjacent characters, and its last character alone, so that each character begins a token.
fn pairs(run: &str) -> Vec<String> {
    let chars: Vec<char> = run.chars().collect();
    chars.windows(2).map(|w| w.iter().collect()).chain(chars.last().map(char::to_string)).collect()
}

/// Returns the words in `text` as tokens, in order, followed by its compound words with their parts joined.
pub fn words(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    for run in runs(text) {
        match run.class {
            Class::Dense => tokens.extend(pairs(&run.text)),
            _ => {
                tokens.push(lower(&run.text));
                tokens.extend(camel_parts(&run.text));
            }
        }
    }
    tokens.extend(compounds(text));
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_every_script_are_tokenized() {
        assert_eq!(
            words("Open Wi-Fi, RecyclerView v2"),
            ["open", "wi", "fi", "recyclerview", "recycler", "view", "v2", "v", "2", "wifi"]
        );
        assert_eq!(words("Stra\u{df}e GR\u{d6}SSE"), ["strasse", "grosse"]);
        assert_eq!(words("打开设置"), ["打开", "开设", "设置", "置"]);
        assert_eq!(words("設定ＡＢＣ"), ["設定", "定", "abc"]);
        assert_eq!(words("Café"), ["cafe"]);
    }
}
