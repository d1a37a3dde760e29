//! Recall: finding again what is worth remembering.
//!
//! Notes, bugs, results, page models, patterns, sessions, states, and what callers stored have an *entry* each.
//! Triggers of the database make it and mark it as due when its row changes; the rest of it is derived after the commit
//! (`entries`): terms for full-text search (`terms`), and the vector of the built-in model
//! (`vectors`). Vectors of another model are made behind. An index in memory (`index`) has what a search filters by,
//! and sketches of the vectors; it follows the versions of entries, and can be dropped and read again at any time. An
//! index outside (`qdrant`) follows them through an `outbox`. `search` fuses what is found by words and by vectors,
//! wherever these are (`nearest`).

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

/// What is searched of a row, and what a search filters by.
#[derive(Debug, Clone, PartialEq)]
pub struct Described {
    /// Type of the entry.
    pub kind: EntryType,
    /// Title; empty for none.
    pub title: String,
    /// Text.
    pub text: String,
    /// Package that it is about; empty for none.
    pub app: String,
    /// Site that it is about; empty for none.
    pub site: String,
    /// Row id of its session.
    pub session: Option<i64>,
    /// Whether only its session may be told.
    pub private: bool,
    /// Confidence, 0 to 1.
    pub confidence: f64,
    /// When it was recorded, UTC milliseconds.
    pub at: i64,
    /// When it stops being true.
    pub expires_at: Option<i64>,
    /// Tags.
    pub tags: Vec<String>,
    /// Who said it: a word such as `user` or `recorded`, or the name of a tool.
    pub source: String,
    /// Uids of entries that it refers to.
    pub related: Vec<String>,
    /// Whether it is going on, and so not archived.
    pub is_current: bool,
}

impl Described {
    /// Returns the text that is searched.
    pub fn searched(&self) -> String {
        if self.title.is_empty() { self.text.clone() } else { format!("{}\n{}", self.title, self.text) }
    }
}
