//! `device.*`

use std::sync::Arc;
use std::time::{Duration, Instant};

use afd_proto::ErrorCode;
use afd_proto::device::{
    AddParams, Added, DeviceParams, DeviceSource, Devices, Health, LeaseParams, Leased, Packages, PackagesParams, Released, RemoveParams,
    Removed,
};
use afd_proto::vocabulary::Reply;
use serde_json::json;

use super::{Core, Error, Result, forwards, usb};
use crate::config::{self, ConfigError, DeviceSettings, Usb};
use crate::device::{DriverError, Registry};
use crate::task::run_blocking;

/// The longest lease.
const MAX_LEASE_MS: u64 = 3_600_000;

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Error::new(ErrorCode::Conflict, error.to_string()).hint("mend the settings file; the settings in force stay as they were")
    }
}

/// `device.add`
///
/// # Errors
/// When the name is taken, or the settings are of no use or cannot be saved.
pub async fn add(core: &Arc<Core>, params: &AddParams) -> Result<Added> {
    config::check_name(&params.name)
        .map_err(|_| Error::param("name", "1 to 64 letters, digits, '-', '_' or '.'", format!("{:?}", params.name)))?;
    // Before an '@' stand credentials.
    let got = if params.url.contains('@') { "another text".to_owned() } else { format!("{:?}", params.url) };
    config::check_url(&params.url).map_err(|_| Error::param("url", "a URL such as http://192.168.1.20:8081", got))?;
    let timeout_ms = params.timeout_ms.unwrap_or(10_000);
    if !(1..=600_000).contains(&timeout_ms) {
        return Err(Error::param("timeoutMs", "1 to 600000", timeout_ms));
    }
    let settings = DeviceSettings { token: params.token.clone(), timeout_ms, ..DeviceSettings::at(&params.url) };
    let known = core.devices.get(&params.name);
    let same = |old: &DeviceSettings| (&old.url, &old.token, old.timeout_ms) == (&settings.url, &settings.token, settings.timeout_ms);
    if let Some((device, old)) = &known
        && !same(old)
    {
        return Err(Error::new(ErrorCode::Conflict, format!("there is a device {:?} at {} already", params.name, device.url()))
            .hint("remove it first, or choose another name")
            .details(json!({"name": params.name, "url": device.url()})));
    }
    if let Some((device, _)) = known.filter(|(d, _)| d.source() == DeviceSource::Config || !params.persist) {
        let saved_in = (device.source() == DeviceSource::Config).then(|| core.config.path().display().to_string());
        return Ok(Added { device: device.info(), saved_in });
    }
    Registry::check(&settings).map_err(|e| Error::param("url", "a URL such as http://192.168.1.20:8081", e))?;
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
        let device = added.map_err(|e| Error::param("url", "a URL such as http://192.168.1.20:8081", e))?;
        own.reload_settings().await?;
        Ok(Added { device: device.info(), saved_in })
    };
    core.finish(work).await?
}

/// `device.list`
pub fn list(core: &Arc<Core>) -> Devices {
    Devices { devices: core.devices.list().iter().map(|d| d.info()).collect() }
}

/// `device.remove`
///
/// # Errors
/// When there is none of that name, or the settings cannot be saved.
pub async fn remove(core: &Arc<Core>, params: &RemoveParams) -> Result<Removed> {
    let Some((device, settings)) = core.devices.get(&params.name) else {
        let known: Vec<String> = core.devices.list().iter().map(|d| d.name().to_owned()).collect();
        return Err(Error::new(ErrorCode::DeviceUnknown, format!("there is no device {:?}", params.name))
            .hint("`afctl device list` shows the devices")
            .details(json!({"known": known})));
    };
    let (own, name, saved) = (core.clone(), params.name.clone(), device.source() == DeviceSource::Config);
    core.finish(async move { take_out(&own, name, saved, settings).await }).await?
}

/// Takes a device out of the settings and the registry, and its forward off the cable.
async fn take_out(core: &Arc<Core>, name: String, saved: bool, settings: DeviceSettings) -> Result<Removed> {
    if saved {
        let (editor, name) = (core.clone(), name.clone());
        run_blocking(move || config::remove_device(editor.config.path(), &name)).await??;
    }
    core.devices.remove(&name);
    // Told here, so that the forward is gone before the answer.
    let (before, after) = core.reload_settings().await?;
    let shared = |usb: &Usb| {
        let mut others = after.devices.values().filter_map(|d| d.usb.as_ref());
        others.any(|u| (&u.serial, u.local_port) == (&usb.serial, usb.local_port))
    };
    if let Some(usb) = settings.usb.filter(|usb| usb.own_forward && !shared(usb)) {
        forwards::release(&before.adb, &usb).await;
    }
    Ok(Removed { removed: name })
}

/// `device.health`
///
/// # Errors
/// When the phone's service does not answer, or something else does.
pub async fn health(core: &Arc<Core>, params: &DeviceParams) -> Result<Reply<Health>> {
    let call = core.call(params).await?;
    let begun = Instant::now();
    let kind = call.device().health().await?;
    let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    // The question for its health needs no token; a cheap other one does.
    let token = match call.device().overlay(call.target.token.clone()).await {
        Ok(_) => "accepted",
        Err(DriverError::Auth(_)) => "refused",
        Err(_) => "unknown",
    };
    Ok(call.reply(Health {
        status: "healthy".into(),
        kind,
        token: token.to_owned(),
        duration_ms,
        connection: usb::connection(core, &call.echo.device, call.device().url()),
    }))
}

/// `device.lease`
///
/// # Errors
/// While another session holds one.
pub async fn lease(core: &Arc<Core>, params: &LeaseParams) -> Result<Reply<Leased>> {
    if !(1..=MAX_LEASE_MS).contains(&params.ttl_ms) {
        return Err(Error::param("ttlMs", "1 to 3600000", params.ttl_ms));
    }
    let call = core.call(params).await?;
    let lease = call.device().take_lease(&call.echo.session, Duration::from_millis(params.ttl_ms))?;
    Ok(call.reply(Leased { lease }))
}

/// `device.release`
///
/// # Errors
/// When the call means no device.
pub async fn release(core: &Arc<Core>, params: &DeviceParams) -> Result<Reply<Released>> {
    let call = core.call(params).await?;
    let released = call.device().release_lease(&call.echo.session);
    Ok(call.reply(Released { released }))
}

/// `device.packages`
///
/// # Errors
/// When the device does not tell.
pub async fn packages(core: &Arc<Core>, params: &PackagesParams) -> Result<Reply<Packages>> {
    let call = core.call(params).await?;
    let packages = call.device().packages(call.target.token.clone(), params.filter.clone(), params.include_system).await?;
    Ok(call.reply(Packages { packages }))
}
