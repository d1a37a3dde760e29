//! Managing a device: apps, settings, log, recordings of its screen.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::act::{ActCall, ActResult};
use afd_proto::artifact::SavedArtifact;
use afd_proto::manage::{
    ActClearApp, ActConfigure, ActGrant, ActInstall, ActUninstall, ClearAppParams, ConfigureParams, ConfigureResult,
    DeviceConfiguration, DeviceLog, DeviceLogParams, DeviceLogRead, DeviceStartRecording, DeviceStopRecording,
    GrantParams, InstallParams, RecordingSaved, RecordingStarted, StartRecordingParams, StopRecordingParams,
    UninstallParams,
};
use afd_proto::vocabulary::{DeviceCall, Reply, Verb};
use serde::Serialize;
use serde_json::Value;

use crate::app::act::execute::execute_once;
use crate::app::act::plan::Plan;
use crate::app::act::run as act;
use crate::app::artifacts::{Content, Destination};
use crate::app::{Core, Error, Methods, Result};
use afd_device::{AppChange, Command, DriverError, LogQuery};
use afd_experience::memory::incidents;
use afd_store::now_ms;

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<ActInstall, _, _>(|core, p| async move { install(&core, &p).await });
    methods.add::<ActUninstall, _, _>(|core, p| async move { uninstall(&core, &p).await });
    methods.add::<ActClearApp, _, _>(|core, p| async move { clear(&core, &p).await });
    methods.add::<ActGrant, _, _>(|core, p| async move { grant(&core, &p).await });
    methods.add::<ActConfigure, _, _>(|core, p| async move { configure(&core, &p).await });
    methods.add::<DeviceLogRead, _, _>(|core, p| async move { log(&core, &p).await });
    methods.add::<DeviceStartRecording, _, _>(|core, p| async move { start_recording(&core, &p).await });
    methods.add::<DeviceStopRecording, _, _>(|core, p| async move { stop_recording(&core, &p).await });
}

/// Log that is read if the session has not acted on the device.
const WITHOUT_ACTION: Duration = Duration::from_secs(60);
/// Artifact kind of recordings.
const RECORDING: &str = "screen_video";

/// Implements `act.install`.
///
/// # Errors
/// `REFUSED` unless the device's settings allow it, `UNSUPPORTED` if the device cannot be managed, or another error if the
/// file cannot be read or the device does not install it.
async fn install(core: &Arc<Core>, params: &InstallParams) -> Result<Reply<ActResult>> {
    let change = AppChange::Install { file: PathBuf::from(&params.file), grant: params.grant };
    let name = PathBuf::from(&params.file).file_name().map(|name| name.to_string_lossy().into_owned());
    change_app(core, params, Verb::Install, ("file", name.unwrap_or_default()), change).await
}

/// Implements `act.uninstall`.
///
/// # Errors
/// As for [`install`].
async fn uninstall(core: &Arc<Core>, params: &UninstallParams) -> Result<Reply<ActResult>> {
    let change = AppChange::Uninstall { app: params.package.clone(), keep_data: params.keep_data };
    change_app(core, params, Verb::Uninstall, ("package", params.package.clone()), change).await
}

/// Implements `act.clearApp`.
///
/// # Errors
/// As for [`install`].
async fn clear(core: &Arc<Core>, params: &ClearAppParams) -> Result<Reply<ActResult>> {
    let change = AppChange::Clear(params.package.clone());
    change_app(core, params, Verb::ClearApp, ("package", params.package.clone()), change).await
}

/// Implements `act.grant`.
///
/// # Errors
/// As for [`install`].
async fn grant(core: &Arc<Core>, params: &GrantParams) -> Result<Reply<ActResult>> {
    let GrantParams { package, permission, revoke, .. } = params;
    let change = AppChange::Grant { app: package.clone(), permission: permission.clone(), revoke: *revoke };
    change_app(core, params, Verb::Grant, ("package", package.clone()), change).await
}

async fn change_app<P: DeviceCall + ActCall + Serialize>(
    core: &Arc<Core>,
    params: &P,
    verb: Verb,
    (name, value): (&str, String),
    change: AppChange,
) -> Result<Reply<ActResult>> {
    // No await before the action is queued, so that actions on a connection keep their order.
    let addressed = core.addressed(params)?;
    addressed.target.device.managed()?.check_app_change(&change)?;
    addressed.allow("apps", verb, |settings| settings.allow_apps)?;
    let done = act(core, params, Plan::single(verb, Command::App(change)).with_param(name, value)).await;
    done.map_err(|error| match (error.code, verb) {
        (ErrorCode::DeviceError, Verb::Install) => {
            error.hint("the device does not accept the file; its message says why")
        }
        (ErrorCode::DeviceError, _) => error.hint("`afctl app list --include-system` lists the packages"),
        _ => error,
    })
}

/// Implements `act.configure`.
///
/// # Errors
/// `UNSUPPORTED` if the device cannot be managed, or another error if a value is invalid or the device keeps its setting.
async fn configure(core: &Arc<Core>, params: &ConfigureParams) -> Result<Reply<ConfigureResult>> {
    let ConfigureParams { orientation, dark_mode, locale, locale_app, airplane_mode, .. } = params.clone();
    let wanted = DeviceConfiguration { orientation, dark_mode, locale, locale_app, airplane_mode };
    if wanted == DeviceConfiguration::default() {
        return Err(Error::param("orientation", "at least one setting", "none"));
    }
    core.addressed(params)?.target.device.managed()?.check_configuration(&wanted)?;
    let given = serde_json::to_value(&wanted).unwrap_or_default();
    let plan = Plan::single(Verb::Configure, Command::Configure(wanted));
    let given = given.as_object().cloned().unwrap_or_default();
    let plan = given.into_iter().fold(plan, |plan, (name, value): (String, Value)| plan.with_param(&name, value));
    execute_once(core, params, plan, |done| ConfigureResult {
        event_id: done.event,
        // The driver's message is the settings as they were before.
        before: serde_json::from_str(&done.result).unwrap_or_default(),
        duration_ms: done.duration_ms,
        look: None,
        replayed: false,
    })
    .await
}

/// Implements `device.log`.
///
/// # Errors
/// `UNSUPPORTED` if the device cannot be managed, `DEVICE_ERROR` if it has no such app.
async fn log(core: &Arc<Core>, params: &DeviceLogParams) -> Result<Reply<DeviceLog>> {
    let call = core.call(params).await?;
    let manages = call.device().managed()?;
    if let Some(app) = &params.app {
        let checked = call.device().check_app(app);
        checked.map_err(|bad| Error::param("app", bad.expected, bad.got))?;
    }
    let age = match params.since_ms {
        Some(ms) => Duration::from_millis(ms),
        None => {
            let (session, device) = (call.session_id, call.device_id);
            let began = core.store.read(move |c| incidents::last_act(c, session, device)).await?;
            since(began.map(|act| act.began))
        }
    };
    let query = LogQuery { app: params.app.clone(), age, level: params.level(), limit: params.limit() as usize };
    let part = manages.log(&query).await.map_err(|error| advised(&call, error))?;
    let since_ms = u64::try_from(part.age.as_millis()).unwrap_or(u64::MAX);
    Ok(call.reply(DeviceLog { lines: part.rows, truncated: part.truncated, since_ms }))
}

/// Returns the time since an action began; [`WITHOUT_ACTION`] if there was none.
pub(in crate::app) fn since(began: Option<i64>) -> Duration {
    began.map_or(WITHOUT_ACTION, |began| Duration::from_millis(u64::try_from(now_ms() - began).unwrap_or(0)))
}

fn advised(call: &crate::app::Call, error: DriverError) -> Error {
    call.device().advised(error).into()
}

/// Implements `device.startRecording`.
///
/// # Errors
/// `CONFLICT` if a recording runs, `UNSUPPORTED` if the device cannot be managed.
async fn start_recording(core: &Arc<Core>, params: &StartRecordingParams) -> Result<Reply<RecordingStarted>> {
    let call = core.call(params).await?;
    let max_ms = params.max_ms();
    call.device().check_lease(&call.echo.session)?;
    let manages = call.device().managed()?;
    let started = manages.start_recording(Duration::from_millis(max_ms)).await;
    match started.map_err(|error| advised(&call, error))? {
        true => Ok(call.reply(RecordingStarted { max_ms })),
        false => Err(Error::new(ErrorCode::Conflict, "the screen is recorded already")
            .hint("end that recording with device.stopRecording (afctl: `device record stop`)")),
    }
}

/// Implements `device.stopRecording`.
///
/// # Errors
/// `NOT_FOUND` if there is no recording, or if the video cannot be saved.
async fn stop_recording(core: &Arc<Core>, params: &StopRecordingParams) -> Result<Reply<RecordingSaved>> {
    let call = core.call(params).await?;
    call.device().check_lease(&call.echo.session)?;
    let stopped = call.device().managed()?.stop_recording().await;
    let Some((bytes, took)) = stopped.map_err(|error| advised(&call, error))? else {
        return Err(Error::new(ErrorCode::NotFound, "there is no recording of the screen")
            .hint("start one with device.startRecording (afctl: `device record start`)"));
    };
    let size_bytes = bytes.len() as u64;
    let content =
        Content { kind: RECORDING, mime_type: "video/mp4", extension: "mp4", op: "device.stopRecording", bytes };
    let artifact = save(&call, content, params.save_file.as_deref()).await?;
    let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    Ok(call.reply(RecordingSaved { duration_ms, size_bytes, artifact }))
}

/// Saves a video. If that fails at the place that the caller chose, it is saved in the artifact directory, and the error names
/// that file.
async fn save(call: &crate::app::Call, content: Content, file: Option<&str>) -> Result<SavedArtifact> {
    let Some(file) = file else { return call.save_artifact(content, Destination::default()).await };
    let again = Content { bytes: content.bytes.clone(), ..content };
    let path = Destination { path: Some(("saveFile", file)), root: None };
    let error = match call.save_artifact(content, path).await {
        Ok(artifact) => return Ok(artifact),
        Err(error) => error,
    };
    let saved = call.save_artifact(again, Destination::default()).await?;
    Err(error.hint(format!("the video was saved as {} instead", saved.saved_file)))
}
