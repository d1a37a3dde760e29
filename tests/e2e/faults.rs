//! A phone that is off, lies, or falls silent: the right code and a hint each time, and the daemon goes on.

use afd_phone::fault::Kind;
use afd_tests::{TestPhone, World};
use serde_json::json;

fn status(status: u16, body: &str, content_type: Option<&str>) -> Kind {
    Kind::Status { status, body: body.into(), content_type: content_type.map(str::to_owned) }
}

#[test]
fn every_kind_of_broken_answer_has_its_code_and_a_hint() {
    let world = World::new();
    let mut client = world.client();
    for (fault, code) in [
        (status(401, "Invalid bearer token", Some("text/plain; charset=UTF-8")), "DEVICE_AUTH"),
        (status(404, "", None), "DEVICE_ERROR"),
        (status(500, "boom", Some("text/plain; charset=UTF-8")), "DEVICE_ERROR"),
        (status(500, "", None), "DEVICE_ERROR"),
        (status(200, "<html>captive portal</html>", Some("text/html")), "DEVICE_ERROR"),
        (status(200, r#"{"ok":true,"data":"no screen at all","error":null}"#, Some("application/json")), "DEVICE_ERROR"),
    ] {
        world.phone.fault("/api/screen", fault.clone());
        let error = client.fails("observe.screen", json!({}), code);
        assert!(error.hint.is_some_and(|h| !h.is_empty()), "{fault:?}");
    }
    for fault in [Kind::Garbage, Kind::Half, Kind::DropAfter, Kind::DropBefore] {
        // A question is asked once more when its connection breaks.
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
fn a_phone_that_is_off_costs_only_its_own_calls() {
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
    let states: Vec<_> =
        devices["devices"].as_array().expect("devices").iter().map(|d| (d["name"].as_str(), d["state"].as_str())).collect();
    assert_eq!(states, [(Some("other"), Some("ready")), (Some("pixel"), Some("unreachable"))]);
}

#[test]
fn a_rotated_token_is_told_and_a_new_one_helps() {
    let world = World::new();
    let mut client = world.client();
    world.phone.run(json!({"do": "token", "token": "new-one"}));
    client.fails("observe.top", json!({}), "DEVICE_AUTH");
    client.ok("observe.top", json!({"token": "new-one"}));
    let text = client.ok("device.list", json!({})).to_string() + &client.ok("daemon.status", json!({})).to_string() + &world.daemon.log();
    assert!(!text.contains("new-one") && !text.contains(afd_tests::phone::TOKEN));
}

#[test]
fn a_lost_answer_is_not_sent_twice_and_is_an_event() {
    let world = World::new();
    let mut client = world.client();
    for (n, fault) in [Kind::DropAfter, Kind::Garbage, Kind::Half, status(200, "<html>", None)].into_iter().enumerate() {
        world.phone.scene("com.android.settings", None);
        world.phone.clear_inputs();
        let applied = !matches!(fault, Kind::Status { .. });
        world.phone.fault("/api/tap", fault);
        let error = client.fails("act.tap", json!({"by": "text", "value": "Storage"}), "OUTCOME_UNKNOWN");
        assert!(error.hint.is_some_and(|h| h.contains("observe")));
        assert_eq!(world.phone.hits("tap").len(), usize::from(applied), "the phone's own log");
        let log = client.ok("memory.log", json!({"status": "unknown"}));
        assert_eq!(log["events"].as_array().map(Vec::len), Some(n + 1));
        assert_eq!(log["events"][0]["failureCause"], "OUTCOME_UNKNOWN");
    }
}

#[test]
fn an_answer_that_comes_too_late_is_unknown_though_it_was_done() {
    let world = World::with(TestPhone::start(), "timeout_ms = 400");
    let mut client = world.client();
    world.phone.fault("/api/press/home", Kind::Hold);
    client.fails("act.home", json!({}), "OUTCOME_UNKNOWN");
    assert_eq!(world.phone.hits("home").len(), 1);
    // A question that is not answered was no action.
    world.phone.fault("/health", Kind::Hold);
    client.fails("device.health", json!({}), "DEVICE_UNREACHABLE");
}

#[test]
fn a_tap_that_was_never_sent_is_no_unknown_outcome() {
    let world = World::new();
    let mut client = world.client();
    world.phone.fault_always("/api/screen", Kind::DropBefore);
    client.fails("act.tap", json!({"by": "text", "value": "Storage"}), "DEVICE_UNREACHABLE");
    assert!(world.phone.hits("tap").is_empty());
    // A point needs no tree.
    world.phone.run(json!({"do": "clearFaults"}));
    world.phone.fault("/api/screen", status(500, "no tree", None));
    client.ok("act.tap", json!({"x": 540, "y": 400}));
}
