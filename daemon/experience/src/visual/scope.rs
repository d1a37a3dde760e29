//! Scopes of the visual memory: an app, or a site in a browser.

use rusqlite::{Connection, Row};

use afd_store::{Result, Sql as _, args, new_uid, now_ms, read};

/// An app, or a site in a browser.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scope {
    /// Name of the package or program.
    pub app: String,
    /// Name of the site; `None` for the app itself.
    pub site: Option<String>,
}

/// A stored scope.
#[derive(Debug, Clone)]
pub struct Known {
    /// Row id of the scope.
    pub id: i64,
    /// The app or site of the scope.
    pub scope: Scope,
    /// Number of lessons learned in the scope.
    pub learn_count: i64,
    /// Number of consecutive misses after which a component is forgotten.
    pub forget_threshold: i64,
    /// Time of the last lesson, in Unix milliseconds.
    pub learned_at: Option<i64>,
}

const COLUMNS: &str = "id, app, site, learn_count, forget_threshold, learned_at";

fn known(row: &Row<'_>) -> rusqlite::Result<Known> {
    let site: String = row.get("site")?;
    Ok(read!(row => Known {
        id, learn_count, forget_threshold, learned_at,
        scope: Scope { app: row.get("app")?, site: (!site.is_empty()).then_some(site) },
    }))
}

/// Returns a scope, unless it is unknown or deleted.
pub fn find(connection: &Connection, scope: &Scope) -> Result<Option<Known>> {
    let site = scope.site.as_deref().unwrap_or_default();
    connection.first(
        &format!("SELECT {COLUMNS} FROM apps WHERE app = :app AND site = :site AND deleted_at IS NULL"),
        args! {app: &scope.app, site},
        known,
    )
}

/// Returns a scope by its row id.
pub fn get(connection: &Connection, id: i64) -> Result<Option<Known>> {
    connection.first(&format!("SELECT {COLUMNS} FROM apps WHERE id = :id"), args! {id}, known)
}

/// Returns all scopes, sorted by name.
pub fn all(connection: &Connection) -> Result<Vec<Known>> {
    let mut statement = connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM apps WHERE deleted_at IS NULL ORDER BY app, site"))?;
    let found = statement.query_map([], known)?.collect::<rusqlite::Result<_>>()?;
    Ok(found)
}

/// Returns a scope. Inserts it if it is unknown, and restores it if it is deleted.
pub fn get_or_create(connection: &Connection, origin: &str, scope: &Scope) -> Result<Known> {
    if let Some(known) = find(connection, scope)? {
        return Ok(known);
    }
    connection.run(
        "INSERT INTO apps (uid, origin, app, site, created_at, updated_at) VALUES (:uid, :origin, :app, :site, :now, :now)
             ON CONFLICT (app, site) DO UPDATE SET deleted_at = NULL, updated_at = excluded.updated_at",
        args! {
            uid: new_uid(), origin, app: &scope.app, site: scope.site.as_deref().unwrap_or_default(), now: now_ms()
        },
    )?;
    find(connection, scope)?.ok_or_else(|| rusqlite::Error::QueryReturnedNoRows.into())
}

/// Counts a lesson. If `by_detector` is true, also counts an observation by a detector alone. Returns the new number of
/// lessons.
pub(super) fn count_learning(connection: &Connection, id: i64, by_detector: bool, at: i64) -> Result<i64> {
    connection.one(
        "UPDATE apps SET learn_count = learn_count + 1, detector_looks = detector_looks + :detector_looks,
                learned_at = max(coalesce(learned_at, 0), :at), updated_at = :at WHERE id = :id
             RETURNING learn_count",
        args! {id, at, detector_looks: by_detector},
        |row| row.get("learn_count"),
    )
}

/// Sets the number of consecutive misses after which a component is forgotten.
pub fn set_threshold(connection: &Connection, id: i64, threshold: i64) -> Result<()> {
    connection.run(
        "UPDATE apps SET forget_threshold = :forget_threshold, updated_at = :updated_at WHERE id = :id",
        args! {id, forget_threshold: threshold, updated_at: now_ms()},
    )?;
    Ok(())
}

/// Stores which artifact contains the picture of a page. Returns the uid of the artifact that it replaces, if any.
pub fn add_page(connection: &Connection, id: i64, page: &str, artifact: &str) -> Result<Option<String>> {
    let path = format!("$._pages.\"{}\"", page.replace(['"', '\\'], "_"));
    let before: Option<String> =
        connection.one("SELECT extra ->> :path AS artifact FROM apps WHERE id = :id", args! {id, path}, |row| {
            row.get("artifact")
        })?;
    connection.run(
        "UPDATE apps SET extra = json_set(json_insert(coalesce(extra, '{}'), '$._pages', json('{}')), :path, :artifact),
                updated_at = :now WHERE id = :id",
        args! {id, path, artifact, now: now_ms()},
    )?;
    Ok(before.filter(|b| b != artifact))
}

/// Counts an observation by a detector alone.
pub(super) fn count_detector_look(connection: &Connection, id: i64) -> Result<()> {
    connection.run("UPDATE apps SET detector_looks = detector_looks + 1 WHERE id = :id", args! {id})?;
    Ok(())
}

/// Stores the size in pixels of the screen on which the scope was last seen.
pub(super) fn note_screen(connection: &Connection, id: i64, size: Option<(i32, i32)>) -> Result<()> {
    let Some((width, height)) = size else { return Ok(()) };
    connection.run(
        "UPDATE apps SET image_width = :width, image_height = :height
             WHERE id = :id AND (image_width IS NOT :width OR image_height IS NOT :height)",
        args! {id, width, height},
    )?;
    Ok(())
}

/// Adds a host, with its port if it has one, to the known hosts of a site.
pub fn add_host(connection: &Connection, scope: &Scope, host: &str) -> Result<()> {
    connection.run(
        "UPDATE apps SET hosts = json_insert(hosts, '$[#]', :host), updated_at = :now WHERE app = :app AND site = :site
                AND NOT EXISTS (SELECT 1 FROM json_each(hosts) WHERE value = :host)",
        args! {app: scope.app, site: scope.site.as_deref().unwrap_or_default(), host, now: now_ms()},
    )?;
    Ok(())
}

/// Returns the known hosts of a site.
pub fn hosts(connection: &Connection, id: i64) -> Result<Vec<String>> {
    let text: String = connection.one("SELECT hosts FROM apps WHERE id = :id", args! {id}, |row| row.get("hosts"))?;
    Ok(serde_json::from_str(&text).unwrap_or_default())
}
