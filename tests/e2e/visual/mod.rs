//! What screens are made of: components, states, the graph of them, forgetting, merging, and undoing that.

mod files;
mod graph;
mod pictures;
mod popups;
mod sites;
mod upkeep;

use std::path::Path;

use afd_tests::{Client, World};
use serde_json::{Value, json};

const SETTINGS: &str = "com.android.settings";
const SHOP: &str = "org.example.shop";

/// Looks at the screen until it has settled.
fn look(client: &mut Client) -> Value {
    client.ok("observe.page", json!({"hints": false, "include": []}))
}

/// Looks until the page is known as a state.
fn known(client: &mut Client) -> String {
    look(client);
    look(client);
    // Lessons are taken up behind the answers.
    client.ok("visual.history", json!({}));
    let page = look(client);
    page["page"]["state"].as_str().unwrap_or_else(|| panic!("no state: {page}")).to_owned()
}

fn tap(client: &mut Client, text: &str) {
    client.ok("act.tap", json!({"by": "text", "value": text}));
}

fn states(client: &mut Client, app: &str) -> Vec<Value> {
    client.ok("visual.states", json!({"app": app}))["states"].as_array().expect("states").clone()
}

fn names(rows: &[Value]) -> Vec<&str> {
    rows.iter().filter_map(|r| r["name"].as_str()).collect()
}

fn components(client: &mut Client, app: &str) -> Vec<Value> {
    client.ok("visual.components", json!({"app": app, "limit": 1000}))["components"].as_array().expect("components").clone()
}

fn component(client: &mut Client, app: &str, name: &str) -> Option<Value> {
    components(client, app).into_iter().find(|c| c["name"] == name)
}

fn transitions(client: &mut Client, app: &str) -> Vec<Value> {
    client.ok("visual.transitions", json!({"app": app}))["transitions"].as_array().expect("transitions").clone()
}

/// Sends detections by name, one under the other.
fn detect(client: &mut Client, app: &str, names: &[&str]) -> Value {
    let at = |i: usize| i32::try_from(i).expect("few") * 60;
    let detections: Vec<Value> =
        names.iter().enumerate().map(|(i, n)| json!({"name": n, "type": "icon", "box": [0, at(i), 50, at(i) + 50]})).collect();
    client.ok("visual.learn", json!({"app": app, "detections": detections}))
}

fn upkeep(client: &mut Client) {
    let job = client.ok("job.run", json!({"name": "visual-upkeep"}));
    assert_eq!(job["lastError"], Value::Null, "{job}");
}

fn numbered(prefix: &str, range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|n| format!("{prefix}{n:02}")).collect()
}

fn refs(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

/// Learns settings: home, Wi-Fi and its details.
fn explored(world: &World) -> (Client, String, String, String) {
    let mut client = world.client();
    let home = known(&mut client);
    tap(&mut client, "Wi-Fi");
    let wifi = known(&mut client);
    tap(&mut client, "Home network");
    let details = known(&mut client);
    (client, home, wifi, details)
}

/// The files below a directory, as values when they are JSON.
fn tree(dir: &Path) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    let mut todo = vec![dir.to_owned()];
    while let Some(next) = todo.pop() {
        for entry in std::fs::read_dir(&next).expect("reads").flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
                continue;
            }
            let name = path.strip_prefix(dir).expect("is below").display().to_string();
            let bytes = std::fs::read(&path).expect("reads");
            let value = serde_json::from_slice(&bytes).unwrap_or_else(|_| json!(bytes));
            found.push((name, value));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}
