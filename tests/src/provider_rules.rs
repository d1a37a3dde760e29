//! Rules that a list of messages must satisfy, from the API references of OpenAI (chat completions) and Anthropic
//! (messages).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::Client;

/// Checks a context against the rules of its format. For a context in the native format, also requests it in the
/// formats of the providers.
///
/// # Panics
/// If a provider would refuse it.
pub(crate) fn check(client: &mut Client, params: &Value, context: &Value) {
    match params["format"].as_str() {
        Some("openai") => openai(context),
        Some("anthropic") => anthropic(context),
        _ => {
            for format in ["openai", "anthropic"] {
                let mut params = params.clone();
                params["format"] = json!(format);
                client.ok("conversation.context", params);
            }
        }
    }
}

/// Checks a context in the OpenAI format. Rules from the chat completions reference: `tool_call_id` refers to a call of
/// the last assistant message with calls, ids have at most 40 characters, tool messages contain only text, and
/// `messages` is not empty.
fn openai(context: &Value) {
    let messages = context["messages"].as_array().expect("messages");
    assert!(messages.iter().any(|m| m["role"] != "system"), "{context}");
    let (mut ids, mut open) = (BTreeSet::new(), BTreeSet::new());
    for message in messages {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().expect("an id");
            assert!(open.remove(id), "a result without its call: {message}");
            let parts = message["content"].as_array().into_iter().flatten();
            assert!(parts.into_iter().all(|part| part["type"] == "text"), "{message}");
            continue;
        }
        assert!(open.is_empty(), "calls without results: {open:?}");
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let id = call["id"].as_str().expect("an id");
            assert!(!id.is_empty() && id.len() <= 40 && ids.insert(id.to_owned()), "{call}");
            open.insert(id.to_owned());
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

/// Checks a context in the Anthropic format. Rules from the messages reference: the first message has the role `user`,
/// roles alternate, text blocks are not blank, ids match `^[a-zA-Z0-9_-]+$`, and the message after one with calls
/// begins with the results of all of them.
fn anthropic(context: &Value) {
    let messages = context["messages"].as_array().expect("messages");
    assert!(messages.first().is_some_and(|m| m["role"] == "user"), "{context}");
    let mut ids = BTreeSet::new();
    for (i, message) in messages.iter().enumerate() {
        assert!(i == 0 || messages[i - 1]["role"] != message["role"], "roles alternate: {message}");
        let blocks = message["content"].as_array().expect("blocks");
        assert!(!blocks.is_empty(), "{message}");
        let mut wanted = Vec::new();
        for block in blocks {
            block_is_accepted(block);
            if block["type"] == "tool_use" {
                let id = block["id"].as_str().expect("an id").to_owned();
                let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
                assert!(!id.is_empty() && id.chars().all(plain) && ids.insert(id.clone()), "{block}");
                wanted.push(id);
            }
        }
        let results = messages.get(i + 1).and_then(|next| next["content"].as_array()).into_iter().flatten();
        let answered: Vec<&str> =
            results.take_while(|b| b["type"] == "tool_result").filter_map(|b| b["tool_use_id"].as_str()).collect();
        assert!(wanted.iter().all(|id| answered.contains(&id.as_str())), "{wanted:?} {answered:?}");
    }
}

fn block_is_accepted(block: &Value) {
    if block["type"] == "text" {
        assert!(block["text"].as_str().is_some_and(|text| !text.trim().is_empty()), "{block}");
    }
    block["content"].as_array().into_iter().flatten().for_each(block_is_accepted);
}
