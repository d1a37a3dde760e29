//! Normalises tool arguments as models write them: names and enumeration values in any case; booleans, numbers and
//! lists as text; and key names in place of key codes.

use afd_proto::keys::{self, KeyName};
use serde_json::{Map, Value, json};

/// Error message for an argument that a tool does not accept; lists the arguments that it does accept.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused(pub String);

/// Converts the arguments of a call to the names and types in an input schema. Leaves invalid values unchanged, because
/// the daemon refuses them with an error that names the argument.
///
/// # Errors
/// If the tool has no argument with a given name, or if an argument is given twice.
pub fn plain(
    tool: &str,
    schema: &Map<String, Value>,
    given: Map<String, Value>,
) -> Result<Map<String, Value>, Refused> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let mut out = Map::new();
    for (name, value) in given {
        let known = properties.and_then(|p| {
            p.get_key_value(&name).or_else(|| p.iter().find(|(known, _)| folded(known) == folded(&name)))
        });
        let Some((known, property)) = known else {
            let takes: Vec<String> = properties.into_iter().flatten().map(|(name, p)| described(name, p)).collect();
            let takes = if takes.is_empty() { "no arguments".to_owned() } else { takes.join(", ") };
            return Err(Refused(format!("{tool} takes no {name:?}\nhint: it takes {takes}")));
        };
        let Some(value) = converted(property, value, required.contains(&known.as_str())) else { continue };
        let (known, value) = match key_of(known, &value) {
            Some(key) => ("key", json!(key)),
            None => (known.as_str(), value),
        };
        if out.insert(known.to_owned(), value).is_some() {
            return Err(Refused(format!("{known}: given twice")));
        }
    }
    Ok(out)
}

/// Returns the device key that an argument names. Models write names such as `KEYCODE_BACK`, even in place of the key
/// code.
fn key_of(argument: &str, value: &Value) -> Option<KeyName> {
    ["key", "keyCode"].contains(&argument).then(|| keys::named(value.as_str()?)).flatten()
}

/// Returns a name in lower case without underscores and dashes.
fn folded(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// Describes an argument by its name and type, for example `limit (number)`.
pub fn described(name: &str, property: &Value) -> String {
    let kind = match property["type"].as_str() {
        Some("integer" | "number") => "number",
        Some("boolean") => "true or false",
        Some("array") => "list",
        _ => "text",
    };
    match property["enum"].as_array() {
        Some(words) => format!("{name} ({})", words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")),
        None => format!("{name} ({kind})"),
    }
}

/// Converts a value to the type of its property. Returns `None` if the argument should be omitted.
fn converted(property: &Value, value: Value, required: bool) -> Option<Value> {
    let kind = property["type"].as_str().unwrap_or_default();
    let text = match &value {
        Value::Null => return None,
        Value::String(text) => text.trim(),
        _ => return Some(value),
    };
    match kind {
        "string" if text.is_empty() && !required => None,
        "string" => Some(in_case(property, text).unwrap_or(value)),
        "boolean" => Some(match text.to_lowercase().as_str() {
            "true" => json!(true),
            "false" => json!(false),
            _ => value,
        }),
        "array" if text.is_empty() && !required => None,
        "array" => Some(list(&property["items"], text)),
        "integer" => Some(text.parse::<i64>().map_or(value, |number| json!(number))),
        _ => Some(value),
    }
}

/// Returns the enumeration value that matches `text`, ignoring case, underscores and dashes.
fn in_case(property: &Value, text: &str) -> Option<Value> {
    property["enum"]
        .as_array()?
        .iter()
        .find(|word| word.as_str().is_some_and(|word| folded(word) == folded(text)))
        .cloned()
}

/// Parses a list that was sent as text. Accepts a JSON array, comma-separated enumeration values, or other items one
/// per line.
fn list(items: &Value, text: &str) -> Value {
    if let Ok(Value::Array(list)) = serde_json::from_str(text) {
        return Value::Array(list);
    }
    let parts: Vec<&str> = if items["enum"].is_array() { text.split(',').collect() } else { text.lines().collect() };
    parts
        .into_iter()
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| in_case(items, part).unwrap_or_else(|| json!(part)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(given: Value) -> Result<Value, Refused> {
        let schema = json!({
            "required": ["text"],
            "properties": {
                "text": {"type": "string"},
                "app": {"type": "string"},
                "direction": {"type": "string", "enum": ["up", "down"]},
                "exactMatch": {"type": "boolean"},
                "steps": {"type": "array", "items": {"type": "string"}},
                "types": {"type": "array", "items": {"type": "string", "enum": ["note", "bug"]}},
                "keyCode": {"type": "integer"},
                "limit": {"type": "integer"},
                "count": {"type": "integer"},
            },
        });
        let Value::Object(schema) = schema else { unreachable!() };
        let Value::Object(given) = given else { unreachable!() };
        plain("af_x", &schema, given).map(Value::Object)
    }

    #[test]
    fn what_models_write_is_understood() {
        let given = json!({
            "Text": "", "app": " ", "DIRECTION": "DOWN", "exact_match": "True", "steps": "open it\ntap it", "types": "Note, bug",
            "keyCode": "ENTER", "limit": null, "count": " 5 ",
        });
        let expected = json!({
            "text": "", "direction": "down", "exactMatch": true, "steps": ["open it", "tap it"], "types": ["note", "bug"], "key": "enter",
            "count": 5,
        });
        assert_eq!(taken(given), Ok(expected));
        assert_eq!(taken(json!({"steps": "[\"a, b\"]", "types": []})), Ok(json!({"steps": ["a, b"], "types": []})));
    }

    #[test]
    fn what_is_not_understood_is_left_to_be_refused() {
        let given = json!({"limit": "", "exactMatch": "maybe", "direction": "sideways", "keyCode": "zork", "text": 4});
        assert_eq!(taken(given.clone()), Ok(given));
        let Refused(why) = taken(json!({"colour": 1})).expect_err("unknown");
        assert!(why.starts_with("af_x takes no \"colour\"") && why.contains("direction (up, down)"), "{why}");
        assert_eq!(taken(json!({"app": "a", "App": "b"})), Err(Refused("app: given twice".into())));
    }
}
