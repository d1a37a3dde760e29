//! `device.connectUsb`: configures a phone attached by USB as a device.
//! The call chooses the phone, reads the connection hint that its app has written, finds or creates an `adb` forward to
//! the service's port, checks that the service responds through the forward, and only then writes the settings. If a
//! step fails, the call removes the forward that it created.

use std::sync::Arc;
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::device::{ConnectUsbParams, ConnectUsbResult, Connection, DeviceConnectUsb};
use serde_json::json;

use crate::app::{Core, Error, Methods, Result, daemon};
use afd_base::config::{self, Config, DeviceSettings, Usb};
use afd_base::task::run_blocking;
use afd_device::adb::{self, Adb, AdbError, AttachedDevice, Forward};
use afd_device::autofish::{NoHint, connection_hint};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<DeviceConnectUsb, _, _>(|core, p| async move { connect(&core, &p).await });
}

/// Maximum time that the service may take to respond through the forward.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(10);

impl From<AdbError> for Error {
    fn from(error: AdbError) -> Self {
        let (code, hint) = match &error {
            AdbError::Missing { .. } => (
                ErrorCode::Unsupported,
                "install adb (Debian: `apt install adb`), or set its path with the setting adb.path",
            ),
            AdbError::Failed(_) => (ErrorCode::DeviceError, "check the output of `adb devices`"),
            AdbError::TimedOut => {
                (ErrorCode::DeviceUnreachable, "check whether `adb devices` responds; `adb kill-server` may help")
            }
        };
        Error::new(code, error.to_string()).hint(hint)
    }
}

/// Returns a description of how a device is reached.
pub(in crate::app) fn connection(config: &Config, name: &str, url: String) -> Connection {
    let usb = config.get().devices.get(name).and_then(|d| d.usb.clone());
    Connection {
        url,
        transport: if usb.is_some() { "usb-forward" } else { "http" }.to_owned(),
        local_port: usb.as_ref().map(|u| u.local_port),
        device_port: usb.as_ref().map(|u| u.device_port),
        device: usb.map(|u| u.serial),
    }
}

/// Returns the serial of the phone to use: the wanted one, else the only one. With `may_connect`, runs `adb connect`
/// for a wanted network address that is not listed yet.
pub(super) async fn choose_phone(adb: &Adb, wanted: Option<&str>, may_connect: bool) -> Result<String> {
    let mut devices = adb.devices().await?;
    let usable =
        |devices: &[AttachedDevice], serial: &str| devices.iter().any(|d| d.serial == serial && d.state == "device");
    if let Some(address) = wanted.filter(|w| may_connect && adb::is_address(w) && !usable(&devices, w)) {
        adb.connect(address).await.map_err(|e| Error::new(ErrorCode::DeviceUnreachable, e.to_string()))?;
        devices = adb.devices().await?;
    }
    let listed: Vec<_> = devices.iter().map(|d| json!({"serial": d.serial, "state": d.state})).collect();
    let usable: Vec<&AttachedDevice> =
        devices.iter().filter(|d| d.state == "device" && wanted.is_none_or(|w| w == d.serial)).collect();
    let hint =
        "plug in the phone, enable USB debugging and confirm on its screen; `adb devices` must list it as `device`";
    match (usable.as_slice(), wanted) {
        ([one], _) => Ok(one.serial.clone()),
        ([], Some(wanted)) => {
            let state = devices.iter().find(|d| d.serial == wanted).map_or("not attached", |d| d.state.as_str());
            let message = format!("phone {wanted} cannot be used: {state}");
            Err(Error::new(ErrorCode::DeviceUnreachable, message).hint(hint).details(json!({"devices": listed})))
        }
        ([], None) => Err(Error::new(ErrorCode::DeviceUnreachable, "no usable phone is attached")
            .hint(hint)
            .details(json!({"devices": listed}))),
        (several, _) => Err(Error::new(ErrorCode::DeviceAmbiguous, format!("{} phones are attached", several.len()))
            .hint("choose one with `serial` (afctl: --serial, or ANDROID_SERIAL)")
            .details(json!({"devices": listed}))),
    }
}

impl From<NoHint> for Error {
    fn from(none: NoHint) -> Self {
        let (code, hint) = match none {
            NoHint::Stopped => (ErrorCode::DeviceUnreachable, "start it in the phone's app"),
            NoHint::BadPort(_) => (ErrorCode::DeviceError, "open the phone's app and restart its service"),
            NoHint::None(_) => (ErrorCode::NotFound, "install the app, open it and start its service, then try again"),
        };
        Error::new(code, none.to_string()).hint(hint)
    }
}

/// A usable `adb` port forward.
struct UsbForward {
    forward: Forward,
    /// Whether the forward was created by this call.
    created: bool,
    /// Whether the daemon created the forward, in this call or earlier. The daemon removes such a forward when it is no
    /// longer used.
    own: bool,
}

/// Returns an existing forward to the service, or creates one. `wanted` is the requested local port, `known` the
/// previous forward of this device, `all_known` the forwards of all configured devices.
async fn find_or_create_forward(
    adb: &Adb,
    serial: &str,
    remote: u16,
    wanted: Option<u16>,
    known: Option<&Usb>,
    all_known: &[&Usb],
) -> Result<UsbForward> {
    let matches = |f: &&Forward| f.serial == serial && f.remote == remote && wanted.is_none_or(|w| w == f.local);
    let existing = adb.forwards().await?;
    let is_known =
        |f: &&Forward| known.is_some_and(|u| (u.serial.as_str(), u.local_port) == (f.serial.as_str(), f.local));
    let found = existing.iter().filter(matches).find(is_known).or_else(|| existing.iter().find(matches));
    if let Some(forward) = found {
        // The forward is the daemon's own if any configured device says so. Removing the last of these devices also
        // removes the forward.
        let own =
            all_known.iter().any(|u| u.own_forward && (u.serial.as_str(), u.local_port) == (serial, forward.local));
        return Ok(UsbForward { forward: forward.clone(), created: false, own });
    }
    // Prefer the requested port, then the previous one, which keeps the URL stable, then the number used on the phone,
    // then any.
    let first = wanted.or_else(|| known.filter(|u| u.serial == serial).map(|u| u.local_port)).unwrap_or(remote);
    let local = match adb.forward(serial, first, remote).await {
        Ok(local) => local,
        Err(error @ AdbError::Failed(_)) if wanted.is_some() => {
            return Err(Error::new(ErrorCode::Conflict, format!("local port {first} cannot be used: {error}"))
                .hint("choose another port, or omit localPort")
                .details(json!({"path": "localPort", "got": first})));
        }
        Err(AdbError::Failed(_)) => adb.forward(serial, 0, remote).await?,
        Err(error) => return Err(error.into()),
    };
    Ok(UsbForward { forward: Forward { serial: serial.to_owned(), local, remote }, created: true, own: true })
}

/// Returns the name of the device: the requested one, else the existing one of this phone, else `default`, else one
/// derived from the serial.
fn name_for(config: &Config, asked: Option<&str>, serial: &str) -> Result<String> {
    let devices = &config.get().devices;
    if let Some(name) = asked {
        config::check_name(name)
            .map_err(|_| Error::param("name", "1 to 64 letters, digits, '-', '_' or '.'", format!("{name:?}")))?;
        let other = devices.get(name).is_some_and(|d| d.usb.as_ref().is_none_or(|u| u.serial != serial));
        if other {
            return Err(Error::new(ErrorCode::Conflict, format!("another device named {name:?} already exists"))
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

/// Implements `device.connectUsb`.
///
/// # Errors
/// If `adb`, the phone or its service is not available, or if the settings cannot be written; no new forward is left in
/// these cases.
pub async fn connect(core: &Arc<Core>, params: &ConnectUsbParams) -> Result<ConnectUsbResult> {
    let (connector, params) = (core.clone(), params.clone());
    core.finish(async move { find_and_connect(&connector, &params).await }).await?
}

async fn find_and_connect(core: &Arc<Core>, params: &ConnectUsbParams) -> Result<ConnectUsbResult> {
    let settings = core.config.get();
    let adb = Adb::new(&settings.adb);
    let serial = choose_phone(&adb, params.serial.as_deref(), !params.print_only).await?;
    let name = name_for(&core.config, params.name.as_deref(), &serial)?;
    let (hint_path, hint, device_port) = connection_hint(&adb, &serial).await?;
    let old = settings.devices.get(&name);
    let known = old.and_then(|d| d.usb.as_ref());
    let mut connected = ConnectUsbResult {
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
        let all_known: Vec<&Usb> = settings.devices.values().filter_map(|d| d.usb.as_ref()).collect();
        let found = find_or_create_forward(&adb, &serial, device_port, params.local_port, known, &all_known).await?;
        let usb = Usb { serial, local_port: found.forward.local, device_port, own_forward: found.own };
        if let Err(error) = check_and_save(core, &name, old, &usb).await {
            if found.created {
                let _ = adb.remove_forward(&found.forward).await;
            }
            return Err(error);
        }
        (connected.local_port, connected.forwarded, connected.reused) = (usb.local_port, found.created, !found.created);
        (connected.config_written, connected.saved_in) = (true, Some(core.config.path().display().to_string()));
    }
    if params.print_only {
        let existing = adb.forwards().await?;
        let wanted = |f: &&Forward| {
            f.serial == connected.device_serial
                && f.remote == device_port
                && params.local_port.is_none_or(|p| p == f.local)
        };
        connected.reused = existing.iter().find(wanted).map(|f| connected.local_port = f.local).is_some();
        // The preferred port is taken by another program: adb would choose one, reported as 0.
        if !connected.reused
            && params.local_port.is_none()
            && std::net::TcpListener::bind(("127.0.0.1", device_port)).is_err()
        {
            connected.local_port = 0;
        }
    }
    if !connected.token_configured {
        connected.next_step =
            Some(format!("set the token shown in the phone's app: afctl config set device.{name}.token TOKEN"));
    }
    connected.remote_url = format!("http://127.0.0.1:{}", connected.local_port);
    Ok(connected)
}

/// Checks that the service responds, then writes the settings. A token is never written.
async fn check_and_save(core: &Arc<Core>, name: &str, old: Option<&DeviceSettings>, usb: &Usb) -> Result<()> {
    let url = format!("http://127.0.0.1:{}", usb.local_port);
    let before = old.cloned().unwrap_or_else(|| DeviceSettings::at(&url));
    let settings = DeviceSettings { url, usb: Some(usb.clone()), ..before };
    let driver = afd_device::open(&settings).map_err(|e| Error::new(ErrorCode::Internal, e.to_string()))?;
    let asked = tokio::time::timeout(HEALTH_TIMEOUT, driver.health()).await;
    asked.map_err(|_| {
        Error::new(ErrorCode::DeviceUnreachable, "the phone's service does not respond through the forward")
    })??;
    let (editor, name) = (core.clone(), name.to_owned());
    run_blocking(move || config::add_device(editor.config.path(), &name, &settings)).await??;
    daemon::reload(core).await?;
    Ok(())
}
