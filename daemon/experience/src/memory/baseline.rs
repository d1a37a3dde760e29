//! The baseline: what pruned events and observations contributed to the experience counters, in the tables
//! `baseline_*`.
//!
//! Idea: before [`super::prune`] deletes an event or observation, it *folds* it: it adds the row's contribution to the
//! baseline row for the same page, action and outcome. [`super::rebuild`] adds the baseline rows to the counters before
//! it counts the remaining rows. Pruning therefore loses no counts. A baseline row stores its weight at the time
//! `last_at`; the weight decays as in [`outcomes`].
//!
//! Invariant: a baseline row belongs to the store (`origin`) whose events it sums up. A store's events are folded in
//! the order of their sequence numbers, and so are its observations. Two numbers per store (in the table `folds`)
//! therefore say which rows the baseline covers. Of two copies of a baseline, the one with the higher numbers replaces
//! the other, so that nothing is counted twice when memories are merged. `tests/e2e/retention.rs` compares the counters
//! before and after pruning, and after a rebuild.

use afd_proto::memory::OutcomeKind;
use afd_proto::vocabulary::Action;
use rusqlite::Connection;

use super::derived_uid;
use super::outcomes::{self, Attempt, decayed};
use super::pages::{self, Page};
use super::recoveries::{self, Change};
use afd_screen::page::target::action_key;
use afd_store::{Piece, Result, Sql as _, args, json, now_ms, read, skip_unreadable, word};

/// The sequence numbers up to which a store's events and observations are folded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Folded {
    /// Sequence number of the last folded event.
    pub events: i64,
    /// Sequence number of the last folded observation.
    pub observations: i64,
}

/// Returns the sequence numbers up to which a store's events and observations are folded.
pub fn upto(connection: &Connection, origin: &str) -> Result<Folded> {
    let found = connection.first(
        "SELECT events_upto, observations_upto FROM folds WHERE origin = :origin",
        args! {origin},
        |row| Ok(Folded { events: row.get("events_upto")?, observations: row.get("observations_upto")? }),
    )?;
    Ok(found.unwrap_or_default())
}

/// Stores the sequence numbers up to which a store's events and observations are folded. These numbers never decrease.
pub(super) fn set_upto(connection: &Connection, origin: &str, folded: Folded) -> Result<()> {
    connection.run(
        "INSERT INTO folds (uid, origin, events_upto, observations_upto, updated_at) VALUES (:uid, :origin, :events, :observations, :now)
             ON CONFLICT (origin) DO UPDATE SET events_upto = max(events_upto, excluded.events_upto),
                observations_upto = max(observations_upto, excluded.observations_upto), updated_at = excluded.updated_at",
        args! {
            uid: derived_uid(&["fold", origin]), origin, events: folded.events, observations: folded.observations,
            now: now_ms()
        },
    )?;
    Ok(())
}

/// Number of row ids that a step of [`Clearing`] covers.
const LOOKED_AT: i64 = 500;

/// Prepares, in steps, for the import of a baseline that covers more rows than the stored baseline of the same store.
/// Deletes the stored baseline, and marks the events and observations that the imported baseline covers as folded.
pub(super) struct Clearing {
    origin: String,
    folded: Folded,
    /// Index of the table in [`CLEARED`], and the row id up to which that table is cleared.
    at: (usize, i64),
}

/// Tables that contain baseline rows, or rows that a baseline covers.
const CLEARED: [&str; 4] = ["baseline_outcomes", "baseline_recoveries", "events", "observations"];

impl Clearing {
    pub(super) fn begin(origin: &str, folded: Folded) -> Self {
        Self { origin: origin.to_owned(), folded, at: (0, 0) }
    }

    /// Returns whether this preparation is for the baseline of this store with these sequence numbers.
    pub(super) fn is_for(&self, origin: &str, folded: Folded) -> bool {
        self.origin == origin && self.folded == folded
    }

    /// Runs the next steps until `piece` is over. Returns whether the preparation is complete.
    pub(super) fn some(&mut self, connection: &Connection, piece: &Piece) -> Result<bool> {
        while let Some(table) = CLEARED.get(self.at.0) {
            let last = format!("SELECT coalesce(max(id), 0) AS last FROM {table}");
            let last: i64 = connection.one(&last, [], |row| row.get("last"))?;
            let to = self.at.1 + LOOKED_AT;
            self.clear(connection, table, to)?;
            self.at = if to < last { (self.at.0, to) } else { (self.at.0 + 1, 0) };
            if piece.is_over() {
                return Ok(false);
            }
        }
        connection.run("DELETE FROM folds WHERE origin = :origin", args! {origin: self.origin})?;
        Ok(true)
    }

    /// Deletes the store's next rows from a baseline table, or marks its next events or observations that the imported
    /// baseline covers as folded. Stops at the row id `to`.
    fn clear(&self, connection: &Connection, table: &str, to: i64) -> Result<()> {
        let rows = "id > :after AND id <= :to AND origin = :origin";
        let (after, origin) = (self.at.1, &self.origin);
        let upto = match table {
            "events" => self.folded.events,
            "observations" => self.folded.observations,
            _ => {
                let sql = format!("DELETE FROM {table} WHERE {rows}");
                connection.run(&sql, args! {after, to, origin})?;
                return Ok(());
            }
        };
        let sql = format!("UPDATE {table} SET folded = 1 WHERE {rows} AND seq <= :upto AND folded = 0");
        connection.run(&sql, args! {after, to, origin, upto})?;
        Ok(())
    }
}

/// Returns the uid of a page, which is the same in every copy of a memory, or an empty string if there is no page.
fn page_uid(connection: &Connection, page: Option<&Page>) -> Result<String> {
    let Some(page) = page else { return Ok(String::new()) };
    let sql = "SELECT uid FROM pages WHERE id = :id";
    Ok(connection.first(sql, args! {id: page.id}, |row| row.get("uid"))?.unwrap_or_default())
}

/// Adds an attempt to a store's baseline.
pub(super) fn add(connection: &Connection, origin: &str, a: &Attempt<'_>) -> Result<()> {
    let [from, to, below] = [Some(a.from), a.to, a.below].map(|page| page_uid(connection, page));
    let uid = derived_uid(&[
        "baseline outcome",
        origin,
        &from?,
        a.action_key,
        a.kind.word(),
        &to?,
        &below?,
        a.cause.unwrap_or_default(),
    ]);
    let known: Option<(f64, i64)> = connection.first(
        "SELECT weight, last_at FROM baseline_outcomes WHERE uid = :uid",
        args! {uid: &uid},
        |row| Ok((row.get("weight")?, row.get("last_at")?)),
    )?;
    let (weight, weighted_at) = known.unwrap_or((0.0, a.at));
    let last_at = weighted_at.max(a.at);
    connection.run(
        "INSERT INTO baseline_outcomes (uid, origin, page_id, action, kind, to_page_id, below_page_id, cause, verify_op, count,
                verified_count, weight, duration_ms, last_at, updated_at)
             VALUES (:uid, :origin, :page_id, :action, :kind, :to_page_id, :below_page_id, :cause, :verify_op, :count, :verified, :weight,
                :duration_ms, :last_at, :now)
             ON CONFLICT (uid) DO UPDATE SET action = excluded.action, verify_op = coalesce(excluded.verify_op, verify_op),
                count = count + excluded.count, verified_count = verified_count + excluded.verified_count, weight = excluded.weight,
                duration_ms = duration_ms + excluded.duration_ms, last_at = excluded.last_at, updated_at = excluded.updated_at",
        args! {
            uid, origin, page_id: a.from.id, action: a.action, kind: a.kind.word(),
            to_page_id: a.to.map(|page| page.id), below_page_id: a.below.map(|page| page.id), cause: a.cause,
            verify_op: a.verify_op, count: a.times, verified: a.verified,
            weight: decayed(weight, last_at - weighted_at) + decayed(a.weight, last_at - a.at),
            duration_ms: a.duration_ms, last_at, now: now_ms()
        },
    )?;
    Ok(())
}

/// Adds the result of a recovery to a store's baseline.
pub(super) fn add_recovery(
    connection: &Connection,
    origin: &str,
    (page, cause): (&Page, &str),
    (action, key): (&str, &str),
    change: Change,
    at: i64,
) -> Result<()> {
    let uid = derived_uid(&["baseline recovery", origin, &page_uid(connection, Some(page))?, cause, key]);
    connection.run(
        "INSERT INTO baseline_recoveries (uid, origin, page_id, failure_cause, action, success_count, failure_count, undecided_count,
                left_count, last_success_at, last_at, updated_at)
             VALUES (:uid, :origin, :page_id, :cause, :action, :success, :failure, :undecided, :left, :last_success_at, :at, :now)
             ON CONFLICT (uid) DO UPDATE SET success_count = success_count + excluded.success_count,
                failure_count = failure_count + excluded.failure_count, undecided_count = undecided_count + excluded.undecided_count,
                left_count = left_count + excluded.left_count,
                last_success_at = nullif(max(coalesce(last_success_at, 0), coalesce(excluded.last_success_at, 0)), 0),
                last_at = max(last_at, excluded.last_at), updated_at = excluded.updated_at",
        args! {
            uid, origin, page_id: page.id, cause, action, success: change.success, failure: change.failure,
            undecided: change.undecided, left: change.left, last_success_at: Some(at).filter(|_| change.success > 0),
            at, now: now_ms()
        },
    )?;
    Ok(())
}

/// A row of the table `baseline_outcomes`.
struct Row {
    origin: String,
    from: i64,
    to: Option<i64>,
    below: Option<i64>,
    action: Action,
    text: String,
    kind: OutcomeKind,
    cause: Option<String>,
    verify_op: Option<String>,
    count: i64,
    verified: i64,
    weight: f64,
    duration_ms: i64,
    last_at: i64,
}

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    Ok(read!(row => Row {
        origin, cause, verify_op, count, weight, duration_ms, last_at,
        from: row.get("page_id")?,
        to: row.get("to_page_id")?,
        below: row.get("below_page_id")?,
        action: json(row, "action")?,
        text: row.get("action")?,
        kind: word(row, "kind")?,
        verified: row.get("verified_count")?,
    }))
}

/// Adds a baseline outcome to the counters. Skips a row that cannot be read.
pub(super) fn project_outcome(connection: &Connection, id: i64) -> Result<()> {
    let mut statement = connection.prepare_cached("SELECT * FROM baseline_outcomes WHERE id = :id")?;
    let Some(row) = skip_unreadable(statement.query_row(args! {id}, read))? else { return Ok(()) };
    let page = |id: Option<i64>| id.map(|id| pages::get(connection, id)).transpose().map(Option::flatten);
    let (Some(from), to, below) = (page(Some(row.from))?, page(row.to)?, page(row.below)?) else { return Ok(()) };
    let attempt = Attempt {
        from: &from,
        action: &row.text,
        // Computed again, because the rules for keys may have changed.
        action_key: &action_key(&row.action),
        kind: row.kind,
        to: to.as_ref(),
        below: below.as_ref(),
        cause: row.cause.as_deref(),
        times: row.count,
        weight: row.weight,
        verified: row.verified,
        verify_op: row.verify_op.as_deref(),
        duration_ms: row.duration_ms,
        at: row.last_at,
    };
    outcomes::add(connection, &row.origin, &attempt)
}

/// Adds a baseline recovery to the counters. Skips a row that cannot be read.
pub(super) fn project_recovery(connection: &Connection, id: i64) -> Result<()> {
    let mut statement = connection.prepare_cached("SELECT * FROM baseline_recoveries WHERE id = :id")?;
    let mut rows = statement.query(args! {id})?;
    let Some(row) = rows.next()? else { return Ok(()) };
    let Some(page) = pages::get(connection, row.get("page_id")?)? else { return Ok(()) };
    let (origin, cause, text): (String, String, String) =
        (row.get("origin")?, row.get("failure_cause")?, row.get("action")?);
    let Some(action) = skip_unreadable(json::<Action>(row, "action"))? else { return Ok(()) };
    let change = Change {
        success: row.get("success_count")?,
        failure: row.get("failure_count")?,
        undecided: row.get("undecided_count")?,
        left: row.get("left_count")?,
    };
    // Adds the successes separately, because the last success can be older than `last_at`.
    let (last_at, last_success): (i64, Option<i64>) = (row.get("last_at")?, row.get("last_success_at")?);
    let key = action_key(&action);
    let rest = Change { success: 0, ..change };
    recoveries::add(connection, &origin, (&page, &cause), (&text, &key), rest, last_at)?;
    match last_success {
        Some(at) => recoveries::add(
            connection,
            &origin,
            (&page, &cause),
            (&text, &key),
            Change { success: change.success, ..Change::default() },
            at,
        ),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn baseline_is_removed_in_pieces_and_those_of_other_stores_stay() {
        let c = afd_store::in_memory().expect("opens");
        c.execute_batch(
            "PRAGMA foreign_keys = OFF;
             WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
             INSERT INTO baseline_recoveries (uid, origin, page_id, failure_cause, action, success_count, failure_count, undecided_count, left_count,
                last_at, updated_at)
             SELECT 'u' || i, iif(i % 3 = 0, 'other', 'theirs'), 1, 'TIMEOUT', '{}', 1, 0, 0, 0, i, i FROM n;
             INSERT INTO folds (uid, origin, events_upto, observations_upto, updated_at) VALUES ('f', 'theirs', 5, 5, 1);",
        )
        .expect("rows");
        let count = |table: &str| -> i64 {
            c.query_row(&format!("SELECT count(*) AS n FROM {table} WHERE origin = 'theirs'"), [], |row| row.get("n"))
                .expect("a count")
        };
        let theirs = Folded { events: 9, observations: 9 };
        let (mut clearing, mut pieces) = (Clearing::begin("theirs", theirs), 1);
        while !clearing.some(&c, &Piece::lasting(Duration::ZERO)).expect("a piece") {
            // The row in `folds` stays until all baseline rows are deleted, so that a resumed import deletes the rest.
            assert_eq!(count("folds"), 1);
            pieces += 1;
        }
        assert!(pieces > 3, "only {pieces} pieces");
        assert_eq!((count("baseline_recoveries"), count("folds")), (0, 0));
        let rest: i64 =
            c.query_row("SELECT count(*) AS n FROM baseline_recoveries", [], |row| row.get("n")).expect("a count");
        assert_eq!(rest, 400);
    }
}
