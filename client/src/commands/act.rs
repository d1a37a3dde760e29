//! The `act` commands.

mod go;
mod key;
mod touch;
mod undo;

use std::collections::BTreeMap;

use afd_proto::Secret;
use afd_proto::act::{
    ActBack, ActDoubleTap, ActDrag, ActFill, ActHome, ActHover, ActIntent, ActKey, ActLaunch, ActLongPress,
    ActPageTool, ActScroll, ActScrollTo, ActShell, ActStop, ActSwipe, ActTab, ActTap, ActText, ActUpload, AppParams,
    FillParams, IntentParams, KeyParams, LaunchParams, PageToolParams, ShellParams, TabParams, TextParams,
    UploadParams,
};
use afd_proto::go::ActGoTo;
use afd_proto::keys::{self, KeyName};
use afd_proto::undo::ActUndo;
use afd_proto::vocabulary::By;
use clap::{Args, Subcommand};
use serde_json::Value;

use super::{Call, Expected, Group};
use afd_link::options::Context;
pub use go::GoTo;
pub use key::Key;
pub use touch::{Drag, LongPress, Scroll, ScrollTo, Swipe, Tap};
pub use undo::Undo;

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
    /// Go to a page or an element by the way that the memory knows, for up to --timeout-ms
    GoTo(GoTo),
    /// Undo the last action by what most reliably leads back
    Undo(Undo),
    /// Upload files with a file field or an upload button of a page
    Upload(Upload),
    /// Choose, open or close a tab of a browser
    Tab(Tab),
    /// Call a tool that the page in a browser publishes; a look lists them
    PageTool(PageTool),
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
    /// Launch an app by its package or its name
    Launch(Launch),
    /// Stop an app
    Stop(Package),
    /// Run a shell command on the phone, if the device settings allow it, for up to --timeout-ms
    Shell(Shell),
    /// Send an intent, if the device settings allow it
    Intent(Intent),
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
    /// Recover and try again if the target is missing or covered
    #[arg(long)]
    recover: bool,
    #[command(flatten)]
    key: Key,
}

/// Options for `launch`.
#[derive(Debug, Args)]
pub struct Launch {
    /// Package name, for example com.android.settings, or the app's name, for example Settings
    #[arg(value_name = "APP", required_unless_present = "package", conflicts_with = "package")]
    what: Option<String>,
    /// Package name
    #[arg(long)]
    package: Option<String>,
    #[command(flatten)]
    key: Key,
}

impl Launch {
    pub(super) fn params(self) -> LaunchParams {
        // A package, a domain or a URL has a dot or a colon, and no blanks.
        let is_package = |what: &str| what.contains(['.', ':']) && !what.contains(' ') || what == "localhost";
        let (package, name) = match (self.package, self.what) {
            (None, Some(what)) if !is_package(&what) => (None, Some(what)),
            (package, what) => (package.or(what), None),
        };
        LaunchParams {
            package,
            name,
            request_key: self.key.request_key,
            then: self.key.then,
            strict: self.key.strict,
            ..LaunchParams::default()
        }
    }
}

/// Options for `stop`.
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

impl Package {
    pub(super) fn params(self) -> AppParams {
        AppParams {
            package: self.package.or(self.what).unwrap_or_default(),
            request_key: self.key.request_key,
            then: self.key.then,
            strict: self.key.strict,
            ..AppParams::default()
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
            strict: key.strict,
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
    /// Recover and try again if the target is missing or covered
    #[arg(long)]
    recover: bool,
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

/// Options for `page-tool`.
#[derive(Debug, Args)]
pub struct PageTool {
    /// Name of the tool
    tool: String,
    /// Parameters of the tool, as a JSON object such as '{"name": "Ginger Storm"}'
    #[arg(value_parser = object)]
    input: Option<Input>,
    #[command(flatten)]
    key: Key,
}

/// Parameters by name.
type Input = BTreeMap<String, Value>;

/// Parses a JSON object.
fn object(text: &str) -> Result<Input, Expected> {
    serde_json::from_str(text).map_err(|_| Expected("a JSON object"))
}

impl PageTool {
    fn params(self) -> PageToolParams {
        let PageTool { tool, input, key } = self;
        let input = input.unwrap_or_default();
        PageToolParams {
            tool,
            input,
            request_key: key.request_key,
            then: key.then,
            strict: key.strict,
            ..PageToolParams::default()
        }
    }
}

impl Upload {
    fn params(self) -> UploadParams {
        let Upload { what, files, by, recover, key } = self;
        UploadParams {
            by,
            value: what,
            files,
            recover,
            request_key: key.request_key,
            then: key.then,
            strict: key.strict,
            ..UploadParams::default()
        }
    }
}

impl Tab {
    fn params(self) -> TabParams {
        let Tab { tab, close, key } = self;
        TabParams {
            tab,
            close,
            request_key: key.request_key,
            then: key.then,
            strict: key.strict,
            ..TabParams::default()
        }
    }
}

impl Group for Act {
    fn call(self, _: &Context) -> Call {
        match self {
            Act::Tap(tap) => Call::of::<ActTap>(tap.params()),
            Act::DoubleTap(tap) => Call::of::<ActDoubleTap>(tap.params()),
            Act::Hover(tap) => Call::of::<ActHover>(tap.params()),
            Act::Upload(upload) => Call::of::<ActUpload>(upload.params()),
            Act::PageTool(tool) => Call::of::<ActPageTool>(tool.params()),
            Act::Tab(tab) => Call::of::<ActTab>(tab.params()),
            Act::LongPress(press) => Call::of::<ActLongPress>(press.params()),
            Act::Swipe(swipe) => Call::of::<ActSwipe>(swipe.params()),
            Act::Drag(drag) => Call::of::<ActDrag>(drag.params()),
            Act::Scroll(scroll) => Call::of::<ActScroll>(scroll.params()),
            Act::ScrollTo(scroll) => Call::of::<ActScrollTo>(scroll.params()),
            Act::Undo(undo) => Call::of::<ActUndo>(undo.params()),
            Act::GoTo(go) => Call::of::<ActGoTo>(go.params()),
            Act::Shell(Shell { command, key }) => Call::of::<ActShell>(ShellParams {
                command: Secret::new(command),
                request_key: key.request_key,
                then: key.then,
                strict: key.strict,
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
                    strict: key.strict,
                    ..KeyParams::default()
                })
            }
            Act::Text(Text { what, text, key }) => Call::of::<ActText>(TextParams {
                text: Secret::new(text.or(what).unwrap_or_default()),
                request_key: key.request_key,
                then: key.then,
                strict: key.strict,
                ..TextParams::default()
            }),
            Act::Fill(Fill { value, text, by, recover, key }) => Call::of::<ActFill>(FillParams {
                by,
                value,
                text: Secret::new(text),
                recover,
                request_key: key.request_key,
                then: key.then,
                strict: key.strict,
                ..FillParams::default()
            }),
            Act::Launch(package) => Call::of::<ActLaunch>(package.params()),
            Act::Stop(package) => Call::of::<ActStop>(package.params()),
        }
    }
}
