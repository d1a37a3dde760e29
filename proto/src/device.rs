//! `device.*`: managing, leasing and checking devices.

use crate::{Secret, vocabulary::Reply};

params! {
    /// Parameters of `device.add`.
    #[derive(Default)]
    pub struct AddParams {
        /// Name of the device: 1 to 64 letters, digits, `-`, `_` or `.`.
        pub name: String where chars 1..=64,
        /// Kind of device: `autofish`, an Android phone with the Autofish app; `adb`, an Android phone or emulator with USB
        /// debugging; or `browser`.
        pub kind: Option<String> = "autofish",
        /// Base URL of the phone's service, for example `http://192.168.1.20:8081`; for the kind `adb`, `adb:` and the serial
        /// number, for example `adb:emulator-5554`; of a browser, the page that tabs show first.
        pub url: String,
        /// Debugging address of a browser on this machine that runs already, such as `http://127.0.0.1:9222`; by default, the
        /// daemon starts a browser.
        pub attach: Option<String>,
        /// Bearer token shown in the phone's app. It is stored in the configuration file, which only its owner can
        /// read.
        pub token: Option<Secret>,
        /// Timeout for a single request to the device, in milliseconds.
        pub timeout_ms: Option<u64> where 1..=600_000 = 10_000,
        /// Whether to save the device in the configuration file; by default true. If false, the device exists only
        /// until the daemon stops.
        #[serde(default = "default_true")]
        #[cfg_attr(feature = "schema", schemars(extend("default" = true)))]
        pub persist: bool,
        /// Whether to check, for at most 5 s, that the device works. The device is added regardless of the result.
        pub check: Option<bool> = true,
    }

    /// Parameters of `device.remove`.
    #[derive(Default)]
    pub struct RemoveParams {
        /// Name of the device to remove.
        pub name: String,
    }
}

params! {
    /// Parameters of `device.connectAdb`.
    #[derive(Default)]
    pub struct ConnectAdbParams {
        /// Serial number of the phone or emulator, or `host:port` of one that `adb connect` can reach; optional if exactly one
        /// is attached.
        pub serial: Option<String>,
        /// Name of the device in the settings; by default its existing name, else one derived from the serial number.
        pub name: Option<String>,
    }

    /// Parameters of `device.connectUsb`.
    #[derive(Default)]
    pub struct ConnectUsbParams {
        /// Serial number of the phone, or `host:port` of a phone that `adb connect` can reach; optional if exactly one
        /// phone is attached.
        pub serial: Option<String>,
        /// Name of the device in the settings; by default the phone's existing name, else `default`, else a name
        /// derived from the serial number.
        pub name: Option<String>,
        /// Local port to forward; by default the previously forwarded port, else the same port number as on the phone,
        /// else any free port.
        pub local_port: Option<u16> where 1..=65_535,
        /// Whether to report the changes without making them.
        #[serde(default)]
        pub print_only: bool,
    }
}

fn default_true() -> bool {
    true
}

device_params! {
    /// Parameters of a method that needs only a device.
    #[derive(Default)]
    pub struct DeviceParams {}

    /// Parameters of `device.lease`.
    #[derive(Default)]
    pub struct LeaseParams {
        /// Time after which the lease expires unless it is renewed, in milliseconds.
        pub ttl_ms: u64 where 1..=3_600_000,
        /// Whether the lease also ends when the connection that made this call closes; not available over plain HTTP.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub until_disconnect: bool,
    }

    /// Parameters of `device.downloads`.
    #[derive(Default)]
    pub struct DownloadsParams {
        /// Maximum time to wait for files that are not complete, in milliseconds.
        pub wait_ms: Option<u64> where 0..=600_000 = 10_000,
    }

    /// Parameters of `device.packages`.
    #[derive(Default)]
    pub struct PackagesParams {
        /// Only packages whose name contains this string.
        pub filter: Option<String>,
        /// Whether to include system packages.
        #[serde(default)]
        pub include_system: bool,
    }
}

words! {
    /// What became of a download.
    DownloadStatus {
        /// The file is not complete yet.
        Running = "running",
        /// The file is complete and saved.
        Complete = "complete",
        /// The file could not be loaded, or it was refused because it is too large.
        Failed = "failed",
    }

    /// Last known state of a device.
    DeviceState {
        /// The device has not been contacted yet.
        Unknown = "unknown",
        /// The device is responding.
        Ready = "ready",
        /// The device cannot be reached.
        Unreachable = "unreachable",
        /// The device rejected the token.
        Unauthorized = "unauthorized",
        /// The device's responses are malformed.
        Failing = "failing",
    }

    /// Origin of a device.
    DeviceSource {
        /// The configuration file.
        Config = "config",
        /// A call to device.add that did not save the device.
        Runtime = "runtime",
        /// A URL given in a call.
        Call = "call",
    }
}

wire! {
    /// A device and its last known state.
    pub struct DeviceInfo {
        /// Name of the device; for an ad-hoc device, its URL.
        pub name: String,
        /// Kind of device, for example `autofish`.
        pub kind: String,
        /// Base URL of the device's service, without credentials.
        pub url: String,
        /// Capabilities of the device's driver.
        pub capabilities: Vec<String>,
        /// Last known state of the device.
        pub state: DeviceState,
        /// Last error of the device; absent while the state is `ready`.
        pub error: Option<String>,
        /// Time of the device's last response, in Unix milliseconds; absent if it has not responded yet.
        pub last_seen_at: Option<i64>,
        /// Current lease on the device; absent if there is none.
        pub lease: Option<LeaseInfo>,
        /// Number of calls waiting for the device.
        pub waiting: u64,
        /// Origin of the device.
        pub source: DeviceSource,
    }

    /// Exclusive right of a session to act on a device, for a limited time.
    #[derive(Eq)]
    pub struct LeaseInfo {
        /// Session that holds the lease.
        pub session: String,
        /// Time until the lease expires, in milliseconds.
        pub remaining_ms: u64,
    }

    /// Result of `device.list`: all devices.
    pub struct Devices {
        /// The devices, sorted by name.
        pub devices: Vec<DeviceInfo>,
    }

    /// Result of `device.add`.
    pub struct AddResult {
        /// The added device.
        pub device: DeviceInfo,
        /// Path of the configuration file in which the device was saved; absent if it was not saved.
        pub saved_in: Option<String>,
        /// Result of checking the device; absent if it was not checked.
        pub trial: Option<Trial>,
    }

    /// Result of checking whether a device works.
    pub struct Trial {
        /// Whether the device can be used.
        pub usable: bool,
        /// Result of the check in one sentence.
        pub found: String,
        /// Suggested next step; absent if the device can be used.
        pub hint: Option<String>,
        /// Error code of the failed check; absent if the device can be used.
        pub error: Option<crate::ErrorCode>,
        /// Foreground activity as `package/activity`; absent if unknown.
        pub top_activity: Option<String>,
        /// Duration of the check, in milliseconds.
        pub duration_ms: u64,
    }

    /// Result of `device.remove`.
    pub struct RemoveResult {
        /// Name of the removed device.
        pub removed: String,
    }

    /// Result of `device.health`.
    pub struct Health {
        /// Status: `healthy`; a service that cannot be reached is reported as an error instead.
        pub status: String,
        /// Type of service that responded, for example `service`.
        pub kind: String,
        /// Whether the service accepts the token: `accepted`, `refused`, or `unknown` if that could not be checked.
        pub token: String,
        /// Duration of the health request, in milliseconds.
        pub duration_ms: u64,
        /// Connection to the device.
        pub connection: Connection,
    }

    /// Connection to a device.
    pub struct Connection {
        /// Base URL of the device's service.
        pub url: String,
        /// Transport: `http`, or `usb-forward` for a port forwarded over USB.
        pub transport: String,
        /// Serial number of the phone; only for USB.
        pub device: Option<String>,
        /// Port on this machine; only for USB.
        pub local_port: Option<u16>,
        /// Port on the phone; only for USB.
        pub device_port: Option<u16>,
    }

    /// Connection hint: a file that describes the service of the phone's app and that can be read with `adb`.
    pub struct ConnectionHint {
        /// Package of the app.
        pub package_name: String,
        /// Version name of the app.
        #[serde(default)]
        pub version_name: crate::Nullable<String>,
        /// Version code of the app.
        #[serde(default)]
        pub version_code: crate::Nullable<i64>,
        /// Port of the service.
        pub service_port: i64,
        /// Whether the service is running. Remains true if the app is killed.
        #[serde(default)]
        pub service_running: bool,
        /// Time at which the hint was written, in Unix milliseconds.
        #[serde(default)]
        pub updated_at: crate::Nullable<i64>,
    }

    /// Result of `device.connectUsb`.
    pub struct ConnectUsbResult {
        /// Name of the device in the settings.
        pub device: String,
        /// Serial number of the phone.
        pub device_serial: String,
        /// Base URL of the service, through the forwarded port.
        pub remote_url: String,
        /// Always `usb-forward`.
        pub transport: String,
        /// Port on this machine. With `printOnly`, the port that would be used, or 0 if `adb` would choose it.
        pub local_port: u16,
        /// Port on the phone.
        pub device_port: u16,
        /// Path of the connection hint on the phone.
        pub hint_path: String,
        /// Content of the connection hint.
        pub hint: ConnectionHint,
        /// Whether a new port forward was created.
        pub forwarded: bool,
        /// Whether an existing port forward was reused; with `printOnly`, whether one would be reused.
        pub reused: bool,
        /// Whether the configuration file was changed.
        pub config_written: bool,
        /// Whether this was a dry run.
        pub print_only: bool,
        /// Whether a token is configured for the device. Tokens cannot be read over USB.
        pub token_configured: bool,
        /// Path of the configuration file, if it was changed.
        pub saved_in: Option<String>,
        /// Step that the user still has to take; absent if there is none.
        pub next_step: Option<String>,
    }

    /// Result of `device.lease`.
    pub struct LeaseResult {
        /// Lease that the session now holds.
        pub lease: LeaseInfo,
    }

    /// Result of `device.release`.
    pub struct ReleaseResult {
        /// Whether the session held a lease that was released.
        pub released: bool,
    }

    /// A tab of a browser.
    pub struct TabInfo {
        /// Id of the tab, such as `t2`. It is not used again while the browser runs.
        pub tab: String,
        /// Title of the page.
        pub title: String,
        /// Address of the page. It is not stored.
        pub url: String,
        /// Whether actions and observations of the calling session refer to this tab.
        pub current: bool,
        /// The session that uses the tab, if one does. Other sessions cannot choose it.
        pub used_by: Option<String>,
    }

    /// Result of `device.tabs`.
    pub struct DeviceTabList {
        /// The tabs, in the order in which they were opened.
        pub tabs: Vec<TabInfo>,
    }

    /// A download.
    pub struct DownloadInfo {
        /// Name that the page suggests, without directories. It comes from the page.
        pub name: String,
        /// Number of bytes received.
        pub bytes: u64,
        /// What became of the file.
        pub state: DownloadStatus,
        /// The saved file; only if it is complete.
        pub artifact: Option<crate::artifact::SavedArtifact>,
    }

    /// Result of `device.downloads`.
    pub struct DownloadList {
        /// The downloads since the last call, in the order in which they began.
        pub downloads: Vec<DownloadInfo>,
    }

    /// Result of `device.packages`.
    pub struct Packages {
        /// Package names, sorted.
        pub packages: Vec<String>,
    }
}

methods! {
    /// Adds a device; fails if there is already a device with this name and other settings.
    DeviceAdd = "device.add" (AddParams) -> AddResult, Admin, [Conflict], r#"{"name":"pixel","url":"http://127.0.0.1:8081"}"#;
    /// Lists all devices with their states.
    DeviceList = "device.list" (crate::vocabulary::NoParams) -> Devices, Read, [], "{}", DEVICES;
    /// Removes a device, including its entry in the configuration file.
    DeviceRemove = "device.remove" (RemoveParams) -> RemoveResult, Admin, [DeviceUnknown, Conflict], r#"{"name":"pixel"}"#;
    /// Checks whether the phone's service responds and accepts the token.
    DeviceHealth = "device.health" (DeviceParams, DEVICE) -> Reply<Health>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceError], "{}";
    /// Reserves the device for the session: other sessions can observe but not act. A repeated call renews the lease.
    DeviceLease = "device.lease" (LeaseParams, DEVICE) -> Reply<LeaseResult>, Admin, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, Unsupported], r#"{"ttlMs":30000}"#, LEASE;
    /// Releases the session's lease on the device.
    DeviceRelease = "device.release" (DeviceParams, DEVICE) -> Reply<ReleaseResult>, Admin, [DeviceUnknown, DeviceAmbiguous], "{}", RELEASE;
    /// Lists the packages installed on the device.
    DevicePackages = "device.packages" (PackagesParams, DEVICE) -> Reply<Packages>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, Unsupported], "{}", PACKAGES;
    /// Lists the tabs of a browser.
    DeviceTabs = "device.tabs" (DeviceParams, DEVICE) -> Reply<DeviceTabList>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, Unsupported], "{}", TABS;
    /// Returns the downloads of a browser since the last call, and saves them as artifacts. At most 20 can wait to be returned.
    DeviceDownloads = "device.downloads" (DownloadsParams, DEVICE) -> Reply<DownloadList>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, Unsupported, StoreFull, StoreUnavailable], r#"{"waitMs":5000}"#, DOWNLOADS;
    /// Adds an Android phone or emulator that `adb` lists, as a device of the kind `adb`. Nothing is installed on it.
    DeviceConnectAdb = "device.connectAdb" (ConnectAdbParams) -> AddResult, Admin, [Unsupported, DeviceUnreachable, DeviceAmbiguous, DeviceError, Conflict], r#"{"serial":"emulator-5554"}"#;
    /// Configures a phone attached by USB: finds it with `adb`, forwards a port to its service, and saves the device.
    DeviceConnectUsb = "device.connectUsb" (ConnectUsbParams) -> ConnectUsbResult, Admin, [Unsupported, DeviceUnreachable, DeviceAmbiguous, DeviceError, NotFound, Conflict], r#"{"serial":"R5CT30ABCDE","printOnly":true}"#;
}
