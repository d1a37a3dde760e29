//! Clients that others wrote drive the practice phone over `adb`: what they report as done has arrived.

use std::process::Command;

use afd_tests::TestPhone;
use afd_tests::adb::Adb;

/// An app of the practice phone, which it installs from a file.
const OWN_APP: &str = r#"{"package": "org.example.own", "label": "Own", "start": "m", "pages": {"m": {"activity": ".M", "title": "Own"}}}"#;

/// Returns a phone that a server knows, and its serial number.
fn phone() -> (TestPhone, Adb, String) {
    let mut phone = TestPhone::start();
    let (adb, serial) = (Adb::start(), phone.attach_usb(0));
    adb.run(&["connect", &serial]);
    (phone, adb, serial)
}

#[test]
#[ignore = "needs adb"]
fn verbs_of_adb_answer_as_on_a_phone() {
    let (phone, adb, serial) = phone();
    let run = |args: &[&str]| adb.run(&[&["-s", serial.as_str()], args].concat());
    let verbs: &[(&[&str], &str)] = &[
        (&["get-state"], "device"),
        (&["shell", "getprop", "ro.build.version.sdk"], "34"),
        (&["shell", "getprop"], "[ro.product.model]: [Practice Phone]"),
        (&["shell", "wm", "size"], "Physical size: 1080x2400"),
        (&["shell", "wm", "density"], "Physical density: 420"),
        (&["shell", "uiautomator", "dump"], "UI hierchary dumped to: /sdcard/window_dump.xml"),
        (&["shell", "cat", "/sdcard/window_dump.xml"], "text=\"Bluetooth\""),
        (&["exec-out", "uiautomator", "dump", "/dev/tty"], "</hierarchy>UI hierchary dumped to: /dev/tty"),
        (&["shell", "uiautomator dump --windows /sdcard/w.xml >/dev/null; cat /sdcard/w.xml"], "type=\"TYPE_SYSTEM\""),
        (&["shell", "dumpsys window | grep mCurrentFocus"], "com.android.settings/com.android.settings.Settings"),
        (&["shell", "dumpsys", "activity", "activities"], "topResumedActivity=ActivityRecord{"),
        (&["shell", "dumpsys", "battery"], "level: 77"),
        (&["shell", "dumpsys", "input_method"], "mInputShown=false"),
        (&["shell", "pm", "list", "packages", "shop"], "package:org.example.shop"),
        (&["shell", "pm", "path", "org.example.shop"], "package:/data/app/org.example.shop/base.apk"),
        (&["shell", "cmd", "package", "resolve-activity", "--brief", "org.example.shop"], "org.example.shop/."),
        (&["shell", "settings", "get", "global", "nothing"], "null"),
        (&["shell", "settings put system user_rotation 1; settings get system user_rotation"], "1"),
        (&["shell", "settings --user 0 put global x 7; settings get --user 0 global x"], "7"),
        (&["shell", "cmd", "uimode", "night", "yes"], "Night mode: yes"),
        (&["shell", "ime", "list", "-s"], "com.practice.keyboard/.Keyboard"),
        (&["shell", "am", "start", "-W", "-n", "org.example.shop/.Main"], "Status: ok"),
        (
            &["shell", "monkey", "-p", "com.android.settings", "-c", "android.intent.category.LAUNCHER", "1"],
            "Events injected: 1",
        ),
        (&["shell", "am start -n com.nobody/.Main 2>&1"], "does not exist"),
        (&["shell", "echo 'a  b' | cat; false || echo $?"], "a  b\n1"),
        (&["shell", "nothere 2>&1; echo $?"], "inaccessible or not found\n127"),
        (&["logcat", "-d"], "--------- beginning of system"),
    ];
    for (args, expected) in verbs {
        let output = run(args);
        assert!(output.contains(expected), "{args:?}: {output:.500}");
    }
    phone.clear_inputs();
    run(&["shell", "input", "tap", "540", "700"]);
    run(&["shell", "input", "swipe", "540", "1800", "540", "600", "300"]);
    run(&["shell", "input", "keyevent", "KEYCODE_BACK"]);
    let kinds: Vec<String> = phone.lock().inputs.iter().map(|input| input.kind.clone()).collect();
    assert_eq!(kinds, ["tap", "swipe", "back"]);
    let exit = Command::new("adb").args(["-P", &adb.port().to_string(), "-s", &serial, "shell", "exit 3"]).status();
    assert_eq!(exit.expect("runs").code(), Some(3));
    let picture = Command::new("adb")
        .args(["-P", &adb.port().to_string(), "-s", &serial, "exec-out", "screencap", "-p"])
        .output()
        .expect("runs");
    assert!(picture.stdout.starts_with(b"\x89PNG"));
    let dir = tempfile::tempdir().expect("a directory");
    let (from, to) = (dir.path().join("from"), dir.path().join("to"));
    std::fs::write(&from, vec![7; 300_000]).expect("writes");
    run(&["push", &from.to_string_lossy(), "/sdcard/file"]);
    run(&["pull", "/sdcard/file", &to.to_string_lossy()]);
    assert_eq!(std::fs::read(&to).expect("pulled"), vec![7; 300_000]);
}

#[test]
#[ignore = "needs adb"]
fn ports_of_the_phone_lead_to_the_host() {
    use std::io::{Read as _, Write as _};
    let (_phone, adb, serial) = phone();
    let run = |args: &[&str]| adb.run(&[&["-s", serial.as_str()], args].concat());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("listens");
    let host = format!("tcp:{}", listener.local_addr().expect("an address").port());
    let port: u16 = run(&["reverse", "tcp:0", &host]).trim().parse().expect("a port of the phone");
    assert!(run(&["reverse", "--list"]).contains(&format!("tcp:{port} {host}")));
    let mut sent = std::net::TcpStream::connect(("127.0.0.1", port)).expect("connects");
    sent.write_all(b"ping").expect("sends");
    let (mut received, _) = listener.accept().expect("arrives");
    let mut bytes = [0; 4];
    received.read_exact(&mut bytes).expect("reads");
    received.write_all(b"pong").expect("answers");
    sent.read_exact(&mut bytes).expect("reads the answer");
    assert_eq!(&bytes, b"pong");
    run(&["reverse", "--remove-all"]);
    assert!(!run(&["reverse", "--list"]).contains(&host));
}

#[test]
#[ignore = "needs adb"]
fn commands_on_the_standard_input_of_a_shell_run() {
    use std::io::Write as _;
    let (_phone, adb, serial) = phone();
    let mut child = Command::new("adb")
        .args(["-P", &adb.port().to_string(), "-s", &serial, "shell"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("runs");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"echo one\necho two\nexit 5\n").expect("writes");
    drop(input);
    let output = child.wait_with_output().expect("ends");
    assert_eq!((String::from_utf8_lossy(&output.stdout).as_ref(), output.status.code()), ("one\ntwo\n", Some(5)));
}

/// Runs a script that drives the phone with a Python client, and returns the number of verbs that did what they report.
fn verbs_of(client: &str, packages: &str) -> usize {
    let (phone, adb, serial) = phone();
    let script = format!("{}/clients/{client}_verbs.py", env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("python3")
        .args([&script, &serial, &adb.port().to_string(), &phone.control_url()])
        .env("PYTHONPATH", std::env::var_os(packages).unwrap_or_else(|| panic!("needs {packages}")))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text.lines().filter(|line| line.starts_with("ok ")).count()
}

#[test]
#[ignore = "needs adbutils"]
fn adbutils_does_what_it_reports() {
    assert!(verbs_of("adbutils", "AFD_ADBUTILS") >= 20);
}

#[test]
#[ignore = "needs AndroidViewClient"]
fn android_view_client_does_what_it_reports() {
    assert!(verbs_of("androidviewclient", "AFD_ANDROIDVIEWCLIENT") >= 20);
}

#[test]
#[ignore = "needs uiautomator2"]
fn uiautomator2_does_over_the_shell_what_it_reports() {
    assert!(verbs_of("uiautomator2", "AFD_UIAUTOMATOR2") >= 20);
}

/// A mobilecli with a home directory of its own; dropping it stops the process that it leaves behind.
struct MobileCli {
    program: std::ffi::OsString,
    home: tempfile::TempDir,
    port: u16,
}

impl MobileCli {
    fn run(&self, args: &[&str]) -> String {
        let mut command = Command::new(&self.program);
        command.args(args).env("ANDROID_ADB_SERVER_PORT", self.port.to_string());
        command.env("HOME", self.home.path()).env("XDG_RUNTIME_DIR", self.home.path()).env("TMPDIR", self.home.path());
        String::from_utf8_lossy(&command.output().expect("runs").stdout).into_owned()
    }
}

impl Drop for MobileCli {
    fn drop(&mut self) {
        self.run(&["daemon", "stop"]);
    }
}

#[test]
#[ignore = "needs mobilecli"]
fn mobilecli_does_what_it_reports() {
    let (phone, adb, serial) = phone();
    let home = tempfile::tempdir().expect("a directory");
    let at = |name: &str| home.path().join(name).to_string_lossy().into_owned();
    let (picture, jpeg, app) = (at("picture.png"), at("picture.jpg"), at("own.apk"));
    std::fs::write(&app, OWN_APP).expect("writes");
    let program = std::env::var_os("AFD_MOBILECLI").expect("needs AFD_MOBILECLI");
    let mobilecli = MobileCli { program, home, port: adb.port() };
    let run = |args: &[&str]| mobilecli.run(&[args, &["--device", serial.as_str()]].concat());
    phone.clear_inputs();
    for (args, expected) in [
        (vec!["device", "info"], "Practice Phone"),
        (vec!["dump", "ui"], "Bluetooth"),
        (vec!["apps", "foreground"], "com.android.settings"),
        (vec!["screenshot", "--output", &picture], "\"ok\""),
        (vec!["devices"], "Practice Phone"),
        (vec!["screenshot", "--output", &jpeg, "--format", "jpeg"], "\"ok\""),
        (vec!["device", "orientation", "set", "landscape"], "\"ok\""),
        (vec!["device", "orientation", "get"], "landscape"),
        (vec!["device", "orientation", "set", "portrait"], "\"ok\""),
        (vec!["apps", "install", &app], "Installed"),
        (vec!["apps", "uninstall", "org.example.own"], "\"ok\""),
        (vec!["io", "swipe", "540,1800,540,600"], "\"ok\""),
        (vec!["io", "tap", "540,1000"], "\"ok\""),
        (vec!["io", "longpress", "540,1000"], "Long pressed"),
        (vec!["io", "button", "BACK"], "\"ok\""),
        (vec!["io", "button", "HOME"], "\"ok\""),
        (vec!["io", "keys", "ENTER"], "\"ok\""),
        (vec!["io", "text", "hello"], "\"ok\""),
        (vec!["apps", "launch", "org.example.shop"], "\"ok\""),
        (vec!["apps", "terminate", "org.example.shop"], "\"ok\""),
        (vec!["url", "https://example.org"], "Opened URL"),
    ] {
        let output = run(&args);
        assert!(output.contains(expected), "{args:?}: {output:.500}");
    }
    let kinds: Vec<String> = phone.lock().inputs.iter().map(|input| input.kind.clone()).collect();
    // Uninstalling stops the app; the URL opens the browser.
    let expected = ["stop", "swipe", "tap", "longPress", "back", "home", "key", "text", "launch", "stop", "launch"];
    assert_eq!(kinds, expected);
}

/// agent-device with a home directory of its own; dropping it stops the process that it leaves behind.
struct AgentDevice {
    program: std::ffi::OsString,
    home: tempfile::TempDir,
    adb: u16,
}

impl AgentDevice {
    fn run(&self, args: &[&str]) -> String {
        let mut command = Command::new(&self.program);
        command.args(args).env("ANDROID_ADB_SERVER_PORT", self.adb.to_string()).env("HOME", self.home.path());
        // Its own version of Node.js is beside it.
        let beside = std::path::Path::new(&self.program).parent().map(std::path::Path::to_path_buf);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(beside.into_iter().chain(std::env::split_paths(&path))).expect("a path");
        command.env("PATH", path).current_dir(self.home.path());
        let output = command.output().expect("runs");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }
}

impl Drop for AgentDevice {
    fn drop(&mut self) {
        let state = self.home.path().join(".agent-device/daemon.json");
        let state = std::fs::read_to_string(state).ok().and_then(|text| serde_json::from_str(&text).ok());
        if let Some(pid) = state.and_then(|state: serde_json::Value| state["pid"].as_u64()) {
            afd_tests::daemon::send_signal(u32::try_from(pid).expect("a process"), "TERM");
        }
    }
}

/// What agent-device does without its helper app, which it installs on phones and which is no app of the practice phone: its
/// snapshots, gestures that need one, and recordings, for which it reads `/proc`.
#[test]
#[ignore = "needs agent-device"]
fn agent_device_does_what_it_reports() {
    let (phone, adb, serial) = phone();
    let home = tempfile::tempdir().expect("a directory");
    let at = |name: &str| home.path().join(name).to_string_lossy().into_owned();
    let (picture, app) = (at("picture.png"), at("own.apk"));
    std::fs::write(&app, OWN_APP).expect("writes");
    let program = std::env::var_os("AFD_AGENT_DEVICE").expect("needs AFD_AGENT_DEVICE");
    let client = AgentDevice { program, home, adb: adb.port() };
    let run = |args: &[&str]| client.run(&[args, &["--platform", "android", "--serial", serial.as_str()]].concat());
    phone.clear_inputs();
    for (args, expected) in [
        (vec!["devices"], "Practice Phone"),
        (vec!["boot"], "Boot ready"),
        (vec!["apps"], "org.example.shop"),
        (vec!["open", "com.android.settings"], "Opened: com.android.settings"),
        (vec!["appstate"], "Foreground app: com.android.settings"),
        (vec!["screenshot", &picture], "1080x2400"),
        (vec!["press", "540", "1000"], "Tapped"),
        (vec!["type", "hello"], "Typed 5"),
        (vec!["back"], "Back"),
        (vec!["app-switcher"], "Opened app switcher"),
        (vec!["keyboard", "status"], "Keyboard visible: no"),
        (vec!["settings", "wifi", "off"], "Updated setting"),
        (vec!["settings", "airplane", "on"], "Updated setting"),
        (vec!["settings", "appearance", "dark"], "Updated setting"),
        (vec!["settings", "animations", "off"], "Updated setting"),
        (vec!["orientation", "landscape-left"], "Rotation requested"),
        (vec!["install", "org.example.own", &app], "Installed"),
        (vec!["logs", "path"], "backend=android"),
        (vec!["home"], "Home"),
        (vec!["close"], "Closed"),
    ] {
        let output = run(&args);
        assert!(output.contains(expected) && !output.contains("not found"), "{args:?}: {output:.600}");
    }
    let phone = phone.lock();
    let kinds: Vec<&str> = phone.inputs.iter().map(|input| input.kind.as_str()).collect();
    for kind in ["launch", "tap", "text", "back", "key", "home"] {
        assert!(kinds.contains(&kind), "{kind} arrived: {kinds:?}");
    }
    let set = |table: &str, name: &str| phone.settings.get(&(table.to_owned(), name.to_owned())).cloned();
    assert_eq!(set("global", "wifi_on").as_deref(), Some("0"));
    assert_eq!(set("uimode", "night").as_deref(), Some("yes"));
    assert_eq!((phone.turn(), phone.apps.iter().any(|app| app.package == "org.example.own")), (1, true));
}
