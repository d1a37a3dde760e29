use super::*;
use crate::config::file::*;

fn parse(text: &str) -> Result<(File, Vec<String>), String> {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("config.toml");
    std::fs::write(&path, text).expect("writes");
    read(&path).map_err(|e| e.to_string())
}

#[test]
fn unknown_keys_are_named() {
    let (file, unknown) = parse("[device.a]\nurl = 'http://h:1'\ncolour = 1\n[limit]\nx = 1").expect("reads");
    assert_eq!(file.devices().len(), 1);
    assert_eq!(unknown, ["device.a.colour", "limit"]);
}

#[test]
fn a_single_remote_is_the_default_device() {
    let (file, unknown) = parse("[remote]\nurl = 'http://h:1'\ntoken = 't'").expect("reads");
    assert_eq!(file.devices()["default"].url, "http://h:1");
    assert!(unknown.is_empty());
}

#[test]
fn errors_name_the_line_and_no_token() {
    for (text, expected) in [
        ("[device.a]\nurl = 5\ntoken = 'hunter2'", "line 2"),
        ("[remote]\ntoken = 'hunter2\nurl = 1", "line 2"),
        ("[device.a]\nurl = 'ftp://x'", "device.a.url: expected a URL"),
        ("[device.a]\nurl = 'http://x'\ntimeout_ms = 0", "timeout_ms is 0"),
        ("[limits]\nin_flight = 0", "limits.in_flight is 0"),
    ] {
        let error = parse(text).expect_err("bad file");
        assert!(error.contains(expected) && !error.contains("hunter2"), "{error}");
    }
}

#[test]
fn usb_serial_goes_by_both_names() {
    let usb = |section: &str, key: &str| format!("{section}\n{key} = 'R5'\nlocal_port = 1\ndevice_port = 2\n");
    let device = |key: &str| format!("[device.default]\nurl = 'http://h:1'\n{}", usb("[device.default.usb]", key));
    let af = |key: &str| {
        format!(
            "[remote]\nurl = 'http://h:1'\n[connection]\ntransport = 'usb-forward'\n{}",
            usb("[connection.usb]", key)
        )
    };
    for text in [device("serial"), device("device"), af("serial"), af("device")] {
        let (file, unknown) = parse(&text).expect("reads");
        assert_eq!(file.devices()["default"].usb.as_ref().map(|u| u.serial.as_str()), Some("R5"), "{text}");
        assert!(unknown.is_empty(), "{unknown:?}");
    }
    let error = parse(&device("serial").replace("local_port = 1", "local_port = 0")).expect_err("port 0");
    assert!(error.contains("device.default.usb.local_port is 0, expected 1 to 65535"), "{error}");
}

#[test]
fn only_browsers_on_this_machine_are_used() {
    for text in ["http://127.0.0.1:9222", "http://localhost:9222/", "http://[::1]:1"] {
        assert!(check_attach(text).is_ok(), "{text}");
    }
    let far = ["http://192.168.1.2:9222", "https://127.0.0.1:9222", "127.0.0.1:9222", "http://a:b@127.0.0.1:9222"];
    for text in far.into_iter().chain(["http://127.0.0.1:9222/json"]) {
        assert!(check_attach(text).is_err(), "{text}");
    }
}
