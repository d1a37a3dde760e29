//! Simple searches that `recall evaluate` measures beside the real one: words by `LIKE`, a textbook BM25, and FTS5's own
//! rank with its Porter stemmer.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use afd_base::text::{self, language::Language};
use afd_store::{Result, Sql as _, args};

/// Maximum number of query words that are searched for.
const MAX_WORDS: usize = 32;
/// BM25 parameters of the textbook.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// The texts that the baselines search.
pub struct Texts {
    connection: Connection,
    texts: HashMap<i64, String>,
}

/// Returns the distinct words of a query.
fn words_of(query: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let words = query.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).filter(|word| !word.is_empty());
    words.filter(|word| seen.insert(word.clone())).take(MAX_WORDS).collect()
}

/// Returns the entries best first, those with equal scores newest first.
fn best_first(scores: HashMap<i64, f64>, count: usize) -> Vec<i64> {
    let mut found: Vec<(i64, f64)> = scores.into_iter().filter(|(_, score)| *score > 0.0).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    found.into_iter().take(count).map(|(id, _)| id).collect()
}

/// Returns the stems of the English words in a text, without stop words.
fn stems(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words
        .filter(|word| !word.is_empty() && !Language::English.is_stop(word))
        .map(|w| Language::English.stem(&w))
        .collect()
}

impl Texts {
    /// Indexes texts by the row ids of their entries.
    ///
    /// # Errors
    /// If the index cannot be written.
    pub fn new(texts: HashMap<i64, String>) -> Result<Self> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch("CREATE VIRTUAL TABLE baseline USING fts5 (body, tokenize = 'porter unicode61')")?;
        for (id, body) in &texts {
            connection.run("INSERT INTO baseline (rowid, body) VALUES (:id, :body)", args! {id, body})?;
        }
        Ok(Self { connection, texts })
    }

    /// Returns the entries whose texts contain the most words of a query.
    pub fn like(&self, query: &str, among: &HashSet<i64>, count: usize) -> Vec<i64> {
        let words: Vec<String> = words_of(query).into_iter().filter(|word| !text::is_stop(word)).collect();
        let contained = |text: &str| words.iter().filter(|word| text.contains(word.as_str())).count() as f64;
        let scores = among.iter().filter_map(|id| Some((*id, contained(&self.texts.get(id)?.to_lowercase()))));
        best_first(scores.collect(), count)
    }

    /// Returns the entries that BM25 ranks first, with Porter's English stemmer and stop words.
    pub fn bm25(&self, query: &str, among: &HashSet<i64>, count: usize) -> Vec<i64> {
        let documents: HashMap<i64, Vec<String>> =
            among.iter().filter_map(|id| Some((*id, stems(self.texts.get(id)?)))).collect();
        let all = documents.len() as f64;
        let mean = documents.values().map(Vec::len).sum::<usize>() as f64 / all.max(1.0);
        let mut scores: HashMap<i64, f64> = HashMap::new();
        for word in stems(query).into_iter().collect::<HashSet<_>>() {
            let counts: Vec<(i64, f64, f64)> = documents
                .iter()
                .map(|(id, words)| (*id, words.iter().filter(|w| **w == word).count() as f64, words.len() as f64))
                .filter(|(_, count, _)| *count > 0.0)
                .collect();
            let having = counts.len() as f64;
            let rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
            for (id, count, length) in counts {
                let weight = count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length / mean.max(1.0)));
                *scores.entry(id).or_default() += rarity * weight;
            }
        }
        best_first(scores, count)
    }

    /// Returns the entries that FTS5 ranks first.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn fts5(&self, query: &str, among: &HashSet<i64>, count: usize) -> Result<Vec<i64>> {
        let words: Vec<String> = words_of(query).iter().map(|word| format!("\"{word}\"")).collect();
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let ranked: Vec<i64> = self.connection.all(
            "SELECT rowid FROM baseline WHERE baseline MATCH :words ORDER BY rank",
            args! {words: words.join(" OR ")},
            |row| row.get("rowid"),
        )?;
        Ok(ranked.into_iter().filter(|id| among.contains(id)).take(count).collect())
    }
}
