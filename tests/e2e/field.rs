//! Screens as real phones show them: what is in front, what a label means, and what an action did. Each screen has one difficulty.

use afd_tests::screens::RawScreen;
use afd_tests::{Client, World};
use serde_json::{Value, json};

/// Shows windows of an activity on the phone, the topmost first.
fn show(world: &World, activity: &str, windows: &Value) {
    let (app, activity) = activity.split_once('/').expect("an activity");
    let screen = json!({"app": app, "activity": activity, "size": [1080, 2400], "windows": windows});
    let screen: RawScreen = serde_json::from_value(screen).expect("a screen");
    let mut phone = world.phone.lock();
    phone.shown = Some(screen.scene());
    phone.ui_seq += 1;
}

/// Returns a window of the app `org.example.app` with these nodes, focused.
fn page(nodes: &Value) -> Value {
    window(12, ("APPLICATION", "org.example.app", 0, true), &root(nodes))
}

fn window(id: i64, (kind, app, layer, focused): (&str, &str, i64, bool), root: &Value) -> Value {
    json!({"id": id, "type": kind, "pkg": app, "title": "x", "layer": layer, "focused": focused, "root": root})
}

fn root(nodes: &Value) -> Value {
    json!({"c": "android.widget.FrameLayout", "b": [0, 0, 1080, 2400], "i": "android:id/content", "k": nodes})
}

/// Returns a node with a text.
fn text(text: &str, bounds: [i32; 4]) -> Value {
    json!({"c": "android.widget.TextView", "b": bounds, "t": text})
}

/// Returns a button.
fn button(text: &str, bounds: [i32; 4]) -> Value {
    json!({"c": "android.widget.Button", "b": bounds, "t": text, "f": "clk,foc"})
}

fn status_bar() -> Value {
    let clock = json!({"c": "android.widget.TextView", "b": [20, 5, 140, 55], "t": "10:00", "i": "com.android.systemui:id/clock"});
    let bar = json!({"c": "android.widget.FrameLayout", "b": [0, 0, 1080, 60], "k": [clock]});
    window(3, ("SYSTEM", "com.android.systemui", 14, false), &bar)
}

fn navigation_bar() -> Value {
    let home = json!({"c": "android.widget.ImageView", "b": [450, 2274, 630, 2400], "d": "Home", "f": "clk"});
    let bar = json!({"c": "android.widget.FrameLayout", "b": [0, 2274, 1080, 2400], "k": [home]});
    window(4, ("SYSTEM", "com.android.systemui", 13, false), &bar)
}

const ACTIVITY: &str = "org.example.app/.Main";

/// Shows a page of one app with a status bar above it.
fn show_page(world: &World, nodes: &Value) {
    show(world, ACTIVITY, &json!([status_bar(), page(nodes)]));
}

fn outline(client: &mut Client) -> String {
    client.ok("observe.page", json!({"format": "outline"}))["outline"].as_str().expect("an outline").to_owned()
}

/// Returns the points that were touched since the last call.
fn touches(world: &World) -> Vec<(f64, f64)> {
    let mut phone = world.phone.lock();
    let points = phone.inputs.iter().filter(|i| ["tap", "longPress", "doubleTap"].contains(&i.kind.as_str()));
    let point = |detail: &str| detail.split_once(',').and_then(|(x, y)| Some((x.parse().ok()?, y.parse().ok()?)));
    let found = points.filter_map(|i| point(&i.detail)).collect();
    phone.inputs.clear();
    found
}

fn is_inside(points: &[(f64, f64)], [left, top, right, bottom]: [i32; 4]) -> bool {
    let inside = |(x, y): &(f64, f64)| *x >= left.into() && *x < right.into() && *y >= top.into() && *y < bottom.into();
    points.len() == 1 && points.iter().all(inside)
}

/// Taps what a value means, and checks that the touch lies within these bounds.
fn tap_hits(world: &World, client: &mut Client, value: &str, bounds: [i32; 4]) -> Value {
    let done = client.ok("act.tap", json!({"value": value}));
    let points = touches(world);
    assert!(is_inside(&points, bounds), "{value:?} at {points:?}: {done}");
    done
}

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
    assert!(seen["page"]["key"].as_str().is_some_and(|key| key.starts_with("act=android/")), "it is not the page under it: {seen}");
    assert_eq!(seen["topActivity"], ACTIVITY);
    client.fails("act.tap", json!({"value": "Pay"}), "TARGET_COVERED");
    assert!(touches(&world).is_empty());
    tap_hits(&world, &mut client, "App info", [130, 1320, 950, 1420]);
    // The shade of the notifications, over a page of the same activity.
    let shade = root(&json!([button("Clear all", [700, 2000, 1040, 2100]), text("2 new messages", [40, 400, 1040, 520])]));
    let under = window(12, ("APPLICATION", "org.example.app", 0, false), &root(&under));
    show(&world, ACTIVITY, &json!([status_bar(), window(5, ("SYSTEM", "com.android.systemui", 9, true), &shade), under]));
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
    show(&world, ACTIVITY, &json!([status_bar(), window(9, ("SYSTEM", "com.android.systemui", 8, false), &banner), page(&nodes)]));
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
    let alone =
        window(12, ("APPLICATION", "org.example.app", 0, true), &json!({"c": "android.view.View", "b": [0, 0, 1080, 500], "k": nodes}));
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
    show(&world, "org.example.shop/.Checkout", &json!([status_bar(), window(7, ("APPLICATION", "org.example.launcher", 0, true), &icons)]));
    for _ in 0..2 {
        let seen = client.ok("observe.page", json!({}));
        assert!(seen["reliable"] == false && seen["reason"].as_str().is_some_and(|r| r.contains("different apps")), "{seen}");
    }
    for app in ["org.example.shop", "org.example.launcher"] {
        client.fails("visual.states", json!({"app": app, "all": true}), "NOT_FOUND");
    }
}

#[test]
fn page_under_a_permission_dialog_keeps_its_app_and_activity() {
    let world = World::new();
    let mut client = world.client();
    let nodes =
        json!([text("Scanner", [40, 100, 700, 180]), button("Scan", [40, 300, 1040, 420]), button("History", [40, 500, 1040, 620])]);
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
    assert_eq!((seen["reliable"].as_bool(), seen["app"].as_str()), (Some(true), Some("com.android.permissions")), "{seen}");
    client.ok("observe.page", json!({}));
    assert!(seen["outline"].as_str().is_some_and(|o| o.starts_with("page \"Scanner\"") && o.contains("org.example.app")), "{seen}");
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
        show_page(&world, &json!([surface, {"c": "android.view.View", "b": [0, 0, 1080, 2400], "i": "org.example.app:id/scene"}]));
        let seen = client.ok("observe.page", json!({}));
        assert!(seen["reliable"] == false && seen["reason"].as_str().is_some_and(|r| r.contains("screenshot")), "{seen}");
    }
    // Something to read is an element, however large.
    let story = "A long text that fills the page and is all that there is to read on it.";
    let reader = json!({"c": "android.view.View", "b": [0, 0, 1080, 2400], "d": story});
    show_page(&world, &json!([reader, {"c": "android.view.View", "b": [0, 0, 1080, 2400], "i": "org.example.app:id/scene"}]));
    assert_eq!(client.ok("observe.page", json!({}))["reliable"], true);
}

#[test]
fn tap_on_a_text_goes_to_the_place_of_the_text() {
    let world = World::new();
    let mut client = world.client();
    let rows =
        json!([text("Notes", [120, 1550, 500, 1650]), text("Reader", [120, 1750, 500, 1850]), text("Viewer", [120, 1950, 500, 2050])]);
    let list = json!({"c": "android.widget.ListView", "b": [0, 1500, 1080, 2100], "i": "android:id/list", "f": "lng,foc", "k": rows});
    show_page(&world, &json!([text("Open with", [40, 1300, 600, 1400]), list]));
    let shown = outline(&mut client);
    assert!(["\"Notes\"", "\"Reader\"", "\"Viewer\""].iter().all(|row| shown.lines().any(|line| line.trim() == *row)), "{shown}");
    let reader = tap_hits(&world, &mut client, "Reader", [0, 1700, 1080, 1900]);
    assert_eq!((reader["unmarked"].as_bool(), reader["target"]["title"].as_str()), (Some(true), Some("Reader")));
    tap_hits(&world, &mut client, "Notes", [0, 1500, 1080, 1700]);
    // The same with a container that takes taps for all of its rows.
    let list = json!({"c": "android.view.View", "b": [0, 1500, 1080, 2100], "f": "clk", "k": rows});
    show_page(&world, &json!([text("Open with", [40, 1300, 600, 1400]), list]));
    tap_hits(&world, &mut client, "Viewer", [0, 1900, 1080, 2100]);
    // A card is touched where its title stands.
    let card =
        json!({"c": "android.view.View", "b": [40, 300, 1040, 1300], "f": "clk", "k": [text("Harbour walk", [80, 1180, 600, 1240])]});
    show_page(&world, &json!([text("Trips", [40, 100, 600, 180]), card, button("Map", [40, 1400, 500, 1500])]));
    let done = tap_hits(&world, &mut client, "Harbour walk", [80, 1180, 600, 1240]);
    assert!(done["unmarked"].is_null() && done["target"]["title"] == "Harbour walk", "{done}");
}

#[test]
fn overlay_of_the_whole_window_is_in_front_wherever_it_stands_in_the_tree() {
    let world = World::new();
    let mut client = world.client();
    let overlay = json!({"c": "android.widget.RelativeLayout", "b": [0, 63, 1080, 2274], "i": "org.example.app:id/offer_overlay", "f": "clk,foc", "k": [
        button("Close offer", [960, 63, 1080, 183]), text("Half price this week", [40, 400, 1040, 500]), button("Show me", [76, 1756, 1002, 1874]),
    ]});
    let under = json!({"c": "android.view.ViewGroup", "b": [0, 63, 1080, 2274], "i": "org.example.app:id/main", "k": [
        {"c": "android.widget.ImageView", "b": [933, 63, 1080, 210], "d": "Menu", "f": "clk"}, button("Library", [40, 400, 1040, 520]),
    ]});
    for nodes in [json!([overlay, under]), json!([under, overlay])] {
        show_page(&world, &nodes);
        let shown = outline(&mut client);
        assert!(shown.contains("\"Show me\"") && !shown.contains("\"Library\"") && shown.contains("2 elements behind"), "{shown}");
        tap_hits(&world, &mut client, "Close offer", [960, 63, 1080, 183]);
        client.fails("act.tap", json!({"value": "Library"}), "TARGET_COVERED");
    }
    // A map that takes taps is no overlay: its controls lie beside it in the tree.
    let map = json!({"c": "android.view.View", "b": [0, 0, 1080, 2274], "d": "Map", "f": "clk,lng", "k": [
        {"c": "android.view.View", "b": [500, 900, 560, 960], "d": "Harbour", "f": "clk"},
    ]});
    show_page(&world, &json!([map, button("Search here", [40, 100, 1040, 220]), button("My place", [880, 1900, 1040, 2060])]));
    tap_hits(&world, &mut client, "My place", [880, 1900, 1040, 2060]);
    tap_hits(&world, &mut client, "Harbour", [500, 900, 560, 960]);
}

#[test]
fn element_that_its_own_child_fills_is_not_covered_by_it() {
    let world = World::new();
    let mut client = world.client();
    let card = json!({"c": "android.widget.FrameLayout", "b": [40, 300, 1040, 500], "d": "Bedroom lamp", "f": "clk", "k": [
        {"c": "android.widget.Switch", "b": [40, 300, 1040, 500], "f": "clk"},
    ]});
    show_page(&world, &json!([text("Lamps", [40, 100, 600, 180]), card]));
    tap_hits(&world, &mut client, "Bedroom lamp", [40, 300, 1040, 500]);
}

#[test]
fn what_is_off_the_screen_is_neither_offered_nor_tapped() {
    let world = World::new();
    let mut client = world.client();
    show_page(
        &world,
        &json!([
            button("Save", [40, 300, 1040, 420]),
            button("Drawer item", [-600, 500, -20, 600]),
            button("Next page", [1080, 700, 2160, 800]),
            button("Below", [40, 2450, 1040, 2550]),
            button("Save", [40, 3000, 1040, 3120]),
            button("Half", [900, 900, 1500, 1000]),
        ]),
    );
    let shown = outline(&mut client);
    assert!(shown.contains("\"Half\"") && !["Drawer", "Next", "Below"].iter().any(|w| shown.contains(w)), "{shown}");
    for (label, side) in [("Drawer item", "left"), ("Next page", "right"), ("Below", "below")] {
        let error = client.fails("act.tap", json!({"value": label}), "TARGET_NOT_FOUND");
        assert_eq!(error.details["offScreen"], side, "{error:?}");
    }
    assert!(touches(&world).is_empty());
    tap_hits(&world, &mut client, "Save", [40, 300, 1040, 420]);
    tap_hits(&world, &mut client, "Half", [900, 900, 1080, 1000]);
}

#[test]
fn edge_of_an_element_is_not_enough() {
    let world = World::new();
    let mut client = world.client();
    for bounds in [[40, 2074, 1040, 2194], [40, 2074, 1040, 2083]] {
        let list = json!({"c": "android.widget.ScrollView", "b": [0, 200, 1080, 2083], "f": "scr", "k": [
            text("Account", [40, 250, 1000, 350]),
            {"c": "android.widget.Button", "b": bounds, "t": "Close account", "f": "clk"},
        ]});
        let tabs = json!({"c": "android.view.View", "b": [0, 2083, 1080, 2274], "d": "Profile", "f": "clk"});
        show_page(&world, &json!([list, tabs]));
        let error = client.fails("act.tap", json!({"value": "Close account"}), "TARGET_COVERED");
        assert!(error.message.contains("edge") && error.hint.is_some_and(|h| h.contains("scroll-to")), "{bounds:?}");
        assert!(touches(&world).is_empty());
    }
}

#[test]
fn labels_are_compared_as_people_type_them() {
    let world = World::new();
    let mut client = world.client();
    let labels = [
        ("Don\u{2019}t allow", "Don't allow"),
        ("Text\u{a0}size", "Text size"),
        ("Save \u{2026}", "Save ..."),
        ("Pages 3\u{2013}5", "Pages 3-5"),
        ("\u{201c}Pro\u{201d} plan", "\"Pro\" plan"),
        ("\u{200f}\u{62d}\u{641}\u{638}\u{200f}", r"\u{200f}\u{62d}\u{641}\u{638}\u{200f}"),
        ("Sign  out", "sign out"),
    ];
    let at = |i: usize| {
        let top = 100 + 120 * i32::try_from(i).expect("few");
        [40, top, 1040, top + 100]
    };
    let nodes: Vec<Value> = labels.iter().enumerate().map(|(i, (shown, _))| button(shown, at(i))).collect();
    show_page(&world, &json!(nodes));
    for (i, (_, typed)) in labels.iter().enumerate() {
        tap_hits(&world, &mut client, typed, at(i));
        client.ok("verify.element", json!({"text": typed}));
        client.ok("observe.wait", json!({"until": "text", "text": typed}));
        client.ok("act.scrollTo", json!({"text": typed}));
    }
    // An exact match wins; labels that differ in nothing else are ambiguous.
    show_page(&world, &json!([button("Log in", at(0)), button("LOG IN", at(1)), button("Set\u{a0}up", at(2)), button("set up", at(3))]));
    tap_hits(&world, &mut client, "LOG IN", at(1));
    client.fails("act.tap", json!({"value": "SET UP"}), "TARGET_AMBIGUOUS");
}

#[test]
fn every_verb_takes_what_an_outline_prints() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene("com.android.settings", Some("display"));
    let shown = outline(&mut client);
    let line = shown.lines().find(|l| l.contains("Dark theme")).expect("the row").trim();
    let (alias, label) = (line.split(' ').next().expect("an alias"), line.split('"').nth(1).expect("a label"));
    for value in [alias, label, "Dark theme"] {
        client.ok("verify.element", json!({"text": value}));
        client.ok("act.scrollTo", json!({"text": value}));
    }
    for value in [alias, label] {
        client.ok("observe.wait", json!({"until": "text", "text": value}));
    }
    client.fails("observe.wait", json!({"until": "gone", "text": alias, "timeoutMs": 300}), "TIMEOUT");
    client.ok("verify.element", json!({"text": "Dark theme", "state": "off"}));
    client.ok("act.tap", json!({"value": label}));
    client.ok("verify.element", json!({"text": "Dark theme", "state": "on"}));
    client.fails("verify.element", json!({"text": "Dark theme", "state": "off"}), "ASSERTION_FAILED");
    client.fails("verify.element", json!({"text": "Dark theme", "state": "gone"}), "ASSERTION_FAILED");
    client.ok("verify.element", json!({"text": "Zork", "state": "gone"}));
    show_page(
        &world,
        &json!([
            {"c": "android.widget.ImageButton", "b": [900, 60, 1040, 200], "i": "org.example.app:id/more", "f": "clk"}, text("Rooms", [40, 80, 600, 180]),
            button("Next", [40, 300, 500, 400]),
        ]),
    );
    assert!(outline(&mut client).contains("#more"));
    touches(&world);
    tap_hits(&world, &mut client, "#more", [900, 60, 1040, 200]);
    client.ok("verify.element", json!({"text": "#more"}));
    client.ok("act.scrollTo", json!({"text": "#more"}));
}

#[test]
fn checks_compare_words_and_read_states() {
    let world = World::new();
    let mut client = world.client();
    show_page(
        &world,
        &json!([
            text("No services are on.", [40, 100, 1040, 180]), button("Phone", [40, 200, 1040, 300]),
            {"c": "android.widget.Button", "b": [40, 320, 1040, 420], "t": "Buy", "f": "clk,dis"},
            {"c": "android.widget.EditText", "b": [40, 440, 1040, 560], "t": "Alice Smith", "d": "Name", "f": "clk,edt"},
            {"c": "android.widget.CheckBox", "b": [40, 600, 1040, 700], "d": "Letters", "f": "clk"},
            {"c": "android.view.View", "b": [40, 740, 1040, 900], "f": "clk", "k": [text("Total", [60, 760, 300, 820]), text("12.40", [700, 760, 1000, 820])]},
        ]),
    );
    client.fails("verify.element", json!({"text": "ON"}), "ASSERTION_FAILED");
    client.fails("verify.element", json!({"text": "pho"}), "ASSERTION_FAILED");
    client.ok("verify.element", json!({"text": "services are on"}));
    client.ok("verify.textContains", json!({"text": "pho"}));
    client.ok("verify.element", json!({"text": "Buy", "state": "disabled"}));
    client.ok("verify.element", json!({"text": "Phone", "state": "enabled"}));
    client.fails("verify.element", json!({"text": "Buy", "state": "enabled"}), "ASSERTION_FAILED");
    client.ok("verify.element", json!({"text": "Name", "shows": "alice smith"}));
    client.fails("verify.element", json!({"text": "Name", "shows": "alice smith", "exactMatch": true}), "ASSERTION_FAILED");
    client.fails("verify.element", json!({"text": "Name", "shows": "Bob"}), "ASSERTION_FAILED");
    client.ok("verify.element", json!({"text": "Total", "shows": "12.40"}));
    client.fails("verify.element", json!({"text": "Letters", "state": "on"}), "UNSUPPORTED");
}

#[test]
fn label_means_nothing_outside_of_the_page() {
    let world = World::new();
    let mut client = world.client();
    let nodes = json!([text("Letter", [40, 100, 600, 180]), {"c": "android.widget.EditText", "b": [40, 200, 1040, 320], "d": "Body", "f": "clk,edt"},
        button("Send", [40, 1900, 1040, 2000]), button("Attach", [40, 400, 1040, 500])]);
    let keys = json!({"c": "android.widget.FrameLayout", "b": [0, 1500, 1080, 2274], "k": [
        {"c": "android.widget.TextView", "b": [0, 1600, 108, 1760], "t": "Q", "f": "clk"}, {"c": "android.widget.TextView", "b": [108, 1600, 216, 1760], "t": "Done", "f": "clk"},
    ]});
    show(
        &world,
        ACTIVITY,
        &json!([status_bar(), navigation_bar(), window(30, ("INPUT_METHOD", "org.example.keys", 9, false), &keys), page(&nodes)]),
    );
    for label in ["Home", "Done", "Q", "10:00"] {
        client.fails("act.tap", json!({"value": label}), "TARGET_NOT_FOUND");
    }
    // The keyboard exposes two keys and covers everything below its top edge.
    let error = client.fails("act.tap", json!({"value": "Send"}), "TARGET_COVERED");
    assert!(error.message.contains("keyboard"), "{error:?}");
    assert!(touches(&world).is_empty());
    tap_hits(&world, &mut client, "Attach", [40, 400, 1040, 500]);
    let home = client.alias("Home");
    client.ok("act.tap", json!({"value": home}));
    assert!(is_inside(&touches(&world), [450, 2274, 630, 2400]));
}

#[test]
fn partial_match_yields_to_an_element_that_the_page_is_known_to_have() {
    let world = World::new();
    let mut client = world.client();
    client.ok("observe.page", json!({"format": "outline"}));
    client.ok("act.tap", json!({"value": "Display"}));
    client.ok("observe.page", json!({}));
    client.ok("act.back", json!({}));
    client.ok("observe.page", json!({}));
    // The row is out of sight, and another one has the word.
    world.phone.run(json!({"do": "scroll", "pixels": 1_900}));
    let shown = outline(&mut client);
    assert!(!shown.contains("\"Display") && shown.contains("display"), "{shown}");
    world.phone.clear_inputs();
    let error = client.fails("act.tap", json!({"value": "Display"}), "TARGET_NOT_FOUND");
    assert!(error.hint.as_deref().is_some_and(|h| h.contains("scroll-to \"Display\"")), "{error:?}");
    assert!(error.details["candidates"][0]["label"].as_str().is_some_and(|l| l.contains("display")), "{error:?}");
    assert!(touches(&world).is_empty());
    let found = client.ok("act.scrollTo", json!({"text": "Display"}));
    assert_eq!(found["target"]["label"].as_str(), Some("Display"), "{found}");
    client.ok("act.tap", json!({"value": "Display"}));
    assert_eq!(world.phone.page(), "display");
}

#[test]
fn controls_without_names_are_named_by_what_stands_beside_them() {
    let world = World::new();
    let mut client = world.client();
    let bare = |class: &str, bounds: [i32; 4], flags: &str| json!({"c": format!("android.widget.{class}"), "b": bounds, "f": flags});
    show_page(
        &world,
        &json!([
            bare("ImageView", [0, 100, 140, 240], "clk"),
            text("News", [200, 120, 700, 220]),
            bare("ImageView", [940, 100, 1080, 240], "clk"),
            text("\u{e8b6}", [400, 250, 460, 310]),
            text("I agree to the rules", [40, 420, 800, 500]),
            bare("CheckBox", [900, 400, 1040, 520], "clk"),
            text("E-mail", [40, 700, 800, 760]),
            bare("EditText", [40, 770, 1040, 890], "clk,edt"),
            text("Optional", [40, 895, 300, 935]),
            text("Town", [40, 950, 800, 1010]),
            bare("EditText", [40, 1020, 1040, 1140], "clk,edt"),
            text("Optional", [40, 1145, 300, 1185]),
            text("Alerts", [40, 1300, 500, 1380]),
            bare("CheckBox", [600, 1290, 700, 1390], "clk"),
            bare("CheckBox", [900, 1290, 1000, 1390], "clk"),
        ]),
    );
    let shown = outline(&mut client);
    assert!(shown.contains("top left") && shown.contains("top right") && !shown.contains("e8b6"), "{shown}");
    assert!(
        shown.contains("switch \"I agree to the rules\"") && shown.contains("field \"E-mail\"") && shown.contains("field \"Town\""),
        "{shown}"
    );
    tap_hits(&world, &mut client, "I agree to the rules", [900, 400, 1040, 520]);
    tap_hits(&world, &mut client, "top left", [0, 100, 140, 240]);
    let _ = client.call("act.fill", json!({"value": "E-mail", "text": "x"}));
    assert!(is_inside(&touches(&world), [40, 770, 1040, 890]));
    let _ = client.call("act.fill", json!({"value": "Town", "text": "x"}));
    assert!(is_inside(&touches(&world), [40, 1020, 1040, 1140]));
    client.fails("act.tap", json!({"value": "Alerts"}), "TARGET_AMBIGUOUS");
}

#[test]
fn answers_name_what_was_acted_on() {
    let world = World::new();
    let mut client = world.client();
    let point = client.ok("act.tap", json!({"x": 540, "y": 400}));
    assert_eq!(point["target"]["title"], "Wi-Fi", "{point}");
    client.ok("act.back", json!({}));
    let label = client.ok("act.tap", json!({"value": "wi-fi"}));
    assert_eq!((label["target"]["role"].as_str(), label["target"]["title"].as_str()), (Some("row"), Some("Wi-Fi")));
}

#[test]
fn keyboard_is_told_apart_from_the_page() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene("org.example.bank", None);
    client.ok("observe.page", json!({"format": "outline"}));
    let tap = client.ok("act.tap", json!({"value": "User name", "then": "diff"}));
    let look = &tap["look"];
    assert_eq!((look["changed"].as_bool(), look["keyboard"].as_str()), (Some(false), Some("opened")), "{look}");
    assert_eq!(look["note"], "the keyboard opened");
    let outline = look["observation"]["outline"].as_str().expect("an outline");
    assert!(outline.contains("keyboard open") && !outline.contains("nothing changed"), "{outline}");
    let typed = client.ok("act.text", json!({"text": "alice", "then": "diff"}));
    assert_eq!(typed["look"]["changed"], true, "{typed}");
    assert!(!typed.to_string().contains("nothing changed"));
}

#[test]
fn fill_fails_where_the_field_shows_another_text() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene("org.example.bank", None);
    let field = json!({"by": "resId", "value": "user_field"});
    let fill = |client: &mut Client, text: &str| {
        let mut params = field.clone();
        params["text"] = json!(text);
        client.call("act.fill", params)
    };
    // A phone that drops what is typed.
    world.phone.fault_always(
        "/api/text",
        afd_phone::fault::Kind::Status {
            status: 200,
            body: json!({"ok": true, "data": "Typed text", "error": null}).to_string(),
            content_type: Some("application/json".into()),
        },
    );
    let error = fill(&mut client, "plain").expect_err("the field stays empty");
    assert_eq!(error.code, "TEXT_DIFFERS");
    // A hint that equals the text is not taken for the text.
    let error = fill(&mut client, "User name").expect_err("the field shows its hint");
    assert_eq!(error.code, "TEXT_DIFFERS");
    world.phone.run(json!({"do": "clearFaults"}));
    assert_eq!(fill(&mut client, "User name").expect("fills")["result"], "filled");
    assert_eq!(world.phone.lock().var("user"), "User name");
    // Few requests, however long the text is that was there.
    let long = "x".repeat(280);
    fill(&mut client, &long).expect("fills");
    let before = world.phone.requests("/api/press/key") + world.phone.requests("/api/shell");
    fill(&mut client, "100%sure ").expect("fills");
    assert_eq!(world.phone.lock().var("user"), "100%sure ");
    let pressed = world.phone.requests("/api/press/key") + world.phone.requests("/api/shell") - before;
    assert!(pressed <= 6, "{pressed} requests to delete 280 characters");
    let log = client.ok("memory.log", json!({"limit": 100})).to_string();
    assert!(!log.contains("100%sure") && !log.contains("plain\""), "{log}");
    client.fails("act.text", json!({"text": "gr\u{fc}ezi"}), "UNSUPPORTED");
}

#[test]
fn hints_are_worth_their_tokens() {
    let world = World::new();
    let mut client = world.client();
    for _ in 0..3 {
        client.ok("observe.page", json!({}));
        client.ok("act.tap", json!({"value": "Display"}));
        client.ok("observe.page", json!({}));
        client.ok("act.back", json!({}));
        client.ok("observe.page", json!({}));
    }
    client.ok("act.home", json!({}));
    client.ok("observe.page", json!({}));
    client.ok("act.launch", json!({"package": "com.android.settings"}));
    let seen = client.ok("observe.page", json!({"format": "outline"}));
    let shown = seen["outline"].as_str().expect("an outline");
    assert!(shown.lines().any(|l| l.contains("\"Display") && l.contains("-> ")), "{shown}");
    assert!(!shown.contains("known:") && !shown.contains("home"), "{shown}");
    let without = client.ok("observe.page", json!({"format": "outline", "hints": false}))["outline"].as_str().expect("an outline").len();
    assert!((shown.len() - without) * 10 <= without.max(480), "{shown}");
    let all = client.ok("observe.page", json!({"format": "outline", "hints": "all"}));
    assert!(all["hints"].as_array().map_or(0, Vec::len) > seen["hints"].as_array().map_or(0, Vec::len), "{all}");
    client.fails("observe.page", json!({"hints": "some"}), "INVALID_PARAMS");
}
