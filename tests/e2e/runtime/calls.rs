//! Calls of a connection: they do not block other clients, can be cancelled, and report progress.

use std::io::Write;

use afd_phone::fault::Kind;
use afd_tests::{TestPhone, World, wait};
use serde_json::{Value, json};

use super::{Pipeline, waiting_calls};
use crate::framings::{open, post};

/// Regression: the calls of a connection were polled by the same task that waited for the client to read.
#[test]
fn client_that_does_not_read_blocks_only_itself() {
    // The other client would time out if it had to wait for this limit.
    let world = World::with(TestPhone::start(), "\n[limits]\nhalf_frame_ms = 600000\n");
    let mut stalled = open(&world);
    world.phone.fault("/api/overlay", Kind::Hold);
    let call = |id: u32, method: &str, params: serde_json::Value| {
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    };
    stalled.write_all(call(1, "observe.overlaySet", json!({"enabled": true})).as_bytes()).expect("writes");
    wait::until("the overlay call to be in flight", || (world.phone.requests("/api/overlay") > 0).then_some(()));
    for id in 2..10 {
        stalled.write_all(call(id, "rpc.discover", json!({})).as_bytes()).expect("writes");
    }
    world.phone.release();
    let mut other = world.client_for("other");
    other.ok("act.back", json!({}));
    assert_eq!(world.phone.hits("back").len(), 1);
    drop(stalled);
}

#[test]
fn queued_call_can_be_cancelled_and_is_never_sent() {
    let world = World::new();
    let mut pipeline = Pipeline::new(&world);
    world.phone.fault("/api/press/home", Kind::Hold);
    pipeline.send(1, "act.home", json!({}));
    wait::until("the first call to be in flight", || (!world.phone.hits("home").is_empty()).then_some(()));
    pipeline.send(2, "act.back", json!({}));
    pipeline.send(3, "observe.page", json!({}));
    wait::until("the other calls to be queued", || (waiting_calls(&world) >= 3).then_some(()));
    pipeline.send(4, "rpc.cancel", json!({"id": 2}));
    let (mut cancelled, mut confirmation) = (None, None);
    while cancelled.is_none() || confirmation.is_none() {
        let message = pipeline.next();
        match message["id"].as_u64() {
            Some(2) => cancelled = Some(message),
            Some(4) => confirmation = Some(message),
            _ => panic!("{message}"),
        }
    }
    assert_eq!(confirmation.expect("a response")["result"], json!({"cancelled": true}));
    assert_eq!(cancelled.expect("a response")["error"]["data"]["code"], "CANCELLED");
    pipeline.send(5, "rpc.cancel", json!({"id": 3}));
    assert_eq!(pipeline.response(3)["error"]["data"]["code"], "CANCELLED");
    // A call that was already sent completes, is recorded and gets its normal response.
    pipeline.send(6, "rpc.cancel", json!({"id": 1}));
    assert_eq!(pipeline.response(6)["result"], json!({"cancelled": false}));
    world.phone.release();
    assert!(pipeline.response(1)["result"]["eventId"].is_string());
    for id in [1, 77] {
        pipeline.send(7, "rpc.cancel", json!({"id": id}));
        assert_eq!(pipeline.response(7)["result"], json!({"cancelled": false}), "{id} is not in flight");
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
fn queued_calls_of_a_disconnected_client_are_never_sent() {
    let world = World::new();
    world.phone.fault("/api/press/home", Kind::Hold);
    let mut staying = Pipeline::new(&world);
    staying.send(1, "act.home", json!({}));
    wait::until("the first call to be in flight", || (!world.phone.hits("home").is_empty()).then_some(()));
    let mut leaving = Pipeline::new(&world);
    leaving.send(1, "act.back", json!({}));
    wait::until("the second call to be queued", || (waiting_calls(&world) >= 2).then_some(()));
    drop(leaving);
    wait::until("the second call to be abandoned", || (waiting_calls(&world) == 1).then_some(()));
    world.phone.release();
    assert!(staying.response(1)["result"].is_object());
    world.client().ok("act.key", json!({"keyCode": 4}));
    assert!(world.phone.hits("back").is_empty());
}

/// Regression: the daemon continued a call until its timeout although the client had disconnected.
#[test]
fn http_call_is_abandoned_when_its_client_disconnects() {
    let world = World::new();
    let mut leaving = open(&world);
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "observe.wait", "params": {"until": "text", "text": "never", "timeoutMs": 600_000}})
            .to_string();
    write!(leaving, "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len()).expect("writes");
    let calls_in_flight = || world.client().ok("daemon.status", json!({}))["callsInFlight"].as_u64().expect("a number");
    wait::until("the call to be in flight", || (calls_in_flight() == 2).then_some(()));
    drop(leaving);
    wait::until("the call to be abandoned", || (calls_in_flight() == 1).then_some(()));
}

/// Regression: at the limit of calls in flight the connection was not read, so its end was not noticed.
#[test]
fn disconnect_is_noticed_at_the_limit_of_calls_in_flight() {
    let world = World::with(TestPhone::start(), "\n[limits]\nin_flight = 2\n");
    world.phone.fault("/api/press/home", Kind::Hold);
    let mut staying = Pipeline::new(&world);
    staying.send(1, "act.home", json!({}));
    wait::until("the first call to be in flight", || (!world.phone.hits("home").is_empty()).then_some(()));
    let mut leaving = Pipeline::new(&world);
    (1..5).for_each(|id| leaving.send(id, "act.back", json!({})));
    wait::until("two calls to be queued", || (waiting_calls(&world) >= 3).then_some(()));
    drop(leaving);
    wait::until("the queued calls to be abandoned", || (waiting_calls(&world) == 1).then_some(()));
    world.phone.release();
    assert!(staying.response(1)["result"].is_object());
    assert!(world.phone.hits("back").is_empty());
}

/// A call that is reported as cancelled must not have changed anything.
#[test]
fn started_write_is_not_reported_as_cancelled() {
    let world = World::new();
    for _ in 0..20 {
        let mut pipeline = Pipeline::new(&world);
        let note = world.client().ok("memory.save", json!({"topic": "t", "content": "c"}))["note"]["id"].clone();
        pipeline.send(1, "memory.delete", json!({"id": note}));
        pipeline.send(2, "rpc.cancel", json!({"id": 1}));
        let (mut deleted, mut cancelled) = (None, None);
        while deleted.is_none() || cancelled.is_none() {
            let message = pipeline.next();
            let response = if message["id"] == 1 { &mut deleted } else { &mut cancelled };
            *response = Some(message);
        }
        assert_eq!(cancelled.expect("a response")["result"]["cancelled"], false);
        assert!(deleted.as_ref().is_some_and(|d| d["result"].is_object()), "{deleted:?}");
    }
}

/// A notification has no response, so it is executed even if the client has disconnected.
#[test]
fn notification_outlives_its_client() {
    let world = World::new();
    world.phone.fault("/api/press/home", Kind::Hold);
    let mut staying = Pipeline::new(&world);
    staying.send(1, "act.home", json!({}));
    wait::until("the first call to be in flight", || (!world.phone.hits("home").is_empty()).then_some(()));
    let mut leaving = open(&world);
    leaving.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"act.back\"}\n").expect("writes");
    wait::until("the notification to be queued", || (waiting_calls(&world) >= 2).then_some(()));
    drop(leaving);
    world.phone.release();
    wait::until("the notification to be executed", || (!world.phone.hits("back").is_empty()).then_some(()));
}

#[test]
fn long_call_reports_progress_on_request() {
    let world = World::new();
    world.phone.scene("com.android.settings", None);
    let mut pipeline = Pipeline::new(&world);
    pipeline.send(1, "rpc.reportProgress", json!({"enabled": true}));
    assert_eq!(pipeline.response(1)["result"], json!({"enabled": true}));
    pipeline.send(2, "act.scrollTo", json!({"text": "no such words anywhere", "timeoutMs": 60_000}));
    let mut steps = Vec::new();
    let response = loop {
        let message = pipeline.next();
        if message["id"] == 2 {
            break message;
        }
        assert_eq!(
            (message["method"].as_str(), message["params"]["id"].as_u64()),
            (Some("rpc.progress"), Some(2)),
            "{message}"
        );
        steps.push(message["params"]["done"].as_u64().expect("a number"));
    };
    assert_eq!(response["error"]["data"]["code"], "TARGET_NOT_FOUND");
    assert!(!steps.is_empty() && steps.is_sorted(), "{steps:?}");
    let refused = post(&world, r#"{"jsonrpc":"2.0","id":1,"method":"rpc.reportProgress","params":{"enabled":true}}"#);
    assert!(refused.body.contains("UNSUPPORTED"), "plain HTTP cannot carry notifications: {}", refused.body);
}

#[test]
fn protocol_errors_carry_an_error_code() {
    let world = World::new();
    let code = |message: &str| {
        let response: serde_json::Value = serde_json::from_str(&post(&world, message).body).expect("JSON");
        (response["error"]["code"].as_i64(), response["error"]["data"]["code"].as_str().map(str::to_owned))
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

/// Regression: a client that disconnected could leave a change of several steps half done.
#[test]
fn multi_step_changes_are_atomic() {
    let world = World::new();
    let mut client = world.client();
    let messages: Vec<Value> =
        (0..40).map(|n| json!({"role": "user", "content": format!("message {n} of many")})).collect();
    for n in 0..8 {
        let session = format!("s{n}");
        client.ok("session.start", json!({"session": session, "goal": "g"}));
        let mut pipeline = Pipeline::new(&world);
        pipeline.send(1, "conversation.append", json!({"session": session, "messages": messages}));
        pipeline.send(2, "session.end", json!({"session": session}));
        drop(pipeline);
        // The daemon may process the calls only now. Two equal reads without a call in between show the final state.
        let mut read = || {
            let status = client.ok("session.show", json!({"session": session}))["status"].clone();
            let reports = client.ok("artifact.list", json!({"session": session}))["artifacts"].as_array().map(Vec::len);
            let recorded = client.ok("conversation.list", json!({"session": session, "limit": 100}))["messages"]
                .as_array()
                .map(Vec::len);
            let idle = client.ok("daemon.status", json!({}))["callsInFlight"] == 1;
            (idle, status, reports, recorded)
        };
        let (_, status, reports, recorded) = wait::until("the calls to end", || {
            let first = read();
            (first.0 && read() == first).then_some(first)
        });
        assert!([Some(0), Some(40)].contains(&recorded), "{recorded:?} messages");
        assert_eq!(reports == Some(1), status == "ended", "{status}: {reports:?} reports");
    }
}
