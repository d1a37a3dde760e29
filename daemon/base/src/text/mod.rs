//! Pure functions for text search: folding, tokenizing, and queries over the tokens.
//!
//! Text of any language, and parts of identifiers, are found by exact matches of three kinds of tokens: whole words
//! (and the parts of a camel-case word), pairs of characters in scripts without spaces (Chinese, Japanese, Thai ...),
//! and trigrams of longer words. A trigram index alone does not find words of two characters, and `LIKE` scans the
//! whole table. A prefix character encodes the kind of a token. A column per kind would be slower: a full-text index
//! has one posting list per token, so a search in one column would have to scan the positions in all columns.

pub mod cut;
mod gist;
mod stop;

use std::collections::HashSet;

use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

pub use gist::gist;
pub use stop::is_stop;

/// Minimum length (characters) of a word for which trigrams are indexed in addition to the word itself.
const MIN_TRIGRAM_WORD: usize = 4;
/// Maximum length of the part of a word that is split into trigrams. The rest of a longer word is ignored.
const MAX_TRIGRAM_WORD: usize = 256;
/// Token that separates the trigrams of two words, so that a phrase cannot match across both words.
const TRIGRAM_SEPARATOR: &str = "\u{b7}";

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
    let mut runs: Vec<Run> = Vec::new();
    let mut last = Class::Gap;
    for c in strip_accents(text).chars() {
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

/// Minimum length of a word that is stemmed, and the number of characters that stemming removes from its end.
const STEM_FROM: usize = 6;
const STEM_END: usize = 2;

/// Returns a folded word without its last characters, which differ between inflected forms. Short words, words with
/// digits, and words in scripts without spaces are returned unchanged.
pub fn stem(word: &str) -> &str {
    let letters = word.chars().count();
    let is_plain = letters >= STEM_FROM && word.chars().all(char::is_alphabetic) && !word.contains(is_dense);
    match word.char_indices().nth(letters.saturating_sub(STEM_END)) {
        Some((end, _)) if is_plain => &word[..end],
        _ => word,
    }
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

fn trigrams(word: &str) -> Vec<String> {
    let chars: Vec<char> = word.chars().take(MAX_TRIGRAM_WORD).collect();
    chars.windows(3).map(|w| TokenKind::Gram.mark(&w.iter().collect::<String>())).collect()
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

/// The kind of a token other than a plain word of the text. It is encoded as a prefix character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A trigram of a longer word.
    Gram,
    /// A word of the topic.
    Topic,
    /// A hash that identifies the app.
    App,
    /// A hash of an ancestor path of the topic.
    TopicPath,
}

impl TokenKind {
    /// Prefixes a token with the kind's character, which cannot occur in a word.
    pub fn mark(self, token: &str) -> String {
        let mark = match self {
            TokenKind::Gram => '\u{b7}',
            TokenKind::Topic => '\u{a7}',
            TokenKind::App => '\u{a4}',
            TokenKind::TopicPath => '\u{ab}',
        };
        format!("{mark}{token}")
    }
}

/// Returns the prefixed trigrams of the longer words in `text`. A word that occurs repeatedly is used only once.
pub fn grams(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut seen = HashSet::new();
    let words = runs(text).into_iter().filter(|r| r.class == Class::Word).map(|r| lower(&r.text));
    for word in words.chain(compounds(text)) {
        if word.chars().count() >= MIN_TRIGRAM_WORD && seen.insert(word.clone()) {
            tokens.push(TRIGRAM_SEPARATOR.to_owned());
            tokens.extend(trigrams(&word));
        }
    }
    tokens
}

/// Returns a prefixed token that represents all of `text`. The token is a hash, so `text` may contain anything.
pub fn whole(kind: TokenKind, text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    kind.mark(&crate::hex::encode(&hash[..8]))
}

/// A parsed search query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    parts: Vec<Part>,
}

/// A part of a query: one run of characters. All parts of a query must match.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    /// The part's folded text.
    text: String,
    /// Alternative token phrases. The part matches as a whole word if any of them occurs.
    words: Vec<Vec<String>>,
    /// Whether the last token of a phrase is matched as a prefix.
    prefix: bool,
    /// The part's trigrams; empty if it has none.
    grams: Vec<String>,
}

/// Returns tokens as an FTS5 phrase. If `prefix` is set, the last token is matched as a prefix.
fn phrase(tokens: &[String], prefix: bool) -> String {
    format!("\"{}\"{}", tokens.join(" "), if prefix { " *" } else { "" })
}

impl Part {
    fn of(run: &Run) -> Self {
        let text = lower(&run.text);
        if run.class == Class::Dense {
            let mut tokens = pairs(&text);
            let prefix = tokens.len() == 1;
            if !prefix {
                tokens.pop();
            }
            return Self { text, words: vec![tokens], prefix, grams: Vec::new() };
        }
        let words = [vec![text.clone()], camel_parts(&run.text)].into_iter().filter(|w| !w.is_empty()).collect();
        Self { grams: trigrams(&text), text, words, prefix: false }
    }

    /// Returns a compound word such as `Wi-Fi` as one part, which matches both its words in sequence and the joined
    /// word. Returns `None` for other words.
    fn of_compound(word: &str) -> Option<Self> {
        let found = runs(word);
        let joined = compounds(word).pop().filter(|_| found.iter().all(|r| r.class == Class::Word))?;
        let in_a_row = found.iter().map(|r| lower(&r.text)).collect();
        Some(Self {
            text: fold(word),
            words: vec![in_a_row, vec![joined.clone()]],
            prefix: false,
            grams: trigrams(&joined),
        })
    }

    /// Returns the part as an FTS5 expression over tokens of one kind or, without a kind, over the plain words and
    /// trigrams of the text.
    fn expression(&self, kind: Option<TokenKind>) -> String {
        let marked = |tokens: &Vec<String>| match kind {
            Some(kind) => phrase(&tokens.iter().map(|t| kind.mark(t)).collect::<Vec<_>>(), self.prefix),
            None => phrase(tokens, self.prefix),
        };
        let mut options: Vec<String> = self.words.iter().map(marked).collect();
        if kind.is_none() && !self.grams.is_empty() {
            options.push(phrase(&self.grams, false));
        }
        format!("({})", options.join(" OR "))
    }
}

impl Query {
    /// Parses a query. Any character is allowed, because there is no query syntax. Returns `None` if the text contains
    /// no words.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts: Vec<Part> = Vec::new();
        for word in text.split(|c: char| class(c) == Class::Gap && !is_joiner(c)) {
            let found = match Part::of_compound(word) {
                Some(compound) => vec![compound],
                None => runs(word).iter().map(Part::of).collect(),
            };
            for part in found {
                if !parts.contains(&part) {
                    parts.push(part);
                }
            }
        }
        (!parts.is_empty()).then_some(Self { parts })
    }

    /// Returns each part's folded text.
    pub fn terms(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|p| p.text.as_str())
    }

    /// Returns the FTS5 expression that requires all parts to match.
    pub fn all(&self) -> String {
        self.each().join(" AND ")
    }

    /// Returns the FTS5 expression that requires all parts to match as whole words of this token kind.
    pub fn all_of_kind(&self, kind: TokenKind) -> String {
        self.parts.iter().map(|p| p.expression(Some(kind))).collect::<Vec<_>>().join(" AND ")
    }

    /// Returns an FTS5 expression for each part.
    pub fn each(&self) -> Vec<String> {
        self.parts.iter().map(|p| p.expression(None)).collect()
    }
}

/// Returns an excerpt of about `around` characters of `text` near the first match, with matches in brackets; `None` if
/// no term occurs in `text`.
pub fn snippet(text: &str, terms: &[&str], around: usize) -> Option<String> {
    // Folding may change the number of characters, so keep the original index of each folded character.
    let mut folded: Vec<char> = Vec::new();
    let mut origin: Vec<usize> = Vec::new();
    let chars: Vec<char> = text.chars().collect();
    for (i, c) in chars.iter().enumerate() {
        for f in fold(&c.to_string()).chars() {
            folded.push(f);
            origin.push(i);
        }
    }
    let mut hits: Vec<(usize, usize)> = Vec::new();
    for term in terms {
        let term: Vec<char> = term.chars().collect();
        let found = folded.windows(term.len().max(1)).enumerate().filter(|(_, w)| *w == term.as_slice());
        hits.extend(found.map(|(i, _)| (origin[i], origin[i + term.len() - 1] + 1)));
    }
    // A term may be a stem, so extend each match to the end of the word.
    for (_, to) in &mut hits {
        while *to < chars.len() && chars[*to].is_alphabetic() && !is_dense(chars[*to]) {
            *to += 1;
        }
    }
    hits.sort_unstable();
    let first = hits.first()?.0;
    let (begin, end) = (first.saturating_sub(around / 2), (first + around).min(chars.len()));
    let mut out = String::new();
    if begin > 0 {
        out.push('\u{2026}');
    }
    let mut at = begin;
    for (from, to) in hits.into_iter().filter(|(_, to)| *to <= end) {
        if from < at {
            continue;
        }
        out.extend(&chars[at..from]);
        out.push('[');
        out.extend(&chars[from..to]);
        out.push(']');
        at = to;
    }
    out.extend(&chars[at..end]);
    if end < chars.len() {
        out.push('\u{2026}');
    }
    Some(out.replace(['\n', '\t'], " "))
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
        assert_eq!(grams("wifi ok sets"), ["·", "·wif", "·ifi", "·", "·set", "·ets"]);
    }

    #[test]
    fn queries_have_no_syntax() {
        for text in ["\"", "a AND", "NEAR(x", "x*", "col:x", "(", "^a -b", "'; DROP TABLE notes;--", "{a}:b"] {
            let Some(query) = Query::parse(text) else { continue };
            let c = rusqlite::Connection::open_in_memory().expect("opens");
            c.execute_batch("CREATE VIRTUAL TABLE t USING fts5 (tokens, tokenize = 'ascii')").expect("creates");
            let n = c.query_row(
                "SELECT count(*) AS count FROM t WHERE t MATCH :all",
                rusqlite::named_params! {":all": query.all()},
                |r| r.get::<_, i64>("count"),
            );
            assert_eq!(n.unwrap_or_else(|e| panic!("{text}: {e}")), 0);
        }
        assert!(Query::parse(" .,!?\"' ").is_none());
    }

    #[test]
    fn snippet_shows_the_match_in_its_original_spelling() {
        let text = format!("{}Tap the Café button, then go on {}", "x ".repeat(100), "y ".repeat(100));
        let snippet = snippet(&text, &["cafe"], 40).expect("a match");
        assert!(snippet.contains("[Café] button") && snippet.starts_with('…') && snippet.ends_with('…'), "{snippet}");
        assert_eq!(super::snippet("nothing here", &["zebra"], 40), None);
    }
}
