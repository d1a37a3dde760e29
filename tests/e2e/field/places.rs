//! Position of taps.

use afd_tests::World;
use serde_json::json;

use super::{button, outline, show_page, tap_hits, text, touches};

#[test]
fn tap_on_a_text_goes_to_the_place_of_the_text() {
    let world = World::new();
    let mut client = world.client();
    let rows = json!([
        text("Notes", [120, 1550, 500, 1650]),
        text("Reader", [120, 1750, 500, 1850]),
        text("Viewer", [120, 1950, 500, 2050])
    ]);
    let list = json!({"c": "android.widget.ListView", "b": [0, 1500, 1080, 2100], "i": "android:id/list", "f": "lng,foc", "k": rows});
    show_page(&world, &json!([text("Open with", [40, 1300, 600, 1400]), list]));
    let shown = outline(&mut client);
    assert!(
        ["\"Notes\"", "\"Reader\"", "\"Viewer\""].iter().all(|row| shown.lines().any(|line| line.trim() == *row)),
        "{shown}"
    );
    let reader = tap_hits(&world, &mut client, "Reader", [0, 1700, 1080, 1900]);
    assert_eq!((reader["unmarked"].as_bool(), reader["target"]["title"].as_str()), (Some(true), Some("Reader")));
    tap_hits(&world, &mut client, "Notes", [0, 1500, 1080, 1700]);
    // The same with a container that handles the taps for all of its rows.
    let list = json!({"c": "android.view.View", "b": [0, 1500, 1080, 2100], "f": "clk", "k": rows});
    show_page(&world, &json!([text("Open with", [40, 1300, 600, 1400]), list]));
    tap_hits(&world, &mut client, "Viewer", [0, 1900, 1080, 2100]);
    // A card is tapped at its title.
    let card = json!({"c": "android.view.View", "b": [40, 300, 1040, 1300], "f": "clk", "k": [text("Harbour walk", [80, 1180, 600, 1240])]});
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
        assert!(
            shown.contains("\"Show me\"") && !shown.contains("\"Library\"") && shown.contains("2 elements behind"),
            "{shown}"
        );
        tap_hits(&world, &mut client, "Close offer", [960, 63, 1080, 183]);
        client.fails("act.tap", json!({"value": "Library"}), "TARGET_COVERED");
    }
    // A clickable map is not an overlay: its controls are its siblings in the tree.
    let map = json!({"c": "android.view.View", "b": [0, 0, 1080, 2274], "d": "Map", "f": "clk,lng", "k": [
        {"c": "android.view.View", "b": [500, 900, 560, 960], "d": "Harbour", "f": "clk"},
    ]});
    show_page(
        &world,
        &json!([map, button("Search here", [40, 100, 1040, 220]), button("My place", [880, 1900, 1040, 2060])]),
    );
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
