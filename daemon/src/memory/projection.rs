//! Transitions and recoveries: counters that are derived from events and observations.
//!
//! A transition counts how an act on a page ended, and remembers the page that it led to. A successful act is closed by the
//! next settled, reliable observation of its session: that is a success. It stays open when something else was sent to the
//! device in between, by this session or another, since the observed page may be the result of that. The first passing verify
//! of a closed act adds a verified success; a failed act, or the first failing verify, adds a failure. A recovery is closed
//! the same way, and is counted by the page and the cause of the failure that it answers.
//!
//! What happened in between is decided by `seq`, which events, intents and observations share; an open intent counts as an
//! action that is still under way.
//!
//! Invariant: all counters can be rebuilt from the events ([`rebuild`]), because the events keep the links: `after_uid` is the
//! observation that closed an act or recovery, `parent_uid` the act that a verify judged or the failure that a recovery
//! answers.

use afd_proto::ErrorCode;
use afd_proto::memory::{Category, EventStatus};
use afd_proto::vocabulary::{Action, Verb};
use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::events::Event;
use super::observations::Observation;
use super::{Origin, Place, derived_uid, moves};
use crate::store::{Result, now_ms, word};

/// An event, with what its row says about the action.
struct EventRow {
    uid: String,
    seq: i64,
    session: i64,
    category: Category,
    status: EventStatus,
    after: Option<String>,
    parent: Option<String>,
    action: Option<(String, String)>,
    before: Place,
    at: i64,
    duration_ms: i64,
}

const COLUMNS: &str =
    "uid, seq, session_id, category, status, after_uid, parent_uid, action, action_key, before_uid AS observation, app, activity, page_key,
    fingerprint, structure_key, NULL AS below_key, at, duration_ms";

fn event_row(row: &Row<'_>) -> rusqlite::Result<EventRow> {
    let action: Option<String> = row.get("action")?;
    let key: Option<String> = row.get("action_key")?;
    Ok(EventRow {
        uid: row.get("uid")?,
        seq: row.get("seq")?,
        session: row.get("session_id")?,
        category: word(row, "category")?,
        status: word(row, "status")?,
        after: row.get("after_uid")?,
        parent: row.get("parent_uid")?,
        action: action.zip(key),
        before: place(row)?,
        at: row.get("at")?,
        duration_ms: row.get("duration_ms")?,
    })
}

/// Returns the last action on the device before `seq`, if this session did it; `None` also when an action is still under way.
/// A refused action changed nothing on the screen and is ignored, unless it is the session's own and `own_refusals` is set.
fn last_action(connection: &Connection, origin: &Origin, seq: i64, own_refusals: bool) -> Result<Option<EventRow>> {
    let last = connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM events
             WHERE device_id = :device_id AND seq < :seq AND category <> 'verify' AND (sent = 1 OR (:own_refusals
             AND session_id = :session_id)) ORDER BY seq DESC LIMIT 1"
        ))?
        .query_row(
            named_params! {":device_id": origin.device, ":seq": seq, ":session_id": origin.session, ":own_refusals": own_refusals},
            event_row,
        )
        .optional()?;
    let Some(last) = last else { return Ok(None) };
    let under_way: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM intents WHERE device_id = :device AND seq > :after AND seq < :before) AS found")?
        .query_row(named_params! {":device": origin.device, ":after": last.seq, ":before": seq}, |row| row.get("found"))?;
    Ok((!under_way && last.session == origin.session).then_some(last))
}

/// Closes the act or recovery that precedes a settled observation, and counts its success.
pub(super) fn close_act(connection: &Connection, origin: &Origin, observation: &Observation) -> Result<()> {
    let Some(last) = last_action(connection, origin, observation.seq, false)? else { return Ok(()) };
    if last.status != EventStatus::Ok || last.after.is_some() {
        return Ok(());
    }
    connection
        .prepare_cached("UPDATE events SET after_uid = :after_uid, updated_at = :updated_at WHERE uid = :uid")?
        .execute(named_params! {":uid": &last.uid, ":after_uid": &observation.uid, ":updated_at": now_ms()})?;
    credit_success(connection, &origin.store, &last, &observation.place, observation.at)
}

fn credit_success(connection: &Connection, store: &str, last: &EventRow, after: &Place, at: i64) -> Result<()> {
    count_move(connection, store, last, Some(after), at)?;
    if last.category == Category::Act {
        transition(connection, store, last, &Change { success: Some((after, at)), ..Change::default() })
    } else {
        recovery(connection, store, last, Some(at))
    }
}

/// Returns the act that a verify at `seq` judges: the session's last one, if it succeeded. A check after a refused act judges
/// no act at all, in particular none before the refused one.
pub(super) fn judged_act(connection: &Connection, origin: &Origin, seq: i64) -> Result<Option<String>> {
    let last = last_action(connection, origin, seq, true)?;
    Ok(last.filter(|l| l.category == Category::Act && l.status == EventStatus::Ok).map(|l| l.uid))
}

/// Whether a failure says something about the action, and not just about the connection, the daemon or the caller.
fn is_about_action(cause: Option<ErrorCode>) -> bool {
    !matches!(
        cause,
        None | Some(
            ErrorCode::DeviceUnreachable
                | ErrorCode::DeviceAuth
                | ErrorCode::DeviceBusy
                | ErrorCode::OutcomeUnknown
                | ErrorCode::ShuttingDown
                | ErrorCode::RefAliasUnobserved
                | ErrorCode::StoreFull
                | ErrorCode::StoreUnavailable
                | ErrorCode::Internal
                | ErrorCode::InvalidParams
        )
    )
}

/// Adds a new event to the counters of transitions and recoveries.
pub(super) fn count_event(connection: &Connection, origin: &Origin, event: &Event, parent: Option<&str>) -> Result<()> {
    match (event.category, event.status) {
        (Category::Act, EventStatus::Failed) => count_failed_act(connection, origin, event),
        (Category::Recover, EventStatus::Failed) => match find(connection, &event.uid)? {
            Some(row) => recovery(connection, &origin.store, &row, None),
            None => Ok(()),
        },
        (Category::Verify, status) => match parent {
            Some(act) => count_verify(connection, &origin.store, act, &event.uid, &event.op, status, event.failure),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

fn count_failed_act(connection: &Connection, origin: &Origin, event: &Event) -> Result<()> {
    if !is_about_action(event.failure) || event.action.as_ref().is_none_or(is_untargeted) {
        return Ok(());
    }
    match find(connection, &event.uid)? {
        Some(row) => {
            transition(connection, &origin.store, &row, &Change { failure: event.failure.map(ErrorCode::name), ..Change::default() })
        }
        None => Ok(()),
    }
}

/// Counts the first passing and the first failing verify of an act, once each.
fn count_verify(
    connection: &Connection,
    store: &str,
    act: &str,
    verify: &str,
    op: &str,
    status: EventStatus,
    cause: Option<ErrorCode>,
) -> Result<()> {
    let Some(row) = find(connection, act)? else { return Ok(()) };
    let first: bool = connection
        .prepare_cached(
            "SELECT NOT EXISTS (SELECT 1 FROM events WHERE parent_uid = :parent_uid AND uid <> :verify AND category = 'verify'
                AND status = :status
                         AND seq < (SELECT seq FROM events WHERE uid = :verify)) AS found",
        )?
        .query_row(named_params! {":parent_uid": act, ":verify": verify, ":status": status.word()}, |r| r.get("found"))?;
    match status {
        // Without a settled page after the act, it is unknown where it led.
        EventStatus::Ok if first && row.after.is_some() => {
            transition(connection, store, &row, &Change { verified: Some(op), ..Change::default() })
        }
        EventStatus::Failed if first && cause == Some(ErrorCode::AssertionFailed) => {
            transition(connection, store, &row, &Change { failure: cause.map(ErrorCode::name), ..Change::default() })
        }
        _ => Ok(()),
    }
}

fn find(connection: &Connection, uid: &str) -> Result<Option<EventRow>> {
    Ok(connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM events WHERE uid = :uid"))?
        .query_row(named_params! {":uid": uid}, event_row)
        .optional()?)
}

/// Counts a move: a success that leads to a place, or a failure.
fn count_move(connection: &Connection, store: &str, event_row: &EventRow, to: Option<&Place>, at: i64) -> Result<()> {
    let Some((action, action_key)) = &event_row.action else { return Ok(()) };
    let count = moves::Count { from: &event_row.before, action, action_key, to, duration_ms: event_row.duration_ms, at };
    moves::count(connection, store, &count)
}

/// What is added to a transition.
#[derive(Default)]
struct Change<'a> {
    success: Option<(&'a Place, i64)>,
    verified: Option<&'a str>,
    failure: Option<&'static str>,
}

fn transition(connection: &Connection, store: &str, event_row: &EventRow, change: &Change<'_>) -> Result<()> {
    if change.failure.is_some() {
        count_move(connection, store, event_row, None, event_row.at)?;
    }
    let (Some(page_key), Some((action, action_key))) = (&event_row.before.page_key, &event_row.action) else { return Ok(()) };
    let after = change.success.map(|(place, _)| place);
    connection
        .prepare_cached(
            "INSERT INTO transitions (uid, origin, app, activity, page_key, fingerprint, action_key, action, post_activity, post_page_key,
                post_fingerprint, verify_op, success_count, verified_count, failure_count, failure_cause, last_success_at, last_at, updated_at)
             VALUES (:uid, :origin, :app, :activity, :page_key, :fingerprint, :action_key, :action, :post_activity, :post_page_key,
             :post_fingerprint, :verify_op, :success_count, :verified_count, :failure_count, :failure_cause, :last_success_at, :last_at, :updated_at)
             ON CONFLICT (page_key, action_key) DO UPDATE SET
                action = CASE WHEN excluded.success_count > 0 THEN excluded.action ELSE transitions.action END,
                post_activity = coalesce(excluded.post_activity, post_activity),
                post_page_key = coalesce(excluded.post_page_key, post_page_key),
                post_fingerprint = coalesce(excluded.post_fingerprint, post_fingerprint),
                verify_op = coalesce(excluded.verify_op, verify_op),
                success_count = success_count + excluded.success_count,
                verified_count = verified_count + excluded.verified_count,
                failure_count = failure_count + excluded.failure_count,
                failure_cause = coalesce(excluded.failure_cause, failure_cause),
                last_success_at = coalesce(excluded.last_success_at, last_success_at),
                last_at = max(last_at, excluded.last_at),
                updated_at = excluded.updated_at",
        )?
        .execute(named_params! {
            ":uid": derived_uid(&["transition", page_key, action_key]),
            ":origin": store,
            ":app": event_row.before.app.as_deref().unwrap_or(""),
            ":activity": event_row.before.activity.as_deref().unwrap_or(""),
            ":page_key": page_key,
            ":fingerprint": event_row.before.fingerprint.as_deref().unwrap_or(page_key),
            ":action_key": action_key,
            ":action": action,
            ":post_activity": after.and_then(|p| p.activity.as_ref()),
            ":post_page_key": after.and_then(|p| p.page_key.as_ref()),
            ":post_fingerprint": after.and_then(|p| p.fingerprint.as_ref()),
            ":verify_op": change.verified,
            ":success_count": i64::from(change.success.is_some()),
            ":verified_count": i64::from(change.verified.is_some()),
            ":failure_count": i64::from(change.failure.is_some()),
            ":failure_cause": change.failure,
            ":last_success_at": change.success.map(|(_, at)| at),
            ":last_at": event_row.at,
            ":updated_at": now_ms(),
        })?;
    Ok(())
}

/// Counts a recovery: a success at the given time, or a failure.
fn recovery(connection: &Connection, store: &str, event_row: &EventRow, success_at: Option<i64>) -> Result<()> {
    let (Some(parent), Some((action, action_key))) = (&event_row.parent, &event_row.action) else { return Ok(()) };
    let Some(failure) = find_failure(connection, parent)? else { return Ok(()) };
    let page_key = failure.place.page_key.unwrap_or_default();
    connection
        .prepare_cached(
            "INSERT INTO recoveries (uid, origin, app, activity, page_key, fingerprint, failure_cause, action_key, action, success_count,
                failure_count, last_success_at, last_at, updated_at)
             VALUES (:uid, :origin, :app, :activity, :page_key, :fingerprint, :failure_cause, :action_key, :action, :success_count,
             :failure_count, :last_success_at, :last_at, :updated_at)
             ON CONFLICT (page_key, failure_cause, action_key) DO UPDATE SET
                success_count = success_count + excluded.success_count,
                failure_count = failure_count + excluded.failure_count,
                last_success_at = coalesce(excluded.last_success_at, last_success_at),
                last_at = max(last_at, excluded.last_at),
                updated_at = excluded.updated_at",
        )?
        .execute(named_params! {
            ":uid": derived_uid(&["recovery", &page_key, &failure.cause, action_key]),
            ":origin": store,
            ":app": failure.place.app.unwrap_or_default(),
            ":activity": failure.place.activity.unwrap_or_default(),
            ":page_key": page_key,
            ":fingerprint": failure.place.fingerprint.as_ref().unwrap_or(&page_key),
            ":failure_cause": failure.cause,
            ":action_key": action_key,
            ":action": action,
            ":success_count": i64::from(success_at.is_some()),
            ":failure_count": i64::from(success_at.is_none()),
            ":last_success_at": success_at,
            ":last_at": event_row.at,
            ":updated_at": now_ms(),
        })?;
    Ok(())
}

/// Place and cause of a failure.
struct Failure {
    place: Place,
    cause: String,
}

/// Returns place and cause of a failed event, if its page is known.
fn find_failure(connection: &Connection, uid: &str) -> Result<Option<Failure>> {
    Ok(connection
        .prepare_cached(
            "SELECT before_uid AS observation, app, activity, page_key, fingerprint, structure_key, NULL AS below_key,
                coalesce(failure_cause, 'OUTCOME_UNKNOWN') AS cause
             FROM events WHERE uid = :uid AND page_key IS NOT NULL",
        )?
        .query_row(named_params! {":uid": uid}, |row| Ok(Failure { place: place(row)?, cause: row.get("cause")? }))
        .optional()?)
}

/// Reads the columns of a place.
fn place(row: &Row<'_>) -> rusqlite::Result<Place> {
    Ok(Place {
        observation: row.get("observation")?,
        app: row.get("app")?,
        activity: row.get("activity")?,
        page_key: row.get("page_key")?,
        fingerprint: row.get("fingerprint")?,
        structure: row.get("structure_key")?,
        below: row.get("below_key")?,
    })
}

/// Rebuilds transitions, recoveries and moves from events, observations and imported rows.
pub fn rebuild(connection: &Connection, store: &str) -> Result<()> {
    connection.execute_batch("DELETE FROM transitions; DELETE FROM recoveries; DELETE FROM moves;")?;
    super::imported::project(connection)?;
    let mut events = connection
        .prepare(&format!("SELECT {COLUMNS}, op, failure_cause FROM events WHERE deleted_at IS NULL ORDER BY origin, seq, id"))?;
    let mut rows = events.query([])?;
    while let Some(row) = rows.next()? {
        let (event, op): (EventRow, String) = (event_row(row)?, row.get("op")?);
        let cause = row.get::<_, Option<String>>("failure_cause")?.and_then(|c| ErrorCode::from_name(&c));
        match (event.category, event.status) {
            (Category::Act | Category::Recover, EventStatus::Ok) => {
                if let Some((after, at)) = event.after.as_deref().map(|uid| observed(connection, uid)).transpose()?.flatten() {
                    credit_success(connection, store, &event, &after, at)?;
                }
            }
            (Category::Act, EventStatus::Failed) if is_about_action(cause) && !is_untargeted_event(&event) => {
                transition(connection, store, &event, &Change { failure: cause.map(ErrorCode::name), ..Change::default() })?;
            }
            (Category::Recover, EventStatus::Failed) => recovery(connection, store, &event, None)?,
            (Category::Verify, status) => {
                if let Some(act) = &event.parent {
                    count_verify(connection, store, act, &event.uid, &op, status, cause)?;
                }
            }
            _ => {}
        }
    }
    moves::recount_spontaneous(connection)
}

/// Whether an event is a tap with neither a target nor a point, from which nothing can be learned.
fn is_untargeted_event(event_row: &EventRow) -> bool {
    let action: Option<Action> = event_row.action.as_ref().and_then(|(text, _)| serde_json::from_str(text).ok());
    action.is_none_or(|a| is_untargeted(&a))
}

fn is_untargeted(action: &Action) -> bool {
    matches!(action.verb, Verb::Tap | Verb::LongPress | Verb::DoubleTap) && action.target.is_none() && action.point.is_none()
}

fn observed(connection: &Connection, uid: &str) -> Result<Option<(Place, i64)>> {
    Ok(connection
        .prepare_cached(
            "SELECT uid AS observation, app, activity, page_key, fingerprint, structure_key, below_key, observed_at FROM observations
             WHERE uid = :uid",
        )?
        .query_row(named_params! {":uid": uid}, |row| Ok((place(row)?, row.get("observed_at")?)))
        .optional()?)
}
