//! Calls of one connection: none stops another client, each can be cancelled, long ones tell how far they are.

use std::io::Write;

use afd_phone::fault::Kind;
use afd_tests::{TestPhone, World, wait};
use serde_json::{Value, json};

use super::{Pipeline, waiting};
use crate::framings::{open, post};

/// Before, the calls of a connection were polled by the task that waited for its client to read.
#[test]
fn a_client_that_reads_nothing_stops_nobody_but_itself() {
    // A client that waits for this limit waits longer than a test may take.
    let world = World::with(TestPhone::start(), "\n[limits]\nhalf_frame_ms = 600000\n");
    let mut deaf = open(&world);
    world.phone.fault("/api/overlay", Kind::Hold);
    let call = |id: u32, method: &str, params: serde_json::Value| {
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    };
    deaf.write_all(call(1, "observe.overlaySet", json!({"enabled": true})).as_bytes()).expect("writes");
    wait::until("the overlay to be under way", || (world.phone.requests("/api/overlay") > 0).then_some(()));
    for id in 2..10 {
        deaf.write_all(call(id, "rpc.discover", json!({})).as_bytes()).expect("writes");
    }
    world.phone.release();
    let mut other = world.client_for("other");
    other.ok("act.back", json!({}));
    assert_eq!(world.phone.hits("back").len(), 1);
    drop(deaf);
}

#[test]
fn a_call_that_waits_can_be_cancelled_and_is_never_sent() {
    let world = World::new();
    let mut pipeline = Pipeline::new(&world);
    world.phone.fault("/api/press/home", Kind::Hold);
    pipeline.send(1, "act.home", json!({}));
    wait::until("the first to be under way", || (!world.phone.hits("home").is_empty()).then_some(()));
    pipeline.send(2, "act.back", json!({}));
    pipeline.send(3, "observe.page", json!({}));
    wait::until("the others to wait", || (waiting(&world) >= 3).then_some(()));
    pipeline.send(4, "rpc.cancel", json!({"id": 2}));
    let (mut cancelled, mut told) = (None, None);
    while cancelled.is_none() || told.is_none() {
        let message = pipeline.next();
        match message["id"].as_u64() {
            Some(2) => cancelled = Some(message),
            Some(4) => told = Some(message),
            _ => panic!("{message}"),
        }
    }
    assert_eq!(told.expect("an answer")["result"], json!({"cancelled": true}));
    assert_eq!(cancelled.expect("an answer")["error"]["data"]["code"], "CANCELLED");
    pipeline.send(5, "rpc.cancel", json!({"id": 3}));
    assert_eq!(pipeline.answer(3)["error"]["data"]["code"], "CANCELLED");
    // What was sent ends, is recorded and answers as usual.
    pipeline.send(6, "rpc.cancel", json!({"id": 1}));
    assert_eq!(pipeline.answer(6)["result"], json!({"cancelled": false}));
    world.phone.release();
    assert!(pipeline.answer(1)["result"]["eventId"].is_string());
    for id in [1, 77] {
        pipeline.send(7, "rpc.cancel", json!({"id": id}));
        assert_eq!(pipeline.answer(7)["result"], json!({"cancelled": false}), "{id} is not under way");
    }
    let mut client = world.client();
    client.ok("observe.top", json!({}));
    assert!(world.phone.hits("back").is_empty());
    let log = client.ok("memory.log", json!({}));
    assert_eq!(log["events"].as_array().map(Vec::len), Some(1), "{log}");
    let error = client.fails("rpc.cancel", json!({"id": [1]}), "INVALID_PARAMS");
    assert_eq!(error.details["path"], "id");
}

#[test]
fn what_waits_for_a_client_that_went_away_is_never_sent() {
    let world = World::new();
    world.phone.fault("/api/press/home", Kind::Hold);
    let mut stays = Pipeline::new(&world);
    stays.send(1, "act.home", json!({}));
    wait::until("the first to be under way", || (!world.phone.hits("home").is_empty()).then_some(()));
    let mut goes = Pipeline::new(&world);
    goes.send(1, "act.back", json!({}));
    wait::until("the second to wait", || (waiting(&world) >= 2).then_some(()));
    drop(goes);
    wait::until("the second to be given up", || (waiting(&world) == 1).then_some(()));
    world.phone.release();
    assert!(stays.answer(1)["result"].is_object());
    world.client().ok("act.key", json!({"keyCode": 4}));
    assert!(world.phone.hits("back").is_empty());
}

/// Before, the daemon waited for the time-out of a call whose client had long gone.
#[test]
fn a_call_by_http_ends_with_its_client() {
    let world = World::new();
    let mut goes = open(&world);
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "observe.wait", "params": {"until": "text", "text": "never", "timeoutMs": 600_000}})
            .to_string();
    write!(goes, "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len()).expect("writes");
    let under_way = || world.client().ok("daemon.status", json!({}))["callsInFlight"].as_u64().expect("a number");
    wait::until("the call to be under way", || (under_way() == 2).then_some(()));
    drop(goes);
    wait::until("the call to be given up", || (under_way() == 1).then_some(()));
}

/// Before, nothing was looked at once so many calls were under way that no more were read.
#[test]
fn a_client_that_went_away_is_noticed_at_its_limit_too() {
    let world = World::with(TestPhone::start(), "\n[limits]\nin_flight = 2\n");
    world.phone.fault("/api/press/home", Kind::Hold);
    let mut stays = Pipeline::new(&world);
    stays.send(1, "act.home", json!({}));
    wait::until("the first to be under way", || (!world.phone.hits("home").is_empty()).then_some(()));
    let mut goes = Pipeline::new(&world);
    (1..5).for_each(|id| goes.send(id, "act.back", json!({})));
    wait::until("two to wait", || (waiting(&world) >= 3).then_some(()));
    drop(goes);
    wait::until("them to be given up", || (waiting(&world) == 1).then_some(()));
    world.phone.release();
    assert!(stays.answer(1)["result"].is_object());
    assert!(world.phone.hits("back").is_empty());
}

/// What is told to be cancelled has changed nothing.
#[test]
fn a_write_that_has_begun_is_not_called_cancelled() {
    let world = World::new();
    for _ in 0..20 {
        let mut pipeline = Pipeline::new(&world);
        let note = world.client().ok("memory.save", json!({"topic": "t", "content": "c"}))["note"]["id"].clone();
        pipeline.send(1, "memory.delete", json!({"id": note}));
        pipeline.send(2, "rpc.cancel", json!({"id": 1}));
        let (mut deleted, mut cancelled) = (None, None);
        while deleted.is_none() || cancelled.is_none() {
            let message = pipeline.next();
            let place = if message["id"] == 1 { &mut deleted } else { &mut cancelled };
            *place = Some(message);
        }
        assert_eq!(cancelled.expect("an answer")["result"]["cancelled"], false);
        assert!(deleted.as_ref().is_some_and(|d| d["result"].is_object()), "{deleted:?}");
    }
}

/// Nobody waits for the answer of a notification, so that it is done whoever is there by then.
#[test]
fn a_notification_outlives_its_client() {
    let world = World::new();
    world.phone.fault("/api/press/home", Kind::Hold);
    let mut stays = Pipeline::new(&world);
    stays.send(1, "act.home", json!({}));
    wait::until("the first to be under way", || (!world.phone.hits("home").is_empty()).then_some(()));
    let mut goes = open(&world);
    goes.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"act.back\"}\n").expect("writes");
    wait::until("it to wait", || (waiting(&world) >= 2).then_some(()));
    drop(goes);
    world.phone.release();
    wait::until("it to be done", || (!world.phone.hits("back").is_empty()).then_some(()));
}

#[test]
fn a_long_call_tells_how_far_it_is_when_it_is_asked_to() {
    let world = World::new();
    world.phone.scene("com.android.settings", None);
    let mut pipeline = Pipeline::new(&world);
    pipeline.send(1, "rpc.reportProgress", json!({"enabled": true}));
    assert_eq!(pipeline.answer(1)["result"], json!({"enabled": true}));
    pipeline.send(2, "act.scrollTo", json!({"text": "no such words anywhere", "timeoutMs": 60_000}));
    let mut steps = Vec::new();
    let answer = loop {
        let message = pipeline.next();
        if message["id"] == 2 {
            break message;
        }
        assert_eq!((message["method"].as_str(), message["params"]["id"].as_u64()), (Some("rpc.progress"), Some(2)), "{message}");
        steps.push(message["params"]["done"].as_u64().expect("a number"));
    };
    assert_eq!(answer["error"]["data"]["code"], "TARGET_NOT_FOUND");
    assert!(!steps.is_empty() && steps.is_sorted(), "{steps:?}");
    let refused = post(&world, r#"{"jsonrpc":"2.0","id":1,"method":"rpc.reportProgress","params":{"enabled":true}}"#);
    assert!(refused.body.contains("UNSUPPORTED"), "HTTP has no place for notifications: {}", refused.body);
}

#[test]
fn faults_of_the_protocol_carry_a_code_too() {
    let world = World::new();
    let code = |message: &str| {
        let answer: serde_json::Value = serde_json::from_str(&post(&world, message).body).expect("JSON");
        (answer["error"]["code"].as_i64(), answer["error"]["data"]["code"].as_str().map(str::to_owned))
    };
    for (message, number, name) in [
        ("{", -32700, "PARSE_ERROR"),
        ("{}", -32600, "INVALID_REQUEST"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"no.such"}"#, -32601, "UNKNOWN_METHOD"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"act.key","params":{}}"#, -32602, "INVALID_PARAMS"),
    ] {
        assert_eq!(code(message), (Some(number), Some(name.to_owned())), "{message}");
    }
}

/// Before, a client that went away left changes of several steps half done.
#[test]
fn changes_of_several_steps_are_done_whole_or_not_at_all() {
    let world = World::new();
    let mut client = world.client();
    let messages: Vec<Value> = (0..40).map(|n| json!({"role": "user", "content": format!("message {n} of many")})).collect();
    for n in 0..8 {
        let session = format!("s{n}");
        client.ok("session.start", json!({"session": session, "goal": "g"}));
        let mut gone = Pipeline::new(&world);
        gone.send(1, "conversation.append", json!({"session": session, "messages": messages}));
        gone.send(2, "session.end", json!({"session": session}));
        drop(gone);
        wait::until("its calls to end", || (client.ok("daemon.status", json!({}))["callsInFlight"] == 1).then_some(()));
        let kept = client.ok("conversation.list", json!({"session": session, "limit": 100}))["messages"].as_array().map(Vec::len);
        assert!([Some(0), Some(40)].contains(&kept), "{kept:?} messages");
        let status = client.ok("session.show", json!({"session": session}))["status"].clone();
        let reports = client.ok("artifact.list", json!({"session": session}))["artifacts"].as_array().map(Vec::len);
        assert_eq!(reports == Some(1), status == "ended", "{status}: {reports:?} reports");
    }
}
