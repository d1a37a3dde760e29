//! Import and export of files of the original tool.

use std::path::Path;

use afd_tests::{TestPhone, World};
use serde_json::{Value, json};

use super::{SETTINGS, components, explore_settings, names, observe, read_tree, states, transitions};

/// Writes the files of an app with a site, including unusual contents.
fn write_chrome(dir: &Path) {
    for d in ["chrome/components", "chrome/pages", "chrome/sites/www_united_com"] {
        std::fs::create_dir_all(dir.join(d)).expect("creates the directory");
    }
    let write = |file: &str, value: Value| {
        std::fs::write(dir.join(file), serde_json::to_string_pretty(&value).expect("is JSON")).expect("writes")
    };
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
}

#[test]
fn imported_files_are_exported_unchanged() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    let dir = world.dir().join("apps");
    write_chrome(&dir);
    let before = read_tree(&dir);
    let dry = client.ok("visual.import", json!({"dir": dir, "dryRun": true}));
    client.fails("visual.states", json!({"app": "Chrome"}), "NOT_FOUND");
    let report = client.ok("visual.import", json!({"dir": dir}));
    assert_eq!(dry["imported"], report["imported"], "a dry run reports the same as the import");
    assert_eq!(
        (report["imported"][0]["app"].as_str(), report["imported"][1]["site"].as_str()),
        (Some("Chrome"), Some("united.com"))
    );
    let remarks = report["imported"][0]["remarks"].as_array().expect("remarks");
    assert!(
        remarks.iter().any(|r| r["key"] == "s_8838ab" && r["why"].as_str().is_some_and(|w| w.contains("ghost"))),
        "{remarks:?}"
    );
    assert_eq!(read_tree(&dir), before, "the source is unchanged");
    let out = world.dir().join("out");
    let exported = client.ok("visual.export", json!({"dir": out}));
    assert_eq!(exported["exported"][0]["missingPictures"], 0, "{exported}");
    assert_eq!(read_tree(&out), before);
    let again = client.ok("visual.import", json!({"dir": dir}));
    let tally = &again["imported"][0]["components"];
    assert_eq!(
        (tally["added"].as_i64(), tally["present"].as_i64()),
        (Some(0), Some(3)),
        "a second import adds nothing"
    );
    client.fails("visual.export", json!({"dir": out}), "INVALID_PARAMS");
    client.fails("visual.import", json!({"dir": world.dir().join("nothing")}), "NOT_FOUND");
}

#[test]
fn later_format_and_damaged_files_are_read_as_far_as_possible() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    let dir = world.dir().join("editor");
    std::fs::create_dir_all(&dir).expect("creates the directory");
    std::fs::write(dir.join("components.json"), "{\"Save\": {\"type\": \"icon\"}, \"Open\": 7").expect("writes");
    std::fs::write(
        dir.join("components.json.bak"),
        "{\"Save\": {\"type\": \"icon\", \"icon_file\": \"../../secret.png\"}}",
    )
    .expect("writes");
    std::fs::write(
        dir.join("states.json"),
        "{\"s_1\": {\"defining_components\": [\"Save\"], \"visit_count\": 1}, \"s_2\": 5}",
    )
    .expect("writes");
    let rows = json!({"s_1|click:Save": {"from": "s_1", "to": "s_3", "action": "click", "target": "Save", "last_used": "2026-06-01 10:00:00", "use_count": 3}, "broken": {"action": "x"}});
    std::fs::write(dir.join("transitions.json"), rows.to_string()).expect("writes");
    let report = client.ok("visual.import", json!({"dir": dir}))["imported"][0].clone();
    let why: Vec<&str> =
        report["remarks"].as_array().expect("remarks").iter().filter_map(|r| r["why"].as_str()).collect();
    assert!(why.iter().any(|w| w.contains("its backup is used")), "{why:?}");
    assert_eq!(
        (
            report["states"]["skipped"].as_i64(),
            report["transitions"]["skipped"].as_i64(),
            report["pictures"]["skipped"].as_i64()
        ),
        (Some(1), Some(1), Some(1))
    );
    let edges = transitions(&mut client, "editor");
    assert_eq!((edges[0]["key"].as_str(), edges[0]["count"].as_i64()), (Some("s_1|click:Save|s_3"), Some(3)));
}

#[test]
fn exported_observations_are_the_same_memory_after_an_import() {
    let world = World::new();
    let (mut client, _, _, details) = explore_settings(&world);
    let out = world.dir().join("out");
    client.ok("visual.export", json!({"dir": out, "app": SETTINGS}));
    let other = World::with(TestPhone::start(), "");
    let mut elsewhere = other.client();
    elsewhere.ok("visual.import", json!({"dir": out}));
    let same = |rows: Vec<Value>, keys: &[&str]| -> Vec<Value> {
        let second = |v: &Value| v.as_i64().map_or(v.clone(), |ms| json!(ms / 1000));
        rows.iter()
            .map(|r| {
                keys.iter()
                    .map(|k| if k.ends_with("Seen") || k.ends_with("At") { second(&r[*k]) } else { r[*k].clone() })
                    .collect()
            })
            .collect()
    };
    let of_component = [
        "name",
        "uid",
        "type",
        "label",
        "resId",
        "bounds",
        "states",
        "seenCount",
        "consecutiveMisses",
        "lastSeen",
        "learnedAt",
    ];
    assert_eq!(
        same(components(&mut elsewhere, SETTINGS), &of_component),
        same(components(&mut client, SETTINGS), &of_component)
    );
    let of_state =
        ["id", "uid", "name", "kind", "place", "title", "visitCount", "definingComponents", "visibleTexts", "lastSeen"];
    assert_eq!(same(states(&mut elsewhere, SETTINGS), &of_state), same(states(&mut client, SETTINGS), &of_state));
    let of_edge = ["key", "count", "successRate"];
    assert_eq!(
        same(transitions(&mut elsewhere, SETTINGS), &of_edge),
        same(transitions(&mut client, SETTINGS), &of_edge)
    );
    // A page that the first daemon learned is recognised by the second one at first sight.
    other.phone.scene(SETTINGS, Some("network"));
    assert_eq!(observe(&mut elsewhere)["page"]["state"], details.as_str());
}

#[test]
fn renamed_component_is_recognised_by_learning_and_import() {
    let world = World::bare(TestPhone::start(), "");
    let mut client = world.client();
    let icon = |x: i32| json!({"app": "game", "detections": [{"type": "icon", "box": [x, 100, x + 40, 140]}]});
    client.ok("visual.learn", icon(100));
    client.ok("visual.rename", json!({"app": "game", "old": "unlabeled_120_120", "new": "menu"}));
    assert_eq!(client.ok("visual.learn", icon(103))["newComponents"], 0, "it is the same icon, a few pixels off");
    let named = json!({"app": "game", "detections": [{"name": "menu", "type": "icon", "box": [100, 100, 140, 140]}]});
    assert_eq!(client.ok("visual.learn", named)["newComponents"], 0, "a detection with its name is the same component");
    let out = world.dir().join("out");
    client.ok("visual.export", json!({"dir": out}));
    client.ok("visual.rename", json!({"app": "game", "old": "menu", "new": "main menu"}));
    let again = client.ok("visual.import", json!({"dir": out}))["imported"][0].clone();
    assert_eq!(
        (again["components"]["added"].as_i64(), again["components"]["present"].as_i64()),
        (Some(0), Some(1)),
        "{again}"
    );
    assert_eq!(names(&components(&mut client, "game")), ["main_menu"]);
}

#[test]
fn import_of_known_data_does_not_duplicate_edges() {
    let world = World::new();
    let (mut client, _, _, _) = explore_settings(&world);
    let before = transitions(&mut client, SETTINGS);
    let out = world.dir().join("out");
    client.ok("visual.export", json!({"dir": out, "app": SETTINGS}));
    client.ok("visual.import", json!({"dir": out}));
    assert_eq!(transitions(&mut client, SETTINGS), before);
}
