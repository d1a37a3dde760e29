//! States: pages, dialogs, and sets of detections that represent a page. This module stores them; [`super::identity`]
//! decides which state a screen shows.
//!
//! Idea: a page or dialog is recognised by its structures (`state_variants`). One of them names the state, and the
//! others were assigned to it later. A set of detections is recognised by its defining components. A state without a
//! code was seen once and is not defined yet; [`define`] gives it a code and a name.
//!
//! Invariant: a structure belongs to one state at a time, because its key is the primary key. Component counts are
//! derived from visits: a component of a state was seen at all visits since `from_visit` except `missed` of them. A
//! visit without changes therefore updates no row of a component.
//!
//! The only threshold here is [`MAX_TEXTS`]. The thresholds for recognition are in [`super::identity`] and `likeness`.

use std::collections::HashSet;

use afd_proto::visual::StateKind;
use rusqlite::{Connection, OptionalExtension, Row};

use super::components::{self, next_position};
use super::index;
use super::lesson::Lesson;
use super::scope;
use afd_screen::page::snapshot::Rect;
use afd_screen::page::structure::Structure;
use afd_store::{Result, Sql as _, args, elsewhere, new_uid, now_ms, read, word};

/// Maximum number of text strings kept per state.
const MAX_TEXTS: usize = 50;

/// A state.
#[derive(Debug, Clone)]
pub struct State {
    /// Row id of the state.
    pub id: i64,
    /// Unique id, the same in every copy of this memory.
    pub uid: String,
    /// Uid of the store that first learned the state; `None` for this store.
    pub origin: Option<String>,
    /// Row id of the scope.
    pub app: i64,
    /// Code of the state: `s_` and six hexadecimal digits; `None` until the state is defined.
    pub code: Option<String>,
    /// Name of the state; `None` if it has none.
    pub name: Option<String>,
    /// Description of the state, if one was given.
    pub description: Option<String>,
    /// Kind of state.
    pub kind: StateKind,
    /// Activity or URL of the page; empty if there is none.
    pub place: String,
    /// Title of the page, with digits masked.
    pub title: Option<String>,
    /// Number of visits.
    pub visit_count: i64,
    /// Text strings on the screen.
    pub texts: Vec<String>,
    /// Time of the first visit, in Unix milliseconds.
    pub first_seen: i64,
    /// Time of the last visit, in Unix milliseconds.
    pub last_seen: i64,
    /// Members of the imported row for which the table has no column, as JSON.
    pub extra: Option<String>,
}

impl State {
    /// Returns the name, or the code if there is no name. For a state that is not defined yet, returns the title, or
    /// the last part of its place if it has no title.
    pub fn called(&self) -> &str {
        let place = self.place.rsplit(['/', '.']).next().filter(|p| !p.is_empty());
        self.name.as_deref().or(self.code.as_deref()).or(self.title.as_deref()).or(place).unwrap_or("?")
    }

    /// Returns the code, or the uid if there is no code.
    pub fn reference(&self) -> &str {
        self.code.as_deref().unwrap_or(&self.uid)
    }
}

/// A visit that was just counted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Visit {
    /// Number of visits to the state, including this one.
    pub count: i64,
    /// Time of the previous visit, in Unix milliseconds.
    pub before: i64,
}

/// A state that is not defined yet.
pub(super) struct Draft {
    /// Text strings on the screen at the first visit.
    pub texts: Vec<String>,
}

const COLUMNS: &str = concat!(
    "id, uid, app_id, code, name, description, kind, place, title, visit_count, visible_texts, first_seen, last_seen, extra, ",
    elsewhere!("states")
);

fn read(row: &Row<'_>) -> rusqlite::Result<State> {
    Ok(read!(row => State {
        id, uid, code, name, description, place, title, visit_count, first_seen, last_seen, extra,
        origin: row.get("elsewhere")?,
        app: row.get("app_id")?,
        kind: word(row, "kind")?,
        texts: serde_json::from_str(&row.get::<_, String>("visible_texts")?).unwrap_or_default(),
    }))
}

/// Returns the states of a scope, in the order in which they were learned. If `undefined` is true, includes those that
/// are not defined yet.
pub fn list(connection: &Connection, app: i64, undefined: bool) -> Result<Vec<State>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM states WHERE app_id = :app_id AND deleted_at IS NULL AND (:undefined OR code IS NOT NULL)
            ORDER BY position, id"
    );
    connection.all(&sql, args! {app_id: app, undefined}, read)
}

/// Returns a state by its row id, unless it is deleted.
pub fn get(connection: &Connection, id: i64) -> Result<Option<State>> {
    let sql = format!("SELECT {COLUMNS} FROM states WHERE id = :id AND deleted_at IS NULL");
    connection.first(&sql, args! {id}, read)
}

/// Returns the states of all scopes that have this id or uid.
pub fn by_id(connection: &Connection, id: &str) -> Result<Vec<State>> {
    let sql = format!("SELECT {COLUMNS} FROM states WHERE (code = :id OR uid = :id) AND deleted_at IS NULL LIMIT 2");
    connection.all(&sql, args! {id}, read)
}

/// Returns the components that define the states of a scope, as pairs of a state's row id and a component's name.
pub fn defining(connection: &Connection, app: i64) -> Result<Vec<(i64, String)>> {
    let mut statement = connection.prepare_cached(
        "SELECT sc.state_id, c.name FROM state_components sc JOIN components c ON c.id = sc.component_id
         WHERE c.app_id = :app_id AND sc.defining = 1 AND c.deleted_at IS NULL ORDER BY sc.state_id, c.name",
    )?;
    let found = statement.query_map(args! {app_id: app}, |row| Ok((row.get("state_id")?, row.get("name")?)))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Returns the row ids of the states to which a component belongs.
pub fn with_component(connection: &Connection, component: i64) -> Result<Vec<i64>> {
    connection.all(
        "SELECT state_id FROM state_components WHERE component_id = :component_id ORDER BY state_id",
        args! {component_id: component},
        |row| row.get("state_id"),
    )
}

/// Returns the states to which structures belong, as pairs of structure key and state. Unknown keys are left out.
pub fn by_structure(connection: &Connection, keys: &[&str]) -> Result<Vec<(String, i64)>> {
    let mut statement = connection.prepare_cached("SELECT state_id FROM state_variants WHERE key = :key")?;
    let mut found = Vec::new();
    for key in keys {
        if let Some(state) = statement.query_row(args! {key}, |row| row.get("state_id")).optional()? {
            found.push(((*key).to_owned(), state));
        }
    }
    Ok(found)
}

/// Returns the keys of all structures that belong to the same state as the structure with this key, including this key.
pub fn structures_of_same_state(connection: &Connection, key: &str) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(
        "SELECT key FROM state_variants WHERE state_id = (SELECT state_id FROM state_variants WHERE key = :key)
         ORDER BY defines DESC, seen DESC LIMIT 200",
    )?;
    let mut keys: Vec<String> =
        statement.query_map(args! {key}, |row| row.get("key"))?.collect::<rusqlite::Result<_>>()?;
    if !keys.iter().any(|k| k == key) {
        keys.push(key.to_owned());
    }
    Ok(keys)
}

/// Returns the row ids of up to ten other pages with this place and title, most recently seen first.
pub(super) fn others_of_page(
    connection: &Connection,
    app: i64,
    (place, title): (&str, &str),
    state: i64,
) -> Result<Vec<i64>> {
    connection.all(
        "SELECT id FROM states WHERE app_id = :app_id AND place = :place AND title = :title AND kind = 'page' AND id <> :state
            AND deleted_at IS NULL ORDER BY last_seen DESC LIMIT 10",
        args! {app_id: app, place, title, state},
        |row| {
            row.get("id")
        },
    )
}

/// Returns the codes of all states of a scope.
pub(super) fn codes(connection: &Connection, app: i64) -> Result<HashSet<String>> {
    connection.all(
        "SELECT code FROM states WHERE app_id = :app_id AND deleted_at IS NULL AND code IS NOT NULL",
        args! {app_id: app},
        |row| row.get("code"),
    )
}

/// Returns the name of a page without a title: the last part of its place, or a name that is derived from its code.
pub(super) fn name_of(structure: &Structure, code: &str) -> String {
    let last = structure.place.rsplit(['/', '.']).next().unwrap_or_default();
    match (structure.dialog, last.is_empty()) {
        (true, _) => code.replacen("s_", "dialog_", 1),
        (false, false) => last.to_owned(),
        (false, true) => code.replacen("s_", "state_", 1),
    }
}

/// Inserts a page or dialog that was seen for the first time.
pub(super) fn insert_page(
    connection: &Connection,
    origin: &str,
    app: i64,
    structure: &Structure,
    at: i64,
) -> Result<i64> {
    let kind = if structure.dialog { StateKind::Dialog } else { StateKind::Page };
    connection.run(
        "INSERT INTO states (uid, origin, app_id, position, kind, place, title, first_seen, last_seen, updated_at)
             VALUES (:uid, :origin, :app_id, :position, :kind, :place, :title, :at, :at, :at)",
        args! {
            uid: new_uid(), origin, app_id: app, position: next_position(connection, "states", app)?,
            kind: kind.word(), place: &structure.place, title: &structure.title, at
        },
    )?;
    Ok(connection.last_insert_rowid())
}

/// Inserts a state that represents a set of detections.
pub(super) fn insert_set(
    connection: &Connection,
    origin: &str,
    app: i64,
    code: &str,
    name: &str,
    lesson: &Lesson,
) -> Result<i64> {
    let position = next_position(connection, "states", app)?;
    connection.run(
        "INSERT INTO states (uid, origin, app_id, position, code, name, description, kind, place, visible_texts, first_seen, last_seen,
                updated_at)
             VALUES (:uid, :origin, :app_id, :position, :code, :name, :description, 'detected', '', :visible_texts, :at, :at, :at)",
        args! {
            uid: new_uid(), origin, app_id: app, position, code, name, description: lesson.page,
            visible_texts: texts(&lesson.texts), at: lesson.at
        },
    )?;
    Ok(connection.last_insert_rowid())
}

/// Encodes the first [`MAX_TEXTS`] strings as the value of a database column.
fn texts(texts: &[String]) -> String {
    serde_json::to_string(&texts[..texts.len().min(MAX_TEXTS)]).unwrap_or_else(|_| "[]".to_owned())
}

/// Counts a visit.
pub(super) fn visit(connection: &Connection, state: i64, at: i64) -> Result<Visit> {
    let before =
        connection.one("SELECT last_seen FROM states WHERE id = :id", args! {id: state}, |row| row.get("last_seen"))?;
    let count = connection.one(
        "UPDATE states SET visit_count = visit_count + 1, last_seen = max(last_seen, :at), updated_at = :at
            WHERE id = :id RETURNING visit_count",
        args! {id: state, at},
        |row| row.get("visit_count"),
    )?;
    Ok(Visit { count, before })
}

/// Stores the text strings on a page at its first visit.
pub(super) fn set_texts(connection: &Connection, state: i64, read: &[String]) -> Result<()> {
    connection.run(
        "UPDATE states SET visible_texts = :visible_texts WHERE id = :id",
        args! {id: state, visible_texts: texts(read)},
    )?;
    Ok(())
}

/// Returns the draft of a state, if the state is not defined yet.
pub(super) fn undefined(connection: &Connection, state: i64) -> Result<Option<Draft>> {
    let found: Option<String> = connection.first(
        "SELECT visible_texts FROM states WHERE id = :id AND code IS NULL",
        args! {id: state},
        |row| row.get("visible_texts"),
    )?;
    Ok(found.map(|texts| Draft { texts: serde_json::from_str(&texts).unwrap_or_default() }))
}

/// Defines a state: stores its code, name, description and texts.
pub(super) fn define(
    connection: &Connection,
    state: i64,
    code: &str,
    name: &str,
    description: Option<&str>,
    read: &[String],
) -> Result<()> {
    connection.run(
        "UPDATE states SET code = :code, name = :name, description = :description, visible_texts = :visible_texts WHERE id = :id",
        args! {id: state, code, name, description, visible_texts: texts(read)},
    )?;
    Ok(())
}

/// Renames a state.
pub fn rename(connection: &Connection, state: i64, name: &str, at: i64) -> Result<()> {
    connection.run(
        "UPDATE states SET name = :name, updated_at = :updated_at WHERE id = :id",
        args! {id: state, name, updated_at: at},
    )?;
    Ok(())
}

/// The relation of a structure to its state.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Standing {
    /// Whether the structure names the state.
    pub names: bool,
    /// Whether the structure stays with the state, even if another state is more similar.
    pub pinned: bool,
    /// Whether the structure's evidence is kept as an example of the state.
    pub example: bool,
}

/// Stores that a structure belongs to a state.
pub(super) fn put_variant(
    connection: &Connection,
    origin: &str,
    app: i64,
    state: i64,
    s: &Structure,
    Standing { names, pinned, example }: Standing,
) -> Result<()> {
    connection.run(
        "INSERT INTO state_variants (key, origin, app_id, state_id, place, title, dialog, features, defines, pinned, seen,
                updated_at)
             VALUES (:key, :origin, :app_id, :state_id, :place, :title, :dialog, :features, :defines, :pinned, 1, :updated_at)
             ON CONFLICT (key) DO UPDATE SET state_id = excluded.state_id, defines = excluded.defines,
                features = CASE WHEN length(excluded.features) > length(features) THEN excluded.features ELSE features END,
                pinned = max(pinned, excluded.pinned), seen = seen + 1,
                updated_at = excluded.updated_at",
        args! {
            key: s.key(), origin, app_id: app, state_id: state, place: s.place, title: s.title, dialog: s.dialog,
            features: index::with_evidence(&s.features, if example { &s.evidence } else { &[] }), defines: names,
            pinned, updated_at: now_ms()
        },
    )?;
    Ok(())
}

/// Returns the state to which the structure with this key belongs.
pub fn of_structure(connection: &Connection, key: &str) -> Result<Option<State>> {
    match by_structure(connection, &[key])?.pop() {
        Some((_, state)) => get(connection, state),
        None => Ok(None),
    }
}

/// Stores which components were found by their pictures and which were missed. If the state is known, this counts as a
/// visit that looked only for these components. If it is not, only loose components can be missed. Returns the number
/// of the state's components that were missed.
pub fn note_matches(
    connection: &Connection,
    app: i64,
    state: Option<i64>,
    found: &[(i64, Rect)],
    missed: &[i64],
    at: i64,
) -> Result<usize> {
    let before = state.map(|state| visit(connection, state, at)).transpose()?;
    let mut counted = 0;
    if let (Some(state), Some(visit)) = (state, before) {
        let looked: HashSet<i64> = found.iter().map(|(id, _)| *id).chain(missed.iter().copied()).collect();
        let mut links =
            connection.prepare_cached("SELECT component_id FROM state_components WHERE state_id = :state_id")?;
        let all: Vec<i64> = links
            .query_map(args! {state_id: state}, |row| row.get("component_id"))?
            .collect::<rusqlite::Result<_>>()?;
        for component in all {
            let change = if !looked.contains(&component) {
                "from_visit = from_visit + 1, seen_before = coalesce(seen_before, :before)"
            } else if missed.contains(&component) {
                counted += 1;
                "missed = missed + 1, misses = misses + 1, seen_before = coalesce(seen_before, :before)"
            } else {
                "misses = 0, seen_before = NULL"
            };
            connection.run(
                &format!(
                    "UPDATE state_components SET {change} WHERE state_id = :state_id AND component_id = :component_id
                        AND :before IS NOT NULL"
                ),
                args! {state_id: state, component_id: component, before: visit.before},
            )?;
        }
    }
    if state.is_none() {
        scope::count_detector_look(connection, app)?;
    }
    for (component, bounds) in found {
        if state.is_none() && with_component(connection, *component)?.is_empty() {
            components::count_loose_sighting(connection, app, *component, at)?;
        }
        components::set_bounds(connection, *component, Some(*bounds), at)?;
    }
    Ok(counted)
}
