//! The bridge for MCP clients, driven as a client drives it: messages on its standard input and output.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use afd_tests::{World, programs};
use serde_json::{Value, json};

/// A client with a bridge of its own.
struct McpClient {
    bridge: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    calls: i64,
}

impl McpClient {
    fn start(world: &World, args: &[&str]) -> Self {
        let mut command = Command::new(programs::path("afctl"));
        command.env_clear().env("HOME", world.dir()).arg("mcp").arg("--socket").arg(world.socket()).args(args);
        let mut bridge = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("afctl runs");
        let (input, output) = (bridge.stdin.take(), BufReader::new(bridge.stdout.take().expect("piped")));
        let mut client = Self { bridge, input, output, calls: 0 };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "tester", "version": "1"}});
        let server = client.call("initialize", hello);
        assert_eq!(server["result"]["serverInfo"]["name"], "afd", "{server}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().expect("open"), "{message}").expect("writes");
    }

    fn begin(&mut self, method: &str, params: Value) -> i64 {
        self.calls += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params}));
        self.calls
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).expect("reads") > 0, "the bridge ended");
        serde_json::from_str(&line).expect("JSON")
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Calls a tool; returns its text and whether it is an error.
    fn tool(&mut self, name: &str, arguments: Value) -> (String, bool) {
        let answer = self.call("tools/call", json!({"name": name, "arguments": arguments}));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"));
        (text.to_owned(), result["isError"] == true)
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        let _ = self.bridge.kill();
        let _ = self.bridge.wait();
    }
}

#[test]
fn agent_does_a_task_through_tools() {
    let world = World::new();
    let mut agent = McpClient::start(&world, &[]);
    let tools = agent.call("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().expect("tools");
    assert!(tools.len() <= 16 && tools.iter().all(|t| t["name"].as_str().is_some_and(|n| n.starts_with("af_"))));
    let look = tools.iter().find(|t| t["name"] == "af_look").expect("the tool");
    assert_eq!((&look["annotations"]["readOnlyHint"], &look["inputSchema"]["type"]), (&json!(true), &json!("object")));
    let (page, _) = agent.tool("af_look", json!({}));
    assert!(page.starts_with("page \"Settings\""), "{page}");
    let (display, failed) = agent.tool("af_tap", json!({"value": "Display", "partial": null}));
    assert!(!failed && display.starts_with("tap: changed\npage \"Display\""), "{display}");
    let (dark, _) = agent.tool("af_tap", json!({"value": "Dark theme"}));
    assert!(dark.lines().count() == 3 && dark.contains("~ "), "{dark}");
    let (passed, failed) = agent.tool("af_verify", json!({"text": "Font size"}));
    assert!(!failed && passed.starts_with("passed"), "{passed}");
    let (refused, failed) = agent.tool("af_tap", json!({"value": "Zork"}));
    assert!(failed && refused.starts_with("error TARGET_NOT_FOUND") && refused.contains("hint:"), "{refused}");
    let (refused, failed) = agent.tool("af_tap", json!({"lable": "Display"}));
    assert!(failed && refused.contains("\"lable\""), "{refused}");
    let picture = agent.call("tools/call", json!({"name": "af_screenshot", "arguments": {}}));
    assert_eq!(picture["result"]["content"][1]["type"], "image", "{picture}");
    let unknown = agent.call("tools/call", json!({"name": "af_zork", "arguments": {}}));
    assert!(unknown["error"]["message"].as_str().is_some_and(|m| m.contains("af_zork")), "{unknown}");
}

#[test]
fn clients_keep_to_their_sessions_and_leave_nothing_behind() {
    let world = World::new();
    let (mut one, mut other) = (McpClient::start(&world, &["--session", "one"]), McpClient::start(&world, &[]));
    let (page, _) = one.tool("af_look", json!({}));
    assert!(page.contains("@n2"));
    let (refused, failed) = other.tool("af_tap", json!({"value": "@n2"}));
    assert!(failed && refused.contains("REF_ALIAS_UNOBSERVED"), "an alias belongs to the session that it was shown to: {refused}");
    let log = world.client().ok("memory.log", json!({}));
    assert!(log["events"][0]["session"].as_str().is_some_and(|name| name.starts_with("mcp-tester")), "{log}");
    assert_eq!(world.client_for("one").ok("memory.context", json!({}))["found"], true);
    // Standard input that ends ends the bridge, also while a call waits.
    one.begin("tools/call", json!({"name": "af_wait", "arguments": {"until": "text", "text": "never", "timeoutMs": 600_000}}));
    drop(one.input.take());
    assert!(one.bridge.wait().expect("waits").success());
    afd_tests::wait::until("no call waits", || {
        (world.client().ok("daemon.status", json!({}))["callsInFlight"].as_i64() == Some(1)).then_some(())
    });
}

#[test]
fn cancelled_call_ends_and_a_new_daemon_is_found() {
    let mut world = World::process();
    let mut agent = McpClient::start(&world, &["--no-spawn"]);
    let id = agent.begin("tools/call", json!({"name": "af_wait", "arguments": {"until": "text", "text": "never", "timeoutMs": 600_000}}));
    agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    let (page, _) = agent.tool("af_look", json!({}));
    assert!(page.starts_with("page"), "{page}");
    world.daemon.kill();
    let (down, failed) = agent.tool("af_look", json!({}));
    assert!(failed && down.starts_with("error NO_DAEMON"), "{down}");
    world.daemon = afd_tests::Daemon::start(world.dir());
    let (page, failed) = agent.tool("af_look", json!({}));
    assert!(!failed && page.starts_with("page"), "{page}");
}
