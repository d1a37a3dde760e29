//! Order of events, of the calls of one phone under all its names, and of changes to a session.

use std::io::{BufRead, BufReader, Write};

use afd_phone::fault::Kind;
use afd_tests::{World, wait};
use serde_json::{Value, json};

use super::{Pipeline, waiting_calls};
use crate::framings::open;

#[test]
fn events_are_delivered_in_the_order_of_their_cursors() {
    const CLIENTS: usize = 8;
    const CHECKS: usize = 12;
    let world = World::new();
    let mut stream = open(&world);
    writeln!(stream, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": "events.subscribe", "params": {"since": 0}}))
        .expect("writes");
    let mut lines =
        BufReader::new(stream).lines().map(|l| serde_json::from_str::<Value>(&l.expect("a line")).expect("JSON"));
    assert!(lines.next().expect("a response")["result"].is_number());
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let mut client = world.client_for(&format!("s{client}"));
            scope.spawn(move || {
                for _ in 0..CHECKS {
                    client.ok("verify.topActivity", json!({"expected": "Settings"}));
                }
            });
        }
        let mut cursors = Vec::new();
        let mut last = 0;
        while cursors.len() < CLIENTS * CHECKS {
            let message = lines.next().expect("a message")["params"]["result"].clone();
            let cursor = message["cursor"].as_i64().unwrap_or_else(|| panic!("every message has a cursor: {message}"));
            assert!(cursor >= last, "{cursor} after {last}");
            last = cursor;
            if message["kind"] == "event" {
                cursors.push(cursor);
            }
        }
        let sorted = cursors.windows(2).all(|pair| pair[0] < pair[1]);
        assert!(sorted, "{cursors:?}");
    });
}

#[test]
fn changing_a_device_setting_does_not_bypass_its_queue() {
    let world = World::new();
    world.phone.fault("/api/press/home", Kind::Hold);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| world.client_for("ann").ok("act.home", json!({})));
        wait::until("the first act to be in flight", || (!world.phone.hits("home").is_empty()).then_some(()));
        world.client().ok("config.set", json!({"key": "device.pixel.timeout_ms", "value": "9000"}));
        let second = scope.spawn(|| world.client_for("ben").ok("act.back", json!({})));
        wait::until("the second act to be queued", || (waiting_calls(&world) >= 2).then_some(()));
        assert!(world.phone.hits("back").is_empty());
        world.phone.release();
        first.join().expect("does not panic");
        second.join().expect("does not panic");
    });
    let kinds: Vec<String> = world.phone.lock().inputs.iter().map(|i| i.kind.clone()).collect();
    assert_eq!(kinds, ["home", "back"]);
}

#[test]
fn one_phone_has_one_queue_and_one_lease_under_all_its_names() {
    let world = World::new();
    let (mut ann, mut ben) = (world.client_for("ann"), world.client_for("ben"));
    let url = world.phone.url();
    let same_url = url.replace("127.0.0.1", "LocalHost");
    ben.ok("device.add", json!({"name": "twin", "url": same_url, "token": afd_tests::phone::TOKEN}));
    ann.ok("device.lease", json!({"device": "pixel", "ttlMs": 60_000}));
    for other in [json!({"device": "twin"}), json!({"url": same_url}), json!({"url": format!("{url}/api")})] {
        let error = ben.fails("act.home", other.clone(), "DEVICE_BUSY");
        assert_eq!(error.details["holder"], "ann", "{other}");
    }
    ann.ok("act.home", json!({"device": "twin"}));
    ann.ok("device.release", json!({"device": "twin"}));
    ben.ok("act.home", json!({"device": "twin"}));
    let devices = ben.ok("device.list", json!({}));
    assert_eq!(devices["devices"].as_array().map(Vec::len), Some(2), "{devices}");
    // One queue: a call under one name waits for a call under the other.
    world.phone.fault("/api/press/home", Kind::Hold);
    world.phone.clear_inputs();
    let mut pipeline = Pipeline::new(&world);
    pipeline.send(1, "act.home", json!({"device": "pixel"}));
    wait::until("the first act to be in flight", || (!world.phone.hits("home").is_empty()).then_some(()));
    pipeline.send(2, "act.back", json!({"device": "twin"}));
    wait::until("the second act to be queued", || (waiting_calls(&world) >= 2).then_some(()));
    assert!(world.phone.hits("back").is_empty());
    world.phone.release();
    assert!(pipeline.response(2)["result"].is_object());
}

#[test]
fn queries_do_not_create_devices() {
    let world = World::new();
    let mut client = world.client();
    client.ok("observe.page", json!({}));
    let unknown_url = "http://127.0.0.1:9";
    client.ok("memory.context", json!({"device": unknown_url}));
    client.ok("memory.log", json!({"device": unknown_url}));
    client.ok("memory.experience", json!({"device": unknown_url}));
    assert!(client.call("visual.states", json!({"device": unknown_url})).is_err());
    // The URL of a known device still means that device.
    let by_url = client.ok("memory.context", json!({"device": world.phone.url().replace("127.0.0.1", "localhost")}));
    assert_eq!((by_url["found"].as_bool(), by_url["device"].as_str()), (Some(true), Some("pixel")));
    let devices = client.ok("device.list", json!({}));
    assert_eq!(devices["devices"].as_array().map(Vec::len), Some(1), "{devices}");
}

/// The first calls of a session wait until its row is inserted; that must not change their order.
#[test]
fn first_calls_of_a_new_session_keep_their_order() {
    let world = World::new();
    for round in 0..10 {
        world.phone.clear_inputs();
        let mut pipeline = Pipeline::new(&world);
        let session = format!("new-{round}");
        world.phone.scene("com.android.settings", None);
        pipeline.send(1, "observe.refs", json!({"session": session, "hints": false, "maxRows": 500}));
        pipeline.send(2, "act.tap", json!({"session": session, "by": "text", "value": "Storage"}));
        pipeline.send(3, "observe.top", json!({"session": session}));
        let mut responses: Vec<Value> = (0..3).map(|_| pipeline.next()).collect();
        responses.sort_by_key(|a| a["id"].as_u64());
        let seen = responses[0]["result"]["rows"].to_string();
        assert!(seen.contains("Bluetooth"), "the observation precedes the tap: {seen}");
        assert!(responses[1]["result"].is_object(), "{}", responses[1]);
    }
}

#[test]
fn session_is_ended_once_by_concurrent_calls() {
    let world = World::new();
    for round in 0..5 {
        let name = format!("s{round}");
        world.client().ok("session.start", json!({"session": name}));
        let ends: Vec<_> = std::thread::scope(|scope| {
            let ends: Vec<_> = (0..4)
                .map(|_| {
                    let mut client = world.client_for(&name);
                    scope.spawn(move || client.call("session.end", json!({})).map_err(|e| e.code))
                })
                .collect();
            ends.into_iter().map(|end| end.join().expect("does not panic")).collect()
        });
        assert_eq!(ends.iter().filter(|end| end.is_ok()).count(), 1, "{ends:?}");
        assert!(ends.iter().all(|end| end.is_ok() || end == &Err("CONFLICT".to_owned())), "{ends:?}");
        world.client_for(&name).fails("session.progress", json!({"nextSteps": ["x"]}), "CONFLICT");
    }
}
