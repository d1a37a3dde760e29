//! `session.resume`: going on with a session, from memory or from a progress file.

use std::path::Path;
use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::findings::{Severity, TaskStatus};
use afd_proto::session::{Progress, ResumeParams, Resumed, SessionCall};
use rusqlite::Connection;
use serde_json::json;

use super::super::{Core, Error, Result, check_session};
use super::{change, digest, known, progress};
use crate::session::conversation::{self, keys::Known};
use crate::session::{self, Session, bugs, prompt, tasks};
use crate::store::{Result as Stored, now_ms};

/// The largest progress file, bytes.
const MAX_FILE: u64 = 64 << 20;

/// `session.resume`
///
/// # Errors
/// When the session is not known and no file tells of it.
pub async fn resume(core: &Arc<Core>, params: &ResumeParams) -> Result<Resumed> {
    let name = params.session();
    check_session(name)?;
    let from_file = match &params.file {
        Some(file) => {
            take_up(core, name, file, params.session.is_some()).await?;
            true
        }
        None => false,
    };
    // A file names its session, unless the call does.
    let name = match (&params.file, &params.session) {
        (Some(file), None) => read(file).await?.session_id,
        _ => name.to_owned(),
    };
    let mut session = known(core, &name).await?;
    let reopened = session.ended_at.is_some();
    if reopened {
        session = change(core, &name, |session| {
            session.ended_at = None;
            session.summary = None;
        })
        .await?;
    }
    let digest = digest(core, session).await?;
    let (git, _) = progress::git_of(&digest).await;
    let stands = session::progress::of(&digest, git);
    let bugs = digest.info.bugs;
    let summary = format!(
        "Session {name:?} goes on: {} tasks are done, {} wait, {} bugs are open.",
        stands.completed_tasks.len(),
        stands.pending_tasks.len() + usize::from(stands.current_task.is_some()),
        bugs.open
    );
    core.session_changed(&name).await;
    Ok(Resumed {
        session: name,
        reopened,
        from_file,
        summary,
        resumption_prompt: prompt::resumption(&stands),
        task_queue: digest.queue,
        context: digest.context,
        progress: stands,
    })
}

async fn read(file: &str) -> Result<Progress> {
    let path = super::super::artifacts::absolute("file", file)?;
    let shown = path.display().to_string();
    let content = tokio::task::spawn_blocking(move || {
        let size = std::fs::metadata(&path)?.len();
        if size > MAX_FILE { Err(std::io::Error::other("it is too large")) } else { std::fs::read(&path) }
    });
    let content = match content.await {
        Ok(Ok(content)) => content,
        Ok(Err(error)) => return Err(Error::param("file", "a progress file that can be read", format!("{shown}: {error}"))),
        Err(error) => return Err(Error::new(ErrorCode::Internal, error.to_string())),
    };
    let mut deserializer = serde_json::Deserializer::from_slice(&content);
    serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| Error::param("file", "a progress file", format!("{shown}, at {}: {}", error.path(), error.inner())))
}

/// Takes a session from a progress file that this memory does not know.
async fn take_up(core: &Arc<Core>, name: &str, file: &str, named: bool) -> Result<()> {
    let progress = read(file).await?;
    let name = if named { name.to_owned() } else { progress.session_id.clone() };
    check_session(&name)?;
    let wanted = name.clone();
    let known = core.store.read_all(move |c| session::by_name(c, &wanted)).await?;
    if known.is_some_and(|s| s.started_at.is_some()) {
        return Err(Error::new(ErrorCode::Conflict, format!("session {name:?} is known here already"))
            .hint("resume it without the file, or give `session` another name")
            .details(json!({"session": name, "file": Path::new(file).display().to_string()})));
    }
    core.session_row(&name).await?;
    let origin = core.store.origin().to_owned();
    core.store
        .write(move |c| match session::by_name(c, &name)? {
            Some(session) => restore(c, &origin, session, &progress),
            None => Ok(()),
        })
        .await?;
    Ok(())
}

fn ms(rfc3339: &str) -> Option<i64> {
    rfc3339.parse::<jiff::Timestamp>().ok().map(|t| t.as_millisecond())
}

fn restore(c: &Connection, origin: &str, mut session: Session, p: &Progress) -> Stored<()> {
    let id = session.id;
    session.goal.clone_from(&p.goal);
    session.app.clone_from(&p.app);
    session.next_steps = p.next_steps.clone();
    session.blockers = p.blockers.clone();
    session.started_at = Some(now_ms());
    session::update(c, &session)?;
    for task in &p.completed_tasks {
        let new = tasks::New {
            description: &task.description,
            status: TaskStatus::of(&task.status).unwrap_or(TaskStatus::Passed),
            summary: (!task.summary.is_empty()).then_some(task.summary.as_str()),
            finished_at: ms(&task.completed_at),
            ..tasks::New::default()
        };
        tasks::insert(c, origin, id, &new)?;
    }
    let mut uids = std::collections::HashMap::new();
    if let Some(task) = &p.current_task {
        let new = tasks::New {
            description: &task.description,
            status: TaskStatus::Active,
            progress: (!task.progress.is_empty()).then_some(task.progress.as_str()),
            started_at: ms(&task.started_at),
            ..tasks::New::default()
        };
        uids.insert(task.id.as_str(), tasks::insert(c, origin, id, &new)?.uid);
    }
    for task in &p.pending_tasks {
        let before: Vec<String> = task.blocked_by.iter().filter_map(|uid| uids.get(uid.as_str()).cloned()).collect();
        let new = tasks::New { description: &task.description, priority: task.priority, before: &before, ..tasks::New::default() };
        uids.insert(task.id.as_str(), tasks::insert(c, origin, id, &new)?.uid);
    }
    for bug in &p.bugs {
        let new = bugs::New {
            title: bug.title.clone(),
            severity: Severity::of(&bug.severity),
            page: bug.page.clone(),
            app: p.app.clone(),
            resolved: bug.status == "resolved",
            ..bugs::New::default()
        };
        bugs::add(c, origin, id, &new)?;
    }
    let mut talk = conversation::of(c, id)?;
    let at = now_ms();
    talk.context.extend(p.context.iter().map(|(key, value)| (key.clone(), Known { value: value.clone(), at })));
    conversation::save(c, origin, &talk)
}
