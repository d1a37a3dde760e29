//! `observe`

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::Call;

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
    /// A picture of the screen, as JPEG in base64
    Screenshot(Screenshot),
}

/// Options of `screen`.
#[derive(Debug, Args)]
pub struct Screen {
    #[command(flatten)]
    rows: Rows,
    /// Columns of the rows
    #[arg(long = "field", value_enum, value_name = "COLUMN", conflicts_with = "full")]
    fields: Vec<Column>,
}

/// Options of `screen` and `refs`.
#[derive(Debug, Args)]
pub struct Rows {
    /// At most this many rows
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
    /// At most this many rows of each
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_rows: Option<u32>,
    /// All rows, all columns, and the windows
    #[arg(long, conflicts_with = "max_rows")]
    full: bool,
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
    /// Longest side in pixels
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_dim: Option<u32>,
    /// JPEG quality, 1 to 100
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    quality: Option<u32>,
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

fn names<T: ValueEnum>(values: &[T]) -> Option<Value> {
    let names: Vec<String> = values.iter().filter_map(|v| v.to_possible_value().map(|p| p.get_name().to_owned())).collect();
    (!names.is_empty()).then(|| json!(names))
}

impl Observe {
    /// The call.
    pub fn call(&self) -> Call {
        match self {
            Observe::Top => Call::new("observe.top"),
            Observe::Screen(screen) => screen.rows.call("observe.screen").maybe("fields", names(&screen.fields)),
            Observe::Refs(rows) => rows.call("observe.refs"),
            Observe::Page(page) => Call::new("observe.page")
                .maybe("include", names(&page.fields))
                .maybe("maxRows", page.max_rows)
                .maybe("full", page.full.then_some(true))
                .maybe("settle", page.no_settle.then_some(false))
                .maybe("waitMs", page.wait_ms)
                .maybe("hints", page.no_hints.then_some(false)),
            Observe::Screenshot(shot) => Call::new("observe.screenshot").maybe("maxDim", shot.max_dim).maybe("quality", shot.quality),
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
