//! Bugs that sessions found (seed 002, "Bug Reports").

use std::collections::HashSet;

use afd_proto::findings::{Bug, BugCounts, BugStatus, Severity};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, named_params, params_from_iter};

use super::{json, list_of};
use crate::store::{Result, new_uid, now_ms};
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
    /// Package.
    pub app: Option<String>,
    /// Page key, activity or URL.
    pub page: Option<String>,
    /// State.
    pub state: Option<String>,
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
    /// Only rows before this one.
    pub before: Option<i64>,
}

const COLUMNS: &str = "b.id, b.uid, s.name, b.title, b.severity, b.description, b.steps, b.expected, b.actual, b.app, b.page, b.state,
    b.screenshot, b.task_uid, b.status, b.resolution, b.created_at, b.resolved_at";

fn read(row: &Row<'_>) -> rusqlite::Result<Bug> {
    let word = |name: &str| row.get::<_, String>(name);
    Ok(Bug {
        id: row.get("id")?,
        uid: row.get("uid")?,
        session: row.get("name")?,
        title: row.get("title")?,
        severity: Severity::of(&word("severity")?).unwrap_or(Severity::Medium),
        description: row.get("description")?,
        steps: list_of(&word("steps")?),
        expected: row.get("expected")?,
        actual: row.get("actual")?,
        app: row.get("app")?,
        page: row.get("page")?,
        state: row.get("state")?,
        screenshot: row.get("screenshot")?,
        task: row.get("task_uid")?,
        status: BugStatus::of(&word("status")?).unwrap_or(BugStatus::Open),
        resolution: row.get("resolution")?,
        created_at: row.get("created_at")?,
        resolved_at: row.get("resolved_at")?,
    })
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
                ":app": new.app,
                ":page": new.page,
                ":state": new.state,
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
    let sql = format!("SELECT {COLUMNS} FROM bugs b JOIN sessions s ON s.id = b.session_id WHERE b.id = :id AND b.deleted_at IS NULL");
    Ok(connection.prepare_cached(&sql)?.query_row(named_params! {":id": id}, read).optional()?)
}

fn conditions(filter: &Filter) -> (String, Vec<Value>) {
    let (mut sql, mut values) = (String::from("b.deleted_at IS NULL"), Vec::new());
    let mut both = |condition: &str, value: Option<Value>| {
        if let Some(value) = value {
            sql.push_str(condition);
            values.push(value);
        }
    };
    both(" AND b.session_id = ?", filter.session.map(Value::from));
    both(" AND b.severity = ?", filter.severity.map(|s| Value::from(s.word().to_owned())));
    both(" AND b.status = ?", filter.status.map(|s| Value::from(s.word().to_owned())));
    both(" AND b.app = ?", filter.app.clone().map(Value::from));
    both(" AND instr(b.page, ?) > 0", filter.page.clone().map(Value::from));
    (sql, values)
}

/// Bugs, newest first.
///
/// # Errors
/// What SQLite says.
pub fn list(connection: &Connection, filter: &Filter, limit: usize) -> Result<Vec<Bug>> {
    let (mut sql, mut values) = conditions(filter);
    if let Some(before) = filter.before {
        sql.push_str(" AND b.id < ?");
        values.push(Value::from(before));
    }
    values.push(Value::from(i64::try_from(limit).unwrap_or(i64::MAX)));
    let sql = format!("SELECT {COLUMNS} FROM bugs b JOIN sessions s ON s.id = b.session_id WHERE {sql} ORDER BY b.id DESC LIMIT ?");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map(params_from_iter(values), read)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// The worst ones, first found first.
///
/// # Errors
/// What SQLite says.
pub fn worst(connection: &Connection, filter: &Filter, limit: usize) -> Result<Vec<Bug>> {
    let (sql, mut values) = conditions(filter);
    values.push(Value::from(i64::try_from(limit).unwrap_or(i64::MAX)));
    let sql = format!(
        "SELECT {COLUMNS} FROM bugs b JOIN sessions s ON s.id = b.session_id WHERE {sql}
         ORDER BY CASE b.severity WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END, b.id LIMIT ?"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map(params_from_iter(values), read)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// How many there are, by severity and status.
///
/// # Errors
/// What SQLite says.
pub fn counts(connection: &Connection, filter: &Filter) -> Result<BugCounts> {
    let (sql, values) = conditions(filter);
    let sql = format!("SELECT b.severity, b.status, count(*) AS count FROM bugs b WHERE {sql} GROUP BY 1, 2");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(values), |row| {
        Ok((row.get::<_, String>("severity")?, row.get::<_, String>("status")?, row.get::<_, i64>("count")?))
    })?;
    let mut counts = BugCounts::default();
    for row in rows {
        let (severity, status, n) = row?;
        counts.total += n;
        match Severity::of(&severity) {
            Some(Severity::Critical) => counts.critical += n,
            Some(Severity::High) => counts.high += n,
            Some(Severity::Medium) => counts.medium += n,
            Some(Severity::Low) => counts.low += n,
            None => {}
        }
        match BugStatus::of(&status) {
            Some(BugStatus::Open) => counts.open += n,
            Some(BugStatus::Resolved) => counts.resolved += n,
            None => {}
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
    let mut found: Vec<(f64, Bug)> = list(connection, &filter, COMPARED)?.into_iter().map(|bug| (share(&bug), bug)).collect();
    found.retain(|(share, _)| *share >= SIMILAR);
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.id.cmp(&a.1.id)));
    Ok(found.into_iter().take(MAX_SIMILAR).map(|(_, bug)| bug).collect())
}
