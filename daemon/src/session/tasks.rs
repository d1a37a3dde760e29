//! Tasks: a queue, the one that is worked on, those that are done (seed 002, "Task tracking").

use afd_proto::tasks::{Finish, Task, TaskCounts, TaskStatus};
use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::{SessionError, json, list_of};
use crate::store::{Result, new_uid, now_ms, word};

/// What may be done with a task, or why not.
pub type Outcome<T> = Result<T, SessionError>;

const SELECT: &str = "SELECT t.id, t.uid, s.name, t.description, t.status, t.priority, t.blocked_by, t.progress, t.summary, t.created_at,
        t.started_at, t.finished_at
     FROM tasks t JOIN sessions s ON s.id = t.session_id";

/// A task, with the uids of all tasks that were to come before it.
fn read(row: &Row<'_>) -> rusqlite::Result<(Task, Vec<String>)> {
    let task = Task {
        id: row.get("id")?,
        uid: row.get("uid")?,
        session: row.get("name")?,
        description: row.get("description")?,
        status: word(row, "status")?,
        priority: row.get("priority")?,
        blocked_by: Vec::new(),
        progress: row.get("progress")?,
        summary: row.get("summary")?,
        created_at: row.get("created_at")?,
        started_at: row.get("started_at")?,
        finished_at: row.get("finished_at")?,
    };
    Ok((task, list_of(&row.get::<_, String>("blocked_by")?)))
}

/// Leaves of what was to come first what is not done: a task that failed still stands in the way.
fn with_blockers(connection: &Connection, (mut task, before): (Task, Vec<String>)) -> Result<Task> {
    if !matches!(task.status, TaskStatus::Pending) {
        return Ok(task);
    }
    let mut open = connection
        .prepare_cached("SELECT id FROM tasks WHERE uid = :uid AND deleted_at IS NULL AND status NOT IN ('passed', 'skipped')")?;
    for uid in before {
        if let Some(id) = open.query_row(named_params! {":uid": uid}, |row| row.get("id")).optional()? {
            task.blocked_by.push(id);
        }
    }
    Ok(task)
}

/// A task of a session by its number.
///
/// # Errors
/// What SQLite says.
pub fn get(connection: &Connection, session: i64, id: i64) -> Result<Option<Task>> {
    let sql = format!("{SELECT} WHERE t.session_id = :session_id AND t.id = :id AND t.deleted_at IS NULL");
    let found = connection.prepare_cached(&sql)?.query_row(named_params! {":session_id": session, ":id": id}, read).optional()?;
    found.map(|found| with_blockers(connection, found)).transpose()
}

/// The task that is worked on.
///
/// # Errors
/// What SQLite says.
pub fn current(connection: &Connection, session: i64) -> Result<Option<Task>> {
    let sql = format!("{SELECT} WHERE t.session_id = :session_id AND t.status = 'active' AND t.deleted_at IS NULL");
    Ok(connection.prepare_cached(&sql)?.query_row(named_params! {":session_id": session}, read).optional()?.map(|(task, _)| task))
}

fn no_task(id: i64) -> SessionError {
    SessionError::Missing(format!("the session has no task {id}"))
}

/// Queues a task.
///
/// # Errors
/// What SQLite says.
pub fn add(connection: &Connection, origin: &str, session: i64, description: &str, priority: i64, blocked_by: &[i64]) -> Outcome<Task> {
    let mut before = Vec::new();
    for id in blocked_by {
        match get(connection, session, *id)? {
            Some(task) => before.push(task.uid),
            None => return Err(no_task(*id)),
        }
    }
    let new = New { description, priority, before: &before, status: TaskStatus::Pending, ..New::default() };
    Ok(insert(connection, origin, session, &new)?)
}

/// A task to be written as it was elsewhere.
#[derive(Debug, Clone, Copy)]
pub struct New<'a> {
    /// Its uid, if it has one.
    pub uid: Option<&'a str>,
    /// What is to be done.
    pub description: &'a str,
    /// Higher ones come first.
    pub priority: i64,
    /// Uids of those that come before.
    pub before: &'a [String],
    /// Where it stands.
    pub status: TaskStatus,
    /// How far it is.
    pub progress: Option<&'a str>,
    /// What came of it.
    pub summary: Option<&'a str>,
    /// When it was begun, UTC milliseconds.
    pub started_at: Option<i64>,
    /// When it was done, UTC milliseconds.
    pub finished_at: Option<i64>,
}

impl Default for New<'_> {
    fn default() -> Self {
        Self {
            uid: None,
            description: "",
            priority: 0,
            before: &[],
            status: TaskStatus::Pending,
            progress: None,
            summary: None,
            started_at: None,
            finished_at: None,
        }
    }
}

/// Writes a task.
///
/// # Errors
/// What SQLite says.
pub fn insert(connection: &Connection, origin: &str, session: i64, new: &New<'_>) -> Result<Task> {
    let (now, uid) = (now_ms(), new.uid.map_or_else(new_uid, str::to_owned));
    let id = connection
        .prepare_cached(
            "INSERT INTO tasks (uid, origin, session_id, description, status, priority, blocked_by, progress, summary, created_at,
                started_at,
                finished_at, updated_at) VALUES (:uid, :origin, :session_id, :description, :status, :priority, :blocked_by, :progress,
                :summary, :now, :started_at, :finished_at, :now) RETURNING id",
        )?
        .query_row(
            named_params! {
                ":uid": uid,
                ":origin": origin,
                ":session_id": session,
                ":description": new.description,
                ":status": new.status.word(),
                ":priority": new.priority,
                ":blocked_by": json(new.before),
                ":progress": new.progress,
                ":summary": new.summary,
                ":now": now,
                ":started_at": new.started_at,
                ":finished_at": new.finished_at,
            },
            |row| row.get("id"),
        )?;
    super::touch(connection, session)?;
    Ok(get(connection, session, id)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?)
}

/// Those that wait, in the order in which they are due: what nothing stands in the way of first, then by priority and age.
///
/// # Errors
/// What SQLite says.
pub fn queue(connection: &Connection, session: i64) -> Result<Vec<Task>> {
    let sql =
        format!("{SELECT} WHERE t.session_id = :session AND t.status = 'pending' AND t.deleted_at IS NULL ORDER BY t.priority DESC, t.id");
    let mut statement = connection.prepare_cached(&sql)?;
    let found: Vec<_> = statement.query_map(named_params! {":session": session}, read)?.collect::<rusqlite::Result<_>>()?;
    let mut tasks: Vec<Task> = found.into_iter().map(|found| with_blockers(connection, found)).collect::<Result<_>>()?;
    tasks.sort_by_key(|t| !t.blocked_by.is_empty());
    Ok(tasks)
}

/// Those that are done, first one first.
///
/// # Errors
/// What SQLite says.
pub fn done(connection: &Connection, session: i64) -> Result<Vec<Task>> {
    let sql = format!(
        "{SELECT} WHERE t.session_id = :session AND t.status IN ('passed', 'failed', 'skipped') AND t.deleted_at IS NULL
            ORDER BY t.finished_at, t.id"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map(named_params! {":session": session}, |row| read(row).map(|(task, _)| task))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// How many of each status a session has.
///
/// # Errors
/// What SQLite says.
pub fn counts(connection: &Connection, session: i64) -> Result<TaskCounts> {
    let mut counts = TaskCounts::default();
    let mut statement = connection.prepare_cached(
        "SELECT status, count(*) AS count FROM tasks WHERE session_id = :session_id AND deleted_at IS NULL GROUP BY status",
    )?;
    let rows =
        statement.query_map(named_params! {":session_id": session}, |row| Ok((word(row, "status")?, row.get::<_, i64>("count")?)))?;
    for row in rows {
        let (status, count) = row?;
        match status {
            TaskStatus::Pending => counts.pending = count,
            TaskStatus::Active => counts.active = count,
            TaskStatus::Passed => counts.passed = count,
            TaskStatus::Failed => counts.failed = count,
            TaskStatus::Skipped => counts.skipped = count,
        }
    }
    Ok(counts)
}

fn set_status(connection: &Connection, task: &Task, status: TaskStatus) -> Result<()> {
    let now = now_ms();
    let started = if status == TaskStatus::Pending { task.started_at } else { task.started_at.or(Some(now)) };
    let finished = (!matches!(status, TaskStatus::Pending | TaskStatus::Active)).then_some(now);
    connection
        .prepare_cached(
            "UPDATE tasks SET status = :status, started_at = :started_at, finished_at = :finished_at, updated_at = :updated_at
            WHERE id = :id",
        )?
        .execute(
            named_params! {":id": task.id, ":status": status.word(), ":started_at": started, ":finished_at": finished, ":updated_at": now},
        )?;
    Ok(())
}

/// Begins a task: the one that is named, or the one that is due. With `switch`, the one that is worked on goes back to the queue.
///
/// # Errors
/// What SQLite says.
pub fn start(connection: &Connection, session: i64, id: Option<i64>, switch: bool) -> Outcome<Task> {
    let task = match id {
        Some(id) => get(connection, session, id)?.ok_or_else(|| no_task(id))?,
        None => queue(connection, session)?.into_iter().next().ok_or_else(|| SessionError::Missing("no task waits".to_owned()))?,
    };
    if task.status == TaskStatus::Active {
        return Ok(task);
    }
    let conflict = |what: String, hint: &str| Err(SessionError::Conflict(what, hint.to_owned()));
    if task.status != TaskStatus::Pending {
        return conflict(format!("task {} is done: {}", task.id, task.status.word()), "queue it again with `session task add`");
    }
    if !task.blocked_by.is_empty() {
        let blockers: Vec<String> = task.blocked_by.iter().map(i64::to_string).collect();
        return conflict(format!("task {} waits for task {}", task.id, blockers.join(", ")), "do those first, or finish them as skipped");
    }
    match current(connection, session)? {
        Some(current) if switch => set_status(connection, &current, TaskStatus::Pending)?,
        Some(current) => {
            return conflict(
                format!("task {} is worked on: {}", current.id, current.description),
                "finish it first, or give `switch` to put it back in the queue",
            );
        }
        None => {}
    }
    set_status(connection, &task, TaskStatus::Active)?;
    again(connection, session, task.id)
}

/// A task after it was changed.
fn again(connection: &Connection, session: i64, id: i64) -> Outcome<Task> {
    super::touch(connection, session)?;
    get(connection, session, id)?.ok_or_else(|| no_task(id))
}

/// The task that is named, or the one that is worked on.
fn meant(connection: &Connection, session: i64, id: Option<i64>) -> Outcome<Task> {
    match id {
        Some(id) => get(connection, session, id)?.ok_or_else(|| no_task(id)),
        None => current(connection, session)?.ok_or_else(|| SessionError::Missing("no task is worked on".to_owned())),
    }
}

/// What is to change of a task.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// How far it is.
    pub progress: Option<String>,
    /// Another description.
    pub description: Option<String>,
    /// Another priority.
    pub priority: Option<i64>,
}

/// Changes a task: the one that is named, or the one that is worked on.
///
/// # Errors
/// What SQLite says.
pub fn change(connection: &Connection, session: i64, id: Option<i64>, change: &Change) -> Outcome<Task> {
    let task = meant(connection, session, id)?;
    connection
        .prepare_cached(
            "UPDATE tasks SET progress = coalesce(:progress, progress), description = coalesce(:description, description),
                priority = coalesce(:priority, priority),
                updated_at = :updated_at WHERE id = :id",
        )?
        .execute(named_params! {
            ":id": task.id,
            ":progress": change.progress,
            ":description": change.description,
            ":priority": change.priority,
            ":updated_at": now_ms(),
        })?;
    again(connection, session, task.id)
}

/// Finishes a task: the one that is named, or the one that is worked on.
///
/// # Errors
/// What SQLite says.
pub fn finish(connection: &Connection, session: i64, id: Option<i64>, how: Finish, summary: Option<&str>) -> Outcome<Task> {
    let task = meant(connection, session, id)?;
    if !matches!(task.status, TaskStatus::Pending | TaskStatus::Active) {
        let what = format!("task {} is done already: {}", task.id, task.status.word());
        return Err(SessionError::Conflict(what, "queue it again with `session task add`".to_owned()));
    }
    let status = match how {
        Finish::Passed => TaskStatus::Passed,
        Finish::Failed => TaskStatus::Failed,
        Finish::Skipped => TaskStatus::Skipped,
    };
    set_status(connection, &task, status)?;
    connection
        .prepare_cached("UPDATE tasks SET summary = :summary WHERE id = :id")?
        .execute(named_params! {":id": task.id, ":summary": summary})?;
    again(connection, session, task.id)
}
