//! Pop-ups and dialogs.

use afd_tests::World;
use serde_json::{Value, json};

use super::{SETTINGS, SHOP, names, observe, observe_state, states, tap, transitions};

#[test]
fn pop_up_over_several_pages_is_one_interrupt_with_a_known_dismissal() {
    let world = World::with_clock();
    let mut client = world.client();
    for page in ["home", "sale", "search", "me", "help"] {
        world.advance(11_000);
        world.phone.scene(SHOP, Some(page));
        observe_state(&mut client);
    }
    let pages = states(&mut client, SHOP).len();
    assert_eq!(pages, 5);
    for page in ["home", "sale", "search", "me", "help"] {
        world.advance(11_000);
        world.phone.scene(SHOP, Some(page));
        observe_state(&mut client);
        world.phone.run(json!({"do": "popup", "dialog": "rate"}));
        observe(&mut client);
        tap(&mut client, "Not now");
        observe(&mut client);
    }
    let all = states(&mut client, SHOP);
    let popups: Vec<&Value> = all.iter().filter(|s| s["kind"] == "dialog").collect();
    assert_eq!((all.len(), popups.len()), (pages + 1, 1), "{:?}", names(&all));
    let interrupt = &popups[0]["interrupt"];
    assert_eq!(interrupt["over"].as_array().map(Vec::len), Some(5), "{interrupt}");
    let best = &interrupt["dismissals"][0];
    assert!(best["action"].as_str().is_some_and(|a| a.contains("Not now")), "{interrupt}");
    assert_eq!(best["count"], 5);
    // It is not a destination: no edge leads to it or from it.
    let popup = popups[0]["id"].as_str().expect("an id");
    assert!(transitions(&mut client, SHOP).iter().all(|e| e["from"] != popup && e["to"] != popup));
    // The next observation of it comes with a hint.
    world.advance(11_000);
    world.phone.run(json!({"do": "popup", "dialog": "rate"}));
    observe(&mut client);
    let hints = client.ok("observe.page", json!({"include": []}))["hints"].clone();
    let hint =
        hints.as_array().expect("hints").iter().find(|h| h["kind"] == "interrupt").unwrap_or_else(|| panic!("{hints}"));
    assert!(hint["text"].as_str().is_some_and(|t| t.contains("Not now")), "{hint}");
}

#[test]
fn dialog_opened_by_an_action_is_an_ordinary_state() {
    let world = World::with_clock();
    let mut client = world.client();
    world.phone.scene(SETTINGS, Some("network"));
    let page = observe_state(&mut client);
    for _ in 0..3 {
        tap(&mut client, "Forget");
        observe(&mut client);
        tap(&mut client, "Cancel");
        observe(&mut client);
    }
    let all = states(&mut client, SETTINGS);
    let dialog = all.iter().find(|s| s["kind"] == "dialog").expect("the dialog");
    assert_eq!((dialog["interrupt"].clone(), dialog["title"].as_str()), (Value::Null, Some("Forget network?")));
    let path = client.ok("visual.path", json!({"app": SETTINGS, "from": page, "to": "Forget network?"}));
    assert_eq!(
        (path["known"].as_bool(), path["route"]["steps"].as_array().map(Vec::len)),
        (Some(true), Some(1)),
        "{path}"
    );
}

#[test]
fn taps_next_to_a_pop_up_are_not_reported_as_dismissals() {
    let world = World::with_clock();
    let mut client = world.client();
    for page in ["reviews", "sale", "me", "help"] {
        world.advance(11_000);
        world.phone.scene(SHOP, Some(page));
        observe_state(&mut client);
        world.phone.run(json!({"do": "popup", "dialog": "rate"}));
        observe(&mut client);
        match page {
            // The row is visible and clickable next to the pop-up.
            "reviews" => drop(client.call("act.tap", json!({"by": "text", "value": "Customer 1", "exactMatch": true}))),
            _ => tap(&mut client, "Not now"),
        }
        observe(&mut client);
    }
    let popup = states(&mut client, SHOP).into_iter().find(|s| s["kind"] == "dialog").expect("the pop-up");
    let dismissals: Vec<&str> = popup["interrupt"]["dismissals"]
        .as_array()
        .expect("dismissals")
        .iter()
        .filter_map(|d| d["action"].as_str())
        .collect();
    assert_eq!(dismissals, ["tap button \"Not now\""]);
    // Its name is accepted, but it is reported as a pop-up and not as a destination.
    let path = client.ok("visual.path", json!({"app": SHOP, "from": "Me", "to": "Do you like Shop?"}));
    assert!(path["text"].as_str().is_some_and(|t| t.contains("pop-up")), "{path}");
}
