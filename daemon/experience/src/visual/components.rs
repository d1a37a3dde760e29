//! Components: the elements that were seen in an app or on a site.
//!
//! A component from the accessibility tree belongs to at least one page. A detected component may belong to no page.
//! Such a component is *loose*: it counts as missed in every observation by a detector alone that does not contain it.

use rusqlite::{Connection, Row};

use super::lesson::{Sighting, TREE};
use afd_screen::page::mask;
use afd_screen::page::snapshot::Rect;
use afd_store::{Conditions, Page, Result, Sql as _, args, elsewhere, new_uid, read};

/// A component and its usage counts.
#[derive(Debug, Clone)]
pub struct Component {
    /// Row id of the component.
    pub id: i64,
    /// Unique id, the same in every copy of this memory.
    pub uid: String,
    /// Position in the order in which components were learned.
    pub position: i64,
    /// Key that identifies the component within its scope.
    pub key: String,
    /// Name, unique within its scope.
    pub name: String,
    /// Role or type, for example `button` or `icon`.
    pub kind: String,
    /// Source of the component: `tree` for the accessibility tree, or the name of the detector.
    pub source: String,
    /// Text of the component; `None` if the text is known to change on its own.
    pub label: Option<String>,
    /// Whether the component's text changes on its own.
    pub dynamic: bool,
    /// Whether the component scrolls in and out of view.
    pub scrolls: bool,
    /// Resource id of the element; `None` if it has none.
    pub res_id: Option<String>,
    /// Class of the element, without the package name.
    pub class: Option<String>,
    /// Bounds at the last sighting, in pixels.
    pub bounds: Option<Rect>,
    /// Confidence with which the detector found the component, from 0 to 1.
    pub confidence: Option<f64>,
    /// Name of the page on which the component was learned.
    pub page: Option<String>,
    /// Uid of the artifact that contains a picture of the component.
    pub crop: Option<String>,
    /// Time when the component was learned, in Unix milliseconds.
    pub learned_at: i64,
    /// Time when the component was last seen, in Unix milliseconds.
    pub last_seen: i64,
    /// Number of times that the component was seen.
    pub seen_count: i64,
    /// Number of consecutive misses on the component's page, or the lowest such number if it belongs to several pages.
    pub consecutive_misses: i64,
    /// Members of the imported row for which the table has no column, as JSON.
    pub extra: Option<String>,
    /// Uid of the store that first learned the component; `None` for this store.
    pub origin: Option<String>,
}

/// A query for the fields of [`Component`], with its usage counts summed up over the states to which it belongs.
const SELECT: &str = concat!(
    "SELECT c.id, c.uid, c.position, c.key, c.name, c.kind, c.source, c.label, c.dynamic, c.res_id, c.class, c.bounds_left, c.bounds_top,
        c.bounds_right, c.bounds_bottom, c.confidence, c.page, c.crop, c.learned_at,
        max(coalesce(c.base_last_seen, c.learned_at), coalesce(max(coalesce(sc.seen_before, s.last_seen)), 0)) AS seen_last,
        c.base_seen + coalesce(sum(s.visit_count - sc.from_visit - sc.missed), 0) AS seen_count,
        coalesce(min(sc.misses), CASE WHEN c.loose = 1 THEN a.detector_looks - c.loose_since ELSE 0 END) AS missed_in_a_row, c.extra, c.scrolls, ",
    elsewhere!("c"),
    " FROM components c
     JOIN apps a ON a.id = c.app_id
     LEFT JOIN state_components sc ON sc.component_id = c.id
     LEFT JOIN states s ON s.id = sc.state_id"
);

fn read(row: &Row<'_>) -> rusqlite::Result<Component> {
    Ok(read!(row => Component {
        id, uid, position, key, name, kind, source, label, dynamic, res_id, class, confidence, page, crop, learned_at,
        seen_count, extra, scrolls,
        bounds: bounds(row)?,
        last_seen: row.get("seen_last")?,
        consecutive_misses: row.get("missed_in_a_row")?,
        origin: row.get("elsewhere")?,
    }))
}

/// Reads bounds from the columns `bounds_left` to `bounds_bottom`. Returns `None` if one of them is null.
pub(super) fn bounds(row: &Row<'_>) -> rusqlite::Result<Option<Rect>> {
    let edge = |name: &str| row.get::<_, Option<i32>>(name);
    Ok(match (edge("bounds_left")?, edge("bounds_top")?, edge("bounds_right")?, edge("bounds_bottom")?) {
        (Some(left), Some(top), Some(right), Some(bottom)) => Some(Rect { left, top, right, bottom }),
        _ => None,
    })
}

/// A filter for components.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Whether to return only components that have neither a label nor a resource id, or that have a generated name.
    pub unlabelled: bool,
    /// Only components of the state with this row id.
    pub state: Option<i64>,
    /// Only components whose name or label contains this text, ignoring case.
    pub text: Option<String>,
    /// Page of the list; its cursor is the position of the last component on the previous page.
    pub page: Page,
}

/// Returns all components of a scope, in the order in which they were learned.
pub fn all(connection: &Connection, app: i64) -> Result<Vec<Component>> {
    list(connection, app, &Filter::default()).map(|(all, _)| all)
}

/// Returns a page of the components of a scope, in the order in which they were learned, and the cursor of the next
/// page.
pub fn list(connection: &Connection, app: i64, filter: &Filter) -> Result<(Vec<Component>, Option<i64>)> {
    let text =
        filter.text.as_ref().map(|t| format!("%{}%", t.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")));
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

/// Returns the labels of the components of a scope, each with the row id of a state that has the component.
pub fn labels(connection: &Connection, app: i64) -> Result<Vec<(i64, String)>> {
    connection.all(
        "SELECT sc.state_id, c.label FROM state_components sc JOIN components c ON c.id = sc.component_id
            WHERE c.app_id = :app_id AND c.label <> '' AND c.deleted_at IS NULL ORDER BY c.position, sc.state_id",
        args! {app_id: app},
        |row| Ok((row.get("state_id")?, row.get("label")?)),
    )
}

/// Returns the only component with this name, or else the only one with this label, or else the only one with this
/// resource id.
pub fn find(connection: &Connection, app: i64, name: &str) -> Result<Option<Component>> {
    let by = |condition: &str| -> Result<Vec<Component>> {
        let sql =
            format!("{SELECT} WHERE c.app_id = :app_id AND c.deleted_at IS NULL AND {condition} GROUP BY c.id LIMIT 2");
        connection.all(&sql, args! {app_id: app, name}, read)
    };
    for condition in ["c.name = :name", "c.label = :name", "(c.res_id = :name OR c.res_id LIKE '%/' || :name)"] {
        let mut found = by(condition)?;
        if found.len() == 1 {
            return Ok(found.pop());
        }
    }
    Ok(None)
}

/// Returns the names of the components that define a state, sorted.
pub(super) fn defining_names(connection: &Connection, state: i64) -> Result<Vec<String>> {
    connection.all(
        "SELECT c.name FROM state_components sc JOIN components c ON c.id = sc.component_id
         WHERE sc.state_id = :state_id AND sc.defining = 1 AND c.deleted_at IS NULL ORDER BY c.name",
        args! {state_id: state},
        |row| row.get("name"),
    )
}

/// Returns the names of components, in the order of `ids`.
pub(super) fn names(connection: &Connection, ids: &[i64]) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached("SELECT name FROM components WHERE id = :id")?;
    ids.iter().map(|id| Ok(statement.query_row(args! {id}, |row| row.get("name"))?)).collect()
}

/// Returns the row id of the component with this key.
pub(super) fn by_key(connection: &Connection, app: i64, key: &str) -> Result<Option<i64>> {
    connection.first(
        "SELECT id FROM components WHERE app_id = :app_id AND key = :key AND deleted_at IS NULL",
        args! {app_id: app, key},
        |row| row.get("id"),
    )
}

/// Returns whether a component in the scope has this name.
pub fn name_exists(connection: &Connection, app: i64, name: &str) -> Result<bool> {
    connection.one(
        "SELECT EXISTS (SELECT 1 FROM components WHERE app_id = :app_id AND name = :name AND deleted_at IS NULL) AS found",
        args! {app_id: app, name},
        |row| row.get("found"),
    )
}

/// Returns the wanted name, with a number appended if another component in the scope already has that name.
pub(super) fn free_name(connection: &Connection, app: i64, wanted: &str) -> Result<String> {
    if !name_exists(connection, app, wanted)? {
        return Ok(wanted.to_owned());
    }
    // Long pages can have thousands of elements with the same name. The free number is found by doubling and bisection.
    let is_taken = |n: u64| name_exists(connection, app, &format!("{wanted}_{n}"));
    let (mut taken, mut free) = (1, 2);
    while is_taken(free)? {
        (taken, free) = (free, free * 2);
    }
    while free - taken > 1 {
        let middle = taken.midpoint(free);
        match is_taken(middle)? {
            true => taken = middle,
            false => free = middle,
        }
    }
    Ok(format!("{wanted}_{free}"))
}

/// Returns the next free position in a scope, for a table whose rows are ordered per scope.
pub(super) fn next_position(connection: &Connection, table: &'static str, app: i64) -> Result<i64> {
    let sql = format!("SELECT coalesce(max(position), 0) + 1 AS next_position FROM {table} WHERE app_id = :app_id");
    connection.one(&sql, args! {app_id: app}, |row| row.get("next_position"))
}

/// Inserts a component that was seen for the first time.
pub(super) fn insert(
    connection: &Connection,
    origin: &str,
    app: i64,
    s: &Sighting,
    page: Option<&str>,
    at: i64,
) -> Result<i64> {
    let name = free_name(connection, app, if s.name.is_empty() { "unlabeled" } else { &s.name })?;
    let edge = |of: fn(&Rect) -> i32| s.bounds.as_ref().map(of);
    connection.run(
        "INSERT INTO components (uid, origin, app_id, position, key, name, kind, source, label, scrolls, res_id, class, bounds_left,
                bounds_top, bounds_right, bounds_bottom, confidence, page, crop, learned_at, loose, updated_at, loose_since)
             VALUES (:uid, :origin, :app, :position, :key, :name, :kind, :source, :label, :scrolls, :res_id, :class, :left, :top, :right,
                :bottom, :confidence, :page, :crop, :at, :loose, :at, (SELECT detector_looks FROM apps WHERE id = :app))",
        args! {
            uid: new_uid(), origin, app, position: next_position(connection, "components", app)?, key: s.key, name,
            kind: s.kind, source: s.source, label: s.label, scrolls: s.scrolls, res_id: s.res_id, class: s.class,
            left: edge(|b| b.left), top: edge(|b| b.top), right: edge(|b| b.right), bottom: edge(|b| b.bottom),
            confidence: s.confidence, page, crop: s.crop, at, loose: s.source != TREE
        },
    )?;
    Ok(connection.last_insert_rowid())
}

/// Sets the page name of a state's components to the name of the state. Components that already have a page name keep
/// it.
pub(super) fn name_page(connection: &Connection, state: i64) -> Result<()> {
    connection.run(
        "UPDATE components SET page = (SELECT name FROM states WHERE id = :state) WHERE page IS NULL
                AND id IN (SELECT component_id FROM state_components WHERE state_id = :state)",
        args! {state},
    )?;
    Ok(())
}

/// Marks a component as belonging to a page.
pub(super) fn mark_attached(connection: &Connection, id: i64) -> Result<()> {
    connection.run("UPDATE components SET loose = 0 WHERE id = :id AND loose = 1", args! {id})?;
    Ok(())
}

/// Records that loose components were seen.
pub(super) fn count_loose_sightings(connection: &Connection, app: i64, seen: &[(i64, bool)], at: i64) -> Result<()> {
    seen.iter().try_for_each(|(id, _)| count_loose_sighting(connection, app, *id, at))
}

/// Records that a loose component was seen.
pub(super) fn count_loose_sighting(connection: &Connection, app: i64, id: i64, at: i64) -> Result<()> {
    connection.run(
        "UPDATE components SET base_seen = base_seen + 1, base_last_seen = :at, updated_at = :at,
                loose_since = (SELECT detector_looks FROM apps WHERE id = :app) WHERE id = :id",
        args! {id, at, app},
    )?;
    Ok(())
}

/// Returns whether any loose component was missed too often.
pub(super) fn any_loose_overdue(connection: &Connection, app: i64) -> Result<bool> {
    connection.one(
        "SELECT EXISTS (SELECT 1 FROM components c JOIN apps a ON a.id = c.app_id WHERE c.app_id = :app_id AND c.loose = 1
                AND c.deleted_at IS NULL AND c.loose_since <= a.detector_looks - a.forget_threshold) AS found",
        args! {app_id: app},
        |row| row.get("found"),
    )
}

/// Sets the bounds of a component, if they are known.
pub(super) fn set_bounds(connection: &Connection, id: i64, bounds: Option<Rect>, at: i64) -> Result<()> {
    let Some(b) = bounds else { return Ok(()) };
    connection.run(
        "UPDATE components SET bounds_left = :bounds_left, bounds_top = :bounds_top, bounds_right = :bounds_right,
                bounds_bottom = :bounds_bottom, updated_at = :updated_at WHERE id = :id",
        args! {
            id, bounds_left: b.left, bounds_top: b.top, bounds_right: b.right, bounds_bottom: b.bottom, updated_at: at
        },
    )?;
    Ok(())
}

/// Sets or removes the artifact that contains a component's picture.
pub fn set_crop(connection: &Connection, id: i64, crop: Option<&str>, at: i64) -> Result<()> {
    connection.run(
        "UPDATE components SET crop = :crop, updated_at = :updated_at WHERE id = :id",
        args! {id, crop, updated_at: at},
    )?;
    Ok(())
}

/// Updates the label of a component whose text has changed. If the text is part of the component's identity, or if only
/// digits changed, stores the new text. Otherwise marks the component as dynamic and removes its label.
pub(super) fn update_label(connection: &Connection, id: i64, sighting: &Sighting, at: i64) -> Result<()> {
    let known: Option<String> =
        connection.one("SELECT label FROM components WHERE id = :id", args! {id}, |row| row.get("label"))?;
    let same = |a: &str, b: &str| mask::digits(a) == mask::digits(b);
    let (label, dynamic) = match (&known, &sighting.label) {
        (Some(old), Some(new)) if !sighting.steady && !same(old, new) => (None, true),
        (_, new) => (new.as_deref(), false),
    };
    connection.run(
        "UPDATE components SET label = :label, dynamic = :dynamic, updated_at = :updated_at WHERE id = :id",
        args! {id, label, dynamic, updated_at: at},
    )?;
    Ok(())
}

/// Renames a component. States refer to it by row id and need no change. [`super::edges::rename`] renames it in
/// imported edges.
pub fn rename(connection: &Connection, id: i64, name: &str, at: i64) -> Result<()> {
    connection.run(
        "UPDATE components SET name = :name, updated_at = :updated_at WHERE id = :id",
        args! {id, name, updated_at: at},
    )?;
    Ok(())
}

/// Returns the key of the component that currently has this name.
pub(super) fn key_of_name(connection: &Connection, app: i64, name: &str) -> Result<Option<String>> {
    connection.first(
        "SELECT key FROM components WHERE app_id = :app_id AND name = :name AND deleted_at IS NULL",
        args! {app_id: app, name},
        |row| row.get("key"),
    )
}
