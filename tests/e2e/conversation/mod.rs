//! Conversations: recorded messages, the context for the model, and summaries of the rest.

mod context;
mod endpoint;
mod kept;
mod providers;
mod score;
mod sdks;
mod summary;
mod talk;
mod texts;
mod trust;
mod truth;

use afd_tests::Client;
use serde_json::{Value, json};

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

/// Returns the messages of a tool call and its result.
fn tool(id: &str, name: &str, arguments: Value, answer: &str) -> [Value; 2] {
    [
        json!({"role": "assistant", "toolCalls": [{"id": id, "name": name, "arguments": arguments}]}),
        json!({"role": "tool", "toolCallId": id, "content": answer}),
    ]
}

fn append(client: &mut Client, messages: Vec<Value>) -> Value {
    client.ok("conversation.append", json!({"messages": messages}))
}

/// Returns the texts of a context's messages, one per line.
fn text_of(context: &Value) -> String {
    context["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .map(|m| format!("{}\n", m["content"].as_str().unwrap_or("")))
        .collect()
}
