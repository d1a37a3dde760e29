//! Visual memory: components, states, their graph, forgetting, merging, and undo.

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

/// Observes the page once it has settled.
fn observe(client: &mut Client) -> Value {
    client.ok("observe.page", json!({"hints": false, "include": []}))
}

/// Observes the page until it is a known state, and returns the id of the state.
fn observe_state(client: &mut Client) -> String {
    observe(client);
    observe(client);
    // Observations are learned after their response; a query waits until that is done.
    client.ok("visual.history", json!({}));
    let page = observe(client);
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
    client.ok("visual.components", json!({"app": app, "limit": 1000}))["components"]
        .as_array()
        .expect("components")
        .clone()
}

fn component(client: &mut Client, app: &str, name: &str) -> Option<Value> {
    components(client, app).into_iter().find(|c| c["name"] == name)
}

fn transitions(client: &mut Client, app: &str) -> Vec<Value> {
    client.ok("visual.transitions", json!({"app": app}))["transitions"].as_array().expect("transitions").clone()
}

/// Learns detections with these names, which are arranged in a column.
fn learn_detections(client: &mut Client, app: &str, names: &[&str]) -> Value {
    let at = |i: usize| i32::try_from(i).expect("fits") * 60;
    let detections: Vec<Value> = names
        .iter()
        .enumerate()
        .map(|(i, n)| json!({"name": n, "type": "icon", "box": [0, at(i), 50, at(i) + 50]}))
        .collect();
    client.ok("visual.learn", json!({"app": app, "detections": detections}))
}

fn run_upkeep(client: &mut Client) {
    let job = client.ok("job.run", json!({"name": "visual-upkeep"}));
    assert_eq!(job["lastError"], Value::Null, "{job}");
}

fn numbered(prefix: &str, range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|n| format!("{prefix}{n:02}")).collect()
}

fn as_strs(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

/// Explores the settings app. Returns the client, and the states of the pages home, Wi-Fi and network details.
fn explore_settings(world: &World) -> (Client, String, String, String) {
    let mut client = world.client();
    let home = observe_state(&mut client);
    tap(&mut client, "Wi-Fi");
    let wifi = observe_state(&mut client);
    tap(&mut client, "Home network");
    let details = observe_state(&mut client);
    (client, home, wifi, details)
}

/// Returns the files below a directory, sorted by path; JSON files as values, others as arrays of bytes.
fn read_tree(dir: &Path) -> Vec<(String, Value)> {
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
