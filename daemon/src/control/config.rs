//! `config.*`

use std::sync::Arc;

use afd_proto::config::{Changed, KeyParams, SetParams, Setting, Settings};
use serde_json::json;

use super::{Core, Error, Result, admin};
use crate::config::keys::{self, KeyError};

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

/// `config.list`
///
/// # Errors
/// When the file cannot be read.
pub fn list(core: &Arc<Core>) -> Result<Settings> {
    Ok(Settings { file: core.config.path().display().to_string(), settings: keys::list(&core.config)? })
}

/// `config.get`
///
/// # Errors
/// When there is no such key, or the file cannot be read.
pub fn get(core: &Arc<Core>, params: &KeyParams) -> Result<Setting> {
    Ok(keys::get(&core.config, &params.key)?)
}

fn changed(core: &Arc<Core>, key: &str, changed: bool) -> Result<Changed> {
    if changed {
        admin::reload(core)?;
    }
    let setting = keys::get(&core.config, key)?;
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
