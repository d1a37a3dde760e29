//! Pictures of components, template matching, and detector programs.

use afd_tests::{TestPhone, World};
use serde_json::json;

use super::{SETTINGS, SHOP, component, components, names, observe};

#[test]
fn components_are_found_by_template_matching() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene(SHOP, Some("help"));
    world.phone.scene(SETTINGS, Some("network"));
    client.ok("visual.learn", json!({"pictures": true}));
    let learned = client.ok("visual.learn", json!({"pictures": true}));
    assert!(learned["picture"].is_string(), "{learned}");
    let pages = client.ok("artifact.list", json!({"kind": "page_image"}))["artifacts"].as_array().map(Vec::len);
    assert_eq!(pages, Some(1), "only the newest picture of a page is kept");
    let learned_components = components(&mut client, SETTINGS);
    assert!(learned_components.iter().all(|c| c["hasPicture"] == true), "{learned_components:?}");
    let matched = client.ok("visual.match", json!({}));
    let found = matched["found"].as_array().expect("found");
    let button = found.iter().find(|f| f["name"] == "Forget").unwrap_or_else(|| panic!("{matched}"));
    assert_eq!((button["how"].as_str(), button["moved"].as_bool()), (Some("inPlace"), Some(false)), "{matched}");
    assert!(button["likeness"].as_f64().is_some_and(|l| l > 0.95));
    let before = component(&mut client, SETTINGS, "Forget").expect("exists")["seenCount"].as_i64();
    // On another page, it is not found. That does not count as a miss, because it does not belong to that page.
    world.phone.scene(SETTINGS, Some("battery"));
    let matched = client.ok("visual.match", json!({"app": SETTINGS, "components": ["Forget"]}));
    assert_eq!(matched["missing"], json!(["Forget"]), "{matched}");
    let now = component(&mut client, SETTINGS, "Forget").expect("exists");
    assert_eq!((now["seenCount"].as_i64(), now["consecutiveMisses"].as_i64()), (before, Some(0)));
    // Pictures of components are exempt from the limits of artifacts.
    client.ok("job.run", json!({"name": "artifact-limits"}));
    world.phone.scene(SETTINGS, Some("network"));
    assert_eq!(client.ok("visual.match", json!({"components": ["Forget"]}))["found"][0]["name"], "Forget");
    client.fails("visual.match", json!({"components": ["nothing"]}), "NOT_FOUND");
    let out = world.dir().join("out");
    let exported = client.ok("visual.export", json!({"dir": out, "app": SETTINGS}));
    assert!(exported["exported"][0]["pictures"].as_i64() > Some(4), "{exported}");
}

#[test]
fn component_not_matched_on_its_own_page_counts_as_missed() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene(SHOP, Some("product"));
    for _ in 0..2 {
        client.ok("visual.learn", json!({"pictures": true}));
    }
    // The same page shows another price.
    world.phone.run(json!({"do": "set", "app": SHOP, "name": "price", "value": "4711"}));
    let matched = client.ok("visual.match", json!({"components": ["product_price"]}));
    assert_eq!(matched["missing"], json!(["product_price"]), "{matched}");
    let missed = component(&mut client, SHOP, "product_price").expect("exists");
    assert_eq!((missed["consecutiveMisses"].as_i64(), missed["seenCount"].as_i64()), (Some(1), Some(2)), "{missed}");
    observe(&mut client);
    assert_eq!(component(&mut client, SHOP, "product_price").expect("exists")["consecutiveMisses"], 0);
}

/// Starts a world whose detector is this shell script.
fn with_detector(script: &str) -> World {
    use std::os::unix::fs::PermissionsExt;
    let phone = TestPhone::start();
    let dir = tempfile::tempdir().expect("a directory").keep();
    let program = dir.join("detector.sh");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("writes");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).expect("sets the mode");
    World::with(phone, &format!("\n[visual]\ndetector = {program:?}\ndetector_timeout_ms = 2000\n"))
}

#[test]
fn detector_program_gets_a_screenshot_and_prints_detections() {
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
    assert_eq!(play["states"], icon["states"], "both belong to the page that the tree identifies");
    let unlabelled = client.ok("visual.components", json!({"app": "org.example.lab", "unlabelled": true}));
    assert_eq!(names(unlabelled["components"].as_array().expect("rows")), ["unlabeled_530_430"]);
    // An observation of the tree alone counts no misses of components that only the detector can see.
    observe(&mut client);
    observe(&mut client);
    assert_eq!(component(&mut client, "org.example.lab", "Play").expect("exists")["consecutiveMisses"], 0);
}

#[test]
fn failure_of_a_detector_is_reported() {
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
#[ignore = "needs tesseract"]
fn tesseract_reads_text_that_is_not_in_the_tree() {
    let world = World::with(TestPhone::start(), "\n[visual]\ndetector = \"tesseract\"\n");
    let mut client = world.client();
    world.phone.scene("org.example.lab", Some("canvas"));
    let screen = client.ok("observe.screen", json!({"full": true}));
    assert!(!screen.to_string().contains("High scores"), "the tree does not contain it");
    for _ in 0..2 {
        client.ok("visual.learn", json!({"detect": true}));
    }
    for words in ["New game", "Options", "High scores", "Credits"] {
        let found =
            client.ok("visual.components", json!({"app": "org.example.lab", "query": words}))["components"].clone();
        let one = &found[0];
        assert_eq!((one["label"].as_str(), one["source"].as_str()), (Some(words), Some("tesseract")), "{found}");
        let bounds: Vec<i32> =
            one["bounds"].as_str().expect("bounds").split(',').map(|n| n.parse().expect("a number")).collect();
        assert!(bounds[0] >= 100 && bounds[1] > 300 && bounds[2] < 800, "bounds are in device pixels: {bounds:?}");
    }
    let path = client.ok("visual.path", json!({"app": "org.example.lab", "from": "High scores", "to": "Credits"}));
    assert_eq!(path["known"], true, "both are on the same page: {path}");
}
