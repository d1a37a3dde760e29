//! Test results of sessions (seed 002, "Test Results").

use afd_proto::findings::{ResultCounts, ResultStatus, TestResult};
use rusqlite::{Connection, Row, named_params};

use super::findings::{self, Finding, Place};
use crate::store::{Conditions, Page, Result, new_uid, now_ms, word};

/// A test result to be written.
#[derive(Debug, Clone)]
pub struct New {
    /// Uid of its task.
    pub task: Option<String>,
    /// What was tested.
    pub name: String,
    /// How it ended.
    pub status: ResultStatus,
    /// Where.
    pub place: Place,
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
}

impl Finding for TestResult {
    const TABLE: &'static str = "test_results";
    const COLUMNS: &'static str = "f.id, f.uid, s.name AS session, f.name, f.status, f.app, f.page, f.state, f.duration_ms, f.summary,
        f.evidence, f.bug_uid, f.task_uid, f.created_at";

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(TestResult {
            id: row.get("id")?,
            uid: row.get("uid")?,
            session: row.get("session")?,
            name: row.get("name")?,
            status: word(row, "status")?,
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
                ":app": new.place.app,
                ":page": new.place.page,
                ":state": new.place.state,
                ":duration_ms": new.duration_ms,
                ":summary": new.summary,
                ":evidence": new.evidence,
                ":bug_uid": new.bug,
                ":now": now_ms(),
            },
            |row| row.get::<_, i64>("id"),
        )?;
    super::touch(connection, session)?;
    Ok(findings::get(connection, id)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?)
}

fn conditions(filter: &Filter) -> Conditions {
    Conditions::new("f.deleted_at IS NULL")
        .given("f.session_id = :session", ":session", filter.session)
        .given("f.status = :status", ":status", filter.status.map(|s| s.word().to_owned()))
        .given("instr(f.page, :page) > 0", ":page", filter.page.clone())
        .given("f.created_at >= :since", ":since", filter.since)
}

/// A page of test results, newest first, and the cursor of the next one.
///
/// # Errors
/// What SQLite says.
pub fn list(connection: &Connection, filter: &Filter, page: Page) -> Result<(Vec<TestResult>, Option<i64>)> {
    let wanted = conditions(filter).given("f.id < :before", ":before", page.cursor);
    let mut results: Vec<TestResult> = findings::select(connection, wanted, "f.id DESC", page.reads())?;
    let next = page.cut(&mut results, |result| result.id);
    Ok((results, next))
}

/// How many there are, by status.
///
/// # Errors
/// What SQLite says.
pub fn counts(connection: &Connection, filter: &Filter) -> Result<ResultCounts> {
    let wanted = conditions(filter);
    let sql = format!("SELECT f.status, count(*) AS count FROM test_results f WHERE {} GROUP BY 1", wanted.sql());
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(&*wanted.values(), |row| Ok((word(row, "status")?, row.get::<_, i64>("count")?)))?;
    let mut counts = ResultCounts::default();
    for row in rows {
        let (status, n) = row?;
        counts.total += n;
        match status {
            ResultStatus::Passed => counts.passed += n,
            ResultStatus::Failed => counts.failed += n,
            ResultStatus::Skipped => counts.skipped += n,
            ResultStatus::Error => counts.error += n,
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
