//! Slightly invalid input from clients and models.

use afd_tests::World;
use serde_json::{Value, json};

use super::McpClient;

#[test]
fn results_have_no_structured_content_and_keep_their_pictures() {
    let world = World::new();
    let mut agent = McpClient::start(&world, &["--toolsets", "core,gestures"]);
    let tools = agent.call("tools/list", json!({}));
    assert!(
        tools["result"]["tools"]
            .as_array()
            .is_some_and(|tools| tools.iter().all(|tool| tool.get("outputSchema").is_none()))
    );
    let calls = [
        ("af_look", json!({}), "text", "page \"Settings\""),
        ("af_tap", json!({"value": "Display"}), "text", "tapped row \"Display\""),
        ("af_back", json!({}), "text", "back"),
        ("af_path", json!({"to": "Display"}), "text", "tap"),
        ("af_go", json!({"goal": "Display"}), "text", "arrived at page"),
        ("af_screenshot", json!({"annotate": true}), "image", ""),
    ];
    for (name, arguments, kind, shows) in calls {
        let answer = agent.call("tools/call", json!({"name": name, "arguments": arguments}));
        let result = &answer["result"];
        assert!(result.get("structuredContent").is_none(), "{name}: {result}");
        let content = result["content"].as_array().expect("content");
        let found = content.iter().any(|block| {
            block["type"] == kind
                && (kind == "image" || block["text"].to_string().contains(&shows.replace('"', "\\\"")))
        });
        assert!(found, "{name}: {result}");
    }
}

/// Maximum number of tokens of the tool list: its size at the last measurement with all models that read it.
const MAX_LIST_TOKENS: i64 = 3_127;

#[test]
fn list_of_tools_costs_few_tokens() {
    let world = World::new();
    let mut agent = McpClient::start(&world, &[]);
    let list = agent.call("tools/list", json!({}));
    let tokens = afd_base::model::Tokenizers::default().counter("gpt-4o").count(&list["result"].to_string());
    println!("tokens of the list of tools: {tokens}");
    assert!(tokens <= MAX_LIST_TOKENS, "{tokens} tokens");
}

#[test]
fn arguments_are_read_as_models_write_them() {
    let world = World::new();
    let mut agent = McpClient::start(&world, &[]);
    let taken = [
        ("af_scroll", json!({"direction": "DOWN", "amount": ""})),
        ("af_scroll_to", json!({"text": "Display", "exactMatch": "true", "timeout_ms": "5000"})),
        ("af_key", json!({"keyCode": "BACK"})),
        ("af_wait", json!({"text": "Settings", "timeoutMs": 5000.0})),
        ("af_look", json!({"maxRows": "3", "since": ""})),
        ("af_note_save", json!({"topic": "a/b", "content": "the bakery opens at seven", "app": "", "scope": null})),
        ("af_recall", json!({"query": "bakery", "types": "Note", "limit": 3.0, "app": ""})),
    ];
    for (name, arguments) in taken {
        let (text, failed) = agent.tool(name, arguments.clone());
        assert!(!failed, "{name} {arguments}: {text}");
    }
    let (text, _) = agent.tool("af_recall", json!({"query": "bakery", "types": "[\"note\"]"}));
    assert!(text.contains("opens at seven"), "{text}");
    let refused = [
        ("af_recall", json!({"query": "bakery", "limit": 2.5}), "limit"),
        ("af_recall", json!({"query": "bakery", "limit": ""}), "limit"),
        ("af_key", json!({"keyCode": "zork"}), "keyCode"),
        ("af_key", json!({"key": "zork"}), "key"),
        ("af_scroll", json!({"direction": "sideways"}), "direction"),
        ("af_tap", json!({"value": "Display", "partial": "perhaps"}), "partial"),
        ("af_tap", json!({}), "value"),
    ];
    for (name, arguments, field) in refused {
        let (text, failed) = agent.tool(name, arguments.clone());
        assert!(failed && text.starts_with(&format!("error INVALID_PARAMS: {field}")), "{name} {arguments}: {text}");
        assert!(
            !text.contains("rpc.") && !text.contains("afctl") && text.contains(&format!("hint: {name} takes ")),
            "{text}"
        );
    }
}

#[test]
fn hints_name_tools_only() {
    let world = World::new();
    let mut agent = McpClient::start(&world, &["--toolsets", "core,gestures"]);
    agent.tool("af_look", json!({}));
    let calls = [
        ("af_tap", json!({"value": "@n99"})),
        ("af_tap", json!({"value": "Zork"})),
        ("af_fill", json!({"value": "Zork", "text": "x"})),
        ("af_verify", json!({"text": "Zork"})),
        ("af_path", json!({"to": "Zork"})),
        ("af_go", json!({"goal": "Zork"})),
        ("af_launch", json!({"package": "org.zork"})),
        ("af_wait", json!({"text": "Zork", "timeoutMs": 1})),
        ("af_look", json!({"device": "zork"})),
    ];
    for (name, arguments) in calls {
        let (text, failed) = agent.tool(name, arguments.clone());
        assert!(failed, "{name} {arguments}: {text}");
        for foreign in ["afctl", "rpc.", "observe.", "`", "--"] {
            assert!(!text.contains(foreign), "{name} {arguments}: {text}");
        }
    }
}

#[test]
fn each_line_gets_an_answer() {
    let world = World::new();
    let mut agent = McpClient::start(&world, &[]);
    let half = r#"{"jsonrpc":"2.0","id":70,"method":"tools/call","params":{"name":"af_note_save","arguments":{"topic":"a/b","content":"cut \ud83d"}}}"#;
    agent.send_text(half);
    assert_eq!(agent.receive()["id"], 70);
    let notes = world.client().ok("memory.search", json!({"query": "cut"}));
    assert_eq!(notes["notes"][0]["content"], "cut \u{fffd}", "{notes}");
    agent.send_text("hello");
    assert_eq!(agent.receive()["error"]["code"], -32700);
    agent.send_text(&format!(
        r#"{{"jsonrpc":"2.0","id":71,"method":"ping","params":{}{}}}"#,
        "[".repeat(600),
        "]".repeat(600)
    ));
    let deep = agent.receive();
    assert!(deep["id"] == 71 && deep["error"]["message"].as_str().is_some_and(|m| m.contains("deep")), "{deep}");
    assert!(agent.call("ping", json!({}))["result"].is_object());
}

#[test]
fn calls_before_initialize_are_answered() {
    let world = World::new();
    let mut agent = McpClient::launch(&world, &[], None);
    agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let early = agent.call("tools/list", json!({}));
    assert!(early["error"]["message"].as_str().is_some_and(|m| m.contains("initialize")), "{early}");
    let hello = |version: Value| json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "tester", "version": "1"}});
    let wrong = agent.call("initialize", hello(json!(3)));
    assert!(
        wrong["error"]["message"].as_str().is_some_and(|m| m.contains("protocolVersion") && m.contains("a number")),
        "{wrong}"
    );
    assert_eq!(agent.call("initialize", hello(json!("2025-06-18")))["result"]["serverInfo"]["name"], "afd");
    assert!(agent.call("tools/list", json!({}))["result"]["tools"].is_array());
}

#[test]
fn directories_of_one_name_share_nothing() {
    let world = World::new();
    let directory = |name: &str| {
        let path = world.dir().join(name);
        std::fs::create_dir_all(&path).expect("a directory");
        path
    };
    let pairs = [("one/shop", "two/shop"), ("x/\u{9879}\u{76ee}", "x/\u{5de5}\u{5177}")];
    for (own, other) in pairs.map(|(a, b)| (directory(a), directory(b))) {
        let start = |path: &std::path::Path| {
            let mut client = McpClient::launch(&world, &[], Some(path));
            client.hello();
            client
        };
        start(&own)
            .tool("af_note_save", json!({"topic": "x/y", "content": "the alarm code is 2580", "scope": "session"}));
        let (told, _) = start(&other).tool("af_recall", json!({"query": "alarm code"}));
        assert!(!told.contains("2580"), "{told}");
        let (told, _) = start(&own).tool("af_recall", json!({"query": "alarm code"}));
        assert!(told.contains("2580"), "{told}");
    }
}
