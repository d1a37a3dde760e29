//! Registry of devices: adds, replaces and removes devices, and determines which device a call refers to.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use afd_proto::Secret;
use afd_proto::device::DeviceSource;
use afd_proto::vocabulary::{Address, DEFAULT_SESSION};
use parking_lot::RwLock;

use super::SetupError;
use super::actor::Actor;
use super::handle::{Device, NextSeq};
use super::identity::Identity;
use super::kinds;
use super::usb::{self, AdbSettings, OverUsb, UsbLink};
use afd_base::config::{self, DeviceSettings};
use afd_base::live::Live;
use afd_base::task::Tasks;

/// Maximum number of idle ad-hoc devices that are kept. A call that names an unknown URL creates an ad-hoc device.
const MAX_AD_HOC: usize = 64;

/// The device that a call refers to.
#[derive(Clone)]
pub struct Resolved {
    /// Device that the call refers to.
    pub device: Arc<Device>,
    /// Token given in the call; if it is `None`, the device's configured token is used.
    pub token: Option<Secret>,
}

/// Error from determining the device that a call refers to.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// No device has the name given in the call.
    #[error("no such device: {name:?}")]
    Unknown {
        /// The name in the call.
        name: String,
        /// The names of all known devices except ad-hoc devices.
        known: Vec<String>,
    },
    /// The call names no device and none is configured.
    #[error("no device is configured")]
    None,
    /// The call names no device and several are configured; holds their names.
    #[error("{} devices are configured ({}) and the call names none", .0.len(), .0.join(", "))]
    Ambiguous(Vec<String>),
    /// The URL given in the call is invalid.
    #[error("url: {error}, got {url:?}")]
    BadUrl {
        /// The URL in the call, without credentials.
        url: String,
        /// The reason why the URL is invalid.
        #[source]
        error: SetupError,
    },
    /// The call gives both a name and a URL.
    #[error("`device` and `url` are mutually exclusive")]
    Both,
}

/// Devices affected by a configuration change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Names of added devices.
    pub added: Vec<String>,
    /// Names of devices whose settings changed.
    pub changed: Vec<String>,
    /// Names of removed devices.
    pub removed: Vec<String>,
}

struct Entry {
    device: Arc<Device>,
    settings: DeviceSettings,
}

/// Devices by name, and the actors of the physical devices behind them. An actor can be listed under
/// several identities: one per serial or address by which its device is or was configured.
#[derive(Default)]
struct Devices {
    entries: BTreeMap<String, Entry>,
    actors: Vec<(Identity, Weak<Actor>)>,
}

/// The registry, which holds all devices and assigns them to physical devices.
pub struct Registry {
    known: RwLock<Devices>,
    adb: AdbSettings,
    next_seq: NextSeq,
    live: Arc<Live>,
    tasks: Tasks,
}

impl Devices {
    /// Returns the actor for a physical device: the existing actor if any known identity refers to the same device, or
    /// else a new actor.
    fn actor(&mut self, name: &str, identity: Identity, tasks: &Tasks) -> Arc<Actor> {
        self.actors.retain(|(_, actor)| actor.strong_count() > 0);
        // Two phones that had the same address at different times are still different phones.
        let other =
            |actor: &Weak<Actor>| self.actors.iter().any(|(known, a)| a.ptr_eq(actor) && known.is_other(&identity));
        let same = self.actors.iter().find(|(known, actor)| known.is_same(&identity) && !other(actor));
        if let Some(actor) = same.and_then(|(_, actor)| actor.upgrade()) {
            // From now on the device is recognised by its new identity too.
            if !self.actors.iter().any(|(known, _)| *known == identity) {
                self.actors.push((identity, Arc::downgrade(&actor)));
            }
            return actor;
        }
        let actor = Actor::start(name, tasks);
        self.actors.push((identity, Arc::downgrade(&actor)));
        actor
    }

    /// Returns the entry of a known device that has this identity.
    fn find(&self, identity: &Identity) -> Option<&Entry> {
        self.entries.values().find(|e| Identity::of(&e.settings).is_same(identity))
    }
}

impl Registry {
    /// Returns a registry without devices.
    pub fn new(next_seq: NextSeq, live: Arc<Live>, tasks: Tasks) -> Self {
        Self { known: RwLock::default(), adb: AdbSettings::default(), next_seq, live, tasks }
    }

    fn create(
        &self,
        known: &mut Devices,
        name: &str,
        source: DeviceSource,
        settings: &DeviceSettings,
    ) -> Result<Arc<Device>, SetupError> {
        let identity = Identity::of(settings);
        let link = settings.usb.as_ref().map(|usb| Arc::new(UsbLink::new(self.adb.clone(), usb.clone())));
        let mut driver = kinds::open_with(settings, &self.adb)?;
        if let Some(link) = &link {
            driver = Arc::new(OverUsb::new(driver, link.clone()));
        }
        let actor = known.actor(name, identity, &self.tasks);
        let manages = kinds::manages(settings, &self.adb);
        let device =
            Device::new(name.to_owned(), source, driver, manages, actor, self.next_seq.clone(), self.live.clone());
        if let Some(link) = link {
            let weak = Arc::downgrade(&device);
            self.tasks.spawn(format!("usb:{name}"), move || usb::watch(weak.clone(), link.clone()));
        }
        Ok(device)
    }

    /// Replaces the `adb` settings of all USB devices.
    pub fn set_adb(&self, settings: &config::Adb) {
        *self.adb.write() = settings.clone();
    }

    /// Checks that a device can be created from these settings.
    ///
    /// # Errors
    /// If the URL is invalid or no HTTP client can be created.
    pub fn check(settings: &DeviceSettings) -> Result<(), SetupError> {
        kinds::open(settings).map(|_| ())
    }

    /// Adds a device and replaces any device with the same name. Calls in flight finish with the old settings. If the
    /// old and the new device are the same physical device, the queue is kept; otherwise only the lease is transferred.
    ///
    /// # Errors
    /// If no device can be created from the settings; see [`Self::check`].
    pub fn add(&self, name: &str, source: DeviceSource, settings: &DeviceSettings) -> Result<Arc<Device>, SetupError> {
        let mut known = self.known.write();
        let old = known.entries.get(name);
        if let Some(same) = old.filter(|e| e.settings == *settings && e.device.source() == source) {
            return Ok(same.device.clone());
        }
        let old = old.map(|e| e.device.clone());
        let device = self.create(&mut known, name, source, settings)?;
        if let Some(old) = old.filter(|old| !Arc::ptr_eq(old.actor(), device.actor())) {
            device.actor().lease.inherit(&old.actor().lease);
        }
        known.entries.insert(name.to_owned(), Entry { device: device.clone(), settings: settings.clone() });
        Ok(device)
    }

    /// Adds a device with a driver that the caller supplies.
    pub fn add_driver(&self, name: &str, driver: Arc<dyn super::Driver>) -> Arc<Device> {
        let settings = DeviceSettings::at(&driver.url());
        let mut known = self.known.write();
        let actor = known.actor(name, Identity::of(&settings), &self.tasks);
        let device = Device::new(
            name.to_owned(),
            DeviceSource::Runtime,
            driver,
            None,
            actor,
            self.next_seq.clone(),
            self.live.clone(),
        );
        known.entries.insert(name.to_owned(), Entry { device: device.clone(), settings });
        device
    }

    /// Undoes what drivers did to something that goes on without them, before the daemon exits.
    pub async fn close(&self) {
        let devices = self.list();
        for device in &devices {
            device.close().await;
        }
    }

    /// Removes a device and returns its source; `None` if no device has this name. Calls in flight finish.
    pub fn remove(&self, name: &str) -> Option<DeviceSource> {
        self.known.write().entries.remove(name).map(|e| e.device.source())
    }

    /// Adds, replaces and removes configured devices to match the configuration.
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
                Err(error) => tracing::warn!(device = %name, %error, "cannot use the configured device"),
            }
        }
        changes
    }

    /// Resolves a name or URL to the name of a device, without creating a device. A URL that belongs to no known device
    /// is only normalised.
    pub fn name_of(&self, name: &str) -> String {
        if !name.starts_with("http://") {
            return name.to_owned();
        }
        let settings = DeviceSettings::at(name);
        let known = self.known.read().find(&Identity::of(&settings)).map(|e| e.device.name().to_owned());
        known.or_else(|| kinds::open(&settings).ok().map(|driver| driver.url())).unwrap_or_else(|| name.to_owned())
    }

    /// Returns all devices, sorted by name.
    pub fn list(&self) -> Vec<Arc<Device>> {
        self.known.read().entries.values().map(|e| e.device.clone()).collect()
    }

    /// Returns a device and its settings by name.
    pub fn get(&self, name: &str) -> Option<(Arc<Device>, DeviceSettings)> {
        self.known.read().entries.get(name).map(|e| (e.device.clone(), e.settings.clone()))
    }

    /// Determines the device that a call refers to: by name, by URL, or else the only configured device.
    /// If each session has a screen of its own there, the session's one is returned.
    pub fn resolve(&self, address: &Address<'_>) -> Result<Resolved, ResolveError> {
        let found = self.named_by(address)?;
        let session = address.session.unwrap_or(DEFAULT_SESSION);
        Ok(Resolved { device: found.device.for_session(session, &self.tasks), ..found })
    }

    fn named_by(&self, address: &Address<'_>) -> Result<Resolved, ResolveError> {
        let token = address.token.cloned();
        match (address.device, address.url) {
            (Some(_), Some(_)) => Err(ResolveError::Both),
            (None, Some(url)) => self.by_url(url, token),
            (Some(name), None) => match self.get(name) {
                Some((device, _)) => Ok(Resolved { device, token }),
                None => Err(ResolveError::Unknown { name: name.to_owned(), known: self.configured() }),
            },
            (None, None) => {
                let mut configured = self.configured();
                match (configured.pop(), configured.is_empty()) {
                    (None, _) => Err(ResolveError::None),
                    (Some(name), true) => {
                        self.get(&name).map(|(device, _)| Resolved { device, token }).ok_or(ResolveError::None)
                    }
                    (Some(name), false) => {
                        configured.push(name);
                        Err(ResolveError::Ambiguous(configured))
                    }
                }
            }
        }
    }

    fn configured(&self) -> Vec<String> {
        self.known
            .read()
            .entries
            .iter()
            .filter(|(_, e)| e.device.source() != DeviceSource::Call)
            .map(|(n, _)| n.clone())
            .collect()
    }

    /// Returns the device at a URL: a known device, or else a new ad-hoc device.
    fn by_url(&self, url: &str, token: Option<Secret>) -> Result<Resolved, ResolveError> {
        let settings = DeviceSettings::at(url);
        let bad = |error| ResolveError::BadUrl { url: strip_userinfo(url).to_owned(), error };
        let key = kinds::open(&settings).map_err(bad)?.url();
        let mut known = self.known.write();
        if let Some(entry) = known.find(&Identity::of(&settings)) {
            return Ok(Resolved { device: entry.device.clone(), token });
        }
        let is_idle = |e: &Entry| e.device.source() == DeviceSource::Call && e.device.is_idle();
        let idle: Vec<String> = known.entries.iter().filter(|(_, e)| is_idle(e)).map(|(n, _)| n.clone()).collect();
        if idle.len() >= MAX_AD_HOC {
            known.entries.remove(&idle[0]);
        }
        let device = self.create(&mut known, &key, DeviceSource::Call, &settings).map_err(bad)?;
        known.entries.insert(key, Entry { device: device.clone(), settings });
        Ok(Resolved { device, token })
    }
}

/// Returns at most 100 characters of a URL, without the part up to the last `@`, which may contain a password.
fn strip_userinfo(url: &str) -> String {
    url.rsplit('@').next().unwrap_or(url).chars().take(100).collect()
}
