//! Finding the session that a call refers to, and validation shared by the session calls.

use std::path::PathBuf;
use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::vocabulary::RecordScope;
use serde_json::json;

use crate::app::checks::{absolute, check_session};
use crate::app::{Core, Error, Result};
use afd_base::task::run_blocking;
use afd_store::Connection;
use afd_workspace::{self as session, Session, SessionError};

impl From<SessionError> for Error {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Missing(what) => {
                Error::new(ErrorCode::NotFound, what).hint("`afctl session task list` shows the tasks of a session")
            }
            SessionError::Conflict(what, hint) => Error::new(ErrorCode::Conflict, what).hint(hint),
            SessionError::Ended => {
                Error::new(ErrorCode::Conflict, "the session has ended").hint("`afctl session resume` reopens it")
            }
            SessionError::Deleted => Error::new(ErrorCode::NotFound, "the session was deleted")
                .hint("`afctl session start` starts another one"),
            SessionError::Store(error) => error.into(),
        }
    }
}

/// Returns an existing session; `NOT_FOUND` if there is no session with that name.
pub(in crate::app) async fn known(core: &Arc<Core>, name: &str) -> Result<Session> {
    check_session(name)?;
    let wanted = name.to_owned();
    let found = core.store.read_all(move |c| session::by_name(c, &wanted)).await?;
    found.ok_or_else(|| no_session(name))
}

/// Returns the error for a session that does not exist.
pub(in crate::app) fn no_session(name: &str) -> Error {
    Error::new(ErrorCode::NotFound, format!("no such session: {name:?}"))
        .hint("`afctl session list` lists the sessions; `afctl session start` starts one")
        .details(json!({"session": name}))
}

/// Returns an existing session that has not ended; `CONFLICT` if it has.
pub(in crate::app) async fn active(core: &Arc<Core>, name: &str) -> Result<Session> {
    let session = known(core, name).await?;
    if session.ended_at.is_some() {
        return Err(Error::new(ErrorCode::Conflict, format!("session {name:?} has ended"))
            .hint("`afctl session resume` reopens it")
            .details(json!({"session": name, "endedAt": session.ended_at})));
    }
    Ok(session)
}

/// Returns an active session to write to, creating it if it does not exist; `CONFLICT` if it has ended.
pub(in crate::app) async fn for_writing(core: &Arc<Core>, name: &str) -> Result<Session> {
    check_session(name)?;
    core.sessions.row(&core.store, name).await?;
    active(core, name).await
}

/// Returns the scope of a new record: the one given by the caller, else the scope of the session with this row id.
pub(in crate::app) async fn scope_of(core: &Arc<Core>, said: Option<RecordScope>, session: i64) -> Result<RecordScope> {
    match said {
        Some(scope) => Ok(scope),
        None => Ok(core.store.read(move |c| session::scope_of(c, session)).await?),
    }
}

/// Reads a session, applies `work` and saves the result in one transaction, unless `work` refuses. Returns the changed
/// session.
pub(in crate::app) async fn change(
    core: &Arc<Core>,
    name: &str,
    work: impl FnOnce(&mut Session) -> std::result::Result<(), SessionError> + Send + 'static,
) -> Result<Session> {
    let wanted = name.to_owned();
    let change = move |c: &Connection| {
        let mut session = session::by_name(c, &wanted)?.ok_or_else(|| no_session(&wanted))?;
        work(&mut session)?;
        session::update(c, &session)?;
        Ok::<_, Error>(session)
    };
    core.store.write_or_refuse(change).await
}

/// Refuses a session that has ended. For use inside the transaction that changes it, so that the session cannot end in
/// between.
pub(in crate::app) fn still_active(session: &Session) -> std::result::Result<(), SessionError> {
    if session.ended_at.is_some() { Err(SessionError::Ended) } else { Ok(()) }
}

/// Checks that a directory parameter is an absolute path. If the field is `directory`, the directory must exist. For
/// other fields it may be missing, but the path must not lead to anything other than a directory.
pub(in crate::app) async fn check_directory(field: &'static str, path: Option<&str>) -> Result<Option<PathBuf>> {
    let Some(path) = path else { return Ok(None) };
    let path = absolute(field, path)?;
    let asked = path.clone();
    // On a blocking thread, as the file system may be slow.
    let (exists, is_dir) = run_blocking(move || (asked.exists(), asked.is_dir())).await?;
    // `directory` is only read, so it must exist. The others are written to and created on demand.
    if (exists || field == "directory") && !is_dir {
        return Err(Error::param(field, "a directory", path.display()));
    }
    Ok(Some(path))
}
