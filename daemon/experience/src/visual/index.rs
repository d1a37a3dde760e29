//! The index that recognises the state of a screen without a database query.
//!
//! The identity of each scope exists twice. The writer thread has a draft, which it changes while it runs the SQL of a
//! lesson, so that the next lesson sees the changes. Readers have a copy of their own. This copy is updated after the
//! commit, and never locked for long. When the store rolls back a write, drafts may be ahead of the database, so the
//! index drops everything that it has loaded.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard, RwLock};
use rusqlite::Connection;

use super::identity::{Change, Identity};
use super::scope::{self, Scope};
use afd_screen::page::structure::Structure;
use afd_store::Result;
use afd_store::args;

/// The identities of the scopes in use, loaded on first use, and the work left for the upkeep job.
#[derive(Debug, Default)]
pub struct Index {
    identities: Mutex<HashMap<Scope, Arc<Loaded>>>,
    pending: Mutex<HashMap<i64, Touched>>,
    /// Number of writes that the store has rolled back, and the value of this counter when the loaded data was last
    /// valid.
    undone: Arc<AtomicU64>,
    undone_at_load: AtomicU64,
}

/// The pending work of the upkeep job in a scope.
#[derive(Debug, Clone, Default)]
pub struct Touched {
    /// States with a new set of components.
    pub states: HashSet<i64>,
    /// Whether to compare every pair of states, for example after an import.
    pub everything: bool,
}

/// The state that was recognised on a screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recognised {
    /// Row id of the state.
    pub state: i64,
    /// Key of the structure that names the state.
    pub key: Option<String>,
    /// Whether exactly this structure was seen before.
    pub exact: bool,
    /// Code of the state; `None` until the state is defined.
    pub code: Option<String>,
}

/// The identity of a scope: the draft of the writer thread, and the copy that readers see.
#[derive(Debug)]
pub struct Loaded {
    draft: Mutex<Identity>,
    published: RwLock<Identity>,
}

/// A lesson that is being learned on the draft.
pub struct Lesson<'a> {
    draft: MutexGuard<'a, Identity>,
    changes: Vec<Change>,
}

impl std::ops::Deref for Lesson<'_> {
    type Target = Identity;

    fn deref(&self) -> &Identity {
        &self.draft
    }
}

impl Lesson<'_> {
    /// Changes the draft.
    pub fn change(&mut self, change: Change) {
        self.draft.apply(&change);
        // Readers only recognise pages, so they need no other changes.
        if matches!(change, Change::Seen { .. } | Change::Code { .. }) {
            self.changes.push(change);
        }
    }

    /// Ends the lesson. Returns the changes to publish after the commit.
    pub fn finish(self, loaded: &Arc<Loaded>) -> Unpublished {
        Unpublished(Some((loaded.clone(), self.changes)))
    }
}

/// Changes of a lesson that readers do not see until its commit.
#[derive(Debug, Clone, Default)]
pub struct Unpublished(Option<(Arc<Loaded>, Vec<Change>)>);

impl Unpublished {
    /// Makes the changes visible to readers. Call it after the commit.
    pub fn publish(&self) {
        if let Some((loaded, changes)) = &self.0 {
            let mut published = loaded.published.write();
            changes.iter().for_each(|change| published.apply(change));
        }
    }
}

impl Loaded {
    /// Begins a lesson. Only the writer thread may call it.
    pub fn lesson(&self) -> Lesson<'_> {
        Lesson { draft: self.draft.lock(), changes: Vec::new() }
    }
}

impl Index {
    /// Creates an index. `undone` is the number of writes that the store has rolled back. Whenever it changes, the
    /// index drops what it has loaded.
    pub fn new(undone: Arc<AtomicU64>) -> Self {
        Self { undone, ..Self::default() }
    }

    /// Returns the identity of a scope, and loads it if needed. Only the writer thread may call it, because its
    /// connection sees all earlier lessons. Other threads might load outdated data.
    pub fn identity(&self, connection: &Connection, scope: &Scope) -> Result<Arc<Loaded>> {
        let undone = self.undone.load(Ordering::SeqCst);
        if self.undone_at_load.swap(undone, Ordering::SeqCst) != undone {
            self.identities.lock().clear();
        }
        if let Some(known) = self.loaded(scope) {
            return Ok(known);
        }
        let draft = load(connection, scope)?;
        let fresh = Arc::new(Loaded { published: RwLock::new(draft.of_pages()), draft: Mutex::new(draft) });
        Ok(self.identities.lock().entry(scope.clone()).or_insert(fresh).clone())
    }

    /// Returns the identity of a scope, if it is loaded.
    pub fn loaded(&self, scope: &Scope) -> Option<Arc<Loaded>> {
        self.identities.lock().get(scope).cloned()
    }

    /// Drops a scope whose rows were changed, so that it is loaded again on its next use.
    pub fn reload(&self, scope: &Scope) {
        self.identities.lock().remove(scope);
    }

    /// Drops all scopes, because their rows may have changed.
    pub fn reload_all(&self) {
        self.identities.lock().clear();
    }

    /// Returns the state to which a structure belongs, if it is known and its scope is loaded.
    pub fn recognise(&self, structure: &Structure) -> Option<Recognised> {
        let loaded = self.loaded(&of(structure))?;
        let identity = loaded.published.read();
        let state = identity.recognise(structure)?;
        let own = |text: Option<&str>| text.map(str::to_owned);
        Some(Recognised {
            state,
            exact: identity.has_seen(structure),
            key: own(identity.name_of(state)),
            code: own(identity.code_of(state)),
        })
    }

    /// Returns the states in the same place whose pages look like this one, whatever their titles are, if the scope is
    /// loaded.
    pub fn alike(&self, structure: &Structure) -> BTreeSet<i64> {
        self.loaded(&of(structure)).map(|loaded| loaded.published.read().alike(structure)).unwrap_or_default()
    }

    /// Marks a scope for the upkeep job, and a state if its set of components is new.
    pub fn touch(&self, app: i64, state: Option<i64>) {
        self.pending.lock().entry(app).or_default().states.extend(state);
    }

    /// Marks everything in a scope for the upkeep job.
    pub fn touch_all(&self, app: i64) {
        self.pending.lock().entry(app).or_default().everything = true;
    }

    /// Puts back the work that the upkeep job could not finish.
    pub fn requeue(&self, app: i64, touched: Touched) {
        let mut pending = self.pending.lock();
        let entry = pending.entry(app).or_default();
        entry.everything |= touched.everything;
        entry.states.extend(touched.states);
    }

    /// Removes the work for the upkeep job and returns it, by row id of the scope.
    pub fn take_pending(&self) -> HashMap<i64, Touched> {
        std::mem::take(&mut self.pending.lock())
    }
}

/// Returns the scope of a structure.
pub fn of(structure: &Structure) -> Scope {
    Scope { app: structure.app.clone(), site: structure.site.clone() }
}

/// Loads the identity of a scope.
fn load(connection: &Connection, scope: &Scope) -> Result<Identity> {
    let mut identity = Identity::default();
    let Some(known) = scope::find(connection, scope)? else { return Ok(identity) };
    let mut variants = connection.prepare_cached(
        "SELECT v.key, v.state_id, v.seen, v.pinned, v.place, v.title, v.features, v.defines FROM state_variants v JOIN states s ON s.id = v.state_id
         WHERE v.app_id = :app_id ORDER BY s.position, v.defines DESC",
    )?;
    let mut rows = variants.query(args! {app_id: known.id})?;
    while let Some(row) = rows.next()? {
        let (key, state, seen): (String, i64, i64) = (row.get("key")?, row.get("state_id")?, row.get("seen")?);
        let (place, title): (String, Option<String>) = (row.get("place")?, row.get("title")?);
        let (features, evidence) = without_evidence(features(row.get_ref("features")?.as_blob().unwrap_or_default()));
        identity.add_example(state, &place, &evidence);
        let named = row.get::<_, bool>("defines")?.then_some((place.as_str(), title.as_deref(), features.as_slice()));
        identity.add_variant(&key, state, (u64::try_from(seen).unwrap_or_default(), row.get("pinned")?), named);
    }
    let mut states = connection
        .prepare_cached("SELECT id, visit_count, code FROM states WHERE app_id = :app_id AND deleted_at IS NULL")?;
    let mut rows = states.query(args! {app_id: known.id})?;
    while let Some(row) = rows.next()? {
        identity.set_visits(row.get("id")?, u64::try_from(row.get::<_, i64>("visit_count")?).unwrap_or_default());
        if let Some(code) = row.get::<_, Option<String>>("code")? {
            identity.set_code(row.get("id")?, &code);
        }
    }
    let mut components =
        connection.prepare_cached("SELECT key, id FROM components WHERE app_id = :app_id AND deleted_at IS NULL")?;
    let mut rows = components.query(args! {app_id: known.id})?;
    while let Some(row) = rows.next()? {
        identity.add_component(&row.get::<_, String>("key")?, row.get("id")?);
    }
    for (state, set) in defining_sets(connection, known.id)? {
        identity.add_set(state, &set);
    }
    Ok(identity)
}

/// Returns the sets of components that define the states without a structure, in the order of the states.
pub fn defining_sets(connection: &Connection, app: i64) -> Result<Vec<(i64, Vec<u64>)>> {
    let mut statement = connection.prepare_cached(
        "SELECT s.id, sc.component_id FROM states s JOIN state_components sc ON sc.state_id = s.id
         WHERE s.app_id = :app_id AND s.kind = 'detected' AND s.deleted_at IS NULL AND sc.defining = 1 ORDER BY s.position, s.id",
    )?;
    let mut rows = statement.query(args! {app_id: app})?;
    let mut sets: Vec<(i64, Vec<u64>)> = Vec::new();
    while let Some(row) = rows.next()? {
        let (state, component): (i64, i64) = (row.get("id")?, row.get("component_id")?);
        match sets.last_mut().filter(|(last, _)| *last == state) {
            Some((_, set)) => set.push(component.unsigned_abs()),
            None => sets.push((state, vec![component.unsigned_abs()])),
        }
    }
    Ok(sets)
}

/// Encodes hashes as the value of a database column.
pub(super) fn blob(features: &[u64]) -> Vec<u8> {
    features.iter().flat_map(|f| f.to_le_bytes()).collect()
}

/// Separator between the features of a structure and its evidence, which share a column.
const EVIDENCE_MARK: u64 = u64::from_le_bytes(*b"evidence");

/// Encodes the features of a structure, followed by its evidence if there is any.
pub(super) fn with_evidence(features: &[u64], evidence: &[u64]) -> Vec<u8> {
    let mark = (!evidence.is_empty()).then_some(EVIDENCE_MARK);
    blob(&features.iter().copied().chain(mark).chain(evidence.iter().copied()).collect::<Vec<_>>())
}

/// Separates the features of a structure from its evidence.
fn without_evidence(mut hashes: Vec<u64>) -> (Vec<u64>, Vec<u64>) {
    match hashes.iter().position(|h| *h == EVIDENCE_MARK) {
        Some(at) => {
            let evidence = hashes.split_off(at + 1);
            hashes.pop();
            (hashes, evidence)
        }
        None => (hashes, Vec::new()),
    }
}

/// Decodes hashes from the value of a database column.
fn features(blob: &[u8]) -> Vec<u64> {
    blob.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().unwrap_or_default())).collect()
}
