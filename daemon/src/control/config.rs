//! `config.*`

use std::sync::Arc;

use afd_proto::config::{Changed, KeyParams, SetParams, Setting, Settings, Source};
use serde_json::json;

use super::{Core, Error, Result, admin};
use crate::config::keys::{self, Entry, KeyError};

impl From<KeyError> for Error {
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::Unknown(key) => Error::param("key", "a setting of `config list`", format!("{key:?}"))
                .details(json!({"path": "key", "expected": "a setting of `config list`", "got": key, "similar": keys::alike(&key)})),
            KeyError::Unfit { key, expected } => Error::param("value", &format!("{expected} for {key}"), "something else"),
            KeyError::Config(error) => error.into(),
        }
    }
}

fn setting(core: &Core, entry: Entry) -> Setting {
    let file = || core.config.path().display().to_string();
    let (source, origin) = match entry.source {
        keys::Source::Flag => (Source::Flag, None),
        keys::Source::Env(name) => (Source::Env, Some(name.to_owned())),
        keys::Source::File => (Source::File, Some(file())),
        keys::Source::Default => (Source::Default, None),
    };
    Setting { key: entry.key, value: entry.value, source, origin, about: entry.about.to_owned(), needs_restart: entry.restart }
}

/// `config.list`
///
/// # Errors
/// When the file cannot be read.
pub fn list(core: &Arc<Core>) -> Result<Settings> {
    let settings = keys::list(&core.config)?.into_iter().map(|e| setting(core, e)).collect();
    Ok(Settings { file: core.config.path().display().to_string(), settings })
}

/// `config.get`
///
/// # Errors
/// When there is no such key, or the file cannot be read.
pub fn get(core: &Arc<Core>, params: &KeyParams) -> Result<Setting> {
    Ok(setting(core, keys::get(&core.config, &params.key)?))
}

fn changed(core: &Arc<Core>, key: &str, changed: bool) -> Result<Changed> {
    if changed {
        admin::reload(core)?;
    }
    let setting = setting(core, keys::get(&core.config, key)?);
    Ok(Changed { setting, file: core.config.path().display().to_string(), changed })
}

/// `config.set`
///
/// # Errors
/// When there is no such key, the value does not fit, or the file cannot be written; then nothing changes.
pub fn set(core: &Arc<Core>, params: &SetParams) -> Result<Changed> {
    keys::set(&core.config, &params.key, params.value.expose())?;
    changed(core, &params.key, true)
}

/// `config.unset`
///
/// # Errors
/// When there is no such key, or the file would be bad without it; then nothing changes.
pub fn unset(core: &Arc<Core>, params: &KeyParams) -> Result<Changed> {
    let was_set = keys::unset(&core.config, &params.key)?;
    changed(core, &params.key, was_set)
}
