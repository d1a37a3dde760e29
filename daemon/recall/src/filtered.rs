//! The fields of entries that searches filter and rank by, as the in-memory index holds them.

use afd_proto::Word as _;
use afd_proto::conversation::Role;
use afd_proto::recall::EntryType;
use rusqlite::Connection;

use super::Turn;
use afd_base::text;
use afd_store::{Result, Sql as _, args, read, word};

/// An entry of the in-memory index.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Row id of the entry.
    pub id: i64,
    /// Version of the last change to the entry.
    pub version: i64,
    /// Fields to filter by; `None` if searches do not return the entry.
    pub found_by: Option<Filtered>,
}

/// Fields that a search filters and ranks by.
#[derive(Debug, Clone, PartialEq)]
pub struct Filtered {
    /// Type of the entry.
    pub kind: EntryType,
    /// Hash of the app that the entry is about; 0 for none.
    pub app: u64,
    /// Hash of the site that the entry is about; 0 for none.
    pub site: u64,
    /// Row id of the session that recorded the entry; 0 for none.
    pub session: i64,
    /// Whether only the session that recorded the entry can see it.
    pub private: bool,
    /// Whether the entry was archived.
    pub archived: bool,
    /// Confidence of the entry, from 0 to 1.
    pub confidence: f32,
    /// Time when the entry was recorded, in Unix milliseconds.
    pub at: i64,
    /// Expiry time of the entry, in Unix milliseconds; `i64::MAX` if the entry does not expire.
    pub expires_at: i64,
    /// Number of words in the text of the entry.
    pub words: u32,
    /// Hash of the wording of the entry (see [`text::gist`]).
    pub gist: i64,
    /// Whether the entry comes from the user.
    pub by_user: bool,
    /// Place of a message in its conversation.
    pub turn: Option<Turn>,
    /// Author of a message.
    pub role: Option<Role>,
}

/// The fields of [`Filtered`] that exclude most entries. The index has them side by side, because a search for the
/// nearest vectors looks at all of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Glance {
    /// Row id of the session that recorded the entry; 0 for none.
    pub session: i64,
    /// Type of the entry.
    pub kind: EntryType,
    /// Whether only the session that recorded the entry can see it.
    pub private: bool,
}

impl Filtered {
    /// Returns the fields that exclude most entries.
    pub fn glance(&self) -> Glance {
        Glance { session: self.session, kind: self.kind, private: self.private }
    }
}

/// Returns the hash by which names are compared; 0 for an empty name.
pub fn name_hash(name: &str) -> u64 {
    if name.is_empty() { 0 } else { text::hash(&name.to_lowercase()).cast_unsigned() | 1 }
}

/// Returns up to `limit` entries that changed after a version, in the order of their versions.
pub fn changed(connection: &Connection, after: i64, limit: i64) -> Result<Vec<Entry>> {
    connection.all(
        "SELECT id, version, type, app, site, session_id, private, archived_at IS NOT NULL AS archived, confidence, at, expires_at, words, gist,
            by_user, thread, position, role
         FROM entries WHERE version > :after ORDER BY version LIMIT :limit",
        args! {after, limit},
        |row| {
            let words: u32 = row.get("words")?;
            let found_by = if words == 0 {
                None
            } else {
                Some(read!(row => Filtered {
                    private, archived, at, words, gist, by_user,
                    turn: Turn::of(row.get("thread")?, row.get("position")?),
                    role: row.get::<_, Option<String>>("role")?.and_then(|role| Role::of(&role)),
                    kind: word(row, "type")?,
                    app: name_hash(row.get_ref("app")?.as_str().unwrap_or_default()),
                    site: name_hash(row.get_ref("site")?.as_str().unwrap_or_default()),
                    session: row.get::<_, Option<i64>>("session_id")?.unwrap_or(0),
                    confidence: row.get::<_, f64>("confidence")? as f32,
                    expires_at: row.get::<_, Option<i64>>("expires_at")?.unwrap_or(i64::MAX),
                }))
            };
            Ok(Entry { id: row.get("id")?, version: row.get("version")?, found_by })
        },
    )
}
