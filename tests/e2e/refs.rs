//! Taps by ref alias never knowingly hit an element other than the observed one.

use afd_tests::{TestPhone, World, find_alias};
use serde_json::json;

const LAB: &str = "org.example.lab";

#[test]
fn row_without_text_is_labelled_by_its_subtree() {
    let world = World::new();
    let mut client = world.client();
    let refs = client.ok("observe.refs", json!({}));
    let row = refs["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .find(|r| r["label"] == "Wi-Fi, Connected")
        .expect("the label of the row is made from its subtree")
        .clone();
    assert_eq!((row["text"].as_str(), row["class"].as_str()), (None, Some("LinearLayout")));
    let screen = client.ok("observe.screen", json!({"full": true}));
    let same = screen["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .find(|r| r["id"] == row["nodeId"])
        .expect("refs and screen rows share node ids");
    assert_eq!(same["bounds"], row["bounds"]);
    client.ok("act.tap", json!({"by": "ref", "value": row["ref"]}));
    assert_eq!(world.phone.page(), "wifi");
}

#[test]
fn row_that_moved_by_one_position_is_tapped_not_its_neighbour() {
    let world = World::new();
    let mut client = world.client();
    for (label, page) in [("Bluetooth", "bluetooth"), ("Battery", "battery"), ("Sound", "sound")] {
        world.phone.scene("com.android.settings", None);
        world.phone.run(json!({"do": "scroll", "pixels": -9999}));
        let alias = client.alias(label);
        world.phone.run(json!({"do": "scroll", "rows": 1}));
        let done = client.ok("act.tap", json!({"by": "ref", "value": alias}));
        assert_eq!(world.phone.page(), page, "the intended row is tapped");
        assert_eq!(done["moved"], true);
    }
}

#[test]
fn row_that_scrolled_off_the_screen_is_refused() {
    let world = World::new();
    let mut client = world.client();
    let alias = client.alias("Wi-Fi");
    world.phone.run(json!({"do": "scroll", "rows": 1}));
    let error = client.fails("act.tap", json!({"by": "ref", "value": alias}), "REF_ALIAS_STALE");
    assert!(error.hint.is_some());
    assert!(world.phone.hits("tap").is_empty(), "nothing was tapped");
}

#[test]
fn alias_tap_of_the_service_itself_hits_the_neighbour() {
    let world = World::new();
    let url = world.phone.url();
    let auth = format!("Bearer {}", afd_tests::phone::TOKEN);
    let headers = [("authorization", auth.as_str()), ("content-type", "application/json")];
    let refs = afd_tests::http::request(&url, "GET", "/api/screen/refs", &headers, "");
    assert_eq!(refs.status, 200);
    world.phone.run(json!({"do": "scroll", "rows": 1}));
    let tapped = afd_tests::http::request(&url, "POST", "/api/nodes/tap", &headers, r#"{"by":"ref","value":"@n3"}"#);
    assert_eq!(tapped.status, 200);
    // @n3 was Bluetooth; now the row below it is at the same position.
    assert!(world.phone.hits("tap")[0].starts_with("Connected devices"), "{:?}", world.phone.hits("tap"));
}

#[test]
fn row_stays_the_same_if_only_a_number_in_its_subtitle_changes() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene(LAB, Some("feed"));
    let alias = client.alias("Ben");
    world.phone.run(json!({"do": "set", "app": LAB, "name": "ago", "value": "3"}));
    client.ok("act.tap", json!({"by": "ref", "value": alias}));
    assert_eq!(world.phone.hits("tap"), ["Ben, 3 min ago"]);
}

#[test]
fn identical_elements_can_be_tapped_while_the_page_is_unchanged() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene(LAB, Some("bare"));
    let refs = client.ok("observe.refs", json!({}));
    let cells: Vec<_> =
        refs["rows"].as_array().expect("rows").iter().filter(|r| r["resId"] == "org.example.lab:id/cell").collect();
    assert_eq!(cells.len(), 9);
    client.ok("act.tap", json!({"by": "ref", "value": cells[4]["ref"]}));
    assert_eq!(world.phone.hits("tap").len(), 1);

    world.phone.scene("com.android.settings", Some("wifi"));
    let refs = client.ok("observe.refs", json!({}));
    let cafe = find_alias(&refs, "Cafe, Open").expect("the second cafe");
    client.ok("act.tap", json!({"by": "ref", "value": cafe}));
}

#[test]
fn aliases_belong_to_the_newest_observation_that_returned_them() {
    let world = World::new();
    let mut client = world.client();
    client.fails("act.tap", json!({"by": "ref", "value": "@n1"}), "REF_ALIAS_UNOBSERVED");
    let refs = client.ok("observe.refs", json!({"maxRows": 3}));
    client.fails("act.tap", json!({"by": "ref", "value": "@n4"}), "REF_ALIAS_UNOBSERVED");
    client.fails("act.tap", json!({"by": "ref", "value": "@x"}), "INVALID_PARAMS");
    // Every session has its own aliases.
    world.client_for("other").fails("act.tap", json!({"by": "ref", "value": "@n2"}), "REF_ALIAS_UNOBSERVED");
    // Observing the screen without refs does not change the aliases.
    client.ok("observe.screen", json!({}));
    let newest = client.ok("observe.refs", json!({}));
    client.fails(
        "act.tap",
        json!({"by": "ref", "value": "@n2", "observationId": refs["observationId"]}),
        "REF_ALIAS_STALE",
    );
    client.ok("act.tap", json!({"by": "ref", "value": "@n2", "observationId": newest["observationId"]}));
}

#[test]
fn another_page_makes_every_alias_stale() {
    let world = World::new();
    let mut client = world.client();
    let alias = client.alias("Bluetooth");
    world.phone.scene("org.example.shop", Some("cart"));
    client.fails("act.tap", json!({"by": "ref", "value": alias}), "REF_ALIAS_STALE");
    assert!(world.phone.hits("tap").is_empty());
}

#[test]
fn truncated_refs_are_reported_and_reachable_by_text() {
    let world = World::with(TestPhone::start(), "");
    let mut client = world.client();
    world.phone.scene(LAB, Some("grid"));
    let refs = client.ok("observe.refs", json!({}));
    assert_eq!((refs["returnedRows"].as_u64(), refs["truncated"].as_bool()), (Some(120), Some(true)));
    assert!(refs["refCount"].as_u64().is_some_and(|n| n > 150));
    client.fails("act.tap", json!({"by": "ref", "value": "@n121"}), "REF_ALIAS_UNOBSERVED");
    client.ok("act.tap", json!({"by": "text", "value": "Cell 149", "exactMatch": true}));
    assert_eq!(world.phone.hits("tap"), ["Cell 149"]);
}

/// Two sessions alternate, each observing and tapping by ref: neither ever taps what the other one observed.
#[test]
fn alternating_sessions_never_tap_each_others_elements() {
    let world = World::new();
    let mut clients = [world.client_for("ann"), world.client_for("ben")];
    let mut landed = 0;
    for round in 0..100 {
        let pages = [
            ("com.android.settings", ["Bluetooth", "Battery", "Sound", "Storage"]),
            (LAB, ["Ann", "Ben", "Cid", "Guest 1,"]),
        ];
        let labels: Vec<String> = (0..2)
            .map(|session| {
                let (app, rows) = pages[session];
                world.phone.scene(app, (session == 1).then_some("feed"));
                let label = rows[round % rows.len()].to_owned();
                let alias = clients[session].alias(&label);
                // The other session observes in between, which rebinds the aliases that the service shares.
                let other = 1 - session;
                clients[other].ok("observe.refs", json!({"hints": false}));
                world.phone.clear_inputs();
                match clients[session].call("act.tap", json!({"by": "ref", "value": alias})) {
                    Ok(_) => {
                        landed += 1;
                        world.phone.hits("tap").pop().expect("a tap")
                    }
                    Err(error) => {
                        assert_eq!(error.code, "REF_ALIAS_STALE");
                        label.clone()
                    }
                }
            })
            .collect();
        for (session, hit) in labels.iter().enumerate() {
            let wanted = pages[session].1[round % 4].trim_end_matches(',');
            assert!(hit.starts_with(wanted), "session {session} meant {wanted:?} and tapped {hit:?}");
        }
    }
    assert!(landed >= 190, "{landed} of 200 taps landed");
}

#[test]
fn detail_may_change_where_the_title_is_unique() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene(LAB, Some("feed"));
    let refs = client.ok("observe.refs", json!({}));
    let row = refs["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .find(|r| r["title"] == "Ben")
        .expect("a row with a title")
        .clone();
    assert_eq!((row["label"].as_str(), row["detail"].as_str()), (Some("Ben, 2 min ago"), Some("2 min ago")));
    world.phone.run(json!({"do": "set", "app": LAB, "name": "ago", "value": "very many"}));
    client.ok("act.tap", json!({"by": "ref", "value": row["ref"]}));
    client.ok("verify.textContains", json!({"text": "Row Ben"}));
}
