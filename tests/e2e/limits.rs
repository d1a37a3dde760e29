//! Malformed, oversized, slow and unknown input gets an error or a clean close, and does not slow down other clients.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;

use afd_tests::http::Response;
use afd_tests::{Daemon, TestPhone, World, wait};
use serde_json::{Value, json};

use crate::framings::{open, post};

/// Starts a world with small limits.
fn world_with_small_limits() -> World {
    let limits = "[limits]\nframe_bytes = 2000\nconnections = 6\nin_flight = 4\nbatch = 3\nhalf_frame_ms = 300\nsubscriptions = 1";
    World::with(TestPhone::start(), limits)
}

/// Reads until the daemon closes the connection.
fn read_until_closed(mut stream: UnixStream) -> String {
    let mut bytes = Vec::new();
    // A reset after the response does not invalidate what was read.
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Parses the JSON in a response of any framing.
fn parse_json(text: &str) -> Value {
    let start = text.find('{').unwrap_or_else(|| panic!("no JSON in {text:?}"));
    serde_json::from_str(text[start..].trim()).unwrap_or_else(|e| panic!("{e} in {text:?}"))
}

/// Opens a WebSocket connection.
pub fn open_websocket(world: &World) -> UnixStream {
    let mut stream = open(world);
    stream
        .write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        .expect("writes");
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).expect("the response");
        head.push(byte[0]);
    }
    assert_eq!(Response::parse(&head).status, 101);
    stream
}

#[test]
fn oversized_messages_are_refused_on_every_framing() {
    let world = world_with_small_limits();
    let mut line = open(&world);
    let _ = line.write_all(&[b'['; 5000]);
    assert_eq!(parse_json(&read_until_closed(line))["error"]["data"]["code"], "LIMIT_EXCEEDED");

    let mut framed = open(&world);
    framed.write_all(b"Content-Length: 2001\r\n\r\n").expect("writes");
    let text = read_until_closed(framed);
    assert!(text.starts_with("Content-Length: "), "{text}");
    assert_eq!(parse_json(&text)["error"]["data"]["code"], "LIMIT_EXCEEDED");

    let response = post(&world, &format!("[{}]", " ".repeat(3000)));
    assert_eq!(
        (response.status, parse_json(&response.body)["error"]["data"]["code"].as_str()),
        (413, Some("LIMIT_EXCEEDED"))
    );

    let mut ws = open_websocket(&world);
    // A text frame of 5000 masked bytes.
    let mut frame = vec![0x81, 0xFE, 0x13, 0x88, 0, 0, 0, 0];
    frame.extend([b'['; 5000]);
    let _ = ws.write_all(&frame);
    let text = read_until_closed(ws);
    assert!(text.contains("LIMIT_EXCEEDED"), "{text:?}");
    world.client().ok("observe.top", json!({}));
}

#[test]
fn partial_messages_time_out_on_every_framing() {
    let world = world_with_small_limits();
    let mut streams = Vec::new();
    for partial in ["{\"jsonrpc\":", "Content-Length: 10\r\n\r\n{", "Content-Len", "POST / HTTP/1.1\r\nhost:"] {
        let mut stream = open(&world);
        stream.write_all(partial.as_bytes()).expect("writes");
        streams.push((partial, stream));
    }
    let mut body = open(&world);
    body.write_all(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{").expect("writes");
    for (partial, stream) in streams {
        let text = read_until_closed(stream);
        assert_eq!(parse_json(&text)["error"]["data"]["code"], "TIMEOUT", "{partial:?}");
        if partial.starts_with("POST") {
            assert_eq!(Response::parse(text.as_bytes()).status, 408);
        }
    }
    assert_eq!(Response::parse(read_until_closed(body).as_bytes()).status, 408);
    let mut ws = open_websocket(&world);
    ws.write_all(&[0x81, 0xFE, 0x00]).expect("writes");
    assert!(read_until_closed(ws).contains("TIMEOUT"));
}

#[test]
fn malformed_headers_and_bytes_get_an_error() {
    let world = world_with_small_limits();
    let mut framed = open(&world);
    framed.write_all(b"Content-Length: many\r\n\r\n").expect("writes");
    assert_eq!(parse_json(&read_until_closed(framed))["error"]["data"]["code"], "LIMIT_EXCEEDED");
    let mut garbage = open(&world);
    garbage.write_all(b"\x00\x01\xff\n").expect("writes");
    garbage.shutdown(std::net::Shutdown::Write).expect("shuts down");
    assert_eq!(parse_json(&read_until_closed(garbage))["error"]["code"], -32700);
    let mut http = open(&world);
    http.write_all(b"BOGUS\r\n\r\n").expect("writes");
    let text = read_until_closed(http);
    assert_eq!(Response::parse(text.as_bytes()).status, 400, "{text:?}");
}

#[test]
fn connections_beyond_the_limit_are_refused_in_their_own_framing() {
    let world = world_with_small_limits();
    let held: Vec<UnixStream> = (0..6).map(|_| open(&world)).collect();
    // A recently active connection keeps its slot.
    for mut kept in &held {
        writeln!(kept, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": "daemon.version", "params": {}}))
            .expect("writes");
        let mut line = String::new();
        BufReader::new(kept).read_line(&mut line).expect("a response");
    }
    for (hello, status) in [
        ("{}\n", 0),
        ("Content-Length: 2\r\n\r\n{}", 0),
        ("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}", 503),
    ] {
        let text = wait::until("a refusal", || {
            let mut stream = open(&world);
            stream.write_all(hello.as_bytes()).expect("writes");
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let text = read_until_closed(stream);
            text.contains("LIMIT_EXCEEDED").then_some(text)
        });
        assert_eq!(parse_json(&text)["error"]["data"]["code"], "LIMIT_EXCEEDED");
        if status > 0 {
            assert_eq!(Response::parse(text.as_bytes()).status, status);
        }
    }
    // The admin methods are served nevertheless.
    assert!(world.daemon.connect().call("daemon.status", json!({})).is_ok());
    let refused = world.daemon.connect().call("device.list", json!({}));
    assert!(
        matches!(refused, Err(afd_tests::CallError::Rpc { data, .. }) if data["code"] == "LIMIT_EXCEEDED" && data["hint"].is_string())
    );
    drop(held);
    wait::until("a free slot", || world.daemon.connect().call("device.list", json!({})).ok());
}

#[test]
fn batches_and_subscriptions_are_limited() {
    let world = world_with_small_limits();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "daemon.version"});
    let response = post(&world, &json!([call, call, call, call]).to_string());
    assert_eq!(parse_json(&response.body)["error"]["data"]["code"], "LIMIT_EXCEEDED");
    let mut connection = world.daemon.connect();
    assert!(connection.call("events.subscribe", json!({})).is_ok());
    let second = connection.call("events.subscribe", json!({}));
    assert!(matches!(second, Err(afd_tests::CallError::Rpc { data, .. }) if data["code"] == "LIMIT_EXCEEDED"));
}

#[test]
fn greedy_client_is_throttled_and_gets_all_responses() {
    let world = world_with_small_limits();
    let mut greedy = open(&world);
    let writer = greedy.try_clone().expect("clones");
    let flood = std::thread::spawn(move || {
        let mut writer = writer;
        let call = format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "id": 1, "method": "verify.textContains", "params": {"text": "Wi-Fi"}})
        );
        for _ in 0..60 {
            if writer.write_all(call.as_bytes()).is_err() {
                return;
            }
        }
    });
    let status = world.client().ok("daemon.status", json!({}));
    assert!(status["callsInFlight"].as_u64().is_some_and(|n| n <= 4 + 2), "{status}");
    let mut answered = 0;
    let mut buffer = [0; 8192];
    while answered < 60 {
        let n = greedy.read(&mut buffer).expect("reads");
        assert!(n > 0, "the connection ended after {answered}");
        answered += buffer[..n].iter().filter(|b| **b == b'\n').count();
    }
    flood.join().expect("does not panic");
}

#[test]
fn deep_and_unusual_json_gets_a_response() {
    let world = World::new();
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.version\",\"params\":{}1{}}}",
        "[".repeat(5000),
        "]".repeat(5000)
    );
    assert!(parse_json(&post(&world, &deep).body)["error"]["code"].is_i64());
    for id in ["null", "\"\u{1F600}\"", "18446744073709551615"] {
        let text = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"daemon.version\"}}");
        assert!(post(&world, &text).body.contains("protocol"), "{id}");
    }
    let long = post(&world, &format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}", "x".repeat(10_000)));
    assert!(long.body.len() < 500, "an unknown method name is not echoed in full");
}

#[test]
fn thousand_clients_are_served_or_refused() {
    const CLIENTS: usize = 1_000;
    let world = World::process();
    let mut other = world.client();
    other.ok("act.home", json!({}));
    let ask = |id: usize| format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "device.list", "params": {}}));
    let mut streams: Vec<UnixStream> = (0..CLIENTS).map(|_| open(&world)).collect();
    for (id, stream) in streams.iter_mut().enumerate() {
        // A refused connection may already be closed.
        let _ = stream.write_all(ask(id).as_bytes());
    }
    other.ok("act.home", json!({}));
    let (mut served, mut refused) = (0, 0);
    for stream in &mut streams {
        let mut line = String::new();
        if BufReader::new(stream).read_line(&mut line).is_ok_and(|n| n > 0) {
            let response = parse_json(&line);
            if response["result"].is_object() {
                served += 1
            } else {
                refused += 1
            }
            assert!(
                response["result"].is_object() || response["error"]["data"]["code"] == "LIMIT_EXCEEDED",
                "{response}"
            );
        }
    }
    assert!(served >= 500 && served + refused <= CLIENTS, "{served} were served, {refused} refused");
    other.ok("act.home", json!({}));
    drop(streams);
    wait::until("all slots to be free", || world.daemon.connect().call("device.list", json!({})).ok());
}

#[test]
fn few_descriptors_limit_connections_and_not_work() {
    let mut world = World::process();
    world.daemon.stop();
    world.daemon = Daemon::try_start_with_descriptors(world.dir(), 160).expect("starts");
    let mut client = world.client();
    client.ok("act.home", json!({}));
    let mut held: Vec<UnixStream> = (0..200).map(|_| open(&world)).collect();
    for stream in &mut held {
        let _ = writeln!(stream, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": "daemon.version", "params": {}}));
    }
    // Everything that needs another file descriptor still works.
    client.ok("act.home", json!({}));
    client.ok("observe.screenshot", json!({}));
    client.ok("backup.create", json!({}));
    client.ok("session.export", json!({"file": world.dir().join("export.jsonl")}));
    assert!(world.daemon.connect().call("daemon.status", json!({})).is_ok());
    drop(held);
    wait::until("a free slot", || world.daemon.connect().call("device.list", json!({})).ok());
    let open = std::fs::read_dir(format!("/proc/{}/fd", world.daemon.pid())).expect("lists").count();
    assert!(open < 100, "{open} descriptors are open");
}

#[test]
fn too_few_descriptors_are_an_error_at_the_start() {
    let mut world = World::with_process(TestPhone::start(), "");
    world.daemon.stop();
    let why = Daemon::try_start_with_descriptors(world.dir(), 20).err().expect("does not start");
    assert!(why.contains("may open 20 files") && why.contains("ulimit -n"), "{why}");
}
