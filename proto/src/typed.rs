//! Command-line spelling of enum words: kebab case, computed at compile time.

use clap::builder::PossibleValue;

/// Returns the length in bytes of the kebab-case form of a camelCase word.
pub(crate) const fn kebab_len(word: &str) -> usize {
    let (bytes, mut i, mut len) = (word.as_bytes(), 0, 0);
    while i < bytes.len() {
        len += if bytes[i].is_ascii_uppercase() { 2 } else { 1 };
        i += 1;
    }
    len
}

/// Returns the bytes of the kebab-case form of a camelCase word.
pub(crate) const fn kebab_bytes<const N: usize>(word: &str) -> [u8; N] {
    let (bytes, mut i, mut at, mut out) = (word.as_bytes(), 0, 0, [0; N]);
    while i < bytes.len() {
        if bytes[i].is_ascii_uppercase() {
            out[at] = b'-';
            at += 1;
        }
        out[at] = bytes[i].to_ascii_lowercase();
        at += 1;
        i += 1;
    }
    out
}

/// Converts a camelCase literal to kebab case, as a `&'static str`.
macro_rules! kebab {
    ($word:literal) => {{
        const BYTES: [u8; $crate::typed::kebab_len($word)] = $crate::typed::kebab_bytes($word);
        const TEXT: &str = match std::str::from_utf8(&BYTES) {
            Ok(text) => text,
            Err(_) => $word,
        };
        TEXT
    }};
}
pub(crate) use kebab;

/// Returns the command-line value `typed` with its help text. Words that differ from `typed` become hidden aliases.
pub(crate) fn possible_value(typed: &'static str, words: &'static [&'static str], doc: &'static str) -> PossibleValue {
    let help = crate::method::doc_text(doc).trim_end_matches('.');
    PossibleValue::new(typed).help(help).aliases(words.iter().copied().filter(move |word| *word != typed))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use crate::pattern::PatternKind;
    use crate::vocabulary::By;

    #[test]
    fn words_are_accepted_in_kebab_case_and_as_on_the_wire() {
        let kind = PatternKind::KeyFact.to_possible_value().expect("typed");
        assert_eq!(kind.get_name(), "key-fact");
        assert!(kind.matches("keyFact", false));
        assert!(By::ResId.to_possible_value().expect("typed").matches("resource_id", false));
    }
}
