//! A message of a conversation: its author, its content and its tool calls.

use serde_json::Value;

words! {
    /// Author of a message.
    #[cfg_attr(feature = "schema", schemars(rename = "MessageRole"))]
    #[derive(Default)]
    Role {
        /// The system: the message is a system prompt.
        System = "system" | "developer",
        /// The user, or a program acting as the user.
        #[default]
        User = "user",
        /// The language model.
        Assistant = "assistant",
        /// A tool: the message is the result of a tool call.
        Tool = "tool",
    }
}

wire! {
    /// A message of a conversation.
    #[derive(Default)]
    pub struct Message {
        /// Author of the message.
        pub role: Role,
        /// Content of the message: plain text or a list of parts.
        #[serde(default, skip_serializing_if = "Content::is_empty")]
        pub content: Content,
        /// Tool calls made by the assistant; only in `assistant` messages.
        #[serde(default, alias = "tool_calls", skip_serializing_if = "Vec::is_empty")]
        pub tool_calls: Vec<ToolCall>,
        /// Id of the tool call that this message answers; required in `tool` messages.
        #[serde(alias = "tool_call_id")]
        pub tool_call_id: Option<String>,
        /// Name of the author or of the tool.
        pub name: Option<String>,
        /// Whether the tool call failed; only in `tool` messages. Even if false, the call counts as failed if the
        /// content reports a failure: `success` or `ok` set to false, an `error`, an error status, or text that begins
        /// with an error or a traceback.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub failed: bool,
        /// Other fields of the client's message, unchanged. They do not affect how the message is processed.
        #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
        pub extra: serde_json::Map<String, Value>,
    }

    /// A tool call. The format of OpenAI's chat completions is accepted as well: `function` with a name and with the
    /// arguments as a JSON string.
    #[derive(Default)]
    #[serde(from = "AnyToolCall")]
    pub struct ToolCall {
        /// Id of the call, which the message with the result refers to.
        pub id: String,
        /// Name of the tool to call.
        pub name: String,
        /// Arguments of the call, by name.
        #[serde(default)]
        pub arguments: serde_json::Map<String, Value>,
        /// Other fields of the client's call, unchanged; `type` is `tool_use` if the call was in Anthropic's format.
        /// `conversation.context` returns these fields only for the turn in progress.
        #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
        pub extra: serde_json::Map<String, Value>,
    }
}

params! {
    /// Content of a message.
    #[serde(untagged, expecting = "another value, expected a text, or a list of parts of type text or image")]
    pub enum Content {
        /// Plain text.
        Text(String),
        /// A list of parts.
        Parts(Vec<Part>),
    }

    /// A part of a message.
    #[serde(tag = "type")]
    #[cfg_attr(feature = "schema", schemars(rename = "MessagePart"))]
    pub enum Part {
        /// A piece of text.
        #[serde(rename_all = "camelCase")]
        Text {
            /// The text itself.
            text: String,
        },
        /// A picture, given by its bytes, an artifact or a URL.
        #[serde(rename_all = "camelCase")]
        Image {
            /// Content of a PNG or JPEG file in base64.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            data: Option<String>,
            /// Media type of `data`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            media_type: Option<String>,
            /// Uid of the artifact that holds the picture.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            artifact: Option<String>,
            /// URL of the picture.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            url: Option<String>,
            /// Width of the picture in pixels, from 1 to 20,000; by default read from the picture, else 1,024.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            width: Option<u32>,
            /// Height of the picture in pixels, from 1 to 20,000; by default read from the picture, else 1,024.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            height: Option<u32>,
        },
    }
}

wire! {
    /// A tool call in any of the accepted formats.
    struct AnyToolCall {
        #[serde(default)]
        id: String,
        #[serde(default)]
        name: String,
        #[serde(default)]
        arguments: Value,
        #[serde(default)]
        function: Option<Function>,
        #[serde(default)]
        custom: Option<Function>,
        #[serde(default)]
        extra: serde_json::Map<String, Value>,
        #[serde(flatten)]
        others: serde_json::Map<String, Value>,
    }

    /// The `function` or `custom` field of a tool call in OpenAI's format.
    struct Function {
        name: String,
        #[serde(default, alias = "input")]
        arguments: Value,
    }
}

impl From<AnyToolCall> for ToolCall {
    fn from(call: AnyToolCall) -> Self {
        let mut extra = call.extra;
        extra.extend(call.others.into_iter().filter(|(name, _)| !["type", "index"].contains(&name.as_str())));
        let (name, arguments) = match call.function.or(call.custom) {
            Some(function) => (function.name, function.arguments),
            None => (call.name, call.arguments),
        };
        let parsed = match arguments {
            Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
            other => other,
        };
        let arguments = match parsed {
            Value::Object(arguments) => arguments,
            Value::Null => serde_json::Map::new(),
            // Arguments that are not a JSON object are preserved as text.
            Value::String(text) if text.is_empty() => serde_json::Map::new(),
            other => serde_json::Map::from_iter([("text".to_owned(), other)]),
        };
        Self { id: call.id, name, arguments, extra }
    }
}

impl Default for Content {
    fn default() -> Self {
        Content::Text(String::new())
    }
}

impl Content {
    /// Returns whether the content is empty.
    pub fn is_empty(&self) -> bool {
        match self {
            Content::Text(text) => text.is_empty(),
            Content::Parts(parts) => parts.is_empty(),
        }
    }

    /// Returns the text of all parts, joined by line breaks; pictures are omitted.
    pub fn text(&self) -> String {
        match self {
            Content::Text(text) => text.clone(),
            Content::Parts(parts) => {
                let texts = parts.iter().filter_map(|p| match p {
                    Part::Text { text } => Some(text.as_str()),
                    Part::Image { .. } => None,
                });
                texts.collect::<Vec<_>>().join("\n")
            }
        }
    }
}
