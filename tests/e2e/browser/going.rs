//! Walking to a goal in a browser.

use serde_json::json;

use super::outline;
use super::shop::Shop;

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
