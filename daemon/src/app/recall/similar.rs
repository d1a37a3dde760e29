//! Finds patterns about the same subject with similar vectors. Similarity alone cannot decide whether two patterns mean
//! the same, so such pairs are only reported.

use std::sync::Arc;

use afd_proto::pattern::Pattern;
use afd_proto::recall_upkeep::SimilarPatterns;

use super::Recall;
use crate::app::Core;
use afd_base::text::cut;
use afd_recall::filtered::Filtered;
use afd_recall::index::Index;
use afd_recall::search::Scope;
use afd_recall::{entries, vectors};
use afd_store::{Connection, Reader, Result, StoreError};
use afd_workspace::patterns;

/// Minimum cosine for two patterns to be reported.
const NEAR: f64 = 0.95;
/// Maximum number of pairs that are listed.
const TOLD: usize = 20;
/// Maximum number of patterns that are examined at a time.
const AT_A_TIME: usize = 50;
/// Maximum number of neighbours that are examined for each pattern.
const NEIGHBOURS: usize = 200;
/// Maximum length of the reported text of a pattern, in characters.
const BRIEF: usize = 200;

/// Returns the pairs of patterns that most likely mean the same, and the number of all pairs that may. They are found by
/// comparing vectors of the configured and the built-in model.
///
/// # Errors
/// If the database cannot be read.
pub async fn patterns(core: &Arc<Core>) -> std::result::Result<(Vec<SimilarPatterns>, usize), StoreError> {
    let current = core.recall.model(&core.config.get().recall.clone()).await;
    let identity = current.model.map(|model| model.identity().to_owned());
    Recall::read_first(core, identity.as_deref()).await?;
    let all = core.store.read_all(|c| entries::of_kind(c, "pattern")).await?;
    let (mut pairs, mut count): (Vec<SimilarPatterns>, usize) = (Vec::new(), 0);
    for some in all.chunks(AT_A_TIME) {
        let (own, identity, some) = (core.clone(), identity.clone(), some.to_vec());
        let found = core.store.read_all(move |c| near(&own.recall, c, identity.as_deref(), &some)).await?;
        count += found.len();
        pairs.extend(found);
        pairs.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then((a.id, a.other).cmp(&(b.id, b.other))));
        pairs.truncate(TOLD);
    }
    Ok((pairs, count))
}

/// Returns pairs of similar patterns: one from `some`, and an older one. `some` contains the entry id and row id of
/// each pattern.
fn near(recall: &Recall, c: &Connection, identity: Option<&str>, some: &[(i64, i64)]) -> Result<Vec<SimilarPatterns>> {
    recall.with_index(c, identity, |index, builtin, other| {
        let mut pairs = Vec::new();
        for (entry, row) in some {
            let Some(newer) = patterns::get(c, *row)? else { continue };
            for model in other.into_iter().chain(builtin) {
                for (near, similarity) in neighbours(index, c, model, *entry)? {
                    let Some(source) = entries::source_of(c, near)? else { continue };
                    let Some(older) = patterns::get(c, source.row)?.filter(|older| older.id < newer.id) else {
                        continue;
                    };
                    let is_told = pairs.iter().any(|p: &SimilarPatterns| (p.id, p.other) == (older.id, newer.id));
                    if !is_told && patterns::difference(&older, &newer).is_none() {
                        pairs.push(pair(&older, &newer, similarity));
                    }
                }
            }
        }
        Ok(pairs)
    })
}

fn neighbours(index: &Index, c: &Connection, model: i64, entry: i64) -> Result<Vec<(i64, f64)>> {
    let (Some(own), Some(vector)) = (index.get(entry), vectors::get(c, model, entry)?.filter(|v| !v.is_empty())) else {
        return Ok(Vec::new());
    };
    // Equal texts belong to other pages, or are merged automatically.
    let other = |f: &Filtered| f.gist != own.gist && f.app == own.app && f.private == own.private;
    let scope = Scope { reader: Reader::Keeper, types: vec![own.kind], archived: true, ..Scope::default() };
    let mut near = index.nearest(c, model, &vector, NEIGHBOURS, &scope, other)?;
    near.retain(|(id, cosine)| *id != entry && *cosine >= NEAR);
    Ok(near)
}

fn pair(older: &Pattern, newer: &Pattern, similarity: f64) -> SimilarPatterns {
    let brief = |text: &str| cut::brief(&cut::one_line(text), BRIEF);
    SimilarPatterns {
        id: older.id,
        text: brief(&older.text),
        other: newer.id,
        other_text: brief(&newer.text),
        similarity: (similarity * 1_000.0).round() / 1_000.0,
    }
}
