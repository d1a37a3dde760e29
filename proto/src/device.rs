//! `device.*`: the devices, who holds them, how they are.

use crate::{Secret, vocabulary::Reply};

params! {
    /// Parameters of `device.add`.
    #[derive(Default)]
    pub struct AddParams {
        /// The new name: letters, digits, `-`, `_` and `.`, at most 64.
        pub name: String,
        /// Base URL of the phone's service, for example `http://192.168.1.20:8081`.
        pub url: String,
        /// The bearer token that the phone's app shows; kept in the settings file, which only its owner can read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub token: Option<Secret>,
        /// Time-out of one request, milliseconds, by default 10,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub timeout_ms: Option<u64>,
        /// False keeps the device out of the settings file: it is gone with the daemon.
        #[serde(default = "yes")]
        pub persist: bool,
    }

    /// Parameters of `device.remove`.
    #[derive(Default)]
    pub struct RemoveParams {
        /// The name.
        pub name: String,
    }
}

params! {
    /// Parameters of `device.connectUsb`.
    #[derive(Default)]
    pub struct ConnectUsbParams {
        /// Serial of the phone, or `host:port` for one that `adb connect` reaches; may be left out while exactly one is attached.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub serial: Option<String>,
        /// Name of the device in the settings; by default that of this phone, else `default`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
        /// Port on this machine; by default the phone's own number, if it is free, else any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub local_port: Option<u16>,
        /// Tell what would be done, and do nothing.
        #[serde(default)]
        pub print_only: bool,
    }
}

fn yes() -> bool {
    true
}

device_params! {
    /// Parameters of a method that needs nothing but the device.
    #[derive(Default)]
    pub struct DeviceParams {}

    /// Parameters of `device.lease`.
    #[derive(Default)]
    pub struct LeaseParams {
        /// How long the lease holds unless it is renewed, milliseconds, from 1 to 3,600,000.
        pub ttl_ms: u64,
    }

    /// Parameters of `device.packages`.
    #[derive(Default)]
    pub struct PackagesParams {
        /// Part of the package name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub filter: Option<String>,
        /// Include the system's own packages.
        #[serde(default)]
        pub include_system: bool,
    }
}

words! {
    /// How a device is, as far as anybody knows.
    DeviceState {
        /// Nobody asked it yet.
        Unknown = "unknown",
        /// It answers.
        Ready = "ready",
        /// It cannot be reached.
        Unreachable = "unreachable",
        /// It refuses the token.
        Unauthorized = "unauthorized",
        /// Its answers cannot be understood.
        Failing = "failing",
    }

    /// Where a device comes from.
    DeviceSource {
        /// The settings file.
        Config = "config",
        /// `device.add` without saving.
        Runtime = "runtime",
        /// The URL of a call.
        Call = "call",
    }
}

wire! {
    /// One device.
    pub struct DeviceInfo {
        /// Its name; the URL for an ad-hoc one.
        pub name: String,
        /// What it is, for example `autofish`.
        pub kind: String,
        /// Where it is; credentials are cut out.
        pub url: String,
        /// What it can do.
        pub capabilities: Vec<String>,
        /// How it is.
        pub state: DeviceState,
        /// The last error, while the state is not `ready`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub error: Option<String>,
        /// When it last answered, UTC milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub last_seen_at: Option<i64>,
        /// Who holds it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub lease: Option<LeaseInfo>,
        /// Calls that wait for it.
        pub waiting: u64,
        /// Where it comes from.
        pub source: DeviceSource,
    }

    /// A lease.
    #[derive(Eq)]
    pub struct LeaseInfo {
        /// The session that holds it.
        pub session: String,
        /// What is left of it, milliseconds.
        pub remaining_ms: u64,
    }

    /// All devices.
    pub struct Devices {
        /// The devices, by name.
        pub devices: Vec<DeviceInfo>,
    }

    /// The device that was added.
    pub struct Added {
        /// It.
        pub device: DeviceInfo,
        /// The settings file that now holds it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub saved_in: Option<String>,
    }

    /// The device that was removed.
    pub struct Removed {
        /// Its name.
        pub removed: String,
    }

    /// What the phone's service says of itself.
    pub struct Health {
        /// `healthy` or `unreachable`.
        pub status: String,
        /// What answered, for example `service`.
        pub kind: String,
        /// Whether the service takes the token: `accepted`, `refused`, or `unknown` when it cannot be told.
        pub token: String,
        /// How long the answer took, milliseconds.
        pub duration_ms: u64,
        /// How the device is reached.
        pub connection: Connection,
    }

    /// How a device is reached.
    pub struct Connection {
        /// Base URL.
        pub url: String,
        /// `http`, or `usb-forward` over a cable.
        pub transport: String,
        /// Serial of the phone, over a cable.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub device: Option<String>,
        /// Port on this machine, over a cable.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub local_port: Option<u16>,
        /// Port on the phone, over a cable.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub device_port: Option<u16>,
    }

    /// What the app of the phone's service says about itself, in a file that `adb` can read.
    pub struct ConnectionHint {
        /// Its package.
        pub package_name: String,
        /// Its version.
        #[serde(default)]
        pub version_name: Option<String>,
        /// Its version as a number.
        #[serde(default)]
        pub version_code: Option<i64>,
        /// Port of the service on the phone.
        pub service_port: i64,
        /// Whether the service runs; stays true when the app was killed.
        #[serde(default)]
        pub service_running: bool,
        /// When it was written, UTC milliseconds.
        #[serde(default)]
        pub updated_at: Option<i64>,
    }

    /// A phone that is now reached over its cable.
    pub struct UsbConnected {
        /// Name of the device in the settings.
        pub device: String,
        /// Serial of the phone.
        pub device_serial: String,
        /// Base URL, through the forward.
        pub remote_url: String,
        /// `usb-forward`.
        pub transport: String,
        /// Port on this machine; with `printOnly` the one that would be used, 0 for any that is free.
        pub local_port: u16,
        /// Port on the phone.
        pub device_port: u16,
        /// The file on the phone that told.
        pub hint_path: String,
        /// What it says.
        pub hint: ConnectionHint,
        /// Whether a forward was made.
        pub forwarded: bool,
        /// Whether a forward that is there already was used, or would be.
        pub reused: bool,
        /// Whether the settings were written.
        pub config_written: bool,
        /// Whether nothing was done.
        pub print_only: bool,
        /// Whether the settings have a token for the device, which the cable does not tell.
        pub token_configured: bool,
        /// The settings file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub saved_in: Option<String>,
        /// What is still to be done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next_step: Option<String>,
    }

    /// A lease that is now held.
    pub struct Leased {
        /// It.
        pub lease: LeaseInfo,
    }

    /// The lease is given back.
    pub struct Released {
        /// False when this session held none.
        pub released: bool,
    }

    /// Installed packages.
    pub struct Packages {
        /// Their names, sorted.
        pub packages: Vec<String>,
    }
}

methods! {
    /// Adds a device, or refuses when the name is taken by another one.
    DeviceAdd = "device.add" (AddParams) -> Added, Admin, [Conflict], r#"{"name":"pixel","url":"http://127.0.0.1:8081"}"#;
    /// Lists the devices with their state.
    DeviceList = "device.list" (crate::vocabulary::NoParams) -> Devices, Read, [], "{}";
    /// Removes a device, from the settings file as well.
    DeviceRemove = "device.remove" (RemoveParams) -> Removed, Admin, [DeviceUnknown, Conflict], r#"{"name":"pixel"}"#;
    /// Asks the phone's service whether it is there.
    DeviceHealth = "device.health" (DeviceParams, DEVICE) -> Reply<Health>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceError], "{}";
    /// Keeps the device for this session; others may look but not act. Again renews it.
    DeviceLease = "device.lease" (LeaseParams, DEVICE) -> Reply<Leased>, Admin, [DeviceUnknown, DeviceAmbiguous, DeviceBusy], r#"{"ttlMs":30000}"#;
    /// Gives the lease back.
    DeviceRelease = "device.release" (DeviceParams, DEVICE) -> Reply<Released>, Admin, [DeviceUnknown, DeviceAmbiguous], "{}";
    /// Lists installed packages.
    DevicePackages = "device.packages" (PackagesParams, DEVICE) -> Reply<Packages>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError], "{}";
    /// Reaches a phone over its cable: finds it with `adb`, forwards a port to its service, and adds it to the settings.
    DeviceConnectUsb = "device.connectUsb" (ConnectUsbParams) -> UsbConnected, Admin, [Unsupported, DeviceUnreachable, DeviceAmbiguous, DeviceError, NotFound, Conflict], r#"{"serial":"R5CT30ABCDE","printOnly":true}"#;
}
