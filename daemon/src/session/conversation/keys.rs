//! Context keys: values an agent need not repeat, such as the current device, taken from the arguments of successful tool calls.

use std::collections::BTreeMap;

use afd_proto::conversation::{Message, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum length of a value, characters.
const MAX_CHARS: usize = 500;

/// Argument names, lower-case and without punctuation, that set each of the default keys.
const ALIASES: &[(&str, &[&str])] = &[
    ("interface", &["userinterfacename", "userinterface", "interfacename"]),
    ("tree", &["treeid"]),
    ("host", &["hostname"]),
    ("device", &["deviceid", "devicename"]),
    ("app", &["package", "packagename", "appid"]),
    ("page", &["pageurl", "url", "pagekey"]),
];

/// A value and the time it was set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextValue {
    /// The value.
    pub value: String,
    /// Time it was set, UTC milliseconds.
    pub at: i64,
}

fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns the tracked keys that a tool call sets, with their values.
pub fn set_by_call(call: &ToolCall, tracked: &[String]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for key in tracked {
        let own = folded(key);
        let aliases = ALIASES.iter().find(|(name, _)| *name == own).map_or(&[][..], |(_, aliases)| aliases);
        let fits = |name: &str| {
            let name = folded(name);
            name == own || aliases.contains(&name.as_str())
        };
        // The key itself takes precedence over its aliases.
        let mut values: Vec<(&String, &Value)> = call.arguments.iter().filter(|(name, _)| fits(name)).collect();
        values.sort_by_key(|(name, _)| folded(name) != own);
        let text = values.into_iter().find_map(|(_, value)| match value {
            Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
        if let Some(text) = text.filter(|t| t.chars().count() <= MAX_CHARS) {
            found.insert(key.clone(), text);
        }
    }
    found
}

/// Returns whether a tool result reports that its call failed.
pub fn failed(answer: &Message) -> bool {
    if answer.failed {
        return true;
    }
    let Ok(Value::Object(body)) = serde_json::from_str(answer.content.text().trim()) else { return false };
    let no = |key: &str| body.get(key) == Some(&Value::Bool(false));
    let error = body.get("error").is_some_and(|e| !e.is_null() && e != &Value::Bool(false) && e != "");
    no("success") || no("ok") || error || body.get("isError") == Some(&Value::Bool(true)) || body.get("status") == Some(&"failed".into())
}

#[cfg(test)]
mod tests {
    use afd_proto::conversation::{Content, Role};
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_set_keys_by_name_or_alias() {
        let Value::Object(arguments) = json!({"userinterface_name": "google_tv", "tree_id": 7, "deviceId": "d1", "cart-id": "c9", "x": ""})
        else {
            panic!("an object")
        };
        let call = ToolCall { id: "1".into(), name: "navigate_to_node".into(), arguments };
        let tracked = ["interface", "tree", "device", "host", "cartId"].map(str::to_owned);
        let found = set_by_call(&call, &tracked);
        let expected = [("cartId", "c9"), ("device", "d1"), ("interface", "google_tv"), ("tree", "7")];
        assert_eq!(found.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn tool_result_reports_whether_the_call_failed() {
        let answer = |text: &str| Message {
            role: Role::Tool,
            content: Content::Text(text.into()),
            tool_calls: Vec::new(),
            tool_call_id: None,
            name: None,
            failed: false,
        };
        for text in [r#"{"success":false}"#, r#"{"ok":false}"#, r#"{"error":"no such node"}"#, r#"{"status":"failed"}"#] {
            assert!(failed(&answer(text)), "{text}");
        }
        for text in [r#"{"success":true,"error":null}"#, "done", "{\"a\":1}", "", "[1]"] {
            assert!(!failed(&answer(text)), "{text}");
        }
    }
}
