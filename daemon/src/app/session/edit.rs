//! `session.update`, `session.delete`: changing and deleting sessions.

use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::session::{DeleteParams, Deleted, SessionDelete, SessionInfo, SessionUpdate, UpdateParams};
use afd_proto::vocabulary::RecordScope;
use serde_json::json;

use super::{known, no_session};
use crate::app::checks::{changed, check_new_name, name_taken};
use crate::app::daemon::backups;
use crate::app::recall::Recall;
use crate::app::{Core, Error, Methods, Result};
use afd_base::config::Config;
use afd_base::task::run_blocking;
use afd_device::{Registry, rename_screens};
use afd_experience::memory::{notes, requests, sessions};
use afd_recall::memories;
use afd_store::{Connection, StoreError, artifact, now_ms};
use afd_workspace::{self as session, Session, erase, progress};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<SessionUpdate, _, _>(|core, p| async move { update(&core, &p).await });
    methods.add::<SessionDelete, _, _>(|core, p| async move { delete(&core, &p).await });
}

/// Refuses to rename a session that holds a device, because the lease is held by name.
fn check_leases(devices: &Registry, name: &str) -> Result<()> {
    let held: Vec<String> = devices.list().iter().filter(|d| d.leased_to(name)).map(|d| d.name().to_owned()).collect();
    if held.is_empty() {
        return Ok(());
    }
    Err(Error::new(ErrorCode::Conflict, format!("session {name:?} holds {}", held.join(", ")))
        .hint("`afctl device release` releases the device")
        .details(json!({"session": name, "devices": held})))
}

/// `session.update`: renames a session, or changes its goal, app or scope.
///
/// # Errors
/// `NOT_FOUND` if there is no such session, `CONFLICT` if the new name is taken or the session holds a device.
pub async fn update(core: &Arc<Core>, params: &UpdateParams) -> Result<SessionInfo> {
    if params.name.is_none() && params.goal.is_none() && params.app.is_none() && params.scope.is_none() {
        return Err(Error::param("name", "name, goal, app or scope", "none of them"));
    }
    let old = known(core, params.session()).await?.name;
    if let Some(new) = params.name.as_deref().filter(|new| *new != old) {
        check_new_name("name", new)?;
        check_leases(&core.devices, &old)?;
    }
    let (p, wanted) = (params.clone(), old.clone());
    let change = move |c: &Connection| {
        let mut session = session::by_name(c, &wanted)?.ok_or_else(|| no_session(&wanted))?;
        if let Some(new) = p.name.filter(|new| *new != wanted) {
            if session::find(c, &new)?.is_some() {
                return Err(name_taken(&new));
            }
            rename_screens(c, &wanted, &new)?;
            session.name = new;
        }
        session.goal = changed(p.goal, session.goal);
        session.app = changed(p.app, session.app);
        session.scope = p.scope.unwrap_or(session.scope);
        session::update(c, &session)?;
        let session = Session { updated_at: now_ms(), ..session };
        Ok::<_, Error>(session::info(c, &session, sessions::last_at(c, session.id)?)?)
    };
    let lock = core.sessions.progress.lock(old.clone()).await;
    let before = known(core, &old).await?;
    core.sessions.forget(&old);
    let info = core.store.write_or_refuse(change).await?;
    core.sessions.forget(&old);
    if info.session != old {
        leave_devices(&core.devices, &old, Some(&info.session));
        // The progress files under the old name are written again under the new name.
        if delete_progress(&core.config, &before).await? {
            let renamed = known(core, &info.session).await?;
            super::progress::write(core, renamed, None).await?;
        }
    }
    // If the name is unchanged, writing the files takes the same lock.
    drop(lock);
    core.session_changed(&info.session).await;
    Ok(info)
}

/// Releases the leases that were taken under a name that no active session has any longer. Its screens go to the session
/// that has another name now; without one, to those that need screens.
pub(super) fn leave_devices(devices: &Registry, name: &str, renamed: Option<&str>) {
    for device in devices.list() {
        device.release_lease(name);
        device.hand_over(name, renamed);
    }
}

/// Kinds of artifacts that contain a session's messages.
pub(in crate::app) const SAYING: [&str; 2] = ["session_report", "session_export"];

/// `session.delete`: deletes a session with all its messages.
///
/// # Errors
/// `NOT_FOUND` if there is no such session, `CONFLICT` if it holds a device.
pub async fn delete(core: &Arc<Core>, params: &DeleteParams) -> Result<Deleted> {
    check_leases(&core.devices, params.session())?;
    let (own, name, findings) = (core.clone(), params.session().to_owned(), params.findings);
    core.finish(async move { erase_all(&own, &name, findings).await }).await?
}

async fn erase_all(core: &Arc<Core>, name: &str, findings: bool) -> Result<Deleted> {
    let _lock = core.sessions.progress.lock(name.to_owned()).await;
    if erase::is_name_of_erased(name) {
        return erase_rest(core, name, findings).await;
    }
    known(core, name).await?;
    core.sessions.forget(name);
    let wanted = name.to_owned();
    let work = move |c: &Connection| {
        let session = session::by_name(c, &wanted)?.ok_or_else(|| no_session(&wanted))?;
        let written = artifact::written(c, session.id, &SAYING)?;
        let mut erased = erase::session(c, &session, findings)?;
        let mut kept = erase::findings(c, session.id)?;
        for note in notes::of_session(c, session.id)? {
            if findings || note.scope == Some(RecordScope::Session) {
                notes::delete(c, Some(note.id), None)?;
                erased.findings += 1;
            } else {
                kept += 1;
            }
        }
        let memories = memories::erase_of(c, session.id, findings)?;
        let memories = i64::try_from(memories).unwrap_or(i64::MAX);
        if findings {
            erased.findings += memories;
        } else {
            erased.derived += memories;
            kept += memories::count_of(c, session.id)?;
        }
        // A result that is recorded for a request key may quote deleted messages.
        requests::forget_what_was_said(c)?;
        Ok::<_, Error>((session, erased, kept, written))
    };
    let (session, erased, kept, written) = core.store.write_or_refuse(work).await?;
    core.sessions.forget(name);
    core.experience.views.forget_session(session.id);
    leave_devices(&core.devices, name, None);
    let (ours, theirs): (Vec<_>, Vec<_>) = written.into_iter().partition(|(_, _, managed)| *managed);
    core.delete_artifacts(erased.artifacts.into_iter().chain(ours.into_iter().map(|(id, _, _)| id)).collect()).await;
    delete_progress(&core.config, &session).await?;
    Recall::scrub(core).await?;
    Ok(Deleted {
        session: name.to_owned(),
        remainder: (kept > 0).then(|| erase::name_after(&session)),
        uid: session.uid,
        messages: erased.messages,
        derived: erased.derived,
        tasks: erased.tasks,
        findings: erased.findings,
        kept,
        files_left: theirs.into_iter().map(|(_, path, _)| path).collect(),
        backups: backups::holding(&core.config, session.created_at).await,
    })
}

/// Deletes what is left of a deleted session: its bugs, test results, notes and memories.
async fn erase_rest(core: &Arc<Core>, name: &str, findings: bool) -> Result<Deleted> {
    if !findings {
        return Err(no_session(name).hint("it was deleted; `--findings` deletes its remaining findings"));
    }
    let wanted = name.to_owned();
    let work = move |c: &Connection| {
        let id = session::find(c, &wanted)?.ok_or_else(|| no_session(&wanted))?;
        let uid = session::uid_of(c, id)?;
        let mut findings =
            erase::delete_findings(c, id, true)? + i64::try_from(memories::erase_of(c, id, true)?).unwrap_or(i64::MAX);
        for note in notes::of_session(c, id)? {
            notes::delete(c, Some(note.id), None)?;
            findings += 1;
        }
        requests::forget_what_was_said(c)?;
        Ok::<_, Error>(Deleted {
            session: wanted,
            uid,
            messages: 0,
            derived: 0,
            tasks: 0,
            findings,
            kept: 0,
            remainder: None,
            files_left: Vec::new(),
            backups: Vec::new(),
        })
    };
    let done = core.store.write_or_refuse(work).await?;
    Recall::scrub(core).await?;
    Ok(Deleted { backups: backups::holding(&core.config, 0).await, ..done })
}

/// Deletes the progress files of a session. Returns whether there were any.
async fn delete_progress(config: &Config, session: &Session) -> Result<bool> {
    let usual = config.get().progress_dir.clone();
    let files: Vec<_> =
        session.progress_dir.iter().chain([&usual]).map(|dir| progress::files(dir, &session.name)).collect();
    let delete = move || {
        let mut found = false;
        for path in files.into_iter().flat_map(|(json, text)| [json, text]) {
            match std::fs::remove_file(&path) {
                Ok(()) => found = true,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => tracing::warn!(%error, file = %path.display(), "cannot delete a progress file"),
            }
        }
        found
    };
    Ok(run_blocking(delete).await.map_err(StoreError::from)?)
}
