//! Typed text and tokens appear in no response, log or database.

use afd_tests::World;
use serde_json::json;

const SECRET: &str = "hunter2";

#[test]
fn typed_text_is_in_no_response_log_or_database() {
    let mut world = World::process();
    let mut client = world.client();
    let mut responses = String::new();
    let mut keep = |value: String| responses.push_str(&value);
    world.phone.scene("org.example.bank", None);
    client.ok("act.tap", json!({"by": "resId", "value": "user_field"}));
    keep(client.ok("act.text", json!({"text": "alice"})).to_string());
    client.ok("act.tap", json!({"by": "resId", "value": "password_field"}));
    keep(client.ok("act.text", json!({"text": SECRET, "requestKey": "once"})).to_string());
    keep(client.ok("act.text", json!({"text": SECRET, "requestKey": "once"})).to_string());
    for method in ["observe.page", "observe.screen", "observe.refs"] {
        keep(client.ok(method, json!({"full": true})).to_string());
    }
    keep(format!("{:?}", client.fails("verify.textContains", json!({"text": SECRET}), "ASSERTION_FAILED")));
    keep(format!("{:?}", client.call("act.tap", json!({"by": "text", "value": SECRET})).map_err(|e| e.details)));
    // The service quotes the typed text in its error, even without the typed line break.
    world.phone.fault(
        "/api/text",
        afd_phone::fault::Kind::Status { status: 500, body: format!("cannot type {SECRET}"), content_type: None },
    );
    keep(format!("{:?}", client.fails("act.text", json!({"text": SECRET}), "DEVICE_ERROR")));
    world.phone.fault(
        "/api/text",
        afd_phone::fault::Kind::Status { status: 500, body: format!("cannot type: {SECRET}"), content_type: None },
    );
    keep(format!("{:?}", client.fails("act.text", json!({"text": format!("{SECRET}\n")}), "DEVICE_ERROR")));
    // Another session searches for the text, and one after a restart.
    keep(format!(
        "{:?}",
        world.client_for("other").fails("verify.textContains", json!({"text": SECRET}), "ASSERTION_FAILED")
    ));
    world.daemon.stop();
    world.daemon = afd_tests::Daemon::start(world.dir());
    let mut client = world.client();
    keep(format!(
        "{:?}",
        client.fails("verify.nodeExists", json!({"by": "text", "value": SECRET}), "ASSERTION_FAILED")
    ));
    client.ok("act.key", json!({"keyCode": 66}));
    client.ok("act.tap", json!({"by": "resId", "value": "login_button"}));
    assert_eq!(world.phone.page(), "accounts", "the right text arrived");
    for method in ["memory.log", "memory.experience", "memory.stats", "daemon.status"] {
        keep(client.ok(method, json!({})).to_string());
    }
    assert!(!responses.contains(SECRET), "a response contains the text");
    let log = client.ok("memory.log", json!({"limit": 100}));
    let texts = log["events"].as_array().expect("events").iter().filter(|e| e["op"] == "text");
    let lengths: Vec<_> = texts.map(|e| e["evidence"]["length"].clone()).collect();
    assert_eq!(lengths, [json!(8), json!(7), json!(7), json!(5)], "the length is kept");
    world.daemon.stop();
    assert_files_are_without_secrets(world.dir());
    let mode = |name: &str| {
        std::os::unix::fs::PermissionsExt::mode(
            &std::fs::metadata(world.dir().join(name)).expect("exists").permissions(),
        ) & 0o777
    };
    assert_eq!((mode("memory.db"), mode("memory.db.key")), (0o600, 0o600));
}

fn assert_files_are_without_secrets(directory: &std::path::Path) {
    for entry in std::fs::read_dir(directory).expect("lists").flatten() {
        if entry.path().is_file() {
            let bytes = std::fs::read(entry.path()).expect("reads");
            let found = |needle: &str| bytes.windows(needle.len()).any(|w| w == needle.as_bytes());
            assert!(!found(SECRET), "{} contains the text", entry.path().display());
            if entry.file_name() != "config.toml" {
                assert!(!found(afd_tests::phone::TOKEN), "{} contains the token", entry.path().display());
            }
        }
    }
}

#[test]
fn check_that_quotes_typed_text_does_not_store_it() {
    let world = World::new();
    let mut client = world.client();
    client.ok("act.text", json!({"text": "Sesame99"}));
    for text in ["You wrote Sesame99 here", "sesame9", "Sesame", " SESAME99 "] {
        client.fails("verify.nodeExists", json!({"by": "text", "value": text}), "ASSERTION_FAILED");
        client.fails("verify.textContains", json!({"text": text}), "ASSERTION_FAILED");
    }
    let harmless = client.fails("verify.textContains", json!({"text": "another sentence"}), "ASSERTION_FAILED");
    assert!(harmless.message.contains("another sentence"), "{harmless:?}");
    let log = client.ok("memory.log", json!({"limit": 50})).to_string().to_lowercase();
    assert!(!log.contains("sesame") && log.contains("another sentence"), "{log}");
}

#[test]
fn password_field_shows_neither_text_nor_length() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene("org.example.bank", None);
    let field = |client: &mut afd_tests::Client| {
        let screen = client.ok("observe.screen", json!({"full": true}));
        screen["rows"]
            .as_array()
            .expect("rows")
            .iter()
            .find(|r| r["resId"] == "org.example.bank:id/password_field")
            .expect("the field")["text"]
            .clone()
    };
    assert_eq!(field(&mut client), "Password", "an empty field shows its hint");
    world.phone.run(json!({"do": "set", "app": "org.example.bank", "name": "password", "value": "ab"}));
    let short = field(&mut client);
    world.phone.run(json!({"do": "set", "app": "org.example.bank", "name": "password", "value": "a much longer one"}));
    assert_eq!(field(&mut client), short);
}

#[test]
fn typed_text_changes_neither_the_page_key_nor_the_labels() {
    let world = World::new();
    let mut client = world.client();
    world.phone.scene("org.example.shop", Some("search"));
    let before = client.ok("observe.page", json!({}));
    client.ok("act.tap", json!({"by": "resId", "value": "search_field"}));
    client.ok("act.text", json!({"text": "lamp"}));
    client.ok("act.key", json!({"keyCode": 66}));
    let after = client.ok("observe.page", json!({}));
    assert_eq!(before["page"]["key"], after["page"]["key"]);
    let label = |page: &serde_json::Value| {
        page["refs"]["rows"].as_array().expect("rows").iter().find(|r| r["class"] == "EditText").expect("the field")["label"].clone()
    };
    assert_eq!((label(&before), label(&after)), (json!("Search products"), json!("Search products")));
    assert!(after["screen"].to_string().contains("lamp"), "text of other editable fields is returned");
}
