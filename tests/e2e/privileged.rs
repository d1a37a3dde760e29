//! Shell commands and intents: refused unless the settings of the device allow them, and never recorded in plain text.

use afd_tests::{Client, World};
use serde_json::json;

/// Enables a setting of the phone in the configuration file, like its owner.
fn allow(world: &World, client: &mut Client, setting: &str) {
    let file = world.dir().join("config.toml");
    let text = std::fs::read_to_string(&file)
        .expect("reads")
        .replace("[device.pixel]\n", &format!("[device.pixel]\n{setting} = true\n"));
    std::fs::write(file, text).expect("writes");
    client.ok("daemon.reload", json!({}));
}

#[test]
fn shell_command_needs_permission_and_is_not_recorded() {
    let world = World::new();
    let mut client = world.client();
    let error = client.fails("act.shell", json!({"command": "getprop ro.product.model"}), "REFUSED");
    assert_eq!(error.details["setting"], "device.pixel.allow_shell");
    // A client cannot lift the restriction itself.
    let error = client.fails("config.set", json!({"key": "device.pixel.allow_shell", "value": "true"}), "REFUSED");
    assert!(error.hint.is_some_and(|hint| hint.contains("[device.pixel]")));
    // A phone that is addressed only by its URL has no settings that could allow it.
    let url = world.phone.url();
    allow(&world, &mut client, "allow_shell");
    assert_eq!(client.ok("act.shell", json!({"command": "getprop ro.product.model"}))["output"], "Practice Phone\n");
    assert_eq!(client.ok("act.shell", json!({"command": "true"}))["output"], "(no output)");
    let failed = client.fails("act.shell", json!({"command": "nonsense hunter2"}), "DEVICE_ERROR");
    assert!(failed.message.contains("exit code 127") && !failed.message.contains("hunter2"), "{failed:?}");
    client.fails("act.shell", json!({"command": "PIN=s3cretword; input text $PIN"}), "DEVICE_ERROR");
    let echoed = client.ok("act.shell", json!({"command": "echo s3cretword", "requestKey": "k"}));
    assert_eq!(echoed["output"], "s3cretword\n");
    let again = client.ok("act.shell", json!({"command": "echo s3cretword", "requestKey": "k"}));
    assert!(again["replayed"] == true && again["output"].is_null(), "{again}");
    let log = client.ok("memory.log", json!({}));
    assert_eq!(log["events"][0]["action"]["params"]["program"], "echo");
    client.ok("device.remove", json!({"name": "pixel"}));
    client.fails("act.shell", json!({"command": "true", "url": url, "token": afd_tests::phone::TOKEN}), "REFUSED");
    drop(client);
    for name in ["memory.db", "memory.db-wal", "afd.log"] {
        let bytes = std::fs::read(world.dir().join(name)).unwrap_or_default();
        for secret in ["s3cretword", "hunter2"] {
            assert!(!bytes.windows(secret.len()).any(|w| w == secret.as_bytes()), "{secret} is in {name}");
        }
    }
}

#[test]
fn large_output_is_saved_to_a_file() {
    let world = World::new();
    let mut client = world.client();
    allow(&world, &mut client, "allow_shell");
    client.ok("config.set", json!({"key": "limits.inline_bytes", "value": "100"}));
    let response = client.ok("act.shell", json!({"command": format!("echo {}", "x".repeat(200))}));
    assert!(response["output"].is_null());
    let file = response["artifact"]["savedFile"].as_str().expect("a file");
    assert_eq!(std::fs::read_to_string(file).expect("reads").trim().len(), 200);
}

#[test]
fn intent_needs_permission_and_rejects_shell_metacharacters() {
    let world = World::new();
    let mut client = world.client();
    let view = json!({"action": "android.intent.action.VIEW", "data": "https://example.org/?a=1&b=2"});
    client.fails("act.intent", view.clone(), "REFUSED");
    allow(&world, &mut client, "allow_intent");
    let done = client.ok("act.intent", view);
    assert!(done["result"].as_str().is_some_and(|r| r.contains("act=android.intent.action.VIEW")), "{done}");
    let error =
        client.fails("act.intent", json!({"component": "com.android.settings/.Settings;reboot"}), "INVALID_PARAMS");
    assert_eq!(error.details["path"], "component");
    client.fails("act.intent", json!({"package": "com.a"}), "INVALID_PARAMS");
    client.ok("act.intent", json!({"component": "com.android.settings/.Settings", "extras": {"key": "some text"}}));
    client.fails("act.intent", json!({"component": "com.nonsense.app/.Main"}), "DEVICE_ERROR");
    // The service quotes the command that failed, extras included.
    let refusal = afd_phone::fault::Kind::Status {
        status: 400,
        body: r#"{"ok":false,"data":null,"error":"Shizuku command failed (exit=1): am start --es pin 's3cretword'; stderr=no"}"#.into(),
        content_type: Some("application/json".into()),
    };
    world.phone.fault("/api/intent", refusal);
    let error = client.fails("act.intent", json!({"action": "a.b.C", "extras": {"pin": "s3cretword"}}), "DEVICE_ERROR");
    assert!(!format!("{error:?}").contains("s3cretword"));
    let error = client.fails("act.intent", json!({"action": "a.b.C", "extras": {"pin": 4321}}), "INVALID_PARAMS");
    assert!(!format!("{error:?}").contains("4321"));
    assert!(!client.ok("memory.log", json!({})).to_string().contains("s3cretword"));
}
