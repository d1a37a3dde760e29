//! Records events and observations, and then updates the data derived from them.

use afd_proto::memory::Category;
use rusqlite::Connection;

use super::events::{self, Event};
use super::observations::{self, Observation};
use super::projection::{self, Look};
use super::{Origin, Place, pages};
use afd_store::Result;

/// Records an event in place of its intent, and updates the data derived from it. Call this function within a write to
/// the store, so that an error rolls everything back.
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
    projection::count_event(connection, event)
}

/// Records an observation. If it is conclusive, stores its page as the outcome of the act before it, or counts the page
/// as one that appeared spontaneously. Call this function within a write to the store, so that an error rolls
/// everything back.
pub fn observation(connection: &Connection, origin: &Origin, observation: &Observation) -> Result<()> {
    observations::put(connection, origin, observation)?;
    if observation.is_conclusive() {
        look(connection, origin, &observation.place, observation.seq, observation.at)?;
    }
    Ok(())
}

/// Stores a settled page as the outcome of the act before it, or counts it as a page that appeared spontaneously,
/// without recording an observation. Call this function within a write to the store.
pub fn look(connection: &Connection, origin: &Origin, place: &Place, seq: i64, at: i64) -> Result<()> {
    let Some(page) = pages::id_of(connection, &origin.store, place)? else { return Ok(()) };
    let below = pages::id_of_below(connection, &origin.store, place)?;
    let (store, content) = (origin.store.clone(), place.content.clone());
    let look = Look { store, device: origin.device, seq, page, below, content, at };
    projection::settle(connection, &look)
}
