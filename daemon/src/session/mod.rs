//! Sessions: who works on what, how far it is, what was found, and what was said. They appear by use.

pub mod bugs;
mod columns;
pub mod conversation;
mod error;
pub mod findings;
pub mod page_models;
pub mod patterns;
pub mod progress;
pub mod prompt;
pub mod report;
pub mod results;
pub mod summary;
pub mod tasks;
pub mod tested;

use std::path::PathBuf;

use afd_proto::session::{SessionInfo, SessionStatus};
use rusqlite::{Connection, OptionalExtension, Row, named_params};

pub use columns::json;
use columns::{list_of, touch};
pub use error::SessionError;

use crate::store::{Conditions, Page, Result, new_uid, now_ms};

/// The row of a session; made when it is first used.
///
/// # Errors
/// What SQLite says.
pub fn row_id(connection: &Connection, origin: &str, name: &str) -> Result<i64> {
    let now = now_ms();
    Ok(connection
        .prepare_cached(
            "INSERT INTO sessions (uid, origin, name, created_at, updated_at) VALUES (:uid, :origin, :name, :now, :now)
             ON CONFLICT (name) DO UPDATE SET deleted_at = NULL RETURNING id",
        )?
        .query_row(named_params! {":uid": new_uid(), ":origin": origin, ":name": name, ":now": now}, |row| row.get("id"))?)
}

/// The row of a session that is known, without making one.
///
/// # Errors
/// What SQLite says.
pub fn find(connection: &Connection, name: &str) -> Result<Option<i64>> {
    Ok(connection
        .prepare_cached("SELECT id FROM sessions WHERE name = :name")?
        .query_row(named_params! {":name": name}, |row| row.get("id"))
        .optional()?)
}

/// What is kept of a session itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Row.
    pub id: i64,
    /// Names it in every copy of this memory.
    pub uid: String,
    /// Its name.
    pub name: String,
    /// What is to be reached.
    pub goal: Option<String>,
    /// Package.
    pub app: Option<String>,
    /// Working directory.
    pub directory: Option<PathBuf>,
    /// Where progress files go on every change.
    pub progress_dir: Option<PathBuf>,
    /// What is to be done next, as it was said.
    pub next_steps: Vec<String>,
    /// What stands in the way, as it was said.
    pub blockers: Vec<String>,
    /// The summary that was written when it ended.
    pub summary: Option<String>,
    /// When it was first used, UTC milliseconds.
    pub created_at: i64,
    /// When it was started, if it was; UTC milliseconds.
    pub started_at: Option<i64>,
    /// When it was ended, UTC milliseconds.
    pub ended_at: Option<i64>,
    /// When its row was changed, UTC milliseconds.
    pub updated_at: i64,
}

impl Session {
    /// Whether it goes on.
    pub fn status(&self) -> SessionStatus {
        if self.ended_at.is_some() { SessionStatus::Ended } else { SessionStatus::Active }
    }

    /// When it began, UTC milliseconds.
    pub fn began(&self) -> i64 {
        self.started_at.unwrap_or(self.created_at)
    }
}

const COLUMNS: &str = "id, uid, name, goal, app, directory, progress_dir, next_steps, blockers, summary, created_at, started_at, ended_at,
    updated_at";

fn read(row: &Row<'_>) -> rusqlite::Result<Session> {
    let path = |name: &str| Ok::<_, rusqlite::Error>(row.get::<_, Option<String>>(name)?.map(PathBuf::from));
    Ok(Session {
        id: row.get("id")?,
        uid: row.get("uid")?,
        name: row.get("name")?,
        goal: row.get("goal")?,
        app: row.get("app")?,
        directory: path("directory")?,
        progress_dir: path("progress_dir")?,
        next_steps: list_of(&row.get::<_, String>("next_steps")?),
        blockers: list_of(&row.get::<_, String>("blockers")?),
        summary: row.get("summary")?,
        created_at: row.get("created_at")?,
        started_at: row.get("started_at")?,
        ended_at: row.get("ended_at")?,
        updated_at: row.get("updated_at")?,
    })
}

/// A session by its name.
///
/// # Errors
/// What SQLite says.
pub fn by_name(connection: &Connection, name: &str) -> Result<Option<Session>> {
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE name = :name AND deleted_at IS NULL");
    Ok(connection.prepare_cached(&sql)?.query_row(named_params! {":name": name}, read).optional()?)
}

/// The package that a session is about, by its row.
///
/// # Errors
/// What SQLite says.
pub fn app_of(connection: &Connection, session: i64) -> Result<Option<String>> {
    Ok(connection
        .prepare_cached("SELECT app FROM sessions WHERE id = :id")?
        .query_row(named_params! {":id": session}, |row| row.get("app"))
        .optional()?
        .flatten())
}

/// Writes what may change of a session.
///
/// # Errors
/// What SQLite says.
pub fn update(connection: &Connection, session: &Session) -> Result<()> {
    let text = |path: &Option<PathBuf>| path.as_ref().map(|p| p.display().to_string());
    connection
        .prepare_cached(
            "UPDATE sessions SET goal = :goal, app = :app, directory = :directory, progress_dir = :progress_dir, next_steps = :next_steps,
                blockers = :blockers, summary = :summary,
                started_at = :started_at, ended_at = :ended_at, updated_at = :updated_at WHERE id = :id",
        )?
        .execute(named_params! {
            ":id": session.id,
            ":goal": session.goal,
            ":app": session.app,
            ":directory": text(&session.directory),
            ":progress_dir": text(&session.progress_dir),
            ":next_steps": json(&session.next_steps),
            ":blockers": json(&session.blockers),
            ":summary": session.summary,
            ":started_at": session.started_at,
            ":ended_at": session.ended_at,
            ":updated_at": now_ms(),
        })?;
    Ok(())
}

/// Which sessions.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only those that do or do not go on.
    pub status: Option<SessionStatus>,
    /// Only those about this package.
    pub app: Option<String>,
    /// The page of them.
    pub page: Page,
}

/// A page of sessions, newest first, and the cursor of the next one.
///
/// # Errors
/// What SQLite says.
pub fn list(connection: &Connection, filter: &Filter) -> Result<(Vec<Session>, Option<i64>)> {
    let wanted = Conditions::new("deleted_at IS NULL")
        .given("(ended_at IS NULL) = :active", ":active", filter.status.map(|s| s == SessionStatus::Active))
        .given("app = :app", ":app", filter.app.clone())
        .given("id < :before", ":before", filter.page.cursor)
        .value(":limit", filter.page.reads());
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE {} ORDER BY id DESC LIMIT :limit", wanted.sql());
    let mut statement = connection.prepare_cached(&sql)?;
    let mut found: Vec<Session> = statement.query_map(&*wanted.values(), read)?.collect::<rusqlite::Result<_>>()?;
    let next = filter.page.cut(&mut found, |session| session.id);
    Ok((found, next))
}

/// A session with its counts; `last_activity` is when something was recorded under it on a device.
///
/// # Errors
/// What SQLite says.
pub fn info(connection: &Connection, session: &Session, last_activity: Option<i64>) -> Result<SessionInfo> {
    Ok(SessionInfo {
        session: session.name.clone(),
        uid: session.uid.clone(),
        status: session.status(),
        goal: session.goal.clone(),
        app: session.app.clone(),
        directory: session.directory.as_ref().map(|d| d.display().to_string()),
        started_at: session.began(),
        ended_at: session.ended_at,
        last_activity_at: session.updated_at.max(last_activity.unwrap_or(0)),
        auto_progress: session.progress_dir.is_some(),
        tasks: tasks::counts(connection, session.id)?,
        bugs: bugs::counts(connection, &bugs::Filter { session: Some(session.id), ..bugs::Filter::default() })?,
        results: results::counts(connection, &results::Filter { session: Some(session.id), ..results::Filter::default() })?,
    })
}

/// Does something with a session that goes on; one that has ended stays as it is.
///
/// # Errors
/// [`SessionError::Conflict`] when it has ended, else what the work returned.
pub fn while_active<T, E>(
    connection: &Connection,
    session: i64,
    work: impl FnOnce(&Connection) -> std::result::Result<T, E>,
) -> Result<T, SessionError>
where
    SessionError: From<E>,
{
    let ended: bool = connection
        .prepare_cached("SELECT ended_at IS NOT NULL AS ended FROM sessions WHERE id = :id")?
        .query_row(named_params! {":id": session}, |row| row.get("ended"))?;
    if ended {
        return Err(SessionError::Ended);
    }
    Ok(work(connection)?)
}
