//! The interface that drivers implement: reading screens, performing inputs, and optional features that only some kinds
//! of devices have.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use afd_proto::Secret;
use afd_proto::act::{Amount, Direction};
use afd_proto::device::TabInfo;
use afd_proto::keys::KeyName;
use afd_proto::manage::DeviceConfiguration;
use afd_proto::picture::Overlay;
use afd_screen::page::{Rect, Snapshot};

use super::error::{BadParam, DriverError, DriverFuture};
use super::manage::{AppChange, Manages};

/// A device key that can be pressed, such as Back or Home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A key identified by its name.
    Named(KeyName),
    /// A key identified by the key code that devices of this kind use for it.
    Code(i32),
}

/// An input that every kind of device supports.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Tap at `(x, y)`, in device pixels.
    Tap(f64, f64),
    /// Long press at `(x, y)`, in device pixels, followed by its duration, in milliseconds.
    LongPress(f64, f64, u32),
    /// Double tap at `(x, y)`, in device pixels.
    DoubleTap(f64, f64),
    /// Swipe from `(x1, y1)` to `(x2, y2)`, as `[x1, y1, x2, y2]` in device pixels, followed by its duration, in
    /// milliseconds.
    Swipe([f64; 4], u32),
    /// Press at `(x1, y1)` that ends at `(x2, y2)`, as `[x1, y1, x2, y2]` in device pixels, followed by its duration, in
    /// milliseconds.
    Drag([f64; 4], u32),
    /// Movement of the mouse to `(x, y)`, in device pixels. Devices without a mouse refuse it.
    Hover(f64, f64),
    /// Scroll of the whole screen in a direction by an amount.
    Scroll(Direction, Amount),
    /// Press of the Back button.
    Back,
    /// Press of the Home button.
    Home,
    /// Presses of several keys in order, in as few requests as the device allows.
    Keys(Vec<Key>),
    /// Text to type into the focused field.
    Text(Secret),
    /// A touch of the element with this node id, which must reach no other element; the touch alone reaches whatever is at
    /// its point. Only for devices whose elements keep their node ids ([`Reveals`]).
    ///
    /// The second value is the text of the element when it was chosen, unless it is a field; devices refuse the touch if the
    /// element has another text by then.
    On(String, Option<String>, Box<Input>),
    /// Tap at `(x, y)`, in device pixels, on an element that asks for files, followed by the files that it gets.
    Upload(f64, f64, Vec<PathBuf>),
    /// Choice of the tab with this id; `new` opens a tab.
    Tab(String),
    /// Closing of the tab with this id.
    CloseTab(String),
    /// Launch of the app with this name.
    Launch(String),
    /// Stop of the app with this name.
    Stop(String),
}

impl Input {
    /// Returns whether the input is sent to a point.
    pub fn is_touch(&self) -> bool {
        matches!(
            self,
            Input::Tap(..)
                | Input::LongPress(..)
                | Input::DoubleTap(..)
                | Input::Hover(..)
                | Input::Swipe(..)
                | Input::Drag(..)
                | Input::Upload(..)
                | Input::On(..)
        )
    }
}

/// A command that a device can be asked to perform.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// An input, such as a tap or text.
    Input(Input),
    /// A shell command, followed by the maximum time that it may take, in milliseconds; see [`Shell`].
    Shell(Secret, u32),
    /// A message to an app on the device; see [`Intents`].
    Intent(Intent),
    /// A call of a tool that the page in front publishes; see [`PageTools`].
    Tool(ToolCall),
    /// A change of an installed app; see [`Manages`].
    App(AppChange),
    /// A change of the device's settings; see [`Manages`].
    Configure(DeviceConfiguration),
}

/// A call of a tool that a page publishes.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Name of the tool.
    pub name: String,
    /// Input as a JSON object.
    pub input: Secret,
    /// Maximum wait for the answer, in milliseconds.
    pub ms: u32,
}

impl From<Input> for Command {
    fn from(input: Input) -> Self {
        Command::Input(input)
    }
}

/// Settings for the overlay of marks that the device draws over its screen. An absent offset leaves the current one
/// unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverlaySetting {
    /// Whether the overlay is shown.
    pub enabled: bool,
    /// Maximum number of marks that are drawn.
    pub max_marks: u32,
    /// Whether only interactive elements are marked.
    pub interactive_only: bool,
    /// Whether the marks are refreshed automatically.
    pub auto_refresh: bool,
    /// Refresh interval, in milliseconds.
    pub refresh_interval_ms: u32,
    /// Horizontal offset of the marks (positive: right), in device pixels.
    pub offset_x: Option<i32>,
    /// Vertical offset of the marks (positive: down), in device pixels.
    pub offset_y: Option<i32>,
}

/// A message that asks an app on the device to do something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Intent {
    /// Action that the app should perform, for example `android.intent.action.VIEW`.
    pub action: Option<String>,
    /// URI of the data that the action applies to.
    pub data: Option<String>,
    /// Package of the only app that may receive the intent.
    pub package: Option<String>,
    /// Component that receives the intent, as `package/class`.
    pub component: Option<String>,
    /// Additional string values for the app, by name.
    pub extras: BTreeMap<String, String>,
}

/// Options for a screenshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScreenshotOptions {
    /// Maximum length of the picture's longer side, in pixels.
    pub max_dim: u32,
    /// JPEG quality, 1 to 100.
    pub quality: u32,
    /// Whether the device's overlay is hidden in the picture.
    pub hide_overlay: bool,
    /// Part of the page to take, in device pixels from the corner of the screen; `None` takes the screen. Only for devices
    /// that know the whole page ([`Reveals`]).
    pub area: Option<Rect>,
    /// Whether the picture is a PNG with the exact pixels, if the device can give one.
    pub lossless: bool,
}

/// The app in the foreground, and the place that it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForegroundApp {
    /// Name of the app; `None` if it is unknown.
    pub app: Option<String>,
    /// Place that the app shows: `package/activity` or a URL; `None` if it is unknown.
    pub place: Option<String>,
}

/// A driver for one kind of device. A driver may retry reads, but it may resend an input only if the input was
/// certainly not delivered.
pub trait Driver: Send + Sync + 'static {
    /// Returns the name of the kind of device that the driver supports.
    fn kind(&self) -> &'static str;

    /// Returns the capabilities of devices of this kind, under the names that clients see. Capabilities that come from
    /// the optional traits are not included.
    fn capabilities(&self) -> &'static [&'static str];

    /// Returns the URL of the device, without credentials.
    fn url(&self) -> String;

    /// Returns the positions of the characters that the device cannot type, counted in characters from 0.
    fn cannot_type(&self, _text: &str) -> Vec<usize> {
        Vec::new()
    }

    /// Returns a remark on what the device can type, for people who look for its faults; `None` if there is nothing to say. It is
    /// about the screen that was read last.
    fn typing(&self) -> Option<&'static str> {
        None
    }

    /// Returns the key code that devices of this kind use for a named key, or `None` if they have no key codes.
    fn key_code(&self, _key: KeyName) -> Option<i32> {
        None
    }

    /// Checks that a name is valid as the name of an app on devices of this kind.
    ///
    /// # Errors
    /// If the name is not valid.
    fn check_app(&self, name: &str) -> Result<(), BadParam>;

    /// Returns advice on how to resolve an error, or `None` if devices of this kind have no specific advice.
    fn advice(&self, _error: &DriverError) -> Option<&'static str> {
        None
    }

    /// Returns a driver for the screen of a session, or `None` if all sessions share the screen of the device.
    fn for_session(&self, _session: &str) -> Option<Arc<dyn Driver>> {
        None
    }

    /// Gives the screen of the driver's session to another session; with `None`, to whichever session needs one next. From
    /// then on, this driver has no screen.
    fn hand_over(&self, _to: Option<&str>) {}

    /// Undoes what the driver did to something that goes on without it, before the daemon exits or forgets the device.
    fn close(&self) -> DriverFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Checks that the device responds, and returns the type of service that it reports.
    fn health(&self) -> DriverFuture<'_, String>;

    /// Checks that the device accepts the token.
    fn check_token<'a>(&'a self, token: Option<&'a Secret>) -> DriverFuture<'a, ()>;

    /// Reads the name of the app in the foreground and the place that it shows.
    fn top<'a>(&'a self, token: Option<&'a Secret>) -> DriverFuture<'a, ForegroundApp>;

    /// Reads the element tree of the screen.
    fn snapshot<'a>(&'a self, token: Option<&'a Secret>) -> DriverFuture<'a, Snapshot>;

    /// Returns whether a snapshot shows a page that has come to rest, because the device waits for that before it answers.
    fn waits_until_still(&self) -> bool {
        false
    }

    /// Takes a screenshot and returns it as a JPEG, or as a PNG.
    fn screenshot<'a>(&'a self, token: Option<&'a Secret>, shot: ScreenshotOptions) -> DriverFuture<'a, Vec<u8>>;

    /// Performs an input once, and returns the device's message.
    fn perform<'a>(&'a self, token: Option<&'a Secret>, input: &'a Input) -> DriverFuture<'a, String>;

    /// Returns the interface to the overlay, or `None` if the device draws no overlay.
    fn overlays(&self) -> Option<&dyn Overlays> {
        None
    }

    /// Returns the interface to the installed apps, or `None` if the device does not list them.
    fn packages(&self) -> Option<&dyn Packages> {
        None
    }

    /// Returns the interface to the tabs, or `None` if the device has none.
    fn tabs(&self) -> Option<&dyn Tabs> {
        None
    }

    /// Returns the interface to the shell, or `None` if the device has no shell.
    fn shell(&self) -> Option<&dyn Shell> {
        None
    }

    /// Returns the interface that brings elements into sight, or `None` if the device can only scroll step by step.
    fn reveals(&self) -> Option<&dyn Reveals> {
        None
    }

    /// Returns the interface to files that pages take and give, or `None` if the device exchanges no files.
    fn transfers(&self) -> Option<&dyn Transfers> {
        None
    }

    /// Returns what has happened apart from the page in front since this was asked last, such as a tab that opened; `None` if
    /// nothing has.
    fn news(&self) -> Option<String> {
        None
    }

    /// Returns the interface to the tools that pages publish, or `None` if pages of the device publish none.
    fn page_tools(&self) -> Option<&dyn PageTools> {
        None
    }

    /// Returns the interface for managing the device, or `None` if it cannot be managed.
    fn manages(&self) -> Option<&dyn Manages> {
        None
    }

    /// Returns the interface for messages to apps, or `None` if the device does not support them.
    fn intents(&self) -> Option<&dyn Intents> {
        None
    }
}

/// Optional interface for devices that draw marks over the screen.
pub trait Overlays: Send + Sync {
    /// Reads the state of the overlay.
    fn overlay<'a>(&'a self, token: Option<&'a Secret>) -> DriverFuture<'a, Overlay>;

    /// Changes the overlay, and returns its new state.
    fn set_overlay<'a>(&'a self, token: Option<&'a Secret>, setting: &'a OverlaySetting) -> DriverFuture<'a, Overlay>;
}

/// Optional interface for devices that list their installed apps.
pub trait Packages: Send + Sync {
    /// Lists the installed apps whose name contains `filter`, or all apps if `filter` is `None`. System apps are listed
    /// only if `system` is true.
    fn packages<'a>(
        &'a self,
        token: Option<&'a Secret>,
        filter: Option<&'a str>,
        system: bool,
    ) -> DriverFuture<'a, Vec<String>>;
}

/// Optional interface for devices with a shell.
pub trait Shell: Send + Sync {
    /// Runs a command that may take up to `ms` milliseconds, and returns its output.
    fn run<'a>(&'a self, token: Option<&'a Secret>, command: &'a Secret, ms: u32) -> DriverFuture<'a, String>;
}

/// Optional interface for devices whose apps accept messages.
pub trait Intents: Send + Sync {
    /// Checks the parts of an intent.
    ///
    /// # Errors
    /// If a part is not acceptable.
    fn check(&self, intent: &Intent) -> Result<(), BadParam>;

    /// Sends an intent that [`Self::check`] has accepted, and returns the device's message.
    fn send<'a>(&'a self, token: Option<&'a Secret>, intent: &'a Intent) -> DriverFuture<'a, String>;
}

/// Optional interface for devices that know the elements that are out of sight. Their snapshots contain these elements,
/// and an element keeps its node id as long as it exists.
pub trait Reveals: Send + Sync {
    /// Scrolls until the element with a node id is in sight.
    fn reveal<'a>(&'a self, token: Option<&'a Secret>, node: &'a str) -> DriverFuture<'a, ()>;

    /// Returns the bounds of the whole page, in device pixels from the corner of the screen.
    fn page_bounds<'a>(&'a self, token: Option<&'a Secret>) -> DriverFuture<'a, Rect>;
}

/// A file that a page gave to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    /// Name that the page suggests, without directories.
    pub name: String,
    /// Number of bytes received so far.
    pub bytes: u64,
    /// What became of it.
    pub state: DownloadState,
}

/// What became of a download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DownloadState {
    /// It is not complete yet.
    Running,
    /// It is complete. The file is the caller's, who must move or delete it.
    Complete(PathBuf),
    /// It failed, or was refused.
    Failed,
}

/// Optional interface for devices whose pages take and give files.
pub trait Transfers: Send + Sync {
    /// Returns the file with a name, if pages may have it.
    ///
    /// # Errors
    /// If there is no such file, or if it is not below a directory that the settings name.
    fn file(&self, name: &str) -> Result<PathBuf, BadParam>;

    /// Returns the downloads since the last call once all are complete or failed, or after `ms` milliseconds. Those that
    /// still run are returned again by the next call.
    fn downloads(&self, ms: u64) -> DriverFuture<'_, Vec<Download>>;
}

/// Optional interface for browsers.
pub trait Tabs: Send + Sync {
    /// Lists the tabs, in the order in which they were opened.
    fn list(&self) -> DriverFuture<'_, Vec<TabInfo>>;
}

/// Optional interface for devices whose pages publish tools for agents. The snapshots contain the tools.
pub trait PageTools: Send + Sync {
    /// Calls a tool of the page in front once, and returns its answer: a text, or JSON.
    ///
    /// # Errors
    /// [`DriverError::Refused`] if the page has no such tool, or if the tool fails; [`DriverError::Unanswered`] if it does
    /// not answer in time.
    fn call<'a>(&'a self, call: &'a ToolCall) -> DriverFuture<'a, String>;
}
