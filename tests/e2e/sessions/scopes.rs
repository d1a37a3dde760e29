//! Visibility of the records of a session: everyone who uses the app, unless a record was saved only for the session.

use afd_tests::{Client, World};
use serde_json::{Value, json};

const SHOP: &str = "com.shop";

fn start(client: &mut Client, more: Value) -> Value {
    let mut params = json!({"app": SHOP});
    params.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    client.ok("session.start", params)
}

/// Returns everything that a session can see about a subject, as one text.
fn told(client: &mut Client, about: &str) -> String {
    let mut all = vec![
        client.ok("memory.search", json!({"query": about})),
        client.ok("memory.search", json!({"app": SHOP})),
        client.ok("recall.search", json!({"query": about, "limit": 50})),
        client.ok("recall.context", json!({"task": about, "app": SHOP})),
        client.ok("session.bug.list", json!({})),
        client.ok("session.result.list", json!({})),
    ];
    client.ok(
        "conversation.append",
        json!({"messages": [{"role": "user", "content": format!("What about the {about}?")}]}),
    );
    all.push(client.ok("conversation.context", json!({"budget": 8000})));
    all.push(client.ok("session.bug.add", json!({"title": format!("{about} again"), "app": SHOP})));
    all.push(
        client
            .ok("memory.save", json!({"topic": "again", "content": format!("{about} is kept in drawer"), "app": SHOP})),
    );
    let task = client.ok("session.task.add", json!({"description": format!("look at the {about}")}));
    all.push(client.ok("session.task.start", json!({"id": task["id"], "switch": true})));
    let text = Value::from(all).to_string();
    assert!(text.contains(about), "the question itself is there");
    text
}

/// Returns whether a text has a key with a number, which also occurs in uids and times.
fn has_key(text: &str, number: impl std::fmt::Display) -> bool {
    ["key", "keys", "[key]"].iter().any(|word| text.contains(&format!("{word} {number}")))
}

#[test]
fn notes_bugs_and_results_for_the_session_are_told_to_it_alone() {
    let world = World::new();
    let (mut own, mut other) = (world.client_for("own"), world.client_for("other"));
    start(&mut own, json!({}));
    let note = own.ok(
        "memory.save",
        json!({"topic": "till", "content": "the till key 4711 is kept in drawer", "app": SHOP, "scope": "session"}),
    );
    let bug =
        own.ok("session.bug.add", json!({"title": "the till key 4712 sticks", "scope": "session"}))["bug"].clone();
    let result = own
        .ok("session.result.add", json!({"name": "the till key 4713 turns", "status": "failed", "scope": "session"}));
    for saved in [&note["note"], &bug, &result] {
        assert_eq!(saved["scope"], "session", "{saved}");
    }
    own.ok("memory.save", json!({"topic": "till", "content": "the till key 4714 opens the drawer", "app": SHOP}));
    start(&mut other, json!({}));
    let text = told(&mut other, "till key");
    assert!(has_key(&text, 4714), "{text}");
    for secret in ["4711", "4712", "4713"] {
        assert!(!has_key(&text, secret), "{secret}: {text}");
    }
    for uid in [&note["note"]["uid"], &bug["uid"], &result["uid"]] {
        other.fails("recall.get", json!({"uid": uid}), "NOT_FOUND");
        own.ok("recall.get", json!({"uid": uid}));
    }
    for (method, params) in [
        ("session.bug.show", json!({})),
        ("session.bug.update", json!({"scope": "app"})),
        ("session.bug.resolve", json!({"reason": "x"})),
        ("session.result.add", json!({"name": "x", "status": "failed", "bug": bug["id"]})),
    ] {
        let mut params = params;
        if method != "session.result.add" {
            params["id"] = bug["id"].clone();
        }
        other.fails(method, params, "NOT_FOUND");
    }
    let text = told(&mut own, "till key");
    for own in ["4711", "4712", "4713", "4714"] {
        assert!(has_key(&text, own), "{own}: {text}");
    }
    // A client that names the session sees its records.
    let listed = other.ok("session.bug.list", json!({"session": "own"}));
    assert!(listed["bugs"].as_array().expect("bugs").iter().any(|b| b["id"] == bug["id"]), "{listed}");
    assert_eq!(other.ok("session.result.list", json!({"session": "own"}))["counts"]["failed"], 1);
    // A record that is shared later becomes visible to others, and vice versa.
    let update = json!({"id": bug["id"], "scope": "app"});
    assert_eq!(own.ok("session.bug.update", update)["scope"], Value::Null);
    assert!(has_key(&told(&mut other, "till key"), 4712));
    own.ok("session.bug.update", json!({"id": bug["id"], "scope": "session"}));
    assert!(!has_key(&told(&mut other, "till key"), 4712));
}

#[test]
fn what_is_refused_names_the_scopes() {
    let world = World::new();
    let mut client = world.client();
    let refused =
        client.fails("memory.save", json!({"topic": "t", "content": "c", "scope": "everybody"}), "INVALID_PARAMS");
    let text = format!("{refused:?}");
    assert!(text.contains("scope") && text.contains("app") && text.contains("session"), "{text}");
    client.fails("session.update", json!({}), "INVALID_PARAMS");
    client.fails("session.task.update", json!({}), "INVALID_PARAMS");
}

#[test]
fn a_session_that_keeps_to_itself_leaves_nothing_to_the_next() {
    let world = World::new();
    let mut own = world.client_for("own");
    let started = start(
        &mut own,
        json!({"goal": "audit the till key 4710", "scope": "session", "tasks": ["count the till keys 4709"]}),
    );
    assert_eq!(started["scope"], "session");
    own.ok("session.progress", json!({"nextSteps": ["move the till key 4708"]}));
    own.ok("session.bug.add", json!({"title": "the till key 4712 sticks"}));
    own.ok("session.result.add", json!({"name": "the till key 4713 turns", "status": "failed"}));
    own.ok("memory.save", json!({"topic": "till", "content": "the till key 4711 is kept in drawer", "app": SHOP}));
    own.ok("pattern.save", json!({"kind": "solution", "text": "press the till key 4707 twice", "app": SHOP}));
    own.ok("recall.store", json!({"text": "the till key 4706 is a copy", "app": SHOP}));
    own.ok(
        "memory.save",
        json!({"topic": "till", "content": "the till key 4714 opens the drawer", "app": SHOP, "scope": "app"}),
    );
    own.ok("session.end", json!({}));
    let mut other = world.client_for("other");
    let started = start(&mut other, json!({}));
    assert_eq!(started["before"], Value::Null, "{started}");
    let text = told(&mut other, "till key");
    for secret in 4706..4714 {
        assert!(!has_key(&text, secret), "{secret}: {text}");
    }
    assert!(has_key(&text, 4714), "what it saved for the app: {text}");
    // Its digest and its future records can be shared.
    own.ok("session.update", json!({"scope": "app"}));
    assert!(has_key(&told(&mut other, "till key"), 4710));
    assert!(!has_key(&told(&mut other, "till key"), 4711), "what was recorded before stays as it is");
}

#[test]
fn tasks_for_the_session_are_not_left_to_the_next() {
    let world = World::new();
    let mut own = world.client_for("own");
    start(&mut own, json!({"tasks": ["count the drawers"]}));
    let task = own.ok("session.task.add", json!({"description": "copy the till key 4711", "scope": "session"}));
    let finished = own.ok("session.task.add", json!({"description": "hide the till key 4712", "scope": "session"}));
    own.ok("session.task.start", json!({"id": finished["id"]}));
    own.ok("session.task.finish", json!({}));
    own.ok("session.end", json!({}));
    let mut other = world.client_for("other");
    let before = start(&mut other, json!({}))["before"].clone();
    assert_eq!((&before["tasks"], &before["tasksTotal"]), (&json!(["count the drawers"]), &json!(1)), "{before}");
    let text = told(&mut other, "till key");
    assert!(!has_key(&text, 4711) && !has_key(&text, 4712), "{text}");
    own.ok("session.resume", json!({}));
    let listed = own.ok("session.task.list", json!({}))["tasks"].clone();
    assert_eq!(listed.as_array().map_or(0, Vec::len), 3, "{listed}");
    assert_eq!(own.ok("session.task.update", json!({"id": task["id"], "scope": "app"}))["scope"], Value::Null);
    let finished = own.ok("session.task.update", json!({"id": finished["id"], "scope": "app"}));
    assert_eq!(finished["scope"], Value::Null);
    assert!(has_key(&told(&mut other, "till key"), 4712), "the digest of the session has it now");
}

#[test]
fn what_a_session_keeps_to_itself_is_deleted_with_it() {
    let world = World::new();
    let mut own = world.client_for("own");
    start(&mut own, json!({}));
    for scope in ["session", "app"] {
        own.ok(
            "memory.save",
            json!({"topic": "till", "content": format!("the till key of the {scope}"), "app": SHOP, "scope": scope}),
        );
        own.ok("session.bug.add", json!({"title": format!("the till key of the {scope} sticks"), "scope": scope}));
        own.ok(
            "session.result.add",
            json!({"name": format!("the till key of the {scope} turns"), "status": "failed", "scope": scope}),
        );
    }
    let exported = world.dir().join("memory.jsonl");
    own.ok("memory.export", json!({"file": exported}));
    let deleted = own.ok("session.delete", json!({}));
    assert_eq!((&deleted["findings"], &deleted["kept"]), (&json!(3), &json!(3)), "{deleted}");
    // Importing an earlier export does not bring it back.
    let mut other = world.client_for("other");
    other.ok("memory.import", json!({"file": exported}));
    let left = deleted["remainder"].as_str().expect("a name").to_owned();
    let bugs = other.ok("session.bug.list", json!({"session": left}));
    assert_eq!(bugs["counts"]["total"], 1, "{bugs}");
    start(&mut other, json!({}));
    let text = told(&mut other, "till key");
    assert!(text.contains("till key of the app") && !text.contains("till key of the session"), "{text}");
}

#[test]
fn scopes_survive_exports_and_progress_files() {
    let world = World::new();
    let mut own = world.client_for("own");
    start(&mut own, json!({"scope": "session", "tasks": ["count the keys"]}));
    own.ok("session.task.start", json!({}));
    own.ok("session.task.add", json!({"description": "wait"}));
    own.ok("session.task.add", json!({"description": "share", "scope": "app"}));
    own.ok("memory.save", json!({"topic": "till", "content": "the till key", "app": SHOP}));
    own.ok("session.bug.add", json!({"title": "the till key sticks"}));
    own.ok("session.result.add", json!({"name": "the till key turns", "status": "failed"}));
    let progress = own.ok("session.progress", json!({}))["file"].clone();
    let lines = world.dir().join("own.jsonl");
    own.ok("session.export", json!({"format": "lines", "file": lines}));
    let whole = world.dir().join("memory.jsonl");
    own.ok("memory.export", json!({"file": whole}));
    let ways =
        [("lines", "session.import", true), ("whole", "memory.import", true), ("progress", "session.resume", false)];
    for (way, method, with_notes) in ways {
        let file = match way {
            "lines" => json!(lines),
            "whole" => json!(whole),
            _ => progress.clone(),
        };
        let copy = World::new();
        let mut own = copy.client_for("own");
        own.ok(method, json!({"file": file}));
        assert_eq!(own.ok("session.show", json!({}))["scope"], "session", "{way}");
        let tasks = own.ok("session.task.list", json!({}))["tasks"].clone();
        let scopes: Vec<&Value> = tasks.as_array().expect("tasks").iter().map(|t| &t["scope"]).collect();
        assert_eq!(scopes, [&json!("session"), &json!("session"), &Value::Null], "{way}: {tasks}");
        assert_eq!(own.ok("session.bug.list", json!({"session": "own"}))["bugs"][0]["scope"], "session", "{way}");
        assert_eq!(own.ok("session.result.list", json!({"session": "own"}))["results"][0]["scope"], "session", "{way}");
        let mut other = copy.client_for("other");
        start(&mut other, json!({}));
        let counts = [
            other.ok("session.bug.list", json!({}))["counts"]["total"].clone(),
            other.ok("session.result.list", json!({}))["counts"]["total"].clone(),
        ];
        assert_eq!(counts, [json!(0), json!(0)], "{way}");
        let notes = own.ok("memory.search", json!({"app": SHOP}))["notes"].as_array().map_or(0, Vec::len);
        assert_eq!(notes, usize::from(with_notes), "{way}");
        assert_eq!(other.ok("memory.search", json!({"app": SHOP}))["notes"], json!([]), "{way}");
    }
}
