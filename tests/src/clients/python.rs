//! Generates the module of the Python client.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Function, first_sentence, functions, is_required, namespaces, pascal, referred, types};

/// Returns the generated module.
pub fn python(document: &Value) -> String {
    let functions = functions(document);
    let mut out = "\"\"\"The methods of afd and the types of their results.\n\nGenerated from the OpenRPC document of the daemon; a test keeps it \
                   up to date. proto/METHODS.md explains each field.\n\"\"\"\n\n# The daemon's answers are what its document says.\n# mypy: \
                   disable-error-code=\"no-any-return\"\n\nfrom __future__ import annotations\n\nfrom typing import Any, \
                   Callable, List, Literal, NotRequired, TypeAlias, TypedDict\n"
        .to_owned();
    let (mut objects, mut aliases) = (String::new(), String::new());
    for (name, schema) in types(document, &functions) {
        // Python evaluates an alias where it is defined, so its parts must come first.
        match schema["properties"].is_object() && schema["oneOf"].is_null() {
            true => objects.push_str(&object(name, schema)),
            false => {
                let _ =
                    write!(aliases, "\n# {}\n{name}: TypeAlias = {}\n", first_sentence(schema), quoted_alias(schema));
            }
        }
    }
    out.push_str(&aliases);
    out.push_str(&objects);
    let namespaces = namespaces(&functions);
    for (path, members) in namespaces.iter().rev() {
        let inner: Vec<&Vec<&str>> = namespaces
            .iter()
            .map(|(other, _)| other)
            .filter(|other| other.len() == path.len() + 1 && other.starts_with(path))
            .collect();
        let _ = write!(
            out,
            "\n\nclass {}Methods:\n    def __init__(self, call: Callable[..., Any]) -> None:\n",
            pascal(path)
        );
        out.push_str("        self._call = call\n");
        for other in inner {
            let _ = writeln!(out, "        self.{} = {}Methods(call)", snake(other[other.len() - 1]), pascal(other));
        }
        members.iter().for_each(|function| out.push_str(&method(function)));
    }
    out.push_str(
        "\n\nclass Api:\n    \"\"\"All methods, by namespace.\"\"\"\n\n    def __init__(self, call: Callable[..., Any]) -> None:\n",
    );
    for (path, _) in namespaces.iter().filter(|(path, _)| path.len() == 1) {
        let _ = writeln!(out, "        self.{} = {}Methods(call)", snake(path[0]), pascal(path));
    }
    out
}

/// Returns an object type. Names that are not identifiers require the functional syntax.
fn object(name: &str, schema: &Value) -> String {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let field = |(field, property): (&String, &Value)| {
        let kind = kind(property);
        let kind = if is_required(schema, field) { kind } else { format!("NotRequired[{kind}]") };
        (field.clone(), kind)
    };
    let fields: Vec<(String, String)> = properties.map(field).collect();
    let about = first_sentence(schema);
    if fields.iter().any(|(field, _)| is_keyword(field)) {
        let fields: Vec<String> = fields.iter().map(|(field, kind)| format!("\"{field}\": {kind:?}")).collect();
        return format!("\n\n# {about}\n{name} = TypedDict(\"{name}\", {{{}}})\n", fields.join(", "));
    }
    let mut out = format!("\n\nclass {name}(TypedDict):\n    \"\"\"{about}\"\"\"\n\n");
    for (field, kind) in fields {
        let _ = writeln!(out, "    {field}: {kind}");
    }
    out
}

/// Returns the right-hand side of an alias. Quotes allow it to refer to types that come later in the module.
fn quoted_alias(schema: &Value) -> String {
    let text = kind(schema);
    if text.starts_with("Literal[") { text } else { format!("{text:?}") }
}

fn method(function: &Function<'_>) -> String {
    let name = function.name.rsplit('.').next().unwrap_or_default();
    let mut signature = String::new();
    let mut params = String::new();
    for param in &function.params {
        let (own, kind) = (snake(param.name), kind(param.schema));
        match param.required {
            true => drop(write!(signature, ", {own}: {kind}")),
            false => drop(write!(signature, ", {own}: {kind} | None = None")),
        }
        let _ = write!(params, "\"{}\": {own}, ", param.name);
    }
    let signature = if signature.is_empty() { String::new() } else { format!(", *{signature}") };
    let params = params.trim_end_matches(", ");
    let flag = |name: &str, set: bool| if set { format!(", {name}=True") } else { String::new() };
    let flags = flag("device", function.device) + &flag("session", function.session) + &flag("key", function.key);
    format!(
        "\n    def {}(self{signature}) -> {}:\n        \"\"\"{}\"\"\"\n        return self._call(\"{}\", {{{params}}}{flags})\n",
        snake(name),
        kind(function.result),
        function.about,
        function.name
    )
}

/// Returns the Python type for a schema.
fn kind(schema: &Value) -> String {
    if let Some(name) = referred(schema) {
        return name.to_owned();
    }
    if let Some(words) = schema["enum"].as_array() {
        return format!("Literal[{}]", words.iter().map(Value::to_string).collect::<Vec<_>>().join(", "));
    }
    if schema["const"].is_string() {
        return format!("Literal[{}]", schema["const"]);
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(all) = schema[key]
            .as_array()
            .filter(|all| !all.is_empty() && all[0]["required"].is_null() || all[0]["type"].is_string())
        {
            let mut kinds: Vec<String> = all.iter().map(kind).collect();
            kinds.dedup();
            return kinds.join(" | ");
        }
    }
    let one = |word: &str| match word {
        "string" => "str".to_owned(),
        "integer" => "int".to_owned(),
        "number" => "float".to_owned(),
        "boolean" => "bool".to_owned(),
        "null" => "None".to_owned(),
        "array" => {
            format!("List[{}]", kind(if schema["items"].is_array() { &schema["items"][0] } else { &schema["items"] }))
        }
        "object" if schema["additionalProperties"].is_object() => {
            format!("dict[str, {}]", kind(&schema["additionalProperties"]))
        }
        _ => "dict[str, Any]".to_owned(),
    };
    match &schema["type"] {
        Value::String(word) => one(word),
        Value::Array(words) => words.iter().filter_map(Value::as_str).map(one).collect::<Vec<_>>().join(" | "),
        _ => "Any".to_owned(),
    }
}

fn is_keyword(name: &str) -> bool {
    matches!(
        name,
        "from"
            | "class"
            | "global"
            | "import"
            | "in"
            | "is"
            | "not"
            | "or"
            | "and"
            | "if"
            | "else"
            | "for"
            | "with"
            | "as"
            | "del"
    )
}

/// Converts a name to snake case; appends an underscore to a Python keyword.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    if is_keyword(&out) { out + "_" } else { out }
}
