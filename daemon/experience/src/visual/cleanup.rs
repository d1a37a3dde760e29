//! Finds components that should not be kept, because their text changes on its own.

use rusqlite::Connection;

use super::components::{self, Component};
use afd_store::Result;

/// Substrings that indicate a message or truncated text.
const DYNAMIC_MARKERS: &[&str] = &[
    "\u{ff3b}",
    "...",
    "\u{22ef}",
    "\u{2022}",
    "[Sticker]",
    "[Photo]",
    "[File]",
    "[Link]",
    "[Voice]",
    "[Video]",
    "\u{ff1a}",
];
const DAYS: &[&str] =
    &["Yesterday", "Today", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Returns the components of a scope that are dynamic text, each with the reason.
pub fn dynamic(connection: &Connection, app: i64) -> Result<Vec<(Component, &'static str)>> {
    let all = components::all(connection, app)?;
    Ok(all.into_iter().filter_map(|c| reason(&c).map(|why| (c, why))).collect())
}

/// Returns the reason why a component is dynamic text, or `None` if it is not. Only the text matters, not the position.
/// A component with a resource id is kept, because it is a field that contains text and not the text itself.
fn reason(component: &Component) -> Option<&'static str> {
    if component.kind != "text" || component.res_id.is_some() {
        return None;
    }
    dynamic_text(component.label.as_deref().unwrap_or_default())
}

/// Returns the reason why text is expected to change on its own, or `None` if it is not.
pub fn dynamic_text(label: &str) -> Option<&'static str> {
    let label = label.trim();
    if is_clock(label) {
        Some("is a time or a date")
    } else if !label.is_empty() && label.chars().all(char::is_numeric) {
        Some("is a number")
    } else if DAYS.iter().any(|d| label.contains(d)) {
        Some("names a day")
    } else if DYNAMIC_MARKERS.iter().any(|s| label.contains(s)) {
        Some("is a message or a truncated text")
    } else {
        None
    }
}

/// Returns whether text looks like a time or a date, such as `9:41`, `12/31` or `12-31`.
fn is_clock(label: &str) -> bool {
    let split = |c: char| label.split_once(c);
    let digits = |text: &str, most: usize| (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    let time = split(':').or_else(|| split('/')).is_some_and(|(a, b)| digits(a, 2) && b.len() == 2 && digits(b, 2));
    time || split('-').is_some_and(|(a, b)| a.len() == 2 && b.len() == 2 && digits(a, 2) && digits(b, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_dates_are_recognised() {
        for label in ["9:41", "12:05", "3/14", "12-31"] {
            assert!(is_clock(label), "{label}");
        }
        for label in ["", "9:4", "123:45", "1-31", "a:bc", "Save: as"] {
            assert!(!is_clock(label), "{label}");
        }
    }
}
