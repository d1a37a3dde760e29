//! Finds patterns about the same subject with similar vectors. Similarity alone cannot decide whether two patterns mean
//! the same, so such pairs are only reported.

use std::sync::Arc;

use afd_proto::pattern::Pattern;
use afd_proto::recall_upkeep::SimilarPatterns;

use super::Recall;
use crate::app::Core;
use afd_base::text::cut;
use afd_recall::entries::Filtered;
use afd_recall::index::Index;
use afd_recall::search::Scope;
use afd_recall::{entries, vectors};
use afd_store::{Connection, Reader, Result, StoreError};
use afd_workspace::patterns;

/// Minimum cosine for two patterns to be reported.
const NEAR: f64 = 0.95;
/// Maximum number of pairs that are reported.
const TOLD: usize = 20;
/// Maximum number of patterns that are examined, newest first.
const LOOKED_AT: i64 = 2_000;
/// Maximum number of patterns that are examined at a time.
const AT_A_TIME: usize = 50;
/// Maximum number of neighbours that are examined for each pattern.
const NEIGHBOURS: usize = 40;
/// Maximum length of the reported text of a pattern, in characters.
const BRIEF: usize = 200;

/// Returns pairs of patterns that may mean the same, found by comparing vectors of the configured or the built-in
/// model.
///
/// # Errors
/// If the database cannot be read.
pub async fn patterns(core: &Arc<Core>) -> std::result::Result<Vec<SimilarPatterns>, StoreError> {
    let current = core.recall.model(&core.config.get().recall.clone()).await;
    let identity = current.model.map(|model| model.identity().to_owned());
    Recall::read_first(core, identity.as_deref()).await?;
    let looked_at = core.store.read_all(|c| entries::of_kind(c, "pattern", LOOKED_AT)).await?;
    let mut pairs: Vec<SimilarPatterns> = Vec::new();
    for some in looked_at.chunks(AT_A_TIME) {
        let (own, identity, some) = (core.clone(), identity.clone(), some.to_vec());
        let found = core.store.read_all(move |c| near(&own.recall, c, identity.as_deref(), &some)).await?;
        pairs.extend(found);
        if pairs.len() >= TOLD {
            break;
        }
    }
    pairs.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then((a.id, a.other).cmp(&(b.id, b.other))));
    pairs.truncate(TOLD);
    Ok(pairs)
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
