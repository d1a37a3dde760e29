//! Bugs that sessions found (seed 002, "Bug Reports").

use std::collections::HashSet;

use afd_proto::findings::{Bug, BugCounts, BugStatus, Severity};
use rusqlite::{Connection, Row, named_params};

use super::findings::{self, Finding, Place};
use super::{json, list_of};
use crate::store::{Conditions, Page, Result, new_uid, now_ms, word};
use crate::text;

/// Bugs whose titles share at least this share of their words are called much the same.
const SIMILAR: f64 = 0.5;
/// At most this many of them are shown.
const MAX_SIMILAR: usize = 3;
/// At most this many open bugs are compared with a new one.
const COMPARED: usize = 500;

/// A bug to be written.
#[derive(Debug, Clone, Default)]
pub struct New {
    /// Uid of the task that found it.
    pub task: Option<String>,
    /// One line.
    pub title: String,
    /// How bad it is.
    pub severity: Option<Severity>,
    /// What it is about.
    pub description: Option<String>,
    /// How to make it happen.
    pub steps: Vec<String>,
    /// What should happen.
    pub expected: Option<String>,
    /// What happens.
    pub actual: Option<String>,
    /// Where.
    pub place: Place,
    /// Uid of the artifact that shows it.
    pub screenshot: Option<String>,
    /// Whether it is resolved already.
    pub resolved: bool,
}

/// Which bugs.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only those of this session, by its row.
    pub session: Option<i64>,
    /// Only those of this severity.
    pub severity: Option<Severity>,
    /// Only those of this status.
    pub status: Option<BugStatus>,
    /// Only those in this package.
    pub app: Option<String>,
    /// Only those on pages that contain this.
    pub page: Option<String>,
}

impl Finding for Bug {
    const TABLE: &'static str = "bugs";
    const COLUMNS: &'static str = "f.id, f.uid, s.name, f.title, f.severity, f.description, f.steps, f.expected, f.actual, f.app, f.page,
        f.state, f.screenshot, f.task_uid, f.status, f.resolution, f.created_at, f.resolved_at";

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Bug {
            id: row.get("id")?,
            uid: row.get("uid")?,
            session: row.get("name")?,
            title: row.get("title")?,
            severity: word(row, "severity")?,
            description: row.get("description")?,
            steps: list_of(&row.get::<_, String>("steps")?),
            expected: row.get("expected")?,
            actual: row.get("actual")?,
            app: row.get("app")?,
            page: row.get("page")?,
            state: row.get("state")?,
            screenshot: row.get("screenshot")?,
            task: row.get("task_uid")?,
            status: word(row, "status")?,
            resolution: row.get("resolution")?,
            created_at: row.get("created_at")?,
            resolved_at: row.get("resolved_at")?,
        })
    }
}

/// Records a bug.
///
/// # Errors
/// What SQLite says.
pub fn add(connection: &Connection, origin: &str, session: i64, new: &New) -> Result<Bug> {
    let now = now_ms();
    let status = if new.resolved { BugStatus::Resolved } else { BugStatus::Open };
    let id = connection
        .prepare_cached(
            "INSERT INTO bugs (uid, origin, session_id, task_uid, title, severity, description, steps, expected, actual, app, page, state,
                screenshot, status, created_at, updated_at, resolved_at)
             VALUES (:uid, :origin, :session_id, :task_uid, :title, :severity, :description, :steps, :expected, :actual, :app, :page,
             :state, :screenshot, :status, :now, :now, :resolved_at) RETURNING id",
        )?
        .query_row(
            named_params! {
                ":uid": new_uid(),
                ":origin": origin,
                ":session_id": session,
                ":task_uid": new.task,
                ":title": new.title,
                ":severity": new.severity.unwrap_or(Severity::Medium).word(),
                ":description": new.description,
                ":steps": json(&new.steps),
                ":expected": new.expected,
                ":actual": new.actual,
                ":app": new.place.app,
                ":page": new.place.page,
                ":state": new.place.state,
                ":screenshot": new.screenshot,
                ":status": status.word(),
                ":now": now,
                ":resolved_at": new.resolved.then_some(now),
            },
            |row| row.get("id"),
        )?;
    super::touch(connection, session)?;
    Ok(get(connection, id)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?)
}

/// A bug by its number.
///
/// # Errors
/// What SQLite says.
pub fn get(connection: &Connection, id: i64) -> Result<Option<Bug>> {
    findings::get(connection, id)
}

fn conditions(filter: &Filter) -> Conditions {
    Conditions::new("f.deleted_at IS NULL")
        .given("f.session_id = :session", ":session", filter.session)
        .given("f.severity = :severity", ":severity", filter.severity.map(|s| s.word().to_owned()))
        .given("f.status = :status", ":status", filter.status.map(|s| s.word().to_owned()))
        .given("f.app = :app", ":app", filter.app.clone())
        .given("instr(f.page, :page) > 0", ":page", filter.page.clone())
}

/// A page of bugs, newest first, and the cursor of the next one.
///
/// # Errors
/// What SQLite says.
pub fn list(connection: &Connection, filter: &Filter, page: Page) -> Result<(Vec<Bug>, Option<i64>)> {
    let wanted = conditions(filter).given("f.id < :before", ":before", page.cursor);
    let mut bugs: Vec<Bug> = findings::select(connection, wanted, "f.id DESC", page.reads())?;
    let next = page.cut(&mut bugs, |bug| bug.id);
    Ok((bugs, next))
}

/// The worst ones, first found first.
///
/// # Errors
/// What SQLite says.
pub fn worst(connection: &Connection, filter: &Filter, limit: usize) -> Result<Vec<Bug>> {
    const WORST: &str = "CASE f.severity WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END, f.id";
    findings::select(connection, conditions(filter), WORST, i64::try_from(limit).unwrap_or(i64::MAX))
}

/// How many there are, by severity and status.
///
/// # Errors
/// What SQLite says.
pub fn counts(connection: &Connection, filter: &Filter) -> Result<BugCounts> {
    let wanted = conditions(filter);
    let sql = format!("SELECT f.severity, f.status, count(*) AS count FROM bugs f WHERE {} GROUP BY 1, 2", wanted.sql());
    let mut statement = connection.prepare_cached(&sql)?;
    let rows =
        statement.query_map(&*wanted.values(), |row| Ok((word(row, "severity")?, word(row, "status")?, row.get::<_, i64>("count")?)))?;
    let mut counts = BugCounts::default();
    for row in rows {
        let (severity, status, n) = row?;
        counts.total += n;
        match severity {
            Severity::Critical => counts.critical += n,
            Severity::High => counts.high += n,
            Severity::Medium => counts.medium += n,
            Severity::Low => counts.low += n,
        }
        match status {
            BugStatus::Open => counts.open += n,
            BugStatus::Resolved => counts.resolved += n,
        }
    }
    Ok(counts)
}

/// Marks a bug as resolved.
///
/// # Errors
/// What SQLite says.
pub fn resolve(connection: &Connection, id: i64, reason: &str) -> Result<Option<Bug>> {
    let now = now_ms();
    connection
        .prepare_cached(
            "UPDATE bugs SET status = 'resolved', resolution = :resolution, resolved_at = :now, updated_at = :now WHERE id = :id",
        )?
        .execute(named_params! {":id": id, ":resolution": reason, ":now": now})?;
    connection
        .prepare_cached("UPDATE sessions SET updated_at = :updated_at WHERE id = (SELECT session_id FROM bugs WHERE id = :id)")?
        .execute(named_params! {":id": id, ":updated_at": now})?;
    get(connection, id)
}

/// Worst first; open ones before resolved ones; else as they were found.
pub fn worst_first(bugs: &mut [Bug]) {
    let rank = |severity: Severity| Severity::ALL.iter().position(|s| *s == severity);
    bugs.sort_by_key(|b| (b.status == BugStatus::Resolved, rank(b.severity), b.id));
}

/// Open bugs of an app that are called much the same, most similar first.
///
/// # Errors
/// What SQLite says.
pub fn similar(connection: &Connection, title: &str, app: Option<&str>) -> Result<Vec<Bug>> {
    let filter = Filter { status: Some(BugStatus::Open), app: app.map(str::to_owned), ..Filter::default() };
    let words = |text: &str| text::words(text).into_iter().collect::<HashSet<String>>();
    let own = words(title);
    let share = |bug: &Bug| {
        let other = words(&bug.title);
        let (both, all) = (own.intersection(&other).count(), own.union(&other).count());
        both as f64 / all.max(1) as f64
    };
    let mut found: Vec<(f64, Bug)> =
        list(connection, &filter, Page::first(COMPARED))?.0.into_iter().map(|bug| (share(&bug), bug)).collect();
    found.retain(|(share, _)| *share >= SIMILAR);
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.id.cmp(&a.1.id)));
    Ok(found.into_iter().take(MAX_SIMILAR).map(|(_, bug)| bug).collect())
}
