//! Folding of sentences, and trimming of words.

use afd_base::text;

/// Folds a sentence, and replaces typographic apostrophes with `'`.
pub fn folded(sentence: &str) -> String {
    text::fold(sentence).replace('\u{2019}', "'")
}

/// Returns a word without the punctuation around it.
pub(super) fn inner(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}
