//! Phones that are off, send broken responses or do not respond: calls return the right error code and a hint, and the
//! daemon keeps working.

use afd_phone::fault::Kind;
use afd_tests::{TestPhone, World};
use serde_json::json;

fn status_fault(status: u16, body: &str, content_type: Option<&str>) -> Kind {
    Kind::Status { status, body: body.into(), content_type: content_type.map(str::to_owned) }
}

#[test]
fn every_kind_of_broken_response_has_an_error_code_and_a_hint() {
    let world = World::new();
    let mut client = world.client();
    for (fault, code) in [
        (status_fault(401, "Invalid bearer token", Some("text/plain; charset=UTF-8")), "DEVICE_AUTH"),
        (status_fault(404, "", None), "DEVICE_ERROR"),
        (status_fault(500, "boom", Some("text/plain; charset=UTF-8")), "DEVICE_ERROR"),
        (status_fault(500, "", None), "DEVICE_ERROR"),
        (status_fault(200, "<html>captive portal</html>", Some("text/html")), "DEVICE_ERROR"),
        (
            status_fault(200, r#"{"ok":true,"data":"no screen at all","error":null}"#, Some("application/json")),
            "DEVICE_ERROR",
        ),
    ] {
        world.phone.fault("/api/screen", fault.clone());
        let error = client.fails("observe.screen", json!({}), code);
        assert!(error.hint.is_some_and(|h| !h.is_empty()), "{fault:?}");
    }
    for fault in [Kind::Garbage, Kind::Half, Kind::DropAfter, Kind::DropBefore] {
        // A read is retried once if its connection breaks.
        world.phone.fault("/api/screen", fault.clone());
        client.ok("observe.screen", json!({}));
        for _ in 0..2 {
            world.phone.fault("/api/screen", fault.clone());
        }
        client.fails("observe.screen", json!({}), "DEVICE_UNREACHABLE");
        world.phone.run(json!({"do": "clearFaults"}));
    }
    client.ok("observe.screen", json!({}));
}

#[test]
fn enormous_screen_is_refused_and_affects_only_its_own_call() {
    let world = World::new();
    let mut client = world.client();
    let body = json!({"ok": true, "data": format!("[mode: SYSTEM_API]\n{}", "lorem ".repeat(3 << 20)), "error": null})
        .to_string();
    world.phone.fault("/api/screen", status_fault(200, &body, Some("application/json")));
    let error = client.fails("observe.screen", json!({}), "DEVICE_ERROR");
    assert!(error.message.contains("exceeds 16777216 bytes"), "{error:?}");
    client.ok("observe.screen", json!({}));
}

#[test]
fn unreachable_phone_affects_only_its_own_calls() {
    let mut world = World::new();
    let second = TestPhone::start();
    let mut client = world.client();
    client.ok("device.add", json!({"name": "other", "url": second.url(), "token": afd_tests::phone::TOKEN}));
    client.fails("observe.top", json!({}), "DEVICE_AMBIGUOUS");
    world.phone.turn_off();
    let error = client.fails("observe.top", json!({"device": "pixel"}), "DEVICE_UNREACHABLE");
    assert!(error.hint.is_some());
    client.fails("act.home", json!({"device": "pixel"}), "DEVICE_UNREACHABLE");
    client.ok("observe.top", json!({"device": "other"}));
    let devices = client.ok("device.list", json!({}));
    let states: Vec<_> = devices["devices"]
        .as_array()
        .expect("devices")
        .iter()
        .map(|d| (d["name"].as_str(), d["state"].as_str()))
        .collect();
    assert_eq!(states, [(Some("other"), Some("ready")), (Some("pixel"), Some("unreachable"))]);
}

#[test]
fn rotated_token_is_an_auth_error_and_tokens_are_not_disclosed() {
    let world = World::process();
    let mut client = world.client();
    world.phone.run(json!({"do": "token", "token": "new-one"}));
    client.fails("observe.top", json!({}), "DEVICE_AUTH");
    client.ok("observe.top", json!({"token": "new-one"}));
    let text = client.ok("device.list", json!({})).to_string()
        + &client.ok("daemon.status", json!({})).to_string()
        + &world.daemon.log();
    assert!(!text.contains("new-one") && !text.contains(afd_tests::phone::TOKEN));
}

#[test]
fn action_without_response_is_recorded_as_unknown_and_not_repeated() {
    let world = World::new();
    let mut client = world.client();
    for (n, fault) in
        [Kind::DropAfter, Kind::Garbage, Kind::Half, status_fault(200, "<html>", None)].into_iter().enumerate()
    {
        world.phone.scene("com.android.settings", None);
        world.phone.clear_inputs();
        let applied = !matches!(fault, Kind::Status { .. });
        world.phone.fault("/api/tap", fault);
        let error = client.fails("act.tap", json!({"by": "text", "value": "Storage"}), "OUTCOME_UNKNOWN");
        assert!(error.hint.is_some_and(|h| h.contains("observe")));
        assert_eq!(world.phone.hits("tap").len(), usize::from(applied), "inputs that the phone received");
        let log = client.ok("memory.log", json!({"status": "unknown"}));
        assert_eq!(log["events"].as_array().map(Vec::len), Some(n + 1));
        assert_eq!(log["events"][0]["failureCause"], "OUTCOME_UNKNOWN");
    }
}

#[test]
fn action_with_a_late_response_has_an_unknown_outcome() {
    let world = World::with(TestPhone::start(), "timeout_ms = 400");
    let mut client = world.client();
    world.phone.fault("/api/press/home", Kind::Hold);
    client.fails("act.home", json!({}), "OUTCOME_UNKNOWN");
    assert_eq!(world.phone.hits("home").len(), 1);
    // A read without a response has no unknown outcome.
    world.phone.fault("/health", Kind::Hold);
    client.fails("device.health", json!({}), "DEVICE_UNREACHABLE");
}

#[test]
fn tap_that_was_never_sent_has_no_unknown_outcome() {
    let world = World::new();
    let mut client = world.client();
    world.phone.fault_always("/api/screen", Kind::DropBefore);
    client.fails("act.tap", json!({"by": "text", "value": "Storage"}), "DEVICE_UNREACHABLE");
    assert!(world.phone.hits("tap").is_empty());
    // A tap on a point needs no element tree.
    world.phone.run(json!({"do": "clearFaults"}));
    world.phone.fault("/api/screen", status_fault(500, "no tree", None));
    client.ok("act.tap", json!({"x": 540, "y": 400}));
}
