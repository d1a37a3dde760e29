//! Forgetting, merging, renaming, deleting, and undoing that.

use afd_tests::{Client, TestPhone, World};
use serde_json::{Value, json};

use super::{SETTINGS, component, components, detect, explored, names, numbered, refs, states, transitions, upkeep};

#[test]
fn a_component_is_missed_on_its_own_page_only_and_gone_after_fifteen_looks() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    let (first, second) = (numbered("a", 0..10), numbered("b", 0..10));
    for _ in 0..2 {
        detect(&mut client, "game", &refs(&first));
    }
    for _ in 0..30 {
        detect(&mut client, "game", &refs(&second));
    }
    upkeep(&mut client);
    let kept = components(&mut client, "game");
    assert_eq!(kept.len(), 20, "{:?}", names(&kept));
    let a = component(&mut client, "game", "a03").expect("is there");
    assert_eq!((a["seenCount"].as_i64(), a["consecutiveMisses"].as_i64()), (Some(2), Some(0)));
    // b09 goes from its page.
    let gone = refs(&second[..9]);
    for looked in 1..=15 {
        let learned = detect(&mut client, "game", &gone);
        assert_eq!(learned["missed"], 1);
        upkeep(&mut client);
        assert_eq!(component(&mut client, "game", "b09").is_some(), looked < 15, "after {looked} looks");
    }
    let change = client.ok("visual.history", json!({"app": "game"}))["changes"][0].clone();
    assert_eq!((change["op"].as_str(), change["what"].as_str()), (Some("forget"), Some("b09")));
    assert!(change["why"].as_str().is_some_and(|w| w.contains("15 times")), "{change}");
    let page = states(&mut client, "game").into_iter().find(|s| s["definingComponents"][0] == "b00").expect("the page");
    assert_eq!(page["definingComponents"].as_array().map(Vec::len), Some(9), "nothing dangles");
    // Undoing brings it back as it was.
    let undone = client.ok("visual.undo", json!({"app": "game"}));
    assert!(world.daemon.log().contains("op=\"undo\""), "it is logged as what it is");
    assert!(undone["undoneAt"].as_i64().is_some(), "{undone}");
    let back = component(&mut client, "game", "b09").expect("is back");
    assert_eq!((back["seenCount"].as_i64(), back["states"].as_array().map(Vec::len)), (Some(30), Some(1)));
    client.fails("visual.undo", json!({"app": "game", "id": undone["id"]}), "CONFLICT");
    client.fails("visual.undo", json!({"app": "game"}), "NOT_FOUND");
}

#[test]
fn a_threshold_of_its_own_forgets_earlier() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    let all = numbered("c", 0..10);
    let learn = |client: &mut Client, names: &[&str], threshold: Option<u32>| {
        let boxes: Vec<Value> = names.iter().map(|n| json!({"name": n, "box": [0, 0, 30, 30]})).collect();
        client.ok("visual.learn", json!({"app": "quick", "detections": boxes, "forgetThreshold": threshold}))
    };
    learn(&mut client, &refs(&all), Some(3));
    learn(&mut client, &refs(&all), None);
    for _ in 0..3 {
        learn(&mut client, &refs(&all[..9]), None);
    }
    upkeep(&mut client);
    assert!(component(&mut client, "quick", "c09").is_none());
    client.fails("visual.learn", json!({"app": "quick", "detections": [], "forgetThreshold": 0}), "INVALID_PARAMS");
}

#[test]
fn states_that_have_become_alike_are_merged_and_can_be_parted_again() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    let dir = world.dir().join("apps/game");
    std::fs::create_dir_all(&dir).expect("a directory");
    let names: Vec<String> = numbered("c", 0..20);
    let row = json!({"type": "icon", "seen_count": 4, "consecutive_misses": 0});
    let components: serde_json::Map<String, Value> = names.iter().map(|n| (n.clone(), row.clone())).collect();
    let state = |set: &[String], visits: i64| json!({"name": format!("{} components", set.len()), "defining_components": set, "visit_count": visits, "first_seen": "2026-01-01 00:00:00", "last_seen": "2026-01-02 00:00:00"});
    let edge = |from: &str, to: &str, count: i64| json!({"from_state": from, "action": "click:x", "to_state": to, "count": count, "last_used": "2026-01-03 00:00:00", "success_rate": 1.0, "click_pos": [3, 4]});
    let write = |file: &str, value: Value| std::fs::write(dir.join(file), value.to_string()).expect("writes");
    write("components.json", Value::Object(components));
    write("states.json", json!({"s_1": state(&names[..18], 3), "s_2": state(&names, 9), "s_3": {"visible": ["x"]}}));
    write("transitions.json", json!({"s_1|click:x|s_3": edge("s_1", "s_3", 2), "s_2|click:x|s_3": edge("s_2", "s_3", 5)}));
    client.ok("visual.import", json!({"dir": world.dir().join("apps")}));
    upkeep(&mut client);
    let merged = states(&mut client, "game");
    assert_eq!(merged.len(), 2);
    let survivor = merged.iter().find(|s| s["id"] == "s_2").expect("the more visited one");
    assert_eq!((survivor["visitCount"].as_i64(), survivor["name"].as_str()), (Some(12), Some("20 components")));
    let edges = transitions(&mut client, "game");
    assert_eq!((edges.len(), edges[0]["count"].as_i64(), edges[0]["from"].as_str()), (1, Some(7), Some("s_2")));
    let change = client.ok("visual.undo", json!({"app": "game"}));
    assert_eq!((change["op"].as_str(), change["what"].as_str()), (Some("merge"), Some("18 components into 20 components")));
    let parted = states(&mut client, "game");
    let visits: Vec<_> = parted
        .iter()
        .map(|s| (s["id"].as_str().unwrap_or_default(), s["visitCount"].as_i64(), s["definingComponents"].as_array().map(Vec::len)))
        .collect();
    assert_eq!(visits, [("s_1", Some(3), Some(18)), ("s_2", Some(9), Some(20)), ("s_3", Some(0), Some(0))]);
    let edges = transitions(&mut client, "game");
    let counts: Vec<_> = edges.iter().map(|e| (e["key"].as_str().unwrap_or_default(), e["count"].as_i64())).collect();
    assert_eq!(counts, [("s_1|click:x|s_3", Some(2)), ("s_2|click:x|s_3", Some(5))], "edges included");
}

#[test]
fn renaming_and_deleting_reach_all_that_refers_to_a_component() {
    let world = World::new();
    let (mut client, _, _, details) = explored(&world);
    client.ok(
        "visual.rename",
        json!({"app": SETTINGS, "old": "forget_button", "new": "x"})
            .as_object()
            .map(|_| json!({"app": SETTINGS, "old": "Forget", "new": "forget it"}))
            .expect("parameters"),
    );
    let page = states(&mut client, SETTINGS).into_iter().find(|s| s["id"] == details).expect("the page");
    assert!(page["definingComponents"].as_array().is_some_and(|d| d.contains(&json!("forget_it"))), "{page}");
    client.fails("visual.rename", json!({"app": SETTINGS, "old": "forget_it", "new": "signal"}), "CONFLICT");
    client.fails("visual.rename", json!({"app": SETTINGS, "old": "nothing", "new": "x"}), "NOT_FOUND");
    client.fails("visual.rename", json!({"app": SETTINGS, "old": "forget_it", "new": " "}), "INVALID_PARAMS");
    client.ok("visual.rename", json!({"app": SETTINGS, "old": details, "new": "One network"}));
    client.ok("visual.path", json!({"app": SETTINGS, "from": "Settings", "to": "One network"}));
    client.ok("visual.delete", json!({"app": SETTINGS, "component": "forget_it"}));
    assert!(component(&mut client, SETTINGS, "forget_it").is_none());
    let page = states(&mut client, SETTINGS).into_iter().find(|s| s["id"] == details).expect("the page");
    assert!(page["definingComponents"].as_array().is_some_and(|d| !d.contains(&json!("forget_it"))), "{page}");
    let edges = transitions(&mut client, SETTINGS);
    client.ok("visual.delete", json!({"app": SETTINGS, "state": "One network"}));
    assert!(transitions(&mut client, SETTINGS).iter().all(|e| e["to"] != details), "no edge leads to nothing");
    client.fails("visual.delete", json!({"app": SETTINGS}), "INVALID_PARAMS");
    client.ok("visual.undo", json!({"app": SETTINGS}));
    assert_eq!(transitions(&mut client, SETTINGS), edges, "with the state its edges are back");
    client.ok("visual.undo", json!({"app": SETTINGS}));
    assert!(component(&mut client, SETTINGS, "forget_it").is_some());
}

#[test]
fn dynamic_text_is_not_learned_and_what_came_with_a_file_is_cleaned_up() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    let learned = client.ok(
        "visual.learn",
        json!({"app": "chat", "detections": [
            {"label": "12:45", "box": [0, 0, 80, 30]},
            {"label": "Search", "box": [0, 40, 80, 70]},
            {"label": "3 unread", "box": [0, 80, 80, 110]},
            {"type": "icon", "box": [0, 200, 10, 210]}
        ]}),
    );
    assert_eq!((learned["seen"].as_i64(), learned["skipped"].as_array().map(Vec::len)), (Some(2), Some(2)), "{learned}");
    // A counter makes no new component.
    let again = client.ok("visual.learn", json!({"app": "chat", "detections": [{"label": "4 unread", "box": [0, 80, 80, 110]}]}));
    assert_eq!(again["newComponents"], 0, "{again}");
    let dir = world.dir().join("chat");
    std::fs::create_dir_all(&dir).expect("a directory");
    let row = |label: &str| json!({"type": "text", "label": label});
    let rows = json!({"Yesterday": row("Yesterday 9:00"), "clock": row("9:41"), "Contacts": row("Contacts")});
    std::fs::write(dir.join("components.json"), rows.to_string()).expect("writes");
    client.ok("visual.import", json!({"dir": dir, "app": "chat"}));
    let dry = client.ok("visual.cleanup", json!({"app": "chat", "dryRun": true}));
    let gone = client.ok("visual.cleanup", json!({"app": "chat"}));
    let of = |c: &Value| c["changes"].as_array().expect("changes").iter().map(|c| c["component"].clone()).collect::<Vec<_>>();
    assert_eq!(of(&dry), of(&gone));
    let mut left = components(&mut client, "chat");
    left.retain(|c| ["Yesterday", "clock", "Contacts"].contains(&c["name"].as_str().unwrap_or_default()));
    assert_eq!(names(&left), ["Contacts"]);
}

#[test]
fn a_forgetting_that_was_undone_is_not_done_again_at_once_and_counts_stay_true() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    let all = numbered("d", 0..20);
    for _ in 0..3 {
        detect(&mut client, "game", &refs(&all));
    }
    for _ in 0..15 {
        detect(&mut client, "game", &refs(&all[..19]));
    }
    upkeep(&mut client);
    assert!(component(&mut client, "game", "d19").is_none());
    detect(&mut client, "game", &refs(&all[..19]));
    client.ok("visual.undo", json!({"app": "game"}));
    let back = component(&mut client, "game", "d19").expect("is back");
    assert_eq!((back["seenCount"].as_i64(), back["consecutiveMisses"].as_i64()), (Some(3), Some(0)), "{back}");
    detect(&mut client, "game", &refs(&all[..18]));
    upkeep(&mut client);
    let still = component(&mut client, "game", "d19").expect("a single look that misses it forgets nothing");
    assert_eq!((still["seenCount"].as_i64(), still["consecutiveMisses"].as_i64()), (Some(3), Some(1)), "{still}");
    assert_eq!(component(&mut client, "game", "d00").expect("is there")["seenCount"], 20);
}

#[test]
fn a_change_that_a_later_one_builds_on_is_undone_after_it() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    detect(&mut client, "game", &["a", "b"]);
    let first = client.ok("visual.rename", json!({"app": "game", "old": "a", "new": "c"}))["historyId"].clone();
    let second = client.ok("visual.delete", json!({"app": "game", "component": "c"}))["id"].clone();
    let error = client.fails("visual.undo", json!({"app": "game", "id": first}), "CONFLICT");
    assert!(error.hint.is_some_and(|h| h.contains(&second.to_string())));
    client.ok("visual.undo", json!({"app": "game", "id": second}));
    client.ok("visual.undo", json!({"app": "game", "id": first}));
    assert_eq!(names(&components(&mut client, "game")), ["a", "b"]);
}
