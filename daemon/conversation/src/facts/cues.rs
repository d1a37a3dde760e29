//! Cue words, which indicate the purpose of a sentence. The file `cues.txt` lists them for several languages.
//!
//! A cue word in a script without spaces matches anywhere in a sentence. Other cue words match as whole words, or as
//! phrases if they contain a space.

use std::collections::HashMap;
use std::sync::LazyLock;

use afd_base::text::is_dense;

/// Purpose of a sentence. Each purpose has a list of cue words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cue {
    /// Standing instruction; typical cue words: always, never, only, must.
    Rule,
    /// Decision; typical cue words: we take, decided, let us, final.
    Decision,
    /// Correction of an earlier statement; typical cue words: no, instead, changed, wrong.
    Correction,
    /// Preference, such as a like, a dislike, a diet or a need.
    Preference,
    /// Name or value of a thing; typical cue words: called, number, address, deadline, password.
    Naming,
    /// Quantity or date in words: days, months and numbers.
    Quantity,
    /// Result of an investigation; typical cue words: found, cause, fails, because.
    Finding,
    /// Return from a digression; typical cue words: anyway, so, in short.
    Conclusion,
    /// Story; typical cue words: years ago, my uncle.
    Anecdote,
    /// Small talk; typical cue words: thanks, sorry, haha.
    SmallTalk,
    /// Announcement of the next step; typical cue words: now I will, let me, one moment.
    Process,
    /// Request for the next step; typical cue words: please open, show me.
    Request,
}

impl Cue {
    /// Returns the name of the cue's word list in `cues.txt`.
    const fn name(self) -> &'static str {
        match self {
            Cue::Rule => "rule",
            Cue::Decision => "decision",
            Cue::Correction => "correction",
            Cue::Preference => "preference",
            Cue::Naming => "naming",
            Cue::Quantity => "quantity",
            Cue::Finding => "finding",
            Cue::Conclusion => "conclusion",
            Cue::Anecdote => "anecdote",
            Cue::SmallTalk => "small talk",
            Cue::Process => "process",
            Cue::Request => "request",
        }
    }

    /// All purposes, one for each list.
    const ALL: [Cue; 12] = [
        Cue::Rule,
        Cue::Decision,
        Cue::Correction,
        Cue::Preference,
        Cue::Naming,
        Cue::Quantity,
        Cue::Finding,
        Cue::Conclusion,
        Cue::Anecdote,
        Cue::SmallTalk,
        Cue::Process,
        Cue::Request,
    ];
}

/// The cue words, indexed for fast matching.
struct Lists {
    /// Words and phrases, keyed by their first word.
    by_word: HashMap<&'static str, Vec<(&'static str, Cue)>>,
    /// Words in scripts without spaces.
    dense: Vec<(&'static str, Cue)>,
}

const FILE: &str = include_str!("cues.txt");

static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    let mut lists = Lists { by_word: HashMap::new(), dense: Vec::new() };
    let mut cue = None;
    for line in FILE.lines().filter(|line| !line.starts_with(';')) {
        if let Some(name) = line.strip_prefix('[') {
            cue = Cue::ALL.into_iter().find(|cue| name.strip_suffix(']') == Some(cue.name()));
            continue;
        }
        let Some(cue) = cue else { continue };
        for text in line.split(", ").filter(|text| !text.is_empty()) {
            if text.contains(is_dense) {
                lists.dense.push((text, cue));
            } else {
                let first = text.split(' ').next().unwrap_or(text);
                lists.by_word.entry(first).or_default().push((text, cue));
            }
        }
    }
    lists
});

/// Cue words that occur in a sentence.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cues {
    counts: [u8; Cue::ALL.len()],
    /// For each list, whether the sentence starts with one of its words.
    starts: [bool; Cue::ALL.len()],
}

impl Cues {
    /// Finds the cue words in a folded sentence.
    pub fn of(folded: &str) -> Self {
        let mut found = Self::default();
        let mut seen: Vec<(&str, Cue)> = Vec::new();
        let bare = |word: &str| -> String { word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned() };
        let words: Vec<String> = folded.split_whitespace().map(bare).collect();
        let mut add = |text: &'static str, cue: Cue, first: bool| {
            if !seen.contains(&(text, cue)) {
                seen.push((text, cue));
                found.counts[cue as usize] = found.counts[cue as usize].saturating_add(1);
            }
            found.starts[cue as usize] |= first;
        };
        for (i, word) in words.iter().enumerate() {
            for (text, cue) in LISTS.by_word.get(word.as_str()).into_iter().flatten() {
                if text.split(' ').enumerate().all(|(n, part)| words.get(i + n).is_some_and(|w| w == part)) {
                    add(text, *cue, i == 0);
                }
            }
        }
        if folded.contains(is_dense) {
            for (text, cue) in LISTS.dense.iter().filter(|(text, _)| folded.contains(text)) {
                add(text, *cue, folded.starts_with(text));
            }
        }
        found
    }

    /// Returns the number of distinct words from a cue's list that occur in the sentence.
    pub fn count(&self, cue: Cue) -> usize {
        usize::from(self.counts[cue as usize])
    }

    /// Returns whether any word from a cue's list occurs in the sentence.
    pub fn has(&self, cue: Cue) -> bool {
        self.count(cue) > 0
    }

    /// Returns whether the sentence starts with a word from a cue's list.
    pub fn starts(&self, cue: Cue) -> bool {
        self.starts[cue as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_has_a_list_for_each_cue_and_no_other() {
        let names: Vec<&str> = FILE.lines().filter_map(|line| line.strip_prefix('[')?.strip_suffix(']')).collect();
        assert_eq!(names, Cue::ALL.map(Cue::name));
        let found = LISTS.by_word.values().flatten().chain(&LISTS.dense).collect::<Vec<_>>();
        for cue in Cue::ALL {
            assert!(found.iter().filter(|(_, of)| *of == cue).count() > 20, "{cue:?}");
        }
        for (text, cue) in found {
            assert_eq!((afd_base::text::fold(text), text.trim()), ((*text).to_owned(), *text), "{cue:?}");
        }
    }
}
