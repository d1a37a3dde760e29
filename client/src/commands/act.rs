//! `act`

use clap::{Args, Subcommand, ValueEnum};

use super::{By, Call, point};

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
            Act::Back(key) => key.on(Call::new("act.back")),
            Act::Home(key) => key.on(Call::new("act.home")),
            Act::Key(k) => k.key.on(Call::new("act.key").with("keyCode", k.key_code)),
            Act::Text(t) => t.key.on(Call::new("act.text").with("text", t.text.clone())),
            Act::Launch(p) => p.key.on(Call::new("act.launch").with("package", p.package.clone())),
            Act::Stop(p) => p.key.on(Call::new("act.stop").with("package", p.package.clone())),
        }
    }
}
