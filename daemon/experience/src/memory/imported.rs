//! Transitions and recoveries that were imported from another tool, stored in separate tables. The counters are derived
//! from events and from these rows, so a rebuild preserves the imported counts. If a row is imported again, only the
//! difference from its previous counts is added.

use afd_proto::import::ImportOutcome;
use afd_proto::memory::OutcomeKind;
use afd_proto::vocabulary::Action;
use rusqlite::Connection;

use super::af::{AfPage, AfRecovery, AfTransition};
use super::outcomes::{self, Attempt};
use super::pages::{self, Page};
use super::rebuilding::{self, Counted};
use super::recoveries::{self, Change};
use super::{Place, derived_uid};
use afd_screen::page::fingerprint;
use afd_screen::page::target::action_key;
use afd_store::{Result, Sql as _, args, now_ms};

fn json(action: &Action) -> String {
    serde_json::to_string(action).unwrap_or_else(|_| "{}".to_owned())
}

/// Imports a transition, and adds the change in its counts to the projected transition.
pub fn transition(connection: &Connection, store: &str, source: &str, t: &AfTransition) -> Result<ImportOutcome> {
    let key = action_key(&t.action);
    let uid = derived_uid(&["imported transition", source, &t.page.key, &key]);
    let known: Option<[i64; 3]> = connection.first(
        "SELECT success_count, verified_count, failure_count FROM imported_transitions WHERE uid = :uid",
        args! {uid: &uid},
        |row| Ok([row.get("success_count")?, row.get("verified_count")?, row.get("failure_count")?]),
    )?;
    let before = known.unwrap_or_default();
    if known == Some(t.counts) {
        return Ok(ImportOutcome::Present);
    }
    let [success, verified, failure] = t.counts;
    let (post_activity, post_fingerprint) = t.post.clone().unzip();
    let last_at = t.last_success_at.unwrap_or(0);
    connection.run(
        "INSERT INTO imported_transitions (uid, origin, source, app, activity, page_key, fingerprint, action_key, action, post_activity,
                post_page_key, post_fingerprint, verify_op, success_count, verified_count, failure_count, last_success_at, last_at, updated_at)
             VALUES (:uid, :origin, :source, :app, :activity, :page_key, :fingerprint, :action_key, :action, :post_activity,
             :post_page_key, :post_fingerprint, :verify_op, :success, :verified, :failure, :last_success_at, :last_at, :now)
             ON CONFLICT (uid) DO UPDATE SET post_activity = coalesce(excluded.post_activity, post_activity),
                post_page_key = coalesce(excluded.post_page_key, post_page_key),
                post_fingerprint = coalesce(excluded.post_fingerprint, post_fingerprint), verify_op = coalesce(excluded.verify_op, verify_op),
                success_count = :success, verified_count = :verified, failure_count = :failure, last_success_at = :last_success_at, last_at = :last_at, updated_at = :now",
        args! {
            uid, origin: store, source, app: t.page.app, activity: t.page.activity, page_key: t.page.key,
            fingerprint: t.page.fingerprint, action_key: key, action: json(&t.action), post_activity,
            post_page_key: post_fingerprint.as_deref().map(fingerprint::key_of), post_fingerprint,
            verify_op: t.verify_op, success, verified, failure, last_success_at: t.last_success_at, last_at,
            now: now_ms()
        },
    )?;
    // May be negative: a later import can find that a counted failure was not a failure.
    let more = [success - before[0], verified - before[1], failure - before[2]];
    if is_added(connection, Counted::Transitions, &uid)? {
        credit_transition(connection, &uid, more)?;
    }
    Ok(ImportOutcome::Added)
}

/// The fields of an imported row that rows projected from events also have.
struct Imported {
    store: String,
    from: Page,
    action: String,
    action_key: String,
    at: i64,
}

/// Reads an imported row. Recomputes its action key, because the rules for keys may have changed.
fn imported(connection: &Connection, table: &str, uid: &str) -> Result<Imported> {
    let sql = format!(
        "SELECT origin, app, activity, page_key, fingerprint, action, action_key, last_at FROM {table} WHERE uid = :uid"
    );
    let (store, place, action, key, at) = connection.one(&sql, args! {uid}, |row| {
        let place = Place {
            app: row.get("app")?,
            activity: row.get("activity")?,
            page_key: row.get("page_key")?,
            fingerprint: row.get("fingerprint")?,
            ..Place::default()
        };
        Ok((
            row.get::<_, String>("origin")?,
            place,
            row.get::<_, String>("action")?,
            row.get::<_, String>("action_key")?,
            row.get("last_at")?,
        ))
    })?;
    let action_key = serde_json::from_str(&action).map_or(key, |a| action_key(&a));
    let from = page(connection, &store, &place)?.unwrap_or_default();
    Ok(Imported { store, from, action, action_key, at })
}

fn page(connection: &Connection, store: &str, place: &Place) -> Result<Option<Page>> {
    Ok(pages::id_of(connection, store, place)?.map(|id| pages::get(connection, id)).transpose()?.flatten())
}

/// Adds counts from an imported row to its projected transition.
fn credit_transition(connection: &Connection, uid: &str, [success, verified, failure]: [i64; 3]) -> Result<()> {
    let row = imported(connection, "imported_transitions", uid)?;
    let (post, verify_op) = connection.one(
        "SELECT post_activity, post_page_key, post_fingerprint, verify_op FROM imported_transitions WHERE uid = :uid",
        args! {uid},
        |r| {
            let activity: Option<String> = r.get("post_activity")?;
            let app = activity.as_deref().and_then(|a| a.split('/').next()).map(str::to_owned);
            let place = Place {
                app,
                activity,
                page_key: r.get("post_page_key")?,
                fingerprint: r.get("post_fingerprint")?,
                ..Place::default()
            };
            Ok((place, r.get::<_, Option<String>>("verify_op")?))
        },
    )?;
    let to = page(connection, &row.store, &post)?;
    let attempt = |kind, times, verified| Attempt {
        from: &row.from,
        action: &row.action,
        action_key: &row.action_key,
        kind,
        to: to.as_ref(),
        below: None,
        cause: None,
        times,
        weight: times as f64,
        verified,
        verify_op: verify_op.as_deref(),
        duration_ms: 0,
        at: row.at,
    };
    let kind = if to.is_some() { OutcomeKind::Page } else { OutcomeKind::Same };
    if success != 0 || verified != 0 {
        outcomes::add(connection, &row.store, &attempt(kind, success, verified))?;
    }
    if failure != 0 {
        outcomes::add(connection, &row.store, &attempt(OutcomeKind::Failed, failure, 0))?;
    }
    Ok(())
}

/// Imports a recovery, and adds the change in its counts to the projected recovery.
pub fn recovery(connection: &Connection, store: &str, source: &str, r: &AfRecovery) -> Result<ImportOutcome> {
    let AfPage { app, activity, key: page_key, fingerprint } = &r.page;
    let key = action_key(&r.action);
    let uid = derived_uid(&["imported recovery", source, page_key, &r.cause, &key]);
    let known: Option<[i64; 2]> = connection.first(
        "SELECT success_count, failure_count FROM imported_recoveries WHERE uid = :uid",
        args! {uid: &uid},
        |row| Ok([row.get("success_count")?, row.get("failure_count")?]),
    )?;
    let before = known.unwrap_or_default();
    if known == Some(r.counts) {
        return Ok(ImportOutcome::Present);
    }
    let [success, failure] = r.counts;
    connection.run(
        "INSERT INTO imported_recoveries (uid, origin, source, app, activity, page_key, fingerprint, failure_cause, action_key, action,
                success_count, failure_count, last_success_at, last_at, updated_at)
             VALUES (:uid, :origin, :source, :app, :activity, :page_key, :fingerprint, :failure_cause, :action_key, :action, :success,
             :failure, :last_success_at, :last_at, :now)
             ON CONFLICT (uid) DO UPDATE SET success_count = :success, failure_count = :failure, last_success_at = :last_success_at,
             last_at = :last_at, updated_at = :now",
        args! {
            uid, origin: store, source, app, activity, page_key, fingerprint, failure_cause: r.cause,
            action_key: key, action: json(&r.action), success, failure, last_success_at: r.last_success_at,
            last_at: r.last_success_at.unwrap_or(0), now: now_ms()
        },
    )?;
    if is_added(connection, Counted::Recoveries, &uid)? {
        credit_recovery(connection, &uid, [success - before[0], failure - before[1]])?;
    }
    Ok(ImportOutcome::Added)
}

/// Adds counts from an imported row to its projected recovery.
fn credit_recovery(connection: &Connection, uid: &str, [success, failure]: [i64; 2]) -> Result<()> {
    let row = imported(connection, "imported_recoveries", uid)?;
    let cause: String =
        connection.one("SELECT failure_cause FROM imported_recoveries WHERE uid = :uid", args! {uid}, |r| {
            r.get("failure_cause")
        })?;
    let change = Change { success, failure, ..Change::default() };
    recoveries::add(connection, &row.store, (&row.from, &cause), (&row.action, &row.action_key), change, row.at)
}

/// Adds all counts of an imported transition to its projected transition.
pub(super) fn add_transition(connection: &Connection, id: i64) -> Result<()> {
    let sql = "SELECT uid, success_count, verified_count, failure_count FROM imported_transitions WHERE id = :id";
    let found = connection.prepare_cached(sql)?.query_row(args! {id}, |row| {
        Ok((
            row.get::<_, String>("uid")?,
            [row.get("success_count")?, row.get("verified_count")?, row.get("failure_count")?],
        ))
    });
    let (uid, counts) = found?;
    credit_transition(connection, &uid, counts)
}

/// Adds all counts of an imported recovery to its projected recovery.
pub(super) fn add_recovery(connection: &Connection, id: i64) -> Result<()> {
    let sql = "SELECT uid, success_count, failure_count FROM imported_recoveries WHERE id = :id";
    let found = connection.prepare_cached(sql)?.query_row(args! {id}, |row| {
        Ok((row.get::<_, String>("uid")?, [row.get("success_count")?, row.get("failure_count")?]))
    });
    let (uid, counts) = found?;
    credit_recovery(connection, &uid, counts)
}

/// Returns whether the counters include an imported row. During a rebuild, the row may not have been added yet.
fn is_added(connection: &Connection, table: Counted, uid: &str) -> Result<bool> {
    let sql = match table {
        Counted::Recoveries => "SELECT id FROM imported_recoveries WHERE uid = :uid",
        _ => "SELECT id FROM imported_transitions WHERE uid = :uid",
    };
    let id = connection.one(sql, args! {uid}, |row| row.get("id"))?;
    rebuilding::has_added(connection, table, id)
}
