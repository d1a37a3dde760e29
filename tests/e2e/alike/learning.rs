//! Learning, hints and paths.

use afd_tests::Client;
use afd_tests::wait::until;
use serde_json::{Value, json};

use super::{Stage, alike, line, outline, tap};

alike!(
    a_passed_check_verifies_the_act_before_it,
    a_failed_check_counts_against_the_act_before_it,
    an_act_that_found_no_target_gets_no_credit,
    what_an_element_led_to_is_a_hint_the_next_time,
    the_way_to_a_page_is_known_after_one_visit;
    polled: a_page_that_was_read_once_completes_no_transition,
);

/// Returns the transitions from the settings: label of the target, and the counts of successes, verifications and failures.
fn transitions(stage: &Stage, client: &mut Client) -> Vec<(String, i64, i64, i64)> {
    let known = client.ok("memory.experience", json!({"app": stage.app(), "limit": 100}));
    let row = |t: &Value| {
        let n = |key: &str| t[key].as_i64().unwrap_or(-1);
        let label = t["action"]["target"]["label"].as_str().unwrap_or_default().replace(", ", " ");
        let label = label.split(' ').next().unwrap_or_default().to_owned();
        (label, n("successCount"), n("verifiedCount"), n("failureCount"))
    };
    let of_taps = |t: &&Value| t["action"]["verb"] == "tap";
    known["transitions"].as_array().expect("transitions").iter().filter(of_taps).map(row).collect()
}

fn a_passed_check_verifies_the_act_before_it(stage: &Stage) {
    let mut client = stage.client();
    outline(&mut client);
    tap(&mut client, "Storage");
    client.ok("verify.textContains", json!({"text": "59 GB used"}));
    assert_eq!(transitions(stage, &mut client), [("Storage".to_owned(), 1, 1, 0)]);
}

fn a_failed_check_counts_against_the_act_before_it(stage: &Stage) {
    let mut client = stage.client();
    outline(&mut client);
    tap(&mut client, "Storage");
    client.fails("verify.textContains", json!({"text": "Use Wi-Fi"}), "ASSERTION_FAILED");
    client.fails("verify.textContains", json!({"text": "Use Bluetooth"}), "ASSERTION_FAILED");
    assert_eq!(transitions(stage, &mut client), [("Storage".to_owned(), 1, 0, 1)]);
}

fn an_act_that_found_no_target_gets_no_credit(stage: &Stage) {
    let mut client = stage.client();
    outline(&mut client);
    client.fails("act.tap", json!({"value": "Pluto"}), "TARGET_NOT_FOUND");
    outline(&mut client);
    assert_eq!(transitions(stage, &mut client), [("Pluto".to_owned(), 0, 0, 1)]);
}

fn a_page_that_was_read_once_completes_no_transition(stage: &Stage) {
    let mut client = stage.client();
    outline(&mut client);
    tap(&mut client, "Storage");
    client.ok("observe.page", json!({"settle": false}));
    assert!(transitions(stage, &mut client).is_empty(), "a single read cannot show that the page has settled");
    client.ok("observe.page", json!({}));
    assert_eq!(transitions(stage, &mut client).len(), 1);
}

fn what_an_element_led_to_is_a_hint_the_next_time(stage: &Stage) {
    let mut client = stage.client();
    assert!(!outline(&mut client).contains("->"));
    tap(&mut client, "Storage");
    outline(&mut client);
    stage.open(&mut client);
    // It is learned in the background.
    let text = until("the hint", || {
        let text = outline(&mut client);
        line(&text, "Storage").contains("-> \"Storage\"").then_some(text)
    });
    assert!(!line(&text, "Sound").contains("->"), "{text}");
    // What is said about one page is not said about another.
    stage.open_other(&mut client);
    assert!(!outline(&mut client).contains("->"));
}

fn the_way_to_a_page_is_known_after_one_visit(stage: &Stage) {
    let mut client = stage.client();
    for _ in 0..2 {
        stage.open(&mut client);
        outline(&mut client);
        tap(&mut client, "Wi-Fi");
        outline(&mut client);
        client.ok("act.back", json!({}));
        outline(&mut client);
    }
    let path = client.ok("visual.path", json!({"to": "Wi-Fi"}));
    let steps = path["route"]["steps"].as_array().unwrap_or_else(|| panic!("{path}"));
    assert_eq!(steps.len(), 1, "{path}");
    assert!(steps[0].to_string().contains("Wi-Fi"), "{path}");
}
