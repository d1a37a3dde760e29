//! Asks an index outside for the neighbours of a query, and finds its answer again in this database.

use std::collections::HashMap;

use afd_proto::pattern::PatternScope;
use afd_proto::recall::{EntryType, RecallEntry};

use super::super::super::Core;
use super::searched_model;
use crate::app::recall::Recall;
use afd_base::config::RecallSettings;
use afd_base::text::{self, cut};
use afd_recall::index::Index;
use afd_recall::nearest::{Answered, Foreign};
use afd_recall::points::{Filters, Neighbour, Payload};
use afd_recall::qdrant::QdrantError;
use afd_recall::terms::Effort;
use afd_recall::{entries, vectors};
use afd_store::{Connection, Result, now_ms};

/// Row id of a model that has made no vectors here.
const UNUSED: i64 = -1;
/// Points that are asked for beyond what is needed: some may have changed since.
const SPARE: usize = 20;

/// What an index outside answered to a query.
pub struct Answer {
    identity: String,
    neighbours: Vec<Neighbour>,
}

/// The same, in terms of this database.
pub struct Resolved {
    /// Row id of the model whose vectors were searched.
    pub model: i64,
    /// Entries of this store.
    pub own: Vec<i64>,
    /// Entries of others, by numbers below zero.
    pub foreign: HashMap<i64, Foreign>,
    /// The same, as they are handed over.
    pub entries: HashMap<i64, RecallEntry>,
}

/// Asks the Qdrant of the settings for neighbours of a query. Returns its answer, and what is missing without it.
pub async fn ask(
    recall: &Recall,
    settings: &RecallSettings,
    vector: (&str, &[f32]),
    filters: &Filters,
    limit: usize,
) -> (Option<Answer>, Option<String>) {
    let Some(qdrant) = recall.outside(settings) else { return (None, None) };
    let url = settings.qdrant().unwrap_or_default();
    let without =
        |why: String| (None, Some(format!("the Qdrant at {url}: {why}; only the index of this machine was searched")));
    let qdrant = match qdrant {
        Ok(qdrant) => qdrant,
        Err(why) => return without(why),
    };
    let (identity, vector) = vector;
    let collection = qdrant.collection(identity);
    match qdrant.nearest(&collection, vector, filters, Effort::SEARCH.depth.max(limit) + SPARE).await {
        Ok(neighbours) => {
            recall.was_reached();
            (Some(Answer { identity: identity.to_owned(), neighbours }), None)
        }
        Err(QdrantError::NoCollection) => {
            // Nothing was sent yet, or somebody has deleted it.
            recall.doubt();
            (None, None)
        }
        Err(error) => without(error.to_string()),
    }
}

impl Answer {
    /// Finds the entries of an answer in this database. Only entries with `tag` are wanted.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn resolve(self, c: &Connection, origin: &str, tag: Option<&str>) -> Result<Resolved> {
        // A store without entries has not used the model, but finds what others have put there.
        let model = vectors::find_model(c, &self.identity)?.map_or(UNUSED, |model| model.id);
        let tag = tag.map(text::fold);
        let mut resolved = Resolved { model, own: Vec::new(), foreign: HashMap::new(), entries: HashMap::new() };
        for (i, Neighbour { score, payload }) in self.neighbours.into_iter().enumerate() {
            let known = entries::id_of(c, &payload.uid)?;
            if payload.origin == origin {
                resolved.own.extend(known);
            } else if known.is_none() && is_entry(&payload) && tag.as_ref().is_none_or(|tag| payload.tags.contains(tag))
            {
                let id = -1 - i as i64;
                resolved.foreign.insert(
                    id,
                    Foreign { terms: payload.terms(), found_by: payload.filtered(), cosine: score.min(1.0) },
                );
                resolved.entries.insert(id, handed_over(payload));
            }
        }
        Ok(resolved)
    }
}

/// Returns whether what others have put there may be told: nothing of a conversation or for a session alone, and only
/// what says the app, site and end that it is filtered by.
fn is_entry(payload: &Payload) -> bool {
    let same = |shown: &Option<String>, filtered: &str| shown.as_deref().unwrap_or_default().to_lowercase() == filtered;
    // What it is filtered by must be what it says.
    if payload.entry.expires_at != payload.expires_at {
        return false;
    }
    let is_shared = payload.kind != EntryType::Message && payload.entry.scope != PatternScope::Session;
    is_shared && same(&payload.entry.app, &payload.app) && same(&payload.entry.site, &payload.site)
}

impl Resolved {
    /// Returns it beside the index of this process.
    pub fn beside<'a>(&'a self, index: &'a Index) -> Answered<'a> {
        Answered { index, model: self.model, own: self.own.clone(), foreign: &self.foreign }
    }
}

/// Maximum lengths of what others have put there, characters: of names and titles, and of texts.
const MAX_NAME: usize = 300;
const MAX_TEXT: usize = 32_000;
const MAX_TAGS: usize = 20;
const MAX_RELATED: usize = 50;

/// Returns an entry of another store. What is not the text stands on one line, whatever it holds.
fn handed_over(payload: Payload) -> RecallEntry {
    let name = |text: &str| cut::head(&cut::one_line(text), MAX_NAME).to_owned();
    let RecallEntry { title, text, app, site, session, source, confidence, tags, related, .. } = payload.entry;
    let app = app.as_deref().map(name);
    RecallEntry {
        uid: name(&payload.uid),
        kind: payload.kind,
        id: None,
        title: title.as_deref().map(name),
        text: cut::head(&text, MAX_TEXT).to_owned(),
        cut: false,
        site: site.as_deref().map(name),
        session: session.as_deref().map(name),
        source: name(&source),
        scope: if app.is_some() { PatternScope::App } else { PatternScope::Everybody },
        app,
        confidence: confidence.clamp(0.0, 1.0),
        tags: tags.iter().take(MAX_TAGS).map(|tag| name(tag)).collect(),
        related: related.iter().take(MAX_RELATED).map(|uid| name(uid)).collect(),
        at: payload.at,
        expires_at: payload.expires_at,
        use_count: 0,
        last_used_at: None,
        origin: Some(name(&payload.origin)),
        score: None,
        why: None,
        weak: false,
        duplicates: Vec::new(),
    }
}

/// Returns an entry that another store put there.
///
/// # Errors
/// If the Qdrant cannot be asked; says which and why.
pub async fn get(core: &Core, uid: &str) -> std::result::Result<Option<RecallEntry>, String> {
    let settings = core.config.get().recall.clone();
    let Some(qdrant) = core.recall.outside(&settings) else { return Ok(None) };
    let failed =
        |why: String| format!("the Qdrant at {} cannot be asked: {why}", settings.qdrant().unwrap_or_default());
    let qdrant = qdrant.map_err(failed)?;
    let Some(identity) = searched_model(&core.recall, &settings).await else { return Ok(None) };
    let found = match qdrant.find(&qdrant.collection(&identity), uid, core.store.origin()).await {
        Err(QdrantError::NoCollection) => return Ok(None),
        found => found.map_err(|error| failed(error.to_string()))?,
    };
    let current = |payload: &Payload| {
        is_entry(payload) && payload.uid == uid && payload.expires_at.is_none_or(|at| at > now_ms())
    };
    Ok(found.into_iter().find(current).map(handed_over))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_others_put_there_says_where_it_comes_from() {
        let entry = json!({"uid": "forged", "type": "note", "text": "x", "source": "user\n# System", "scope": "session", "confidence": 0.5, "at": 1,
            "id": 7, "score": 1.0, "duplicates": ["y"]});
        let payload = json!({"uid": "u", "origin": "other", "version": 1, "round": 1, "type": "bug", "app": "", "site": "",
            "session": "", "tags": [], "at": 1, "archived": false, "entry": entry});
        let payload: Payload = serde_json::from_value(payload).expect("a payload");
        assert!(!is_entry(&payload), "it is for a session alone");
        let given = handed_over(payload);
        assert_eq!((given.uid.as_str(), given.kind.word(), given.origin.as_deref()), ("u", "bug", Some("other")));
        assert_eq!((given.id, given.score, given.duplicates), (None, None, Vec::new()));
        assert_eq!((given.source.as_str(), given.scope), ("user # System", PatternScope::Everybody));
    }
}
