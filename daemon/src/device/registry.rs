//! Which devices there are, and which one a call means.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use afd_proto::Secret;
use afd_proto::device::DeviceSource;
use afd_proto::vocabulary::Address;
use parking_lot::RwLock;

use super::SetupError;
use super::actor::Actor;
use super::autofish::Autofish;
use super::handle::{Device, NextSeq};
use super::identity::Identity;
use super::usb::{self, AdbSettings, Cable, UsbPhone};
use crate::config::{self, DeviceSettings};
use crate::live::Live;
use crate::task::Tasks;

/// At most this many devices that calls named by URL are kept.
const MAX_AD_HOC: usize = 64;

/// The device of a call.
#[derive(Clone)]
pub struct Resolved {
    /// It.
    pub device: Arc<Device>,
    /// The token of this call, when it brought one.
    pub token: Option<Secret>,
}

/// Why a call means no device.
#[derive(Debug, thiserror::Error)]
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
    #[error("{} devices are configured ({}) and the call names none", .0.len(), .0.join(", "))]
    Ambiguous(Vec<String>),
    /// The URL is not one.
    #[error("url: {error}, got {url:?}")]
    BadUrl {
        /// What was given, without credentials.
        url: String,
        /// Why.
        #[source]
        error: SetupError,
    },
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

/// The names, and the queues of the physical devices behind them.
#[derive(Default)]
struct Known {
    entries: BTreeMap<String, Entry>,
    actors: Vec<(Identity, Weak<Actor>)>,
}

/// The devices.
pub struct Registry {
    known: RwLock<Known>,
    adb: AdbSettings,
    next_seq: NextSeq,
    live: Arc<Live>,
    tasks: Tasks,
}

impl Known {
    /// The queue of a physical device: one, whatever names it goes by.
    fn actor(&mut self, name: &str, identity: Identity, tasks: &Tasks) -> Arc<Actor> {
        self.actors.retain(|(_, actor)| actor.strong_count() > 0);
        // An address that two phones had one after the other makes them no one phone.
        let other = |actor: &Weak<Actor>| self.actors.iter().any(|(known, a)| a.ptr_eq(actor) && known.is_other(&identity));
        let same = self.actors.iter().find(|(known, actor)| known.is_same(&identity) && !other(actor));
        if let Some(actor) = same.and_then(|(_, actor)| actor.upgrade()) {
            // The latest address is looked for as well.
            if !self.actors.iter().any(|(known, _)| *known == identity) {
                self.actors.push((identity, Arc::downgrade(&actor)));
            }
            return actor;
        }
        let actor = Actor::start(name, tasks);
        self.actors.push((identity, Arc::downgrade(&actor)));
        actor
    }

    /// The device at an address, if one is known.
    fn at(&self, identity: &Identity) -> Option<&Entry> {
        self.entries.values().find(|e| Identity::of(&e.settings).is_same(identity))
    }
}

impl Registry {
    /// A registry without devices.
    pub fn new(next_seq: NextSeq, live: Arc<Live>, tasks: Tasks) -> Self {
        Self { known: RwLock::default(), adb: AdbSettings::default(), next_seq, live, tasks }
    }

    fn start(&self, known: &mut Known, name: &str, source: DeviceSource, settings: &DeviceSettings) -> Result<Arc<Device>, SetupError> {
        let identity = Identity::of(settings);
        let Some(usb) = &settings.usb else {
            let driver = Arc::new(Autofish::new(settings)?);
            let actor = known.actor(name, identity, &self.tasks);
            return Ok(Device::new(name.to_owned(), source, driver, actor, self.next_seq.clone(), self.live.clone()));
        };
        let cable = Arc::new(Cable::new(self.adb.clone(), usb.clone()));
        let driver = Arc::new(UsbPhone::new(settings, cable.clone())?);
        let actor = known.actor(name, identity, &self.tasks);
        let device = Device::new(name.to_owned(), source, driver, actor, self.next_seq.clone(), self.live.clone());
        let weak = Arc::downgrade(&device);
        self.tasks.spawn(format!("usb:{name}"), move || usb::watch(weak.clone(), cable.clone()));
        Ok(device)
    }

    /// Changes how `adb` is called.
    pub fn set_adb(&self, settings: &config::Adb) {
        *self.adb.write() = settings.clone();
    }

    /// Whether a device can be made of these settings.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn check(settings: &DeviceSettings) -> Result<(), SetupError> {
        Autofish::new(settings).map(|_| ())
    }

    /// Adds a device; one of the same name is replaced. Calls in flight finish as they began, in the same queue as long as it is
    /// the same physical device.
    ///
    /// # Errors
    /// When the settings are of no use.
    pub fn add(&self, name: &str, source: DeviceSource, settings: &DeviceSettings) -> Result<Arc<Device>, SetupError> {
        let mut known = self.known.write();
        let old = known.entries.get(name);
        if let Some(same) = old.filter(|e| e.settings == *settings && e.device.source() == source) {
            return Ok(same.device.clone());
        }
        let old = old.map(|e| e.device.clone());
        let device = self.start(&mut known, name, source, settings)?;
        if let Some(old) = old.filter(|old| !Arc::ptr_eq(old.actor(), device.actor())) {
            device.actor().lease.inherit(&old.actor().lease);
        }
        known.entries.insert(name.to_owned(), Entry { device: device.clone(), settings: settings.clone() });
        Ok(device)
    }

    /// Takes a device out; calls in flight finish.
    pub fn remove(&self, name: &str) -> Option<DeviceSource> {
        self.known.write().entries.remove(name).map(|e| e.device.source())
    }

    /// Makes the configured devices those of the settings.
    pub fn apply(&self, wanted: &BTreeMap<String, DeviceSettings>) -> Changes {
        let mut changes = Changes::default();
        let known: BTreeMap<String, DeviceSettings> = self
            .known
            .read()
            .entries
            .iter()
            .filter(|(_, e)| e.device.source() == DeviceSource::Config)
            .map(|(n, e)| (n.clone(), e.settings.clone()))
            .collect();
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
            match self.add(name, DeviceSource::Config, settings) {
                Ok(_) => list.push(name.clone()),
                Err(error) => tracing::warn!(device = %name, %error, "cannot use the device"),
            }
        }
        changes
    }

    /// The name that a device goes by: its own, or that of the device at this URL. Looking it up makes no device.
    pub fn name_of(&self, name: &str) -> String {
        if !name.starts_with("http://") {
            return name.to_owned();
        }
        let settings = DeviceSettings::at(name);
        let known = self.known.read().at(&Identity::of(&settings)).map(|e| e.device.name().to_owned());
        known.or_else(|| Autofish::new(&settings).ok().map(|driver| super::Driver::url(&driver))).unwrap_or_else(|| name.to_owned())
    }

    /// All devices, by name.
    pub fn list(&self) -> Vec<Arc<Device>> {
        self.known.read().entries.values().map(|e| e.device.clone()).collect()
    }

    /// A device by name, and its settings.
    pub fn get(&self, name: &str) -> Option<(Arc<Device>, DeviceSettings)> {
        self.known.read().entries.get(name).map(|e| (e.device.clone(), e.settings.clone()))
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
        self.known.read().entries.iter().filter(|(_, e)| e.device.source() != DeviceSource::Call).map(|(n, _)| n.clone()).collect()
    }

    /// The device at a URL: a known one, else one that is made for such calls.
    fn by_url(&self, url: &str, token: Option<Secret>) -> Result<Resolved, Unresolved> {
        let settings = DeviceSettings::at(url);
        let bad = |error| Unresolved::BadUrl { url: strip_userinfo(url).to_owned(), error };
        let driver = Autofish::new(&settings).map_err(bad)?;
        let key = super::Driver::url(&driver);
        let mut known = self.known.write();
        if let Some(entry) = known.at(&Identity::of(&settings)) {
            return Ok(Resolved { device: entry.device.clone(), token });
        }
        let is_idle = |e: &Entry| e.device.source() == DeviceSource::Call && e.device.is_idle();
        let idle: Vec<String> = known.entries.iter().filter(|(_, e)| is_idle(e)).map(|(n, _)| n.clone()).collect();
        if idle.len() >= MAX_AD_HOC {
            known.entries.remove(&idle[0]);
        }
        let device = self.start(&mut known, &key, DeviceSource::Call, &settings).map_err(bad)?;
        known.entries.insert(key, Entry { device: device.clone(), settings });
        Ok(Resolved { device, token })
    }
}

/// A URL without what stands before an `@`, which may be a password.
fn strip_userinfo(url: &str) -> String {
    url.rsplit('@').next().unwrap_or(url).chars().take(100).collect()
}
