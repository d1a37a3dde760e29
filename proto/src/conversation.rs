//! `conversation.*`: what was said, what of it goes into the model's context, and what stands for the rest.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::context::Usage;

session_params! {
    /// Parameters of `conversation.append`.
    #[derive(Default)]
    pub struct AppendParams {
        /// Messages, in their order; at least one.
        pub messages: Vec<Message>,
        /// Context keys to set.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub context: BTreeMap<String, String>,
    }

    /// Parameters of `conversation.list`.
    #[derive(Default)]
    pub struct ConversationListParams {
        /// At most this many, by default 20, at most 10,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub limit: Option<u32>,
        /// Only messages before this one: the `nextCursor` of the previous answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cursor: Option<i64>,
    }

    /// Parameters of `conversation.compact`.
    #[derive(Default)]
    pub struct CompactParams {
        /// How many of the newest messages stay as they are; by default the setting.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub keep: Option<u32>,
    }

    /// Parameters of `conversation.summary`.
    #[derive(Default)]
    pub struct SummaryParams {
    }

    /// Parameters of `conversation.clear`.
    #[derive(Default)]
    pub struct ClearParams {
        /// Whether context keys and the rolling summary go as well.
        #[serde(default)]
        pub forget_context: bool,
    }
}

words! {
    /// Who says it.
    Role {
        /// The rules.
        System = "system",
        /// A person, or who stands for one.
        User = "user",
        /// The language model.
        Assistant = "assistant",
        /// The answer to a call of a tool.
        Tool = "tool",
    }
}

params! {
    /// A message.
    pub struct Message {
        /// Who says it.
        pub role: Role,
        /// What: a text, or parts.
        #[serde(default, deserialize_with = "or_nothing", skip_serializing_if = "Content::is_empty")]
        pub content: Content,
        /// Calls of tools that the assistant makes.
        #[serde(default, alias = "tool_calls", skip_serializing_if = "Vec::is_empty")]
        pub tool_calls: Vec<ToolCall>,
        /// The call that this is the answer to; of a `tool` message.
        #[serde(default, alias = "tool_call_id", skip_serializing_if = "Option::is_none")]
        pub tool_call_id: Option<String>,
        /// Name of who says it, or of the tool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
        /// Whether the call failed; of a `tool` message. Otherwise its content tells: `success` or `ok` false, or an `error`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub failed: bool,
    }

    /// A call of a tool. That of OpenAI's chat completions is read as well: name and arguments, as a text, under `function`.
    #[serde(from = "AnyToolCall")]
    pub struct ToolCall {
        /// Names it; the answer names it too.
        pub id: String,
        /// The tool.
        pub name: String,
        /// Its arguments.
        #[serde(default)]
        pub arguments: serde_json::Map<String, Value>,
    }

    /// What a message says.
    #[serde(untagged, expecting = "something else, expected a text, or a list of parts of the type text or image")]
    pub enum Content {
        /// A text.
        Text(String),
        /// Parts.
        Parts(Vec<Part>),
    }

    /// A part of a message.
    #[serde(tag = "type")]
    pub enum Part {
        /// Text.
        #[serde(rename_all = "camelCase")]
        Text {
            /// It.
            text: String,
        },
        /// A picture: its bytes, an artifact, or where it is.
        #[serde(rename_all = "camelCase")]
        Image {
            /// PNG or JPEG in base64.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            data: Option<String>,
            /// Media type of `data`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            media_type: Option<String>,
            /// Uid of the artifact that it is kept as.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            artifact: Option<String>,
            /// Where it is.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            url: Option<String>,
            /// Width, pixels; by default read from the picture, else 1024.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            width: Option<u32>,
            /// Height, pixels; by default read from the picture, else 1024.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            height: Option<u32>,
        },
    }
}

/// Nothing, as some write it, is an empty text.
fn or_nothing<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Content, D::Error> {
    serde::Deserialize::deserialize(deserializer).map(Option::<Content>::unwrap_or_default)
}

params! {
    /// A call in either shape.
    struct AnyToolCall {
        id: String,
        #[serde(default)]
        name: String,
        #[serde(default)]
        arguments: serde_json::Map<String, Value>,
        #[serde(default, rename = "type")]
        _kind: Option<String>,
        #[serde(default)]
        function: Option<Function>,
    }

    /// What OpenAI calls a function.
    struct Function {
        name: String,
        #[serde(default)]
        arguments: String,
    }
}

impl From<AnyToolCall> for ToolCall {
    fn from(call: AnyToolCall) -> Self {
        match call.function {
            // Arguments that are no object are kept as they are.
            Some(function) => Self {
                id: call.id,
                name: function.name,
                arguments: serde_json::from_str(&function.arguments)
                    .unwrap_or_else(|_| serde_json::Map::from_iter([("text".to_owned(), Value::from(function.arguments))])),
            },
            None => Self { id: call.id, name: call.name, arguments: call.arguments },
        }
    }
}

impl Default for Content {
    fn default() -> Self {
        Content::Text(String::new())
    }
}

impl Content {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        match self {
            Content::Text(text) => text.is_empty(),
            Content::Parts(parts) => parts.is_empty(),
        }
    }

    /// Its texts, one after the other.
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

wire! {
    /// A message as it is on record.
    pub struct Recorded {
        /// Names it in every copy of this memory.
        pub uid: String,
        /// Its place in the conversation, from 1.
        pub position: i64,
        /// The turn that it belongs to; each message of a user begins one.
        pub turn: i64,
        /// The message.
        #[serde(flatten)]
        pub message: Message,
        /// Its tokens.
        pub tokens: i64,
        /// What counted them: the name of a tokenizer, or `estimate`.
        pub tokenizer: String,
        /// Whether it is in the context; else only a summary stands for it.
        pub in_context: bool,
        /// When it was appended, UTC milliseconds.
        pub at: i64,
    }

    /// Messages, newest first.
    pub struct Messages {
        /// The messages.
        pub messages: Vec<Recorded>,
        /// Give this as `cursor` for the next page; absent on the last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next_cursor: Option<i64>,
    }

    /// What came of appending.
    pub struct Appended {
        /// The session.
        pub session: String,
        /// The place of the first new message.
        pub first: i64,
        /// The place of the last new message.
        pub last: i64,
        /// Tokens of the new messages.
        pub tokens: i64,
        /// Context keys that were taken from them.
        pub context_set: BTreeMap<String, String>,
        /// How many older messages left the context for a summary because of this.
        pub compacted: i64,
        /// How full the context is.
        pub usage: Usage,
    }

    /// What came of compacting.
    pub struct Compacted {
        /// The session.
        pub session: String,
        /// How many messages left the context.
        pub messages: i64,
        /// Tokens that the context had.
        pub tokens_before: i64,
        /// Tokens that it has, with the summary.
        pub tokens_after: i64,
        /// Key facts that became patterns.
        pub facts: i64,
        /// The summary that stands for them; none when nothing was compacted yet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub summary: Option<SummaryInfo>,
    }

    /// A summary of what was said up to a message.
    pub struct SummaryInfo {
        /// After this message.
        pub after: i64,
        /// Up to and with this one.
        pub upto: i64,
        /// It.
        pub text: String,
        /// `extractive` (sentences that were said) or `model` (written by a language model).
        pub method: String,
        /// The language model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub model: Option<String>,
        /// Its tokens.
        pub tokens: i64,
        /// Whether a language model is still to write a better one.
        pub pending: bool,
        /// Why it has not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub error: Option<String>,
        /// When it was made, UTC milliseconds.
        pub created_at: i64,
    }

    /// The rolling summary (seed 004), and what is sent with it.
    pub struct Summary {
        /// The session.
        pub session: String,
        /// Its lines, oldest first.
        pub lines: Vec<String>,
        /// What was sent with the next message: the summary, an acknowledgement, the last messages.
        pub messages: Vec<Message>,
        /// Tokens of these messages.
        pub tokens: i64,
        /// Tokens of all messages since the last clearing.
        pub tokens_of_all: i64,
        /// The share that is saved, per cent.
        pub saved_percent: f64,
        /// Context keys, as defaults.
        pub context: BTreeMap<String, String>,
        /// The newest summary of messages that left the context.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub compacted: Option<SummaryInfo>,
    }

    /// What came of clearing.
    pub struct Cleared {
        /// The session.
        pub session: String,
        /// How many messages left the context; they stay on record.
        pub messages: i64,
    }
}

methods! {
    /// Appends messages to a conversation, counts their tokens, takes context keys and facts from them, compacts when it is full.
    ConversationAppend = "conversation.append" (AppendParams, SESSION) -> Appended, Admin, [Conflict, StoreUnavailable, StoreFull], r#"{"session":"checkout-1","messages":[{"role":"user","content":"go to the cart"},{"role":"assistant","toolCalls":[{"id":"c1","name":"take_control","arguments":{"device_id":"pixel"}}]},{"role":"tool","toolCallId":"c1","content":"{\"success\":true}"}]}"#;
    /// Lists the messages of a conversation, newest first, also those that left the context.
    ConversationList = "conversation.list" (ConversationListParams, SESSION) -> Messages, Read, [NotFound, StoreUnavailable], r#"{"limit":20}"#;
    /// Replaces older messages in the context by a summary; they stay on record.
    ConversationCompact = "conversation.compact" (CompactParams, SESSION) -> Compacted, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"keep":10}"#;
    /// Gives the rolling summary, the last messages and the context keys.
    ConversationSummary = "conversation.summary" (SummaryParams, SESSION) -> Summary, Read, [NotFound, StoreUnavailable], "{}";
    /// Empties the context; the messages stay on record.
    ConversationClear = "conversation.clear" (ClearParams, SESSION) -> Cleared, Admin, [Conflict, StoreUnavailable, StoreFull], r#"{"session":"checkout-1"}"#;
}
