//! A thesaurus of words related to apps, in twelve languages. It maps words with the same meaning to one concept.
//!
//! The thesaurus file has one concept per line, `KEY: term, term | term, ...`, with a group of terms for each language.
//! A term that ends in `*` matches all words that begin with it. Terms are compared as folded words. A `~` before the
//! key marks a concept that is so common that it says little about the text.

use std::sync::LazyLock;

use crate::text;

const FILE: &str = include_str!("concepts.txt");

/// Maximum length of a term, in words and in characters of a script without spaces.
const MAX_WORDS: usize = 4;
const MAX_DENSE: usize = 8;

/// A concept, as the index of its line in the thesaurus file, not counting empty lines and comments.
pub type Concept = u16;

/// A term, as its position in the concatenated text of all terms, and its concept.
#[derive(Debug, Clone, Copy)]
struct Term {
    from: u32,
    length: u8,
    /// Whether the term matches all words that begin with it.
    open: bool,
    concept: Concept,
}

/// The thesaurus, with sorted terms.
struct Thesaurus {
    text: String,
    terms: Vec<Term>,
    common: Vec<Concept>,
}

static THESAURUS: LazyLock<Thesaurus> = LazyLock::new(|| Thesaurus::parse(FILE));

impl Thesaurus {
    fn parse(file: &str) -> Self {
        let mut text = String::new();
        let (mut terms, mut common) = (Vec::new(), Vec::new());
        let lines = file.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        for (concept, line) in (0..).zip(lines) {
            let Some((_, groups)) = line.split_once(':') else { continue };
            if line.starts_with('~') {
                common.push(concept);
            }
            for term in groups.split(['|', ',']).map(str::trim).filter(|t| !t.is_empty()) {
                let (term, open) = term.strip_suffix('*').map_or((term, false), |stem| (stem, true));
                let key = key(term);
                let (Ok(from), Ok(length)) = (u32::try_from(text.len()), u8::try_from(key.len())) else { continue };
                if length > 0 {
                    text.push_str(&key);
                    terms.push(Term { from, length, open, concept });
                }
            }
        }
        text.shrink_to_fit();
        terms.shrink_to_fit();
        let mut thesaurus = Self { text, terms, common };
        let mut terms = std::mem::take(&mut thesaurus.terms);
        terms.sort_by(|a, b| thesaurus.of(a).cmp(thesaurus.of(b)));
        thesaurus.terms = terms;
        thesaurus
    }

    fn of(&self, term: &Term) -> &str {
        let from = term.from as usize;
        &self.text[from..from + usize::from(term.length)]
    }

    /// Calls `each` with the concept of each term that equals `wanted`. If `open` is set, considers only terms that
    /// match all words that begin with them.
    fn exactly(&self, wanted: &str, open: bool, each: &mut impl FnMut(Concept)) {
        let from = self.terms.partition_point(|t| self.of(t) < wanted);
        for term in self.terms[from..].iter().take_while(|t| self.of(t) == wanted) {
            if term.open || !open {
                each(term.concept);
            }
        }
    }

    /// Calls `each` with the concepts of a phrase. These are the concepts of the terms that equal the phrase, and of
    /// the open terms that equal its beginning and include at least three bytes of its last word.
    fn phrase(&self, phrase: &str, each: &mut impl FnMut(Concept)) {
        self.exactly(phrase, false, each);
        let last = phrase.rfind(' ').map_or(0, |at| at + 1);
        for (end, _) in phrase.char_indices().filter(|(end, _)| *end > last + 2) {
            self.exactly(&phrase[..end], true, each);
        }
    }
}

/// Returns the normalised form of text, by which terms are compared: its folded words, separated by single spaces.
fn key(term: &str) -> String {
    let folded = text::fold(term);
    let words: Vec<&str> = folded.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    words.join(" ")
}

/// Returns whether a concept is so common that it says little about the text that mentions it.
pub fn is_common(concept: Concept) -> bool {
    THESAURUS.common.contains(&concept)
}

/// Returns the concepts that `text` mentions, sorted and without duplicates.
pub fn of(text: &str) -> Vec<Concept> {
    let thesaurus = &*THESAURUS;
    let folded = text::fold(text);
    let mut found = Vec::new();
    let mut each = |concept| found.push(concept);
    let words: Vec<&str> = folded.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    for (i, word) in words.iter().enumerate() {
        if word.contains(text::is_dense) {
            let starts: Vec<usize> = word.char_indices().map(|(at, _)| at).chain([word.len()]).collect();
            for (at, from) in starts.iter().enumerate() {
                for to in starts.iter().skip(at + 1).take(MAX_DENSE) {
                    thesaurus.exactly(&word[*from..*to], false, &mut each);
                }
            }
            continue;
        }
        let mut phrase = String::new();
        for word in words[i..].iter().take(MAX_WORDS) {
            if !phrase.is_empty() {
                phrase.push(' ');
            }
            phrase.push_str(word);
            thesaurus.phrase(&phrase, &mut each);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_many_languages_stand_for_one_concept() {
        let common = |a: &str, b: &str| of(a).iter().any(|c| of(b).contains(c));
        assert!(common("crash on rotate", "the app crashes when I rotate it"));
        assert!(common("cannot log in", "Anmeldung"));
        assert!(common("登录", "sign in"));
        assert!(!common("delete", "upload"));
        assert!(of("").is_empty());
    }
}
