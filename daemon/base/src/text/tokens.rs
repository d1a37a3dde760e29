//! The analyser of the search index: which tokens a text has, and which tokens a query looks up.
//!
//! * A word is indexed by its stems (`language`), and the parts of a camel-case word (`RecyclerView`) and of a compound
//!   (`Wi-Fi`) also by themselves; a compound is also indexed with its parts joined.
//! * Characters of scripts without spaces, Hangul and emoji are indexed singly and in pairs. A query of one such
//!   character is found inside of any word; a longer one is looked up by its pairs.
//! * A chunk between spaces in which symbols matter is a name: `C++`, `C#`, `#12`, `x/y`, `3.5`. It is indexed as it is
//!   written, in addition to its words.
//!
//! Function words are indexed too. A query leaves out those of its own language, unless it has no other words. In
//! Chinese, they also separate the other words, so that no pair of characters spans two words.
//!
//! Invariant: each word of a text, looked up alone, is found, even if the language of the text is detected wrongly.

use super::language::{self, Language};
use super::{Class, camel_parts, class, compounds, cut, is_dense, is_joiner, lower, runs_by, strip_accents};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Maximum length of the part at the start of a text that is indexed, in characters.
const MAX_HEAD: usize = 24_000;
/// Maximum length of the part at the end of a longer text that is indexed, in characters.
const MAX_TAIL: usize = 8_000;
/// Maximum length of a name with symbols, in characters.
const MAX_NAME: usize = 40;
/// Maximum length of a token, in characters.
const MAX_TOKEN: usize = 64;

/// First of the private characters that replace ASCII symbols in tokens. The index itself would split tokens at them.
const SYMBOLS: u32 = 0xE000;

/// First character of the tokens that stand for a property of an entry. No text has it.
const PROPERTY: char = '\u{E100}';

/// Returns the token for a property of an entry, such as its type. `value` must be letters and digits.
pub fn property(name: char, value: &str) -> String {
    format!("{PROPERTY}{name}{value}")
}

/// Returns a token in the form in which the index keeps it.
pub fn stored(token: &str) -> String {
    let kept = token.chars().filter(|c| !c.is_whitespace()).take(MAX_TOKEN);
    let kept = kept.filter(|c| !('\u{E000}'..='\u{F8FF}').contains(c));
    let symbol = |c: char| if c.is_ascii() && !c.is_ascii_alphanumeric() { SYMBOLS + c as u32 } else { c as u32 };
    kept.filter_map(|c| char::from_u32(symbol(c))).collect()
}

/// A word, or what is looked up like one.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// A word in the spelling of the text.
    Word(String),
    /// A part of a word, or a compound with its parts joined.
    Part(String),
    /// A run of characters of a script without spaces.
    Dense(String),
    /// A name with symbols, folded.
    Name(String),
}

/// Returns the name with symbols that a chunk of text is; `None` if its symbols are punctuation.
fn name_of(chunk: &str) -> Option<String> {
    let opening = |c: char| !c.is_alphanumeric() && !is_dense(c) && !"#@.$+-/&~_".contains(c);
    let closing = |c: char| !c.is_alphanumeric() && !is_dense(c) && !"#+%$*".contains(c);
    let core =
        chunk.trim_start_matches(opening).trim_end_matches(closing).trim_start_matches(['-', '_', '/', '&', '~']);
    let core = if core.starts_with("..") { core.trim_start_matches('.') } else { core };
    let has_symbol = core.chars().any(|c| !c.is_alphanumeric() && !is_joiner(c) && !is_dense(c));
    let is_short = core.chars().count() <= MAX_NAME;
    let says = core.chars().any(char::is_alphanumeric) && !core.chars().any(is_dense);
    (has_symbol && is_short && says).then(|| strip_accents(&lower(core)))
}

/// Returns the class of a character. The marks that some scripts put on letters are parts of words.
fn class_with_marks(c: char) -> Class {
    if is_combining_mark(c) { Class::Word } else { class(c) }
}

/// Splits a text into what is indexed and looked up.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for chunk in text.split_whitespace() {
        let found = runs_by(&chunk.nfkc().collect::<String>(), class_with_marks);
        let owned = |word: &str| word.len() == 1 && chunk.contains(['\'', '\u{2019}']);
        for run in &found {
            match run.class {
                Class::Dense => pieces.push(Piece::Dense(run.text.clone())),
                // What follows the apostrophe of `Ann's` and `don't` is no word.
                _ if owned(&run.text) => {}
                _ => {
                    pieces.push(Piece::Word(run.text.clone()));
                    pieces.extend(camel_parts(&run.text).into_iter().map(Piece::Part));
                }
            }
        }
        let possessive = found.last().is_some_and(|run| run.text == "s" && owned("s"));
        if !possessive {
            pieces.extend(compounds(chunk).into_iter().map(Piece::Part));
        }
        pieces.extend(name_of(chunk).map(Piece::Name));
    }
    pieces
}

fn pairs(run: &str) -> Vec<String> {
    let chars: Vec<char> = lower(run).chars().collect();
    chars.windows(2).map(|pair| pair.iter().collect()).collect()
}

/// Returns the tokens under which a text is indexed, in the order of the text, separated by spaces.
pub fn of_text(text: &str) -> String {
    of_part(text, Language::of(cut::head(text, MAX_HEAD)))
}

/// Returns the tokens of a part of a text that is in a language.
pub fn of_part(text: &str, language: Option<Language>) -> String {
    let head = cut::head(text, MAX_HEAD);
    let tail = cut::tail(text.get(head.len()..).unwrap_or(""), MAX_TAIL);
    let mut tokens = String::with_capacity(text.len());
    let mut add = |token: &str| {
        if !tokens.is_empty() {
            tokens.push(' ');
        }
        tokens.push_str(&stored(token));
    };
    for piece in [head, tail].into_iter().flat_map(pieces) {
        match piece {
            Piece::Word(word) | Piece::Part(word) => {
                language::stems_of_text(&word, language).iter().for_each(|stem| add(stem));
            }
            Piece::Dense(run) => {
                lower(&run).chars().for_each(|c| add(c.encode_utf8(&mut [0; 4])));
                pairs(&run).iter().for_each(|pair| add(pair));
            }
            Piece::Name(name) => add(&name),
        }
    }
    tokens
}

/// Weight of a part of a word, or of a compound with its parts joined.
const PART: f64 = 0.5;

/// A word of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// The word as the caller wrote it, folded.
    pub text: String,
    /// Tokens, each of which stands for the word.
    pub tokens: Vec<String>,
    /// Influence of the word on the rank, from 0 to 1: parts of words count half.
    pub weight: f64,
}

impl Wanted {
    /// Returns whether a text with these tokens has the word.
    pub fn is_in(&self, tokens: &str) -> bool {
        tokens.split(' ').any(|token| self.tokens.iter().any(|wanted| wanted == token))
    }
}

/// Returns the words that a query looks up, each once, without the function words of its language.
pub fn of_query(query: &str) -> Vec<Wanted> {
    of_query_with_function_words(query).0
}

/// Returns the words that a query looks up, and the function words that it leaves out.
pub fn of_query_with_function_words(query: &str) -> (Vec<Wanted>, Vec<Wanted>) {
    let language = Language::of(query);
    let mut said: Vec<Wanted> = Vec::new();
    let mut function_words: Vec<Wanted> = Vec::new();
    for piece in pieces(query) {
        let is_part = matches!(piece, Piece::Part(_));
        let mut add = |text: &str, tokens: Vec<String>, weight: f64, is_stop: bool| {
            let wanted = if is_stop { &mut function_words } else { &mut said };
            let tokens: Vec<String> =
                tokens.iter().map(|token| stored(token)).filter(|token| !token.is_empty()).collect();
            if !tokens.is_empty() && !wanted.iter().any(|known| known.tokens[0] == tokens[0]) {
                wanted.push(Wanted { text: text.to_owned(), tokens, weight });
            }
        };
        match piece {
            Piece::Word(word) | Piece::Part(word) => {
                let is_stop = is_function_word(&word, language);
                let weight = if is_part && !is_stop { PART } else { 1.0 };
                add(&strip_accents(&lower(&word)), language::stems_of_query(&word, language), weight, is_stop);
            }
            Piece::Dense(run) => {
                let parts = language::without_function_words(&run);
                let is_stop = parts.is_empty();
                for part in if is_stop { vec![run.as_str()] } else { parts } {
                    let alone = part.chars().nth(1).is_none().then(|| lower(part));
                    for token in alone.into_iter().chain(pairs(part)) {
                        add(&token, vec![token.clone()], 1.0, is_stop);
                    }
                }
            }
            Piece::Name(name) => add(&name, vec![name.clone()], 1.0, false),
        }
    }
    if said.is_empty() { (function_words, Vec::new()) } else { (said, function_words) }
}

fn is_function_word(word: &str, language: Option<Language>) -> bool {
    let usual = word.chars().next().and_then(Language::of_script);
    language.or(usual).is_some_and(|language| language.is_stop(&lower(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether a text has a token for each word of a query.
    fn finds(query: &str, text: &str) -> bool {
        let tokens = of_text(text);
        let tokens: Vec<&str> = tokens.split(' ').collect();
        let wanted = of_query(query);
        !wanted.is_empty() && wanted.iter().all(|w| w.tokens.iter().any(|token| tokens.contains(&token.as_str())))
    }

    #[test]
    fn inflected_words_are_found() {
        for (query, text) in [
            ("camera", "She bought two cameras."),
            ("cameras", "The camera is broken"),
            ("running", "I run every morning with the dogs"),
            ("Passwort", "Die Passw\u{f6}rter sind nicht mehr im Schrank"),
            ("H\u{e4}user", "Das ist ein altes Haus und das ist gut so"),
            ("maisons", "Elle a une maison dans les Alpes avec son mari"),
            (
                "\u{43a}\u{43d}\u{438}\u{433}\u{438}",
                "\u{44f} \u{447}\u{438}\u{442}\u{430}\u{44e} \u{43a}\u{43d}\u{438}\u{433}\u{443}",
            ),
        ] {
            assert!(finds(query, text), "{query} in {text}: {:?} in {}", of_query(query), of_text(text));
        }
    }

    #[test]
    fn short_common_words_are_found() {
        for (query, text) in [
            ("son", "My son is five"),
            ("What was it in the war?", "the war ended"),
            ("use", "Use the new form"),
            ("the", "the"),
            ("to be or not to be", "to be, or not to be"),
        ] {
            assert!(finds(query, text), "{query} in {text}: {:?} in {}", of_query(query), of_text(text));
        }
        let words = of_query("What is the name of my dentist?");
        assert_eq!(words.iter().map(|w| w.text.as_str()).collect::<Vec<_>>(), ["name", "dentist"]);
    }

    #[test]
    fn single_characters_and_symbols_are_found() {
        for (query, text) in [
            ("\u{732b}", "\u{732b}\u{7cae}\u{5728}\u{7b2c}\u{4e8c}\u{4e2a}\u{62bd}\u{5c49}"),
            ("\u{62bd}\u{5c49}", "\u{732b}\u{7cae}\u{5728}\u{7b2c}\u{4e8c}\u{4e2a}\u{62bd}\u{5c49}"),
            ("\u{1f600}", "that was fun \u{1f600}"),
            ("C++", "She writes C++, mostly."),
            ("C#", "Port it from (C#)"),
            ("#12", "see #12."),
            ("x/y", "plot x/y"),
            (".NET", "a .NET service"),
            ("3.5", "version 3.5 of it"),
            ("wifi", "Turn Wi-Fi on"),
            ("Wi-Fi", "Turn WiFi on"),
            ("view", "RecyclerView crashed"),
            ("Melanie", "Melanie's kids"),
            (
                "\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}",
                "\u{92d}\u{93e}\u{937}\u{93e} \u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940} \u{939}\u{948}",
            ),
        ] {
            assert!(finds(query, text), "{query} in {text}: {:?} in {}", of_query(query), of_text(text));
        }
        assert!(!finds("C++", "vitamin C"), "C alone is not C++");
        assert!(!finds("C#", "C++"));
    }

    #[test]
    fn chinese_questions_are_looked_up_by_their_content() {
        let words = of_query("\u{5979}\u{7684}\u{72d7}\u{53eb}\u{4ec0}\u{4e48}\u{540d}\u{5b57}\u{ff1f}");
        let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        assert!(
            words.contains(&"\u{540d}\u{5b57}") && !words.iter().any(|word| word.contains('\u{4e48}')),
            "{words:?}"
        );
        assert_eq!(of_query("\u{4ec0}\u{4e48}")[0].text, "\u{4ec0}\u{4e48}");
    }

    #[test]
    fn punctuation_makes_no_names() {
        assert_eq!(of_text("(Hello), world... \"ok\"!"), "hello world ok");
        assert_eq!(of_query(" .,!?\"' ()"), []);
    }
}
