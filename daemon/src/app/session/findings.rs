//! `session.bug.*`, `session.result.*`: recording and listing bugs and test results.

use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::findings::{
    Bug, BugAdd, BugAddParams, BugAddResult, BugList, BugListParams, BugReopen, BugReopenParams, BugResolve,
    BugResolveParams, BugShow, BugShowParams, BugUpdate, BugUpdateParams, Bugs, ResultAdd, ResultAddParams, ResultList,
    ResultListParams, Results, TestResult,
};
use afd_proto::recall::EntryType;
use afd_proto::vocabulary::RecordScope;
use serde_json::json;

use super::{evidence, for_writing, known, no_session};
use crate::app::checks::{changed, check_text};
use crate::app::paging::page;
use crate::app::{Core, Error, Methods, Result, recall};
use afd_experience::memory::{log, observations, sessions};
use afd_experience::visual::states;
use afd_store::{Connection, Page, Reader, Result as Stored, Store, StoreError, artifact, now_ms};
use afd_workspace::findings::Place;
use afd_workspace::{self as session, Session, bugs, erase, results, tasks};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<BugAdd, _, _>(|core, p| async move { add_bug(&core, &p).await });
    methods.add::<BugList, _, _>(|core, p| async move { list_bugs(&core, &p).await });
    methods.add::<BugShow, _, _>(|core, p| async move { show_bug(&core.store, &p).await });
    methods.add::<BugResolve, _, _>(|core, p| async move { resolve_bug(&core, &p).await });
    methods.add::<BugUpdate, _, _>(|core, p| async move { update_bug(&core, &p).await });
    methods.add::<BugReopen, _, _>(|core, p| async move { reopen_bug(&core, &p).await });
    methods.add::<ResultAdd, _, _>(|core, p| async move { add_result(&core, &p).await });
    methods.add::<ResultList, _, _>(|core, p| async move { list_results(&core, &p).await });
}

/// Maximum length of a step to reproduce a bug, in characters.
const MAX_TEXT: usize = 10_000;
/// Maximum number of similar bugs that are returned.
const MAX_SIMILAR: usize = 5;

/// Returns the place of a finding: the given page, else the page that the session observed last.
pub(super) async fn place(store: &Store, session: &Session, page: Option<&str>, app: Option<&str>) -> Result<Place> {
    let (name, own, page, app) =
        (session.name.clone(), session.app.clone(), page.map(str::to_owned), app.map(str::to_owned));
    let found = store.read_all(move |c| {
        let seen = log::context(c, &name, None)?;
        let structure = match (&page, seen.observation_id.as_deref()) {
            (None, Some(uid)) => observations::structure_of(c, uid)?,
            _ => None,
        };
        let state = structure.map(|key| states::of_structure(c, &key)).transpose()?.flatten().and_then(|s| s.code);
        let here = page.is_none();
        Ok(Place {
            app: app.or(seen.app.filter(|_| here)).or(own),
            page: page.or(seen.page_key).or(seen.activity),
            state,
        })
    });
    Ok(found.await?)
}

/// Resolves an artifact given by id, by uid, or as `latest` for the session's newest screenshot. Returns its uid.
async fn artifact_of(store: &Store, field: &'static str, session: &str, named: Option<&str>) -> Result<Option<String>> {
    let Some(named) = named else { return Ok(None) };
    let (wanted, name) = (named.to_owned(), session.to_owned());
    let found = store.read_all(move |c| {
        if wanted == "latest" {
            let newest = artifact::Filter {
                session: Some(name),
                kind: Some("screenshot_image".to_owned()),
                page: Page::first(1),
            };
            return Ok(artifact::list(c, &newest)?.artifacts.into_iter().next().map(|a| a.uid));
        }
        match wanted.parse::<i64>() {
            Ok(id) => Ok(artifact::find(c, id)?.map(|a| a.uid)),
            Err(_) => Ok(artifact::id_of(c, &wanted)?.map(|_| wanted)),
        }
    });
    match found.await? {
        Some(uid) => Ok(Some(uid)),
        None if named == "latest" => Err(Error::param(field, "a screenshot taken by the session", "none")),
        None => Err(Error::new(ErrorCode::NotFound, format!("{field}: no such artifact: {named:?}"))
            .hint("`afctl artifact list` shows the ids of the artifacts")
            .details(json!({"path": field, "expected": "an artifact", "got": named}))),
    }
}

/// `session.bug.add`: records a bug and returns it with similar bugs.
///
/// # Errors
/// `INVALID_PARAMS` if a field is invalid, `NOT_FOUND` if the screenshot does not exist.
pub async fn add_bug(core: &Arc<Core>, params: &BugAddParams) -> Result<BugAddResult> {
    check_line("title", &params.title)?;
    check_steps(&params.steps)?;
    let session = for_writing(core, params.session()).await?;
    let mut place = place(&core.store, &session, params.page.as_deref(), params.app.as_deref()).await?;
    let screenshot = artifact_of(&core.store, "screenshot", &session.name, params.screenshot.as_deref()).await?;
    let mut p = params.clone();
    if params.from_log {
        evidence::add(core, &session, &mut place, &mut p).await?;
    }
    let (origin, id, session_scope) = (core.store.origin().to_owned(), session.id, session.scope);
    let (title, app) = (p.title.clone(), place.app.clone());
    let (own, described) = (
        core.clone(),
        [Some(p.title.as_str()), p.description.as_deref()].into_iter().flatten().collect::<Vec<_>>().join("\n"),
    );
    core.recall.catch_up().await;
    let similar = core.store.read_all(move |c| {
        let mut similar = bugs::similar(c, &title, app.as_deref(), Reader::Session(id))?;
        let about = recall::rows_about(&own.recall, c, &described, EntryType::Bug, app.as_deref(), id)?;
        for other in about.found {
            if similar.len() < MAX_SIMILAR && similar.iter().all(|bug| bug.id != other) {
                similar.extend(bugs::get(c, other)?);
            }
        }
        Ok((similar, about.missing.into_iter().map(str::to_owned).collect()))
    });
    let (similar, missing) = similar.await?;
    let work = move |c: &Connection| {
        screenshot.as_deref().map(|uid| artifact::keep(c, uid)).transpose()?;
        let steps = if p.steps.is_empty() { steps_taken(c, id)? } else { p.steps };
        let new = bugs::New {
            task: tasks::current(c, id)?.map(|t| t.uid),
            title: p.title.trim().to_owned(),
            severity: p.severity,
            description: p.description,
            steps,
            expected: p.expected,
            actual: p.actual,
            place,
            screenshot,
            resolved: false,
            scope: p.scope.unwrap_or(session_scope),
        };
        Ok::<_, StoreError>(BugAddResult { bug: bugs::add(c, &origin, id, &new)?, similar, missing })
    };
    let added = core.store.write_or_refuse(move |c| session::while_active(c, id, work)).await?;
    core.session_changed(&session.name).await;
    Ok(added)
}

/// Checks that text has only one line.
fn check_line(field: &'static str, text: &str) -> Result<()> {
    if text.trim().contains(['\n', '\r']) {
        return Err(Error::param(field, "a text on one line", "several lines"));
    }
    Ok(())
}

/// Maximum number of actions that become the steps to reproduce a bug.
const MAX_STEPS_TAKEN: usize = 10;
/// Maximum age of the actions that become the steps to reproduce a bug, in milliseconds.
const STEPS_TAKEN_MS: i64 = 30 * 60 * 1_000;

/// Returns the last actions of a session on its devices, starting with the last launch of an app if there is one among
/// them.
fn steps_taken(c: &Connection, session: i64) -> Stored<Vec<String>> {
    let since = now_ms() - STEPS_TAKEN_MS;
    let mut deeds = sessions::deeds(c, session, MAX_STEPS_TAKEN * 4)?;
    deeds.retain(|deed| deed.acted && deed.at >= since);
    let from = deeds.len().saturating_sub(MAX_STEPS_TAKEN);
    let launch = deeds[from..].iter().rposition(|deed| deed.what.starts_with("launch")).unwrap_or(0);
    Ok(deeds.split_off(from + launch).into_iter().map(|deed| deed.what).collect())
}

/// Checks the steps to reproduce a bug.
fn check_steps(steps: &[String]) -> Result<()> {
    steps.iter().try_for_each(|step| check_text("steps", step, MAX_TEXT))
}

/// Returns the row id of the named session; `None` if no session is named.
async fn session_id_of(core: &Arc<Core>, session: Option<&str>) -> Result<Option<i64>> {
    match session {
        // Findings of a deleted session can still be listed under the name that they show.
        Some(name) if erase::is_name_of_erased(name) => {
            let wanted = name.to_owned();
            let found = core.store.read_all(move |c| session::find(c, &wanted)).await?;
            Ok(Some(found.ok_or_else(|| no_session(name))?))
        }
        Some(name) => Ok(Some(known(core, name).await?.id)),
        None => Ok(None),
    }
}

/// `session.bug.list`: lists the bugs of one session or of all sessions.
///
/// # Errors
/// `NOT_FOUND` if there is no such session.
pub async fn list_bugs(core: &Arc<Core>, params: &BugListParams) -> Result<Bugs> {
    let page = page(params.limit(), params.cursor)?;
    let session = session_id_of(core, params.session.as_deref()).await?;
    let filter = bugs::Filter {
        session,
        reader: Reader::of(session),
        severity: params.severity,
        status: params.status,
        app: params.app.clone(),
        page: params.page.clone(),
    };
    let listed = core.store.read_all(move |c| {
        let (bugs, next_cursor) = bugs::list(c, &filter, page)?;
        Ok(Bugs { bugs, counts: bugs::counts(c, &filter)?, next_cursor })
    });
    Ok(listed.await?)
}

/// `session.bug.show`: returns one bug.
///
/// # Errors
/// `NOT_FOUND` if there is no such bug.
pub async fn show_bug(store: &Store, params: &BugShowParams) -> Result<Bug> {
    let (id, asking) = (params.id, params.session().to_owned());
    store.read_all(move |c| told(c, id, &asking)).await?.ok_or_else(|| no_bug(id))
}

/// Returns a bug by its row id, if the session may see it.
fn told(c: &Connection, id: i64, asking: &str) -> Stored<Option<Bug>> {
    Ok(bugs::get(c, id)?.filter(|bug| bug.scope.is_none() || bug.session == asking))
}

fn no_bug(id: i64) -> Error {
    Error::new(ErrorCode::NotFound, format!("no such bug: {id}")).hint("`afctl session bug list` lists the bugs")
}

/// `session.bug.resolve`: marks a bug as resolved.
///
/// # Errors
/// `NOT_FOUND` if there is no such bug, `CONFLICT` if it is already resolved.
pub async fn resolve_bug(core: &Arc<Core>, params: &BugResolveParams) -> Result<Bug> {
    let (id, reason, asking) = (params.id, params.reason.trim().to_owned(), params.session().to_owned());
    let done = core.store.write(move |c| match told(c, id, &asking)? {
        Some(bug) if bug.resolved_at.is_some() => Ok(Some(Err(bug))),
        Some(_) => Ok(bugs::resolve(c, id, &reason)?.map(Ok)),
        None => Ok(None),
    });
    match done.await? {
        Some(Ok(bug)) => {
            core.session_changed(&bug.session).await;
            Ok(bug)
        }
        Some(Err(bug)) => Err(Error::new(ErrorCode::Conflict, format!("bug {id} is already resolved"))
            .details(json!({"resolvedAt": bug.resolved_at, "resolution": bug.resolution}))),
        None => Err(no_bug(id)),
    }
}

/// `session.bug.update`: changes the given fields of a bug.
///
/// # Errors
/// `INVALID_PARAMS` if a field is invalid or none is given, `NOT_FOUND` if the bug or the screenshot does not exist.
pub async fn update_bug(core: &Arc<Core>, params: &BugUpdateParams) -> Result<Bug> {
    let p = params.clone();
    if p == (BugUpdateParams { id: p.id, session: p.session.clone(), ..BugUpdateParams::default() }) {
        return Err(Error::param("title", "a field to change", "none"));
    }
    p.title.as_deref().map_or(Ok(()), |title| check_line("title", title))?;
    check_steps(p.steps.as_deref().unwrap_or_default())?;
    let known_bug = show_bug(&core.store, &BugShowParams { id: p.id, session: p.session.clone() }).await?;
    let screenshot = match p.screenshot.as_deref() {
        Some("") => Some(None),
        Some(named) => Some(artifact_of(&core.store, "screenshot", &known_bug.session, Some(named)).await?),
        None => None,
    };
    let written = core.store.write(move |c| {
        let Some(mut bug) = bugs::get(c, p.id)? else { return Ok(None) };
        // The state belongs to the old page, so a new page clears it.
        bug.state = bug.state.filter(|_| p.page.is_none());
        bug.title = p.title.map_or(bug.title, |title| title.trim().to_owned());
        bug.severity = p.severity.unwrap_or(bug.severity);
        bug.scope = p.scope.map_or(bug.scope, RecordScope::narrowed);
        bug.steps = p.steps.unwrap_or(bug.steps);
        bug.description = changed(p.description, bug.description);
        bug.expected = changed(p.expected, bug.expected);
        bug.actual = changed(p.actual, bug.actual);
        bug.page = changed(p.page, bug.page);
        bug.app = changed(p.app, bug.app);
        if let Some(uid) = &screenshot {
            uid.as_deref().map(|uid| artifact::keep(c, uid)).transpose()?;
            bug.screenshot.clone_from(uid);
        }
        bugs::change(c, &bug)
    });
    let bug = written.await?.ok_or_else(|| no_bug(params.id))?;
    core.session_changed(&bug.session).await;
    Ok(bug)
}

/// `session.bug.reopen`: opens a resolved bug again.
///
/// # Errors
/// `NOT_FOUND` if there is no such bug, `CONFLICT` if it is open.
pub async fn reopen_bug(core: &Arc<Core>, params: &BugReopenParams) -> Result<Bug> {
    let (id, asking) = (params.id, params.session().to_owned());
    let done = core.store.write(move |c| match told(c, id, &asking)? {
        Some(bug) if bug.resolved_at.is_none() => Ok(Some(Err(bug))),
        Some(_) => Ok(bugs::reopen(c, id)?.map(Ok)),
        None => Ok(None),
    });
    match done.await? {
        Some(Ok(bug)) => {
            core.session_changed(&bug.session).await;
            Ok(bug)
        }
        Some(Err(_)) => {
            Err(Error::new(ErrorCode::Conflict, format!("bug {id} is open")).hint("nothing has to be done"))
        }
        None => Err(no_bug(id)),
    }
}

/// `session.result.add`: records a test result.
///
/// # Errors
/// `INVALID_PARAMS` if a field is invalid, `NOT_FOUND` if the evidence or the bug does not exist.
pub async fn add_result(core: &Arc<Core>, params: &ResultAddParams) -> Result<TestResult> {
    let session = for_writing(core, params.session()).await?;
    let place = place(&core.store, &session, params.page.as_deref(), params.app.as_deref()).await?;
    let evidence = artifact_of(&core.store, "evidence", &session.name, params.evidence.as_deref()).await?;
    let bug = match params.bug {
        Some(id) => {
            let asking = session.name.clone();
            let found = core.store.read_all(move |c| told(c, id, &asking)).await?;
            Some(found.ok_or_else(|| Error::new(ErrorCode::NotFound, format!("bug: no such bug: {id}")))?.uid)
        }
        None => None,
    };
    let (origin, id, session_scope, p) = (core.store.origin().to_owned(), session.id, session.scope, params.clone());
    let work = move |c: &Connection| {
        evidence.as_deref().map(|uid| artifact::keep(c, uid)).transpose()?;
        let new = results::New {
            task: tasks::current(c, id)?.map(|t| t.uid),
            name: p.name.trim().to_owned(),
            status: p.status,
            place,
            duration_ms: p.duration_ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX)),
            summary: p.summary,
            evidence,
            bug,
            scope: p.scope.unwrap_or(session_scope),
        };
        results::add(c, &origin, id, &new)
    };
    let added = core.store.write_or_refuse(move |c| session::while_active(c, id, work)).await?;
    core.session_changed(&session.name).await;
    Ok(added)
}

/// `session.result.list`: lists the test results of one session or of all sessions.
///
/// # Errors
/// `NOT_FOUND` if there is no such session.
pub async fn list_results(core: &Arc<Core>, params: &ResultListParams) -> Result<Results> {
    let page = page(params.limit(), params.cursor)?;
    let session = session_id_of(core, params.session.as_deref()).await?;
    let filter = results::Filter {
        session,
        reader: Reader::of(session),
        status: params.status,
        page: params.page.clone(),
        since: params.since,
    };
    let listed = core.store.read_all(move |c| {
        let (results, next_cursor) = results::list(c, &filter, page)?;
        Ok(Results { results, counts: results::counts(c, &filter)?, next_cursor })
    });
    Ok(listed.await?)
}
