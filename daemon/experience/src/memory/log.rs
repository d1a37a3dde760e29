//! Queries for the history: the event log, a session's last observation, and statistics.

use std::collections::BTreeMap;

use afd_proto::memory::{Event, EventStatus, Log, SessionContext, Stats};
use afd_proto::vocabulary::PageRef;
use rusqlite::{Connection, Row};

use afd_store::{Conditions, Page, Result, Sql as _, args, read, word};

/// A filter for events.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only events of the session with this name.
    pub session: Option<String>,
    /// Only events on the device with this name.
    pub device: Option<String>,
    /// Only events in this app (package).
    pub app: Option<String>,
    /// Only events with this status.
    pub status: Option<EventStatus>,
    /// Only events recorded after the one with this cursor, oldest first.
    pub after: Option<i64>,
    /// Page of the list; its cursor is the row id of the last event of the previous page.
    pub page: Page,
}

/// Returns whether a session has an event at or after the time `since` (Unix milliseconds).
pub fn acted_since(connection: &Connection, session: i64, since: i64) -> Result<bool> {
    let last: Option<i64> = connection.first(
        "SELECT at FROM events WHERE session_id = :session ORDER BY seq DESC LIMIT 1",
        args! {session},
        |row| row.get("at"),
    )?;
    Ok(last.is_some_and(|at| at >= since))
}

const COLUMNS: &str =
    "e.id, e.uid, e.seq, e.at, s.name AS session, coalesce(d.part_of, d.name) AS device, e.trace_id, e.category, e.op, e.status, e.action,
    e.failure_cause, e.evidence, e.duration_ms, e.app, nullif(p.activity, '') AS activity,
    nullif(p.page_key, '') AS page_key, p.fingerprint, e.parent_uid";

/// Returns events, newest first, or oldest first if `after` is set.
pub fn read(connection: &Connection, filter: &Filter) -> Result<Log> {
    let wanted = Conditions::new("e.deleted_at IS NULL")
        .given("s.name = :session", ":session", filter.session.clone())
        .given("coalesce(d.part_of, d.name) = :device", ":device", filter.device.clone())
        .given("e.app = :app", ":app", filter.app.clone())
        .given("e.status = :status", ":status", filter.status.map(|s| s.word().to_owned()))
        .given("(e.seq, e.id) < (SELECT seq, id FROM events WHERE id = :before)", ":before", filter.page.cursor)
        .given("e.id > :after", ":after", filter.after)
        .value(":limit", filter.page.reads());
    let order = if filter.after.is_some() { "e.id ASC" } else { "e.seq DESC, e.id DESC" };
    let sql = format!(
        "SELECT {COLUMNS} FROM events e JOIN sessions s ON s.id = e.session_id JOIN devices d ON d.id = e.device_id
         LEFT JOIN pages p ON p.id = e.page_id WHERE {} ORDER BY {order} LIMIT :limit",
        wanted.sql()
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut events: Vec<Event> = statement.query_map(&*wanted.values(), event)?.collect::<rusqlite::Result<_>>()?;
    let next_cursor = filter.page.cut(&mut events, |e| e.cursor);
    Ok(Log { events, next_cursor })
}

/// Returns the event with this uid in its wire format.
pub fn one(connection: &Connection, uid: &str) -> Result<Option<Event>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM events e JOIN sessions s ON s.id = e.session_id JOIN devices d ON d.id = e.device_id
         LEFT JOIN pages p ON p.id = e.page_id WHERE e.uid = :uid"
    );
    connection.first(&sql, args! {uid}, event)
}

fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    fn parsed<T: serde::de::DeserializeOwned>(text: Option<String>) -> Option<T> {
        text.and_then(|t| serde_json::from_str(&t).ok())
    }
    let page_key: Option<String> = row.get("page_key")?;
    let fingerprint: Option<String> = row.get("fingerprint")?;
    Ok(read!(row => Event {
        uid, seq, at, session, device, trace_id, op, failure_cause, duration_ms, app, activity,
        cursor: row.get("id")?,
        category: word(row, "category")?,
        status: word(row, "status")?,
        action: parsed(row.get("action")?),
        evidence: parsed(row.get("evidence")?),
        page: page_key.map(|key| PageRef { fingerprint: fingerprint.unwrap_or_else(|| key.clone()), key, state: None }),
        parent: row.get("parent_uid")?,
    }))
}

/// Returns the row id of the given device or, without a device, of the one that the session observed last; `None` if the
/// session has not observed it.
pub fn last_device(connection: &Connection, session: &str, device: Option<&str>) -> Result<Option<i64>> {
    connection.first(
        "SELECT c.device_id FROM session_state c JOIN sessions s ON s.id = c.session_id JOIN devices d ON d.id = c.device_id
             WHERE s.name = :session AND (:device IS NULL OR coalesce(d.part_of, d.name) = :device)
             ORDER BY c.observed_at DESC LIMIT 1",
        args! {session, device},
        |row| row.get("device_id"),
    )
}

/// Returns a session's last observation on the given device or, without a device, on the device that the session
/// observed last.
pub fn context(connection: &Connection, session: &str, device: Option<&str>) -> Result<SessionContext> {
    let row = connection.first(
        "SELECT coalesce(d.part_of, d.name) AS device, c.app, c.activity, c.fingerprint, c.page_key, c.fingerprint_source, c.mode, c.has_web_view, c.node_reliability,
                c.observation_uid, c.observed_at, c.stale
             FROM session_state c JOIN sessions s ON s.id = c.session_id JOIN devices d ON d.id = c.device_id
             WHERE s.name = :name AND (:device IS NULL OR coalesce(d.part_of, d.name) = :device) ORDER BY c.observed_at DESC LIMIT 1",
        args! {name: session, device},
        |row| {
            Ok(read!(row => SessionContext {
                app, activity, page_key, fingerprint_source, mode, has_web_view, node_reliability, observed_at, stale,
                session: session.to_owned(),
                found: true,
                device: row.get("device")?,
                page_fingerprint: row.get("fingerprint")?,
                ref_version: None,
                observation_id: row.get("observation_uid")?,
            }))
        },
    )?;
    Ok(row.unwrap_or_else(|| SessionContext {
        session: session.to_owned(),
        found: false,
        device: None,
        app: None,
        activity: None,
        page_fingerprint: None,
        page_key: None,
        fingerprint_source: None,
        mode: None,
        has_web_view: None,
        node_reliability: None,
        ref_version: None,
        observation_id: None,
        observed_at: None,
        stale: false,
    }))
}

/// Returns statistics for one session, given by its row id, or for all sessions. The row id 0 matches no session.
/// Sessions, transitions and recoveries are always counted in the whole memory.
pub fn stats(connection: &Connection, id: Option<i64>) -> Result<Stats> {
    let of = |always: &str| Conditions::new(always).given("session_id = :id", ":id", id);
    let one = |table: &str, wanted: &Conditions| -> Result<i64> {
        let sql = format!("SELECT count(*) AS n FROM {table} WHERE {}", wanted.sql());
        connection.one(&sql, &*wanted.values(), |row| row.get("n"))
    };
    let all = |table: &str| one(table, &Conditions::new("1"));
    let counted = count_events(connection, &of("1"))?;
    Ok(Stats {
        session: None,
        events: counted.total,
        by_op: counted.by_op,
        by_status: counted.by_status,
        by_failure_cause: counted.by_failure_cause,
        observations: one("observations", &of("1"))?,
        sessions: all("sessions")?,
        transitions: all("transitions")?,
        recoveries: all("recoveries")?,
        notes: one("notes", &of("deleted_at IS NULL"))?,
        artifacts: one("artifacts", &of("deleted_at IS NULL AND missing_at IS NULL"))?,
        median_duration_ms: counted.median_duration_ms,
    })
}

/// Event statistics.
struct EventStats {
    total: i64,
    by_op: BTreeMap<String, i64>,
    by_status: BTreeMap<String, i64>,
    by_failure_cause: BTreeMap<String, i64>,
    median_duration_ms: Option<i64>,
}

fn count_sql(wanted: &Conditions) -> String {
    let conditions = wanted.sql();
    format!(
        "SELECT category || '.' || op AS op, status, failure_cause, duration_ms, count(*) AS n FROM events
         WHERE {conditions} GROUP BY 1, 2, 3, 4"
    )
}

/// Computes the event statistics in one query.
fn count_events(connection: &Connection, wanted: &Conditions) -> Result<EventStats> {
    let mut statement = connection.prepare_cached(&count_sql(wanted))?;
    let mut rows = statement.query(&*wanted.values())?;
    let mut counted = EventStats {
        total: 0,
        by_op: BTreeMap::new(),
        by_status: BTreeMap::new(),
        by_failure_cause: BTreeMap::new(),
        median_duration_ms: None,
    };
    let mut durations: BTreeMap<i64, i64> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let n: i64 = row.get("n")?;
        counted.total += n;
        *counted.by_op.entry(row.get("op")?).or_default() += n;
        *counted.by_status.entry(row.get("status")?).or_default() += n;
        if let Some(cause) = row.get("failure_cause")? {
            *counted.by_failure_cause.entry(cause).or_default() += n;
        }
        *durations.entry(row.get("duration_ms")?).or_default() += n;
    }
    let mut below = 0;
    counted.median_duration_ms = durations.into_iter().find_map(|(duration, n)| {
        below += n;
        (below > counted.total / 2).then_some(duration)
    });
    Ok(counted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use afd_base::task::Tasks;
    use afd_store::Store;

    /// Regression test: a query for the statistics of one session used to read the events of all sessions.
    #[tokio::test]
    async fn session_statistics_use_the_session_index() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store::open(&dir.path().join("m.db"), &Tasks::default(), |_, _| {}, |_| Ok(0)).expect("opens");
        let plan = store.read(|c| {
            let wanted = Conditions::new("1").given("session_id = :id", ":id", Some(1));
            let mut statement = c.prepare(&format!("EXPLAIN QUERY PLAN {}", count_sql(&wanted)))?;
            let steps = statement.query_map(&*wanted.values(), |row| row.get::<_, String>("detail"))?;
            Ok(steps.collect::<rusqlite::Result<Vec<_>>>()?.join("; "))
        });
        let plan = plan.await.expect("reads");
        assert!(plan.contains("events_by_session"), "{plan}");
    }
}
