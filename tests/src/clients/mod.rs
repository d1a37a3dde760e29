//! Generates typed clients in other languages from the OpenRPC document: the types of results, and a function for each
//! method.

mod python;
mod typescript;

use std::collections::BTreeSet;

use serde_json::Value;

pub use python::python;
pub use typescript::typescript;

/// A method as a client offers it.
struct Function<'a> {
    /// Wire name.
    name: &'a str,
    /// Summary in one sentence.
    about: &'a str,
    /// Parameters, required ones first, without `url` and `token` of devices that are not configured.
    params: Vec<Param<'a>>,
    /// Schema of the result.
    result: &'a Value,
    /// Whether the client adds its device.
    device: bool,
    /// Whether the client adds its session.
    session: bool,
    /// Whether the client adds a request key.
    key: bool,
}

struct Param<'a> {
    name: &'a str,
    required: bool,
    schema: &'a Value,
}

/// Returns the methods of a document, except `events.*` and `rpc.*`, which clients implement by hand.
fn functions(document: &Value) -> Vec<Function<'_>> {
    let methods = document["methods"].as_array().into_iter().flatten();
    methods
        .filter(|method| !name_of(method).starts_with("events.") && !name_of(method).starts_with("rpc."))
        .map(function)
        .collect()
}

fn name_of(value: &Value) -> &str {
    value["name"].as_str().unwrap_or_default()
}

fn function(method: &Value) -> Function<'_> {
    let takes = &method["x-takes"];
    let all = method["params"].as_array().into_iter().flatten();
    // Only the command line addresses devices that are not configured.
    let is_address = |param: &Value| ["url", "token"].contains(&name_of(param)) && name_of(method) != "device.add";
    let param = |param| Param { name: name_of(param), required: param["required"] == true, schema: &param["schema"] };
    Function {
        name: name_of(method),
        about: method["summary"].as_str().unwrap_or_default(),
        key: all.clone().any(|param| name_of(param) == "requestKey"),
        params: all.filter(|param| !is_address(param)).map(param).collect(),
        result: &method["result"]["schema"],
        device: takes["device"] == "reached" || takes["device"] == "observed",
        session: takes["session"] == true,
    }
}

/// Returns the types that the methods and notifications refer to, by name.
fn types<'a>(document: &'a Value, functions: &[Function<'_>]) -> Vec<(&'a str, &'a Value)> {
    let mut wanted: BTreeSet<String> = BTreeSet::new();
    let of_function = |f: &Function<'_>| {
        f.params.iter().map(|p| p.schema.to_string()).chain([f.result.to_string()]).collect::<Vec<_>>()
    };
    let mut texts: Vec<String> = functions.iter().flat_map(of_function).collect();
    texts.push(document["x-notifications"].to_string());
    while let Some(text) = texts.pop() {
        for name in text.split("#/components/schemas/").skip(1).filter_map(|rest| rest.split('"').next()) {
            if wanted.insert(name.to_owned()) {
                texts.push(document["components"]["schemas"][name].to_string());
            }
        }
    }
    let all = document["components"]["schemas"].as_object().into_iter().flatten();
    all.filter(|(name, _)| wanted.contains(*name)).map(|(name, schema)| (name.as_str(), schema)).collect()
}

/// Returns the name of the type that a schema refers to.
fn referred(schema: &Value) -> Option<&str> {
    let reference = schema["$ref"].as_str().or_else(|| schema["allOf"][0]["$ref"].as_str());
    reference.and_then(|r| r.rsplit('/').next())
}

/// Returns the first sentence of a description.
fn first_sentence(schema: &Value) -> &str {
    let text = schema["description"].as_str().unwrap_or_default().split("\n\n").next().unwrap_or_default();
    text.split_inclusive(". ").next().unwrap_or_default().trim()
}

/// Returns whether a field of an object is required.
fn is_required(schema: &Value, field: &str) -> bool {
    schema["required"].as_array().is_some_and(|all| all.iter().any(|name| name == field))
}

/// Returns the namespaces of the methods, outer ones first, each with the functions directly in it.
fn namespaces<'f, 'a>(functions: &'f [Function<'a>]) -> Vec<(Vec<&'a str>, Vec<&'f Function<'a>>)> {
    let mut all: Vec<(Vec<&str>, Vec<&Function<'_>>)> = Vec::new();
    for function in functions {
        let mut path: Vec<&str> = function.name.split('.').collect();
        path.pop();
        for length in 1..=path.len() {
            if !all.iter().any(|(known, _)| *known == path[..length]) {
                all.push((path[..length].to_vec(), Vec::new()));
            }
        }
        if let Some((_, members)) = all.iter_mut().find(|(known, _)| *known == path) {
            members.push(function);
        }
    }
    all
}

/// Joins names to one in Pascal case.
fn pascal(parts: &[&str]) -> String {
    let capital =
        |part: &&str| part.chars().take(1).flat_map(char::to_uppercase).chain(part.chars().skip(1)).collect::<String>();
    parts.iter().map(capital).collect()
}
