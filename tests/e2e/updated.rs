//! Walks after an update of the app: pages and elements that were renamed, translated or moved, and what exploring touches.

use afd_tests::{Client, TestPhone, World};
use serde_json::{Value, json};

const PACKAGE: &str = "org.example.depot";

/// An app; `name` gives the names of its pages and elements, and `extra` is added to the first page.
fn depot(name: impl Fn(&str) -> String, extra: &Value) -> Value {
    let row = |title: &str, page: &str| json!({"title": name(title), "do": {"goto": page}});
    let list = |rows: Vec<Value>| json!([{"type": "list", "id": "list", "rows": rows}]);
    let mut home = vec![row("Rooms", "rooms"), row("Preferences", "prefs")];
    home.extend(extra.as_array().cloned().unwrap_or_default());
    json!({"package": PACKAGE, "label": "Depot", "start": "home", "vars": {"saving": "off", "sync": "off", "seen": "all"},
    "pages": {
      "home": {"activity": ".Home", "title": "Depot", "body": list(home)},
      "rooms": {"activity": ".Rooms", "title": name("Rooms"), "body": list(vec![row("Cellar", "cellar")])},
      "cellar": {"activity": ".Room", "title": name("Cellar"), "body": [{"type": "text", "id": "cold", "text": name("Cold")}]},
      "prefs": {"activity": ".Prefs", "title": name("Preferences"), "body": list(vec![
          row("Messages", "messages"), row("Storage", "storage"), row("Visibility", "visible")])},
      "messages": {"activity": ".Sub", "title": name("Messages"), "body": list(vec![json!({"title": name("Loud"), "switch": "sync"})])},
      "storage": {"activity": ".Sub", "title": name("Storage"), "body": list(vec![
          json!({"title": name("Sync"), "switch": "sync"}), json!({"title": name("Save data"), "switch": "saving"}),
          json!({"title": name("About storage"), "do": {"goto": "about"}})])},
      "about": {"activity": ".About", "title": name("About storage"), "body": [{"type": "text", "id": "free", "text": "9 GB"}]},
      "visible": {"activity": ".Choice", "title": name("Visibility"), "body": list(
          ["All", "Friends", "None"].map(|who| json!({"title": name(who), "do": {"set": {"seen": who}}})).to_vec())}
    }})
}

fn as_it_was(name: &str) -> String {
    name.to_owned()
}

/// Names after an update that renamed things.
fn renamed(name: &str) -> String {
    match name {
        "Preferences" => "Options",
        "Storage" => "Space",
        "Save data" => "Low-data mode",
        "About storage" => "Details",
        other => other,
    }
    .to_owned()
}

/// Names in another language.
fn translated(name: &str) -> String {
    match name {
        "Rooms" => "R\u{e4}ume",
        "Preferences" => "Einstellungen",
        "Cellar" => "Keller",
        "Cold" => "Kalt",
        "Messages" => "Nachrichten",
        "Storage" => "Speicher",
        "Visibility" => "Sichtbarkeit",
        "Loud" => "Laut",
        "Sync" => "Abgleich",
        "Save data" => "Daten sparen",
        "About storage" => "\u{dc}ber den Speicher",
        other => other,
    }
    .to_owned()
}

fn install(world: &World, app: Value) {
    world.phone.lock().install(serde_json::from_value(app).expect("an app"));
    world.phone.scene(PACKAGE, Some("home"));
}

/// Starts a phone with the app, on which the ways to all pages of the preferences are known.
fn learned() -> (World, Client) {
    let world = World::with(TestPhone::with(|_| {}), "");
    install(&world, depot(as_it_was, &json!([])));
    let mut client = world.client();
    for way in [&["Preferences", "Storage", "About storage"][..], &["Preferences", "Messages"], &["Rooms", "Cellar"]] {
        for _ in 0..2 {
            client.ok("act.launch", json!({"package": PACKAGE, "then": "outline"}));
            way.iter().for_each(|label| {
                client.ok("act.tap", json!({"value": label, "then": "outline"}));
            });
            way.iter().for_each(|_| {
                client.ok("act.back", json!({"then": "outline"}));
            });
        }
    }
    world.phone.clear_inputs();
    (world, client)
}

fn go(client: &mut Client, goal: &str) -> Value {
    client.ok("act.goTo", json!({"goal": goal, "app": PACKAGE}))
}

/// Checks that a walk stopped where the goal probably is, without claiming it.
fn assert_changed(walk: &Value, words: &[&str]) {
    assert_eq!((&walk["arrived"], &walk["stopped"]), (&json!(false), &json!("changed")), "{walk}");
    let text = walk["text"].as_str().expect("a text");
    assert!(words.iter().all(|word| text.contains(word)), "{text}");
}

#[test]
fn renamed_page_and_switch_are_found_and_named_but_not_claimed() {
    let (world, mut client) = learned();
    install(&world, depot(renamed, &json!([])));
    assert_changed(&go(&mut client, "Save data"), &["Save data", "Low-data mode"]);
    assert_eq!(world.phone.page(), "storage");
    assert_eq!(world.phone.lock().var("saving"), "off");
    world.phone.scene(PACKAGE, Some("home"));
    assert_changed(&go(&mut client, "About storage"), &["About storage", "Details"]);
    assert_eq!(world.phone.page(), "about");
}

#[test]
fn pages_in_another_language_are_followed() {
    let (world, mut client) = learned();
    install(&world, depot(translated, &json!([])));
    assert_changed(&go(&mut client, "Save data"), &["Daten sparen"]);
    assert_eq!(world.phone.page(), "storage");
    assert_eq!(world.phone.hits("tap"), ["Einstellungen", "Speicher"]);
}

#[test]
fn row_that_moved_is_found_by_its_title() {
    let (world, mut client) = learned();
    let mut app = depot(as_it_was, &json!([{"title": "Storage", "do": {"goto": "storage"}}]));
    app["pages"]["prefs"]["body"][0]["rows"].as_array_mut().expect("rows").remove(1);
    install(&world, app);
    let walk = go(&mut client, "Save data");
    assert_eq!((&walk["arrived"], world.phone.page()), (&json!(true), "storage".to_owned()), "{walk}");
    assert_eq!(world.phone.lock().var("saving"), "off");
}

#[test]
fn page_of_the_same_kind_under_its_own_title_is_not_taken_for_a_renamed_one() {
    let (world, mut client) = learned();
    // The row of the storage is gone, and another row of its kind is in its place.
    let other = |name: &str| if name == "Storage" { "Printers".to_owned() } else { name.to_owned() };
    let mut app = depot(other, &json!([]));
    app["pages"]["storage"]["activity"] = json!(".Printers");
    app["pages"]["storage"]["body"] = json!([{"type": "text", "id": "none", "text": "No printer"}]);
    install(&world, app);
    let walk = go(&mut client, "About storage");
    assert_eq!(walk["arrived"], false, "{walk}");
    assert_ne!(walk["stopped"], "changed", "{walk}");
}

#[test]
fn exploring_tries_settings_first_and_one_of_several_choices_at_most() {
    let world = World::with(TestPhone::with(|_| {}), "");
    install(&world, depot(as_it_was, &json!([])));
    let mut client = world.client();
    client.ok("observe.page", json!({"format": "outline"}));
    let walk = client.ok("act.goTo", json!({"text": "Atlantis", "explore": 30, "maxSteps": 60}));
    assert_eq!(walk["arrived"], false, "{walk}");
    let hits = world.phone.hits("tap");
    assert_eq!(hits.first().map(String::as_str), Some("Preferences"), "{hits:?}");
    let choices = hits.iter().filter(|hit| ["All", "Friends", "None"].contains(&hit.as_str())).count();
    assert!(choices <= 1, "{hits:?}");
    let phone = world.phone.lock();
    assert_eq!((phone.var("saving"), phone.var("sync")), ("off".into(), "off".into()));
}

#[test]
fn button_with_the_name_of_the_goal_is_brought_into_sight_and_not_pressed() {
    let world = World::with(TestPhone::with(|_| {}), "");
    let mut app = depot(as_it_was, &json!([]));
    app["pages"]["cellar"]["body"] =
        json!([{"type": "button", "id": "cool", "text": "Cool down", "do": {"set": {"seen": "cooled"}}}]);
    install(&world, app);
    let mut client = world.client();
    client.ok("observe.page", json!({"format": "outline"}));
    let walk = client.ok("act.goTo", json!({"goal": "Cool down", "explore": 10}));
    assert_eq!((&walk["arrived"], world.phone.page()), (&json!(true), "cellar".to_owned()), "{walk}");
    assert_eq!(world.phone.lock().var("seen"), "all");
}
