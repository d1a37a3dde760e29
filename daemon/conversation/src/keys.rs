//! Context keys: values that an agent need not repeat, such as the current device. They are taken from the arguments of
//! successful tool calls.

use std::collections::BTreeMap;

use afd_proto::conversation::{Message, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum length of a value, in characters.
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

/// The value of a context key, and the time when it was set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextValue {
    /// Value of the context key.
    pub value: String,
    /// Time when the value was set, in Unix milliseconds.
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

/// Renames the given context keys to the canonical names that tool calls also set; for example, `tree_id` becomes
/// `tree`. A canonical key takes precedence over its aliases.
pub fn named(given: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let own = |name: &str| {
        let name = folded(name);
        ALIASES
            .iter()
            .find(|(key, aliases)| *key == name || aliases.contains(&name.as_str()))
            .map(|(key, _)| (*key).to_owned())
    };
    let (itself, others): (Vec<_>, Vec<_>) =
        given.into_iter().partition(|(name, _)| own(name).is_none_or(|key| key == folded(name)));
    let all = others.into_iter().chain(itself);
    all.map(|(name, value)| (own(&name).unwrap_or(name), value)).collect()
}

/// Returns whether a tool result reports that its call failed.
pub fn failed(answer: &Message) -> bool {
    if answer.failed {
        return true;
    }
    let text = answer.content.text();
    match serde_json::from_str(text.trim()) {
        Ok(Value::Object(body)) => {
            // A wrapped result can report a failure, too.
            let inner = ["result", "data", "response", "output"].into_iter().filter_map(|key| body.get(key));
            tells_of_failure(&body)
                || body.get("message").and_then(Value::as_str).is_some_and(reads_as_failure)
                || inner.into_iter().any(|value| match value {
                    Value::Object(body) => tells_of_failure(body),
                    Value::String(text) => {
                        FAILED_STATUS.contains(&text.to_lowercase().as_str()) || reads_as_failure(text)
                    }
                    _ => false,
                })
        }
        _ => reads_as_failure(text.trim()),
    }
}

/// Returns whether a JSON object reports a failure.
fn tells_of_failure(body: &serde_json::Map<String, Value>) -> bool {
    let says = |key: &str, word: &str| {
        body.get(key).is_some_and(|v| v.as_str().is_some_and(|text| text.eq_ignore_ascii_case(word)))
    };
    let no = |key: &str| body.get(key) == Some(&Value::Bool(false)) || says(key, "false");
    let yes = |key: &str| body.get(key) == Some(&Value::Bool(true)) || says(key, "true");
    let filled = |key: &str| {
        body.get(key).is_some_and(|e| {
            !e.is_null()
                && e != &Value::Bool(false)
                && e != ""
                && e != &Value::from(0)
                && e != &Value::Array(Vec::new())
        })
    };
    let status = |key: &str| match body.get(key) {
        Some(Value::String(word)) => {
            let word = word.to_lowercase();
            FAILED_STATUS.contains(&word.as_str()) || word.parse::<u16>().is_ok_and(|code| (400..=599).contains(&code))
        }
        Some(Value::Number(code)) => code.as_u64().is_some_and(|code| (400..=599).contains(&code)),
        _ => false,
    };
    let exit = ["exitCode", "exit_code", "returncode"]
        .iter()
        .any(|key| body.get(*key).and_then(Value::as_i64).is_some_and(|code| code != 0));
    no("success")
        || no("ok")
        || yes("isError")
        || yes("is_error")
        || yes("failed")
        || exit
        || ["error", "errors", "exception"].into_iter().any(filled)
        || ["status", "code", "statusCode", "status_code", "type"].into_iter().any(status)
}

/// Status words that report a failure.
const FAILED_STATUS: &[&str] = &[
    "failed",
    "failure",
    "error",
    "err",
    "fail",
    "timeout",
    "timed_out",
    "denied",
    "unauthorized",
    "forbidden",
    "not_found",
    "aborted",
    "cancelled",
];

/// Lower-case prefixes of text that reports a failure.
const FAILURE_STARTS: &[&str] = &[
    "error",
    "err:",
    "failed",
    "failure",
    "exception",
    "fatal",
    "panic",
    "traceback (most recent call last)",
    "unable to",
    "cannot ",
    "can't ",
    "could not ",
    "couldn't ",
    "timeout",
    "timed out",
    "permission denied",
    "access denied",
    "not found",
    "no such ",
    "command not found",
    "connection refused",
    "connection reset",
    "unauthorized",
    "forbidden",
    "http 4",
    "http 5",
    "http/1.1 4",
    "http/1.1 5",
    "invalid ",
    "fehler",
    "fehlgeschlagen",
    "erreur",
    "échec",
    "fallo",
    "错误",
    "失败",
    "エラー",
    "失敗",
];

/// Returns whether plain text reports a failure: by its first words, by an exception name at the start of its first
/// line, or by a traceback.
fn reads_as_failure(text: &str) -> bool {
    let start: String =
        text.trim_start_matches(|c: char| !c.is_alphanumeric()).chars().take(60).flat_map(char::to_lowercase).collect();
    let begins = |word: &&&str| {
        let rest = start.strip_prefix(**word);
        rest.is_some_and(|rest| {
            !word.ends_with(char::is_alphanumeric)
                || !rest.starts_with(char::is_alphanumeric)
                || word.contains(afd_base::text::is_dense)
                || word.ends_with(['4', '5'])
        })
    };
    // "Error-free", "error: none" and "errors: 0" do not report a failure.
    let denies = ["error-free", "error free", "error: none", "errors: 0", "error: 0", "error: null"]
        .iter()
        .any(|word| start.starts_with(word));
    let named = || {
        text.lines().next().and_then(|line| line.split_whitespace().next()).is_some_and(|word| {
            let name = word.trim_end_matches(':');
            name.len() < word.len() && name.len() > 5 && (name.ends_with("Error") || name.ends_with("Exception"))
        })
    };
    (FAILURE_STARTS.iter().any(|word| begins(&word)) && !denies)
        || text.contains("Traceback (most recent call last)")
        || named()
}

#[cfg(test)]
mod tests {
    use afd_proto::conversation::{Content, Role};
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_set_keys_by_name_or_alias() {
        let Value::Object(arguments) =
            json!({"userinterface_name": "google_tv", "tree_id": 7, "deviceId": "d1", "cart-id": "c9", "x": ""})
        else {
            panic!("an object")
        };
        let call = ToolCall { id: "1".into(), name: "navigate_to_node".into(), arguments, ..ToolCall::default() };
        let tracked = ["interface", "tree", "device", "host", "cartId"].map(str::to_owned);
        let found = set_by_call(&call, &tracked);
        let expected = [("cartId", "c9"), ("device", "d1"), ("interface", "google_tv"), ("tree", "7")];
        assert_eq!(found.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn tool_result_reports_whether_the_call_failed() {
        let answer =
            |text: &str| Message { role: Role::Tool, content: Content::Text(text.into()), ..Message::default() };
        for text in [
            r#"{"success":false}"#,
            r#"{"ok":false}"#,
            r#"{"error":"no such node"}"#,
            r#"{"status":"failed"}"#,
            r#"{"status":"error"}"#,
            r#"{"status":500}"#,
            r#"{"status":"404"}"#,
            r#"{"errors":["x"]}"#,
            r#"{"success":"false"}"#,
            r#"{"result":"error"}"#,
            r#"{"result":{"status":"error"}}"#,
            r#"{"data":{"error":"x"}}"#,
            r#"{"message":"Error: x"}"#,
            "Connection refused",
            r#"{"exit_code":1}"#,
            "Error: no such element",
            "Traceback (most recent call last):\n  File x",
            "ValueError: bad",
            "HTTP 503 Service Unavailable",
            "Timed out after 10 s",
            "cannot reach the device",
        ] {
            assert!(failed(&answer(text)), "{text}");
        }
        for text in [
            r#"{"success":true,"error":null}"#,
            "done",
            "{\"a\":1}",
            "",
            "[1]",
            r#"{"status":"ok"}"#,
            r#"{"result":"3 rows","message":"no errors"}"#,
            r#"{"data":{"error":null}}"#,
            r#"{"status":200,"errors":[]}"#,
            r#"{"code":0}"#,
            "Errors are listed on the second page",
            "error-free run",
            "The error page is open",
            "Invalidated 3 entries",
            "Notfound Street 5",
        ] {
            assert!(!failed(&answer(text)), "{text}");
        }
    }
}
