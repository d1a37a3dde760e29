//! The `act` commands.

use afd_proto::Secret;
use afd_proto::act::{
    ActBack, ActDoubleTap, ActDrag, ActFill, ActHome, ActHover, ActIntent, ActKey, ActLaunch, ActLongPress, ActScroll,
    ActScrollTo, ActShell, ActStop, ActSwipe, ActTab, ActTap, ActText, ActUpload, Amount, AppParams, Direction,
    DragParams, FillParams, IntentParams, KeyParams, PlainParams, ScrollParams, ScrollToParams, ShellParams,
    SwipeParams, TabParams, TapParams, TextParams, Then, UploadParams,
};
use afd_proto::keys::{self, KeyName};
use afd_proto::vocabulary::By;
use clap::{Args, Subcommand};

use super::{Call, Expected, Group, point};
use afd_link::options::Context;

/// Actions on the device.
#[derive(Debug, Subcommand)]
pub enum Act {
    /// Tap a target or a point
    Tap(Tap),
    /// Long-press a target or a point
    LongPress(LongPress),
    /// Double-tap a target or a point
    DoubleTap(Tap),
    /// Move the mouse onto a target or a point, in a browser
    Hover(Tap),
    /// Swipe from one point to another
    Swipe(Swipe),
    /// Drag from an element or point to another element or point
    Drag(Drag),
    /// Scroll the screen
    Scroll(Scroll),
    /// Scroll down, then up, until an element is on the screen, for up to --timeout-ms
    ScrollTo(ScrollTo),
    /// Upload files with a file field or an upload button of a page
    Upload(Upload),
    /// Choose, open or close a tab of a browser
    Tab(Tab),
    /// Press Back
    Back(Key),
    /// Press Home
    Home(Key),
    /// Press a key by its name or Android key code
    Key(KeyCode),
    /// Type text into the focused field; the text is never stored
    #[command(alias = "type")]
    Text(Text),
    /// Fill a field: tap it, delete its content, type the text, and check the value shown
    Fill(Fill),
    /// Launch an app
    Launch(Package),
    /// Stop an app
    Stop(Package),
    /// Run a shell command on the phone, if the device settings allow it, for up to --timeout-ms
    Shell(Shell),
    /// Send an intent, if the device settings allow it
    Intent(Intent),
}

/// Options common to all actions.
#[derive(Debug, Args)]
pub struct Key {
    /// Idempotency key: reusing it returns the recorded outcome instead of acting again
    #[arg(long, value_name = "KEY")]
    pub request_key: Option<String>,
    /// Wait until the page has settled, then return the resulting page or what changed on it
    #[arg(long, value_enum)]
    pub then: Option<Then>,
}

/// Options for `tap`, `double-tap`, `hover` and `long-press`.
#[derive(Debug, Args)]
#[group(skip)]
#[command(group = clap::ArgGroup::new("target").required(true).args(["what", "value", "xy"]))]
pub struct Tap {
    /// Alias such as @n3, or the label of the target
    #[arg(value_name = "TARGET")]
    what: Option<String>,
    /// Point in device pixels
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true, value_parser = point)]
    xy: Option<(f64, f64)>,
    /// Property that identifies the target [default: ref for an alias, else label]
    #[arg(long, value_enum, conflicts_with = "xy")]
    by: Option<By>,
    /// Label, text, description, id, class or alias of the target
    #[arg(long, allow_hyphen_values = true)]
    value: Option<String>,
    /// Match the whole value, case-sensitively
    #[arg(long)]
    exact_match: bool,
    /// Also accept a match inside a word or in the detail text of a row
    #[arg(long, conflicts_with = "exact_match")]
    partial: bool,
    /// Id of the observation that the alias must come from
    #[arg(long, value_name = "ID")]
    observation_id: Option<String>,
    #[command(flatten)]
    key: Key,
}

/// Options for `long-press`.
#[derive(Debug, Args)]
pub struct LongPress {
    #[command(flatten)]
    tap: Tap,
    /// Duration of the press in milliseconds
    #[arg(long = "duration", value_name = "MS", allow_negative_numbers = true)]
    duration_ms: Option<u32>,
}

/// Options for `swipe`.
#[derive(Debug, Args)]
pub struct Swipe {
    /// Start point in device pixels
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true, value_parser = point)]
    from: (f64, f64),
    /// End point in device pixels
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true, value_parser = point)]
    to: (f64, f64),
    /// Duration of the swipe in milliseconds
    #[arg(long = "duration", value_name = "MS", allow_negative_numbers = true)]
    duration_ms: Option<u32>,
    #[command(flatten)]
    key: Key,
}

/// Options for `drag`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("start").required(true).args(["what", "from_xy"]))]
#[command(group = clap::ArgGroup::new("end").required(true).args(["onto", "to_xy"]))]
pub struct Drag {
    /// Label or alias of the element to drag
    #[arg(value_name = "TARGET")]
    what: Option<String>,
    /// Label or alias of the element to drag it to
    #[arg(long = "to", value_name = "TARGET")]
    onto: Option<String>,
    /// Start point in device pixels
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true, value_parser = point)]
    from_xy: Option<(f64, f64)>,
    /// End point in device pixels
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true, value_parser = point)]
    to_xy: Option<(f64, f64)>,
    /// Also accept a match inside a word or in the detail text of a row
    #[arg(long)]
    partial: bool,
    /// Duration of the drag in milliseconds
    #[arg(long = "duration", value_name = "MS", allow_negative_numbers = true)]
    duration_ms: Option<u32>,
    #[command(flatten)]
    key: Key,
}

/// Options for `scroll`.
#[derive(Debug, Args)]
pub struct Scroll {
    /// Direction to scroll; down shows the content below
    #[arg(value_name = "DIRECTION", value_enum, required_unless_present = "direction", conflicts_with = "direction")]
    way: Option<Direction>,
    /// Same as the DIRECTION argument
    #[arg(long, value_enum)]
    direction: Option<Direction>,
    /// How far to scroll
    #[arg(long, value_enum)]
    amount: Option<Amount>,
    #[command(flatten)]
    key: Key,
}

/// Options for `scroll-to`.
#[derive(Debug, Args)]
pub struct ScrollTo {
    /// Part of the text or description of the element to find
    #[arg(value_name = "TEXT", allow_hyphen_values = true, required_unless_present = "text", conflicts_with = "text")]
    what: Option<String>,
    /// Same as the TEXT argument
    #[arg(long, allow_hyphen_values = true)]
    text: Option<String>,
    /// Property to compare with the text [default: text and description]; ref is not allowed
    #[arg(long, value_enum)]
    by: Option<By>,
    /// Match the whole value, case-sensitively, instead of any part of it in any case
    #[arg(long)]
    exact_match: bool,
    #[command(flatten)]
    key: Key,
}

/// Options for `shell`.
#[derive(Debug, Args)]
pub struct Shell {
    /// Shell command to run
    #[arg(long, allow_hyphen_values = true)]
    command: String,
    #[command(flatten)]
    key: Key,
}

/// Options for `intent`.
#[derive(Debug, Args)]
pub struct Intent {
    /// Intent action, for example android.intent.action.VIEW
    #[arg(long)]
    action: Option<String>,
    /// Data URI of the intent
    #[arg(long)]
    data: Option<String>,
    /// Package to handle the intent
    #[arg(long)]
    package: Option<String>,
    /// Component to handle the intent, as package/class
    #[arg(long)]
    component: Option<String>,
    /// String extra; repeatable
    #[arg(long = "extra", value_name = "NAME=TEXT", value_parser = extra)]
    extras: Vec<(String, String)>,
    #[command(flatten)]
    key: Key,
}

/// Parses a `NAME=TEXT` argument.
fn extra(text: &str) -> Result<(String, String), Expected> {
    text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())).ok_or(Expected("NAME=TEXT"))
}

/// Options for `key`.
#[derive(Debug, Args)]
pub struct KeyCode {
    /// Key name, for example back or enter, or Android key code
    #[arg(value_name = "KEY", value_parser = pressed, required_unless_present = "key_code", conflicts_with = "key_code")]
    what: Option<Pressed>,
    /// Android key code, for example 66 for Enter
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    key_code: Option<i32>,
    #[command(flatten)]
    key: Key,
}

/// Options for `text`.
#[derive(Debug, Args)]
pub struct Text {
    /// Text to type
    #[arg(value_name = "TEXT", allow_hyphen_values = true, required_unless_present = "text", conflicts_with = "text")]
    what: Option<String>,
    /// Same as the TEXT argument
    #[arg(long, allow_hyphen_values = true)]
    text: Option<String>,
    #[command(flatten)]
    key: Key,
}

/// Options for `fill`.
#[derive(Debug, Args)]
pub struct Fill {
    /// Label or alias of the field
    #[arg(value_name = "FIELD")]
    value: String,
    /// Text to put into it; it is never stored
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    text: String,
    /// Property that identifies the field [default: ref for an alias, else label]
    #[arg(long, value_enum)]
    by: Option<By>,
    #[command(flatten)]
    key: Key,
}

/// Options for `launch` and `stop`.
#[derive(Debug, Args)]
pub struct Package {
    /// Package name, for example com.android.settings
    #[arg(value_name = "PACKAGE", required_unless_present = "package", conflicts_with = "package")]
    what: Option<String>,
    /// Same as the PACKAGE argument
    #[arg(long)]
    package: Option<String>,
    #[command(flatten)]
    key: Key,
}

/// A device key to press, given by its name or its Android key code.
#[derive(Debug, Clone, Copy)]
enum Pressed {
    Named(KeyName),
    Code(i32),
}

/// Parses a key name or an Android key code.
fn pressed(text: &str) -> Result<Pressed, String> {
    let named = keys::named(text).map(Pressed::Named);
    let pressed = named.or_else(|| text.trim().parse().ok().map(Pressed::Code));
    let names = || KeyName::ALL.iter().map(|key| key.word()).collect::<Vec<_>>().join(", ");
    pressed.ok_or_else(|| format!("expected a key code, or one of: {}", names()))
}

impl Tap {
    fn params(self) -> TapParams {
        TapParams {
            x: self.xy.map(|p| p.0),
            y: self.xy.map(|p| p.1),
            by: self.by,
            value: self.value.or(self.what),
            exact_match: self.exact_match,
            partial: self.partial,
            observation_id: self.observation_id,
            request_key: self.key.request_key,
            then: self.key.then,
            ..TapParams::default()
        }
    }
}

impl Key {
    fn params(self) -> PlainParams {
        PlainParams { request_key: self.request_key, then: self.then, ..PlainParams::default() }
    }
}

impl Package {
    fn params(self) -> AppParams {
        AppParams {
            package: self.package.or(self.what).unwrap_or_default(),
            request_key: self.key.request_key,
            then: self.key.then,
            ..AppParams::default()
        }
    }
}

impl Scroll {
    fn params(self) -> ScrollParams {
        let Scroll { way, direction, amount, key } = self;
        let direction = direction.or(way).unwrap_or(Direction::Down);
        ScrollParams {
            direction,
            amount,
            request_key: key.request_key,
            then: key.then,
            device: None,
            session: None,
            url: None,
            token: None,
        }
    }
}

impl ScrollTo {
    fn params(self) -> ScrollToParams {
        let ScrollTo { what, text, by, exact_match, key } = self;
        let text = text.or(what).unwrap_or_default();
        ScrollToParams {
            text,
            by,
            exact_match,
            request_key: key.request_key,
            then: key.then,
            ..ScrollToParams::default()
        }
    }
}

impl Swipe {
    fn params(self) -> SwipeParams {
        let ((x1, y1), (x2, y2)) = (self.from, self.to);
        SwipeParams {
            x1,
            y1,
            x2,
            y2,
            duration_ms: self.duration_ms,
            request_key: self.key.request_key,
            then: self.key.then,
            ..SwipeParams::default()
        }
    }
}

impl Drag {
    fn params(self) -> DragParams {
        DragParams {
            value: self.what,
            to: self.onto,
            x: self.from_xy.map(|p| p.0),
            y: self.from_xy.map(|p| p.1),
            to_x: self.to_xy.map(|p| p.0),
            to_y: self.to_xy.map(|p| p.1),
            partial: self.partial,
            duration_ms: self.duration_ms,
            request_key: self.key.request_key,
            then: self.key.then,
            ..DragParams::default()
        }
    }
}

impl Intent {
    fn params(self) -> IntentParams {
        let Intent { action, data, package, component, extras, key } = self;
        let extras = extras.into_iter().map(|(name, text)| (name, Secret::new(text))).collect();
        IntentParams {
            action,
            data,
            package,
            component,
            extras,
            request_key: key.request_key,
            then: key.then,
            ..IntentParams::default()
        }
    }
}

/// Options for `upload`.
#[derive(Debug, Args)]
pub struct Upload {
    /// Alias such as @n3, or the label of the element
    #[arg(value_name = "TARGET")]
    what: String,
    /// File to upload: an absolute path, or a path relative to a directory in `browser.upload_dirs`; repeatable
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// Property that identifies the element [default: ref for an alias, else label]
    #[arg(long, value_enum)]
    by: Option<By>,
    #[command(flatten)]
    key: Key,
}

/// Options for `tab`.
#[derive(Debug, Args)]
pub struct Tab {
    /// Id of the tab, such as t2, or new
    tab: String,
    /// Close the tab
    #[arg(long)]
    close: bool,
    #[command(flatten)]
    key: Key,
}

impl Upload {
    fn params(self) -> UploadParams {
        let Upload { what, files, by, key } = self;
        UploadParams { by, value: what, files, request_key: key.request_key, then: key.then, ..UploadParams::default() }
    }
}

impl Tab {
    fn params(self) -> TabParams {
        let Tab { tab, close, key } = self;
        TabParams { tab, close, request_key: key.request_key, then: key.then, ..TabParams::default() }
    }
}

impl Group for Act {
    fn call(self, _: &Context) -> Call {
        match self {
            Act::Tap(tap) => Call::of::<ActTap>(tap.params()),
            Act::DoubleTap(tap) => Call::of::<ActDoubleTap>(tap.params()),
            Act::Hover(tap) => Call::of::<ActHover>(tap.params()),
            Act::Upload(upload) => Call::of::<ActUpload>(upload.params()),
            Act::Tab(tab) => Call::of::<ActTab>(tab.params()),
            Act::LongPress(press) => {
                Call::of::<ActLongPress>(TapParams { duration_ms: press.duration_ms, ..press.tap.params() })
            }
            Act::Swipe(swipe) => Call::of::<ActSwipe>(swipe.params()),
            Act::Drag(drag) => Call::of::<ActDrag>(drag.params()),
            Act::Scroll(scroll) => Call::of::<ActScroll>(scroll.params()),
            Act::ScrollTo(scroll) => Call::of::<ActScrollTo>(scroll.params()),
            Act::Shell(Shell { command, key }) => Call::of::<ActShell>(ShellParams {
                command: Secret::new(command),
                request_key: key.request_key,
                then: key.then,
                ..ShellParams::default()
            }),
            Act::Intent(intent) => Call::of::<ActIntent>(intent.params()),
            Act::Back(key) => Call::of::<ActBack>(key.params()),
            Act::Home(key) => Call::of::<ActHome>(key.params()),
            Act::Key(KeyCode { what, key_code, key }) => {
                let (name, key_code) = match what {
                    Some(Pressed::Named(name)) => (Some(name), None),
                    Some(Pressed::Code(code)) => (None, Some(code)),
                    None => (None, key_code),
                };
                Call::of::<ActKey>(KeyParams {
                    key: name,
                    key_code,
                    request_key: key.request_key,
                    then: key.then,
                    ..KeyParams::default()
                })
            }
            Act::Text(Text { what, text, key }) => Call::of::<ActText>(TextParams {
                text: Secret::new(text.or(what).unwrap_or_default()),
                request_key: key.request_key,
                then: key.then,
                ..TextParams::default()
            }),
            Act::Fill(Fill { value, text, by, key }) => Call::of::<ActFill>(FillParams {
                by,
                value,
                text: Secret::new(text),
                request_key: key.request_key,
                then: key.then,
                ..FillParams::default()
            }),
            Act::Launch(package) => Call::of::<ActLaunch>(package.params()),
            Act::Stop(package) => Call::of::<ActStop>(package.params()),
        }
    }
}
