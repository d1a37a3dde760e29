//! The `device` commands.

use afd_proto::Secret;
use afd_proto::device::{
    AddParams, DeviceAdd, DeviceDownloads, DeviceHealth, DeviceLease, DeviceList, DevicePackages, DeviceParams,
    DeviceRelease, DeviceRemove, DeviceTabs, DownloadsParams, LeaseParams, PackagesParams, RemoveParams,
};
use afd_proto::manage::{
    ActConfigure, ConfigureParams, DeviceLogParams, DeviceLogRead, DeviceStartRecording, DeviceStopRecording, LogLevel,
    Orientation, StartRecordingParams, StopRecordingParams,
};
use afd_proto::vocabulary::NoParams;
use clap::{Args, Subcommand};

use super::{Call, Group, absolute, false_if};
use crate::ask;
use afd_link::options::Context;
use afd_link::outcome::{Failure, USAGE};

/// Add, list and lease devices.
#[derive(Debug, Subcommand)]
pub enum Device {
    /// Add a device to the configuration; give its address with --url and its token with --token
    Add(Add),
    /// List devices and their state
    List,
    /// Remove a device from the configuration
    Remove {
        /// Name of the device to remove
        name: String,
    },
    /// Lease the device for this session; other sessions may observe but not act. In a browser, which has a tab for each
    /// session, the lease covers this session's tab
    Lease {
        /// Duration of the lease in milliseconds
        #[arg(long, default_value_t = 60_000, value_name = "MS", allow_negative_numbers = true)]
        ttl_ms: u64,
    },
    /// Release this session's lease of the device
    Release,
    /// List the tabs of a browser
    Tabs,
    /// Wait for the downloads of a browser since the last call, and save them
    Downloads(Downloads),
    /// Show what the phone's apps logged, by default since the session's last action
    Log(Log),
    /// Record the screen as a video
    #[command(subcommand)]
    Record(Record),
    /// Change settings of the phone: orientation, dark mode, language, airplane mode
    Set(Set),
    /// List the packages installed on the device
    Packages {
        /// Only packages whose name contains this text
        #[arg(long)]
        filter: Option<String>,
        /// Include system packages
        #[arg(long)]
        include_system: bool,
    },
}

/// Options for `log`.
#[derive(Debug, Args)]
pub struct Log {
    /// Only lines of the app with this package name
    #[arg(long)]
    app: Option<String>,
    /// Only lines that are at most so old, in milliseconds [default: since the session's last action]
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    since_ms: Option<u64>,
    /// Lowest severity of the lines
    #[arg(long, value_enum)]
    level: Option<LogLevel>,
    /// Maximum number of lines; the newest ones are shown
    #[arg(long, allow_negative_numbers = true)]
    limit: Option<u32>,
}

/// Record the screen as a video.
#[derive(Debug, Subcommand)]
pub enum Record {
    /// Start a recording
    Start {
        /// Time after which the recording ends, in milliseconds
        #[arg(long, value_name = "MS", allow_negative_numbers = true)]
        max_ms: Option<u64>,
    },
    /// End the recording, and save the video
    Stop {
        /// File to which the video is written [default: a file in the artifact directory]
        file: Option<String>,
    },
}

/// Options for `set`.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub struct Set {
    /// Orientation of the screen; auto follows the phone's sensor
    #[arg(long, value_enum)]
    orientation: Option<Orientation>,
    /// Dark mode: true or false
    #[arg(long, value_name = "BOOL")]
    dark_mode: Option<bool>,
    /// Language, as a tag such as de-DE
    #[arg(long, value_name = "TAG")]
    locale: Option<String>,
    /// Package name of the app whose language is set; most phones change only that of one app
    #[arg(long, value_name = "PACKAGE", requires = "locale")]
    locale_app: Option<String>,
    /// Airplane mode: true or false
    #[arg(long, value_name = "BOOL")]
    airplane_mode: Option<bool>,
}

/// Options for `downloads`.
#[derive(Debug, Args)]
pub struct Downloads {
    /// Maximum time to wait for files that are not complete, in milliseconds
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    wait_ms: Option<u64>,
}

/// Options for `add`.
#[derive(Debug, Args)]
pub struct Add {
    /// Name for the device in the configuration
    pub name: String,
    /// Kind of device; autofish is an Android phone with the Autofish app
    #[arg(long)]
    kind: Option<String>,
    /// Debugging address of a browser on this machine that runs already, such as http://127.0.0.1:9222
    #[arg(long, value_name = "ADDRESS")]
    attach: Option<String>,
    /// Timeout for a single request to the device, in milliseconds
    #[arg(id = "add.timeout_ms", long = "request-timeout-ms", value_name = "MS", allow_negative_numbers = true)]
    request_timeout_ms: Option<u64>,
    /// Prompt for the token, which keeps it out of the shell history; without a terminal, read it from standard input
    #[arg(long, conflicts_with = "token")]
    ask_token: bool,
    /// Do not check whether the phone responds
    #[arg(long)]
    no_check: bool,
    /// Do not save the device: forget it when the daemon exits
    #[arg(long)]
    temporary: bool,
}

impl Add {
    fn params(self, context: &Context) -> Result<AddParams, Failure> {
        let missing = || {
            Failure::new("INVALID_PARAMS", "missing --url: expected the base URL of the phone's service", USAGE).with_hint(
                "for example: afctl device add NAME --url http://192.168.1.20:8081 --ask-token; `afctl init` asks for everything",
            )
        };
        Ok(AddParams {
            name: self.name,
            kind: self.kind,
            url: context.address.url.clone().ok_or_else(missing)?,
            attach: self.attach,
            token: if self.ask_token { Some(ask::token()?) } else { context.address.token.clone().map(Secret::new) },
            check: false_if(self.no_check),
            timeout_ms: self.request_timeout_ms,
            persist: !self.temporary,
        })
    }
}

/// Creates the call for the `health` command.
pub fn health() -> Call {
    Call::of::<DeviceHealth>(DeviceParams::default()).named("health", "health")
}

impl Group for Device {
    fn call(self, context: &Context) -> Call {
        match self {
            Device::Add(add) => Call::parsed::<DeviceAdd>(add.params(context)),
            Device::List => Call::of::<DeviceList>(NoParams {}),
            Device::Remove { name } => Call::plain::<DeviceRemove>(RemoveParams { name }),
            Device::Lease { ttl_ms } => Call::plain::<DeviceLease>(LeaseParams { ttl_ms, ..LeaseParams::default() }),
            Device::Release => Call::plain::<DeviceRelease>(DeviceParams::default()),
            Device::Downloads(Downloads { wait_ms }) => {
                Call::of::<DeviceDownloads>(DownloadsParams { wait_ms, ..DownloadsParams::default() })
            }
            Device::Log(Log { app, since_ms, level, limit }) => {
                Call::of::<DeviceLogRead>(DeviceLogParams { app, since_ms, level, limit, ..DeviceLogParams::default() })
            }
            Device::Record(Record::Start { max_ms }) => {
                let params = StartRecordingParams { max_ms, ..StartRecordingParams::default() };
                Call::of::<DeviceStartRecording>(params).named("device", "record-start")
            }
            Device::Record(Record::Stop { file }) => {
                let save_file = file.map(|file| absolute(&file));
                let params = StopRecordingParams { save_file, ..StopRecordingParams::default() };
                Call::of::<DeviceStopRecording>(params).named("device", "record-stop")
            }
            Device::Set(Set { orientation, dark_mode, locale, locale_app, airplane_mode }) => {
                Call::of::<ActConfigure>(ConfigureParams {
                    orientation,
                    dark_mode,
                    locale,
                    locale_app,
                    airplane_mode,
                    ..ConfigureParams::default()
                })
            }
            Device::Tabs => Call::of::<DeviceTabs>(DeviceParams::default()),
            Device::Packages { filter, include_system } => {
                Call::of::<DevicePackages>(PackagesParams { filter, include_system, ..PackagesParams::default() })
            }
        }
    }
}
