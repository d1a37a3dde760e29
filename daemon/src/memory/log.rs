//! Looking back: the log, what a session saw last, counts.

use std::collections::BTreeMap;

use afd_proto::memory::{Event, EventStatus, Log, SessionContext, Stats};
use afd_proto::vocabulary::PageRef;
use rusqlite::{Connection, OptionalExtension, Row, named_params};

use crate::store::{Conditions, Page, Result, word};

/// Which events.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only this session.
    pub session: Option<String>,
    /// Only this device.
    pub device: Option<String>,
    /// Only this app.
    pub app: Option<String>,
    /// Only those that ended so.
    pub status: Option<EventStatus>,
    /// Only those that were recorded after the one with this cursor, oldest first.
    pub after: Option<i64>,
    /// The page of them, by number.
    pub page: Page,
}

const COLUMNS: &str = "e.id, e.uid, e.seq, e.at, s.name AS session, d.name AS device, e.trace_id, e.category, e.op, e.status, e.action,
    e.failure_cause, e.evidence, e.duration_ms, e.app, e.activity, e.page_key, e.fingerprint, e.parent_uid";

/// Reads events; newest first, or oldest first from `after` on.
///
/// # Errors
/// What SQLite says.
pub fn read(connection: &Connection, filter: &Filter) -> Result<Log> {
    let wanted = Conditions::new("e.deleted_at IS NULL")
        .given("s.name = :session", ":session", filter.session.clone())
        .given("d.name = :device", ":device", filter.device.clone())
        .given("e.app = :app", ":app", filter.app.clone())
        .given("e.status = :status", ":status", filter.status.map(|s| s.word().to_owned()))
        .given("e.seq < :before", ":before", filter.page.cursor)
        .given("e.id > :after", ":after", filter.after)
        .value(":limit", filter.page.reads());
    let order = if filter.after.is_some() { "e.id ASC" } else { "e.seq DESC" };
    let sql = format!(
        "SELECT {COLUMNS} FROM events e JOIN sessions s ON s.id = e.session_id JOIN devices d ON d.id = e.device_id
         WHERE {} ORDER BY {order} LIMIT :limit",
        wanted.sql()
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut events: Vec<Event> = statement.query_map(&*wanted.values(), event)?.collect::<rusqlite::Result<_>>()?;
    let next_cursor = filter.page.cut(&mut events, |e| e.seq);
    Ok(Log { events, next_cursor })
}

/// One event as it goes over the wire.
///
/// # Errors
/// What SQLite says.
pub fn one(connection: &Connection, uid: &str) -> Result<Option<Event>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM events e JOIN sessions s ON s.id = e.session_id JOIN devices d ON d.id = e.device_id WHERE e.uid = :uid"
    );
    Ok(connection.prepare_cached(&sql)?.query_row(named_params! {":uid": uid}, event).optional()?)
}

fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    fn parsed<T: serde::de::DeserializeOwned>(text: Option<String>) -> Option<T> {
        text.and_then(|t| serde_json::from_str(&t).ok())
    }
    let page_key: Option<String> = row.get("page_key")?;
    let fingerprint: Option<String> = row.get("fingerprint")?;
    Ok(Event {
        uid: row.get("uid")?,
        cursor: row.get("id")?,
        seq: row.get("seq")?,
        at: row.get("at")?,
        session: row.get("session")?,
        device: row.get("device")?,
        trace_id: row.get("trace_id")?,
        category: word(row, "category")?,
        op: row.get("op")?,
        status: word(row, "status")?,
        action: parsed(row.get("action")?),
        failure_cause: row.get("failure_cause")?,
        evidence: parsed(row.get("evidence")?),
        duration_ms: row.get("duration_ms")?,
        app: row.get("app")?,
        activity: row.get("activity")?,
        page: page_key.map(|key| PageRef { fingerprint: fingerprint.unwrap_or_else(|| key.clone()), key, state: None }),
        parent: row.get("parent_uid")?,
    })
}

/// What a session saw last, on a device or on the one that it used last.
///
/// # Errors
/// What SQLite says.
pub fn context(connection: &Connection, session: &str, device: Option<&str>) -> Result<SessionContext> {
    let row = connection
        .prepare_cached(
            "SELECT d.name, c.app, c.activity, c.fingerprint, c.page_key, c.fingerprint_source, c.mode, c.has_web_view, c.node_reliability,
                c.observation_uid, c.observed_at, c.stale
             FROM session_state c JOIN sessions s ON s.id = c.session_id JOIN devices d ON d.id = c.device_id
             WHERE s.name = :name AND (:device IS NULL OR d.name = :device) ORDER BY c.observed_at DESC LIMIT 1",
        )?
        .query_row(named_params! {":name": session, ":device": device}, |row| {
            Ok(SessionContext {
                session: session.to_owned(),
                found: true,
                device: row.get("name")?,
                app: row.get("app")?,
                activity: row.get("activity")?,
                page_fingerprint: row.get("fingerprint")?,
                page_key: row.get("page_key")?,
                fingerprint_source: row.get("fingerprint_source")?,
                mode: row.get("mode")?,
                has_web_view: row.get("has_web_view")?,
                node_reliability: row.get("node_reliability")?,
                observation_id: row.get("observation_uid")?,
                observed_at: row.get("observed_at")?,
                stale: row.get("stale")?,
            })
        })
        .optional()?;
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
        observation_id: None,
        observed_at: None,
        stale: false,
    }))
}

/// Counts what is in memory, of one session (by its row; no row has the number 0) or of all.
///
/// # Errors
/// What SQLite says.
pub fn stats(connection: &Connection, id: Option<i64>) -> Result<Stats> {
    let mine = "(:id IS NULL OR session_id = :id)";
    let one = |sql: &str| -> Result<i64> { Ok(connection.prepare_cached(sql)?.query_row(named_params! {":id": id}, |row| row.get("n"))?) };
    let all = |sql: &str| -> Result<i64> { Ok(connection.prepare_cached(sql)?.query_row([], |row| row.get("n"))?) };
    let counts = |column: &str, condition: &str| -> Result<BTreeMap<String, i64>> {
        let sql = format!("SELECT {column} AS word, count(*) AS n FROM events WHERE {mine} AND {condition} GROUP BY 1");
        let mut statement = connection.prepare_cached(&sql)?;
        let rows = statement
            .query_map(named_params! {":id": id}, |row| Ok((row.get("word")?, row.get("n")?)))?
            .collect::<rusqlite::Result<_>>()?;
        Ok(rows)
    };
    let events = one(&format!("SELECT count(*) AS n FROM events WHERE {mine}"))?;
    let median_duration_ms = connection
        .prepare_cached(&format!("SELECT duration_ms FROM events WHERE {mine} ORDER BY duration_ms LIMIT 1 OFFSET :middle"))?
        .query_row(named_params! {":id": id, ":middle": events / 2}, |row| row.get("duration_ms"))
        .optional()?;
    Ok(Stats {
        session: None,
        events,
        by_op: counts("category || '.' || op", "1")?,
        by_status: counts("status", "1")?,
        by_failure_cause: counts("failure_cause", "failure_cause IS NOT NULL")?,
        observations: one(&format!("SELECT count(*) AS n FROM observations WHERE {mine}"))?,
        sessions: all("SELECT count(*) AS n FROM sessions")?,
        transitions: all("SELECT count(*) AS n FROM transitions")?,
        recoveries: all("SELECT count(*) AS n FROM recoveries")?,
        notes: one(&format!("SELECT count(*) AS n FROM notes WHERE {mine} AND deleted_at IS NULL"))?,
        artifacts: one(&format!("SELECT count(*) AS n FROM artifacts WHERE {mine} AND deleted_at IS NULL AND missing_at IS NULL"))?,
        median_duration_ms,
    })
}
