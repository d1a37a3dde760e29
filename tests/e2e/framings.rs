//! One socket, four framings: the same call gets the same response on each.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use afd_proto::frame::{Decoder, Framing, encode};
use afd_tests::http::{self, Response};
use afd_tests::websocket::WebSocket;
use afd_tests::{World, wait};
use serde_json::{Value, json};

pub fn open(world: &World) -> UnixStream {
    let stream = UnixStream::connect(world.socket()).expect("connects");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("sets the timeout");
    stream
}

fn by_line(world: &World, message: &str) -> Value {
    let mut stream = open(world);
    stream.write_all(&encode(Framing::Line, message)).expect("writes");
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("reads");
    serde_json::from_str(&line).expect("JSON")
}

fn by_content_length(world: &World, message: &str) -> Value {
    let mut stream = open(world);
    stream.write_all(&encode(Framing::ContentLength, message)).expect("writes");
    let mut decoder = Decoder::new(Framing::ContentLength, 1 << 20);
    let mut buffer = [0; 4096];
    loop {
        if let Some(body) = decoder.next_message().expect("a frame") {
            return serde_json::from_slice(&body).expect("JSON");
        }
        let n = stream.read(&mut buffer).expect("reads");
        assert!(n > 0, "the connection ended");
        decoder.push(&buffer[..n]);
    }
}

pub fn post(world: &World, body: &str) -> Response {
    http::exchange(&mut open(world), "POST", "/", &[("content-type", "application/json")], body)
}

fn by_http(world: &World, message: &str) -> Value {
    let response = post(world, message);
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
    serde_json::from_str(&response.body).expect("JSON")
}

/// Removes the members whose values differ from call to call.
fn without_volatile_members(mut value: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(map) => {
                for key in ["traceId", "observationId", "uptimeMs", "connections", "durationMs"] {
                    map.remove(key);
                }
                map.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut value);
    value
}

#[test]
fn same_call_gets_the_same_response_on_all_framings() {
    // Learning between two calls would change the responses.
    let world = World::with(afd_tests::TestPhone::start(), "\n[visual]\nlearn = false\n");
    world.client().ok("observe.page", json!({}));
    let calls = [
        ("daemon.version", json!({})),
        ("observe.top", json!({})),
        ("observe.refs", json!({"maxRows": 3, "hints": false})),
        ("act.tap", json!({"by": "text", "value": "Pluto"})),
        ("act.tap", json!({"x": "a"})),
        ("no.such", json!({})),
    ];
    let mut ws = WebSocket::connect(&world.socket());
    for (method, params) in calls {
        let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string();
        let line = without_volatile_members(by_line(&world, &message));
        assert_eq!(line["id"], 7);
        assert_eq!(without_volatile_members(by_content_length(&world, &message)), line, "{method}");
        assert_eq!(without_volatile_members(by_http(&world, &message)), line, "{method}");
        let mut response = without_volatile_members(ws.call(method, params));
        response["id"] = json!(7);
        assert_eq!(response, line, "{method}");
    }
    let call = |id: i64, method: &str| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}});
    ws.send(&json!([call(1, "daemon.version"), call(2, "no.such"), call(3, "observe.top")]));
    let responses = ws.receive();
    assert_eq!(responses[0]["result"]["protocol"], 1);
    assert_eq!(responses[1]["error"]["code"], -32601);
    assert_eq!(responses[2]["result"]["app"], "com.android.settings");
}

#[test]
fn batches_keep_their_order_on_every_framing() {
    let world = World::new();
    let batch = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "act.tap", "params": {"by": "text", "value": "Storage"}},
        {"jsonrpc": "2.0", "method": "act.back", "params": {}},
        {"jsonrpc": "2.0", "id": 2, "method": "observe.top", "params": {}},
        {"jsonrpc": "2.0", "id": "three", "method": "act.tap", "params": {"by": "text", "value": "Battery"}},
        1,
        {"jsonrpc": "2.0", "id": 4, "method": "verify.textContains", "params": {"text": "About 1 day left"}},
        {"jsonrpc": "2.0", "id": 5, "method": "act.back"},
    ])
    .to_string();
    for call in [by_line, by_content_length, by_http] {
        world.phone.scene("com.android.settings", None);
        world.phone.clear_inputs();
        let responses = call(&world, &batch);
        let ids: Vec<_> = responses.as_array().expect("an array").iter().map(|a| a["id"].clone()).collect();
        assert_eq!(ids, [json!(1), json!(2), json!("three"), json!(null), json!(4), json!(5)]);
        assert_eq!(responses[3]["error"]["code"], -32600);
        assert_eq!(responses[4]["result"]["matched"], true);
        let kinds: Vec<String> = world.phone.lock().inputs.iter().map(|i| i.kind.clone()).collect();
        assert_eq!(kinds, ["tap", "back", "tap", "back"]);
    }
}

#[test]
fn protocol_errors_have_json_rpc_codes() {
    let world = World::new();
    for (message, code) in [
        ("{nonsense", -32700),
        ("[]", -32600),
        ("[1", -32700),
        (r#"{"id":1,"method":"daemon.version"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        ("7", -32600),
        (r#"{"jsonrpc":"2.0","id":-1,"method":"act.home"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"act.home"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"events.subscribe","params":{"x":1}}"#, -32602),
    ] {
        assert_eq!(by_line(&world, message)["error"]["code"], code, "{message}");
        assert_eq!(by_content_length(&world, message)["error"]["code"], code, "{message}");
        if !message.contains("subscribe") {
            assert_eq!(by_http(&world, message)["error"]["code"], code, "{message}");
        }
    }
    assert!(world.phone.hits("home").is_empty(), "invalid requests are not executed");
    let unsupported = by_http(&world, r#"{"jsonrpc":"2.0","id":1,"method":"events.subscribe"}"#);
    assert_eq!(unsupported["error"]["data"]["code"], "UNSUPPORTED");
}

#[test]
fn notification_is_executed_without_a_response() {
    let world = World::new();
    let mut stream = open(&world);
    stream
        .write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"act.home\"}\n{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"daemon.version\"}\n")
        .expect("writes");
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("reads");
    assert!(line.contains("\"id\":9"), "{line}");
    wait::until("the notification to be executed", || (world.phone.hits("home").len() == 1).then_some(()));
    assert_eq!(post(&world, r#"{"jsonrpc":"2.0","method":"act.home"}"#).status, 204);
    assert_eq!(world.phone.hits("home").len(), 2);
}

#[test]
fn half_closed_client_still_gets_its_responses() {
    let world = World::new();
    for last in ["", "\n"] {
        let mut stream = open(&world);
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "observe.page", "params": {}});
        stream.write_all(format!("{call}\n{call}{last}").as_bytes()).expect("writes");
        stream.shutdown(std::net::Shutdown::Write).expect("shuts down");
        let responses: Vec<String> = BufReader::new(stream).lines().map(|l| l.expect("a line")).collect();
        assert_eq!(responses.len(), 2);
    }
}

#[test]
fn http_accepts_only_post_to_the_root_path() {
    let world = World::new();
    assert_eq!(http::exchange(&mut open(&world), "POST", "/other", &[], "{}").status, 404);
    let refused = http::exchange(&mut open(&world), "GET", "/", &[], "");
    assert_eq!((refused.status, refused.header("allow")), (405, Some("POST")));
}
