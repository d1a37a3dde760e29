//! Observations: consistent page identity, settling, reliability, rows, and hints.

use afd_phone::fault::Kind;
use afd_tests::{Client, TestPhone, World};
use serde_json::{Value, json};

/// Returns the fingerprints and the page keys that the three page observations report.
fn page_identities(world: &World) -> (Vec<String>, Vec<String>) {
    let mut client = world.client();
    let seen: Vec<Value> = ["observe.screen", "observe.refs", "observe.page"].map(|m| client.ok(m, json!({}))).to_vec();
    let of = |key: &str| seen.iter().map(|s| s["page"][key].as_str().unwrap_or_default().to_owned()).collect();
    (of("fingerprint"), of("key"))
}

#[test]
fn page_identity_is_the_same_in_each_observation_and_dialect() {
    let world = World::new();
    let mut all = Vec::new();
    for app in [
        ("com.android.settings", None),
        ("org.example.shop", Some("product")),
        ("org.example.reader", Some("page")),
        ("org.example.bank", None),
    ] {
        let mut of_app = Vec::new();
        for dialect in [1, 2] {
            for shizuku in [true, false] {
                world.phone.scene(app.0, app.1);
                world.phone.run(json!({"do": "dialect", "dialect": dialect}));
                world.phone.run(json!({"do": "capability", "shizuku": shizuku}));
                let (fingerprints, keys) = page_identities(&world);
                assert!(!fingerprints[0].is_empty());
                assert!(fingerprints.iter().all(|f| *f == fingerprints[0]), "{dialect} {shizuku} {fingerprints:#?}");
                assert!(keys.iter().all(|k| *k == keys[0]));
                assert!(fingerprints[0].contains(if shizuku { "mode=SYSTEM_API" } else { "mode=ACCESSIBILITY" }));
                assert!(!keys[0].contains("mode="));
                of_app.push(keys[0].clone());
            }
        }
        // Without Shizuku the package replaces the activity; the rest of the key is the same.
        let rest = |key: &str| key.split_once('|').map(|(_, r)| r.to_owned());
        assert!(of_app.iter().all(|k| k.starts_with(&format!("act={}/", app.0))), "{of_app:#?}");
        assert!(of_app.iter().all(|k| rest(k) == rest(&of_app[0])), "{of_app:#?}");
        assert_eq!(of_app[0], of_app[2], "the dialect makes no difference");
        all.push(of_app[0].clone());
    }
    all.dedup();
    assert_eq!(all.len(), 4, "different pages have different keys");
}

#[test]
fn fingerprint_lists_activity_mode_resource_ids_and_classes() {
    let world = World::new();
    let page = world.client().ok("observe.page", json!({}));
    assert_eq!(
        page["page"]["fingerprint"],
        "act=com.android.settings/.Settings|mode=SYSTEM_API|wv=0|rid=recycler_view,toolbar,toolbar_title|cls=FrameLayout,RecyclerView,Toolbar"
    );
}

#[test]
fn observation_reports_whether_the_page_has_settled() {
    let world = World::new();
    let mut client = world.client();
    let page = client.ok("observe.page", json!({}));
    assert_eq!((page["settled"].as_bool(), page["reliable"].as_bool()), (Some(true), Some(true)));

    world.phone.scene("org.example.lab", Some("restless"));
    let page = client.ok("observe.page", json!({}));
    assert_eq!((page["settled"].as_bool(), page["reliable"].as_bool()), (Some(false), Some(false)));
    assert!(page["reason"].as_str().is_some_and(|r| r.contains("moving")), "{page}");
    assert!(page["refs"]["rows"].as_array().is_some_and(|r| !r.is_empty()), "the response is complete");

    world.phone.scene("org.example.lab", Some("moving"));
    let page = client.ok("observe.page", json!({"waitMs": 10_000}));
    assert_eq!(page["settled"], true, "the page settles eventually");

    world.phone.scene("com.android.settings", Some("about"));
    let once = client.ok("observe.page", json!({"settle": false}));
    assert_eq!(
        (once["settled"].as_bool(), once["reliable"].as_bool()),
        (Some(false), Some(true)),
        "a single read cannot show that it has settled"
    );
}

#[test]
fn unreliable_observations_are_returned_but_not_cached() {
    let world = World::new();
    let mut client = world.client();
    client.ok("observe.page", json!({}));
    let known = client.ok("memory.context", json!({}));
    world.phone.run(json!({"do": "capability", "accessibility": false}));
    let page = client.ok("observe.page", json!({}));
    assert_eq!(page["reliable"], false);
    assert!(page["reason"].as_str().is_some_and(|r| r.contains("accessibility service")), "{page}");
    assert_eq!(client.ok("memory.context", json!({})), known, "nothing is cached");

    world.phone.run(json!({"do": "capability", "accessibility": true}));
    world.phone.fault_always("/api/screen", Kind::Flap);
    let page = client.ok("observe.page", json!({"settle": false}));
    assert_eq!((page["reliable"].as_bool(), page["topActivity"].is_null()), (Some(false), true));
    assert_eq!(page["page"]["key"], "");
}

#[test]
fn rows_are_compact_by_default_and_full_on_request() {
    let world = World::new();
    let mut client = world.client();
    let short = client.ok("observe.screen", json!({"maxRows": 2, "fields": ["id", "text"]}));
    assert_eq!(short["rows"].as_array().map(Vec::len), Some(2));
    assert!(short["rows"][0].get("class").is_none());
    assert_eq!(short["truncated"], true);
    let full = client.ok("observe.page", json!({"full": true, "include": ["screen"]}));
    assert_eq!(full["screen"]["rowCount"], full["screen"]["returnedRows"]);
    assert!(full["screen"]["windows"].as_array().is_some_and(|w| w.iter().any(|w| w["kind"] == "SYSTEM")));
    assert!(full.get("refs").is_none());
}

#[test]
fn top_reports_the_activity_or_at_least_the_app() {
    let world = World::new();
    let mut client = world.client();
    assert_eq!(client.ok("observe.top", json!({}))["topActivity"], "com.android.settings/.Settings");
    world.phone.run(json!({"do": "capability", "shizuku": false}));
    let top = client.ok("observe.top", json!({}));
    assert_eq!((top["topActivity"].is_null(), top["app"].as_str()), (true, Some("com.android.settings")));
}

#[test]
fn verify_finds_the_last_word_of_a_long_text() {
    let world = World::with(TestPhone::start(), "");
    let mut client = world.client();
    world.phone.scene("org.example.reader", Some("article"));
    client.ok("verify.textContains", json!({"text": "pomegranate"}));
    let page = client.ok("observe.page", json!({"include": []}));
    assert_eq!((page["hasWebView"].as_bool(), page["nodeReliability"].as_str()), (Some(true), Some("low")));
}

#[test]
fn hints_are_part_of_an_observation_unless_disabled() {
    let world = World::new();
    let mut client = world.client();
    assert_eq!(client.ok("observe.page", json!({}))["hints"], json!([]));
    let alias = client.alias("Wi-Fi");
    client.ok("act.tap", json!({"by": "ref", "value": alias}));
    client.ok("observe.page", json!({}));
    client.ok("act.back", json!({}));
    let page = client.ok("observe.page", json!({}));
    let hint = &page["hints"][0];
    assert_eq!((hint["kind"].as_str(), hint["target"]["label"].as_str()), (Some("action"), Some("Wi-Fi, Connected")));
    assert!(hint["text"].as_str().is_some_and(|t| t.contains("leads to \"Wi-Fi\" (1 of 1)")));
    assert!(hint["confidence"].as_f64().is_some_and(|c| c > 0.5 && c < 1.0));
    assert_eq!(hint["evidence"].as_array().map(Vec::len), Some(1));
    assert_eq!(client.ok("observe.page", json!({"hints": false}))["hints"], json!([]));
}

#[test]
fn health_reports_whether_the_token_is_accepted() {
    let world = World::new();
    let mut client = world.client();
    assert_eq!(client.ok("device.health", json!({}))["token"], "accepted");
    world.phone.run(json!({"do": "token", "token": "another"}));
    let health = client.ok("device.health", json!({}));
    assert_eq!((health["status"].as_str(), health["token"].as_str()), (Some("healthy"), Some("refused")));
}

#[test]
fn version_of_refs_grows_when_their_content_differs() {
    let world = World::new();
    let mut client = world.client();
    let version = |client: &mut Client| {
        client.ok("observe.refs", json!({"hints": false}))["refVersion"].as_i64().expect("a number")
    };
    assert_eq!((version(&mut client), version(&mut client)), (1, 1), "the same content");
    world.phone.scene("com.android.settings", Some("network"));
    assert_eq!(version(&mut client), 2);
    assert_eq!(client.ok("memory.context", json!({}))["refVersion"], 2);
    assert!(world.client_for("other").ok("memory.context", json!({}))["refVersion"].is_null());
}
