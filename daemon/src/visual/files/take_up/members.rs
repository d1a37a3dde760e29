//! Members of what was read: what is understood is taken out, the rest is kept as it is.

use serde_json::{Map, Value, json};

use super::super::{OURS, millis, take};

/// No count is larger.
pub(super) const MAX_COUNT: i64 = 1_000_000_000;
/// No place on a screen is further, pixels.
pub(super) const MAX_PLACE: i64 = 100_000;

pub(super) fn text(map: &mut Map<String, Value>, key: &str) -> Option<String> {
    match map.get(key) {
        Some(Value::String(_)) => take(map, key).and_then(|v| v.as_str().map(str::to_owned)),
        _ => None,
    }
}

/// A count; what is beyond all counting stays as it is.
pub(super) fn number(map: &mut Map<String, Value>, key: &str) -> Option<i64> {
    let n = map.get(key).and_then(Value::as_i64).filter(|n| n.abs() <= MAX_COUNT)?;
    map.remove(key);
    Some(n)
}

/// A time; one that cannot be read stays among the members that are kept as they are.
pub(super) fn time(map: &mut Map<String, Value>, key: &str) -> Option<i64> {
    let ms = map.get(key).and_then(Value::as_str).and_then(millis)?;
    map.remove(key);
    Some(ms)
}

/// A list of texts.
pub(super) fn texts(map: &mut Map<String, Value>, key: &str) -> Option<Vec<String>> {
    let texts = map.get(key)?.as_array()?.iter().map(|v| v.as_str().map(str::to_owned)).collect::<Option<_>>()?;
    map.remove(key);
    Some(texts)
}

/// A number with a fraction.
pub(super) fn fraction(map: &mut Map<String, Value>, key: &str) -> Option<f64> {
    let n = map.get(key).and_then(Value::as_f64)?;
    map.remove(key);
    Some(n)
}

pub(super) fn rest(map: Map<String, Value>) -> Option<String> {
    (!map.is_empty()).then(|| Value::Object(map).to_string())
}

/// Notes which members a row does not have, so that it does not get them by being exported.
pub(super) fn note_absent(row: &mut Map<String, Value>, given: &[(&str, bool)]) {
    let absent: Vec<&str> = given.iter().filter(|(key, given)| !given && !row.contains_key(*key)).map(|(key, _)| *key).collect();
    if !absent.is_empty() {
        row.insert("_absent".to_owned(), json!(absent));
    }
}

/// What `afd` wrote beside the members of the original.
pub(super) fn ours(row: &mut Map<String, Value>) -> Map<String, Value> {
    match take(row, OURS) {
        Some(Value::Object(ours)) => ours,
        _ => Map::new(),
    }
}
