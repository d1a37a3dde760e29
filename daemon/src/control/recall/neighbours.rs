//! Asks an index outside for the neighbours of a query, and finds its answer again in this database.

use std::collections::HashMap;

use afd_proto::pattern::PatternScope;
use afd_proto::recall::{EntryType, RecallEntry};
use rusqlite::Connection;

use super::super::Core;
use super::outside::searched_model;
use crate::config::RecallSettings;
use crate::recall::index::Index;
use crate::recall::nearest::{Answered, Foreign};
use crate::recall::points::{Filters, Neighbour, Payload};
use crate::recall::qdrant::QdrantError;
use crate::recall::terms::Effort;
use crate::recall::{entries, outbox, vectors};
use crate::store::{Result, now_ms};
use crate::text::cut;

/// Changes that a search looks at itself because they were not sent yet; beyond that it uses the index of this machine.
const BEHIND: i64 = 500;
/// Points that are asked for beyond what is needed: some may have changed since.
const SPARE: usize = 20;

/// What an index outside answered to a query.
pub struct Answer {
    url: String,
    collection: String,
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
    /// Entries whose changes were not sent yet; `None` if there are many.
    pub behind: Option<Vec<i64>>,
}

/// Asks the Qdrant of the settings for neighbours of a query. Returns its answer, and what is missing without it.
pub async fn ask(
    core: &Core,
    settings: &RecallSettings,
    vector: (&str, &[f32]),
    filters: &Filters,
    limit: usize,
) -> (Option<Answer>, Option<String>) {
    let Some(qdrant) = core.recall.outside(settings) else { return (None, None) };
    let url = settings.qdrant_url.clone().unwrap_or_default();
    let without = |why: String| (None, Some(format!("the Qdrant at {url}: {why}; only the index of this machine was searched")));
    let qdrant = match qdrant {
        Ok(qdrant) => qdrant,
        Err(why) => return without(why),
    };
    let (identity, vector) = vector;
    let collection = qdrant.collection(identity);
    match qdrant.nearest(&collection, vector, filters, Effort::SEARCH.depth.max(limit) + SPARE).await {
        Ok(neighbours) => {
            let answer = Answer { url: qdrant.url().to_owned(), collection, identity: identity.to_owned(), neighbours };
            (Some(answer), None)
        }
        // Nothing was sent yet.
        Err(QdrantError::NoCollection) => (None, None),
        Err(error) => without(error.to_string()),
    }
}

impl Answer {
    /// Finds the entries of an answer in this database; `None` if nothing was sent for its model.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn resolve(self, c: &Connection, origin: &str) -> Result<Option<Resolved>> {
        let Some(model) = vectors::find_model(c, &self.identity)? else { return Ok(None) };
        let behind = match outbox::find(c, &self.url, &self.collection, origin)? {
            Some(outbox) => Some(outbox::behind(c, outbox.position, BEHIND)?).filter(|b| (b.len() as i64) < BEHIND),
            None => None,
        };
        let mut resolved = Resolved { model: model.id, own: Vec::new(), foreign: HashMap::new(), entries: HashMap::new(), behind };
        for (i, Neighbour { score, payload }) in self.neighbours.into_iter().enumerate() {
            let known = entries::id_of(c, &payload.uid)?;
            if payload.origin == origin {
                resolved.own.extend(known);
            } else if known.is_none() && payload.kind != EntryType::Message {
                let id = -1 - i as i64;
                resolved.foreign.insert(id, Foreign { found_by: payload.filtered(), cosine: score });
                resolved.entries.insert(id, handed_over(payload));
            }
        }
        Ok(Some(resolved))
    }
}

impl Resolved {
    /// Returns it beside the index of this process.
    pub fn beside<'a>(&'a self, index: &'a Index) -> Answered<'a> {
        Answered { index, model: self.model, own: self.own.clone(), foreign: &self.foreign, behind: self.behind.clone() }
    }
}

/// Maximum lengths of what others have put there, characters: of names and titles, and of texts.
const MAX_NAME: usize = 300;
const MAX_TEXT: usize = 32_000;

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
        tags: tags.iter().map(|tag| name(tag)).collect(),
        related: related.iter().map(|uid| name(uid)).collect(),
        at: payload.at,
        expires_at: payload.expires_at,
        use_count: 0,
        last_used_at: None,
        origin: Some(name(&payload.origin)),
        score: None,
        why: None,
        duplicates: Vec::new(),
    }
}

/// Returns an entry that another store put there.
pub async fn get(core: &Core, uid: &str) -> Option<RecallEntry> {
    let settings = core.config.get().recall.clone();
    let qdrant = core.recall.outside(&settings)?.ok()?;
    let identity = searched_model(core, &settings).await?;
    let found = qdrant.find(&qdrant.collection(&identity), uid).await.ok().flatten()?;
    let current = found.origin != core.store.origin() && found.expires_at.is_none_or(|at| at > now_ms());
    current.then(|| handed_over(found))
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
        let given = handed_over(serde_json::from_value(payload).expect("a payload"));
        assert_eq!((given.uid.as_str(), given.kind.word(), given.origin.as_deref()), ("u", "bug", Some("other")));
        assert_eq!((given.id, given.score, given.duplicates), (None, None, Vec::new()));
        assert_eq!((given.source.as_str(), given.scope), ("user # System", PatternScope::Everybody));
    }
}
