//! Analysis of corrections: what a sentence replaces, whether it contrasts two things, and which names it contains.

use std::collections::BTreeSet;

use super::fold::{folded, inner};
use afd_base::text;

/// Phrases after which a sentence names the thing that it replaces, folded.
const INSTEAD_OF: [&str; 14] = [
    "instead of ",
    "rather than ",
    "in place of ",
    "anstelle von ",
    "anstatt ",
    "statt ",
    "en vez de ",
    "en lugar de ",
    "au lieu de ",
    "au lieu du ",
    "a la place de ",
    "invece di ",
    "em vez de ",
    "вместо ",
];
/// Maximum number of words after an `INSTEAD_OF` phrase that are taken as the name of the replaced thing.
const NAMED: usize = 4;

/// Returns the words with which a sentence names the thing that it replaces; empty if it names nothing.
pub fn replaced_words(sentence: &str) -> BTreeSet<String> {
    let text = folded(sentence);
    let named = INSTEAD_OF.iter().filter_map(|mark| text.split_once(mark)).map(|(_, rest)| rest);
    let words = named
        .flat_map(|rest| text::words(rest.split(['.', ',', ';', '!']).next().unwrap_or(rest)).into_iter().take(NAMED));
    words.filter(|word| !text::is_stop(word)).collect()
}

/// Pairs of phrases with which a sentence denies one thing and states another, folded, as in `not Tuesday but Friday`.
const CONTRASTS: &[(&str, &[&str])] = &[
    (
        " not ",
        &[
            " but ",
            " any more",
            " anymore",
            " any longer",
            " instead",
            ", it ",
            "; it ",
            " it is ",
            " it was ",
            " rather ",
        ],
    ),
    ("n't ", &[" but ", " any more", " anymore", " any longer", " instead", ", it ", "; it "]),
    (" no longer ", &[""]),
    (" nicht ", &[" mehr", " sondern ", " langer"]),
    (" kein", &[" mehr", " sondern "]),
    (" no ", &[" sino ", " sino,"]),
    (" ya no ", &[""]),
    (" ne ", &[" plus ", " mais "]),
    (" n'", &[" plus ", " mais "]),
    (" pas ", &[" mais "]),
    (" non ", &[" ma ", " bensi ", " piu "]),
    (" nao ", &[" mas ", " mais "]),
    ("不", &["而是", "不再"]),
    ("不再", &[""]),
    ("では", &["なく"]),
    ("じゃ", &["なく"]),
];

/// Returns whether a folded sentence denies one thing and states another.
pub fn contrasts(folded: &str) -> bool {
    let text = format!(" {folded} ");
    CONTRASTS.iter().any(|(first, then)| {
        text.split_once(first).is_some_and(|(_, rest)| then.iter().any(|word| format!(" {rest}").contains(word)))
    })
}

/// Returns whether each of two sentences contains a name that the other does not contain. Such sentences may be about
/// two people or places.
pub fn names_differ(one: &str, other: &str) -> bool {
    let (one, other) = (names(one), names(other));
    one.difference(&other).next().is_some() && other.difference(&one).next().is_some()
}

/// Returns the capitalised words that are not function words, folded.
fn names(sentence: &str) -> BTreeSet<String> {
    let words =
        sentence.split_whitespace().map(inner).filter(|word| word.chars().next().is_some_and(char::is_uppercase));
    words.map(folded).filter(|word| !text::is_stop(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_replaced_is_named() {
        let named = |text: &str| replaced_words(text).into_iter().collect::<Vec<_>>();
        assert_eq!(named("Buy 5 pears instead of bananas."), ["bananas"]);
        assert_eq!(named("Transfer 300 euros to Jonas statt an Lea, bitte."), ["lea"]);
        assert_eq!(named("We take the blue one instead."), Vec::<String>::new());
    }

    #[test]
    fn two_people_are_told_apart() {
        assert!(names_differ("Peter gets room 14 instead.", "Anna gets room 12."));
        assert!(!names_differ("The budget is 650 euros now.", "The budget is 500 euros."));
        assert!(!names_differ("Das Budget beträgt jetzt 450 Euro.", "Das Budget beträgt 300 Euro."));
    }
}
