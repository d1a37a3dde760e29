//! Sessions: an agent's goal, tasks, findings, progress and conversation. A session is created the first time its name
//! is used.

pub mod bugs;
pub mod elsewhere;
pub mod erase;
mod error;
pub mod findings;
pub mod learning;
pub mod page_models;
pub mod patterns;
pub mod progress;
pub mod prompt;
pub mod records;
pub mod report;
pub mod results;
pub mod summary;
pub mod tasks;
pub mod tested;
mod touched;
pub mod transfer;

use std::path::PathBuf;

use afd_proto::session::{SessionInfo, SessionStatus};
use afd_proto::vocabulary::RecordScope;
use rusqlite::{Connection, Row};

pub use error::SessionError;
use touched::touch;

use afd_store::{
    Conditions, Page, Result, Sql as _, args, elsewhere, new_uid, now_ms, parse_list, read, to_json, word,
};

/// Returns the row id of a session. Creates the session if necessary.
pub fn row_id(connection: &Connection, origin: &str, name: &str) -> Result<i64> {
    let now = now_ms();
    connection.one(
        "INSERT INTO sessions (uid, origin, name, created_at, updated_at) VALUES (:uid, :origin, :name, :now, :now)
             ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id",
        args! {uid: new_uid(), origin, name, now},
        |row| row.get("id"),
    )
}

/// Returns the row id of a session, or `None` if there is none. Creates nothing.
pub fn find(connection: &Connection, name: &str) -> Result<Option<i64>> {
    connection.first("SELECT id FROM sessions WHERE name = :name", args! {name}, |row| row.get("id"))
}

/// Returns the row ids of the sessions that ended before `before` (Unix milliseconds), and of active sessions without a
/// message or record since that time. Each row id comes with a flag that says whether the session has ended.
pub fn idle_since(connection: &Connection, before: i64) -> Result<Vec<(i64, bool)>> {
    connection.all(
        "SELECT id, ended_at IS NOT NULL AS ended FROM sessions s WHERE deleted_at IS NULL AND CASE WHEN ended_at IS NULL
            THEN updated_at < :before AND NOT EXISTS (SELECT 1 FROM conversations c WHERE c.session_id = s.id AND c.updated_at >= :before)
            ELSE ended_at < :before END",
        args! {before},
        |row| Ok((row.get("id")?, row.get("ended")?)),
    )
}

/// Returns whether this database has a deleted session with this uid.
pub fn is_deleted(connection: &Connection, uid: &str) -> Result<bool> {
    connection.one(
        "SELECT EXISTS (SELECT 1 FROM sessions WHERE uid = :uid AND deleted_at IS NOT NULL) AS deleted",
        args! {uid},
        |row| row.get("deleted"),
    )
}

/// Returns the uid of a session by its row id, even if the session was deleted.
pub fn uid_of(connection: &Connection, id: i64) -> Result<String> {
    connection.one("SELECT uid FROM sessions WHERE id = :id", args! {id}, |row| row.get("uid"))
}

/// A row of the `sessions` table.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Row id of the session.
    pub id: i64,
    /// Id that is the same in every copy of this memory.
    pub uid: String,
    /// Uid of the memory that the session was imported from; `None` if it was created in this memory.
    pub origin: Option<String>,
    /// Unique name of the session.
    pub name: String,
    /// Goal, as stated by the caller.
    pub goal: Option<String>,
    /// Package of the app under test.
    pub app: Option<String>,
    /// Visibility of the session's digest, and default visibility of its records.
    pub scope: RecordScope,
    /// Working directory of the agent.
    pub directory: Option<PathBuf>,
    /// Directory where progress files are written on every change; `None` disables this.
    pub progress_dir: Option<PathBuf>,
    /// Next steps, as stated by the caller.
    pub next_steps: Vec<String>,
    /// Blockers, as stated by the caller.
    pub blockers: Vec<String>,
    /// Summary written when the session ended.
    pub summary: Option<String>,
    /// Time when the session was first used, in Unix milliseconds.
    pub created_at: i64,
    /// Time when the session was explicitly started, in Unix milliseconds; `None` if it never was.
    pub started_at: Option<i64>,
    /// Time when the session ended, in Unix milliseconds; `None` while it is active.
    pub ended_at: Option<i64>,
    /// Time of the last change to the session or its findings, in Unix milliseconds.
    pub updated_at: i64,
}

impl Session {
    /// Returns the status: active or ended.
    pub fn status(&self) -> SessionStatus {
        if self.ended_at.is_some() { SessionStatus::Ended } else { SessionStatus::Active }
    }

    /// Returns the time when the session was explicitly started or, if it never was, first used, in Unix milliseconds.
    pub fn began(&self) -> i64 {
        self.started_at.unwrap_or(self.created_at)
    }
}

const COLUMNS: &str = concat!(
    "id, uid, name, goal, app, scope, directory, progress_dir, next_steps, blockers, summary, created_at, started_at, ended_at, updated_at, ",
    elsewhere!("sessions")
);

fn read(row: &Row<'_>) -> rusqlite::Result<Session> {
    let path = |name: &str| Ok::<_, rusqlite::Error>(row.get::<_, Option<String>>(name)?.map(PathBuf::from));
    Ok(read!(row => Session {
        id, uid, name, goal, app, summary, created_at, started_at, ended_at, updated_at,
        origin: row.get("elsewhere")?,
        scope: word(row, "scope")?,
        directory: path("directory")?,
        progress_dir: path("progress_dir")?,
        next_steps: parse_list(&row.get::<_, String>("next_steps")?),
        blockers: parse_list(&row.get::<_, String>("blockers")?),
    }))
}

/// Returns a session by its name, or `None` if it is missing or deleted.
pub fn by_name(connection: &Connection, name: &str) -> Result<Option<Session>> {
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE name = :name AND deleted_at IS NULL");
    connection.first(&sql, args! {name}, read)
}

/// Returns the name of a session by its row id, even if the session was deleted.
pub fn name_of(connection: &Connection, id: i64) -> Result<Option<String>> {
    connection.first("SELECT name FROM sessions WHERE id = :id", args! {id}, |row| row.get("name"))
}

/// Returns a session by its uid, or `None` if it is missing or deleted.
pub fn by_uid(connection: &Connection, uid: &str) -> Result<Option<Session>> {
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE uid = :uid AND deleted_at IS NULL");
    connection.first(&sql, args! {uid}, read)
}

/// Returns a session's app package, given the session's row id.
pub fn app_of(connection: &Connection, session: i64) -> Result<Option<String>> {
    Ok(connection
        .first("SELECT app FROM sessions WHERE id = :id", args! {id: session}, |row| row.get("app"))?
        .flatten())
}

/// Returns the default visibility of a session's records, given the session's row id.
pub fn scope_of(connection: &Connection, session: i64) -> Result<RecordScope> {
    Ok(connection
        .first("SELECT scope FROM sessions WHERE id = :id", args! {id: session}, |row| word(row, "scope"))?
        .unwrap_or_default())
}

/// Writes a session's mutable columns.
pub fn update(connection: &Connection, session: &Session) -> Result<()> {
    let text = |path: &Option<PathBuf>| path.as_ref().map(|p| p.display().to_string());
    // A new goal comes from this store, so the session no longer counts as imported from another memory.
    connection.run(
        "UPDATE sessions SET origin = CASE WHEN goal IS :goal THEN origin ELSE coalesce((SELECT origin FROM store), origin) END,
            name = :name, goal = :goal, app = :app, scope = :scope, directory = :directory, progress_dir = :progress_dir,
            next_steps = :next_steps, blockers = :blockers, summary = :summary, started_at = :started_at, ended_at = :ended_at,
            updated_at = :updated_at WHERE id = :id",
        args! {
            id: session.id, name: session.name, goal: session.goal, app: session.app, scope: session.scope.word(),
            directory: text(&session.directory), progress_dir: text(&session.progress_dir),
            next_steps: to_json(&session.next_steps), blockers: to_json(&session.blockers), summary: session.summary,
            started_at: session.started_at, ended_at: session.ended_at, updated_at: now_ms()
        },
    )?;
    Ok(())
}

/// Returns up to ten sessions of an app, other than `session`, whose digests are not private, most recently changed
/// first.
pub fn before(connection: &Connection, session: &Session, app: &str) -> Result<Vec<Session>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM sessions WHERE app = :app AND id <> :id AND scope <> 'session' AND deleted_at IS NULL
         ORDER BY updated_at DESC, id DESC LIMIT 10"
    );
    connection.all(&sql, args! {app, id: session.id}, read)
}

/// Conditions that listed sessions must meet.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Status of the sessions; `None` for any status.
    pub status: Option<SessionStatus>,
    /// Package of the app under test; `None` for any app.
    pub app: Option<String>,
    /// Requested page of the list.
    pub page: Page,
}

/// Returns a page of matching sessions, newest first, and the cursor for the next page.
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

/// Returns a session with its counts. `last_activity` is the time of its last recorded device activity, in Unix
/// milliseconds.
pub fn info(connection: &Connection, session: &Session, last_activity: Option<i64>) -> Result<SessionInfo> {
    Ok(SessionInfo {
        session: session.name.clone(),
        uid: session.uid.clone(),
        origin: session.origin.clone(),
        status: session.status(),
        goal: session.goal.clone(),
        app: session.app.clone(),
        scope: session.scope.narrowed(),
        directory: session.directory.as_ref().map(|d| d.display().to_string()),
        started_at: session.began(),
        ended_at: session.ended_at,
        last_activity_at: session.updated_at.max(last_activity.unwrap_or(0)),
        auto_progress: session.progress_dir.is_some(),
        tasks: tasks::counts(connection, session.id)?,
        bugs: bugs::counts(connection, &bugs::Filter::of(session.id))?,
        results: results::counts(connection, &results::Filter::of(session.id))?,
    })
}

/// Runs `work` if the session is active; a session that has ended is left unchanged.
///
/// # Errors
/// [`SessionError::Ended`] if the session has ended, [`SessionError::Deleted`] if it was deleted, otherwise the error
/// that `work` returns.
pub fn while_active<T, E>(
    connection: &Connection,
    session: i64,
    work: impl FnOnce(&Connection) -> std::result::Result<T, E>,
) -> Result<T, SessionError>
where
    SessionError: From<E>,
{
    check_present(connection, session)?;
    let ended: bool = connection.one(
        "SELECT ended_at IS NOT NULL AS ended FROM sessions WHERE id = :id",
        args! {id: session},
        |row| row.get("ended"),
    )?;
    if ended {
        return Err(SessionError::Ended);
    }
    Ok(work(connection)?)
}

/// Checks that a session still exists, given its row id.
///
/// # Errors
/// [`SessionError::Deleted`] if the session was deleted.
pub fn check_present(connection: &Connection, session: i64) -> std::result::Result<(), SessionError> {
    let deleted: bool = connection.one(
        "SELECT deleted_at IS NOT NULL AS deleted FROM sessions WHERE id = :id",
        args! {id: session},
        |row| row.get("deleted"),
    )?;
    if deleted { Err(SessionError::Deleted) } else { Ok(()) }
}
