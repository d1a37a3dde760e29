//! Generates pages from the contract, and compares them with those in the repository.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::Value;

/// Returns the path of a file of the repository.
pub fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Checks that a file has exactly this text. With `UPDATE_DOCS` set, writes it instead.
///
/// # Panics
/// If the file differs.
pub fn assert_page(path: &str, text: &str) {
    let file = repository(path);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, text).expect("writes the page");
        return;
    }
    let current = std::fs::read_to_string(&file).unwrap_or_default();
    let differing = current.lines().zip(text.lines()).position(|(a, b)| a != b);
    assert!(
        current == text,
        "{path} is out of date (first difference in line {:?}); UPDATE_DOCS=1 cargo test --workspace docs:: writes it",
        differing.map(|i| i + 1)
    );
}

/// Returns the text of a page with the section between two markers replaced.
///
/// # Panics
/// If a marker is missing.
pub fn with_section(page: &str, name: &str, section: &str) -> String {
    let (begin, end) = (format!("<!-- {name}: generated -->\n"), format!("<!-- {name}: end -->"));
    let (head, rest) = page.split_once(&begin).unwrap_or_else(|| panic!("no marker {begin}"));
    let (_, tail) = rest.split_once(&end).unwrap_or_else(|| panic!("no marker {end}"));
    format!("{head}{begin}{section}{end}{tail}")
}

/// Returns the reference page of an OpenRPC document.
pub fn method_reference(document: &Value) -> String {
    let mut out =
        "# Methods\n\nGenerated from the OpenRPC document (`afctl rpc rpc.discover`); a test keeps it up to date.\n\n"
            .to_owned();
    out.push_str(
        "Parameters are one flat JSON object. Optional parameters may be left out or null. Effects: `read` only reads, `act` acts on the\n",
    );
    out.push_str("device, `admin` changes the daemon, its memory or its settings. Every method may also answer ");
    let words =
        |codes: &[afd_proto::ErrorCode]| codes.iter().map(|code| format!("`{code}`")).collect::<Vec<_>>().join(", ");
    let _ = writeln!(out, "{}; every", words(afd_proto::COMMON_ERRORS));
    let _ = writeln!(out, "method with a `requestKey` also {}.", words(afd_proto::WRITE_ERRORS));
    let mut namespace = "";
    for method in items(&document["methods"]) {
        let name = method["name"].as_str().unwrap_or_default();
        let (group, _) = name.split_once('.').unwrap_or((name, ""));
        if group != namespace {
            namespace = group;
            let _ = write!(out, "\n## {namespace}\n");
        }
        out.push_str(&method_section(name, method));
    }
    out.push_str("\n# Types\n");
    for (name, schema) in document["components"]["schemas"].as_object().into_iter().flatten() {
        if !name.ends_with("Params") {
            out.push_str(&type_section(name, schema));
        }
    }
    out.push_str(&error_section(&document["components"]["errors"]));
    out
}

/// Returns the errors that are listed once, at the top of the page.
fn common_errors() -> impl Iterator<Item = &'static afd_proto::ErrorCode> {
    afd_proto::COMMON_ERRORS.iter().chain(afd_proto::WRITE_ERRORS)
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns a description on one line, for a table cell.
fn cell(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|")
}

fn method_section(name: &str, method: &Value) -> String {
    let mut out =
        format!("\n### {name}\n\n{} Effect: `{}`.\n", cell_of(&method["summary"]), cell_of(&method["x-effect"]));
    let params = items(&method["params"]);
    if !params.is_empty() {
        out.push_str("\n| parameter | type | | meaning |\n|---|---|---|---|\n");
        for param in params {
            let required = (param["required"] == true).then(|| "required".to_owned());
            let limits: Vec<String> = required.into_iter().chain(limits_of(&param["schema"])).collect();
            let _ = writeln!(
                out,
                "| `{}` | {} | {} | {} |",
                cell_of(&param["name"]),
                type_of(&param["schema"]),
                limits.join("; "),
                cell(param)
            );
        }
    }
    let _ = write!(out, "\nResult: {}.", type_of(&method["result"]["schema"]));
    let errors: Vec<String> = items(&method["errors"])
        .iter()
        .filter_map(|e| e["$ref"].as_str()?.rsplit('/').next())
        .filter(|code| common_errors().all(|c| c.name() != *code))
        .map(|code| format!("`{code}`"))
        .collect();
    if !errors.is_empty() {
        let _ = write!(out, " Errors: {}.", errors.join(", "));
    }
    let example: serde_json::Map<String, Value> = items(&method["examples"][0]["params"])
        .iter()
        .map(|p| (cell_of(&p["name"]).to_owned(), p["value"].clone()))
        .collect();
    let _ = write!(
        out,
        "\n\n```json\n{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{name}\",\"params\":{}}}\n```\n",
        Value::Object(example)
    );
    out
}

fn cell_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the limits and the default of a parameter.
fn limits_of(schema: &Value) -> Vec<String> {
    let range = |from: &str, to: &str, what: &str| {
        let (from, to) = (&schema[from], &schema[to]);
        match from.as_f64() {
            _ if to.is_null() => None,
            Some(least) if least != 0.0 => Some(format!("{from} to {to}{what}")),
            _ => Some(format!("at most {to}{what}")),
        }
    };
    let default = Some(&schema["default"])
        .filter(|value| !value.is_null() && **value != false)
        .map(|value| format!("default `{value}`"));
    let ranges = [
        range("minimum", "maximum", ""),
        range("minLength", "maxLength", " characters"),
        range("minItems", "maxItems", " items"),
    ];
    ranges.into_iter().chain([default]).flatten().collect()
}

/// Describes a type, with links to the types further down the page.
fn type_of(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|r| r.rsplit('/').next()) {
        return format!("[{name}](#{})", name.to_lowercase());
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        let parts: Vec<String> = items(&schema[key]).iter().map(type_of).filter(|t| t != "null").collect();
        if !parts.is_empty() {
            return parts.join(" or ");
        }
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).filter(|t| *t != "null").collect(),
        other => other.as_str().into_iter().collect(),
    };
    match types.as_slice() {
        [] => schema["const"].as_str().map_or_else(|| "any".to_owned(), |word| format!("`{word}`")),
        ["array"] => format!("list of {}", type_of(&schema["items"])),
        ["object"] if schema["additionalProperties"].is_object() => {
            format!("map of {}", type_of(&schema["additionalProperties"]))
        }
        types => types.join(" or "),
    }
}

fn type_section(name: &str, schema: &Value) -> String {
    let mut out = format!("\n### {name}\n\n{}\n", cell(schema));
    if schema["enum"].is_array() {
        let (about, words) = cell_of(&schema["description"]).split_once("\n\n").unwrap_or_default();
        return format!("\n### {name}\n\n{about}\n\n- {}\n", words.replace("\n\n", "\n- "));
    }
    out.push_str(&fields(schema));
    for variant in items(&schema["oneOf"]).iter().chain(items(&schema["anyOf"])) {
        let table = fields(variant);
        if !table.is_empty() {
            let _ = write!(out, "\n{}\n{table}", cell(variant));
        }
    }
    out
}

fn fields(schema: &Value) -> String {
    let Some(properties) = schema["properties"].as_object() else { return String::new() };
    let mut out = "\n| field | type | | meaning |\n|---|---|---|---|\n".to_owned();
    for (name, field) in properties {
        let optional = if items(&schema["required"]).iter().any(|r| r == name) { "" } else { "optional" };
        let _ = writeln!(out, "| `{name}` | {} | {optional} | {} |", type_of(field), cell(field));
    }
    out
}

fn error_section(errors: &Value) -> String {
    let mut out =
        "\n# Errors\n\n`error.data` is an [ErrorData](#errordata).\n\n| code | number | retryable | meaning |\n|---|---|---|---|\n"
            .to_owned();
    for (code, error) in errors.as_object().into_iter().flatten() {
        let retryable = if error["data"]["retryable"] == true { "yes" } else { "" };
        let _ = writeln!(out, "| `{code}` | {} | {retryable} | {} |", error["code"], cell_of(&error["message"]));
    }
    out
}
