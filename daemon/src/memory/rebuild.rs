//! Makes the counters of experience again from baselines, events, observations and imported rows: after an upgrade in steps, in the background.

use afd_proto::memory::{Category, EventStatus};
use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::outcomes::{self, Attempt};
use super::projection::{self, EventRow, Look, OUTCOME_WINDOW_MS, count, event_row, find, judge, last_action, select, take_outcome};
use super::recoveries;
use crate::store::{Piece, Result};

/// Events and observations that one step reads at most.
const BATCH: i64 = 500;
/// Counters that one step deletes at most.
const DELETED_AT_A_TIME: usize = 300;

/// Makes all counters again, at once.
pub fn all(connection: &Connection) -> Result<()> {
    begin(connection)?;
    while !some(connection, &Piece::whole())? {}
    Ok(())
}

/// Lets all counters be made again, from the beginning.
pub fn begin(connection: &Connection) -> Result<()> {
    connection.execute(&format!("UPDATE store SET rebuild_cursor = -1, rebuild_upto = {LAST_SEQ}"), [])?;
    Ok(())
}

/// The last sequence number of what is counted, as SQL.
const LAST_SEQ: &str = "max((SELECT coalesce(max(seq), 0) FROM events), (SELECT coalesce(max(seq), 0) FROM observations))";

/// Returns whether the counters are still being made again after an upgrade.
pub fn is_under_way(connection: &Connection) -> Result<bool> {
    let found = connection.query_row("SELECT rebuild_cursor IS NOT NULL AS waiting FROM store", [], |row| row.get("waiting")).optional()?;
    Ok(found.unwrap_or(false))
}

/// Does a piece of the work, from where the last call ended: deletes some counters, or counts some events and observations again. Returns
/// whether all is done.
pub fn some(connection: &Connection, piece: &Piece) -> Result<bool> {
    let state: Option<(Option<i64>, i64)> = connection
        .query_row("SELECT rebuild_cursor, coalesce(rebuild_upto, 0) AS upto FROM store", [], |row| {
            Ok((row.get("rebuild_cursor")?, row.get("upto")?))
        })
        .optional()?;
    let Some((Some(cursor), upto)) = state else { return Ok(true) };
    if cursor < 0 {
        while !delete_some(connection)? {
            if piece.is_over() {
                return Ok(false);
            }
        }
        // What was counted in the meantime was deleted too.
        connection.execute(&format!("UPDATE store SET rebuild_cursor = 0, rebuild_upto = {LAST_SEQ}"), [])?;
        super::imported::project(connection)?;
        super::baseline::project(connection)?;
        return some(connection, piece);
    }
    let mut to = end_of_batch(connection, cursor)?.map_or(upto, |to| to.min(upto));
    let mut last = cursor;
    for uid in uids(connection, "events", cursor, to)? {
        if let Some(event) = find(connection, &uid)? {
            let seq = event.seq;
            // Two stores may have given the same number: events that share one are counted in one piece.
            if seq > last && last > cursor && piece.is_over() {
                to = last;
                break;
            }
            // What is decided later about this event, such as that a recovery worked, now changes what was counted.
            recount(connection, event)?;
            connection.prepare_cached("UPDATE store SET rebuild_cursor = :cursor")?.execute(named_params! {":cursor": seq})?;
            last = seq;
        }
    }
    let origin = crate::store::origin_of(connection)?.unwrap_or_default();
    for uid in uids(connection, "observations", cursor, to)? {
        spontaneous(connection, &uid, |attempt| outcomes::add(connection, &origin, attempt))?;
    }
    let next = (to < upto).then_some(to);
    connection.execute("UPDATE store SET rebuild_cursor = :next", named_params! {":next": next})?;
    Ok(next.is_none())
}

/// Deletes some counters. Returns whether none are left.
fn delete_some(connection: &Connection) -> Result<bool> {
    for table in ["outcomes", "transitions", "recoveries"] {
        let sql = format!("DELETE FROM {table} WHERE id IN (SELECT id FROM {table} ORDER BY id LIMIT {DELETED_AT_A_TIME})");
        if connection.prepare_cached(&sql)?.execute([])? > 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the sequence number of the last row of a batch after another one; `None` if there are no rows after that.
fn end_of_batch(connection: &Connection, after: i64) -> Result<Option<i64>> {
    let sql = "SELECT max(seq) AS seq FROM (SELECT seq FROM (
        SELECT * FROM (SELECT seq FROM events WHERE seq > :after ORDER BY seq LIMIT :batch)
        UNION ALL SELECT * FROM (SELECT seq FROM observations WHERE seq > :after ORDER BY seq LIMIT :batch)) ORDER BY seq LIMIT :batch)";
    Ok(connection.prepare_cached(sql)?.query_row(named_params! {":after": after, ":batch": BATCH}, |row| row.get("seq"))?)
}

fn uids(connection: &Connection, table: &str, after: i64, to: i64) -> Result<Vec<String>> {
    let sql = format!("SELECT uid FROM {table} WHERE seq > :after AND seq <= :to AND folded = 0 AND deleted_at IS NULL ORDER BY seq, id");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map(named_params! {":after": after, ":to": to}, |row| row.get("uid"))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Counts an event again. An act whose outcome was never taken, as before an upgrade, takes it from the observations.
fn recount(connection: &Connection, event: EventRow) -> Result<()> {
    let done = matches!(event.category, Category::Act | Category::Recover) && event.status == EventStatus::Ok;
    let event = if done && event.outcome.is_none() { with_observed_outcome(connection, event)? } else { event };
    count(connection, &event, 1)?;
    recoveries::count(connection, &event, 1)?;
    recoveries::judge(connection, &event)
}

/// The columns of a conclusive look, from an observation.
const LOOKS: &str = "SELECT o.origin, o.device_id, o.seq, o.page_id, o.below_id, o.content_hash, o.observed_at FROM observations o
    JOIN pages p ON p.id = o.page_id WHERE o.settled = 1 AND o.reliable = 1 AND p.page_key <> ''";

fn look(row: &Row<'_>) -> rusqlite::Result<Look> {
    Ok(Look {
        store: row.get("origin")?,
        device: row.get("device_id")?,
        seq: row.get("seq")?,
        page: row.get("page_id")?,
        below: row.get("below_id")?,
        content: row.get("content_hash")?,
        at: row.get("observed_at")?,
    })
}

/// Returns an act with its outcome as the observations and checks after it tell.
fn with_observed_outcome(connection: &Connection, act: EventRow) -> Result<EventRow> {
    let next: i64 = connection
        .prepare_cached(
            "SELECT coalesce(min(seq), 9223372036854775807) AS next FROM events
             WHERE device_id = :device AND origin = :store AND seq > :seq AND category <> 'verify' AND sent = 1",
        )?
        .query_row(named_params! {":device": act.device, ":store": act.store, ":seq": act.seq}, |row| row.get("next"))?;
    let sql = format!(
        "{LOOKS} AND o.device_id = :device AND o.origin = :store AND o.seq > :seq AND o.seq < :next AND o.observed_at <= :until ORDER BY o.seq"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let until = act.at + OUTCOME_WINDOW_MS;
    let looks: Vec<Look> = statement
        .query_map(named_params! {":device": act.device, ":store": act.store, ":seq": act.seq, ":next": next, ":until": until}, look)?
        .collect::<rusqlite::Result<_>>()?;
    let uid = act.uid.clone();
    // Not counted yet: the cursor is before this event.
    for look in looks {
        if let Some(act) = find(connection, &uid)? {
            take_outcome(connection, act, &look, false)?;
        }
    }
    let mut checks = connection.prepare_cached(&select("WHERE e.parent_uid = :act AND e.category = 'verify' ORDER BY e.seq"))?;
    let checks: Vec<EventRow> = checks.query_map(named_params! {":act": uid}, event_row)?.collect::<rusqlite::Result<_>>()?;
    for check in checks {
        judge(connection, &check, check.cause)?;
    }
    Ok(find(connection, &uid)?.unwrap_or(act))
}

/// Calls `add` with the page of an observation as an attempt to wait, if it came by itself.
pub(super) fn spontaneous(connection: &Connection, uid: &str, add: impl FnOnce(&Attempt<'_>) -> Result<()>) -> Result<()> {
    let look = connection.prepare_cached(&format!("{LOOKS} AND o.uid = :uid"))?.query_row(named_params! {":uid": uid}, look).optional()?;
    let Some(look) = look else { return Ok(()) };
    match last_action(connection, (&look.store, look.device), look.seq, None)? {
        Some(last) if look.at - last.at <= OUTCOME_WINDOW_MS => Ok(()),
        last => projection::spontaneous(connection, &look, last.map(|l| l.seq), add),
    }
}
