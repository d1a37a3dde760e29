//! Decodes parameters, which are flat objects without unknown keys. Errors contain the path of the field.

use std::borrow::Cow;
use std::collections::BTreeMap;

use afd_proto::limits::{Limited, OutOfRange};
use afd_proto::{ErrorCode, MethodInfo};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Error, replay};

/// Fields whose values are never quoted in errors.
const SECRET_FIELDS: &[&str] = &["text", "token", "command", "value"];

/// Maximum length of a quoted value, in bytes.
const MAX_QUOTED: usize = 100;

/// Decodes a parameter object; absent parameters count as an empty object.
///
/// # Errors
/// `INVALID_PARAMS` with `path`, `expected` and `got`.
pub fn decode<T: DeserializeOwned + Limited>(text: Option<&str>) -> Result<T, Error> {
    let text = text.map(str::trim).filter(|t| !t.is_empty() && *t != "null").unwrap_or("{}");
    if !text.starts_with('{') {
        let got = if text.starts_with('[') { "an array" } else { "a single value" };
        return Err(invalid("", "an object of named parameters", got));
    }
    let mut text = Cow::Borrowed(text);
    for _ in 0..=MAX_NUMBERS {
        let mut deserializer = serde_json::Deserializer::from_str(&text);
        let (path, message) = match serde_path_to_error::deserialize(&mut deserializer) {
            Ok(params) => return within_limits(params),
            Err(error) => (error.path().to_string(), error.into_inner().to_string()),
        };
        let path = if path == "." { "" } else { path.as_str() };
        match with_number(&text, path, &message) {
            Some(repaired) => text = Cow::Owned(repaired),
            None => return Err(explain(&text, path, &message)),
        }
    }
    Err(invalid("", "numbers", "too many numbers in quotes"))
}

/// Returns parameters whose values are all in range.
fn within_limits<T: Limited>(params: T) -> Result<T, Error> {
    match params.check() {
        Ok(()) => Ok(params),
        Err(OutOfRange { field, expected, got }) => Err(invalid(&field, &expected, &got)),
    }
}

/// Maximum number of values in a call that are rewritten as plain numbers.
const MAX_NUMBERS: usize = 32;

/// Rewrites the value at a path as a plain number, because clients also send whole numbers as `3.0` and `"3"`. Returns
/// the changed parameters, or `None` if `message` reports a different error or the value is not such a number.
fn with_number(text: &str, path: &str, message: &str) -> Option<String> {
    let expected = message.split(", expected ").nth(1)?.split_whitespace().next()?;
    let is_number = ["u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "f32", "f64"].contains(&expected);
    let mut params: Value = serde_json::from_str(text).ok().filter(|_| is_number)?;
    let value = params.pointer_mut(&pointer(path))?;
    let number = match &*value {
        Value::String(digits) => digits.trim().strip_suffix(".0").unwrap_or(digits.trim()).parse().ok()?,
        Value::Number(number) if number.is_f64() => {
            number.as_f64().filter(|n| n.fract() == 0.0 && n.abs() < WHOLE_NUMBERS)? as i64
        }
        _ => return None,
    };
    *value = Value::from(number);
    Some(params.to_string())
}

/// Bound below which a double represents each whole number exactly (2^53).
const WHOLE_NUMBERS: f64 = 9_007_199_254_740_992.0;

/// Returns the JSON pointer of a path such as `a.b[0]`.
fn pointer(path: &str) -> String {
    format!("/{}", path.replace(['.', '['], "/").replace(']', ""))
}

/// Separates the request key from the parameters of a writing method. Methods recorded as events read their keys
/// themselves. Returns the remaining parameters and the key.
///
/// # Errors
/// If the key is invalid.
pub fn request_key<'a>(
    text: Option<&'a str>,
    method: &MethodInfo,
) -> Result<(Option<Cow<'a, str>>, Option<String>), Error> {
    let takes_key = method.takes_request_key() && !method.is_recorded_as_event();
    let Some(text) = text.filter(|t| takes_key && t.contains("\"requestKey\"")) else {
        return Ok((text.map(Cow::Borrowed), None));
    };
    // The decoder reports anything but an object, because it knows the expected type.
    let Ok(mut params) = serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(text) else {
        return Ok((Some(text.into()), None));
    };
    let Some(key) = params.remove("requestKey") else { return Ok((Some(text.into()), None)) };
    let key: Value = serde_json::from_str(key.get()).unwrap_or_default();
    let rest = serde_json::to_string(&params).map_err(|e| Error::new(ErrorCode::Internal, e.to_string()))?;
    Ok((Some(rest.into()), (!key.is_null()).then(|| replay::check_key(key)).transpose()?))
}

/// Returns whether parameters have a request key; null counts as none.
pub fn has_request_key(text: Option<&str>) -> bool {
    #[derive(serde::Deserialize)]
    struct Keyed {
        #[serde(rename = "requestKey")]
        key: Option<serde::de::IgnoredAny>,
    }
    // Most parameters have no key and need no parsing.
    let text = text.filter(|text| text.contains("\"requestKey\""));
    text.and_then(|text| serde_json::from_str::<Keyed>(text).ok()).is_some_and(|p| p.key.is_some())
}

fn invalid(path: &str, expected: &str, got: &str) -> Error {
    let at = if path.is_empty() { "params" } else { path };
    Error::new(ErrorCode::InvalidParams, format!("{at}: expected {expected}, got {got}"))
        .hint("`rpc.discover` describes the parameters of every method")
        .details(json!({"path": path, "expected": expected, "got": got}))
}

/// Quotes the value at a path as it was sent, unless it may be a secret.
fn value_at(text: &str, path: &str) -> String {
    if SECRET_FIELDS.contains(&path) || path.starts_with("extras") {
        return "a value of another type".to_owned();
    }
    let params: Value = serde_json::from_str(text).unwrap_or_default();
    let value = params.pointer(&pointer(path)).map(Value::to_string).unwrap_or_default();
    let short = &value[..value.floor_char_boundary(MAX_QUOTED)];
    if value.is_empty() { "another value".to_owned() } else { short.to_owned() }
}

/// Converts a serde error message into an error with `path`, `expected` and `got`.
fn explain(text: &str, path: &str, message: &str) -> Error {
    let message = message.rsplit_once(" at line ").map_or(message, |(s, _)| s);
    let quoted = |s: &str| s.split('`').nth(1).unwrap_or("").to_owned();
    if let Some(rest) = message.strip_prefix("missing field ") {
        let field = quoted(rest);
        let path = if path.is_empty() { field } else { format!("{path}.{field}") };
        return invalid(&path, "a value", "nothing");
    }
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let (field, known) = rest.split_once(", ").unwrap_or((rest, ""));
        let field = quoted(&format!(" {field}"));
        let parent = path.strip_suffix(&field).unwrap_or(path).trim_end_matches('.');
        let path = if parent.is_empty() { field } else { format!("{parent}.{field}") };
        return invalid(
            &path,
            &format!("a known parameter ({})", known.trim_start_matches("expected ")),
            "an unknown parameter",
        );
    }
    if message == "expected value" {
        return invalid(path, "one of the allowed values", &value_at(text, path));
    }
    let (got, expected) = message.split_once(", expected ").unwrap_or((message, "another value"));
    let got = got
        .trim_start_matches("invalid type: ")
        .trim_start_matches("invalid value: ")
        .trim_start_matches("unknown variant ");
    let expected = match expected {
        "f64" | "f32" => "a number",
        "u32" | "u64" => "a non-negative integer",
        "i32" | "i64" => "an integer",
        "a boolean" => "true or false",
        other => other,
    };
    let got = if SECRET_FIELDS.contains(&path) || path.starts_with("extras") { "a value of another type" } else { got };
    invalid(path, expected, got)
}

#[cfg(test)]
mod tests {
    use afd_proto::act::{ScrollParams, SwipeParams, TextParams};
    use afd_proto::observe::{PageParams, ScreenParams};

    use super::*;

    fn decode_error<T: DeserializeOwned + Limited + std::fmt::Debug>(text: &str) -> (String, String) {
        let error = decode::<T>(Some(text)).expect_err("bad parameters");
        assert_eq!(error.code, ErrorCode::InvalidParams);
        let details = error.details.expect("details");
        let of = |key: &str| details.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        assert!(!of("expected").is_empty() && !of("got").is_empty());
        (of("path"), error.message)
    }

    #[test]
    fn errors_name_the_field() {
        assert_eq!(decode_error::<SwipeParams>(r#"{"x1":1,"y1":"a","x2":1,"y2":1}"#).0, "y1");
        assert_eq!(decode_error::<SwipeParams>(r#"{"x1":1,"x2":1,"y2":1}"#).0, "y1");
        assert_eq!(decode_error::<ScreenParams>(r#"{"colour":1}"#).0, "colour");
        assert_eq!(decode_error::<PageParams>(r#"{"include":["screen","tree"]}"#).0, "include[1]");
        assert_eq!(decode_error::<ScrollParams>(r#"{"direction":"sideways"}"#).0, "direction");
        assert_eq!(decode_error::<ScreenParams>("[1]").0, "");
    }

    #[test]
    fn whole_numbers_are_taken_however_they_are_written() {
        let swipe = |text: &str| decode::<SwipeParams>(Some(text)).map(|p| (p.x1, p.duration_ms));
        let taken = swipe(r#"{"x1":"3","y1":1.0,"x2":"4.0","y2":1,"durationMs":"200"}"#).expect("numbers");
        assert_eq!((taken.0 as i64, taken.1.map(|d| d as i64)), (3, Some(200)));
        for wrong in
            [r#""""#, r#""three""#, r#""2.5""#, r#""0x10""#, "true", "2.5", "1e300", r#"" ""#, "-1", "99999999999"]
        {
            let text = format!(r#"{{"maxRows":{wrong}}}"#);
            assert_eq!(decode_error::<ScreenParams>(&text).0, "maxRows", "{wrong}");
        }
    }

    #[test]
    fn typed_text_is_not_quoted() {
        let (path, message) = decode_error::<TextParams>(r#"{"text":12345}"#);
        assert_eq!(path, "text");
        assert!(!message.contains("12345"), "{message}");
    }

    #[test]
    fn wrong_value_is_quoted() {
        let message = decode_error::<PageParams>(r#"{"include":["screen",71]}"#).1;
        assert!(message.ends_with("got 71"), "{message}");
        let message = decode_error::<ScrollParams>(r#"{"direction":72}"#).1;
        assert!(message.ends_with("got 72"), "{message}");
    }

    #[test]
    fn absent_params_are_an_empty_object() {
        assert!(decode::<ScreenParams>(None).is_ok() && decode::<ScreenParams>(Some("null")).is_ok());
    }
}
