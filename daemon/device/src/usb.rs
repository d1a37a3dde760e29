//! Devices connected by USB. The driver runs over an `adb` port forward, which is restored when it is lost.

use std::sync::{Arc, Weak};
use std::time::Duration;

use afd_proto::Secret;
use afd_proto::picture::Overlay;
use parking_lot::RwLock;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::adb::{self, Adb, Forward};
use super::handle::Device;
use super::{
    BadParam, Driver, DriverError, DriverFuture, ForegroundApp, Input, Intent, Intents, OverlaySetting, Overlays,
    Packages, ScreenshotOptions, Shell,
};
use afd_base::config::{self, Usb};
use afd_base::task::failpoint;
use afd_proto::keys::KeyName;
use afd_screen::page::Snapshot;

/// Initial delay between attempts to reach the adb server or a missing phone; it doubles with each attempt.
const RETRY: Duration = Duration::from_secs(2);
/// Maximum delay between attempts to reach the adb server or a missing phone.
const MAX_RETRY: Duration = Duration::from_secs(30);
/// Interval at which the device list is polled, in addition to the server's own updates.
const POLL_INTERVAL: Duration = Duration::from_secs(3);

/// Shared `adb` settings, which may change while devices exist.
pub(super) type AdbSettings = Arc<RwLock<config::Adb>>;

/// USB connection to a phone.
pub(super) struct UsbLink {
    /// Current `adb` settings, shared by all USB devices.
    adb: AdbSettings,
    usb: Usb,
    /// Lock that allows only one repair of the connection at a time.
    repair_lock: tokio::sync::Mutex<()>,
}

impl UsbLink {
    pub(super) fn new(adb: AdbSettings, usb: Usb) -> Self {
        Self { adb, usb, repair_lock: tokio::sync::Mutex::default() }
    }

    fn adb(&self) -> Adb {
        Adb::new(&self.adb.read())
    }

    /// Returns the connection state that `adb` lists for the phone, or `None` if the phone is not attached.
    async fn state(&self, adb: &Adb) -> Result<Option<String>, String> {
        let devices = adb.devices().await.map_err(|e| e.to_string())?;
        Ok(devices.into_iter().find(|d| d.serial == self.usb.serial).map(|d| d.state))
    }

    /// Ensures that the phone is attached and the forward exists. A restarted adb server has lost its connections and
    /// forwards.
    async fn repair(&self) -> Result<(), String> {
        let _lock = self.repair_lock.lock().await;
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
            Some(other) => return Err(format!("adb lists {serial} as {other}")),
            None => return Err(format!("{serial} is not attached")),
        }
        let forward = Forward { serial: serial.clone(), local: self.usb.local_port, remote: self.usb.device_port };
        let existing = adb.forwards().await.map_err(|e| e.to_string())?;
        if existing.contains(&forward) {
            return Ok(());
        }
        // A forward that the daemon created earlier to another port on the phone would block the local port.
        let stale = existing.iter().find(|f| (f.serial.as_str(), f.local) == (serial.as_str(), forward.local));
        if let Some(stale) = stale.filter(|_| self.usb.own_forward) {
            adb.remove_forward(stale).await.map_err(|e| e.to_string())?;
        }
        tracing::info!(%serial, local = forward.local, "restoring the adb forward");
        adb.forward(serial, forward.local, forward.remote).await.map(|_| ()).map_err(|e| e.to_string())
    }
}

/// A driver for a device connected by USB. It wraps the driver for the kind of device.
pub(super) struct OverUsb {
    driver: Arc<dyn Driver>,
    link: Arc<UsbLink>,
    /// Set once the forward has been verified. Without this check, connections through a wrong forward would be kept
    /// alive and reused.
    verified: OnceCell<()>,
}

impl OverUsb {
    pub(super) fn new(driver: Arc<dyn Driver>, link: Arc<UsbLink>) -> Self {
        Self { driver, link, verified: OnceCell::new() }
    }

    /// Verifies the forward before the first use. A failure is ignored here, because the request that follows reports
    /// it.
    async fn verify(&self) {
        let _ = self.verified.get_or_try_init(|| self.link.repair()).await;
    }

    /// Runs a request. If nothing reached the phone, repairs the forward and runs the request once more.
    fn with_repair<'a, T: Send + 'a>(
        &'a self,
        work: impl Fn() -> DriverFuture<'a, T> + Send + Sync + 'a,
    ) -> DriverFuture<'a, T> {
        Box::pin(async move {
            self.verify().await;
            match work().await {
                Err(DriverError::Unreachable(_)) => match self.link.repair().await {
                    Ok(()) => work().await,
                    Err(why) => Err(DriverError::Unreachable(why.into())),
                },
                other => other,
            }
        })
    }
}

impl Driver for OverUsb {
    fn kind(&self) -> &'static str {
        self.driver.kind()
    }

    fn capabilities(&self) -> &'static [&'static str] {
        self.driver.capabilities()
    }

    fn url(&self) -> String {
        self.driver.url()
    }

    fn cannot_type(&self, text: &str) -> Vec<usize> {
        self.driver.cannot_type(text)
    }

    fn key_code(&self, key: KeyName) -> Option<i32> {
        self.driver.key_code(key)
    }

    fn check_app(&self, name: &str) -> Result<(), BadParam> {
        self.driver.check_app(name)
    }

    fn advice(&self, error: &DriverError) -> Option<&'static str> {
        self.driver.advice(error)
    }

    fn health(&self) -> DriverFuture<'_, String> {
        self.with_repair(move || self.driver.health())
    }

    fn check_token<'a>(&'a self, token: Option<&'a Secret>) -> DriverFuture<'a, ()> {
        self.with_repair(move || self.driver.check_token(token))
    }

    fn top<'a>(&'a self, token: Option<&'a Secret>) -> DriverFuture<'a, ForegroundApp> {
        self.with_repair(move || self.driver.top(token))
    }

    fn snapshot<'a>(&'a self, token: Option<&'a Secret>) -> DriverFuture<'a, Snapshot> {
        self.with_repair(move || self.driver.snapshot(token))
    }

    fn screenshot<'a>(&'a self, token: Option<&'a Secret>, shot: ScreenshotOptions) -> DriverFuture<'a, Vec<u8>> {
        self.with_repair(move || self.driver.screenshot(token, shot))
    }

    /// Performs an input. If the input certainly did not reach the phone, repairs the forward. The input is then
    /// resent, unless it targets a point: the repair takes a while, so the screen may have changed since the point was
    /// chosen.
    fn perform<'a>(&'a self, token: Option<&'a Secret>, input: &'a Input) -> DriverFuture<'a, String> {
        if !input.is_touch() {
            return self.with_repair(move || self.driver.perform(token, input));
        }
        Box::pin(async move {
            self.verify().await;
            let result = self.driver.perform(token, input).await;
            if matches!(result, Err(DriverError::Unreachable(_))) {
                let _ = self.link.repair().await;
            }
            result
        })
    }

    fn overlays(&self) -> Option<&dyn Overlays> {
        self.driver.overlays()?;
        Some(self)
    }

    fn packages(&self) -> Option<&dyn Packages> {
        self.driver.packages()?;
        Some(self)
    }

    fn shell(&self) -> Option<&dyn Shell> {
        self.driver.shell()?;
        Some(self)
    }

    fn intents(&self) -> Option<&dyn Intents> {
        self.driver.intents()?;
        Some(self)
    }
}

impl Overlays for OverUsb {
    fn overlay<'a>(&'a self, token: Option<&'a Secret>) -> DriverFuture<'a, Overlay> {
        self.with_repair(move || need(self.driver.overlays(), |driver| driver.overlay(token)))
    }

    fn set_overlay<'a>(&'a self, token: Option<&'a Secret>, setting: &'a OverlaySetting) -> DriverFuture<'a, Overlay> {
        self.with_repair(move || need(self.driver.overlays(), |driver| driver.set_overlay(token, setting)))
    }
}

impl Packages for OverUsb {
    fn packages<'a>(
        &'a self,
        token: Option<&'a Secret>,
        filter: Option<&'a str>,
        system: bool,
    ) -> DriverFuture<'a, Vec<String>> {
        self.with_repair(move || need(self.driver.packages(), |driver| driver.packages(token, filter, system)))
    }
}

impl Shell for OverUsb {
    fn run<'a>(&'a self, token: Option<&'a Secret>, command: &'a Secret, ms: u32) -> DriverFuture<'a, String> {
        self.with_repair(move || need(self.driver.shell(), |driver| driver.run(token, command, ms)))
    }
}

impl Intents for OverUsb {
    fn check(&self, intent: &Intent) -> Result<(), BadParam> {
        self.driver.intents().map_or(Ok(()), |driver| driver.check(intent))
    }

    fn send<'a>(&'a self, token: Option<&'a Secret>, intent: &'a Intent) -> DriverFuture<'a, String> {
        self.with_repair(move || need(self.driver.intents(), |driver| driver.send(token, intent)))
    }
}

/// Calls a method of an optional trait of the wrapped driver. The wrapper's accessors return a trait only if the
/// wrapped driver has it.
fn need<'a, D: ?Sized, T: Send + 'a>(
    driver: Option<&'a D>,
    call: impl FnOnce(&'a D) -> DriverFuture<'a, T>,
) -> DriverFuture<'a, T> {
    match driver {
        Some(driver) => call(driver),
        None => Box::pin(async { Err(DriverError::Failed("the device cannot do this".to_owned())) }),
    }
}

/// Tracks whether the phone is attached, and reconnects it if necessary. Ends when the device is dropped.
pub(super) async fn watch(device: Weak<Device>, link: Arc<UsbLink>) {
    let mut wait = RETRY;
    while device.strong_count() > 0 {
        failpoint(&format!("usb:{}", link.usb.serial));
        if let Some(mut tracker) = link.adb().track().await {
            wait = RETRY;
            track_state(&device, &link, &mut tracker).await;
            mark_unreachable(&device, "the adb server stopped");
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(MAX_RETRY);
    }
}

fn mark_unreachable(device: &Weak<Device>, why: &str) {
    if let Some(device) = device.upgrade() {
        device.update_health(Some(&DriverError::Unreachable(why.into())));
    }
}

/// Tracks the phone through one adb server, until the server stops.
async fn track_state(device: &Weak<Device>, link: &UsbLink, tracker: &mut adb::Tracker) {
    let mut known: Option<Option<String>> = None;
    let mut reconnect_at = Instant::now();
    let mut wait = RETRY;
    while device.strong_count() > 0 {
        let list = tokio::select! {
            list = tracker.next() => list,
            // Some servers do not report that a phone connected over the network went offline.
            () = tokio::time::sleep(POLL_INTERVAL) => link.adb().attached().await,
        };
        let Some(list) = list else { return };
        let state = list.into_iter().find(|d| d.serial == link.usb.serial).map(|d| d.state);
        let attached = state.as_deref() == Some("device");
        if known.as_ref() != Some(&state) {
            (wait, reconnect_at) = (RETRY, Instant::now() + RETRY);
            handle_state_change(device, &state).await;
        } else if !attached && adb::is_address(&link.usb.serial) && Instant::now() >= reconnect_at {
            // A phone connected over the network does not reconnect on its own.
            let _ = link.repair().await;
            wait = (wait * 2).min(MAX_RETRY);
            reconnect_at = Instant::now() + wait;
        }
        known = Some(state);
    }
}

async fn handle_state_change(device: &Weak<Device>, state: &Option<String>) {
    match state.as_deref() {
        // The driver restores the forward if necessary.
        Some("device") => {
            if let Some(device) = device.upgrade() {
                let _ = device.health().await;
            }
        }
        Some(other) => mark_unreachable(device, &format!("adb lists the phone as {other}")),
        None => mark_unreachable(device, "the phone is not attached"),
    }
}
