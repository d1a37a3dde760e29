//! Bugs reported in sessions.

use std::collections::HashSet;

use afd_proto::findings::{Bug, BugCounts, BugStatus, Severity};
use afd_proto::vocabulary::RecordScope;
use rusqlite::{Connection, Row};

use super::findings::{self, Finding, Place};
use afd_base::text;
use afd_store::{
    Conditions, Page, Reader, Result, Sql as _, args, elsewhere, new_uid, now_ms, parse_list, read, to_json, word,
};

/// Minimum word overlap (Jaccard index) between two titles at which their bugs count as similar.
const MIN_SIMILARITY: f64 = 0.5;
/// Maximum number of similar bugs that are returned.
const MAX_SIMILAR: usize = 5;
/// Maximum number of open bugs that a new title is compared with.
const MAX_COMPARED: usize = 500;

/// A bug to record.
#[derive(Debug, Clone, Default)]
pub struct New {
    /// Uid of the task during which the bug was found.
    pub task: Option<String>,
    /// One-line title of the bug.
    pub title: String,
    /// Severity; `medium` if none is given.
    pub severity: Option<Severity>,
    /// Free-text description of the bug.
    pub description: Option<String>,
    /// Steps that reproduce the bug.
    pub steps: Vec<String>,
    /// Behaviour that was expected of the app.
    pub expected: Option<String>,
    /// Behaviour that was observed instead.
    pub actual: Option<String>,
    /// App, page and state where the bug was found.
    pub place: Place,
    /// Uid of the screenshot artifact that shows the bug.
    pub screenshot: Option<String>,
    /// Whether it is recorded as already resolved.
    pub resolved: bool,
    /// Visibility of the bug.
    pub scope: RecordScope,
}

/// Conditions that listed bugs must meet; `None` means no condition.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Row id of the session that reported the bugs.
    pub session: Option<i64>,
    /// Reader of the list. Only [`Reader::Keeper`] can see the private bugs of other sessions.
    pub reader: Reader,
    /// Severity of the bugs.
    pub severity: Option<Severity>,
    /// Status of the bugs.
    pub status: Option<BugStatus>,
    /// Package of the app in which the bugs were found.
    pub app: Option<String>,
    /// Substring of the page on which the bugs were found.
    pub page: Option<String>,
}

impl Filter {
    /// Returns a filter for the bugs reported in a session.
    pub fn of(session: i64) -> Self {
        Self { session: Some(session), reader: Reader::Session(session), ..Self::default() }
    }
}

impl Finding for Bug {
    const TABLE: &'static str = "bugs";
    const COLUMNS: &'static str = concat!(
        "f.id, f.uid, s.name, f.title, f.severity, f.description, f.steps, f.expected, f.actual, f.app, f.page,
        f.state, f.scope, f.screenshot, f.task_uid, f.status, f.resolution, f.created_at, f.resolved_at, ",
        elsewhere!("f")
    );

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(read!(row => Bug {
            id, uid, title, description, expected, actual, app, page, state, screenshot, resolution, created_at,
            resolved_at,
            origin: row.get("elsewhere")?,
            session: row.get("name")?,
            scope: word::<RecordScope>(row, "scope")?.narrowed(),
            severity: word(row, "severity")?,
            steps: parse_list(&row.get::<_, String>("steps")?),
            task: row.get("task_uid")?,
            status: word(row, "status")?,
        }))
    }
}

/// Inserts a bug and returns it.
pub fn add(connection: &Connection, origin: &str, session: i64, new: &New) -> Result<Bug> {
    let now = now_ms();
    let status = if new.resolved { BugStatus::Resolved } else { BugStatus::Open };
    let id = connection.one(
        "INSERT INTO bugs (uid, origin, session_id, task_uid, title, severity, description, steps, expected, actual, app, page, state,
                scope, screenshot, status, created_at, updated_at, resolved_at)
             VALUES (:uid, :origin, :session_id, :task_uid, :title, :severity, :description, :steps, :expected, :actual, :app, :page,
             :state, :scope, :screenshot, :status, :now, :now, :resolved_at) RETURNING id",
        args! {
            uid: new_uid(), origin, session_id: session, task_uid: new.task, title: new.title,
            severity: new.severity.unwrap_or(Severity::Medium).word(), description: new.description,
            steps: to_json(&new.steps), expected: new.expected, actual: new.actual, app: new.place.app,
            page: new.place.page, state: new.place.state, scope: new.scope.word(), screenshot: new.screenshot,
            status: status.word(), now, resolved_at: new.resolved.then_some(now)
        },
        |row| row.get("id"),
    )?;
    super::touched::touch(connection, session)?;
    Ok(get(connection, id)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?)
}

/// Returns a bug by its row id.
pub fn get(connection: &Connection, id: i64) -> Result<Option<Bug>> {
    findings::get(connection, id)
}

fn conditions(filter: &Filter) -> Conditions {
    Conditions::new("f.deleted_at IS NULL")
        .told("f", filter.reader)
        .given("f.session_id = :session", ":session", filter.session)
        .given("f.severity = :severity", ":severity", filter.severity.map(|s| s.word().to_owned()))
        .given("f.status = :status", ":status", filter.status.map(|s| s.word().to_owned()))
        .given("f.app = :app", ":app", filter.app.clone())
        .given("instr(f.page, :page) > 0", ":page", filter.page.clone())
}

/// Returns a page of matching bugs, newest first, and the cursor for the next page.
pub fn list(connection: &Connection, filter: &Filter, page: Page) -> Result<(Vec<Bug>, Option<i64>)> {
    let wanted = conditions(filter).given("f.id < :before", ":before", page.cursor);
    let mut bugs: Vec<Bug> = findings::select(connection, wanted, "f.id DESC", page.reads())?;
    let next = page.cut(&mut bugs, |bug| bug.id);
    Ok((bugs, next))
}

/// Returns up to `limit` matching bugs, most severe first, then oldest first.
pub fn worst(connection: &Connection, filter: &Filter, limit: usize) -> Result<Vec<Bug>> {
    const WORST: &str =
        "CASE f.severity WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END, f.id";
    findings::select(connection, conditions(filter), WORST, i64::try_from(limit).unwrap_or(i64::MAX))
}

/// Counts the matching bugs by severity and status.
pub fn counts(connection: &Connection, filter: &Filter) -> Result<BugCounts> {
    let wanted = conditions(filter);
    let sql =
        format!("SELECT f.severity, f.status, count(*) AS count FROM bugs f WHERE {} GROUP BY 1, 2", wanted.sql());
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(&*wanted.values(), |row| {
        Ok((word(row, "severity")?, word(row, "status")?, row.get::<_, i64>("count")?))
    })?;
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

/// Marks a bug as resolved for the given reason and returns it, or `None` if there is no such bug.
pub fn resolve(connection: &Connection, id: i64, reason: &str) -> Result<Option<Bug>> {
    let now = now_ms();
    connection.run(
        "UPDATE bugs SET status = 'resolved', resolution = :resolution, resolved_at = :now, updated_at = :now WHERE id = :id",
        args! {id, resolution: reason, now},
    )?;
    touch_session_of(connection, id)?;
    get(connection, id)
}

/// Marks a resolved bug as open and returns it, or `None` if there is no such bug.
pub fn reopen(connection: &Connection, id: i64) -> Result<Option<Bug>> {
    let now = now_ms();
    connection.run(
        "UPDATE bugs SET status = 'open', resolution = NULL, resolved_at = NULL, updated_at = :now WHERE id = :id",
        args! {id, now},
    )?;
    touch_session_of(connection, id)?;
    get(connection, id)
}

/// Writes a bug's mutable columns. Returns the bug, or `None` if there is no such bug.
pub fn change(connection: &Connection, bug: &Bug) -> Result<Option<Bug>> {
    connection.run(
        "UPDATE bugs SET title = :title, severity = :severity, description = :description, steps = :steps, expected = :expected,
                actual = :actual, app = :app, page = :page, state = :state, scope = :scope, screenshot = :screenshot,
                updated_at = :now WHERE id = :id",
        args! {
            id: bug.id, title: bug.title, severity: bug.severity.word(), description: bug.description,
            steps: to_json(&bug.steps), expected: bug.expected, actual: bug.actual, app: bug.app, page: bug.page,
            state: bug.state, scope: bug.scope.unwrap_or_default().word(), screenshot: bug.screenshot, now: now_ms()
        },
    )?;
    touch_session_of(connection, bug.id)?;
    get(connection, bug.id)
}

/// Sets the modification time of the session that reported a bug to now.
fn touch_session_of(connection: &Connection, id: i64) -> Result<()> {
    connection.run(
        "UPDATE sessions SET updated_at = :updated_at WHERE id = (SELECT session_id FROM bugs WHERE id = :id)",
        args! {id, updated_at: now_ms()},
    )?;
    Ok(())
}

/// Sorts bugs: open before resolved, then most severe first, then oldest first.
pub fn sort_by_severity(bugs: &mut [Bug]) {
    let rank = |severity: Severity| Severity::ALL.iter().position(|s| *s == severity);
    bugs.sort_by_key(|b| (b.status == BugStatus::Resolved, rank(b.severity), b.id));
}

/// Returns up to `MAX_SIMILAR` open bugs with titles similar to `title` that `reader` can see, most similar first.
/// `app` limits the bugs to one app.
pub fn similar(connection: &Connection, title: &str, app: Option<&str>, reader: Reader) -> Result<Vec<Bug>> {
    let filter = Filter { status: Some(BugStatus::Open), app: app.map(str::to_owned), reader, ..Filter::default() };
    let words = |text: &str| text::words(text).into_iter().collect::<HashSet<String>>();
    let own = words(title);
    let mut found = Vec::new();
    for (id, other) in titles(connection, &filter, MAX_COMPARED)? {
        let other = words(&other);
        let (both, all) = (own.intersection(&other).count(), own.union(&other).count());
        let share = both as f64 / all.max(1) as f64;
        if share >= MIN_SIMILARITY {
            found.push((share, id));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    let nearest = found.into_iter().take(MAX_SIMILAR).map(|(_, id)| get(connection, id));
    nearest.filter_map(Result::transpose).collect()
}

/// Returns the row ids and titles of up to `limit` matching bugs, newest first.
fn titles(connection: &Connection, filter: &Filter, limit: usize) -> Result<Vec<(i64, String)>> {
    let wanted = conditions(filter);
    let sql = format!("SELECT f.id, f.title FROM bugs f WHERE {} ORDER BY f.id DESC LIMIT {limit}", wanted.sql());
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(&*wanted.values(), |row| Ok((row.get("id")?, row.get("title")?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
