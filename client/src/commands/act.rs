//! `act`

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::{By, Call, Expected, point};

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

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Direction {
    Up,
    Down,
    Left,
    Right,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Amount {
    Small,
    Medium,
    Large,
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

fn name<T: ValueEnum>(value: &T) -> Option<String> {
    value.to_possible_value().map(|p| p.get_name().to_owned())
}

impl Key {
    fn on(&self, call: Call) -> Call {
        call.maybe("requestKey", self.request_key.clone())
    }
}

impl Tap {
    fn call(&self, method: &'static str) -> Call {
        let call = Call::new(method)
            .maybe("x", self.xy.map(|p| p.0))
            .maybe("y", self.xy.map(|p| p.1))
            .maybe("by", self.by.map(By::wire))
            .maybe("value", self.value.clone())
            .maybe("exactMatch", self.exact_match.then_some(true))
            .maybe("observationId", self.observation_id.clone());
        self.key.on(call)
    }
}

impl Act {
    /// The call.
    pub fn call(&self) -> Call {
        match self {
            Act::Tap(tap) => tap.call("act.tap"),
            Act::DoubleTap(tap) => tap.call("act.doubleTap"),
            Act::LongPress(press) => press.tap.call("act.longPress").maybe("durationMs", press.duration),
            Act::Swipe(s) => s.key.on(Call::new("act.swipe")
                .with("x1", s.from.0)
                .with("y1", s.from.1)
                .with("x2", s.to.0)
                .with("y2", s.to.1)
                .maybe("durationMs", s.duration)),
            Act::Scroll(s) => {
                s.key.on(Call::new("act.scroll").maybe("direction", name(&s.direction)).maybe("amount", s.amount.as_ref().and_then(name)))
            }
            Act::ScrollTo(s) => s.key.on(Call::new("act.scrollTo")
                .with("text", s.text.clone())
                .maybe("by", s.by.map(By::wire))
                .maybe("exactMatch", s.exact_match.then_some(true))),
            Act::Shell(s) => s.key.on(Call::new("act.shell").with("command", s.command.clone())),
            Act::Intent(i) => {
                let extras: serde_json::Map<String, Value> = i.extras.iter().map(|(name, text)| (name.clone(), json!(text))).collect();
                i.key.on(Call::new("act.intent")
                    .maybe("action", i.action.clone())
                    .maybe("data", i.data.clone())
                    .maybe("package", i.package.clone())
                    .maybe("component", i.component.clone())
                    .maybe("extras", (!extras.is_empty()).then_some(extras)))
            }
            Act::Back(key) => key.on(Call::new("act.back")),
            Act::Home(key) => key.on(Call::new("act.home")),
            Act::Key(k) => k.key.on(Call::new("act.key").with("keyCode", k.key_code)),
            Act::Text(t) => t.key.on(Call::new("act.text").with("text", t.text.clone())),
            Act::Launch(p) => p.key.on(Call::new("act.launch").with("package", p.package.clone())),
            Act::Stop(p) => p.key.on(Call::new("act.stop").with("package", p.package.clone())),
        }
    }
}
