//! The `observe` commands.

use afd_proto::observe::{
    Column, DumpParams, Format, LastParams, ObserveDump, ObserveLast, ObservePage, ObserveRefs, ObserveScreen,
    ObserveText, ObserveTop, ObserveWait, PageParams, Part, ReadParams, RefsParams, ScreenParams, TopParams, Until,
    WaitParams,
};
use afd_proto::picture::{
    MarkScope, ObserveOverlayGet, ObserveOverlaySet, ObserveScreenshot, OverlayGetParams, OverlaySetParams,
    PictureFormat, ScreenshotParams,
};
use afd_proto::vocabulary::{AllHints, HintsWanted};
use clap::{Args, Subcommand, ValueEnum};

use super::{Call, Group, absolute, false_if, non_empty, read_text, true_if};
use afd_link::options::Context;

/// Read the screen.
#[derive(Debug, Subcommand)]
pub enum Observe {
    /// Show the foreground app and activity
    Top,
    /// Show the screen as rows
    Screen(Screen),
    /// List interactive elements, each with an alias
    Refs(Rows),
    /// Show the page: context, whether it has settled, screen, refs, and hints from memory
    Page(Page),
    /// Read the text of the page, without aliases; in a browser, of the whole page
    Text(Text),
    /// Show the outline of a dump of a screen, without a device
    Dump(Dump),
    /// Show the page that any session observed last, without reading the screen
    Last,
    /// Take a screenshot and write it to a file
    Screenshot(Screenshot),
    /// Show or change the overlay of marks that the phone draws on its screen
    #[command(subcommand)]
    Overlay(Overlay),
    /// Wait for a condition on the screen, for up to --timeout-ms
    Wait(Wait),
}

/// Options for `screen`.
#[derive(Debug, Args)]
pub struct Screen {
    #[command(flatten)]
    rows: Rows,
    /// Column to return; repeatable [default: all but bounds]
    #[arg(long = "field", value_enum, value_name = "COLUMN", conflicts_with = "full")]
    fields: Vec<Column>,
    /// File to write the full screen to
    #[arg(long, value_name = "FILE", requires = "full")]
    save_file: Option<String>,
}

/// Options for `screen` and `refs`.
#[derive(Debug, Args)]
pub struct Rows {
    /// Maximum number of rows
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_rows: Option<u32>,
    /// Return all rows and columns, and the windows
    #[arg(long, conflicts_with = "max_rows")]
    full: bool,
    /// Read the screen twice to detect whether the page has settled
    #[arg(long)]
    settle: bool,
    /// Maximum time to keep reading until the page has settled, in milliseconds
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    wait_ms: Option<u64>,
    /// Result format: an outline for language models, or rows without repetition
    #[arg(long, value_enum, conflicts_with = "full")]
    format: Option<Format>,
    /// Return only what changed since the observation with this id; last means the observation shown last
    #[arg(long, value_name = "ID|last", conflicts_with = "full")]
    since: Option<String>,
    /// Hints from memory: only the useful ones, all, or none [default: useful]
    #[arg(long, value_enum, value_name = "WHICH", conflicts_with = "no_hints")]
    hints: Option<WhichHints>,
    /// Omit hints from memory
    #[arg(long)]
    no_hints: bool,
}

/// Options for `page`.
#[derive(Debug, Args)]
pub struct Page {
    /// Part to return besides the context; repeatable [default: both]
    #[arg(long = "field", value_enum, value_name = "PART")]
    fields: Vec<Part>,
    /// Maximum number of rows in each part
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_rows: Option<u32>,
    /// Return all rows and columns, and the windows
    #[arg(long, conflicts_with = "max_rows")]
    full: bool,
    /// Directory to write the screen to
    #[arg(long, value_name = "DIR")]
    save_dir: Option<String>,
    /// Read the screen only once, without checking whether the page has settled
    #[arg(long)]
    no_settle: bool,
    /// Maximum time to keep reading until the page has settled, in milliseconds
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    wait_ms: Option<u64>,
    /// Result format: an outline for language models, or rows without repetition
    #[arg(long, value_enum, conflicts_with = "full")]
    format: Option<Format>,
    /// Return only what changed since the observation with this id; last means the observation shown last
    #[arg(long, value_name = "ID|last", conflicts_with = "full")]
    since: Option<String>,
    /// Hints from memory: only the useful ones, all, or none [default: useful]
    #[arg(long, value_enum, value_name = "WHICH", conflicts_with = "no_hints")]
    hints: Option<WhichHints>,
    /// Omit hints from memory
    #[arg(long)]
    no_hints: bool,
    /// Show the whole page, including what is out of sight; only for browsers
    #[arg(long, conflicts_with = "full")]
    whole: bool,
    /// Continue after the elements that were shown last
    #[arg(long, conflicts_with_all = ["full", "since", "within"])]
    more: bool,
    /// Show a part of the page: the text of a heading, or the name or kind of an area
    #[arg(long = "in", value_name = "NAME", conflicts_with_all = ["full", "since"])]
    within: Option<String>,
    /// Show the outline of a dump of a screen instead, without a device; - reads standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["full", "since", "within", "more", "whole"])]
    dump: Option<String>,
}

/// Options for `dump`.
#[derive(Debug, Args)]
pub struct Dump {
    /// File with the XML of `uiautomator dump` or a page source of Appium; - reads standard input
    file: String,
    /// Maximum number of elements
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_rows: Option<u32>,
}

impl Dump {
    fn call(self) -> Call {
        let read = read_text("FILE", &self.file);
        Call::parsed::<ObserveDump>(read.map(|content| DumpParams { content, max_rows: self.max_rows }))
    }
}

/// Options for `text`.
#[derive(Debug, Args)]
pub struct Text {
    /// Read a part of the page: the text of a heading, or the name or kind of an area
    #[arg(long = "in", value_name = "NAME")]
    within: Option<String>,
    /// Number of lines to skip
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    from: Option<u32>,
    /// Maximum length of the text, in characters
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_chars: Option<u32>,
    /// Maximum time to keep reading until the page has settled, in milliseconds
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    wait_ms: Option<u64>,
}

/// Options for `screenshot`.
#[derive(Debug, Args)]
pub struct Screenshot {
    /// Maximum length of the longer side in pixels; 20000 keeps the original size
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_dim: Option<u32>,
    /// JPEG quality of the picture; higher is better
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    quality: Option<u32>,
    /// Take the whole page, with what is scrolled out of sight; only in browsers
    #[arg(long, conflicts_with = "of")]
    whole: bool,
    /// Take one element only: its alias, label or #id
    #[arg(long, value_name = "ELEMENT")]
    of: Option<String>,
    /// Draw element aliases on the picture; later actions can use them
    #[arg(long)]
    annotate: bool,
    /// Leave the phone's own overlay out of the picture (default)
    #[arg(long, conflicts_with = "show_overlay")]
    hide_overlay: bool,
    /// Include the phone's own overlay in the picture
    #[arg(long)]
    show_overlay: bool,
    /// Maximum number of marks to draw; only with --annotate
    #[arg(long, value_name = "N", allow_negative_numbers = true, requires = "annotate")]
    max_marks: Option<u32>,
    /// Which elements to mark; only with --annotate
    #[arg(long, value_enum, requires = "annotate")]
    mark_scope: Option<MarkScope>,
    /// File to write the picture to; the extension .png selects PNG
    #[arg(value_name = "FILE", conflicts_with = "save_file")]
    what: Option<String>,
    /// Same as the FILE argument
    #[arg(long, value_name = "FILE")]
    save_file: Option<String>,
    /// File format of the picture
    #[arg(long, value_enum)]
    format: Option<PictureFormat>,
    /// Also return the picture in base64, if it is not larger than limits.inline_bytes
    #[arg(long)]
    inline: bool,
}

/// Overlay of marks that the phone draws on its screen.
#[derive(Debug, Subcommand)]
pub enum Overlay {
    /// Show the state of the overlay
    Get,
    /// Turn the overlay on or off
    Set(OverlaySet),
}

/// Options for `overlay set`.
#[derive(Debug, Args)]
pub struct OverlaySet {
    /// Show the overlay
    #[arg(long, conflicts_with = "disable", required_unless_present = "disable")]
    enable: bool,
    /// Hide the overlay
    #[arg(long)]
    disable: bool,
    /// Maximum number of marks on the overlay
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_marks: Option<u32>,
    /// Which elements to mark
    #[arg(long, value_enum)]
    mark_scope: Option<MarkScope>,
    /// Whether the marks follow the screen [default: on]
    #[arg(long, value_enum)]
    refresh: Option<Switch>,
    /// Interval at which the marks are refreshed, in milliseconds
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    refresh_interval_ms: Option<u32>,
    /// Offset of the marks to the right, in device pixels
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    offset_x: Option<i32>,
    /// Downward offset of the marks, in device pixels
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    offset_y: Option<i32>,
}

/// Options for `wait`.
#[derive(Debug, Args)]
pub struct Wait {
    /// Text to wait for: the same as --until text --text TEXT
    #[arg(value_name = "TEXT", required_unless_present_any = ["until", "text", "pause"], conflicts_with_all = ["until", "text"])]
    what: Option<String>,
    /// Condition to wait for [default: text]
    #[arg(long, value_enum)]
    until: Option<Until>,
    /// Wait for a fixed time instead, in milliseconds, at most 600,000; `afctl wait 2s` is short for --for 2000
    #[arg(long = "for", value_name = "MS", conflicts_with_all = ["until", "text", "what"], value_parser = clap::value_parser!(u64).range(..=600_000))]
    pause: Option<u64>,
    /// Text that appears or disappears, or part of package/activity
    #[arg(long, allow_hyphen_values = true, required_if_eq_any([("until", "text"), ("until", "activity"), ("until", "gone")]))]
    text: Option<String>,
    /// Hints from memory: only the useful ones, all, or none [default: useful]
    #[arg(long, value_enum, value_name = "WHICH", conflicts_with = "no_hints")]
    hints: Option<WhichHints>,
    /// Omit hints from memory
    #[arg(long)]
    no_hints: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WhichHints {
    Useful,
    All,
    None,
}

/// Converts the options to the parameter `hints`.
fn wanted_hints(which: Option<WhichHints>, none: bool) -> Option<HintsWanted> {
    match (which, none) {
        (_, true) | (Some(WhichHints::None), _) => Some(HintsWanted::Chosen(false)),
        (Some(WhichHints::All), _) => Some(HintsWanted::All(AllHints::All)),
        (Some(WhichHints::Useful), _) => Some(HintsWanted::Chosen(true)),
        (None, false) => None,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// Returns the absolute path from the option, else from the environment variable; an empty path counts as unset.
fn path_from(option: Option<String>, variable: &str) -> Option<String> {
    option.or_else(|| std::env::var(variable).ok()).filter(|p| !p.is_empty()).map(|p| absolute(&p))
}

/// Returns the root directory for artifacts that is set in `AF_ARTIFACT_DIR`.
fn artifact_root() -> Option<String> {
    path_from(None, "AF_ARTIFACT_DIR")
}

impl Screen {
    fn params(self) -> ScreenParams {
        let Rows { max_rows, full, settle, wait_ms, format, since, hints, no_hints } = self.rows;
        ScreenParams {
            max_rows,
            full,
            settle,
            wait_ms,
            format,
            since,
            hints: wanted_hints(hints, no_hints),
            fields: non_empty(self.fields),
            save_file: full.then(|| path_from(self.save_file, "AF_SCREEN_FILE")).flatten(),
            artifact_dir: artifact_root(),
            ..ScreenParams::default()
        }
    }
}

impl Rows {
    fn params(self) -> RefsParams {
        let Rows { max_rows, full, settle, wait_ms, format, since, hints, no_hints } = self;
        RefsParams {
            max_rows,
            full,
            settle,
            wait_ms,
            format,
            since,
            hints: wanted_hints(hints, no_hints),
            ..RefsParams::default()
        }
    }
}

impl Page {
    fn params(self) -> PageParams {
        PageParams {
            include: non_empty(self.fields),
            max_rows: self.max_rows,
            full: self.full,
            save_dir: path_from(self.save_dir, "AF_PAGE_DIR"),
            artifact_dir: artifact_root(),
            settle: false_if(self.no_settle),
            wait_ms: self.wait_ms,
            format: self.format,
            since: self.since,
            hints: wanted_hints(self.hints, self.no_hints),
            whole: self.whole,
            more: self.more,
            within: self.within,
            ..PageParams::default()
        }
    }
}

impl Text {
    fn params(self) -> ReadParams {
        let Text { within, from, max_chars, wait_ms } = self;
        ReadParams { within, from, max_chars, wait_ms, ..ReadParams::default() }
    }
}

impl Screenshot {
    fn params(self) -> ScreenshotParams {
        ScreenshotParams {
            max_dim: self.max_dim,
            quality: self.quality,
            whole: self.whole,
            of: self.of,
            annotate: self.annotate,
            hide_overlay: false_if(self.show_overlay).or(true_if(self.hide_overlay)),
            max_marks: self.max_marks,
            mark_scope: self.mark_scope,
            format: self.format,
            inline: self.inline,
            save_file: path_from(self.save_file.or(self.what), "AF_SCREENSHOT_FILE"),
            artifact_dir: artifact_root(),
            ..ScreenshotParams::default()
        }
    }
}

impl OverlaySet {
    fn params(self) -> OverlaySetParams {
        OverlaySetParams {
            enabled: self.enable,
            max_marks: self.max_marks,
            mark_scope: self.mark_scope,
            auto_refresh: self.refresh.map(|s| s == Switch::On),
            refresh_interval_ms: self.refresh_interval_ms,
            offset_x: self.offset_x,
            offset_y: self.offset_y,
            ..OverlaySetParams::default()
        }
    }
}

impl Wait {
    /// Returns the call or, for `--for`, a pause that this program executes itself.
    pub fn call(self) -> Call {
        let Some(ms) = self.pause else { return Call::of::<ObserveWait>(self.params()) };
        let work = move |_: &Context| {
            std::thread::sleep(std::time::Duration::from_millis(ms));
            Ok(serde_json::json!({"waitedMs": ms}))
        };
        Call::local("observe", "wait", None, work)
    }

    fn params(self) -> WaitParams {
        let Wait { what, until, text, hints, no_hints, pause: _ } = self;
        let (until, text) = (until.unwrap_or(Until::Text), text.or(what));
        WaitParams {
            until,
            text,
            hints: wanted_hints(hints, no_hints),
            timeout_ms: None,
            device: None,
            session: None,
            url: None,
            token: None,
        }
    }
}

impl Group for Observe {
    fn call(self, _: &Context) -> Call {
        match self {
            Observe::Top => Call::of::<ObserveTop>(TopParams::default()),
            Observe::Screen(screen) => Call::of::<ObserveScreen>(screen.params()),
            Observe::Refs(rows) => Call::of::<ObserveRefs>(rows.params()),
            Observe::Page(Page { dump: Some(file), max_rows, .. }) => Dump { file, max_rows }.call(),
            Observe::Page(page) => Call::of::<ObservePage>(page.params()),
            Observe::Dump(dump) => dump.call(),
            Observe::Text(text) => Call::of::<ObserveText>(text.params()),
            Observe::Last => Call::of::<ObserveLast>(LastParams::default()),
            Observe::Screenshot(screenshot) => Call::of::<ObserveScreenshot>(screenshot.params()),
            Observe::Overlay(Overlay::Get) => Call::plain::<ObserveOverlayGet>(OverlayGetParams::default()),
            Observe::Overlay(Overlay::Set(set)) => Call::plain::<ObserveOverlaySet>(set.params()),
            Observe::Wait(wait) => wait.call(),
        }
    }
}
