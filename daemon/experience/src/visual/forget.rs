//! Forgets components that are no longer on their pages, and deletes components and states on request.
//!
//! Idea: a component is forgotten page by page. After too many consecutive misses on a page, it is removed from that
//! page. It is deleted when it belongs to no other page. A loose component is deleted after too many consecutive
//! observations by a detector alone that miss it.
//!
//! Thresholds: each scope has a `forget_threshold`, 15 misses by default, which callers can set. Nothing is forgotten
//! before the scope has more lessons than this threshold. Components of an imported base memory (`base_memory` in
//! `extra`) may be missed ten times as often, and at least 150 times. `tests/e2e/golden.rs` compares counting and
//! forgetting with the source tool, and documents the deviations. `visual/tests.rs` checks the rules with lower
//! thresholds.
//!
//! Invariant: the links of a deleted component, and the links, structures and imported edges of a deleted state, are
//! deleted with it. The counts of a deleted link are added to its component. Every removal can be undone
//! ([`super::history`]).

use afd_proto::history::ChangeOp;
use rusqlite::Connection;

use super::components::{self, Component};
use super::history::{Change, Entry};
use super::scope::Known;
use super::states;
use afd_store::{Result, Sql as _, args};

/// Factor by which the threshold is multiplied for components of an imported base memory.
const BASE_FACTOR: i64 = 10;
/// Minimum threshold for components of an imported base memory, in consecutive misses.
const BASE_MIN: i64 = 150;

/// Returns the number of consecutive misses after which a component is forgotten.
fn allowed_misses(extra: Option<&str>, threshold: i64) -> i64 {
    let value: Option<serde_json::Value> = extra.and_then(|text| serde_json::from_str(text).ok());
    match value.is_some_and(|v| v["base_memory"] == true) {
        true => (BASE_FACTOR * threshold).max(BASE_MIN),
        false => threshold,
    }
}

/// Forgets components that were missed too often, and returns the changes. Forgets nothing before the scope has more
/// lessons than the threshold.
pub fn stale(connection: &Connection, origin: &str, scope: &Known, at: i64) -> Result<Vec<Entry>> {
    let threshold = scope.forget_threshold;
    if scope.learn_count <= threshold {
        return Ok(Vec::new());
    }
    let mut entries = Vec::new();
    for (state, component, misses) in overdue_links(connection, scope.id, threshold)? {
        let Some(found) = by_id(connection, scope.id, component)? else { continue };
        if misses < allowed_misses(found.extra.as_deref(), threshold) {
            continue;
        }
        let page = states::get(connection, state)?.map(|s| s.called().to_owned()).unwrap_or_default();
        let why = format!("missed {misses} times in a row on {page:?} (threshold {threshold})");
        entries.push(remove_from_page(connection, origin, scope.id, state, &found, &why, at)?);
    }
    for component in overdue_loose(connection, scope.id, threshold)? {
        let Some(found) = by_id(connection, scope.id, component)? else { continue };
        if found.consecutive_misses < allowed_misses(found.extra.as_deref(), threshold) {
            continue;
        }
        let why = format!("missed {} times in a row (threshold {threshold})", found.consecutive_misses);
        entries.push(delete_component(connection, origin, scope.id, &found, (ChangeOp::Forget, &why), at)?);
    }
    Ok(entries)
}

/// Returns the component with this row id.
fn by_id(connection: &Connection, app: i64, id: i64) -> Result<Option<Component>> {
    let name: Option<String> = rusqlite::OptionalExtension::optional(
        connection
            .prepare_cached("SELECT name FROM components WHERE id = :id AND deleted_at IS NULL")?
            .query_row(args! {id}, |row| row.get("name")),
    )?;
    name.map_or(Ok(None), |name| components::find(connection, app, &name))
}

/// Returns the state, component and number of misses of each link with too many consecutive misses.
fn overdue_links(connection: &Connection, app: i64, threshold: i64) -> Result<Vec<(i64, i64, i64)>> {
    connection.all(
        "SELECT sc.state_id, sc.component_id, sc.misses FROM state_components sc JOIN components c ON c.id = sc.component_id
         WHERE c.app_id = :app_id AND sc.misses > 0 AND sc.misses >= :misses ORDER BY c.position, sc.state_id",
        args! {app_id: app, misses: threshold},
        |row| {
            Ok((row.get("state_id")?, row.get("component_id")?, row.get("misses")?))
        },
    )
}

/// Returns the loose components with too many consecutive misses.
fn overdue_loose(connection: &Connection, app: i64, threshold: i64) -> Result<Vec<i64>> {
    connection.all(
        "SELECT id FROM components WHERE app_id = :app AND loose = 1 AND deleted_at IS NULL
            AND loose_since <= (SELECT detector_looks FROM apps WHERE id = :app) - :threshold ORDER BY position",
        args! {app, threshold},
        |row| row.get("id"),
    )
}

/// Removes a component from a page, and deletes it if that was its last page.
fn remove_from_page(
    connection: &Connection,
    origin: &str,
    app: i64,
    state: i64,
    component: &Component,
    why: &str,
    at: i64,
) -> Result<Entry> {
    let mut change = Change::begin(connection, app);
    change.keep("components", "id", component.id)?;
    change.keep("state_components", "component_id", component.id)?;
    let defined = defines(connection, state, component.id)?;
    unlink(connection, state, component.id)?;
    let pages = states::with_component(connection, component.id)?;
    if pages.is_empty() {
        mark_deleted(connection, component.id, at)?;
    }
    if defined {
        drop_if_empty(connection, &mut change, state, at)?;
    }
    let what =
        if pages.is_empty() { component.name.clone() } else { format!("{} on one of its pages", component.name) };
    change.commit(origin, ChangeOp::Forget, &what, why, at)
}

/// Deletes a component, and the states that it alone defined.
pub fn delete_component(
    connection: &Connection,
    origin: &str,
    app: i64,
    component: &Component,
    (op, why): (ChangeOp, &str),
    at: i64,
) -> Result<Entry> {
    let mut change = Change::begin(connection, app);
    change.keep("components", "id", component.id)?;
    change.keep("state_components", "component_id", component.id)?;
    let mut emptied = Vec::new();
    for state in states::with_component(connection, component.id)? {
        if defines(connection, state, component.id)? {
            emptied.push(state);
        }
        unlink(connection, state, component.id)?;
    }
    mark_deleted(connection, component.id, at)?;
    for state in emptied {
        drop_if_empty(connection, &mut change, state, at)?;
    }
    change.commit(origin, op, &component.name, why, at)
}

/// Deletes a state, and the data that belongs to it alone.
pub fn delete_state(
    connection: &Connection,
    origin: &str,
    app: i64,
    state: &states::State,
    why: &str,
    at: i64,
) -> Result<Entry> {
    let mut change = Change::begin(connection, app);
    drop_state(connection, &mut change, state.id, at)?;
    change.commit(origin, ChangeOp::Delete, state.called(), why, at)
}

/// Returns whether a component belongs to the set that defines a state.
fn defines(connection: &Connection, state: i64, component: i64) -> Result<bool> {
    connection.one(
        "SELECT EXISTS (SELECT 1 FROM state_components WHERE state_id = :state_id AND component_id = :component_id
                AND defining = 1) AS found",
        args! {state_id: state, component_id: component},
        |row| row.get("found"),
    )
}

/// Removes a component from a state, and adds the counts of the link to the component.
fn unlink(connection: &Connection, state: i64, component: i64) -> Result<()> {
    connection.run(
        "UPDATE components SET
                base_seen = base_seen + (SELECT s.visit_count - sc.from_visit - sc.missed FROM state_components sc JOIN states s
                    ON s.id = sc.state_id WHERE sc.state_id = :state AND sc.component_id = :component),
                base_last_seen = max(coalesce(base_last_seen, 0), (SELECT coalesce(sc.seen_before, s.last_seen)
                    FROM state_components sc JOIN states s ON s.id = sc.state_id WHERE sc.state_id = :state
                    AND sc.component_id = :component))
             WHERE id = :component AND EXISTS (SELECT 1 FROM state_components WHERE state_id = :state AND component_id = :component)",
        args! {state, component},
    )?;
    connection.run(
        "DELETE FROM state_components WHERE state_id = :state_id AND component_id = :component_id",
        args! {state_id: state, component_id: component},
    )?;
    connection.run(
        "UPDATE components SET loose = 1, loose_since = (SELECT detector_looks FROM apps WHERE apps.id = components.app_id)
             WHERE id = :component AND source <> 'tree' AND NOT EXISTS (SELECT 1 FROM state_components WHERE component_id = :component)",
        args! {component},
    )?;
    Ok(())
}

fn mark_deleted(connection: &Connection, component: i64, at: i64) -> Result<()> {
    connection
        .run("UPDATE components SET deleted_at = :at, updated_at = :at WHERE id = :id", args! {id: component, at})?;
    Ok(())
}

/// Deletes a state if it is defined and its defining set, which has just lost a component, is empty.
fn drop_if_empty(connection: &Connection, change: &mut Change<'_>, state: i64, at: i64) -> Result<()> {
    let remains: bool = connection.one(
        "SELECT code IS NULL OR EXISTS (SELECT 1 FROM state_components WHERE state_id = :state AND defining = 1) AS keeps FROM states
                WHERE id = :state",
        args! {state},
        |row| row.get("keeps"),
    )?;
    if remains { Ok(()) } else { drop_state(connection, change, state, at) }
}

/// Deletes a state with its links, its structures and its imported edges.
fn drop_state(connection: &Connection, change: &mut Change<'_>, state: i64, at: i64) -> Result<()> {
    change.keep("states", "id", state)?;
    change.keep("state_components", "state_id", state)?;
    change.keep("state_variants", "state_id", state)?;
    change.keep("imported_edges", "from_state", state)?;
    change.keep("imported_edges", "to_state", state)?;
    let mut statement =
        connection.prepare_cached("SELECT component_id FROM state_components WHERE state_id = :state_id")?;
    let components: Vec<i64> = statement
        .query_map(args! {state_id: state}, |row| row.get("component_id"))?
        .collect::<rusqlite::Result<_>>()?;
    for component in components {
        change.keep("components", "id", component)?;
        unlink(connection, state, component)?;
        // Components from the tree are deleted with their last page. Detected components stay, because they may appear
        // anywhere.
        connection.execute(
            "UPDATE components SET deleted_at = :at, updated_at = :at WHERE id = :component AND source = 'tree' AND deleted_at IS NULL
                AND NOT EXISTS (SELECT 1 FROM state_components WHERE component_id = :component)",
            args! {component, at},
        )?;
    }
    connection.execute("DELETE FROM state_variants WHERE state_id = :state_id", args! {state_id: state})?;
    connection.execute("DELETE FROM imported_edges WHERE from_state = :state OR to_state = :state", args! {state})?;
    connection.execute("UPDATE states SET deleted_at = :at, updated_at = :at WHERE id = :id", args! {id: state, at})?;
    Ok(())
}
