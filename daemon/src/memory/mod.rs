//! What was seen and done, and what was learned from it (seed 000).
//!
//! Observations and events are facts, written once; [`record`] writes them and has [`projection`] keep what follows from them:
//! transitions, recoveries and [`moves`]. [`experience`] hands it back. [`views`] is what sessions see right now, in memory.

pub mod af;
pub mod events;
pub mod experience;
pub mod imported;
pub mod log;
pub mod moves;
pub mod notes;
pub mod observations;
pub mod projection;
pub mod record;
pub mod requests;
pub mod secrets;
pub mod sessions;
pub mod views;

use rusqlite::Connection;
use sha2::{Digest, Sha256};

use crate::store::Result;

/// Whose row it is: the same for every row of one call.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The store's uid.
    pub store: String,
    /// Row of the session.
    pub session: i64,
    /// Row of the device.
    pub device: i64,
    /// The call.
    pub trace: String,
}

/// Where something happened, as far as it was known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The observation that tells.
    pub observation: Option<String>,
    /// Package.
    pub app: Option<String>,
    /// `package/activity`.
    pub activity: Option<String>,
    /// Page key.
    pub page_key: Option<String>,
    /// Fingerprint.
    pub fingerprint: Option<String>,
    /// Key of its structure, which states are recognised by.
    pub structure: Option<String>,
    /// Key of the structure of the page under it, when it is a dialog.
    pub below: Option<String>,
}

/// A uid that follows from what a projected row is about, so that making it again gives the same.
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

/// The last number in the order of what happened.
///
/// # Errors
/// What SQLite says.
pub fn last_seq(connection: &Connection) -> Result<i64> {
    let max = |table: &str| {
        connection.query_row(&format!("SELECT coalesce(max(seq), 0) AS last_seq FROM {table}"), [], |row| row.get::<_, i64>("last_seq"))
    };
    Ok(max("events")?.max(max("observations")?).max(max("intents")?))
}
