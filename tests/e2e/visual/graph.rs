//! States, transitions between them, and paths.

use afd_tests::{TestPhone, World};
use serde_json::{Value, json};

use super::{
    SETTINGS, SHOP, components, explore_settings, names, observe, observe_state, read_tree, states, tap, transitions,
};

#[test]
fn page_seen_again_is_a_state_and_has_its_earlier_edges() {
    let world = World::new();
    let mut client = world.client();
    observe(&mut client);
    assert!(states(&mut client, SETTINGS).is_empty(), "a first sighting defines nothing");
    tap(&mut client, "Wi-Fi");
    assert_eq!(observe(&mut client)["page"].get("state"), None);
    client.ok("act.back", json!({}));
    let home = observe_state(&mut client);
    // The transition happened once, before either page was a state.
    assert!(transitions(&mut client, SETTINGS).is_empty());
    tap(&mut client, "Wi-Fi");
    let wifi = observe_state(&mut client);
    assert_ne!(home, wifi);
    let edges = transitions(&mut client, SETTINGS);
    let there = edges.iter().find(|e| e["from"] == home && e["to"] == wifi).unwrap_or_else(|| panic!("{edges:?}"));
    assert_eq!(
        (there["count"].as_i64(), there["attempts"].as_i64(), there["successRate"].as_f64()),
        (Some(2), Some(2), Some(1.0))
    );
    assert_eq!(there["key"], json!(format!("{home}|{}|{wifi}", there["action"].as_str().expect("an action"))));
    assert!(there["target"]["label"].as_str().is_some_and(|l| l.starts_with("Wi-Fi")), "named by its target: {there}");
    assert!(edges.iter().any(|e| e["from"] == wifi && e["to"] == home && e["action"] == "back"));
    let all = states(&mut client, SETTINGS);
    assert_eq!(names(&all), ["Settings", "Wi-Fi"]);
    assert!(all[1]["visibleTexts"].as_array().is_some_and(|t| t.contains(&json!("Use Wi-Fi"))), "{}", all[1]);
}

#[test]
fn dynamic_content_creates_no_components_or_states() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene("org.example.lab", Some("feed"));
    let state = observe_state(&mut client);
    let before = components(&mut client, "org.example.lab");
    for minutes in ["3", "14", "59"] {
        world.phone.run(json!({"do": "set", "app": "org.example.lab", "name": "ago", "value": minutes}));
        world.phone.run(json!({"do": "scroll", "rows": 4}));
        assert_eq!(observe_state(&mut client), state, "other times and rows are the same page");
    }
    let after = components(&mut client, "org.example.lab");
    assert_eq!(names(&after), names(&before));
    assert!(after.iter().all(|c| c["seenCount"].as_i64() > Some(9) && c["consecutiveMisses"] == 0), "{after:?}");
    assert!(
        after.iter().all(|c| c["label"].as_str().is_none_or(|l| !l.contains("Guest"))),
        "texts of rows are not learned"
    );
}

#[test]
fn paths_are_found_by_name_id_or_component_and_unknown_ones_are_reported() {
    let world = World::with_clock();
    let (mut client, home, wifi, details) = explore_settings(&world);
    for to in [
        details.as_str(),
        "Network details",
        "forget_button",
        "Forget",
        "network details",
        "Signal strength: excellent",
    ] {
        let path = client.ok("visual.path", json!({"app": SETTINGS, "from": home, "to": to}));
        let steps = path["route"]["steps"].as_array().unwrap_or_else(|| panic!("{to}: {path}"));
        assert_eq!(
            steps.iter().map(|s| s["to"].as_str().expect("an id")).collect::<Vec<_>>(),
            [wifi.as_str(), details.as_str()],
            "{to}"
        );
        assert!(
            path["route"]["probability"].as_f64().is_some_and(|p| p > 0.3 && p < 1.0),
            "there are few observations: {path}"
        );
    }
    // The start defaults to the session's current page.
    client.ok("act.back", json!({}));
    observe(&mut client);
    let path = client.ok("visual.path", json!({"to": "Network details"}));
    assert_eq!((path["app"].as_str(), path["from"]["id"].as_str()), (Some(SETTINGS), Some(wifi.as_str())));
    // There is no path to a page that no action has led to.
    world.advance(11_000);
    world.phone.scene(SETTINGS, Some("battery"));
    let battery = observe_state(&mut client);
    world.phone.scene(SETTINGS, Some("storage"));
    let storage = observe_state(&mut client);
    let path = client.ok("visual.path", json!({"app": SETTINGS, "from": details, "to": storage}));
    assert_eq!((path["known"].as_bool(), path.get("route")), (Some(false), None), "{path}");
    assert!(
        path["nearest"]["id"].is_string() && path["text"].as_str().is_some_and(|t| t.contains("no known path")),
        "{path}"
    );
    assert_ne!(battery, storage, "pages of one activity are distinguished by their titles");
    let error = client.fails("visual.path", json!({"app": SETTINGS, "from": home, "to": "Networking"}), "NOT_FOUND");
    assert!(error.details["known"].as_array().is_some_and(|k| !k.is_empty()), "{error:?}");
    client.fails("visual.path", json!({"app": "org.example.nothing", "to": "x"}), "NOT_FOUND");
    client.fails("visual.path", json!({"app": SETTINGS, "to": "x", "alternatives": 11}), "INVALID_PARAMS");
}

#[test]
fn failed_action_lowers_its_success_rate() {
    let world = World::new();
    let (mut client, home, wifi, _) = explore_settings(&world);
    world.phone.scene(SETTINGS, None);
    observe(&mut client);
    tap(&mut client, "Wi-Fi");
    client.fails("verify.textContains", json!({"text": "no such words"}), "ASSERTION_FAILED");
    observe(&mut client);
    let edges = transitions(&mut client, SETTINGS);
    let there = edges.iter().find(|e| e["from"] == home && e["to"] == wifi).expect("the edge");
    assert_eq!((there["count"].as_i64(), there["attempts"].as_i64()), (Some(2), Some(3)), "{there}");
    assert!(there["successRate"].as_f64().is_some_and(|r| (0.6..0.7).contains(&r)), "{there}");
}

#[test]
fn learning_can_be_disabled_and_requested() {
    let phone = TestPhone::start();
    let world = World::with(phone, "\n[visual]\nlearn = false\n");
    let mut client = world.client();
    observe(&mut client);
    observe(&mut client);
    client.fails("visual.states", json!({"app": SETTINGS}), "NOT_FOUND");
    client.ok("visual.learn", json!({"page": "the start"}));
    let learned = client.ok("visual.learn", json!({"page": "the start"}));
    assert_eq!(
        (learned["newState"].as_bool(), learned["state"]["name"].as_str()),
        (Some(true), Some("the start")),
        "{learned}"
    );
    client.fails("visual.learn", json!({"app": "org.example.other"}), "INVALID_PARAMS");
}

#[test]
fn graph_is_rendered_in_three_formats() {
    let world = World::new();
    let (mut client, home, _, _) = explore_settings(&world);
    for (format, prefix) in [("dot", "digraph"), ("mermaid", "flowchart"), ("svg", "<svg")] {
        let drawn = client.ok("visual.graph", json!({"app": SETTINGS, "format": format}));
        let text = drawn["graph"].as_str().expect("a drawing");
        assert!(text.starts_with(prefix) && text.contains(&home) && text.contains("SubSettings"), "{text}");
        assert!(text.contains("100%") && text.contains("visits"), "{text}");
    }
    let file = world.dir().join("graph.svg");
    let drawn = client.ok("visual.graph", json!({"app": SETTINGS, "format": "svg", "saveFile": file}));
    assert_eq!((drawn.get("graph"), drawn["artifact"]["savedFile"].as_str()), (None, file.to_str()));
    assert!(std::fs::read_to_string(&file).expect("was written").ends_with("</svg>\n"));
    client.fails("visual.graph", json!({"app": SETTINGS, "saveFile": "graph.svg"}), "INVALID_PARAMS");
}

#[test]
fn typed_text_is_not_learned() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene(SHOP, Some("address"));
    client.ok("act.tap", json!({"by": "resId", "value": "street_field"}));
    client.ok("act.text", json!({"text": "Hollyhock Lane 7"}));
    observe_state(&mut client);
    client.ok("visual.learn", json!({}));
    let all = format!("{:?} {:?}", components(&mut client, SHOP), states(&mut client, SHOP));
    assert!(all.contains("street_field") && !all.contains("Hollyhock"), "{all}");
    let out = world.dir().join("out");
    client.ok("visual.export", json!({"dir": out}));
    assert!(!format!("{:?}", read_tree(&out)).contains("Hollyhock"));
}

#[test]
fn name_of_two_states_is_ambiguous() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    let dir = world.dir().join("apps/shop");
    std::fs::create_dir_all(&dir).expect("creates the directory");
    let write = |file: &str, value: Value| std::fs::write(dir.join(file), value.to_string()).expect("writes");
    let state = |name: &str, text: &str| json!({"name": name, "visible_texts": [text], "visit_count": 2});
    write("components.json", json!({"go": {"type": "text", "label": "Go"}}));
    write(
        "states.json",
        json!({"s_1": state("List", "milk"), "s_2": state("Details", "one litre"), "s_3": state("Details", "ten eggs")}),
    );
    let edge = json!({"from_state": "s_1", "action": "click:go", "to_state": "s_2", "count": 3, "success_rate": 1.0});
    write("transitions.json", json!({"s_1|click:go|s_2": edge}));
    client.ok("visual.import", json!({"dir": world.dir().join("apps")}));
    let to_details = json!({"app": "shop", "from": "List", "to": "Details"});
    let refused = client.fails("visual.path", to_details, "INVALID_PARAMS");
    assert!(refused.message.starts_with("to: ") && refused.message.contains("ambiguous"), "{refused:?}");
    let ids: Vec<&str> =
        refused.details["candidates"].as_array().expect("candidates").iter().filter_map(|c| c["id"].as_str()).collect();
    assert!(ids.len() == 2 && ids.contains(&"s_2") && ids.contains(&"s_3"), "{refused:?}");
    let path = client.ok("visual.path", json!({"app": "shop", "from": "List", "to": "s_2"}));
    assert_eq!(path["known"], true, "{path}");
    for (method, params) in [
        ("visual.path", json!({"app": "shop", "from": "Details", "to": "List"})),
        ("visual.transitions", json!({"app": "shop", "from": "Details"})),
        ("visual.components", json!({"app": "shop", "state": "Details"})),
        ("visual.rename", json!({"app": "shop", "old": "Details", "new": "Milk"})),
        ("visual.delete", json!({"app": "shop", "state": "Details"})),
    ] {
        let refused = client.fails(method, params, "INVALID_PARAMS");
        assert!(refused.message.contains("ambiguous"), "{method}: {refused:?}");
    }
}
