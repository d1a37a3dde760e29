//! `observe`

use afd_proto::observe::{
    Column, ObservePage, ObserveRefs, ObserveScreen, ObserveTop, ObserveWait, PageParams, Part, RefsParams, ScreenParams, TopParams, Until,
    WaitParams,
};
use afd_proto::picture::{
    MarkScope, ObserveOverlayGet, ObserveOverlaySet, ObserveScreenshot, OverlayGetParams, OverlaySetParams, PictureFormat, ScreenshotParams,
};
use clap::{Args, Subcommand, ValueEnum};

use super::{Call, absolute, given, off, some};
use crate::cli::{Context, Group};

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// Returns the path of a file: what was typed, else the variable for its kind.
fn place(typed: Option<String>, variable: &str) -> Option<String> {
    typed.or_else(|| std::env::var(variable).ok()).filter(|p| !p.is_empty()).map(|p| absolute(&p))
}

/// Returns the caller's shared root of artifacts.
fn root() -> Option<String> {
    place(None, "AF_ARTIFACT_DIR")
}

impl Screen {
    fn params(self) -> ScreenParams {
        let Rows { max_rows, full, settle, wait_ms, no_hints } = self.rows;
        ScreenParams {
            max_rows,
            full,
            settle,
            wait_ms,
            hints: off(no_hints),
            fields: some(self.fields),
            save_file: full.then(|| place(self.save_file, "AF_SCREEN_FILE")).flatten(),
            artifact_dir: root(),
            ..ScreenParams::default()
        }
    }
}

impl Rows {
    fn params(self) -> RefsParams {
        let Rows { max_rows, full, settle, wait_ms, no_hints } = self;
        RefsParams { max_rows, full, settle, wait_ms, hints: off(no_hints), ..RefsParams::default() }
    }
}

impl Page {
    fn params(self) -> PageParams {
        PageParams {
            include: some(self.fields),
            max_rows: self.max_rows,
            full: self.full,
            save_dir: place(self.save_dir, "AF_PAGE_DIR"),
            artifact_dir: root(),
            settle: off(self.no_settle),
            wait_ms: self.wait_ms,
            hints: off(self.no_hints),
            ..PageParams::default()
        }
    }
}

impl Screenshot {
    fn params(self) -> ScreenshotParams {
        ScreenshotParams {
            max_dim: self.max_dim,
            quality: self.quality,
            annotate: self.annotate,
            hide_overlay: off(self.show_overlay).or(given(self.hide_overlay)),
            max_marks: self.max_marks,
            mark_scope: self.mark_scope,
            format: self.format,
            inline: self.inline,
            save_file: place(self.save_file, "AF_SCREENSHOT_FILE"),
            artifact_dir: root(),
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
    fn params(self) -> WaitParams {
        let Wait { until, text, no_hints } = self;
        WaitParams { until, text, hints: off(no_hints), timeout_ms: None, device: None, session: None, url: None, token: None }
    }
}

impl Group for Observe {
    fn call(self, _: &Context) -> Call {
        match self {
            Observe::Top => Call::of::<ObserveTop>(TopParams::default()),
            Observe::Screen(screen) => Call::of::<ObserveScreen>(screen.params()),
            Observe::Refs(rows) => Call::of::<ObserveRefs>(rows.params()),
            Observe::Page(page) => Call::of::<ObservePage>(page.params()),
            Observe::Screenshot(screenshot) => Call::of::<ObserveScreenshot>(screenshot.params()),
            Observe::Overlay(Overlay::Get) => Call::plain::<ObserveOverlayGet>(OverlayGetParams::default()),
            Observe::Overlay(Overlay::Set(set)) => Call::plain::<ObserveOverlaySet>(set.params()),
            Observe::Wait(wait) => Call::of::<ObserveWait>(wait.params()),
        }
    }
}
