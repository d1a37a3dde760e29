use super::*;

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
