//! Sessions: goal, tasks, findings, progress, resume.

mod findings;
mod keeping;
mod progress;
mod reports;
mod scopes;

use afd_tests::{Client, World};
use serde_json::{Value, json};

/// Starts a session and works in it: two of four tasks are finished, one is active, bugs and results are recorded.
/// Returns what `session.show` reports.
fn work_in_session(client: &mut Client) -> Value {
    client.ok(
        "session.start",
        json!({"goal": "test the settings", "app": "com.android.settings",
               "tasks": ["look at the network page", "turn Wi-Fi on", "check the battery page", "read the about page"]}),
    );
    client.ok("session.task.start", json!({}));
    client.ok("observe.page", json!({}));
    let alias = client.alias("Wi-Fi");
    client.ok("act.tap", json!({"by": "ref", "value": alias}));
    client.ok("verify.textContains", json!({"text": "Wi-Fi"}));
    client.ok("session.task.finish", json!({"summary": "it opens"}));
    client.ok("session.task.start", json!({}));
    client.ok("session.task.finish", json!({"status": "failed", "summary": "the switch does nothing"}));
    client.ok("session.task.start", json!({}));
    client.ok("session.task.update", json!({"progress": "the page is open"}));
    client.ok("observe.screenshot", json!({}));
    client.ok(
        "session.bug.add",
        json!({"title": "The Wi-Fi switch does nothing", "severity": "critical", "steps": ["open Network", "tap the switch"],
               "expected": "it turns on", "actual": "it stays off", "screenshot": "latest"}),
    );
    client.ok("session.bug.add", json!({"title": "A typo in the battery page", "severity": "low"}));
    client.ok("session.result.add", json!({"name": "network opens", "status": "passed", "durationMs": 800}));
    client.ok("session.tested", json!({"elements": ["Wi-Fi"], "passed": false}));
    client.ok("session.show", json!({}))
}

#[test]
fn session_includes_everything_recorded_under_its_name() {
    let world = World::new();
    let mut client = world.client_for("qa");
    // Records from before `session.start` belong to the session, too.
    client.ok("observe.page", json!({}));
    client.ok("memory.save", json!({"topic": "nav", "content": "Network is at the top"}));
    let shown = work_in_session(&mut client);
    assert_eq!(shown["status"], "active");
    assert_eq!(shown["tasks"], json!({"pending": 1, "active": 1, "passed": 1, "failed": 1, "skipped": 0}));
    assert_eq!(shown["bugs"]["total"], 2);
    assert_eq!((&shown["bugs"]["critical"], &shown["bugs"]["open"]), (&json!(1), &json!(2)));
    let s = &shown["statistics"];
    // An element that was marked as failed does not count as an assertion.
    assert_eq!(
        (&s["actionsPerformed"], &s["assertionsPassed"], &s["assertionsFailed"]),
        (&json!(1), &json!(1), &json!(0))
    );
    assert_eq!((&s["notes"], &s["artifacts"]), (&json!(1), &json!(1)));
    assert!(s["observations"].as_i64() >= Some(3), "{s}");
    assert_eq!(shown["currentTask"]["progress"], "the page is open");
    assert!(shown["currentTask"]["lastAction"].as_str().is_some_and(|a| !a.is_empty()));
    assert_eq!(shown["openBugs"][0]["severity"], "critical", "most severe first");
    let pages = shown["pages"].as_array().expect("pages");
    assert_eq!(pages.len(), 2, "{pages:?}");
    assert!(pages[0]["snapshot"]["nodeCount"].as_i64() > Some(1) && pages[0]["observations"].as_i64() >= Some(1));
    let summary = shown["summary"].as_str().expect("a summary");
    for line in [
        "- Tasks completed: 2",
        "- Current task: check the battery page",
        "- Tasks remaining: 1",
        "- Bugs found: 2",
        "- Critical: 1",
        "- Pages visited: 2",
        "- Elements tested: 1",
        "- Assertions failed: 0",
    ] {
        assert!(summary.contains(line), "{line} is not in {summary}");
    }
    assert_eq!(shown["context"]["app"], "com.android.settings");
    assert_eq!(shown["context"]["device"], "pixel");
}

#[test]
fn sessions_are_started_ended_listed_and_resumed() {
    let world = World::new();
    let mut client = world.client_for("one");
    client.fails("session.show", json!({}), "NOT_FOUND");
    client.ok("session.start", json!({"goal": "a goal", "app": "com.a", "context": {"interface": "google_tv"}}));
    let again = client.fails("session.start", json!({}), "CONFLICT");
    assert!(again.hint.is_some_and(|h| h.contains("resume")));
    client.ok("session.task.add", json!({"description": "something"}));
    let ended = client.ok("session.end", json!({}));
    assert!(ended["summary"].as_str().is_some_and(|s| s.contains("a goal")));
    assert!(std::fs::metadata(ended["report"]["file"].as_str().expect("a file")).is_ok());
    client.fails("session.task.add", json!({"description": "late"}), "CONFLICT");
    client.fails("session.end", json!({}), "CONFLICT");
    let mut other = world.client_for("two");
    other.ok("session.start", json!({"app": "com.b"}));
    let names = |listed: Value| -> Vec<String> {
        listed["sessions"]
            .as_array()
            .expect("sessions")
            .iter()
            .map(|s| s["session"].as_str().expect("a name").to_owned())
            .collect()
    };
    assert_eq!(names(client.ok("session.list", json!({}))), ["two", "one"]);
    assert_eq!(names(client.ok("session.list", json!({"status": "active"}))), ["two"]);
    assert_eq!(names(client.ok("session.list", json!({"status": "ended", "app": "com.a"}))), ["one"]);
    let first = client.ok("session.list", json!({"limit": 1}));
    assert_eq!(names(client.ok("session.list", json!({"limit": 1, "cursor": first["nextCursor"]}))), ["one"]);
    let resumed = client.ok("session.resume", json!({}));
    assert_eq!(resumed["reopened"], true);
    assert_eq!(resumed["context"]["interface"], "google_tv");
    client.ok("session.task.add", json!({"description": "goes on"}));
}
