//! Recovering on its own: `recover.auto`, and `recover` of actions and walks.

use afd_phone::fault::{Fault, Kind};
use afd_tests::{CallError, Client, Daemon, TestPhone, World, wait};
use serde_json::{Value, json};

const PACKAGE: &str = "org.example.bazaar";

/// A shop with a pop-up, an offer that fills the screen, a form, and a page that Back does not leave.
const SHOP: &str = r#"{"package": "org.example.bazaar", "label": "Bazaar", "start": "home", "vars": {"word": ""},
  "pages": {
    "home": {"activity": ".Home", "title": "Bazaar", "body": [{"type": "list", "id": "menu", "rows": [
      {"title": "Basket", "do": {"goto": "basket"}},
      {"title": "Stores", "do": {"goto": "stores"}},
      {"title": "Help", "do": {"goto": "help"}}]}]},
    "basket": {"activity": ".Basket", "title": "Basket", "body": [{"type": "text", "id": "empty", "text": "Nothing in it"}]},
    "stores": {"activity": ".Stores", "title": "Stores", "body": [{"type": "list", "id": "places", "rows": [
      {"title": "Harbour", "do": {"goto": "harbour"}},
      {"title": "Offers", "do": {"goto": "offer"}}]}]},
    "harbour": {"activity": ".Harbour", "title": "Harbour", "body": [{"type": "text", "id": "hours", "text": "Open until six"}]},
    "help": {"activity": ".Help", "title": "Help", "body": [
      {"type": "field", "id": "question", "hint": "Your question", "var": "word"},
      {"type": "button", "id": "ask", "text": "Ask", "do": {"goto": "basket"}}]},
    "offer": {"activity": ".Offer", "title": "Today only", "body": [
      {"type": "button", "id": "take", "text": "Buy now", "do": {"goto": "basket"}}]}
  },
  "dialogs": {"rate": {"title": "Do you like Bazaar?", "text": "Please rate us.", "buttons": [
      {"text": "Rate", "do": {"close": true, "goto": "offer"}}, {"text": "Not now", "do": {"close": true}}]}}}"#;

fn world() -> World {
    let app = serde_json::from_str(SHOP).expect("an app");
    World::with(TestPhone::with(|setup| setup.apps.push(app)), "")
}

fn launch(client: &mut Client) {
    client.ok("act.launch", json!({"package": PACKAGE, "then": "outline"}));
}

fn popup(world: &World) {
    world.phone.run(json!({"do": "popup", "dialog": "rate"}));
}

/// Returns the bases of the actions of a recovery.
fn bases(result: &Value) -> Vec<&str> {
    result["steps"].as_array().expect("steps").iter().map(|step| step["basis"].as_str().expect("a basis")).collect()
}

#[test]
fn pop_up_is_closed_without_agreeing_and_what_helped_is_tried_first_the_next_time() {
    let world = world();
    let mut client = world.client();
    launch(&mut client);
    popup(&world);
    client.fails("act.tap", json!({"value": "Basket"}), "TARGET_COVERED");
    let cured = client.ok("recover.auto", json!({"then": "outline"}));
    assert_eq!((&cured["recovered"], &cured["failureCause"]), (&json!(true), &json!("TARGET_COVERED")), "{cured}");
    assert_eq!(bases(&cured), ["dismiss"], "{cured}");
    assert!(cured["text"].as_str().expect("a text").contains("\"Basket\" can be used"), "{cured}");
    assert!(cured["look"]["observation"]["outline"].as_str().expect("an outline").contains("Basket"), "{cured}");
    assert!(world.phone.hits("tap").is_empty(), "neither button was touched");
    let log = client.ok("memory.log", json!({"limit": 1}));
    assert_eq!(
        (&log["events"][0]["category"], &log["events"][0]["uid"]),
        (&json!("recover"), &cured["steps"][0]["eventId"])
    );
    // The failed action succeeds now, so it is known that the recovery worked.
    client.ok("act.tap", json!({"value": "Basket", "then": "outline"}));
    client.ok("act.back", json!({"then": "outline"}));
    popup(&world);
    client.fails("act.tap", json!({"value": "Basket"}), "TARGET_COVERED");
    let cured = client.ok("recover.auto", json!({}));
    assert_eq!((&cured["recovered"], bases(&cured)), (&json!(true), vec!["known"]), "{cured}");
    assert_eq!((&cured["steps"][0]["worked"], &cured["steps"][0]["tried"]), (&json!(1), &json!(1)), "{cured}");
}

#[test]
fn nothing_is_done_if_the_screen_shows_no_trouble() {
    let world = world();
    let mut client = world.client();
    launch(&mut client);
    world.phone.clear_inputs();
    let fine = client.ok("recover.auto", json!({}));
    assert_eq!((&fine["recovered"], bases(&fine).len()), (&json!(true), 0), "no failure: {fine}");
    popup(&world);
    client.fails("act.tap", json!({"value": "Basket"}), "TARGET_COVERED");
    world.phone.scene(PACKAGE, Some("home"));
    let gone = client.ok("recover.auto", json!({}));
    assert_eq!((&gone["recovered"], bases(&gone).len()), (&json!(true), 0), "it closed on its own: {gone}");
    assert!(world.phone.lock().inputs.is_empty());
}

#[test]
fn action_recovers_and_is_done_once() {
    let world = world();
    let mut client = world.client();
    launch(&mut client);
    popup(&world);
    let call = json!({"value": "Basket", "recover": true, "requestKey": "basket", "then": "outline"});
    let done = client.ok("act.tap", call.clone());
    let recovery = done["recovery"].as_str().expect("a recovery");
    assert!(recovery.contains("after TARGET_COVERED by back:"), "{recovery}");
    assert_eq!((world.phone.page(), world.phone.hits("tap")), ("basket".to_owned(), vec!["Basket".to_owned()]));
    let again = client.ok("act.tap", call);
    assert_eq!((&again["replayed"], &again["eventId"]), (&json!(true), &done["eventId"]), "{again}");
    assert_eq!(again["recovery"], done["recovery"], "{again}");
    assert_eq!(world.phone.hits("tap").len(), 1, "it is not done again");
    client.ok("act.back", json!({"then": "outline"}));
    let plain = client.ok("act.tap", json!({"value": "Basket", "recover": true, "requestKey": "plain"}));
    assert!(plain.get("recovery").is_none(), "nothing was in the way: {plain}");
    let again = client.ok("act.tap", json!({"value": "Basket", "recover": true, "requestKey": "plain"}));
    assert_eq!((&again["replayed"], world.phone.hits("tap").len()), (&json!(true), 2));
}

/// A page that fills the screen came on its own, so Back leads to the page that the session saw.
#[test]
fn page_that_came_on_its_own_is_left_by_back() {
    let world = world();
    let mut client = world.client();
    launch(&mut client);
    client.ok("act.tap", json!({"value": "Stores", "then": "outline"}));
    let tapped = client.ok("act.tap", json!({"value": "Offers", "then": "outline"}))["point"].clone();
    client.ok("act.back", json!({"then": "outline"}));
    client.ok("observe.page", json!({"format": "outline"}));
    let at = |name: &str| tapped[name].as_f64().expect("a number") as f32;
    world.phone.lock().touch("tap", at("x"), at("y"));
    assert_eq!(world.phone.page(), "offer");
    let done = client.ok("act.tap", json!({"value": "Harbour", "recover": true}));
    assert!(done["recovery"].as_str().expect("a recovery").contains("back"), "{done}");
    assert_eq!(world.phone.page(), "harbour");
    assert!(!world.phone.hits("tap").contains(&"Buy now".to_owned()));
}

#[test]
fn wrong_name_costs_neither_the_page_nor_a_text() {
    let world = world();
    let mut client = world.client();
    launch(&mut client);
    world.phone.clear_inputs();
    let call = json!({"value": "Baskett", "recover": true, "requestKey": "wrong"});
    let wrong = client.fails("act.tap", call.clone(), "TARGET_NOT_FOUND");
    assert!(wrong.hint.as_deref().is_some_and(|hint| hint.contains("not recovered")), "{wrong:?}");
    assert!(world.phone.lock().inputs.is_empty(), "the page is the right one, so it is not left");
    let again = client.fails("act.tap", call, "TARGET_NOT_FOUND");
    assert_eq!(again.details["replayed"], true, "{again:?}");
    client.ok("act.tap", json!({"value": "Help", "then": "outline"}));
    client.ok("act.fill", json!({"value": "Your question", "text": "Where is my order?", "then": "outline"}));
    client.fails("act.tap", json!({"value": "Send it"}), "TARGET_NOT_FOUND");
    world.phone.clear_inputs();
    let kept = client.ok("recover.auto", json!({}));
    assert_eq!((&kept["recovered"], &kept["stopped"]), (&json!(false), &json!("unsaved")), "{kept}");
    assert!(world.phone.lock().inputs.is_empty(), "leaving the page would lose the text");
    let left = client.ok("recover.auto", json!({"allowRisky": true}));
    assert_eq!(left["recovered"], json!(false), "there is no such element: {left}");
    assert_eq!((bases(&left).last(), world.phone.page()), (Some(&"relaunch"), "home".to_owned()), "{left}");
}

/// The launcher has an icon with the name of the target, which is not the target.
#[test]
fn element_of_another_app_is_not_the_target() {
    let world = world();
    let mut client = world.client();
    launch(&mut client);
    client.ok("act.tap", json!({"value": "Stores", "then": "outline"}));
    client.ok("observe.page", json!({"format": "outline"}));
    client.fails("act.tap", json!({"value": "Settings"}), "TARGET_NOT_FOUND");
    let cured = client.ok("recover.auto", json!({}));
    assert_eq!(cured["recovered"], false, "{cured}");
    assert_eq!(world.phone.lock().foreground().0, PACKAGE, "{cured}");
}

/// A text below a dialog is kept when the dialog is closed.
#[test]
fn dialog_over_a_text_is_closed() {
    let world = world();
    let mut client = world.client();
    launch(&mut client);
    client.ok("act.tap", json!({"value": "Help", "then": "outline"}));
    client.ok("act.fill", json!({"value": "Your question", "text": "Where is it?", "then": "outline"}));
    popup(&world);
    client.fails("act.tap", json!({"value": "Ask"}), "TARGET_COVERED");
    let cured = client.ok("recover.auto", json!({}));
    assert_eq!((&cured["recovered"], bases(&cured)), (&json!(true), vec!["dismiss"]), "the text is below: {cured}");
    assert_eq!(world.phone.lock().var("word"), "Where is it?");
}

#[test]
fn app_that_went_away_is_opened_again() {
    let world = world();
    let mut client = world.client();
    launch(&mut client);
    client.ok("observe.page", json!({"format": "outline"}));
    world.phone.lock().home();
    client.fails("act.tap", json!({"value": "Stores"}), "TARGET_NOT_FOUND");
    let cured = client.ok("recover.auto", json!({}));
    assert_eq!((&cured["recovered"], bases(&cured)), (&json!(true), vec!["relaunch"]), "{cured}");
    client.ok("act.tap", json!({"value": "Stores"}));
    let named = client.ok("recover.auto", json!({"app": "com.android.settings"}));
    assert_eq!((&named["recovered"], bases(&named)), (&json!(true), vec!["relaunch"]), "{named}");
    client.fails("recover.auto", json!({"app": "not a package"}), "INVALID_PARAMS");
    client.fails("recover.auto", json!({"maxSteps": 0}), "INVALID_PARAMS");
}

#[test]
fn failed_check_is_over_when_its_text_is_in_sight() {
    let world = world();
    let mut client = world.client();
    launch(&mut client);
    client.ok("act.tap", json!({"value": "Basket", "then": "outline"}));
    client.fails("verify.textContains", json!({"text": "Stores"}), "ASSERTION_FAILED");
    let cured = client.ok("recover.auto", json!({}));
    assert_eq!((&cured["recovered"], bases(&cured)), (&json!(true), vec!["back"]), "{cured}");
    client.ok("verify.textContains", json!({"text": "Stores"}));
}

#[test]
fn daemon_that_is_killed_in_the_middle_does_nothing_twice() {
    let app = serde_json::from_str(SHOP).expect("an app");
    let mut world = World::with_process(TestPhone::with(|setup| setup.apps.push(app)), "");
    let mut client = world.client();
    launch(&mut client);
    popup(&world);
    client.fails("act.tap", json!({"value": "Basket"}), "TARGET_COVERED");
    world.phone.lock().faults.push(Fault { path: "/api/press/back".into(), skip: 0, times: 1, kind: Kind::Hold });
    let mut connection = world.daemon.connect();
    let call = json!({"requestKey": "cure"});
    let walker = std::thread::spawn(move || connection.call("recover.auto", call));
    wait::until("the first action", || (world.phone.requests("/api/press/back") == 1).then_some(()));
    world.daemon.kill();
    assert!(matches!(walker.join().expect("ends"), Err(CallError::Io(_))));
    world.phone.release();
    world.daemon = Daemon::start(world.dir());
    let mut client = world.client();
    let cured = client.ok("recover.auto", json!({"requestKey": "cure"}));
    assert_eq!((&cured["replayed"], &cured["stopped"]), (&json!(true), &json!("interrupted")), "{cured}");
    assert_eq!(cured["steps"][0]["failureCause"], "OUTCOME_UNKNOWN", "{cured}");
    assert_eq!(world.phone.requests("/api/press/back"), 1, "nothing was done again");
    client.fails("recover.auto", json!({"requestKey": "cure", "maxSteps": 2}), "CONFLICT");
}

/// Back is pressed a few times only where no way is known. After a relaunch, it may be pressed again.
#[test]
fn walk_that_would_end_without_a_way_relaunches_the_app_once() {
    let down =
        |goes: &str| json!([{"type": "list", "id": "menu", "rows": [{"title": "Deeper", "do": {"goto": goes}}]}]);
    let mut pages = json!({"home": {"activity": ".Home", "title": "Mine", "body": down("level1")}});
    for level in 1..=6 {
        let next = format!("level{}", level + 1);
        let page =
            json!({"activity": format!(".Level{level}"), "title": format!("{level} below"), "body": down(&next)});
        pages[format!("level{level}")] = page;
    }
    pages["level7"] =
        json!({"activity": ".Bottom", "title": "Bottom", "body": [{"type": "text", "id": "end", "text": "Water"}]});
    let app = json!({"package": "org.example.mine", "label": "Mine", "start": "home", "pages": pages});
    for recover in [false, true] {
        let app = serde_json::from_value(app.clone()).expect("an app");
        let world = World::with(TestPhone::with(|setup| setup.apps.push(app)), "");
        let mut client = world.client();
        client.ok("act.launch", json!({"package": "org.example.mine", "then": "outline"}));
        let point = client.ok("act.tap", json!({"value": "Deeper", "then": "outline"}))["point"].clone();
        client.ok("act.back", json!({"then": "outline"}));
        let at = |name: &str| point[name].as_f64().expect("a number") as f32;
        (1..=7).for_each(|_| world.phone.lock().touch("tap", at("x"), at("y")));
        assert_eq!(world.phone.page(), "level7");
        let walk = client.ok("act.goTo", json!({"state": "Mine", "app": "org.example.mine", "recover": recover}));
        let relaunches = walk["steps"].as_array().expect("steps").iter().filter(|s| s["kind"] == "recover").count();
        assert_eq!((walk["arrived"] == true, relaunches), (recover, usize::from(recover)), "{walk}");
        assert_eq!(walk["stopped"] == "noWay", !recover, "{walk}");
    }
}
