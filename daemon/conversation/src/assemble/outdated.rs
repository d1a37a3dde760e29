//! Statements that a later statement by the user may have corrected. Such a statement is shown only together with the
//! later one.
//!
//! Certain replacements are recorded when a message is appended (see `supersede`). This module handles uncertain ones.

use std::collections::BTreeSet;

use afd_proto::conversation::Role;

use super::super::facts;
use super::super::kept::Fact;
use super::super::supersede::Subject;
use afd_base::text;

/// Minimum share of an older statement's words that a later one must contain to count as being about the same thing.
const SAME_SHARE: f64 = 0.34;
/// Minimum number of an older statement's words that a later one must contain to count as being about the same thing.
const SAME_WORDS: usize = 2;

/// Statements by the user that correct something.
pub struct Corrections(Vec<Correction>);

struct Correction {
    id: i64,
    position: i64,
    words: BTreeSet<String>,
}

impl Corrections {
    /// Selects the user's corrections from a list of statements.
    pub fn among(facts: &[Fact]) -> Self {
        let of_user = facts.iter().filter(|f| f.role == Role::User && facts::takes_back(&f.text));
        Self(of_user.map(|f| Correction { id: f.id, position: f.position, words: words(&f.text) }).collect())
    }

    /// Returns whether a later correction that is not shown may apply to a sentence from the message at `position`.
    pub fn outdate(&self, position: i64, sentence: &str, is_shown: impl Fn(i64, i64) -> bool) -> bool {
        let later = || self.0.iter().filter(|c| c.position > position && !is_shown(c.id, c.position));
        if later().next().is_none() {
            return false;
        }
        let own = words(sentence);
        later().any(|correction| {
            let shared = own.intersection(&correction.words).count();
            shared >= SAME_WORDS.min(own.len()) && shared as f64 >= own.len() as f64 * SAME_SHARE
        })
    }
}

/// Returns the stems of the subject words of a sentence. For scripts without spaces, returns character pairs
/// instead, except those that contain an inflection or a particle.
fn words(sentence: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for word in Subject::of(sentence).words {
        if !word.contains(text::is_dense) {
            found.insert(text::stem(&word));
            continue;
        }
        let inflects = |c: char| matches!(c, '\u{3040}'..='\u{309f}' | '的' | '了' | '是' | '在' | '我');
        let characters: Vec<char> = word.chars().collect();
        let pairs = characters.windows(2).filter(|pair| !pair.iter().any(|c| inflects(*c)));
        found.extend(pairs.map(|pair| pair.iter().collect::<String>()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Kind;

    fn fact(id: i64, text: &str) -> Fact {
        Fact {
            id,
            position: id,
            place: 0,
            role: Role::User,
            source: None,
            kind: Kind::Statement,
            text: text.into(),
            about: None,
            was: None,
            tokens: 9,
            score: 0.5,
            at: 0,
        }
    }

    #[test]
    fn old_value_is_outdated_unless_its_correction_is_shown() {
        let facts = [
            fact(1, "The meeting is on Tuesday at ten."),
            fact(5, "The meeting is not on Tuesday, it was moved to Friday."),
            fact(7, "Buy pears now."),
        ];
        let corrections = Corrections::among(&facts);
        let outdated = |shown: i64| corrections.outdate(1, &facts[0].text, |id, _| id == shown);
        assert!(outdated(7) && !outdated(5));
        assert!(!corrections.outdate(6, &facts[0].text, |_, _| false), "said again later");
    }
}
