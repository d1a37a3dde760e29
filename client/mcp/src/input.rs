//! Checks the messages of clients before the protocol library reads them. Lone surrogates are replaced, and an invalid
//! message is answered with an error that gives the reason.

use afd_proto::characters::whole_characters;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

/// JSON-RPC error code for text that is not JSON.
const NOT_JSON: i64 = -32700;
/// JSON-RPC error code for JSON that is not a valid request.
const NO_REQUEST: i64 = -32600;
/// JSON-RPC error code for parameters of a wrong type.
const WRONG_PARAMS: i64 = -32602;

/// The members of a message that are checked. The others may be nested to any depth.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Envelope {
    id: Option<Value>,
    method: Option<Value>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

/// A valid message that can be passed on to the protocol library.
#[derive(Debug, PartialEq, Eq)]
pub struct Message {
    /// Text of the message, valid JSON.
    pub text: String,
    /// Method; `None` for a response or a batch.
    pub method: Option<String>,
    /// Whether the message is a request, which expects a response.
    pub is_request: bool,
    /// Id of the message; null if it has none.
    pub id: Value,
}

/// Reads a message.
///
/// # Errors
/// The error response for the client, as JSON, if the message is invalid.
pub fn read(bytes: &[u8]) -> Result<Message, Value> {
    let text = whole_characters(&String::from_utf8_lossy(bytes));
    if let Err(error) = serde_json::from_str::<Value>(&text) {
        // Deeply nested members are skipped without being stored, so the id can still be read.
        let envelope: Envelope = serde_json::from_str(&text).unwrap_or_default();
        let why = error.to_string();
        return Err(if why.starts_with("recursion limit") {
            answer(
                &envelope.id.unwrap_or_default(),
                NO_REQUEST,
                "the message is nested too deep: expected at most 127 levels",
            )
        } else {
            answer(&Value::Null, NOT_JSON, &format!("expected one message as JSON on one line: {why}"))
        });
    }
    if text.trim_start().starts_with('[') {
        return Ok(Message { text, method: None, is_request: false, id: Value::Null });
    }
    let no_object =
        || answer(&Value::Null, NO_REQUEST, "expected a JSON object with \"jsonrpc\", \"id\" and \"method\"");
    let envelope: Envelope = serde_json::from_str(&text).map_err(|_| no_object())?;
    let id = envelope.id.clone().unwrap_or_default();
    let is_response = envelope.result.is_some() || envelope.error.is_some();
    let method = match envelope.method {
        Some(Value::String(method)) => Some(method),
        None if is_response => None,
        _ => return Err(answer(&id, NO_REQUEST, "method: expected the name of a method as text")),
    };
    if method.as_deref() == Some("initialize") {
        let params: Value = serde_json::from_str::<Value>(&text).unwrap_or_default()["params"].take();
        if let Some(version) = params.get("protocolVersion").filter(|v| !v.is_string()) {
            let why = format!("params.protocolVersion: expected text such as \"2025-11-25\", got {}", kind(version));
            return Err(answer(&id, WRONG_PARAMS, &why));
        }
    }
    Ok(Message { text, is_request: method.is_some() && !id.is_null(), method, id })
}

/// Returns an error response.
pub fn answer(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

/// Returns the error response to a request that was sent before `initialize`.
pub fn too_early(message: &Message) -> Value {
    let method = message.method.as_deref().unwrap_or_default();
    answer(
        &message.id,
        NO_REQUEST,
        &format!("{method:?} came before \"initialize\": send that first, then \"notifications/initialized\""),
    )
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_gets_an_answer() {
        let error = |text: &str| read(text.as_bytes()).expect_err("no message");
        assert_eq!(error("hello")["error"]["code"], NOT_JSON);
        let deep =
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":{}{}}}"#, "[".repeat(500), "]".repeat(500));
        assert_eq!((&error(&deep)["id"], &error(&deep)["error"]["code"]), (&json!(7), &json!(NO_REQUEST)));
        assert_eq!(error("3")["error"]["code"], NO_REQUEST);
        let version = error(r#"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":3}}"#);
        assert_eq!(version["id"], "a");
        assert!(
            version["error"]["message"]
                .as_str()
                .is_some_and(|m| m.contains("protocolVersion") && m.contains("a number")),
            "{version}"
        );
        let ping = read(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).expect("a message");
        assert!(ping.is_request && ping.method.as_deref() == Some("ping"));
        assert!(!read(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#).expect("a response").is_request);
    }
}
