//! Limits on the fields of session records.

use afd_proto::pattern::PatternKind;
use serde_json::Value;

use afd_store::exchange::{Limits, MAX_FIGURE, Record, times};

const LIMITS: Limits = Limits { longest, range };

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

fn range(kind: &str, field: &str) -> (i64, i64) {
    match (kind, field) {
        (_, field) if field.ends_with("At") || field == "at" => times(),
        ("task", "priority") => (-1_000, 1_000),
        ("message", "position") => (1, 10_000_000),
        ("conversation", "maxTokens") => (256, 100_000_000),
        (_, "durationMs") => (0, 1 << 50),
        _ => (0, MAX_FIGURE),
    }
}

/// Checks the lengths and ranges of the fields of a record, and the kind of a pattern.
///
/// # Errors
/// Returns an error that names the field, the expected value and the actual value.
pub(crate) fn check(kind: &str, record: &Record) -> Result<(), String> {
    LIMITS.check(kind, record)?;
    let text = |field: &str| record.get(field).and_then(Value::as_str);
    if kind == "pattern" && !PatternKind::ALL.iter().any(|known| Some(known.word()) == text("kind")) {
        return Err(format!("kind: expected a kind of pattern, got {:?}", text("kind").unwrap_or_default()));
    }
    let is_number = |field: &&str| record.get(*field).is_none_or(Value::is_number);
    if let Some(field) =
        ["prior", "confidence", "held", "failed"].iter().find(|field| kind == "pattern" && !is_number(field))
    {
        return Err(format!("{field}: expected a number, got {}", record[*field]));
    }
    Ok(())
}
