//! Looks up what was learned about a place: first about its page, then its activity, then its app.

use afd_proto::memory::{Experience, Recovery, Scope, Transition};
use afd_proto::vocabulary::{Action, PageRef};
use rusqlite::{Connection, Row, types::ToSql};

use super::Place;
use crate::page::target;
use crate::store::{Result, json, skip_unreadable};

/// What to look up.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The place to look up.
    pub place: Place,
    /// Only recoveries from this cause.
    pub failure_cause: Option<String>,
    /// Maximum number of transitions, and of recoveries.
    pub limit: usize,
}

/// Returns the known tiers of a place, nearest first: scope, column, value.
fn tiers(place: &Place) -> Vec<(Scope, &'static str, &str)> {
    [(Scope::Page, "page_key", &place.page_key), (Scope::Activity, "activity", &place.activity), (Scope::App, "app", &place.app)]
        .into_iter()
        .filter_map(|(scope, column, value)| Some((scope, column, value.as_deref().filter(|v| !v.is_empty())?)))
        .collect()
}

/// Looks up transitions and recoveries, nearest and best first. With a failure cause, only recoveries are returned; without
/// any known place, they come from everywhere.
pub fn find(connection: &Connection, query: &Query) -> Result<Experience> {
    let tiers = tiers(&query.place);
    let mut experience = Experience { transitions: Vec::new(), recoveries: Vec::new() };
    if query.failure_cause.is_none() {
        search(
            connection,
            &tiers,
            TRANSITIONS,
            None,
            query.limit,
            |row, scope| to_transition(row, scope).map(|t| (t.uid.clone(), t)),
            &mut experience.transitions,
        )?;
    }
    let cause = query.failure_cause.as_deref();
    search(
        connection,
        &tiers,
        RECOVERIES,
        cause,
        query.limit,
        |row, scope| to_recovery(row, scope).map(|r| (r.uid.clone(), r)),
        &mut experience.recoveries,
    )?;
    if tiers.is_empty()
        && let Some(cause) = cause
    {
        let everywhere = [(Scope::App, "failure_cause", cause)];
        search(
            connection,
            &everywhere,
            RECOVERIES,
            None,
            query.limit,
            |row, scope| to_recovery(row, scope).map(|r| (r.uid.clone(), r)),
            &mut experience.recoveries,
        )?;
    }
    Ok(experience)
}

/// A table with its columns and its order, for which there is an index per tier.
type Table = (&'static str, &'static str, &'static str);

const TRANSITIONS: Table = (
    "transitions",
    "uid, app, activity, page_key, fingerprint, action, post_activity, post_page_key, post_fingerprint, verify_op, success_count,
     verified_count, failure_count, last_success_at, failure_cause",
    "verified_count DESC, success_count DESC, failure_count, last_at DESC",
);

const RECOVERIES: Table = (
    "recoveries",
    "uid, activity, page_key, fingerprint, failure_cause, action, success_count, failure_count, last_success_at",
    "success_count DESC, failure_count, last_at DESC",
);

/// Fills `out` up to the limit, tier by tier; a row appears only in its nearest tier.
fn search<T>(
    connection: &Connection,
    tiers: &[(Scope, &'static str, &str)],
    (table, columns, order): Table,
    cause: Option<&str>,
    limit: usize,
    read: impl Fn(&Row<'_>, Scope) -> rusqlite::Result<(String, T)>,
    out: &mut Vec<T>,
) -> Result<()> {
    let mut seen = std::collections::HashSet::new();
    for (scope, column, value) in tiers {
        if out.len() >= limit {
            break;
        }
        let filter = if cause.is_some() { "AND failure_cause = :cause" } else { "" };
        // The rows of nearer tiers may match again, so the limit is raised by their number.
        let sql = format!("SELECT {columns} FROM {table} WHERE {column} = :value {filter} ORDER BY {order} LIMIT :limit");
        let wanted = i64::try_from(limit + seen.len()).unwrap_or(i64::MAX);
        let mut statement = connection.prepare_cached(&sql)?;
        let mut values: Vec<(&str, &dyn ToSql)> = vec![(":value", value), (":limit", &wanted)];
        values.extend(cause.as_ref().map(|c| (":cause", c as &dyn ToSql)));
        let mut rows = statement.query(values.as_slice())?;
        while let Some(row) = rows.next()? {
            let Some((uid, item)) = skip_unreadable(read(row, *scope))? else { continue };
            if out.len() < limit && seen.insert(uid) {
                out.push(item);
            }
        }
    }
    Ok(())
}

fn to_transition(row: &Row<'_>, scope: Scope) -> rusqlite::Result<Transition> {
    let action: Action = json(row, "action")?;
    let (success, verified, failure): (i64, i64, i64) = (row.get("success_count")?, row.get("verified_count")?, row.get("failure_count")?);
    let post_activity: Option<String> = row.get("post_activity")?;
    let post_key: Option<String> = row.get("post_page_key")?;
    let post_fingerprint: Option<String> = row.get("post_fingerprint")?;
    let leads = match &post_activity {
        Some(post) => format!(" leads to {post}"),
        None => " has not succeeded".to_owned(),
    };
    Ok(Transition {
        uid: row.get("uid")?,
        match_scope: scope,
        text: format!("{}{leads} ({success} ok, {verified} verified, {failure} failed)", target::sentence(&action)),
        pre_app: row.get("app")?,
        pre_activity: row.get("activity")?,
        pre_page: PageRef { key: row.get("page_key")?, fingerprint: row.get("fingerprint")?, state: None },
        action,
        post_activity,
        post_page: post_key.map(|key| PageRef { fingerprint: post_fingerprint.unwrap_or_else(|| key.clone()), key, state: None }),
        verify_op: row.get("verify_op")?,
        success_count: success,
        verified_count: verified,
        failure_count: failure,
        last_success_at: row.get("last_success_at")?,
        failure_cause: row.get("failure_cause")?,
    })
}

fn to_recovery(row: &Row<'_>, scope: Scope) -> rusqlite::Result<Recovery> {
    let action: Action = json(row, "action")?;
    let cause: String = row.get("failure_cause")?;
    let (success, failure): (i64, i64) = (row.get("success_count")?, row.get("failure_count")?);
    Ok(Recovery {
        uid: row.get("uid")?,
        match_scope: scope,
        text: format!("after {cause}, recover {} worked {success} of {} times", target::sentence(&action), success + failure),
        pre_activity: row.get("activity")?,
        pre_page: PageRef { key: row.get("page_key")?, fingerprint: row.get("fingerprint")?, state: None },
        failure_cause: cause,
        recovery: action,
        success_count: success,
        failure_count: failure,
        last_success_at: row.get("last_success_at")?,
    })
}
