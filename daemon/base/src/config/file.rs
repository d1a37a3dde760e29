//! The configuration file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use afd_proto::Secret;
use serde::{Deserialize, Serialize};

use super::agent::{Conversation, LanguageModelSettings, RecallSettings};
use super::section::{Key, Kind, SettingValue, sections};

/// The contents of the configuration file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct File {
    /// The sections `[device.<name>]`, by device name.
    pub device: BTreeMap<String, DeviceSettings>,
    /// The section `[remote]`, which describes the only device of `af`. That device gets the name `default`.
    pub remote: Remote,
    /// The section `[connection]`, which describes the connection to the only device of `af`.
    pub connection: Connection,
    /// The section `[memory]`: location and limits of the memory database.
    pub memory: Memory,
    /// The section `[artifacts]`: locations and limits of artifacts.
    pub artifacts: Artifacts,
    /// The section `[backup]`: location, interval and retention of backups.
    pub backup: Backup,
    /// The section `[limits]`: limits for the socket.
    pub limits: Limits,
    /// The section `[daemon]`: settings that concern the daemon process itself.
    pub daemon: Daemon,
    /// The section `[adb]`: the `adb` program and its server.
    pub adb: Adb,
    /// The section `[visual]`: how the daemon learns from screens.
    pub visual: Visual,
    /// The section `[observe]`: captures that the daemon makes on its own.
    pub observe: Observe,
    /// The section `[risk]`: which elements are risky.
    pub risk: Risk,
    /// The section `[sessions]`: location of files that belong to sessions.
    pub sessions: Sessions,
    /// The section `[conversation]`: how conversations are stored and assembled into a context.
    pub conversation: Conversation,
    /// The section `[model]`: the language model that writes summaries.
    pub model: LanguageModelSettings,
    /// The section `[recall]`: settings for the search over remembered entries.
    pub recall: RecallSettings,
    /// The section `[output]`, which only clients use.
    pub output: Output,
}

/// All sections except those of a device.
pub(super) const SECTIONS: &[&[Key]] = &[
    Memory::KEYS,
    Artifacts::KEYS,
    Backup::KEYS,
    Output::KEYS,
    Limits::KEYS,
    Daemon::KEYS,
    Adb::KEYS,
    Visual::KEYS,
    Observe::KEYS,
    Risk::KEYS,
    Sessions::KEYS,
    Conversation::KEYS,
    LanguageModelSettings::KEYS,
    RecallSettings::KEYS,
    Remote::KEYS,
    Connection::KEYS,
    ConnectionUsb::KEYS,
];

/// The sections for a device. The names of their settings lack the prefix `device.<name>.`.
pub(super) const DEVICE_SECTIONS: &[&[Key]] = &[DeviceSettings::KEYS, Usb::KEYS, Browser::KEYS];

sections! {
    /// The settings of a device.
    DeviceSettings "" {
        /// Kind of the device, which selects its driver: `autofish` is an Android phone with the Autofish app, `adb` an Android
        /// phone or emulator with USB debugging, `browser` a Chromium or Chrome that the daemon starts.
        kind: DeviceKind = DeviceKind::Autofish;
        /// Base URL of the service on the phone; for the kind `adb`, `adb:` and the serial number, as `adb devices` lists it; for
        /// a browser, the page that it shows first.
        url: String = String::new();
        /// Bearer token for the phone's service.
        token: Option<Secret> = None;
        /// File that contains the bearer token; a bare name may refer to a systemd credential.
        token_file: Option<PathBuf> = None;
        /// Timeout for a request to the phone, in milliseconds.
        timeout_ms: u64 [range 1..=600_000] = 10_000;
        /// Maximum wait for a dump of the screen of a device of the kind `adb`, in milliseconds. A screen that never stands still
        /// gives none.
        dump_timeout_ms: u64 [range 500..=60_000] = 5_000;
        /// Whether requests use the system's proxy; `auto` uses it except for phones on this machine or in a private or
        /// overlay network.
        proxy: Proxy = Proxy::Auto;
        /// Whether `act.shell` may run commands.
        allow_shell: bool [file_only true] = false;
        /// Whether `act.intent` may send intents.
        allow_intent: bool [file_only true] = false;
        /// Whether `act.install`, `act.uninstall`, `act.clearApp` and `act.grant` may change apps.
        allow_apps: bool [file_only true] = false;
        /// Serial number under which `adb` knows a phone with the Autofish app that is not connected by USB. The daemon then uses
        /// `adb` for what the app cannot do: apps, settings, log, recordings.
        adb_serial: Option<String> = None;
        /// The USB connection, if the URL refers to a port forward that `adb` created.
        usb: Option<Usb> = None;
        /// The settings of a browser.
        browser: Browser = Browser::default();
    }

    /// The settings of a browser.
    Browser "browser." {
        /// Executable of the browser.
        path: Option<PathBuf> [default "the first of `chromium`, `google-chrome`, `brave-browser` and `microsoft-edge` in `PATH`"] = None;
        /// Debugging address of a browser on this machine that runs already, such as `http://127.0.0.1:9222`. The daemon
        /// connects to it instead of starting one, opens tabs of its own, and closes only these.
        attach: Option<String> = None;
        /// Name of the profile, which keeps the browser's cookies and logins below `$XDG_STATE_HOME/afd/browsers`; or the
        /// absolute path of its directory.
        profile: String = "default".to_owned();
        /// Whether the browser has no window.
        headless: bool = true;
        /// Whether pages on this machine and in private networks may be opened.
        allow_private: bool [file_only true] = false;
        /// The only domains whose pages may be opened, with the domains below them. If empty, all may be opened.
        allow: Vec<String> [file_only true] = Vec::new();
        /// Domains whose pages may not be opened, nor those of the domains below them.
        deny: Vec<String> [file_only true] = Vec::new();
        /// Directories whose files, and those below them, `act.upload` may give to pages.
        upload_dirs: Vec<String> [file_only true] = Vec::new();
        /// Maximum size of a downloaded file, in bytes; 0 refuses all downloads.
        max_download_bytes: u64 [range 0..=200_000_000] [file_only true] = 64_000_000;
        /// Permissions that pages get if they ask, such as `geolocation`, by their names in the web's Permissions API. The
        /// other ones that afd knows are refused.
        permissions: Vec<String> [file_only true] = Vec::new();
        /// Whether the memory keeps the paths of addresses, with placeholders for ids, instead of hashes of them. A change makes
        /// known pages new ones.
        store_urls: bool [file_only true] = false;
    }

    /// A USB connection, and the port forward that `adb` created over it.
    Usb "usb." {
        /// Serial number of the phone, or `host:port` of a phone connected with `adb connect`.
        [alias "device"] serial: String = String::new();
        /// Port on this machine that `adb` forwards to the phone.
        local_port: u16 [range 1..=65_535] = 0;
        /// Port of the service on the phone.
        device_port: u16 [range 1..=65_535] = 0;
        /// Whether removing the device also removes the port forward.
        own_forward: bool = true;
    }

    /// The single device of `af`, an earlier command-line client.
    Remote "remote." {
        /// Base URL of the device `default` (written by `af`).
        url: Option<String> = None;
        /// Bearer token of the device `default` (written by `af`).
        token: Option<Secret> = None;
    }

    /// The connection of the single device of `af`.
    Connection "connection." {
        /// `usb-forward` if the device `default` is connected over USB (written by `af`).
        transport: Option<String> = None;
        /// The USB connection.
        usb: Option<ConnectionUsb> = None;
    }

    /// The USB connection of the single device of `af`.
    ConnectionUsb "connection.usb." {
        /// Serial number of the device `default` (written by `af`).
        [alias "serial"] device: String = String::new();
        /// Port on this machine that `adb` forwards to the device `default` (written by `af`).
        local_port: u16 [range 1..=65_535] = 0;
        /// Port of the service on the device `default` (written by `af`).
        device_port: u16 [range 1..=65_535] = 0;
        /// Whether removing the device `default` also removes the port forward (written by `af`).
        own_forward: bool = true;
    }

    /// Location and limits of the memory database.
    Memory "memory." {
        /// Path of the memory database.
        db: Option<PathBuf> [env "AF_DB"] [default "`$XDG_DATA_HOME/afd/memory.db`"] [restart true] = None;
        /// Whether the daemon refuses to work while its memory is damaged; otherwise it works without recording, and
        /// results contain `recorded: false`.
        required: bool = true;
        /// Maximum size of the content of the database, in bytes; the oldest events and observations are deleted first,
        /// but never those of the last 7 days. Knowledge learned from them is kept.
        max_bytes: u64 [range 1..=u64::MAX] = 2 << 30;
        /// Maximum size of the write-ahead log, in bytes; a larger log is written into the database and emptied.
        max_wal_bytes: u64 [range 1..=u64::MAX] = 64 << 20;
        /// Maximum age of events, in days; knowledge learned from them is kept.
        max_event_days: u64 [range 1..=u64::MAX] = 365;
        /// Maximum age of observations, in days; knowledge learned from them is kept.
        max_observation_days: u64 [range 1..=u64::MAX] = 90;
    }

    /// Locations and limits of artifacts.
    Artifacts "artifacts." {
        /// Root directory for artifacts.
        dir: Option<PathBuf> [env "AF_ARTIFACT_DIR"] [default "`artifacts` beside the database"] = None;
        /// File to which full-screen dumps are written.
        screen_file: Option<PathBuf> [env "AF_SCREEN_FILE"] = None;
        /// File to which screenshots are written.
        screenshot_file: Option<PathBuf> [env "AF_SCREENSHOT_FILE"] = None;
        /// Directory to which pages are written.
        page_dir: Option<PathBuf> [env "AF_PAGE_DIR"] = None;
        /// Maximum total size of the files in the root directory, in bytes; the oldest are deleted first.
        max_bytes: u64 [range 1..=u64::MAX] = 1 << 30;
        /// Maximum age of the files in the root directory, in days.
        max_age_days: u64 [range 1..=u64::MAX] = 30;
    }

    /// Location, interval and retention of backups of the memory.
    Backup "backup." {
        /// Directory in which backups are stored.
        dir: Option<PathBuf> [default "`backups` beside the database"] = None;
        /// Time between automatic backups, in hours; 0 disables them.
        every_hours: u64 [range 0..=8_784] = 24;
        /// Number of automatic backups to keep.
        keep: usize [range 1..=1_000] = 7;
        /// Maximum total size of all backups, in bytes; the oldest automatic backups are deleted first, but never the
        /// newest backup.
        max_bytes: u64 [range 1..=u64::MAX] = 10 << 30;
    }

    /// The `adb` program and its server.
    Adb "adb." {
        /// Path of the `adb` program.
        path: PathBuf = PathBuf::from("adb");
        /// Port of the adb server on this machine; by default, the port that `adb` uses.
        server_port: Option<u16> [range 1..=65_535] = None;
    }

    /// How the daemon learns from screens, and how it detects components in pictures.
    Visual "visual." {
        /// Whether the daemon learns components and states from every settled and reliable observation.
        learn: bool = true;
        /// Detector for components in pictures: `tesseract`, or a program that takes the path of a picture and prints
        /// detections.
        detector: Option<String> = None;
        /// Timeout for a run of the detector, in milliseconds.
        detector_timeout_ms: u64 [range 1..=600_000] = 30_000;
        /// Path of the `tesseract` program.
        tesseract_path: PathBuf = PathBuf::from("tesseract");
        /// Languages that tesseract recognises, such as `eng` or `deu+eng`.
        tesseract_languages: String = "eng".to_owned();
    }

    /// Captures that the daemon makes on its own.
    Observe "observe." {
        /// How long the daemon captures the screen after an action to determine its outcome, in milliseconds; 0
        /// disables these captures.
        after_act_ms: u64 [range 0..=10_000] = 3_000;
    }

    /// Which elements are risky. A walk never touches them unless its caller allows it.
    Risk "risk." {
        /// Names and phrases that make an element risky, in addition to those that the daemon knows, such as `Delete`.
        risky: Vec<String> = Vec::new();
        /// Names of elements that are not risky although the daemon would take them for that.
        harmless: Vec<String> [file_only true] = Vec::new();
    }

    /// Location of files that belong to sessions.
    Sessions "sessions." {
        /// Directory in which progress files are written.
        progress_dir: Option<PathBuf> [default "`$XDG_STATE_HOME/afd`"] = None;
    }

    /// How clients print results.
    Output "output." {
        /// Default output format of afctl.
        default: OutputFormat = OutputFormat::Auto;
    }

    /// Limits for the socket. Changes take effect immediately, including for open connections.
    Limits "limits." {
        /// Maximum size of a message, in bytes.
        frame_bytes: usize [range 1..=u64::MAX] = 8 << 20;
        /// Maximum number of open connections.
        connections: usize [range 1..=u64::MAX] = 512;
        /// Maximum number of requests in flight per connection; at this limit, the daemon reads the next request only
        /// after it has answered one.
        in_flight: usize [range 1..=u64::MAX] = 64;
        /// Maximum number of calls in a batch.
        batch: usize [range 1..=u64::MAX] = 256;
        /// Timeout for receiving the rest of a partial message, and for a client that does not read its responses, in
        /// milliseconds.
        half_frame_ms: u64 = 30_000;
        /// Idle time after which the daemon may close a connection to make room for a new one, in milliseconds.
        idle_ms: u64 = 60_000;
        /// Maximum number of subscriptions per connection.
        subscriptions: u32 = 16;
        /// Maximum size of rows, pictures and command output in a response, in bytes; larger ones are stored as
        /// artifacts.
        inline_bytes: usize [range 1..=u64::MAX] = 64 << 10;
    }

    /// Settings that concern the daemon process itself.
    Daemon "daemon." {
        /// How long calls in flight may continue after a shutdown request, in milliseconds.
        drain_ms: u64 = 10_000;
    }
}

/// Declares an enum for settings whose value is one of several words.
macro_rules! choices {
    ($( $(#[$m:meta])* $name:ident { $( $(#[$vm:meta])* $variant:ident = $word:literal, )* } )*) => { $(
        $(#[$m])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $name { $( $(#[$vm])* #[serde(rename = $word)] $variant, )* }

        impl $name {
            /// The words for all values.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// Returns the value for a word; `None` if the word is unknown.
            pub fn of(word: &str) -> Option<Self> {
                match word {
                    $($word => Some($name::$variant),)*
                    _ => None,
                }
            }

            /// Returns the word for the value.
            pub const fn word(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }
        }

        impl SettingValue for $name {
            const KIND: Kind = Kind::Choice($name::WORDS);
        }
    )* };
}

choices! {
    /// Kind of a device.
    DeviceKind {
        /// An Android phone with the Autofish app.
        #[default]
        Autofish = "autofish",
        /// A Chromium or Chrome that the daemon starts.
        Browser = "browser",
        /// An Android phone or emulator with USB debugging, and no app of ours.
        Adb = "adb",
    }

    /// Whether requests use the system's proxy.
    Proxy {
        /// Requests use the proxy, except for phones on this machine or in a private or overlay network.
        #[default]
        Auto = "auto",
        /// Requests never use the proxy.
        Direct = "direct",
        /// Requests use the proxy as configured in the environment.
        System = "system",
    }

    /// Output format that clients use.
    OutputFormat {
        /// `human` on a terminal, `json` in a pipe.
        #[default]
        Auto = "auto",
        /// Formatted text for people.
        Human = "human",
        /// Short text for language models.
        Agent = "agent",
        /// One line of JSON.
        Json = "json",
        /// `key=value` lines.
        Text = "text",
    }
}

impl DeviceSettings {
    /// Returns the settings for a device at this URL. All other settings have their defaults.
    pub fn at(url: &str) -> Self {
        Self { url: url.to_owned(), ..Self::default() }
    }

    /// Returns the serial number under which `adb` knows a phone with the Autofish app; `None` if it does not.
    pub fn adb_serial(&self) -> Option<&str> {
        self.usb.as_ref().map(|usb| usb.serial.as_str()).or(self.adb_serial.as_deref())
    }
}

impl From<&ConnectionUsb> for Usb {
    fn from(usb: &ConnectionUsb) -> Self {
        let ConnectionUsb { device, local_port, device_port, own_forward } = usb.clone();
        Self { serial: device, local_port, device_port, own_forward }
    }
}

impl File {
    /// Returns the settings of all devices by name. A `[remote]` section becomes the device `default`, unless a device
    /// with that name is configured.
    pub fn devices(&self) -> BTreeMap<String, DeviceSettings> {
        let mut devices = self.device.clone();
        if let Some(url) = &self.remote.url {
            devices.entry("default".to_owned()).or_insert_with(|| DeviceSettings {
                token: self.remote.token.clone(),
                usb: self
                    .connection
                    .usb
                    .as_ref()
                    .filter(|_| self.connection.transport.as_deref() == Some("usb-forward"))
                    .map(Usb::from),
                ..DeviceSettings::at(url)
            });
        }
        devices
    }
}
