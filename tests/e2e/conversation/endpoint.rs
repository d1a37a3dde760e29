//! Summaries by a language model. No call waits for the model. If it hangs, fails or returns malformed responses,
//! extractive summaries, which consist of sentences of the conversation, are used instead.

use std::time::Duration;

use afd_tests::endpoint::{Endpoint, Reply};
use afd_tests::wait::until;
use afd_tests::{Client, TestPhone, World};
use serde_json::{Value, json};

use super::{append, assistant, text_of, user};

fn world_with_model(endpoint: &Endpoint, more: &str) -> World {
    let settings = format!(
        "[model]\nprovider = \"openai\"\nbase_url = \"{}\"\nname = \"small\"\nretry_ms = 20\nattempts = 2\n{more}",
        endpoint.url()
    );
    World::with_process(TestPhone::start(), &settings)
}

/// Appends eight turns.
fn append_turns(client: &mut Client) {
    for i in 0..8 {
        append(client, vec![user(&format!("Box {i} holds the key of room {}.", i * 7)), assistant("noted")]);
    }
}

/// Returns the summary of the compacted messages.
fn compacted_summary(client: &mut Client) -> Value {
    client.ok("conversation.summary", json!({}))["compacted"].clone()
}

#[test]
fn language_model_writes_the_summary_in_the_background() {
    let written = "The person said which key is in which box; box 3 has that of room 21.";
    let endpoint = Endpoint::start(vec![
        Reply::Text(written.into()),
        Reply::Text("Sure: [\"keys are in boxes\", \"rooms go by sevens\"]".into()),
    ]);
    let world = world_with_model(&endpoint, "");
    std::fs::write(world.dir().join("key"), "sk-secret-of-the-test\n").expect("writes");
    let mut client = world.client_for("m");
    client.ok("config.set", json!({"key": "model.key_file", "value": "key"}));
    append_turns(&mut client);
    let done = client.ok("conversation.compact", json!({"keep": 2}));
    assert_eq!((&done["summary"]["method"], &done["summary"]["pending"]), (&json!("extractive"), &json!(true)));
    let improved = until("the summary", || Some(compacted_summary(&mut client)).filter(|s| s["method"] == "model"));
    assert_eq!(
        (&improved["text"], &improved["model"], &improved["pending"]),
        (&json!(written), &json!("small"), &json!(false))
    );
    let context = text_of(&client.ok("conversation.context", json!({"budget": 1000})));
    assert!(context.contains("[Previous context summary]\n") && context.contains(written), "{context}");
    let learned = client.ok("pattern.find", json!({"session": "m", "limit": 100}))["patterns"].to_string();
    assert!(learned.contains("rooms go by sevens"), "{learned}");
    let requests = endpoint.requests();
    assert_eq!((requests.len(), requests[0].path.as_str()), (2, "/chat/completions"));
    assert!(requests[0].headers.contains(&("authorization".into(), "Bearer sk-secret-of-the-test".into())));
    assert!(
        requests[0].body["messages"][1]["content"]
            .as_str()
            .is_some_and(|m| m.contains("user: Box 3 holds the key of room 21."))
    );
    // The API key appears in neither the log nor a response.
    let log = std::fs::read_to_string(world.dir().join("afd.log")).expect("reads");
    assert!(!log.contains("sk-secret") && !client.ok("config.list", json!({})).to_string().contains("sk-secret"));
    // The next summary builds on the previous one.
    endpoint.set_replies(vec![Reply::Text("shorter".into())]);
    append_turns(&mut client);
    client.ok("conversation.compact", json!({"keep": 2}));
    until("the next summary", || Some(compacted_summary(&mut client)).filter(|s| s["text"] == "shorter"));
    assert!(
        endpoint.requests()[2].body["messages"][1]["content"]
            .as_str()
            .is_some_and(|m| m.starts_with(&format!("Earlier summary: {written}")))
    );
}

#[test]
fn anthropic_provider_uses_its_own_api() {
    let endpoint = Endpoint::start(vec![Reply::Text("in short".into())]);
    let settings = format!("[model]\nprovider = \"anthropic\"\nbase_url = \"{}\"\nname = \"tiny\"\n", endpoint.url());
    let world = World::with(TestPhone::start(), &settings);
    let mut client = world.client_for("m");
    append_turns(&mut client);
    client.ok("conversation.compact", json!({"keep": 2}));
    until("the summary", || Some(compacted_summary(&mut client)).filter(|s| s["text"] == "in short"));
    let request = &endpoint.requests()[0];
    assert_eq!(request.path, "/v1/messages");
    assert!(request.headers.iter().any(|(n, _)| n == "anthropic-version") && request.body["system"].is_string());
}

#[test]
fn failing_model_leaves_the_extractive_summary() {
    let malformed = [
        Reply::Malformed("<html>".into()),
        Reply::Malformed("{\"choices\": 5}".into()),
        Reply::Malformed("{\"choices\":[]}".into()),
    ];
    let temporary = [Reply::Status(429), Reply::Status(500), Reply::Status(503)];
    let permanent = [Reply::Status(401), Reply::Status(404)];
    for reply in malformed.into_iter().chain(temporary).chain(permanent) {
        let is_retried = matches!(reply, Reply::Status(429 | 500 | 503));
        let endpoint = Endpoint::start(vec![reply.clone()]);
        let world = world_with_model(&endpoint, "");
        let mut client = world.client_for("m");
        append_turns(&mut client);
        let done = client.ok("conversation.compact", json!({"keep": 2}));
        assert!(
            done["summary"]["text"].as_str().is_some_and(|t| t.contains("Box 3 holds the key of room 21")),
            "{done}"
        );
        let final_summary =
            until("the last attempt", || Some(compacted_summary(&mut client)).filter(|s| s["pending"] == false));
        assert_eq!(final_summary["method"], "extractive", "{reply:?}");
        assert!(final_summary["error"].as_str().is_some_and(|e| !e.is_empty()), "{reply:?}: {final_summary}");
        assert_eq!(endpoint.requests().len(), if is_retried { 2 } else { 1 }, "{reply:?}");
        assert!(text_of(&client.ok("conversation.context", json!({"budget": 600}))).contains("room 21"));
    }
}

#[test]
fn hanging_model_delays_no_call() {
    let endpoint = Endpoint::start(vec![Reply::Hang]);
    let world = world_with_model(&endpoint, "timeout_ms = 600000\n");
    let mut client = world.client_for("m");
    append_turns(&mut client);
    client.ok("conversation.compact", json!({"keep": 2}));
    until("the model to be asked", || (!endpoint.requests().is_empty()).then_some(()));
    // A call that waited for the model would take ten minutes.
    client.connection.set_timeout(Some(Duration::from_secs(60))).expect("sets the timeout");
    append(&mut client, vec![user("and now?")]);
    client.ok("conversation.compact", json!({"keep": 0}));
    let context = client.ok("conversation.context", json!({"budget": 600}));
    client.ok("session.end", json!({}));
    assert!(text_of(&context).contains("room 21"));
    assert_eq!(compacted_summary(&mut client)["method"], "extractive");
}
