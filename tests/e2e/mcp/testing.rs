//! Test sessions: their record, their report, and resuming them.

use afd_tests::World;
use serde_json::json;

use super::McpClient;

#[test]
fn record_has_actions_checks_and_bugs_with_steps() {
    let world = World::new();
    let mut agent = McpClient::start(&world, &["--toolsets", "testing", "--session", "wifi"]);
    agent.tool("af_session_start", json!({"goal": "test the display page"}));
    agent.tool("af_tap", json!({"value": "Display"}));
    agent.tool("af_verify", json!({"text": "Font size"}));
    agent.tool("af_verify", json!({"text": "Zork"}));
    agent.tool(
        "af_bug",
        json!({"title": "The slider sticks", "severity": "high", "steps": "open Display\nmove the slider"}),
    );
    agent.tool("af_result", json!({"name": "display opens", "status": "passed"}));
    let record = agent.call("resources/read", json!({"uri": "afd://session"}));
    let record = record["result"]["contents"][0]["text"].as_str().expect("a text");
    for part in [
        "test the display page",
        "tap",
        "Display",
        "Font size",
        "Zork",
        "failed",
        "The slider sticks",
        "move the slider",
        "display opens",
    ] {
        assert!(record.contains(part), "{part}: {record}");
    }
    let (report, failed) = agent.texts("af_report", json!({}));
    assert!(!failed && report.contains("The slider sticks") && report.contains("move the slider"), "{report}");
    // Another client resumes the session, by a tool or by the prompt.
    let mut other = McpClient::start(&world, &["--toolsets", "testing"]);
    let (resumed, failed) = other.tool("af_session_resume", json!({"session": "wifi"}));
    assert!(!failed && resumed.contains("test the display page"), "{resumed}");
    other.tool("af_result", json!({"name": "slider moves", "status": "failed"}));
    let mut third = McpClient::start(&world, &[]);
    let prompt = third.call("prompts/get", json!({"name": "resume", "arguments": {"session": "wifi"}}));
    assert!(prompt["result"]["messages"][1].to_string().contains("slider moves"), "{prompt}");
    third.tool("af_back", json!({}));
    let log = world.client().ok("memory.log", json!({"session": "wifi", "limit": 1}));
    assert_eq!(log["events"][0]["op"], "back", "{log}");
    let unknown = third.call("prompts/get", json!({"name": "resume", "arguments": {"session": "zork"}}));
    assert!(unknown["error"]["message"].as_str().is_some_and(|m| m.contains("zork")), "{unknown}");
}
