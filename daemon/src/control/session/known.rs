//! Which session a call means, and what its parameters may be.

use std::path::PathBuf;
use std::sync::Arc;

use afd_proto::ErrorCode;
use rusqlite::Connection;
use serde_json::json;

use super::super::{Core, Error, Result, check_session};
use crate::session::{self, Session, SessionError};
use crate::task::run_blocking;

impl From<SessionError> for Error {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Missing(what) => {
                Error::new(ErrorCode::NotFound, what).hint("`afctl session task list` shows the tasks of a session")
            }
            SessionError::Conflict(what, hint) => Error::new(ErrorCode::Conflict, what).hint(hint),
            SessionError::Ended => {
                Error::new(ErrorCode::Conflict, "the session has ended").hint("`afctl session resume` takes it up again")
            }
            SessionError::Store(error) => error.into(),
        }
    }
}

/// A session that is known.
pub(in crate::control) async fn known(core: &Arc<Core>, name: &str) -> Result<Session> {
    check_session(name)?;
    let wanted = name.to_owned();
    let found = core.store.read_all(move |c| session::by_name(c, &wanted)).await?;
    found.ok_or_else(|| no_session(name))
}

pub(in crate::control) fn no_session(name: &str) -> Error {
    Error::new(ErrorCode::NotFound, format!("there is no session {name:?}"))
        .hint("`afctl session list` shows the sessions; `afctl session start` begins one")
        .details(json!({"session": name}))
}

/// A session that is known and goes on.
pub(in crate::control) async fn active(core: &Arc<Core>, name: &str) -> Result<Session> {
    let session = known(core, name).await?;
    if session.ended_at.is_some() {
        return Err(Error::new(ErrorCode::Conflict, format!("session {name:?} has ended"))
            .hint("`afctl session resume` takes it up again")
            .details(json!({"session": name, "endedAt": session.ended_at})));
    }
    Ok(session)
}

/// A session that something is to be written to; it appears by use.
pub(in crate::control) async fn for_writing(core: &Arc<Core>, name: &str) -> Result<Session> {
    check_session(name)?;
    core.session_row(name).await?;
    active(core, name).await
}

/// Changes what is kept of a session, as it is at that moment, unless the change refuses it; returns it.
pub(in crate::control) async fn change(
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

/// Refuses a session that has ended, in the step that changes it.
pub(in crate::control) fn still_active(session: &Session) -> std::result::Result<(), SessionError> {
    if session.ended_at.is_some() { Err(SessionError::Ended) } else { Ok(()) }
}

/// A text of a call: not blank, not too long.
pub(in crate::control) fn check_text(field: &'static str, text: &str, most: usize) -> Result<()> {
    let length = text.chars().count();
    if text.trim().is_empty() || length > most {
        let got = if text.trim().is_empty() { "nothing but blanks".to_owned() } else { format!("{length} characters") };
        return Err(Error::param(field, &format!("1 to {most} characters"), got));
    }
    Ok(())
}

pub(in crate::control) fn check_optional(field: &'static str, text: Option<&str>, most: usize) -> Result<()> {
    match text {
        Some(text) => check_text(field, text, most),
        None => Ok(()),
    }
}

/// A directory of a call.
pub(in crate::control) async fn check_directory(field: &'static str, path: Option<&str>) -> Result<Option<PathBuf>> {
    let Some(path) = path else { return Ok(None) };
    let path = super::super::artifacts::absolute(field, path)?;
    let asked = path.clone();
    // It may lie on a disk that is slow to answer.
    let (exists, is_dir) = run_blocking(move || (asked.exists(), asked.is_dir())).await?;
    // Directories that are written to are made; one that is read is to be there.
    if (exists || field == "directory") && !is_dir {
        return Err(Error::param(field, "a directory", path.display()));
    }
    Ok(Some(path))
}
