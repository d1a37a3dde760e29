//! Tasks of a session: a queue of pending tasks, at most one active task, and finished tasks.
//!
//! A task can be blocked by other tasks. It is unblocked when each of these has passed or been skipped; a task that has
//! failed continues to block the tasks that depend on it.

use afd_proto::tasks::{FinishStatus, Task, TaskCounts, TaskStatus};
use afd_proto::vocabulary::RecordScope;
use rusqlite::{Connection, OptionalExtension, Row};

use super::error::SessionError;
use afd_store::{
    Conditions, Reader, Result, Sql as _, args, elsewhere, new_uid, now_ms, parse_list, read, to_json, word,
};

/// Result of an operation on a task.
pub type Outcome<T> = Result<T, SessionError>;

const SELECT: &str = concat!(
    "SELECT t.id, t.uid, s.name, t.description, t.status, t.priority, t.blocked_by, t.progress, t.summary, t.scope, t.created_at,
        t.started_at, t.finished_at, ",
    elsewhere!("t"),
    " FROM tasks t JOIN sessions s ON s.id = t.session_id"
);

/// Reads a task from a row, with the uids of all its declared blockers.
fn read(row: &Row<'_>) -> rusqlite::Result<(Task, Vec<String>)> {
    let task = read!(row => Task {
        id, uid, description, priority, progress, summary, created_at, started_at, finished_at,
        origin: row.get("elsewhere")?,
        session: row.get("name")?,
        scope: word::<RecordScope>(row, "scope")?.narrowed(),
        status: word(row, "status")?,
        blocked_by: Vec::new(),
    });
    Ok((task, parse_list(&row.get::<_, String>("blocked_by")?)))
}

/// Fills in the blockers of a pending task: the declared ones that have neither passed nor been skipped.
fn with_blockers(connection: &Connection, (mut task, before): (Task, Vec<String>)) -> Result<Task> {
    if !matches!(task.status, TaskStatus::Pending) {
        return Ok(task);
    }
    let mut open = connection.prepare_cached(
        "SELECT id FROM tasks WHERE uid = :uid AND deleted_at IS NULL AND status NOT IN ('passed', 'skipped')",
    )?;
    for uid in before {
        if let Some(id) = open.query_row(args! {uid}, |row| row.get("id")).optional()? {
            task.blocked_by.push(id);
        }
    }
    Ok(task)
}

/// Returns a task of a session by its row id, or `None` if it is missing or deleted.
pub fn get(connection: &Connection, session: i64, id: i64) -> Result<Option<Task>> {
    let sql = format!("{SELECT} WHERE t.session_id = :session_id AND t.id = :id AND t.deleted_at IS NULL");
    let found = connection.first(&sql, args! {session_id: session, id}, read)?;
    found.map(|found| with_blockers(connection, found)).transpose()
}

/// Returns the active task of a session, if there is one.
pub fn current(connection: &Connection, session: i64) -> Result<Option<Task>> {
    let sql = format!("{SELECT} WHERE t.session_id = :session_id AND t.status = 'active' AND t.deleted_at IS NULL");
    Ok(connection.first(&sql, args! {session_id: session}, read)?.map(|(task, _)| task))
}

/// A task that a session passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passed {
    /// Row id of the session.
    pub session: i64,
    /// Description of the task.
    pub description: String,
    /// When the session started and finished it, in Unix milliseconds.
    pub span: (i64, i64),
}

/// Returns the tasks that were started and passed in a store and that a reader may see, the newest first, without those
/// during which another task of the session was started: what was done for which of the two is not known.
pub fn passed(connection: &Connection, store: &str, reader: Reader, limit: usize) -> Result<Vec<Passed>> {
    let wanted = Conditions::new("t.status = 'passed' AND t.deleted_at IS NULL AND t.started_at IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM tasks o WHERE o.session_id = t.session_id AND o.id <> t.id AND o.started_at > t.started_at
            AND o.started_at < coalesce(t.finished_at, t.updated_at))")
        .told("t", reader)
        .given("t.origin = :store", ":store", Some(store.to_owned()))
        .value(":limit", i64::try_from(limit).unwrap_or(i64::MAX));
    let sql = format!(
        "SELECT t.session_id, t.description, t.started_at, coalesce(t.finished_at, t.updated_at) AS ended_at FROM tasks t
         WHERE {} ORDER BY t.finished_at DESC, t.id DESC LIMIT :limit",
        wanted.sql()
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let passed = statement.query_map(&*wanted.values(), |row| {
        Ok(Passed {
            session: row.get("session_id")?,
            description: row.get("description")?,
            span: (row.get("started_at")?, row.get("ended_at")?),
        })
    })?;
    Ok(passed.collect::<rusqlite::Result<_>>()?)
}

fn no_task(id: i64) -> SessionError {
    SessionError::Missing(format!("the session has no task {id}"))
}

/// Adds a task that is blocked by the tasks in `blocked_by`.
///
/// # Errors
/// [`SessionError::Missing`] if a task in `blocked_by` does not exist.
pub fn add(connection: &Connection, origin: &str, session: i64, new: &New<'_>, blocked_by: &[i64]) -> Outcome<Task> {
    let mut before = Vec::new();
    for id in blocked_by {
        match get(connection, session, *id)? {
            Some(task) => before.push(task.uid),
            None => return Err(no_task(*id)),
        }
    }
    Ok(insert(connection, origin, session, &New { before: &before, ..*new })?)
}

/// A task to insert in any state, for example one imported from a progress file.
#[derive(Debug, Clone, Copy)]
pub struct New<'a> {
    /// Uid of the task; `None` to create a new uid.
    pub uid: Option<&'a str>,
    /// Description of the task.
    pub description: &'a str,
    /// Priority of the task; tasks with higher values come first in the queue.
    pub priority: i64,
    /// Uids of the tasks that block this one.
    pub before: &'a [String],
    /// Status of the task.
    pub status: TaskStatus,
    /// Note on the progress of the task.
    pub progress: Option<&'a str>,
    /// Summary of the result of the task.
    pub summary: Option<&'a str>,
    /// Visibility of the task.
    pub scope: RecordScope,
    /// Start time, in Unix milliseconds.
    pub started_at: Option<i64>,
    /// Finish time, in Unix milliseconds.
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
            scope: RecordScope::App,
            started_at: None,
            finished_at: None,
        }
    }
}

/// Inserts a task and returns it.
pub fn insert(connection: &Connection, origin: &str, session: i64, new: &New<'_>) -> Result<Task> {
    let (now, uid) = (now_ms(), new.uid.map_or_else(new_uid, str::to_owned));
    let id = connection.one(
        "INSERT INTO tasks (uid, origin, session_id, description, status, priority, blocked_by, progress, summary, scope, created_at,
                started_at, finished_at, updated_at) VALUES (:uid, :origin, :session_id, :description, :status, :priority, :blocked_by, :progress,
                :summary, :scope, :now, :started_at, :finished_at, :now) RETURNING id",
        args! {
            uid, origin, session_id: session, description: new.description, status: new.status.word(),
            priority: new.priority, blocked_by: to_json(new.before), progress: new.progress, summary: new.summary,
            scope: new.scope.word(), now, started_at: new.started_at, finished_at: new.finished_at
        },
        |row| row.get("id"),
    )?;
    super::touched::touch(connection, session)?;
    Ok(get(connection, session, id)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?)
}

/// Returns the pending tasks in the order in which to start them: unblocked ones first, then by decreasing priority,
/// then oldest first.
pub fn queue(connection: &Connection, session: i64) -> Result<Vec<Task>> {
    let sql = format!(
        "{SELECT} WHERE t.session_id = :session AND t.status = 'pending' AND t.deleted_at IS NULL ORDER BY t.priority DESC, t.id"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let found: Vec<_> = statement.query_map(args! {session}, read)?.collect::<rusqlite::Result<_>>()?;
    let mut tasks: Vec<Task> =
        found.into_iter().map(|found| with_blockers(connection, found)).collect::<Result<_>>()?;
    tasks.sort_by_key(|t| !t.blocked_by.is_empty());
    Ok(tasks)
}

/// Returns the finished tasks in the order in which they were finished.
pub fn done(connection: &Connection, session: i64) -> Result<Vec<Task>> {
    let sql = format!(
        "{SELECT} WHERE t.session_id = :session AND t.status IN ('passed', 'failed', 'skipped') AND t.deleted_at IS NULL
            ORDER BY t.finished_at, t.id"
    );
    connection.all(&sql, args! {session}, |row| read(row).map(|(task, _)| task))
}

/// Counts the tasks of a session by status.
pub fn counts(connection: &Connection, session: i64) -> Result<TaskCounts> {
    let mut counts = TaskCounts::default();
    let mut statement = connection.prepare_cached(
        "SELECT status, count(*) AS count FROM tasks WHERE session_id = :session_id AND deleted_at IS NULL GROUP BY status",
    )?;
    let rows = statement
        .query_map(args! {session_id: session}, |row| Ok((word(row, "status")?, row.get::<_, i64>("count")?)))?;
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
    connection.run(
        "UPDATE tasks SET status = :status, started_at = :started_at, finished_at = :finished_at, updated_at = :updated_at
            WHERE id = :id",
        args! {
            id: task.id, status: status.word(), started_at: started, finished_at: finished, updated_at: now
        },
    )?;
    Ok(())
}

/// Starts the given task, or the first task in the queue. If `switch` is set, the active task goes back to the
/// queue. Starting the active task changes nothing.
///
/// # Errors
/// [`SessionError::Missing`] if there is no such task; [`SessionError::Conflict`] if it is finished or blocked, or if
/// another task is active and `switch` is not set.
pub fn start(connection: &Connection, session: i64, id: Option<i64>, switch: bool) -> Outcome<Task> {
    let task = match id {
        Some(id) => get(connection, session, id)?.ok_or_else(|| no_task(id))?,
        None => queue(connection, session)?
            .into_iter()
            .next()
            .ok_or_else(|| SessionError::Missing("no task is pending".to_owned()))?,
    };
    if task.status == TaskStatus::Active {
        return Ok(task);
    }
    let conflict = |what: String, hint: &str| Err(SessionError::Conflict(what, hint.to_owned()));
    if task.status != TaskStatus::Pending {
        return conflict(
            format!("task {} is already finished: {}", task.id, task.status.word()),
            "add it again with `session task add`",
        );
    }
    if !task.blocked_by.is_empty() {
        let blockers: Vec<String> = task.blocked_by.iter().map(i64::to_string).collect();
        return conflict(
            format!("task {} is blocked by task {}", task.id, blockers.join(", ")),
            "finish or skip those first",
        );
    }
    match current(connection, session)? {
        Some(current) if switch => set_status(connection, &current, TaskStatus::Pending)?,
        Some(current) => {
            return conflict(
                format!("task {} is already active: {}", current.id, current.description),
                "finish it first, or pass `switch` to put it back in the queue",
            );
        }
        None => {}
    }
    set_status(connection, &task, TaskStatus::Active)?;
    touch_and_reload(connection, session, task.id)
}

/// Updates the modification time of the session and returns the changed task.
fn touch_and_reload(connection: &Connection, session: i64, id: i64) -> Outcome<Task> {
    super::touched::touch(connection, session)?;
    get(connection, session, id)?.ok_or_else(|| no_task(id))
}

/// Returns the given task, or the active one if no id is given.
fn resolve_task(connection: &Connection, session: i64, id: Option<i64>) -> Outcome<Task> {
    match id {
        Some(id) => get(connection, session, id)?.ok_or_else(|| no_task(id)),
        None => current(connection, session)?.ok_or_else(|| SessionError::Missing("no task is active".to_owned())),
    }
}

/// Changes to a task; `None` leaves a field unchanged.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// New progress note.
    pub progress: Option<String>,
    /// New description.
    pub description: Option<String>,
    /// New priority.
    pub priority: Option<i64>,
    /// New visibility.
    pub scope: Option<RecordScope>,
}

/// Updates the given task, or the active one.
///
/// # Errors
/// [`SessionError::Missing`] if there is no such task.
pub fn change(connection: &Connection, session: i64, id: Option<i64>, change: &Change) -> Outcome<Task> {
    let task = resolve_task(connection, session, id)?;
    connection.run(
        "UPDATE tasks SET progress = coalesce(:progress, progress), description = coalesce(:description, description),
                priority = coalesce(:priority, priority), scope = coalesce(:scope, scope), updated_at = :updated_at WHERE id = :id",
        args! {
            id: task.id, progress: change.progress, description: change.description, priority: change.priority,
            scope: change.scope.map(RecordScope::word), updated_at: now_ms()
        },
    )?;
    touch_and_reload(connection, session, task.id)
}

/// Finishes the given task, or the active one.
///
/// # Errors
/// [`SessionError::Missing`] if there is no such task; [`SessionError::Conflict`] if it is already finished.
pub fn finish(
    connection: &Connection,
    session: i64,
    id: Option<i64>,
    how: FinishStatus,
    summary: Option<&str>,
) -> Outcome<Task> {
    let task = resolve_task(connection, session, id)?;
    if !matches!(task.status, TaskStatus::Pending | TaskStatus::Active) {
        let what = format!("task {} is already finished: {}", task.id, task.status.word());
        return Err(SessionError::Conflict(what, "add it again with `session task add`".to_owned()));
    }
    let status = match how {
        FinishStatus::Passed => TaskStatus::Passed,
        FinishStatus::Failed => TaskStatus::Failed,
        FinishStatus::Skipped => TaskStatus::Skipped,
    };
    set_status(connection, &task, status)?;
    connection.run("UPDATE tasks SET summary = :summary WHERE id = :id", args! {id: task.id, summary})?;
    touch_and_reload(connection, session, task.id)
}
