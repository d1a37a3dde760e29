//! `rpc.discover`: the OpenRPC document, generated from the method table.

use std::sync::OnceLock;

use afd_proto::rpc::RpcDiscover;
use afd_proto::vocabulary::NoParams;
use afd_proto::{ErrorCode, MethodInfo};
use schemars::{Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::params;
use super::register::{Module, register_sync, to_rpc};

pub(super) fn register(module: &mut Module) {
    // Built once: a batch of these calls would otherwise block a thread for seconds.
    let document = OnceLock::new();
    register_sync::<RpcDiscover, _>(module, move |params, _| {
        let _: NoParams = params::decode(params).map_err(to_rpc)?;
        Ok(document.get_or_init(document_text).clone())
    });
}

/// Returns the document as JSON text.
fn document_text() -> Box<RawValue> {
    to_raw_value(&document()).unwrap_or_default()
}

/// Builds the document. Every type is under `components`; every parameter of a method is listed by name.
pub fn document() -> Value {
    let settings = SchemaSettings::draft07().with(|s| s.definitions_path = "/components/schemas".into());
    let mut generator = SchemaGenerator::new(settings);
    let methods: Vec<Value> = afd_proto::methods().map(|m| describe(m, &mut generator)).collect();
    let schemas: Map<String, Value> = generator.take_definitions(true);
    let errors: Map<String, Value> = ErrorCode::ALL.iter().map(|c| (c.name().to_owned(), error(*c))).collect();
    json!({
        "openrpc": "1.3.2",
        "info": {
            "title": "afd",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Lets AI agents operate Android phones and remembers what they did there.",
        },
        "methods": methods,
        "components": {"schemas": schemas, "errors": errors},
    })
}

fn error(code: ErrorCode) -> Value {
    json!({"code": code.number(), "message": code.meaning(), "data": {"code": code.name(), "retryable": code.retryable()}})
}

fn describe(info: &MethodInfo, generator: &mut SchemaGenerator) -> Value {
    // Adds the definition to the generator, so that its properties can be listed.
    let reference = (info.params_schema)(generator);
    let mut params = properties(&reference, generator);
    if info.takes_request_key() && !params.iter().any(|p| p["name"] == "requestKey") {
        let description = "Idempotency key of this call, 1 to 256 bytes. Repeating a key within a day returns the recorded outcome.";
        params.push(json!({"name": "requestKey", "required": false, "description": description, "schema": {"type": ["string", "null"]}}));
    }
    let result = (info.result_schema)(generator);
    let example: Map<String, Value> = serde_json::from_str(info.example).unwrap_or_default();
    let example_params: Vec<Value> = example.into_iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    let errors: Vec<Value> = info.all_errors().map(|c| json!({"$ref": format!("#/components/errors/{}", c.name())})).collect();
    json!({
        "name": info.name,
        "summary": info.summary(),
        "paramStructure": "by-name",
        "params": params,
        "result": {"name": "result", "schema": result},
        "errors": errors,
        "examples": [{"name": info.name, "params": example_params}],
        "x-effect": info.effect,
        "x-takes": info.takes,
    })
}

fn properties(reference: &Schema, generator: &SchemaGenerator) -> Vec<Value> {
    let name = reference.get("$ref").and_then(Value::as_str).and_then(|r| r.rsplit('/').next());
    let definition = name.and_then(|n| generator.definitions().get(n));
    let definition = definition.unwrap_or(reference.as_value());
    let required = definition.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let properties = definition.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    properties
        .into_iter()
        .map(|(name, schema)| {
            let description = schema.get("description").cloned().unwrap_or(Value::Null);
            json!({"name": name, "required": required.contains(&json!(name)), "description": description, "schema": schema})
        })
        .collect()
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
            for param in method["params"].as_array().expect("params") {
                assert!(param["description"].is_string(), "{} {}", method["name"], param["name"]);
            }
        }
        let text = document.to_string();
        for reference in text.split("\"$ref\":\"#").skip(1).filter_map(|r| r.split('"').next()) {
            assert!(document.pointer(reference).is_some(), "{reference}");
        }
    }
}
