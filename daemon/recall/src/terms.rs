//! Full-text search over entries, ranked with BM25.
//!
//! The index is a plain table of hashed terms, which is written together with the entry. A term is *common* if it
//! occurs in at least [`Effort::entries`] entries. For rare terms, all entries that contain them are read; these are
//! the candidates. Common terms are only looked up for the best candidates. If there are fewer candidates than
//! [`Effort::depth`], the entries with common terms are read, too, newest first.
//!
//! The rarity of a common term is an estimate: the term is assumed to be as frequent in all entries as in the newest
//! ones.
//!
//! Invariant: the limits in [`Effort`] bound the number of rows that a query reads, however many entries there are. The
//! tests below check for several queries that the first result is the same as if all entries were read.

use std::collections::HashMap;

use rusqlite::Connection;
use rustc_hash::FxHashMap;

use afd_base::text::{self, cut};
use afd_store::{Result, Sql as _, args};

/// Maximum length of the indexed text, in characters.
const MAX_TEXT: usize = 24_000;
/// Maximum number of distinct terms in the indexed text.
const MAX_TERMS: usize = 512;
/// Length of a term's key, in bytes.
const KEY: usize = 5;
/// BM25 parameter `k1`: the influence of repeated terms.
const K1: f64 = 1.2;
/// BM25 parameter `b`: the influence of an entry's length.
const B: f64 = 0.6;

/// Terms in a piece of text: their keys and counts, and the number of words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// Keys of the terms, each with its count.
    pub counts: Vec<(i64, i64)>,
    /// Number of words in the text.
    pub words: i64,
}

/// Limits of a search, which bound its time.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Maximum number of query terms that are searched for.
    pub terms: usize,
    /// Maximum number of entries that are read for each term, newest first.
    pub entries: usize,
    /// Number of entries from each list that are fused.
    pub depth: usize,
}

impl Effort {
    /// Limits for a search that a caller requested.
    pub const SEARCH: Self = Self { terms: 48, entries: 10_000, depth: 60 };
    /// Limits for automatic recall, which adds entries to other responses.
    pub const ASIDE: Self = Self { terms: 10, entries: 400, depth: 10 };
}

fn key(word: &str) -> i64 {
    text::hash(text::stem(word)) & 0xff_ffff_ffff
}

/// Returns the terms in `text`, in the order in which they first occur.
pub fn of(text: &str) -> Terms {
    let mut terms = Terms::default();
    let mut places: HashMap<i64, usize> = HashMap::new();
    for word in text::words(cut::head(text, MAX_TEXT)) {
        terms.words += 1;
        if text::is_stop(&word) {
            continue;
        }
        let key = key(&word);
        match places.get(&key) {
            Some(place) => terms.counts[*place].1 += 1,
            None if terms.counts.len() < MAX_TERMS => {
                places.insert(key, terms.counts.len());
                terms.counts.push((key, 1));
            }
            None => {}
        }
    }
    terms
}

impl Terms {
    /// Returns the keys in the form in which they are stored with an entry.
    pub fn keys(&self) -> Vec<u8> {
        self.counts.iter().flat_map(|(key, _)| key.to_le_bytes().into_iter().take(KEY)).collect()
    }
}

fn stored_keys(keys: &[u8]) -> impl Iterator<Item = i64> {
    keys.chunks_exact(KEY).map(|bytes| bytes.iter().rev().fold(0, |key, byte| key << 8 | i64::from(*byte)))
}

/// Adds an entry to the index.
pub fn insert(connection: &Connection, entry: i64, terms: &Terms) -> Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT OR REPLACE INTO entry_terms (term, entry_id, count) VALUES (:term, :entry_id, :count)",
    )?;
    for (term, count) in &terms.counts {
        insert.execute(args! {term, entry_id: entry, count})?;
    }
    Ok(())
}

/// Removes an entry from the index, given the keys that are stored with the entry.
pub fn remove(connection: &Connection, entry: i64, keys: &[u8]) -> Result<()> {
    let mut delete =
        connection.prepare_cached("DELETE FROM entry_terms WHERE term = :term AND entry_id = :entry_id")?;
    for term in stored_keys(keys) {
        delete.execute(args! {term, entry_id: entry})?;
    }
    Ok(())
}

/// Returns whether the index contains the first and the last of an entry's stored keys.
pub fn are_there(connection: &Connection, entry: i64, keys: &[u8]) -> Result<bool> {
    let mut found = connection.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM entry_terms WHERE term = :term AND entry_id = :entry_id) AS found",
    )?;
    let mut ends = stored_keys(keys).take(1).chain(stored_keys(&keys[keys.len().saturating_sub(KEY)..]));
    ends.try_fold(true, |all, term| {
        Ok(all && found.query_row(args! {term, entry_id: entry}, |row| row.get::<_, bool>("found"))?)
    })
}

/// Size of the full-text corpus.
#[derive(Debug, Clone, Copy)]
pub struct Corpus {
    /// Number of entries.
    pub entries: usize,
    /// Mean number of words per entry.
    pub mean_words: f64,
}

/// An entry that contains query terms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// Row id of the entry.
    pub entry: i64,
    /// BM25 score of the entry for the query.
    pub score: f64,
    /// Share of the query that the entry contains, weighted by the rarity of the terms, 0 to 1.
    pub share: f64,
}

/// Result of a full-text search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// The best matches, best first.
    pub matches: Vec<Match>,
    /// Largest share of the query that any match contains, 0 to 1.
    pub share: f64,
    /// Query terms with their rarities.
    rarities: Vec<(i64, f64)>,
}

impl Found {
    /// Adds an entry that is not in the index as a match, if its text contains query terms.
    pub fn add(&mut self, entry: i64, text: &Terms, corpus: Corpus) {
        let (mut score, mut has, mut sum) = (0.0, 0.0, 0.0);
        for (term, rarity) in &self.rarities {
            sum += rarity;
            if let Some((_, count)) = text.counts.iter().find(|(key, _)| key == term) {
                score += rarity * weight(*count as f64, text.words as f64, corpus);
                has += rarity;
            }
        }
        if has > 0.0 {
            let found = Match { entry, score, share: has / sum };
            self.share = self.share.max(found.share);
            let at = self.matches.partition_point(|other| other.score >= score);
            self.matches.insert(at, found);
        }
    }
}

/// Returns the BM25 weight of a term that occurs `count` times in an entry with `words` words.
fn weight(count: f64, words: f64, corpus: Corpus) -> f64 {
    let norm = K1 * (1.0 - B + B * words / corpus.mean_words.max(1.0));
    count * (K1 + 1.0) / (count + norm)
}

/// A query term.
#[derive(Debug)]
struct Wanted {
    key: i64,
    /// Rarity: the inverse document frequency, increased if the query repeats the term.
    rarity: f64,
    /// Entries that contain the term, with the counts of the term, newest first; empty if the term is common.
    entries: Vec<(i64, i64)>,
    /// Oldest entry that would be read for the term if the term is common; otherwise `None`.
    oldest: Option<i64>,
}

/// Minimum rarity of a term, relative to the rarest term in the query. Terms with a lower rarity are ignored, because
/// nearly all entries contain them.
const TELLS: f64 = 0.02;

/// Returns the query terms that are searched for.
fn wanted(connection: &Connection, query: &Terms, effort: Effort, corpus: Corpus) -> Result<Vec<Wanted>> {
    let newest = super::extent::last_id(connection)?;
    let mut wanted = Vec::new();
    for (key, times) in query.counts.iter().take(effort.terms) {
        let oldest = oldest_read(connection, *key, effort)?;
        let entries = if oldest.is_none() { read(connection, *key, effort)? } else { Vec::new() };
        // A common term is assumed to be as frequent in all entries as in the newest ones.
        let having = oldest.map_or(entries.len() as f64, |oldest| {
            effort.entries as f64 * newest as f64 / (newest - oldest + 1).max(1) as f64
        });
        let all = (corpus.entries as f64).max(entries.len() as f64);
        let having = having.min(all);
        let rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln() * (1.0 + (*times as f64).ln());
        wanted.push(Wanted { key: *key, rarity, entries, oldest });
    }
    let most = wanted.iter().map(|term| term.rarity).fold(0.0, f64::max);
    wanted.retain(|term| term.rarity >= most * TELLS);
    Ok(wanted)
}

/// Returns the oldest entry that is read for a term if the term is common, otherwise `None`.
fn oldest_read(connection: &Connection, term: i64, effort: Effort) -> Result<Option<i64>> {
    let before = i64::try_from(effort.entries).unwrap_or(i64::MAX) - 1;
    connection.first(
        "SELECT entry_id FROM entry_terms WHERE term = :term ORDER BY entry_id DESC LIMIT 1 OFFSET :before",
        args! {term, before},
        |row| row.get("entry_id"),
    )
}

/// Returns the newest entries that contain a term, with the counts of the term, newest first.
fn read(connection: &Connection, term: i64, effort: Effort) -> Result<Vec<(i64, i64)>> {
    let mut read = connection.prepare_cached(
        "SELECT entry_id, count FROM entry_terms WHERE term = :term ORDER BY entry_id DESC LIMIT :limit",
    )?;
    // Look up the column indexes only once, because there are many rows.
    let (of_entry, of_count) = (read.column_index("entry_id")?, read.column_index("count")?);
    let mut rows = read.query(args! {term, limit: i64::try_from(effort.entries).unwrap_or(i64::MAX)})?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        entries.push((row.get(of_entry)?, row.get(of_count)?));
    }
    Ok(entries)
}

/// Minimum number of candidates for which common terms that were not read are looked up.
const CANDIDATES: usize = 80;

/// Returns the entries that contain query terms, best first. `words` returns the number of words in an entry, or `None`
/// if the search must not return the entry.
///
/// Entries with a rare term are candidates. The entries with common terms are read, up to the limit, only if there are
/// too few candidates. For the best candidates, common terms that were not read are looked up.
pub fn search(
    connection: &Connection,
    query: &Terms,
    effort: Effort,
    corpus: Corpus,
    words: impl Fn(i64) -> Option<u32>,
) -> Result<Found> {
    let terms = wanted(connection, query, effort, corpus)?;
    let mut scores: FxHashMap<i64, Scored> = FxHashMap::default();
    let mut add = |rarity: f64, entries: &[(i64, i64)]| {
        for (entry, count) in entries {
            let Some(words) = words(*entry) else { continue };
            scores
                .entry(*entry)
                .or_insert(Scored { entry: *entry, words, score: 0.0, has: 0.0 })
                .add(rarity, *count, corpus);
        }
        scores.len()
    };
    let candidates = terms.iter().map(|term| add(term.rarity, &term.entries)).last().unwrap_or(0);
    let are_read = candidates < effort.depth;
    let common = || terms.iter().filter(|term| term.oldest.is_some());
    for term in common().filter(|_| are_read) {
        add(term.rarity, &read(connection, term.key, effort)?);
    }
    let mut scored: Vec<Scored> = scores.into_values().collect();
    best(&mut scored, CANDIDATES.max(effort.depth * 2));
    for candidate in &mut scored {
        let entry = candidate.entry;
        for term in common().filter(|term| !are_read || term.oldest.is_some_and(|oldest| entry < oldest)) {
            if let Some(count) = count_in(connection, term.key, entry)? {
                candidate.add(term.rarity, count, corpus);
            }
        }
    }
    best(&mut scored, effort.depth);
    let sum: f64 = terms.iter().map(|term| term.rarity).sum();
    let matches: Vec<Match> =
        scored.iter().map(|s| Match { entry: s.entry, score: s.score, share: s.has / sum }).collect();
    let share = matches.iter().map(|m| m.share).fold(0.0, f64::max);
    Ok(Found { matches, share, rarities: terms.iter().map(|term| (term.key, term.rarity)).collect() })
}

/// Returns how often a term occurs in an entry, if the entry contains it.
fn count_in(connection: &Connection, term: i64, entry: i64) -> Result<Option<i64>> {
    connection.first(
        "SELECT count FROM entry_terms WHERE term = :term AND entry_id = :entry_id",
        args! {term, entry_id: entry},
        |row| row.get("count"),
    )
}

/// An entry with its score for the terms that have been evaluated so far.
#[derive(Debug, Clone, Copy)]
struct Scored {
    entry: i64,
    words: u32,
    score: f64,
    /// Sum of the rarities of the query terms that the entry contains.
    has: f64,
}

impl Scored {
    fn add(&mut self, rarity: f64, count: i64, corpus: Corpus) {
        self.score += rarity * weight(count as f64, f64::from(self.words), corpus);
        self.has += rarity;
    }
}

/// Keeps the `count` best entries, best first. Among entries with equal scores, the newer one comes first.
fn best(scored: &mut Vec<Scored>, count: usize) {
    let better = |a: &Scored, b: &Scored| b.score.total_cmp(&a.score).then(b.entry.cmp(&a.entry));
    if scored.len() > count {
        scored.select_nth_unstable_by(count, better);
        scored.truncate(count);
    }
    scored.sort_by(better);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_keys_are_those_of_the_terms() {
        let terms = of("Login fails: ERR_504 on SM-G991B 登录失败");
        assert_eq!(
            stored_keys(&terms.keys()).collect::<Vec<_>>(),
            terms.counts.iter().map(|(key, _)| *key).collect::<Vec<_>>()
        );
        assert!(terms.words >= 7, "{terms:?}");
        assert_eq!(of("the and of"), Terms { counts: Vec::new(), words: 3 });
    }
    const FEW: Effort = Effort { terms: 10, entries: 20, depth: 5 };

    /// Returns entries with these texts, the first with id 1.
    fn entries_of(texts: impl Iterator<Item = String>) -> (Connection, HashMap<i64, u32>) {
        let connection = afd_store::in_memory().expect("opens");
        let mut words = HashMap::new();
        for (i, text) in texts.enumerate() {
            let (id, terms) = (i as i64 + 1, of(&text));
            connection
                .execute(
                    "INSERT INTO entries (id, uid, kind, row_id, due, version, type, words, content, at)
                     VALUES (:id, 'u' || :id, 'note', :id, 0, :id, 'note', :words, 1, 1)",
                    args! {id, words: terms.words},
                )
                .expect("inserts");
            insert(&connection, id, &terms).expect("indexes");
            words.insert(id, terms.words as u32);
        }
        (connection, words)
    }

    fn found(of_entries: &(Connection, HashMap<i64, u32>), query: &str, effort: Effort) -> Vec<(i64, f64)> {
        let (connection, words) = of_entries;
        let corpus = Corpus { entries: words.len(), mean_words: 3.0 };
        let found = search(connection, &of(query), effort, corpus, |id| words.get(&id).copied()).expect("searches");
        found.matches.iter().map(|m| (m.entry, (m.share * 100.0).round() / 100.0)).collect()
    }

    #[test]
    fn common_terms_count_for_what_has_a_rare_one_and_tell_by_how_common_they_are() {
        let often = |n: i64| n % 4 == 0;
        let text = |n: i64| match n {
            7 => "page other coupon".to_owned(),
            8 => "page login often coupon".to_owned(),
            n if often(n) => format!("page login often word{n}"),
            n => format!("page login other word{n}"),
        };
        let all = entries_of((1..=200).map(text));
        let rare = found(&all, "often coupon", FEW);
        assert_eq!((rare[0], rare[1].0, rare.len()), ((8, 1.0), 7, 5));
        assert!(rare[1].1 < 0.9, "it lacks a term that counts: {rare:?}");
        let newest = found(&all, "login page", FEW);
        assert_eq!(
            newest,
            [(200, 1.0), (199, 1.0), (198, 1.0), (197, 1.0), (196, 1.0)],
            "of terms that all have the newest are found"
        );
        let best = found(&all, "page often", FEW);
        assert!(
            best.len() == 5 && best.iter().all(|(id, share)| often(*id) && *share > 0.9),
            "one that a quarter has tells more: {best:?}"
        );
        let whole = Effort { entries: 10_000, ..FEW };
        let first = |found: Vec<(i64, f64)>| found.first().map(|(id, _)| *id);
        for query in ["login coupon", "often coupon", "word31 often login", "other word31"] {
            assert_eq!(
                first(found(&all, query, FEW)),
                first(found(&all, query, whole)),
                "{query}: as if all were read"
            );
        }
    }
    #[test]
    fn of_common_terms_an_entry_that_has_them_all_is_found_behind_many_newer_ones() {
        let text = |n: i64| match n {
            2_000 => "late often".to_owned(),
            n if n % 4 == 0 => format!("often word{n}"),
            n if n % 3 == 0 => format!("late word{n}"),
            n => format!("other word{n}"),
        };
        let all = entries_of((1..=3_000).map(text));
        let some = Effort { entries: 300, ..FEW };
        assert_eq!(found(&all, "late often", some)[0], (2_000, 1.0));
        assert_eq!(
            found(&all, "late often word7", some)[..2].iter().map(|(id, _)| *id).collect::<Vec<_>>(),
            [7, 2_000]
        );
    }
}
