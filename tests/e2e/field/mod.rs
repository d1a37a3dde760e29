//! Screens like those of real phones: which window is in the foreground, which element a label refers to, and what an
//! action did. Each screen has one difficulty.

mod answers;
mod front;
mod labels;
mod places;

use afd_tests::screens::RawScreen;
use afd_tests::{Client, World};
use serde_json::{Value, json};

/// Shows windows of an activity on the phone, topmost first.
fn show(world: &World, activity: &str, windows: &Value) {
    let (app, activity) = activity.split_once('/').expect("an activity");
    let screen = json!({"app": app, "activity": activity, "size": [1080, 2400], "windows": windows});
    let screen: RawScreen = serde_json::from_value(screen).expect("a screen");
    let mut phone = world.phone.lock();
    phone.shown = Some(screen.scene());
    phone.ui_seq += 1;
}

/// Returns a focused window of the app `org.example.app` with these nodes.
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

/// Taps the element that a value selects, and checks that the touch is within these bounds.
fn tap_hits(world: &World, client: &mut Client, value: &str, bounds: [i32; 4]) -> Value {
    let done = client.ok("act.tap", json!({"value": value}));
    let points = touches(world);
    assert!(is_inside(&points, bounds), "{value:?} at {points:?}: {done}");
    done
}
