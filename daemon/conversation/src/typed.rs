//! Redaction of typed text: the arguments of tool calls that type text are redacted before they are stored.
//!
//! It is not known which argument of another program's tool holds the text, so every value in such a call is redacted,
//! except in arguments that say where to type. No message, statement, search entry or context therefore contains a
//! typed password.

use afd_proto::conversation::{Message, ToolCall};
use serde_json::Value;

/// Start of the placeholder for typed text. It is followed by the length of the text.
const MARK: &str = "[typed text: ";

/// Arguments that say where to type, lower-case and without punctuation.
const PLACES: &[&str] = &[
    "by",
    "value",
    "ref",
    "element",
    "elementid",
    "target",
    "selector",
    "label",
    "field",
    "name",
    "resid",
    "resourceid",
    "xpath",
    "css",
    "path",
    "role",
    "id",
    "device",
    "deviceid",
    "session",
    "index",
    "app",
    "package",
    "page",
    "url",
    "observationid",
    "locator",
    "requestkey",
    "then",
    "action",
    "method",
    "command",
    "tool",
    "coordinate",
];

/// Returns the placeholder for typed text.
fn mark(text: &str) -> String {
    format!("{MARK}{} characters]", text.chars().count())
}

/// Returns whether `text` contains the placeholder for typed text. Such text must not be typed, because it is not the
/// original.
pub fn is_marked(text: &str) -> bool {
    text.find(MARK).is_some_and(|at| {
        text[at + MARK.len()..].trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(" characters]")
    })
}

/// Returns whether a tool types text. Ignoring case, its name must be in the list, or end with a separator and a name
/// from the list (`mcp__phone__type_text`).
fn types(name: &str, list: &[String]) -> bool {
    let name = name.to_lowercase();
    list.iter().map(|known| known.to_lowercase()).any(|known| {
        name == known
            || name.strip_suffix(&known).is_some_and(|before| before.ends_with(|c: char| !c.is_alphanumeric()))
    })
}

/// Returns whether a call types text: by the name of the tool, or by the requested action of a tool with several
/// actions (`computer` with the action `type`, `rpc` with the method `act.text`).
fn call_types(call: &ToolCall, list: &[String]) -> bool {
    let asked =
        ["action", "method", "command", "tool"].into_iter().filter_map(|name| call.arguments.get(name)?.as_str());
    types(&call.name, list) || asked.into_iter().any(|asked| types(asked, list))
}

/// Redacts the typed text in the tool calls of messages, and repetitions of that text in the results of these calls.
pub fn blot(messages: &mut [Message], list: &[String]) {
    let mut typed: Vec<(String, Vec<String>)> = Vec::new();
    for message in messages {
        for call in message.tool_calls.iter_mut().filter(|call| call_types(call, list)) {
            let mut texts = Vec::new();
            let has_text = call.arguments.keys().any(|name| folded(name) == "text");
            for (name, value) in &mut call.arguments {
                // `value` is the selector if the call also has a `text`; otherwise it is the typed text.
                let place = PLACES.contains(&folded(name).as_str()) && (has_text || folded(name) != "value");
                if !place {
                    blot_value(value, &mut texts);
                }
            }
            typed.push((call.id.clone(), texts));
        }
        let Some((_, texts)) = typed.iter().find(|(id, _)| Some(id) == message.tool_call_id.as_ref()) else { continue };
        blot_content(message, texts);
    }
}

fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn blot_value(value: &mut Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if !text.is_empty() && !is_marked(text) => {
            texts.push(text.clone());
            *text = mark(text);
        }
        Value::Number(number) => {
            texts.push(number.to_string());
            *value = Value::String(mark(&texts[texts.len() - 1]));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| blot_value(item, texts)),
        Value::Object(members) => members.values_mut().for_each(|member| blot_value(member, texts)),
        _ => {}
    }
}

/// Minimum length at which typed text is redacted in results, in characters. Shorter text can be part of other words.
const MIN_REPEATED: usize = 4;

fn blot_content(message: &mut Message, texts: &[String]) {
    use afd_proto::conversation::{Content, Part};
    let clean = |text: &mut String| {
        for typed in texts.iter().filter(|t| t.chars().count() >= MIN_REPEATED) {
            if text.contains(typed.as_str()) {
                *text = text.replace(typed.as_str(), &mark(typed));
            }
        }
    };
    match &mut message.content {
        Content::Text(text) => clean(text),
        Content::Parts(parts) => parts.iter_mut().for_each(|part| {
            if let Part::Text { text } = part {
                clean(text);
            }
        }),
    }
}

#[cfg(test)]
mod tests {
    use afd_proto::conversation::{Content, Role, ToolCall};
    use serde_json::json;

    use super::*;

    fn call(name: &str, arguments: Value) -> Message {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        Message {
            role: Role::Assistant,
            tool_calls: vec![ToolCall { id: "c".into(), name: name.into(), arguments, ..ToolCall::default() }],
            ..Message::default()
        }
    }

    #[test]
    fn typed_text_is_blotted_and_its_target_is_not() {
        let list = ["type_text".to_owned(), "act.fill".to_owned()];
        let result = |text: &str| Message {
            role: Role::Tool,
            tool_call_id: Some("c".into()),
            content: Content::Text(text.into()),
            ..Message::default()
        };
        for (name, arguments) in [
            ("type_text", json!({"by": "label", "value": "Password", "text": "hunter22"})),
            ("mcp__phone__type_text", json!({"element": "Password", "content": "hunter22"})),
            ("act.fill", json!({"fields": {"Password": "hunter22"}, "device": "pixel"})),
            ("type_text", json!({"value": "hunter22"})),
            ("Type_Text", json!({"content": "hunter22"})),
            ("computer", json!({"action": "type_text", "text": "hunter22"})),
            ("rpc", json!({"method": "act.fill", "params": {"text": "hunter22"}})),
        ] {
            let mut said = [call(name, arguments.clone()), result("typed hunter22 into Password")];
            blot(&mut said, &list);
            let stored = serde_json::to_string(&said).expect("serialises");
            assert!(!stored.contains("hunter22") && stored.contains("[typed text: 8 characters]"), "{stored}");
            assert_eq!(
                arguments.to_string().contains("Password"),
                serde_json::to_string(&said[0]).expect("serialises").contains("Password")
            );
        }
        let mut other = [call("search", json!({"text": "hunter22"}))];
        blot(&mut other, &list);
        assert_eq!(other[0].tool_calls[0].arguments["text"], "hunter22", "another tool is left alone");
        assert!(is_marked("[typed text: 8 characters]") && !is_marked("[typed text: x]"));
    }
}
