//! Actions on targets by text, description, id and point; at-most-once execution; refused actions.

use afd_phone::fault::Kind;
use afd_tests::{World, http, wait};
use serde_json::json;

#[test]
fn text_tap_hits_the_nearest_clickable_ancestor() {
    let world = World::new();
    let mut client = world.client();
    let done = client.ok("act.tap", json!({"by": "text", "value": "bluetooth"}));
    assert_eq!(
        (done["target"]["role"].as_str(), done["target"]["label"].as_str()),
        (Some("row"), Some("Bluetooth, Pair new device"))
    );
    assert_eq!(world.phone.page(), "bluetooth");
    client.ok("act.tap", json!({"by": "desc", "value": "Navigate up"}));
    assert_eq!(world.phone.page(), "home");
}

#[test]
fn ambiguous_target_is_refused_with_its_candidates() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene("com.android.settings", Some("wifi"));
    let error = client.fails("act.tap", json!({"by": "text", "value": "Cafe"}), "TARGET_AMBIGUOUS");
    let labels: Vec<_> = error.details["candidates"]
        .as_array()
        .expect("candidates")
        .iter()
        .map(|c| c["label"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(labels, ["Cafe, Saved", "Cafe, Open"]);
    client.fails("act.tap", json!({"by": "text", "value": "Pluto"}), "TARGET_NOT_FOUND");
    world.phone.scene("com.android.settings", Some("about"));
    let error = client.fails("act.tap", json!({"by": "resId", "value": "build"}), "TARGET_NOT_FOUND");
    assert_eq!((error.details["matchedCount"].as_u64(), error.details["candidateCount"].as_u64()), (Some(1), Some(0)));
    assert!(world.phone.hits("tap").is_empty());
    // A text that is not clickable is tapped at its own position.
    let done = client.ok("act.tap", json!({"by": "text", "value": "Build 7"}));
    assert_eq!((done["unmarked"].as_bool(), done["target"]["title"].as_str()), (Some(true), Some("Build 7")), "{done}");
}

#[test]
fn covered_target_is_not_tapped() {
    let world = World::new();
    let mut client = world.client();
    world.phone.run(json!({"do": "popup", "dialog": "update"}));
    let error = client.fails("act.tap", json!({"by": "text", "value": "Notifications"}), "TARGET_COVERED");
    assert_eq!(error.details["coveredBy"]["label"], "A restart is needed.");
    assert!(world.phone.hits("tap").is_empty());
    let refs = client.ok("observe.refs", json!({"full": true}));
    let windows: Vec<_> = refs["rows"].as_array().expect("rows").iter().map(|r| r["window"].as_str()).collect();
    assert_eq!(windows[0], None, "the focused window comes first");
    assert!(!windows.contains(&Some("APPLICATION com.android.settings")), "what lies behind the dialog is not offered");
    client.ok("act.tap", json!({"by": "text", "value": "Later"}));
    client.ok("act.tap", json!({"by": "text", "value": "Notifications"}));
}

/// Returns the body of the phone's response to a screenshot request.
fn screenshot_body(world: &World) -> String {
    let auth = format!("Bearer {}", afd_tests::phone::TOKEN);
    http::request(&world.phone.url(), "GET", "/api/screenshot?max_dim=2400", &[("authorization", &auth)], "").body
}

/// Creates a world whose phone shows only these nodes. Each row has tab-separated columns: id, class, text,
/// description, resource id, bounds, flags.
fn world_showing(rows: &[&str]) -> World {
    let world = World::new();
    let ids: Vec<&str> = rows.iter().filter_map(|row| row.split('\t').next()).collect();
    let screen = format!(
        "[mode: SYSTEM_API]\n[topActivity: org.example.odd/.Main]\nscreen:1080x2400 density:420 orientation:portrait\n\
         --- window:1 type:APPLICATION pkg:org.example.odd title:Odd layer:1 focused:true ---\n\
         node_id\tclass\ttext\tdesc\tres_id\tbounds\tflags\n{}\nhierarchy:\n{}\n{}",
        rows.join("\n"),
        ids[0],
        ids[1..].iter().map(|id| format!("  {id}\n")).collect::<String>()
    );
    let json_response =
        |body: String| Kind::Status { status: 200, body, content_type: Some("application/json".into()) };
    // The first fault whose path is a prefix applies, so this one must precede that of `/api/screen`.
    world.phone.fault_always("/api/screenshot", json_response(screenshot_body(&world)));
    let body = json!({"ok": true, "data": screen, "error": null}).to_string();
    world
        .phone
        .fault_always("/api/screen", Kind::Status { status: 200, body, content_type: Some("application/json".into()) });
    world
}

/// Regression: this tap was refused as a stale alias.
#[test]
fn container_tap_avoids_a_clickable_child_at_its_centre() {
    let world = world_showing(&[
        "node_1\tFrameLayout\t-\t-\t-\t0,0,1080,2400\ton,ena",
        "node_2\tLinearLayout\t-\tThe card\torg.example.odd:id/card\t100,400,900,1000\ton,clk,ena",
        "node_3\tButton\tBuy\t-\torg.example.odd:id/buy\t100,600,900,800\ton,clk,ena",
    ]);
    let mut client = world.client();
    let done = client.ok("act.tap", json!({"by": "resId", "value": "card"}));
    let (x, y) = (done["point"]["x"].as_f64().expect("a point"), done["point"]["y"].as_f64().expect("a point"));
    let inside = |left: f64, top: f64, right: f64, bottom: f64| x > left && x < right && y > top && y < bottom;
    assert!(inside(100.0, 400.0, 900.0, 1000.0) && !inside(100.0, 600.0, 900.0, 800.0), "{x},{y}");
}

/// Regression: sums of such coordinates overflowed.
#[test]
fn extreme_bounds_do_not_cause_panics() {
    let (min, max) = (i32::MIN, i32::MAX);
    let rows = [
        format!("node_1\tFrameLayout\t-\t-\t-\t{min},{min},{max},{max}\ton,ena"),
        format!("node_2\tButton\tWide\t-\torg.example.odd:id/wide\t{min},{min},{max},{max}\ton,clk,ena"),
        format!("node_3\tButton\tInside out\t-\torg.example.odd:id/out\t{max},{max},{min},{min}\ton,clk,ena"),
        "node_4\tButton\tPlain\t-\torg.example.odd:id/plain\t0,0,200,200\ton,clk,ena".to_owned(),
    ];
    let world = world_showing(&rows.each_ref().map(String::as_str));
    let mut client = world.client();
    for _ in 0..2 {
        client.ok("observe.page", json!({}));
    }
    client.ok("observe.refs", json!({"full": true}));
    client.ok("observe.screenshot", json!({"annotate": true, "maxDim": 2400}));
    client.ok("visual.learn", json!({"pictures": true}));
    let _ = client.call("visual.match", json!({}));
    client.ok("visual.export", json!({"dir": world.dir().join("out")}));
    client.ok("act.tap", json!({"by": "text", "value": "Plain"}));
    let _ = client.call("act.tap", json!({"by": "text", "value": "Wide"}));
    let _ = client.call("act.tap", json!({"by": "text", "value": "Inside out"}));
    client.ok("verify.textContains", json!({"text": "Plain"}));
    let status = client.ok("daemon.status", json!({}));
    let panics: i64 = status["tasks"].as_array().expect("tasks").iter().filter_map(|t| t["restarts"].as_i64()).sum();
    assert_eq!(panics, 0, "{status}");
}

#[test]
fn point_outside_the_screen_is_refused() {
    let world = World::new();
    let mut client = world.client();
    let error = client.fails("act.tap", json!({"x": 5000, "y": 100}), "INVALID_PARAMS");
    assert_eq!(error.details["path"], "x");
    assert!(
        client.ok("memory.experience", json!({"app": "com.android.settings"}))["transitions"]
            .as_array()
            .is_some_and(Vec::is_empty)
    );
}

#[test]
fn partial_resource_id_matches_unless_exact_match_is_requested() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene("org.example.shop", Some("cart"));
    client.fails("act.tap", json!({"by": "resId", "value": "checkout", "exactMatch": true}), "TARGET_NOT_FOUND");
    client.ok("act.tap", json!({"by": "resid", "value": "CHECKOUT"}));
    assert_eq!(world.phone.hits("tap"), ["Check out"]);
}

#[test]
fn every_verb_reaches_the_phone() {
    let world = World::new();
    let mut client = world.client();
    client.ok("act.tap", json!({"x": 540, "y": 400}));
    client.ok("act.back", json!({}));
    client.ok("act.longPress", json!({"x": 540, "y": 400, "durationMs": 10}));
    client.ok("act.doubleTap", json!({"by": "text", "value": "Storage"}));
    client.ok("act.back", json!({}));
    client.ok("act.back", json!({}));
    client.ok("act.swipe", json!({"x1": 540, "y1": 1500, "x2": 540, "y2": 900, "durationMs": 10}));
    client.ok("act.scroll", json!({"direction": "down", "amount": "small"}));
    client.ok("act.key", json!({"keyCode": 66}));
    client.ok("act.launch", json!({"package": "org.example.bank"}));
    client.ok("act.tap", json!({"by": "resId", "value": "user_field"}));
    client.ok("act.text", json!({"text": "alice"}));
    client.ok("act.stop", json!({"package": "org.example.bank"}));
    client.ok("act.home", json!({}));
    let kinds: Vec<String> = world.phone.lock().inputs.iter().map(|i| i.kind.clone()).collect();
    assert_eq!(
        kinds,
        [
            "tap",
            "back",
            "longPress",
            "doubleTap",
            "back",
            "back",
            "swipe",
            "scroll",
            "key",
            "launch",
            "tap",
            "text",
            "stop",
            "home"
        ]
    );
    assert_eq!(world.phone.lock().inputs[6].detail, "540,1500 to 540,900");
}

#[test]
fn device_error_includes_the_message_of_the_phone() {
    let world = World::new();
    let mut client = world.client();
    world.phone.run(json!({"do": "capability", "shizuku": false}));
    let error = client.fails("act.key", json!({"keyCode": 66}), "DEVICE_ERROR");
    assert_eq!(
        (error.details["status"].as_u64(), error.details["raw"].as_str()),
        (Some(500), Some("Key injection requires Shizuku or Accessibility"))
    );
    client.fails("act.launch", json!({"package": "org.example.bank"}), "DEVICE_ERROR");
    client.fails("act.launch", json!({"package": "x;reboot"}), "INVALID_PARAMS");
    client.ok("act.tap", json!({"by": "text", "value": "Storage"}));
    assert_eq!(world.phone.page(), "storage");
}

#[test]
fn repeated_request_key_acts_once() {
    let world = World::new();
    let mut client = world.client();
    let tap = json!({"by": "text", "value": "Storage", "requestKey": "k1"});
    let first = client.ok("act.tap", tap.clone());
    let again = client.ok("act.tap", tap);
    assert_eq!((again["replayed"].as_bool(), &again["eventId"]), (Some(true), &first["eventId"]));
    assert_eq!(world.phone.hits("tap").len(), 1);
    client.fails("act.tap", json!({"by": "text", "value": "Wi-Fi", "requestKey": "k1"}), "CONFLICT");
    // A failure is a recorded outcome, too.
    let missing = json!({"by": "text", "value": "Pluto", "requestKey": "k2"});
    client.fails("act.tap", missing.clone(), "TARGET_NOT_FOUND");
    assert_eq!(client.fails("act.tap", missing, "TARGET_NOT_FOUND").details["replayed"], true);
    let log = client.ok("memory.log", json!({}));
    assert_eq!(log["events"].as_array().map(Vec::len), Some(2));
}

#[test]
fn concurrent_calls_with_the_same_request_key_act_once() {
    let world = World::new();
    world.phone.fault("/api/press/home", afd_phone::fault::Kind::Hold);
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| world.client().ok("act.home", json!({"requestKey": "same"}))["eventId"].clone()))
            .collect();
        wait::until("all calls to be in flight", || {
            (world.client().ok("daemon.status", json!({}))["callsInFlight"].as_u64() > Some(4)).then_some(())
        });
        wait::until("the action to reach the phone", || (!world.phone.hits("home").is_empty()).then_some(()));
        world.phone.release();
        let events: Vec<_> = calls.into_iter().map(|c| c.join().expect("does not panic")).collect();
        assert!(events.iter().all(|e| *e == events[0]));
    });
    assert_eq!(world.phone.hits("home").len(), 1);
}

#[test]
fn event_names_the_node_at_the_tapped_point() {
    let world = World::new();
    let mut client = world.client();
    client.ok("act.tap", json!({"x": 200, "y": 350}));
    let event = client.ok("memory.log", json!({"limit": 1}))["events"][0].clone();
    assert_eq!(event["evidence"]["under"]["what"]["label"], "Wi-Fi");
    assert_eq!(event["action"]["target"]["label"], "Wi-Fi, Connected");
    assert_eq!(event["page"]["key"].as_str().map(|k| k.starts_with("act=com.android.settings/.Settings|")), Some(true));
}

#[test]
fn target_must_be_given_in_exactly_one_way() {
    let world = World::new();
    let mut client = world.client();
    for (params, path) in [
        (json!({}), "value"),
        (json!({"x": 1}), "y"),
        (json!({"by": "text"}), "value"),
        (json!({"value": "a", "x": 1, "y": 1}), "x"),
        (json!({"by": "text", "value": "a", "x": 1, "y": 1}), "x"),
        (json!({"value": "@nine"}), "value"),
        (json!({"by": "text", "value": " "}), "value"),
        (json!({"x": -1, "y": 1}), "x"),
        (json!({"x": 1, "y": 1, "durationMs": 5}), "durationMs"),
    ] {
        let error = client.fails("act.tap", params.clone(), "INVALID_PARAMS");
        assert_eq!(error.details["path"], path, "{params}");
    }
}

#[test]
fn selector_means_the_closest_label_and_never_a_detail() {
    let world = World::new();
    let mut client = world.client();
    let taps = |client: &mut afd_tests::Client, value: &str| {
        let done = client.ok("act.tap", json!({"value": value}));
        world.phone.scene("com.android.settings", None);
        done["target"]["title"].as_str().unwrap_or_default().to_owned()
    };
    for (value, title) in [
        ("Display", "Display"),
        ("display", "Display"),
        ("Wi-Fi, Connected", "Wi-Fi"),
        ("wi-fi", "Wi-Fi"),
        ("Connected", "Connected devices"),
        ("devices", "Connected devices"),
        ("Blue", "Bluetooth"),
    ] {
        assert_eq!(taps(&mut client, value), title, "{value:?}");
    }
    for value in ["luetoot", "Pair new device", "Volume", "brightness"] {
        let error = client.fails("act.tap", json!({"value": value}), "TARGET_NOT_FOUND");
        assert!(error.hint.is_some_and(|h| h.contains("--partial")), "{value:?}");
        assert!(error.details["candidates"][0]["selector"]["value"].is_string(), "{value:?}: {}", error.details);
        client.ok("act.tap", json!({"value": value, "partial": true}));
        world.phone.scene("com.android.settings", None);
    }
    world.phone.scene("org.example.shop", None);
    assert_eq!(taps(&mut client, "Me"), "Me", "which is also a part of Home");
    world.phone.scene("org.example.shop", None);
    client.ok("act.tap", json!({"value": "Home"}));
    assert_eq!(world.phone.hits("tap").pop().as_deref(), Some("Home"), "that of the app, not of the system");
    assert_eq!(world.phone.lock().foreground().0, "org.example.shop");
}

#[test]
fn candidates_of_an_ambiguous_target_can_be_used_as_they_are() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene("com.android.settings", Some("wifi"));
    let error = client.fails("act.tap", json!({"value": "Cafe"}), "TARGET_AMBIGUOUS");
    let selector = error.details["candidates"][1]["selector"].clone();
    assert_eq!(selector, json!({"by": "label", "value": "Cafe, Open"}));
    client.ok("act.tap", selector);
    assert_eq!(world.phone.hits("tap").len(), 1);
    world.phone.scene("com.android.settings", Some("wifi"));
    let alias = client.alias("Cafe, Saved");
    client.ok("act.tap", json!({"value": alias}));
}

#[test]
fn field_is_filled_in_the_place_of_what_was_there() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene("org.example.bank", None);
    let user = |world: &World| world.phone.lock().var("user");
    for name in ["alice", "bob"] {
        let done = client.ok("act.fill", json!({"value": "User name", "text": name}));
        assert_eq!((done["result"].as_str(), user(&world).as_str()), (Some("filled"), name), "{done}");
        // The field's label has changed, because the field contains text now. So it is selected by its id.
        client.ok("act.fill", json!({"by": "resId", "value": "user_field", "text": "carol"}));
        assert_eq!(user(&world), "carol");
        client.ok("act.fill", json!({"by": "resId", "value": "user_field", "text": ""}));
    }
    let secret = client.ok("act.fill", json!({"by": "resId", "value": "password_field", "text": "hunter2"}));
    assert!(secret["result"].as_str().is_some_and(|r| r.starts_with("typed; the field hides")), "{secret}");
    assert_eq!(world.phone.lock().var("password"), "hunter2");
    // The service types ASCII only.
    world.phone.clear_inputs();
    let refused =
        client.fails("act.fill", json!({"by": "resId", "value": "user_field", "text": "Zo\u{eb}"}), "UNSUPPORTED");
    assert!(refused.details["positions"] == json!([3]) && world.phone.lock().inputs.is_empty(), "{refused:?}");
    client.fails("act.fill", json!({"value": "Log in", "text": "x"}), "TARGET_NOT_FOUND");
    let log = client.ok("memory.log", json!({"limit": 100})).to_string();
    assert!(["alice", "carol", "hunter2"].iter().all(|text| !log.contains(text)), "{log}");
}
