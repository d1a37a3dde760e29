//! `visual.*`: what screens are made of and how they hang together.

pub mod files;
mod find;
pub mod graph;
pub mod learn;
pub mod pictures;
pub mod upkeep;

use std::sync::Arc;

use afd_proto::events::Message;
use afd_proto::history::{Change, ChangeOp};
use afd_proto::visual::{About, StateRef};
use rusqlite::Connection;

use super::{Call, Core};
use crate::page::structure::{Structure, Structures};
use crate::store::{Result as Stored, now_ms};
use crate::visual::history::Entry;
use crate::visual::index::{self, Touched};
use crate::visual::scope::{self, Known};
use crate::visual::states::State;
use crate::visual::{forget, merge};

/// The job that forgets and merges.
pub(super) const UPKEEP_JOB: &str = "visual-upkeep";

fn about(known: &Known) -> About {
    About { app: known.scope.app.clone(), site: known.scope.site.clone() }
}

fn short(state: &State) -> StateRef {
    StateRef { id: state.code.clone().unwrap_or_default(), name: state.called().to_owned() }
}

/// A change as it is told.
fn told(connection: &Connection, entry: Entry) -> Stored<Change> {
    let about = scope::get(connection, entry.app)?.map(|known| about(&known)).unwrap_or(About { app: String::new(), site: None });
    Ok(Change {
        id: entry.id,
        uid: entry.uid,
        about,
        op: entry.op,
        what: entry.what,
        why: entry.why,
        at: entry.at,
        undone_at: entry.undone_at,
    })
}

impl Core {
    /// Tells who listens that the memory was changed.
    fn tell(&self, change: &Change) {
        let op = if change.undone_at.is_some() { "undo" } else { change.op.word() };
        tracing::info!(app = change.about.app, op, what = change.what, why = change.why, "visual memory");
        self.live.publish(Message::Visual(Box::new(change.clone())));
    }
}

/// Forgets and merges where lessons left something to do; says what came of it.
pub(super) async fn tidy(core: &Core) -> crate::job::Outcome {
    let (mut forgotten, mut merged) = (0, 0);
    for (app, touched) in core.visual.take_untidy() {
        let (origin, index) = (core.store.origin().to_owned(), core.visual.clone());
        let wanted = touched.clone();
        let done = core.store.write(move |c| {
            let Some(known) = scope::get(c, app)? else { return Ok(Vec::new()) };
            let mut entries = forget::stale(c, &origin, &known, now_ms())?;
            // What lost a component may have become like another.
            let wanted = if entries.is_empty() { wanted } else { Touched { everything: true, ..wanted } };
            entries.extend(merge::similar(c, &origin, app, &wanted, now_ms())?);
            if !entries.is_empty() {
                index.reload(&known.scope);
                crate::visual::history::prune(c)?;
            }
            entries.into_iter().map(|entry| told(c, entry)).collect::<Stored<Vec<_>>>()
        });
        let done = done.await.inspect_err(|_| core.visual.put_back(app, touched));
        for change in done? {
            if change.op == ChangeOp::Merge {
                merged += 1
            } else {
                forgotten += 1
            }
            core.tell(&change);
        }
    }
    Ok(format!("{forgotten} forgotten, {merged} merged"))
}

impl Call {
    /// Which state the screen is, if it is one that has a code. The first look at an app since the start loads what is known of it.
    pub(super) async fn state_of(&self, structures: Option<&Arc<Structures>>) -> Option<String> {
        let structure = &structures?.front;
        let (core, scope) = (&self.core, index::of(structure));
        if core.visual.loaded(&scope).is_none() {
            let index = core.visual.clone();
            // Loaded where lessons are taken up, so that none is missed.
            let loaded = core.store.write(move |c| index.identity(c, &scope).map(|_| ()));
            if let Err(error) = loaded.await {
                tracing::debug!(%error, "the states are not known");
                return None;
            }
        }
        core.visual.recognise(structure)?.code
    }

    /// The key that a structure is recorded by before it was learned: that of the state that it is taken for, else its own.
    pub(super) fn structure_key(&self, structure: &Structure) -> String {
        self.core.visual.recognise(structure).and_then(|r| r.key).unwrap_or_else(|| structure.key())
    }
}
