//! Test results recorded in sessions.

use afd_proto::findings::{ResultCounts, ResultStatus, TestResult};
use afd_proto::vocabulary::RecordScope;
use rusqlite::{Connection, Row};

use super::findings::{self, Finding, Place};
use afd_store::{Conditions, Page, Reader, Result, Sql as _, args, elsewhere, new_uid, now_ms, read, word};

/// A test result to record.
#[derive(Debug, Clone)]
pub struct New {
    /// Uid of the task that the test belongs to.
    pub task: Option<String>,
    /// Name of the test.
    pub name: String,
    /// Outcome of the test.
    pub status: ResultStatus,
    /// App, page and state where the test was run.
    pub place: Place,
    /// Duration of the test, in milliseconds.
    pub duration_ms: Option<i64>,
    /// Free-text summary of what was observed.
    pub summary: Option<String>,
    /// Uid of the artifact that serves as evidence for the result.
    pub evidence: Option<String>,
    /// Uid of the bug that the test revealed.
    pub bug: Option<String>,
    /// Visibility of the test result.
    pub scope: RecordScope,
}

/// Conditions that listed results must meet; `None` means no condition.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Row id of the session that recorded the results.
    pub session: Option<i64>,
    /// Reader of the list. Only [`Reader::Keeper`] can see the private results of other sessions.
    pub reader: Reader,
    /// Outcome of the tests.
    pub status: Option<ResultStatus>,
    /// Substring of the page on which the tests were run.
    pub page: Option<String>,
    /// Earliest creation time, in Unix milliseconds.
    pub since: Option<i64>,
}

impl Filter {
    /// Returns a filter for the results recorded in a session.
    pub fn of(session: i64) -> Self {
        Self { session: Some(session), reader: Reader::Session(session), ..Self::default() }
    }
}

impl Finding for TestResult {
    const TABLE: &'static str = "test_results";
    const COLUMNS: &'static str = concat!(
        "f.id, f.uid, s.name AS session, f.name, f.status, f.app, f.page, f.state, f.duration_ms, f.summary,
        f.evidence, f.bug_uid, f.task_uid, f.scope, f.created_at, ",
        elsewhere!("f")
    );

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(read!(row => TestResult {
            id, uid, session, name, app, page, state, duration_ms, summary, evidence, created_at,
            origin: row.get("elsewhere")?,
            scope: word::<RecordScope>(row, "scope")?.narrowed(),
            status: word(row, "status")?,
            bug: row.get("bug_uid")?,
            task: row.get("task_uid")?,
        }))
    }
}

/// Inserts a test result and returns it.
pub fn add(connection: &Connection, origin: &str, session: i64, new: &New) -> Result<TestResult> {
    let id = connection.one(
        "INSERT INTO test_results (uid, origin, session_id, task_uid, name, status, app, page, state, duration_ms, summary, evidence,
                bug_uid, scope, created_at, updated_at)
             VALUES (:uid, :origin, :session_id, :task_uid, :name, :status, :app, :page, :state, :duration_ms, :summary, :evidence,
             :bug_uid, :scope, :now, :now) RETURNING id",
        args! {
            uid: new_uid(), origin, session_id: session, task_uid: new.task, name: new.name,
            status: new.status.word(), app: new.place.app, page: new.place.page, state: new.place.state,
            duration_ms: new.duration_ms, summary: new.summary, evidence: new.evidence, bug_uid: new.bug,
            scope: new.scope.word(), now: now_ms()
        },
        |row| row.get::<_,
        i64>("id"),
    )?;
    super::touched::touch(connection, session)?;
    Ok(findings::get(connection, id)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?)
}

fn conditions(filter: &Filter) -> Conditions {
    Conditions::new("f.deleted_at IS NULL")
        .told("f", filter.reader)
        .given("f.session_id = :session", ":session", filter.session)
        .given("f.status = :status", ":status", filter.status.map(|s| s.word().to_owned()))
        .given("instr(f.page, :page) > 0", ":page", filter.page.clone())
        .given("f.created_at >= :since", ":since", filter.since)
}

/// Returns a test result by its row id.
pub fn get(connection: &Connection, id: i64) -> Result<Option<TestResult>> {
    findings::get(connection, id)
}

/// Returns a page of matching test results, newest first, and the cursor for the next page.
pub fn list(connection: &Connection, filter: &Filter, page: Page) -> Result<(Vec<TestResult>, Option<i64>)> {
    let wanted = conditions(filter).given("f.id < :before", ":before", page.cursor);
    let mut results: Vec<TestResult> = findings::select(connection, wanted, "f.id DESC", page.reads())?;
    let next = page.cut(&mut results, |result| result.id);
    Ok((results, next))
}

/// Counts the matching test results by status.
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

/// Returns the distinct pairs of page and state for which a session has recorded a test result.
pub fn places(connection: &Connection, session: i64) -> Result<Vec<(Option<String>, Option<String>)>> {
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT page, state FROM test_results WHERE session_id = :session_id AND deleted_at IS NULL",
    )?;
    let found = statement.query_map(args! {session_id: session}, |row| Ok((row.get("page")?, row.get("state")?)))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
