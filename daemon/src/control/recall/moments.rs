//! What is offered at the moment when it can be used, without being asked for: beside the answer of another call.
//!
//! These use full text, the built-in features and stored vectors, read little, and offer only what is clearly about the same; a moment
//! that finds nothing, or cannot be read, leaves the answer as it is.

use afd_proto::recall::{EntryType, RecallEntry};
use rusqlite::Connection;

use super::search::Embedded;
use super::{Recall, show};
use crate::model::embed::Builtin;
use crate::recall::entries::name_hash;
use crate::recall::search::{self, Ask, List, Ranked, Scope};
use crate::recall::terms::Effort;
use crate::store::{Result, now_ms};

/// Cosine of the built-in model from which on an entry is offered, and the lower one for entries that full text finds first.
const CLEAR: f64 = 0.42;
const BOTH: f64 = 0.24;
/// Rank up to which full text counts as finding an entry first.
const FIRST: usize = 5;

/// What is looked for.
#[derive(Debug, Clone, Default)]
pub struct Wanted<'a> {
    /// What is about to happen, or has just happened.
    pub text: &'a str,
    /// Types of entries.
    pub types: &'a [EntryType],
    /// Package that it is about.
    pub app: Option<&'a str>,
    /// Row id of the session.
    pub session: Option<i64>,
    /// Maximum number of entries.
    pub limit: usize,
    /// Uid of the entry that it stands for itself.
    pub except: Option<&'a str>,
}

/// Returns entries that are clearly about the same.
///
/// # Errors
/// If the database cannot be read.
pub fn about(recall: &Recall, c: &Connection, wanted: &Wanted<'_>) -> Result<Vec<RecallEntry>> {
    let ranked = recall.with_index(c, None, |index, builtin, other| {
        let embedded = Embedded { builtin: Builtin::vector(wanted.text), other: None, known: 0.0 };
        let ask = Ask {
            text: wanted.text.to_owned(),
            vectors: embedded.lists(builtin, other),
            fluency: 0.0,
            mode: afd_proto::recall::SearchMode::Hybrid,
            scope: Scope {
                session: wanted.session,
                types: wanted.types.to_vec(),
                app: wanted.app.filter(|app| !app.is_empty()).map(name_hash),
                now: now_ms(),
                ..Scope::default()
            },
            effort: Effort::ASIDE,
            half_life_days: 180.0,
            limit: wanted.limit + 1,
            fold: true,
        };
        search::run(c, index, &ask)
    })?;
    let clear: Vec<Ranked> = ranked.into_iter().filter(is_clear).collect();
    let mut found = show::found(c, &clear, wanted.text, false)?;
    found.retain(|entry| Some(entry.uid.as_str()) != wanted.except);
    found.truncate(wanted.limit);
    Ok(found)
}

/// Returns whether an entry is about the same beyond doubt.
fn is_clear(hit: &Ranked) -> bool {
    let place = |list: List| hit.places.iter().find(|p| p.list == list);
    let cosine = place(List::Builtin).map_or(0.0, |p| p.measure);
    cosine >= CLEAR || cosine >= BOTH && place(List::Text).is_some_and(|p| p.rank <= FIRST)
}
