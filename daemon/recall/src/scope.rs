//! Search parameters: the query vectors, and the filter for entries.

use std::collections::HashSet;

use afd_proto::conversation::Role;
use afd_proto::recall::EntryType;

use super::filtered::{Filtered, Glance};
use super::properties;
use afd_store::Reader;

/// A ranked list that a search fuses with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// List of full-text matches.
    Text,
    /// List of matches by vectors of the configured model.
    Vectors,
    /// List of matches by vectors of the built-in model.
    Builtin,
}

/// A query vector.
#[derive(Debug, Clone)]
pub struct QueryVector {
    /// Row id of the model that computed the vector.
    pub model: i64,
    /// The vector, of unit length.
    pub vector: Vec<f32>,
    /// Weight of the list that the vector produces.
    pub weight: f64,
    /// List that the vector produces.
    pub list: List,
}

/// Filter for the entries that a search can return.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The caller. Private entries of other sessions are not returned.
    pub reader: Reader,
    /// Only entries of these types; all types if empty.
    pub types: Vec<EntryType>,
    /// Only entries about this app or about none, by the hash of its name.
    pub app: Option<u64>,
    /// Only entries about this site, by the hash of its name.
    pub site: Option<u64>,
    /// Only entries that the session with this row id recorded.
    pub of_session: Option<i64>,
    /// Only messages of this conversation, by its row id.
    pub thread: Option<i64>,
    /// Only messages by this author.
    pub role: Option<Role>,
    /// Only entries with these row ids, for example those with a tag.
    pub only: Option<HashSet<i64>>,
    /// Tokens of properties that entries must have (`properties::about_app`). The caller checks the properties of what is
    /// found.
    pub properties: Vec<String>,
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

impl Scope {
    /// Returns whether a search can return an entry.
    pub fn allows(&self, entry: &Filtered) -> bool {
        self.may_allow(entry.glance())
            && self.app.is_none_or(|app| entry.app == app || entry.app == 0)
            && self.site.is_none_or(|site| entry.site == site)
            && self.of_session.is_none_or(|session| entry.session == session)
            && self.thread.is_none_or(|thread| entry.turn.is_some_and(|turn| turn.thread == thread))
            && self.role.is_none_or(|role| entry.role == Some(role))
            && self.since.is_none_or(|since| entry.at >= since)
            && self.until.is_none_or(|until| entry.at <= until)
            && self.expires_until.is_none_or(|until| entry.expires_at <= until)
            && entry.expires_at > self.now
            && (self.archived || !entry.archived)
    }

    /// Returns whether a search can return an entry, as far as a glance shows.
    #[inline]
    pub fn may_allow(&self, glance: Glance) -> bool {
        let sees = match self.reader {
            Reader::Keeper => true,
            Reader::Session(session) => session == glance.session,
            Reader::Nobody => false,
        };
        (!glance.private || sees) && (self.types.is_empty() || self.types.contains(&glance.kind))
    }

    /// Returns properties that all entries have which the scope allows: lists of the tokens of alternative properties.
    pub fn within(&self) -> Vec<Vec<String>> {
        if let Some(thread) = self.thread {
            // A conversation belongs to one session, and has messages only.
            return vec![vec![properties::of_thread(thread)]];
        }
        // Messages are always private.
        let only_messages = self.types == [EntryType::Message];
        let reader = if let Reader::Session(session) = self.reader { Some(session) } else { None };
        let mut within: Vec<Vec<String>> = Vec::new();
        if self.reader != Reader::Keeper {
            let public = (!only_messages).then(properties::seen_by_all);
            within.push(reader.map(properties::of_session).into_iter().chain(public).collect());
        }
        within.extend(self.of_session.map(|session| vec![properties::of_session(session)]));
        within.push(self.types.iter().map(|kind| properties::of_type(*kind)).collect());
        within.extend(self.properties.iter().map(|token| vec![token.clone()]));
        within.retain(|tokens| !tokens.is_empty());
        within
    }
}
