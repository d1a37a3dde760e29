//! Which window is in the foreground.

use afd_tests::{Client, World};
use serde_json::json;

use super::{ACTIVITY, button, outline, page, root, show, show_page, status_bar, tap_hits, text, touches, window};

#[test]
fn focused_system_window_is_in_front() {
    let world = World::new();
    let mut client = world.client();
    let dialog = json!({"c": "android.widget.FrameLayout", "b": [90, 1000, 990, 1500], "i": "android:id/parentPanel", "k": [
        {"c": "android.widget.TextView", "b": [130, 1040, 950, 1120], "t": "Mail keeps stopping", "i": "android:id/alertTitle"},
        button("Close app", [130, 1200, 950, 1300]), button("App info", [130, 1320, 950, 1420]),
    ]});
    let under = json!([text("Basket", [40, 100, 700, 180]), button("Pay", [40, 300, 1040, 420])]);
    let behind = window(12, ("APPLICATION", "org.example.app", 0, false), &root(&under));
    show_page(&world, &under);
    for _ in 0..2 {
        outline(&mut client);
    }
    let crash = json!([status_bar(), window(40, ("SYSTEM", "android", 5, true), &dialog), behind]);
    show(&world, ACTIVITY, &crash);
    let shown = outline(&mut client);
    assert!(shown.contains("dialog \"Mail keeps stopping\"") && shown.contains("1 elements behind it"), "{shown}");
    assert!(shown.contains("\"Close app\"") && !shown.contains("\"Pay\"") && !shown.contains("10:00"), "{shown}");
    let seen = client.ok("observe.page", json!({}));
    assert!(
        seen["page"]["key"].as_str().is_some_and(|key| key.starts_with("act=android/")),
        "it is not the page under it: {seen}"
    );
    assert_eq!(seen["topActivity"], ACTIVITY);
    client.fails("act.tap", json!({"value": "Pay"}), "TARGET_COVERED");
    assert!(touches(&world).is_empty());
    tap_hits(&world, &mut client, "App info", [130, 1320, 950, 1420]);
    // The notification shade over a page of the same activity.
    let shade =
        root(&json!([button("Clear all", [700, 2000, 1040, 2100]), text("2 new messages", [40, 400, 1040, 520])]));
    let under = window(12, ("APPLICATION", "org.example.app", 0, false), &root(&under));
    show(
        &world,
        ACTIVITY,
        &json!([status_bar(), window(5, ("SYSTEM", "com.android.systemui", 9, true), &shade), under]),
    );
    assert!(outline(&mut client).contains("\"Clear all\""));
    client.fails("act.tap", json!({"value": "Pay"}), "TARGET_COVERED");
    let known = client.ok("memory.experience", json!({"app": "org.example.app"})).to_string();
    assert!(!known.contains("\"Pay\""), "nothing is learned of what was covered: {known}");
}

#[test]
fn banner_of_the_system_is_over_the_page_and_not_in_front() {
    let world = World::new();
    let mut client = world.client();
    let nodes = json!([button("Top", [40, 100, 1040, 300]), button("Low", [40, 900, 1040, 1100])]);
    let banner = json!({"c": "android.widget.FrameLayout", "b": [30, 80, 1050, 380], "k": [
        text("Anna: see you at six", [60, 120, 1000, 200]), button("Reply", [60, 250, 300, 350]),
    ]});
    show_page(&world, &nodes);
    let alone = client.ok("observe.page", json!({}))["page"]["key"].clone();
    show(
        &world,
        ACTIVITY,
        &json!([status_bar(), window(9, ("SYSTEM", "com.android.systemui", 8, false), &banner), page(&nodes)]),
    );
    let seen = client.ok("observe.page", json!({}));
    assert_eq!((&seen["page"]["key"], seen["reliable"].as_bool()), (&alone, Some(true)));
    let shown = outline(&mut client);
    assert!(shown.contains("\"Reply\"") && shown.contains("\"Low\""), "{shown}");
    client.fails("act.tap", json!({"value": "Top"}), "TARGET_COVERED");
    tap_hits(&world, &mut client, "Reply", [60, 250, 300, 350]);
}

#[test]
fn sparse_page_and_half_of_a_split_screen_are_no_dialogs() {
    let world = World::new();
    let mut client = world.client();
    let nodes = json!([
        {"c": "androidx.appcompat.widget.Toolbar", "b": [0, 0, 1080, 200], "i": "org.example.app:id/toolbar", "k": [text("Inbox", [40, 60, 400, 140])]},
        {"c": "android.view.View", "b": [0, 200, 1080, 400], "i": "org.example.app:id/row", "f": "clk", "d": "One row"},
        {"c": "android.view.View", "b": [0, 400, 1080, 500], "i": "org.example.app:id/footer", "d": "End"},
    ]);
    let alone = window(
        12,
        ("APPLICATION", "org.example.app", 0, true),
        &json!({"c": "android.view.View", "b": [0, 0, 1080, 500], "k": nodes}),
    );
    show(&world, ACTIVITY, &json!([status_bar(), alone.clone()]));
    let whole = client.ok("observe.page", json!({}));
    assert!(whole["dialog"].is_null(), "{whole}");
    let other = json!({"c": "android.view.View", "b": [0, 1250, 1080, 2400], "i": "org.other:id/list", "k": [button("Send", [40, 1400, 500, 1500])]});
    let divider = json!({"c": "android.view.View", "b": [0, 1190, 1080, 1210], "d": "Divider"});
    show(
        &world,
        ACTIVITY,
        &json!([
            status_bar(),
            window(8, ("SPLIT_SCREEN_DIVIDER", "android", 6, false), &divider),
            window(12, ("APPLICATION", "org.example.app", 3, true), &alone["root"]),
            window(20, ("APPLICATION", "org.other", 1, false), &other)
        ]),
    );
    let half = client.ok("observe.page", json!({}));
    assert!(half["dialog"].is_null() && half["reliable"] == true, "{half}");
    client.ok("observe.page", json!({}));
    let states = client.ok("visual.states", json!({"app": "org.example.app", "all": true}));
    assert_eq!(states["states"].as_array().map(Vec::len), Some(1), "the page alone and beside another one: {states}");
}

#[test]
fn tree_of_another_app_is_unreliable_and_teaches_nothing() {
    let world = World::new();
    let mut client = world.client();
    let icons = root(&json!([button("Camera", [40, 300, 300, 500]), button("Clock", [340, 300, 600, 500])]));
    show(
        &world,
        "org.example.shop/.Checkout",
        &json!([status_bar(), window(7, ("APPLICATION", "org.example.launcher", 0, true), &icons)]),
    );
    for _ in 0..2 {
        let seen = client.ok("observe.page", json!({}));
        assert!(
            seen["reliable"] == false && seen["reason"].as_str().is_some_and(|r| r.contains("different apps")),
            "{seen}"
        );
    }
    for app in ["org.example.shop", "org.example.launcher"] {
        client.fails("visual.states", json!({"app": app, "all": true}), "NOT_FOUND");
    }
}

#[test]
fn page_under_a_permission_dialog_keeps_its_app_and_activity() {
    let world = World::new();
    let mut client = world.client();
    let nodes = json!([
        text("Scanner", [40, 100, 700, 180]),
        button("Scan", [40, 300, 1040, 420]),
        button("History", [40, 500, 1040, 620])
    ]);
    show_page(&world, &nodes);
    for _ in 0..2 {
        client.ok("observe.page", json!({}));
    }
    let dialog = json!({"c": "android.widget.FrameLayout", "b": [90, 1000, 990, 1500], "k": [
        text("Allow Scanner to take pictures?", [130, 1040, 950, 1120]), button("Don\u{2019}t allow", [130, 1200, 950, 1300]),
    ]});
    let behind = window(12, ("APPLICATION", "org.example.app", 0, false), &root(&nodes));
    show(
        &world,
        "com.android.permissions/.Grant",
        &json!([status_bar(), window(30, ("APPLICATION", "com.android.permissions", 2, true), &dialog), behind]),
    );
    let seen = client.ok("observe.page", json!({"format": "outline"}));
    assert_eq!(
        (seen["reliable"].as_bool(), seen["app"].as_str()),
        (Some(true), Some("com.android.permissions")),
        "{seen}"
    );
    client.ok("observe.page", json!({}));
    assert!(
        seen["outline"].as_str().is_some_and(|o| o.starts_with("page \"Scanner\"") && o.contains("org.example.app")),
        "{seen}"
    );
    let of = |client: &mut Client, app: &str| {
        client.ok("visual.states", json!({"app": app, "all": true}))["states"].as_array().map_or(0, Vec::len)
    };
    assert_eq!((of(&mut client, "org.example.app"), of(&mut client, "com.android.permissions")), (1, 1));
}

#[test]
fn page_without_elements_says_so() {
    let world = World::new();
    let mut client = world.client();
    for surface in [
        json!({"c": "android.view.SurfaceView", "b": [0, 0, 1080, 2400], "d": "Game view", "f": "foc"}),
        json!({"c": "android.view.TextureView", "b": [0, 0, 1080, 2400], "f": "clk"}),
        json!({"c": "android.webkit.WebView", "b": [0, 0, 1080, 2400], "t": "Loading", "f": "foc,scr"}),
    ] {
        show_page(
            &world,
            &json!([surface, {"c": "android.view.View", "b": [0, 0, 1080, 2400], "i": "org.example.app:id/scene"}]),
        );
        let seen = client.ok("observe.page", json!({}));
        assert!(
            seen["reliable"] == false && seen["reason"].as_str().is_some_and(|r| r.contains("screenshot")),
            "{seen}"
        );
    }
    // A node with text is an element, however large it is.
    let story = "A long text that fills the page and is all that there is to read on it.";
    let reader = json!({"c": "android.view.View", "b": [0, 0, 1080, 2400], "d": story});
    show_page(
        &world,
        &json!([reader, {"c": "android.view.View", "b": [0, 0, 1080, 2400], "i": "org.example.app:id/scene"}]),
    );
    assert_eq!(client.ok("observe.page", json!({}))["reliable"], true);
}
