//! `observe`

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::{Call, absolute};

/// Look at the screen.
#[derive(Debug, Subcommand)]
pub enum Observe {
    /// Which app and activity is on top
    Top,
    /// The screen as rows
    Screen(Screen),
    /// What can be acted on, each with an alias
    Refs(Rows),
    /// The page: context, whether it has settled, screen and refs, and what memory knows about it
    Page(Page),
    /// A picture of the screen, written to a file
    Screenshot(Screenshot),
    /// The marks that the phone itself draws on its screen
    #[command(subcommand)]
    Overlay(Overlay),
    /// Wait until something is so on the screen, for --timeout-ms at most [default: 10000, at most 600000]
    Wait(Wait),
}

/// Options of `screen`.
#[derive(Debug, Args)]
pub struct Screen {
    #[command(flatten)]
    rows: Rows,
    /// Columns of the rows
    #[arg(long = "field", value_enum, value_name = "COLUMN", conflicts_with = "full")]
    fields: Vec<Column>,
    /// With --full: the file that it is written to
    #[arg(long, value_name = "FILE", requires = "full")]
    save_file: Option<String>,
}

/// Options of `screen` and `refs`.
#[derive(Debug, Args)]
pub struct Rows {
    /// At most this many rows [default: 120]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_rows: Option<u32>,
    /// All rows, all columns, and the windows
    #[arg(long, conflicts_with = "max_rows")]
    full: bool,
    /// Read twice, to know whether the page has settled
    #[arg(long)]
    settle: bool,
    /// Keep reading for so long until the page has settled
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    wait_ms: Option<u64>,
    /// Leave out what memory knows
    #[arg(long)]
    no_hints: bool,
}

/// Options of `page`.
#[derive(Debug, Args)]
pub struct Page {
    /// What to return beside the context; both by default
    #[arg(long = "field", value_enum, value_name = "PART")]
    fields: Vec<Part>,
    /// At most this many rows of each [default: 120]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_rows: Option<u32>,
    /// All rows, all columns, and the windows
    #[arg(long, conflicts_with = "max_rows")]
    full: bool,
    /// Directory that the screen is written to
    #[arg(long, value_name = "DIR")]
    save_dir: Option<String>,
    /// Read once only
    #[arg(long)]
    no_settle: bool,
    /// Keep reading for so long until the page has settled
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    wait_ms: Option<u64>,
    /// Leave out what memory knows
    #[arg(long)]
    no_hints: bool,
}

/// Options of `screenshot`.
#[derive(Debug, Args)]
pub struct Screenshot {
    /// Longest side in pixels [default: 700; 20000 is the screen's own size]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_dim: Option<u32>,
    /// JPEG quality, 1 to 100 [default: 80]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    quality: Option<u32>,
    /// Draw the aliases of what can be acted on; they can be used afterwards
    #[arg(long)]
    annotate: bool,
    /// Leave the phone's own overlay out of the picture, which is the default
    #[arg(long, conflicts_with = "show_overlay")]
    hide_overlay: bool,
    /// Leave the phone's own overlay in the picture
    #[arg(long)]
    show_overlay: bool,
    /// At most this many marks [default: 120]
    #[arg(long, value_name = "N", allow_negative_numbers = true, requires = "annotate")]
    max_marks: Option<u32>,
    /// What is marked
    #[arg(long, value_enum, requires = "annotate")]
    mark_scope: Option<MarkScope>,
    /// The file that it is written to; .png makes it a PNG
    #[arg(long, value_name = "FILE")]
    save_file: Option<String>,
    /// How it is written
    #[arg(long, value_enum)]
    format: Option<PictureFormat>,
    /// Print the picture in base64 too, if it is small enough
    #[arg(long)]
    inline: bool,
}

/// The marks that the phone itself draws on its screen.
#[derive(Debug, Subcommand)]
pub enum Overlay {
    /// What it draws
    Get,
    /// Turn them on or off
    Set(OverlaySet),
}

/// Options of `overlay set`.
#[derive(Debug, Args)]
pub struct OverlaySet {
    /// Show them
    #[arg(long, conflicts_with = "disable", required_unless_present = "disable")]
    enable: bool,
    /// Hide them
    #[arg(long)]
    disable: bool,
    /// At most this many [default: 300]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_marks: Option<u32>,
    /// What is marked
    #[arg(long, value_enum)]
    mark_scope: Option<MarkScope>,
    /// Whether they follow the screen
    #[arg(long, value_enum)]
    refresh: Option<Switch>,
    /// How often they follow it, milliseconds
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    refresh_interval_ms: Option<u32>,
    /// Moves them to the right, device pixels
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    offset_x: Option<i32>,
    /// Moves them down, device pixels
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    offset_y: Option<i32>,
}

/// Options of `wait`.
#[derive(Debug, Args)]
pub struct Wait {
    /// What to wait for
    #[arg(long, value_enum)]
    until: Until,
    /// The text that comes or goes, or a part of package/activity
    #[arg(long, allow_hyphen_values = true)]
    text: Option<String>,
    /// Leave out what memory knows
    #[arg(long)]
    no_hints: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Until {
    /// A text is on the screen
    Text,
    /// An activity is on top
    Activity,
    /// A text is no longer on the screen
    Gone,
    /// The page stands still
    Settled,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum MarkScope {
    All,
    Interactive,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PictureFormat {
    #[value(alias = "jpg")]
    Jpeg,
    Png,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// A column.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Column {
    Id,
    Class,
    Text,
    Desc,
    #[value(name = "resId", alias = "resid", alias = "res_id")]
    ResId,
    Flags,
    Bounds,
}

/// A part of a page.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Part {
    Screen,
    Refs,
}

fn name<T: ValueEnum>(value: Option<&T>) -> Option<String> {
    value.and_then(|v| v.to_possible_value()).map(|p| p.get_name().to_owned())
}

/// A place for a file: what was typed, else the variable for its kind.
fn place(typed: Option<&String>, variable: &str) -> Option<String> {
    typed.cloned().or_else(|| std::env::var(variable).ok()).filter(|p| !p.is_empty()).map(|p| absolute(&p))
}

/// The caller's shared root of artifacts.
fn root() -> Option<String> {
    place(None, "AF_ARTIFACT_DIR")
}

fn names<T: ValueEnum>(values: &[T]) -> Option<Value> {
    let names: Vec<String> = values.iter().filter_map(|v| v.to_possible_value().map(|p| p.get_name().to_owned())).collect();
    (!names.is_empty()).then(|| json!(names))
}

impl Observe {
    /// The call.
    pub fn call(&self) -> Call {
        match self {
            Observe::Top => Call::new("observe.top"),
            Observe::Screen(screen) => {
                let file = screen.rows.full.then(|| place(screen.save_file.as_ref(), "AF_SCREEN_FILE")).flatten();
                let call = screen.rows.call("observe.screen").maybe("fields", names(&screen.fields));
                call.maybe("saveFile", file).maybe("artifactDir", root())
            }
            Observe::Refs(rows) => rows.call("observe.refs"),
            Observe::Page(page) => Call::new("observe.page")
                .maybe("include", names(&page.fields))
                .maybe("maxRows", page.max_rows)
                .maybe("full", page.full.then_some(true))
                .maybe("saveDir", place(page.save_dir.as_ref(), "AF_PAGE_DIR"))
                .maybe("artifactDir", root())
                .maybe("settle", page.no_settle.then_some(false))
                .maybe("waitMs", page.wait_ms)
                .maybe("hints", page.no_hints.then_some(false)),
            Observe::Screenshot(shot) => Call::new("observe.screenshot")
                .maybe("maxDim", shot.max_dim)
                .maybe("quality", shot.quality)
                .maybe("annotate", shot.annotate.then_some(true))
                .maybe("hideOverlay", shot.show_overlay.then_some(false).or(shot.hide_overlay.then_some(true)))
                .maybe("maxMarks", shot.max_marks)
                .maybe("markScope", name(shot.mark_scope.as_ref()))
                .maybe("format", name(shot.format.as_ref()))
                .maybe("inline", shot.inline.then_some(true))
                .maybe("saveFile", place(shot.save_file.as_ref(), "AF_SCREENSHOT_FILE"))
                .maybe("artifactDir", root()),
            Observe::Overlay(Overlay::Get) => Call::new("observe.overlayGet"),
            Observe::Overlay(Overlay::Set(set)) => Call::new("observe.overlaySet")
                .with("enabled", set.enable)
                .maybe("maxMarks", set.max_marks)
                .maybe("markScope", name(set.mark_scope.as_ref()))
                .maybe("autoRefresh", set.refresh.map(|s| s == Switch::On))
                .maybe("refreshIntervalMs", set.refresh_interval_ms)
                .maybe("offsetX", set.offset_x)
                .maybe("offsetY", set.offset_y),
            Observe::Wait(wait) => Call::new("observe.wait")
                .maybe("until", name(Some(&wait.until)))
                .maybe("text", wait.text.clone())
                .maybe("hints", wait.no_hints.then_some(false)),
        }
    }
}

impl Rows {
    fn call(&self, method: &'static str) -> Call {
        Call::new(method)
            .maybe("maxRows", self.max_rows)
            .maybe("full", self.full.then_some(true))
            .maybe("settle", self.settle.then_some(true))
            .maybe("waitMs", self.wait_ms)
            .maybe("hints", self.no_hints.then_some(false))
    }
}
