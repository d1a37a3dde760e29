//! Pop-ups and dialogs.

use afd_tests::World;
use serde_json::{Value, json};

use super::{SETTINGS, SHOP, known, look, names, states, tap, transitions};

#[test]
fn a_pop_up_over_five_pages_is_one_interrupt_that_one_knows_how_to_dismiss() {
    let world = World::new();
    let mut client = world.client();
    for page in ["home", "sale", "search", "me", "help"] {
        world.phone.scene(SHOP, Some(page));
        known(&mut client);
    }
    let pages = states(&mut client, SHOP).len();
    assert_eq!(pages, 5);
    for page in ["home", "sale", "search", "me", "help"] {
        world.phone.scene(SHOP, Some(page));
        known(&mut client);
        world.phone.run(json!({"do": "popup", "dialog": "rate"}));
        look(&mut client);
        tap(&mut client, "Not now");
        look(&mut client);
    }
    let all = states(&mut client, SHOP);
    let popups: Vec<&Value> = all.iter().filter(|s| s["kind"] == "dialog").collect();
    assert_eq!((all.len(), popups.len()), (pages + 1, 1), "{:?}", names(&all));
    let interrupt = &popups[0]["interrupt"];
    assert_eq!(interrupt["over"].as_array().map(Vec::len), Some(5), "{interrupt}");
    let best = &interrupt["dismissals"][0];
    assert!(best["action"].as_str().is_some_and(|a| a.contains("Not now")), "{interrupt}");
    assert_eq!(best["count"], 5);
    // It is no place to go through, and no edge leads to it.
    let popup = popups[0]["id"].as_str().expect("an id");
    assert!(transitions(&mut client, SHOP).iter().all(|e| e["from"] != popup && e["to"] != popup));
    // Whoever sees it next is told.
    world.phone.run(json!({"do": "popup", "dialog": "rate"}));
    look(&mut client);
    let hints = client.ok("observe.page", json!({"include": []}))["hints"].clone();
    let hint = hints.as_array().expect("hints").iter().find(|h| h["kind"] == "interrupt").unwrap_or_else(|| panic!("{hints}"));
    assert!(hint["text"].as_str().is_some_and(|t| t.contains("Not now")), "{hint}");
}

#[test]
fn a_dialog_that_one_action_brings_up_is_a_state_like_others() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene(SETTINGS, Some("network"));
    let page = known(&mut client);
    for _ in 0..3 {
        tap(&mut client, "Forget");
        look(&mut client);
        tap(&mut client, "Cancel");
        look(&mut client);
    }
    let all = states(&mut client, SETTINGS);
    let dialog = all.iter().find(|s| s["kind"] == "dialog").expect("the dialog");
    assert_eq!((dialog["interrupt"].clone(), dialog["title"].as_str()), (Value::Null, Some("Forget network?")));
    let path = client.ok("visual.path", json!({"app": SETTINGS, "from": page, "to": "Forget network?"}));
    assert_eq!((path["known"].as_bool(), path["route"]["steps"].as_array().map(Vec::len)), (Some(true), Some(1)), "{path}");
}

#[test]
fn what_is_tapped_beside_a_pop_up_is_no_advice() {
    let world = World::new();
    let mut client = world.client();
    for page in ["reviews", "sale", "me", "help"] {
        world.phone.scene(SHOP, Some(page));
        known(&mut client);
        world.phone.run(json!({"do": "popup", "dialog": "rate"}));
        look(&mut client);
        match page {
            // The row can be seen and reached beside the pop-up.
            "reviews" => drop(client.call("act.tap", json!({"by": "text", "value": "Customer 1", "exactMatch": true}))),
            _ => tap(&mut client, "Not now"),
        }
        look(&mut client);
    }
    let popup = states(&mut client, SHOP).into_iter().find(|s| s["kind"] == "dialog").expect("the pop-up");
    let ways: Vec<&str> = popup["interrupt"]["dismissals"].as_array().expect("ways").iter().filter_map(|d| d["action"].as_str()).collect();
    assert_eq!(ways, ["tap button \"Not now\""]);
    // It can be named, and is said to be no place to go to.
    let path = client.ok("visual.path", json!({"app": SHOP, "from": "Me", "to": "Do you like Shop?"}));
    assert!(path["text"].as_str().is_some_and(|t| t.contains("pop-up")), "{path}");
}
