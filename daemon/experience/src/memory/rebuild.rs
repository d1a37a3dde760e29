//! Rebuilds the experience counters from baselines, events, observations and imported rows, after an upgrade or an
//! import. The work runs in the background, in pieces.
//!
//! Idea: `store.rebuild_cursor` holds the next step ([`super::rebuilding::Step`]). The rebuild first deletes all
//! counters. Then it adds the rows that hold counts (imported rows and baselines), and then it counts the events and
//! observations up to `store.rebuild_upto`, in the order of their sequence numbers. Other writes run between two
//! pieces, and a restart continues at the cursor.
//!
//! Invariant: every row is counted exactly once. A row that is recorded or imported during the rebuild is counted at
//! once if the cursor has passed it, and by the rebuild otherwise ([`super::event_rows::is_counted`],
//! [`super::rebuilding::has_added`]). Folded rows are left out, because a baseline contains them. Queries for
//! experience return nothing until the rebuild is complete.
//!
//! The batch sizes are constants; [`Piece`] determines the length of a piece. The test below imports rows between
//! pieces. `tests/e2e/learning.rs` and `tests/e2e/retention.rs` compare the counters before and after a rebuild.

use afd_proto::memory::{Category, EventStatus};
use rusqlite::{Connection, OptionalExtension, Row};

use super::baseline;
use super::event_rows::{EventRow, event_row, find, select};
use super::imported;
use super::outcomes::{self, Attempt};
use super::projection::{self, Look, OUTCOME_WINDOW_MS, count, judge, last_action, take_outcome};
use super::rebuilding::{Counted, Step, go_to, next};
use super::recoveries;
use afd_store::{Piece, Result, Sql as _, args};

/// Maximum number of rows that a step reads.
const BATCH: i64 = 500;
/// Maximum number of counters that a step deletes.
const DELETED_AT_A_TIME: usize = 300;

/// Rebuilds all counters in a single call.
pub fn all(connection: &Connection) -> Result<()> {
    begin(connection)?;
    while !some(connection, &Piece::whole())? {}
    Ok(())
}

/// Starts a rebuild of all counters from the beginning.
pub fn begin(connection: &Connection) -> Result<()> {
    go_to(connection, Step::Delete)?;
    connection.execute(&format!("UPDATE store SET rebuild_upto = {LAST_SEQ}"), [])?;
    Ok(())
}

/// SQL expression for the last sequence number of all events and observations.
const LAST_SEQ: &str =
    "max((SELECT coalesce(max(seq), 0) FROM events), (SELECT coalesce(max(seq), 0) FROM observations))";

/// Returns whether a rebuild of the counters is in progress.
pub fn is_under_way(connection: &Connection) -> Result<bool> {
    let found = connection
        .query_row("SELECT rebuild_cursor IS NOT NULL AS waiting FROM store", [], |row| row.get("waiting"))
        .optional()?;
    Ok(found.unwrap_or(false))
}

/// Continues the rebuild where the previous call stopped, until `piece` is over: deletes some counters, adds some rows
/// that hold counts, or counts some events and observations. Returns whether the rebuild is complete.
pub fn some(connection: &Connection, piece: &Piece) -> Result<bool> {
    while let Some((step, upto)) = next(connection)? {
        match step {
            Step::Delete if !delete_some(connection)? => {}
            Step::Delete => {
                go_to(connection, Step::Add(Counted::ALL[0], 0))?;
                // Counts that were added in the meantime were deleted, too, so their rows are counted again.
                connection.execute(&format!("UPDATE store SET rebuild_upto = {LAST_SEQ}"), [])?;
            }
            Step::Add(table, after) => add_some(connection, table, after, piece)?,
            Step::Count(after) => return count_some(connection, after, upto, piece),
        }
        if piece.is_over() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Adds rows of a table that holds counts, until `piece` is over.
fn add_some(connection: &Connection, table: Counted, after: i64, piece: &Piece) -> Result<()> {
    let sql = format!("SELECT id FROM {} WHERE id > :after ORDER BY id LIMIT {BATCH}", table.table());
    let ids: Vec<i64> = connection
        .prepare_cached(&sql)?
        .query_map(args! {after}, |row| row.get("id"))?
        .collect::<rusqlite::Result<_>>()?;
    let mut step = Step::after(table);
    for id in ids {
        match table {
            Counted::Transitions => imported::add_transition(connection, id)?,
            Counted::Recoveries => imported::add_recovery(connection, id)?,
            Counted::BaselineOutcomes => baseline::project_outcome(connection, id)?,
            Counted::BaselineRecoveries => baseline::project_recovery(connection, id)?,
        }
        step = Step::Add(table, id);
        if piece.is_over() {
            break;
        }
    }
    go_to(connection, step)
}

/// Counts events and observations until `piece` is over. Returns whether all rows up to the sequence number `upto` are
/// counted.
fn count_some(connection: &Connection, cursor: i64, upto: i64, piece: &Piece) -> Result<bool> {
    let mut to = end_of_batch(connection, cursor)?.map_or(upto, |to| to.min(upto));
    let mut last = cursor;
    for uid in uids(connection, "events", cursor, to)? {
        if let Some(event) = find(connection, &uid)? {
            let seq = event.seq;
            // Events of different stores may have the same sequence number. They are counted in one piece.
            if seq > last && last > cursor && piece.is_over() {
                to = last;
                break;
            }
            // Moves the cursor, so that later decisions about this event, such as that a recovery worked, correct its
            // counts.
            recount(connection, event)?;
            go_to(connection, Step::Count(seq))?;
            last = seq;
        }
    }
    let origin = afd_store::origin_of(connection)?.unwrap_or_default();
    for uid in uids(connection, "observations", cursor, to)? {
        spontaneous(connection, &uid, |attempt| outcomes::add(connection, &origin, attempt))?;
    }
    let next = (to < upto).then_some(to);
    connection.run("UPDATE store SET rebuild_cursor = :next", args! {next})?;
    Ok(next.is_none())
}

/// Deletes some counters. Returns whether none are left.
fn delete_some(connection: &Connection) -> Result<bool> {
    for table in ["outcomes", "transitions", "recoveries"] {
        let sql =
            format!("DELETE FROM {table} WHERE id IN (SELECT id FROM {table} ORDER BY id LIMIT {DELETED_AT_A_TIME})");
        if connection.run(&sql, [])? > 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the last sequence number of the batch that begins after the sequence number `after`, or `None` if no rows
/// follow.
fn end_of_batch(connection: &Connection, after: i64) -> Result<Option<i64>> {
    let sql = "SELECT max(seq) AS seq FROM (SELECT seq FROM (
        SELECT * FROM (SELECT seq FROM events WHERE seq > :after ORDER BY seq LIMIT :batch)
        UNION ALL SELECT * FROM (SELECT seq FROM observations WHERE seq > :after ORDER BY seq LIMIT :batch)) ORDER BY seq LIMIT :batch)";
    connection.one(sql, args! {after, batch: BATCH}, |row| row.get("seq"))
}

fn uids(connection: &Connection, table: &str, after: i64, to: i64) -> Result<Vec<String>> {
    let sql = format!(
        "SELECT uid FROM {table} WHERE seq > :after AND seq <= :to AND folded = 0 AND deleted_at IS NULL ORDER BY seq, id"
    );
    connection.all(&sql, args! {after, to}, |row| row.get("uid"))
}

/// Counts an event. An act without a stored outcome, for example from before an upgrade, gets its outcome from the
/// observations.
fn recount(connection: &Connection, event: EventRow) -> Result<()> {
    let done = matches!(event.category, Category::Act | Category::Recover) && event.status == EventStatus::Ok;
    let event = if done && event.outcome.is_none() { with_observed_outcome(connection, event)? } else { event };
    count(connection, &event, 1)?;
    recoveries::count(connection, &event, 1)?;
    recoveries::judge(connection, &event)
}

/// Query for conclusive observations, with the columns of a [`Look`].
const LOOKS: &str =
    "SELECT o.origin, o.device_id, o.seq, o.page_id, o.below_id, o.content_hash, o.observed_at FROM observations o
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

/// Returns an act with the outcome that follows from the observations and checks after it.
fn with_observed_outcome(connection: &Connection, act: EventRow) -> Result<EventRow> {
    let next: i64 = connection.one(
        "SELECT coalesce(min(seq), 9223372036854775807) AS next FROM events
             WHERE device_id = :device AND origin = :store AND seq > :seq AND category <> 'verify' AND sent = 1",
        args! {device: act.device, store: act.store, seq: act.seq},
        |row| row.get("next"),
    )?;
    let sql = format!(
        "{LOOKS} AND o.device_id = :device AND o.origin = :store AND o.seq > :seq AND o.seq < :next AND o.observed_at <= :until ORDER BY o.seq"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let until = act.at + OUTCOME_WINDOW_MS;
    let looks: Vec<Look> = statement
        .query_map(args! {device: act.device, store: act.store, seq: act.seq, next, until}, look)?
        .collect::<rusqlite::Result<_>>()?;
    let uid = act.uid.clone();
    // The act is not counted yet, because the cursor is before it.
    for look in looks {
        if let Some(act) = find(connection, &uid)? {
            take_outcome(connection, act, &look, false)?;
        }
    }
    let mut checks =
        connection.prepare_cached(&select("WHERE e.parent_uid = :act AND e.category = 'verify' ORDER BY e.seq"))?;
    let checks: Vec<EventRow> = checks.query_map(args! {act: uid}, event_row)?.collect::<rusqlite::Result<_>>()?;
    for check in checks {
        judge(connection, &check, check.cause)?;
    }
    Ok(find(connection, &uid)?.unwrap_or(act))
}

/// Calls `add` with an attempt to wait that led to the page of an observation, if that page appeared spontaneously.
pub(super) fn spontaneous(
    connection: &Connection,
    uid: &str,
    add: impl FnOnce(&Attempt<'_>) -> Result<()>,
) -> Result<()> {
    let look = connection.first(&format!("{LOOKS} AND o.uid = :uid"), args! {uid}, look)?;
    let Some(look) = look else { return Ok(()) };
    match last_action(connection, (&look.store, look.device), look.seq, None)? {
        Some(last) if look.at - last.at <= OUTCOME_WINDOW_MS => Ok(()),
        last => projection::spontaneous(connection, &look, last.map(|l| l.seq), add),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use afd_proto::vocabulary::Action;

    use super::super::af::{AfPage, AfRecovery, AfTransition};
    use super::*;

    const STORE: &str = "other";

    fn page(n: i64) -> AfPage {
        let text = |what: &str| format!("{what}{n}");
        AfPage { app: "a.b".into(), activity: text("a.b/.P"), key: text("key"), fingerprint: text("fingerprint") }
    }

    fn back() -> Action {
        serde_json::from_str(r#"{"verb": "back"}"#).expect("an action")
    }

    /// Imports another tool's counts for a page.
    fn import(c: &Connection, n: i64, successes: i64) {
        let transition = AfTransition {
            page: page(n),
            action: back(),
            post: None,
            verify_op: None,
            counts: [successes, 0, 1],
            last_success_at: Some(1_000 + n),
        };
        imported::transition(c, STORE, "af", &transition).expect("a transition");
        let recovery = AfRecovery {
            page: page(n),
            cause: "ELEMENT_NOT_FOUND".into(),
            action: back(),
            counts: [successes, 0],
            last_success_at: None,
        };
        imported::recovery(c, STORE, "af", &recovery).expect("a recovery");
    }

    fn counts(c: &Connection) -> Vec<(String, i64, i64)> {
        let sql = "SELECT activity, success_count, failure_count FROM transitions
            UNION ALL SELECT 'recovery ' || activity, success_count, failure_count FROM recoveries ORDER BY activity";
        let mut statement = c.prepare(sql).expect("prepares");
        let rows = statement
            .query_map([], |row| Ok((row.get("activity")?, row.get("success_count")?, row.get("failure_count")?)));
        rows.expect("queries").collect::<rusqlite::Result<_>>().expect("rows")
    }

    fn memory() -> Connection {
        let c = afd_store::in_memory().expect("opens");
        c.execute("INSERT OR IGNORE INTO store (id, origin, created_at) VALUES (1, 'here', 1)", []).expect("a store");
        c
    }

    #[test]
    fn step_is_read_as_it_was_written() {
        let added = Counted::ALL.into_iter().flat_map(|table| [0, 1, 7, 1 << 50].map(|after| Step::Add(table, after)));
        for step in added.chain([Step::Delete, Step::Count(0), Step::Count(12)]) {
            assert_eq!(Step::of(step.cursor()), step);
            assert_eq!(step.cursor() < 0, !matches!(step, Step::Count(_)));
        }
    }

    #[test]
    fn counts_imported_while_counters_are_made_again_are_added_once() {
        let c = memory();
        (1..=4).for_each(|n| import(&c, n, 2));
        begin(&c).expect("begins");
        // Each piece does one step. Between two pieces, another row is imported and an earlier one is updated.
        let (mut successes, mut pieces) = (2, 0);
        while !some(&c, &Piece::lasting(Duration::ZERO)).expect("a piece") {
            successes += 1;
            pieces += 1;
            import(&c, 1, successes);
            import(&c, 4 + pieces.min(3), 2);
        }
        assert!(pieces > 8, "only {pieces} pieces");
        let mut expected: Vec<_> =
            (1..=7).map(|n| (format!("a.b/.P{n}"), if n == 1 { successes } else { 2 }, 1)).collect();
        expected.extend((1..=7).map(|n| (format!("recovery a.b/.P{n}"), if n == 1 { successes } else { 2 }, 0)));
        assert_eq!(counts(&c), expected);
        all(&c).expect("again");
        assert_eq!(counts(&c), expected);
    }
}
