//! Outcomes of actions: late pages, no change, several outcomes, failures and recoveries. The tests set pages that the
//! practice phone does not show by itself, and advance the daemon's clock instead of waiting.

use afd_tests::{Client, World};
use serde_json::{Value, json};

const SETTINGS: &str = "com.android.settings";

/// Taps a row by its title.
fn tap(client: &mut Client, title: &str) {
    client.ok("act.tap", json!({"by": "text", "value": title, "exactMatch": true}));
}

/// Observes the page and returns the observation.
fn look(client: &mut Client) -> Value {
    client.ok("observe.page", json!({}))
}

/// Returns the experience with an action on a row of the settings app.
fn known(client: &mut Client, title: &str) -> Value {
    let all = client.ok("memory.experience", json!({"app": SETTINGS, "limit": 100}));
    let found = all["transitions"]
        .as_array()
        .expect("transitions")
        .iter()
        .find(|t| t["action"]["target"]["title"] == title)
        .cloned();
    found.unwrap_or_else(|| panic!("nothing is known of {title}: {all}"))
}

/// Returns the outcomes of an action as kind, name of the page, and count.
fn outcomes(known: &Value) -> Vec<(String, String, i64)> {
    let one = |o: &Value| {
        let text = |key: &str| o[key].as_str().unwrap_or_default().to_owned();
        (text("kind"), text("name"), o["count"].as_i64().unwrap_or_default())
    };
    known["outcomes"].as_array().expect("outcomes").iter().map(one).collect()
}

fn outcome(kind: &str, name: &str, count: i64) -> (String, String, i64) {
    (kind.to_owned(), name.to_owned(), count)
}

/// Returns the texts of all hints for the current page.
fn hints(client: &mut Client) -> Vec<String> {
    let page = client.ok("observe.page", json!({"hints": "all"}));
    page["hints"].as_array().expect("hints").iter().filter_map(|h| h["text"].as_str().map(str::to_owned)).collect()
}

#[test]
fn page_that_comes_late_is_the_outcome_and_not_the_one_seen_first() {
    let world = World::with_clock();
    let mut client = world.client();
    for round in 0..3 {
        world.advance(20_000);
        world.phone.scene(SETTINGS, Some("display"));
        look(&mut client);
        tap(&mut client, "Font size");
        // The page is still the old one, and it has settled.
        look(&mut client);
        world.advance(2_000);
        world.phone.scene(SETTINGS, Some("storage"));
        match round {
            2 => drop(client.ok("verify.textContains", json!({"text": "GB"}))),
            _ => drop(look(&mut client)),
        }
    }
    let font_size = known(&mut client, "Font size");
    assert_eq!(outcomes(&font_size), [outcome("page", "Storage", 3)], "{font_size}");
    assert_eq!((font_size["verifiedCount"].as_i64(), font_size["successCount"].as_i64()), (Some(1), Some(3)));
    assert!(font_size["outcomes"][0]["meanMs"].as_i64().is_some_and(|ms| ms >= 2_000), "{font_size}");
    // Changes more than ten seconds later are not attributed to the action.
    world.advance(20_000);
    world.phone.scene(SETTINGS, Some("battery"));
    look(&mut client);
    assert_eq!(outcomes(&known(&mut client, "Font size")), [outcome("page", "Storage", 3)]);
}

#[test]
fn later_look_corrects_an_outcome_until_it_is_confirmed() {
    let world = World::with_clock();
    let mut client = world.client();
    look(&mut client);
    tap(&mut client, "Storage");
    look(&mut client);
    assert_eq!(outcomes(&known(&mut client, "Storage")), [outcome("page", "Storage", 1)]);
    world.advance(3_000);
    world.phone.scene(SETTINGS, Some("battery"));
    look(&mut client);
    assert_eq!(outcomes(&known(&mut client, "Storage")), [outcome("page", "Battery", 1)]);
    client.ok("verify.textContains", json!({"text": "Battery"}));
    world.advance(3_000);
    world.phone.scene(SETTINGS, Some("storage"));
    look(&mut client);
    assert_eq!(outcomes(&known(&mut client, "Storage")), [outcome("page", "Battery", 1)], "a check has confirmed it");
}

#[test]
fn check_that_came_too_early_is_not_held_against_a_late_page() {
    let world = World::with_clock();
    let mut client = world.client();
    world.phone.scene(SETTINGS, Some("display"));
    look(&mut client);
    tap(&mut client, "Font size");
    client.fails("verify.textContains", json!({"text": "GB"}), "ASSERTION_FAILED");
    assert_eq!(known(&mut client, "Font size")["failureCount"], 1);
    world.advance(2_000);
    world.phone.scene(SETTINGS, Some("storage"));
    client.ok("verify.textContains", json!({"text": "GB"}));
    let font_size = known(&mut client, "Font size");
    assert_eq!(
        (font_size["failureCount"].as_i64(), font_size["verifiedCount"].as_i64()),
        (Some(0), Some(1)),
        "{font_size}"
    );
}

#[test]
fn row_that_does_nothing_is_known_to_do_nothing_and_ranks_last() {
    let world = World::with_clock();
    let mut client = world.client();
    world.phone.scene(SETTINGS, Some("display"));
    look(&mut client);
    for _ in 0..3 {
        tap(&mut client, "Font size");
        look(&mut client);
        world.advance(4_000);
        look(&mut client);
    }
    tap(&mut client, "Screen timeout");
    look(&mut client);
    client.ok("act.back", json!({}));
    let font_size = known(&mut client, "Font size");
    assert_eq!(outcomes(&font_size), [outcome("nothing", "", 3)], "{font_size}");
    assert_eq!((font_size["successCount"].as_i64(), font_size["nothingCount"].as_i64()), (Some(0), Some(3)));
    let hints = hints(&mut client);
    assert_eq!(
        hints,
        [
            "tap row \"Screen timeout\" leads to a dialog \"Screen timeout\" (1 of 1)",
            "tap row \"Font size\" did nothing 3 of 3 times"
        ]
    );
    // It is not an edge of the state graph.
    let edges = client.ok("visual.transitions", json!({"app": SETTINGS}));
    assert!(!edges.to_string().contains("Font size"), "{edges}");
}

#[test]
fn each_outcome_of_an_action_is_told_with_its_share() {
    let world = World::with_clock();
    let mut client = world.client();
    for round in 0..4 {
        world.advance(20_000);
        world.phone.scene(SETTINGS, Some("network"));
        look(&mut client);
        tap(&mut client, "Forget");
        if round == 1 {
            world.advance(1_000);
            world.phone.scene(SETTINGS, Some("battery"));
        }
        look(&mut client);
    }
    world.advance(20_000);
    world.phone.scene(SETTINGS, Some("network"));
    let forget = known(&mut client, "Forget");
    assert_eq!(outcomes(&forget), [outcome("page", "Forget network?", 3), outcome("page", "Battery", 1)], "{forget}");
    assert_eq!(forget["outcomes"][0]["dialog"], true);
    let hints = hints(&mut client);
    assert_eq!(hints[0], "tap button \"Forget\": 3 of 4 a dialog \"Forget network?\", 1 of 4 \"Battery\"");
}

#[test]
fn hints_of_one_page_do_not_show_on_another_of_the_same_activity() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene(SETTINGS, Some("wifi"));
    look(&mut client);
    tap(&mut client, "Use Wi-Fi");
    look(&mut client);
    world.phone.scene(SETTINGS, Some("bluetooth"));
    assert_eq!(hints(&mut client), Vec::<String>::new());
    world.phone.scene(SETTINGS, Some("wifi"));
    assert_eq!(hints(&mut client).len(), 1);
}

#[test]
fn alias_of_one_page_is_stale_on_another_of_the_same_activity() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene(SETTINGS, Some("wifi"));
    // The second element is on both pages and looks the same.
    for label in ["Use Wi-Fi", "Navigate up"] {
        world.phone.scene(SETTINGS, Some("wifi"));
        let alias = client.alias(label);
        world.phone.scene(SETTINGS, Some("bluetooth"));
        client.fails("act.tap", json!({"by": "ref", "value": alias}), "REF_ALIAS_STALE");
    }
}

#[test]
fn recovery_after_which_the_same_fails_again_did_not_work() {
    let world = World::new();
    let mut client = world.client();
    look(&mut client);
    let counts = |client: &mut Client, verb: &str| {
        let known = client.ok("memory.experience", json!({"failureCause": "TARGET_NOT_FOUND"}));
        let of_verb =
            known["recoveries"].as_array().expect("recoveries").iter().filter(|r| r["recovery"]["verb"] == verb);
        let found: Vec<&Value> = of_verb.collect();
        ["successCount", "failureCount", "undecidedCount"]
            .map(|key| found.iter().map(|r| r[key].as_i64().expect("a count")).sum::<i64>())
    };
    client.fails("act.tap", json!({"by": "text", "value": "Screen timeout"}), "TARGET_NOT_FOUND");
    client.ok("recover.back", json!({}));
    look(&mut client);
    client.fails("act.tap", json!({"by": "text", "value": "Screen timeout"}), "TARGET_NOT_FOUND");
    assert_eq!(counts(&mut client, "back"), [0, 1, 0]);
    // Of two recoveries, the last before the success is credited.
    client.ok("recover.back", json!({}));
    client.ok("recover.relaunch", json!({"package": SETTINGS}));
    world.phone.scene(SETTINGS, Some("display"));
    look(&mut client);
    client.ok("act.tap", json!({"by": "text", "value": "Screen timeout"}));
    assert_eq!((counts(&mut client, "back"), counts(&mut client, "relaunch")), ([0, 1, 1], [1, 0, 0]));
}

#[test]
fn recovery_that_leaves_the_app_is_told_as_such() {
    let world = World::new();
    let mut client = world.client();
    look(&mut client);
    client.fails("act.tap", json!({"by": "text", "value": "Pluto"}), "TARGET_NOT_FOUND");
    client.ok("recover.back", json!({"times": 3}));
    let gone = look(&mut client);
    assert_ne!(gone["app"], SETTINGS);
    let known = client.ok("memory.experience", json!({"failureCause": "TARGET_NOT_FOUND"}))["recoveries"][0].clone();
    assert!(known["text"].as_str().is_some_and(|t| t.contains("left the app")), "{known}");
}

#[test]
fn outcome_is_known_even_if_nobody_looks() {
    let world = World::new();
    let mut client = world.client();
    look(&mut client);
    tap(&mut client, "Storage");
    let storage = afd_tests::wait::until("the daemon's own look", || {
        let all = client.ok("memory.experience", json!({"app": SETTINGS}));
        all["transitions"].as_array().filter(|t| !t.is_empty()).map(|t| t[0].clone())
    });
    assert_eq!(outcomes(&storage), [outcome("page", "Storage", 1)]);
    // The page is known to have settled, so one read is enough now.
    let reads = || world.phone.requests("/api/screen");
    let before = reads();
    assert_eq!(look(&mut client)["settled"], true);
    assert_eq!(reads() - before, 1);
}

#[test]
fn act_without_a_look_in_between_inherits_the_page_that_the_act_before_led_to() {
    let world = World::new();
    let mut client = world.client();
    look(&mut client);
    tap(&mut client, "Storage");
    client.ok("act.back", json!({}));
    client.ok("act.home", json!({}));
    let log = client.ok("memory.log", json!({}));
    for event in log["events"].as_array().expect("events") {
        assert!(event["app"].is_string() && event["activity"].is_string() && event["page"].is_object(), "{event}");
    }
    // Assumed pages do not update the memory.
    let all = client.ok("memory.experience", json!({"app": SETTINGS}));
    assert!(all["transitions"].as_array().expect("transitions").iter().all(|t| t["action"]["verb"] == "tap"), "{all}");
}

#[test]
fn without_shizuku_nothing_is_claimed_about_activities() {
    let world = World::new();
    let mut client = world.client();
    world.phone.run(json!({"do": "capability", "shizuku": false}));
    world.phone.scene(SETTINGS, Some("wifi"));
    assert_eq!(look(&mut client)["mode"], "ACCESSIBILITY");
    tap(&mut client, "Use Wi-Fi");
    client.fails("verify.topActivity", json!({"expected": ".SubSettings"}), "UNSUPPORTED");
    client.ok("verify.topActivity", json!({"expected": "com.android.settings"}));
    client.fails("verify.topActivity", json!({"expected": "org.example.shop"}), "ASSERTION_FAILED");
    client.ok("verify.topActivity", json!({"expected": "com.android.settings", "mode": "equals"}));
    // Pages are distinguished by their content.
    world.phone.scene(SETTINGS, Some("bluetooth"));
    assert_eq!(hints(&mut client), Vec::<String>::new());
    world.phone.scene(SETTINGS, Some("wifi"));
    let hints = hints(&mut client);
    assert!(hints.iter().any(|h| h.starts_with("tap row \"Use Wi-Fi\"")), "{hints:?}");
}

#[test]
fn look_waits_for_an_animation_but_not_for_a_page_that_is_never_still() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene("org.example.lab", None);
    look(&mut client);
    tap(&mut client, "Moving");
    assert_eq!(look(&mut client)["settled"], true, "it moves for 700 ms");
    world.phone.scene("org.example.lab", Some("restless"));
    let reads = |client: &mut Client| {
        let before = world.phone.requests("/api/screen");
        assert_eq!(look(client)["settled"], false);
        world.phone.requests("/api/screen") - before
    };
    for _ in 0..3 {
        assert!(reads(&mut client) > 2);
    }
    assert_eq!(reads(&mut client), 2);
}

#[test]
fn modal_dialog_is_told_and_what_lies_behind_it_is_not_offered() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene(SETTINGS, Some("network"));
    assert_eq!(look(&mut client).get("dialog"), None);
    tap(&mut client, "Forget");
    let page = look(&mut client);
    assert_eq!(page["dialog"], "Forget network?");
    let labels: Vec<&str> =
        page["refs"]["rows"].as_array().expect("rows").iter().filter_map(|r| r["label"].as_str()).collect();
    assert!(labels.contains(&"Cancel") && !labels.contains(&"Navigate up"), "{labels:?}");
}

#[test]
fn path_leads_to_the_page_behind_a_row_even_if_it_was_seen_once() {
    let world = World::new();
    let mut client = world.client();
    look(&mut client);
    tap(&mut client, "Storage");
    look(&mut client);
    client.ok("act.back", json!({}));
    look(&mut client);
    let path = client.ok("visual.path", json!({"to": "storage"}));
    assert_eq!((path["known"].as_bool(), path["to"]["name"].as_str()), (Some(true), Some("Storage")), "{path}");
    let steps: Vec<&str> =
        path["route"]["steps"].as_array().expect("steps").iter().filter_map(|s| s["action"].as_str()).collect();
    assert_eq!(steps, ["tap row \"Storage\""]);
}

#[test]
fn pop_up_is_transparent_from_its_first_coming() {
    let world = World::with_clock();
    let mut client = world.client();
    let shop = "org.example.shop";
    world.phone.scene(shop, Some("me"));
    look(&mut client);
    look(&mut client);
    tap(&mut client, "Help");
    // The pop-up appears together with the page.
    world.phone.run(json!({"do": "popup", "dialog": "rate"}));
    look(&mut client);
    look(&mut client);
    tap(&mut client, "Not now");
    look(&mut client);
    look(&mut client);
    world.advance(20_000);
    world.phone.scene(shop, Some("me"));
    look(&mut client);
    let path = client.ok("visual.path", json!({"to": "Help"}));
    let steps: Vec<&str> =
        path["route"]["steps"].as_array().expect("steps").iter().filter_map(|s| s["action"].as_str()).collect();
    assert_eq!(steps.len(), 1, "{path}");
    assert!(steps[0].contains("Help"), "{path}");
    let all = client.ok("memory.experience", json!({"app": shop, "limit": 100}));
    let help = all["transitions"]
        .as_array()
        .expect("transitions")
        .iter()
        .find(|t| t["action"]["target"]["title"] == "Help")
        .expect("known");
    assert_eq!(outcomes(help), [outcome("page", "Help", 1)], "not the dialog that came by itself: {help}");
}

#[test]
fn sites_and_their_pages_keep_hints_to_themselves() {
    let world = World::with_clock();
    let mut client = world.client();
    let browser = "org.example.browser";
    world.phone.scene(browser, None);
    look(&mut client);
    client.ok("act.tap", json!({"by": "desc", "value": "Travel info"}));
    look(&mut client);
    for other in ["info", "dev"] {
        world.advance(20_000);
        world.phone.scene(browser, Some(other));
        let there = hints(&mut client);
        assert!(there.iter().all(|h| !h.contains("Travel info")), "{other}: {there:?}");
    }
    world.phone.scene(browser, None);
    let here = hints(&mut client);
    assert!(here.iter().any(|h| h.contains("Travel info")), "{here:?}");
}
