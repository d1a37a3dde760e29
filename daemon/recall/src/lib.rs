//! Recall: search over all records that are worth remembering.
//!
//! Each note, bug, result, page model, pattern, session, state, stored memory and message has an *entry*. Database triggers
//! insert the entry, and mark it as due when its row changes. After the commit, the rest is derived (`derive`): the
//! tokens for full-text search (`text_index`), and the vector from the built-in model (`vectors`). Vectors from another model
//! are computed in the background.
//!
//! The in-memory index (`index`) has the fields that searches filter by, and sketches of the vectors. It is updated
//! from the entries whose versions are new, so it can be dropped and loaded again at any time. An external index
//! (`qdrant`) gets the changes through an `outbox`. `search` fuses the matches by words with the matches by
//! vectors from either index (`nearest`).

pub mod baseline;
pub mod derive;
pub mod entries;
mod extent;
pub mod filtered;
pub mod index;
pub mod log;
pub mod memories;
pub mod nearest;
pub mod outbox;
pub mod points;
pub mod properties;
pub mod qdrant;
pub mod repair;
pub mod scope;
pub mod search;
pub mod text_index;
pub mod vectors;

use afd_proto::conversation::Role;
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
    /// Place of a message in its conversation; `None` for other rows.
    pub turn: Option<Turn>,
    /// Author of a message; `None` for other rows.
    pub role: Option<Role>,
}

/// The place of a message in its conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Turn {
    /// Row id of the conversation.
    pub thread: i64,
    /// Position of the message in the conversation, from 1.
    pub position: i64,
}

impl Turn {
    /// Returns the place, if both parts are known.
    pub fn of(thread: Option<i64>, position: Option<i64>) -> Option<Self> {
        thread.zip(position).map(|(thread, position)| Self { thread, position })
    }

    /// Returns the place of the message that is `by` messages later, or earlier if `by` is negative.
    pub fn at(self, by: i64) -> Self {
        Self { position: self.position + by, ..self }
    }
}

impl Described {
    /// Returns the searchable text: the title, if there is one, and the text.
    pub fn searched(&self) -> String {
        let between = if self.turn.is_some() { ": " } else { "\n" };
        if self.title.is_empty() { self.text.clone() } else { format!("{}{between}{}", self.title, self.text) }
    }
}
