//! Records what was done and observed: first the fact, then what is derived from it.

use afd_proto::memory::Category;
use rusqlite::Connection;

use super::events::{self, Event};
use super::observations::{self, Observation};
use super::{Origin, moves, projection};
use crate::store::Result;

/// Records an event in place of its intent, and what is derived from it. To be called in a write of the store, which rolls
/// everything back on an error.
pub fn event(connection: &Connection, origin: &Origin, event: &Event) -> Result<()> {
    let parent = match (event.category, &event.parent) {
        (_, Some(parent)) => Some(parent.clone()),
        (Category::Verify, None) if !event.judges => None,
        (Category::Verify, None) => projection::judged_act(connection, origin, event.seq)?,
        (Category::Recover, None) => events::open_failure(connection, origin)?.map(|(uid, _)| uid),
        (Category::Act, None) => None,
    };
    events::put(connection, origin, event, parent.as_deref())?;
    if event.sent && event.category != Category::Verify {
        observations::mark_stale(connection, origin.device)?;
    }
    projection::count_event(connection, origin, event, parent.as_deref())
}

/// Records an observation, closes the act before it, and counts a page that appeared spontaneously. To be called in a write of
/// the store, which rolls everything back on an error.
pub fn observation(connection: &Connection, origin: &Origin, observation: &Observation) -> Result<()> {
    observations::put(connection, origin, observation)?;
    if observation.is_conclusive() {
        projection::close_act(connection, origin, observation)?;
        moves::appeared_spontaneously(connection, origin, observation)?;
    }
    Ok(())
}
