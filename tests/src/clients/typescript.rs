//! Generates the module of the TypeScript client.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Function, first_sentence, functions, is_required, namespaces, pascal, referred, types};

/// Returns the generated module.
pub fn typescript(document: &Value) -> String {
    let functions = functions(document);
    let mut out = "// The methods of afd and the types of their results.\n//\n// Generated from the OpenRPC document of the daemon; a test keeps \
                   it up to date. proto/METHODS.md explains each field.\n\n/** Makes a call; the client adds its device, its session and a key \
                   where the method takes them. */\nexport type Call = (method: string, params: object, adds: Adds) => Promise<any>;\n\n/** \
                   What the client adds. */\nexport interface Adds {\n  device?: boolean;\n  session?: boolean;\n  key?: boolean;\n}\n"
        .to_owned();
    for (name, schema) in types(document, &functions) {
        let about = first_sentence(schema);
        let kind = kind(schema);
        let _ = match kind.starts_with('{') && schema["oneOf"].is_null() {
            true => write!(out, "\n/** {about} */\nexport interface {name} {kind}\n"),
            false => write!(out, "\n/** {about} */\nexport type {name} = {kind};\n"),
        };
    }
    let namespaces = namespaces(&functions);
    for (path, members) in namespaces.iter().rev() {
        let _ = write!(out, "\nexport class {}Methods {{\n", pascal(path));
        let inner = namespaces
            .iter()
            .map(|(other, _)| other)
            .filter(|other| other.len() == path.len() + 1 && other.starts_with(path));
        let inner: Vec<&Vec<&str>> = inner.collect();
        for other in &inner {
            let _ = writeln!(out, "  readonly {}: {}Methods;", other[other.len() - 1], pascal(other));
        }
        out.push_str("  readonly #call: Call;\n  constructor(call: Call) {\n    this.#call = call;\n");
        for other in inner {
            let _ = writeln!(out, "    this.{} = new {}Methods(call);", other[other.len() - 1], pascal(other));
        }
        out.push_str("  }\n");
        members.iter().for_each(|function| out.push_str(&method(function)));
        out.push_str("}\n");
    }
    out.push_str("\n/** All methods, by namespace. */\nexport class Api {\n");
    let outer: Vec<&str> = namespaces.iter().filter(|(path, _)| path.len() == 1).map(|(path, _)| path[0]).collect();
    for name in &outer {
        let _ = writeln!(out, "  readonly {name}: {}Methods;", pascal(&[name]));
    }
    out.push_str("  constructor(call: Call) {\n");
    for name in &outer {
        let _ = writeln!(out, "    this.{name} = new {}Methods(call);", pascal(&[name]));
    }
    out.push_str("  }\n}\n");
    out
}

fn method(function: &Function<'_>) -> String {
    let name = function.name.rsplit('.').next().unwrap_or_default();
    let fields: Vec<String> = function
        .params
        .iter()
        .map(|param| format!("{}{}: {}", param.name, if param.required { "" } else { "?" }, kind(param.schema)))
        .collect();
    let is_optional = function.params.iter().all(|param| !param.required);
    let default = if is_optional { " = {}" } else { "" };
    let params =
        if fields.is_empty() { String::new() } else { format!("params: {{ {} }}{default}", fields.join("; ")) };
    let given = if fields.is_empty() { "{}" } else { "params" };
    let adds = [("device", function.device), ("session", function.session), ("key", function.key)];
    let adds: Vec<String> = adds.iter().filter(|(_, set)| *set).map(|(name, _)| format!("{name}: true")).collect();
    let adds = if adds.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", adds.join(", ")) };
    let body = format!("return this.#call(\"{}\", {given}, {adds});", function.name);
    format!(
        "\n  /** {} */\n  {name}({params}): Promise<{}> {{\n    {body}\n  }}\n",
        function.about,
        kind(function.result)
    )
}

/// Returns the TypeScript type for a schema.
fn kind(schema: &Value) -> String {
    if let Some(name) = referred(schema) {
        return name.to_owned();
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    if schema["const"].is_string() {
        return schema["const"].to_string();
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(all) = schema[key]
            .as_array()
            .filter(|all| !all.is_empty() && all[0]["required"].is_null() || all[0]["type"].is_string())
        {
            let own = object(schema).map(|own| format!("{own} & ")).unwrap_or_default();
            return format!("{own}({})", all.iter().map(kind).collect::<Vec<_>>().join(" | "));
        }
    }
    if let Some(object) = object(schema) {
        return object;
    }
    let one = |word: &str| match word {
        "string" | "boolean" | "null" => word.to_owned(),
        "integer" | "number" => "number".to_owned(),
        "array" => {
            let item = kind(if schema["items"].is_array() { &schema["items"][0] } else { &schema["items"] });
            if item.contains(' ') { format!("({item})[]") } else { format!("{item}[]") }
        }
        "object" if schema["additionalProperties"].is_object() => {
            format!("Record<string, {}>", kind(&schema["additionalProperties"]))
        }
        _ => "Record<string, unknown>".to_owned(),
    };
    match &schema["type"] {
        Value::String(word) => one(word),
        Value::Array(words) => words.iter().filter_map(Value::as_str).map(one).collect::<Vec<_>>().join(" | "),
        _ => "unknown".to_owned(),
    }
}

/// Returns the type of an object with known fields.
fn object(schema: &Value) -> Option<String> {
    let properties = schema["properties"].as_object()?;
    let mut out = "{\n".to_owned();
    for (field, property) in properties {
        let optional = if is_required(schema, field) { "" } else { "?" };
        let _ = writeln!(out, "  {field}{optional}: {};", kind(property).replace('\n', "\n  "));
    }
    out.push('}');
    Some(out)
}
