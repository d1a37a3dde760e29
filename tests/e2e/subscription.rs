//! Following what happens.

use std::io::{BufRead, BufReader, Write};

use afd_tests::World;
use jsonrpsee::core::client::{ClientT, Subscription, SubscriptionClientT};
use jsonrpsee::core::params::ObjectParams;
use jsonrpsee::rpc_params;
use jsonrpsee::ws_client::WsClientBuilder;
use serde_json::{Value, json};

use crate::framings::{open, runtime};

#[test]
fn a_web_socket_client_follows_events() {
    let world = World::new();
    runtime().block_on(follow(&world));
}

async fn follow(world: &World) {
    let socket = tokio::net::UnixStream::connect(world.socket()).await.expect("connects");
    let ws = WsClientBuilder::default().build_with_stream("ws://localhost/", socket).await.expect("upgrades");
    let mut events: Subscription<Value> =
        ws.subscribe("events.subscribe", ObjectParams::new(), "events.unsubscribe").await.expect("subscribes");
    let done: Value = ws.request("act.home", ObjectParams::new()).await.expect("acts");
    loop {
        let message = events.next().await.expect("a message").expect("JSON");
        if message["kind"] == "event" {
            assert_eq!((&message["uid"], message["op"].as_str()), (&done["eventId"], Some("home")));
            break;
        }
    }
    events.unsubscribe().await.expect("unsubscribes");
    let again: Result<bool, _> = ws.request("events.unsubscribe", rpc_params![1]).await;
    let Err(jsonrpsee::core::ClientError::Call(error)) = again else { panic!("there is nothing to end any more: {again:?}") };
    assert!(error.data().is_some_and(|d| d.get().contains("NOT_FOUND")), "{error:?}");
}

#[test]
fn a_line_client_gets_the_past_first_and_misses_nothing() {
    let world = World::new();
    let mut client = world.client_for("ann");
    for _ in 0..3 {
        client.ok("act.home", json!({}));
    }
    let first = client.ok("memory.log", json!({"limit": 3}))["events"][2]["cursor"].as_i64().expect("a number");
    let mut stream = open(&world);
    writeln!(stream, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": "events.subscribe", "params": {"since": first, "session": "ann"}}))
        .expect("writes");
    let mut lines = BufReader::new(stream.try_clone().expect("clones"))
        .lines()
        .map(|l| serde_json::from_str::<Value>(&l.expect("a line")).expect("JSON"));
    let id = lines.next().expect("an answer")["result"].clone();
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
    assert_eq!(ops, ["home", "home", "back"], "two of the past, then what came, and nobody else's");
    writeln!(stream, "{}", json!({"jsonrpc": "2.0", "id": 2, "method": "events.unsubscribe", "params": {"subscription": id}}))
        .expect("writes");
    let ended = lines.find(|m| m["id"] == 2).expect("an answer");
    assert_eq!(ended["result"], true);
}

#[test]
fn observations_and_device_states_are_told_too() {
    let mut world = World::new();
    let mut stream = open(&world);
    writeln!(stream, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": "events.subscribe", "params": {}})).expect("writes");
    let mut lines = BufReader::new(stream).lines().map(|l| serde_json::from_str::<Value>(&l.expect("a line")).expect("JSON"));
    lines.next();
    let seen = world.client().ok("observe.page", json!({}));
    let mut next = |kind: &str| lines.by_ref().map(|m| m["params"]["result"].clone()).find(|m| m["kind"] == kind).expect("a message");
    assert_eq!(next("device"), json!({"kind": "device", "device": "pixel", "state": "ready", "cursor": 0}));
    assert_eq!(next("observation")["observationId"], seen["observationId"]);
    world.phone.turn_off();
    world.client().fails("observe.top", json!({}), "DEVICE_UNREACHABLE");
    assert_eq!(next("device")["state"], "unreachable");
}

/// Before, a check was numbered after its reading, so that an act in between seemed to be what it judged.
#[test]
fn a_verify_has_the_number_of_what_it_judged() {
    let world = World::new();
    runtime().block_on(async {
        let socket = tokio::net::UnixStream::connect(world.socket()).await.expect("connects");
        let ws = WsClientBuilder::default().build_with_stream("ws://localhost/", socket).await.expect("upgrades");
        let mut events: Subscription<Value> =
            ws.subscribe("events.subscribe", ObjectParams::new(), "events.unsubscribe").await.expect("subscribes");
        let mut params = ObjectParams::new();
        params.insert("text", "Wi-Fi").expect("serialises");
        let _: Value = ws.request("verify.textContains", params).await.expect("holds");
        let (mut seen, mut judged) = (None, None);
        while seen.is_none() || judged.is_none() {
            let message = events.next().await.expect("a message").expect("JSON");
            match message["kind"].as_str() {
                Some("observation") => seen = message["seq"].as_i64(),
                Some("event") => judged = message["seq"].as_i64(),
                _ => {}
            }
        }
        assert_eq!(judged, seen);
    });
}
