//! `device.connectUsb`: from a cable to a device of the settings, and what is left behind when it goes.

use std::sync::Arc;
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::device::{ConnectUsbParams, Connection, ConnectionHint, UsbConnected};
use serde_json::json;

use super::{Core, Error, Result, admin};
use crate::config::{self, DeviceSettings, Usb};
use crate::device::Driver;
use crate::device::adb::{self, Adb, AdbError, Attached, Forward};
use crate::device::autofish::Autofish;
use crate::task::run_blocking;

/// The packages of the phone's app: the release's, then that of a debug build (reference, 6.2).
const PACKAGES: [&str; 2] = ["com.memohai.autofish", "com.memohai.autofish.debug"];
/// How long the service may take to answer through a new forward.
const PATIENCE: Duration = Duration::from_secs(10);

impl From<AdbError> for Error {
    fn from(error: AdbError) -> Self {
        let (code, hint) = match &error {
            AdbError::Missing { .. } => {
                (ErrorCode::Unsupported, "install adb (Debian: `apt install adb`), or name it with the setting adb.path")
            }
            AdbError::Failed(_) => (ErrorCode::DeviceError, "see what `adb devices` says"),
            AdbError::Slow => (ErrorCode::DeviceUnreachable, "see whether `adb devices` answers; `adb kill-server` may help"),
        };
        Error::new(code, error.to_string()).hint(hint)
    }
}

/// How a device is reached.
pub(super) fn connection(core: &Core, name: &str, url: String) -> Connection {
    let usb = core.config.get().devices.get(name).and_then(|d| d.usb.clone());
    Connection {
        url,
        transport: if usb.is_some() { "usb-forward" } else { "http" }.to_owned(),
        local_port: usb.as_ref().map(|u| u.local_port),
        device_port: usb.as_ref().map(|u| u.device_port),
        device: usb.map(|u| u.serial),
    }
}

/// The phone that is meant.
async fn choose(adb: &Adb, wanted: Option<&str>, may_call: bool) -> Result<String> {
    let mut devices = adb.devices().await?;
    let usable = |devices: &[Attached], serial: &str| devices.iter().any(|d| d.serial == serial && d.state == "device");
    if let Some(address) = wanted.filter(|w| may_call && adb::is_address(w) && !usable(&devices, w)) {
        adb.connect(address).await.map_err(|e| Error::new(ErrorCode::DeviceUnreachable, e.to_string()))?;
        devices = adb.devices().await?;
    }
    let listed: Vec<_> = devices.iter().map(|d| json!({"serial": d.serial, "state": d.state})).collect();
    let usable: Vec<&Attached> = devices.iter().filter(|d| d.state == "device" && wanted.is_none_or(|w| w == d.serial)).collect();
    let hint = "plug the phone in, turn USB debugging on and confirm on its screen; `adb devices` must list it as `device`";
    match (usable.as_slice(), wanted) {
        ([one], _) => Ok(one.serial.clone()),
        ([], Some(wanted)) => {
            let state = devices.iter().find(|d| d.serial == wanted).map_or("not attached", |d| d.state.as_str());
            let message = format!("the phone {wanted} cannot be used: it is {state}");
            Err(Error::new(ErrorCode::DeviceUnreachable, message).hint(hint).details(json!({"devices": listed})))
        }
        ([], None) => {
            Err(Error::new(ErrorCode::DeviceUnreachable, "no usable phone is attached").hint(hint).details(json!({"devices": listed})))
        }
        (several, _) => Err(Error::new(ErrorCode::DeviceAmbiguous, format!("{} phones are attached", several.len()))
            .hint("name one with `serial` (afctl: --serial, or ANDROID_SERIAL)")
            .details(json!({"devices": listed}))),
    }
}

/// What the phone's app says about its service, and where it says it.
async fn read_hint(adb: &Adb, serial: &str) -> Result<(String, ConnectionHint, u16)> {
    for package in PACKAGES {
        let path = format!("/sdcard/Android/data/{package}/files/connection-hint.json");
        // A missing file is an error of `cat`, or its words, depending on the phone.
        let Ok(text) = adb.cat(serial, &path).await else { continue };
        let Ok(hint) = serde_json::from_str::<ConnectionHint>(text.trim()) else { continue };
        let port = u16::try_from(hint.service_port).ok().filter(|p| *p > 0);
        return match port {
            Some(port) if hint.service_running => Ok((path, hint, port)),
            Some(_) => {
                Err(Error::new(ErrorCode::DeviceUnreachable, "the service on the phone does not run").hint("start it in the phone's app"))
            }
            None => Err(Error::new(ErrorCode::DeviceError, format!("the phone's app names the port {}", hint.service_port))
                .hint("open the phone's app and start its service again")),
        };
    }
    Err(Error::new(ErrorCode::NotFound, format!("the phone {serial} has no connection hint of the Autofish app"))
        .hint("install the app, open it and start its service, then try again"))
}

/// A forward that can be used, and whether it is new.
struct Way {
    forward: Forward,
    made: bool,
    ours: bool,
}

/// Uses a forward that is right already, or makes one.
async fn way(adb: &Adb, serial: &str, remote: u16, wanted: Option<u16>, known: Option<&Usb>, mine: &[&Usb]) -> Result<Way> {
    let right = |f: &&Forward| f.serial == serial && f.remote == remote && wanted.is_none_or(|w| w == f.local);
    let there = adb.forwards().await?;
    let is_known = |f: &&Forward| known.is_some_and(|u| (u.serial.as_str(), u.local_port) == (f.serial.as_str(), f.local));
    let found = there.iter().filter(right).find(is_known).or_else(|| there.iter().find(right));
    if let Some(forward) = found {
        // Ours, if any device of the settings says so: the last of them takes it away.
        let ours = mine.iter().any(|u| u.own_forward && (u.serial.as_str(), u.local_port) == (serial, forward.local));
        return Ok(Way { forward: forward.clone(), made: false, ours });
    }
    // The port of before keeps URLs as they are; the phone's own number is easy to remember; any other will do.
    let first = wanted.or_else(|| known.filter(|u| u.serial == serial).map(|u| u.local_port)).unwrap_or(remote);
    let local = match adb.forward(serial, first, remote).await {
        Ok(local) => local,
        Err(error @ AdbError::Failed(_)) if wanted.is_some() => {
            return Err(Error::new(ErrorCode::Conflict, format!("the local port {first} cannot be used: {error}"))
                .hint("choose another one, or leave it out")
                .details(json!({"path": "localPort", "got": first})));
        }
        Err(AdbError::Failed(_)) => adb.forward(serial, 0, remote).await?,
        Err(error) => return Err(error.into()),
    };
    Ok(Way { forward: Forward { serial: serial.to_owned(), local, remote }, made: true, ours: true })
}

/// The name of the device: what was asked for, that of this phone, `default`, or one that is made of the serial.
fn name_for(core: &Core, asked: Option<&str>, serial: &str) -> Result<String> {
    let devices = &core.config.get().devices;
    if let Some(name) = asked {
        config::check_name(name).map_err(|_| Error::param("name", "1 to 64 letters, digits, '-', '_' or '.'", format!("{name:?}")))?;
        let other = devices.get(name).is_some_and(|d| d.usb.as_ref().is_none_or(|u| u.serial != serial));
        if other {
            return Err(Error::new(ErrorCode::Conflict, format!("there is another device {name:?} already"))
                .hint("remove it first, or choose another name")
                .details(json!({"path": "name", "got": name})));
        }
        return Ok(name.to_owned());
    }
    if let Some((name, _)) = devices.iter().find(|(_, d)| d.usb.as_ref().is_some_and(|u| u.serial == serial)) {
        return Ok(name.clone());
    }
    if !devices.contains_key("default") {
        return Ok("default".to_owned());
    }
    let base: String = serial.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(56).collect();
    let mut names = std::iter::once(base.clone()).chain((2..).map(|n| format!("{base}-{n}")));
    Ok(names.find(|name| !devices.contains_key(name)).unwrap_or(base))
}

/// `device.connectUsb`
///
/// # Errors
/// When there is no `adb`, no phone or no service on it, or the settings cannot be written; then no forward of ours is left.
pub async fn connect(core: &Arc<Core>, params: &ConnectUsbParams) -> Result<UsbConnected> {
    if params.local_port == Some(0) {
        return Err(Error::param("localPort", "1 to 65535", 0));
    }
    let (connector, params) = (core.clone(), params.clone());
    core.finish(async move { find_and_connect(&connector, &params).await }).await?
}

async fn find_and_connect(core: &Arc<Core>, params: &ConnectUsbParams) -> Result<UsbConnected> {
    let settings = core.config.get();
    let adb = Adb::new(&settings.adb);
    let serial = choose(&adb, params.serial.as_deref(), !params.print_only).await?;
    let name = name_for(core, params.name.as_deref(), &serial)?;
    let (hint_path, hint, device_port) = read_hint(&adb, &serial).await?;
    let old = settings.devices.get(&name);
    let known = old.and_then(|d| d.usb.as_ref());
    let mut told = UsbConnected {
        device: name.clone(),
        device_serial: serial.clone(),
        remote_url: String::new(),
        transport: "usb-forward".to_owned(),
        local_port: params.local_port.unwrap_or(device_port),
        device_port,
        hint_path,
        hint,
        forwarded: false,
        reused: false,
        config_written: false,
        print_only: params.print_only,
        token_configured: old.is_some_and(|d| d.token.is_some()),
        saved_in: None,
        next_step: None,
    };
    if !params.print_only {
        let mine: Vec<&Usb> = settings.devices.values().filter_map(|d| d.usb.as_ref()).collect();
        let way = way(&adb, &serial, device_port, params.local_port, known, &mine).await?;
        let usb = Usb { serial, local_port: way.forward.local, device_port, own_forward: way.ours };
        if let Err(error) = finish(core, &name, old, &usb).await {
            if way.made {
                let _ = adb.remove_forward(&way.forward).await;
            }
            return Err(error);
        }
        (told.local_port, told.forwarded, told.reused) = (usb.local_port, way.made, !way.made);
        (told.config_written, told.saved_in) = (true, Some(core.config.path().display().to_string()));
    }
    if params.print_only {
        let there = adb.forwards().await?;
        let wanted =
            |f: &&Forward| f.serial == told.device_serial && f.remote == device_port && params.local_port.is_none_or(|p| p == f.local);
        told.reused = there.iter().find(wanted).map(|f| told.local_port = f.local).is_some();
        // Taken by something else: then adb chooses one.
        if !told.reused && params.local_port.is_none() && std::net::TcpListener::bind(("127.0.0.1", device_port)).is_err() {
            told.local_port = 0;
        }
    }
    if !told.token_configured {
        told.next_step = Some(format!("give the token that the phone's app shows: afctl config set device.{name}.token TOKEN"));
    }
    told.remote_url = format!("http://127.0.0.1:{}", told.local_port);
    Ok(told)
}

/// Asks the service itself whether it is there, then writes the settings, never a token.
async fn finish(core: &Arc<Core>, name: &str, old: Option<&DeviceSettings>, usb: &Usb) -> Result<()> {
    let url = format!("http://127.0.0.1:{}", usb.local_port);
    let before = old.cloned().unwrap_or_else(|| DeviceSettings::at(&url));
    let settings = DeviceSettings { url, usb: Some(usb.clone()), ..before };
    let driver = Autofish::new(&settings).map_err(|e| Error::new(ErrorCode::Internal, e.to_string()))?;
    let asked = tokio::time::timeout(PATIENCE, driver.health()).await;
    asked.map_err(|_| Error::new(ErrorCode::DeviceUnreachable, "the phone's service does not answer through the forward"))??;
    let (editor, name) = (core.clone(), name.to_owned());
    run_blocking(move || config::add_device(editor.config.path(), &name, &settings)).await??;
    admin::reload(core).await?;
    Ok(())
}
