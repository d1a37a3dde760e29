//! The activity of a session: totals, visited pages, recent observations, and the last actions.

use afd_proto::context::RecentObservation;
use afd_proto::memory::{Category, EventStatus};
use afd_proto::session::{PageSnapshot, VisitedPage};
use afd_proto::vocabulary::Action;
use rusqlite::{Connection, Row};

use afd_screen::page::target;
use afd_store::{Result, Sql as _, args, read, word};

/// Totals of a session's events and observations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    /// Number of successful actions and recoveries.
    pub done: i64,
    /// Number of checks that passed.
    pub passed_checks: i64,
    /// Number of checks that failed.
    pub failed_checks: i64,
    /// Number of other events that failed or whose outcome is unknown.
    pub errors: i64,
    /// Number of observations.
    pub observations: i64,
    /// Time of the last event or observation, in Unix milliseconds.
    pub last_at: Option<i64>,
}

/// Aggregate SQL expressions over events, whose values [`sums`] reads.
pub(super) const SUMS: &str = "coalesce(sum(status = 'ok' AND category <> 'verify'), 0) AS done,
    coalesce(sum(status = 'ok' AND category = 'verify'), 0) AS verified, coalesce(sum(failure_cause = 'ASSERTION_FAILED'), 0) AS assertions,
    coalesce(sum(status <> 'ok' AND coalesce(failure_cause, '') <> 'ASSERTION_FAILED'), 0) AS broken, max(at) AS max_at";

/// Reads the event totals from a query row.
pub(super) fn sums(row: &Row<'_>) -> rusqlite::Result<Totals> {
    Ok(Totals {
        done: row.get("done")?,
        passed_checks: row.get("verified")?,
        failed_checks: row.get("assertions")?,
        errors: row.get("broken")?,
        observations: 0,
        last_at: row.get("max_at")?,
    })
}

/// Returns the totals of the session with this row id. The totals are updated with each event and observation, so a
/// query takes the same time for every session.
pub fn totals(connection: &Connection, session: i64) -> Result<Totals> {
    let row = |row: &Row<'_>| {
        Ok(read!(row => Totals {
            done, passed_checks, failed_checks, errors, observations,
            last_at: None,
        }))
    };
    let counted = connection.first(
        "SELECT done, passed_checks, failed_checks, errors, observations FROM session_totals WHERE session_id = :session_id",
        args! {session_id: session},
        row,
    )?;
    Ok(Totals { last_at: last_at(connection, session)?, ..counted.unwrap_or_default() })
}

/// Returns the time of a session's last event or observation, in Unix milliseconds.
pub fn last_at(connection: &Connection, session: i64) -> Result<Option<i64>> {
    let newest = |table: &str, column: &str| -> Result<Option<i64>> {
        let sql =
            format!("SELECT {column} AS at FROM {table} WHERE session_id = :session_id ORDER BY seq DESC LIMIT 1");
        connection.first(&sql, args! {session_id: session}, |row| row.get("at"))
    };
    Ok(newest("events", "at")?.max(newest("observations", "observed_at")?))
}

/// Returns the pages that a session saw, most recent first, each with its newest structure key.
pub fn pages(connection: &Connection, session: i64) -> Result<Vec<(VisitedPage, Option<String>)>> {
    // With max(), SQLite takes the other columns from the row that holds the maximum.
    connection.all(
        "SELECT p.app, nullif(p.activity, '') AS activity, p.page_key, sum(v.observations) AS count, min(v.first_at) AS min_observed_at,
            o.observed_at, o.uid, p.fingerprint, o.content_hash, o.node_count, o.ref_count, nullif(p.structure_key, '') AS structure_key,
            max(v.last_seq) AS max_seq
         FROM session_pages v JOIN pages p ON p.id = v.page_id JOIN observations o ON o.id = v.last_id
         WHERE v.session_id = :session_id AND p.page_key <> '' GROUP BY p.page_key ORDER BY max(v.last_seq) DESC",
        args! {session_id: session},
        |row| {
            let page = VisitedPage {
                app: row.get::<_, Option<String>>("app")?.unwrap_or_default(),
                activity: row.get("activity")?,
                key: row.get("page_key")?,
                state: None,
                name: None,
                observations: row.get("count")?,
                first_seen: row.get("min_observed_at")?,
                last_seen: row.get("observed_at")?,
                snapshot: Some(read!(row => PageSnapshot {
                    fingerprint, content_hash, node_count, ref_count,
                    observation_id: row.get("uid")?,
                })),
            };
            Ok((page, row.get("structure_key")?))
        },
    )
}

/// Returns the last observations of a session, newest first.
pub fn recent(connection: &Connection, session: i64, limit: usize) -> Result<Vec<RecentObservation>> {
    connection.all(
        "SELECT o.uid, o.observed_at, coalesce(d.part_of, d.name) AS device, o.source, nullif(p.app, '') AS app, nullif(p.activity, '') AS activity,
            nullif(p.page_key, '') AS page_key, o.settled, o.reliable
         FROM observations o JOIN devices d ON d.id = o.device_id LEFT JOIN pages p ON p.id = o.page_id WHERE o.session_id = :session_id ORDER BY o.seq DESC LIMIT :limit",
        args! {session_id: session, limit: i64::try_from(limit).unwrap_or(i64::MAX)},
        |row| {
            Ok(read!(row => RecentObservation {
                app, activity, page_key, settled, reliable,
                observation_id: row.get("uid")?,
                at: row.get("observed_at")?,
                device: row.get("device")?,
                source: word(row, "source")?,
            }))
        },
    )
}

/// Returns the keys of all structures that a session saw.
pub fn structures(connection: &Connection, session: i64) -> Result<Vec<String>> {
    connection.all(
        "SELECT DISTINCT p.structure_key FROM session_pages v JOIN pages p ON p.id = v.page_id
             WHERE v.session_id = :session_id AND p.structure_key <> ''",
        args! {session_id: session},
        |row| row.get("structure_key"),
    )
}

/// An action or check that a session performed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deed {
    /// Time at which the action or check ended, in Unix milliseconds.
    pub at: i64,
    /// Description in words, without typed text.
    pub what: String,
    /// Whether the action or check succeeded.
    pub ok: bool,
    /// Activity in the foreground, as `package/activity`.
    pub activity: Option<String>,
    /// Whether this is an action rather than a check.
    pub acted: bool,
}

/// Returns a description of a session's last action or check in words, without typed text.
pub fn last_action(connection: &Connection, session: i64) -> Result<Option<String>> {
    Ok(deeds(connection, session, 1)?.pop().map(|deed| deed.what))
}

/// Returns the last actions and checks of a session, oldest first.
pub fn deeds(connection: &Connection, session: i64, count: usize) -> Result<Vec<Deed>> {
    let mut statement = connection.prepare_cached(
        "SELECT e.at, e.action, e.op, e.category, e.status, e.failure_cause, nullif(p.activity, '') AS activity FROM events e
         LEFT JOIN pages p ON p.id = e.page_id WHERE e.session_id = :session_id AND e.deleted_at IS NULL
         ORDER BY e.seq DESC LIMIT :count",
    )?;
    let values = args! {session_id: session, count: i64::try_from(count).unwrap_or(i64::MAX)};
    let found = statement.query_map(values, |row| {
        let (category, status) = (word::<Category>(row, "category")?, word::<EventStatus>(row, "status")?);
        let action: Option<Action> =
            row.get::<_, Option<String>>("action")?.and_then(|text| serde_json::from_str(&text).ok());
        let op: String = row.get("op")?;
        let what = action.as_ref().map_or_else(|| format!("{category} {op}"), target::sentence);
        let what = match (status, row.get::<_, Option<String>>("failure_cause")?) {
            (EventStatus::Ok, _) => what,
            (_, Some(cause)) => format!("{what} ({cause})"),
            (status, None) => format!("{what} ({status})"),
        };
        let acted = matches!(category, Category::Act | Category::Recover);
        Ok(Deed { at: row.get("at")?, what, ok: status == EventStatus::Ok, activity: row.get("activity")?, acted })
    })?;
    let mut deeds: Vec<Deed> = found.collect::<rusqlite::Result<_>>()?;
    deeds.reverse();
    Ok(deeds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the row id, number of observations and last sequence number of each page that session 1 observed.
    fn counted(c: &Connection) -> Vec<(i64, i64, i64)> {
        let mut statement = c
            .prepare("SELECT page_id, count(*), max(seq) FROM observations WHERE session_id = 1 AND page_id IS NOT NULL GROUP BY page_id")
            .expect("prepares");
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).expect("queries");
        rows.collect::<rusqlite::Result<_>>().expect("reads")
    }

    fn kept(c: &Connection) -> Vec<(i64, i64, i64)> {
        let mut statement = c
            .prepare("SELECT page_id, observations, last_seq FROM session_pages WHERE session_id = 1 ORDER BY page_id")
            .expect("prepares");
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).expect("queries");
        rows.collect::<rusqlite::Result<_>>().expect("reads")
    }

    #[test]
    fn totals_follow_observations_that_change_and_go() {
        let c = afd_store::in_memory().expect("a database");
        c.execute_batch("PRAGMA foreign_keys = OFF").expect("switches");
        for (id, page) in [(1, Some(1)), (2, Some(1)), (3, Some(2)), (4, None), (5, Some(1))] {
            c.execute(
                "INSERT INTO observations (id, uid, origin, seq, session_id, device_id, trace_id, source, settled, reliable, observed_at,
                    updated_at, page_id) VALUES (?1, ?1, 'o', ?1, 1, 1, 't', 'page', 1, 1, ?1, ?1, ?2)",
                (id, page),
            )
            .expect("inserts");
        }
        let changes = [
            "UPDATE observations SET page_id = 2 WHERE id = 1",
            "UPDATE observations SET seq = 9 WHERE id = 3",
            "UPDATE observations SET page_id = NULL WHERE id = 2",
            "DELETE FROM observations WHERE id = 5",
            "UPDATE observations SET session_id = 2 WHERE id = 3",
            "DELETE FROM observations WHERE id = 4",
            "DELETE FROM observations WHERE id = 1",
        ];
        for change in changes {
            c.execute(change, []).expect(change);
            assert_eq!(kept(&c), counted(&c), "{change}");
            let all: i64 = c
                .query_row("SELECT count(*) FROM observations WHERE session_id = 1", [], |row| row.get(0))
                .expect("counts");
            let told: i64 = c
                .query_row("SELECT observations FROM session_totals WHERE session_id = 1", [], |row| row.get(0))
                .expect("counts");
            assert_eq!(told, all, "{change}");
        }
    }
}
