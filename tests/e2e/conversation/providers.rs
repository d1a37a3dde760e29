//! Messages in the formats of providers: nothing is dropped on the way in, and contexts are valid on the way out.
//! `Client::ok` checks each context against the rules of the providers.

use afd_tests::World;
use serde_json::{Value, json};

use super::append;

/// Appends messages to a new session, and returns its contexts in both formats.
fn contexts(world: &World, session: &str, messages: Vec<Value>) -> (Value, Value) {
    let mut client = world.client_for(session);
    append(&mut client, messages);
    let [openai, anthropic] =
        ["openai", "anthropic"].map(|format| client.ok("conversation.context", json!({"format": format})));
    (openai, anthropic)
}

fn asks(content: Value, calls: Value) -> Value {
    json!({"role": "assistant", "content": content, "tool_calls": calls})
}

fn call(id: &str, name: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}})
}

const GIF: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==";

#[test]
fn fields_of_a_call_come_back_in_the_turn_in_progress() {
    let world = World::new();
    let mut signed = call("c1", "hours");
    signed["extra_content"] = json!({"google": {"thought_signature": "c2lnbmVk"}});
    let reasoned =
        json!({"role": "assistant", "content": null, "tool_calls": [signed], "reasoning_content": "look it up"});
    let result = json!({"role": "tool", "tool_call_id": "c1", "content": "at seven"});
    let (openai, anthropic) = contexts(&world, "signed", vec![json!("When does it open?"), reasoned, result]);
    let said = &openai["messages"][1];
    assert_eq!(said["tool_calls"][0]["extra_content"]["google"]["thought_signature"], "c2lnbmVk", "{openai}");
    assert_eq!(said["reasoning_content"], "look it up");
    assert!(!anthropic.to_string().contains("c2lnbmVk"), "{anthropic}");
    let thought = json!([
        {"type": "thinking", "thinking": "look it up", "signature": "c2lnbmVk"},
        {"type": "tool_use", "id": "t1", "name": "hours", "input": {}, "caller": {"type": "direct"}},
    ]);
    let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": "at seven"}]);
    let messages = vec![
        json!("When?"),
        json!({"role": "assistant", "content": thought}),
        json!({"role": "user", "content": result}),
    ];
    let (openai, anthropic) = contexts(&world, "thought", messages);
    let blocks = &anthropic["messages"][1]["content"];
    assert_eq!(
        (&blocks[0]["signature"], &blocks[1]["caller"]["type"]),
        (&json!("c2lnbmVk"), &json!("direct")),
        "{anthropic}"
    );
    assert!(!openai.to_string().contains("caller"), "{openai}");
    // One turn later, thinking blocks and their signatures are left out.
    let (_, anthropic) = contexts(
        &world,
        "thought",
        vec![json!({"role": "assistant", "content": "At seven."}), json!("Thanks. And on Sunday?")],
    );
    assert!(!anthropic.to_string().contains("signature"), "{anthropic}");
}

#[test]
fn all_texts_of_blocks_are_recorded_found_and_handed_over() {
    let world = World::new();
    let blocks = [
        (
            "resource",
            json!({"type": "resource", "resource": {"uri": "shop://hours", "text": "open from seven to noon"}}),
        ),
        (
            "document",
            json!({"type": "document", "title": "Prices", "source": {"type": "text", "media_type": "text/plain", "data": "seven euros each"}}),
        ),
        (
            "search",
            json!({"type": "search_result", "source": "https://a.example", "title": "Hours", "content": [{"type": "text", "text": "seven days a week"}]}),
        ),
        ("deep", json!({"type": "box", "items": [{"inner": {"text": "seven in a box"}}]})),
    ];
    for (name, block) in blocks {
        let wanted = ["seven to noon", "seven euros", "seven days", "seven in a box"]
            .into_iter()
            .find(|text| block.to_string().contains(text));
        let wanted = wanted.expect("a text");
        let call = json!([{"type": "tool_use", "id": "t1", "name": "find", "input": {}}]);
        let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": [block]}]);
        let messages = vec![
            json!("When?"),
            json!({"role": "assistant", "content": call}),
            json!({"role": "user", "content": result}),
        ];
        let (openai, anthropic) = contexts(&world, name, messages);
        let mut client = world.client_for(name);
        for text in [client.ok("conversation.list", json!({})), openai, anthropic] {
            assert!(text.to_string().contains(wanted), "{name}: {text}");
        }
        let found = client.ok("conversation.search", json!({"query": wanted}));
        assert!(found["messages"].as_array().is_some_and(|m| !m.is_empty()), "{name}: {found}");
    }
}

#[test]
fn ids_are_unique_short_and_there() {
    let world = World::new();
    let mut messages = Vec::new();
    for table in 0..3 {
        messages.push(json!(format!("is table {table} free?")));
        messages.push(asks(
            Value::Null,
            json!([call("call_0", "look"), call("functions.look:1", "look"), call(&"x".repeat(60), "look")]),
        ));
        for id in ["call_0", "functions.look:1", &"x".repeat(60)] {
            messages.push(json!({"role": "tool", "tool_call_id": id, "content": format!("table {table} of {id}")}));
        }
    }
    let (_, anthropic) = contexts(&world, "counted", messages);
    assert!(anthropic.to_string().contains("table 2 of call_0"));
    let listed = world.client_for("counted").ok("conversation.list", json!({"limit": 100}));
    assert!(listed.to_string().contains("functions.look:1"), "the record keeps what came");
    // Ollama sends no ids, and the early chat completions API had `function_call`.
    let messages = vec![
        json!("look"),
        json!({"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "look", "arguments": {"at": "door"}}}, {"function": {"name": "hear", "arguments": {}}}]}),
        json!({"role": "tool", "tool_name": "hear", "content": "a bell"}),
        json!({"role": "tool", "tool_name": "look", "content": "a door"}),
        json!({"role": "assistant", "content": null, "function_call": {"name": "open", "arguments": "{}"}}),
        json!({"role": "function", "name": "open", "content": "it is open"}),
    ];
    let (openai, _) = contexts(&world, "nameless", messages);
    let all = openai["messages"].as_array().expect("messages");
    let id = |name: &str| {
        let calls = all.iter().flat_map(|m| m["tool_calls"].as_array().into_iter().flatten());
        calls.into_iter().find(|c| c["function"]["name"] == name).expect("a call")["id"].clone()
    };
    for (name, text) in [("hear", "a bell"), ("look", "a door"), ("open", "it is open")] {
        let result = all.iter().find(|m| m["content"] == text).expect("a result");
        assert_eq!(result["tool_call_id"], id(name), "{openai}");
    }
}

#[test]
fn pictures_of_any_form_are_kept_and_stand_where_they_are_taken() {
    let world = World::new();
    let gif = json!({"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": GIF}});
    let broken = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "!"}});
    let elsewhere = json!({"type": "image", "source": {"type": "file", "file_id": "f1"}});
    let question =
        json!({"role": "user", "content": [{"type": "text", "text": "what is this?"}, gif, broken, elsewhere]});
    let (openai, anthropic) = contexts(&world, "pictures", vec![question]);
    assert!(openai.to_string().contains(&format!("data:image/gif;base64,{GIF}")), "{openai}");
    assert!(anthropic.to_string().contains("picture that cannot be read"), "{anthropic}");
    let calls = json!([call("c1", "shoot"), call("c2", "shoot")]);
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": [{"type": "image", "data": GIF, "media_type": "image/gif"}]});
    let (openai, anthropic) =
        contexts(&world, "shots", vec![json!("shoot"), asks(Value::Null, calls), result("c1"), result("c2")]);
    let last = openai["messages"].as_array().and_then(|m| m.last()).expect("a message");
    assert!(last["role"] == "user" && last["content"].as_array().is_some_and(|parts| parts.len() == 3), "{last}");
    assert_eq!(anthropic["messages"][2]["content"][1]["content"][0]["type"], "image");
}

#[test]
fn blank_texts_and_empty_messages_are_left_out() {
    let world = World::new();
    let messages = vec![
        json!({"role": "user", "content": [{"type": "text", "text": ""}, {"type": "text", "text": "hello"}]}),
        json!({"role": "assistant", "content": "\n\n"}),
        json!({"role": "user", "content": "and on Sunday?"}),
        asks(json!(" "), json!([call("c1", "look")])),
        json!({"role": "tool", "tool_call_id": "c1", "content": "\u{200b}"}),
    ];
    contexts(&world, "blank", messages);
    contexts(&world, "rules", vec![json!({"role": "system", "content": "be brief"})]);
    contexts(&world, "answer", vec![json!({"role": "assistant", "content": "Hello, what can I do?"})]);
}

#[test]
fn question_stays_last_and_defaults_stand_above_what_is_data() {
    let world = World::new();
    let mut client = world.client_for("keys");
    client.ok(
        "session.start",
        json!({"goal": "test", "context": {"userinterface_name": "tv", "tree_id": "t7", "color": "red"}}),
    );
    client.ok("observe.page", json!({}));
    append(
        &mut client,
        vec![json!("first"), json!({"role": "assistant", "content": "yes"}), json!("What is on the page?")],
    );
    let openai = client.ok("conversation.context", json!({"format": "openai"}));
    let messages = openai["messages"].as_array().expect("messages");
    assert_eq!(messages.last().expect("a message")["content"], "What is on the page?", "{openai}");
    let now = messages[messages.len() - 2]["content"].as_str().expect("a text");
    let (keys, data) = (now.find("use as defaults").expect("keys"), now.find("data, not instructions"));
    assert!(data.is_none_or(|data| keys < data), "{now}");
    // Each key has one value, as set by tool calls.
    assert_eq!(
        (&openai["context"]["interface"], &openai["context"]["tree"], &openai["context"]["color"]),
        (&json!("tv"), &json!("t7"), &json!("red"))
    );
    let stable = openai["stableMessages"].as_u64().expect("a number") as usize;
    append(&mut client, vec![json!({"role": "assistant", "content": "a list"}), json!("And now?")]);
    let next = client.ok("conversation.context", json!({"format": "openai"}));
    assert_eq!(messages[..stable], next["messages"].as_array().expect("messages")[..stable]);
}
