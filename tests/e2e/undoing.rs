//! Undoing the last action: `act.undo`.

use afd_phone::fault::{Fault, Kind};
use afd_tests::{Client, TestPhone, World};
use serde_json::json;

const PACKAGE: &str = "org.example.mill";

/// An app with rows that open pages, a button that saves, a switch, a field, and a button that deletes.
const MILL: &str = r#"{"package": "org.example.mill", "label": "Mill", "start": "home", "vars": {"silent": "off", "night": "off", "word": ""},
  "pages": {
    "home": {"activity": ".Home", "title": "Mill", "body": [{"type": "list", "id": "menu", "rows": [
      {"title": "Letters", "do": {"goto": "letters"}},
      {"title": "Silent mode", "switch": "silent", "do": {"toggle": "silent"}},
      {"title": "Night mode", "switch": "night", "do": {"toggle": "night", "goto": "night"}}]}]},
    "night": {"activity": ".Home", "title": "Mill", "body": [{"type": "text", "id": "hours", "text": "From ten to six"},
      {"type": "button", "id": "set", "text": "Hours", "do": {}}, {"type": "list", "id": "menu", "rows": [
      {"title": "Letters", "do": {"goto": "letters"}},
      {"title": "Silent mode", "switch": "silent", "do": {"toggle": "silent"}},
      {"title": "Night mode", "switch": "night", "do": {"toggle": "night", "goto": "home"}}]}]},
    "letters": {"activity": ".Letters", "title": "Letters", "body": [
      {"type": "field", "id": "word", "hint": "Your word", "var": "word"},
      {"type": "button", "id": "keep", "text": "Keep it", "do": {"goto": "kept"}},
      {"type": "button", "id": "store", "text": "Store", "do": {"goto": "home"}},
      {"type": "button", "id": "remove", "text": "Delete", "do": {"goto": "gone"}}]},
    "kept": {"activity": ".Kept", "title": "Kept", "body": [{"type": "text", "id": "said", "text": "It is kept"}]},
    "gone": {"activity": ".Gone", "title": "Deleted", "body": [{"type": "text", "id": "said", "text": "It is gone"}]}
  }}"#;

fn world() -> World {
    let app = serde_json::from_str(MILL).expect("an app");
    World::with(TestPhone::with(|setup| setup.apps.push(app)), "")
}

fn launch(client: &mut Client) {
    client.ok("act.launch", json!({"package": PACKAGE, "then": "outline"}));
}

#[test]
fn page_that_an_action_opened_is_left_again_and_earlier_actions_follow() {
    let world = world();
    let mut client = world.client();
    launch(&mut client);
    client.fails("act.undo", json!({"dryRun": "yes"}), "INVALID_PARAMS");
    let tapped = client.ok("act.tap", json!({"value": "Letters", "then": "outline"}));
    let kept = client.ok("act.tap", json!({"value": "Keep it", "then": "outline"}));
    world.phone.clear_inputs();
    let offer = client.ok("act.undo", json!({"dryRun": true}));
    assert_eq!(
        (&offer["undone"], &offer["action"], &offer["undoes"]),
        (&json!(false), &json!("back"), &kept["eventId"]),
        "{offer}"
    );
    assert!(offer.get("probability").is_none(), "Back was never pressed here: {offer}");
    assert!(world.phone.lock().inputs.is_empty(), "it was only asked");
    let undone = client.ok("act.undo", json!({"then": "outline", "requestKey": "once"}));
    assert_eq!((&undone["undone"], world.phone.page()), (&json!(true), "letters".to_owned()), "{undone}");
    assert_eq!(undone["mayRemain"], true, "a button may save something: {undone}");
    assert!(undone["look"]["observation"]["outline"].as_str().expect("an outline").contains("Keep it"), "{undone}");
    let again = client.ok("act.undo", json!({"then": "outline", "requestKey": "once"}));
    assert_eq!((&again["replayed"], world.phone.page()), (&json!(true), "letters".to_owned()), "{again}");
    // The action before is the next one.
    let undone = client.ok("act.undo", json!({}));
    assert_eq!((&undone["undoes"], &undone["undone"]), (&tapped["eventId"], &json!(true)), "{undone}");
    assert_eq!((world.phone.page(), undone.get("mayRemain")), ("home".to_owned(), None), "a row only opens: {undone}");
}

#[test]
fn way_that_led_back_most_reliably_is_taken() {
    let world = world();
    let mut client = world.client();
    for _ in 0..3 {
        launch(&mut client);
        client.ok("act.tap", json!({"value": "Letters", "then": "outline"}));
        client.ok("act.tap", json!({"value": "Keep it", "then": "outline"}));
        client.ok("act.back", json!({"then": "outline"}));
        client.ok("act.back", json!({"then": "outline"}));
    }
    client.ok("act.tap", json!({"value": "Letters", "then": "outline"}));
    let undone = client.ok("act.undo", json!({}));
    assert_eq!((&undone["undone"], world.phone.page()), (&json!(true), "home".to_owned()), "{undone}");
    assert!(undone["probability"].as_f64().expect("a probability") >= 0.6, "{undone}");
}

/// A button that led back each time may have saved something, so it is not touched.
#[test]
fn button_that_leads_back_is_not_touched() {
    let world = world();
    let mut client = world.client();
    launch(&mut client);
    for _ in 0..4 {
        client.ok("act.tap", json!({"value": "Letters", "then": "outline"}));
        client.ok("act.tap", json!({"value": "Store", "then": "outline"}));
    }
    client.ok("act.tap", json!({"value": "Letters", "then": "outline"}));
    world.phone.clear_inputs();
    let undone = client.ok("act.undo", json!({}));
    assert_eq!((&undone["undone"], &undone["action"]), (&json!(true), &json!("back")), "{undone}");
    assert!(world.phone.hits("tap").is_empty());
}

#[test]
fn action_that_changed_nothing_is_passed_over() {
    let world = world();
    let mut client = world.client();
    launch(&mut client);
    let tapped = client.ok("act.tap", json!({"value": "Letters", "then": "outline"}));
    client.ok("act.scroll", json!({"direction": "down", "then": "outline"}));
    let undone = client.ok("act.undo", json!({}));
    assert_eq!((&undone["undoes"], world.phone.page()), (&tapped["eventId"], "home".to_owned()), "{undone}");
}

/// The phone dies after it was sent, so a repeated call must not send it again.
#[test]
fn undo_whose_outcome_is_unknown_is_not_sent_again() {
    let world = world();
    let mut client = world.client();
    launch(&mut client);
    client.ok("act.tap", json!({"value": "Letters", "then": "outline"}));
    let drop = Fault { path: "/api/press/back".into(), skip: 0, times: 1, kind: Kind::DropAfter };
    world.phone.lock().faults.push(drop);
    client.fails("act.undo", json!({"requestKey": "once"}), "OUTCOME_UNKNOWN");
    let sent = world.phone.requests("/api/press/back");
    client.fails("act.undo", json!({"requestKey": "once"}), "OUTCOME_UNKNOWN");
    assert_eq!(world.phone.requests("/api/press/back"), sent);
}

#[test]
fn switch_is_put_back() {
    let world = world();
    let mut client = world.client();
    launch(&mut client);
    client.ok("act.tap", json!({"value": "Silent mode", "then": "outline"}));
    assert_eq!(world.phone.lock().var("silent"), "on");
    let undone = client.ok("act.undo", json!({}));
    assert_eq!((&undone["undone"], world.phone.lock().var("silent").as_str()), (&json!(true), "off"), "{undone}");
    assert!(undone["text"].as_str().expect("a text").contains("it is off again"), "{undone}");
    client.ok("act.tap", json!({"value": "Silent mode", "then": "outline"}));
    world.phone.run(json!({"do": "set", "app": PACKAGE, "name": "silent", "value": "off"}));
    world.phone.clear_inputs();
    let already = client.ok("act.undo", json!({}));
    assert_eq!((&already["undone"], already.get("action")), (&json!(true), None), "it is off already: {already}");
    assert!(world.phone.lock().inputs.is_empty());
}

/// The page looks like another one, because it has the settings that depend on the switch. Back would leave it.
#[test]
fn switch_that_changes_its_page_is_put_back() {
    let world = world();
    let mut client = world.client();
    launch(&mut client);
    client.ok("act.tap", json!({"value": "Night mode", "then": "outline"}));
    assert_eq!(world.phone.page(), "night");
    let undone = client.ok("act.undo", json!({}));
    assert_eq!((&undone["undone"], world.phone.lock().var("night").as_str()), (&json!(true), "off"), "{undone}");
    assert_eq!(world.phone.requests("/api/press/back"), 0, "{undone}");
}

#[test]
fn what_cannot_be_undone_is_refused_and_nothing_is_sent() {
    let world = world();
    let (mut client, mut other) = (world.client(), world.client_for("other"));
    let nothing = client.fails("act.undo", json!({}), "NOT_FOUND");
    assert!(nothing.message.contains("nothing"), "{nothing:?}");
    launch(&mut client);
    client.ok("act.tap", json!({"value": "Letters", "then": "outline"}));
    client.ok("act.fill", json!({"value": "Your word", "text": "hello", "then": "outline"}));
    let typed = client.fails("act.undo", json!({}), "NOT_FOUND");
    assert!(typed.message.contains("not stored"), "{typed:?}");
    client.ok("act.tap", json!({"value": "Delete", "then": "outline"}));
    world.phone.clear_inputs();
    let risky = client.fails("act.undo", json!({}), "NOT_FOUND");
    assert!(risky.message.contains("risky"), "{risky:?}");
    assert!(world.phone.lock().inputs.is_empty());
    client.ok("act.back", json!({"then": "outline"}));
    client.ok("act.tap", json!({"value": "Keep it", "then": "outline"}));
    other.ok("act.back", json!({"then": "outline"}));
    let foreign = client.fails("act.undo", json!({}), "CONFLICT");
    assert!(foreign.message.contains("another session"), "{foreign:?}");
}

#[test]
fn other_page_in_front_is_not_left() {
    let app = serde_json::from_str(MILL).expect("an app");
    let world = World::with_clock_on(TestPhone::with(|setup| setup.apps.push(app)), "");
    let mut client = world.client();
    launch(&mut client);
    let tapped = client.ok("act.tap", json!({"value": "Letters", "then": "outline"}));
    assert_eq!(tapped["look"]["changed"], true, "{tapped}");
    // What appears that late is no outcome of the action.
    world.advance(60_000);
    world.phone.scene("com.android.settings", None);
    world.phone.clear_inputs();
    client.fails("act.undo", json!({}), "CONFLICT");
    assert!(world.phone.lock().inputs.is_empty());
}
