//! What the result of an action contains.

use afd_tests::{Client, World};
use serde_json::json;

#[test]
fn answers_name_what_was_acted_on() {
    let world = World::new();
    let mut client = world.client();
    let point = client.ok("act.tap", json!({"x": 540, "y": 400}));
    assert_eq!(point["target"]["title"], "Wi-Fi", "{point}");
    client.ok("act.back", json!({}));
    let label = client.ok("act.tap", json!({"value": "wi-fi"}));
    assert_eq!((label["target"]["role"].as_str(), label["target"]["title"].as_str()), (Some("row"), Some("Wi-Fi")));
}

#[test]
fn keyboard_is_told_apart_from_the_page() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene("org.example.bank", None);
    client.ok("observe.page", json!({"format": "outline"}));
    let tap = client.ok("act.tap", json!({"value": "User name", "then": "diff"}));
    let look = &tap["look"];
    assert_eq!((look["changed"].as_bool(), look["keyboard"].as_str()), (Some(false), Some("opened")), "{look}");
    assert_eq!(look["note"], "the keyboard opened");
    let outline = look["observation"]["outline"].as_str().expect("an outline");
    assert!(outline.contains("keyboard open") && !outline.contains("nothing changed"), "{outline}");
    let typed = client.ok("act.text", json!({"text": "alice", "then": "diff"}));
    assert_eq!(typed["look"]["changed"], true, "{typed}");
    assert!(!typed.to_string().contains("nothing changed"));
}

#[test]
fn fill_fails_where_the_field_shows_another_text() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene("org.example.bank", None);
    let field = json!({"by": "resId", "value": "user_field"});
    let fill = |client: &mut Client, text: &str| {
        let mut params = field.clone();
        params["text"] = json!(text);
        client.call("act.fill", params)
    };
    // The phone ignores typed text.
    world.phone.fault_always(
        "/api/text",
        afd_phone::fault::Kind::Status {
            status: 200,
            body: json!({"ok": true, "data": "Typed text", "error": null}).to_string(),
            content_type: Some("application/json".into()),
        },
    );
    let error = fill(&mut client, "plain").expect_err("the field stays empty");
    assert_eq!(error.code, "TEXT_DIFFERS");
    // A hint of the field that equals the text is not mistaken for the text.
    let error = fill(&mut client, "User name").expect_err("the field shows its hint");
    assert_eq!(error.code, "TEXT_DIFFERS");
    world.phone.run(json!({"do": "clearFaults"}));
    assert_eq!(fill(&mut client, "User name").expect("fills")["result"], "filled");
    assert_eq!(world.phone.lock().var("user"), "User name");
    // Only few requests are needed, however long the previous text is.
    let long = "x".repeat(280);
    fill(&mut client, &long).expect("fills");
    let before = world.phone.requests("/api/press/key") + world.phone.requests("/api/shell");
    fill(&mut client, "100%sure ").expect("fills");
    assert_eq!(world.phone.lock().var("user"), "100%sure ");
    let pressed = world.phone.requests("/api/press/key") + world.phone.requests("/api/shell") - before;
    assert!(pressed <= 6, "{pressed} requests to delete 280 characters");
    let log = client.ok("memory.log", json!({"limit": 100})).to_string();
    assert!(!log.contains("100%sure") && !log.contains("plain\""), "{log}");
    client.fails("act.text", json!({"text": "gr\u{fc}ezi"}), "UNSUPPORTED");
}

#[test]
fn hints_are_worth_their_tokens() {
    let world = World::new();
    let mut client = world.client();
    for _ in 0..3 {
        client.ok("observe.page", json!({}));
        client.ok("act.tap", json!({"value": "Display"}));
        client.ok("observe.page", json!({}));
        client.ok("act.back", json!({}));
        client.ok("observe.page", json!({}));
    }
    client.ok("act.home", json!({}));
    client.ok("observe.page", json!({}));
    client.ok("act.launch", json!({"package": "com.android.settings"}));
    let seen = client.ok("observe.page", json!({"format": "outline"}));
    let shown = seen["outline"].as_str().expect("an outline");
    assert!(shown.lines().any(|l| l.contains("\"Display") && l.contains("-> ")), "{shown}");
    assert!(!shown.contains("known:") && !shown.contains("home"), "{shown}");
    let without = client.ok("observe.page", json!({"format": "outline", "hints": false}))["outline"]
        .as_str()
        .expect("an outline")
        .len();
    assert!((shown.len() - without) * 10 <= without.max(480), "{shown}");
    let all = client.ok("observe.page", json!({"format": "outline", "hints": "all"}));
    assert!(all["hints"].as_array().map_or(0, Vec::len) > seen["hints"].as_array().map_or(0, Vec::len), "{all}");
    client.fails("observe.page", json!({"hints": "some"}), "INVALID_PARAMS");
}
