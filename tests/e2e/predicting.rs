//! Predictions of where actions lead, and surprises: `memory.predict`, looks, and the outcomes of actions.

use afd_tests::websocket::WebSocket;
use afd_tests::{Client, TestPhone, World};
use serde_json::{Value, json};

/// An app with two lists that share a tab, a page that changes with the variables, and buttons that do nothing.
const HARBOUR: &str = r#"{"package": "org.example.harbour", "label": "Harbour", "start": "home",
  "vars": {"mode": "plain", "slow": "no", "note": "", "code": ""},
  "pages": {
    "home": {"activity": ".Home", "title": "Harbour", "body": [
      {"type": "field", "id": "find", "hint": "Find a ship", "var": "note"},
      {"type": "button", "id": "help", "text": "Help", "do": {"goto": "help"}},
      {"type": "list", "id": "menu", "rows": [
      {"title": "Ships", "do": {"require": {"mode": "plain"}, "goto": "ships", "otherwise": {"require": {"mode": "odd"}, "goto": "odd", "otherwise":
        {"require": {"mode": "tides"}, "goto": "tides", "otherwise": {"require": {"mode": "rate"}, "goto": "ships", "dialog": "rate", "otherwise":
        {"require": {"mode": "login"}, "goto": "login", "otherwise": {"require": {"mode": "broken"}, "goto": "broken", "otherwise":
        {"require": {"mode": "away"}, "launch": "com.android.settings", "otherwise": {}}}}}}}}},
      {"title": "Tides", "do": {"goto": "tides"}}, {"title": "Cranes", "do": {"goto": "cranes"}}, {"title": "Lighthouse", "do": {}}]}]},
    "ships": {"activity": ".Ships", "title": "Ships", "body": [{"type": "text", "id": "fleet", "text": "Three ships are in"},
      {"type": "button", "id": "help", "text": "Help", "do": {"goto": "help"}}]},
    "odd": {"activity": ".Odd", "title": "Dry dock", "body": [{"type": "text", "id": "dock", "text": "The dock is dry"}]},
    "tides": {"activity": ".Tides", "title": "Tides", "body": [{"type": "text", "id": "high", "text": "High at noon"},
      {"type": "button", "id": "help", "text": "Help", "do": {"goto": "help"}}]},
    "cranes": {"activity": ".Cranes", "title": "Cranes", "body": [{"type": "text", "id": "lift", "text": "Lifts ten tons"}]},
    "help": {"activity": ".Help", "title": "Help", "body": [{"type": "text", "id": "call", "text": "Call the harbour master"}]},
    "login": {"activity": ".Login", "title": "Sign in", "body": [{"type": "field", "id": "pin", "hint": "Password", "var": "code", "password": true}]},
    "broken": {"activity": ".Broken", "title": "Harbour", "body": [{"type": "text", "id": "sorry", "text": "Something went wrong. Try again later."}]}
  },
  "dialogs": {"rate": {"title": "Do you like Harbour?", "text": "Please rate us.", "buttons": [{"text": "Not now", "do": {"close": true}}]}}}"#;

const PACKAGE: &str = "org.example.harbour";

fn world() -> World {
    let app = serde_json::from_str(HARBOUR).expect("an app");
    World::with(TestPhone::with(|setup| setup.apps.push(app)), "[observe]\nafter_act_ms = 0\n")
}

/// Opens the app, taps an element and goes back, `times` times.
fn teach(client: &mut Client, label: &str, times: usize) {
    client.ok("act.launch", json!({"package": PACKAGE, "then": "outline"}));
    for _ in 0..times {
        client.ok("act.tap", json!({"value": label, "then": "outline"}));
        client.ok("act.back", json!({"then": "outline"}));
    }
}

/// Returns the prediction of the action on the element with this title.
fn predicted(client: &mut Client, title: &str) -> Value {
    let all = client.ok("memory.predict", json!({}));
    let found =
        all["predictions"].as_array().expect("a list").iter().find(|one| one["action"]["target"]["title"] == title);
    found.cloned().unwrap_or(Value::Null)
}

fn row<'a>(page: &'a Value, label: &str) -> &'a Value {
    let rows = page["refs"]["rows"].as_array().expect("rows");
    rows.iter().find(|row| row["label"] == label).unwrap_or_else(|| panic!("no {label}: {page}"))
}

#[test]
fn known_elements_have_probabilities_and_unknown_ones_are_guesses() {
    let world = world();
    let mut client = world.client();
    teach(&mut client, "Ships", 2);
    let page = client.ok("observe.page", json!({}));
    let ships = &row(&page, "Ships")["leadsTo"];
    assert_eq!((&ships["kind"], &ships["name"], &ships["probability"]), (&json!("page"), &json!("Ships"), &json!(0.8)));
    assert!(ships["guess"].is_null() && ships["state"].is_string(), "{ships}");
    // One row that was tried says little about the others.
    assert!(row(&page, "Tides")["leadsTo"].is_null(), "{page}");
    let tides = predicted(&mut client, "Tides");
    assert!(tides["guess"] == true && tides["outcomes"][0]["probability"].as_f64() < Some(0.5), "{tides}");
    teach(&mut client, "Ships", 6);
    let again = predicted(&mut client, "Ships");
    assert!(again["outcomes"][0]["probability"].as_f64() > Some(0.9), "{again}");
    assert_eq!((&again["from"], &again["attempts"]), (&json!("page"), &json!(8)), "{again}");
    let sum: f64 = again["outcomes"].as_array().expect("a list").iter().filter_map(|o| o["probability"].as_f64()).sum();
    assert!((sum + again["unknown"].as_f64().expect("a number") - 1.0).abs() < 0.01, "{again}");
}

#[test]
fn same_element_elsewhere_is_a_guess_and_the_outline_marks_it() {
    let world = world();
    let mut client = world.client();
    teach(&mut client, "Help", 3);
    client.ok("act.tap", json!({"value": "Tides", "then": "outline"}));
    let page = client.ok("observe.page", json!({"format": "outline"}));
    let outline = page["outline"].as_str().expect("an outline");
    let line = outline.lines().find(|line| line.contains("\"Help\"")).expect("the button");
    assert!(line.contains("guess: -> \"Help\" 0."), "{outline}");
    let told = predicted(&mut client, "Help");
    assert_eq!(
        (&told["guess"], &told["from"], &told["alias"].is_string()),
        (&json!(true), &json!("app"), &true),
        "{told}"
    );
    let predictions = client.ok("memory.predict", json!({}));
    assert_eq!(predictions["before"], "Harbour", "{predictions}");
    // Without hints, nothing is predicted.
    let bare = client.ok("observe.page", json!({"hints": false}));
    assert!(row(&bare, "Help")["leadsTo"].is_null(), "{bare}");
}

/// The arrow in the title bar goes back on each page, wherever that is.
#[test]
fn arrow_in_the_title_bar_leads_to_the_page_before() {
    let world = world();
    let mut client = world.client();
    teach(&mut client, "Ships", 1);
    client.ok("act.tap", json!({"value": "Ships", "then": "outline"}));
    client.ok("act.tap", json!({"value": "Navigate up", "then": "outline"}));
    client.ok("act.tap", json!({"value": "Tides", "then": "outline"}));
    client.ok("act.tap", json!({"value": "Help", "then": "outline"}));
    let all = client.ok("memory.predict", json!({}));
    assert_eq!(all["before"], "Tides", "{all}");
    let arrow = predicted(&mut client, "Navigate up");
    assert_eq!((&arrow["outcomes"][0]["name"], &arrow["guess"]), (&json!("Tides"), &json!(true)), "{arrow}");
    client.ok("act.tap", json!({"value": "Navigate up", "then": "outline"}));
    client.ok("act.tap", json!({"value": "Navigate up", "then": "outline"}));
    let home = client.ok("memory.predict", json!({}));
    assert!(home["before"].is_null(), "nothing is before the first page: {home}");
}

#[test]
fn predictions_need_an_observation_and_take_a_verb() {
    let world = world();
    let mut client = world.client();
    client.fails("memory.predict", json!({}), "NOT_FOUND");
    teach(&mut client, "Ships", 1);
    client.ok("act.longPress", json!({"value": "Ships", "then": "outline"}));
    client.ok("act.back", json!({"then": "outline"}));
    let presses = client.ok("memory.predict", json!({"verb": "longPress"}));
    let verbs: Vec<&Value> =
        presses["predictions"].as_array().expect("a list").iter().map(|one| &one["action"]["verb"]).collect();
    assert!(verbs.iter().all(|verb| **verb == "longPress"), "{presses}");
    client.fails("memory.predict", json!({"verb": "sniff"}), "INVALID_PARAMS");
}

/// Sets what a tap on "Ships" does.
fn set_mode(world: &World, mode: &str) {
    world.phone.run(json!({"do": "set", "app": PACKAGE, "name": "mode", "value": mode}));
}

fn tap_ships(client: &mut Client) -> Value {
    client.ok("act.tap", json!({"value": "Ships", "then": "outline"}))["look"].clone()
}

#[test]
fn outcome_that_is_expected_is_named_so_and_nothing_is_claimed_of_a_new_one() {
    let world = world();
    let mut client = world.client();
    teach(&mut client, "Tides", 1);
    let look = tap_ships(&mut client);
    assert!(look["asExpected"].is_null() && look["surprise"].is_null(), "{look}");
    client.ok("act.back", json!({"then": "outline"}));
    teach(&mut client, "Ships", 2);
    let look = tap_ships(&mut client);
    assert!(look["asExpected"] == true && look["surprise"].is_null(), "{look}");
}

/// What a tap on "Ships" does, and the kind of surprise that it is.
const SURPRISES: [(&str, &str); 7] = [
    ("odd", "newPage"),
    ("tides", "otherPage"),
    ("rate", "popUp"),
    ("login", "login"),
    ("broken", "error"),
    ("quiet", "nothing"),
    ("away", "otherApp"),
];

/// Number of rounds through all kinds. `AFD_SURPRISES` runs more.
fn rounds() -> usize {
    std::env::var("AFD_SURPRISES").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1)
}

/// What was said about an expected outcome, and about one that was changed to this kind.
fn expected_then_surprised(mode: &str) -> (Value, Value) {
    let world = world();
    let mut client = world.client();
    teach(&mut client, "Tides", 1);
    teach(&mut client, "Ships", 3);
    let expected = tap_ships(&mut client);
    client.ok("act.back", json!({"then": "outline"}));
    set_mode(&world, mode);
    (expected, tap_ships(&mut client))
}

#[test]
fn surprises_of_all_kinds_are_noticed_and_expected_outcomes_are_not_called_surprises() {
    let looks: Vec<(&str, Value, Value)> = (0..rounds())
        .flat_map(|_| {
            std::thread::scope(|scope| {
                let run = |(mode, kind)| (kind, scope.spawn(move || expected_then_surprised(mode)));
                let runs: Vec<_> = SURPRISES.into_iter().map(run).collect();
                let look = |(kind, run): (_, std::thread::ScopedJoinHandle<'_, (Value, Value)>)| {
                    let (expected, surprised) = run.join().expect("a run ends well");
                    (kind, expected, surprised)
                };
                runs.into_iter().map(look).collect::<Vec<_>>()
            })
        })
        .collect();
    let count = |is: &dyn Fn(&(&str, Value, Value)) -> bool| looks.iter().filter(|look| is(look)).count();
    let missed = count(&|(_, _, surprised)| surprised["surprise"].is_null());
    let other_kind = count(&|(kind, _, surprised)| surprised["surprise"]["kind"] != *kind);
    let called_expected = count(&|(_, _, surprised)| surprised["asExpected"] == true);
    let false_alarms = count(&|(_, expected, _)| expected["asExpected"] != true);
    println!(
        "of {}: {missed} missed, {other_kind} of another kind, {called_expected} called expected, {false_alarms} false alarms",
        looks.len()
    );
    assert_eq!((missed, other_kind, called_expected, false_alarms), (0, 0, 0, 0), "{looks:#?}");
}

#[test]
fn surprise_is_recorded_with_its_event_and_sent_to_subscribers() {
    let world = world();
    let mut client = world.client();
    teach(&mut client, "Ships", 3);
    let mut live = WebSocket::connect(&world.socket());
    live.call("events.subscribe", json!({}));
    set_mode(&world, "odd");
    let look = tap_ships(&mut client);
    let surprise = &look["surprise"];
    assert_eq!((&surprise["name"], &surprise["probability"]), (&json!("Dry dock"), &json!(0.143)), "{look}");
    assert!(surprise["text"].as_str().is_some_and(|text| text.contains("expected -> \"Ships\" 0.")), "{look}");
    let told = std::iter::repeat_with(|| live.event()).find(|e| e["kind"] == "surprise").expect("a surprise");
    assert_eq!((&told["surprise"], &told["session"]), (surprise, &json!("default")), "{told}");
    let log = client.ok("memory.log", json!({"limit": 1}));
    assert_eq!(log["events"][0]["uid"], told["eventId"], "{log}");
    assert_eq!(log["events"][0]["evidence"]["surprise"], *surprise, "{log}");
}

/// A world in which time can pass, because only then nothing is known to have changed.
fn world_with_clock() -> World {
    let app = serde_json::from_str(HARBOUR).expect("an app");
    let phone = TestPhone::with(|setup| setup.apps.push(app));
    World::with_clock_on(phone, "[observe]\nafter_act_ms = 0\n")
}

/// Acts and looks again when nothing more can change. Returns the look of the action.
fn act_and_wait(world: &World, client: &mut Client, method: &str, params: Value) -> Value {
    let done = client.ok(method, params);
    world.advance(4_000);
    client.ok("observe.page", json!({}));
    done["look"].clone()
}

#[test]
fn action_without_effect_is_warned_of_and_refused_if_strict() {
    let world = world_with_clock();
    let mut client = world.client();
    client.ok("act.launch", json!({"package": PACKAGE, "then": "outline"}));
    let tap = json!({"value": "Lighthouse", "then": "outline"});
    for _ in 0..2 {
        let look = act_and_wait(&world, &mut client, "act.tap", tap.clone());
        assert!(look["warning"].is_null(), "{look}");
    }
    // Waits until both outcomes are written.
    client.ok("memory.predict", json!({}));
    let look = client.ok("act.tap", tap)["look"].clone();
    assert_eq!(look["warning"], "this changed nothing visible each of the 2 times it was tried on this page", "{look}");
    world.phone.clear_inputs();
    let failed = client.fails("act.tap", json!({"value": "Lighthouse", "strict": true}), "CONFLICT");
    assert!(failed.message.starts_with("nothing was sent"), "{failed:?}");
    assert!(world.phone.hits("tap").is_empty());
    client.ok("act.tap", json!({"value": "Ships", "strict": true}));
}

/// Typing shows nothing on a page, so it is never said to do nothing.
#[test]
fn typing_is_never_said_to_do_nothing() {
    let world = world_with_clock();
    let mut client = world.client();
    client.ok("act.launch", json!({"package": PACKAGE, "then": "outline"}));
    let fill = json!({"value": "Find a ship", "text": "Minnow", "strict": true, "then": "outline"});
    for _ in 0..3 {
        let look = act_and_wait(&world, &mut client, "act.fill", fill.clone());
        assert!(look["warning"].is_null(), "{look}");
    }
    let page = client.ok("observe.page", json!({"format": "outline"}));
    assert!(!page["outline"].as_str().expect("an outline").contains("does nothing"), "{page}");
}
