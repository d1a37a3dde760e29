//! Tools, resources and prompts with fixed content that the public MCP conformance suite expects of a server under
//! test. They are offered in addition to the regular ones if the variable [`VARIABLE`] is set, and they access neither
//! devices nor the memory.

use rmcp::model::{CallToolResult, GetPromptResult, ProgressNotificationParam, ReadResourceResult, Tool};
use rmcp::service::{RequestContext, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// Environment variable that enables the fixtures.
pub const VARIABLE: &str = "AFMCP_FIXTURES";

/// A PNG picture of a single pixel, in base64.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
/// A WAV file without samples, in base64.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// Returns whether the fixtures are offered.
pub fn are_offered() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty())
}

fn content_of(tool: &str) -> Option<Value> {
    let resource = |uri: &str, kind: &str, text: &str| json!({"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}});
    let picture = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    Some(match tool {
        "test_simple_text" => json!([{"type": "text", "text": "A plain text."}]),
        "test_image_content" => json!([picture]),
        "test_audio_content" => json!([{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]),
        "test_embedded_resource" => json!([resource("test://embedded-resource", "text/plain", "An embedded text.")]),
        "test_multiple_content_types" => {
            json!([{"type": "text", "text": "Several kinds:"}, picture, resource("test://mixed-content-resource", "application/json", "{\"a\":1}")])
        }
        "test_tool_with_progress" => json!([{"type": "text", "text": "Done in three steps."}]),
        "test_error_handling" => json!([{"type": "text", "text": "This tool always fails."}]),
        _ => return None,
    })
}

/// Returns the fixture tools.
pub fn tools() -> Vec<Tool> {
    let names = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_tool_with_progress",
        "test_error_handling",
    ];
    let schema = json!({"type": "object", "properties": {}}).as_object().cloned().unwrap_or_default();
    names.into_iter().map(|name| Tool::new(name, "A fixture of the conformance suite.", schema.clone())).collect()
}

/// Calls a fixture tool. Returns `None` if no fixture tool has this name.
pub async fn call(name: &str, context: &RequestContext<RoleServer>) -> Option<CallToolResult> {
    let content = content_of(name)?;
    if let Some(token) = context.meta.get_progress_token().filter(|_| name == "test_tool_with_progress") {
        for done in [0.0, 50.0, 100.0] {
            let mut told = ProgressNotificationParam::new(token.clone(), done);
            told.total = Some(100.0);
            let _ = context.peer.notify_progress(told).await;
        }
    }
    parsed(json!({"content": content, "isError": name == "test_error_handling"}))
}

/// Reads a fixture resource. Returns `None` if no fixture resource has this URI.
pub fn read(uri: &str) -> Option<ReadResourceResult> {
    let id = || uri.strip_prefix("test://template/")?.strip_suffix("/data");
    let content = match uri {
        "test://static-text" | "test://watched-resource" => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "A fixed text."})
        }
        "test://static-binary" => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
        _ => {
            json!({"uri": uri, "mimeType": "application/json", "text": json!({"id": id()?, "templateTest": true}).to_string()})
        }
    };
    parsed(json!({"contents": [content]}))
}

/// Returns a fixture prompt, or `None` if no fixture prompt has this name.
pub fn prompt(name: &str, arguments: &Map<String, Value>) -> Option<GetPromptResult> {
    let given = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let text = |text: String| json!({"role": "user", "content": {"type": "text", "text": text}});
    let messages = match name {
        "test_simple_prompt" => json!([text("A plain prompt.".to_owned())]),
        "test_prompt_with_arguments" => {
            json!([text(format!("Prompt with arguments: arg1='{}', arg2='{}'", given("arg1"), given("arg2")))])
        }
        "test_prompt_with_embedded_resource" => {
            let resource = json!({"uri": given("resourceUri"), "mimeType": "text/plain", "text": "An embedded text."});
            json!([{"role": "user", "content": {"type": "resource", "resource": resource}}, text("Read it.".to_owned())])
        }
        "test_prompt_with_image" => {
            json!([{"role": "user", "content": {"type": "image", "data": PNG, "mimeType": "image/png"}}, text("Look at it.".to_owned())])
        }
        _ => return None,
    };
    parsed(json!({"messages": messages}))
}

/// Converts JSON to a type of the protocol library.
fn parsed<T: DeserializeOwned>(value: Value) -> Option<T> {
    serde_json::from_value(value).ok()
}
