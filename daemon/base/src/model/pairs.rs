//! Counts tokens in byte-pair encodings, with tables a tenth of the size of those in `tiktoken-rs`. That library also
//! decodes tokens, so it stores each token three times in separate allocations (46 MB for `o200k_base`). The
//! vocabularies and patterns are the same as in the library, and a test compares the counts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hasher;

use fancy_regex::Regex;
use rustc_hash::FxHasher;
use tiktoken_rs::CoreBPE;
use tiktoken_rs::tokenizer::Tokenizer;

/// Patterns that split text into pieces. Bytes are merged into tokens only within a piece.
const GPT2_PATTERN: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s";
const CL100K_PATTERN: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s";
const O200K_PATTERN: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);
/// Exclusive upper bound for token ranks in all supported encodings.
const MAX_RANK: u32 = 201_088;

/// The tokens of an encoding, and the pattern by which text is split into pieces.
pub(super) struct Pairs {
    pattern: Regex,
    /// The concatenated bytes of all tokens, in order of increasing rank.
    bytes: Vec<u8>,
    /// For each token, the offset in `bytes` at which the token ends.
    ends: Vec<u32>,
    /// For each token, its rank.
    ranks: Vec<u32>,
    /// A hash table with open addressing that maps the bytes of tokens to their indexes. A slot contains a token's
    /// index plus one, or 0 if the slot is free. The length is a power of two.
    slots: Box<[u32]>,
}

impl Pairs {
    /// Loads an encoding.
    ///
    /// # Errors
    /// If the library cannot load it.
    pub(super) fn load(tokenizer: Tokenizer) -> Result<Self, String> {
        let (full, pattern) = match tokenizer {
            Tokenizer::O200kHarmony => (tiktoken_rs::o200k_harmony(), O200K_PATTERN),
            Tokenizer::O200kBase => (tiktoken_rs::o200k_base(), O200K_PATTERN),
            Tokenizer::Cl100kBase => (tiktoken_rs::cl100k_base(), CL100K_PATTERN),
            Tokenizer::P50kBase => (tiktoken_rs::p50k_base(), GPT2_PATTERN),
            Tokenizer::P50kEdit => (tiktoken_rs::p50k_edit(), GPT2_PATTERN),
            _ => (tiktoken_rs::r50k_base(), GPT2_PATTERN),
        };
        let full = full.map_err(|e| e.to_string())?;
        Self::of(&full, Regex::new(pattern).map_err(|e| e.to_string())?)
    }

    fn of(full: &CoreBPE, pattern: Regex) -> Result<Self, String> {
        let special = full.special_tokens();
        let is_special = |token: &[u8]| std::str::from_utf8(token).is_ok_and(|text| special.contains(text));
        let (mut bytes, mut ends, mut ranks) = (Vec::new(), Vec::new(), Vec::new());
        for rank in 0..MAX_RANK {
            // Skip ranks that the encoding does not use.
            let Some(token) = full.decode_bytes(&[rank]).ok().filter(|token| !is_special(token)) else { continue };
            bytes.extend_from_slice(&token);
            ends.push(u32::try_from(bytes.len()).map_err(|e| e.to_string())?);
            ranks.push(rank);
        }
        bytes.shrink_to_fit();
        ends.shrink_to_fit();
        ranks.shrink_to_fit();
        let slots = vec![0; (ends.len() * 2).next_power_of_two()].into_boxed_slice();
        let mut pairs = Self { pattern, bytes, ends, ranks, slots };
        for token in 0..pairs.ends.len() {
            let slot = pairs.slot(pairs.token(token));
            pairs.slots[slot] = u32::try_from(token + 1).map_err(|e| e.to_string())?;
        }
        Ok(pairs)
    }

    fn token(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] as usize };
        &self.bytes[start..self.ends[number] as usize]
    }

    /// Returns the slot of the token with these bytes, or the free slot in which it belongs.
    fn slot(&self, bytes: &[u8]) -> usize {
        let mut hasher = FxHasher::default();
        hasher.write(bytes);
        let mask = self.slots.len() - 1;
        let mut slot = hasher.finish() as usize & mask;
        while self.slots[slot] != 0 && self.token(self.slots[slot] as usize - 1) != bytes {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn rank(&self, bytes: &[u8]) -> Option<u32> {
        match self.slots[self.slot(bytes)] {
            0 => None,
            found => Some(self.ranks[found as usize - 1]),
        }
    }

    /// Counts the tokens in `text`. Special tokens are counted like ordinary text. If the pattern fails, the rest of
    /// `text` counts as one token.
    pub(super) fn count(&self, text: &str) -> usize {
        let mut merger = Merger::default();
        self.pattern
            .find_iter(text)
            .map(|piece| piece.map_or(1, |piece| self.count_piece(piece.as_str().as_bytes(), &mut merger)))
            .sum()
    }

    fn count_piece(&self, piece: &[u8], merger: &mut Merger) -> usize {
        if self.rank(piece).is_some() { 1 } else { merger.count(piece, |part| self.rank(part)) }
    }
}

/// Merges the bytes of a piece into tokens: repeatedly merges the two adjacent parts whose union is the token with the
/// lowest rank, until no union is a token. If several unions have the same rank, the first is merged.
#[derive(Default)]
struct Merger {
    /// For each byte at which a part starts, where the part ends; 0 for other bytes.
    ends: Vec<usize>,
    /// For each byte at which a part starts, where the part before it starts.
    before: Vec<usize>,
    /// Unions of two adjacent parts that are tokens: rank, start, end. An entry is stale, and is skipped, if one of its
    /// parts has been merged since it was added.
    unions: BinaryHeap<Reverse<(u32, usize, usize)>>,
}

impl Merger {
    /// Merges the bytes of a piece and returns the number of parts that remain.
    fn count(&mut self, piece: &[u8], rank: impl Fn(&[u8]) -> Option<u32>) -> usize {
        self.ends.clear();
        self.ends.extend(1..=piece.len());
        self.before.clear();
        self.before.extend((0..piece.len()).map(|at| at.saturating_sub(1)));
        self.unions.clear();
        self.unions
            .extend((2..=piece.len()).filter_map(|end| Some(Reverse((rank(&piece[end - 2..end])?, end - 2, end)))));
        let mut parts = piece.len();
        while let Some(Reverse((_, start, end))) = self.unions.pop() {
            let middle = self.ends[start];
            if middle == 0 || middle >= end || self.ends[middle] != end {
                continue;
            }
            parts -= 1;
            self.ends[start] = end;
            self.ends[middle] = 0;
            if end < piece.len() {
                self.before[end] = start;
                let next = self.ends[end];
                self.unions.extend(rank(&piece[start..next]).map(|rank| Reverse((rank, start, next))));
            }
            if start > 0 {
                let previous = self.before[start];
                self.unions.extend(rank(&piece[previous..end]).map(|rank| Reverse((rank, previous, end))));
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all() -> Vec<(&'static str, CoreBPE, Pairs)> {
        let load = |tokenizer| Pairs::load(tokenizer).expect("loads");
        vec![
            ("o200k_base", tiktoken_rs::o200k_base().expect("loads"), load(Tokenizer::O200kBase)),
            ("o200k_harmony", tiktoken_rs::o200k_harmony().expect("loads"), load(Tokenizer::O200kHarmony)),
            ("cl100k_base", tiktoken_rs::cl100k_base().expect("loads"), load(Tokenizer::Cl100kBase)),
            ("p50k_base", tiktoken_rs::p50k_base().expect("loads"), load(Tokenizer::P50kBase)),
            ("r50k_base", tiktoken_rs::r50k_base().expect("loads"), load(Tokenizer::R50kBase)),
        ]
    }

    #[test]
    fn counts_are_those_of_the_library() {
        let all = all();
        let check = |text: &str| {
            for (name, full, pairs) in &all {
                assert_eq!(pairs.count(text), full.encode_ordinary(text).len(), "{name}: {text:?}");
            }
        };
        for text in [
            "",
            "a",
            "Donaudampfschifffahrtsgesellschaftskapitän and pneumonoultramicroscopicsilicovolcanoconiosis",
            "  \t\n\n   x  \r\n",
            "<|endoftext|> <|fim_prefix|>",
            "don't DON'T we'll 12345678 3.14159 a_b-c::d/e\\f",
            "打开设置，然后选择无线网络。設定を開く 설정을 열다 เปิดการตั้งค่า",
            "👍🏽👨‍👩‍👧‍👦 e\u{301} \u{200b}\u{feff}",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
        ] {
            check(text);
        }
        check(&"xyzzy".repeat(500));
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
            cases: 300,
            failure_persistence: None,
            ..ProptestConfig::default()
        });
        let text = prop_oneof![
            "\\PC{0,80}",
            "[a-zA-Z' ]{0,120}",
            "[ \\t\\r\\n/a.1]{0,40}",
            "[a-z0-9]{0,300}",
            "[ÄÖüß中文字éàЖя ]{0,60}"
        ];
        let checked = runner.run(&text, |text| {
            check(&text);
            Ok(())
        });
        checked.expect("all counts are equal");
    }
}
