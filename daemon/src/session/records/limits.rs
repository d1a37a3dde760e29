//! Limits of the fields of records: those of the calls that write the same, and bounds within which figures can be added.

use afd_proto::pattern::PatternKind;
use serde_json::Value;

use crate::session::elsewhere::MAX_FIGURE;
use crate::store::exchange::Record;
use crate::store::now_ms;

/// How far a time of a file may lie ahead, milliseconds: clocks differ.
const AHEAD: i64 = 86_400_000;

/// Returns the maximum length of a text field, characters.
fn longest(kind: &str, field: &str) -> usize {
    match (kind, field) {
        ("message", "content" | "toolCalls" | "extra") => 16 << 20,
        ("conversation", "context" | "rolling" | "tracked") => 1 << 20,
        ("summary", "text") => 400_000,
        ("task", "description" | "progress" | "summary") => 2_000,
        ("task", "blockedBy") => 10_000,
        ("bug", "title") | ("result", "name") | ("tested", "element") => 300,
        ("bug", "steps") => 1_500_000,
        ("session", "elsewhere") => 16 << 20,
        ("session", _) | ("pageModel", "elements") | ("pattern", "data") => 1 << 20,
        ("pattern", "source") => 100,
        (_, "uid" | "origin") => 64,
        _ => 10_000,
    }
}

/// Returns the range of a numeric field.
fn range(kind: &str, field: &str) -> (i64, i64) {
    match (kind, field) {
        (_, field) if field.ends_with("At") || field == "at" => (0, now_ms() + AHEAD),
        ("task", "priority") => (-1_000, 1_000),
        ("message", "position") => (1, 10_000_000),
        ("conversation", "maxTokens") => (256, 100_000_000),
        (_, "durationMs") => (0, 1 << 50),
        _ => (0, MAX_FIGURE),
    }
}

/// Checks the lengths and ranges of the fields of a record.
///
/// # Errors
/// The field, what was expected, and what came.
pub(in crate::session) fn check(kind: &str, record: &Record) -> Result<(), String> {
    for (field, value) in record {
        match value {
            Value::String(text) => {
                let (most, length) = (longest(kind, field), text.chars().count());
                if length > most {
                    return Err(format!("{field}: expected at most {most} characters, got {length}"));
                }
            }
            Value::Number(number) => {
                let (from, to) = range(kind, field);
                let given = number.as_i64().map_or_else(|| number.as_f64().unwrap_or(f64::NAN), |n| n as f64);
                if !(given >= from as f64 && given <= to as f64) {
                    return Err(format!("{field}: expected {from} to {to}, got {number}"));
                }
            }
            _ => {}
        }
    }
    let text = |field: &str| record.get(field).and_then(Value::as_str);
    if let Some(uid) = text("uid").filter(|uid| !uid.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')) {
        return Err(format!("uid: expected letters, digits and '-', got {uid:?}"));
    }
    if kind == "pattern" && !PatternKind::ALL.iter().any(|known| Some(known.word()) == text("kind")) {
        return Err(format!("kind: expected a kind of pattern, got {:?}", text("kind").unwrap_or_default()));
    }
    let is_number = |field: &&str| record.get(*field).is_none_or(Value::is_number);
    if let Some(field) = ["prior", "confidence", "held", "failed"].iter().find(|field| kind == "pattern" && !is_number(field)) {
        return Err(format!("{field}: expected a number, got {}", record[*field]));
    }
    Ok(())
}
