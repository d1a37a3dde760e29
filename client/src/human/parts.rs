//! What answers for people are made of: colours, tables, times, fields.

use anstyle::{AnsiColor, Style};
use comfy_table::{ContentArrangement, Table, presets};
use serde_json::Value;

pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default();
pub(super) const WARN: Style = AnsiColor::Yellow.on_default();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const BOLD: Style = Style::new().bold();

/// Text in a style.
pub fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

pub(super) fn text(value: &Value, key: &str) -> String {
    match value.get(key) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// Where a list goes on.
pub(super) fn more(data: &Value) -> String {
    data.get("nextCursor").map(|cursor| paint(DIM, &format!("more: --cursor {cursor}\n"))).unwrap_or_default()
}

pub(super) fn first(options: &[String]) -> String {
    options.iter().find(|o| !o.is_empty()).cloned().unwrap_or_default()
}

pub(super) fn items<'a>(data: &'a Value, key: &str) -> &'a [Value] {
    data.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(super) fn lines(values: &[Value]) -> String {
    values.iter().map(|v| format!("{}\n", v.as_str().unwrap_or_default())).collect()
}

/// A table of objects; columns that are empty everywhere are left out.
pub fn table(rows: &[Value], columns: &[&str]) -> String {
    let used: Vec<&&str> = columns.iter().filter(|c| rows.iter().any(|r| !text(r, c).is_empty())).collect();
    if rows.is_empty() || used.is_empty() {
        return format!("{}\n", paint(DIM, "nothing"));
    }
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(used.iter().map(|c| c.to_uppercase()));
    for row in rows {
        table.add_row(used.iter().map(|c| cell(row, c)));
    }
    let text = table.to_string();
    let (header, rows) = text.split_once('\n').unwrap_or((&text, ""));
    let trimmed: String = rows.lines().map(|l| format!("{}\n", l.trim_end())).collect();
    format!("{}\n{trimmed}", paint(DIM, header.trim_end()))
}

pub(super) fn cell(row: &Value, column: &str) -> String {
    match (column, row.get(column)) {
        ("lease", Some(lease @ Value::Object(_))) => format!("{} for {} ms", text(lease, "session"), text(lease, "remainingMs")),
        ("at" | "lastSeen" | "lastUsed" | "lastSuccessAt" | "createdAt" | "lastRunAt", Some(Value::Number(ms))) => {
            time(ms.as_i64().unwrap_or(0))
        }
        _ => shorten(&text(row, column)),
    }
}

/// Long words stay whole, so that they can be copied; only very long cells are cut.
pub(super) fn shorten(text: &str) -> String {
    const LONGEST: usize = 72;
    let text = text.replace('\n', " ");
    if text.chars().count() <= LONGEST { text } else { text.chars().take(LONGEST - 1).chain(['\u{2026}']).collect() }
}

pub(super) fn time(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms)
        .map_or_else(|_| ms.to_string(), |t| t.to_zoned(jiff::tz::TimeZone::system()).strftime("%m-%d %H:%M:%S").to_string())
}

pub(super) fn target(value: &Value) -> String {
    let label = text(value, "label");
    let name = if label.is_empty() { text(value, "resId") } else { format!("\"{label}\"") };
    format!("{} {name}", text(value, "role"))
}

/// An action in a few words.
pub(super) fn action(value: &Value) -> String {
    let what = value.get("target").map(|t| format!(" {}", target(t))).unwrap_or_default();
    let params = value
        .get("params")
        .and_then(Value::as_object)
        .map(|p| p.iter().map(|(k, v)| format!(" {k}={}", v.as_str().map_or_else(|| v.to_string(), str::to_owned))).collect::<String>());
    format!("{}{what}{}", text(value, "verb"), params.unwrap_or_default())
}

/// A name of the wire as it is typed here.
pub fn kebab(name: &str) -> String {
    name.replace('.', "-").chars().flat_map(|c| if c.is_ascii_uppercase() { vec!['-', c.to_ascii_lowercase()] } else { vec![c] }).collect()
}

/// Fields of anything else, indented.
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
