//! Experience: what counts as success or failure of an action, and how it is returned.

use afd_phone::fault::Kind;
use afd_tests::{Client, World};
use serde_json::{Value, json};

const SETTINGS: &str = "com.android.settings";

/// Returns the transitions known for the settings app: label of the target (else the verb), and the counts of
/// successes, verifications and failures.
fn transitions(client: &mut Client) -> Vec<(String, i64, i64, i64)> {
    let known = client.ok("memory.experience", json!({"app": SETTINGS, "limit": 100}));
    let row = |t: &Value| {
        let n = |key: &str| t[key].as_i64().unwrap_or(-1);
        let label =
            t["action"]["target"]["label"].as_str().or(t["action"]["verb"].as_str()).unwrap_or_default().to_owned();
        (label, n("successCount"), n("verifiedCount"), n("failureCount"))
    };
    known["transitions"].as_array().expect("transitions").iter().map(row).collect()
}

#[test]
fn passing_verify_counts_an_act_as_verified_once() {
    let world = World::new();
    let mut client = world.client();
    let alias = client.alias("Wi-Fi");
    client.ok("act.tap", json!({"by": "ref", "value": alias}));
    client.ok("verify.textContains", json!({"text": "Use Wi-Fi"}));
    client.ok("verify.topActivity", json!({"expected": ".SubSettings"}));
    assert_eq!(transitions(&mut client), [("Wi-Fi, Connected".to_owned(), 1, 1, 0)]);
    let known = client.ok("memory.experience", json!({"app": SETTINGS}));
    let t = &known["transitions"][0];
    assert_eq!(
        (t["postActivity"].as_str(), t["verifyOp"].as_str()),
        (Some("com.android.settings/.SubSettings"), Some("textContains"))
    );
    assert!(t["lastSuccessAt"].as_i64().is_some_and(|at| at > 0));
}

#[test]
fn failed_act_gets_no_credit_and_ranks_last() {
    let world = World::new();
    let mut client = world.client();
    // First an act that succeeds and is verified, then one that fails.
    let alias = client.alias("Bluetooth");
    client.ok("act.tap", json!({"by": "ref", "value": alias}));
    client.ok("verify.textContains", json!({"text": "Use Bluetooth"}));
    client.ok("act.back", json!({}));
    client.fails("act.tap", json!({"by": "text", "value": "Pluto"}), "TARGET_NOT_FOUND");
    client.ok("observe.page", json!({}));
    client.ok("verify.textContains", json!({"text": "Bluetooth"}));
    let all = transitions(&mut client);
    assert_eq!(all[0], ("Bluetooth, Pair new device".to_owned(), 1, 1, 0));
    let failed = all.iter().find(|t| t.0 == "Pluto").expect("the failure is known");
    assert_eq!((failed.1, failed.2, failed.3), (0, 0, 1));
    assert_eq!(all.last(), Some(failed));
}

#[test]
fn failed_verify_counts_against_the_act_once() {
    let world = World::new();
    let mut client = world.client();
    client.ok("observe.page", json!({}));
    client.ok("act.tap", json!({"by": "text", "value": "Storage"}));
    client.fails("verify.textContains", json!({"text": "Use Wi-Fi"}), "ASSERTION_FAILED");
    client.fails("verify.textContains", json!({"text": "Use Bluetooth"}), "ASSERTION_FAILED");
    assert_eq!(transitions(&mut client), [("Storage, 46% used - 69 GB free".to_owned(), 1, 0, 1)]);
}

#[test]
fn action_of_another_session_in_between_prevents_credit() {
    let world = World::new();
    let (mut ann, mut ben) = (world.client_for("ann"), world.client_for("ben"));
    ann.ok("observe.page", json!({}));
    ann.ok("act.tap", json!({"by": "text", "value": "Storage"}));
    ben.ok("act.back", json!({}));
    ann.ok("observe.page", json!({}));
    ann.ok("verify.textContains", json!({"text": "Storage"}));
    assert!(transitions(&mut ann).is_empty());
    // A refused action of another session changes nothing.
    ann.ok("act.tap", json!({"by": "text", "value": "Storage"}));
    ben.fails("act.tap", json!({"by": "text", "value": "Pluto"}), "TARGET_NOT_FOUND");
    ann.ok("observe.page", json!({}));
    assert!(transitions(&mut ann).iter().any(|t| t.0.starts_with("Storage") && t.1 == 1));
}

#[test]
fn unsettled_page_does_not_complete_a_transition() {
    let world = World::new();
    let mut client = world.client();
    client.ok("observe.page", json!({}));
    client.ok("act.tap", json!({"by": "text", "value": "Storage"}));
    client.ok("observe.page", json!({"settle": false}));
    assert!(transitions(&mut client).is_empty(), "a single read cannot show that the page has settled");
    client.ok("observe.page", json!({}));
    assert_eq!(transitions(&mut client).len(), 1);
}

#[test]
fn failed_verify_of_a_moving_page_does_not_count_against_the_act() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene("org.example.lab", None);
    client.ok("observe.page", json!({}));
    client.ok("act.tap", json!({"by": "text", "value": "Restless"}));
    client.fails("verify.textContains", json!({"text": "Pluto"}), "ASSERTION_FAILED");
    let known = client.ok("memory.experience", json!({"app": "org.example.lab"}));
    assert_eq!(known["transitions"], json!([]));
}

#[test]
fn refused_act_does_not_prevent_credit_for_the_previous_act() {
    let world = World::new();
    let mut client = world.client();
    client.ok("observe.page", json!({}));
    client.ok("act.tap", json!({"by": "text", "value": "Storage"}));
    client.fails("act.tap", json!({"by": "text", "value": "Pluto"}), "TARGET_NOT_FOUND");
    client.ok("observe.page", json!({}));
    let storage = transitions(&mut client).into_iter().find(|t| t.0.starts_with("Storage"));
    assert_eq!(storage.map(|t| (t.1, t.2, t.3)), Some((1, 0, 0)), "the refused act changed nothing on the screen");
}

#[test]
fn stale_ref_is_not_held_against_its_target() {
    let world = World::new();
    let mut client = world.client();
    let alias = client.alias("Storage");
    world.phone.scene("org.example.shop", None);
    client.fails("act.tap", json!({"by": "ref", "value": alias}), "REF_ALIAS_STALE");
    assert_eq!(client.ok("observe.page", json!({}))["hints"], json!([]));
    world.phone.scene(SETTINGS, None);
    assert_eq!(client.ok("observe.page", json!({}))["hints"], json!([]));
    assert!(transitions(&mut client).is_empty());
}

#[test]
fn recovery_is_linked_to_the_failure_it_followed() {
    let world = World::new();
    let mut client = world.client();
    let alias = client.alias("Wi-Fi");
    world.phone.run(json!({"do": "scroll", "rows": 1}));
    client.fails("act.tap", json!({"by": "ref", "value": alias}), "REF_ALIAS_STALE");
    let done = client.ok("recover.relaunch", json!({"package": SETTINGS}));
    assert_eq!(done["failureCause"], "REF_ALIAS_STALE");
    client.ok("observe.page", json!({}));
    let counts = |client: &mut Client| {
        let known = client.ok("memory.experience", json!({"failureCause": "REF_ALIAS_STALE"}))["recoveries"][0].clone();
        (known["successCount"].as_i64(), known["failureCount"].as_i64(), known["undecidedCount"].as_i64())
    };
    assert_eq!(counts(&mut client), (Some(0), Some(0), Some(1)), "that a page came says nothing about the failure");
    world.phone.run(json!({"do": "scroll", "pixels": -9999}));
    let alias = client.alias("Wi-Fi");
    client.ok("act.tap", json!({"by": "ref", "value": alias}));
    assert_eq!(counts(&mut client), (Some(1), Some(0), Some(0)));
    client.ok("observe.page", json!({}));
    world.phone.scene(SETTINGS, None);
    let known = client.ok("memory.experience", json!({"failureCause": "REF_ALIAS_STALE"}));
    let recovery = &known["recoveries"][0];
    assert_eq!((recovery["recovery"]["verb"].as_str(), recovery["successCount"].as_i64()), (Some("relaunch"), Some(1)));
    let page = client.ok("observe.page", json!({}));
    assert!(page["hints"].as_array().expect("hints").iter().any(|h| h["kind"] == "recovery"), "{page}");
    // A recovery that follows no failure is linked to none.
    client.ok("act.tap", json!({"by": "text", "value": "Storage"}));
    assert!(client.ok("recover.back", json!({"times": 2})).get("failureCause").is_none());
}

#[test]
fn failed_recovery_counts_as_a_failure() {
    let world = World::new();
    let mut client = world.client();
    client.ok("observe.page", json!({}));
    client.fails("act.tap", json!({"by": "text", "value": "Pluto"}), "TARGET_NOT_FOUND");
    client.fails("recover.relaunch", json!({"package": "org.nowhere.app"}), "DEVICE_ERROR");
    let known = client.ok("memory.experience", json!({"app": SETTINGS}));
    assert_eq!(
        (known["recoveries"][0]["successCount"].as_i64(), known["recoveries"][0]["failureCount"].as_i64()),
        (Some(0), Some(1))
    );
}

#[test]
fn experience_is_ordered_by_page_then_activity_then_app() {
    let world = World::new();
    let mut client = world.client();
    for row in ["Wi-Fi", "Bluetooth"] {
        world.phone.scene(SETTINGS, None);
        let alias = client.alias(row);
        client.ok("act.tap", json!({"by": "ref", "value": alias}));
        client.ok("observe.page", json!({}));
        client.ok("act.tap", json!({"by": "text", "value": "Use "}));
        client.ok("observe.page", json!({}));
    }
    let here = client.ok("memory.experience", json!({}));
    let scopes: Vec<_> = here["transitions"]
        .as_array()
        .expect("transitions")
        .iter()
        .map(|t| (t["matchScope"].clone(), t["preActivity"].clone()))
        .collect();
    let sub = json!("com.android.settings/.SubSettings");
    assert_eq!(
        scopes,
        [
            (json!("state"), sub.clone()),
            (json!("activity"), sub),
            (json!("app"), json!("com.android.settings/.Settings")),
            (json!("app"), json!("com.android.settings/.Settings")),
        ]
    );
    let fingerprint = client.ok("memory.context", json!({}))["pageFingerprint"].clone();
    let by_page = client.ok("memory.experience", json!({"pageFp": fingerprint}));
    assert_eq!(
        by_page["transitions"].as_array().map(Vec::len),
        Some(1),
        "the page alone, whatever the mode in its fingerprint"
    );
    assert_eq!(
        client.ok("memory.experience", json!({"app": SETTINGS, "limit": 2}))["transitions"].as_array().map(Vec::len),
        Some(2)
    );
}

#[test]
fn experience_is_shared_by_all_modes_of_the_service() {
    let world = World::new();
    let mut client = world.client();
    let alias = client.alias("Storage");
    client.ok("act.tap", json!({"by": "ref", "value": alias}));
    client.ok("observe.page", json!({}));
    world.phone.run(json!({"do": "capability", "reflection": false}));
    world.phone.scene(SETTINGS, None);
    let page = client.ok("observe.page", json!({}));
    assert_eq!(page["mode"], "SHELL_CMD");
    assert_eq!(page["hints"].as_array().map(Vec::len), Some(1));
}

#[test]
fn refs_replace_the_cached_fingerprint_of_a_screen_only_when_it_is_stale() {
    let world = World::new();
    let mut client = world.client();
    assert_eq!(client.ok("memory.context", json!({})), json!({"session": "default", "found": false, "stale": false}));
    client.ok("observe.top", json!({}));
    let top = client.ok("memory.context", json!({}));
    assert_eq!((top["activity"].as_str(), top.get("pageFingerprint")), (Some("com.android.settings/.Settings"), None));
    client.ok("observe.refs", json!({}));
    assert_eq!(client.ok("memory.context", json!({}))["fingerprintSource"], "refs");
    client.ok("observe.screen", json!({}));
    assert_eq!(client.ok("memory.context", json!({}))["fingerprintSource"], "screen");
    client.ok("observe.refs", json!({}));
    assert_eq!(
        client.ok("memory.context", json!({}))["fingerprintSource"],
        "screen",
        "refs do not replace the fingerprint of a screen"
    );
    client.ok("act.home", json!({}));
    assert_eq!(client.ok("memory.context", json!({}))["stale"], true);
    client.ok("observe.refs", json!({}));
    let context = client.ok("memory.context", json!({}));
    assert_eq!((context["fingerprintSource"].as_str(), context["stale"].as_bool()), (Some("refs"), Some(false)));
    world.phone.fault("/api/screen", Kind::Status { status: 500, body: String::new(), content_type: None });
    client.fails("observe.screen", json!({}), "DEVICE_ERROR");
    assert_eq!(client.ok("memory.context", json!({})), context, "a failed observation is ignored");
}

#[test]
fn verify_considers_only_visible_content() {
    let world = World::new();
    let mut client = world.client();
    for invisible in
        ["onscreen", "clk", "LinearLayout", "recycler_view", "SYSTEM_API", "node_", "topActivity", "structural"]
    {
        client.fails("verify.textContains", json!({"text": invisible}), "ASSERTION_FAILED");
    }
    client.ok("verify.textContains", json!({"text": "wi-fi"}));
    client.fails("verify.textContains", json!({"text": "wi-fi", "caseSensitive": true}), "ASSERTION_FAILED");
    client.fails("verify.textContains", json!({"text": ""}), "INVALID_PARAMS");
    let found = client.ok("verify.nodeExists", json!({"by": "resid", "value": "title"}));
    assert!(found["matchedCount"].as_u64().is_some_and(|n| n > 5));
    assert!(found["nodes"].as_array().is_some_and(|n| n.iter().any(|n| n["text"] == "Wi-Fi")));
    client.ok("verify.nodeExists", json!({"by": "class", "value": "android.widget.TextView"}));
    let alias = client.alias("Storage");
    client.ok("verify.nodeExists", json!({"by": "ref", "value": alias}));
    client.ok("verify.topActivity", json!({"expected": "com.android.settings/.Settings", "mode": "equals"}));
    let error = client.fails(
        "verify.topActivity",
        json!({"expected": "com.android.settings", "mode": "equals"}),
        "ASSERTION_FAILED",
    );
    assert_eq!(error.details["actual"], "com.android.settings/.Settings");
}

/// Returns the rows of a table, without their ids and times of change.
pub fn rows(connection: &rusqlite::Connection, table: &str) -> Vec<Vec<String>> {
    let sql = format!("SELECT * FROM {table} ORDER BY uid");
    let mut statement = connection.prepare(&sql).expect("prepares");
    let skip = ["id", "updated_at", "transition_id"];
    let skip: Vec<usize> =
        statement.column_names().iter().enumerate().filter(|(_, n)| skip.contains(n)).map(|(i, _)| i).collect();
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| {
        (0..columns)
            .filter(|i| !skip.contains(i))
            .map(|i| row.get::<_, rusqlite::types::Value>(i).map(|v| format!("{v:?}")))
            .collect()
    });
    rows.expect("reads").collect::<Result<_, _>>().expect("rows")
}

/// Events of earlier schemas have no outcomes. An upgrade derives them from the observations, in the same way as the
/// daemon does for new observations.
#[test]
fn outcomes_of_older_events_are_derived_from_observations() {
    let mut world = World::with(afd_tests::TestPhone::start(), "\n[observe]\nafter_act_ms = 0\n");
    let mut client = world.client();
    client.ok("observe.page", json!({}));
    for _ in 0..2 {
        client.fails("act.tap", json!({"by": "text", "value": "Font size", "exactMatch": true}), "TARGET_NOT_FOUND");
        client.ok("recover.relaunch", json!({"package": SETTINGS}));
        client.ok("observe.page", json!({}));
        client.ok("act.tap", json!({"by": "text", "value": "Display", "exactMatch": true}));
        client.fails("verify.textContains", json!({"text": "Pluto"}), "ASSERTION_FAILED");
        client.ok("act.tap", json!({"by": "text", "value": "Screen timeout", "exactMatch": true}));
        client.ok("verify.nodeExists", json!({"by": "text", "value": "Screen timeout"}));
        client.ok("act.back", json!({}));
        client.ok("act.tap", json!({"by": "text", "value": "Font size", "exactMatch": true}));
        client.ok("observe.page", json!({}));
        client.fails("act.tap", json!({"by": "text", "value": "Pluto"}), "TARGET_NOT_FOUND");
        client.ok("recover.back", json!({}));
        client.fails("act.tap", json!({"by": "text", "value": "Pluto"}), "TARGET_NOT_FOUND");
        world.phone.scene(SETTINGS, None);
        client.ok("act.home", json!({}));
        client.ok("act.launch", json!({"package": SETTINGS}));
        world.phone.scene(SETTINGS, None);
        client.ok("observe.page", json!({}));
    }
    world.daemon.stop();
    let connection = rusqlite::Connection::open(world.dir().join("memory.db")).expect("opens");
    let all = || ["transitions", "outcomes", "recoveries"].map(|table| rows(&connection, table));
    let before = all();
    let recovered: (i64, i64) = connection
        .query_row("SELECT sum(success_count), sum(failure_count) FROM recoveries", [], |r| Ok((r.get(0)?, r.get(1)?)))
        .expect("recoveries");
    assert_eq!(recovered, (2, 2), "the relaunch worked, going back did not: {before:?}");
    connection
        .execute_batch(
            "UPDATE events SET outcome = NULL, after_page_id = NULL, after_below_id = NULL, arrived_ms = NULL, verified = 0, refuted = 0,
                cured = NULL",
        )
        .expect("forgets");
    afd_experience::memory::rebuild::all(&connection).expect("rebuilds");
    assert_eq!(all(), before);
}

#[test]
fn counters_can_be_rebuilt_from_events() {
    let mut world = World::new();
    let mut client = world.client();
    for row in ["Wi-Fi", "Bluetooth", "Wi-Fi"] {
        world.phone.scene(SETTINGS, None);
        let alias = client.alias(row);
        client.ok("act.tap", json!({"by": "ref", "value": alias}));
        client.ok("verify.textContains", json!({"text": "Use"}));
        client.fails("verify.textContains", json!({"text": "Pluto"}), "ASSERTION_FAILED");
        client.ok("recover.back", json!({}));
        client.ok("observe.page", json!({}));
        client.fails("act.tap", json!({"by": "text", "value": "Pluto"}), "TARGET_NOT_FOUND");
    }
    world.daemon.stop();
    let connection = rusqlite::Connection::open(world.dir().join("memory.db")).expect("opens");
    let dump = |table: &str| rows(&connection, table);
    let before = (dump("transitions"), dump("recoveries"));
    assert!(before.0.len() >= 3 && !before.1.is_empty());
    for _ in 0..2 {
        afd_experience::memory::rebuild::all(&connection).expect("rebuilds");
        assert_eq!((dump("transitions"), dump("recoveries")), before);
    }
}

#[test]
fn log_is_filtered_and_paged() {
    let world = World::new();
    let (mut ann, mut ben) = (world.client_for("ann"), world.client_for("ben"));
    for _ in 0..3 {
        ann.ok("act.home", json!({}));
        ben.ok("act.back", json!({}));
    }
    ben.fails("act.tap", json!({"by": "text", "value": "Pluto"}), "TARGET_NOT_FOUND");
    let first = ann.ok("memory.log", json!({"limit": 4}));
    let second = ann.ok("memory.log", json!({"limit": 4, "cursor": first["nextCursor"]}));
    let seqs: Vec<i64> = [&first, &second]
        .iter()
        .flat_map(|l| l["events"].as_array().expect("events").iter().map(|e| e["seq"].as_i64().expect("a number")))
        .collect();
    assert_eq!(seqs.len(), 7);
    assert!(seqs.windows(2).all(|w| w[0] > w[1]), "newest first");
    assert!(second.get("nextCursor").is_none());
    assert_eq!(ann.ok("memory.log", json!({"session": "ann"}))["events"].as_array().map(Vec::len), Some(3));
    assert_eq!(ann.ok("memory.log", json!({"status": "failed"}))["events"][0]["failureCause"], "TARGET_NOT_FOUND");
    let stats = ann.ok("memory.stats", json!({"session": "ben"}));
    assert_eq!(
        (stats["events"].as_i64(), stats["byOp"]["act.back"].as_i64(), stats["byStatus"]["failed"].as_i64()),
        (Some(4), Some(3), Some(1))
    );
    ann.fails("memory.log", json!({"limit": 0}), "INVALID_PARAMS");
}

#[test]
fn scrolled_page_is_the_same_state_with_the_same_ways_out() {
    let world = World::new();
    let mut client = world.client();
    client.ok("observe.page", json!({}));
    let path =
        |client: &mut Client| client.ok("visual.states", json!({"app": SETTINGS, "all": true}))["states"].clone();
    for _ in 0..2 {
        client.ok("act.scroll", json!({"direction": "down", "amount": "large"}));
        client.ok("observe.page", json!({}));
    }
    let alias = client.alias("System");
    client.ok("act.tap", json!({"by": "ref", "value": alias}));
    client.ok("verify.textContains", json!({"text": "System"}));
    client.ok("act.back", json!({}));
    let states = path(&mut client);
    let settings = states.as_array().expect("states").iter().filter(|s| s["title"] == "Settings").count();
    assert_eq!(settings, 1, "{states}");
    world.phone.scene(SETTINGS, None);
    world.phone.run(json!({"do": "scroll", "pixels": -9999}));
    let hints = client.ok("observe.page", json!({}))["hints"].clone();
    let hint = hints
        .as_array()
        .expect("hints")
        .iter()
        .find(|h| h["target"]["title"] == "System")
        .unwrap_or_else(|| panic!("{hints}"));
    assert_eq!((hint["first"].as_str(), hint.get("alias")), (Some("scroll"), None), "it is not in sight");
    assert!(hint["text"].as_str().is_some_and(|t| t.starts_with("after scrolling to it: ")), "{hint}");
}
