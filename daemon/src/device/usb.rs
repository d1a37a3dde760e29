//! A phone at the end of a cable: the HTTP driver, and a forward of `adb` that is made again when it is gone.

use std::sync::{Arc, Weak};
use std::time::Duration;

use afd_proto::Secret;
use afd_proto::picture::Overlay;
use parking_lot::RwLock;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::adb::{self, Adb, Forward};
use super::autofish::Autofish;
use super::handle::Device;
use super::{Driven, Driver, DriverError, Input, SetupError, Shot, Top};
use crate::config::{self, DeviceSettings, Usb};
use crate::page::Snapshot;
use crate::task::checkpoint;

/// How long to wait before looking again for a server that does not run, or a phone that is not there.
const RETRY: Duration = Duration::from_secs(2);
/// The longest that this wait grows to.
const MAX_RETRY: Duration = Duration::from_secs(30);
/// How often the server is asked, beside what it tells by itself.
const LOOK: Duration = Duration::from_secs(3);

/// How `adb` is called, which may change while devices live.
pub(super) type AdbSettings = Arc<RwLock<config::Adb>>;

/// The cable of a phone.
pub(super) struct Cable {
    /// As the settings say it now.
    adb: AdbSettings,
    usb: Usb,
    /// Only one repair at a time.
    turn: tokio::sync::Mutex<()>,
}

impl Cable {
    pub(super) fn new(adb: AdbSettings, usb: Usb) -> Self {
        Self { adb, usb, turn: tokio::sync::Mutex::default() }
    }

    fn adb(&self) -> Adb {
        Adb::new(&self.adb.read())
    }

    async fn state(&self, adb: &Adb) -> Result<Option<String>, String> {
        let devices = adb.devices().await.map_err(|e| e.to_string())?;
        Ok(devices.into_iter().find(|d| d.serial == self.usb.serial).map(|d| d.state))
    }

    /// Makes sure that the phone is attached and the forward is there. A new server has forgotten both addresses and forwards.
    async fn repair(&self) -> Result<(), String> {
        let _turn = self.turn.lock().await;
        let (adb, serial) = (self.adb(), &self.usb.serial);
        let mut state = self.state(&adb).await?;
        if state.as_deref() != Some("device") && adb::is_address(serial) {
            if state.is_some() {
                let _ = adb.disconnect(serial).await;
            }
            adb.connect(serial).await.map_err(|e| e.to_string())?;
            state = self.state(&adb).await?;
        }
        match state.as_deref() {
            Some("device") => {}
            Some(other) => return Err(format!("adb says that {serial} is {other}")),
            None => return Err(format!("{serial} is not attached")),
        }
        let forward = Forward { serial: serial.clone(), local: self.usb.local_port, remote: self.usb.device_port };
        let there = adb.forwards().await.map_err(|e| e.to_string())?;
        if there.contains(&forward) {
            return Ok(());
        }
        // Ours of before, to another port of the phone, would be in the way.
        let stale = there.iter().find(|f| (f.serial.as_str(), f.local) == (serial.as_str(), forward.local));
        if let Some(stale) = stale.filter(|_| self.usb.own_forward) {
            adb.remove_forward(stale).await.map_err(|e| e.to_string())?;
        }
        tracing::info!(%serial, local = forward.local, "making the forward again");
        adb.forward(serial, forward.local, forward.remote).await.map(|_| ()).map_err(|e| e.to_string())
    }
}

/// The driver of a phone at the end of a cable.
pub(super) struct UsbPhone {
    phone: Autofish,
    cable: Arc<Cable>,
    /// Set once the forward is known to lead to the right place. Connections through a wrong one would stay.
    looked: OnceCell<()>,
}

impl UsbPhone {
    pub(super) fn new(settings: &DeviceSettings, cable: Arc<Cable>) -> Result<Self, SetupError> {
        Ok(Self { phone: Autofish::new(settings)?, cable, looked: OnceCell::new() })
    }

    /// Looks at the forward before the first use. Where that cannot be done, the first use itself will tell what is wrong.
    async fn look(&self) {
        let _ = self.looked.get_or_try_init(|| self.cable.repair()).await;
    }

    /// Does something, and once more if nothing reached the phone because the forward was gone.
    fn over_cable<'a, T: Send + 'a>(&'a self, work: impl Fn() -> Driven<'a, T> + Send + Sync + 'a) -> Driven<'a, T> {
        Box::pin(async move {
            self.look().await;
            match work().await {
                Err(DriverError::Unreachable(_)) => match self.cable.repair().await {
                    Ok(()) => work().await,
                    Err(why) => Err(DriverError::Unreachable(why)),
                },
                other => other,
            }
        })
    }
}

impl Driver for UsbPhone {
    fn kind(&self) -> &'static str {
        self.phone.kind()
    }

    fn capabilities(&self) -> &'static [&'static str] {
        self.phone.capabilities()
    }

    fn url(&self) -> String {
        self.phone.url()
    }

    fn health(&self) -> Driven<'_, String> {
        self.over_cable(move || self.phone.health())
    }

    fn top<'a>(&'a self, token: Option<&'a Secret>) -> Driven<'a, Top> {
        self.over_cable(move || self.phone.top(token))
    }

    fn snapshot<'a>(&'a self, token: Option<&'a Secret>) -> Driven<'a, Snapshot> {
        self.over_cable(move || self.phone.snapshot(token))
    }

    fn screenshot<'a>(&'a self, token: Option<&'a Secret>, shot: Shot) -> Driven<'a, Vec<u8>> {
        self.over_cable(move || self.phone.screenshot(token, shot))
    }

    fn overlay<'a>(&'a self, token: Option<&'a Secret>) -> Driven<'a, Overlay> {
        self.over_cable(move || self.phone.overlay(token))
    }

    fn packages<'a>(&'a self, token: Option<&'a Secret>, filter: Option<&'a str>, system: bool) -> Driven<'a, Vec<String>> {
        self.over_cable(move || self.phone.packages(token, filter, system))
    }

    /// An input that was certainly not sent may be sent again, unless it is for a point: what lies there was looked at before the
    /// repair, which takes its time.
    fn perform<'a>(&'a self, token: Option<&'a Secret>, input: &'a Input) -> Driven<'a, String> {
        match input {
            Input::Tap(..) | Input::LongPress(..) | Input::DoubleTap(..) | Input::Swipe(..) => Box::pin(async move {
                self.look().await;
                let result = self.phone.perform(token, input).await;
                if matches!(result, Err(DriverError::Unreachable(_))) {
                    let _ = self.cable.repair().await;
                }
                result
            }),
            _ => self.over_cable(move || self.phone.perform(token, input)),
        }
    }
}

/// Follows whether the phone is attached, and brings it back when it is again. Ends with the device.
pub(super) async fn watch(device: Weak<Device>, cable: Arc<Cable>) {
    let mut wait = RETRY;
    while device.strong_count() > 0 {
        checkpoint(&format!("usb:{}", cable.usb.serial));
        if let Some(mut tracker) = cable.adb().track().await {
            wait = RETRY;
            follow(&device, &cable, &mut tracker).await;
            tell(&device, "the adb server ended");
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(MAX_RETRY);
    }
}

fn tell(device: &Weak<Device>, why: &str) {
    if let Some(device) = device.upgrade() {
        device.note(Some(&DriverError::Unreachable(why.to_owned())));
    }
}

/// Follows one server until it ends.
async fn follow(device: &Weak<Device>, cable: &Cable, tracker: &mut adb::Tracker) {
    let mut known: Option<Option<String>> = None;
    let mut call_at = Instant::now();
    let mut wait = RETRY;
    while device.strong_count() > 0 {
        let list = tokio::select! {
            list = tracker.next() => list,
            // Some servers do not tell when a phone that has an address goes offline.
            () = tokio::time::sleep(LOOK) => cable.adb().attached().await,
        };
        let Some(list) = list else { return };
        let state = list.into_iter().find(|d| d.serial == cable.usb.serial).map(|d| d.state);
        let attached = state.as_deref() == Some("device");
        if known.as_ref() != Some(&state) {
            (wait, call_at) = (RETRY, Instant::now() + RETRY);
            changed(device, &state).await;
        } else if !attached && adb::is_address(&cable.usb.serial) && Instant::now() >= call_at {
            // It does not come back by itself: it is called.
            let _ = cable.repair().await;
            wait = (wait * 2).min(MAX_RETRY);
            call_at = Instant::now() + wait;
        }
        known = Some(state);
    }
}

async fn changed(device: &Weak<Device>, state: &Option<String>) {
    match state.as_deref() {
        // The driver makes the forward again if it has to.
        Some("device") => {
            if let Some(device) = device.upgrade() {
                let _ = device.health().await;
            }
        }
        Some(other) => tell(device, &format!("adb says that the phone is {other}")),
        None => tell(device, "the phone is not attached"),
    }
}
