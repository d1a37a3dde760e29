//! Test results of sessions (seed 002, "Test Results").

use afd_proto::findings::{ResultCounts, ResultStatus, TestResult};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, named_params, params_from_iter};

use crate::store::{Result, new_uid, now_ms};

/// A test result to be written.
#[derive(Debug, Clone)]
pub struct New {
    /// Uid of its task.
    pub task: Option<String>,
    /// What was tested.
    pub name: String,
    /// How it ended.
    pub status: ResultStatus,
    /// Package.
    pub app: Option<String>,
    /// Page key, activity or URL.
    pub page: Option<String>,
    /// State.
    pub state: Option<String>,
    /// How long it took, milliseconds.
    pub duration_ms: Option<i64>,
    /// What was seen.
    pub summary: Option<String>,
    /// Uid of the artifact that shows it.
    pub evidence: Option<String>,
    /// Uid of the bug that it found.
    pub bug: Option<String>,
}

/// Which results.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only those of this session, by its row.
    pub session: Option<i64>,
    /// Only those that ended so.
    pub status: Option<ResultStatus>,
    /// Only those on pages that contain this.
    pub page: Option<String>,
    /// Only those since then, UTC milliseconds.
    pub since: Option<i64>,
    /// Only rows before this one.
    pub before: Option<i64>,
}

const COLUMNS: &str =
    "r.id, r.uid, s.name, r.name AS r_name, r.status, r.app, r.page, r.state, r.duration_ms, r.summary, r.evidence, r.bug_uid,
    r.task_uid, r.created_at";

fn read(row: &Row<'_>) -> rusqlite::Result<TestResult> {
    Ok(TestResult {
        id: row.get("id")?,
        uid: row.get("uid")?,
        session: row.get("name")?,
        name: row.get("r_name")?,
        status: ResultStatus::of(&row.get::<_, String>("status")?).unwrap_or(ResultStatus::Error),
        app: row.get("app")?,
        page: row.get("page")?,
        state: row.get("state")?,
        duration_ms: row.get("duration_ms")?,
        summary: row.get("summary")?,
        evidence: row.get("evidence")?,
        bug: row.get("bug_uid")?,
        task: row.get("task_uid")?,
        created_at: row.get("created_at")?,
    })
}

/// Records a test result.
///
/// # Errors
/// What SQLite says.
pub fn add(connection: &Connection, origin: &str, session: i64, new: &New) -> Result<TestResult> {
    let id = connection
        .prepare_cached(
            "INSERT INTO test_results (uid, origin, session_id, task_uid, name, status, app, page, state, duration_ms, summary, evidence,
                bug_uid, created_at, updated_at)
             VALUES (:uid, :origin, :session_id, :task_uid, :name, :status, :app, :page, :state, :duration_ms, :summary, :evidence,
             :bug_uid, :now, :now) RETURNING id",
        )?
        .query_row(
            named_params! {
                ":uid": new_uid(),
                ":origin": origin,
                ":session_id": session,
                ":task_uid": new.task,
                ":name": new.name,
                ":status": new.status.word(),
                ":app": new.app,
                ":page": new.page,
                ":state": new.state,
                ":duration_ms": new.duration_ms,
                ":summary": new.summary,
                ":evidence": new.evidence,
                ":bug_uid": new.bug,
                ":now": now_ms(),
            },
            |row| row.get::<_, i64>("id"),
        )?;
    super::touch(connection, session)?;
    let sql = format!("SELECT {COLUMNS} FROM test_results r JOIN sessions s ON s.id = r.session_id WHERE r.id = :id");
    let found = connection.prepare_cached(&sql)?.query_row(named_params! {":id": id}, read).optional()?;
    Ok(found.ok_or(rusqlite::Error::QueryReturnedNoRows)?)
}

fn conditions(filter: &Filter) -> (String, Vec<Value>) {
    let (mut sql, mut values) = (String::from("r.deleted_at IS NULL"), Vec::new());
    let mut both = |condition: &str, value: Option<Value>| {
        if let Some(value) = value {
            sql.push_str(condition);
            values.push(value);
        }
    };
    both(" AND r.session_id = ?", filter.session.map(Value::from));
    both(" AND r.status = ?", filter.status.map(|s| Value::from(s.word().to_owned())));
    both(" AND instr(r.page, ?) > 0", filter.page.clone().map(Value::from));
    both(" AND r.created_at >= ?", filter.since.map(Value::from));
    (sql, values)
}

/// Test results, newest first.
///
/// # Errors
/// What SQLite says.
pub fn list(connection: &Connection, filter: &Filter, limit: usize) -> Result<Vec<TestResult>> {
    let (mut sql, mut values) = conditions(filter);
    if let Some(before) = filter.before {
        sql.push_str(" AND r.id < ?");
        values.push(Value::from(before));
    }
    values.push(Value::from(i64::try_from(limit).unwrap_or(i64::MAX)));
    let sql = format!("SELECT {COLUMNS} FROM test_results r JOIN sessions s ON s.id = r.session_id WHERE {sql} ORDER BY r.id DESC LIMIT ?");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map(params_from_iter(values), read)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// How many there are, by status.
///
/// # Errors
/// What SQLite says.
pub fn counts(connection: &Connection, filter: &Filter) -> Result<ResultCounts> {
    let (sql, values) = conditions(filter);
    let sql = format!("SELECT r.status, count(*) AS count FROM test_results r WHERE {sql} GROUP BY 1");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(values), |row| Ok((row.get::<_, String>("status")?, row.get::<_, i64>("count")?)))?;
    let mut counts = ResultCounts::default();
    for row in rows {
        let (status, n) = row?;
        counts.total += n;
        match ResultStatus::of(&status) {
            Some(ResultStatus::Passed) => counts.passed += n,
            Some(ResultStatus::Failed) => counts.failed += n,
            Some(ResultStatus::Skipped) => counts.skipped += n,
            Some(ResultStatus::Error) => counts.error += n,
            None => {}
        }
    }
    Ok(counts)
}

/// Pages and states that have a result.
///
/// # Errors
/// What SQLite says.
pub fn places(connection: &Connection, session: i64) -> Result<Vec<(Option<String>, Option<String>)>> {
    let mut statement =
        connection.prepare_cached("SELECT DISTINCT page, state FROM test_results WHERE session_id = :session_id AND deleted_at IS NULL")?;
    let found = statement.query_map(named_params! {":session_id": session}, |row| Ok((row.get("page")?, row.get("state")?)))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
