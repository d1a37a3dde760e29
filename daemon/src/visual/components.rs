//! Components: what can be seen in an app or on a site.

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::lesson::{Sighting, TREE};
use crate::page::mask;
use crate::page::snapshot::Rect;
use crate::store::{Conditions, Page, Result, new_uid};

/// A component with what is known of it.
#[derive(Debug, Clone)]
pub struct Component {
    /// Row.
    pub id: i64,
    /// Names it in every copy of this memory.
    pub uid: String,
    /// Its place in the order of learning.
    pub position: i64,
    /// What makes it the same component.
    pub key: String,
    /// Name.
    pub name: String,
    /// What kind of thing it is.
    pub kind: String,
    /// Where it comes from.
    pub source: String,
    /// What it says.
    pub label: Option<String>,
    /// Whether that changes by itself.
    pub dynamic: bool,
    /// Whether it moves in and out of view.
    pub scrolls: bool,
    /// Resource id.
    pub res_id: Option<String>,
    /// Class.
    pub class: Option<String>,
    /// Where it was seen last.
    pub bounds: Option<Rect>,
    /// How sure the detector was.
    pub confidence: Option<f64>,
    /// Name of the page that it was learned on.
    pub page: Option<String>,
    /// Uid of the artifact that shows it.
    pub crop: Option<String>,
    /// When it was learned, UTC milliseconds.
    pub learned_at: i64,
    /// When it was seen last, UTC milliseconds.
    pub last_seen: i64,
    /// How often it was seen.
    pub seen_count: i64,
    /// Missed so often in a row, at the page of its where it was missed least.
    pub consecutive_misses: i64,
    /// Members of its file that we have no column for, as JSON.
    pub extra: Option<String>,
}

/// The columns of [`Component`], with its activity summed up over the pages that it belongs to.
const SELECT: &str =
    "SELECT c.id, c.uid, c.position, c.key, c.name, c.kind, c.source, c.label, c.dynamic, c.res_id, c.class, c.bounds_left, c.bounds_top,
        c.bounds_right, c.bounds_bottom, c.confidence, c.page, c.crop, c.learned_at,
        max(coalesce(c.base_last_seen, c.learned_at), coalesce(max(coalesce(sc.seen_before, s.last_seen)), 0)) AS seen_last,
        c.base_seen + coalesce(sum(s.visit_count - sc.from_visit - sc.missed), 0) AS seen_count,
        coalesce(min(sc.misses), CASE WHEN c.loose = 1 THEN a.detector_looks - c.loose_since ELSE 0 END) AS missed_in_a_row, c.extra, c.scrolls
     FROM components c
     JOIN apps a ON a.id = c.app_id
     LEFT JOIN state_components sc ON sc.component_id = c.id
     LEFT JOIN states s ON s.id = sc.state_id";

fn read(row: &Row<'_>) -> rusqlite::Result<Component> {
    Ok(Component {
        id: row.get("id")?,
        uid: row.get("uid")?,
        position: row.get("position")?,
        key: row.get("key")?,
        name: row.get("name")?,
        kind: row.get("kind")?,
        source: row.get("source")?,
        label: row.get("label")?,
        dynamic: row.get("dynamic")?,
        res_id: row.get("res_id")?,
        class: row.get("class")?,
        bounds: bounds(row)?,
        confidence: row.get("confidence")?,
        page: row.get("page")?,
        crop: row.get("crop")?,
        learned_at: row.get("learned_at")?,
        last_seen: row.get("seen_last")?,
        seen_count: row.get("seen_count")?,
        consecutive_misses: row.get("missed_in_a_row")?,
        extra: row.get("extra")?,
        scrolls: row.get("scrolls")?,
    })
}

/// The columns `bounds_left` to `bounds_bottom` as a rectangle, or nothing.
pub(super) fn bounds(row: &Row<'_>) -> rusqlite::Result<Option<Rect>> {
    let edge = |name: &str| row.get::<_, Option<i32>>(name);
    Ok(match (edge("bounds_left")?, edge("bounds_top")?, edge("bounds_right")?, edge("bounds_bottom")?) {
        (Some(left), Some(top), Some(right), Some(bottom)) => Some(Rect { left, top, right, bottom }),
        _ => None,
    })
}

/// Which components are asked for.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only those without a label or a name of their own.
    pub unlabelled: bool,
    /// Only those of this state.
    pub state: Option<i64>,
    /// Only those whose name or label contains this, in any case.
    pub text: Option<String>,
    /// The page of them, by position in the order of learning.
    pub page: Page,
}

/// All components of a scope, in the order in which they were learned.
///
/// # Errors
/// What SQLite says.
pub fn all(connection: &Connection, app: i64) -> Result<Vec<Component>> {
    list(connection, app, &Filter::default()).map(|(all, _)| all)
}

/// A page of the components of a scope, in the order in which they were learned, and the cursor of the next one.
///
/// # Errors
/// What SQLite says.
pub fn list(connection: &Connection, app: i64, filter: &Filter) -> Result<(Vec<Component>, Option<i64>)> {
    let text = filter.text.as_ref().map(|t| format!("%{}%", t.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")));
    let unnamed = "(c.label IS NULL AND c.res_id IS NULL) OR c.name LIKE 'unlabeled\\_%' ESCAPE '\\'";
    let of_state = "EXISTS (SELECT 1 FROM state_components o WHERE o.component_id = c.id AND o.state_id = :state)";
    let wanted = Conditions::new("c.app_id = :app AND c.deleted_at IS NULL")
        .value(":app", app)
        .given(&format!("(:unnamed AND ({unnamed}))"), ":unnamed", filter.unlabelled.then_some(true))
        .given(of_state, ":state", filter.state)
        .given("(c.name LIKE :text ESCAPE '\\' OR c.label LIKE :text ESCAPE '\\')", ":text", text)
        .given("c.position > :after", ":after", filter.page.cursor)
        .value(":limit", filter.page.reads());
    let sql = format!("{SELECT} WHERE {} GROUP BY c.id ORDER BY c.position LIMIT :limit", wanted.sql());
    let mut statement = connection.prepare_cached(&sql)?;
    let mut found: Vec<Component> = statement.query_map(&*wanted.values(), read)?.collect::<rusqlite::Result<_>>()?;
    let next = filter.page.cut(&mut found, |component| component.position);
    Ok((found, next))
}

/// A component by its name, or else by its label or resource id, if only one has it.
///
/// # Errors
/// What SQLite says.
pub fn find(connection: &Connection, app: i64, name: &str) -> Result<Option<Component>> {
    let by = |condition: &str| -> Result<Vec<Component>> {
        let sql = format!("{SELECT} WHERE c.app_id = :app_id AND c.deleted_at IS NULL AND {condition} GROUP BY c.id LIMIT 2");
        let mut statement = connection.prepare_cached(&sql)?;
        let found = statement.query_map(named_params! {":app_id": app, ":name": name}, read)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    };
    for condition in ["c.name = :name", "c.label = :name", "(c.res_id = :name OR c.res_id LIKE '%/' || :name)"] {
        let mut found = by(condition)?;
        if found.len() == 1 {
            return Ok(found.pop());
        }
    }
    Ok(None)
}

/// The names of the components that define a state.
pub(super) fn defining_names(connection: &Connection, state: i64) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(
        "SELECT c.name FROM state_components sc JOIN components c ON c.id = sc.component_id
         WHERE sc.state_id = :state_id AND sc.defining = 1 AND c.deleted_at IS NULL ORDER BY c.name",
    )?;
    let names = statement.query_map(named_params! {":state_id": state}, |row| row.get("name"))?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}

/// The names of components, in their order.
pub(super) fn names(connection: &Connection, ids: &[i64]) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached("SELECT name FROM components WHERE id = :id")?;
    ids.iter().map(|id| Ok(statement.query_row(named_params! {":id": id}, |row| row.get("name"))?)).collect()
}

/// The row of a component by what makes it the same.
pub(super) fn by_key(connection: &Connection, app: i64, key: &str) -> Result<Option<i64>> {
    Ok(connection
        .prepare_cached("SELECT id FROM components WHERE app_id = :app_id AND key = :key AND deleted_at IS NULL")?
        .query_row(named_params! {":app_id": app, ":key": key}, |row| row.get("id"))
        .optional()?)
}

/// Whether a name is taken by another component of the scope.
///
/// # Errors
/// What SQLite says.
pub fn is_taken(connection: &Connection, app: i64, name: &str) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM components WHERE app_id = :app_id AND name = :name AND deleted_at IS NULL) AS found")?
        .query_row(named_params! {":app_id": app, ":name": name}, |row| row.get("found"))?)
}

/// A name that no other component of the scope has.
pub(super) fn free_name(connection: &Connection, app: i64, wanted: &str) -> Result<String> {
    let mut name = wanted.to_owned();
    let mut n = 1;
    while is_taken(connection, app, &name)? {
        n += 1;
        name = format!("{wanted}_{n}");
    }
    Ok(name)
}

/// The next position in a scope's order, of components or of states.
pub(super) fn next_position(connection: &Connection, table: &'static str, app: i64) -> Result<i64> {
    let sql = format!("SELECT coalesce(max(position), 0) + 1 AS next_position FROM {table} WHERE app_id = :app_id");
    Ok(connection.prepare_cached(&sql)?.query_row(named_params! {":app_id": app}, |row| row.get("next_position"))?)
}

/// Adds a component that was seen for the first time.
pub(super) fn insert(connection: &Connection, origin: &str, app: i64, s: &Sighting, page: Option<&str>, at: i64) -> Result<i64> {
    let name = free_name(connection, app, if s.name.is_empty() { "unlabeled" } else { &s.name })?;
    let edge = |of: fn(&Rect) -> i32| s.bounds.as_ref().map(of);
    connection
        .prepare_cached(
            "INSERT INTO components (uid, origin, app_id, position, key, name, kind, source, label, scrolls, res_id, class, bounds_left,
                bounds_top, bounds_right, bounds_bottom, confidence, page, crop, learned_at, loose, updated_at, loose_since)
             VALUES (:uid, :origin, :app, :position, :key, :name, :kind, :source, :label, :scrolls, :res_id, :class, :left, :top, :right,
                :bottom, :confidence, :page, :crop, :at, :loose, :at, (SELECT detector_looks FROM apps WHERE id = :app))",
        )?
        .execute(named_params! {
            ":uid": new_uid(),
            ":origin": origin,
            ":app": app,
            ":position": next_position(connection, "components", app)?,
            ":key": s.key,
            ":name": name,
            ":kind": s.kind,
            ":source": s.source,
            ":label": s.label,
            ":scrolls": s.scrolls,
            ":res_id": s.res_id,
            ":class": s.class,
            ":left": edge(|b| b.left),
            ":top": edge(|b| b.top),
            ":right": edge(|b| b.right),
            ":bottom": edge(|b| b.bottom),
            ":confidence": s.confidence,
            ":page": page,
            ":crop": s.crop,
            ":at": at,
            ":loose": s.source != TREE,
        })?;
    Ok(connection.last_insert_rowid())
}

/// A component was seen on a page.
pub(super) fn belongs_somewhere(connection: &Connection, id: i64) -> Result<()> {
    connection.prepare_cached("UPDATE components SET loose = 0 WHERE id = :id AND loose = 1")?.execute(named_params! {":id": id})?;
    Ok(())
}

/// Components were seen, and no state came of it.
pub(super) fn seen_nowhere(connection: &Connection, app: i64, seen: &[(i64, bool)], at: i64) -> Result<()> {
    seen.iter().try_for_each(|(id, _)| seen_loose(connection, app, *id, at))
}

/// A component that belongs to no page was seen.
pub(super) fn seen_loose(connection: &Connection, app: i64, id: i64, at: i64) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE components SET base_seen = base_seen + 1, base_last_seen = :at, updated_at = :at,
                loose_since = (SELECT detector_looks FROM apps WHERE id = :app) WHERE id = :id",
        )?
        .execute(named_params! {":id": id, ":at": at, ":app": app})?;
    Ok(())
}

/// Whether a component that belongs to no page was missed too often.
pub(super) fn any_loose_overdue(connection: &Connection, app: i64) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM components c JOIN apps a ON a.id = c.app_id WHERE c.app_id = :app_id AND c.loose = 1
                AND c.deleted_at IS NULL AND c.loose_since <= a.detector_looks - a.forget_threshold) AS found",
        )?
        .query_row(named_params! {":app_id": app}, |row| row.get("found"))?)
}

/// A component is at another place than it was.
pub(super) fn moved(connection: &Connection, id: i64, bounds: Option<Rect>, at: i64) -> Result<()> {
    let Some(b) = bounds else { return Ok(()) };
    connection
        .prepare_cached(
            "UPDATE components SET bounds_left = :bounds_left, bounds_top = :bounds_top, bounds_right = :bounds_right,
                bounds_bottom = :bounds_bottom, updated_at = :updated_at WHERE id = :id",
        )?
        .execute(named_params! {
            ":id": id,
            ":bounds_left": b.left,
            ":bounds_top": b.top,
            ":bounds_right": b.right,
            ":bounds_bottom": b.bottom,
            ":updated_at": at,
        })?;
    Ok(())
}

/// There is a newer picture of a component.
///
/// # Errors
/// What SQLite says.
pub fn pictured(connection: &Connection, id: i64, crop: Option<&str>, at: i64) -> Result<()> {
    connection
        .prepare_cached("UPDATE components SET crop = :crop, updated_at = :updated_at WHERE id = :id")?
        .execute(named_params! {":id": id, ":crop": crop, ":updated_at": at})?;
    Ok(())
}

/// A component says something else. Where that is part of what it is, the new words are kept; elsewhere it is known from now on
/// that its words change by themselves, and none are kept.
pub(super) fn says(connection: &Connection, id: i64, sighting: &Sighting, at: i64) -> Result<()> {
    let known: Option<String> = connection
        .prepare_cached("SELECT label FROM components WHERE id = :id")?
        .query_row(named_params! {":id": id}, |row| row.get("label"))?;
    let same = |a: &str, b: &str| mask::digits(a) == mask::digits(b);
    let (label, dynamic) = match (&known, &sighting.label) {
        (Some(old), Some(new)) if !sighting.steady && !same(old, new) => (None, true),
        (_, new) => (new.as_deref(), false),
    };
    connection
        .prepare_cached("UPDATE components SET label = :label, dynamic = :dynamic, updated_at = :updated_at WHERE id = :id")?
        .execute(named_params! {":id": id, ":label": label, ":dynamic": dynamic, ":updated_at": at})?;
    Ok(())
}

/// Gives a component another name. Sets, edges and pages name it by its row, so that they follow.
///
/// # Errors
/// What SQLite says.
pub fn rename(connection: &Connection, id: i64, name: &str, at: i64) -> Result<()> {
    connection
        .prepare_cached("UPDATE components SET name = :name, updated_at = :updated_at WHERE id = :id")?
        .execute(named_params! {":id": id, ":name": name, ":updated_at": at})?;
    Ok(())
}

/// The key of a component by its name, whatever it was called when it was learned.
pub(super) fn key_of_name(connection: &Connection, app: i64, name: &str) -> Result<Option<String>> {
    Ok(connection
        .prepare_cached("SELECT key FROM components WHERE app_id = :app_id AND name = :name AND deleted_at IS NULL")?
        .query_row(named_params! {":app_id": app, ":name": name}, |row| row.get("key"))
        .optional()?)
}
