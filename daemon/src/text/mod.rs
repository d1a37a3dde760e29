//! Pure text work for searching: folding, cutting into tokens, and queries over them.
//!
//! Three kinds of tokens make every language and every part of an identifier findable by exact look-ups:
//! whole words (and the parts of a camel-case word), pairs of characters where a script has no spaces (Chinese,
//! Japanese, Thai ...), and trigrams of longer words. A trigram index alone does not find words of two characters, and
//! `LIKE` reads everything. What kind a token is, is told by a mark at its beginning and not by a column: a full-text index
//! keeps one list per token, and would have to read through the places in all columns to find those in one.

pub mod cut;

use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

/// Shortest word that has trigrams beside itself.
const GRAMMED: usize = 4;
/// Longest word that is cut into trigrams; what is longer is no word.
const LONGEST: usize = 256;
/// Stands between the trigrams of two words, so that no phrase reaches over both.
const GAP: &str = "\u{b7}";

/// The text in the form in which texts are compared: compatibility forms, accents and case gone.
pub fn fold(text: &str) -> String {
    lower(&normal(text))
}

/// In small letters, as caseless matching has them.
fn lower(text: &str) -> String {
    let lower = text.to_lowercase();
    if lower.is_ascii() { lower } else { lower.replace('\u{df}', "ss").replace('\u{3c2}', "\u{3c3}") }
}

/// Folded but for the case, which divides words.
fn normal(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    text.nfkd().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).nfc().collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Gap,
    Word,
    Dense,
}

/// Scripts without spaces between words, Hangul, whose words carry endings, and symbols such as emoji, which are words of their own.
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

/// A stretch of characters of one class.
struct Run {
    class: Class,
    text: String,
}

fn runs(text: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut last = Class::Gap;
    for c in normal(text).chars() {
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

/// The parts of a camel-case word, folded; none when it has only one.
fn camel_parts(word: &str) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    let mut parts: Vec<String> = Vec::new();
    let mut part = String::new();
    for (i, c) in chars.iter().enumerate() {
        let before = i.checked_sub(1).map(|b| chars[b]);
        let after = chars.get(i + 1);
        let begins = before.is_some_and(|b| {
            (c.is_uppercase() && (b.is_lowercase() || after.is_some_and(|a| a.is_lowercase()))) || (c.is_numeric() != b.is_numeric())
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

/// What joins words to one: `wi-fi` is `wifi`, and `recycler_view` is `recyclerview`.
fn joins(c: char) -> bool {
    matches!(c, '-' | '_' | '\'' | '\u{2010}' | '\u{2011}' | '\u{2019}')
}

/// A text without what joins words.
pub fn joined(folded: &str) -> String {
    folded.replace(joins, "")
}

/// The words that are written in several parts, as one.
fn compounds(text: &str) -> Vec<String> {
    let normal = normal(text);
    let words = normal.split(|c: char| class(c) != Class::Word && !joins(c));
    let parts = |word: &&str| word.split(joins).filter(|p| !p.is_empty()).count() > 1;
    words.filter(parts).map(|word| joined(&lower(word))).collect()
}

/// Pairs of neighbours, and the last character alone, so that each character begins a token.
fn pairs(run: &str) -> Vec<String> {
    let chars: Vec<char> = run.chars().collect();
    chars.windows(2).map(|w| w.iter().collect()).chain(chars.last().map(char::to_string)).collect()
}

fn trigrams(word: &str) -> Vec<String> {
    let chars: Vec<char> = word.chars().take(LONGEST).collect();
    chars.windows(3).map(|w| Mark::Gram.mark(&w.iter().collect::<String>())).collect()
}

/// The words of a text as tokens, in their order.
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

/// What a token is about, when it is not just a word of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Part of a longer word.
    Gram,
    /// A word of the topic.
    Topic,
    /// The app.
    App,
    /// The topic begins so.
    Below,
}

impl Mark {
    /// A token with its mark, which no word begins with.
    pub fn mark(self, token: &str) -> String {
        let mark = match self {
            Mark::Gram => '\u{b7}',
            Mark::Topic => '\u{a7}',
            Mark::App => '\u{a4}',
            Mark::Below => '\u{ab}',
        };
        format!("{mark}{token}")
    }
}

/// The trigrams of the longer words of a text, marked.
pub fn grams(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let words = runs(text).into_iter().filter(|r| r.class == Class::Word).map(|r| lower(&r.text));
    for word in words.chain(compounds(text)) {
        if word.chars().count() >= GRAMMED {
            tokens.push(GAP.to_owned());
            tokens.extend(trigrams(&word));
        }
    }
    tokens
}

/// A marked token that stands for a whole string, whatever is in it.
pub fn whole(mark: Mark, text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    mark.mark(&crate::hex::encode(&hash[..8]))
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    parts: Vec<Part>,
}

/// A stretch of letters of the query: all of them are to be found.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    /// Folded.
    text: String,
    /// Sequences of tokens, any of which it is as a whole word.
    words: Vec<Vec<String>>,
    /// Whether the last token of a sequence only begins so.
    begins: bool,
    /// Its trigrams; none when it has none.
    grams: Vec<String>,
}

fn phrase(tokens: &[String], begins: bool) -> String {
    format!("\"{}\"{}", tokens.join(" "), if begins { " *" } else { "" })
}

impl Part {
    fn of(run: &Run) -> Self {
        let text = lower(&run.text);
        if run.class == Class::Dense {
            let mut tokens = pairs(&text);
            let begins = tokens.len() == 1;
            if !begins {
                tokens.pop();
            }
            return Self { text, words: vec![tokens], begins, grams: Vec::new() };
        }
        let words = [vec![text.clone()], camel_parts(&run.text)].into_iter().filter(|w| !w.is_empty()).collect();
        Self { grams: trigrams(&text), text, words, begins: false }
    }

    /// The part as an expression of FTS5, marked or among the words of the whole text.
    fn expression(&self, mark: Option<Mark>) -> String {
        let marked = |tokens: &Vec<String>| match mark {
            Some(mark) => phrase(&tokens.iter().map(|t| mark.mark(t)).collect::<Vec<_>>(), self.begins),
            None => phrase(tokens, self.begins),
        };
        let mut options: Vec<String> = self.words.iter().map(marked).collect();
        if mark.is_none() && !self.grams.is_empty() {
            options.push(phrase(&self.grams, false));
        }
        format!("({})", options.join(" OR "))
    }
}

impl Query {
    /// Reads a query; `None` when it has no words at all. Every character is allowed, none has a meaning.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts: Vec<Part> = Vec::new();
        for part in runs(text).iter().map(Part::of) {
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        (!parts.is_empty()).then_some(Self { parts })
    }

    /// The folded stretches of the query.
    pub fn terms(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|p| p.text.as_str())
    }

    /// All of it, as an expression of FTS5.
    pub fn all(&self) -> String {
        self.each().join(" AND ")
    }

    /// All of it as whole words with this mark.
    pub fn all_in(&self, mark: Mark) -> String {
        self.parts.iter().map(|p| p.expression(Some(mark))).collect::<Vec<_>>().join(" AND ")
    }

    /// Each stretch by itself.
    pub fn each(&self) -> Vec<String> {
        self.parts.iter().map(|p| p.expression(None)).collect()
    }
}

/// Cuts out the part of a text where the terms are, with the terms in brackets; `None` when none is in it.
pub fn snippet(text: &str, terms: &[&str], around: usize) -> Option<String> {
    // Folding may change the number of characters: each folded one remembers where it comes from.
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
    fn words_of_every_kind_are_cut() {
        assert_eq!(words("Open Wi-Fi, RecyclerView v2"), ["open", "wi", "fi", "recyclerview", "recycler", "view", "v2", "v", "2", "wifi"]);
        assert_eq!(words("Stra\u{df}e GR\u{d6}SSE"), ["strasse", "grosse"]);
        assert_eq!(words("打开设置"), ["打开", "开设", "设置", "置"]);
        assert_eq!(words("設定ＡＢＣ"), ["設定", "定", "abc"]);
        assert_eq!(words("Café"), ["cafe"]);
        assert_eq!(grams("wifi ok sets"), ["·", "·wif", "·ifi", "·", "·set", "·ets"]);
    }

    #[test]
    fn nothing_in_a_query_is_syntax() {
        for text in ["\"", "a AND", "NEAR(x", "x*", "col:x", "(", "^a -b", "'; DROP TABLE notes;--", "{a}:b"] {
            let Some(query) = Query::parse(text) else { continue };
            let c = rusqlite::Connection::open_in_memory().expect("opens");
            c.execute_batch("CREATE VIRTUAL TABLE t USING fts5 (tokens, tokenize = 'ascii')").expect("creates");
            let n = c.query_row("SELECT count(*) AS count FROM t WHERE t MATCH :all", rusqlite::named_params! {":all": query.all()}, |r| {
                r.get::<_, i64>("count")
            });
            assert_eq!(n.unwrap_or_else(|e| panic!("{text}: {e}")), 0);
        }
        assert!(Query::parse(" .,!?\"' ").is_none());
    }

    #[test]
    fn snippets_show_the_match_as_it_was_written() {
        let text = format!("{}Tap the Café button, then go on {}", "x ".repeat(100), "y ".repeat(100));
        let snippet = snippet(&text, &["cafe"], 40).expect("there");
        assert!(snippet.contains("[Café] button") && snippet.starts_with('…') && snippet.ends_with('…'), "{snippet}");
        assert_eq!(super::snippet("nothing here", &["zebra"], 40), None);
    }
}
