use std::collections::HashMap;

use super::*;

const FEW: Effort = Effort { words: 10, entries: 20, depth: 5, thorough: true };

/// Returns entries with these texts, the first with id 1, and the numbers of their tokens.
fn entries_of(texts: impl Iterator<Item = String>) -> (Connection, HashMap<i64, u32>) {
    let connection = afd_store::in_memory().expect("opens");
    let mut words = HashMap::new();
    for (i, text) in texts.enumerate() {
        let (id, tokens) = (i as i64 + 1, tokens::of_text(&text));
        insert(&connection, id, &tokens).expect("indexes");
        words.insert(id, tokens.split(' ').count() as u32);
    }
    (connection, words)
}

fn found(of_entries: &(Connection, HashMap<i64, u32>), query: &str, effort: Effort) -> Vec<(i64, f64)> {
    let (connection, words) = of_entries;
    let corpus = Corpus { entries: words.len(), mean_words: 3.0, common: &CommonTokens::default() };
    let found = search(connection, query, effort, corpus, &[], |id| words.get(&id).copied()).expect("searches");
    found.matches.iter().map(|m| (m.entry, (m.share * 100.0).round() / 100.0)).collect()
}

fn check(connection: &Connection) {
    connection
        .execute_batch("INSERT INTO text_index (text_index, rank) VALUES ('integrity-check', 1)")
        .expect("the index agrees with the texts");
}

#[test]
fn each_property_is_one_token() {
    let (connection, _) = entries_of(["plain".to_owned()].into_iter());
    for app in (0..50).map(|n| format!("com.example.app{n}")) {
        let token = crate::properties::about_app(&app);
        assert_eq!(tokens::stored(token.trim_start_matches('\u{E100}')), token[3..], "{app}");
        read(&connection, &quoted(&token), 1, |_| {}).expect("is no phrase");
    }
}

#[test]
fn common_words_count_for_what_has_a_rare_one_and_tell_by_how_common_they_are() {
    let often = |n: i64| n % 4 == 0;
    let text = |n: i64| match n {
        7 => "page other coupon".to_owned(),
        8 => "page login often coupon".to_owned(),
        n if often(n) => format!("page login often word{n}"),
        n => format!("page login other word{n}"),
    };
    let all = entries_of((1..=200).map(text));
    let rare = found(&all, "often coupon", FEW);
    assert_eq!((rare[0], rare[1].0), ((8, 1.0), 7));
    assert!(rare[1].1 < 0.9, "it lacks a word that counts: {rare:?}");
    let newest = found(&all, "login page", FEW);
    assert_eq!(
        newest,
        [(200, 1.0), (199, 1.0), (198, 1.0), (197, 1.0), (196, 1.0)],
        "of words that all have the newest are found"
    );
    let best = found(&all, "page often", FEW);
    assert!(
        best.len() == 5 && best.iter().all(|(id, share)| often(*id) && *share > 0.9),
        "one that a quarter has tells more: {best:?}"
    );
    let whole = Effort { entries: 10_000, ..FEW };
    let first = |found: Vec<(i64, f64)>| found.first().map(|(id, _)| *id);
    for query in ["login coupon", "often coupon", "word31 often login", "other word31"] {
        assert_eq!(first(found(&all, query, FEW)), first(found(&all, query, whole)), "{query}: as if all were read");
    }
}

#[test]
fn of_common_words_an_entry_that_has_them_all_is_found_behind_many_newer_ones() {
    let text = |n: i64| match n {
        2_000 => "late often".to_owned(),
        n if n % 4 == 0 => format!("often word{n}"),
        n if n % 3 == 0 => format!("late word{n}"),
        n => format!("other word{n}"),
    };
    let all = entries_of((1..=3_000).map(text));
    let some = Effort { entries: 300, ..FEW };
    assert_eq!(found(&all, "late often", some)[0], (2_000, 1.0));
}

#[test]
fn entries_that_may_not_be_found_do_not_hide_those_that_may() {
    // Few entries with the property are all ranked; of more, the index reads those that have the words, too.
    for (mine, entries) in [(1, 20), (200, 20), (200, 300)] {
        let text = |n: i64| if n <= mine { "login mine".to_owned() } else { "login".to_owned() };
        let (connection, mut words) = entries_of((1..=1_000).map(text));
        words.retain(|id, _| *id <= mine);
        let corpus = Corpus { entries: 1_000, mean_words: 1.0, common: &CommonTokens::default() };
        let within = [vec!["mine".to_owned()], vec!["login".to_owned()]];
        let effort = Effort { entries, ..FEW };
        let found =
            search(&connection, "login", effort, corpus, &within, |id| words.get(&id).copied()).expect("searches");
        let found: Vec<i64> = found.matches.iter().map(|m| m.entry).collect();
        assert!(!found.is_empty() && found.iter().all(|id| *id <= mine), "{mine} of {entries}: {found:?}");
    }
}

#[test]
fn a_removed_entry_leaves_no_word_in_the_index() {
    let (connection, _) = entries_of(["a rare zyzzyva".to_owned(), "another one".to_owned()].into_iter());
    remove(&connection, 1).expect("removes");
    check(&connection);
    let left = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, bool>(0)).expect("reads");
    assert!(!left("SELECT EXISTS (SELECT 1 FROM text_words WHERE term = 'zyzzyva')"));
    assert!(!left("SELECT EXISTS (SELECT 1 FROM text_index_data WHERE instr(CAST(block AS TEXT), 'yzzyva'))"));
    remove(&connection, 1).expect("nothing is left to remove");
    remove(&connection, 77).expect("it never was there");
    check(&connection);
    insert(&connection, 1, &tokens::of_text("again")).expect("the same entry again");
    check(&connection);
}

#[test]
fn a_name_with_symbols_is_found_as_a_whole() {
    let all = entries_of(
        ["vitamin C", "learn C++ now", "learn C# now", "issue #12", "12 eggs"].map(str::to_owned).into_iter(),
    );
    let first = |query: &str| found(&all, query, FEW)[0].0;
    assert_eq!((first("C++"), first("C#"), first("#12")), (2, 3, 4));
}

#[test]
fn a_part_of_a_word_is_found_if_no_entry_has_it_as_a_word() {
    let texts = ["a NestedRecyclerView", "com.a:id/recycler_main", "the view"].map(str::to_owned);
    let all = entries_of(texts.into_iter());
    let ids = |query: &str| found(&all, query, FEW).iter().map(|(id, _)| *id).collect::<Vec<_>>();
    assert_eq!(ids("edRecyc")[0], 1);
    assert_eq!(ids("ycler_ma")[0], 2);
    assert_eq!(ids("view").len(), 2, "a word that is there is no part of others");
    assert_eq!(ids("zz"), [0_i64; 0]);
}
