//! Recall: search over all records that are worth remembering.
//!
//! Each note, bug, result, page model, pattern, session, state and stored memory has an *entry*. Database triggers
//! insert the entry, and mark it as due when its row changes. The rest is derived after the commit (`entries`): the
//! terms for full-text search (`terms`), and the vector of the built-in model (`vectors`). Vectors of another model are
//! computed in the background.
//!
//! The in-memory index (`index`) has the fields that searches filter by, and sketches of the vectors. It reads changes
//! by the versions of the entries, so it can be dropped and loaded again at any time. An external index (`qdrant`) gets
//! the changes through an `outbox`. `search` fuses the matches by words and by vectors of either index (`nearest`).

pub mod entries;
mod extent;
pub mod index;
pub mod log;
pub mod memories;
pub mod nearest;
pub mod outbox;
pub mod points;
pub mod qdrant;
pub mod scope;
pub mod search;
pub mod terms;
pub mod vectors;

use afd_proto::recall::EntryType;

/// Searchable text of a row, and the fields that searches filter by.
#[derive(Debug, Clone, PartialEq)]
pub struct Described {
    /// Type of the entry.
    pub kind: EntryType,
    /// Title; empty for none.
    pub title: String,
    /// Text.
    pub text: String,
    /// Package of the app that it is about; empty for none.
    pub app: String,
    /// Site that it is about; empty for none.
    pub site: String,
    /// Row id of its session.
    pub session: Option<i64>,
    /// Whether only its session can see it.
    pub private: bool,
    /// Confidence, 0 to 1.
    pub confidence: f64,
    /// Time of recording, UTC milliseconds.
    pub at: i64,
    /// Expiry time, UTC milliseconds; `None` if it does not expire.
    pub expires_at: Option<i64>,
    /// Tags.
    pub tags: Vec<String>,
    /// Source: a word such as `user` or `recorded`, or the name of a tool.
    pub source: String,
    /// Uids of entries that it refers to.
    pub related: Vec<String>,
    /// Whether it is in progress and therefore not archived.
    pub is_current: bool,
}

impl Described {
    /// Returns the searchable text: the title, if there is one, and the text.
    pub fn searched(&self) -> String {
        if self.title.is_empty() { self.text.clone() } else { format!("{}\n{}", self.title, self.text) }
    }
}
