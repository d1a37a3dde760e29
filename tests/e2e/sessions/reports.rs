//! Session reports and exports.

use afd_tests::World;
use serde_json::{Value, json};

use super::work_in_session;

#[test]
fn report_is_self_contained_and_escapes_markup() {
    let world = World::new();
    let mut client = world.client_for("qa");
    work_in_session(&mut client);
    client.ok("session.bug.add", json!({"title": "<script>alert(1)</script> & \"quotes\"", "severity": "high"}));
    let written = client.ok("session.report", json!({"file": world.dir().join("report.html")}));
    assert_eq!(written["pictures"], 1);
    let html = std::fs::read_to_string(written["file"].as_str().expect("a file")).expect("reads");
    assert!(html.contains("data:image/jpeg;base64,") && html.contains("The Wi-Fi switch does nothing"));
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && !html.contains("<script"));
    assert!(!html.contains("src=\"http") && !html.contains("href="), "the report refers to nothing external");
    for expected in ["look at the network page", "network opens", "800 ms", "tap the switch", "it stays off"] {
        assert!(html.contains(expected), "{expected}");
    }
    let written = client.ok("session.report", json!({"format": "markdown"}));
    let text = std::fs::read_to_string(written["file"].as_str().expect("a file")).expect("reads");
    assert!(text.contains("### The Wi-Fi switch does nothing (critical, open)") && text.contains("![screenshot](<"));
    assert!(text.contains("\\<script\\>"));
    client.fails("session.report", json!({"file": world.dir().join("memory.db")}), "INVALID_PARAMS");
}

#[test]
fn export_contains_everything_in_the_session() {
    let world = World::new();
    let mut client = world.client_for("qa");
    work_in_session(&mut client);
    client.ok("memory.save", json!({"topic": "t", "content": "a note"}));
    client.ok("pattern.save", json!({"kind": "procedure", "text": "first this, then that"}));
    client.ok(
        "conversation.append",
        json!({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}),
    );
    let exported = client.ok("session.export", json!({}));
    let document: &Value = &exported["document"];
    assert_eq!((&document["format"], &document["version"]), (&json!("afd-session"), &json!(1)));
    for (key, count) in [
        ("tasks", 4),
        ("bugs", 2),
        ("results", 1),
        ("tested", 1),
        ("messages", 2),
        ("notes", 1),
        ("patterns", 1),
        ("artifacts", 1),
    ] {
        assert_eq!(document[key].as_array().map(Vec::len), Some(count), "{key}: {}", document[key]);
    }
    assert_eq!(document["events"].as_array().map(Vec::len), Some(2));
    assert!(document["pages"].as_array().is_some_and(|p| p.len() == 2));
    let file = world.dir().join("x.json");
    let written = client.ok("session.export", json!({"file": file}));
    let whole: Value = serde_json::from_str(&std::fs::read_to_string(&file).expect("reads")).expect("JSON");
    assert!(written.get("document").is_none());
    assert_eq!(whole["info"]["session"], "qa");
}

#[test]
fn screenshot_of_a_bug_is_exempt_from_the_limits_of_artifacts() {
    let world = World::new();
    let mut client = world.client_for("qa");
    client.ok("observe.screenshot", json!({}));
    let bug = client.ok("session.bug.add", json!({"title": "it is crooked", "screenshot": "latest"}))["bug"].clone();
    client.ok("config.set", json!({"key": "artifacts.max_bytes", "value": "1"}));
    client.ok("job.run", json!({"name": "artifact-limits"}));
    let kept = client.ok("artifact.list", json!({"kind": "screenshot_image"}));
    assert_eq!(kept["artifacts"][0]["uid"], bug["screenshot"]);
    assert_eq!(kept["artifacts"][0]["status"], "present");
}

#[test]
fn format_follows_the_extension_and_bugs_take_their_steps_from_the_log() {
    let world = World::new();
    let mut client = world.client_for("display");
    client.ok("act.launch", json!({"package": "com.android.settings"}));
    client.ok("act.tap", json!({"value": "Display"}));
    client.ok("observe.screenshot", json!({}));
    client.ok("verify.element", json!({"text": "Font size"}));
    let bug = client.ok("session.bug.add", json!({"title": "The slider sticks"}));
    let steps = bug["bug"]["steps"].as_array().or(bug["steps"].as_array()).expect("steps").clone();
    assert!(steps.len() == 2 && steps[1].as_str().is_some_and(|step| step.contains("Display")), "{bug}");
    let own = client.ok("session.bug.add", json!({"title": "Another", "steps": ["look"]}));
    assert!(own.to_string().contains("[\"look\"]"), "{own}");
    client.ok("session.result.add", json!({"name": "slider <moves>", "status": "failed", "summary": "a & b"}));
    let write = |client: &mut afd_tests::Client, name: &str| {
        let file = world.dir().join(name);
        client.ok("session.report", json!({"file": file}));
        std::fs::read_to_string(file).expect("reads")
    };
    let html = write(&mut client, "a.html");
    assert!(html.starts_with("<!DOCTYPE html>"));
    let (tapped, shown, checked) = (html.find("tap row"), html.find("data:image/jpeg"), html.find("verify element"));
    assert!(
        tapped.is_some() && tapped < shown && shown < checked,
        "the screenshot stands where it was taken: {tapped:?} {shown:?} {checked:?}"
    );
    let markdown = write(&mut client, "a.md");
    assert!(
        markdown.starts_with("# Session")
            && markdown.contains("## Timeline")
            && markdown.contains("tap row")
            && markdown.contains("took a screenshot ![screenshot](<"),
        "{markdown}"
    );
    let junit = write(&mut client, "a.xml");
    assert!(
        junit.contains("failures=\"1\"") && junit.contains("slider &lt;moves&gt;") && junit.contains("a &amp; b"),
        "{junit}"
    );
    let report: Value = serde_json::from_str(&write(&mut client, "a.json")).expect("JSON");
    assert_eq!(
        (report["timeline"].as_array().map(Vec::len), &report["results"][0]["status"]),
        (Some(4), &json!("failed"))
    );
    assert!(report["timeline"][2]["picture"].is_string(), "{report}");
}
