//! Input schemas of tools, made from the schemas of the method table: only the parameters that a tool takes, without references and
//! without unions of null, as models read them.

use afd_proto::tool::Tool;
use afd_proto::{DeviceUse, MethodInfo};
use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

/// Returns the input schema of a tool.
pub fn of(tool: &Tool, info: &MethodInfo) -> Map<String, Value> {
    let mut generator = SchemaGenerator::default();
    let schema = (info.params_schema)(&mut generator);
    let definitions = Value::Object(generator.take_definitions(true));
    let whole = resolved(schema.as_value(), &definitions);
    let names = tool.takes.iter().copied().chain((info.takes.device == DeviceUse::Reached).then_some("device"));
    let mut properties = Map::new();
    for name in names {
        if let Some(property) = whole["properties"].get(name) {
            properties.insert(name.to_owned(), plain(property, &definitions));
        }
    }
    let required: Vec<&Value> =
        whole["required"].as_array().into_iter().flatten().filter(|n| n.as_str().is_some_and(|n| properties.contains_key(n))).collect();
    let mut out = json!({"type": "object", "additionalProperties": false, "properties": {}});
    if !required.is_empty() {
        out["required"] = json!(required);
    }
    out["properties"] = Value::Object(properties);
    match out {
        Value::Object(out) => out,
        _ => Map::new(),
    }
}

/// Follows a reference to a definition.
fn resolved<'a>(schema: &'a Value, definitions: &'a Value) -> &'a Value {
    let name = schema["$ref"].as_str().and_then(|r| r.rsplit('/').next());
    name.and_then(|name| definitions.get(name)).unwrap_or(schema)
}

/// Returns the schema of a parameter without references, unions of null and formats.
fn plain(schema: &Value, definitions: &Value) -> Value {
    let about = schema["description"].as_str();
    let alternatives = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
    let present = alternatives.and_then(|all| all.iter().find(|s| s["type"] != "null" && s.get("const").is_none()));
    let inner = resolved(present.unwrap_or(schema), definitions);
    let mut out = Map::new();
    // The words of a closed list are alternatives with a constant each.
    let words = inner["oneOf"].as_array().map(|all| all.iter().filter_map(|s| s.get("const").cloned()).collect::<Vec<_>>());
    let words = words.filter(|w| !w.is_empty()).or_else(|| inner["enum"].as_array().cloned());
    match words {
        Some(words) => {
            out.insert("type".into(), json!("string"));
            out.insert("enum".into(), Value::Array(words));
        }
        None => {
            let kind = match &inner["type"] {
                Value::Array(kinds) => kinds.iter().find(|k| *k != "null").cloned().unwrap_or_else(|| json!("string")),
                Value::Null => json!("string"),
                kind => kind.clone(),
            };
            out.insert("type".into(), kind);
            if inner["items"].is_object() {
                out.insert("items".into(), plain(&inner["items"], definitions));
            }
        }
    }
    // Bounds stand beside the alternatives, or in the type that is meant.
    for bound in ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "default"] {
        if let Some(value) = schema.get(bound).or_else(|| inner.get(bound)).filter(|value| !value.is_null()) {
            out.insert(bound.into(), value.clone());
        }
    }
    if let Some(about) = about.or(inner["description"].as_str()) {
        out.insert("description".into(), json!(about.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    Value::Object(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use afd_proto::tool::Toolset;

    #[test]
    fn each_tool_has_a_plain_schema() {
        let tools = || afd_proto::methods().filter_map(|info| Some((info.tool?, info)));
        assert!(tools().filter(|(tool, _)| tool.toolset == Toolset::Core).count() <= 16);
        for (tool, info) in tools() {
            let schema = of(tool, info);
            let text = Value::Object(schema.clone()).to_string();
            assert!(!text.contains("$ref") && !text.contains("null") && !text.contains("anyOf"), "{}: {text}", tool.name);
            assert!(!text.contains("\"array\"") || text.contains("\"items\""), "{}: {text}", tool.name);
            for name in tool.takes {
                let property = &schema["properties"][*name];
                assert!(property["type"].is_string() && property["description"].is_string(), "{}.{name}: {text}", tool.name);
            }
            assert!(serde_json::from_str::<Map<String, Value>>(tool.sends).is_ok());
        }
        let (scroll, info) = tools().find(|(tool, _)| tool.name == "af_scroll").expect("a tool");
        let schema = of(scroll, info);
        assert_eq!(schema["required"], json!(["direction"]));
        assert_eq!(schema["properties"]["direction"]["enum"], json!(["up", "down", "left", "right"]));
    }
}
