//! Hybrid search: fuses the ranks from full-text search with those from vector search.
//!
//! Each list ranks entries by its own measure: the BM25 score, or the cosine similarity between vectors of a model.
//! These measures cannot be compared, so the ranks are fused by reciprocal rank fusion (Cormack et al. 2009): the score
//! is the sum of `weight / (K + rank)` over all lists, divided by its maximum. Age and confidence then reduce the score
//! a little, and entries with the same wording are folded into one result.
//!
//! Full text weighs less if the configured model knows the language, unless some entry contains the words of the query.
//! A nearest-neighbour search always returns something, so a match that no list supports well is marked as weak.
//!
//! Invariants: a score is at most 1, and an entry of this store is never folded into one from another store. While
//! there are entries of this store left, those from other stores fill at most half of the results. The end-to-end test
//! `evaluation.rs` compares the recall and the mean reciprocal rank with those of full-text search alone on
//! `tests/recall` (the `held` part was never used for tuning).

use std::collections::HashMap;

use afd_proto::recall::SearchMode;
use rusqlite::Connection;

use super::entries::Filtered;
use super::nearest::VectorIndex;
pub use super::scope::{List, QueryVector, Scope};
use super::terms::{self, Corpus, Effort};
use afd_store::Result;

/// Constant `K` in the fusion formula. A larger value reduces the advantage of the first ranks.
const K: f64 = 4.0;
/// Maximum share by which an entry's age reduces its score.
const BY_AGE: f64 = 0.15;
/// Maximum share by which an entry's low confidence reduces its score.
const BY_CONFIDENCE: f64 = 0.15;
/// Minimum cosine similarity of a vector match, for other models and for the built-in one. Matches below it are
/// ignored.
const FLOOR: [f64; 2] = [0.15, 0.1];

/// A search request.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Text of the query.
    pub text: String,
    /// Vectors of the query, one for each model.
    pub vectors: Vec<QueryVector>,
    /// Degree to which the configured model knows the language of the query, 0 to 1; 0 if no model is configured.
    pub fluency: f64,
    /// Whether the configured model knows at least the script of the query.
    pub knows_script: bool,
    /// Which lists are used: full text, vectors or both.
    pub mode: SearchMode,
    /// Filter for the entries.
    pub scope: Scope,
    /// Limits of the full-text search.
    pub effort: Effort,
    /// Age at which half of the maximum reduction for age applies, in days.
    pub half_life_days: f64,
    /// Maximum number of results.
    pub limit: usize,
    /// Whether near duplicates are folded into one result.
    pub fold: bool,
}

/// An entry's rank and measure in a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// List in which the entry was found.
    pub list: List,
    /// Rank of the entry in the list, from 1.
    pub rank: usize,
    /// Measure by which the list is ranked: BM25 score for full text, cosine similarity for vectors.
    pub measure: f64,
    /// Share of the query that the entry contains, 0 to 1; for vectors, the cosine similarity.
    pub share: f64,
}

/// A found entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// Row id of the entry.
    pub entry: i64,
    /// Score of the entry, at most 1; a higher score is a better match.
    pub score: f64,
    /// Places of the entry in the lists.
    pub places: Vec<Place>,
    /// Factors by which the score was multiplied: for age, then for confidence.
    pub factors: (f64, f64),
    /// Whether the match is weak.
    pub is_weak: bool,
    /// Row ids of the near duplicates that were folded into this entry.
    pub folded: Vec<i64>,
}

impl Ranked {
    /// Returns the result for an entry that was found only by vector search with the built-in model.
    pub fn by_vector(entry: i64, cosine: f64) -> Self {
        let places = vec![Place { list: List::Builtin, rank: 1, measure: cosine, share: cosine }];
        Self { entry, score: cosine, places, factors: (1.0, 1.0), is_weak: false, folded: Vec::new() }
    }
}

/// Searches the entries. `corpus` is the size of the full-text corpus.
///
/// # Errors
/// If the database cannot be read.
pub fn run(connection: &Connection, index: &dyn VectorIndex, corpus: Corpus, ask: &Ask) -> Result<Vec<Ranked>> {
    let allowed = |id: i64| ask.scope.only.as_ref().is_none_or(|only| only.contains(&id));
    let mut found: HashMap<i64, Vec<Place>> = HashMap::new();
    let mut weights: Vec<(List, f64)> = Vec::new();
    let depth = ask.effort.depth.max(ask.limit);
    if ask.mode != SearchMode::Vector {
        let words = |id: i64| index.get(id).filter(|f| allowed(id) && ask.scope.allows(f)).map(|f| f.words);
        let mut listed =
            terms::search(connection, &terms::of(&ask.text), Effort { depth, ..ask.effort }, corpus, words)?;
        for (entry, terms) in index.foreign(&ask.scope) {
            listed.add(entry, terms, corpus);
        }
        weights.push((List::Text, text_weight(ask.fluency, listed.share)));
        enter(&mut found, List::Text, listed.matches.into_iter().map(|m| (m.entry, m.score, m.share)));
    }
    if ask.mode != SearchMode::Text {
        for query in &ask.vectors {
            let mut listed = index.nearest(connection, query, depth, &ask.scope)?;
            let floor = FLOOR[usize::from(query.list == List::Builtin)];
            listed.retain(|(_, cosine)| *cosine >= floor);
            enter(
                &mut found,
                query.list,
                listed.into_iter().take(depth).map(|(entry, cosine)| (entry, cosine, cosine)),
            );
            weights.push((query.list, query.weight));
        }
    }
    let most: f64 = weights.iter().map(|(_, weight)| weight / (K + 1.0)).sum();
    let ranked = found.into_iter().filter_map(|(entry, places)| {
        let fused: f64 = places.iter().map(|place| weight_of(&weights, place.list) / (K + place.rank as f64)).sum();
        let filtered = index.get(entry)?;
        let factors = factors(filtered, ask);
        let is_weak = is_weak(&places, ask);
        Some(Ranked {
            entry,
            score: fused / most * factors.0 * factors.1,
            places,
            factors,
            is_weak,
            folded: Vec::new(),
        })
    });
    let mut ranked: Vec<Ranked> = ranked.collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.entry.cmp(&a.entry)));
    let ranked = own_first_half(ranked, ask.limit);
    Ok(if ask.fold { fold(index, ask, ranked) } else { ranked.into_iter().take(ask.limit).collect() })
}

/// Minimum share of the words of the query, weighted by rarity, at which a full-text match is not weak.
const HAS_WORDS: f64 = 0.25;
/// Minimum cosine at which a vector match by the built-in model is not weak.
const NEAR_BUILTIN: f64 = 0.17;
/// Minimum cosine at which a vector match by a model that knows the language of the query is not weak.
const NEAR_FLUENT: f64 = 0.35;
/// Maximum amount added to `NEAR_FLUENT` for a model that only knows the script of the query.
const NEAR_FOREIGN_MORE: f64 = 0.1;

/// Returns whether a match is weak. A nearest-neighbour search always returns something, even for a question without an
/// answer.
fn is_weak(places: &[Place], ask: &Ask) -> bool {
    let speaks = |place: &Place| match place.list {
        List::Text => place.share >= HAS_WORDS,
        List::Builtin => place.measure >= NEAR_BUILTIN,
        List::Vectors => ask.knows_script && place.measure >= NEAR_FLUENT + NEAR_FOREIGN_MORE * (1.0 - ask.fluency),
    };
    !places.iter().any(speaks)
}

/// Moves entries from other stores behind this store's entries once they fill half of the results, so that they cannot
/// displace this store's entries.
fn own_first_half(ranked: Vec<Ranked>, limit: usize) -> Vec<Ranked> {
    let mut room = limit.div_ceil(2);
    let (mut kept, rest): (Vec<Ranked>, Vec<Ranked>) = ranked.into_iter().partition(|hit| {
        let stays = hit.entry > 0 || room > 0;
        room -= usize::from(stays && hit.entry < 0);
        stays
    });
    kept.extend(rest);
    kept
}

/// Weight of full text if the configured model knows the language of the query and an entry contains the whole query.
const TEXT: f64 = 3.0;

/// Returns the weight of full text. `share` is the largest share of the query that an entry contains. If the configured
/// model knows the language, the weight grows with `share`: a query with a rare word, such as an error code, is
/// contained almost completely in some entry, but a paraphrase shares few words with any entry.
fn text_weight(fluency: f64, share: f64) -> f64 {
    fluency * TEXT * share + (1.0 - fluency)
}

fn weight_of(weights: &[(List, f64)], list: List) -> f64 {
    weights.iter().find(|(of, _)| *of == list).map_or(0.0, |(_, weight)| *weight)
}

fn enter(found: &mut HashMap<i64, Vec<Place>>, list: List, listed: impl Iterator<Item = (i64, f64, f64)>) {
    for (i, (entry, measure, share)) in listed.enumerate() {
        found.entry(entry).or_default().push(Place { list, rank: i + 1, measure, share });
    }
}

/// Returns the factors by which age and confidence reduce the score.
fn factors(entry: &Filtered, ask: &Ask) -> (f64, f64) {
    let days = ask.scope.now.saturating_sub(entry.at).max(0) as f64 / 86_400_000.0;
    let age = 1.0 - BY_AGE * (1.0 - 0.5_f64.powf(days / ask.half_life_days.max(1.0)));
    (age, 1.0 - BY_CONFIDENCE * (1.0 - f64::from(entry.confidence).clamp(0.0, 1.0)))
}

/// Merges entries with the same wording into one result, at the position of the first. The entry to show is chosen in
/// this order: an entry of this store, then an entry that comes from the user, then the entry with the highest
/// confidence.
fn fold(index: &dyn VectorIndex, ask: &Ask, ranked: Vec<Ranked>) -> Vec<Ranked> {
    let mut kept: Vec<Ranked> = Vec::new();
    for mut hit in ranked {
        let own = index.get(hit.entry);
        let alike =
            |a: &Filtered, b: &Filtered| a.kind == b.kind && a.gist == b.gist && a.app == b.app && a.site == b.site;
        let same = kept.iter_mut().find(|other| own.zip(index.get(other.entry)).is_some_and(|(a, b)| alike(a, b)));
        if let Some(other) = same {
            // Entries of this store take precedence over those from other stores, which can claim anything, and
            // statements by the user over those from pages and tools.
            let believed =
                |entry: i64| index.get(entry).map_or((false, false, 0.0), |f| (entry > 0, f.by_user, f.confidence));
            if believed(hit.entry) > believed(other.entry) {
                std::mem::swap(&mut other.entry, &mut hit.entry);
            }
            other.folded.push(hit.entry);
        } else if kept.len() < ask.limit {
            kept.push(hit);
        }
    }
    kept
}
