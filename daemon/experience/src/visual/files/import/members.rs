//! Functions that take members out of rows. A member that is understood is removed from the row and returned. The rest
//! is preserved unchanged.

use serde_json::{Map, Value, json};

use super::super::{OURS, millis, take};

/// Maximum value of a count.
pub(super) const MAX_COUNT: i64 = 1_000_000_000;
/// Maximum absolute value of a coordinate or a size, in pixels.
pub(super) const MAX_PLACE: i64 = 100_000;

/// Takes a string out of a row.
pub(super) fn text(map: &mut Map<String, Value>, key: &str) -> Option<String> {
    match map.get(key) {
        Some(Value::String(_)) => take(map, key).and_then(|v| v.as_str().map(str::to_owned)),
        _ => None,
    }
}

/// Takes a count out of a row. A value beyond [`MAX_COUNT`] stays in the row.
pub(super) fn number(map: &mut Map<String, Value>, key: &str) -> Option<i64> {
    let n = map.get(key).and_then(Value::as_i64).filter(|n| n.abs() <= MAX_COUNT)?;
    map.remove(key);
    Some(n)
}

/// Takes a time out of a row, as Unix milliseconds. A time that cannot be parsed stays in the row.
pub(super) fn time(map: &mut Map<String, Value>, key: &str) -> Option<i64> {
    let ms = map.get(key).and_then(Value::as_str).and_then(millis)?;
    map.remove(key);
    Some(ms)
}

/// Takes a list of strings out of a row.
pub(super) fn texts(map: &mut Map<String, Value>, key: &str) -> Option<Vec<String>> {
    let texts = map.get(key)?.as_array()?.iter().map(|v| v.as_str().map(str::to_owned)).collect::<Option<_>>()?;
    map.remove(key);
    Some(texts)
}

/// Takes a floating-point number out of a row.
pub(super) fn fraction(map: &mut Map<String, Value>, key: &str) -> Option<f64> {
    let n = map.get(key).and_then(Value::as_f64)?;
    map.remove(key);
    Some(n)
}

/// Returns the members that remain in a row as JSON, if there are any.
pub(super) fn rest(map: Map<String, Value>) -> Option<String> {
    (!map.is_empty()).then(|| Value::Object(map).to_string())
}

/// Records which of the given members a row lacks, so that an export does not add them.
pub(super) fn note_absent(row: &mut Map<String, Value>, given: &[(&str, bool)]) {
    let absent: Vec<&str> =
        given.iter().filter(|(key, given)| !given && !row.contains_key(*key)).map(|(key, _)| *key).collect();
    if !absent.is_empty() {
        row.insert("_absent".to_owned(), json!(absent));
    }
}

/// Takes the member [`OURS`], which `afd` wrote, out of a row.
pub(super) fn ours(row: &mut Map<String, Value>) -> Map<String, Value> {
    match take(row, OURS) {
        Some(Value::Object(ours)) => ours,
        _ => Map::new(),
    }
}
