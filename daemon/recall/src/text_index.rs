//! The index of the text of all entries, ranked with BM25.
//!
//! The index is SQLite's FTS5 over the tokens of the analyser (`afd_base::text::tokens`). FTS5 finds the entries that
//! contain a token; the rank is computed here, because FTS5's own rank reads each match, and cannot filter before it
//! ranks.
//!
//! A query first reads the entries with its rare words, each word as if it occurred once. These are the candidates. A
//! word is *common* if more than [`Effort::entries`] entries contain it; the newest entries with common words are read
//! only if there are fewer candidates than [`Effort::depth`], and so are those that contain all words. The best
//! candidates are then ranked by their tokens, with each word counted.
//!
//! A word that no entry contains is looked up as the beginning of others (`Passwort` in `Passwortfeld`) and, if no entry
//! contains any word of the query, as a part of others (`ycler` in `RecyclerView`).
//!
//! Invariant: the limits in [`Effort`] bound the number of entries that a query reads, however many there are. How rare
//! a word is comes from the whole index, not from what the caller may see. The tests below check for several queries
//! that the first result is the same as if all entries were read.

use parking_lot::Mutex;
use rusqlite::Connection;
use rustc_hash::FxHashMap;

use afd_base::text::tokens::{self, Wanted};
use afd_store::{Result, Sql as _, args};

/// BM25 parameter `k1`: the influence of repeated words. Tuned on three conversations of LoCoMo, like `B`.
const K1: f64 = 1.0;
/// BM25 parameter `b`: the influence of an entry's length.
const B: f64 = 0.4;
/// Weight of a word in an entry at which the entry is taken to be all about it: a word that a short text repeats.
const FULL: f64 = 1.6;
/// Minimum number of candidates whose tokens are read.
const CANDIDATES: usize = 60;
/// Maximum number of entries with a property at which all of them are ranked, without looking up words.
const FEW: i64 = 150;
/// Number of entries with a word from which on the index filters them.
const SCOPED_FROM: i64 = 256;
/// Minimum rarity of a word, relative to the rarest word in the query. Words with a lower rarity are ignored, because
/// nearly all entries contain them.
const TELLS: f64 = 0.02;

/// Limits of a search, which bound its time.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Maximum number of words that are searched for.
    pub words: usize,
    /// Maximum number of entries that are read for each word.
    pub entries: usize,
    /// Number of entries from each list that are fused.
    pub depth: usize,
    /// Whether the search also reads entries for each common word, and looks up a word that no entry contains as a part
    /// of longer words.
    pub thorough: bool,
}

impl Effort {
    /// Limits for a search that a caller requested.
    pub const SEARCH: Self = Self { words: 48, entries: 5_000, depth: 120, thorough: true };
    /// Limits for automatic recall, which adds entries to other responses.
    pub const ASIDE: Self = Self { words: 10, entries: 400, depth: 10, thorough: false };

    /// Returns the maximum number of entries that are read for each word.
    fn limit(self) -> i64 {
        i64::try_from(self.entries).unwrap_or(i64::MAX)
    }
}

/// Adds the tokens of an entry to the index.
pub fn insert(connection: &Connection, entry: i64, tokens: &str) -> Result<()> {
    connection.run("INSERT INTO entry_texts (entry_id, tokens) VALUES (:entry, :tokens)", args! {entry, tokens})?;
    connection.run("INSERT INTO text_index (rowid, tokens) VALUES (:entry, :tokens)", args! {entry, tokens})?;
    Ok(())
}

/// Removes an entry from the index.
pub fn remove(connection: &Connection, entry: i64) -> Result<()> {
    // FTS5 reads the tokens to remove from the other table, so they must still be there.
    connection.run(
        "DELETE FROM text_index WHERE rowid = (SELECT entry_id FROM entry_texts WHERE entry_id = :entry)",
        args! {entry},
    )?;
    forget(connection, entry)
}

/// Removes the tokens of an entry that the index itself lacks.
pub fn forget(connection: &Connection, entry: i64) -> Result<()> {
    connection.run("DELETE FROM entry_texts WHERE entry_id = :entry", args! {entry})?;
    Ok(())
}

/// Returns the tokens of an entry; `None` if it is not in the index.
pub fn tokens_of(connection: &Connection, entry: i64) -> Result<Option<String>> {
    connection.first("SELECT tokens FROM entry_texts WHERE entry_id = :entry", args! {entry}, |row| row.get("tokens"))
}

/// Returns whether the index contains an entry under the first and the last of its tokens.
pub fn is_there(connection: &Connection, entry: i64) -> Result<bool> {
    let Some(tokens) = tokens_of(connection, entry)? else { return Ok(false) };
    let ends = [tokens.split(' ').next(), tokens.rsplit(' ').next()];
    let mut found =
        connection.prepare_cached("SELECT 1 FROM text_index WHERE text_index MATCH :expression AND rowid = :entry")?;
    for token in ends.into_iter().flatten() {
        if !found.exists(args! {expression: quoted(token), entry})? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Size of the full-text corpus.
#[derive(Debug, Clone, Copy)]
pub struct Corpus<'a> {
    /// Number of entries.
    pub entries: usize,
    /// Mean number of tokens per entry.
    pub mean_words: f64,
    /// Numbers of entries with common tokens.
    pub common: &'a CommonTokens,
}

/// Minimum number of entries with a token for which the number is kept.
const COMMON: i64 = 1_000;
/// Share by which the number of entries may change before common tokens are counted again.
const STALE: f64 = 0.02;

/// Cached numbers of entries that contain common tokens. FTS5 does not store these numbers: it scans all entries that
/// contain a token to count them.
#[derive(Debug, Default)]
pub struct CommonTokens(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    /// Number of entries at the time of the first count.
    entries: usize,
    having: FxHashMap<String, i64>,
}

impl CommonTokens {
    /// Returns the number of entries with a token.
    fn count(&self, connection: &Connection, token: &str, entries: usize) -> Result<i64> {
        let mut counted = self.0.lock();
        if counted.entries.abs_diff(entries) as f64 > STALE * entries as f64 {
            *counted = Counted { entries, having: FxHashMap::default() };
        }
        if let Some(having) = counted.having.get(token) {
            return Ok(*having);
        }
        drop(counted);
        let having = connection
            .first("SELECT doc FROM text_words WHERE term = :token", args! {token}, |row| row.get("doc"))?
            .unwrap_or(0);
        if having >= COMMON {
            self.0.lock().having.insert(token.to_owned(), having);
        }
        Ok(having)
    }
}

/// An entry that contains words of a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// Row id of the entry.
    pub entry: i64,
    /// BM25 score of the entry for the query.
    pub score: f64,
    /// Share of the query that the entry contains, weighted by the rarity of the words, 0 to 1.
    pub share: f64,
}

/// Result of a full-text search.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// The best matches, best first.
    pub matches: Vec<Match>,
    /// BM25 scores of all entries that were read, by row id; those outside of `matches` are estimates.
    scores: FxHashMap<i64, f64>,
    /// Score that an entry has if it is all about the words of the query that are in the index.
    full: f64,
    words: Vec<Rated>,
    aside: Vec<Rated>,
}

impl Found {
    /// Returns how close an entry is to the query by its words, 0 to 1.
    pub fn closeness(&self, entry: i64) -> f64 {
        let score = self.scores.get(&entry).copied().unwrap_or(0.0);
        if self.full > 0.0 { (score / self.full).min(1.0) } else { 0.0 }
    }

    /// Adds an entry that is not in the index as a match, if its tokens contain words of the query.
    pub fn add(&mut self, entry: i64, tokens: &str, corpus: Corpus<'_>) {
        let Some(found) = exact(&self.words, &self.aside, entry, tokens, corpus) else { return };
        self.scores.insert(entry, found.score);
        let at = self.matches.partition_point(|other| other.score >= found.score);
        self.matches.insert(at, found);
    }
}

/// A word of the query with its rarity.
#[derive(Debug, Clone)]
struct Rated {
    wanted: Wanted,
    /// Number of entries that contain the word.
    having: i64,
    /// Inverse document frequency, times the weight of the word in the query.
    rarity: f64,
}

impl Rated {
    /// Returns the expression that finds the entries with the word.
    fn expression(&self) -> String {
        let tokens: Vec<String> = self.wanted.tokens.iter().map(|token| quoted(token)).collect();
        format!("({})", tokens.join(" OR "))
    }
}

/// Returns a token as an FTS5 string.
fn quoted(token: &str) -> String {
    format!("\"{token}\"")
}

/// Returns the BM25 weight of a word that occurs `count` times in an entry with `words` tokens.
fn weight(count: f64, words: f64, corpus: Corpus<'_>) -> f64 {
    let norm = K1 * (1.0 - B + B * words / corpus.mean_words.max(1.0));
    count * (K1 + 1.0) / (count + norm)
}

/// Minimum length of a word that is looked up as a part of other words, in characters.
const MIN_PART: usize = 3;
/// Maximum number of longer words that are found for a part of a word.
const MAX_LONGER: i64 = 20;
/// Maximum number of words of the index that are looked at for a part of a word.
const LOOKED_AT: usize = 200_000;
/// Weight of a part of a word, relative to a whole word.
const PART: f64 = 0.7;

/// Returns tokens of the index that begin with a word or, if there are none and `anywhere` is set, contain it. They
/// replace the tokens of a word that no entry has.
fn longer(connection: &Connection, wanted: &Wanted, anywhere: bool) -> Result<Vec<String>> {
    let part = tokens::stored(&wanted.text);
    let stem = &wanted.tokens[0];
    if stem.chars().count() < MIN_PART || stem.contains(afd_base::text::is_dense) {
        return Ok(wanted.tokens.clone());
    }
    let mut found: Vec<String> = connection.all(
        "SELECT term FROM text_words WHERE term >= :stem AND term < :end LIMIT :most",
        args! {stem, end: format!("{stem}\u{10FFFF}"), most: MAX_LONGER},
        |row| row.get("term"),
    )?;
    if found.is_empty() && anywhere {
        let mut words = connection.prepare_cached("SELECT term FROM text_words")?;
        let mut rows = words.query([])?;
        for _ in 0..LOOKED_AT {
            let Some(row) = rows.next()? else { break };
            let term = row.get_ref(0)?.as_str().unwrap_or_default();
            if term.contains(&part) && (found.len() as i64) < MAX_LONGER {
                found.push(term.to_owned());
            }
        }
    }
    Ok(if found.is_empty() { wanted.tokens.clone() } else { found })
}

/// Returns the words of a query that are searched for, rarest first.
fn rated(connection: &Connection, query: &[Wanted], effort: Effort, corpus: Corpus<'_>) -> Result<Vec<Rated>> {
    let having = |tokens: &[String]| -> Result<i64> {
        tokens.iter().map(|token| corpus.common.count(connection, token, corpus.entries)).sum()
    };
    let mut counted = Vec::new();
    for wanted in query.iter().take(effort.words) {
        counted.push((having(&wanted.tokens)?, wanted.clone()));
    }
    let is_lost = counted.iter().all(|(found, wanted)| *found == 0 || wanted.weight < 1.0);
    for (found, wanted) in counted.iter_mut().filter(|(found, _)| effort.thorough && *found == 0) {
        wanted.tokens = longer(connection, wanted, is_lost)?;
        wanted.weight *= PART;
        *found = having(&wanted.tokens)?;
    }
    let mut rated = Vec::new();
    for (found, wanted) in counted {
        let all = (corpus.entries as f64).max(found as f64);
        let rarity = (1.0 + (all - found as f64 + 0.5) / (found as f64 + 0.5)).ln() * wanted.weight;
        rated.push(Rated { wanted, having: found, rarity });
    }
    rated.sort_by(|a, b| b.rarity.total_cmp(&a.rarity));
    let most = rated.first().map_or(0.0, |word| word.rarity);
    rated.retain(|word| word.rarity >= most * TELLS);
    Ok(rated)
}

/// Weight of a function word of the query. It tells the language of an entry, and little else.
const FUNCTION_WORD: f64 = 0.15;

/// Returns the function words of a query, which only count in entries that have other words of it.
fn aside(connection: &Connection, words: Vec<Wanted>, effort: Effort, corpus: Corpus<'_>) -> Result<Vec<Rated>> {
    let words: Vec<Wanted> = words.into_iter().map(|word| Wanted { weight: FUNCTION_WORD, ..word }).collect();
    rated(connection, &words, Effort { thorough: false, ..effort }, corpus)
}

/// Returns the words of a query that a search looks up, each with its rarity in the whole index, rarest first.
///
/// # Errors
/// If the database cannot be read.
pub fn words(connection: &Connection, query: &str, corpus: Corpus<'_>) -> Result<Vec<(f64, Wanted)>> {
    let rated = rated(connection, &tokens::of_query(query), Effort::SEARCH, corpus)?;
    Ok(rated.into_iter().map(|word| (word.rarity, word.wanted)).collect())
}

/// Calls `each` with the newest entries that an expression finds, up to `limit`.
fn read(connection: &Connection, expression: &str, limit: usize, mut each: impl FnMut(i64)) -> Result<()> {
    let mut read = connection.prepare_cached(
        "SELECT rowid FROM text_index WHERE text_index MATCH :expression ORDER BY rowid DESC LIMIT :limit",
    )?;
    let mut rows = read.query(args! {expression, limit: i64::try_from(limit).unwrap_or(i64::MAX)})?;
    while let Some(row) = rows.next()? {
        each(row.get(0)?);
    }
    Ok(())
}

/// Properties that entries must have. Each inner list has the tokens of alternative properties.
pub type Within = [Vec<String>];

/// Returns the expression that finds the entries with one of these tokens.
fn any_of(tokens: &[String]) -> String {
    let quoted: Vec<String> = tokens.iter().map(|token| quoted(token)).collect();
    format!("({})", quoted.join(" OR "))
}

/// The part of the index that a search is limited to.
enum Part {
    /// So few entries that all of them are ranked.
    Few(Vec<i64>),
    /// The entries that an expression finds; all entries if it is empty.
    Many(String),
}

impl Part {
    /// Returns the smallest part that contains all entries with the properties `within`. If one property has fewer entries
    /// than a search reads, the other properties are left to the caller's check, because FTS5 reads long lists slowly.
    fn of(connection: &Connection, within: &Within, effort: Effort, corpus: Corpus<'_>) -> Result<Self> {
        let count = |tokens: &Vec<String>| -> Result<i64> {
            tokens.iter().map(|token| corpus.common.count(connection, token, corpus.entries)).sum()
        };
        let mut smallest: Option<(i64, &Vec<String>)> = None;
        for tokens in within {
            let having = count(tokens)?;
            if smallest.is_none_or(|(least, _)| having < least) {
                smallest = Some((having, tokens));
            }
        }
        Ok(match smallest {
            Some((having, tokens)) if having <= FEW => {
                let mut few = Vec::new();
                read(connection, &any_of(tokens), FEW as usize, |entry| few.push(entry))?;
                Part::Few(few)
            }
            Some((having, tokens)) if having <= effort.limit() => Part::Many(any_of(tokens)),
            _ => Part::Many(within.iter().map(|tokens| any_of(tokens)).collect::<Vec<_>>().join(" AND ")),
        })
    }
}

/// Returns the entries that contain words of a query, best first. `words` returns the number of tokens in an entry, or
/// `None` if the search must not return the entry. All entries that `words` accepts have the properties `within`, which
/// keep other entries from using up the limits.
pub fn search(
    connection: &Connection,
    query: &str,
    effort: Effort,
    corpus: Corpus<'_>,
    within: &Within,
    words: impl Fn(i64) -> Option<u32>,
) -> Result<Found> {
    let (words_of_query, function_words) = tokens::of_query_with_function_words(query);
    let rated = rated(connection, &words_of_query, effort, corpus)?;
    let aside = aside(connection, function_words, effort, corpus)?;
    let known = rated.iter().filter(|word| word.having > 0);
    let full = known.map(|word| word.rarity * FULL).sum();
    let (mut scores, candidates) = match Part::of(connection, within, effort, corpus)? {
        Part::Few(entries) => {
            (FxHashMap::default(), entries.into_iter().filter(|entry| words(*entry).is_some()).collect())
        }
        Part::Many(within) => {
            let scores = estimated(connection, &rated, effort, &within, |entry, rarity| {
                Some(rarity * weight(1.0, f64::from(words(entry)?), corpus))
            })?;
            let best = best(&scores, CANDIDATES.max(effort.depth));
            (scores, best)
        }
    };
    let mut matches = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let Some(tokens) = tokens_of(connection, candidate)? else { continue };
        if let Some(found) = exact(&rated, &aside, candidate, &tokens, corpus) {
            scores.insert(found.entry, found.score);
            matches.push(found);
        }
    }
    matches.sort_by(|a: &Match, b| b.score.total_cmp(&a.score).then(b.entry.cmp(&a.entry)));
    matches.truncate(effort.depth);
    Ok(Found { matches, scores, full, words: rated, aside })
}

/// Returns the entries that are read for the words of a query, each with the sum of `score` over the words found in it.
/// `score` returns the score of an entry for a word of a given rarity, or `None` for an entry to leave out.
fn estimated(
    connection: &Connection,
    rated: &[Rated],
    effort: Effort,
    within: &str,
    score: impl Fn(i64, f64) -> Option<f64>,
) -> Result<FxHashMap<i64, f64>> {
    let mut scores: FxHashMap<i64, f64> = FxHashMap::default();
    let scoped = |words: String| if within.is_empty() { words } else { format!("({words}) AND {within}") };
    let add = |scores: &mut FxHashMap<i64, f64>, expression: String, rarity: f64| {
        read(connection, &expression, effort.entries, |entry| {
            if let Some(score) = score(entry, rarity) {
                *scores.entry(entry).or_default() += score;
            }
        })
    };
    let (rare, common): (Vec<&Rated>, Vec<&Rated>) =
        rated.iter().filter(|word| word.having > 0).partition(|word| word.having <= effort.limit());
    for word in rare {
        // The index itself leaves out what the caller may not see, which pays if a word has many entries.
        let expression = if word.having > SCOPED_FROM { scoped(word.expression()) } else { word.expression() };
        add(&mut scores, expression, word.rarity)?;
    }
    if scores.len() < effort.depth {
        for word in common.iter().filter(|_| effort.thorough) {
            add(&mut scores, scoped(word.expression()), word.rarity)?;
        }
        if common.len() > 1 {
            let all: Vec<String> = common.iter().map(|word| word.expression()).collect();
            let rarity = common.iter().map(|word| word.rarity).sum();
            let mut with_all = FxHashMap::default();
            add(&mut with_all, scoped(all.join(" AND ")), rarity)?;
            with_all.into_iter().for_each(|(entry, score)| {
                let known = scores.entry(entry).or_default();
                *known = known.max(score);
            });
        }
    }
    Ok(scores)
}

/// Returns the match of an entry with these tokens; `None` if it contains no word of the query.
fn exact(rated: &[Rated], aside: &[Rated], entry: i64, tokens: &str, corpus: Corpus<'_>) -> Option<Match> {
    let mut counts: FxHashMap<&str, u32> =
        rated.iter().chain(aside).flat_map(|word| &word.wanted.tokens).map(|token| (token.as_str(), 0)).collect();
    let mut words = 0;
    for token in tokens.split(' ') {
        words += 1;
        if let Some(count) = counts.get_mut(token) {
            *count += 1;
        }
    }
    let count = |word: &Rated| {
        word.wanted.tokens.iter().filter_map(|token| counts.get(token.as_str())).max().copied().unwrap_or(0)
    };
    let score_of = |word: &Rated| word.rarity * weight(f64::from(count(word)), f64::from(words), corpus);
    let sum: f64 = rated.iter().map(|word| word.rarity).sum();
    let has: f64 = rated.iter().filter(|word| count(word) > 0).map(|word| word.rarity).sum();
    let score = rated.iter().chain(aside).map(score_of).sum();
    (has > 0.0).then(|| Match { entry, score, share: has / sum })
}

/// Returns the `count` best entries. Among entries with equal scores, the newer ones are returned.
fn best(scores: &FxHashMap<i64, f64>, count: usize) -> Vec<i64> {
    let mut all: Vec<(f64, i64)> = scores.iter().map(|(entry, score)| (*score, *entry)).collect();
    if all.len() > count {
        all.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        all.truncate(count);
    }
    all.into_iter().map(|(_, entry)| entry).collect()
}

#[cfg(test)]
mod tests;
