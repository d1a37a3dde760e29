//! `session.task.*`

use std::sync::Arc;

use afd_proto::session::SessionCall;
use afd_proto::tasks::{
    Finish, Task, TaskAddParams, TaskFinishParams, TaskListParams, TaskStartParams, TaskStatus, TaskUpdateParams, Tasks,
};
use rusqlite::Connection;

use super::super::paging::limit;
use super::super::{Core, Error, Result};
use super::{check_optional, check_text, for_writing, known};
use crate::session;
use crate::session::tasks::{self, Change, Outcome};

/// The longest description, summary or progress, characters.
const LONGEST: usize = 2_000;
/// At most this many tasks come before one.
const BLOCKERS: usize = 100;
/// The priorities, both ways from 0.
const PRIORITY: i64 = 1_000;

async fn change(core: &Arc<Core>, session: &str, work: impl FnOnce(&Connection, i64) -> Outcome<Task> + Send + 'static) -> Result<Task> {
    let session = for_writing(core, session).await?;
    let id = session.id;
    let task = core.store.write_or_refuse(move |c| session::while_active(c, id, |c| work(c, id))).await?;
    core.session_changed(&session.name).await;
    Ok(task)
}

fn check_priority(priority: i64) -> Result<()> {
    if priority.abs() > PRIORITY {
        return Err(Error::param("priority", "-1000 to 1000", priority));
    }
    Ok(())
}

/// `session.task.add`
///
/// # Errors
/// When a field is of no use, or a task that is to come first is not there.
pub async fn add(core: &Arc<Core>, params: &TaskAddParams) -> Result<Task> {
    check_text("description", &params.description, LONGEST)?;
    check_priority(params.priority)?;
    if params.blocked_by.len() > BLOCKERS {
        return Err(Error::param("blockedBy", "at most 100 tasks", params.blocked_by.len()));
    }
    let (origin, p) = (core.store.origin().to_owned(), params.clone());
    change(core, params.session(), move |c, session| tasks::add(c, &origin, session, p.description.trim(), p.priority, &p.blocked_by)).await
}

/// `session.task.start`
///
/// # Errors
/// When no task waits, another is worked on, or something stands in the way.
pub async fn start(core: &Arc<Core>, params: &TaskStartParams) -> Result<Task> {
    let (id, switch) = (params.id, params.switch);
    change(core, params.session(), move |c, session| tasks::start(c, session, id, switch)).await
}

/// `session.task.update`
///
/// # Errors
/// When there is no such task, or nothing is to change.
pub async fn update(core: &Arc<Core>, params: &TaskUpdateParams) -> Result<Task> {
    check_optional("progress", params.progress.as_deref(), LONGEST)?;
    check_optional("description", params.description.as_deref(), LONGEST)?;
    params.priority.map(check_priority).transpose()?;
    if params.progress.is_none() && params.description.is_none() && params.priority.is_none() {
        return Err(Error::param("progress", "progress, description or priority", "none of them"));
    }
    let wanted = Change { progress: params.progress.clone(), description: params.description.clone(), priority: params.priority };
    let id = params.id;
    change(core, params.session(), move |c, session| tasks::change(c, session, id, &wanted)).await
}

/// `session.task.finish`
///
/// # Errors
/// When there is no such task, or it is done already.
pub async fn finish(core: &Arc<Core>, params: &TaskFinishParams) -> Result<Task> {
    check_optional("summary", params.summary.as_deref(), LONGEST)?;
    let (id, how, summary) = (params.id, params.status.unwrap_or(Finish::Passed), params.summary.clone());
    change(core, params.session(), move |c, session| tasks::finish(c, session, id, how, summary.as_deref())).await
}

/// `session.task.list`
///
/// # Errors
/// When there is no such session.
pub async fn list(core: &Arc<Core>, params: &TaskListParams) -> Result<Tasks> {
    let limit = limit(params.limit, 100)?;
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
