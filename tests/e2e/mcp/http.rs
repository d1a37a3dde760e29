//! MCP clients over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use afd_tests::{World, programs};
use serde_json::{Value, json};

/// A bridge that serves HTTP.
struct HttpBridge {
    process: Child,
    address: String,
    token: String,
}

impl Drop for HttpBridge {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl HttpBridge {
    fn start(world: &World) -> Self {
        let mut command = Command::new(programs::path("afctl"));
        command.env_clear().env("HOME", world.dir()).args(["mcp", "--http", "0", "--socket"]).arg(world.socket());
        let mut process = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("afctl runs");
        let mut line = String::new();
        BufReader::new(process.stderr.take().expect("piped")).read_line(&mut line).expect("reads");
        let address =
            line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).expect("an address").to_owned();
        let file = line.trim().rsplit(" in ").next().expect("a file");
        let token = std::fs::read_to_string(file).expect("the token").trim().to_owned();
        Self { process, address, token }
    }

    /// Posts a message; returns the status, the session id and the body of the response.
    fn post(&self, headers: &[(&str, &str)], message: &Value) -> (u16, Option<String>, String) {
        let mut stream = TcpStream::connect(&self.address).expect("connects");
        stream.set_read_timeout(Some(std::time::Duration::from_secs(30))).expect("a time-out");
        let mut head = "POST /mcp HTTP/1.1\r\nconnection: close\r\ncontent-type: application/json\r\n".to_owned();
        head += "accept: application/json, text/event-stream\r\n";
        let bearer = format!("Bearer {}", self.token);
        let own = [("host", self.address.as_str()), ("authorization", bearer.as_str())];
        let kept = own.iter().filter(|(name, _)| !headers.iter().any(|(given, _)| given == name));
        for (name, value) in kept.chain(headers) {
            head += &format!("{name}: {value}\r\n");
        }
        let body = message.to_string();
        write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).expect("writes");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("reads");
        let response = afd_tests::http::Response::parse(&bytes);
        (response.status, response.header("mcp-session-id").map(str::to_owned), response.body)
    }

    /// Initialises a client; returns its session id.
    fn connect(&self) -> String {
        let hello =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "web", "version": "1"}});
        let (status, session, body) =
            self.post(&[], &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}));
        assert_eq!(status, 200, "{body}");
        let session = session.expect("a session");
        let (status, _, _) = self
            .post(&[("mcp-session-id", &session)], &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        assert_eq!(status, 202);
        session
    }

    fn tool(&self, session: &str, name: &str, arguments: Value) -> String {
        let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": name, "arguments": arguments}});
        let (status, _, body) = self.post(&[("mcp-session-id", session)], &call);
        assert_eq!(status, 200, "{body}");
        body
    }
}

#[test]
fn http_serves_clients_with_the_token_from_this_machine_only() {
    let world = World::new();
    let bridge = HttpBridge::start(&world);
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}});
    let refused = [
        ("authorization", "Bearer wrong".to_owned(), 401),
        ("authorization", format!("Basic {}", bridge.token), 401),
        ("authorization", format!("Bearer {}x", bridge.token), 401),
        ("host", "evil.example".to_owned(), 403),
        ("host", "127.0.0.1:1".to_owned(), 403),
        ("origin", "http://evil.example".to_owned(), 403),
        ("origin", "http://127.0.0.1:1".to_owned(), 403),
        ("origin", "null".to_owned(), 403),
    ];
    for (header, value, status) in refused {
        assert_eq!(bridge.post(&[(header, &value)], &hello).0, status, "{header}: {value}");
    }
    // Two clients with the same name have separate sessions, and so separate aliases.
    let (one, other) = (bridge.connect(), bridge.connect());
    assert!(bridge.tool(&one, "af_look", json!({})).contains("@n2"));
    assert!(bridge.tool(&other, "af_tap", json!({"value": "@n2"})).contains("REF_ALIAS_UNOBSERVED"));
    bridge.tool(&one, "af_back", json!({}));
    let log = world.client().ok("memory.log", json!({}));
    let names: std::collections::BTreeSet<&str> =
        log["events"].as_array().expect("events").iter().filter_map(|event| event["session"].as_str()).collect();
    assert_eq!(names.iter().filter(|name| name.starts_with("mcp-web")).count(), 2, "{names:?}");
}

#[test]
fn strangers_do_not_lock_the_owner_out() {
    let world = World::new();
    let bridge = HttpBridge::start(&world);
    // More connections than the maximum number of clients. Each has sent a request without the token, and reads the
    // response to its end.
    let strangers: Vec<TcpStream> = (0..80)
        .map(|_| {
            let mut stream = TcpStream::connect(&bridge.address).expect("connects");
            write!(stream, "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-length: 0\r\n\r\n", bridge.address)
                .expect("writes");
            stream
        })
        .collect();
    let session = bridge.connect();
    assert!(bridge.tool(&session, "af_look", json!({})).contains("Settings"));
    for mut stranger in strangers {
        stranger.set_read_timeout(Some(std::time::Duration::from_secs(30))).expect("a time-out");
        let mut answer = String::new();
        stranger.read_to_string(&mut answer).expect("the connection is closed");
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    }
    let (status, _, body) = bridge.post(&[("mcp-session-id", &session)], &json!("half"));
    assert_eq!(status, 400, "{body}");
}

#[test]
fn clients_without_sessions_of_the_protocol_are_served_request_by_request() {
    let world = World::new();
    let bridge = HttpBridge::start(&world);
    let call = |name: &str, arguments: Value| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "modern", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"name": name, "arguments": arguments, "_meta": meta});
        let message = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params});
        let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", name)];
        let (status, session, body) = bridge.post(&headers, &message);
        assert_eq!((status, session), (200, None), "{body}");
        body
    };
    assert!(call("af_look", json!({})).contains("@n2"));
    // The next request belongs to the same session of afd, so the alias is known.
    let tapped = call("af_tap", json!({"value": "@n2"}));
    assert!(tapped.contains("tapped") && !tapped.contains("REF_ALIAS"), "{tapped}");
    let log = world.client().ok("memory.log", json!({}));
    assert!(log["events"][0]["session"].as_str().is_some_and(|name| name.starts_with("mcp-modern")), "{log}");
}
