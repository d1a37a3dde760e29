//! Words of a sentence without case and marks.

use afd_base::text;

/// Folds a sentence for reading its words.
pub fn folded(sentence: &str) -> String {
    text::fold(sentence).replace('\u{2019}', "'")
}

/// Returns a word without the marks around it.
pub(super) fn inner(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}
