//! The identity of physical devices, which shows without network access whether two configured devices are the same
//! phone.
//!
//! Two USB devices are the same if their serials are equal. The forwarded port does not identify the phone behind it.
//! Otherwise two devices are the same if the normalised host and port of their URLs are equal.

use url::Url;

use afd_base::config::{DeviceKind, DeviceSettings};

/// The facts that identify a physical device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    /// Serial number that `adb` knows; `None` for a device that is only known by its URL.
    serial: Option<String>,
    /// Normalised `host:port`.
    address: String,
}

impl Identity {
    /// Returns the identity of the device that has these settings.
    pub(super) fn of(settings: &DeviceSettings) -> Self {
        if settings.kind == DeviceKind::Browser {
            // Two devices with one profile, or at one debugging address, are the same browser, whatever page each begins with.
            let profile = match &settings.browser.attach {
                Some(running) => format!("browser at {}", address(running)),
                None => format!("browser:{}", settings.browser.profile),
            };
            return Self { serial: Some(profile.clone()), address: profile };
        }
        if settings.kind == DeviceKind::Adb {
            let serial = settings.url.trim_start_matches("adb:").to_owned();
            return Self { address: format!("adb:{serial}"), serial: Some(serial) };
        }
        Self { serial: settings.adb_serial().map(str::to_owned), address: address(&settings.url) }
    }

    /// Returns whether two identities are known to refer to different devices, even if they share an address.
    pub(super) fn is_other(&self, other: &Self) -> bool {
        matches!((&self.serial, &other.serial), (Some(own), Some(other)) if own != other)
    }

    /// Returns whether two identities refer to the same device. If both serials are known, the addresses are ignored.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (&self.serial, &other.serial) {
            (Some(own), Some(other)) => own == other,
            _ => self.address == other.address,
        }
    }
}

/// Returns the normalised `host:port` of a URL: the host in lower case, one name for all loopback addresses, and the
/// default port if the URL has none. Makes no DNS lookup.
fn address(url: &str) -> String {
    let Ok(url) = Url::parse(url) else { return url.to_owned() };
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    let host = if matches!(host, "localhost" | "127.0.0.1" | "[::1]") { "localhost" } else { host };
    format!("{host}:{}", url.port_or_known_default().unwrap_or(80))
}

#[cfg(test)]
mod tests {
    use super::*;
    use afd_base::config::Usb;

    fn at(url: &str, serial: Option<&str>) -> Identity {
        let usb =
            serial.map(|serial| Usb { serial: serial.to_owned(), local_port: 1, device_port: 2, own_forward: true });
        Identity::of(&DeviceSettings { usb, ..DeviceSettings::at(url) })
    }

    #[test]
    fn equivalent_urls_are_the_same_device() {
        let one = at("http://localhost:8081", None);
        for same in
            ["http://127.0.0.1:8081", "http://LOCALHOST:8081/", "http://[::1]:8081", "http://localhost.:8081/api"]
        {
            assert!(one.is_same(&at(same, None)), "{same}");
        }
        assert!(at("http://phone", None).is_same(&at("http://Phone:80/", None)));
        for other in ["http://localhost:8082", "http://127.0.0.2:8081", "http://phone:8081"] {
            assert!(!one.is_same(&at(other, None)), "{other}");
        }
    }

    #[test]
    fn serial_takes_precedence_over_address() {
        let usb = at("http://127.0.0.1:8081", Some("A"));
        assert!(usb.is_same(&at("http://127.0.0.1:9000", Some("A"))), "another port of the same phone");
        assert!(!usb.is_same(&at("http://127.0.0.1:8081", Some("B"))), "another phone on the same port");
        assert!(usb.is_same(&at("http://localhost:8081", None)));
    }
}
