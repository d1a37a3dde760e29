//! Scores how well pages with few resource ids are recognised: `page-states DIR...`. Each directory contains apps in
//! the format of `tests/screens`.

use std::path::Path;

use afd_tests::screens::{Pairs, read, score};

/// Seeds of the shuffled orders in which the screens of an app are learned, in addition to the order in the file.
const SEEDS: [u64; 5] = [1, 2, 3, 4, 5];

fn main() {
    for dir in std::env::args().skip(1) {
        let (mut written, mut shuffled) = (Pairs::default(), Pairs::default());
        for (app, screens) in read(Path::new(&dir)) {
            let (pairs, wrong) = score(&screens, 0);
            println!(
                "{app}: {} of {} merged, {} of {} split {wrong:?}",
                pairs.merged, pairs.different, pairs.split, pairs.same
            );
            written = written.plus(pairs);
            shuffled = SEEDS.iter().fold(shuffled, |all, seed| all.plus(score(&screens, *seed).0));
        }
        for (order, pairs) in [("as written", written), ("shuffled", shuffled)] {
            println!(
                "{dir}, {order}: {:.4} of different pages merged, {:.4} of equal pages split",
                pairs.merged_share(),
                pairs.split_share()
            );
        }
    }
}
