//! Building blocks of output for people: colours, tables, times, fields.

use afd_proto::vocabulary::{Action, Role, Target};
use anstyle::{AnsiColor, Style};
use comfy_table::{ContentArrangement, Row, Table, presets};
use serde_json::Value;

/// Text style for success.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Text style for failure.
pub const BAD: Style = AnsiColor::Red.on_default();
/// Text style for warnings.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// Text style for secondary information.
pub const DIM: Style = Style::new().dimmed();
pub(super) const BOLD: Style = Style::new().bold();

/// Formats a size in bytes, using the largest unit up to GiB in which the value is at least 1. All units but bytes get
/// one decimal place.
pub fn bytes(size: u64) -> String {
    let mut size = size as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if size < 1024.0 || unit == "GiB" {
            return if unit == "B" { format!("{size} {unit}") } else { format!("{size:.1} {unit}") };
        }
        size /= 1024.0;
    }
    String::new()
}

/// Applies a style to text.
pub fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Returns a value as text, or an empty string for `None`.
pub(super) fn maybe<T: ToString>(value: &Option<T>) -> String {
    value.as_ref().map(ToString::to_string).unwrap_or_default()
}

/// Returns a line with the cursor of the next page, or an empty string on the last page.
pub(super) fn more(cursor: Option<i64>) -> String {
    cursor.map(|cursor| paint(DIM, &format!("more: --cursor {cursor}")) + "\n").unwrap_or_default()
}

/// Returns a line for each source whose data is missing from the result.
pub fn missing(missing: &[String]) -> String {
    missing.iter().map(|what| format!("{}: {what}\n", paint(WARN, "missing"))).collect()
}

/// Returns the first non-empty string, or an empty string if there is none.
pub(super) fn first<'a>(options: &[&'a str]) -> &'a str {
    options.iter().find(|o| !o.is_empty()).copied().unwrap_or_default()
}

/// Returns the line printed for an empty list.
pub(super) fn empty_list() -> String {
    paint(DIM, "none") + "\n"
}

/// Returns a table without the columns that are empty in every row.
pub fn table<const N: usize>(columns: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let rows: Vec<[String; N]> = rows.into_iter().map(|row| row.map(|cell| shorten(&cell))).collect();
    let used: Vec<usize> = (0..N).filter(|i| rows.iter().any(|row| !row[*i].is_empty())).collect();
    if used.is_empty() {
        return empty_list();
    }
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    // On a terminal, rows are cut to its width, so that each stays on one line.
    let width = terminal_width();
    if let Some(width) = width {
        table
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(width)
            .set_truncation_indicator("\u{2026}");
    }
    table.set_header(used.iter().map(|i| kebab(columns[*i]).replace('-', " ").to_uppercase()));
    for row in &rows {
        let mut cells = Row::from(used.iter().map(|i| &row[*i]).collect::<Vec<_>>());
        if width.is_some() {
            cells.max_height(1);
        }
        table.add_row(cells);
    }
    let text = table.to_string();
    let (header, rows) = text.split_once('\n').unwrap_or((&text, ""));
    let trimmed: String = rows.lines().map(|l| format!("{}\n", l.trim_end())).collect();
    format!("{}\n{trimmed}", paint(DIM, header.trim_end()))
}

/// Returns the width of the terminal that standard output goes to.
fn terminal_width() -> Option<u16> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some(size.ws_col).filter(|width| *width >= 40)
}

/// Replaces line breaks, and truncates text that is too long for a table cell.
pub(super) fn shorten(text: &str) -> String {
    const MAX_CHARS: usize = 72;
    let text = text.replace('\n', " ");
    if text.chars().count() <= MAX_CHARS {
        text
    } else {
        text.chars().take(MAX_CHARS - 1).chain(['\u{2026}']).collect()
    }
}

/// Formats a time (Unix milliseconds) in the local time zone, with the name of the zone. Omits the date if it is today,
/// and the year if it is this year.
pub fn time(ms: i64) -> String {
    let zone = jiff::tz::TimeZone::system();
    let now = jiff::Timestamp::now().to_zoned(zone.clone());
    let Ok(then) = jiff::Timestamp::from_millisecond(ms) else { return ms.to_string() };
    let then = then.to_zoned(zone);
    let form = match (then.date() == now.date(), then.year() == now.year()) {
        (true, _) => "%H:%M:%S %Z",
        (false, true) => "%b %d %H:%M %Z",
        (false, false) => "%b %d %Y %Z",
    };
    then.strftime(form).to_string()
}

/// Describes a target by its role and by its label or resource id.
pub(super) fn target(target: &Target) -> String {
    let name = match &target.label {
        Some(label) => format!("\"{label}\""),
        None => maybe(&target.res_id),
    };
    if target.role == Role::Any { name } else { format!("{} {name}", target.role) }
}

/// Describes an action by its verb, target and parameters.
pub(super) fn action(action: &Action) -> String {
    let what = action.target.as_ref().map(|t| format!(" {}", target(t))).unwrap_or_default();
    let params: String = action
        .params
        .iter()
        .map(|(k, v)| format!(" {k}={}", v.as_str().map_or_else(|| v.to_string(), str::to_owned)))
        .collect();
    format!("{}{what}{params}", action.verb)
}

/// Converts a wire name to its command-line form, for example `scrollTo` to `scroll-to`.
pub fn kebab(name: &str) -> String {
    name.replace('.', "-")
        .chars()
        .flat_map(|c| if c.is_ascii_uppercase() { vec!['-', c.to_ascii_lowercase()] } else { vec![c] })
        .collect()
}

/// Lists the fields of any JSON value, indented.
pub(super) fn fields(value: &Value, indent: usize) -> String {
    let pad = " ".repeat(indent);
    match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| match value {
                Value::Object(inner) if !inner.is_empty() => format!("{pad}{key}:\n{}", fields(value, indent + 2)),
                Value::Array(inner) if inner.iter().any(Value::is_object) => {
                    format!("{pad}{key}:\n{}", inner.iter().map(|v| fields(v, indent + 2)).collect::<String>())
                }
                Value::String(text) => format!("{pad}{key}: {text}\n"),
                other => format!("{pad}{key}: {other}\n"),
            })
            .collect(),
        other => format!("{pad}{other}\n"),
    }
}

/// Returns a number followed by a noun, which is plural unless the number is 1.
pub fn count(number: impl ToString, noun: &str) -> String {
    let number = number.to_string();
    if number == "1" { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Returns a line saying that nothing was changed if this is a dry run, and an empty string otherwise.
pub fn dry_run(dry: bool) -> String {
    if dry { paint(WARN, "dry run: nothing was changed") + "\n" } else { String::new() }
}

/// Returns a note for a record that comes from another memory, or an empty string for a record of this memory.
pub fn from(origin: &Option<String>) -> &'static str {
    if origin.is_some() { " (from another memory)" } else { "" }
}
