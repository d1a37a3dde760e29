//! `session.start`, `session.list`, `session.show`, `session.end`: creating, showing and ending sessions.

use std::path::PathBuf;
use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::findings::{BugStatus, ResultStatus};
use afd_proto::session::{
    ConversationInfo, EndParams, EndResult, LastFound, LeftOpen, ListParams, ReportFormat, SessionDetails, SessionEnd,
    SessionList, SessionShow, SessionStart, Sessions, ShowParams, StartParams,
};
use serde_json::json;

use super::{active, change, check_directory, digest, known, no_session, progress, report, still_active};
use crate::app::checks::{MAX_GOAL, absolute, check_optional, check_session, check_text};
use crate::app::paging::page;
use crate::app::{Core, Error, Methods, Result};
use afd_conversation::keys::{self, ContextValue};
use afd_conversation::{self as conversation, Conversation, messages};
use afd_experience::memory::sessions;
use afd_store::{Connection, Page, Reader, Result as Stored, Store, now_ms};
use afd_workspace::summary::Digest;
use afd_workspace::{self as session, Filter, Session, bugs, results, tasks};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<SessionStart, _, _>(|core, p| async move { start(&core, &p).await });
    methods.add::<SessionList, _, _>(|core, p| async move { list(&core.store, &p).await });
    methods.add::<SessionShow, _, _>(|core, p| async move { show(&core, &p).await });
    methods.add::<SessionEnd, _, _>(|core, p| async move { end(&core, &p).await });
}

/// Maximum number of bugs, of tasks and of pages that are shown.
const MAX_SHOWN: usize = 50;
/// Maximum number of context keys in a session.
const MAX_KEYS: usize = 100;
/// Maximum length of a context key, in characters.
const MAX_KEY_CHARS: usize = 64;
/// Maximum length of a context key's value, in characters.
const MAX_VALUE_CHARS: usize = 500;

/// Maximum number of tasks, steps and bugs that are returned for the previous session.
const MAX_LEFT_OPEN: usize = 10;

/// Maximum number of steps in each list in a file: steps stated by the caller, and derived steps.
const MAX_STEPS: usize = 200;
/// Maximum number of visited pages in an imported file.
const MAX_PAGES: usize = 10_000;

/// Checks the values of a session in an imported file: goal, app, lists of steps, and the number of visited pages.
pub(super) fn check_restored(
    (goal, app): (Option<&str>, Option<&str>),
    lists: &[&[String]],
    pages: usize,
) -> Result<()> {
    check_optional("file: goal", goal, MAX_GOAL)?;
    check_optional("file: app", app, 255)?;
    for list in lists {
        if list.len() > MAX_STEPS {
            return Err(Error::param("file", "at most 200 next steps or blockers", list.len()));
        }
        list.iter().try_for_each(|step| check_text("file: steps and blockers", step, 3_000))?;
    }
    if pages > MAX_PAGES {
        return Err(Error::param("file", "at most 10000 pages", pages));
    }
    Ok(())
}

/// Checks the number, names and values of context keys.
pub(in crate::app) fn check_context(context: &std::collections::BTreeMap<String, String>) -> Result<()> {
    if context.len() > MAX_KEYS {
        return Err(Error::param("context", "at most 100 keys", context.len()));
    }
    for (key, value) in context {
        check_key("context", key)?;
        check_text("context", value, MAX_VALUE_CHARS)?;
    }
    Ok(())
}

fn check_key(field: &'static str, key: &str) -> Result<()> {
    let fits = !key.is_empty()
        && key.chars().count() <= MAX_KEY_CHARS
        && key.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
    if fits {
        Ok(())
    } else {
        Err(Error::param(field, "keys of 1 to 64 letters, digits, '-', '_' or '.'", format!("{key:?}")))
    }
}

/// `session.start`: starts a session with its goal, context keys and tasks.
///
/// # Errors
/// `INVALID_PARAMS` if a field is invalid, `CONFLICT` if the session was started before.
pub async fn start(core: &Arc<Core>, params: &StartParams) -> Result<SessionDetails> {
    let name = params.session();
    check_session(name)?;
    check_context(&params.context)?;
    params.tracked_keys.iter().try_for_each(|key| check_key("trackedKeys", key))?;
    params.tasks.iter().try_for_each(|task| check_text("tasks", task, 2_000))?;
    let directory = check_directory("directory", params.directory.as_deref()).await?;
    let dir = check_directory("progressDir", params.progress_dir.as_deref()).await?;
    let dir = params.auto_progress.then(|| dir.unwrap_or_else(|| core.config.get().progress_dir.clone()));
    if let Some(dir) = &dir {
        progress::probe("progressDir", dir).await?;
    }
    core.sessions.row(&core.store, name).await?;
    let (origin, p, wanted) = (core.store.origin().to_owned(), params.clone(), name.to_owned());
    let started = move |c: &Connection| {
        let mut session = session::by_name(c, &wanted)?.ok_or_else(|| no_session(&wanted))?;
        if session.started_at.is_some() || session.ended_at.is_some() {
            return Err(cannot_start(&session));
        }
        session.goal = p.goal;
        session.app = p.app;
        session.scope = p.scope.unwrap_or_default();
        session.directory = directory;
        session.progress_dir = dir;
        session.started_at = Some(now_ms());
        session::update(c, &session)?;
        let mut conversation = conversation::of(c, session.id)?;
        conversation.model = p.model;
        conversation.max_tokens = p.max_tokens.map(|n| i64::try_from(n).unwrap_or(i64::MAX));
        conversation.tracked = p.tracked_keys;
        let at = now_ms();
        conversation
            .context
            .extend(keys::named(p.context).into_iter().map(|(key, value)| (key, ContextValue { value, at })));
        conversation::save(c, &origin, &conversation)?;
        for description in &p.tasks {
            let new = tasks::New { description: description.trim(), scope: session.scope, ..tasks::New::default() };
            tasks::insert(c, &origin, session.id, &new)?;
        }
        Ok(())
    };
    core.store.write_or_refuse(started).await?;
    core.session_changed(name).await;
    let mut details = show_named(core, name).await?;
    details.before = left_open(core, name).await?;
    Ok(details)
}

/// Returns the open work of earlier sessions about the same app, and the findings of the last of these sessions, if
/// there are any.
async fn left_open(core: &Arc<Core>, name: &str) -> Result<Option<LeftOpen>> {
    let session = known(core, name).await?;
    let Some(app) = session.app.clone() else { return Ok(None) };
    let found = core.store.read_all(move |c| {
        let mut left = None;
        let earlier = session::before(c, &session, &app)?;
        let last = last_found(c, &earlier, Reader::Session(session.id))?;
        for before in earlier {
            let tasks = tasks::current(c, before.id)?.into_iter().chain(tasks::queue(c, before.id)?);
            let tasks: Vec<String> = tasks.filter(|t| t.scope.is_none()).map(|t| t.description).collect();
            // A session that left nothing open must not hide the open work of an earlier one.
            if !tasks.is_empty() || !before.next_steps.is_empty() || !before.blockers.is_empty() {
                left = Some((before, tasks));
                break;
            }
        }
        let reader = Reader::Session(session.id);
        let open = bugs::Filter { app: Some(app), status: Some(BugStatus::Open), reader, ..bugs::Filter::default() };
        let (before, mut tasks) = left.map_or((None, Vec::new()), |(before, tasks)| (Some(before), tasks));
        let total = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let tasks_total = total(tasks.len());
        tasks.truncate(MAX_LEFT_OPEN);
        let bugs_total = bugs::counts(c, &open)?.total;
        let bugs = bugs::worst(c, &open, MAX_LEFT_OPEN)?
            .into_iter()
            .map(|b| format!("#{} [{}] {}", b.id, b.severity, b.title))
            .collect();
        if before.is_none() && bugs_total == 0 && last.is_none() {
            return Ok(None);
        }
        let first = |list: Vec<String>| list.into_iter().take(MAX_LEFT_OPEN).collect();
        let (name, ended_at, goal, summary, next_steps, blockers) = match before {
            Some(b) => (Some(b.name), b.ended_at, b.goal, b.summary, b.next_steps, b.blockers),
            None => (None, None, None, None, Vec::new(), Vec::new()),
        };
        Ok(Some(LeftOpen {
            session: name,
            ended_at,
            goal,
            summary,
            tasks,
            tasks_total,
            next_steps: first(next_steps),
            blockers: first(blockers),
            bugs,
            bugs_total,
            last,
        }))
    });
    Ok(found.await?)
}

/// Returns the findings of the newest session in `earlier` that has findings or a summary.
fn last_found(c: &Connection, earlier: &[Session], reader: Reader) -> Stored<Option<LastFound>> {
    for before in earlier {
        let bugs = bugs::Filter { session: Some(before.id), reader, ..bugs::Filter::default() };
        let tests = |status| results::Filter { session: Some(before.id), reader, status, ..results::Filter::default() };
        let counts = results::counts(c, &tests(None))?;
        let worst = bugs::worst(c, &bugs, MAX_LEFT_OPEN)?;
        if counts.total == 0 && worst.is_empty() && before.summary.is_none() {
            continue;
        }
        let mut found: Vec<String> =
            worst.iter().map(|b| format!("bug #{} [{}, {}] {}", b.id, b.severity, b.status, b.title)).collect();
        for status in [ResultStatus::Failed, ResultStatus::Error] {
            let (of_status, _) = results::list(c, &tests(Some(status)), Page::first(MAX_LEFT_OPEN))?;
            found.extend(of_status.iter().map(|r| {
                let why = r.summary.as_ref().map_or(String::new(), |summary| format!(": {summary}"));
                format!("test {:?} {}{why}", r.name, r.status)
            }));
        }
        let (session, ended_at, summary) = (before.name.clone(), before.ended_at, before.summary.clone());
        return Ok(Some(LastFound { session, ended_at, summary, results: counts, found }));
    }
    Ok(None)
}

/// Returns the error for starting a session that was started or has ended.
fn cannot_start(session: &Session) -> Error {
    let (what, hint) = match session.ended_at {
        Some(_) => ("has ended", "`afctl session resume` reopens it; use another name to start a new one"),
        None => (
            "has already been started",
            "`afctl session show` shows it; `afctl session resume` prints a prompt for continuing it",
        ),
    };
    let name = &session.name;
    Error::new(ErrorCode::Conflict, format!("session {name:?} {what}")).hint(hint).details(json!({"session": name}))
}

/// `session.list`: lists sessions.
///
/// # Errors
/// `INVALID_PARAMS` if the limit is out of range.
pub async fn list(store: &Store, params: &ListParams) -> Result<Sessions> {
    let filter = Filter { status: params.status, app: params.app.clone(), page: page(params.limit(), params.cursor)? };
    let listed = store.read_all(move |c| {
        let (found, next_cursor) = session::list(c, &filter)?;
        let infos = found.iter().map(|s| session::info(c, s, sessions::last_at(c, s.id)?));
        Ok(Sessions { sessions: infos.collect::<afd_store::Result<_>>()?, next_cursor })
    });
    Ok(listed.await?)
}

/// `session.show`: returns a session with its statistics, coverage, tasks and open bugs.
///
/// # Errors
/// `NOT_FOUND` if there is no such session.
pub async fn show(core: &Arc<Core>, params: &ShowParams) -> Result<SessionDetails> {
    show_named(core, params.session()).await
}

async fn show_named(core: &Arc<Core>, name: &str) -> Result<SessionDetails> {
    let session = known(core, name).await?;
    let id = session.id;
    let conversations = core.store.read_all(move |c| {
        let counted = conversation::all(c, id)?.into_iter().map(|own| Ok((messages::count(c, own.id)?, own)));
        counted.collect::<afd_store::Result<Vec<_>>>()
    });
    let conversations = conversations.await?;
    Ok(shown(digest(&core.store, session).await?, conversations))
}

fn shown(digest: Digest, conversations: Vec<(i64, Conversation)>) -> SessionDetails {
    let conversation = |(messages, c): (i64, Conversation)| ConversationInfo {
        conversation: c.name,
        uid: c.uid,
        messages,
        tokens: c.tokens,
    };
    SessionDetails {
        summary: digest.session.summary.clone().unwrap_or_else(|| digest.summary(true)),
        current_task: afd_workspace::progress::current(&digest),
        next_steps: digest.next_steps(),
        blockers: digest.blockers(),
        open_bugs: digest.open_bugs().take(MAX_SHOWN).cloned().collect(),
        queue: digest.queue.into_iter().take(MAX_SHOWN).collect(),
        pages: digest.pages.into_iter().take(MAX_SHOWN).collect(),
        info: digest.info,
        statistics: digest.statistics,
        coverage: digest.coverage,
        context: digest.context,
        conversations: conversations.into_iter().filter(|(_, c)| c.position > 0).map(conversation).collect(),
        before: None,
    }
}

/// `session.end`: compacts the conversation, then writes the report, the final summary and the progress files.
/// Completes even if the caller disconnects.
///
/// # Errors
/// If there is no such session, if it has already ended, or if the report cannot be written.
pub async fn end(core: &Arc<Core>, params: &EndParams) -> Result<EndResult> {
    let file = params.file.as_deref().map(|f| absolute("file", f)).transpose()?;
    let (own, name) = (core.clone(), params.session().to_owned());
    core.finish(async move { finish(&own, &name, file).await }).await?
}

async fn finish(core: &Arc<Core>, name: &str, file: Option<PathBuf>) -> Result<EndResult> {
    let mut session = active(core, name).await?;
    let compacted = super::super::conversation::compact::all(core, name).await?;
    session.ended_at = Some(now_ms());
    let done = digest(&core.store, session.clone()).await?;
    session.summary = Some(done.summary(true));
    // The report comes first: if it cannot be written, the session stays active.
    let report = report::write(core, &done, ReportFormat::Html, file).await?;
    let (summary, ended_at) = (session.summary.unwrap_or_default(), session.ended_at.unwrap_or_default());
    let last = summary.clone();
    let ended = change(core, name, move |session| {
        still_active(session)?;
        session.ended_at = Some(ended_at);
        session.summary = Some(last);
        Ok(())
    });
    let ended = ended.await?;
    core.devices.list().iter().for_each(|device| device.hand_over(name, None));
    let (progress_file, warnings) = match progress::write(core, ended, None).await {
        Ok(written) => (Some(written.file), written.warnings),
        // The session has ended regardless, so this is only a warning.
        Err(error) => (None, vec![format!("the progress files were not written: {error}")]),
    };
    Ok(EndResult { session: name.to_owned(), ended_at, summary, compacted, report, progress_file, warnings })
}
