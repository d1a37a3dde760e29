//! Counting tokens. The tables of a tokenizer take some 46 MB: they are loaded when they are first needed and dropped when nobody
//! needed them for a while.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use tiktoken_rs::CoreBPE;
use tiktoken_rs::tokenizer::{Tokenizer, get_tokenizer};

/// What counts where no tokenizer is known.
pub const ESTIMATE: &str = "estimate";

/// The longest piece that a tokenizer is given at once, bytes. Its patterns give up on very long stretches without a word.
const PIECE: usize = 32 << 10;

/// The tokenizers that are loaded.
#[derive(Default)]
pub struct Tokenizers {
    loaded: Mutex<HashMap<Tokenizer, Loaded>>,
    /// Whether somebody sees to it that tables go in time.
    swept: AtomicBool,
}

struct Loaded {
    tables: Arc<CoreBPE>,
    used: Instant,
}

/// Counts tokens as a model does. While there is one, its tables stay loaded.
#[derive(Clone)]
pub struct Counter {
    name: &'static str,
    tables: Option<Arc<CoreBPE>>,
}

const NAMED: &[(&str, Tokenizer)] = &[
    ("o200k_harmony", Tokenizer::O200kHarmony),
    ("o200k_base", Tokenizer::O200kBase),
    ("cl100k_base", Tokenizer::Cl100kBase),
    ("p50k_base", Tokenizer::P50kBase),
    ("p50k_edit", Tokenizer::P50kEdit),
    ("r50k_base", Tokenizer::R50kBase),
];

/// The tokenizer of a model, or the one of that name.
fn tokenizer_of(model: &str) -> Option<Tokenizer> {
    let named = NAMED.iter().find(|(name, _)| *name == model).map(|(_, tokenizer)| *tokenizer);
    named.or_else(|| get_tokenizer(model)).map(|t| if t == Tokenizer::Gpt2 { Tokenizer::R50kBase } else { t })
}

fn name_of(tokenizer: Tokenizer) -> &'static str {
    NAMED.iter().find(|(_, t)| *t == tokenizer).map_or(ESTIMATE, |(name, _)| name)
}

fn load(tokenizer: Tokenizer) -> Option<CoreBPE> {
    let loaded = match tokenizer {
        Tokenizer::O200kHarmony => tiktoken_rs::o200k_harmony(),
        Tokenizer::O200kBase => tiktoken_rs::o200k_base(),
        Tokenizer::Cl100kBase => tiktoken_rs::cl100k_base(),
        Tokenizer::P50kBase => tiktoken_rs::p50k_base(),
        Tokenizer::P50kEdit => tiktoken_rs::p50k_edit(),
        _ => tiktoken_rs::r50k_base(),
    };
    loaded.inspect_err(|error| tracing::error!(%error, "a tokenizer cannot be loaded")).ok()
}

impl Tokenizers {
    /// Takes up the sweeping, unless somebody has it already.
    pub fn begin_sweeping(&self) -> bool {
        !self.swept.swap(true, Ordering::SeqCst)
    }

    /// Gives up the sweeping.
    pub fn end_sweeping(&self) {
        self.swept.store(false, Ordering::SeqCst);
    }

    fn loaded(&self) -> MutexGuard<'_, HashMap<Tokenizer, Loaded>> {
        self.loaded.lock()
    }

    /// What counts the tokens of a model, or of the tokenizer of that name: its own tokenizer, else an estimate. Loading tables takes a
    /// fraction of a second, so it must not be called where that would hold somebody up.
    pub fn counter(&self, model: &str) -> Counter {
        let Some(tokenizer) = tokenizer_of(model) else { return Counter::estimate() };
        let mut all = self.loaded();
        if let Some(loaded) = all.get_mut(&tokenizer) {
            loaded.used = Instant::now();
            return Counter { name: name_of(tokenizer), tables: Some(loaded.tables.clone()) };
        }
        let Some(tables) = load(tokenizer).map(Arc::new) else { return Counter::estimate() };
        all.insert(tokenizer, Loaded { tables: tables.clone(), used: Instant::now() });
        Counter { name: name_of(tokenizer), tables: Some(tables) }
    }

    /// The name of what counts the tokens of a model.
    pub fn name(model: &str) -> &'static str {
        tokenizer_of(model).map_or(ESTIMATE, name_of)
    }

    /// Drops the tables that nobody needed for so long; returns whether any went, and when to look again unless none is left.
    pub fn sweep(&self, idle: Duration) -> (bool, Option<Duration>) {
        let mut all = self.loaded();
        let before = all.len();
        all.retain(|_, loaded| Arc::strong_count(&loaded.tables) > 1 || loaded.used.elapsed() < idle);
        let dropped = all.len() < before;
        let next = all.values().map(|l| idle.saturating_sub(l.used.elapsed())).min();
        (dropped, next.map(|wait| wait.max(Duration::from_millis(10))))
    }
}

/// Hands memory that was freed back to the system: the tables are hundreds of thousands of small pieces, which the allocator
/// would keep.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
pub fn give_back_memory() {
    // SAFETY: `malloc_trim` takes no pointer, may be called at any time from any thread (MT-Safe in glibc's manual), and touches
    // only memory that the allocator itself holds as free.
    unsafe { libc::malloc_trim(0) };
}

/// Other allocators give it back by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_back_memory() {}

impl Counter {
    /// One that needs no tables.
    pub fn estimate() -> Self {
        Self { name: ESTIMATE, tables: None }
    }

    /// The name of the tokenizer, or `estimate`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// How many tokens a text has.
    pub fn count(&self, text: &str) -> i64 {
        let count = match &self.tables {
            Some(tables) => pieces(text).map(|piece| tables.encode_ordinary(piece).len()).sum(),
            None => estimated(text),
        };
        i64::try_from(count).unwrap_or(i64::MAX)
    }
}

/// Cuts a long text where no token reaches over: before a blank that follows something else. Where there is none, anywhere between
/// two characters, which may count one token too many.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if rest.len() <= PIECE {
            return Some(std::mem::take(&mut rest));
        }
        let limit = (0..=PIECE).rev().find(|i| rest.is_char_boundary(*i)).unwrap_or(rest.len());
        let bytes = rest.as_bytes();
        let blank = (limit / 2..limit).rev().find(|i| bytes[*i] == b' ' && !bytes[*i - 1].is_ascii_whitespace() && bytes[*i - 1] < 0x80);
        let (piece, more) = rest.split_at(blank.unwrap_or(limit));
        rest = more;
        Some(piece)
    })
}

/// How many tokens a text may have: four letters of a Latin word make one, two of other alphabets, one of scripts without spaces;
/// figures by three, signs by one.
fn estimated(text: &str) -> usize {
    let mut quarters = 0;
    let mut last_blank = true;
    for c in text.chars() {
        quarters += match c {
            c if c.is_whitespace() => usize::from(last_blank),
            c if c.is_ascii_alphabetic() => 1,
            c if c.is_ascii_digit() => 2,
            c if c.is_ascii() => 3,
            '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{e00}'..='\u{eff}' => 4,
            c if c.is_alphabetic() => 2,
            _ => 8,
        };
        last_blank = c.is_whitespace();
    }
    quarters.div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_have_their_own_tokenizer_and_others_an_estimate() {
        assert_eq!(Tokenizers::name("gpt-4o"), "o200k_base");
        assert_eq!(Tokenizers::name("gpt-4"), "cl100k_base");
        assert_eq!(Tokenizers::name("cl100k_base"), "cl100k_base");
        for other in ["claude-sonnet-4-5", "llama-3", "", "mistral-large"] {
            assert_eq!(Tokenizers::name(other), ESTIMATE, "{other}");
        }
    }

    #[test]
    fn texts_of_every_kind_are_counted_and_long_ones_in_pieces() {
        let tokenizers = Tokenizers::default();
        let counter = tokenizers.counter("cl100k_base");
        assert_eq!(counter.count(""), 0);
        assert_eq!(counter.count("hello world"), 2);
        assert_eq!(counter.count("tiktoken is great!"), 6);
        let text = "The quick brown fox, id 4711, jumps over the lazy dog.\n".repeat(4000);
        let whole = counter.tables.as_ref().expect("loaded").encode_ordinary(&text).len();
        assert_eq!(counter.count(&text), whole as i64, "cutting changes nothing");
        for hard in [" ", "\n", "a", "^", "\t ", "测", "👍🏽", "0"] {
            let long = hard.repeat((1 << 18) / hard.len());
            assert!(counter.count(&long) > 1000, "{hard:?}");
        }
    }

    #[test]
    fn tables_go_when_nobody_needs_them() {
        let tokenizers = Tokenizers::default();
        let counter = tokenizers.counter("r50k_base");
        assert!(tokenizers.sweep(Duration::ZERO).1.is_some(), "it is in use");
        drop(counter);
        assert!(tokenizers.sweep(Duration::from_secs(600)).1.is_some(), "it was used a moment ago");
        assert_eq!(tokenizers.sweep(Duration::ZERO), (true, None));
        assert!(tokenizers.loaded().is_empty());
    }

    #[test]
    fn an_estimate_is_near_what_a_tokenizer_says() {
        let counter = Tokenizers::default().counter("cl100k_base");
        for text in [
            "Open the settings and turn Wi-Fi off, then tell me what the status line says.",
            "{\"success\": true, \"orderId\": 48213, \"items\": [\"tea\", \"coffee\"]}",
            "打开设置，然后选择无线网络，再连接到办公室的网络。",
            "Öffne die Einstellungen und schalte das WLAN aus, dann lies die Statuszeile vor.",
        ] {
            let (real, guess) = (counter.count(text) as f64, Counter::estimate().count(text) as f64);
            assert!((0.6..=1.7).contains(&(guess / real)), "{text}: {guess} for {real}");
        }
    }
}
