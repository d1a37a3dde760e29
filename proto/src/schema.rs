//! Simplifies schemas for language models and for generators of typed clients: each definition gets a title, string
//! enums become an `enum`, optional parameters lose the union with null, and Rust's number formats are removed.

use serde_json::{Map, Value, json};

/// Simplifies all definitions, and sets the title of each definition to its name.
pub fn tidy_all(definitions: &mut Map<String, Value>) {
    for (name, definition) in definitions.iter_mut() {
        tidy(definition);
        if let Some(definition) = definition.as_object_mut() {
            definition.insert("title".to_owned(), json!(name));
        }
    }
}

/// Simplifies a schema and all schemas nested in it.
pub fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            for (_, inner) in map.iter_mut() {
                tidy(inner);
            }
            without_foreign_format(map);
            list_words(map);
            optional_without_null(map);
            reference_with_description(map);
            joined_description(map);
        }
        Value::Array(all) => all.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// Removes formats such as `uint32`, which JSON Schema does not define.
fn without_foreign_format(map: &mut Map<String, Value>) {
    if map
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|f| f.starts_with(['u', 'i', 'f', 'd']) && f != "uri" && f != "date-time")
    {
        map.remove("format");
    }
}

/// Replaces a `oneOf` of constants with an `enum`, and moves the constants' descriptions into the description of the
/// schema.
fn list_words(map: &mut Map<String, Value>) {
    let Some(all) = map.get("oneOf").and_then(Value::as_array) else { return };
    let words: Option<Vec<Value>> = all.iter().map(|word| word.get("const").cloned()).collect();
    let Some(words) = words.filter(|words| !words.is_empty()) else { return };
    let meaning =
        |word: &Value| Some(format!("`{}`: {}", word["const"].as_str()?, one_line(word["description"].as_str()?)));
    let meanings: Vec<String> = all.iter().filter_map(meaning).collect();
    let about = map.get("description").and_then(Value::as_str).unwrap_or_default();
    let description = format!("{about}\n\n{}", meanings.join("\n\n"));
    map.remove("oneOf");
    map.insert("type".to_owned(), json!("string"));
    map.insert("enum".to_owned(), Value::Array(words));
    map.insert("description".to_owned(), json!(description.trim()));
}

/// Removes `null` from the types of optional properties, because clients omit such a property instead of sending
/// `null`.
fn optional_without_null(map: &mut Map<String, Value>) {
    let required: Vec<Value> = map.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(properties) = map.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (name, property) in properties.iter_mut() {
        if !required.contains(&json!(name)) {
            without_null(property);
        }
    }
}

/// Removes `null` from the values that a schema allows.
pub fn without_null(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else { return };
    if let Some(kinds) = map.get_mut("type").and_then(Value::as_array_mut) {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            map.insert("type".to_owned(), kind);
        }
    }
    if let Some(words) = map.get_mut("enum").and_then(Value::as_array_mut) {
        words.retain(|word| !word.is_null());
    }
    if let Some(Value::Array(mut alternatives)) = map.remove("anyOf") {
        alternatives.retain(|schema| schema["type"] != "null");
        match (alternatives.len(), alternatives.pop()) {
            (1, Some(Value::Object(only))) => {
                for (key, value) in only {
                    map.entry(key).or_insert(value);
                }
            }
            (_, Some(last)) => {
                alternatives.push(last);
                map.insert("anyOf".to_owned(), Value::Array(alternatives));
            }
            (_, None) => {}
        }
    }
    if map.get("default").is_some_and(Value::is_null) {
        map.remove("default");
    }
    reference_with_description(map);
}

/// Moves a `$ref` that has sibling keywords into an `allOf`, because this version of JSON Schema ignores everything
/// next to a `$ref`.
fn reference_with_description(map: &mut Map<String, Value>) {
    if map.len() > 1
        && let Some(reference) = map.remove("$ref")
    {
        map.insert("allOf".to_owned(), json!([{"$ref": reference}]));
    }
}

/// Joins the lines of a description, which are wrapped to the width of the source file.
fn joined_description(map: &mut Map<String, Value>) {
    if let Some(Value::String(text)) = map.get_mut("description") {
        *text = text.split("\n\n").map(one_line).collect::<Vec<_>>().join("\n\n");
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the definition that a schema refers to, or the schema itself if it is not a reference.
pub fn resolved<'a>(schema: &'a Value, definitions: &'a Map<String, Value>) -> &'a Value {
    let reference = schema["$ref"].as_str().or_else(|| schema["allOf"][0]["$ref"].as_str());
    reference.and_then(|r| r.rsplit('/').next()).and_then(|name| definitions.get(name)).unwrap_or(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_become_plain() {
        let mut schema = json!({
            "type": "object",
            "required": ["mode", "app"],
            "properties": {
                "limit": {"type": ["integer", "null"], "format": "uint32", "minimum": 0, "description": "At\nmost."},
                "app": {"type": ["string", "null"]},
                "then": {"anyOf": [{"$ref": "#/components/schemas/Then"}, {"type": "null"}], "description": "What."},
                "mode": {"oneOf": [{"type": "string", "const": "a", "description": "First."}, {"type": "string", "const": "b"}]},
            },
        });
        tidy(&mut schema);
        let expected = json!({
            "type": "object",
            "required": ["mode", "app"],
            "properties": {
                "limit": {"type": "integer", "minimum": 0, "description": "At most."},
                "app": {"type": ["string", "null"]},
                "then": {"allOf": [{"$ref": "#/components/schemas/Then"}], "description": "What."},
                "mode": {"type": "string", "enum": ["a", "b"], "description": "`a`: First."},
            },
        });
        assert_eq!(schema, expected);
    }
}
