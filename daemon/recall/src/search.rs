//! Search: full text and vectors, fused.
//!
//! Each list ranks entries by its own measure; ranks are fused by reciprocal rank (Cormack et al. 2009), because the
//! measures cannot be compared. Then age and confidence count a little, and entries that say the same are folded into
//! the best of them.

use std::collections::HashMap;

use afd_proto::recall::SearchMode;
use rusqlite::Connection;

use super::entries::Filtered;
use super::nearest::VectorIndex;
pub use super::scope::{List, QueryVector, Scope};
use super::terms::{self, Corpus, Effort};
use afd_store::Result;

/// Constant of the fusion: the larger, the less the first ranks stand out.
const K: f64 = 4.0;
/// Share of the score that age can take, and that confidence can take.
const BY_AGE: f64 = 0.15;
const BY_CONFIDENCE: f64 = 0.15;
/// Minimum cosine similarity of a match, for other models and for the built-in one. Vectors below it are ignored.
const FLOOR: [f64; 2] = [0.15, 0.1];

/// A search.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The text.
    pub text: String,
    /// Its vectors.
    pub vectors: Vec<QueryVector>,
    /// How well the model of the settings knows the language of the text, 0 to 1; 0 without such a model.
    pub fluency: f64,
    /// Whether it knows at least the script of the text.
    pub knows_script: bool,
    /// Which lists are used.
    pub mode: SearchMode,
    /// What may be found.
    pub scope: Scope,
    /// How far full text reads.
    pub effort: Effort,
    /// Days after which age has taken half of what it can.
    pub half_life_days: f64,
    /// Maximum number of results.
    pub limit: usize,
    /// Whether to fold near duplicates.
    pub fold: bool,
}

/// Rank and measure of an entry in a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// The list.
    pub list: List,
    /// Rank, from 1.
    pub rank: usize,
    /// Score of BM25, or cosine.
    pub measure: f64,
    /// Share of the query that the entry has; of vectors the cosine.
    pub share: f64,
}

/// A found entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// Row id of the entry.
    pub entry: i64,
    /// Score, at most 1.
    pub score: f64,
    /// Where it stood.
    pub places: Vec<Place>,
    /// Factors by age and confidence.
    pub factors: (f64, f64),
    /// Whether little speaks for it.
    pub is_weak: bool,
    /// Near duplicates that it stands for.
    pub folded: Vec<i64>,
}

impl Ranked {
    /// Returns an entry that was found by a vector of the built-in model alone.
    pub fn by_vector(entry: i64, cosine: f64) -> Self {
        let places = vec![Place { list: List::Builtin, rank: 1, measure: cosine, share: cosine }];
        Self { entry, score: cosine, places, factors: (1.0, 1.0), is_weak: false, folded: Vec::new() }
    }
}

/// Searches the entries. `corpus` is the size of what full text searches.
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

/// Share of the words of the query, by their rarity, from which on they speak for an entry.
const HAS_WORDS: f64 = 0.25;
/// Cosines from which on vectors speak for an entry: of the built-in model, of one that knows the language of the
/// query, and what is added for one that knows its script only.
const NEAR_BUILTIN: f64 = 0.17;
const NEAR_FLUENT: f64 = 0.35;
const NEAR_FOREIGN_MORE: f64 = 0.1;

/// Returns whether little speaks for an entry: something is always nearest, also to what has no answer.
fn is_weak(places: &[Place], ask: &Ask) -> bool {
    let speaks = |place: &Place| match place.list {
        List::Text => place.share >= HAS_WORDS,
        List::Builtin => place.measure >= NEAR_BUILTIN,
        List::Vectors => ask.knows_script && place.measure >= NEAR_FLUENT + NEAR_FOREIGN_MORE * (1.0 - ask.fluency),
    };
    !places.iter().any(speaks)
}

/// Moves entries of other stores behind one's own once half of the results are theirs: whatever they hold, they do not
/// crowd these out.
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

/// Weight of full text beside a model that knows the language of the query, if an entry has all of the query.
const TEXT: f64 = 3.0;

/// Returns the weight of full text. Beside a good model it counts as far as some entry has the words of the query: one
/// with a rare word such as an error code has nearly all of them, while of a paraphrase all have few. `share` is the
/// largest share of the query that an entry has.
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

/// Returns the factors of age and confidence.
fn factors(entry: &Filtered, ask: &Ask) -> (f64, f64) {
    let days = ask.scope.now.saturating_sub(entry.at).max(0) as f64 / 86_400_000.0;
    let age = 1.0 - BY_AGE * (1.0 - 0.5_f64.powf(days / ask.half_life_days.max(1.0)));
    (age, 1.0 - BY_CONFIDENCE * (1.0 - f64::from(entry.confidence).clamp(0.0, 1.0)))
}

/// Folds entries that say the same into the first of them; one that the user said, else the one that is believed most
/// stands for all.
fn fold(index: &dyn VectorIndex, ask: &Ask, ranked: Vec<Ranked>) -> Vec<Ranked> {
    let mut kept: Vec<Ranked> = Vec::new();
    for mut hit in ranked {
        let own = index.get(hit.entry);
        let alike =
            |a: &Filtered, b: &Filtered| a.kind == b.kind && a.gist == b.gist && a.app == b.app && a.site == b.site;
        let same = kept.iter_mut().find(|other| own.zip(index.get(other.entry)).is_some_and(|(a, b)| alike(a, b)));
        if let Some(other) = same {
            // One's own stands for those of other stores, which may claim what they like, and what the user said for
            // what pages and tools say.
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
