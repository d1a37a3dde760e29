//! Walking to a goal in a browser.

use serde_json::json;

use super::shop::Shop;
use super::{Lab, outline};
use crate::command_line::{afctl, temporary_home};

#[test]
#[ignore = "needs chromium"]
fn known_pages_are_reached_from_anywhere_and_addresses_are_opened() {
    let shop = Shop::new("/", "");
    let mut client = shop.world.client();
    for _ in 0..2 {
        client.ok("act.tap", json!({"value": "Basket", "then": "outline"}));
        client.ok("act.back", json!({"then": "outline"}));
    }
    let walk = client.ok("act.goTo", json!({"goal": "Basket", "then": "outline"}));
    assert_eq!((&walk["arrived"], walk["steps"].as_array().map(Vec::len)), (&json!(true), Some(1)), "{walk}");
    // No way from this page is known, but it has the same link.
    shop.open(&mut client, "/legal");
    outline(&mut client);
    let walk = client.ok("act.goTo", json!({"goal": "Basket"}));
    assert_eq!(walk["arrived"], true, "{walk}");
    let steps = walk["steps"].as_array().expect("steps");
    assert!(steps.iter().any(|step| step["action"].as_str().is_some_and(|a| a.contains("\"Basket\""))), "{walk}");
    let address = format!("{}/help", shop.site.url());
    let walk = client.ok("act.goTo", json!({"address": address}));
    assert_eq!((&walk["arrived"], &walk["steps"][0]["kind"]), (&json!(true), &json!("open")), "{walk}");
    let refused = client.fails("act.goTo", json!({"address": "file:///etc/passwd"}), "INVALID_PARAMS");
    assert!(refused.message.contains("address"), "{refused:?}");
}

/// Each session has a tab, so the page before is the one of its own tab. The switch has its state in its name, and the page
/// shows a message after it is flipped, as if the switch had led to another page.
#[test]
#[ignore = "needs chromium"]
fn another_tab_goes_to_a_switch_and_undoes_its_flip() {
    let shop = Shop::new("/login", "");
    let (mut first, mut second) = (shop.world.client(), shop.world.client_for("second"));
    for (field, text) in [("User name", "demo"), ("Password", "practice")] {
        first.ok("act.fill", json!({"value": field, "text": text}));
    }
    first.ok("act.tap", json!({"value": "Sign in", "then": "outline"}));
    first.ok("act.tap", json!({"value": "Settings", "then": "outline"}));
    first.ok("act.tap", json!({"value": "My account", "then": "outline"}));
    first.ok("act.back", json!({"then": "outline"}));
    first.ok("act.tap", json!({"value": "Privacy", "then": "outline"}));
    let flipped = first.ok("act.tap", json!({"value": "Suggestions from my purchases", "then": "diff"}));
    let changes = flipped["look"]["observation"]["outline"].as_str().expect("changes");
    assert!(changes.contains("switch \"Suggestions from my purchases, off\""), "{changes}");
    shop.open(&mut second, "/account");
    let walk = second.ok("act.goTo", json!({"goal": "Suggestions from my purchases"}));
    let steps: Vec<&str> =
        walk["steps"].as_array().expect("steps").iter().filter_map(|step| step["action"].as_str()).collect();
    let expected = ["tap button \"Settings\"", "tap button \"Privacy\""];
    assert_eq!((&walk["arrived"], steps.as_slice()), (&json!(true), expected.as_slice()), "{walk}");
    second.ok("act.tap", json!({"value": "Suggestions from my purchases", "then": "diff"}));
    second.ok("verify.element", json!({"text": "Suggestions from my purchases", "state": "on"}));
    let undone = second.ok("act.undo", json!({}));
    assert_eq!(undone["undone"], true, "{undone}");
    second.ok("verify.element", json!({"text": "Suggestions from my purchases", "state": "off"}));
}

#[test]
#[ignore = "needs chromium"]
fn the_tour_of_the_site_succeeds_and_leaves_nothing() {
    let home = temporary_home();
    for seed in ["1", "2"] {
        let mut tour = afctl(home.path());
        // Temporary directories are looked for, too.
        tour.args(["demo", "--browser", "--seed", seed]).env("TMPDIR", home.path());
        let out = tour.output().expect("runs");
        let text = String::from_utf8_lossy(&out.stdout);
        assert!(out.status.success(), "{text}\n{}", String::from_utf8_lossy(&out.stderr));
        for word in ["Compared:", "in 2 steps", "passed", "undid tap switch"] {
            assert!(text.contains(word), "the tour with seed {seed} does not mention {word}: {text}");
        }
    }
    let left: Vec<_> = std::fs::read_dir(home.path()).expect("lists").flatten().map(|e| e.file_name()).collect();
    assert_eq!(left, ["run"]);
}

/// A page may write the state of a switch into it, and the name of another one may end with such a word.
#[test]
#[ignore = "needs chromium"]
fn switches_keep_their_names_and_are_undone() {
    let lab = Lab::new("/");
    let mut client = lab.world.client();
    lab.open(&mut client, "/switches");
    let (off, on) = (["\"Delivery texts, off\"", "\"Always on\""], ["\"Delivery texts, on\"", "\"Always on\""]);
    let before = outline(&mut client);
    for label in off {
        assert!(before.contains(label), "{label} in {before}");
    }
    for name in ["Delivery texts", "Always on"] {
        client.ok("act.tap", json!({"value": name, "then": "outline"}));
        client.ok("verify.element", json!({"text": name, "state": "on"}));
        let after = outline(&mut client);
        assert!(on.iter().any(|label| after.contains(label) && label.contains(name)), "{after}");
        let undone = client.ok("act.undo", json!({}));
        assert_eq!(undone["undone"], true, "{name}: {undone}");
        client.ok("verify.element", json!({"text": name, "state": "off"}));
    }
}

/// Back would leave the page, and what was typed there.
#[test]
#[ignore = "needs chromium"]
fn what_changed_the_page_in_place_is_not_undone_by_back() {
    let lab = Lab::new("/");
    let mut client = lab.world.client();
    lab.open(&mut client, "/switches");
    client.ok("act.fill", json!({"value": "Note", "text": "half a sentence"}));
    for name in ["Keep", "Blue"] {
        client.ok("act.tap", json!({"value": name, "then": "outline"}));
        client.fails("act.undo", json!({}), "NOT_FOUND");
    }
    let after = outline(&mut client);
    assert!(after.starts_with("page \"Switches\"") && after.contains("half a sentence"), "{after}");
}
