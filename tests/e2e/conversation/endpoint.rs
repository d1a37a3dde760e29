//! The language model that writes summaries: with one that hangs, refuses or talks nonsense, no call waits, and sentences stand in.

use std::time::Duration;

use afd_tests::endpoint::{Endpoint, Reply};
use afd_tests::wait::until;
use afd_tests::{Client, TestPhone, World};
use serde_json::{Value, json};

use super::{append, assistant, text_of, user};

fn world(endpoint: &Endpoint, more: &str) -> World {
    let settings =
        format!("[model]\nprovider = \"openai\"\nbase_url = \"{}\"\nname = \"small\"\nretry_ms = 20\nattempts = 2\n{more}", endpoint.url());
    World::with(TestPhone::start(), &settings)
}

fn talk(client: &mut Client) {
    for i in 0..8 {
        append(client, vec![user(&format!("Box {i} holds the key of room {}.", i * 7)), assistant("noted")]);
    }
}

fn summary(client: &mut Client) -> Value {
    client.ok("conversation.summary", json!({}))["compacted"].clone()
}

#[test]
fn a_language_model_writes_the_summary_in_the_background() {
    let written = "The person said which key is in which box; box 3 has that of room 21.";
    let endpoint =
        Endpoint::start(vec![Reply::Text(written.into()), Reply::Text("Sure: [\"keys are in boxes\", \"rooms go by sevens\"]".into())]);
    let world = world(&endpoint, "");
    std::fs::write(world.dir().join("key"), "sk-secret-4711\n").expect("writes");
    let mut client = world.client_for("m");
    client.ok("config.set", json!({"key": "model.key_file", "value": "key"}));
    talk(&mut client);
    let done = client.ok("conversation.compact", json!({"keep": 2}));
    assert_eq!((&done["summary"]["method"], &done["summary"]["pending"]), (&json!("extractive"), &json!(true)));
    let better = until("the summary", || Some(summary(&mut client)).filter(|s| s["method"] == "model"));
    assert_eq!((&better["text"], &better["model"], &better["pending"]), (&json!(written), &json!("small"), &json!(false)));
    let context = text_of(&client.ok("conversation.context", json!({"budget": 1000})));
    assert!(context.contains(&format!("[Previous context summary]\n{written}")), "{context}");
    let learned = client.ok("pattern.find", json!({"session": "m", "limit": 100}))["patterns"].to_string();
    assert!(learned.contains("rooms go by sevens"), "{learned}");
    let asked = endpoint.requests();
    assert_eq!((asked.len(), asked[0].path.as_str()), (2, "/chat/completions"));
    assert!(asked[0].headers.contains(&("authorization".into(), "Bearer sk-secret-4711".into())));
    assert!(asked[0].body["messages"][1]["content"].as_str().is_some_and(|m| m.contains("user: Box 3 holds the key of room 21.")));
    // The key is in no log and no answer.
    let log = std::fs::read_to_string(world.dir().join("afd.log")).expect("reads");
    assert!(!log.contains("4711") && !client.ok("config.list", json!({})).to_string().contains("sk-secret"));
    // What comes later builds on it.
    endpoint.set_replies(vec![Reply::Text("shorter".into())]);
    talk(&mut client);
    client.ok("conversation.compact", json!({"keep": 2}));
    until("the next summary", || Some(summary(&mut client)).filter(|s| s["text"] == "shorter"));
    assert!(
        endpoint.requests()[2].body["messages"][1]["content"]
            .as_str()
            .is_some_and(|m| m.starts_with(&format!("Earlier summary: {written}")))
    );
}

#[test]
fn anthropic_is_asked_in_its_own_way() {
    let endpoint = Endpoint::start(vec![Reply::Text("in short".into())]);
    let settings = format!("[model]\nprovider = \"anthropic\"\nbase_url = \"{}\"\nname = \"tiny\"\n", endpoint.url());
    let world = World::with(TestPhone::start(), &settings);
    let mut client = world.client_for("m");
    talk(&mut client);
    client.ok("conversation.compact", json!({"keep": 2}));
    until("the summary", || Some(summary(&mut client)).filter(|s| s["text"] == "in short"));
    let asked = &endpoint.requests()[0];
    assert_eq!(asked.path, "/v1/messages");
    assert!(asked.headers.iter().any(|(n, _)| n == "anthropic-version") && asked.body["system"].is_string());
}

#[test]
fn a_model_that_fails_keeps_nobody_waiting_and_sentences_stand_in() {
    let nonsense =
        [Reply::Malformed("<html>".into()), Reply::Malformed("{\"choices\": 5}".into()), Reply::Malformed("{\"choices\":[]}".into())];
    let later = [Reply::Status(429), Reply::Status(500), Reply::Status(503)];
    let never = [Reply::Status(401), Reply::Status(404)];
    for reply in nonsense.into_iter().chain(later).chain(never) {
        let tries_again = matches!(reply, Reply::Status(429 | 500 | 503));
        let endpoint = Endpoint::start(vec![reply.clone()]);
        let world = world(&endpoint, "");
        let mut client = world.client_for("m");
        talk(&mut client);
        let done = client.ok("conversation.compact", json!({"keep": 2}));
        assert!(done["summary"]["text"].as_str().is_some_and(|t| t.contains("Box 3 holds the key of room 21")), "{done}");
        let given_up = until("it to be given up", || Some(summary(&mut client)).filter(|s| s["pending"] == false));
        assert_eq!(given_up["method"], "extractive", "{reply:?}");
        assert!(given_up["error"].as_str().is_some_and(|e| !e.is_empty()), "{reply:?}: {given_up}");
        assert_eq!(endpoint.requests().len(), if tries_again { 2 } else { 1 }, "{reply:?}");
        assert!(text_of(&client.ok("conversation.context", json!({"budget": 600}))).contains("room 21"));
    }
}

#[test]
fn a_model_that_hangs_keeps_nobody_waiting() {
    let endpoint = Endpoint::start(vec![Reply::Hang]);
    let world = world(&endpoint, "timeout_ms = 600000\n");
    let mut client = world.client_for("m");
    talk(&mut client);
    client.ok("conversation.compact", json!({"keep": 2}));
    until("the model to be asked", || (!endpoint.requests().is_empty()).then_some(()));
    // Had any of these to wait for the model, it would be for ten minutes.
    client.connection.set_timeout(Some(Duration::from_secs(60))).expect("sets");
    append(&mut client, vec![user("and now?")]);
    client.ok("conversation.compact", json!({"keep": 0}));
    let context = client.ok("conversation.context", json!({"budget": 600}));
    client.ok("session.end", json!({}));
    assert!(text_of(&context).contains("room 21"));
    assert_eq!(summary(&mut client)["method"], "extractive");
}
