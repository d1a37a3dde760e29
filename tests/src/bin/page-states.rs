//! Scores how well pages with few resource ids are told apart: `page-states DIR...`, each a directory of apps as in `tests/screens`.

use std::path::Path;

use afd_tests::screens::{Pairs, read, score};

/// Orders in which the screens of an app are learned: as they are written, and shuffled.
const SEEDS: [u64; 6] = [0, 1, 2, 3, 4, 5];

fn main() {
    for dir in std::env::args().skip(1) {
        let mut all = Pairs::default();
        for (app, screens) in read(Path::new(&dir)) {
            let (pairs, wrong) = score(&screens, 0);
            println!("{app}: {} of {} merged, {} of {} split {wrong:?}", pairs.merged, pairs.different, pairs.split, pairs.same);
            all = SEEDS.iter().fold(all, |all, seed| all.plus(score(&screens, *seed).0));
        }
        println!("{dir}: {:.4} merged, {:.4} split over {} orders", all.merged_share(), all.split_share(), SEEDS.len());
    }
}
