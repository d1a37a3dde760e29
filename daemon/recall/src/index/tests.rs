use super::*;
use afd_base::task::Tasks;
use afd_store::Store;
use afd_store::args;

/// Returns a generator of pseudo-random numbers that yields the same sequence in every run.
fn numbers() -> impl FnMut() -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

#[test]
fn sketches_that_differ_least_are_those_of_a_full_sort() {
    let mut next = numbers();
    // Small masks limit how many bits can differ, so that many sketches are equally near.
    for (width, mask) in [(6, 0x3), (6, u64::MAX), (2, 0x11), (16, 0xff), (6, 0)] {
        let mut sketches = Sketches::default();
        for place in 0..300 {
            let bits: Vec<u64> = (0..width).map(|_| next() & mask).collect();
            sketches.set(place, &bits);
        }
        (0..300).step_by(7).for_each(|place| sketches.clear(place));
        let query: Vec<u64> = (0..width).map(|_| next() & mask).collect();
        let wanted = |place: usize| place % 3 != 1;
        let is_there = |place: &usize| sketches.present[*place] && wanted(*place);
        let mut sorted: Vec<usize> = (0..300).filter(is_there).collect();
        sorted.sort_by_key(|place| (distance(&sketches.bits[place * width..(place + 1) * width], &query), *place));
        for count in [1, 7, 100, 300] {
            let mut expected: Vec<usize> = sorted.iter().copied().take(count).collect();
            expected.sort_unstable();
            assert_eq!(by_bits(&sketches, &query, count, wanted), expected, "{width} words, {count} of them");
        }
    }
}

#[test]
fn product_with_signs_is_the_sum_of_components_with_their_signs() {
    let mut next = numbers();
    for dimensions in [384, 100, 60] {
        let mut vector = || -> Vec<f32> { (0..dimensions).map(|_| (next() % 2_001) as f32 / 1_000.0 - 1.0).collect() };
        let query = vector();
        let mut sketches = Sketches::default();
        let stored: Vec<Vec<f32>> = (0..50).map(|_| vector()).collect();
        for (place, stored) in stored.iter().enumerate() {
            sketches.set(place, &vectors::sketch(stored));
        }
        let product = |place: &usize| -> f32 {
            query.iter().zip(&stored[*place]).map(|(q, s)| if *s > 0.0 { *q } else { -q }).sum()
        };
        let mut sorted: Vec<usize> = (0..50).collect();
        sorted.sort_by(|a, b| product(b).total_cmp(&product(a)));
        let mut found = by_signs(&sketches, &query, (0..50).collect(), 10);
        found.sort_by(|a, b| product(b).total_cmp(&product(a)));
        assert_eq!(found, sorted[..10], "{dimensions} components");
    }
}

#[test]
fn sketches_that_were_read_from_an_older_state_are_completed() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("m.db");
    let _store = Store::open(&path, &Tasks::default(), |_, _| {}, |_| Ok(0)).expect("opens");
    let [writer, reader] = [(), ()].map(|()| Connection::open(&path).expect("opens"));
    let model = vectors::model(&writer, "m", 64).expect("a model").id;
    let add = |id: i64| {
        writer
            .execute(
                "INSERT INTO entries (id, uid, kind, row_id, due, version, type, words, content, at)
                 VALUES (:id, 'u' || :id, 'note', :id, 0, :id, 'note', 2, 1, 1)",
                args! {id},
            )
            .expect("inserts");
        vectors::put(&writer, model, id, 1, &[1.0; 64]).expect("puts");
    };
    add(1);
    let older = reader.unchecked_transaction().expect("begins");
    entries::newest_version(&older).expect("reads");
    add(2);
    let mut index = Index::default();
    index.follow(&writer, &[]).expect("follows");
    // A search that began before asks for the vectors of the model.
    index.follow(&older, &[model]).expect("follows");
    index.follow(&writer, &[model]).expect("follows");
    assert_eq!((index.corpus().entries, index.without_sketch(model)), (2, 0));
}
