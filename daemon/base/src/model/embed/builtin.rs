//! The built-in embedding model: the vector of a text is the sum of its hashed features, with pseudo-random signs.
//!
//! The features of a text are its stemmed words, pieces of its words (so that misspelled and inflected words stay
//! near), pairs of characters in scripts without spaces, and the concepts of the thesaurus that it mentions. Texts that
//! share many rare features are near each other. Computing a vector takes tens of microseconds and needs no file. The
//! result is the same on every machine.

use std::collections::HashMap;

use super::stop::is_stop;
use super::{concepts, normalize};
use crate::text::{self, cut};

/// Number of components of a vector.
pub const DIMENSIONS: usize = 384;
/// Number of components of the vector over which a feature is spread.
const SPREAD: u64 = 4;
/// Maximum length of the text that is embedded, in characters. Longer text is truncated.
const MAX_TEXT: usize = 6_000;
/// Weights of the different kinds of features.
const WORD: f32 = 1.0;
const STOP: f32 = 0.02;
const PIECES: f32 = 1.2;
const PAIR: f32 = 1.0;
const CONCEPT: f32 = 2.2;
/// Factor by which the weight of common concepts is multiplied.
const COMMON: f32 = 0.3;
/// Lengths of the pieces of a word, in characters. A mark at each end of the word counts as a character.
const PIECE: [usize; 2] = [3, 4];

/// The built-in model. It has no state.
#[derive(Debug, Clone, Copy, Default)]
pub struct Builtin;

/// Identity of the built-in model. If a new version computes different vectors, it must have a different identity.
pub const BUILTIN: &str = "builtin/1";

/// Hashes a feature with FNV-1a and mixes the result, so that all bits depend on all bytes. The hash is the same on
/// every machine.
fn hash(kind: u8, feature: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in std::iter::once(&kind).chain(feature) {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    mix(hash)
}

fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits = (bits ^ (bits >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    bits ^ (bits >> 33)
}

/// Returns the hashed features of `text` with their weights.
fn features(text: &str) -> HashMap<u64, f32> {
    let mut features: HashMap<u64, f32> = HashMap::new();
    let mut counts: HashMap<String, f32> = HashMap::new();
    for word in text::words(text) {
        *counts.entry(word).or_default() += 1.0;
    }
    for (word, count) in counts {
        let often = 1.0 + count.ln();
        let letters = word.chars().count();
        if word.contains(text::is_dense) {
            let weight = if letters > 1 { PAIR } else { PAIR / 4.0 };
            *features.entry(hash(b'p', word.as_bytes())).or_default() += weight * often;
            continue;
        }
        if is_stop(&word) {
            *features.entry(hash(b'w', word.as_bytes())).or_default() += STOP;
            continue;
        }
        // Give long words more weight, because they are rarer than short ones.
        let rare = (letters.min(12) as f32 / 6.0).sqrt().max(0.6);
        *features.entry(hash(b'w', beginning(&word).as_bytes())).or_default() += WORD * rare * often;
        let marked: Vec<char> = std::iter::once('<').chain(word.chars()).chain(std::iter::once('>')).collect();
        let pieces: Vec<String> = PIECE.iter().flat_map(|n| marked.windows(*n)).map(|w| w.iter().collect()).collect();
        if letters > 3 {
            let weight = PIECES * rare * often / (pieces.len() as f32).sqrt();
            for piece in pieces {
                *features.entry(hash(b'g', piece.as_bytes())).or_default() += weight;
            }
        }
    }
    for concept in concepts::of(text) {
        let weight = if concepts::is_common(concept) { COMMON } else { 1.0 };
        *features.entry(hash(b'c', &concept.to_le_bytes())).or_default() += CONCEPT * weight;
    }
    features
}

/// Minimum length of a word whose end is left out, and the number of characters that are left out.
const INFLECTED_FROM: usize = 6;
const INFLECTION: usize = 2;

/// Returns a folded word without its last characters, which differ between inflected forms. Short words, words with
/// digits, and words in scripts without spaces are returned unchanged.
fn beginning(word: &str) -> &str {
    let letters = word.chars().count();
    let is_plain = letters >= INFLECTED_FROM && word.chars().all(char::is_alphabetic) && !word.contains(text::is_dense);
    match word.char_indices().nth(letters.saturating_sub(INFLECTION)) {
        Some((end, _)) if is_plain => &word[..end],
        _ => word,
    }
}

impl Builtin {
    /// Returns the vector for `text`, scaled to unit length. Text without words has a vector of zeros.
    pub fn vector(text: &str) -> Vec<f32> {
        let mut vector = vec![0.0_f32; DIMENSIONS];
        let features = features(cut::head(text, MAX_TEXT));
        // Add the features in a fixed order, because a sum of floats depends on the order.
        let mut features: Vec<(u64, f32)> = features.into_iter().collect();
        features.sort_unstable_by_key(|(feature, _)| *feature);
        for (feature, weight) in features {
            for i in 0..SPREAD {
                let bits = mix(feature.wrapping_add(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
                let sign = if bits & 1 == 0 { weight } else { -weight };
                vector[(bits >> 1) as usize % DIMENSIONS] += sign;
            }
        }
        normalize(&mut vector);
        vector
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: &str, b: &str) -> f32 {
        Builtin::vector(a).iter().zip(Builtin::vector(b)).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn texts_about_the_same_are_nearer_than_others() {
        assert!(near("login button", "login button") > 0.999);
        assert!(
            near("Sign-in fails after the update", "cannot log in since the new version")
                > near("cannot log in", "parcel is late")
        );
        assert!(
            near("recieve notifcations", "receive notifications")
                > 2.0 * near("recieve notifcations", "parcel is late").max(0.05)
        );
        assert_eq!(Builtin::vector(" .!"), vec![0.0; DIMENSIONS]);
    }
}
