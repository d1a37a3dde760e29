//! The visual memory: learning, and finding by pictures.

mod learning;
mod matching;

/// The generator of all that is learned here.
const SEED: u64 = 20_261_122;

pub fn run() {
    learning::learning();
    matching::matching();
}
