//! The language of a text, and what depends on it: the stems of words and the stop words.
//!
//! The function words of a text show its language. If they show none or several, letter frequencies (`whatlang`) decide.
//! The language of a short text often stays unknown. So a word is always stemmed by the usual language of its script (Latin: English),
//! in texts and in queries alike, and also by the language of its text if that is known and another one.

use std::collections::HashMap;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

/// A language with a stemmer and a list of stop words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// English.
    English,
    /// German.
    German,
    /// French.
    French,
    /// Spanish.
    Spanish,
    /// Italian.
    Italian,
    /// Portuguese.
    Portuguese,
    /// Dutch.
    Dutch,
    /// Swedish.
    Swedish,
    /// Danish.
    Danish,
    /// Norwegian.
    Norwegian,
    /// Finnish.
    Finnish,
    /// Hungarian.
    Hungarian,
    /// Romanian.
    Romanian,
    /// Turkish.
    Turkish,
    /// Russian, also used for other languages in Cyrillic letters.
    Russian,
    /// Greek.
    Greek,
    /// Arabic.
    Arabic,
}

use Language as L;

/// Each language: the code of its stop words, its name in `whatlang`, and its stemmer.
const LANGUAGES: [(Language, &str, whatlang::Lang, Algorithm); 17] = [
    (L::English, "en", whatlang::Lang::Eng, Algorithm::English),
    (L::German, "de", whatlang::Lang::Deu, Algorithm::German),
    (L::French, "fr", whatlang::Lang::Fra, Algorithm::French),
    (L::Spanish, "es", whatlang::Lang::Spa, Algorithm::Spanish),
    (L::Italian, "it", whatlang::Lang::Ita, Algorithm::Italian),
    (L::Portuguese, "pt", whatlang::Lang::Por, Algorithm::Portuguese),
    (L::Dutch, "nl", whatlang::Lang::Nld, Algorithm::Dutch),
    (L::Swedish, "sv", whatlang::Lang::Swe, Algorithm::Swedish),
    (L::Danish, "da", whatlang::Lang::Dan, Algorithm::Danish),
    (L::Norwegian, "no", whatlang::Lang::Nob, Algorithm::Norwegian),
    (L::Finnish, "fi", whatlang::Lang::Fin, Algorithm::Finnish),
    (L::Hungarian, "hu", whatlang::Lang::Hun, Algorithm::Hungarian),
    (L::Romanian, "ro", whatlang::Lang::Ron, Algorithm::Romanian),
    (L::Turkish, "tr", whatlang::Lang::Tur, Algorithm::Turkish),
    (L::Russian, "ru", whatlang::Lang::Rus, Algorithm::Russian),
    (L::Greek, "el", whatlang::Lang::Ell, Algorithm::Greek),
    (L::Arabic, "ar", whatlang::Lang::Ara, Algorithm::Arabic),
];

/// Languages by whose rules a word of a query is also stemmed if the language of the query is not known.
const COMMON: [Language; 6] = [L::German, L::French, L::Spanish, L::Italian, L::Portuguese, L::Dutch];

/// Number of words of a text that are examined to detect its language.
const SAMPLE: usize = 200;
/// Minimum number of function words that decide the language of a text.
const MIN_FUNCTION_WORDS: usize = 2;

static STEMMERS: LazyLock<Vec<Stemmer>> =
    LazyLock::new(|| LANGUAGES.iter().map(|(_, _, _, algorithm)| Stemmer::create(*algorithm)).collect());

/// Stop words with the languages that they belong to, one bit for each.
static STOP_WORDS: LazyLock<HashMap<String, u32>> = LazyLock::new(|| {
    let mut words: HashMap<String, u32> = HashMap::new();
    for (language, code, _, _) in LANGUAGES {
        let listed = stop_words::lookup(code).unwrap_or_default().iter();
        // A word may be typed without its accents.
        let listed = listed.flat_map(|word| [(*word).to_owned(), super::fold(word)]);
        for word in listed.flat_map(|word| [super::joined(&word), word]) {
            *words.entry(word).or_default() |= language.bit();
        }
    }
    words
});

/// Chinese function words, by their first characters.
static CHINESE: LazyLock<HashMap<char, Vec<&'static str>>> = LazyLock::new(|| {
    let mut words: HashMap<char, Vec<&str>> = HashMap::new();
    for word in stop_words::lookup("zh").unwrap_or_default() {
        if let Some(first) = word.chars().next().filter(|c| super::is_dense(*c)) {
            words.entry(first).or_default().push(word);
        }
    }
    words.values_mut().for_each(|words| words.sort_by_key(|word| std::cmp::Reverse(word.len())));
    words
});

/// Splits a run of Chinese characters at its function words, and returns the parts between them. A run with characters
/// of other scripts is returned whole.
pub(super) fn without_function_words(run: &str) -> Vec<&str> {
    let is_chinese =
        |c: char| matches!(c as u32, 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF);
    if !run.chars().all(is_chinese) {
        return vec![run];
    }
    let (mut parts, mut begin, mut at) = (Vec::new(), 0, 0);
    while let Some(first) = run[at..].chars().next() {
        let longest = CHINESE.get(&first).and_then(|words| words.iter().find(|word| run[at..].starts_with(**word)));
        match longest {
            Some(word) => {
                parts.push(&run[begin..at]);
                at += word.len();
                begin = at;
            }
            None => at += first.len_utf8(),
        }
    }
    parts.push(&run[begin..]);
    parts.retain(|part| !part.is_empty());
    parts
}

impl Language {
    fn bit(self) -> u32 {
        1 << self as u32
    }

    /// Returns whether a word, in lower case, is a function word of the language.
    pub fn is_stop(self, word: &str) -> bool {
        STOP_WORDS.get(word).is_some_and(|languages| languages & self.bit() != 0)
    }

    /// Returns the stem of a word in lower case, without accents.
    pub fn stem(self, word: &str) -> String {
        let stem = STEMMERS[self as usize].stem(word);
        super::strip_accents(&stem)
    }

    /// Returns the language by whose rules words in a letter's script are stemmed in every text; `None` if the script
    /// has no stemmer.
    pub fn of_script(letter: char) -> Option<Self> {
        match letter as u32 {
            0x41..=0x5A | 0x61..=0x7A | 0xC0..=0x24F | 0x1E00..=0x1EFF => Some(L::English),
            0x370..=0x3FF | 0x1F00..=0x1FFF => Some(L::Greek),
            0x400..=0x52F => Some(L::Russian),
            0x600..=0x6FF | 0x750..=0x77F => Some(L::Arabic),
            _ => None,
        }
    }

    /// Detects the language of a text. Returns `None` if the text does not show it.
    pub fn of(text: &str) -> Option<Self> {
        let mut counts = [0_usize; LANGUAGES.len()];
        let mut latin = 0;
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '\u{2019}');
        for word in words.filter(|word| !word.is_empty()).take(SAMPLE) {
            latin += usize::from(word.starts_with(|c| Self::of_script(c) == Some(L::English)));
            let word = super::lower(word);
            let Some(languages) = STOP_WORDS.get(&word) else { continue };
            for (count, (language, ..)) in counts.iter_mut().zip(LANGUAGES) {
                *count += usize::from(languages & language.bit() != 0);
            }
        }
        if latin == 0 {
            return text.chars().find(|c| c.is_alphabetic()).and_then(Self::of_script);
        }
        let most = counts.iter().copied().max().unwrap_or(0);
        if most < MIN_FUNCTION_WORDS {
            return by_letters(text, LANGUAGES.iter()).filter(|(_, is_sure)| *is_sure).map(|(language, _)| language);
        }
        let best: Vec<_> = LANGUAGES.iter().zip(counts).filter(|(_, count)| *count == most).map(|(l, _)| l).collect();
        match best.as_slice() {
            [only] => Some(only.0),
            _ => by_letters(text, best.into_iter()).map(|(language, _)| language),
        }
    }
}

/// Returns the one of the languages that the frequencies of a text's letters fit best, and whether the fit is reliable.
fn by_letters<'a>(
    text: &str,
    languages: impl Iterator<Item = &'a (Language, &'static str, whatlang::Lang, Algorithm)>,
) -> Option<(Language, bool)> {
    let detected = whatlang::Detector::with_allowlist(languages.map(|(_, _, lang, _)| *lang).collect()).detect(text)?;
    let known = LANGUAGES.iter().find(|(_, _, lang, _)| *lang == detected.lang());
    known.map(|(language, ..)| (*language, detected.is_reliable()))
}

/// Returns the stems under which a word of a text is indexed. `language` is the language of the text.
pub(super) fn stems_of_text(word: &str, language: Option<Language>) -> Vec<String> {
    stems(word, language.into_iter())
}

/// Returns the stems under which a word of a query is looked up. `language` is the language of the query.
pub(super) fn stems_of_query(word: &str, language: Option<Language>) -> Vec<String> {
    let common = COMMON.iter().filter(|_| language.is_none()).copied();
    stems(word, language.into_iter().chain(common))
}

/// Returns the stem of a word by the rules of the usual language of its script.
pub fn stem(word: &str) -> String {
    stems(word, std::iter::empty()).swap_remove(0)
}

fn stems(word: &str, languages: impl Iterator<Item = Language>) -> Vec<String> {
    let lower: String = super::lower(&word.nfkc().collect::<String>());
    let Some(usual) = lower.chars().next().and_then(Language::of_script) else {
        return vec![super::strip_accents(&lower)];
    };
    let of_script = |language: &Language| usual != L::English || *language <= L::Turkish;
    let mut stems = vec![usual.stem(&lower)];
    for stem in languages.filter(of_script).map(|language| language.stem(&lower)) {
        if !stems.contains(&stem) {
            stems.push(stem);
        }
    }
    stems
}

/// Returns whether a folded word is a function word in English, German, Spanish or French.
pub fn is_stop(word: &str) -> bool {
    const ANY: [Language; 4] = [L::English, L::German, L::Spanish, L::French];
    ANY.iter().any(|language| language.is_stop(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_of_a_text_is_detected() {
        for (text, language) in [
            ("What is the name of my dentist?", Some(L::English)),
            ("Wie hei\u{df}t der Zahnarzt, zu dem ich gehe?", Some(L::German)),
            ("\u{bf}C\u{f3}mo se llama el dentista de mi hija?", Some(L::Spanish)),
            ("Comment s'appelle le dentiste de ma fille ?", Some(L::French)),
            (
                "\u{41a}\u{430}\u{43a} \u{437}\u{43e}\u{432}\u{443}\u{442} \u{432}\u{440}\u{430}\u{447}\u{430}",
                Some(L::Russian),
            ),
            ("cameras", None),
            ("com.shop.checkout", None),
            ("12 34", None),
        ] {
            assert_eq!(Language::of(text), language, "{text}");
        }
    }

    #[test]
    fn a_stop_word_of_one_language_is_a_word_in_another() {
        assert!(L::German.is_stop("war") && !L::English.is_stop("war"));
        assert!(L::French.is_stop("son") && !L::English.is_stop("son"));
        for word in ["use", "new", "go", "make"] {
            assert!(!L::English.is_stop(word), "{word}");
        }
    }

    #[test]
    fn a_word_has_the_same_stem_in_every_text() {
        assert_eq!(stems_of_text("cameras", Some(L::English)), ["camera"]);
        assert!(stems_of_query("cameras", None).contains(&"camera".to_owned()));
        assert_eq!(stems_of_text("H\u{e4}user", Some(L::German))[1], "haus");
        assert_eq!(stems_of_text("Caf\u{e9}", None), ["cafe"]);
        assert_eq!(stems_of_text("\u{642}\u{637}", Some(L::English)).len(), 1);
    }
}
