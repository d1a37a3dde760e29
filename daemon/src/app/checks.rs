//! Parameter checks that several methods share.

use std::path::{Path, PathBuf};

use afd_proto::ErrorCode;
use serde_json::json;

use super::error::{Error, Result};
use afd_base::text::cut;
use afd_screen::page::site;
use afd_store::now_ms;
use afd_workspace::erase;

/// Checks that a path parameter is absolute: the daemon's working directory is not the caller's.
pub(in crate::app) fn absolute(field: &'static str, path: &str) -> Result<PathBuf> {
    let path = Path::new(path);
    if !path.is_absolute() {
        return Err(Error::param(field, "an absolute path", format!("{:?}", path.display().to_string())));
    }
    Ok(path.to_owned())
}

/// Checks a session name: 1 to 128 characters, no control characters.
pub(in crate::app) fn check_session(name: &str) -> Result<()> {
    if name.is_empty() || name.chars().count() > 128 || name.chars().any(char::is_control) {
        return Err(Error::param("session", "1 to 128 printable characters", name));
    }
    Ok(())
}

/// Checks the name of a new session.
pub(in crate::app) fn check_new_name(field: &'static str, name: &str) -> Result<()> {
    if check_session(name).is_err() {
        return Err(Error::param(field, "1 to 128 printable characters", cut::brief(name, 40)));
    }
    if erase::is_name_of_erased(name) {
        return Err(Error::param(field, "a name that is not that of a deleted session", name));
    }
    Ok(())
}

/// Returns the error for a name that another session already has.
pub(in crate::app) fn name_taken(name: &str) -> Error {
    Error::new(ErrorCode::Conflict, format!("another session is called {name:?}"))
        .hint("choose another name, or rename or delete that session")
        .details(json!({"session": name}))
}

/// Returns the name of a site that a parameter gives by its domain, a host or a URL.
pub(in crate::app) fn site_name(given: &str) -> Result<String> {
    site::name_of(given).ok_or_else(|| Error::param("site", "a domain, a host or a URL", format!("{given:?}")))
}

/// Checks that a text parameter is neither blank nor longer than `most` characters.
pub(in crate::app) fn check_text(field: &'static str, text: &str, most: usize) -> Result<()> {
    let length = text.chars().count();
    if text.trim().is_empty() || length > most {
        let got = if text.trim().is_empty() { "only whitespace".to_owned() } else { format!("{length} characters") };
        return Err(Error::param(field, &format!("1 to {most} characters"), got));
    }
    Ok(())
}

/// Like [`check_text`], for a parameter that may be absent.
pub(in crate::app) fn check_optional(field: &'static str, text: Option<&str>, most: usize) -> Result<()> {
    match text {
        Some(text) => check_text(field, text, most),
        None => Ok(()),
    }
}

/// Returns an optional text value after a change: `new` if given, else `old`. An empty `new` removes the value.
pub(in crate::app) fn changed(new: Option<String>, old: Option<String>) -> Option<String> {
    new.map_or(old, |text| Some(text).filter(|text| !text.is_empty()))
}

/// Maximum length of a goal, in characters.
pub(in crate::app) const MAX_GOAL: usize = 2_000;

/// Checks that times from a file (Unix milliseconds) are neither before the year 2000 nor more than a day in the
/// future.
pub(in crate::app) fn check_times(times: &[Option<i64>]) -> Result<()> {
    let range = 946_684_800_000..=now_ms() + 86_400_000;
    match times.iter().flatten().find(|at| !range.contains(*at)) {
        Some(at) => Err(Error::param("file", "times since 2000, and not in the future", at)),
        None => Ok(()),
    }
}
