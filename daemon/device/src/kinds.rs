//! The kinds of devices. Each kind has a module with its driver and an entry in this file.

use std::sync::Arc;

use super::usb::AdbSettings;
use super::{Driver, Manages, SetupError, adb_phone, autofish, browser};
use afd_base::config::{self, DeviceKind, DeviceSettings};

/// Returns an example of the URL of a device, for messages about invalid ones.
pub fn example_url(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::Autofish => "a URL such as http://192.168.1.20:8081",
        DeviceKind::Browser => "the URL of a page, such as https://example.com",
        DeviceKind::Adb => "`adb:` and a serial number of `adb devices`, such as adb:emulator-5554",
    }
}

/// Checks the debugging address of a browser that runs already.
///
/// # Errors
/// Describes the accepted addresses if this is none of them, or if devices of this kind have none.
pub fn check_attach(kind: DeviceKind, address: &str) -> Result<(), &'static str> {
    match kind {
        DeviceKind::Browser => config::check_attach(address).map(|_| ()),
        DeviceKind::Autofish | DeviceKind::Adb => {
            Err("no debugging address: only a device of the kind browser has one")
        }
    }
}

/// Returns the settings of a new device. `attach` is the debugging address of a browser that runs already.
pub fn new_settings(kind: DeviceKind, name: &str, url: &str, attach: Option<&str>) -> DeviceSettings {
    let mut settings = DeviceSettings { kind, ..DeviceSettings::at(url) };
    if kind == DeviceKind::Browser {
        match attach {
            Some(attach) => settings.browser.attach = Some(attach.to_owned()),
            // Browsers with one profile would be the same browser.
            None => name.clone_into(&mut settings.browser.profile),
        }
    }
    settings
}

/// Creates the driver of a device, with the default settings of the `adb` program.
///
/// # Errors
/// If the settings are not acceptable for this kind of device.
pub fn open(settings: &DeviceSettings) -> Result<Arc<dyn Driver>, SetupError> {
    open_with(settings, &AdbSettings::default())
}

/// Like [`open`], with the current settings of the `adb` program.
pub(super) fn open_with(settings: &DeviceSettings, adb: &AdbSettings) -> Result<Arc<dyn Driver>, SetupError> {
    Ok(match settings.kind {
        DeviceKind::Autofish => Arc::new(autofish::Autofish::new(settings)?),
        DeviceKind::Browser => Arc::new(browser::Browser::new(settings)?),
        DeviceKind::Adb => Arc::new(adb_phone::AdbPhone::new(settings, adb.clone())),
    })
}

/// Returns what manages a device whose driver does not: a phone with the Autofish app that `adb` knows too.
pub(super) fn manages(settings: &DeviceSettings, adb: &AdbSettings) -> Option<Arc<dyn Manages>> {
    match settings.kind {
        DeviceKind::Autofish => Some(Arc::new(adb_phone::tools_of(settings.adb_serial()?, settings, adb))),
        DeviceKind::Browser | DeviceKind::Adb => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_browsers_get_a_profile() {
        let url = "http://192.168.1.20:8081";
        // Otherwise a reload of the settings file would replace each phone.
        assert_eq!(new_settings(DeviceKind::Autofish, "pixel", url, None), DeviceSettings::at(url));
        assert_eq!(new_settings(DeviceKind::Browser, "web", "https://example.com", None).browser.profile, "web");
    }
}
