//! Message formats of language model APIs.

use afd_proto::context::Format;
use afd_proto::conversation::{Content, Message, Part, Role};
use serde_json::{Value, json};

/// Converts messages to a format. Returns the system prompt separately where the format requires it, with each of the texts `system`, of
/// which the system message was made, as a block.
pub fn shaped(messages: &[Message], system: &[String], format: Format) -> (Vec<Value>, Option<Vec<Value>>) {
    match format {
        Format::Afd => (messages.iter().map(|m| json!(m)).collect(), None),
        Format::Openai => (messages.iter().map(openai).collect(), None),
        Format::Anthropic => anthropic(messages, system),
    }
}

fn picture_url(part: &Part) -> Option<String> {
    let Part::Image { data, media_type, url, .. } = part else { return None };
    match data {
        Some(data) => Some(format!("data:{};base64,{data}", media_type.as_deref().unwrap_or("image/png"))),
        None => url.clone(),
    }
}

/// Returns the text of a part; an image that can no longer be sent is replaced by a note.
fn text_fallback(part: &Part) -> String {
    match part {
        Part::Text { text } => text.clone(),
        Part::Image { .. } => "[image no longer available]".to_owned(),
    }
}

fn openai(message: &Message) -> Value {
    let content = match &message.content {
        Content::Text(text) => json!(text),
        Content::Parts(parts) => parts
            .iter()
            .map(|part| match picture_url(part) {
                Some(url) => json!({"type": "image_url", "image_url": {"url": url}}),
                None => json!({"type": "text", "text": text_fallback(part)}),
            })
            .collect(),
    };
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    let mut shaped = json!({"role": role, "content": content});
    if !message.tool_calls.is_empty() {
        let calls = message.tool_calls.iter().map(|c| {
            let arguments = Value::Object(c.arguments.clone()).to_string();
            json!({"id": c.id, "type": "function", "function": {"name": c.name, "arguments": arguments}})
        });
        shaped["tool_calls"] = calls.collect();
        if message.content.is_empty() {
            shaped["content"] = Value::Null;
        }
    }
    if let Some(id) = &message.tool_call_id {
        shaped["tool_call_id"] = json!(id);
    }
    if let Some(name) = message.name.as_ref().filter(|_| message.role != Role::Tool) {
        shaped["name"] = json!(name);
    }
    shaped
}

fn blocks(content: &Content) -> Vec<Value> {
    match content {
        Content::Text(text) if text.is_empty() => Vec::new(),
        Content::Text(text) => vec![json!({"type": "text", "text": text})],
        Content::Parts(parts) => parts
            .iter()
            .map(|part| match part {
                Part::Image { data: Some(data), media_type, .. } => {
                    let media_type = media_type.as_deref().unwrap_or("image/png");
                    json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}})
                }
                Part::Image { url: Some(url), .. } => json!({"type": "image", "source": {"type": "url", "url": url}}),
                other => json!({"type": "text", "text": text_fallback(other)}),
            })
            .collect(),
    }
}

/// Converts to the Anthropic format: leading system messages become the system prompt, and consecutive messages of one role are merged.
fn anthropic(messages: &[Message], system: &[String]) -> (Vec<Value>, Option<Vec<Value>>) {
    let leading = messages.iter().take_while(|m| m.role == Role::System).count();
    let mut shaped: Vec<Value> = Vec::new();
    for message in &messages[leading..] {
        let (role, mut content) = match message.role {
            Role::Assistant => ("assistant", blocks(&message.content)),
            Role::Tool => {
                let answer = blocks(&message.content);
                let block =
                    json!({"type": "tool_result", "tool_use_id": message.tool_call_id, "content": answer, "is_error": message.failed});
                ("user", vec![block])
            }
            Role::User | Role::System => ("user", blocks(&message.content)),
        };
        content.extend(message.tool_calls.iter().map(|c| json!({"type": "tool_use", "id": c.id, "name": c.name, "input": c.arguments})));
        match shaped.last_mut().filter(|last| last["role"] == role) {
            Some(last) => {
                if let Some(list) = last["content"].as_array_mut() {
                    list.extend(content);
                }
            }
            None if content.is_empty() => {}
            None => shaped.push(json!({"role": role, "content": content})),
        }
    }
    (shaped, (!system.is_empty()).then(|| system.iter().map(|text| json!({"type": "text", "text": text})).collect()))
}

#[cfg(test)]
mod tests {
    use afd_proto::conversation::ToolCall;

    use super::*;

    fn message(role: Role, text: &str) -> Message {
        Message { role, content: Content::Text(text.into()), ..Message::default() }
    }

    fn talk() -> Vec<Message> {
        let call = ToolCall { id: "c1".into(), name: "tap".into(), arguments: serde_json::Map::from_iter([("x".to_owned(), json!(1))]) };
        vec![
            message(Role::System, "rules"),
            message(Role::System, "known"),
            message(Role::User, "go"),
            Message { tool_calls: vec![call], ..message(Role::Assistant, "") },
            Message { tool_call_id: Some("c1".into()), ..message(Role::Tool, "done") },
            message(Role::System, "now"),
        ]
    }

    #[test]
    fn openai_format_sends_calls_as_functions() {
        let (shaped, system) = shaped(&talk(), &[], Format::Openai);
        assert!(system.is_none());
        assert_eq!(shaped[3]["tool_calls"][0]["function"], json!({"name": "tap", "arguments": "{\"x\":1}"}));
        assert_eq!((&shaped[3]["content"], &shaped[4]["tool_call_id"]), (&Value::Null, &json!("c1")));
    }

    #[test]
    fn anthropic_format_separates_the_system_prompt_and_alternates_roles() {
        let (shaped, system) = shaped(&talk(), &["rules".to_owned(), "known".to_owned()], Format::Anthropic);
        assert_eq!(system, Some(vec![json!({"type": "text", "text": "rules"}), json!({"type": "text", "text": "known"})]));
        let roles: Vec<&str> = shaped.iter().filter_map(|m| m["role"].as_str()).collect();
        assert_eq!(roles, ["user", "assistant", "user"]);
        assert_eq!(shaped[1]["content"][0]["type"], "tool_use");
        assert_eq!(shaped[2]["content"][0]["tool_use_id"], "c1");
        assert_eq!(shaped[2]["content"][1]["text"], "now");
    }
}
