//! Observing, acting and refs.

use serde_json::json;

use super::{Stage, alias, alike, line, outline, tap};

alike!(
    a_look_lists_what_can_be_acted_on,
    an_alias_acts_on_what_it_was_shown_for,
    an_alias_of_another_page_is_refused,
    a_label_must_name_one_element,
    the_difference_names_what_changed,
    a_field_is_filled_and_a_password_stays_hidden,
    what_is_further_down_is_scrolled_to,
    back_leads_back,
    a_wait_ends_with_the_text_that_it_waits_for,
    the_last_page_is_known_without_the_device,
    the_same_request_is_not_performed_twice,
);

fn a_look_lists_what_can_be_acted_on(stage: &Stage) {
    let mut client = stage.client();
    let look = client.ok("observe.page", json!({"format": "outline"}));
    let text = look["outline"].as_str().unwrap_or_default();
    assert!(text.starts_with("page \"Settings\""), "{text}");
    for label in ["Wi-Fi", "Bluetooth", "Storage", "Sound", "Display"] {
        assert!(line(text, label).starts_with("@n"), "{label}: {text}");
    }
    assert_eq!((look["settled"].as_bool(), look["reliable"].as_bool()), (Some(true), Some(true)), "{look}");
    let rows = client.ok("observe.refs", json!({}));
    let row = rows["rows"].as_array().expect("rows").iter().find(|row| row["label"].to_string().contains("Storage"));
    assert!(row.is_some_and(|row| row["bounds"].is_string() && row["nodeId"].is_string()), "{rows}");
}

fn an_alias_acts_on_what_it_was_shown_for(stage: &Stage) {
    let mut client = stage.client();
    client.fails("act.tap", json!({"by": "ref", "value": "@n3"}), "REF_ALIAS_UNOBSERVED");
    let text = outline(&mut client);
    let done = client.ok("act.tap", json!({"by": "ref", "value": alias(&text, "Storage"), "then": "outline"}));
    assert!(done["target"]["label"].as_str().is_some_and(|label| label.starts_with("Storage")), "{done}");
    assert!(outline(&mut client).starts_with("page \"Storage\""));
}

fn an_alias_of_another_page_is_refused(stage: &Stage) {
    let mut client = stage.client();
    let text = outline(&mut client);
    stage.open_other(&mut client);
    let error = client.fails("act.tap", json!({"by": "ref", "value": alias(&text, "Storage")}), "REF_ALIAS_STALE");
    assert!(error.hint.is_some());
    assert!(outline(&mut client).starts_with("page \"Shop\""), "nothing was tapped");
}

fn a_label_must_name_one_element(stage: &Stage) {
    let mut client = stage.client();
    tap(&mut client, "Wi-Fi");
    let error = client.fails("act.tap", json!({"value": "Cafe", "partial": true}), "TARGET_AMBIGUOUS");
    assert_eq!(error.details["candidates"].as_array().map(Vec::len), Some(2), "{error:?}");
    client.fails("act.tap", json!({"value": "Pluto"}), "TARGET_NOT_FOUND");
    client.ok("act.tap", json!({"value": "Cafe, Saved"}));
}

fn the_difference_names_what_changed(stage: &Stage) {
    let mut client = stage.client();
    tap(&mut client, "Wi-Fi");
    let before = outline(&mut client);
    assert!(before.contains("Use Wi-Fi"), "{before}");
    tap(&mut client, "Use Wi-Fi");
    let changes = client.ok("observe.page", json!({"format": "outline", "since": "last"}));
    let changes = changes["outline"].as_str().unwrap_or_default();
    assert!(changes.contains("Use Wi-Fi") && !changes.contains("Cafe, Saved"), "{changes}");
}

fn a_field_is_filled_and_a_password_stays_hidden(stage: &Stage) {
    let mut client = stage.client();
    stage.open_form(&mut client);
    client.ok("act.fill", json!({"value": "User name", "text": "carol"}));
    client.ok("act.fill", json!({"by": "resId", "value": "password_field", "text": "hunter2"}));
    let text = outline(&mut client);
    assert!(text.contains("carol") && !text.contains("hunter2"), "{text}");
    let log = client.ok("memory.log", json!({}));
    assert!(!log.to_string().contains("hunter2") && !log.to_string().contains("carol"), "{log}");
}

fn what_is_further_down_is_scrolled_to(stage: &Stage) {
    let mut client = stage.client();
    assert!(!outline(&mut client).contains("About phone"));
    let found = client.ok("act.scrollTo", json!({"text": "About phone"}));
    assert!(found["scrolls"].as_u64().is_some_and(|scrolls| scrolls > 0), "{found}");
    tap(&mut client, "About phone");
    assert!(outline(&mut client).starts_with("page \"About phone\""));
}

fn back_leads_back(stage: &Stage) {
    let mut client = stage.client();
    outline(&mut client);
    tap(&mut client, "Display");
    assert!(outline(&mut client).starts_with("page \"Display\""));
    client.ok("act.back", json!({}));
    assert!(outline(&mut client).starts_with("page \"Settings\""));
}

fn a_wait_ends_with_the_text_that_it_waits_for(stage: &Stage) {
    let (mut client, mut other) = (stage.client(), stage.client());
    outline(&mut client);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // It fails if the text does not come.
            other.ok("observe.wait", json!({"until": "text", "text": "59 GB used", "timeoutMs": 30_000}))
        });
        tap(&mut client, "Storage");
    });
    client.fails("observe.wait", json!({"until": "text", "text": "Pluto", "timeoutMs": 300}), "TIMEOUT");
}

fn the_last_page_is_known_without_the_device(stage: &Stage) {
    let mut client = stage.client();
    client.fails("observe.last", json!({}), "NOT_FOUND");
    outline(&mut client);
    let last = client.ok("observe.last", json!({}));
    assert!(last["outline"].as_str().is_some_and(|text| text.contains("Bluetooth")), "{last}");
    assert_eq!(last["outdated"], false);
    tap(&mut client, "Bluetooth");
    assert_eq!(client.ok("observe.last", json!({}))["outdated"], true);
}

fn the_same_request_is_not_performed_twice(stage: &Stage) {
    let mut client = stage.client();
    tap(&mut client, "Wi-Fi");
    let before = outline(&mut client);
    let once = json!({"value": "Use Wi-Fi", "partial": true, "requestKey": "once"});
    let first = client.ok("act.tap", once.clone());
    let second = client.ok("act.tap", once);
    assert_eq!(first["eventId"], second["eventId"]);
    let after = outline(&mut client);
    assert_ne!(line(&before, "Use Wi-Fi"), line(&after, "Use Wi-Fi"), "it was tapped once");
}
