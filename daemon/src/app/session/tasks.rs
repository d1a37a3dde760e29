//! `session.task.*`: managing the tasks of a session.

use std::sync::Arc;

use afd_proto::tasks::{
    Task, TaskAdd, TaskAddParams, TaskFinish, TaskFinishParams, TaskList, TaskListParams, TaskStart, TaskStartParams,
    TaskStarted, TaskStatus, TaskUpdate, TaskUpdateParams, Tasks,
};

use super::{for_writing, known};
use crate::app::{Core, Error, Methods, Result, recall};
use afd_store::Connection;
use afd_workspace as session;
use afd_workspace::tasks::{self, Change, Outcome};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<TaskAdd, _, _>(|core, p| async move { add(&core, &p).await });
    methods.add::<TaskStart, _, _>(|core, p| async move { start(&core, &p).await });
    methods.add::<TaskUpdate, _, _>(|core, p| async move { update(&core, &p).await });
    methods.add::<TaskFinish, _, _>(|core, p| async move { finish(&core, &p).await });
    methods.add::<TaskList, _, _>(|core, p| async move { list(&core, &p).await });
}

/// Changes a task in an active session, then updates the progress files.
async fn change(
    core: &Arc<Core>,
    session: &str,
    work: impl FnOnce(&Connection, i64) -> Outcome<Task> + Send + 'static,
) -> Result<Task> {
    let session = for_writing(core, session).await?;
    let id = session.id;
    let task = core.store.write_or_refuse(move |c| session::while_active(c, id, |c| work(c, id))).await?;
    core.session_changed(&session.name).await;
    Ok(task)
}

/// `session.task.add`: queues a task.
///
/// # Errors
/// `INVALID_PARAMS` if a field is invalid, `NOT_FOUND` if a blocking task does not exist.
pub async fn add(core: &Arc<Core>, params: &TaskAddParams) -> Result<Task> {
    let (origin, p) = (core.store.origin().to_owned(), params.clone());
    let work = move |c: &Connection, session: i64| {
        let scope = p.scope.map_or_else(|| session::scope_of(c, session), Ok)?;
        let new =
            tasks::New { description: p.description.trim(), priority: p.priority(), scope, ..tasks::New::default() };
        tasks::add(c, &origin, session, &new, &p.blocked_by)
    };
    change(core, params.session(), work).await
}

/// `session.task.start`: starts the given task, or the next one in the queue.
///
/// # Errors
/// If no task is pending, if another task is active, or if the task is blocked.
pub async fn start(core: &Arc<Core>, params: &TaskStartParams) -> Result<TaskStarted> {
    let (id, switch) = (params.id, params.switch);
    let task = change(core, params.session(), move |c, session| tasks::start(c, session, id, switch)).await?;
    let (known, missing) = recall::for_task(core, &task).await;
    Ok(TaskStarted { task, known, missing })
}

/// `session.task.update`: changes the progress, description, priority or scope of a task.
///
/// # Errors
/// If there is no such task, or if no field to change was given.
pub async fn update(core: &Arc<Core>, params: &TaskUpdateParams) -> Result<Task> {
    if params.progress.is_none() && params.description.is_none() && params.priority.is_none() && params.scope.is_none()
    {
        return Err(Error::param("progress", "progress, description, priority or scope", "none of them"));
    }
    let p = params.clone();
    let wanted = Change { progress: p.progress, description: p.description, priority: p.priority, scope: p.scope };
    let id = params.id;
    change(core, params.session(), move |c, session| tasks::change(c, session, id, &wanted)).await
}

/// `session.task.finish`: ends a task as passed (the default), failed or skipped.
///
/// # Errors
/// If there is no such task, or if it is already finished.
pub async fn finish(core: &Arc<Core>, params: &TaskFinishParams) -> Result<Task> {
    let (id, how, summary) = (params.id, params.status(), params.summary.clone());
    change(core, params.session(), move |c, session| tasks::finish(c, session, id, how, summary.as_deref())).await
}

/// `session.task.list`: lists the active task, the queue and the finished tasks, in this order.
///
/// # Errors
/// `NOT_FOUND` if there is no such session.
pub async fn list(core: &Arc<Core>, params: &TaskListParams) -> Result<Tasks> {
    let limit = params.limit() as usize;
    let (session, status) = (known(core, params.session()).await?.id, params.status);
    let listed = core.store.read_all(move |c| {
        let mut all: Vec<Task> = tasks::current(c, session)?.into_iter().collect();
        all.extend(tasks::queue(c, session)?);
        all.extend(tasks::done(c, session)?);
        all.retain(|t: &Task| status.is_none_or(|s: TaskStatus| s == t.status));
        all.truncate(limit);
        Ok(Tasks { tasks: all, counts: tasks::counts(c, session)? })
    });
    Ok(listed.await?)
}
