//! The visual memory: learning, and template matching.

mod learning;
mod matching;

/// Seed of the generated test data.
const SEED: u64 = 20_261_122;

pub fn run() {
    learning::learning();
    matching::matching();
}
