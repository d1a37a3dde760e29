//! `visual.*`: learning and querying the components, states and transitions of apps and sites.

mod detected;
pub mod files;
mod find;
pub(in crate::app) mod goal;
pub mod graph;
pub mod learn;
pub mod matching;
pub mod pictures;
pub(in crate::app) mod said;
pub mod upkeep;

use std::sync::Arc;

use afd_proto::events::Message;
use afd_proto::history::{Change, ChangeOp};
use afd_proto::visual::{ScopeInfo, StateRef};

use super::{Call, Core};
use afd_experience::visual::history::{self, Entry};
use afd_experience::visual::index::{self, Recognised, Touched};
use afd_experience::visual::scope::{self, Known};
use afd_experience::visual::states::State;
use afd_experience::visual::{forget, merge, purge};
use afd_screen::page::structure::{Structure, Structures};
use afd_store::{Connection, Result as Stored, now_ms};

/// Name of the job that forgets stale components and merges similar states.
pub(super) const UPKEEP_JOB: &str = "visual-upkeep";

/// Converts a scope to its wire type.
fn about(known: &Known) -> ScopeInfo {
    ScopeInfo { app: known.scope.app.clone(), site: known.scope.site.clone() }
}

/// Returns a reference to a state; the id is empty while the state is not yet defined.
pub(in crate::app) fn state_ref(state: &State) -> StateRef {
    StateRef { id: state.reference().to_owned(), name: state.called().to_owned() }
}

/// Converts a history entry to its wire type.
fn change_to_wire(connection: &Connection, entry: Entry) -> Stored<Change> {
    let about = scope::get(connection, entry.app)?
        .map(|known| about(&known))
        .unwrap_or(ScopeInfo { app: String::new(), site: None });
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

/// Minimum age at which a picture that nothing refers to is deleted, in milliseconds. A younger picture may belong to a
/// lesson in progress.
const PICTURE_GRACE_MS: i64 = 3_600_000;

impl Core {
    /// Deletes pictures that are at least `min_age_ms` old and to which no component, page or undo record refers.
    /// Returns the number of deleted pictures.
    async fn delete_unused_pictures(self: &Arc<Self>, min_age_ms: i64) -> super::Result<usize> {
        let in_use = self.store.read_all(purge::pictures_in_use).await?;
        Ok(self.artifacts.delete_unused(&in_use, min_age_ms, &self.config.get().artifacts.dir).await?)
    }

    /// Logs a change to the visual memory and publishes it to subscribers. The log contains neither names nor reasons,
    /// because they quote the screen.
    fn publish_change(&self, change: &Change) {
        let op = if change.undone_at.is_some() { "undo" } else { change.op.word() };
        tracing::info!(app = change.about.app, op, "visual memory");
        self.live.publish(Message::Visual(Box::new(change.clone())));
    }
}

/// Forgets stale components and merges similar states in all scopes that changed since the last run. Returns a report
/// for the job log.
pub(super) async fn tidy(core: &Arc<Core>) -> afd_store::job::Outcome {
    let (mut forgotten, mut merged) = (0, 0);
    for (app, touched) in core.experience.visual.take_pending() {
        let (origin, index) = (core.store.origin().to_owned(), core.experience.visual.clone());
        let wanted = touched.clone();
        let done = core.store.write(move |c| {
            let Some(known) = scope::get(c, app)? else { return Ok(Vec::new()) };
            let mut entries = forget::stale(c, &origin, &known, now_ms())?;
            // A state that lost a component may now equal another one, so all pairs have to be compared.
            let wanted = if entries.is_empty() { wanted } else { Touched { everything: true, ..wanted } };
            entries.extend(merge::similar(c, &origin, app, &wanted, now_ms())?);
            entries.extend(merge::redesigned(c, &origin, &known, now_ms())?);
            if !entries.is_empty() {
                index.reload(&known.scope);
                history::prune(c)?;
            }
            entries.into_iter().map(|entry| change_to_wire(c, entry)).collect::<Stored<Vec<_>>>()
        });
        let done = done.await.inspect_err(|_| core.experience.visual.requeue(app, touched));
        for change in done? {
            if change.op == ChangeOp::Merge {
                merged += 1
            } else {
                forgotten += 1
            }
            core.publish_change(&change);
        }
    }
    core.store.write(|c| purge::expired(c, now_ms() - purge::UNDO_MS)).await?;
    let pictures = core.delete_unused_pictures(PICTURE_GRACE_MS).await?;
    Ok(format!("{forgotten} forgotten, {merged} merged, {pictures} pictures deleted"))
}

impl Call {
    /// Returns the code of the state that the screen is recognised as, if that state has one.
    pub(super) async fn state_of(&self, structures: Option<&Arc<Structures>>) -> Option<String> {
        self.recognised(&structures?.front).await?.code
    }

    /// Returns the state that a structure is recognised as. Loads the known states of the scope when they are first needed.
    pub(super) async fn recognised(&self, structure: &Structure) -> Option<Recognised> {
        let (core, scope) = (&self.core, index::of(structure));
        if core.experience.visual.loaded(&scope).is_none() {
            let index = core.experience.visual.clone();
            // The state is loaded on the writer thread, which sees every lesson learned before. A reader could load an
            // outdated state.
            let loaded = core.store.write(move |c| index.identity(c, &scope).map(|_| ()));
            if let Err(error) = loaded.await {
                tracing::debug!(%error, "cannot load the known states");
                return None;
            }
        }
        core.experience.visual.recognise(structure)
    }

    /// Returns the key under which to record a structure that is not learned now: its own key if that is known, else
    /// the key of the state that it is recognised as.
    pub(super) fn structure_key(&self, structure: &Structure) -> String {
        let known = self.core.experience.visual.recognise(structure).filter(|r| !r.exact).and_then(|r| r.key);
        known.unwrap_or_else(|| structure.key())
    }
}
