//! Merges states that have become similar.
//!
//! Idea: two states of detections are merged if the Jaccard index of their defining sets is over 0.85. Pages are
//! identified by their structure. They are merged only when an app update has given a page a new look: the new page has
//! the same place and title, and nearly the same components (the same limit), and the old one has not been seen since.
//!
//! Thresholds: 0.85 is in [`identity::merges`]. `tests/e2e/golden.rs` compares merges of detections with the source
//! tool. A new look must have about as many visits as misses are needed to forget a component (`forget_threshold`).
//!
//! Invariant: no counts are lost. The survivor has the visits, components and structures of both states. The edges of
//! the state graph refer to structures and need no change. Imported edges refer to states and are rewritten. Every
//! merge can be undone ([`super::history`]).

use std::collections::{HashMap, HashSet};

use afd_proto::history::ChangeOp;
use rusqlite::Connection;

use super::edges::JOIN_EDGES;
use super::history::{Change, Entry};
use super::identity;
use super::index::{Touched, defining_sets};
use super::scope::Known;
use super::states::{self, State};
use afd_store::{Result, Sql as _, args};

/// Merges states that have become similar, and returns the changes. Only pairs with a touched state are compared,
/// because no other pair can have become similar.
pub fn similar(connection: &Connection, origin: &str, app: i64, touched: &Touched, at: i64) -> Result<Vec<Entry>> {
    if touched.states.is_empty() && !touched.everything {
        return Ok(Vec::new());
    }
    let mut touched = touched.clone();
    let mut entries = Vec::new();
    loop {
        let sets = defining_sets(connection, app)?;
        let Some((first, second, common, union)) = first_pair(&sets, &touched) else { return Ok(entries) };
        let (Some(a), Some(b)) = (states::get(connection, first)?, states::get(connection, second)?) else {
            return Ok(entries);
        };
        // The state with more visits survives, or the earlier one if the visits are equal.
        let (survivor, gone) = if b.visit_count > a.visit_count { (b, a) } else { (a, b) };
        let why = format!("{common} of {union} components are equal, which is more than 85 %");
        entries.push(merge(connection, origin, &survivor, &gone, &why, at)?);
        touched.states.insert(survivor.id);
        touched.states.remove(&gone.id);
    }
}

/// Merges a page into the page that replaced it, and returns the changes. The replacement has the same place and title
/// and nearly the same components. It was first visited after the last visit of the old page, and has had enough visits
/// for a component to be forgotten.
pub fn redesigned(connection: &Connection, origin: &str, scope: &Known, at: i64) -> Result<Vec<Entry>> {
    // Adds one visit, because the first visit with the new look still counted for the old page.
    let pairs: Vec<(i64, i64)> = connection.all(
        "SELECT a.id AS gone, b.id AS living FROM states a JOIN states b ON b.app_id = a.app_id AND b.place = a.place AND b.title = a.title
         WHERE a.app_id = :app_id AND a.kind = 'page' AND b.kind = 'page' AND a.deleted_at IS NULL AND b.deleted_at IS NULL
            AND a.last_seen < b.first_seen AND b.visit_count + 1 >= :visits ORDER BY b.last_seen DESC LIMIT 20",
        args! {app_id: scope.id, visits: scope.forget_threshold},
        |row| {
            Ok((row.get::<_, i64>("gone")?, row.get::<_, i64>("living")?))
        },
    )?;
    let mut entries = Vec::new();
    for (gone, living) in pairs {
        let (old, new) = (tree_components(connection, gone)?, tree_components(connection, living)?);
        let (common, union) = (old.intersection(&new).count(), old.union(&new).count());
        if !identity::merges(common, union) {
            continue;
        }
        let (Some(gone), Some(living)) = (states::get(connection, gone)?, states::get(connection, living)?) else {
            continue;
        };
        let why = format!("the page had this look on {} visits, and its old look on none since", living.visit_count);
        entries.push(merge(connection, origin, &living, &gone, &why, at)?);
        // Only the newest look names the surviving page.
        connection.execute(
            "UPDATE state_variants SET defines = 0 WHERE state_id = :state AND key NOT IN (SELECT key FROM state_variants
                WHERE state_id = :state AND defines = 1 ORDER BY updated_at DESC LIMIT 1)",
            args! {state: living.id},
        )?;
    }
    Ok(entries)
}

/// Returns the row ids of a state's components that do not scroll.
fn tree_components(connection: &Connection, state: i64) -> Result<HashSet<i64>> {
    connection.all(
        "SELECT sc.component_id FROM state_components sc JOIN components c ON c.id = sc.component_id
         WHERE sc.state_id = :state AND c.deleted_at IS NULL AND c.scrolls = 0",
        args! {state},
        |row| row.get("component_id"),
    )
}

/// Returns the first pair of states that are similar enough, in the order of `sets`, with the sizes of the intersection
/// and the union of their sets.
fn first_pair(sets: &[(i64, Vec<u64>)], touched: &Touched) -> Option<(i64, i64, usize, usize)> {
    let mut lists: HashMap<u64, Vec<usize>> = HashMap::new();
    for (i, (_, set)) in sets.iter().enumerate() {
        set.iter().for_each(|c| lists.entry(*c).or_default().push(i));
    }
    let mut best: Option<(usize, usize, usize, usize)> = None;
    for (i, (state, set)) in sets.iter().enumerate() {
        if !touched.everything && !touched.states.contains(state) {
            continue;
        }
        let mut common: HashMap<usize, usize> = HashMap::new();
        set.iter().flat_map(|c| &lists[c]).filter(|j| **j != i).for_each(|j| *common.entry(*j).or_default() += 1);
        for (j, shared) in common {
            let union = set.len() + sets[j].1.len() - shared;
            let pair = (i.min(j), i.max(j), shared, union);
            if identity::merges(shared, union) && best.is_none_or(|b| (pair.0, pair.1) < (b.0, b.1)) {
                best = Some(pair);
            }
        }
    }
    best.map(|(i, j, common, union)| (sets[i].0, sets[j].0, common, union))
}

/// Merges a state into another one, which keeps its name, its description and its times.
fn merge(connection: &Connection, origin: &str, survivor: &State, gone: &State, why: &str, at: i64) -> Result<Entry> {
    let mut change = Change::begin(connection, survivor.app);
    for state in [survivor.id, gone.id] {
        change.keep("states", "id", state)?;
        change.keep("state_components", "state_id", state)?;
        change.keep("state_variants", "state_id", state)?;
        change.keep("imported_edges", "from_state", state)?;
        change.keep("imported_edges", "to_state", state)?;
    }
    let visits = survivor.visit_count + gone.visit_count;
    join_links(connection, survivor, gone, visits)?;
    connection.execute(
        "UPDATE state_variants SET state_id = :state_id WHERE state_id = :id",
        args! {state_id: survivor.id, id: gone.id},
    )?;
    join_edges(connection, survivor, gone, at)?;
    connection
        .execute("UPDATE states SET deleted_at = :at, updated_at = :at WHERE id = :id", args! {id: gone.id, at})?;
    connection.execute(
        "UPDATE states SET visit_count = :visit_count, updated_at = :updated_at WHERE id = :id",
        args! {id: survivor.id, visit_count: visits, updated_at: at},
    )?;
    let what = format!("{} into {}", gone.called(), survivor.called());
    change.commit(origin, ChangeOp::Merge, &what, why, at)
}

/// The usage counts of a component in a state.
struct Link {
    defining: bool,
    seen: i64,
    misses: i64,
    seen_before: Option<i64>,
}

/// Links the components of both states to the survivor, with the sum of both counts.
fn join_links(connection: &Connection, survivor: &State, gone: &State, visits: i64) -> Result<()> {
    let links = |state: &State| -> Result<HashMap<i64, Link>> {
        let mut statement = connection.prepare(
            "SELECT component_id, defining, from_visit, missed, misses, seen_before FROM state_components WHERE state_id = :state_id",
        )?;
        let found = statement.query_map(args! {state_id: state.id}, |row| {
            let seen = state.visit_count - row.get::<_, i64>("from_visit")? - row.get::<_, i64>("missed")?;
            Ok((
                row.get("component_id")?,
                Link {
                    defining: row.get("defining")?,
                    seen,
                    misses: row.get("misses")?,
                    seen_before: row.get("seen_before")?,
                },
            ))
        })?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    };
    let (ours, theirs) = (links(survivor)?, links(gone)?);
    let all: HashSet<i64> = ours.keys().chain(theirs.keys()).copied().collect();
    connection.execute(
        "DELETE FROM state_components WHERE state_id IN (:survivor, :gone)",
        args! {survivor: survivor.id, gone: gone.id},
    )?;
    for component in all {
        let both = [ours.get(&component), theirs.get(&component)];
        let found = || both.iter().flatten();
        let seen: i64 = found().map(|l| l.seen).sum();
        // A component that was seen on one of the states was not missed.
        let misses = found().map(|l| l.misses).min().unwrap_or_default();
        // `None` means the last visit to the state.
        let seen_before =
            if found().any(|l| l.seen_before.is_none()) { None } else { found().filter_map(|l| l.seen_before).max() };
        connection.execute(
            "INSERT INTO state_components (state_id, component_id, defining, from_visit, missed, misses, seen_before)
             VALUES (:state_id, :component_id, :defining, :from_visit, 0, :misses, :seen_before)",
            args! {
                state_id: survivor.id, component_id: component, defining: found().any(|l| l.defining),
                from_visit: visits - seen, misses, seen_before
            },
        )?;
    }
    Ok(())
}

/// Moves imported edges to the survivor. Joins equal edges with [`JOIN_EDGES`].
fn join_edges(connection: &Connection, survivor: &State, gone: &State, at: i64) -> Result<()> {
    let mut statement = connection.prepare(
        "SELECT id, from_state, action, to_state FROM imported_edges WHERE app_id = :app_id ORDER BY position",
    )?;
    let rows = statement.query_map(args! {app_id: survivor.app}, |row| {
        Ok((
            row.get::<_, i64>("id")?,
            row.get::<_, i64>("from_state")?,
            row.get::<_, String>("action")?,
            row.get::<_, i64>("to_state")?,
        ))
    })?;
    let edges = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    let mapped = |state: i64| if state == gone.id { survivor.id } else { state };
    let mut first: HashMap<(i64, String, i64), i64> = HashMap::new();
    let mut renamed = Vec::new();
    for (id, from, action, to) in edges {
        let key = (mapped(from), action, mapped(to));
        match first.get(&key) {
            Some(kept) => {
                connection.execute(JOIN_EDGES, args! {kept, other: id, at})?;
                connection.execute("DELETE FROM imported_edges WHERE id = :id", args! {id})?;
            }
            None => {
                if (key.0, key.2) != (from, to) {
                    renamed.push((id, key.0, key.2));
                }
                first.insert(key, id);
            }
        }
    }
    for (id, from, to) in renamed {
        connection.execute(
            "UPDATE imported_edges SET from_state = :from_state, to_state = :to_state WHERE id = :id",
            args! {id, from_state: from, to_state: to},
        )?;
    }
    Ok(())
}
