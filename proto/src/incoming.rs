//! Messages in the formats that clients use: objects as serialised by the OpenAI and Anthropic libraries, parts in
//! Gemini's format, plain strings, and the native format.
//!
//! Unknown fields are not rejected but stored in `Message::extra`. A message in Anthropic's format that contains tool
//! results becomes one `tool` message per result, and one message for the other content.

use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::message::{Content, Message, Part, Role, ToolCall};

/// Deserialises a list of messages in any of the accepted formats.
pub(crate) fn messages<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Message>, D::Error> {
    struct List;
    impl<'de> Visitor<'de> for List {
        type Value = Vec<Message>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list of messages")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut found = Vec::new();
            while let Some(Incoming(messages)) = list.next_element()? {
                found.extend(messages);
            }
            Ok(found)
        }
    }
    deserializer.deserialize_seq(List)
}

/// Deserialises a list of texts, or a single one.
pub(crate) fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Texts;
    impl<'de> Visitor<'de> for Texts {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list of texts")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            Ok(vec![text.to_owned()])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut found = Vec::new();
            while let Some(text) = list.next_element()? {
                found.push(text);
            }
            Ok(found)
        }
    }
    deserializer.deserialize_any(Texts)
}

/// Native messages that one client message is converted to.
struct Incoming(Vec<Message>);

impl<'de> serde::Deserialize<'de> for Incoming {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct One;
        impl<'de> Visitor<'de> for One {
            type Value = Incoming;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a message, or the text of a user's message")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                let content = Content::Text(text.to_owned());
                Ok(Incoming(vec![Message { role: Role::User, content, ..Message::default() }]))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Ok(Incoming(read(map)?))
            }
        }
        deserializer.deserialize_any(One)
    }
}

/// Reads the fields of a message one by one, so that an error names the field.
fn read<'de, A: MapAccess<'de>>(mut map: A) -> Result<Vec<Message>, A::Error> {
    let mut message = Message::default();
    let (mut role, mut blocks) = (None, Blocks::default());
    while let Some(key) = map.next_key::<String>()? {
        match key.as_str() {
            "role" => role = Some(map.next_value::<IncomingRole>()?.0),
            "content" => blocks.add(map.next_value()?),
            "parts" => blocks.add(map.next_value()?),
            "function_call" => message.tool_calls.extend(map.next_value::<Option<ToolCall>>()?),
            "toolCalls" | "tool_calls" => {
                message.tool_calls.extend(map.next_value::<Option<Vec<ToolCall>>>()?.unwrap_or_default());
            }
            "toolCallId" | "tool_call_id" => message.tool_call_id = map.next_value()?,
            "name" | "tool_name" => message.name = map.next_value()?,
            "failed" | "is_error" => message.failed = map.next_value::<Option<bool>>()?.unwrap_or_default(),
            _ => {
                message.extra.insert(key, map.next_value()?);
            }
        }
    }
    message.role = role.ok_or_else(|| A::Error::missing_field("role"))?;
    if let Some(text) = message.extra.get("refusal").and_then(Value::as_str).filter(|_| blocks.parts.is_empty()) {
        blocks.parts.push(Part::Text { text: text.to_owned() });
        blocks.is_text = true;
    }
    message.tool_calls.extend(std::mem::take(&mut blocks.calls));
    let results = std::mem::take(&mut blocks.results);
    let is_empty = blocks.parts.is_empty() && message.tool_calls.is_empty();
    if !blocks.others.is_empty() {
        message.extra.insert("blocks".to_owned(), Value::Array(std::mem::take(&mut blocks.others)));
    }
    message.content = blocks.content();
    let mut found = results;
    if found.is_empty() || !is_empty {
        found.push(message);
    }
    Ok(found)
}

/// A message role as named by any of the providers.
struct IncomingRole(Role);

impl<'de> serde::Deserialize<'de> for IncomingRole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        let role = match word.as_str() {
            "developer" | "system" => Role::System,
            "user" | "human" => Role::User,
            "assistant" | "model" => Role::Assistant,
            "tool" | "function" => Role::Tool,
            _ => return Err(D::Error::unknown_variant(&word, &["system", "developer", "user", "assistant", "tool"])),
        };
        Ok(Self(role))
    }
}

/// Content of a message, sorted by kind.
#[derive(Default)]
struct Blocks {
    /// Text and picture parts.
    parts: Vec<Part>,
    /// Whether the content was a string rather than a list.
    is_text: bool,
    calls: Vec<ToolCall>,
    /// Tool results, each as a separate message.
    results: Vec<Message>,
    /// Blocks that are stored but not interpreted, such as reasoning.
    others: Vec<Value>,
}

fn text_of(fields: &Map<String, Value>, name: &str) -> Option<String> {
    fields.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn tool_use(fields: &Map<String, Value>) -> ToolCall {
    let known = ["type", "id", "name", "input"];
    let mut extra: Map<String, Value> = fields
        .iter()
        .filter(|(name, _)| !known.contains(&name.as_str()))
        .map(|(n, v)| (n.clone(), v.clone()))
        .collect();
    if !extra.is_empty() {
        extra.insert("type".to_owned(), "tool_use".into());
    }
    ToolCall {
        id: text_of(fields, "id").unwrap_or_default(),
        name: text_of(fields, "name").unwrap_or_default(),
        arguments: fields.get("input").and_then(Value::as_object).cloned().unwrap_or_default(),
        extra,
    }
}

fn tool_result(fields: &Map<String, Value>) -> Result<Message, String> {
    let content: Blocks =
        serde_json::from_value(fields.get("content").cloned().unwrap_or_default()).map_err(|e| e.to_string())?;
    let mut extra = Map::new();
    if !content.others.is_empty() {
        extra.insert("blocks".to_owned(), Value::Array(content.others.clone()));
    }
    Ok(Message {
        role: Role::Tool,
        content: content.content(),
        extra,
        tool_call_id: text_of(fields, "tool_use_id"),
        failed: fields.get("is_error").and_then(Value::as_bool).unwrap_or(false),
        ..Message::default()
    })
}

impl Blocks {
    fn content(mut self) -> Content {
        match self.parts.as_mut_slice() {
            [] => Content::default(),
            [Part::Text { text }] if self.is_text => Content::Text(std::mem::take(text)),
            _ => Content::Parts(self.parts),
        }
    }

    fn push(&mut self, block: Value) -> Result<(), String> {
        let Value::Object(fields) = &block else {
            let Value::String(text) = block else { return Err("a text, or a list of blocks".to_owned()) };
            self.parts.push(Part::Text { text });
            return Ok(());
        };
        if self.push_gemini(fields) {
            return Ok(());
        }
        let text = |name: &str| text_of(fields, name);
        match fields.get("type").and_then(Value::as_str).unwrap_or("text") {
            "text" | "input_text" | "output_text" => {
                self.parts.push(Part::Text { text: text("text").ok_or("a block of type text needs `text`")? });
            }
            "refusal" => self.parts.push(Part::Text { text: text("refusal").unwrap_or_default() }),
            "image" | "image_url" | "input_image" => match picture(fields) {
                Part::Image { data: None, artifact: None, url: None, .. } => {
                    // The provider stores this picture under an id of its own.
                    self.parts.push(Part::Text { text: "[picture that is kept elsewhere]".to_owned() });
                    self.others.push(block);
                }
                picture => self.parts.push(picture),
            },
            "tool_use" => self.calls.push(tool_use(fields)),
            "tool_result" => self.results.push(tool_result(fields)?),
            "thinking" | "redacted_thinking" | "reasoning" => self.others.push(block),
            _ => {
                let said = said(&block);
                if !said.is_empty() {
                    self.parts.push(Part::Text { text: said });
                }
                self.others.push(block);
            }
        }
        Ok(())
    }

    /// Adds the fields as a part if they are in Gemini's format, and returns whether they are.
    fn push_gemini(&mut self, fields: &Map<String, Value>) -> bool {
        let object = |names: [&str; 2]| names.iter().find_map(|name| fields.get(*name)).and_then(Value::as_object);
        let text = |of: &Map<String, Value>, name: &str| of.get(name).and_then(Value::as_str).map(str::to_owned);
        if let Some(call) = object(["functionCall", "function_call"]) {
            let others = fields.iter().filter(|(name, _)| !["functionCall", "function_call"].contains(&name.as_str()));
            self.calls.push(ToolCall {
                id: text(call, "id").unwrap_or_default(),
                name: text(call, "name").unwrap_or_default(),
                arguments: call.get("args").and_then(Value::as_object).cloned().unwrap_or_default(),
                extra: others.map(|(name, value)| (name.clone(), value.clone())).collect(),
            });
            return true;
        }
        if let Some(result) = object(["functionResponse", "function_response"]) {
            let answer = result.get("response").map(Value::to_string).unwrap_or_default();
            self.results.push(Message {
                role: Role::Tool,
                content: Content::Text(answer),
                tool_call_id: text(result, "id"),
                name: text(result, "name"),
                ..Message::default()
            });
            return true;
        }
        if let Some(data) = object(["inlineData", "inline_data"]).filter(|d| d.contains_key("data")) {
            let media_type = text(data, "mimeType").or_else(|| text(data, "mime_type"));
            let picture = Part::Image {
                data: text(data, "data"),
                media_type,
                artifact: None,
                url: None,
                width: None,
                height: None,
            };
            self.parts.push(picture);
            return true;
        }
        false
    }

    /// Adds the blocks of another list.
    fn add(&mut self, more: Self) {
        self.is_text = more.is_text && self.parts.is_empty();
        self.parts.extend(more.parts);
        self.calls.extend(more.calls);
        self.results.extend(more.results);
        self.others.extend(more.others);
    }
}

/// Names of block fields that contain human-readable text.
const SAID: &[&str] = &["text", "title", "context", "transcript", "content"];
/// Maximum depth to which a block is searched for text.
const MAX_DEPTH: usize = 16;

/// Returns the text in a block of an unknown type, such as a resource, a document or a search result.
fn said(block: &Value) -> String {
    let mut texts = Vec::new();
    collect(block, MAX_DEPTH, &mut texts);
    texts.join("\n")
}

fn collect(value: &Value, depth: usize, texts: &mut Vec<String>) {
    let take = |text: &str, texts: &mut Vec<String>| {
        if !text.trim().is_empty() {
            texts.push(text.to_owned());
        }
    };
    match value {
        _ if depth == 0 => {}
        Value::Array(items) => items.iter().for_each(|item| match item {
            Value::String(text) => take(text, texts),
            item => collect(item, depth - 1, texts),
        }),
        Value::Object(fields) => {
            // A text document has its text in `data`, next to its media type.
            let is_text =
                fields.get("media_type").and_then(Value::as_str).is_some_and(|kind| kind.starts_with("text/"));
            for (name, value) in fields {
                match value {
                    Value::String(text) if SAID.contains(&name.as_str()) || (is_text && name == "data") => {
                        take(text, texts)
                    }
                    Value::Array(_) | Value::Object(_) => collect(value, depth - 1, texts),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

impl<'de> serde::Deserialize<'de> for Blocks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut blocks = Self::default();
        match Value::deserialize(deserializer)? {
            Value::Null => {}
            Value::String(text) => {
                blocks.is_text = true;
                if !text.is_empty() {
                    blocks.parts.push(Part::Text { text });
                }
            }
            Value::Array(list) => {
                for block in list {
                    blocks.push(block).map_err(D::Error::custom)?;
                }
            }
            block @ Value::Object(_) => blocks.push(block).map_err(D::Error::custom)?,
            _ => {
                return Err(D::Error::custom(
                    "invalid type: another value, expected a text, or a list of parts of type text or image",
                ));
            }
        }
        Ok(blocks)
    }
}

/// Reads a picture in any of the accepted formats.
fn picture(fields: &Map<String, Value>) -> Part {
    let text = |of: &Map<String, Value>, name: &str| of.get(name).and_then(Value::as_str).map(str::to_owned);
    let side = |name: &str| fields.get(name).and_then(Value::as_u64).map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    let (mut data, mut url) = (text(fields, "data"), text(fields, "url"));
    let mut media_type = text(fields, "mediaType").or_else(|| text(fields, "media_type"));
    match fields.get("image_url") {
        Some(Value::String(address)) => url = Some(address.clone()),
        Some(Value::Object(image)) => url = text(image, "url"),
        _ => {}
    }
    if let Some(Value::Object(source)) = fields.get("source") {
        (data, url) = (text(source, "data"), text(source, "url"));
        media_type = text(source, "media_type");
    }
    if let Some((kind, encoded)) =
        url.as_deref().and_then(|u| u.strip_prefix("data:")).and_then(|rest| rest.split_once(";base64,"))
    {
        (media_type, data) = (Some(kind.to_owned()), Some(encoded.to_owned()));
        url = None;
    }
    Part::Image {
        data,
        media_type,
        artifact: text(fields, "artifact"),
        url,
        width: side("width"),
        height: side("height"),
    }
}
