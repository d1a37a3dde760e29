//! Deletes old events and observations after adding their counts to the baselines ([`super::baseline`]).
//!
//! A store's rows are folded in the order of their sequence numbers. Observations are folded before the events around
//! them, because a page counts as spontaneous only if no action preceded it. Rows on which later rows depend are kept:
//! the last action and the last conclusive observation of each device, failures whose recovery still exists, and the
//! last observation of each session.

use std::collections::BTreeMap;

use afd_proto::session::VisitedPage;
use rusqlite::{Connection, OptionalExtension, Row};

use super::baseline::{self, Folded};
use super::rebuild;
use super::recoveries;
use super::sessions::{SUMS, Totals, sums};
use super::{event_rows, projection};
use afd_store::{Piece, Result, Sql as _, args, now_ms};

/// Maximum number of events, and of observations, that a step deletes.
const MAX_DELETED: u64 = 100;
/// Maximum time by which a row's timestamp may lie in the future, in milliseconds. A later timestamp comes from a wrong
/// clock.
const AHEAD_MS: i64 = 86_400_000;

/// The times before which rows count as old, in Unix milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Events before this time are old.
    pub events: i64,
    /// Observations before this time are old. If the limit for events is later, it applies to observations, too,
    /// because the observations around old events are folded first.
    pub observations: i64,
}

/// A summary of the deleted rows that belonged to one session.
#[derive(Debug, Default)]
pub struct Share {
    /// Totals of the deleted rows.
    pub totals: Totals,
    /// Pages of the deleted observations.
    pub pages: Vec<VisitedPage>,
}

/// The result of a pruning step.
#[derive(Debug, Default)]
pub struct Step {
    /// Number of deleted events.
    pub events: u64,
    /// Number of deleted observations.
    pub observations: u64,
    /// Summaries of the deleted rows, by row id of their session.
    pub shares: BTreeMap<i64, Share>,
    /// Whether no further step is needed: nothing is left to fold or delete, or a rebuild is in progress.
    pub done: bool,
}

/// Returns the uids of the stores that events and observations come from.
pub fn origins(connection: &Connection) -> Result<Vec<String>> {
    let mut statement =
        connection.prepare("SELECT origin FROM events UNION SELECT origin FROM observations ORDER BY origin")?;
    Ok(statement.query_map([], |row| row.get("origin"))?.collect::<rusqlite::Result<_>>()?)
}

/// Returns the number of old events and the number of old observations.
pub fn count(connection: &Connection, cut: Cut) -> Result<(i64, i64)> {
    let of = |table: &str, time: &str, before: i64| -> Result<i64> {
        let sql = format!("SELECT count(*) AS n FROM {table} WHERE folded = 0 AND {time} < :before");
        Ok(connection.query_row(&sql, args! {before}, |row| row.get("n"))?)
    };
    Ok((of("events", "at", cut.events)?, of("observations", "observed_at", cut.observations.max(cut.events))?))
}

/// Returns the time of the first event or observation that is not folded yet, in Unix milliseconds.
pub fn oldest(connection: &Connection) -> Result<Option<i64>> {
    let first = |(table, time): Timed| -> Result<Option<i64>> {
        let sql = format!("SELECT {time} AS at FROM {table} WHERE folded = 0 ORDER BY seq LIMIT 1");
        Ok(connection.query_row(&sql, [], |row| row.get("at")).optional()?)
    };
    Ok(first(EVENTS)?.into_iter().chain(first(OBSERVATIONS)?).min())
}

/// Returns whether the newest event or observation lies more than [`AHEAD_MS`] in the future, which means that the
/// clock is or was wrong.
pub fn is_clock_doubtful(connection: &Connection) -> Result<bool> {
    let newest = |(table, time): Timed| -> Result<Option<i64>> {
        let sql = format!("SELECT {time} AS at FROM {table} ORDER BY seq DESC LIMIT 1");
        Ok(connection.query_row(&sql, [], |row| row.get("at")).optional()?)
    };
    Ok(newest(EVENTS)?.max(newest(OBSERVATIONS)?).is_some_and(|at| at > now_ms() + AHEAD_MS))
}

/// Folds and deletes some old rows of a store. Call this function within a write to the store, repeatedly, until the
/// returned step is `done`.
pub fn some(connection: &Connection, origin: &str, cut: Cut, batch: usize, piece: &Piece) -> Result<Step> {
    // A rebuild needs all rows.
    if rebuild::is_under_way(connection)? {
        return Ok(Step { done: true, ..Step::default() });
    }
    let folded = baseline::upto(connection, origin)?;
    let mut seen = due(connection, OBSERVATIONS, origin, folded.observations, cut.observations.max(cut.events), batch)?;
    let (folded, done) = if seen.is_empty() {
        let mut acts = due(connection, EVENTS, origin, folded.events, cut.events, batch)?;
        let waiting = first_waiting(connection, origin)?;
        acts.retain(|(_, seq)| waiting.is_none_or(|first| *seq < first));
        in_time(piece, &mut acts, |uid| fold_event(connection, uid))?;
        (Folded { events: acts.last().map_or(folded.events, |(_, seq)| *seq), ..folded }, acts.is_empty())
    } else {
        in_time(piece, &mut seen, |uid| fold_observation(connection, origin, uid))?;
        (Folded { observations: seen.last().map_or(folded.observations, |(_, seq)| *seq), ..folded }, false)
    };
    if !done {
        baseline::set_upto(connection, origin, folded)?;
    }
    let mut step = Step { done, ..Step::default() };
    let deleted = delete(connection, &mut step)?;
    step.done &= deleted < MAX_DELETED;
    Ok(step)
}

/// Folds rows until `piece` is over. Then removes from the list the rows that were not folded.
fn in_time(piece: &Piece, rows: &mut Vec<(String, i64)>, fold: impl Fn(&str) -> Result<()>) -> Result<()> {
    for at in 0..rows.len() {
        fold(&rows[at].0)?;
        if piece.is_over() {
            rows.truncate(at + 1);
            break;
        }
    }
    Ok(())
}

/// A table and the name of its timestamp column.
type Timed = (&'static str, &'static str);

const EVENTS: Timed = ("events", "at");
const OBSERVATIONS: Timed = ("observations", "observed_at");

/// Returns the uids and sequence numbers of the next old rows of a store, up to the first row that is not old. A row
/// with a time in the future is old if a row after it is old.
fn due(
    connection: &Connection,
    (table, time): Timed,
    origin: &str,
    after: i64,
    before: i64,
    batch: usize,
) -> Result<Vec<(String, i64)>> {
    let sql = format!(
        "SELECT uid, seq, CASE WHEN {time} <= :ahead THEN {time} < :before END AS old FROM {table}
         WHERE origin = :origin AND folded = 0 AND seq > :after ORDER BY seq, id LIMIT :batch"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let values = args! {
        origin, after, before, ahead: now_ms() + AHEAD_MS, batch: i64::try_from(batch).unwrap_or(i64::MAX)
    };
    let rows = statement
        .query_map(values, |row| Ok((row.get("uid")?, row.get("seq")?, row.get::<_, Option<bool>>("old")?)))?;
    let (mut found, mut old_ones) = (Vec::new(), 0);
    for row in rows {
        let (uid, seq, old): (String, i64, Option<bool>) = row?;
        if old == Some(false) {
            break;
        }
        found.push((uid, seq));
        if old == Some(true) {
            old_ones = found.len();
        }
    }
    found.truncate(old_ones);
    Ok(found)
}

/// Returns the lowest sequence number among a store's unfolded observations and its actions in progress.
fn first_waiting(connection: &Connection, origin: &str) -> Result<Option<i64>> {
    let sql = "SELECT min(seq) AS seq FROM (
        SELECT * FROM (SELECT seq FROM observations WHERE origin = :origin AND folded = 0 ORDER BY seq LIMIT 1)
        UNION ALL SELECT seq FROM intents WHERE origin = :origin)";
    connection.one(sql, args! {origin}, |row| row.get("seq"))
}

fn fold_event(connection: &Connection, uid: &str) -> Result<()> {
    if let Some(event) = event_rows::find(connection, uid)? {
        projection::contribution(connection, &event, 1, |attempt| baseline::add(connection, &event.store, attempt))?;
        recoveries::contribution(connection, &event, 1, |page, cause, action, change| {
            baseline::add_recovery(connection, &event.store, (page, cause), action, change, event.at)
        })?;
    }
    mark(connection, "events", uid)
}

fn fold_observation(connection: &Connection, origin: &str, uid: &str) -> Result<()> {
    rebuild::spontaneous(connection, uid, |attempt| baseline::add(connection, origin, attempt))?;
    mark(connection, "observations", uid)
}

fn mark(connection: &Connection, table: &str, uid: &str) -> Result<()> {
    connection.run(&format!("UPDATE {table} SET folded = 1 WHERE uid = :uid"), args! {uid})?;
    Ok(())
}

/// Deletes some of the folded rows that no other row needs. Returns their number.
///
/// The newest row always stays, so that its id is not used again. The newest 4096 events with typed text stay, too,
/// because their hashes are loaded when the daemon starts ([`super::secrets`]).
fn delete(connection: &Connection, step: &mut Step) -> Result<u64> {
    let acts = ids(
        connection,
        "SELECT e.id FROM events e INDEXED BY events_folded WHERE e.folded = 1 AND e.id < (SELECT max(id) FROM events)
            AND (e.op <> 'text' OR e.seq < coalesce((SELECT seq FROM events WHERE op = 'text' ORDER BY seq DESC LIMIT 1 OFFSET 4095), 0))
            AND NOT EXISTS (SELECT 1 FROM events r WHERE r.parent_uid = e.uid AND r.category = 'recover' AND r.folded = 0)
            AND (e.category = 'verify' OR e.sent = 0 OR EXISTS (SELECT 1 FROM events n INDEXED BY events_folded
                WHERE n.device_id = e.device_id AND n.seq > e.seq AND n.category <> 'verify' AND n.sent = 1 AND n.folded = 1)) LIMIT :limit",
    )?;
    let seen = ids(
        connection,
        "SELECT o.id FROM observations o INDEXED BY observations_folded LEFT JOIN pages p ON p.id = o.page_id
         WHERE o.folded = 1 AND o.id < (SELECT max(id) FROM observations) AND o.uid NOT IN (SELECT observation_uid FROM session_state)
            AND (o.settled = 0 OR o.reliable = 0 OR coalesce(p.page_key, '') = '' OR EXISTS (SELECT 1 FROM observations n
                INDEXED BY observations_folded JOIN pages np ON np.id = n.page_id WHERE n.device_id = o.device_id AND n.seq > o.seq
                AND n.settled = 1 AND n.reliable = 1 AND n.folded = 1 AND np.page_key <> '')) LIMIT :limit",
    )?;
    share_of_events(connection, &acts, &mut step.shares)?;
    share_of_observations(connection, &seen, &mut step.shares)?;
    step.events = remove(connection, "events", &acts)?;
    step.observations = remove(connection, "observations", &seen)?;
    Ok(step.events + step.observations)
}

/// Runs a query for row ids, and returns them as a JSON list.
fn ids(connection: &Connection, sql: &str) -> Result<String> {
    let mut statement = connection.prepare_cached(sql)?;
    let limit = i64::try_from(MAX_DELETED).unwrap_or(i64::MAX);
    let found: Vec<i64> = statement.query_map(args! {limit}, |row| row.get("id"))?.collect::<rusqlite::Result<_>>()?;
    Ok(serde_json::to_string(&found).unwrap_or_default())
}

fn remove(connection: &Connection, table: &str, ids: &str) -> Result<u64> {
    let sql = format!("DELETE FROM {table} WHERE id IN (SELECT value FROM json_each(:ids))");
    Ok(connection.run(&sql, args! {ids})? as u64)
}

fn share_of_events(connection: &Connection, ids: &str, shares: &mut BTreeMap<i64, Share>) -> Result<()> {
    let sql = format!(
        "SELECT session_id, {SUMS} FROM events WHERE deleted_at IS NULL AND id IN (SELECT value FROM json_each(:ids)) GROUP BY session_id"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(args! {ids})?;
    while let Some(row) = rows.next()? {
        shares.entry(row.get("session_id")?).or_default().totals = sums(row)?;
    }
    Ok(())
}

fn share_of_observations(connection: &Connection, ids: &str, shares: &mut BTreeMap<i64, Share>) -> Result<()> {
    let mut statement = connection.prepare_cached(
        "SELECT o.session_id, p.app, p.activity, p.page_key, count(*) AS count, min(o.observed_at) AS first, max(o.observed_at) AS last
         FROM observations o LEFT JOIN pages p ON p.id = o.page_id WHERE o.id IN (SELECT value FROM json_each(:ids))
         GROUP BY o.session_id, p.page_key ORDER BY last DESC",
    )?;
    let mut rows = statement.query(args! {ids})?;
    while let Some(row) = rows.next()? {
        let share = shares.entry(row.get("session_id")?).or_default();
        let observations: i64 = row.get("count")?;
        share.totals.observations += observations;
        share.pages.extend(visited(row, observations)?);
    }
    Ok(())
}

fn visited(row: &Row<'_>, observations: i64) -> rusqlite::Result<Option<VisitedPage>> {
    let text =
        |name: &str| Ok::<_, rusqlite::Error>(row.get::<_, Option<String>>(name)?.filter(|text| !text.is_empty()));
    let Some(key) = text("page_key")? else { return Ok(None) };
    Ok(Some(VisitedPage {
        app: text("app")?.unwrap_or_default(),
        activity: text("activity")?,
        key,
        state: None,
        name: None,
        observations,
        first_seen: row.get("first")?,
        last_seen: row.get("last")?,
        snapshot: None,
    }))
}
