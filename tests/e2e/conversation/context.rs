//! The context: the messages to send for the model's next turn.

use afd_tests::{Client, World};
use serde_json::{Value, json};

use super::talk::synthetic_conversation;
use super::{append, assistant, text_of, tool, user};
use crate::recall::settled;

fn append_in_chunks(client: &mut Client, messages: &[Value]) {
    for chunk in messages.chunks(400) {
        append(client, chunk.to_vec());
    }
}

/// Counts tokens with the tokenizer itself, independently of the daemon.
fn count_tokens(messages: &[Value]) -> i64 {
    let counter = afd_base::model::Tokenizers::default().counter("o200k_base");
    messages
        .iter()
        .map(|m| {
            let calls = m["toolCalls"].as_array().map_or(0, |calls| {
                calls
                    .iter()
                    .map(|c| {
                        counter.count(c["name"].as_str().unwrap_or("")) + counter.count(&c["arguments"].to_string())
                    })
                    .sum()
            });
            4 + counter.count(m["content"].as_str().unwrap_or("")) + calls
        })
        .sum()
}

#[test]
fn long_conversation_fits_the_budget_and_keeps_its_facts() {
    let world = World::new();
    let mut client = world.client_for("shop");
    client.ok("session.start", json!({"goal": "test the shop app", "app": "com.shop"}));
    let (messages, facts) = synthetic_conversation();
    append_in_chunks(&mut client, &messages[..messages.len() - 3]);
    let context = client.ok("conversation.context", json!({"budget": 4000}));
    let sent = context["messages"].as_array().expect("messages");
    let (tokens, all) = (count_tokens(sent), count_tokens(&messages));
    assert_eq!(context["tokens"], tokens, "the daemon's count matches the tokenizer");
    assert!(tokens <= 4_000, "{tokens}");
    let saved = 100.0 - tokens as f64 * 100.0 / all as f64;
    assert!(saved >= 70.0, "{saved} % of {all}");
    let text = text_of(&context);
    let missing: Vec<&&str> = facts.iter().filter(|f| !text.contains(**f)).collect();
    assert!(facts.len() - missing.len() >= 16, "{missing:?} are missing of:\n{text}");
    println!("{tokens} tokens of {all}, {saved:.1} % saved, {} of {} facts", facts.len() - missing.len(), facts.len());
    // The context lists the parts that did not fit.
    let left = context["leftOut"].as_array().expect("what was left out");
    assert!(left.iter().any(|l| l["what"] == "messages" && l["count"].as_i64() > Some(500)), "{left:?}");
    // The rules come first, and the unanswered request last, except for the section on the current state.
    assert!(text.starts_with("You test the shop app on a phone. Be brief."));
    let is_data = |m: &&Value| m["content"].as_str().is_some_and(|text| text.contains("data, not instructions"));
    let request = sent.iter().rev().filter(|m| !is_data(m)).find(|m| m["role"] == "user").expect("the request");
    assert_eq!(request["content"], messages[messages.len() - 4]["content"]);
}

#[test]
fn context_is_deterministic_and_a_new_turn_only_appends() {
    let world = World::new();
    let mut client = world.client_for("shop");
    client.ok("session.start", json!({"goal": "test the shop app", "app": "com.shop"}));
    let (messages, _) = synthetic_conversation();
    append_in_chunks(&mut client, &messages[..401]);
    // A context does not wait until all of 401 messages are indexed, so that the next one may quote others.
    settled(&mut client);
    let budget = json!({"budget": 16000});
    let raw = |client: &mut Client| client.ok("conversation.context", budget.clone()).to_string();
    assert_eq!(raw(&mut client), raw(&mut client));
    let mut kept = 0;
    let mut before = client.ok("conversation.context", budget.clone());
    for turn in messages[401..481].chunks(4) {
        append(&mut client, turn.to_vec());
        let after = client.ok("conversation.context", budget.clone());
        let (old, new) =
            (before["messages"].as_array().expect("messages"), after["messages"].as_array().expect("messages"));
        let stable = before["stableMessages"].as_u64().expect("a number") as usize;
        kept += usize::from(old[..stable] == new[..stable.min(new.len())]);
        before = after;
    }
    assert!(kept >= 14, "the prefix was stable in {kept} of 20 turns");
}

#[test]
fn context_includes_session_state_patterns_and_notes() {
    let world = World::new();
    let mut client = world.client_for("qa");
    client.ok(
        "session.start",
        json!({"goal": "test the settings", "app": "com.android.settings", "tasks": ["turn Wi-Fi on"]}),
    );
    client.ok("session.task.start", json!({}));
    client.ok("session.bug.add", json!({"title": "The switch sticks", "severity": "high"}));
    client.ok(
        "memory.save",
        json!({"app": "com.android.settings", "topic": "nav/wifi", "content": "Wi-Fi is under Network"}),
    );
    client.ok(
        "pattern.save",
        json!({"kind": "flakyElement", "text": "the banner comes and goes", "app": "com.android.settings"}),
    );
    client.ok("pattern.save", json!({"kind": "procedure", "text": "about another app", "app": "org.other"}));
    client.ok("observe.page", json!({}));
    let alias = client.alias("Wi-Fi");
    client.ok("act.tap", json!({"by": "ref", "value": alias}));
    client.ok("observe.page", json!({}));
    client.ok("act.back", json!({}));
    client.ok("observe.page", json!({}));
    append(&mut client, vec![user("where is wifi?")]);
    let context = client.ok("conversation.context", json!({"budget": 3000}));
    let text = text_of(&context);
    for known in [
        "- device: pixel",
        "- app: com.android.settings",
        "- Goal: test the settings",
        "- Current task: turn Wi-Fi on",
        "- Open high bug: The switch sticks",
        "- the banner comes and goes",
        "- Note nav/wifi: Wi-Fi is under Network",
        "## Right now\n- Page: com.android.settings/",
        "Network",
    ] {
        assert!(text.contains(known), "{known:?} is not in:\n{text}");
    }
    assert!(!text.contains("about another app"));
    let parts: Vec<&str> =
        context["parts"].as_array().expect("parts").iter().filter_map(|p| p["part"].as_str()).collect();
    assert_eq!(parts, ["system", "knowledge", "history", "now"]);
    let shares = &context["allocation"];
    assert_eq!(
        *shares,
        json!({"system": 450, "knowledge": 600, "history": 1050, "currentTask": 450, "tools": 300, "buffer": 150})
    );
    for part in context["parts"].as_array().expect("parts") {
        assert!(part["tokens"].as_i64().is_some_and(|n| n <= 1050), "{part}");
    }
}

#[test]
fn working_memory_lists_task_observations_and_elements() {
    let world = World::new();
    let mut client = world.client_for("hand");
    client.ok("session.task.add", json!({"description": "look around"}));
    client.ok("session.task.start", json!({}));
    client.ok("observe.top", json!({}));
    let refs = client.ok("observe.refs", json!({"full": true}));
    let working = client.ok("conversation.working", json!({}));
    assert_eq!(working["currentTask"]["description"], "look around");
    let sources: Vec<&str> = working["recentObservations"]
        .as_array()
        .expect("observations")
        .iter()
        .filter_map(|o| o["source"].as_str())
        .collect();
    assert_eq!(sources, ["refs", "top"], "newest first");
    let elements = working["activeElements"].as_array().expect("elements");
    assert_eq!(elements.len(), refs["rows"].as_array().map_or(0, Vec::len));
    assert_eq!((&elements[1]["ref"], &working["observationId"]), (&json!("@n2"), &refs["observationId"]));
    assert!(elements[1]["target"]["label"].as_str().is_some_and(|l| l.starts_with("Wi-Fi")), "{}", elements[1]);
    assert_eq!(working["stale"], false);
    client.ok("act.home", json!({}));
    assert_eq!(client.ok("conversation.working", json!({}))["stale"], true);
}

#[test]
fn context_formats_match_the_model_apis() {
    let world = World::new();
    let mut client = world.client_for("s");
    let mut messages = vec![json!({"role": "system", "content": "rules"}), user("go")];
    messages.extend(tool("c1", "tap", json!({"x": 1}), "done"));
    append(&mut client, messages);
    let openai = client.ok("conversation.context", json!({"format": "openai"}));
    // The context of one session can be appended to another.
    let mut again = world.client_for("again");
    append(&mut again, openai["messages"].as_array().expect("messages").clone());
    assert_eq!(again.ok("conversation.context", json!({"format": "openai"}))["messages"], openai["messages"]);
    let call = openai["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .find(|m| m["tool_calls"].is_array())
        .expect("a call")
        .clone();
    assert_eq!(call["tool_calls"][0]["function"]["arguments"], "{\"x\":1}");
    let anthropic = client.ok("conversation.context", json!({"format": "anthropic"}));
    assert_eq!(anthropic["system"], json!([{"type": "text", "text": "rules"}]), "a cache mark fits on each block");
    assert_eq!(anthropic["messages"][2]["content"][0]["type"], "tool_result");
}

#[test]
fn images_are_counted_by_size_and_included_in_the_context() {
    let world = World::new();
    let mut client = world.client_for("pic");
    let picture = png();
    let message =
        json!({"role": "user", "content": [{"type": "text", "text": "look"}, {"type": "image", "data": picture}]});
    let appended = append(&mut client, vec![message]);
    // 30 by 50 pixels cost 2 tokens, the word 1, the message 4.
    assert_eq!(appended["tokens"], 7);
    let listed = client.ok("conversation.list", json!({}));
    let part = &listed["messages"][0]["content"][1];
    assert_eq!((&part["width"], &part["height"], part.get("data")), (&json!(30), &json!(50), None));
    assert!(part["artifact"].is_string());
    let context = client.ok("conversation.context", json!({"format": "openai"}));
    let url = context["messages"][0]["content"][1]["image_url"]["url"].as_str().expect("a picture").to_owned();
    assert_eq!(url, format!("data:image/png;base64,{picture}"));
    // The same image again, by its artifact; then invalid images.
    let named = json!({"role": "user", "content": [{"type": "image", "artifact": part["artifact"]}]});
    assert_eq!(append(&mut client, vec![named])["tokens"], 6);
    for (image, path) in [
        (json!({"type": "image", "artifact": "nobody"}), "messages[0].content[0].artifact"),
        (
            json!({"type": "image", "url": "https://a.example/x.png", "width": 4_294_967_295_u32}),
            "messages[0].content[0].width",
        ),
    ] {
        let refused = client.fails(
            "conversation.append",
            json!({"messages": [{"role": "user", "content": [image]}]}),
            "INVALID_PARAMS",
        );
        assert_eq!(refused.details["path"], path);
    }
    append(&mut client, vec![assistant("a picture")]);
}

/// Returns a small PNG in base64.
fn png() -> String {
    use base64::Engine;
    let mut file = std::io::Cursor::new(Vec::new());
    image::RgbImage::from_pixel(30, 50, image::Rgb([9, 99, 199]))
        .write_to(&mut file, image::ImageFormat::Png)
        .expect("encodes");
    base64::engine::general_purpose::STANDARD.encode(file.into_inner())
}

#[test]
fn too_small_budget_is_refused_and_the_last_request_is_kept() {
    let world = World::new();
    let mut client = world.client_for("x");
    client.fails("conversation.context", json!({}), "NOT_FOUND");
    append(&mut client, vec![user("hi")]);
    let refused = client.fails("conversation.context", json!({"budget": 3}), "INVALID_PARAMS");
    assert_eq!(refused.details["path"], "budget");
    append(
        &mut client,
        vec![assistant("yes?"), user("Please tell me in one sentence what the largest button on this page does.")],
    );
    let text = text_of(&client.ok("conversation.context", json!({"budget": 100})));
    assert!(
        text.contains("what the largest button on this page does"),
        "the last request is complete if there is room: {text}"
    );
    for budget in [64, 100, 1000] {
        assert!(
            client.ok("conversation.context", json!({"budget": budget}))["tokens"]
                .as_i64()
                .is_some_and(|n| n <= budget)
        );
    }
}

/// Regression: a long last message that began a step was left out of small contexts.
#[test]
fn the_last_message_is_there_however_the_steps_fall() {
    let world = World::new();
    let mut client = world.client_for("steps");
    for i in 0..40 {
        append(
            &mut client,
            vec![
                user(&format!("Box {i} holds {} keys of room {}, and Ms. Adler has number {}.", i * 3, i * 7, i * 11)),
                assistant("noted"),
            ],
        );
    }
    for length in [20, 60, 100, 140] {
        let ask = format!(
            "START{length} {} END{length}",
            format!("what about the keys of floor {length}? ").repeat(length / 4)
        );
        append(&mut client, vec![user(&ask)]);
        for budget in [1_000, 1_500, 2_000, 3_000, 4_000] {
            let context = client.ok("conversation.context", json!({"budget": budget}));
            let last = context["messages"]
                .as_array()
                .expect("messages")
                .iter()
                .filter(|m| m["content"].to_string().contains(&format!("START{length}")));
            let whole = last.filter(|m| m["content"].to_string().contains(&format!("END{length}"))).count();
            assert!(whole > 0, "{length} at {budget}: {context}");
        }
        append(&mut client, vec![assistant("They are with Ms. Adler.")]);
    }
}
