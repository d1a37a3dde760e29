//! `device.*`: adds, removes, lists, leases and probes devices.

pub mod adb;
mod downloads;
pub(in crate::app) mod forwards;
pub mod manage;
pub mod shell;
pub mod usb;

use std::sync::Arc;
use std::time::{Duration, Instant};

use afd_proto::ErrorCode;
use afd_proto::device::{
    AddParams, AddResult, DeviceAdd, DeviceDownloads, DeviceHealth, DeviceLease, DeviceList, DevicePackages,
    DeviceParams, DeviceRelease, DeviceRemove, DeviceSource, DeviceTabList, DeviceTabs, Devices, Health, LeaseParams,
    LeaseResult, Packages, PackagesParams, ReleaseResult, RemoveParams, RemoveResult, Trial,
};
use afd_proto::vocabulary::Reply;
use serde_json::json;

use super::{Core, Error, Result, scope};
use crate::app::Methods;
use afd_base::config::{self, ConfigError, DeviceKind, DeviceSettings, Usb};
use afd_base::task::run_blocking;
use afd_device::{Device, DriverError, Registry, check_attach, example_url, new_settings};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<DeviceAdd, _, _>(|core, p| async move { add(&core, &p).await });
    methods.add::<DeviceList, _, _>(|core, _| async move { Ok(list(&core.devices)) });
    methods.add::<DeviceRemove, _, _>(|core, p| async move { remove(&core, &p).await });
    methods.add::<DeviceHealth, _, _>(|core, p| async move { health(&core, &p).await });
    methods.add::<DeviceLease, _, _>(|core, p| async move { lease(&core, &p).await });
    methods.add::<DeviceRelease, _, _>(|core, p| async move { release(&core, &p).await });
    methods.add::<DeviceTabs, _, _>(|core, p| async move { tabs(&core, &p).await });
    methods.add::<DeviceDownloads, _, _>(|core, p| async move { downloads::downloads(&core, &p).await });
    methods.add::<DevicePackages, _, _>(|core, p| async move { packages(&core, &p).await });
}

/// Maximum duration of the connection test for a newly added device.
const TRIAL: Duration = Duration::from_secs(5);

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Error::new(ErrorCode::Conflict, error.to_string())
            .hint("fix the configuration file; the current settings stay in effect")
    }
}

/// Implements `device.add`.
///
/// # Errors
/// If a parameter is invalid, if the name is taken by a device with other settings, or if the settings cannot be saved.
pub async fn add(core: &Arc<Core>, params: &AddParams) -> Result<AddResult> {
    config::check_name(&params.name)
        .map_err(|_| Error::param("name", "1 to 64 letters, digits, '-', '_' or '.'", format!("{:?}", params.name)))?;
    // A URL with an '@' may hold credentials and is not quoted.
    let got = if params.url.contains('@') { "an invalid URL".to_owned() } else { format!("{:?}", params.url) };
    if params.token.as_ref().is_some_and(|token| !config::is_sendable(token)) {
        return Err(Error::param("token", "printable ASCII characters, without spaces", "others"));
    }
    let timeout_ms = params.timeout_ms();
    let kind = match &params.kind {
        Some(word) => DeviceKind::of(word).ok_or_else(|| {
            Error::param("kind", &format!("one of {}", DeviceKind::WORDS.join(", ")), format!("{word:?}"))
        })?,
        None => DeviceKind::default(),
    };
    config::check_url(kind, &params.url).map_err(|_| Error::param("url", example_url(kind), got))?;
    if let Some(address) = &params.attach {
        let got = if address.contains('@') { "another address".to_owned() } else { format!("{address:?}") };
        check_attach(kind, address).map_err(|expected| Error::param("attach", expected, got))?;
    }
    let (token, attach) = (params.token.clone(), params.attach.as_deref());
    let settings = DeviceSettings { token, timeout_ms, ..new_settings(kind, &params.name, &params.url, attach) };
    let known = core.devices.get(&params.name);
    let asked =
        |of: &DeviceSettings| (of.kind, of.url.clone(), of.token.clone(), of.timeout_ms, of.browser.attach.clone());
    let same = |old: &DeviceSettings| asked(old) == asked(&settings);
    if let Some((device, old)) = &known
        && !same(old)
    {
        return Err(Error::new(
            ErrorCode::Conflict,
            format!("device {:?} already exists at {}", params.name, device.url()),
        )
        .hint("remove it first, or choose another name")
        .details(json!({"name": params.name, "url": device.url()})));
    }
    if let Some((device, _)) = known.filter(|(d, _)| d.source() == DeviceSource::Config || !params.persist) {
        let saved_in = (device.source() == DeviceSource::Config).then(|| core.config.path().display().to_string());
        let trial = tried(&device, params).await;
        return Ok(AddResult { device: device.info(), saved_in, trial });
    }
    Registry::check(&settings).map_err(|e| Error::param("url", example_url(kind), e))?;
    let (own, name, persist) = (core.clone(), params.name.clone(), params.persist);
    let work = async move {
        let (source, saved_in) = if persist {
            let (editor, name, settings) = (own.clone(), name.clone(), settings.clone());
            run_blocking(move || config::add_device(editor.config.path(), &name, &settings)).await??;
            (DeviceSource::Config, Some(own.config.path().display().to_string()))
        } else {
            (DeviceSource::Runtime, None)
        };
        let added = own.devices.add(&name, source, &settings);
        let device = added.map_err(|e| Error::param("url", example_url(kind), e))?;
        own.reload_settings().await?;
        Ok::<_, Error>((device, saved_in))
    };
    let (device, saved_in) = core.finish(work).await??;
    let trial = tried(&device, params).await;
    Ok(AddResult { device: device.info(), saved_in, trial })
}

/// Tests a newly added device, unless `check` is false.
async fn tried(device: &Arc<Device>, params: &AddParams) -> Option<Trial> {
    if params.check == Some(false) {
        return None;
    }
    let started = Instant::now();
    let token = params.token.clone();
    let attempt = async {
        device.health().await?;
        device.check_token(token.clone()).await?;
        Ok::<_, DriverError>(device.top(token)?.answer().await?.value)
    };
    let late = || {
        let why = format!("it did not respond within {} s", TRIAL.as_secs());
        device.advised(DriverError::Unreachable(why.into()))
    };
    let outcome = tokio::time::timeout(TRIAL, attempt).await.unwrap_or_else(|_| Err(late()));
    let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Some(match outcome {
        Ok(top) => {
            let token = if params.token.is_some() { ", the token is accepted" } else { "" };
            let found = match top.app.as_deref() {
                Some(app) => format!("the device responds{token}, and {app} is in front"),
                None => format!("the device responds{token}"),
            };
            Trial { usable: true, found, hint: None, error: None, top_activity: top.place, duration_ms }
        }
        Err(error) => {
            let Error { code, message, hint, .. } = Error::from(error);
            let hint = hint.map(|hint| hint.replace("device.NAME.", &format!("device.{}.", device.name())));
            Trial { usable: false, found: message, hint, error: Some(code), top_activity: None, duration_ms }
        }
    })
}

/// Implements `device.list`.
pub fn list(devices: &Registry) -> Devices {
    Devices { devices: devices.list().iter().map(|d| d.info()).collect() }
}

/// Implements `device.remove`.
///
/// # Errors
/// If there is no such device, or if the settings cannot be saved.
pub async fn remove(core: &Arc<Core>, params: &RemoveParams) -> Result<RemoveResult> {
    let Some((device, settings)) = core.devices.get(&params.name) else {
        let known: Vec<String> = core.devices.list().iter().map(|d| d.name().to_owned()).collect();
        return Err(Error::new(ErrorCode::DeviceUnknown, format!("no such device: {:?}", params.name))
            .hint("`afctl device list` lists the devices")
            .details(json!({"known": known})));
    };
    let (own, name, saved) = (core.clone(), params.name.clone(), device.source() == DeviceSource::Config);
    core.finish(async move { remove_device(&own, name, saved, settings).await }).await?
}

/// Removes a device from the settings and the registry, and its USB forward if no other device uses it.
async fn remove_device(core: &Arc<Core>, name: String, saved: bool, settings: DeviceSettings) -> Result<RemoveResult> {
    if saved {
        let (editor, name) = (core.clone(), name.clone());
        run_blocking(move || config::remove_device(editor.config.path(), &name)).await??;
    }
    let removed = core.devices.get(&name);
    core.devices.remove(&name);
    if let Some((device, _)) = removed {
        device.close().await;
    }
    // Removed here and not by the reload, so that the forward is gone before the response is sent.
    let (before, after) = core.reload_settings().await?;
    let shared = |usb: &Usb| {
        let mut others = after.devices.values().filter_map(|d| d.usb.as_ref());
        others.any(|u| (&u.serial, u.local_port) == (&usb.serial, usb.local_port))
    };
    if let Some(usb) = settings.usb.filter(|usb| usb.own_forward && !shared(usb)) {
        forwards::release(&before.adb, &usb).await;
    }
    Ok(RemoveResult { removed: name })
}

/// Implements `device.health`.
///
/// # Errors
/// If the phone's service does not respond, or if something else responds at its URL.
pub async fn health(core: &Arc<Core>, params: &DeviceParams) -> Result<Reply<Health>> {
    let call = core.call(params).await?;
    let started = Instant::now();
    let kind = call.device().health().await?;
    let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let token = match call.device().check_token(call.target.token.clone()).await {
        Ok(_) => "accepted",
        Err(DriverError::Auth(_)) => "refused",
        Err(_) => "unknown",
    };
    Ok(call.reply(Health {
        status: "healthy".into(),
        kind,
        token: token.to_owned(),
        duration_ms,
        connection: usb::connection(&core.config, &call.echo.device, call.device().url()),
    }))
}

/// Implements `device.lease`.
///
/// # Errors
/// If the duration is out of range, or `DEVICE_BUSY` while another session holds the lease.
pub async fn lease(core: &Arc<Core>, params: &LeaseParams) -> Result<Reply<LeaseResult>> {
    let call = core.call(params).await?;
    let scope = scope::current();
    if params.until_disconnect && !scope.has_connection() {
        return Err(Error::new(
            ErrorCode::Unsupported,
            "a call over plain HTTP or in a notification has no connection to end with",
        )
        .hint("use newline-delimited JSON, Content-Length frames or a WebSocket"));
    }
    let (lease, generation) = call.device().take_lease(&call.echo.session, Duration::from_millis(params.ttl_ms))?;
    if params.until_disconnect {
        let device = call.device().clone();
        scope.at_disconnect(move || device.end_lease(generation));
    }
    Ok(call.reply(LeaseResult { lease }))
}

/// Implements `device.release`.
///
/// # Errors
/// If no device matches.
pub async fn release(core: &Arc<Core>, params: &DeviceParams) -> Result<Reply<ReleaseResult>> {
    let call = core.call(params).await?;
    let released = call.device().release_lease(&call.echo.session);
    Ok(call.reply(ReleaseResult { released }))
}

/// Implements `device.tabs`.
///
/// # Errors
/// If the device has no tabs.
pub async fn tabs(core: &Arc<Core>, params: &DeviceParams) -> Result<Reply<DeviceTabList>> {
    let call = core.call(params).await?;
    let tabs = call.device().tabs(call.target.token.clone()).await?;
    Ok(call.reply(DeviceTabList { tabs }))
}

/// Implements `device.packages`.
///
/// # Errors
/// If the device cannot list its packages.
pub async fn packages(core: &Arc<Core>, params: &PackagesParams) -> Result<Reply<Packages>> {
    let call = core.call(params).await?;
    let packages =
        call.device().packages(call.target.token.clone(), params.filter.clone(), params.include_system).await?;
    Ok(call.reply(Packages { packages }))
}
