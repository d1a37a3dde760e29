//! What a search is asked for: the vectors of its query, and what it may find.

use std::collections::HashSet;

use afd_proto::recall::EntryType;

use super::entries::Filtered;

/// A list of the fusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// Full text.
    Text,
    /// Vectors of the model of the settings.
    Vectors,
    /// Vectors of the built-in model.
    Builtin,
}

/// Vector of a query.
#[derive(Debug, Clone)]
pub struct QueryVector {
    /// Row id of the model.
    pub model: i64,
    /// The vector, of unit length.
    pub vector: Vec<f32>,
    /// What the list counts.
    pub weight: f64,
    /// Which list it makes.
    pub list: List,
}

/// What a search may find.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Row id of the session that asks; what is private to others is not found.
    pub session: Option<i64>,
    /// Only these types; all if empty.
    pub types: Vec<EntryType>,
    /// Only entries about this app or about none, by the hash of its name.
    pub app: Option<u64>,
    /// Only entries about this site.
    pub site: Option<u64>,
    /// Only entries of this session.
    pub of_session: Option<i64>,
    /// Only these entries, as those with a tag.
    pub only: Option<HashSet<i64>>,
    /// Recorded in this time, UTC milliseconds.
    pub since: Option<i64>,
    /// Until when.
    pub until: Option<i64>,
    /// Only what stops being true until then.
    pub expires_until: Option<i64>,
    /// Now, UTC milliseconds: what has expired is not found.
    pub now: i64,
    /// Whether to find what was archived.
    pub archived: bool,
}

impl Scope {
    /// Returns whether an entry may be found.
    pub fn allows(&self, entry: &Filtered) -> bool {
        (!entry.private || self.session == Some(entry.session))
            && (self.types.is_empty() || self.types.contains(&entry.kind))
            && self.app.is_none_or(|app| entry.app == app || entry.app == 0)
            && self.site.is_none_or(|site| entry.site == site)
            && self.of_session.is_none_or(|session| entry.session == session)
            && self.since.is_none_or(|since| entry.at >= since)
            && self.until.is_none_or(|until| entry.at <= until)
            && self.expires_until.is_none_or(|until| entry.expires_at <= until)
            && entry.expires_at > self.now
            && (self.archived || !entry.archived)
    }
}
