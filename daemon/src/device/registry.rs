//! Which devices there are, and which one a call means.

use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};

use afd_proto::Secret;
use afd_proto::vocabulary::Address;

use super::actor::{Device, NextSeq};
use super::autofish::Autofish;
use super::usb::{self, AdbSettings, Cable, UsbPhone};
use crate::config::{self, DeviceSettings};
use crate::live::Live;

/// At most this many devices that calls named by URL are kept.
const MAX_AD_HOC: usize = 64;

/// Where a device's settings come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The settings file.
    Config,
    /// `device.add` without saving.
    Runtime,
    /// The URL of a call.
    Call,
}

impl Source {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Source::Config => "config",
            Source::Runtime => "runtime",
            Source::Call => "call",
        }
    }
}

/// The device of a call.
#[derive(Clone)]
pub struct Resolved {
    /// It.
    pub device: Arc<Device>,
    /// The token of this call, when it brought one.
    pub token: Option<Secret>,
}

/// Why a call means no device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// There is none of that name.
    #[error("there is no device {name:?}")]
    Unknown {
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// None is configured at all.
    #[error("no device is configured")]
    None,
    /// Several are configured and none is named.
    #[error("{} devices are configured and the call names none", .0.len())]
    Ambiguous(Vec<String>),
    /// The URL is not one.
    #[error("url: {0}")]
    BadUrl(String),
    /// Both a name and a URL.
    #[error("`device` and `url` exclude each other")]
    Both,
}

/// What a change of the settings did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Devices that came.
    pub added: Vec<String>,
    /// Devices whose settings changed.
    pub changed: Vec<String>,
    /// Devices that went.
    pub removed: Vec<String>,
}

struct Entry {
    device: Arc<Device>,
    settings: DeviceSettings,
}

/// The devices.
pub struct Registry {
    entries: RwLock<BTreeMap<String, Entry>>,
    adb: AdbSettings,
    next_seq: NextSeq,
    live: Arc<Live>,
}

impl Registry {
    /// A registry without devices.
    pub fn new(next_seq: NextSeq, live: Arc<Live>) -> Self {
        Self { entries: RwLock::default(), adb: AdbSettings::default(), next_seq, live }
    }

    fn start(&self, name: &str, source: Source, settings: &DeviceSettings) -> Result<Arc<Device>, String> {
        let device = |driver| Device::start(name.to_owned(), source, driver, self.next_seq.clone(), self.live.clone());
        let Some(usb) = &settings.usb else { return Ok(device(Arc::new(Autofish::new(settings)?))) };
        let cable = Arc::new(Cable::new(self.adb.clone(), usb.clone()));
        let device = device(Arc::new(UsbPhone::new(settings, cable.clone())?));
        tokio::spawn(usb::watch(Arc::downgrade(&device), cable));
        Ok(device)
    }

    /// Changes how `adb` is called.
    pub fn set_adb(&self, settings: &config::Adb) {
        *self.adb.write().unwrap_or_else(std::sync::PoisonError::into_inner) = settings.clone();
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<String, Entry>> {
        self.entries.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, BTreeMap<String, Entry>> {
        self.entries.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Whether a device can be made of these settings.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn check(settings: &DeviceSettings) -> Result<(), String> {
        Autofish::new(settings).map(|_| ())
    }

    /// Adds a device; one of the same name is replaced, and calls in flight finish on it as it was.
    ///
    /// # Errors
    /// When the settings are of no use.
    pub fn add(&self, name: &str, source: Source, settings: &DeviceSettings) -> Result<Arc<Device>, String> {
        let mut entries = self.write();
        let old = entries.get(name);
        if let Some(same) = old.filter(|e| e.settings == *settings && e.device.source() == source) {
            return Ok(same.device.clone());
        }
        let device = self.start(name, source, settings)?;
        if let Some(old) = old {
            device.inherit(&old.device);
        }
        entries.insert(name.to_owned(), Entry { device: device.clone(), settings: settings.clone() });
        Ok(device)
    }

    /// Takes a device out; calls in flight finish.
    pub fn remove(&self, name: &str) -> Option<Source> {
        self.write().remove(name).map(|e| e.device.source())
    }

    /// Makes the configured devices those of the settings.
    pub fn apply(&self, wanted: &BTreeMap<String, DeviceSettings>) -> Changes {
        let mut changes = Changes::default();
        let known: BTreeMap<String, DeviceSettings> =
            self.read().iter().filter(|(_, e)| e.device.source() == Source::Config).map(|(n, e)| (n.clone(), e.settings.clone())).collect();
        for name in known.keys().filter(|n| !wanted.contains_key(*n)) {
            self.remove(name);
            changes.removed.push(name.clone());
        }
        for (name, settings) in wanted {
            let list = match known.get(name) {
                Some(old) if old == settings => continue,
                Some(_) => &mut changes.changed,
                None => &mut changes.added,
            };
            match self.add(name, Source::Config, settings) {
                Ok(_) => list.push(name.clone()),
                Err(error) => tracing::warn!(device = %name, %error, "cannot use the device"),
            }
        }
        changes
    }

    /// The name that a device goes by: its own, or that of the device at this URL.
    pub fn name_of(&self, name: &str) -> String {
        match name.starts_with("http://").then(|| self.by_url(name, None)) {
            Some(Ok(resolved)) => resolved.device.name().to_owned(),
            _ => name.to_owned(),
        }
    }

    /// All devices, by name.
    pub fn list(&self) -> Vec<Arc<Device>> {
        self.read().values().map(|e| e.device.clone()).collect()
    }

    /// A device by name, and its settings.
    pub fn get(&self, name: &str) -> Option<(Arc<Device>, DeviceSettings)> {
        self.read().get(name).map(|e| (e.device.clone(), e.settings.clone()))
    }

    /// The device that a call means.
    ///
    /// # Errors
    /// [`Unresolved`]
    pub fn resolve(&self, address: &Address<'_>) -> Result<Resolved, Unresolved> {
        let token = address.token.cloned();
        match (address.device, address.url) {
            (Some(_), Some(_)) => Err(Unresolved::Both),
            (None, Some(url)) => self.by_url(url, token),
            (Some(name), None) => match self.get(name) {
                Some((device, _)) => Ok(Resolved { device, token }),
                None => Err(Unresolved::Unknown { name: name.to_owned(), known: self.configured() }),
            },
            (None, None) => {
                let mut configured = self.configured();
                match (configured.pop(), configured.is_empty()) {
                    (None, _) => Err(Unresolved::None),
                    (Some(name), true) => self.get(&name).map(|(device, _)| Resolved { device, token }).ok_or(Unresolved::None),
                    (Some(name), false) => {
                        configured.push(name);
                        Err(Unresolved::Ambiguous(configured))
                    }
                }
            }
        }
    }

    fn configured(&self) -> Vec<String> {
        self.read().iter().filter(|(_, e)| e.device.source() != Source::Call).map(|(n, _)| n.clone()).collect()
    }

    /// One phone has one order, whatever name it goes by: a configured device with this URL is the same device.
    fn by_url(&self, url: &str, token: Option<Secret>) -> Result<Resolved, Unresolved> {
        let settings = DeviceSettings::at(url);
        let driver = Autofish::new(&settings).map_err(|e| Unresolved::BadUrl(format!("{e}, got {:?}", harmless(url))))?;
        let key = super::Driver::url(&driver);
        let mut entries = self.write();
        if let Some(entry) = entries.values().find(|e| e.device.url() == key) {
            return Ok(Resolved { device: entry.device.clone(), token });
        }
        let ad_hoc: Vec<String> =
            entries.iter().filter(|(_, e)| e.device.source() == Source::Call && e.device.is_idle()).map(|(n, _)| n.clone()).collect();
        if ad_hoc.len() >= MAX_AD_HOC {
            entries.remove(&ad_hoc[0]);
        }
        let device = Device::start(key.clone(), Source::Call, Arc::new(driver), self.next_seq.clone(), self.live.clone());
        entries.insert(key, Entry { device: device.clone(), settings });
        Ok(Resolved { device, token })
    }
}

/// A URL without what stands before an `@`, which may be a password.
fn harmless(url: &str) -> String {
    url.rsplit('@').next().unwrap_or(url).chars().take(100).collect()
}
