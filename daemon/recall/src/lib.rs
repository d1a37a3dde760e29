//! Recall: search over all records that are worth remembering.
//!
//! Each note, bug, result, page model, pattern, session, state and stored memory has an *entry*. Database triggers
//! insert the entry, and mark it as due when its row changes. After the commit, the rest is derived (`entries`): the
//! terms for full-text search (`terms`), and the vector from the built-in model (`vectors`). Vectors from another model
//! are computed in the background.
//!
//! The in-memory index (`index`) has the fields that searches filter by, and sketches of the vectors. It is updated
//! from the entries whose versions are new, so it can be dropped and loaded again at any time. An external index
//! (`qdrant`) gets the changes through an `outbox`. `search` fuses the matches by words with the matches by
//! vectors from either index (`nearest`).

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
    /// Type of the entry that represents the row.
    pub kind: EntryType,
    /// Title of the row; empty for none.
    pub title: String,
    /// Searchable text of the row, without the title.
    pub text: String,
    /// Package of the app that the row is about; empty for none.
    pub app: String,
    /// Site that the row is about; empty for none.
    pub site: String,
    /// Row id of the session that recorded the row.
    pub session: Option<i64>,
    /// Whether only the session that recorded the row can see it.
    pub private: bool,
    /// Confidence in the row, from 0 to 1.
    pub confidence: f64,
    /// Time when the row was recorded, in Unix milliseconds.
    pub at: i64,
    /// Expiry time of the row, in Unix milliseconds; `None` if the row does not expire.
    pub expires_at: Option<i64>,
    /// Tags of the row.
    pub tags: Vec<String>,
    /// Source of the row: a word such as `user` or `recorded`, or the name of a tool.
    pub source: String,
    /// Uids of entries that the row refers to.
    pub related: Vec<String>,
    /// Whether the row is in progress and therefore not archived.
    pub is_current: bool,
}

impl Described {
    /// Returns the searchable text: the title, if there is one, and the text.
    pub fn searched(&self) -> String {
        if self.title.is_empty() { self.text.clone() } else { format!("{}\n{}", self.title, self.text) }
    }
}
