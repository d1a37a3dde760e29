//! Context keys (seed 004): what an agent need not say again, taken from the calls of tools that succeeded.

use std::collections::BTreeMap;

use afd_proto::conversation::{Message, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The longest value, characters.
const LONGEST: usize = 500;

/// How arguments of tools are called that set the usual keys.
const ALIASES: &[(&str, &[&str])] = &[
    ("interface", &["userinterfacename", "userinterface", "interfacename"]),
    ("tree", &["treeid"]),
    ("host", &["hostname"]),
    ("device", &["deviceid", "devicename"]),
    ("app", &["package", "packagename", "appid"]),
    ("page", &["pageurl", "url", "pagekey"]),
];

/// A value and when it came to be known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// It.
    pub value: String,
    /// UTC milliseconds.
    pub at: i64,
}

fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The values that a call sets.
pub fn of_call(call: &ToolCall, tracked: &[String]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for key in tracked {
        let own = folded(key);
        let aliases = ALIASES.iter().find(|(name, _)| *name == own).map_or(&[][..], |(_, aliases)| aliases);
        let fits = |name: &str| {
            let name = folded(name);
            name == own || aliases.contains(&name.as_str())
        };
        // The name itself goes before what is only called like it.
        let mut values: Vec<(&String, &Value)> = call.arguments.iter().filter(|(name, _)| fits(name)).collect();
        values.sort_by_key(|(name, _)| folded(name) != own);
        let text = values.into_iter().find_map(|(_, value)| match value {
            Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
        if let Some(text) = text.filter(|t| t.chars().count() <= LONGEST) {
            found.insert(key.clone(), text);
        }
    }
    found
}

/// Whether the answer of a tool says that its call failed.
pub fn failed(answer: &Message) -> bool {
    if answer.failed {
        return true;
    }
    let Ok(Value::Object(said)) = serde_json::from_str(answer.content.text().trim()) else { return false };
    let no = |key: &str| said.get(key) == Some(&Value::Bool(false));
    let error = said.get("error").is_some_and(|e| !e.is_null() && e != &Value::Bool(false) && e != "");
    no("success") || no("ok") || error || said.get("isError") == Some(&Value::Bool(true)) || said.get("status") == Some(&"failed".into())
}

#[cfg(test)]
mod tests {
    use afd_proto::conversation::{Content, Role};
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_set_keys_by_any_of_their_names() {
        let Value::Object(arguments) = json!({"userinterface_name": "google_tv", "tree_id": 7, "deviceId": "d1", "cart-id": "c9", "x": ""})
        else {
            panic!("an object")
        };
        let call = ToolCall { id: "1".into(), name: "navigate_to_node".into(), arguments };
        let tracked = ["interface", "tree", "device", "host", "cartId"].map(str::to_owned);
        let found = of_call(&call, &tracked);
        let expected = [("cartId", "c9"), ("device", "d1"), ("interface", "google_tv"), ("tree", "7")];
        assert_eq!(found.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn an_answer_tells_whether_the_call_failed() {
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
