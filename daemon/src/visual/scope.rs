//! What a visual memory is about: an app, or a site in a browser.

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use crate::store::{Result, new_uid, now_ms};

/// An app, or a site in one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scope {
    /// Package or program.
    pub app: String,
    /// Name of the site; `None` for the app itself.
    pub site: Option<String>,
}

/// A scope as its row tells it.
#[derive(Debug, Clone)]
pub struct Known {
    /// Row.
    pub id: i64,
    /// What it is about.
    pub scope: Scope,
    /// How often something was learned of it.
    pub learn_count: i64,
    /// How often in a row a component may be missed.
    pub forget_threshold: i64,
    /// When something was learned last, UTC milliseconds.
    pub learned_at: Option<i64>,
}

const COLUMNS: &str = "id, app, site, learn_count, forget_threshold, learned_at";

fn known(row: &Row<'_>) -> rusqlite::Result<Known> {
    let site: String = row.get("site")?;
    Ok(Known {
        id: row.get("id")?,
        scope: Scope { app: row.get("app")?, site: (!site.is_empty()).then_some(site) },
        learn_count: row.get("learn_count")?,
        forget_threshold: row.get("forget_threshold")?,
        learned_at: row.get("learned_at")?,
    })
}

/// The row of a scope, if there is one.
///
/// # Errors
/// What SQLite says.
pub fn find(connection: &Connection, scope: &Scope) -> Result<Option<Known>> {
    let site = scope.site.as_deref().unwrap_or_default();
    Ok(connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM apps WHERE app = :app AND site = :site AND deleted_at IS NULL"))?
        .query_row(named_params! {":app": &scope.app, ":site": site}, known)
        .optional()?)
}

/// A scope by its row.
///
/// # Errors
/// What SQLite says.
pub fn get(connection: &Connection, id: i64) -> Result<Option<Known>> {
    Ok(connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM apps WHERE id = :id"))?
        .query_row(named_params! {":id": id}, known)
        .optional()?)
}

/// All scopes, by name.
///
/// # Errors
/// What SQLite says.
pub fn all(connection: &Connection) -> Result<Vec<Known>> {
    let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM apps WHERE deleted_at IS NULL ORDER BY app, site"))?;
    let found = statement.query_map([], known)?.collect::<rusqlite::Result<_>>()?;
    Ok(found)
}

/// The row of a scope, made if there is none.
///
/// # Errors
/// What SQLite says.
pub fn take_up(connection: &Connection, origin: &str, scope: &Scope) -> Result<Known> {
    if let Some(known) = find(connection, scope)? {
        return Ok(known);
    }
    connection
        .prepare_cached(
            "INSERT INTO apps (uid, origin, app, site, created_at, updated_at) VALUES (:uid, :origin, :app, :site, :now, :now)
             ON CONFLICT (app, site) DO UPDATE SET deleted_at = NULL, updated_at = excluded.updated_at",
        )?
        .execute(named_params! {
            ":uid": new_uid(),
            ":origin": origin,
            ":app": &scope.app,
            ":site": scope.site.as_deref().unwrap_or_default(),
            ":now": now_ms(),
        })?;
    find(connection, scope)?.ok_or_else(|| rusqlite::Error::QueryReturnedNoRows.into())
}

/// Counts that something was learned, by a detector alone or not; returns how often that was.
pub(super) fn count_learning(connection: &Connection, id: i64, by_detector: bool, at: i64) -> Result<i64> {
    Ok(connection
        .prepare_cached(
            "UPDATE apps SET learn_count = learn_count + 1, detector_looks = detector_looks + :detector_looks,
                learned_at = max(coalesce(learned_at, 0), :at), updated_at = :at WHERE id = :id
             RETURNING learn_count",
        )?
        .query_row(named_params! {":id": id, ":at": at, ":detector_looks": by_detector}, |row| row.get("learn_count"))?)
}

/// Sets how often in a row a component may be missed.
///
/// # Errors
/// What SQLite says.
pub fn set_threshold(connection: &Connection, id: i64, threshold: i64) -> Result<()> {
    connection
        .prepare_cached("UPDATE apps SET forget_threshold = :forget_threshold, updated_at = :updated_at WHERE id = :id")?
        .execute(named_params! {":id": id, ":forget_threshold": threshold, ":updated_at": now_ms()})?;
    Ok(())
}

/// Notes the artifact that holds the picture of a page; returns the one that held it before.
///
/// # Errors
/// What SQLite says.
pub fn add_page(connection: &Connection, id: i64, page: &str, artifact: &str) -> Result<Option<String>> {
    let path = format!("$._pages.\"{}\"", page.replace(['"', '\\'], "_"));
    let before: Option<String> = connection
        .prepare_cached("SELECT extra ->> :path AS artifact FROM apps WHERE id = :id")?
        .query_row(named_params! {":id": id, ":path": path}, |row| row.get("artifact"))?;
    connection
        .prepare_cached(
            "UPDATE apps SET extra = json_set(json_insert(coalesce(extra, '{}'), '$._pages', json('{}')), :path, :artifact),
                updated_at = :now WHERE id = :id",
        )?
        .execute(named_params! {":id": id, ":path": path, ":artifact": artifact, ":now": now_ms()})?;
    Ok(before.filter(|b| b != artifact))
}

/// Counts a look of a detector.
pub(super) fn count_detector_look(connection: &Connection, id: i64) -> Result<()> {
    connection.prepare_cached("UPDATE apps SET detector_looks = detector_looks + 1 WHERE id = :id")?.execute(named_params! {":id": id})?;
    Ok(())
}

/// Notes a host that was seen of a site, with its port.
///
/// # Errors
/// What SQLite says.
pub fn add_host(connection: &Connection, scope: &Scope, host: &str, port: Option<u16>) -> Result<()> {
    let host = port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    connection
        .prepare_cached(
            "UPDATE apps SET hosts = json_insert(hosts, '$[#]', :host), updated_at = :now WHERE app = :app AND site = :site
                AND NOT EXISTS (SELECT 1 FROM json_each(hosts) WHERE value = :host)",
        )?
        .execute(named_params! {":app": scope.app, ":site": scope.site.as_deref().unwrap_or_default(), ":host": host, ":now": now_ms()})?;
    Ok(())
}

/// The hosts that were seen of a site.
///
/// # Errors
/// What SQLite says.
pub fn hosts(connection: &Connection, id: i64) -> Result<Vec<String>> {
    let text: String =
        connection.prepare_cached("SELECT hosts FROM apps WHERE id = :id")?.query_row(named_params! {":id": id}, |row| row.get("hosts"))?;
    Ok(serde_json::from_str(&text).unwrap_or_default())
}
