//! `rpc.discover`: the OpenRPC document, generated from the method table.

use std::sync::OnceLock;

use afd_proto::events::{MessageWithCursor, NOTIFICATION};
use afd_proto::rpc::{DiscoverParams, PROGRESS, Progress, RpcDiscover};
use afd_proto::schema::{resolved, tidy, tidy_all, without_null};
use afd_proto::{ErrorCode, MethodInfo};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::register::{Module, register_sync, to_rpc};
use crate::app::Error;

/// Stability guarantees for clients.
const STABILITY: &str = "Within one value of `protocol` (see `daemon.version`), methods, parameters, fields, words and error codes keep their \
    name and meaning. New ones may come at any time: ignore fields that you do not know, and treat an unknown word or code as one that \
    you cannot handle. Anything else raises `protocol`.";

pub(super) fn register(module: &mut Module) {
    // The document is built only once. Otherwise a batch of these calls would block a thread for seconds.
    let whole = OnceLock::new();
    let text = OnceLock::<Box<RawValue>>::new();
    register_sync::<RpcDiscover, _>(module, move |params, _| {
        let params: DiscoverParams = crate::app::decode(params).map_err(to_rpc)?;
        let whole = whole.get_or_init(document);
        match params.prefix.as_deref().filter(|prefix| !prefix.is_empty()) {
            None => Ok(text.get_or_init(|| to_raw_value(whole).unwrap_or_default()).clone()),
            Some(prefix) => {
                let part = part(whole, prefix).ok_or_else(|| {
                    Error::param("prefix", "the beginning of the name of a method, for example `observe.`", prefix)
                });
                part.map(|part| to_raw_value(&part).unwrap_or_default()).map_err(to_rpc)
            }
        }
    });
}

/// Builds the document. Every type is defined under `components`; every parameter of a method is listed by name.
pub fn document() -> Value {
    let settings = || SchemaSettings::draft07().with(|s| s.definitions_path = "/components/schemas".into());
    // A type that is sent may omit more fields than a type that is received.
    let mut received = SchemaGenerator::new(settings());
    let mut sent = SchemaGenerator::new(settings().for_serialize());
    let types: Vec<(Value, Value)> = afd_proto::methods()
        .map(|info| ((info.params_schema)(&mut received).to_value(), (info.result_schema)(&mut sent).to_value()))
        .collect();
    let notifications = [
        (NOTIFICATION, "A message of a subscription.", sent.subschema_for::<MessageWithCursor>().to_value()),
        (PROGRESS, "Progress of a call, see `rpc.reportProgress`.", sent.subschema_for::<Progress>().to_value()),
    ];
    let mut schemas = received.take_definitions(true);
    let mut of_results = sent.take_definitions(true);
    tidy_all(&mut schemas);
    tidy_all(&mut of_results);
    // A type that is both sent and received is described in its received form.
    for (name, schema) in of_results {
        schemas.entry(name).or_insert(schema);
    }
    let errors: Map<String, Value> = ErrorCode::ALL.iter().map(|c| (c.name().to_owned(), error(*c))).collect();
    let methods: Vec<Value> = afd_proto::methods()
        .zip(types)
        .map(|(info, (params, result))| describe(info, &params, result, &schemas))
        .collect();
    let notification = |(name, about, mut schema): (&str, &str, Value)| {
        tidy(&mut schema);
        let schema = match name {
            NOTIFICATION => json!({
                "title": "EventsMessageParams",
                "type": "object",
                "required": ["subscription", "result"],
                "properties": {"subscription": {"type": "integer", "description": "Id of the subscription."}, "result": schema},
            }),
            _ => schema,
        };
        json!({"name": name, "summary": about, "params": schema})
    };
    json!({
        "openrpc": "1.3.2",
        "info": {
            "title": "afd",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Lets AI agents operate Android phones and remembers what they did there.",
            "license": {"name": env!("CARGO_PKG_LICENSE")},
            "x-protocol": afd_proto::PROTOCOL,
            "x-stability": STABILITY,
        },
        "methods": methods,
        "x-notifications": notifications.map(notification),
        "components": {"schemas": schemas, "errors": errors},
    })
}

/// Returns the document with the methods whose names begin with `prefix`, and the definitions that they refer to;
/// `None` if there are no such methods.
fn part(document: &Value, prefix: &str) -> Option<Value> {
    let named = |method: &&Value| method["name"].as_str().is_some_and(|name| name.starts_with(prefix));
    let methods: Vec<Value> = document["methods"].as_array()?.iter().filter(named).cloned().collect();
    let is_known = |notification: &&Value| notification["name"].as_str().is_some_and(|name| name.starts_with(prefix));
    let notifications: Vec<Value> = document["x-notifications"].as_array()?.iter().filter(is_known).cloned().collect();
    if methods.is_empty() {
        return None;
    }
    let mut components = json!({"schemas": {}, "errors": {}});
    let mut texts = vec![json!(methods).to_string(), json!(notifications).to_string()];
    while let Some(text) = texts.pop() {
        for reference in text.split("\"$ref\":\"#/components/").skip(1).filter_map(|r| r.split('"').next()) {
            let Some((kind, name)) = reference.split_once('/') else { continue };
            if components[kind].get(name).is_none() {
                let definition = document["components"][kind][name].clone();
                texts.push(definition.to_string());
                components[kind][name] = definition;
            }
        }
    }
    let mut part = json!({"openrpc": document["openrpc"], "info": document["info"], "methods": methods});
    part["x-notifications"] = json!(notifications);
    part["components"] = components;
    Some(part)
}

fn error(code: ErrorCode) -> Value {
    json!({"code": code.number(), "message": code.meaning(), "data": {"code": code.name(), "retryable": code.retryable()}})
}

fn describe(info: &MethodInfo, params_type: &Value, mut result: Value, schemas: &Map<String, Value>) -> Value {
    let definition = resolved(params_type, schemas);
    let mut params = properties(definition);
    if info.takes_request_key() && !params.iter().any(|p| p["name"] == "requestKey") {
        let description =
            "Idempotency key of this call, 1 to 256 bytes. Repeating a key within a day returns the recorded outcome.";
        let schema = json!({"type": "string", "minLength": 1, "maxLength": 256});
        params.push(json!({"name": "requestKey", "required": false, "description": description, "schema": schema}));
    }
    // Required parameters come first, as OpenRPC requires.
    params.sort_by_key(|param| param["required"] != true);
    tidy(&mut result);
    if result.get("$ref").is_none() {
        result["title"] = json!(format!("{}Result", title(info.name)));
    }
    let errors: Vec<Value> =
        info.all_errors().map(|c| json!({"$ref": format!("#/components/errors/{}", c.name())})).collect();
    let group = info.name.split('.').next().unwrap_or_default();
    let mut method = json!({
        "name": info.name,
        "summary": info.summary(),
        "tags": [{"name": group}],
        "paramStructure": "by-name",
        "params": params,
        "result": {"name": "result", "schema": result},
        "errors": errors,
        "examples": [example(info)],
        "x-effect": info.effect,
        "x-takes": info.takes,
    });
    if let Some(alternatives) = definition.get("anyOf") {
        method["x-alternatives"] =
            alternatives.as_array().into_iter().flatten().map(|one| one["required"].clone()).collect();
    }
    if let Some(tool) = info.tool {
        method["x-tool"] = json!({"name": tool.name, "toolset": tool.toolset});
    }
    method
}

fn example(info: &MethodInfo) -> Value {
    let params: Map<String, Value> = serde_json::from_str(info.example).unwrap_or_default();
    let params: Vec<Value> = params.into_iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    let mut example = json!({"name": info.name, "params": params});
    if let Some(result) = afd_proto::example_result(info.name) {
        example["result"] = json!({"name": "result", "value": result});
    }
    example
}

/// Returns the type name derived from a method name.
fn title(method: &str) -> String {
    let capital =
        |part: &str| part.chars().take(1).flat_map(char::to_uppercase).chain(part.chars().skip(1)).collect::<String>();
    method.split('.').map(capital).collect()
}

fn properties(definition: &Value) -> Vec<Value> {
    let required = definition.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let properties = definition.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let property = |(name, mut schema): (String, Value)| {
        without_null(&mut schema);
        let description = schema.get("description").cloned().unwrap_or(Value::Null);
        json!({"name": name, "required": required.contains(&json!(name)), "description": description, "schema": schema})
    };
    properties.into_iter().map(property).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_covers_every_method_and_its_references_resolve() {
        let document = document();
        let methods = document["methods"].as_array().expect("methods");
        assert_eq!(methods.len(), afd_proto::methods().count());
        for method in methods {
            assert!(method["summary"].as_str().is_some_and(|s| s.ends_with('.')), "{method}");
            assert!(method["examples"][0]["result"].is_object(), "{}: no example of its result", method["name"]);
            for param in method["params"].as_array().expect("params") {
                assert!(param["description"].is_string(), "{} {}", method["name"], param["name"]);
            }
        }
        let text = document.to_string();
        for reference in text.split("\"$ref\":\"#").skip(1).filter_map(|r| r.split('"').next()) {
            assert!(document.pointer(reference).is_some(), "{reference}");
        }
        let part = part(&document, "observe.").expect("methods");
        assert!(
            part["methods"]
                .as_array()
                .is_some_and(|m| m.iter().all(|m| m["name"].as_str().is_some_and(|n| n.starts_with("observe."))))
        );
        assert!(
            part["components"]["schemas"].get("ContextPart").is_none()
                && part["components"]["schemas"].get("Hint").is_some()
        );
        let text = part.to_string();
        for reference in text.split("\"$ref\":\"#").skip(1).filter_map(|r| r.split('"').next()) {
            assert!(part.pointer(reference).is_some(), "{reference}");
        }
    }

    #[test]
    fn types_have_names_that_people_understand() {
        let document = document();
        let schemas = document["components"]["schemas"].as_object().expect("schemas");
        for (name, schema) in schemas {
            assert_eq!(schema["title"], *name);
            assert!(
                !name.ends_with(|c: char| c.is_ascii_digit()),
                "{name} is a number beside another type of that name"
            );
            let params = name.ends_with("Params");
            for (field, property) in schema["properties"].as_object().into_iter().flatten() {
                let text = property.to_string();
                let format = property["format"].as_str().unwrap_or_default();
                assert!(
                    !format.starts_with("uint") && !format.starts_with("int") && format != "double",
                    "{name}.{field}: {format}"
                );
                assert!(
                    !params || !text.contains("\"null\""),
                    "{name}.{field} may be left out instead of null: {text}"
                );
            }
        }
    }
}
