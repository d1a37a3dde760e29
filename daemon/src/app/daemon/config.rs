//! `config.*`: lists, reads and changes settings in the configuration file.

use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::config::{
    ConfigGet, ConfigList, ConfigSet, ConfigUnset, KeyParams, SetParams, Setting, SettingChange, Settings,
};
use serde_json::json;

use crate::app::{Core, Error, Methods, Result, daemon};
use afd_base::config::Config;
use afd_base::config::keys::{self, KeyError};
use afd_base::task::run_blocking;

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<ConfigList, _, _>(|core, _| async move { list(&core).await });
    methods.add::<ConfigGet, _, _>(|core, p| async move { get(&core, p).await });
    methods.add::<ConfigSet, _, _>(|core, p| async move { set(&core, p).await });
    methods.add::<ConfigUnset, _, _>(|core, p| async move { unset(&core, p).await });
}

impl From<KeyError> for Error {
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::Unknown(key) => Error::param("key", "a key listed by `config list`", format!("{key:?}"))
                .details(json!({"path": "key", "expected": "a key listed by `config list`", "got": key, "similar": keys::alike(&key)})),
            // The value is not quoted: it may be a secret meant for another key.
            KeyError::InvalidValue { key, expected } => Error::param("value", &format!("{expected} for {key}"), "an invalid value"),
            KeyError::FileOnly(key) => {
                let (table, name) = key.rsplit_once('.').unwrap_or(("", &key));
                Error::new(ErrorCode::Refused, format!("{key} can be loosened in the configuration file only, not over the socket"))
                    .hint(format!(
                        "write `{name}` below [{table}] in the file; it takes effect at once. `afctl config list` names the file"
                    ))
                    .details(json!({"setting": key}))
            }
            KeyError::Config(error) => error.into(),
        }
    }
}

/// Implements `config.list`.
///
/// # Errors
/// If the configuration file cannot be read.
pub async fn list(core: &Arc<Core>) -> Result<Settings> {
    let file = core.config.path().display().to_string();
    let core = core.clone();
    Ok(Settings { file, settings: run_blocking(move || keys::list(&core.config)).await?? })
}

/// Implements `config.get`.
///
/// # Errors
/// If the key is unknown, or if the configuration file cannot be read.
pub async fn get(core: &Arc<Core>, params: KeyParams) -> Result<Setting> {
    let core = core.clone();
    Ok(run_blocking(move || keys::get(&core.config, &params.key)).await??)
}

/// Edits the configuration file, reloads it if it changed, and returns the resulting setting. Runs to completion even
/// if the caller disconnects.
async fn change(
    core: &Arc<Core>,
    key: String,
    edit: impl FnOnce(&Config, &str) -> std::result::Result<bool, KeyError> + Send + 'static,
) -> Result<SettingChange> {
    let own = core.clone();
    let work = async move {
        let (editor, name) = (own.clone(), key.clone());
        let changed = run_blocking(move || edit(&editor.config, &name)).await??;
        if changed {
            daemon::reload(&own).await?;
        }
        let file = own.config.path().display().to_string();
        Ok(SettingChange { setting: get(&own, KeyParams { key }).await?, file, changed })
    };
    core.finish(work).await?
}

/// Implements `config.set`.
///
/// # Errors
/// If the key is unknown, if the value is invalid, or if the file cannot be written; nothing changes in these cases.
pub async fn set(core: &Arc<Core>, params: SetParams) -> Result<SettingChange> {
    let value = params.value;
    change(core, params.key, move |config, key| keys::set(config, key, value.expose()).map(|()| true)).await
}

/// Implements `config.unset`.
///
/// # Errors
/// If the key is unknown, or if the file would be invalid without it; nothing changes in these cases.
pub async fn unset(core: &Arc<Core>, params: KeyParams) -> Result<SettingChange> {
    change(core, params.key, keys::unset).await
}
