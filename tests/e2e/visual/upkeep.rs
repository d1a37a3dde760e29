//! Forgetting, merging, renaming, deleting, and undo.

use afd_phone::scene::{Node, Rect, Scene, Window};
use afd_tests::{Client, TestPhone, World};
use base64::Engine;
use serde_json::{Value, json};

use super::{
    SETTINGS, as_strs, component, components, explore_settings, learn_detections, names, numbered, observe, run_upkeep,
    states, transitions,
};

#[test]
fn component_is_forgotten_after_15_misses_on_its_own_page() {
    let world = World::process();
    let mut client = world.client();
    let (first, second) = (numbered("a", 0..10), numbered("b", 0..10));
    for _ in 0..2 {
        learn_detections(&mut client, "game", &as_strs(&first));
    }
    for _ in 0..30 {
        learn_detections(&mut client, "game", &as_strs(&second));
    }
    run_upkeep(&mut client);
    let kept = components(&mut client, "game");
    assert_eq!(kept.len(), 20, "{:?}", names(&kept));
    let a = component(&mut client, "game", "a03").expect("exists");
    assert_eq!((a["seenCount"].as_i64(), a["consecutiveMisses"].as_i64()), (Some(2), Some(0)));
    // b09 disappears from its page.
    let remaining = as_strs(&second[..9]);
    for misses in 1..=15 {
        let learned = learn_detections(&mut client, "game", &remaining);
        assert_eq!(learned["missed"], 1);
        run_upkeep(&mut client);
        assert_eq!(component(&mut client, "game", "b09").is_some(), misses < 15, "after {misses} misses");
    }
    let change = client.ok("visual.history", json!({"app": "game"}))["changes"][0].clone();
    assert_eq!((change["op"].as_str(), change["what"].as_str()), (Some("forget"), Some("b09")));
    assert!(change["why"].as_str().is_some_and(|w| w.contains("15 times")), "{change}");
    let page = states(&mut client, "game").into_iter().find(|s| s["definingComponents"][0] == "b00").expect("the page");
    assert_eq!(page["definingComponents"].as_array().map(Vec::len), Some(9), "no reference to it is left");
    // Undo restores it as it was.
    let undone = client.ok("visual.undo", json!({"app": "game"}));
    assert!(world.daemon.log().contains("op=\"undo\""), "it is logged as an undo");
    assert!(undone["undoneAt"].as_i64().is_some(), "{undone}");
    let back = component(&mut client, "game", "b09").expect("is back");
    assert_eq!((back["seenCount"].as_i64(), back["states"].as_array().map(Vec::len)), (Some(30), Some(1)));
    client.fails("visual.undo", json!({"app": "game", "id": undone["id"]}), "CONFLICT");
    client.fails("visual.undo", json!({"app": "game"}), "NOT_FOUND");
}

#[test]
fn custom_threshold_forgets_earlier() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    let all = numbered("c", 0..10);
    let learn = |client: &mut Client, names: &[&str], threshold: Option<u32>| {
        let boxes: Vec<Value> = names.iter().map(|n| json!({"name": n, "box": [0, 0, 30, 30]})).collect();
        client.ok("visual.learn", json!({"app": "quick", "detections": boxes, "forgetThreshold": threshold}))
    };
    learn(&mut client, &as_strs(&all), Some(3));
    learn(&mut client, &as_strs(&all), None);
    for _ in 0..3 {
        learn(&mut client, &as_strs(&all[..9]), None);
    }
    run_upkeep(&mut client);
    assert!(component(&mut client, "quick", "c09").is_none());
    client.fails("visual.learn", json!({"app": "quick", "detections": [], "forgetThreshold": 0}), "INVALID_PARAMS");
}

#[test]
fn similar_states_are_merged_and_separated_by_undo() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    let dir = world.dir().join("apps/game");
    std::fs::create_dir_all(&dir).expect("creates the directory");
    let names: Vec<String> = numbered("c", 0..20);
    let row = json!({"type": "icon", "seen_count": 4, "consecutive_misses": 0});
    let components: serde_json::Map<String, Value> = names.iter().map(|n| (n.clone(), row.clone())).collect();
    let state = |set: &[String], visits: i64| json!({"name": format!("{} components", set.len()), "defining_components": set, "visit_count": visits, "first_seen": "2026-01-01 00:00:00", "last_seen": "2026-01-02 00:00:00"});
    let edge = |from: &str, to: &str, count: i64| json!({"from_state": from, "action": "click:x", "to_state": to, "count": count, "last_used": "2026-01-03 00:00:00", "success_rate": 1.0, "click_pos": [3, 4]});
    let write = |file: &str, value: Value| std::fs::write(dir.join(file), value.to_string()).expect("writes");
    write("components.json", Value::Object(components));
    write("states.json", json!({"s_1": state(&names[..18], 3), "s_2": state(&names, 9), "s_3": {"visible": ["x"]}}));
    write(
        "transitions.json",
        json!({"s_1|click:x|s_3": edge("s_1", "s_3", 2), "s_2|click:x|s_3": edge("s_2", "s_3", 5)}),
    );
    client.ok("visual.import", json!({"dir": world.dir().join("apps")}));
    run_upkeep(&mut client);
    let merged = states(&mut client, "game");
    assert_eq!(merged.len(), 2);
    let survivor = merged.iter().find(|s| s["id"] == "s_2").expect("the more visited one");
    assert_eq!((survivor["visitCount"].as_i64(), survivor["name"].as_str()), (Some(12), Some("20 components")));
    let edges = transitions(&mut client, "game");
    assert_eq!((edges.len(), edges[0]["count"].as_i64(), edges[0]["from"].as_str()), (1, Some(7), Some("s_2")));
    let change = client.ok("visual.undo", json!({"app": "game"}));
    assert_eq!(
        (change["op"].as_str(), change["what"].as_str()),
        (Some("merge"), Some("18 components into 20 components"))
    );
    let separated = states(&mut client, "game");
    let visits: Vec<_> = separated
        .iter()
        .map(|s| {
            (
                s["id"].as_str().unwrap_or_default(),
                s["visitCount"].as_i64(),
                s["definingComponents"].as_array().map(Vec::len),
            )
        })
        .collect();
    assert_eq!(visits, [("s_1", Some(3), Some(18)), ("s_2", Some(9), Some(20)), ("s_3", Some(0), Some(0))]);
    let edges = transitions(&mut client, "game");
    let counts: Vec<_> = edges.iter().map(|e| (e["key"].as_str().unwrap_or_default(), e["count"].as_i64())).collect();
    assert_eq!(counts, [("s_1|click:x|s_3", Some(2)), ("s_2|click:x|s_3", Some(5))], "edges are separated, too");
}

#[test]
fn renaming_and_deleting_update_all_references_to_a_component() {
    let world = World::new();
    let (mut client, _, _, details) = explore_settings(&world);
    client.ok("visual.rename", json!({"app": SETTINGS, "old": "Forget", "new": "forget it"}));
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
    assert!(
        transitions(&mut client, SETTINGS).iter().all(|e| e["to"] != details),
        "no edge leads to the deleted state"
    );
    client.fails("visual.delete", json!({"app": SETTINGS}), "INVALID_PARAMS");
    client.ok("visual.undo", json!({"app": SETTINGS}));
    assert_eq!(transitions(&mut client, SETTINGS), edges, "its edges are restored with the state");
    client.ok("visual.undo", json!({"app": SETTINGS}));
    assert!(component(&mut client, SETTINGS, "forget_it").is_some());
}

#[test]
fn dynamic_text_is_not_learned_and_imported_dynamic_text_is_cleaned_up() {
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
    assert_eq!(
        (learned["seen"].as_i64(), learned["skipped"].as_array().map(Vec::len)),
        (Some(2), Some(2)),
        "{learned}"
    );
    // A changed counter is not a new component.
    let again = client
        .ok("visual.learn", json!({"app": "chat", "detections": [{"label": "4 unread", "box": [0, 80, 80, 110]}]}));
    assert_eq!(again["newComponents"], 0, "{again}");
    let dir = world.dir().join("chat");
    std::fs::create_dir_all(&dir).expect("creates the directory");
    let row = |label: &str| json!({"type": "text", "label": label});
    let rows = json!({"Yesterday": row("Yesterday 9:00"), "clock": row("9:41"), "Contacts": row("Contacts")});
    std::fs::write(dir.join("components.json"), rows.to_string()).expect("writes");
    client.ok("visual.import", json!({"dir": dir, "app": "chat"}));
    let dry = client.ok("visual.cleanup", json!({"app": "chat", "dryRun": true}));
    let gone = client.ok("visual.cleanup", json!({"app": "chat"}));
    let of = |c: &Value| {
        c["changes"].as_array().expect("changes").iter().map(|c| c["component"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(of(&dry), of(&gone));
    let mut left = components(&mut client, "chat");
    left.retain(|c| ["Yesterday", "clock", "Contacts"].contains(&c["name"].as_str().unwrap_or_default()));
    assert_eq!(names(&left), ["Contacts"]);
}

#[test]
fn undone_forgetting_is_not_repeated_at_once_and_counts_stay_correct() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    let all = numbered("d", 0..20);
    for _ in 0..3 {
        learn_detections(&mut client, "game", &as_strs(&all));
    }
    for _ in 0..15 {
        learn_detections(&mut client, "game", &as_strs(&all[..19]));
    }
    run_upkeep(&mut client);
    assert!(component(&mut client, "game", "d19").is_none());
    learn_detections(&mut client, "game", &as_strs(&all[..19]));
    client.ok("visual.undo", json!({"app": "game"}));
    let back = component(&mut client, "game", "d19").expect("is back");
    assert_eq!((back["seenCount"].as_i64(), back["consecutiveMisses"].as_i64()), (Some(3), Some(0)), "{back}");
    learn_detections(&mut client, "game", &as_strs(&all[..18]));
    run_upkeep(&mut client);
    let still = component(&mut client, "game", "d19").expect("a single miss does not forget it");
    assert_eq!((still["seenCount"].as_i64(), still["consecutiveMisses"].as_i64()), (Some(3), Some(1)), "{still}");
    assert_eq!(component(&mut client, "game", "d00").expect("exists")["seenCount"], 20);
}

#[test]
fn change_is_undone_only_after_later_ones_that_build_on_it() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    learn_detections(&mut client, "game", &["a", "b"]);
    let first = client.ok("visual.rename", json!({"app": "game", "old": "a", "new": "c"}))["historyId"].clone();
    let second = client.ok("visual.delete", json!({"app": "game", "component": "c"}))["id"].clone();
    let error = client.fails("visual.undo", json!({"app": "game", "id": first}), "CONFLICT");
    assert!(error.hint.is_some_and(|h| h.contains(&second.to_string())));
    client.ok("visual.undo", json!({"app": "game", "id": second}));
    client.ok("visual.undo", json!({"app": "game", "id": first}));
    assert_eq!(names(&components(&mut client, "game")), ["a", "b"]);
}

/// Makes the phone show a page with a title and buttons with these resource ids instead of its app.
fn show_buttons(world: &World, ids: &[String]) {
    let mut rows = vec![
        "node_0\tFrameLayout\t-\t-\torg.example.app:id/content\t0,0,1080,2400\ton,ena".to_owned(),
        "node_1\tTextView\tEditor\t-\torg.example.app:id/toolbar_title\t0,100,1080,200\ton,ena".to_owned(),
    ];
    rows.extend(ids.iter().enumerate().map(|(i, id)| {
        let top = 300 + 150 * i;
        format!("node_{}\tButton\t{id}\t-\torg.example.app:id/{id}\t0,{top},1080,{}\ton,clk,ena", i + 2, top + 140)
    }));
    let below: String = (1..rows.len()).map(|i| format!("  node_{i}\n")).collect();
    let screen = format!(
        "[mode: SYSTEM_API]\n[topActivity: org.example.app/.Main]\nscreen:1080x2400 density:420 orientation:portrait\n\
         --- window:1 type:APPLICATION pkg:org.example.app title:App layer:1 focused:true ---\n\
         node_id\tclass\ttext\tdesc\tres_id\tbounds\tflags\n{}\nhierarchy:\nnode_0\n{below}",
        rows.join("\n"),
    );
    let body = json!({"ok": true, "data": screen, "error": null}).to_string();
    world.phone.run(json!({"do": "clearFaults"}));
    let kind = afd_phone::fault::Kind::Status { status: 200, body, content_type: Some("application/json".into()) };
    world.phone.fault_always("/api/screen", kind);
}

#[test]
fn component_with_an_id_goes_with_an_update_of_the_app() {
    let world = World::new();
    let mut client = world.client();
    let all: Vec<String> =
        ["open", "save", "share", "print", "undo", "redo", "copy", "paste", "find"].map(str::to_owned).to_vec();
    show_buttons(&world, &all);
    for _ in 0..3 {
        client.ok("observe.page", json!({}));
    }
    assert!(component(&mut client, "org.example.app", "share").is_some());
    // The update has no button "share" any more.
    let after: Vec<String> = all.iter().filter(|id| *id != "share").cloned().collect();
    show_buttons(&world, &after);
    for _ in 0..16 {
        client.ok("observe.page", json!({}));
    }
    run_upkeep(&mut client);
    run_upkeep(&mut client);
    assert!(
        component(&mut client, "org.example.app", "share").is_none(),
        "{:?}",
        names(&components(&mut client, "org.example.app"))
    );
    assert!(component(&mut client, "org.example.app", "save").is_some());
    let editors: Vec<_> =
        states(&mut client, "org.example.app").into_iter().filter(|s| s["title"] == "Editor").collect();
    assert_eq!(editors.len(), 1, "one state with a new look: {editors:?}");
}

#[test]
fn page_of_thousands_of_elements_of_one_name_is_learned_in_part() {
    let world = World::new();
    let mut client = world.client();
    let cell = |i: i32| Rect::new(i % 100 * 10, i / 100 * 48, i % 100 * 10 + 10, i / 100 * 48 + 48);
    let row = |i: i32| Node {
        clickable: true,
        ..Node::new("android.widget.TextView", cell(i)).id("org.example.long:id/cell").text("cell")
    };
    let root = Node {
        children: (0..5_000).map(row).collect(),
        ..Node::new("android.widget.FrameLayout", Rect::new(0, 0, 1080, 2400))
    };
    let window = Window {
        id: 1,
        kind: "APPLICATION",
        pkg: "org.example.long".into(),
        title: Some("Long".into()),
        layer: 0,
        focused: true,
        root,
    };
    let scene = Scene { windows: vec![window], width: 1080, height: 2400, density: 420 };
    world.phone.lock().shown = Some((scene, "org.example.long/.Main".into()));
    (0..4).for_each(|_| _ = observe(&mut client));
    let found =
        client.ok("visual.components", json!({"app": "org.example.long", "limit": 10_000}))["components"].clone();
    let found = found.as_array().expect("components");
    assert_eq!(found.len(), 500, "a part of the page is learned, in reading order");
    assert_eq!(names(found).iter().collect::<std::collections::HashSet<_>>().len(), 500, "each has a name of its own");
    assert!(found.iter().all(|c| c["consecutiveMisses"] == 0), "what was not looked at was not missed");
}

/// Learns a component with a picture, and returns the file of that picture.
fn learn_with_picture(client: &mut Client, name: &str) -> std::path::PathBuf {
    // Equal for all names.
    let crop = base64::engine::general_purpose::STANDARD.encode(picture());
    let detection =
        json!({"name": name, "type": "icon", "label": "My secret label", "box": [0, 0, 50, 50], "crop": crop});
    client.ok("visual.learn", json!({"app": "game", "detections": [detection]}));
    let artifacts = client.ok("artifact.list", json!({"kind": "component_image"}));
    std::path::PathBuf::from(artifacts["artifacts"][0]["filePath"].as_str().expect("a path"))
}

fn picture() -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    image::RgbImage::from_fn(50, 50, |x, y| image::Rgb([(x * 5) as u8, (y * 5) as u8, 90]))
        .write_to(&mut bytes, image::ImageFormat::Png)
        .expect("encodes");
    bytes.into_inner()
}

fn pictures(client: &mut Client) -> usize {
    client.ok("artifact.list", json!({"kind": "component_image"}))["artifacts"].as_array().expect("artifacts").len()
}

/// Returns whether a file of the database contains a text.
fn is_stored(world: &World, text: &str) -> bool {
    let connection = rusqlite::Connection::open(world.dir().join("memory.db")).expect("opens");
    let tables = ["components", "states", "visual_history"];
    tables.iter().any(|table| {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).expect("prepares");
        let columns = statement.column_count();
        let mut rows = statement.query([]).expect("queries");
        while let Some(row) = rows.next().expect("a row") {
            if (0..columns).any(|i| row.get::<_, String>(i).is_ok_and(|t| t.contains(text))) {
                return true;
            }
        }
        false
    })
}

#[test]
fn purged_component_leaves_neither_label_nor_picture_nor_undo() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    let file = learn_with_picture(&mut client, "first");
    learn_with_picture(&mut client, "second");
    learn_with_picture(&mut client, "second");
    assert_eq!(pictures(&mut client), 1, "equal pictures are listed once");
    client.ok("visual.rename", json!({"app": "game", "old": "first", "new": "premier"}));
    client.ok("visual.delete", json!({"app": "game", "component": "premier", "purge": true}));
    assert!(file.exists(), "the other component has the same picture");
    client.ok("visual.delete", json!({"app": "game", "component": "second", "purge": true}));
    assert!(!file.exists() && pictures(&mut client) == 0);
    for text in ["My secret label", "first", "premier", "second"] {
        assert!(!is_stored(&world, text), "{text:?} is still in the database");
    }
    client.fails("visual.undo", json!({"app": "game"}), "NOT_FOUND");
    learn_with_picture(&mut client, "first");
    assert_eq!(names(&components(&mut client, "game")), ["first"], "it can be learned again");
}

#[test]
fn what_was_deleted_a_month_ago_is_gone_for_good() {
    let world = World::with_clock();
    let mut client = world.client();
    let file = learn_with_picture(&mut client, "first");
    client.ok("visual.delete", json!({"app": "game", "component": "first"}));
    run_upkeep(&mut client);
    assert!(file.exists() && is_stored(&world, "My secret label"), "it can still be undone");
    world.advance(31 * 24 * 3_600_000);
    run_upkeep(&mut client);
    assert!(!file.exists() && pictures(&mut client) == 0);
    assert!(!is_stored(&world, "My secret label") && !is_stored(&world, "first"));
    client.fails("visual.undo", json!({"app": "game"}), "NOT_FOUND");
}

#[test]
fn undone_rename_keeps_what_a_component_says_now() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    let learn = |client: &mut Client, name: &str, label: &str| {
        let detection = json!({"name": name, "type": "icon", "label": label, "box": [0, 0, 50, 50]});
        client.ok("visual.learn", json!({"app": "game", "detections": [detection]}))
    };
    learn(&mut client, "cart", "3 items");
    learn(&mut client, "cart", "3 items");
    client.ok("visual.rename", json!({"app": "game", "old": "cart", "new": "basket"}));
    learn(&mut client, "basket", "4 items");
    assert_eq!(component(&mut client, "game", "basket").expect("is there")["label"], "4 items");
    client.ok("visual.undo", json!({"app": "game"}));
    assert_eq!(component(&mut client, "game", "cart").expect("has its name again")["label"], "4 items");
}
