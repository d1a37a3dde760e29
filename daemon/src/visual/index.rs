//! What is needed in memory to say at once which state a screen is.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard, RwLock};
use rusqlite::{Connection, named_params};

use super::identity::{Change, Identity};
use super::scope::{self, Scope};
use crate::page::structure::Structure;
use crate::store::Result;

/// The identities of the scopes in use, loaded when first needed, and what waits for the jobs.
#[derive(Debug, Default)]
pub struct Index {
    identities: Mutex<HashMap<Scope, Arc<Loaded>>>,
    untidy: Mutex<HashMap<i64, Touched>>,
    /// Writes that were undone, as the store counts them, and as they were counted when all that is loaded was loaded.
    undone: Arc<AtomicU64>,
    undone_then: AtomicU64,
}

/// What a job has to look at in a scope.
#[derive(Debug, Clone, Default)]
pub struct Touched {
    /// States whose set of components is new; all of them, if `everything`.
    pub states: HashSet<i64>,
    /// Whether every pair of states is to be looked at, as after an import.
    pub everything: bool,
}

/// A state that a screen was recognised as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recognised {
    /// Row of the state.
    pub state: i64,
    /// Key of the structure that it is known best by.
    pub key: Option<String>,
    /// Its code, once it is defined.
    pub code: Option<String>,
}

/// The identity of a scope, twice: as the writer thread knows it, which holds its copy over the SQL of a lesson and sees every
/// lesson before; and as readers see it, which changes after a commit and is never held for long.
#[derive(Debug)]
pub struct Loaded {
    draft: Mutex<Identity>,
    shown: RwLock<Identity>,
}

/// A lesson being learned on the writer's copy.
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
    /// Changes the writer's copy.
    pub fn change(&mut self, change: Change) {
        self.draft.apply(&change);
        // Readers recognise pages only.
        if matches!(change, Change::Seen { .. } | Change::Code { .. }) {
            self.changes.push(change);
        }
    }

    /// What readers are to see once it is committed.
    pub fn finish(self, loaded: &Arc<Loaded>) -> Unpublished {
        Unpublished(Some((loaded.clone(), self.changes)))
    }
}

/// What a lesson changed, until its commit.
#[derive(Debug, Clone, Default)]
pub struct Unpublished(Option<(Arc<Loaded>, Vec<Change>)>);

impl Unpublished {
    /// Shows the changes to readers; to be called after the commit.
    pub fn publish(&self) {
        if let Some((loaded, changes)) = &self.0 {
            let mut shown = loaded.shown.write();
            changes.iter().for_each(|change| shown.apply(change));
        }
    }
}

impl Loaded {
    /// Begins a lesson; for the writer alone.
    pub fn lesson(&self) -> Lesson<'_> {
        Lesson { draft: self.draft.lock(), changes: Vec::new() }
    }
}

impl Index {
    /// An index that lets go of what it loaded when writes are undone.
    pub fn new(undone: Arc<AtomicU64>) -> Self {
        Self { undone, ..Self::default() }
    }

    /// The identity of a scope, loaded from the database if need be. For the writer alone, whose connection sees every lesson
    /// before: others would load what is out of date.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn identity(&self, connection: &Connection, scope: &Scope) -> Result<Arc<Loaded>> {
        let undone = self.undone.load(Ordering::SeqCst);
        if self.undone_then.swap(undone, Ordering::SeqCst) != undone {
            self.identities.lock().clear();
        }
        if let Some(known) = self.loaded(scope) {
            return Ok(known);
        }
        let draft = load(connection, scope)?;
        let fresh = Arc::new(Loaded { shown: RwLock::new(draft.of_pages()), draft: Mutex::new(draft) });
        Ok(self.identities.lock().entry(scope.clone()).or_insert(fresh).clone())
    }

    /// The identity of a scope, if it is loaded.
    pub fn loaded(&self, scope: &Scope) -> Option<Arc<Loaded>> {
        self.identities.lock().get(scope).cloned()
    }

    /// Forgets what is loaded of a scope: the database has changed.
    pub fn reload(&self, scope: &Scope) {
        self.identities.lock().remove(scope);
    }

    /// Which state a structure is, as far as its scope is loaded.
    pub fn recognise(&self, structure: &Structure) -> Option<Recognised> {
        let loaded = self.loaded(&of(structure))?;
        let identity = loaded.shown.read();
        let state = identity.recognise(structure)?;
        let own = |text: Option<&str>| text.map(str::to_owned);
        Some(Recognised { state, key: own(identity.name_of(state)), code: own(identity.code_of(state)) })
    }

    /// Notes that the jobs have something to look at.
    pub fn touch(&self, app: i64, state: Option<i64>) {
        self.untidy.lock().entry(app).or_default().states.extend(state);
    }

    /// Notes that the jobs have to look at everything of a scope.
    pub fn touch_all(&self, app: i64) {
        self.untidy.lock().entry(app).or_default().everything = true;
    }

    /// Puts back what a job could not do.
    pub fn put_back(&self, app: i64, touched: Touched) {
        let mut untidy = self.untidy.lock();
        let entry = untidy.entry(app).or_default();
        entry.everything |= touched.everything;
        entry.states.extend(touched.states);
    }

    /// Takes what the jobs have to look at.
    pub fn take_untidy(&self) -> HashMap<i64, Touched> {
        std::mem::take(&mut self.untidy.lock())
    }
}

/// The scope of a structure.
pub fn of(structure: &Structure) -> Scope {
    Scope { app: structure.app.clone(), site: structure.site.clone() }
}

fn load(connection: &Connection, scope: &Scope) -> Result<Identity> {
    let mut identity = Identity::default();
    let Some(known) = scope::find(connection, scope)? else { return Ok(identity) };
    let mut variants = connection.prepare_cached(
        "SELECT v.key, v.state_id, v.seen, v.place, v.title, v.features, v.defines FROM state_variants v JOIN states s ON s.id = v.state_id
         WHERE v.app_id = :app_id ORDER BY s.position, v.defines DESC",
    )?;
    let mut rows = variants.query(named_params! {":app_id": known.id})?;
    while let Some(row) = rows.next()? {
        let (key, state, seen): (String, i64, i64) = (row.get("key")?, row.get("state_id")?, row.get("seen")?);
        let (place, title): (String, Option<String>) = (row.get("place")?, row.get("title")?);
        let features = features(row.get_ref("features")?.as_blob().unwrap_or_default());
        let named = row.get::<_, bool>("defines")?.then_some((place.as_str(), title.as_deref(), features.as_slice()));
        identity.take_up(&key, state, u64::try_from(seen).unwrap_or_default(), named);
    }
    let mut states = connection.prepare_cached("SELECT id, visit_count, code FROM states WHERE app_id = :app_id AND deleted_at IS NULL")?;
    let mut rows = states.query(named_params! {":app_id": known.id})?;
    while let Some(row) = rows.next()? {
        identity.take_up_visits(row.get("id")?, u64::try_from(row.get::<_, i64>("visit_count")?).unwrap_or_default());
        if let Some(code) = row.get::<_, Option<String>>("code")? {
            identity.take_up_code(row.get("id")?, &code);
        }
    }
    let mut components = connection.prepare_cached("SELECT key, id FROM components WHERE app_id = :app_id AND deleted_at IS NULL")?;
    let mut rows = components.query(named_params! {":app_id": known.id})?;
    while let Some(row) = rows.next()? {
        identity.take_up_component(&row.get::<_, String>("key")?, row.get("id")?);
    }
    for (state, set) in defining_sets(connection, known.id)? {
        identity.take_up_set(state, &set);
    }
    Ok(identity)
}

/// The sets that define the states which have no structure, in the order of the states.
///
/// # Errors
/// What SQLite says.
pub fn defining_sets(connection: &Connection, app: i64) -> Result<Vec<(i64, Vec<u64>)>> {
    let mut statement = connection.prepare_cached(
        "SELECT s.id, sc.component_id FROM states s JOIN state_components sc ON sc.state_id = s.id
         WHERE s.app_id = :app_id AND s.kind = 'detected' AND s.deleted_at IS NULL AND sc.defining = 1 ORDER BY s.position, s.id",
    )?;
    let mut rows = statement.query(named_params! {":app_id": app})?;
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

/// Hashes as a column keeps them.
pub(super) fn blob(features: &[u64]) -> Vec<u8> {
    features.iter().flat_map(|f| f.to_le_bytes()).collect()
}

fn features(blob: &[u8]) -> Vec<u64> {
    blob.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().unwrap_or_default())).collect()
}
