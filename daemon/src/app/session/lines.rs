//! The line format in which sessions and whole memories are exported.

use afd_proto::vocabulary::RecordScope;
use serde::Deserialize;

/// Name of the line format.
pub(in crate::app) const LINES_FORMAT: &str = "afd-memory";
/// Version of the line format.
pub(in crate::app) const LINES_VERSION: u32 = 1;

/// A note as a record in the line format.
#[derive(Debug, serde::Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::app) struct NoteRecord {
    /// Uid of the note.
    pub uid: String,
    /// Package name of the app that the note is about; empty if there is none.
    #[serde(default)]
    pub app: String,
    /// Topic of the note.
    pub topic: String,
    /// Text of the note.
    pub content: String,
    /// Time of creation, in Unix milliseconds.
    pub created_at: i64,
    /// Scope of the note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<RecordScope>,
}
