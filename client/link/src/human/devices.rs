//! Renders the results of `device.*`, and the state of the daemon.

use std::fmt::Write as _;

use afd_proto::daemon::{DaemonStatus, Status};
use afd_proto::device::{
    AddResult, ConnectUsbResult, DeviceAdd, DeviceConnectAdb, DeviceConnectUsb, DeviceDownloads, DeviceHealth,
    DeviceInfo, DeviceList, DevicePackages, DeviceTabList, DeviceTabs, Devices, DownloadInfo, DownloadList, Health,
    LeaseInfo, Packages, TabInfo,
};
use afd_proto::vocabulary::Reply;

use crate::safe;

use super::parts::{BAD, DIM, GOOD, WARN, bytes, count, maybe, paint, table, time};
use super::render::human;

human! {
    DaemonStatus => status;
    DeviceAdd => added;
    DeviceConnectAdb => added;
    DeviceList => devices;
    DeviceHealth => health;
    DeviceDownloads => |r: &Reply<DownloadList>| downloads(&r.body.downloads);
    DeviceTabs => |r: &Reply<DeviceTabList>| tabs(&r.body.tabs);
    DevicePackages => |r: &Reply<Packages>| r.body.packages.iter().map(|name| format!("{name}\n")).collect::<String>();
    DeviceConnectUsb => connected;
}

fn added(added: &AddResult) -> String {
    let place =
        added.saved_in.as_ref().map_or_else(|| "until the daemon stops".to_owned(), |file| format!("saved in {file}"));
    let mut out =
        format!("{} {} at {}; {}\n", paint(GOOD, "added"), added.device.name, added.device.url, paint(DIM, &place));
    match &added.trial {
        Some(trial) if trial.usable => drop(writeln!(out, "{} {}", paint(GOOD, "tried:"), trial.found)),
        Some(trial) => {
            let _ = writeln!(out, "{} {}", paint(BAD, "tried:"), trial.found);
            if let Some(hint) = &trial.hint {
                let _ = writeln!(out, "{} {}", paint(WARN, "next:"), hint.replace("NAME", &added.device.name));
            }
        }
        None => {}
    }
    out
}

fn downloads(downloads: &[DownloadInfo]) -> String {
    if downloads.is_empty() {
        return "no downloads since the last call\n".to_owned();
    }
    let line = |DownloadInfo { name, bytes, state, artifact }: &DownloadInfo| {
        // An agent needs the whole path.
        let file = artifact.as_ref().map(|artifact| format!(", saved as {}", artifact.saved_file)).unwrap_or_default();
        format!("\"{}\": {state}, {bytes} bytes{file}\n", name.replace('"', "'"))
    };
    downloads.iter().map(line).collect()
}

fn tabs(tabs: &[TabInfo]) -> String {
    let row = |tab: &TabInfo| {
        let mark = if tab.current { "*" } else { "" };
        let session = safe::line(tab.used_by.as_deref().unwrap_or_default());
        [tab.tab.clone(), mark.to_owned(), safe::line(&tab.title), safe::line(&tab.url), session]
    };
    table(["tab", "", "title", "url", "session"], tabs.iter().map(row))
}

fn lease(lease: &LeaseInfo) -> String {
    format!("{} for {} ms", lease.session, lease.remaining_ms)
}

fn waiting(device: &DeviceInfo) -> String {
    device.waiting.to_string()
}

fn devices(list: &Devices) -> String {
    if list.devices.is_empty() {
        return paint(DIM, "no devices; `afctl init` adds one") + "\n";
    }
    let row = |d: &DeviceInfo| {
        let lease = d.lease.as_ref().map(lease).unwrap_or_default();
        [d.name.clone(), d.kind.clone(), d.url.clone(), d.state.to_string(), lease, waiting(d), d.source.to_string()]
    };
    table(["name", "kind", "url", "state", "lease", "waiting", "source"], list.devices.iter().map(row))
}

fn health(reply: &Reply<Health>) -> String {
    let health = &reply.body;
    let token = match health.token.as_str() {
        "accepted" => paint(GOOD, "token accepted"),
        "refused" => paint(BAD, "token refused: set it with `afctl config set device.NAME.token TOKEN`"),
        _ => paint(WARN, "token not checked"),
    };
    let over = health.connection.device.as_ref().map(|serial| format!(" over USB ({serial})")).unwrap_or_default();
    let took = paint(DIM, &format!("({} ms)", health.duration_ms));
    format!(
        "{} {} at {}{over}, {token} {took}\n",
        paint(GOOD, &health.status),
        reply.echo.device,
        health.connection.url
    )
}

fn connected(usb: &ConnectUsbResult) -> String {
    let verb = if usb.print_only { paint(WARN, "would connect") } else { paint(GOOD, "connected") };
    let forward = if usb.reused { "through the existing forward" } else { "through a new forward" };
    let mut out = format!("{verb} {} as {} at {} {forward}\n", usb.device_serial, usb.device, usb.remote_url);
    if let Some(step) = &usb.next_step {
        let _ = writeln!(out, "{} {step}", paint(WARN, "next:"));
    }
    out
}

/// Renders the state of the daemon.
pub fn status(status: &Status) -> String {
    let mut out = format!("afd {}  pid {}  up {} s\n", status.version, status.pid, status.uptime_ms / 1000);
    let log = status.log.clone().unwrap_or_else(|| "journal or terminal".to_owned());
    for (key, path) in
        [("socket", &status.socket), ("database", &status.database), ("config", &status.config), ("log", &log)]
    {
        let _ = writeln!(out, "{key:9} {path}");
    }
    let store = &status.store;
    let health = if store.writable {
        paint(GOOD, "writable")
    } else {
        paint(BAD, &format!("read-only: {}", maybe(&store.damage)))
    };
    let _ = writeln!(out, "store     {health}, {}, schema {}", bytes(store.size_bytes), store.schema);
    if store.recorded == Some(false) {
        let _ = writeln!(out, "{} devices can be used, nothing is recorded", paint(WARN, "no memory:"));
    }
    if let Some(advice) = &store.advice {
        let _ = writeln!(out, "{} {advice}", paint(WARN, "hint:"));
    }
    let sizes = &status.sizes;
    let newest = status.last_backup_at.map_or_else(|| "none yet".to_owned(), |at| format!("newest {}", time(at)));
    let _ = writeln!(
        out,
        "disk      log of writes {}, artifacts {}, backups {} ({newest})",
        bytes(sizes.wal_bytes),
        bytes(sizes.artifact_bytes),
        bytes(sizes.backup_bytes)
    );
    let _ = writeln!(
        out,
        "load      {}, {} in flight",
        count(status.connections, "connection"),
        count(status.calls_in_flight, "call")
    );
    if let Some(error) = &status.config_error {
        let _ = writeln!(out, "{} {error}", paint(BAD, "configuration rejected:"));
    }
    for key in &status.config_warnings {
        let _ = writeln!(out, "{} {key}", paint(WARN, "unknown setting:"));
    }
    let row = |d: &DeviceInfo| {
        let lease = d.lease.as_ref().map(lease).unwrap_or_default();
        [d.name.clone(), d.kind.clone(), d.url.clone(), d.state.to_string(), maybe(&d.error), lease, waiting(d)]
    };
    out + &table(["name", "kind", "url", "state", "error", "lease", "waiting"], status.devices.iter().map(row))
}
