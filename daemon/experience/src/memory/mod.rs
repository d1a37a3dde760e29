//! Events, observations, and the experience that is derived from them.
//!
//! Observations and events are facts. They refer to [`pages`]. [`record`] writes them and updates the derived data: the
//! outcome of each act ([`projection`]), where each action led and how often ([`outcomes`]), and which recoveries fixed
//! which failures ([`recoveries`]). [`prune`] deletes old rows and keeps their counts ([`baseline`]). [`experience`]
//! queries the counters. [`views`] holds the newest observations of sessions in memory.

pub mod af;
pub mod baseline;
pub mod deeds;
mod event_rows;
pub mod events;
pub mod experience;
pub mod failures;
pub mod imported;
pub mod incidents;
pub mod log;
pub mod notes;
pub mod observations;
pub mod outcomes;
pub mod pages;
pub mod projection;
pub mod prune;
pub mod rebuild;
mod rebuilding;
pub mod record;
pub mod recoveries;
pub mod requests;
pub mod secrets;
pub mod sessions;
#[cfg(test)]
mod tests;
pub mod transfer;
pub mod undo;
pub mod views;

use rusqlite::Connection;
use sha2::{Digest, Sha256};

use afd_store::Result;

/// The store, session, device and call to which a row belongs. They are the same for all rows of one call.
#[derive(Debug, Clone)]
pub struct Origin {
    /// Uid of the store.
    pub store: String,
    /// Row id of the session.
    pub session: i64,
    /// Row id of the device.
    pub device: i64,
    /// Trace id of the call.
    pub trace: String,
}

/// The place of an event or observation: app, activity and page. Unknown parts are `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Uid of the observation from which the place was read.
    pub observation: Option<String>,
    /// Package of the app.
    pub app: Option<String>,
    /// Activity, as `package/activity`.
    pub activity: Option<String>,
    /// Page key.
    pub page_key: Option<String>,
    /// Readable fingerprint of the page.
    pub fingerprint: Option<String>,
    /// Structure key, by which states are recognised.
    pub structure: Option<String>,
    /// For a dialog: structure key of the page beneath it.
    pub below: Option<String>,
    /// Title of the page, with digits masked.
    pub title: Option<String>,
    /// Whether the page is a dialog.
    pub dialog: bool,
    /// Hash of the page's content.
    pub content: Option<String>,
    /// Hash of everything on the screen, including typed text. This hash is kept in memory only.
    pub screen: Option<u64>,
    /// Whether a keyboard was open. This flag is kept in memory only.
    pub keyboard: bool,
}

/// Derives the uid of a projected row from its key fields, so that a rebuild gives the row the same uid.
pub fn derived_uid(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&hash.finalize()[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid().to_string()
}

/// Returns the time of the newest event, in Unix milliseconds, or `None` if there is no event.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub fn newest_at(connection: &Connection) -> Result<Option<i64>> {
    use rusqlite::OptionalExtension as _;
    Ok(connection.query_row("SELECT at FROM events ORDER BY seq DESC LIMIT 1", [], |row| row.get("at")).optional()?)
}

/// Returns the highest sequence number in use.
pub fn last_seq(connection: &Connection) -> Result<i64> {
    let max = |table: &str| {
        connection.query_row(&format!("SELECT coalesce(max(seq), 0) AS last_seq FROM {table}"), [], |row| {
            row.get::<_, i64>("last_seq")
        })
    };
    Ok(max("events")?.max(max("observations")?).max(max("intents")?))
}
