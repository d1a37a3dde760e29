//! Token counting. A tokenizer's tables use several megabytes of memory, so they are loaded on first use and dropped
//! after an idle period.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use tiktoken_rs::tokenizer::{Tokenizer, get_tokenizer};

use super::pairs::Pairs;
use crate::platform::trim_heap;

/// Tokenizer name that is reported for models without a known tokenizer.
pub const ESTIMATE: &str = "estimate";

/// Maximum size of the input that is passed to a tokenizer at once, in bytes. The tokenizer's patterns fail on very
/// long runs without a word boundary.
const MAX_CHUNK: usize = 32 << 10;

/// Minimum length of a line whose token count is cached, in bytes. For shorter lines, counting is as fast as a lookup.
const MIN_REMEMBERED: usize = 24;
/// Maximum number of cached token counts. Each takes 16 bytes.
const MAX_REMEMBERED: usize = 1 << 16;

/// The loaded tokenizers.
#[derive(Default)]
pub struct Tokenizers {
    loaded: Mutex<HashMap<Tokenizer, Loaded>>,
    /// Whether a background task has claimed the responsibility for dropping idle tables.
    has_sweeper: AtomicBool,
}

struct Loaded {
    tables: Arc<Tables>,
    used: Instant,
}

/// A tokenizer's tables, and a cache of the token counts of lines. The cache helps because most lines of a context also
/// occurred in the previous context.
struct Tables {
    pairs: Pairs,
    /// Whether whitespace before a line break can be a token of its own, as in the older encodings.
    keeps_blank: bool,
    hasher: RandomState,
    known: Mutex<HashMap<u64, u32>>,
}

impl Tables {
    fn new(pairs: Pairs, tokenizer: Tokenizer) -> Self {
        let keeps_blank = matches!(tokenizer, Tokenizer::P50kBase | Tokenizer::P50kEdit | Tokenizer::R50kBase);
        Self { pairs, keeps_blank, hasher: RandomState::new(), known: Mutex::default() }
    }

    /// Counts the tokens in a line, including its line break.
    fn count(&self, line: &str) -> usize {
        let encoded = || chunks(line).map(|chunk| self.pairs.count(chunk)).sum();
        if line.len() < MIN_REMEMBERED {
            return encoded();
        }
        let key = self.hasher.hash_one(line);
        if let Some(count) = self.known.lock().get(&key) {
            return *count as usize;
        }
        let count = encoded();
        let mut known = self.known.lock();
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        known.insert(key, u32::try_from(count).unwrap_or(u32::MAX));
        count
    }
}

/// A token counter for a model. The tokenizer's tables stay loaded while the counter exists.
#[derive(Clone)]
pub struct Counter {
    name: &'static str,
    tables: Option<Arc<Tables>>,
}

/// The supported encodings by name.
const ENCODINGS: &[(&str, Tokenizer)] = &[
    ("o200k_harmony", Tokenizer::O200kHarmony),
    ("o200k_base", Tokenizer::O200kBase),
    ("cl100k_base", Tokenizer::Cl100kBase),
    ("p50k_base", Tokenizer::P50kBase),
    ("p50k_edit", Tokenizer::P50kEdit),
    ("r50k_base", Tokenizer::R50kBase),
];

/// Returns the tokenizer for the name of a tokenizer or a model.
fn tokenizer_of(model: &str) -> Option<Tokenizer> {
    let named = ENCODINGS.iter().find(|(name, _)| *name == model).map(|(_, tokenizer)| *tokenizer);
    named.or_else(|| get_tokenizer(model)).map(|t| if t == Tokenizer::Gpt2 { Tokenizer::R50kBase } else { t })
}

fn name_of(tokenizer: Tokenizer) -> &'static str {
    ENCODINGS.iter().find(|(_, t)| *t == tokenizer).map_or(ESTIMATE, |(name, _)| name)
}

fn load(tokenizer: Tokenizer) -> Option<Pairs> {
    let loaded =
        Pairs::load(tokenizer).inspect_err(|error| tracing::error!(%error, "cannot load the tokenizer tables"));
    // Return the library's temporary allocations to the operating system.
    trim_heap();
    loaded.ok()
}

impl Tokenizers {
    /// Claims the task of dropping idle tables. Returns false if it is already claimed.
    pub fn claim_sweeper(&self) -> bool {
        !self.has_sweeper.swap(true, Ordering::SeqCst)
    }

    /// Releases the task of dropping idle tables.
    pub fn release_sweeper(&self) {
        self.has_sweeper.store(false, Ordering::SeqCst);
    }

    fn loaded(&self) -> MutexGuard<'_, HashMap<Tokenizer, Loaded>> {
        self.loaded.lock()
    }

    /// Returns a counter for the name of a model or a tokenizer. The counter only estimates token counts if the
    /// tokenizer is unknown or its tables cannot be loaded. This function blocks: loading the tables takes a fraction
    /// of a second.
    pub fn counter(&self, model: &str) -> Counter {
        let Some(tokenizer) = tokenizer_of(model) else { return Counter::estimate() };
        let mut all = self.loaded();
        if let Some(loaded) = all.get_mut(&tokenizer) {
            loaded.used = Instant::now();
            return Counter { name: name_of(tokenizer), tables: Some(loaded.tables.clone()) };
        }
        let Some(tables) = load(tokenizer).map(|pairs| Arc::new(Tables::new(pairs, tokenizer))) else {
            return Counter::estimate();
        };
        all.insert(tokenizer, Loaded { tables: tables.clone(), used: Instant::now() });
        Counter { name: name_of(tokenizer), tables: Some(tables) }
    }

    /// Returns the name of the tokenizer for a model, or `estimate` if the tokenizer is unknown.
    pub fn name(model: &str) -> &'static str {
        tokenizer_of(model).map_or(ESTIMATE, name_of)
    }

    /// Drops tables that are not in use and were last requested at least `idle` ago. Returns whether any tables were
    /// dropped, and the time until the next check, which is `None` if no tables are left.
    pub fn sweep(&self, idle: Duration) -> (bool, Option<Duration>) {
        let mut all = self.loaded();
        let before = all.len();
        all.retain(|_, loaded| Arc::strong_count(&loaded.tables) > 1 || loaded.used.elapsed() < idle);
        let dropped = all.len() < before;
        let next = all.values().map(|l| idle.saturating_sub(l.used.elapsed())).min();
        (dropped, next.map(|wait| wait.max(Duration::from_millis(10))))
    }
}

impl Counter {
    /// Returns a counter that only estimates token counts, without a tokenizer's tables.
    pub fn estimate() -> Self {
        Self { name: ESTIMATE, tables: None }
    }

    /// Returns the tokenizer's name, or `estimate` if there is no tokenizer.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Counts the tokens in `text`.
    pub fn count(&self, text: &str) -> i64 {
        let count = match &self.tables {
            Some(tables) => lines(text, tables.keeps_blank).map(|line| tables.count(line)).sum(),
            None => estimate_tokens(text),
        };
        i64::try_from(count).unwrap_or(i64::MAX)
    }
}

/// Splits text after those line breaks that no token spans: the next character must be neither whitespace nor a slash.
/// With `keeps_blank`, the character before the line break must not be whitespace either.
fn lines(text: &str, keeps_blank: bool) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let joins = |after: &str| after.starts_with(|c: char| c.is_whitespace() || c == '/');
        let blank = |before: &str| keeps_blank && before.ends_with(char::is_whitespace);
        let split = rest
            .match_indices('\n')
            .find(|(at, _)| !joins(&rest[at + 1..]) && !blank(&rest[..*at]))
            .map(|(at, _)| at + 1);
        let (line, more) = rest.split_at(split.unwrap_or(rest.len()));
        rest = more;
        Some(line)
    })
}

/// Splits long text at places that no token spans: before a space that follows an ASCII character other than
/// whitespace. Where there is no such place, splits between any two characters, which may increase the count by one
/// token.
fn chunks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if rest.len() <= MAX_CHUNK {
            return Some(std::mem::take(&mut rest));
        }
        let limit = (0..=MAX_CHUNK).rev().find(|i| rest.is_char_boundary(*i)).unwrap_or(rest.len());
        let bytes = rest.as_bytes();
        let split = (limit / 2..limit)
            .rev()
            .find(|i| bytes[*i] == b' ' && !bytes[*i - 1].is_ascii_whitespace() && bytes[*i - 1] < 0x80);
        let (chunk, more) = rest.split_at(split.unwrap_or(limit));
        rest = more;
        Some(chunk)
    })
}

/// Estimates the number of tokens in `text` from these weights, in twentieths of a token: 6 per ASCII letter, 11 per
/// ASCII digit, 14 per letter of another alphabet, 16 per ASCII symbol, 20 per character of a script without spaces, 45
/// for anything else. A single whitespace character is free. The estimate is too high rather than too low, because a
/// model rejects a context that is too large.
fn estimate_tokens(text: &str) -> usize {
    let mut twentieths = 0;
    let mut after_whitespace = true;
    for c in text.chars() {
        twentieths += match c {
            c if c.is_whitespace() => 6 * usize::from(after_whitespace),
            c if c.is_ascii_alphabetic() => 6,
            c if c.is_ascii_digit() => 11,
            c if c.is_ascii() => 16,
            '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{e00}'..='\u{eff}' => 20,
            '\u{ff00}'..='\u{ffef}' => 14,
            c if c.is_alphabetic() => 14,
            _ => 45,
        };
        after_whitespace = c.is_whitespace();
    }
    twentieths.div_ceil(20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_models_use_their_tokenizer_and_others_the_estimate() {
        assert_eq!(Tokenizers::name("gpt-4o"), "o200k_base");
        assert_eq!(Tokenizers::name("gpt-4"), "cl100k_base");
        assert_eq!(Tokenizers::name("cl100k_base"), "cl100k_base");
        for other in ["claude-sonnet-4-5", "llama-3", "", "mistral-large"] {
            assert_eq!(Tokenizers::name(other), ESTIMATE, "{other}");
        }
    }

    #[test]
    fn long_texts_are_counted_in_chunks() {
        let tokenizers = Tokenizers::default();
        let counter = tokenizers.counter("cl100k_base");
        assert_eq!(counter.count(""), 0);
        assert_eq!(counter.count("hello world"), 2);
        assert_eq!(counter.count("tiktoken is great!"), 6);
        let text = "The quick brown fox, id 4711, jumps over the lazy dog.\n".repeat(4000);
        let whole = tiktoken_rs::cl100k_base().expect("loads").encode_ordinary(&text).len() as i64;
        assert_eq!(counter.count(&text), whole, "splitting does not change the count");
        for hard in [" ", "\n", "a", "^", "\t ", "测", "👍🏽", "0"] {
            let long = hard.repeat((1 << 18) / hard.len());
            assert!(counter.count(&long) > 1000, "{hard:?}");
        }
    }

    #[test]
    fn counts_by_line_are_those_of_the_whole_text() {
        let tokenizers = Tokenizers::default();
        for name in ["cl100k_base", "o200k_base", "p50k_base", "r50k_base"] {
            let counter = tokenizers.counter(name);
            let tables = counter.tables.as_ref().expect("loaded");
            for text in [
                "a.\n/b.\n\n/c",
                "one\n\ntwo \nthree\n\n\nfour, and so on and on",
                "one\n\n  two\n\tthree\r\nfour \n five\n",
                "\n\n",
                "{\n  \"a\": 1,\n  \"b\": [\n\n]}\n",
                "测试。\n下一行\n\u{3000}a",
            ] {
                let whole = tables.pairs.count(text) as i64;
                assert_eq!((counter.count(text), counter.count(text)), (whole, whole), "{name} {text:?}");
            }
        }
    }

    #[test]
    fn idle_tables_are_dropped() {
        let tokenizers = Tokenizers::default();
        let counter = tokenizers.counter("r50k_base");
        assert!(tokenizers.sweep(Duration::ZERO).1.is_some(), "it is in use");
        drop(counter);
        assert!(tokenizers.sweep(Duration::from_secs(600)).1.is_some(), "it was used recently");
        assert_eq!(tokenizers.sweep(Duration::ZERO), (true, None));
        assert!(tokenizers.loaded().is_empty());
    }

    #[test]
    fn estimate_is_close_to_the_real_count_and_rarely_below_it() {
        let counter = Tokenizers::default().counter("o200k_base");
        for text in [
            "Open the settings and turn Wi-Fi off, then tell me what the status line says.",
            "{\"success\": true, \"orderId\": 48213, \"items\": [\"tea\", \"coffee\"], \"price\": {\"total\": 12.95, \"currency\": \"EUR\"}}",
            "2026-11-22T09:14:03Z ERROR worker-7 payment.capture failed: timeout after 30000 ms (attempt 3/5, order 88-1204)",
            "打开设置，然后选择无线网络，再连接到办公室的网络。",
            "Öffne die Einstellungen und schalte das WLAN aus, dann lies die Statuszeile vor.",
            "Abre los ajustes, desactiva la red inalámbrica y dime qué aparece en la línea de estado.",
        ] {
            let (real, guess) = (counter.count(text) as f64, Counter::estimate().count(text) as f64);
            assert!((0.9..=2.0).contains(&(guess / real)), "{text}: {guess} for {real}");
        }
    }
}
