//! Full-text search over entries: which have which terms, ranked by BM25.
//!
//! The index is a plain table of hashed terms, as for messages: it is written with the entry, and a common term is read only so far.

use std::collections::HashMap;

use rusqlite::{Connection, named_params};
use rustc_hash::FxHashMap;

use crate::store::Result;
use crate::text::{self, cut};

/// Maximum length of the indexed text, characters, and maximum number of its different terms.
const MAX_TEXT: usize = 24_000;
const MAX_TERMS: usize = 512;
/// Bytes of the key of a term.
const KEY: usize = 5;
/// How much repetition counts, and how much the length of an entry: the usual parameters of BM25.
const K1: f64 = 1.2;
const B: f64 = 0.6;

/// Terms of a text: keys with how often they occur, and the number of its words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// Keys, and counts.
    pub counts: Vec<(i64, i64)>,
    /// Number of words.
    pub words: i64,
}

/// Limits of a search, so that it takes no longer than it may.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Maximum number of terms of the query.
    pub terms: usize,
    /// Maximum number of entries read for each; newer ones come first.
    pub entries: usize,
    /// Entries of each list that are fused.
    pub depth: usize,
}

impl Effort {
    /// For a search that somebody asked for.
    pub const SEARCH: Self = Self { terms: 48, entries: 10_000, depth: 60 };
    /// For what is offered beside another answer.
    pub const ASIDE: Self = Self { terms: 10, entries: 800, depth: 10 };
}

fn key(word: &str) -> i64 {
    text::hash(text::stem(word)) & 0xff_ffff_ffff
}

/// Returns the terms of a text, in the order in which they first occur.
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
    /// Returns the keys as they are stored with the entry.
    pub fn keys(&self) -> Vec<u8> {
        self.counts.iter().flat_map(|(key, _)| key.to_le_bytes().into_iter().take(KEY)).collect()
    }
}

fn stored_keys(keys: &[u8]) -> impl Iterator<Item = i64> {
    keys.chunks_exact(KEY).map(|bytes| bytes.iter().rev().fold(0, |key, byte| key << 8 | i64::from(*byte)))
}

/// Adds an entry to the index.
pub fn insert(connection: &Connection, entry: i64, terms: &Terms) -> Result<()> {
    let mut insert =
        connection.prepare_cached("INSERT OR REPLACE INTO entry_terms (term, entry_id, count) VALUES (:term, :entry_id, :count)")?;
    for (term, count) in &terms.counts {
        insert.execute(named_params! {":term": term, ":entry_id": entry, ":count": count})?;
    }
    Ok(())
}

/// Removes an entry, given the keys that are stored with it.
pub fn remove(connection: &Connection, entry: i64, keys: &[u8]) -> Result<()> {
    let mut delete = connection.prepare_cached("DELETE FROM entry_terms WHERE term = :term AND entry_id = :entry_id")?;
    for term in stored_keys(keys) {
        delete.execute(named_params! {":term": term, ":entry_id": entry})?;
    }
    Ok(())
}

/// Returns whether the first and the last of an entry's stored keys are in the index.
pub fn are_there(connection: &Connection, entry: i64, keys: &[u8]) -> Result<bool> {
    let mut found =
        connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM entry_terms WHERE term = :term AND entry_id = :entry_id) AS found")?;
    let mut ends = stored_keys(keys).take(1).chain(stored_keys(&keys[keys.len().saturating_sub(KEY)..]));
    ends.try_fold(true, |all, term| {
        Ok(all && found.query_row(named_params! {":term": term, ":entry_id": entry}, |row| row.get::<_, bool>("found"))?)
    })
}

/// Size of what is searched.
#[derive(Debug, Clone, Copy)]
pub struct Corpus {
    /// Number of entries.
    pub entries: usize,
    /// Mean number of words of an entry.
    pub mean_words: f64,
}

/// An entry that has terms of a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// Row id of the entry.
    pub entry: i64,
    /// Score of BM25.
    pub score: f64,
    /// Share of the query that it has, by the rarity of its terms: 0 to 1.
    pub share: f64,
}

/// What full text finds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// The best matches, best first.
    pub matches: Vec<Match>,
    /// Largest share of the query that any entry has.
    pub share: f64,
    /// Terms of the query, with how much each tells by its rarity.
    rarities: Vec<(i64, f64)>,
}

impl Found {
    /// Adds a text that is not in the index, if it has terms of the query.
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

/// Returns what a term counts that an entry of some words has some times.
fn weight(count: f64, words: f64, corpus: Corpus) -> f64 {
    let norm = K1 * (1.0 - B + B * words / corpus.mean_words.max(1.0));
    count * (K1 + 1.0) / (count + norm)
}

/// Returns the entries that have terms of a query. `words` returns the number of words of an entry that may be found.
pub fn search(connection: &Connection, query: &Terms, effort: Effort, corpus: Corpus, words: impl Fn(i64) -> Option<u32>) -> Result<Found> {
    let mut scores: FxHashMap<i64, (f64, f64)> = FxHashMap::default();
    let mut rarities = Vec::new();
    let mut read =
        connection.prepare_cached("SELECT entry_id, count FROM entry_terms WHERE term = :term ORDER BY entry_id DESC LIMIT :limit")?;
    // Looked up once: there are many rows.
    let (of_entry, of_count) = (read.column_index("entry_id")?, read.column_index("count")?);
    let limit = i64::try_from(effort.entries).unwrap_or(i64::MAX);
    let mut found: Vec<(i64, i64)> = Vec::new();
    for (term, wanted) in query.counts.iter().take(effort.terms) {
        found.clear();
        let mut rows = read.query(named_params! {":term": term, ":limit": limit})?;
        while let Some(row) = rows.next()? {
            found.push((row.get(of_entry)?, row.get(of_count)?));
        }
        // Of a term that is not read to its end more entries have it; they are as many as there are at most.
        let having = if found.len() < effort.entries { found.len() } else { corpus.entries.max(found.len()) };
        let all = corpus.entries.max(having) as f64;
        let rarity = (1.0 + (all - having as f64 + 0.5) / (having as f64 + 0.5)).ln() * (1.0 + (*wanted as f64).ln());
        rarities.push((*term, rarity));
        for (entry, count) in &found {
            let Some(length) = words(*entry) else { continue };
            let own = scores.entry(*entry).or_default();
            own.0 += rarity * weight(*count as f64, f64::from(length), corpus);
            own.1 += rarity;
        }
    }
    let sum: f64 = rarities.iter().map(|(_, rarity)| rarity).sum();
    let matches = scores.into_iter().map(|(entry, (score, own))| Match { entry, score, share: own / sum });
    let mut matches: Vec<Match> = matches.collect();
    let share = matches.iter().map(|m| m.share).fold(0.0, f64::max);
    let better = |a: &Match, b: &Match| b.score.total_cmp(&a.score).then(b.entry.cmp(&a.entry));
    if matches.len() > effort.depth {
        matches.select_nth_unstable_by(effort.depth, better);
        matches.truncate(effort.depth);
    }
    matches.sort_by(better);
    Ok(Found { matches, share, rarities })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_keys_are_those_of_the_terms() {
        let terms = of("Login fails: ERR_504 on SM-G991B 登录失败");
        assert_eq!(stored_keys(&terms.keys()).collect::<Vec<_>>(), terms.counts.iter().map(|(key, _)| *key).collect::<Vec<_>>());
        assert!(terms.words >= 7, "{terms:?}");
        assert_eq!(of("the and of"), Terms { counts: Vec::new(), words: 3 });
    }
}
