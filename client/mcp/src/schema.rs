//! Input schemas for tools, derived from the schemas in the method table. They contain only the parameters that a tool
//! takes. They use neither references nor unions with null, because models handle those poorly.

use afd_proto::schema::{resolved, tidy_all};
use afd_proto::tool::Tool;
use afd_proto::{DeviceUse, MethodInfo};
use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

/// Returns the input schema for a tool.
pub fn of(tool: &Tool, info: &MethodInfo) -> Map<String, Value> {
    let mut generator = SchemaGenerator::default();
    let schema = (info.params_schema)(&mut generator).to_value();
    let mut definitions = generator.take_definitions(true);
    tidy_all(&mut definitions);
    let whole = resolved(&schema, &definitions);
    let names = tool.takes.iter().copied().chain((info.takes.device == DeviceUse::Reached).then_some("device"));
    let mut properties = Map::new();
    for name in names {
        if let Some(property) = whole["properties"].get(name) {
            properties.insert(name.to_owned(), plain(property, &definitions));
        }
    }
    let required: Vec<&Value> = whole["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|n| n.as_str().is_some_and(|n| properties.contains_key(n)))
        .collect();
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

/// Returns the schema of a parameter with its references resolved.
fn plain(schema: &Value, definitions: &Map<String, Value>) -> Value {
    let mut out = schema.as_object().cloned().unwrap_or_default();
    for (key, value) in resolved(schema, definitions).as_object().into_iter().flatten() {
        out.entry(key.clone()).or_insert_with(|| value.clone());
    }
    ["allOf", "$ref", "title"].iter().for_each(|key| drop(out.remove(*key)));
    // Each word costs tokens in every request. So the default is omitted if the description gives it, and enumeration
    // values in lists have no description.
    if out.get("description").and_then(Value::as_str).is_some_and(|text| text.contains("by default")) {
        out.remove("default");
    }
    if let Some(items) = out.get("items").filter(|items| items.is_object()) {
        let mut items = plain(items, definitions);
        if let Some(items) = items.as_object_mut().filter(|items| items.contains_key("enum")) {
            items.remove("description");
        }
        out.insert("items".to_owned(), items);
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
            assert!(
                !text.contains("$ref") && !text.contains("null") && !text.contains("anyOf"),
                "{}: {text}",
                tool.name
            );
            assert!(!text.contains("\"array\"") || text.contains("\"items\""), "{}: {text}", tool.name);
            for name in tool.takes {
                let property = &schema["properties"][*name];
                assert!(
                    property["type"].is_string() && property["description"].is_string(),
                    "{}.{name}: {text}",
                    tool.name
                );
            }
            assert!(serde_json::from_str::<Map<String, Value>>(tool.sends).is_ok());
        }
        let (scroll, info) = tools().find(|(tool, _)| tool.name == "af_scroll").expect("a tool");
        let schema = of(scroll, info);
        assert_eq!(schema["required"], json!(["direction"]));
        assert_eq!(schema["properties"]["direction"]["enum"], json!(["up", "down", "left", "right"]));
    }
}
