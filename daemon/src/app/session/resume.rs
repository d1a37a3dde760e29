//! `session.resume`: continues a recorded session, or one that is restored from a progress file.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::conversation::Role;
use afd_proto::findings::BugStatus;
use afd_proto::progress::{Progress, ResumeParams, ResumeResult, SessionResume};
use afd_proto::session::VisitedPage;
use afd_proto::tasks::{TaskCounts, TaskStatus};
use serde_json::json;

use super::lifecycle::{check_context, check_restored};
use super::{change, digest, known, progress};
use crate::app::checks::{absolute, check_session, check_text, check_times};
use crate::app::{Core, Error, Methods, Result};
use afd_base::file;
use afd_base::task::run_blocking;
use afd_base::text::{self, cut};
use afd_conversation::{self as conversation, kept, keys::ContextValue, messages, summaries};
use afd_store::{Connection, Result as Stored, new_uid, now_ms};
use afd_workspace::elsewhere::{self, Elsewhere};
use afd_workspace::findings::Place;
use afd_workspace::{self as session, Session, bugs, prompt, results, tasks, tested};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<SessionResume, _, _>(|core, p| async move { resume(&core, &p).await });
}

/// Maximum size of a progress file, in bytes.
const MAX_FILE: u64 = 16 << 20;
/// Maximum number of tasks and bugs in a progress file.
const MAX_ROWS: usize = 10_000;

/// `session.resume`: reopens a session if it has ended, and returns a prompt for continuing it.
///
/// # Errors
/// `NOT_FOUND` if there is no such session and no file was given, `CONFLICT` if the file is for a session that already
/// exists here.
pub async fn resume(core: &Arc<Core>, params: &ResumeParams) -> Result<ResumeResult> {
    let mut name = params.session().to_owned();
    if let Some(file) = &params.file {
        let progress = read(file).await?;
        // The session named by the call takes precedence over the one named in the file.
        name = params.session.clone().unwrap_or_else(|| progress.session_id.clone());
        check_session(&name)?;
        import_progress(core, &name, file, progress).await?;
    }
    let mut session = known(core, &name).await?;
    let reopened = session.ended_at.is_some();
    if reopened {
        session = change(core, &name, |session| {
            session.ended_at = None;
            session.summary = None;
            Ok(())
        })
        .await?;
    }
    let (id, is_ours) = (session.id, session.origin.is_none());
    let digest = digest(&core.store, session).await?;
    let (git, _) = progress::git_state(&digest).await;
    let mut current_progress = session::progress::of(&digest, git);
    let said = core.store.read_all(move |c| said(c, id)).await?;
    let prompt = prompt::resumption(&current_progress, &said, is_ours);
    // The prompt contains the important part of these lists. `session.show` and the progress file contain the complete
    // lists.
    (current_progress.results, current_progress.tested, current_progress.pages) = (Vec::new(), Vec::new(), Vec::new());
    let bugs = digest.info.bugs;
    let summary = format!(
        "Session {name:?} resumed: tasks: {} done, {} in progress, {} remaining; open bugs: {}.",
        current_progress.completed_tasks.len(),
        usize::from(current_progress.current_task.is_some()),
        current_progress.pending_tasks.len(),
        bugs.open
    );
    core.session_changed(&name).await;
    Ok(ResumeResult {
        session: name,
        reopened,
        from_file: params.file.is_some(),
        summary,
        resumption_prompt: prompt,
        task_queue: digest.queue,
        context: digest.context,
        progress: current_progress,
    })
}

/// Maximum length of the conversation in a prompt, in characters.
const MAX_SAID: usize = 3_000;
/// Maximum number of lines of the conversation in a prompt.
const MAX_SAID_LINES: usize = 40;
/// Maximum length of each of the last messages in a prompt, in characters.
const MAX_LAST: usize = 600;

/// Returns the main conversation of a session in brief: its newest summary, else the user's most important statements;
/// then the last turns.
fn said(c: &Connection, session: i64) -> Stored<Vec<String>> {
    let own = conversation::of(c, session)?;
    let summary = summaries::newest(c, own.id, own.cleared_to)?.map(|kept| kept.info.text).unwrap_or_default();
    let mut lines: Vec<String> = summary.lines().filter(|l| !l.trim().is_empty()).map(str::to_owned).collect();
    if lines.is_empty() {
        let mut facts = kept::facts(c, own.id, (own.cleared_to, i64::MAX), (MAX_SAID_LINES, MAX_SAID_LINES))?;
        facts.retain(|fact| fact.role == Role::User);
        facts.truncate(MAX_SAID_LINES / 2);
        facts.sort_by_key(|fact| (fact.position, fact.place));
        lines.extend(facts.into_iter().map(|fact| format!("user: {}", fact.text)));
    }
    // Lines that are repeated by a later line are left out.
    let folded = |text: &str| text::fold(text.trim_end_matches("..."));
    let last = messages::last_requests_and_answers(c, own.id, own.cleared_to, 2)?;
    let last: Vec<(Role, String)> =
        last.into_iter().map(|m| (m.message.role, cut::brief(&m.message.content.text(), MAX_LAST))).collect();
    let last_said: Vec<String> = last.iter().map(|(_, text)| folded(text)).collect();
    let turns: Vec<String> = own
        .rolling
        .iter()
        .filter(|line| line.is_answered() && !repeats(&folded(line.request()), &last_said))
        .map(|line| line.text())
        .collect();
    let said_later: Vec<String> = turns.iter().map(|line| folded(line)).chain(last_said).collect();
    lines.retain(|line| !repeats(&folded(line.strip_prefix("user: ").unwrap_or(line)), &said_later));
    lines.extend(turns);
    lines.extend(last.into_iter().map(|(role, text)| format!("last message of the {role}: {text}")));
    for other in conversation::all(c, session)?
        .into_iter()
        .filter(|other| other.name != conversation::MAIN && other.position > 0)
    {
        lines.push(format!("another conversation: {:?}, {} messages", other.name, messages::count(c, other.id)?));
    }
    let mut length = 0;
    let mut kept: Vec<String> = lines.into_iter().rev().take(MAX_SAID_LINES).collect();
    kept.retain(|line| {
        length += line.chars().count();
        length <= MAX_SAID
    });
    kept.reverse();
    Ok(kept)
}

/// Returns whether any of the texts in `later` contains `text`.
fn repeats(text: &str, later: &[String]) -> bool {
    !text.is_empty() && later.iter().any(|other| other.contains(text))
}

/// Reads a progress file and validates its values as if they were call parameters.
async fn read(file: &str) -> Result<Progress> {
    let path = absolute("file", file)?;
    let shown = path.display().to_string();
    let content = run_blocking(move || file::read_capped(&path, MAX_FILE)).await?;
    let content =
        content.map_err(|error| Error::param("file", "a readable progress file", format!("{shown}: {error}")))?;
    let mut deserializer = serde_json::Deserializer::from_slice(&content);
    let progress: Progress = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        Error::param("file", "a progress file", format!("{shown}, at {}: {}", error.path(), error.inner()))
    })?;
    check(&progress)?;
    Ok(progress)
}

/// Checks the lengths, counts and statuses in a progress file.
fn check(p: &Progress) -> Result<()> {
    let waiting = p.pending_tasks.iter().map(|t| &t.description).chain(p.current_task.iter().map(|t| &t.description));
    let done = p.completed_tasks.iter().map(|t| &t.description);
    waiting.chain(done).try_for_each(|text| check_text("file", text, 2_000))?;
    p.bugs.iter().try_for_each(|b| check_text("file", &b.title, 300))?;
    p.next_steps.iter().chain(&p.blockers).try_for_each(|text| check_text("file", text, 10_000))?;
    if p.completed_tasks.len() + p.pending_tasks.len() + p.bugs.len() + p.results.len() + p.tested.len() + p.pages.len()
        > MAX_ROWS
    {
        return Err(Error::param("file", "at most 10000 tasks, bugs, results, elements and pages", "more"));
    }
    p.results.iter().try_for_each(|r| check_text("file", &r.name, 300))?;
    p.tested.iter().try_for_each(|t| check_text("file", &t.element, 300))?;
    check_restored(
        (p.goal.as_deref(), p.app.as_deref()),
        &[&p.next_steps, &p.blockers],
        p.pages.len().max(p.coverage.pages_visited.len()),
    )?;
    p.coverage.pages_visited.iter().try_for_each(|page| check_text("file", page, 2_000))?;
    if let Some(text) = &p.started_at {
        let at = ms(text).ok_or_else(|| Error::param("file", "startedAt as RFC 3339", format!("{text:?}")))?;
        check_times(&[Some(at)])?;
    }
    let ids: Vec<&String> = tasks_of(p).collect();
    if ids.iter().collect::<HashSet<_>>().len() < ids.len() {
        return Err(Error::param("file", "tasks with different ids", "one of them twice"));
    }
    let ends = |status| matches!(status, TaskStatus::Passed | TaskStatus::Failed | TaskStatus::Skipped);
    if let Some(task) = p.completed_tasks.iter().find(|t| !ends(t.status)) {
        return Err(Error::param("file", "completed tasks with the status passed, failed or skipped", task.status));
    }
    check_context(&p.context)
}

/// Returns the ids of the tasks in a progress file.
fn tasks_of(p: &Progress) -> impl Iterator<Item = &String> {
    p.completed_tasks
        .iter()
        .map(|t| &t.id)
        .chain(p.current_task.iter().map(|t| &t.id))
        .chain(p.pending_tasks.iter().map(|t| &t.id))
}

/// Restores a session from a progress file, unless the session already has content here.
async fn import_progress(core: &Arc<Core>, name: &str, file: &str, progress: Progress) -> Result<()> {
    core.sessions.row(&core.store, name).await?;
    let (origin, wanted) = (core.store.origin().to_owned(), name.to_owned());
    let restored = core.store.write(move |c| match session::by_name(c, &wanted)? {
        Some(session) if session.started_at.is_none() && is_unused(c, session.id)? => {
            restore(c, &origin, session, &progress).map(|()| true)
        }
        _ => Ok(false),
    });
    if restored.await? {
        return Ok(());
    }
    Err(Error::new(ErrorCode::Conflict, format!("session {name:?} already exists"))
        .hint("resume it without the file, or pass another name as `session`")
        .details(json!({"session": name, "file": file})))
}

/// Returns whether a session has no messages, tasks, bugs, results or tested elements yet.
fn is_unused(c: &Connection, id: i64) -> Stored<bool> {
    let tasks = tasks::counts(c, id)?;
    let bugs = bugs::counts(c, &bugs::Filter::of(id))?;
    let results = results::counts(c, &results::Filter::of(id))?;
    let said = conversation::all(c, id)?.iter().any(|own| own.position > 0);
    Ok(tasks == TaskCounts::default() && bugs.total == 0 && results.total == 0 && tested::count(c, id)? == 0 && !said)
}

/// Parses a timestamp into Unix milliseconds.
fn ms(rfc3339: &str) -> Option<i64> {
    rfc3339.parse::<jiff::Timestamp>().ok().map(|t| t.as_millisecond())
}

fn non_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// Prefixes by which derived next steps are recognised in files that do not mark them as derived.
const DERIVED: [&str; 5] = [
    "Finish the current task: ",
    "Start: ",
    "Re-check the ",
    "Retry the failed task: ",
    "Test pages without a result yet: ",
];

/// Returns the next steps and blockers in a progress file that a caller stated. Entries derived from tasks are left
/// out, because they are derived again.
fn stated(p: &Progress) -> (Vec<String>, Vec<String>) {
    let first = |list: &[String], count: u32| list.iter().take(count as usize).cloned().collect();
    match p.stated {
        Some(stated) => (first(&p.next_steps, stated.next_steps), first(&p.blockers, stated.blockers)),
        None => {
            let derived = |step: &&String| DERIVED.iter().any(|start| step.starts_with(start));
            let blocked = |text: &&String| text.contains("\" is blocked by \"") && text.ends_with("\", which failed");
            let steps = p.next_steps.iter().filter(|s| !derived(s)).cloned().collect();
            (steps, p.blockers.iter().filter(|b| !blocked(b)).cloned().collect())
        }
    }
}

/// Returns the visited pages in a progress file. Files from other tools contain only the page names.
fn pages(p: &Progress) -> Vec<VisitedPage> {
    if !p.pages.is_empty() {
        return p.pages.clone();
    }
    let at = ms(&p.timestamp).unwrap_or_else(now_ms);
    let named = |name: &String| VisitedPage {
        app: p.app.clone().unwrap_or_default(),
        activity: None,
        key: name.clone(),
        state: None,
        name: Some(name.clone()),
        observations: 1,
        first_seen: at,
        last_seen: at,
        snapshot: None,
    };
    p.coverage.pages_visited.iter().map(named).collect()
}

/// Writes the content of a progress file to an unused session.
fn restore(c: &Connection, origin: &str, mut session: Session, p: &Progress) -> Stored<()> {
    let id = session.id;
    session.goal.clone_from(&p.goal);
    session.app.clone_from(&p.app);
    session.scope = p.scope.unwrap_or_default();
    (session.next_steps, session.blockers) = stated(p);
    session.started_at = Some(p.started_at.as_deref().and_then(ms).unwrap_or_else(now_ms));
    session::update(c, &session)?;
    restore_tasks(c, origin, id, p)?;
    restore_findings(c, origin, id, p)?;
    for element in &p.tested {
        tested::restore(c, origin, id, element)?;
    }
    elsewhere::set(c, id, &Elsewhere { statistics: p.statistics.clone(), pages: pages(p) }.bounded())?;
    let mut conversation = conversation::of(c, id)?;
    let at = now_ms();
    conversation
        .context
        .extend(p.context.iter().map(|(key, value)| (key.clone(), ContextValue { value: value.clone(), at })));
    conversation::save(c, origin, &conversation)
}

/// Inserts the tasks of a progress file.
fn restore_tasks(c: &Connection, origin: &str, id: i64, p: &Progress) -> Stored<()> {
    // Tasks get new uids, so that a file can be restored more than once. They are assigned up front, so that a task can
    // be blocked by one that is inserted after it.
    let uids: HashMap<&str, String> = tasks_of(p).map(|id| (id.as_str(), new_uid())).collect();
    let uid = |id: &str| uids.get(id).map(String::as_str);
    for task in &p.completed_tasks {
        let new = tasks::New {
            uid: uid(&task.id),
            description: &task.description,
            status: task.status,
            summary: non_empty(&task.summary),
            scope: task.scope.unwrap_or_default(),
            finished_at: ms(&task.completed_at),
            ..tasks::New::default()
        };
        tasks::insert(c, origin, id, &new)?;
    }
    if let Some(task) = &p.current_task {
        let new = tasks::New {
            uid: uid(&task.id),
            description: &task.description,
            status: TaskStatus::Active,
            progress: non_empty(&task.progress),
            scope: task.scope.unwrap_or_default(),
            started_at: ms(&task.started_at),
            ..tasks::New::default()
        };
        tasks::insert(c, origin, id, &new)?;
    }
    for task in &p.pending_tasks {
        let before: Vec<String> = task.blocked_by.iter().filter_map(|id| uids.get(id.as_str()).cloned()).collect();
        let priority = task.priority.clamp(-1_000, 1_000);
        let new = tasks::New {
            uid: uid(&task.id),
            description: &task.description,
            priority,
            before: &before,
            scope: task.scope.unwrap_or_default(),
            ..tasks::New::default()
        };
        tasks::insert(c, origin, id, &new)?;
    }
    Ok(())
}

/// Inserts the bugs and test results of a progress file.
fn restore_findings(c: &Connection, origin: &str, id: i64, p: &Progress) -> Stored<()> {
    for bug in &p.bugs {
        let new = bugs::New {
            title: bug.title.clone(),
            severity: Some(bug.severity),
            actual: bug.actual.clone(),
            place: Place { app: p.app.clone(), page: bug.page.clone(), state: None },
            resolved: bug.status == BugStatus::Resolved,
            scope: bug.scope.unwrap_or_default(),
            ..bugs::New::default()
        };
        bugs::add(c, origin, id, &new)?;
    }
    for result in &p.results {
        let new = results::New {
            task: None,
            name: result.name.clone(),
            status: result.status,
            place: Place { app: p.app.clone(), page: result.page.clone(), state: None },
            duration_ms: result.duration_ms,
            summary: result.summary.clone(),
            evidence: None,
            bug: None,
            scope: result.scope.unwrap_or_default(),
        };
        results::add(c, origin, id, &new)?;
    }
    Ok(())
}
