//! Counts which recoveries fixed which failures.
//!
//! A recovery worked if the failed action or check succeeds before it fails again. It did not work if the action or
//! check fails again, or if the same cause occurs again on the same page. Until one of these happens, the recovery is
//! undecided and counts as neither. Of several recoveries after one failure, only the last one before the success is
//! credited.

use afd_proto::memory::{Category, EventStatus};
use afd_proto::vocabulary::{Action, Role};
use rusqlite::Connection;
use serde_json::Value;

use super::derived_uid;
use super::event_rows::{self, EventRow};
use super::pages::{self, Page};
use afd_screen::page::target::{action_key, title};
use afd_store::{Result, Sql as _, args, now_ms};

/// A change to the counts of a recovery.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Change {
    pub success: i64,
    pub failure: i64,
    pub undecided: i64,
    /// Number of times that the recovery left the app in which the failure occurred.
    pub left: i64,
}

/// Adds a change to the counters of a recovery from a failure cause on a page.
pub(super) fn add(
    connection: &Connection,
    store: &str,
    (page, cause): (&Page, &str),
    (action, key): (&str, &str),
    change: Change,
    at: i64,
) -> Result<()> {
    let Some(from_key) = page.filed_under() else { return Ok(()) };
    connection.run(
        "INSERT INTO recoveries (uid, origin, from_key, page_id, app, activity, failure_cause, action_key, action, success_count,
                failure_count, undecided_count, left_count, last_success_at, last_at, updated_at)
             VALUES (:uid, :origin, :from_key, :page_id, :app, :activity, :cause, :action_key, :action, :success, :failure, :undecided,
                :left, :last_success_at, :at, :now)
             ON CONFLICT (from_key, failure_cause, action_key) DO UPDATE SET
                success_count = max(success_count + excluded.success_count, 0),
                failure_count = max(failure_count + excluded.failure_count, 0),
                undecided_count = max(undecided_count + excluded.undecided_count, 0),
                left_count = max(left_count + excluded.left_count, 0),
                last_success_at = nullif(max(coalesce(last_success_at, 0), coalesce(excluded.last_success_at, 0)), 0),
                last_at = max(last_at, excluded.last_at),
                updated_at = excluded.updated_at",
        args! {
            uid: derived_uid(&["recovery", &from_key, cause, key]), origin: store, from_key, page_id: page.id,
            app: page.app, activity: page.activity, cause, action_key: key, action, success: change.success,
            failure: change.failure, undecided: change.undecided, left: change.left,
            last_success_at: Some(at).filter(|_| change.success > 0), at, now: now_ms()
        },
    )?;
    Ok(())
}

fn parent(connection: &Connection, event: &EventRow) -> Result<Option<EventRow>> {
    event.parent.as_deref().map_or(Ok(None), |uid| event_rows::find(connection, uid))
}

/// Adds a recovery's contribution to the counters, or takes it back if `times` is negative.
pub(super) fn count(connection: &Connection, event: &EventRow, times: i64) -> Result<()> {
    contribution(connection, event, times, |page, cause, action, change| {
        add(connection, &event.store, (page, cause), action, change, event.at)
    })
}

/// Calls `add` with a recovery's contribution to the counters: the page and cause of the failure, the action with its
/// key, and the change.
pub(super) fn contribution(
    connection: &Connection,
    event: &EventRow,
    times: i64,
    add: impl FnOnce(&Page, &str, (&str, &str), Change) -> Result<()>,
) -> Result<()> {
    if event.category != Category::Recover || event.status == EventStatus::Unknown {
        return Ok(());
    }
    let (Some(failure), Some((action, text))) = (parent(connection, event)?, &event.action) else { return Ok(()) };
    let Some(page) = failure.page.as_ref().filter(|_| !failure.assumed) else { return Ok(()) };
    let after = event.after.map(|id| pages::get(connection, id)).transpose()?.flatten();
    let left = after.is_some_and(|after| !after.app.is_empty() && !page.app.is_empty() && after.app != page.app);
    let change = match (event.status, event.cured) {
        (EventStatus::Failed, _) | (_, Some(false)) => Change { failure: times, ..Change::default() },
        (_, Some(true)) => Change { success: times, ..Change::default() },
        (_, None) => Change { undecided: times, ..Change::default() },
    };
    let change = Change { left: if left { times } else { 0 }, ..change };
    add(page, failure.cause_name(), (text, &action_key(action)), change)
}

/// Decides, after an act or a check has ended, whether the last undecided recovery of the session worked.
pub(super) fn judge(connection: &Connection, event: &EventRow) -> Result<()> {
    if event.category == Category::Recover || event.status == EventStatus::Unknown {
        return Ok(());
    }
    let mut statement = connection.prepare_cached(
        "SELECT uid FROM events WHERE session_id = :session AND device_id = :device AND origin = :store AND category = 'recover'
            AND cured IS NULL AND folded = 0 AND status = 'ok' AND parent_uid IS NOT NULL AND seq < :seq ORDER BY seq DESC LIMIT 1",
    )?;
    let pending: Vec<String> = statement
        .query_map(args! {session: event.session, device: event.device, store: event.store, seq: event.seq}, |row| {
            row.get("uid")
        })?
        .collect::<rusqlite::Result<_>>()?;
    let Some(recovery) = pending.first().map(|uid| event_rows::find(connection, uid)).transpose()?.flatten() else {
        return Ok(());
    };
    let Some(failure) = parent(connection, &recovery)? else { return Ok(()) };
    let cured = match event.status {
        EventStatus::Ok if is_same_attempt(&failure, event) => true,
        EventStatus::Failed if is_same_attempt(&failure, event) || is_same_trouble(&failure, event) => false,
        _ => return Ok(()),
    };
    let counted = event_rows::is_counted(connection, &recovery)?;
    if counted {
        count(connection, &recovery, -1)?;
    }
    connection.run(
        "UPDATE events SET cured = :cured, updated_at = :now WHERE uid = :uid",
        args! {uid: recovery.uid, cured, now: now_ms()},
    )?;
    if counted {
        let mut judged = recovery;
        judged.cured = Some(cured);
        count(connection, &judged, 1)?;
    }
    Ok(())
}

/// Returns whether an event repeats a failed action or check. Two checks are the same if their expectations are equal.
fn is_same_attempt(failure: &EventRow, event: &EventRow) -> bool {
    if failure.category != event.category || failure.op != event.op {
        return false;
    }
    if event.category == Category::Verify {
        let expected = |e: &EventRow| {
            e.evidence.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok())?.get("expected").cloned()
        };
        return expected(failure).is_some() && expected(failure) == expected(event);
    }
    match (&failure.action, &event.action) {
        (Some((failed, _)), Some((tried, _))) => action_key(failed) == action_key(tried) || is_same_wish(failed, tried),
        _ => false,
    }
}

/// Returns whether an action has the same target as an action whose target was not found. Only one property of the
/// missing target is known.
fn is_same_wish(failed: &Action, tried: &Action) -> bool {
    let (Some(wanted), Some(target)) = (&failed.target, &tried.target) else { return false };
    if wanted.role != Role::Any || failed.verb != tried.verb {
        return false;
    }
    let text = wanted.label.as_deref().map(str::to_lowercase);
    let named = text.is_some_and(|text| {
        title(target).is_some_and(|t| t.to_lowercase() == text)
            || target.label.as_deref().is_some_and(|l| l.to_lowercase().contains(&text))
    });
    let id = wanted
        .res_id
        .as_deref()
        .is_some_and(|id| target.res_id.as_deref().is_some_and(|full| full == id || full.ends_with(&format!("/{id}"))));
    named || id
}

/// Returns whether an event has the same cause and page as a failure.
fn is_same_trouble(failure: &EventRow, event: &EventRow) -> bool {
    let there = failure.page.as_ref().zip(event.page.as_ref()).is_some_and(|(a, b)| a.is_same(b));
    failure.cause.is_some() && failure.cause == event.cause && there
}
