//! Managing a device: installing apps, changing its settings, reading its log, recording its screen. The methods belong to
//! `act.*` and `device.*`.

use crate::act::ActResult;
use crate::artifact::SavedArtifact;
use crate::vocabulary::Reply;

act_params! {
    /// Parameters of `act.install`.
    #[derive(Default)]
    pub struct InstallParams {
        /// Absolute path of the app's file on this machine, such as an APK. An installed version is replaced and keeps its data.
        pub file: String where chars 1..=4096,
        /// Whether the app gets all permissions that it asks for when it is installed.
        #[serde(default, skip_serializing_if = "crate::act::is_false")]
        pub grant: bool,
    }

    /// Parameters of `act.uninstall`.
    #[derive(Default)]
    pub struct UninstallParams {
        /// Package name of the app.
        pub package: String where chars 1..=255,
        /// Whether the app's data stays on the device.
        #[serde(default, skip_serializing_if = "crate::act::is_false")]
        pub keep_data: bool,
    }

    /// Parameters of `act.clearApp`.
    #[derive(Default)]
    pub struct ClearAppParams {
        /// Package name of the app.
        pub package: String where chars 1..=255,
    }

    /// Parameters of `act.grant`.
    #[derive(Default)]
    pub struct GrantParams {
        /// Package name of the app.
        pub package: String where chars 1..=255,
        /// Name of the permission, such as `android.permission.CAMERA`, or its last part, `CAMERA`.
        pub permission: String where chars 1..=255,
        /// Whether the permission is taken away instead.
        #[serde(default, skip_serializing_if = "crate::act::is_false")]
        pub revoke: bool,
    }

    /// Parameters of `act.configure`. Settings that are not given stay as they are; at least one is needed.
    #[derive(Default)]
    pub struct ConfigureParams {
        /// Orientation of the screen; `auto` follows the device's sensor.
        pub orientation: Option<Orientation>,
        /// Whether the device uses dark colours.
        pub dark_mode: Option<bool>,
        /// Language and region as a BCP 47 tag, such as `de-DE`, or several in order of preference, separated by commas. Most phones
        /// accept it for one app only.
        pub locale: Option<String> where chars 2..=200,
        /// Package name of the app whose language is set by `locale`; by default the language of the device is set.
        pub locale_app: Option<String> where chars 1..=255,
        /// Whether all radios are off.
        pub airplane_mode: Option<bool>,
    }
}

device_params! {
    /// Parameters of `device.log`.
    #[derive(Default)]
    pub struct DeviceLogParams {
        /// Package name of the app whose lines are returned; by default all apps.
        pub app: Option<String> where chars 1..=255,
        /// Age of the oldest line, in milliseconds; by default, lines since the session's last action. Lines from before the
        /// daemon knew the device are never returned.
        pub since_ms: Option<u64> where 1..=86_400_000,
        /// Lowest severity of the lines.
        pub level: Option<LogLevel> = LogLevel::Info,
        /// Maximum number of lines; the newest ones are returned.
        pub limit: Option<u32> where 1..=10_000 = 200,
    }

    /// Parameters of `device.startRecording`.
    #[derive(Default)]
    pub struct StartRecordingParams {
        /// Time after which the recording ends if it is not stopped, in milliseconds.
        pub max_ms: Option<u64> where 1_000..=180_000 = 180_000,
    }

    /// Parameters of `device.stopRecording`.
    #[derive(Default)]
    pub struct StopRecordingParams {
        /// Path of the file to which the video is written; by default a file in the artifact directory.
        pub save_file: Option<String>,
    }
}

words! {
    /// Orientation of a screen.
    Orientation {
        /// Upright, as the device is usually held.
        Portrait = "portrait",
        /// Turned by 90 degrees to the left.
        Landscape = "landscape",
        /// As the device's sensor says.
        Auto = "auto",
    }

    /// Severity of a line of a log, in ascending order.
    LogLevel {
        /// Everything.
        Verbose = "verbose",
        /// Details for developers.
        Debug = "debug",
        /// What happens in normal use.
        Info = "info",
        /// What may be wrong.
        Warning = "warning",
        /// What failed.
        Error = "error",
        /// What ended a process.
        Fatal = "fatal",
    }
}

wire! {
    /// Settings of a device. A setting that the device does not tell is absent.
    #[derive(Default, Eq)]
    pub struct DeviceConfiguration {
        /// Orientation of the screen.
        pub orientation: Option<Orientation>,
        /// Whether the device uses dark colours.
        pub dark_mode: Option<bool>,
        /// Languages and regions, in order of preference, as BCP 47 tags separated by commas. Empty for an app that follows the
        /// device.
        pub locale: Option<String>,
        /// The app that `locale` is about; absent if it is about the device.
        pub locale_app: Option<String>,
        /// Whether all radios are off.
        pub airplane_mode: Option<bool>,
    }

    /// Result of `act.configure`.
    pub struct ConfigureResult {
        /// Uid of the event that recorded the action.
        pub event_id: String,
        /// The settings that were changed, as they were before.
        pub before: DeviceConfiguration,
        /// Duration of the action, including the wait for the device, in milliseconds.
        pub duration_ms: u64,
        /// Outcome of the action; only if `then` was given.
        pub look: Option<crate::look::Look>,
        /// Whether this is the recorded outcome of an earlier call with the same request key.
        #[serde(default, skip_serializing_if = "crate::act::is_false")]
        pub replayed: bool,
    }

    /// A line of a device's log. Its texts come from the device.
    pub struct LogRow {
        /// Time at which the line was written, by this machine's clock, in Unix milliseconds.
        pub at: i64,
        /// Severity.
        pub level: LogLevel,
        /// Name of the part that wrote the line.
        pub tag: String,
        /// Number of the process that wrote it.
        pub pid: u32,
        /// The text. Texts that were typed through the daemon are replaced.
        pub text: String,
    }

    /// Result of `device.log`.
    pub struct DeviceLog {
        /// The lines, oldest first.
        pub lines: Vec<LogRow>,
        /// Whether older lines were left out because of `limit`.
        pub truncated: bool,
        /// Age of the oldest line that could have been returned, in milliseconds.
        pub since_ms: u64,
    }

    /// Result of `device.startRecording`.
    pub struct RecordingStarted {
        /// Time after which the recording ends if it is not stopped, in milliseconds.
        pub max_ms: u64,
    }

    /// Result of `device.stopRecording`.
    pub struct RecordingSaved {
        /// Duration from start to stop, in milliseconds.
        pub duration_ms: u64,
        /// Number of bytes of the video.
        pub size_bytes: u64,
        /// The video.
        pub artifact: SavedArtifact,
    }
}

crate::look::with_look!(ConfigureResult);

methods! {
    /// Installs an app from a file, or replaces it, if the device's settings allow it.
    ActInstall = "act.install" (InstallParams, DEVICE) -> Reply<ActResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Refused, Conflict, Unsupported], r#"{"file":"/home/user/shop.apk"}"#, INSTALL;
    /// Uninstalls an app, if the device's settings allow it.
    ActUninstall = "act.uninstall" (UninstallParams, DEVICE) -> Reply<ActResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Refused, Conflict, Unsupported], r#"{"package":"org.example.shop"}"#, UNINSTALL;
    /// Stops an app and deletes its data, if the device's settings allow it.
    ActClearApp = "act.clearApp" (ClearAppParams, DEVICE) -> Reply<ActResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Refused, Conflict, Unsupported], r#"{"package":"org.example.shop"}"#, CLEAR_APP;
    /// Gives an app a permission or takes it away, if the device's settings allow it.
    ActGrant = "act.grant" (GrantParams, DEVICE) -> Reply<ActResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Refused, Conflict, Unsupported], r#"{"package":"org.example.shop","permission":"CAMERA"}"#, GRANT;
    /// Changes settings of the device: orientation, dark mode, language, airplane mode. Returns what they were before.
    ActConfigure = "act.configure" (ConfigureParams, DEVICE) -> Reply<ConfigureResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Conflict, Unsupported], r#"{"orientation":"landscape"}"#, CONFIGURE;
    /// Returns what the device's apps logged, by default since the session's last action. Typed texts are replaced.
    DeviceLogRead = "device.log" (DeviceLogParams, DEVICE) -> Reply<DeviceLog>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, Unsupported, NotFound], r#"{"app":"org.example.shop"}"#, LOG;
    /// Starts a recording of the screen. One recording at a time; it ends after `maxMs` at the latest.
    DeviceStartRecording = "device.startRecording" (StartRecordingParams, DEVICE) -> Reply<RecordingStarted>, Admin, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, Conflict, Unsupported], r#"{"maxMs":60000}"#, START_RECORDING;
    /// Ends the recording of the screen, and saves the video as an artifact.
    DeviceStopRecording = "device.stopRecording" (StopRecordingParams, DEVICE) -> Reply<RecordingSaved>, Admin, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, NotFound, StoreFull, StoreUnavailable, Unsupported], "{}", STOP_RECORDING;
}
