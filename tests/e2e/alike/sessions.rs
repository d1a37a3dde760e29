//! Sessions: what each did, and what it leaves behind.

use serde_json::json;

use super::{Stage, alike, outline, tap};

alike!(
    each_session_has_its_own_aliases,
    the_log_names_the_device_and_the_session,
    a_session_ends_with_a_summary_of_what_it_did,
    a_lease_is_held_until_it_is_released,
    what_one_session_learned_helps_the_next,
);

fn each_session_has_its_own_aliases(stage: &Stage) {
    let (mut ann, mut bob) = (stage.world.client_for("ann"), stage.world.client_for("bob"));
    let text = outline(&mut ann);
    let alias = super::alias(&text, "Storage");
    bob.fails("act.tap", json!({"by": "ref", "value": alias}), "REF_ALIAS_UNOBSERVED");
    ann.ok("act.tap", json!({"by": "ref", "value": alias}));
}

fn the_log_names_the_device_and_the_session(stage: &Stage) {
    let mut ann = stage.world.client_for("ann");
    outline(&mut ann);
    tap(&mut ann, "Storage");
    let listed = ann.ok("device.list", json!({}));
    let device = listed["devices"][0]["name"].clone();
    let log = ann.ok("memory.log", json!({"session": "ann", "device": device}));
    let event = &log["events"][0];
    assert_eq!(
        (&event["device"], event["session"].as_str(), event["op"].as_str()),
        (&device, Some("ann"), Some("tap"))
    );
    let context = ann.ok("memory.context", json!({"session": "ann"}));
    assert_eq!((&context["device"], context["found"].as_bool()), (&device, Some(true)), "{context}");
}

fn a_session_ends_with_a_summary_of_what_it_did(stage: &Stage) {
    let mut ann = stage.world.client_for("ann");
    ann.ok("session.start", json!({"goal": "Free some space"}));
    outline(&mut ann);
    tap(&mut ann, "Storage");
    outline(&mut ann);
    let working = ann.ok("conversation.working", json!({"session": "ann"}));
    assert!(working["activeElements"].to_string().contains("Navigate up"), "{working}");
    let ended = ann.ok("session.end", json!({"session": "ann"}));
    assert!(ended["summary"].as_str().is_some_and(|summary| summary.contains("Free some space")), "{ended}");
}

fn a_lease_is_held_until_it_is_released(stage: &Stage) {
    let mut ann = stage.world.client_for("ann");
    outline(&mut ann);
    ann.ok("device.lease", json!({"ttlMs": 60_000}));
    let listed = ann.ok("device.list", json!({}));
    assert_eq!(listed["devices"][0]["lease"]["session"], "ann", "{listed}");
    ann.fails("session.update", json!({"session": "ann", "name": "anna"}), "CONFLICT");
    assert_eq!(ann.ok("device.release", json!({}))["released"], true);
    assert!(ann.ok("device.list", json!({}))["devices"][0]["lease"].is_null());
}

fn what_one_session_learned_helps_the_next(stage: &Stage) {
    let (mut ann, mut bob) = (stage.world.client_for("ann"), stage.world.client_for("bob"));
    outline(&mut ann);
    tap(&mut ann, "Storage");
    outline(&mut ann);
    stage.open(&mut ann);
    outline(&mut ann);
    let text = outline(&mut bob);
    assert!(super::line(&text, "Storage").contains("-> \"Storage\""), "{text}");
}
