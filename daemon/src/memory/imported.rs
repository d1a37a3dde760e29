//! Transitions and recoveries imported from another tool, kept in tables of their own. The projected transitions and recoveries
//! are derived from events and from these rows, so that a rebuild keeps both. Importing a row again adds only the difference
//! to its previous counts.

use afd_proto::import::ImportOutcome;
use afd_proto::vocabulary::Action;
use rusqlite::{Connection, OptionalExtension, named_params};

use super::af::{AfPage, AfRecovery, AfTransition};
use super::derived_uid;
use crate::page::fingerprint;
use crate::page::target::action_key;
use crate::store::{Result, now_ms};

fn json(action: &Action) -> String {
    serde_json::to_string(action).unwrap_or_else(|_| "{}".to_owned())
}

/// Imports a transition, and adds the change of its counts to the projected transition.
pub fn transition(connection: &Connection, store: &str, source: &str, t: &AfTransition) -> Result<ImportOutcome> {
    let key = action_key(&t.action);
    let uid = derived_uid(&["imported transition", source, &t.page.key, &key]);
    let known: Option<[i64; 3]> = connection
        .prepare_cached("SELECT success_count, verified_count, failure_count FROM imported_transitions WHERE uid = :uid")?
        .query_row(named_params! {":uid": &uid}, |row| {
            Ok([row.get("success_count")?, row.get("verified_count")?, row.get("failure_count")?])
        })
        .optional()?;
    let before = known.unwrap_or_default();
    if known == Some(t.counts) {
        return Ok(ImportOutcome::Present);
    }
    let [success, verified, failure] = t.counts;
    let (post_activity, post_fingerprint) = t.post.clone().unzip();
    let last_at = t.last_success_at.unwrap_or(0);
    connection
        .prepare_cached(
            "INSERT INTO imported_transitions (uid, origin, source, app, activity, page_key, fingerprint, action_key, action, post_activity,
                post_page_key, post_fingerprint, verify_op, success_count, verified_count, failure_count, last_success_at, last_at, updated_at)
             VALUES (:uid, :origin, :source, :app, :activity, :page_key, :fingerprint, :action_key, :action, :post_activity,
             :post_page_key, :post_fingerprint, :verify_op, :success, :verified, :failure, :last_success_at, :last_at, :now)
             ON CONFLICT (uid) DO UPDATE SET post_activity = coalesce(excluded.post_activity, post_activity),
                post_page_key = coalesce(excluded.post_page_key, post_page_key),
                post_fingerprint = coalesce(excluded.post_fingerprint, post_fingerprint), verify_op = coalesce(excluded.verify_op, verify_op),
                success_count = :success, verified_count = :verified, failure_count = :failure, last_success_at = :last_success_at, last_at = :last_at, updated_at = :now",
        )?
        .execute(named_params! {
            ":uid": uid,
            ":origin": store,
            ":source": source,
            ":app": t.page.app,
            ":activity": t.page.activity,
            ":page_key": t.page.key,
            ":fingerprint": t.page.fingerprint,
            ":action_key": key,
            ":action": json(&t.action),
            ":post_activity": post_activity,
            ":post_page_key": post_fingerprint.as_deref().map(fingerprint::key_of),
            ":post_fingerprint": post_fingerprint,
            ":verify_op": t.verify_op,
            ":success": success,
            ":verified": verified,
            ":failure": failure,
            ":last_success_at": t.last_success_at,
            ":last_at": last_at,
            ":now": now_ms(),
        })?;
    // May be negative: cleaning can find out later that what looked like a failure was none.
    let more = [success - before[0], verified - before[1], failure - before[2]];
    credit_transition(connection, &uid, more)?;
    Ok(ImportOutcome::Added)
}

/// Returns the uid of the projected row that an imported row belongs to; rows projected from events have the same uid.
fn projected_uid(connection: &Connection, sql: &str, uid: &str, kind: &str) -> Result<String> {
    let parts: [String; 3] = connection
        .prepare_cached(sql)?
        .query_row(named_params! {":uid": uid}, |row| Ok([row.get("page_key")?, row.get("cause")?, row.get("action_key")?]))?;
    let parts: Vec<&str> = std::iter::once(kind).chain(parts.iter().map(String::as_str).filter(|p| !p.is_empty())).collect();
    Ok(derived_uid(&parts))
}

/// Adds counts of an imported row to its projected transition.
fn credit_transition(connection: &Connection, uid: &str, [success, verified, failure]: [i64; 3]) -> Result<()> {
    let named = projected_uid(
        connection,
        "SELECT page_key, '' AS cause, action_key FROM imported_transitions WHERE uid = :uid",
        uid,
        "transition",
    )?;
    connection
        .prepare_cached(
            "INSERT INTO transitions (uid, origin, app, activity, page_key, fingerprint, action_key, action, post_activity, post_page_key,
                post_fingerprint, verify_op, success_count, verified_count, failure_count, last_success_at, last_at, updated_at)
             SELECT :named, origin, app, activity, page_key, fingerprint, action_key, action, post_activity, post_page_key,
             post_fingerprint, verify_op, :success_count, :verified_count, :failure_count, last_success_at, last_at, :updated_at
                FROM imported_transitions WHERE uid = :uid
             ON CONFLICT (page_key, action_key) DO UPDATE SET
                post_activity = coalesce(post_activity, excluded.post_activity),
                post_page_key = coalesce(post_page_key, excluded.post_page_key),
                post_fingerprint = coalesce(post_fingerprint, excluded.post_fingerprint),
                verify_op = coalesce(verify_op, excluded.verify_op),
                success_count = max(success_count + excluded.success_count, 0),
                verified_count = max(verified_count + excluded.verified_count, 0),
                failure_count = max(failure_count + excluded.failure_count, 0),
                last_success_at = nullif(max(coalesce(last_success_at, 0), coalesce(excluded.last_success_at, 0)), 0),
                last_at = max(last_at, excluded.last_at),
                updated_at = excluded.updated_at",
        )?
        .execute(named_params! {
            ":uid": uid,
            ":success_count": success,
            ":verified_count": verified,
            ":failure_count": failure,
            ":updated_at": now_ms(),
            ":named": named,
        })?;
    Ok(())
}

/// Imports a recovery, and adds the change of its counts to the projected recovery.
pub fn recovery(connection: &Connection, store: &str, source: &str, r: &AfRecovery) -> Result<ImportOutcome> {
    let AfPage { app, activity, key: page_key, fingerprint } = &r.page;
    let key = action_key(&r.action);
    let uid = derived_uid(&["imported recovery", source, page_key, &r.cause, &key]);
    let known: Option<[i64; 2]> = connection
        .prepare_cached("SELECT success_count, failure_count FROM imported_recoveries WHERE uid = :uid")?
        .query_row(named_params! {":uid": &uid}, |row| Ok([row.get("success_count")?, row.get("failure_count")?]))
        .optional()?;
    let before = known.unwrap_or_default();
    if known == Some(r.counts) {
        return Ok(ImportOutcome::Present);
    }
    let [success, failure] = r.counts;
    connection
        .prepare_cached(
            "INSERT INTO imported_recoveries (uid, origin, source, app, activity, page_key, fingerprint, failure_cause, action_key, action,
                success_count, failure_count, last_success_at, last_at, updated_at)
             VALUES (:uid, :origin, :source, :app, :activity, :page_key, :fingerprint, :failure_cause, :action_key, :action, :success,
             :failure, :last_success_at, :last_at, :now)
             ON CONFLICT (uid) DO UPDATE SET success_count = :success, failure_count = :failure, last_success_at = :last_success_at,
             last_at = :last_at, updated_at = :now",
        )?
        .execute(named_params! {
            ":uid": uid,
            ":origin": store,
            ":source": source,
            ":app": app,
            ":activity": activity,
            ":page_key": page_key,
            ":fingerprint": fingerprint,
            ":failure_cause": r.cause,
            ":action_key": key,
            ":action": json(&r.action),
            ":success": success,
            ":failure": failure,
            ":last_success_at": r.last_success_at,
            ":last_at": r.last_success_at.unwrap_or(0),
            ":now": now_ms(),
        })?;
    credit_recovery(connection, &uid, [success - before[0], failure - before[1]])?;
    Ok(ImportOutcome::Added)
}

/// Adds counts of an imported row to its projected recovery.
fn credit_recovery(connection: &Connection, uid: &str, [success, failure]: [i64; 2]) -> Result<()> {
    let named = projected_uid(
        connection,
        "SELECT page_key, failure_cause AS cause, action_key FROM imported_recoveries WHERE uid = :uid",
        uid,
        "recovery",
    )?;
    connection
        .prepare_cached(
            "INSERT INTO recoveries (uid, origin, app, activity, page_key, fingerprint, failure_cause, action_key, action, success_count,
                failure_count, last_success_at, last_at, updated_at)
             SELECT :named, origin, app, activity, page_key, fingerprint, failure_cause, action_key, action, :success_count,
             :failure_count, last_success_at, last_at, :updated_at
             FROM imported_recoveries WHERE uid = :uid
             ON CONFLICT (page_key, failure_cause, action_key) DO UPDATE SET
                success_count = max(success_count + excluded.success_count, 0),
                failure_count = max(failure_count + excluded.failure_count, 0),
                last_success_at = nullif(max(coalesce(last_success_at, 0), coalesce(excluded.last_success_at, 0)), 0),
                last_at = max(last_at, excluded.last_at),
                updated_at = excluded.updated_at",
        )?
        .execute(
            named_params! {":uid": uid, ":success_count": success, ":failure_count": failure, ":updated_at": now_ms(), ":named": named},
        )?;
    Ok(())
}

/// Adds all imported rows to the emptied projections.
pub(super) fn project(connection: &Connection) -> Result<()> {
    let rows = |sql: &str| -> Result<Vec<(String, [i64; 3])>> {
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map([], |row| {
            Ok((row.get("uid")?, [row.get("success_count")?, row.get("verified_count")?, row.get("failure_count")?]))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    };
    for (uid, counts) in rows("SELECT uid, success_count, verified_count, failure_count FROM imported_transitions ORDER BY id")? {
        credit_transition(connection, &uid, counts)?;
    }
    for (uid, [success, _, failure]) in
        rows("SELECT uid, success_count, 0 AS verified_count, failure_count FROM imported_recoveries ORDER BY id")?
    {
        credit_recovery(connection, &uid, [success, failure])?;
    }
    Ok(())
}
