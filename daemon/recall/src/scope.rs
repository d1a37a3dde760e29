//! Parameters of a search: the vectors of its query, and the filter of the entries.

use std::collections::HashSet;

use afd_proto::recall::EntryType;

use super::entries::Filtered;

/// A ranked list that a search fuses with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// Full text.
    Text,
    /// Vectors of the configured model.
    Vectors,
    /// Vectors of the built-in model.
    Builtin,
}

/// A vector of a query.
#[derive(Debug, Clone)]
pub struct QueryVector {
    /// Row id of the model.
    pub model: i64,
    /// The vector, of unit length.
    pub vector: Vec<f32>,
    /// Weight of the list.
    pub weight: f64,
    /// List that the vector produces.
    pub list: List,
}

/// Filter of the entries that a search can return.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Row id of the session that searches. Private entries of other sessions are not returned.
    pub session: Option<i64>,
    /// Only these types; all if empty.
    pub types: Vec<EntryType>,
    /// Only entries about this app or about none, by the hash of its name.
    pub app: Option<u64>,
    /// Only entries about this site.
    pub site: Option<u64>,
    /// Only entries of this session.
    pub of_session: Option<i64>,
    /// Only these entries, for example those with a tag.
    pub only: Option<HashSet<i64>>,
    /// Earliest time of recording, UTC milliseconds.
    pub since: Option<i64>,
    /// Latest time of recording, UTC milliseconds.
    pub until: Option<i64>,
    /// Latest expiry time, UTC milliseconds.
    pub expires_until: Option<i64>,
    /// Current time, UTC milliseconds. Expired entries are not returned.
    pub now: i64,
    /// Whether to return archived entries, too.
    pub archived: bool,
}

impl Scope {
    /// Returns whether a search can return an entry.
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
