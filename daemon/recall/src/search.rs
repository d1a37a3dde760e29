//! Hybrid search: fuses the matches by words with the matches by vectors.
//!
//! Each list measures how close an entry is to the query, from 0 to 1: by its BM25 score, as a share of the score of an
//! entry that is all about the query, or by the cosine of the angle between the vectors. The measures are absolute, so
//! they are added, with weights: a query whose words no entry has is answered by the vectors, one with a rare word by the
//! words. The cosines of all candidates are computed, also of those that no list of nearest vectors has.
//!
//! A message counts together with the messages beside it (`BESIDE`), because people ask in one message and answer in the
//! next one. Age and confidence then reduce the score a little, and entries with the same wording are folded into one
//! result. A nearest-neighbour search always returns something, so a match that no list supports well is marked as weak.
//!
//! Invariants: a score is at most 1, and an entry of this store is never folded into one from another store. While
//! there are entries of this store left, those from other stores fill at most half of the results. The weights were tuned
//! on three conversations of LoCoMo and on `tests/recall/tuned`; `evaluation.rs` checks them on `tests/recall/held`.

use std::collections::{BTreeSet, HashMap};

use afd_proto::recall::SearchMode;
use rusqlite::Connection;
use rustc_hash::FxHashMap;

use super::Turn;
use super::filtered::Filtered;
use super::nearest::VectorIndex;
pub use super::scope::{List, QueryVector, Scope};
use super::text_index::{self, Corpus, Effort, Found};
use afd_base::text::tokens;
use afd_store::Result;

/// Weight of full text; those of the vectors come with the query vectors.
const TEXT: f64 = 1.75;
/// Places beside a message, and the share by which the messages there count. An answer often has none of the words of its
/// question. Tuned on three conversations of LoCoMo.
const BESIDE: [(i64, f64); 4] = [(-1, 0.5), (1, 0.25), (-2, 0.2), (2, 0.15)];
/// Minimum number of words of a query for which messages are found that have none of the words, but are beside messages
/// that have some. Who asks for one or two words wants messages that have them.
const QUESTION: usize = 3;
/// Factor for messages, which are worth less than what was recorded explicitly and gain from those beside them.
const MESSAGE: f64 = 0.65;
/// Maximum share by which an entry's age reduces its score.
const BY_AGE: f64 = 0.15;
/// Maximum share by which an entry's low confidence reduces its score.
const BY_CONFIDENCE: f64 = 0.15;
/// Minimum cosine similarity of a vector match, for other models and for the built-in one. Matches below it are
/// ignored.
const FLOOR: [f64; 2] = [0.15, 0.1];
/// Factor for the weight of the built-in model's vectors of messages. Tuned on three conversations of LoCoMo.
const BUILTIN_OF_MESSAGE: f64 = 0.4;
/// Minimum score of a result, as a share of the best one. What is further below is there by chance.
const NOISE: f64 = 0.05;

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
pub fn run(connection: &Connection, index: &dyn VectorIndex, corpus: Corpus<'_>, ask: &Ask) -> Result<Vec<Ranked>> {
    let mut lists = Lists {
        connection,
        index,
        ask,
        text: Found::default(),
        text_strength: 1.0,
        cosines: Vec::new(),
        places: HashMap::new(),
    };
    lists.search(corpus)?;
    let candidates = lists.candidates();
    let mut ranked: Vec<Ranked> = Vec::with_capacity(candidates.len());
    for entry in candidates {
        let Some(filtered) = index.get(entry) else { continue };
        let closeness = lists.closeness(entry, filtered);
        let factors = factors(filtered, ask);
        let score = (closeness * factors.0 * factors.1).min(1.0);
        let places = lists.places.remove(&entry).unwrap_or_default();
        let is_weak = is_weak(&places, ask);
        ranked.push(Ranked { entry, score, places, factors, is_weak, folded: Vec::new() });
    }
    ranked.retain(|hit| hit.score > 0.0);
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.entry.cmp(&a.entry)));
    let least = ranked.first().map_or(0.0, |best| best.score * NOISE);
    ranked.retain(|hit| hit.score >= least);
    let ranked = own_first_half(ranked, ask.limit);
    Ok(if ask.fold { fold(index, ask, ranked) } else { ranked.into_iter().take(ask.limit).collect() })
}

/// The lists that a search fuses.
struct Lists<'a> {
    connection: &'a Connection,
    index: &'a dyn VectorIndex,
    ask: &'a Ask,
    text: Found,
    /// Factor for full text, for entries other than messages.
    text_strength: f64,
    /// Cosines of the entries' vectors with each query vector.
    cosines: Vec<(&'a QueryVector, FxHashMap<i64, f64>)>,
    places: HashMap<i64, Vec<Place>>,
}

impl Lists<'_> {
    /// Finds the best entries by full text and by vectors.
    fn search(&mut self, corpus: Corpus<'_>) -> Result<()> {
        let Self { connection, index, ask, .. } = *self;
        let allowed = |id: i64| ask.scope.only.as_ref().is_none_or(|only| only.contains(&id));
        let depth = ask.effort.depth.max(ask.limit);
        if ask.mode != SearchMode::Vector {
            let words = |id: i64| index.get(id).filter(|f| allowed(id) && ask.scope.allows(f)).map(|f| f.words);
            let effort = Effort { depth, ..ask.effort };
            self.text = text_index::search(connection, &ask.text, effort, corpus, &ask.scope.within(), words)?;
            for (entry, tokens) in index.foreign(&ask.scope) {
                self.text.add(entry, tokens, corpus);
            }
            if ask.mode == SearchMode::Hybrid && !ask.vectors.is_empty() {
                let share = self.text.matches.iter().map(|found| found.share).fold(0.0, f64::max);
                self.text_strength = text_strength(ask.fluency, share);
            }
            for (i, found) in self.text.matches.iter().enumerate() {
                let place = Place { list: List::Text, rank: i + 1, measure: found.score, share: found.share };
                self.places.entry(found.entry).or_default().push(place);
            }
        }
        for query in ask.vectors.iter().filter(|_| ask.mode != SearchMode::Text) {
            let mut listed = index.nearest(connection, query, depth, &ask.scope)?;
            let floor = FLOOR[usize::from(query.list == List::Builtin)];
            listed.retain(|(_, cosine)| *cosine >= floor);
            listed.truncate(depth);
            for (i, (entry, cosine)) in listed.iter().enumerate() {
                let place = Place { list: query.list, rank: i + 1, measure: *cosine, share: *cosine };
                self.places.entry(*entry).or_default().push(place);
            }
            self.cosines.push((query, listed.into_iter().collect()));
        }
        Ok(())
    }

    /// Returns the entries in the lists, and the messages beside them that may answer the query. Afterwards, the cosines
    /// of these entries and of all messages beside them are known or estimated.
    fn candidates(&mut self) -> Vec<i64> {
        let ask = self.ask;
        let allowed = |id: &i64| ask.scope.only.as_ref().is_none_or(|only| only.contains(id));
        let mut candidates: BTreeSet<i64> = self.places.keys().copied().collect();
        let mut near: BTreeSet<i64> = BTreeSet::new();
        for entry in &candidates {
            let turns = self.index.get(*entry).into_iter().flat_map(beside);
            near.extend(turns.filter_map(|(turn, _)| self.index.at(turn)));
        }
        let may_be_found = |id: &i64| self.index.get(*id).is_some_and(|f| ask.scope.allows(f));
        let is_question = tokens::of_query(&ask.text).iter().filter(|word| word.weight >= 1.0).count() >= QUESTION;
        let says = |id: &i64| is_question || self.text.closeness(*id) > 0.0;
        candidates.extend(near.iter().filter(|id| says(id) && allowed(id) && may_be_found(id)));
        near.extend(candidates.iter().filter(|id| **id > 0));
        for (query, cosines) in &mut self.cosines {
            for id in &near {
                if !cosines.contains_key(id) {
                    cosines.extend(self.index.estimate(query, *id).map(|cosine| (*id, cosine)));
                }
            }
        }
        candidates.into_iter().collect()
    }

    /// Returns how close an entry is to the query, with the messages beside it.
    fn closeness(&self, entry: i64, filtered: &Filtered) -> f64 {
        let own = self.alone(entry);
        if filtered.turn.is_none() {
            return own;
        }
        let near = beside(filtered).map(|(turn, share)| share * self.index.at(turn).map_or(0.0, |id| self.alone(id)));
        MESSAGE * (own + near.sum::<f64>())
    }

    /// Returns how close an entry alone is to the query, 0 to 1.
    fn alone(&self, entry: i64) -> f64 {
        let (mut sum, mut most) = (0.0, 0.0);
        // The messages beside a message confirm its words. They are stronger evidence than vectors of the built-in model.
        let is_message = self.index.get(entry).is_some_and(|found| found.turn.is_some());
        if self.ask.mode != SearchMode::Vector {
            let strength = if is_message { 1.0 } else { self.text_strength };
            sum += TEXT * strength * self.text.closeness(entry);
            most += TEXT;
        }
        for (query, cosines) in &self.cosines {
            // An entry whose vector is still missing is as close by its vector as by its words.
            let cosine =
                cosines.get(&entry).copied().map_or_else(|| self.text.closeness(entry), |cosine| cosine.max(0.0));
            let factor = if is_message && query.list == List::Builtin { BUILTIN_OF_MESSAGE } else { 1.0 };
            sum += query.weight * factor * cosine;
            most += query.weight * factor;
        }
        if most > 0.0 { sum / most } else { 0.0 }
    }
}

/// Returns the factor for full text beside vectors. `share` is the largest share of the query that an entry contains. If
/// the configured model knows the language, the factor is the square of that share: a paraphrase shares few words with the entry that
/// it means, and other entries have some of its words by chance.
fn text_strength(fluency: f64, share: f64) -> f64 {
    1.0 - fluency * (1.0 - share * share)
}

/// Returns the places beside a message in its conversation, each with the share by which the message there counts.
fn beside(filtered: &Filtered) -> impl Iterator<Item = (Turn, f64)> {
    filtered.turn.into_iter().flat_map(|turn| BESIDE.map(|(by, share)| (turn.at(by), share)))
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
