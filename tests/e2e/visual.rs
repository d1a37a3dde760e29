//! What screens are made of: components, states, the graph of them, forgetting, merging, and undoing that.

use std::path::Path;

use afd_tests::{Client, TestPhone, World};
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

#[test]
fn a_page_is_a_state_when_it_is_seen_again_and_has_its_edges_from_before() {
    let world = World::new();
    let mut client = world.client();
    look(&mut client);
    assert!(states(&mut client, SETTINGS).is_empty(), "a first sighting defines nothing");
    tap(&mut client, "Wi-Fi");
    assert_eq!(look(&mut client)["page"].get("state"), None);
    client.ok("act.back", json!({}));
    let home = known(&mut client);
    // The way there was gone once, when neither page was a state.
    assert!(transitions(&mut client, SETTINGS).is_empty());
    tap(&mut client, "Wi-Fi");
    let wifi = known(&mut client);
    assert_ne!(home, wifi);
    let edges = transitions(&mut client, SETTINGS);
    let there = edges.iter().find(|e| e["from"] == home && e["to"] == wifi).unwrap_or_else(|| panic!("{edges:?}"));
    assert_eq!((there["count"].as_i64(), there["attempts"].as_i64(), there["successRate"].as_f64()), (Some(2), Some(2), Some(1.0)));
    assert_eq!(there["key"], json!(format!("{home}|{}|{wifi}", there["action"].as_str().expect("words"))));
    assert!(there["target"]["label"].as_str().is_some_and(|l| l.starts_with("Wi-Fi")), "named by its target: {there}");
    assert!(edges.iter().any(|e| e["from"] == wifi && e["to"] == home && e["action"] == "back"));
    let all = states(&mut client, SETTINGS);
    assert_eq!(names(&all), ["Settings", "Wi-Fi"]);
    assert!(all[1]["visibleTexts"].as_array().is_some_and(|t| t.contains(&json!("Use Wi-Fi"))), "{}", all[1]);
}

#[test]
fn what_changes_by_itself_makes_no_new_components_and_no_new_states() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene("org.example.lab", Some("feed"));
    let state = known(&mut client);
    let before = components(&mut client, "org.example.lab");
    for minutes in ["3", "14", "59"] {
        world.phone.run(json!({"do": "set", "app": "org.example.lab", "name": "ago", "value": minutes}));
        world.phone.run(json!({"do": "scroll", "rows": 4}));
        assert_eq!(known(&mut client), state, "times and other rows are the same page");
    }
    let after = components(&mut client, "org.example.lab");
    assert_eq!(names(&after), names(&before));
    assert!(after.iter().all(|c| c["seenCount"].as_i64() > Some(9) && c["consecutiveMisses"] == 0), "{after:?}");
    assert!(after.iter().all(|c| c["label"].as_str().is_none_or(|l| !l.contains("Guest"))), "rows say nothing");
}

#[test]
fn a_pop_up_over_five_pages_is_one_interrupt_that_one_knows_how_to_dismiss() {
    let world = World::new();
    let mut client = world.client();
    for page in ["home", "sale", "search", "me", "help"] {
        world.phone.scene(SHOP, Some(page));
        known(&mut client);
    }
    let pages = states(&mut client, SHOP).len();
    assert_eq!(pages, 5);
    for page in ["home", "sale", "search", "me", "help"] {
        world.phone.scene(SHOP, Some(page));
        known(&mut client);
        world.phone.run(json!({"do": "popup", "dialog": "rate"}));
        look(&mut client);
        tap(&mut client, "Not now");
        look(&mut client);
    }
    let all = states(&mut client, SHOP);
    let popups: Vec<&Value> = all.iter().filter(|s| s["kind"] == "dialog").collect();
    assert_eq!((all.len(), popups.len()), (pages + 1, 1), "{:?}", names(&all));
    let interrupt = &popups[0]["interrupt"];
    assert_eq!(interrupt["over"].as_array().map(Vec::len), Some(5), "{interrupt}");
    let best = &interrupt["dismissals"][0];
    assert!(best["action"].as_str().is_some_and(|a| a.contains("Not now")), "{interrupt}");
    assert_eq!(best["count"], 5);
    // It is no place to go through, and no edge leads to it.
    let popup = popups[0]["id"].as_str().expect("an id");
    assert!(transitions(&mut client, SHOP).iter().all(|e| e["from"] != popup && e["to"] != popup));
    // Whoever sees it next is told.
    world.phone.run(json!({"do": "popup", "dialog": "rate"}));
    look(&mut client);
    let hints = client.ok("observe.page", json!({"include": []}))["hints"].clone();
    let hint = hints.as_array().expect("hints").iter().find(|h| h["kind"] == "interrupt").unwrap_or_else(|| panic!("{hints}"));
    assert!(hint["text"].as_str().is_some_and(|t| t.contains("Not now")), "{hint}");
}

#[test]
fn a_dialog_that_one_action_brings_up_is_a_state_like_others() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene(SETTINGS, Some("network"));
    let page = known(&mut client);
    for _ in 0..3 {
        tap(&mut client, "Forget");
        look(&mut client);
        tap(&mut client, "Cancel");
        look(&mut client);
    }
    let all = states(&mut client, SETTINGS);
    let dialog = all.iter().find(|s| s["kind"] == "dialog").expect("the dialog");
    assert_eq!((dialog["interrupt"].clone(), dialog["title"].as_str()), (Value::Null, Some("Forget network?")));
    let path = client.ok("visual.path", json!({"app": SETTINGS, "from": page, "to": "Forget network?"}));
    assert_eq!((path["known"].as_bool(), path["route"]["steps"].as_array().map(Vec::len)), (Some(true), Some(1)), "{path}");
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

#[test]
fn ways_are_found_by_names_ids_and_components_and_what_is_not_known_is_said() {
    let world = World::new();
    let (mut client, home, wifi, details) = explored(&world);
    for to in [details.as_str(), "Network details", "forget_button", "Forget", "network details", "Signal strength: excellent"] {
        let path = client.ok("visual.path", json!({"app": SETTINGS, "from": home, "to": to}));
        let steps = path["route"]["steps"].as_array().unwrap_or_else(|| panic!("{to}: {path}"));
        assert_eq!(steps.iter().map(|s| s["to"].as_str().expect("an id")).collect::<Vec<_>>(), [wifi.as_str(), details.as_str()], "{to}");
        assert!(path["route"]["probability"].as_f64().is_some_and(|p| p > 0.3 && p < 1.0), "little is known: {path}");
    }
    // Where the session is stands in for where it begins.
    client.ok("act.back", json!({}));
    look(&mut client);
    let path = client.ok("visual.path", json!({"to": "Network details"}));
    assert_eq!((path["app"].as_str(), path["from"]["id"].as_str()), (Some(SETTINGS), Some(wifi.as_str())));
    // Nobody went from there to a page that was merely shown.
    world.phone.scene(SETTINGS, Some("battery"));
    let battery = known(&mut client);
    world.phone.scene(SETTINGS, Some("storage"));
    let storage = known(&mut client);
    let path = client.ok("visual.path", json!({"app": SETTINGS, "from": details, "to": storage}));
    assert_eq!((path["known"].as_bool(), path.get("route")), (Some(false), None), "{path}");
    assert!(path["nearest"]["id"].is_string() && path["text"].as_str().is_some_and(|t| t.contains("no way")), "{path}");
    assert_ne!(battery, storage, "pages of one activity are told apart by their titles");
    let error = client.fails("visual.path", json!({"app": SETTINGS, "from": home, "to": "Networking"}), "NOT_FOUND");
    assert!(error.details["known"].as_array().is_some_and(|k| !k.is_empty()), "{error:?}");
    client.fails("visual.path", json!({"app": "org.example.nothing", "to": "x"}), "NOT_FOUND");
    client.fails("visual.path", json!({"app": SETTINGS, "to": "x", "alternatives": 11}), "INVALID_PARAMS");
}

#[test]
fn an_action_that_fails_or_leads_elsewhere_lowers_its_rate() {
    let world = World::new();
    let (mut client, home, wifi, _) = explored(&world);
    world.phone.scene(SETTINGS, None);
    look(&mut client);
    tap(&mut client, "Wi-Fi");
    client.fails("verify.textContains", json!({"text": "no such words"}), "ASSERTION_FAILED");
    look(&mut client);
    let edges = transitions(&mut client, SETTINGS);
    let there = edges.iter().find(|e| e["from"] == home && e["to"] == wifi).expect("the edge");
    assert_eq!((there["count"].as_i64(), there["attempts"].as_i64()), (Some(2), Some(3)), "{there}");
    assert!(there["successRate"].as_f64().is_some_and(|r| (0.6..0.7).contains(&r)), "{there}");
}

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
fn sites_have_a_memory_of_their_own_by_registrable_domain() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    let learn = |client: &mut Client, site: &str, name: &str| {
        client.ok("visual.learn", json!({"app": "chromium", "site": site, "detections": [{"name": name, "box": [0, 0, 90, 30]}]}))
    };
    for url in ["https://user:secret@www.united.com/en/us", "united.com", "book.united.com:8443"] {
        assert_eq!(learn(&mut client, url, "Travel_info")["site"], "united_com", "{url}");
    }
    assert_eq!(learn(&mut client, "http://localhost:8080/x", "home")["site"], "localhost_8080");
    let of = client.ok("visual.components", json!({"app": "chromium", "site": "https://www.united.com"}));
    assert_eq!((names(of["components"].as_array().expect("rows")), of["site"].as_str()), (vec!["Travel_info"], Some("united_com")));
    client.ok("visual.rename", json!({"app": "chromium", "site": "united_com", "old": "Travel_info", "new": "travel"}));
    let of = client.ok("visual.states", json!({"app": "chromium", "site": "united.com"}));
    assert_eq!(of["hosts"], json!(["www.united.com", "united.com", "book.united.com:8443"]));
    client.ok("visual.transitions", json!({"app": "chromium", "site": "united.com"}));
    client.ok("visual.graph", json!({"app": "chromium", "site": "united.com"}));
    client.fails("visual.components", json!({"app": "chromium", "site": "delta.com"}), "NOT_FOUND");
    client.fails("visual.components", json!({"app": "chromium", "site": "a b"}), "INVALID_PARAMS");
    for file in ["memory.db", "memory.db-wal"] {
        let text = std::fs::read(world.dir().join(file)).expect("the database is there");
        assert!(!text.windows(6).any(|w| w == b"secret"), "credentials are kept nowhere");
    }
}

#[test]
fn learning_can_be_switched_off_and_asked_for() {
    let phone = TestPhone::start();
    let world = World::with(phone, "\n[visual]\nlearn = false\n");
    let mut client = world.client();
    look(&mut client);
    look(&mut client);
    client.fails("visual.states", json!({"app": SETTINGS}), "NOT_FOUND");
    client.ok("visual.learn", json!({"page": "the start"}));
    let learned = client.ok("visual.learn", json!({"page": "the start"}));
    assert_eq!((learned["newState"].as_bool(), learned["state"]["name"].as_str()), (Some(true), Some("the start")), "{learned}");
    client.fails("visual.learn", json!({"app": "org.example.other"}), "INVALID_PARAMS");
}

#[test]
fn the_graph_is_drawn_in_three_ways() {
    let world = World::new();
    let (mut client, home, _, _) = explored(&world);
    for (format, begins) in [("dot", "digraph"), ("mermaid", "flowchart"), ("svg", "<svg")] {
        let drawn = client.ok("visual.graph", json!({"app": SETTINGS, "format": format}));
        let text = drawn["graph"].as_str().expect("a drawing");
        assert!(text.starts_with(begins) && text.contains(&home) && text.contains("SubSettings"), "{text}");
        assert!(text.contains("100%") && text.contains("visits"), "{text}");
    }
    let file = world.dir().join("graph.svg");
    let drawn = client.ok("visual.graph", json!({"app": SETTINGS, "format": "svg", "saveFile": file}));
    assert_eq!((drawn.get("graph"), drawn["artifact"]["savedFile"].as_str()), (None, file.to_str()));
    assert!(std::fs::read_to_string(&file).expect("was written").ends_with("</svg>\n"));
    client.fails("visual.graph", json!({"app": SETTINGS, "saveFile": "graph.svg"}), "INVALID_PARAMS");
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

#[test]
fn an_import_that_is_exported_is_what_it_was() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    let dir = world.dir().join("apps");
    for d in ["chrome/components", "chrome/pages", "chrome/sites/www_united_com"] {
        std::fs::create_dir_all(dir.join(d)).expect("a directory");
    }
    let write =
        |file: &str, value: Value| std::fs::write(dir.join(file), serde_json::to_string_pretty(&value).expect("is JSON")).expect("writes");
    let png = b"\x89PNG\r\n\x1a\nnot really".to_vec();
    std::fs::write(dir.join("chrome/components/Save_as.png"), &png).expect("writes");
    std::fs::write(dir.join("chrome/pages/home.png"), &png).expect("writes");
    write(
        "chrome/meta.json",
        json!({"app": "Chrome", "domain": "", "detect_count": 47, "last_updated": "2026-03-23 15:30:00", "img_size": [1920, 1080], "forget_threshold": 20, "tips": ["log in first"], "pages": {"home": {"components": ["Save:_as"], "learned_at": "2026-03-23 02:20:00"}}}),
    );
    write(
        "chrome/components.json",
        json!({
            "Save:_as": {"type": "text", "source": "vision_ocr", "rel_x": 661, "rel_y": 188, "w": 81, "h": 21, "icon_file": "components/Save_as.png", "label": "Save: as", "confidence": 0.95, "page": "home", "learned_at": "2026-03-23 02:20:00", "last_seen": "2026-03-23 15:30:00", "seen_count": 12, "consecutive_misses": 0, "base_memory": true},
            "bar": {"type": "system", "source": "system", "icon_file": null, "learned_at": "not a time", "seen_count": 3, "consecutive_misses": 2},
            "bare": {}
        }),
    );
    write(
        "chrome/states.json",
        json!({
            "s_8838ab": {"name": "homepage", "description": null, "defining_components": ["Save:_as", "bar", "ghost"], "visible_texts": ["Save: as"], "first_seen": "2026-03-23 02:20:00", "last_seen": "2026-03-23 15:30:00", "visit_count": 5},
            "before_click": {"visible_texts": ["x"], "appeared": ["y"], "disappeared": []},
            "initial": {"visible": ["Search"], "trigger_pos": [1, 2]}
        }),
    );
    write(
        "chrome/transitions.json",
        json!({
            "s_8838ab|click:bar|initial": {"from_state": "s_8838ab", "action": "click:bar", "to_state": "initial", "count": 3, "last_used": "2026-03-23 15:30:00", "success_rate": 0.75, "click_pos": [3, 4]},
            "initial|key:esc|nowhere": {"from_state": "initial", "action": "key:esc", "to_state": "nowhere", "count": 1, "last_used": "2026-03-23 15:30:00", "success_rate": 1.0}
        }),
    );
    write(
        "chrome/sites/www_united_com/meta.json",
        json!({"app": "Chrome", "domain": "www.united.com", "detect_count": 1, "last_updated": null, "img_size": null, "forget_threshold": 15}),
    );
    for file in ["components", "states", "transitions"] {
        write(&format!("chrome/sites/www_united_com/{file}.json"), json!({}));
    }
    let before = tree(&dir);
    let dry = client.ok("visual.import", json!({"dir": dir, "dryRun": true}));
    client.fails("visual.states", json!({"app": "Chrome"}), "NOT_FOUND");
    let report = client.ok("visual.import", json!({"dir": dir}));
    assert_eq!(dry["imported"], report["imported"], "a rehearsal tells what comes of it");
    assert_eq!((report["imported"][0]["app"].as_str(), report["imported"][1]["site"].as_str()), (Some("Chrome"), Some("united_com")));
    let remarks = report["imported"][0]["remarks"].as_array().expect("remarks");
    assert!(remarks.iter().any(|r| r["key"] == "s_8838ab" && r["why"].as_str().is_some_and(|w| w.contains("ghost"))), "{remarks:?}");
    assert_eq!(tree(&dir), before, "the source is not touched");
    let out = world.dir().join("out");
    let exported = client.ok("visual.export", json!({"dir": out}));
    assert_eq!(exported["exported"][0]["missingPictures"], 0, "{exported}");
    assert_eq!(tree(&out), before);
    let again = client.ok("visual.import", json!({"dir": dir}));
    let tally = &again["imported"][0]["components"];
    assert_eq!((tally["added"].as_i64(), tally["present"].as_i64()), (Some(0), Some(3)), "a second import adds nothing");
    client.fails("visual.export", json!({"dir": out}), "INVALID_PARAMS");
    client.fails("visual.import", json!({"dir": world.dir().join("nothing")}), "NOT_FOUND");
}

#[test]
fn the_later_dialect_and_damaged_files_are_read_as_far_as_they_go() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    let dir = world.dir().join("editor");
    std::fs::create_dir_all(&dir).expect("a directory");
    std::fs::write(dir.join("components.json"), "{\"Save\": {\"type\": \"icon\"}, \"Open\": 7").expect("writes");
    std::fs::write(dir.join("components.json.bak"), "{\"Save\": {\"type\": \"icon\", \"icon_file\": \"../../secret.png\"}}")
        .expect("writes");
    std::fs::write(dir.join("states.json"), "{\"s_1\": {\"defining_components\": [\"Save\"], \"visit_count\": 1}, \"s_2\": 5}")
        .expect("writes");
    let rows = json!({"s_1|click:Save": {"from": "s_1", "to": "s_3", "action": "click", "target": "Save", "last_used": "2026-06-01 10:00:00", "use_count": 3}, "broken": {"action": "x"}});
    std::fs::write(dir.join("transitions.json"), rows.to_string()).expect("writes");
    let report = client.ok("visual.import", json!({"dir": dir}))["imported"][0].clone();
    let why: Vec<&str> = report["remarks"].as_array().expect("remarks").iter().filter_map(|r| r["why"].as_str()).collect();
    assert!(why.iter().any(|w| w.contains("its backup is used")), "{why:?}");
    assert_eq!(
        (report["states"]["skipped"].as_i64(), report["transitions"]["skipped"].as_i64(), report["pictures"]["skipped"].as_i64()),
        (Some(1), Some(1), Some(1))
    );
    let edges = transitions(&mut client, "editor");
    assert_eq!((edges[0]["key"].as_str(), edges[0]["count"].as_i64()), (Some("s_1|click:Save|s_3"), Some(3)));
}

#[test]
fn an_export_of_what_was_observed_is_the_same_memory_elsewhere() {
    let world = World::new();
    let (mut client, _, _, details) = explored(&world);
    let out = world.dir().join("out");
    client.ok("visual.export", json!({"dir": out, "app": SETTINGS}));
    let other = World::with(TestPhone::start(), "");
    let mut elsewhere = other.client();
    elsewhere.ok("visual.import", json!({"dir": out}));
    let same = |rows: Vec<Value>, keys: &[&str]| -> Vec<Value> {
        let second = |v: &Value| v.as_i64().map_or(v.clone(), |ms| json!(ms / 1000));
        rows.iter()
            .map(|r| keys.iter().map(|k| if k.ends_with("Seen") || k.ends_with("At") { second(&r[*k]) } else { r[*k].clone() }).collect())
            .collect()
    };
    let of_component =
        ["name", "uid", "type", "label", "resId", "bounds", "states", "seenCount", "consecutiveMisses", "lastSeen", "learnedAt"];
    assert_eq!(same(components(&mut elsewhere, SETTINGS), &of_component), same(components(&mut client, SETTINGS), &of_component));
    let of_state = ["id", "uid", "name", "kind", "place", "title", "visitCount", "definingComponents", "visibleTexts", "lastSeen"];
    assert_eq!(same(states(&mut elsewhere, SETTINGS), &of_state), same(states(&mut client, SETTINGS), &of_state));
    let of_edge = ["key", "count", "successRate"];
    assert_eq!(same(transitions(&mut elsewhere, SETTINGS), &of_edge), same(transitions(&mut client, SETTINGS), &of_edge));
    // A page that was learned there is recognised here at first sight.
    other.phone.scene(SETTINGS, Some("network"));
    assert_eq!(look(&mut elsewhere)["page"]["state"], details.as_str());
}

#[test]
fn a_browser_tells_which_site_is_shown() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene("org.example.browser", None);
    let booking = known(&mut client);
    client.ok("act.tap", json!({"by": "desc", "value": "Travel info"}));
    let info = known(&mut client);
    let of = client.ok("visual.states", json!({"app": "org.example.browser", "site": "united.com"}));
    let ids: Vec<&str> = of["states"].as_array().expect("states").iter().filter_map(|s| s["id"].as_str()).collect();
    assert_eq!(ids, [booking.as_str(), info.as_str()]);
    let path = client.ok("visual.path", json!({"app": "org.example.browser", "site": "united_com", "from": booking, "to": info}));
    assert_eq!(path["route"]["steps"].as_array().map(Vec::len), Some(1), "{path}");
    // The page that the session sees tells app and site.
    let here = client.ok("visual.components", json!({}));
    assert_eq!((here["app"].as_str(), here["site"].as_str()), (Some("org.example.browser"), Some("united_com")));
    assert!(
        here["components"].as_array().is_some_and(|c| c.iter().all(|c| c["label"] != "www.united.com/en/us")),
        "what was typed is nowhere"
    );
    world.phone.scene("org.example.browser", Some("dev"));
    known(&mut client);
    client.ok("visual.states", json!({"app": "org.example.browser", "site": "localhost:8080"}));
}

#[test]
fn components_are_found_by_their_pictures() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene(SHOP, Some("help"));
    world.phone.scene(SETTINGS, Some("network"));
    client.ok("visual.learn", json!({"pictures": true}));
    let learned = client.ok("visual.learn", json!({"pictures": true}));
    assert!(learned["picture"].is_string(), "{learned}");
    let pages = client.ok("artifact.list", json!({"kind": "page_image"}))["artifacts"].as_array().map(Vec::len);
    assert_eq!(pages, Some(1), "the newest picture of a page is kept, not all of them");
    let pictured = components(&mut client, SETTINGS);
    assert!(pictured.iter().all(|c| c["hasPicture"] == true), "{pictured:?}");
    let matched = client.ok("visual.match", json!({}));
    let found = matched["found"].as_array().expect("found");
    let button = found.iter().find(|f| f["name"] == "Forget").unwrap_or_else(|| panic!("{matched}"));
    assert_eq!((button["how"].as_str(), button["moved"].as_bool()), (Some("inPlace"), Some(false)), "{matched}");
    assert!(button["likeness"].as_f64().is_some_and(|l| l > 0.95));
    let before = component(&mut client, SETTINGS, "Forget").expect("is there")["seenCount"].as_i64();
    // On another page it is missing, which is nobody's fault: it does not belong there.
    world.phone.scene(SETTINGS, Some("battery"));
    let matched = client.ok("visual.match", json!({"app": SETTINGS, "components": ["Forget"]}));
    assert_eq!(matched["missing"], json!(["Forget"]), "{matched}");
    let now = component(&mut client, SETTINGS, "Forget").expect("is there");
    assert_eq!((now["seenCount"].as_i64(), now["consecutiveMisses"].as_i64()), (before, Some(0)));
    // Pictures outlive the limits of artifacts.
    client.ok("job.run", json!({"name": "artifact-limits"}));
    world.phone.scene(SETTINGS, Some("network"));
    assert_eq!(client.ok("visual.match", json!({"components": ["Forget"]}))["found"][0]["name"], "Forget");
    client.fails("visual.match", json!({"components": ["nothing"]}), "NOT_FOUND");
    let out = world.dir().join("out");
    let exported = client.ok("visual.export", json!({"dir": out, "app": SETTINGS}));
    assert!(exported["exported"][0]["pictures"].as_i64() > Some(4), "{exported}");
}

#[test]
fn a_component_that_is_missing_by_its_picture_is_missed_on_its_page() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene(SHOP, Some("product"));
    for _ in 0..2 {
        client.ok("visual.learn", json!({"pictures": true}));
    }
    // The same page, with another price on it.
    world.phone.run(json!({"do": "set", "app": SHOP, "name": "price", "value": "4711"}));
    let matched = client.ok("visual.match", json!({"components": ["product_price"]}));
    assert_eq!(matched["missing"], json!(["product_price"]), "{matched}");
    let missed = component(&mut client, SHOP, "product_price").expect("is there");
    assert_eq!((missed["consecutiveMisses"].as_i64(), missed["seenCount"].as_i64()), (Some(1), Some(2)), "{missed}");
    look(&mut client);
    assert_eq!(component(&mut client, SHOP, "product_price").expect("is there")["consecutiveMisses"], 0);
}

/// A world whose detector is this script.
fn with_detector(script: &str) -> World {
    use std::os::unix::fs::PermissionsExt;
    let phone = TestPhone::start();
    let dir = tempfile::tempdir().expect("a directory").keep();
    let program = dir.join("detector.sh");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("writes");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).expect("is made a program");
    World::with(phone, &format!("\n[visual]\ndetector = {program:?}\ndetector_timeout_ms = 2000\n"))
}

#[test]
fn a_detector_program_is_given_a_picture_and_prints_detections() {
    let world = with_detector(
        r#"head -c 3 "$1" | od -An -tx1 | grep -q 'ff d8 ff' || exit 9
echo '{"label":"Play","type":"text","box":[100,400,400,460],"confidence":0.9}'
echo '{"type":"icon","box":[500,400,560,460]}'"#,
    );
    let mut client = world.client();
    world.phone.scene("org.example.lab", Some("canvas"));
    let learned = client.ok("visual.learn", json!({"detect": true, "pictures": true}));
    assert_eq!(learned["source"], "detector.sh", "{learned}");
    client.ok("visual.learn", json!({"detect": true}));
    let found = components(&mut client, "org.example.lab");
    let play = found.iter().find(|c| c["name"] == "Play").unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!(
        (play["source"].as_str(), play["seenCount"].as_i64(), play["hasPicture"].as_bool()),
        (Some("detector.sh"), Some(2), Some(true))
    );
    let icon = found.iter().find(|c| c["name"] == "unlabeled_530_430").expect("the icon");
    assert_eq!(play["states"], icon["states"], "they belong to the page that the tree tells");
    let unlabelled = client.ok("visual.components", json!({"app": "org.example.lab", "unlabelled": true}));
    assert_eq!(names(unlabelled["components"].as_array().expect("rows")), ["unlabeled_530_430"]);
    // A look with the tree alone misses nothing that only the detector can see.
    look(&mut client);
    look(&mut client);
    assert_eq!(component(&mut client, "org.example.lab", "Play").expect("is there")["consecutiveMisses"], 0);
}

#[test]
fn a_detector_that_fails_is_said_to() {
    for (script, code, why) in [
        ("echo nonsense", "DEVICE_ERROR", "line 1"),
        ("echo broken >&2; exit 3", "DEVICE_ERROR", "broken"),
        ("exec sleep 60", "TIMEOUT", "2000 ms"),
        ("echo '{\"box\":[5,5,1,1]}'", "INVALID_PARAMS", "box"),
    ] {
        let world = with_detector(script);
        let error = world.client().fails("visual.learn", json!({"detect": true}), code);
        assert!(error.message.contains(why), "{error:?}");
    }
    let world = World::new();
    let mut client = world.client();
    client.fails("visual.learn", json!({"detect": true}), "UNSUPPORTED");
    client.fails("visual.learn", json!({"detect": true, "detections": [], "app": "x"}), "INVALID_PARAMS");
}

#[test]
fn tesseract_reads_what_stands_in_no_tree() {
    let installed = std::process::Command::new("tesseract").arg("--version").output().is_ok_and(|o| o.status.success());
    if !installed {
        assert!(std::env::var_os("AFD_TESTS_NEED_TESSERACT").is_none(), "tesseract is not installed");
        eprintln!("skipped: tesseract is not installed");
        return;
    }
    let world = World::with(TestPhone::start(), "\n[visual]\ndetector = \"tesseract\"\n");
    let mut client = world.client();
    world.phone.scene("org.example.lab", Some("canvas"));
    let screen = client.ok("observe.screen", json!({"full": true}));
    assert!(!screen.to_string().contains("High scores"), "the tree does not say it");
    for _ in 0..2 {
        client.ok("visual.learn", json!({"detect": true}));
    }
    for words in ["New game", "Options", "High scores", "Credits"] {
        let found = client.ok("visual.components", json!({"app": "org.example.lab", "query": words}))["components"].clone();
        let one = &found[0];
        assert_eq!((one["label"].as_str(), one["source"].as_str()), (Some(words), Some("tesseract")), "{found}");
        let bounds: Vec<i32> = one["bounds"].as_str().expect("bounds").split(',').map(|n| n.parse().expect("a number")).collect();
        assert!(bounds[0] >= 100 && bounds[1] > 300 && bounds[2] < 800, "in pixels of the device: {bounds:?}");
    }
    let path = client.ok("visual.path", json!({"app": "org.example.lab", "from": "High scores", "to": "Credits"}));
    assert_eq!(path["known"], true, "both are on the same page: {path}");
}

#[test]
fn a_renamed_thing_is_still_the_same_and_an_export_of_it_comes_back() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    let icon = |x: i32| json!({"app": "game", "detections": [{"type": "icon", "box": [x, 100, x + 40, 140]}]});
    client.ok("visual.learn", icon(100));
    client.ok("visual.rename", json!({"app": "game", "old": "unlabeled_120_120", "new": "menu"}));
    assert_eq!(client.ok("visual.learn", icon(103))["newComponents"], 0, "a few pixels off, it is the same icon");
    let named = json!({"app": "game", "detections": [{"name": "menu", "type": "icon", "box": [100, 100, 140, 140]}]});
    assert_eq!(client.ok("visual.learn", named)["newComponents"], 0, "whoever calls it by its name means it");
    let out = world.dir().join("out");
    client.ok("visual.export", json!({"dir": out}));
    client.ok("visual.rename", json!({"app": "game", "old": "menu", "new": "main menu"}));
    let again = client.ok("visual.import", json!({"dir": out}))["imported"][0].clone();
    assert_eq!((again["components"]["added"].as_i64(), again["components"]["present"].as_i64()), (Some(0), Some(1)), "{again}");
    assert_eq!(names(&components(&mut client, "game")), ["main_menu"]);
}

#[test]
fn an_import_of_what_is_known_doubles_no_edges() {
    let world = World::new();
    let (mut client, _, _, _) = explored(&world);
    let before = transitions(&mut client, SETTINGS);
    let out = world.dir().join("out");
    client.ok("visual.export", json!({"dir": out, "app": SETTINGS}));
    client.ok("visual.import", json!({"dir": out}));
    assert_eq!(transitions(&mut client, SETTINGS), before);
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

#[test]
fn sites_of_one_browser_keep_to_themselves() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene("org.example.browser", None);
    known(&mut client);
    for link in ["Travel info", "Back to booking", "Developer page"] {
        client.ok("act.tap", json!({"by": "desc", "value": link}));
        known(&mut client);
    }
    let of = |client: &mut Client, site: &str| {
        client.ok("visual.transitions", json!({"app": "org.example.browser", "site": site}))["transitions"].as_array().map(Vec::len)
    };
    assert_eq!(of(&mut client, "united.com"), Some(3), "two within, one away from it");
    assert_eq!(of(&mut client, "localhost:8080"), Some(1));
    let out = world.dir().join("out");
    let exported = client.ok("visual.export", json!({"dir": out, "app": "org.example.browser", "site": "united.com"}));
    assert_eq!(exported["exported"][0]["transitions"], 2, "{exported}");
}

#[test]
fn what_was_typed_is_learned_nowhere() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene(SHOP, Some("address"));
    client.ok("act.tap", json!({"by": "resId", "value": "street_field"}));
    client.ok("act.text", json!({"text": "Hollyhock Lane 7"}));
    known(&mut client);
    client.ok("visual.learn", json!({}));
    let all = format!("{:?} {:?}", components(&mut client, SHOP), states(&mut client, SHOP));
    assert!(all.contains("street_field") && !all.contains("Hollyhock"), "{all}");
    let out = world.dir().join("out");
    client.ok("visual.export", json!({"dir": out}));
    assert!(!format!("{:?}", tree(&out)).contains("Hollyhock"));
}

#[test]
fn what_is_tapped_beside_a_pop_up_is_no_advice() {
    let world = World::new();
    let mut client = world.client();
    for page in ["reviews", "sale", "me", "help"] {
        world.phone.scene(SHOP, Some(page));
        known(&mut client);
        world.phone.run(json!({"do": "popup", "dialog": "rate"}));
        look(&mut client);
        match page {
            // The row can be seen and reached beside the pop-up.
            "reviews" => drop(client.call("act.tap", json!({"by": "text", "value": "Customer 1", "exactMatch": true}))),
            _ => tap(&mut client, "Not now"),
        }
        look(&mut client);
    }
    let popup = states(&mut client, SHOP).into_iter().find(|s| s["kind"] == "dialog").expect("the pop-up");
    let ways: Vec<&str> = popup["interrupt"]["dismissals"].as_array().expect("ways").iter().filter_map(|d| d["action"].as_str()).collect();
    assert_eq!(ways, ["tap button \"Not now\""]);
    // It can be named, and is said to be no place to go to.
    let path = client.ok("visual.path", json!({"app": SHOP, "from": "Me", "to": "Do you like Shop?"}));
    assert!(path["text"].as_str().is_some_and(|t| t.contains("pop-up")), "{path}");
}
