//! Event subscriptions.

use std::io::{BufRead, BufReader, Write};

use afd_tests::World;
use afd_tests::websocket::WebSocket;
use serde_json::{Value, json};

use crate::framings::open;

#[test]
fn websocket_client_receives_events() {
    let world = World::new();
    let mut ws = WebSocket::connect(&world.socket());
    let subscription = ws.call("events.subscribe", json!({}))["result"].clone();
    let done = ws.call("act.home", json!({}));
    let event = std::iter::repeat_with(|| ws.event()).find(|e| e["kind"] == "event").expect("an event");
    assert_eq!((&event["uid"], event["op"].as_str()), (&done["result"]["eventId"], Some("home")));
    assert_eq!(ws.call("events.unsubscribe", json!({"subscription": subscription}))["result"], true);
    let again = ws.call("events.unsubscribe", json!({"subscription": subscription}));
    assert_eq!(again["error"]["data"]["code"], "NOT_FOUND", "{again}");
}

#[test]
fn line_client_gets_past_events_first_and_misses_none() {
    let world = World::new();
    let mut client = world.client_for("ann");
    for _ in 0..3 {
        client.ok("act.home", json!({}));
    }
    let first = client.ok("memory.log", json!({"limit": 3}))["events"][2]["cursor"].as_i64().expect("a number");
    let mut stream = open(&world);
    writeln!(
        stream,
        "{}",
        json!({"jsonrpc": "2.0", "id": 1, "method": "events.subscribe", "params": {"since": first, "session": "ann"}})
    )
    .expect("writes");
    let mut lines = BufReader::new(stream.try_clone().expect("clones"))
        .lines()
        .map(|l| serde_json::from_str::<Value>(&l.expect("a line")).expect("JSON"));
    let id = lines.next().expect("a response")["result"].clone();
    assert!(id.is_number());
    world.client_for("ben").ok("act.home", json!({}));
    client.ok("act.back", json!({}));
    let ops: Vec<_> = lines
        .by_ref()
        .inspect(|m| assert_eq!(m["method"], "events.message"))
        .filter(|m| m["params"]["result"]["kind"] == "event")
        .map(|m| m["params"]["result"]["op"].as_str().expect("a verb").to_owned())
        .take(3)
        .collect();
    assert_eq!(ops, ["home", "home", "back"], "two past events, then the new one, and none of other sessions");
    writeln!(
        stream,
        "{}",
        json!({"jsonrpc": "2.0", "id": 2, "method": "events.unsubscribe", "params": {"subscription": id}})
    )
    .expect("writes");
    let ended = lines.find(|m| m["id"] == 2).expect("a response");
    assert_eq!(ended["result"], true);
}

#[test]
fn observations_and_device_states_are_published() {
    let mut world = World::new();
    let mut stream = open(&world);
    writeln!(stream, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": "events.subscribe", "params": {}}))
        .expect("writes");
    let mut lines =
        BufReader::new(stream).lines().map(|l| serde_json::from_str::<Value>(&l.expect("a line")).expect("JSON"));
    lines.next();
    let seen = world.client().ok("observe.page", json!({}));
    let mut next = |kind: &str| {
        lines.by_ref().map(|m| m["params"]["result"].clone()).find(|m| m["kind"] == kind).expect("a message")
    };
    assert_eq!(next("device"), json!({"kind": "device", "device": "pixel", "state": "ready", "cursor": 0}));
    assert_eq!(next("observation")["observationId"], seen["observationId"]);
    world.phone.turn_off();
    world.client().fails("observe.top", json!({}), "DEVICE_UNREACHABLE");
    assert_eq!(next("device")["state"], "unreachable");
}

/// Regression: a verification got its sequence number after it had read the screen, so that it seemed to judge the
/// screen after a concurrent action.
#[test]
fn verify_has_the_sequence_number_of_the_screen_it_judged() {
    let world = World::new();
    let mut ws = WebSocket::connect(&world.socket());
    ws.call("events.subscribe", json!({}));
    ws.call("verify.textContains", json!({"text": "Wi-Fi"}));
    let (mut seen, mut judged) = (None, None);
    while seen.is_none() || judged.is_none() {
        let message = ws.event();
        match message["kind"].as_str() {
            Some("observation") => seen = message["seq"].as_i64(),
            Some("event") => judged = message["seq"].as_i64(),
            _ => {}
        }
    }
    assert_eq!(judged, seen);
}
