//! Request keys: repeated writes are executed once.

use afd_tests::{Daemon, World};
use serde_json::json;

#[test]
fn write_repeated_with_its_key_is_executed_once() {
    let mut world = World::new();
    let mut client = world.client();
    let note = json!({"topic": "wifi", "content": "the switch is slow", "requestKey": "k-1"});
    let first = client.ok("memory.save", note.clone());
    assert_eq!(client.ok("memory.save", note.clone()), first);
    client.fails("memory.save", json!({"topic": "wifi", "content": "another", "requestKey": "k-1"}), "CONFLICT");
    // Keys of different methods are independent.
    client.ok("session.start", json!({"session": "s", "requestKey": "k-1"}));
    let started = client.ok("session.start", json!({"session": "s", "requestKey": "k-1"}));
    assert_eq!(started["session"], "s", "the repeated start does not conflict");
    world.daemon.stop();
    world.daemon = Daemon::host(world.dir());
    let mut client = world.client();
    assert_eq!(client.ok("memory.save", note), first);
    assert_eq!(client.ok("memory.search", json!({"query": "switch"}))["notes"].as_array().map(Vec::len), Some(1));
}

#[test]
fn failed_call_frees_its_key() {
    let world = World::new();
    let mut client = world.client();
    let add = json!({"description": "look around", "requestKey": "k"});
    client.ok("session.start", json!({"session": "s"}));
    client.ok("session.end", json!({"session": "s"}));
    let mut ended = world.client_for("s");
    ended.fails("session.task.add", add.clone(), "CONFLICT");
    ended.ok("session.resume", json!({}));
    let task = ended.ok("session.task.add", add.clone());
    assert_eq!(ended.ok("session.task.add", add)["id"], task["id"]);
    assert_eq!(ended.ok("session.task.list", json!({}))["tasks"].as_array().map(Vec::len), Some(1));
    for (key, got) in [(json!(""), "0"), (json!("x".repeat(257)), "257"), (json!(7), "7")] {
        let error =
            client.fails("memory.save", json!({"topic": "t", "content": "c", "requestKey": key}), "INVALID_PARAMS");
        assert_eq!((error.details["path"].as_str(), error.details["got"].as_str()), (Some("requestKey"), Some(got)));
    }
    client.fails("memory.search", json!({"query": "x", "requestKey": "k"}), "INVALID_PARAMS");
}

/// Regression: the recorded outcome of a key retained deleted content for a day.
#[test]
fn deleted_content_is_not_returned_for_a_key() {
    let world = World::new();
    let mut client = world.client();
    let note = json!({"topic": "t", "content": "hunter2 is the word", "requestKey": "first"});
    let id = client.ok("memory.save", note.clone())["note"]["id"].clone();
    let alike = json!({"topic": "t", "content": "hunter2 is the name", "requestKey": "second"});
    let similar = client.ok("memory.save", alike.clone());
    assert_eq!(similar["similar"][0]["id"], id, "{similar}");
    client.ok("memory.delete", json!({"id": id}));
    for call in [note, alike] {
        let error = client.fails("memory.save", call, "CONFLICT");
        assert!(!error.message.contains("hunter2") && !error.details.to_string().contains("hunter2"));
    }
    assert_eq!(
        client.ok("memory.search", json!({"topic": "t"}))["notes"].as_array().map(Vec::len),
        Some(1),
        "nothing is saved again"
    );
}

#[test]
fn concurrent_calls_with_the_same_key_are_executed_once() {
    let world = World::new();
    let ids: Vec<_> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..8)
            .map(|_| {
                let mut client = world.client();
                scope.spawn(move || {
                    client.ok("memory.save", json!({"topic": "t", "content": "c", "requestKey": "same"}))["note"]["id"].clone()
                })
            })
            .collect();
        calls.into_iter().map(|call| call.join().expect("does not panic")).collect()
    });
    assert!(ids.windows(2).all(|pair| pair[0] == pair[1]), "{ids:?}");
}

#[test]
fn keyed_calls_of_one_connection_keep_their_order() {
    let world = World::new();
    let mut pipeline = super::Pipeline::new(&world);
    for id in 1..=30 {
        let message = json!({"role": "user", "content": format!("message {id}")});
        let key = if id % 2 == 0 { json!(format!("k{id}")) } else { json!(null) };
        pipeline.send(id, "conversation.append", json!({"session": "s", "messages": [message], "requestKey": key}));
    }
    for _ in 1..=30 {
        assert!(pipeline.next()["result"].is_object());
    }
    let keyed: Vec<String> = world.client_for("s").ok("conversation.list", json!({"limit": 100}))["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .map(|m| m["content"].as_str().expect("text").trim_start_matches("message ").to_owned())
        .filter(|n| n.parse::<u32>().is_ok_and(|n| n % 2 == 0))
        .collect();
    let mut sorted = keyed.clone();
    sorted.sort_by_key(|n| std::cmp::Reverse(n.parse::<u32>().ok()));
    assert_eq!(keyed, sorted);
}
