//! `act`

use afd_proto::Secret;
use afd_proto::act::{
    ActBack, ActDoubleTap, ActHome, ActIntent, ActKey, ActLaunch, ActLongPress, ActScroll, ActScrollTo, ActShell, ActStop, ActSwipe,
    ActTap, ActText, Amount, AppParams, Direction, IntentParams, KeyParams, PlainParams, ScrollParams, ScrollToParams, ShellParams,
    SwipeParams, TapParams, TextParams,
};
use afd_proto::vocabulary::By;
use clap::{Args, Subcommand};

use super::{Call, Expected, point};
use crate::cli::{Context, Group};

/// Do something on the device.
#[derive(Debug, Subcommand)]
pub enum Act {
    /// Tap a target or a point
    Tap(Tap),
    /// Press a target or a point for a while
    LongPress(LongPress),
    /// Tap twice in quick succession
    DoubleTap(Tap),
    /// Swipe from one point to another
    Swipe(Swipe),
    /// Scroll the screen
    Scroll(Scroll),
    /// Scroll down, then up, until something is on the screen, for --timeout-ms at most [default: 60000]
    ScrollTo(ScrollTo),
    /// Press Back
    Back(Key),
    /// Press Home
    Home(Key),
    /// Press a key by its Android code
    Key(KeyCode),
    /// Type into the focused field; the text is kept nowhere
    Text(Text),
    /// Open an app
    Launch(Package),
    /// Stop an app
    Stop(Package),
    /// Run a command in the phone's shell, if the settings of the device allow it, for --timeout-ms at most [default: 30000]
    Shell(Shell),
    /// Send an intent, if the settings of the device allow it
    Intent(Intent),
}

/// Makes sure that the action is done once.
#[derive(Debug, Args)]
pub struct Key {
    /// The same key again returns the recorded outcome instead of acting
    #[arg(long, value_name = "KEY")]
    request_key: Option<String>,
}

/// What to touch.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Tap {
    /// A point in device pixels
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true, value_parser = point, conflicts_with_all = ["by", "value"], required_unless_present = "by")]
    xy: Option<(f64, f64)>,
    /// How the target is named
    #[arg(long, value_enum, requires = "value")]
    by: Option<By>,
    /// Its text, description, id, class or alias
    #[arg(long, requires = "by", allow_hyphen_values = true)]
    value: Option<String>,
    /// Whole and case-sensitive, instead of a part in any case
    #[arg(long)]
    exact_match: bool,
    /// Refuse the alias unless it comes from this observation
    #[arg(long, value_name = "ID")]
    observation_id: Option<String>,
    #[command(flatten)]
    key: Key,
}

/// Options of `long-press`.
#[derive(Debug, Args)]
pub struct LongPress {
    #[command(flatten)]
    tap: Tap,
    /// How long, milliseconds
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    duration: Option<u32>,
}

/// Options of `swipe`.
#[derive(Debug, Args)]
pub struct Swipe {
    /// Where it starts
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true, value_parser = point)]
    from: (f64, f64),
    /// Where it ends
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true, value_parser = point)]
    to: (f64, f64),
    /// How long, milliseconds
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    duration: Option<u32>,
    #[command(flatten)]
    key: Key,
}

/// Options of `scroll`.
#[derive(Debug, Args)]
pub struct Scroll {
    /// What to look at next
    #[arg(long, value_enum)]
    direction: Direction,
    /// How far
    #[arg(long, value_enum)]
    amount: Option<Amount>,
    #[command(flatten)]
    key: Key,
}

/// Options of `scroll-to`.
#[derive(Debug, Args)]
pub struct ScrollTo {
    /// A part of the text or description
    #[arg(long, allow_hyphen_values = true)]
    text: String,
    /// Compare this property only (an alias is no property)
    #[arg(long, value_enum)]
    by: Option<By>,
    /// Whole and case-sensitive, instead of a part in any case
    #[arg(long)]
    exact_match: bool,
    #[command(flatten)]
    key: Key,
}

/// Options of `shell`.
#[derive(Debug, Args)]
pub struct Shell {
    /// The command
    #[arg(long, allow_hyphen_values = true)]
    command: String,
    #[command(flatten)]
    key: Key,
}

/// Options of `intent`.
#[derive(Debug, Args)]
pub struct Intent {
    /// For example android.intent.action.VIEW
    #[arg(long)]
    action: Option<String>,
    /// A URI
    #[arg(long)]
    data: Option<String>,
    /// Package that is to handle it
    #[arg(long)]
    package: Option<String>,
    /// package/class that is to handle it
    #[arg(long)]
    component: Option<String>,
    /// A text for it; may be given several times
    #[arg(long = "extra", value_name = "NAME=TEXT", value_parser = extra)]
    extras: Vec<(String, String)>,
    #[command(flatten)]
    key: Key,
}

/// Reads `NAME=TEXT`.
fn extra(text: &str) -> Result<(String, String), Expected> {
    text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())).ok_or(Expected("NAME=TEXT"))
}

/// Options of `key`.
#[derive(Debug, Args)]
pub struct KeyCode {
    /// For example 66 for Enter
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    key_code: i32,
    #[command(flatten)]
    key: Key,
}

/// Options of `text`.
#[derive(Debug, Args)]
pub struct Text {
    /// What to type
    #[arg(long, allow_hyphen_values = true)]
    text: String,
    #[command(flatten)]
    key: Key,
}

/// Options of `launch` and `stop`.
#[derive(Debug, Args)]
pub struct Package {
    /// For example com.android.settings
    #[arg(long)]
    package: String,
    #[command(flatten)]
    key: Key,
}

impl Tap {
    fn params(self) -> TapParams {
        TapParams {
            x: self.xy.map(|p| p.0),
            y: self.xy.map(|p| p.1),
            by: self.by,
            value: self.value,
            exact_match: self.exact_match,
            observation_id: self.observation_id,
            request_key: self.key.request_key,
            ..TapParams::default()
        }
    }
}

impl Key {
    fn params(self) -> PlainParams {
        PlainParams { request_key: self.request_key, ..PlainParams::default() }
    }
}

impl Package {
    fn params(self) -> AppParams {
        AppParams { package: self.package, request_key: self.key.request_key, ..AppParams::default() }
    }
}

impl Scroll {
    fn params(self) -> ScrollParams {
        let Scroll { direction, amount, key } = self;
        ScrollParams { direction, amount, request_key: key.request_key, device: None, session: None, url: None, token: None }
    }
}

impl ScrollTo {
    fn params(self) -> ScrollToParams {
        let ScrollTo { text, by, exact_match, key } = self;
        ScrollToParams { text, by, exact_match, request_key: key.request_key, ..ScrollToParams::default() }
    }
}

impl Swipe {
    fn params(self) -> SwipeParams {
        let ((x1, y1), (x2, y2)) = (self.from, self.to);
        SwipeParams { x1, y1, x2, y2, duration_ms: self.duration, request_key: self.key.request_key, ..SwipeParams::default() }
    }
}

impl Intent {
    fn params(self) -> IntentParams {
        let Intent { action, data, package, component, extras, key } = self;
        let extras = extras.into_iter().map(|(name, text)| (name, Secret::new(text))).collect();
        IntentParams { action, data, package, component, extras, request_key: key.request_key, ..IntentParams::default() }
    }
}

impl Group for Act {
    fn call(self, _: &Context) -> Call {
        match self {
            Act::Tap(tap) => Call::of::<ActTap>(tap.params()),
            Act::DoubleTap(tap) => Call::of::<ActDoubleTap>(tap.params()),
            Act::LongPress(press) => Call::of::<ActLongPress>(TapParams { duration_ms: press.duration, ..press.tap.params() }),
            Act::Swipe(swipe) => Call::of::<ActSwipe>(swipe.params()),
            Act::Scroll(scroll) => Call::of::<ActScroll>(scroll.params()),
            Act::ScrollTo(scroll) => Call::of::<ActScrollTo>(scroll.params()),
            Act::Shell(Shell { command, key }) => {
                Call::of::<ActShell>(ShellParams { command: Secret::new(command), request_key: key.request_key, ..ShellParams::default() })
            }
            Act::Intent(intent) => Call::of::<ActIntent>(intent.params()),
            Act::Back(key) => Call::of::<ActBack>(key.params()),
            Act::Home(key) => Call::of::<ActHome>(key.params()),
            Act::Key(KeyCode { key_code, key }) => {
                Call::of::<ActKey>(KeyParams { key_code, request_key: key.request_key, ..KeyParams::default() })
            }
            Act::Text(Text { text, key }) => {
                Call::of::<ActText>(TextParams { text: Secret::new(text), request_key: key.request_key, ..TextParams::default() })
            }
            Act::Launch(package) => Call::of::<ActLaunch>(package.params()),
            Act::Stop(package) => Call::of::<ActStop>(package.params()),
        }
    }
}
