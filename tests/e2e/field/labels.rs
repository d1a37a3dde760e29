//! Which element a label refers to.

use afd_tests::World;
use serde_json::{Value, json};

use super::{
    ACTIVITY, button, is_inside, navigation_bar, outline, page, show, show_page, status_bar, tap_hits, text, touches,
    window,
};

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
    // An exact match wins; otherwise, labels that differ only in case and whitespace are ambiguous.
    show_page(
        &world,
        &json!([
            button("Log in", at(0)),
            button("LOG IN", at(1)),
            button("Set\u{a0}up", at(2)),
            button("set up", at(3))
        ]),
    );
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
    client.fails(
        "verify.element",
        json!({"text": "Name", "shows": "alice smith", "exactMatch": true}),
        "ASSERTION_FAILED",
    );
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
        &json!([
            status_bar(),
            navigation_bar(),
            window(30, ("INPUT_METHOD", "org.example.keys", 9, false), &keys),
            page(&nodes)
        ]),
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
    // The row is scrolled out of sight, and another row contains the word.
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
        shown.contains("switch \"I agree to the rules\"")
            && shown.contains("field \"E-mail\"")
            && shown.contains("field \"Town\""),
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
