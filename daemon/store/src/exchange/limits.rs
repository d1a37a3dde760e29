//! Limits of the fields of records. Lengths and ranges are those of the calls that write the same fields. Figures are
//! bounded so that they can be added.

use serde_json::Value;

use super::Record;
use crate::now_ms;

/// Maximum of a figure of a record, so that sums of figures do not overflow.
pub const MAX_FIGURE: i64 = 1_000_000_000;
/// How far a time in a file may be in the future, milliseconds. Clocks of machines differ.
const AHEAD: i64 = 86_400_000;

/// Returns the permitted range of a time in a record, UTC milliseconds.
pub fn times() -> (i64, i64) {
    (0, now_ms() + AHEAD)
}

/// The limits of the fields of some kinds of records.
pub struct Limits {
    /// Returns the maximum length of a text field, characters, given the kind and the field.
    pub longest: fn(&str, &str) -> usize,
    /// Returns the range of a numeric field, given the kind and the field.
    pub range: fn(&str, &str) -> (i64, i64),
}

impl Limits {
    /// Checks the lengths and ranges of the fields of a record.
    ///
    /// # Errors
    /// If a value exceeds its limit. The message names the field, the expected range or length, and the received value.
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
