use super::*;
use crate::config::Overrides;

fn config(dir: &std::path::Path, text: &str) -> Config {
    let path = dir.join("config.toml");
    std::fs::write(&path, text).expect("writes");
    Config::load(Overrides { config: path, ..Overrides::default() }).expect("loads")
}

#[test]
fn every_key_can_be_set_and_is_known_to_the_file() {
    let dir = tempfile::tempdir().expect("a directory");
    let config = config(
        dir.path(),
        "[device.a]\nurl = 'http://h:1'\n[device.a.usb]\nserial = 's'\nlocal_port = 1\ndevice_port = 2\n[connection.usb]\ndevice = 's'\nlocal_port = 1\ndevice_port = 2\n",
    );
    let device = device_keys().map(|k| (format!("device.a.{}", k.name), k));
    for name in ["device.a.allow_shell", "device.a.allow_intent", "device.a.allow_apps"] {
        assert!(matches!(set(&config, name, "true"), Err(KeyError::FileOnly(_))), "{name}");
    }
    for (name, key) in keys().map(|k| (k.name.to_owned(), k)).chain(device) {
        if key.file_only && key.kind != Kind::Flag {
            assert!(matches!(set(&config, &name, "false"), Err(KeyError::FileOnly(_))), "{name}");
            assert!(matches!(unset(&config, &name), Err(KeyError::FileOnly(_))), "{name}");
            continue;
        }
        let value = match (key.kind, key.name) {
            // The URL of the device fits no other kind.
            (Kind::Choice(_), "kind") => "autofish",
            (Kind::Choice(words), _) => words[words.len() - 1],
            (_, "url" | "remote.url" | "model.base_url" | "recall.endpoint_url" | "recall.qdrant_url") => "http://h:2",
            (_, "browser.attach") => "http://127.0.0.1:9222",
            (_, "model.provider") => "openai",
            (_, "recall.qdrant_collection") => "some_text",
            (_, "conversation.max_tokens" | "model.max_input_chars") => "7000",
            (_, "dump_timeout_ms") => "700",
            (Kind::Number, _) => "7",
            (Kind::Flag, _) if key.file_only => "false",
            (Kind::Flag, _) => "true",
            _ => "/some/text",
        };
        if name == "device.a.token_file" {
            // A device has either this or `token`.
            unset(&config, "device.a.token").expect("was set");
        }
        set(&config, &name, value).unwrap_or_else(|e| panic!("{name}: {e}"));
        let entry = get(&config, &name).expect("known");
        assert_eq!(entry.source, Source::File, "{name}");
        if key.kind == Kind::Secret {
            assert_eq!(entry.value, "<redacted>");
        }
    }
    let (_, unknown) = super::super::reading::read(config.path()).expect("reads");
    assert_eq!(unknown, Vec::<String>::new());
}

#[test]
fn invalid_values_change_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let before = "# mine\n[limits]\nbatch = 3\n";
    let config = config(dir.path(), before);
    for (name, value) in [
        ("limits.batch", "many"),
        ("limits.batch", "0"),
        ("output.default", "loud"),
        ("device.x.token", "t"),
        ("limits.x", "1"),
    ] {
        assert!(set(&config, name, value).is_err(), "{name}");
    }
    assert_eq!(std::fs::read_to_string(config.path()).expect("reads"), before);
    assert!(unset(&config, "limits.batch").expect("unsets"));
    assert!(!unset(&config, "limits.batch").expect("is not there"));
    assert_eq!(get(&config, "limits.batch").expect("known").source, Source::Default);
    assert!(std::fs::read_to_string(config.path()).expect("reads").starts_with("# mine"));
}

#[test]
fn a_device_and_settings_are_written_together_or_not_at_all() {
    let dir = tempfile::tempdir().expect("a directory");
    let before = "# mine\n";
    let config = config(dir.path(), before);
    let device = DeviceSettings::at("http://h:1");
    for refused in [("limits.batch", "0"), ("limits.nothing", "1")] {
        assert!(set_all(&config, Some(("a", &device)), &[("limits.in_flight", "5"), refused]).is_err(), "{refused:?}");
        assert_eq!(std::fs::read_to_string(config.path()).expect("reads"), before);
    }
    set_all(&config, Some(("a", &device)), &[("limits.in_flight", "5")]).expect("writes both");
    let text = std::fs::read_to_string(config.path()).expect("reads");
    assert!(text.contains("http://h:1") && text.contains("in_flight = 5"), "{text}");
}
