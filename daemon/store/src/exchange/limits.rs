//! Limits for the fields of imported records. Lengths and ranges are the same as in the calls that write these fields.
//! Numbers are bounded so that their sums cannot overflow.

use serde_json::Value;

use super::Record;
use crate::now_ms;

/// Maximum value of a numeric field in a record. It keeps sums of such fields from overflowing.
pub const MAX_FIGURE: i64 = 1_000_000_000;
/// How far in the future a time in a file may be, in milliseconds. Such times occur because the clocks of machines
/// differ.
const AHEAD: i64 = 86_400_000;

/// Returns the permitted range for times in a record, in Unix milliseconds.
pub fn times() -> (i64, i64) {
    (0, now_ms() + AHEAD)
}

/// Functions that give the limits for the fields of a record.
pub struct Limits {
    /// Returns the maximum length of a text field (characters) for a record kind and a field name.
    pub longest: fn(&str, &str) -> usize,
    /// Returns the inclusive range of a numeric field for a record kind and a field name.
    pub range: fn(&str, &str) -> (i64, i64),
}

impl Limits {
    /// Checks a record's text lengths, numeric ranges and uid.
    ///
    /// # Errors
    /// If a value is not permitted. The message names the field and says what was expected and received.
    pub fn check(&self, kind: &str, record: &Record) -> Result<(), String> {
        for (field, value) in record {
            match value {
                Value::String(text) => {
                    let (most, length) = ((self.longest)(kind, field), text.chars().count());
                    if length > most {
                        return Err(format!("{field}: expected at most {most} characters, got {length}"));
                    }
                }
                Value::Number(number) => {
                    let (from, to) = (self.range)(kind, field);
                    let given = number.as_i64().map_or_else(|| number.as_f64().unwrap_or(f64::NAN), |n| n as f64);
                    if !(given >= from as f64 && given <= to as f64) {
                        return Err(format!("{field}: expected {from} to {to}, got {number}"));
                    }
                }
                _ => {}
            }
        }
        let uid = record.get("uid").and_then(Value::as_str);
        match uid.filter(|uid| !uid.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')) {
            Some(uid) => Err(format!("uid: expected letters, digits and '-', got {uid:?}")),
            None => Ok(()),
        }
    }
}
