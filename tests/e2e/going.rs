//! Walking to a goal by the known way: `act.goTo`.

use afd_phone::fault::{Fault, Kind};
use afd_tests::{CallError, Client, Daemon, TestPhone, World, wait};
use serde_json::{Value, json};

use crate::runtime::Pipeline;

/// An app with ways of several kinds. The variables change it as an update would.
const TRAIL: &str = r#"{"package": "org.example.trail", "label": "Trail", "start": "home",
  "vars": {"moved": "no", "locked": "no", "code": "", "word": "", "silent": "off"},
  "pages": {
    "home": {"activity": ".Home", "title": "Trail", "body": [{"type": "list", "id": "menu", "rows": [
      {"title": "Library", "do": {"require": {"locked": "no"}, "goto": "library", "otherwise": {"goto": "lock"}}},
      {"title": "Account", "do": {"goto": "account"}},
      {"title": "Feedback", "do": {"goto": "feedback"}},
      {"title": "Tools", "do": {"goto": "tools"}}]}]},
    "library": {"activity": ".Library", "title": "Library", "body": [{"type": "list", "id": "shelves", "rows": [
      {"title": "Maps", "do": {"require": {"moved": "no"}, "goto": "maps", "otherwise": {"goto": "moved"}}},
      {"title": "Archive", "do": {"goto": "archive"}}],
      "repeat": {"count": 30, "title": "Shelf {n}", "summary": "{n} books", "do": {"goto": "shelf"}}}]},
    "archive": {"activity": ".Archive", "title": "Archive", "body": [{"type": "list", "id": "old", "rows": [
      {"title": "Old maps", "do": {"goto": "maps"}}]}]},
    "moved": {"activity": ".Moved", "title": "Maps have moved", "body": [{"type": "text", "id": "note", "text": "They are in the archive"}]},
    "maps": {"activity": ".Maps", "title": "Maps", "body": [{"type": "text", "id": "legend", "text": "Mountain huts"}]},
    "shelf": {"activity": ".Shelf", "title": "Shelf", "body": [{"type": "text", "id": "empty", "text": "Nothing here"}]},
    "lock": {"activity": ".Lock", "title": "Locked", "body": [
      {"type": "field", "id": "pin", "hint": "Password", "var": "code", "password": true}, {"type": "button", "id": "unlock", "text": "Unlock", "do": {"set": {"locked": "no"}, "goto": "library"}}]},
    "account": {"activity": ".Account", "title": "Account", "body": [
      {"type": "button", "id": "leave", "text": "Sign out", "do": {"goto": "left"}}]},
    "left": {"activity": ".Left", "title": "Good bye", "body": [{"type": "text", "id": "bye", "text": "See you"}]},
    "feedback": {"activity": ".Feedback", "title": "Feedback", "body": [
      {"type": "field", "id": "word", "hint": "Your word", "var": "word"},
      {"type": "button", "id": "onward", "text": "Onward", "do": {"require": {"word": "tea"}, "goto": "thanks"}}]},
    "thanks": {"activity": ".Thanks", "title": "Thanks", "body": [{"type": "text", "id": "said", "text": "Read soon"}]},
    "tools": {"activity": ".Tools", "title": "Tools", "body": [{"type": "list", "id": "tools", "rows": [
      {"title": "Silent mode", "switch": "silent", "do": {"toggle": "silent"}},
      {"title": "Compass", "do": {"goto": "compass"}},
      {"title": "Erase everything", "do": {"goto": "left"}}]}]},
    "compass": {"activity": ".Compass", "title": "Compass", "body": [{"type": "text", "id": "north", "text": "North is up"}]}
  },
  "dialogs": {"rate": {"title": "Do you like Trail?", "text": "Please rate us.", "buttons": [{"text": "Rate", "do": {"close": true, "goto": "left"}}, {"text": "Not now", "do": {"close": true}}]},
    "location": {"title": "Allow Trail to see where you are?", "text": "You can change this later.", "package": "com.google.android.permissioncontroller", "activity": "com.android.permissioncontroller.GrantPermissionsActivity", "buttons": [{"text": "Allow", "do": {"close": true}}, {"text": "Don't allow", "do": {"close": true}}]}}}"#;

const PACKAGE: &str = "org.example.trail";

fn phone() -> TestPhone {
    let app = serde_json::from_str(TRAIL).expect("an app");
    TestPhone::with(|setup| setup.apps.push(app))
}

fn start(world: &World) {
    world.phone.scene(PACKAGE, Some("home"));
}

/// Taps elements one after another, reads each page that they lead to, and goes back.
fn learn(client: &mut Client, world: &World, way: &[&str]) {
    for _ in 0..2 {
        client.ok("act.launch", json!({"package": PACKAGE, "then": "outline"}));
        for label in way {
            client.ok("act.tap", json!({"value": label, "then": "outline"}));
        }
        for _ in way {
            client.ok("act.back", json!({"then": "outline"}));
        }
    }
    world.phone.clear_inputs();
}

/// Returns the actions of a walk, with the pages to which they led.
fn steps(walk: &Value) -> Vec<String> {
    let step = |s: &Value| format!("{} -> {}", s["action"].as_str().unwrap_or("?"), s["ledTo"].as_str().unwrap_or("?"));
    walk["steps"].as_array().expect("steps").iter().map(step).collect()
}

#[test]
fn known_way_is_walked_in_one_call_and_each_step_is_an_event() {
    let world = World::with(phone(), "");
    let mut client = world.client();
    learn(&mut client, &world, &["Library", "Maps"]);
    let walk = client.ok("act.goTo", json!({"goal": "Maps", "then": "outline"}));
    assert_eq!((&walk["arrived"], &walk["stopped"]), (&json!(true), &json!("arrived")), "{walk}");
    assert_eq!(steps(&walk), ["tap row \"Library\" -> Library", "tap row \"Maps\" -> Maps"]);
    assert!(walk["steps"].as_array().expect("steps").iter().all(|s| s["asExpected"] == true), "{walk}");
    assert_eq!(walk["at"]["name"], "Maps");
    assert!(walk["look"]["observation"]["outline"].as_str().expect("an outline").contains("Mountain huts"), "{walk}");
    assert_eq!(world.phone.hits("tap"), ["Library", "Maps"]);
    let events = client.ok("memory.log", json!({"limit": 2}));
    let uids =
        |of: &Value, key: &str| -> Vec<Value> { of.as_array().expect("rows").iter().map(|r| r[key].clone()).collect() };
    let mut own = uids(&walk["steps"], "eventId");
    own.reverse();
    assert_eq!(uids(&events["events"], "uid"), own, "{events}");
    let again = client.ok("act.goTo", json!({"goal": "maps"}));
    assert_eq!((&again["arrived"], steps(&again).len()), (&json!(true), 0), "already there: {again}");
}

#[test]
fn words_in_several_languages_mean_the_page_or_element() {
    let world = World::new();
    let mut client = world.client();
    for _ in 0..2 {
        client.ok("observe.page", json!({"format": "outline"}));
        client.ok("act.tap", json!({"value": "Display", "then": "outline"}));
        client.ok("act.back", json!({"then": "outline"}));
    }
    for words in ["dark mode", "Dunkelmodus", "modo oscuro"] {
        let walk = client.ok("act.goTo", json!({"goal": words}));
        assert_eq!((&walk["arrived"], world.phone.page()), (&json!(true), "display".to_owned()), "{words}: {walk}");
        client.ok("act.back", json!({"then": "outline"}));
    }
    client.fails("act.goTo", json!({"goal": "purple elephants"}), "NOT_FOUND");
    let unknown = client.fails("act.goTo", json!({"state": "Nowhere"}), "NOT_FOUND");
    assert!(unknown.message.contains("Nowhere"), "{unknown:?}");
}

#[test]
fn goal_out_of_sight_is_scrolled_to() {
    let world = World::with(phone(), "");
    let mut client = world.client();
    learn(&mut client, &world, &["Library"]);
    client.ok("act.tap", json!({"value": "Library", "then": "outline"}));
    client.ok("act.scrollTo", json!({"text": "Shelf 28", "then": "outline"}));
    client.ok("act.tap", json!({"value": "Shelf 28", "then": "outline"}));
    (0..2).for_each(|_| drop(client.ok("act.back", json!({"then": "outline"}))));
    // The phone keeps the scroll position of a page.
    client.ok("act.tap", json!({"value": "Library", "then": "outline"}));
    client.ok("act.scrollTo", json!({"text": "Maps", "then": "outline"}));
    client.ok("act.back", json!({"then": "outline"}));
    let walk = client.ok("act.goTo", json!({"goal": "Shelf 28"}));
    assert_eq!((&walk["arrived"], world.phone.page()), (&json!(true), "shelf".to_owned()), "{walk}");
    assert!(walk["steps"].as_array().expect("steps").iter().any(|s| s["kind"] == "scroll"), "{walk}");
}

#[test]
fn surprise_is_reported_and_another_way_is_taken() {
    let world = World::with(phone(), "");
    let mut client = world.client();
    learn(&mut client, &world, &["Library", "Archive", "Old maps"]);
    learn(&mut client, &world, &["Library", "Maps"]);
    world.phone.run(json!({"do": "set", "app": PACKAGE, "name": "moved", "value": "yes"}));
    let walk = client.ok("act.goTo", json!({"state": "Maps"}));
    assert_eq!((&walk["arrived"], world.phone.page()), (&json!(true), "maps".to_owned()), "{walk}");
    let missed: Vec<&Value> =
        walk["steps"].as_array().expect("steps").iter().filter(|s| s["asExpected"] == false).collect();
    assert_eq!(missed.len(), 1, "{walk}");
    assert_eq!((&missed[0]["expected"], &missed[0]["ledTo"]), (&json!("Maps"), &json!("Maps have moved")));
    assert_eq!(world.phone.hits("tap").iter().filter(|hit| *hit == "Maps").count(), 1, "it is not tried again");
}

#[test]
fn id_of_a_state_is_enough_for_one_of_another_app() {
    let world = World::with(phone(), "");
    let mut client = world.client();
    learn(&mut client, &world, &["Library", "Maps"]);
    let states = client.ok("visual.states", json!({"app": PACKAGE}));
    let maps = states["states"].as_array().expect("states").iter().find(|s| s["title"] == "Maps").expect("is known");
    client.ok("act.launch", json!({"package": "com.android.settings", "then": "outline"}));
    let named = json!({"state": maps["id"], "app": "com.android.settings"});
    client.fails("act.goTo", named, "NOT_FOUND");
    let walk = client.ok("act.goTo", json!({"state": maps["id"]}));
    assert_eq!((&walk["arrived"], world.phone.page()), (&json!(true), "maps".to_owned()), "{walk}");
}

/// On the second page, a row leads where it led from the first one, but a button with the same name does something else.
#[test]
fn rows_may_lead_where_they_led_elsewhere_but_buttons_are_not_tried() {
    for (kind, arrives) in [("list", true), ("button", false)] {
        let element = |label: &str, goes: &str| match kind {
            "list" => json!({"type": "list", "id": "menu", "rows": [{"title": label, "do": {"goto": goes}}]}),
            _ => json!({"type": "button", "id": "go", "text": label, "do": {"goto": goes}}),
        };
        let end = |title: &str| json!({"activity": ".End", "title": title, "body": [{"type": "text", "id": title, "text": title}]});
        let app = json!({"package": "org.example.twins", "label": "Twins", "start": "one", "pages": {
            "one": {"activity": ".Main", "title": "One", "body": [element("Onward", "goal")]},
            "two": {"activity": ".Main", "title": "Two", "body": [
                {"type": "text", "id": "other", "text": "Another page"}, {"type": "text", "id": "more", "text": "With more"},
                element("Onward", if arrives { "goal" } else { "wrong" })]},
            "goal": end("Goal"), "wrong": end("Wrong")}});
        let app = serde_json::from_value(app).expect("an app");
        let world = World::with(TestPhone::with(|setup| setup.apps.push(app)), "");
        let mut client = world.client();
        for _ in 0..3 {
            client.ok("act.launch", json!({"package": "org.example.twins", "then": "outline"}));
            client.ok("act.tap", json!({"value": "Onward", "then": "outline"}));
            client.ok("act.back", json!({"then": "outline"}));
        }
        world.phone.scene("org.example.twins", Some("two"));
        let walk = client.ok("act.goTo", json!({"state": "Goal"}));
        let seen: Vec<String> = world.phone.lock().inputs.iter().map(|i| i.page.clone()).collect();
        assert_eq!(walk["arrived"], true, "{kind}: {walk}");
        let tapped_there = world.phone.lock().inputs.iter().any(|i| i.kind == "tap" && i.page.ends_with("/two"));
        assert_eq!(tapped_there, arrives, "{kind}: {walk} {seen:?}");
    }
}

#[test]
fn pop_ups_and_dialogs_of_other_apps_are_dismissed_without_agreeing() {
    let world = World::with(phone(), "");
    let mut client = world.client();
    learn(&mut client, &world, &["Library", "Maps"]);
    world.phone.run(json!({"do": "popup", "dialog": "location"}));
    let walk = client.ok("act.goTo", json!({"goal": "Maps"}));
    assert_eq!((&walk["arrived"], world.phone.page()), (&json!(true), "maps".to_owned()), "{walk}");
    assert_eq!(walk["steps"][0]["kind"], "dismiss", "{walk}");
    assert!(!world.phone.hits("tap").iter().any(|hit| hit == "Allow"), "{:?}", world.phone.hits("tap"));
}

#[test]
fn risky_elements_are_marked_and_touched_only_if_allowed() {
    let world = World::with(phone(), "");
    let mut client = world.client();
    learn(&mut client, &world, &["Account", "Sign out"]);
    let walk = client.ok("act.goTo", json!({"state": "Good bye"}));
    assert_eq!((&walk["arrived"], &walk["stopped"]), (&json!(false), &json!("risky")), "{walk}");
    assert!(!world.phone.hits("tap").contains(&"Sign out".to_owned()));
    let page = client.ok("act.tap", json!({"value": "Account", "then": "outline"}))["look"]["observation"].clone();
    assert!(page["outline"].as_str().expect("an outline").contains("\"Sign out\" risky"), "{page}");
    let again = client.ok("observe.page", json!({"format": "outline", "since": "last"}));
    assert!(again["outline"].as_str().expect("an outline").contains("nothing changed"), "{again}");
    let named = client.ok("act.tap", json!({"value": "Sign out"}));
    assert_eq!((&named["risky"], world.phone.page()), (&json!(true), "left".to_owned()), "done as asked, and said");
    (0..2).for_each(|_| drop(client.ok("act.back", json!({"then": "outline"}))));
    let walk = client.ok("act.goTo", json!({"state": "Good bye", "allowRisky": true}));
    assert_eq!(walk["arrived"], true, "{walk}");
}

#[test]
fn exploring_is_bounded_and_avoids_switches_and_risky_elements() {
    let world = World::with(phone(), "");
    let mut client = world.client();
    start(&world);
    client.ok("observe.page", json!({"format": "outline"}));
    client.fails("act.goTo", json!({"goal": "North is up"}), "NOT_FOUND");
    let walk = client.ok("act.goTo", json!({"text": "North is up", "explore": 2}));
    assert_eq!(walk["arrived"], false, "{walk}");
    assert_eq!(walk["steps"].as_array().expect("steps").iter().filter(|s| s["kind"] == "explore").count(), 2, "{walk}");
    start(&world);
    let walk = client.ok("act.goTo", json!({"text": "North is up", "explore": 30, "maxSteps": 60}));
    assert_eq!((&walk["arrived"], world.phone.page()), (&json!(true), "compass".to_owned()), "{walk}");
    let hits = world.phone.hits("tap");
    assert!(
        !hits.iter().any(|hit| ["Silent mode", "Erase everything", "Sign out"].contains(&hit.as_str())),
        "{hits:?}"
    );
}

#[test]
fn page_that_asks_for_a_password_or_a_text_ends_the_walk() {
    let world = World::with(phone(), "");
    let mut client = world.client();
    learn(&mut client, &world, &["Library", "Maps"]);
    world.phone.run(json!({"do": "set", "app": PACKAGE, "name": "locked", "value": "yes"}));
    let walk = client.ok("act.goTo", json!({"goal": "Maps"}));
    assert_eq!((&walk["arrived"], &walk["stopped"]), (&json!(false), &json!("login")), "{walk}");
    assert_eq!(world.phone.page(), "lock", "it stays where the password is asked for");
    assert!(walk["text"].as_str().expect("a text").contains("password"), "{walk}");
}

#[test]
fn another_session_cannot_act_in_between_and_its_lease_is_respected() {
    let world = World::with(phone(), "");
    let (mut client, mut other) = (world.client(), world.client_for("other"));
    learn(&mut client, &world, &["Library", "Maps"]);
    other.ok("device.lease", json!({"ttlMs": 60_000}));
    let busy = client.fails("act.goTo", json!({"goal": "Maps"}), "DEVICE_BUSY");
    assert!(busy.message.contains("other"), "{busy:?}");
    assert!(world.phone.hits("tap").is_empty());
    other.ok("device.release", json!({}));
    world.phone.lock().faults.push(Fault { path: "/api/tap".into(), skip: 1, times: 1, kind: Kind::Hold });
    let walker = std::thread::spawn(move || client.ok("act.goTo", json!({"goal": "Maps"})));
    wait::until("the second step", || (world.phone.hits("tap").len() == 2).then_some(()));
    let refused = other.fails("act.back", json!({}), "DEVICE_BUSY");
    assert!(refused.message.contains("default"), "{refused:?}");
    world.phone.release();
    assert_eq!(walker.join().expect("ends")["arrived"], true);
    other.ok("act.back", json!({}));
}

#[test]
fn phone_that_dies_in_the_middle_ends_the_walk_with_what_was_done() {
    let world = World::with(phone(), "");
    let mut client = world.client();
    learn(&mut client, &world, &["Library", "Maps"]);
    world.phone.lock().faults.push(Fault { path: "/api/tap".into(), skip: 1, times: 1, kind: Kind::DropAfter });
    let walk = client.ok("act.goTo", json!({"goal": "Maps", "requestKey": "once"}));
    assert_eq!((&walk["stopped"], &walk["failureCause"]), (&json!("failed"), &json!("OUTCOME_UNKNOWN")), "{walk}");
    assert_eq!(world.phone.hits("tap"), ["Library", "Maps"], "it is not sent again");
    let again = client.ok("act.goTo", json!({"goal": "Maps", "requestKey": "once"}));
    assert_eq!((&again["replayed"], &again["stopped"]), (&json!(true), &json!("failed")));
    assert_eq!(world.phone.hits("tap").len(), 2, "a repeated call does nothing");
    client.fails("act.goTo", json!({"goal": "Library", "requestKey": "once"}), "CONFLICT");
}

#[test]
fn daemon_that_is_killed_in_the_middle_does_nothing_twice() {
    let mut world = World::with_process(phone(), "");
    let mut client = world.client();
    learn(&mut client, &world, &["Library", "Maps"]);
    world.phone.lock().faults.push(Fault { path: "/api/tap".into(), skip: 1, times: 1, kind: Kind::Hold });
    let mut connection = world.daemon.connect();
    let walker = std::thread::spawn(move || connection.call("act.goTo", json!({"goal": "Maps", "requestKey": "walk"})));
    wait::until("the second step", || (world.phone.hits("tap").len() == 2).then_some(()));
    world.daemon.kill();
    assert!(matches!(walker.join().expect("ends"), Err(CallError::Io(_))));
    world.phone.release();
    world.daemon = Daemon::start(world.dir());
    let mut client = world.client();
    let walk = client.ok("act.goTo", json!({"goal": "Maps", "requestKey": "walk"}));
    assert_eq!((&walk["replayed"], &walk["stopped"]), (&json!(true), &json!("interrupted")), "{walk}");
    assert_eq!(steps(&walk), ["tap row \"Library\" -> Library", "tap row \"Maps\" -> ?"], "{walk}");
    assert_eq!(walk["steps"][1]["failureCause"], "OUTCOME_UNKNOWN", "whether it was sent is not known");
    assert_eq!(world.phone.hits("tap").len(), 2, "nothing was done again");
    let events = client.ok("memory.log", json!({"limit": 1}));
    assert_eq!(events["events"][0]["status"], "unknown", "{events}");
}

#[test]
fn cancelled_walk_ends_between_two_steps() {
    let world = World::with(phone(), "");
    let mut client = world.client();
    learn(&mut client, &world, &["Library", "Maps"]);
    world.phone.lock().faults.push(Fault { path: "/api/tap".into(), skip: 0, times: 1, kind: Kind::Hold });
    let mut pipeline = Pipeline::new(&world);
    pipeline.send(1, "act.goTo", json!({"goal": "Maps"}));
    wait::until("the first step", || (!world.phone.hits("tap").is_empty()).then_some(()));
    pipeline.send(2, "rpc.cancel", json!({"id": 1}));
    assert_eq!(pipeline.response(2)["result"], json!({"cancelled": false}), "it has begun, so its result follows");
    world.phone.release();
    let walk = pipeline.response(1)["result"].clone();
    assert_eq!((&walk["stopped"], steps(&walk).len()), (&json!("cancelled"), 1), "{walk}");
    assert_eq!(world.phone.hits("tap"), ["Library"]);
}

#[test]
fn bad_goals_are_refused_before_anything_is_done() {
    let world = World::with(phone(), "");
    let mut client = world.client();
    let error = client.fails("act.goTo", json!({}), "INVALID_PARAMS");
    assert!(error.message.contains("goal"), "{error:?}");
    let error = client.fails("act.goTo", json!({"goal": "a", "text": "b"}), "INVALID_PARAMS");
    assert!(error.message.contains("text"), "{error:?}");
    client.fails("act.goTo", json!({"goal": "  "}), "INVALID_PARAMS");
    client.fails("act.goTo", json!({"address": "https://example.org/"}), "UNSUPPORTED");
    assert!(world.phone.lock().inputs.is_empty());
}

/// Number of random screens; `AFD_RISKY_SCREENS` overrides it.
const SCREENS: usize = 100;

/// Returns a number below `limit` that looks random.
fn pick(state: &mut u64, limit: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from((*state >> 33) % limit as u64).unwrap_or_default()
}

/// Returns an app with pages of random rows and buttons, whose names come from the data set of names.
fn random_app(names: &[String], screens: usize) -> Value {
    let mut state = 17;
    let mut next = |limit: usize| pick(&mut state, limit);
    let mut pages = serde_json::Map::new();
    for page in 0..screens {
        let onward = |to: usize| json!({"goto": format!("p{to}")});
        let mut rows: Vec<Value> =
            (0..6).map(|_| json!({"title": names[next(names.len())], "do": onward(next(screens))})).collect();
        rows.push(json!({"title": format!("Option {page}"), "switch": "silent"}));
        let button =
            json!({"type": "button", "id": "act", "text": names[next(names.len())], "do": onward(next(screens))});
        let list = json!({"type": "list", "id": "list", "rows": rows});
        let body = json!([list, button]);
        pages.insert(format!("p{page}"), json!({"activity": ".Page", "title": format!("Place {page}"), "body": body}));
    }
    json!({"package": "org.example.random", "label": "Random", "start": "p0", "vars": {"silent": "off"}, "pages": pages})
}

#[test]
fn nothing_risky_is_touched_on_random_screens() {
    let screens = std::env::var("AFD_RISKY_SCREENS").ok().and_then(|n| n.parse().ok()).unwrap_or(SCREENS);
    let names = crate::risky::names("held");
    let all = [names.risky.clone(), names.harmless].concat();
    let app = serde_json::from_value(random_app(&all, screens)).expect("an app");
    let world = World::with(TestPhone::with(|setup| setup.apps.push(app)), "[observe]\nafter_act_ms = 0\n");
    let mut client = world.client();
    for page in 0..screens {
        world.phone.scene("org.example.random", Some(&format!("p{page}")));
        let walk = client.ok("act.goTo", json!({"text": "Atlantis", "explore": 2}));
        assert_eq!(walk["arrived"], false, "{walk}");
    }
    let hits = world.phone.hits("tap");
    let rules = afd_screen::page::risk::RiskRules::default();
    let marked: Vec<&String> = hits.iter().filter(|hit| rules.is_risky_name(hit)).collect();
    let missed = hits.iter().filter(|hit| names.risky.contains(hit)).count();
    println!("{screens} screens: {} taps, {missed} of them on names that people call risky", hits.len());
    assert!(marked.is_empty(), "{marked:?}");
    assert!(hits.len() > screens && !hits.iter().any(|hit| hit.starts_with("Option")), "{hits:?}");
    assert_eq!(world.phone.lock().var("silent"), "off");
}
