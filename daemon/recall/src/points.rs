//! Points in an external index: vectors with their payload, and search filters.

use afd_proto::recall::{EntryType, RecallEntry};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::filtered::{Filtered, name_hash};
use afd_base::text::{self, tokens};

/// Payload of a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Payload {
    /// Uid of the entry.
    pub uid: String,
    /// Uid of the store that uploaded the point.
    pub origin: String,
    /// Version of the entry.
    pub version: i64,
    /// Number of the upload round in which the point was sent.
    pub round: i64,
    /// Type of the entry.
    #[serde(rename = "type")]
    pub kind: EntryType,
    /// Package of the app that the entry is about, in lower case; empty for none.
    pub app: String,
    /// Site that the entry is about, in lower case; empty for none.
    pub site: String,
    /// Uid of the session that recorded the entry; empty for none.
    pub session: String,
    /// Tags of the entry, folded.
    pub tags: Vec<String>,
    /// Time when the entry was recorded, in Unix milliseconds.
    pub at: i64,
    /// Expiry time of the entry, in Unix milliseconds; `None` if the entry does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
    /// Whether the entry is archived.
    pub archived: bool,
    /// The entry, as returned to callers.
    pub entry: RecallEntry,
}

impl Payload {
    fn searched(&self) -> String {
        format!("{}\n{}", self.entry.title.as_deref().unwrap_or_default(), self.entry.text)
    }

    /// Returns the tokens of the entry's text.
    pub fn tokens(&self) -> String {
        tokens::of_text(&self.searched())
    }

    /// Returns the fields by which an entry from another store is filtered and ranked.
    pub fn filtered(&self) -> Filtered {
        Filtered {
            kind: self.kind,
            app: name_hash(&self.app),
            site: name_hash(&self.site),
            session: 0,
            private: false,
            archived: self.archived,
            confidence: self.entry.confidence as f32,
            at: self.at,
            expires_at: self.expires_at.unwrap_or(i64::MAX),
            words: 1,
            gist: text::gist(self.searched().trim_start()),
            // The user of another store is not known here.
            by_user: false,
            turn: None,
            role: None,
        }
    }
}

/// A vector with its payload.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// UUID that identifies the point.
    pub id: String,
    /// Vector of the entry.
    pub vector: Vec<f32>,
    /// Payload stored with the vector.
    pub payload: Payload,
}

/// A point that a search found.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Neighbour {
    /// Cosine of the angle between the point's vector and the query vector.
    pub score: f64,
    /// Payload of the point.
    pub payload: Payload,
}

/// Filter for a search in an external index (see `Scope`).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filters {
    /// Only entries of these types; all types if empty.
    pub types: Vec<EntryType>,
    /// Only entries about this app or about none.
    pub app: Option<String>,
    /// Only entries about this site.
    pub site: Option<String>,
    /// Only entries that the session with this uid recorded.
    pub session: Option<String>,
    /// Only entries with all of these tags.
    pub tags: Vec<String>,
    /// Earliest recording time, in Unix milliseconds.
    pub since: Option<i64>,
    /// Latest recording time, in Unix milliseconds.
    pub until: Option<i64>,
    /// Latest expiry time, in Unix milliseconds.
    pub expires_until: Option<i64>,
    /// Current time, in Unix milliseconds. Expired entries are not returned.
    pub now: i64,
    /// Whether archived entries are also returned.
    pub archived: bool,
}

impl Filters {
    /// Returns the filter in Qdrant's format.
    pub fn conditions(&self) -> Value {
        let mut must = Vec::new();
        if !self.types.is_empty() {
            must.push(json!({"key": "type", "match": {"any": self.types}}));
        }
        if let Some(app) = &self.app {
            must.push(json!({"key": "app", "match": {"any": [app.to_lowercase(), ""]}}));
        }
        let equal = [
            ("site", self.site.as_ref().map(|site| json!(site.to_lowercase()))),
            ("session", self.session.as_ref().map(|session| json!(session))),
            ("archived", (!self.archived).then_some(json!(false))),
        ];
        let tags = self.tags.iter().map(|tag| ("tags", Some(json!(text::fold(tag)))));
        must.extend(
            equal
                .into_iter()
                .chain(tags)
                .filter_map(|(key, value)| Some(json!({"key": key, "match": {"value": value?}}))),
        );
        if let Some(since) = self.since {
            must.push(json!({"key": "at", "range": {"gte": since}}));
        }
        if let Some(until) = self.until {
            must.push(json!({"key": "at", "range": {"lte": until}}));
        }
        if let Some(until) = self.expires_until {
            must.push(json!({"key": "expires_at", "range": {"lte": until}}));
        }
        json!({"must": must, "must_not": [{"key": "expires_at", "range": {"lte": self.now}}]})
    }
}

/// Returns the condition that selects the points of a store.
pub fn of_store(origin: &str) -> Value {
    json!({"key": "origin", "match": {"value": origin}})
}

/// Returns the id of an entry's point. The id also depends on the store, so that stores never share points.
pub fn point_id(origin: &str, uid: &str) -> String {
    let hash = Sha256::digest(format!("{origin}\0{uid}"));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_conditions_of_qdrant() {
        let filters = Filters {
            types: vec![EntryType::Bug, EntryType::Note],
            app: Some("Com.Shop".to_owned()),
            tags: vec!["Öffnen".to_owned(), "neu".to_owned()],
            since: Some(5),
            expires_until: Some(11),
            now: 9,
            ..Filters::default()
        };
        assert_eq!(
            filters.conditions(),
            json!({
                "must": [
                    {"key": "type", "match": {"any": ["bug", "note"]}},
                    {"key": "app", "match": {"any": ["com.shop", ""]}},
                    {"key": "archived", "match": {"value": false}},
                    {"key": "tags", "match": {"value": text::fold("Öffnen")}},
                    {"key": "tags", "match": {"value": "neu"}},
                    {"key": "at", "range": {"gte": 5}},
                    {"key": "expires_at", "range": {"lte": 11}},
                ],
                "must_not": [{"key": "expires_at", "range": {"lte": 9}}],
            })
        );
        let all = Filters { archived: true, ..Filters::default() };
        assert_eq!(all.conditions()["must"], json!([]));
    }

    #[test]
    fn points_of_different_stores_never_have_the_same_id() {
        assert_ne!(point_id("a", "u"), point_id("b", "u"));
        assert_ne!(point_id("a", "bc"), point_id("ab", "c"));
        assert_eq!(uuid::Uuid::parse_str(&point_id("a", "u")).map(|id| id.get_version_num()), Ok(8));
    }
}
