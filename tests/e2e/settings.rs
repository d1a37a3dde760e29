//! Settings by key: their sources, changing them, and when changes take effect.

use afd_phone::fault::Kind;
use afd_tests::{Daemon, TestPhone, World, phone::TOKEN, wait};
use serde_json::{Value, json};

#[test]
fn list_shows_the_source_of_each_value_and_no_token() {
    let world = World::new();
    let list = world.client().ok("config.list", json!({}));
    let of = |key: &str| {
        list["settings"]
            .as_array()
            .expect("settings")
            .iter()
            .find(|s| s["key"] == key)
            .unwrap_or_else(|| panic!("no {key}"))
            .clone()
    };
    assert_eq!(
        (of("memory.db")["source"].as_str(), of("memory.db")["needsRestart"].as_bool()),
        (Some("flag"), Some(true))
    );
    assert_eq!(
        (of("artifacts.max_age_days")["value"].as_u64(), of("artifacts.max_age_days")["source"].as_str()),
        (Some(30), Some("default"))
    );
    assert_eq!(
        (of("device.pixel.url")["value"].as_str(), of("device.pixel.url")["source"].as_str()),
        (Some(world.phone.url().as_str()), Some("file"))
    );
    assert_eq!(of("device.pixel.token")["value"], "<redacted>");
    assert_eq!(of("device.pixel.allow_shell")["source"], "default");
    assert!(!list.to_string().contains(TOKEN));
}

#[test]
fn changed_setting_is_saved_and_takes_effect_immediately() {
    let world = World::new();
    let mut client = world.client();
    let root = world.dir().join("elsewhere");
    let set = client.ok("config.set", json!({"key": "artifacts.dir", "value": root}));
    assert_eq!((set["source"].as_str(), set["changed"].as_bool()), (Some("file"), Some(true)));
    let shot = client.ok("observe.screenshot", json!({}));
    assert!(shot["artifact"]["savedFile"].as_str().is_some_and(|f| f.starts_with(root.to_str().expect("text"))));
    assert_eq!(client.ok("config.get", json!({"key": "artifacts.dir"}))["value"], json!(root));
    assert_eq!(client.ok("config.unset", json!({"key": "artifacts.dir"}))["source"], "default");
    assert_eq!(client.ok("config.unset", json!({"key": "artifacts.dir"}))["changed"], false);
    // Add a new device, whose token is not shown.
    let second = TestPhone::start();
    client.ok("config.set", json!({"key": "device.second.url", "value": second.url()}));
    let token = client.ok("config.set", json!({"key": "device.second.token", "value": TOKEN}));
    assert_eq!(token["value"], "<redacted>");
    client.ok("observe.top", json!({"device": "second"}));
    let file = std::fs::metadata(world.dir().join("config.toml")).expect("exists");
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o777, 0o600);
}

#[test]
fn invalid_changes_are_explained_and_have_no_effect() {
    let world = World::new();
    let mut client = world.client();
    let path = world.dir().join("config.toml");
    let before = std::fs::read_to_string(&path).expect("reads");
    let unknown = client.fails("config.set", json!({"key": "artifact.dir", "value": "/x"}), "INVALID_PARAMS");
    assert_eq!(unknown.details["path"], "key");
    assert!(unknown.details["similar"].as_array().is_some_and(|s| s.contains(&json!("artifacts.dir"))), "{unknown:?}");
    let unfit = client.fails("config.set", json!({"key": "limits.batch", "value": "hunter2"}), "INVALID_PARAMS");
    assert!(unfit.details["path"] == "value" && !unfit.message.contains("hunter2"));
    for (key, value) in [
        ("limits.batch", "0"),
        ("limits.batch", "-1"),
        ("device.pixel.url", "ftp://x"),
        ("adb.server_port", "70000"),
        ("device.pixel.proxy", "loud"),
        ("device.pixel.kind", "toaster"),
    ] {
        let error = client.fails("config.set", json!({"key": key, "value": value}), "INVALID_PARAMS");
        assert!(error.details["path"] == "value" && !error.message.contains("line "), "{error:?}");
    }
    client.fails("config.unset", json!({"key": "device.pixel.url"}), "CONFLICT");
    client.fails("config.get", json!({"key": "nonsense"}), "INVALID_PARAMS");
    assert_eq!(std::fs::read_to_string(&path).expect("reads"), before);
}

#[test]
fn replaced_file_adds_changes_and_removes_devices() {
    let world = World::new();
    let mut client = world.client();
    let path = world.dir().join("config.toml");
    let replace = |text: String| {
        let temporary = path.with_extension("new");
        std::fs::write(&temporary, text).expect("writes");
        std::fs::rename(&temporary, &path).expect("renames");
    };
    let devices = |client: &mut afd_tests::Client| -> Vec<String> {
        let list = client.ok("device.list", json!({}));
        list["devices"]
            .as_array()
            .expect("devices")
            .iter()
            .map(|d| format!("{} {}", d["name"].as_str().unwrap_or(""), d["url"].as_str().unwrap_or("")))
            .collect()
    };
    let (second, url) = (TestPhone::start(), world.phone.url());
    let of = |name: &str, url: &str| format!("[device.{name}]\nurl = \"{url}\"\ntoken = \"{TOKEN}\"\n");
    replace(of("pixel", &url) + &of("second", &second.url()));
    wait::until("the second device", || (devices(&mut client).len() == 2).then_some(()));
    client.ok("observe.top", json!({"device": "second"}));
    replace(of("pixel", &second.url()));
    wait::until("the change", || (devices(&mut client) == [format!("pixel {}", second.url())]).then_some(()));
    client.ok("observe.top", json!({}));
    replace("[device.pixel]\nurl = 5\n".to_owned());
    wait::until("the configuration error", || {
        client.ok("daemon.status", json!({}))["configError"].is_string().then_some(())
    });
    client.ok("observe.top", json!({}));
}

#[test]
fn call_in_flight_finishes_with_the_old_settings() {
    let world = World::new();
    world.phone.fault("/api/press/home", Kind::Hold);
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| world.client_for("ann").ok("act.home", json!({})));
        wait::until("the action to be in flight", || (!world.phone.hits("home").is_empty()).then_some(()));
        let other = TestPhone::start();
        let mut client = world.client();
        client.ok("config.set", json!({"key": "device.pixel.url", "value": other.url()}));
        client.ok("observe.top", json!({}));
        world.phone.release();
        let response: Value = slow.join().expect("does not panic");
        assert_eq!(response["result"], "Pressed Home");
        assert!(other.lock().inputs.iter().all(|i| i.kind != "home"));
    });
}

#[test]
fn concurrent_changes_do_not_overwrite_each_other() {
    let world = World::new();
    let keys = [
        "limits.batch",
        "limits.in_flight",
        "daemon.drain_ms",
        "artifacts.max_bytes",
        "artifacts.max_age_days",
        "limits.inline_bytes",
    ];
    std::thread::scope(|scope| {
        for (n, key) in keys.iter().enumerate() {
            let world = &world;
            scope.spawn(move || world.client().ok("config.set", json!({"key": key, "value": (1000 + n).to_string()})));
        }
    });
    let mut client = world.client();
    for (n, key) in keys.iter().enumerate() {
        assert_eq!(client.ok("config.get", json!({"key": key}))["value"], 1000 + n);
    }
}

#[test]
fn configuration_file_that_is_a_link_stays_a_link() {
    let world = World::new();
    let (path, real) = (world.dir().join("config.toml"), world.dir().join("dotfiles.toml"));
    std::fs::rename(&path, &real).expect("renames");
    std::os::unix::fs::symlink(&real, &path).expect("creates the link");
    let mut client = world.client();
    client.ok("config.set", json!({"key": "artifacts.max_age_days", "value": "9"}));
    assert!(std::fs::symlink_metadata(&path).expect("exists").file_type().is_symlink());
    assert!(std::fs::read_to_string(&real).expect("reads").contains("max_age_days = 9"));
}

/// A new user has no configuration file, and not even its directory.
#[test]
fn first_configuration_file_is_noticed() {
    let dir = tempfile::tempdir().expect("a directory");
    let config = dir.path().join("new/afd/config.toml");
    let daemon = Daemon::start_with_config(dir.path(), &config);
    let mut connection = daemon.connect();
    let phone = TestPhone::start();
    std::fs::write(&config, format!("[device.a]\nurl = \"{}\"\n", phone.url())).expect("writes into the directory");
    wait::until("the device", || {
        let list = connection.call("device.list", json!({})).expect("lists");
        (list["devices"].as_array().map(Vec::len) == Some(1)).then_some(())
    });
}

#[test]
fn changed_database_needs_a_restart_and_artifacts_stay_with_the_current_one() {
    let phone = TestPhone::start();
    let settings = format!("[device.pixel]\nurl = \"{}\"\ntoken = \"{TOKEN}\"\n", phone.url());
    let world = World::bare(phone, &settings);
    let mut client = world.client();
    client.ok("config.set", json!({"key": "memory.db", "value": world.dir().join("other/memory.db")}));
    assert_eq!(client.ok("daemon.reload", json!({}))["changed"], json!([]));
    let shot = client.ok("observe.screenshot", json!({}));
    assert!(
        shot["artifact"]["savedFile"]
            .as_str()
            .is_some_and(|f| f.starts_with(world.dir().join("artifacts").to_str().expect("text"))),
        "{shot}"
    );
}

/// Regression: settings that take effect immediately were reported as waiting for a restart.
#[test]
fn only_settings_that_need_a_restart_are_reported_as_such() {
    let world = World::new();
    let mut client = world.client();
    let list = client.ok("config.list", json!({}));
    let need_restart: Vec<&str> = list["settings"]
        .as_array()
        .expect("settings")
        .iter()
        .filter(|s| s["needsRestart"] == true)
        .filter_map(|s| s["key"].as_str())
        .collect();
    assert_eq!(need_restart, ["memory.db"]);
    assert_ne!(client.ok("config.set", json!({"key": "limits.batch", "value": "9"}))["needsRestart"], true);
    assert_eq!(client.ok("daemon.reload", json!({}))["restartNeeded"], json!([]));
}

/// Regression: a change by a call was logged twice, by the call and by the file watcher.
#[test]
fn settings_change_is_logged_once() {
    let world = World::process();
    let mut client = world.client();
    client.ok("config.set", json!({"key": "limits.batch", "value": "9"}));
    let path = world.dir().join("config.toml");
    let text = std::fs::read_to_string(&path).expect("reads").replace("batch = 9", "batch = 10");
    let new = world.dir().join("config.new");
    std::fs::write(&new, text).expect("writes");
    std::fs::rename(&new, &path).expect("replaces");
    wait::until("the change to take effect", || {
        (client.ok("config.get", json!({"key": "limits.batch"}))["value"] == 10).then_some(())
    });
    wait::until("both changes to be logged", || {
        (world.daemon.log().matches("settings reloaded").count() == 2).then_some(())
    });
}

#[test]
fn list_is_set_as_words_or_as_json_and_nothing_else() {
    let world = World::new();
    let mut client = world.client();
    let key = "conversation.typing_calls";
    for written in ["type, fill", "[\"type\", \"fill\"]"] {
        client.ok("config.set", json!({"key": key, "value": written}));
        assert_eq!(client.ok("config.get", json!({"key": key}))["value"], json!(["type", "fill"]), "{written}");
    }
    for wrong in ["[\"type\"", "{\"a\": 1}", "[1]", "\"type\""] {
        let refused = client.fails("config.set", json!({"key": key, "value": wrong}), "INVALID_PARAMS");
        assert!(refused.message.contains("JSON"), "{wrong}: {}", refused.message);
    }
}
