//! Managing a phone: apps, settings, log, crashes, recordings. The phone is reached over `adb`, alone or beside the Autofish app.

use afd_tests::adb::Adb;
use afd_tests::{Client, TestPhone, World};
use serde_json::{Value, json};

/// An app whose buttons crash it, freeze it, and log what was typed.
const FAULTY: &str = r#"{"package": "org.example.faulty", "label": "Faulty", "start": "main", "vars": {"name": "", "pin": ""},
  "pages": {"main": {"activity": ".Main", "title": "Faulty", "body": [
    {"type": "button", "id": "crash", "text": "Break", "do": {"crash": "java.lang.IllegalStateException: no cart for {name}"}},
    {"type": "button", "id": "freeze", "text": "Freeze", "do": {"freeze": true}},
    {"type": "button", "id": "save", "text": "Save", "do": {"log": "saved name={name}"}},
    {"type": "field", "id": "name", "hint": "Name", "var": "name"},
    {"type": "field", "id": "password", "hint": "PIN", "var": "pin", "password": true}]}}}"#;

/// A daemon with one phone that it may manage.
struct Lab {
    world: World,
    adb: Adb,
    dir: tempfile::TempDir,
}

impl Lab {
    /// Starts with a device of the kind `adb`.
    fn new() -> Self {
        Self::with(|_, serial| format!("kind = \"adb\"\nurl = \"adb:{serial}\"\nallow_apps = true\n"))
    }

    fn with(settings: impl FnOnce(&TestPhone, &str) -> String) -> Self {
        let mut phone = TestPhone::start();
        let (adb, serial) = (Adb::start(), phone.attach_usb(0));
        let device = settings(&phone, &serial);
        let settings = format!("[adb]\nserver_port = {}\n[device.emu]\n{device}", adb.port());
        adb.run(&["connect", &serial]);
        Self { world: World::bare(phone, &settings), adb, dir: tempfile::tempdir().expect("a directory") }
    }

    /// Writes a file that the practice phone installs as an app.
    fn apk(&self, name: &str, content: &str) -> String {
        let file = self.dir.path().join(name);
        std::fs::write(&file, content).expect("writes");
        file.to_string_lossy().into_owned()
    }

    /// Returns a client, with the faulty app installed and open.
    fn faulty(&self) -> Client {
        let mut client = self.world.client();
        client.ok("act.install", json!({"file": self.apk("faulty.apk", FAULTY)}));
        client.ok("act.launch", json!({"name": "Faulty", "then": "outline"}));
        client
    }
}

fn texts(log: &Value) -> Vec<&str> {
    log["lines"].as_array().expect("lines").iter().filter_map(|line| line["text"].as_str()).collect()
}

#[test]
#[ignore = "needs adb"]
fn apps_are_installed_cleared_permitted_and_uninstalled() {
    let lab = Lab::new();
    let mut client = lab.faulty();
    let packages = client.ok("device.packages", json!({"filter": "faulty"}));
    assert_eq!(packages["packages"], json!(["org.example.faulty"]));
    client.ok("act.fill", json!({"value": "Name", "text": "Ada"}));
    assert_eq!(lab.world.phone.lock().var("name"), "Ada");
    client.ok("act.grant", json!({"package": "org.example.faulty", "permission": "CAMERA"}));
    let has =
        |permission: &str| lab.world.phone.lock().permissions.contains(&format!("org.example.faulty {permission}"));
    assert!(has("android.permission.CAMERA"));
    client.ok("act.grant", json!({"package": "org.example.faulty", "permission": "CAMERA", "revoke": true}));
    assert!(!has("android.permission.CAMERA"));
    client.ok("act.clearApp", json!({"package": "org.example.faulty"}));
    client.ok("act.launch", json!({"package": "org.example.faulty"}));
    assert_eq!(lab.world.phone.lock().var("name"), "", "its data is gone");
    client.ok("act.uninstall", json!({"package": "org.example.faulty"}));
    assert_eq!(client.ok("device.packages", json!({"filter": "faulty"}))["packages"], json!([]));
    let events = client.ok("memory.log", json!({"limit": 3}));
    assert_eq!(events["events"][0]["op"], "uninstall", "{events}");
}

#[test]
#[ignore = "needs adb"]
fn apps_that_the_phone_refuses_change_nothing() {
    let lab = Lab::new();
    let mut client = lab.world.client();
    let before = client.ok("device.packages", json!({}));
    let no_app = client.fails("act.install", json!({"file": lab.apk("text.apk", "no app")}), "DEVICE_ERROR");
    assert!(no_app.message.contains("INSTALL_PARSE_FAILED_NOT_APK"), "{no_app:?}");
    for (file, expected) in
        [("relative.apk", "absolute path"), ("/nowhere/app.apk", "can read"), ("/etc/passwd", "APK")]
    {
        let error = client.fails("act.install", json!({"file": file}), "INVALID_PARAMS");
        assert!(error.message.contains("file") && error.message.contains(expected), "{file}: {error:?}");
    }
    client.fails("act.uninstall", json!({"package": "org.example.nothing"}), "DEVICE_ERROR");
    client.fails("act.grant", json!({"package": "org.example.nothing", "permission": "CAMERA"}), "DEVICE_ERROR");
    let bad = client.fails("act.clearApp", json!({"package": "a b; reboot"}), "INVALID_PARAMS");
    assert!(bad.message.contains("package"), "{bad:?}");
    assert_eq!(client.ok("device.packages", json!({}))["packages"], before["packages"]);
}

#[test]
#[ignore = "needs adb"]
fn apps_are_changed_only_if_the_settings_allow_it() {
    let lab = Lab::with(|_, serial| format!("kind = \"adb\"\nurl = \"adb:{serial}\"\n"));
    let mut client = lab.world.client();
    let refused = client.fails("act.install", json!({"file": lab.apk("faulty.apk", FAULTY)}), "REFUSED");
    assert_eq!(refused.details["setting"], "device.emu.allow_apps");
    client.fails("act.clearApp", json!({"package": "org.example.shop"}), "REFUSED");
    assert!(lab.world.phone.lock().apps.iter().all(|app| app.package != "org.example.faulty"));
}

#[test]
#[ignore = "needs adb"]
fn log_since_the_last_action_hides_what_was_typed() {
    let lab = Lab::new();
    let mut client = lab.faulty();
    client.ok("act.fill", json!({"value": "Name", "text": "Zaphod B."}));
    client.ok("act.tap", json!({"value": "Save"}));
    let log = client.ok("device.log", json!({}));
    assert_eq!(texts(&log), ["saved name=[typed text]"]);
    let line = &log["lines"][0];
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("now").as_millis() as i64;
    let age = now - line["at"].as_i64().expect("a time");
    assert!((-2_000..60_000).contains(&age), "the phone's clock is another one: {age}");
    assert_eq!((line["level"].as_str(), line["tag"].as_str()), (Some("info"), Some("faulty")));
    let all = client.ok("device.log", json!({"sinceMs": 600_000}));
    assert!(texts(&all).len() > 1 && all["sinceMs"].as_u64() < Some(600_000), "not from before the daemon's start");
    let own = client.ok("device.log", json!({"sinceMs": 600_000, "app": "org.example.faulty", "level": "warning"}));
    assert_eq!(texts(&own), Vec::<&str>::new());
    let limited = client.ok("device.log", json!({"sinceMs": 600_000, "limit": 1}));
    assert_eq!((texts(&limited).len(), limited["truncated"].as_bool()), (1, Some(true)));
    let none = client.fails("device.log", json!({"app": "org.example.nothing"}), "DEVICE_ERROR");
    assert!(none.message.contains("org.example.nothing"), "{none:?}");
}

#[test]
#[ignore = "needs adb"]
fn crash_is_reported_recorded_and_attached_to_a_bug() {
    let lab = Lab::new();
    let mut client = lab.faulty();
    client.ok("act.fill", json!({"value": "Name", "text": "Zaphod"}));
    let tapped = client.ok("act.tap", json!({"value": "Break", "then": "diff"}));
    let incident = &tapped["look"]["incidents"][0];
    assert_eq!((incident["kind"].as_str(), incident["app"].as_str()), (Some("crash"), Some("org.example.faulty")));
    let report = incident["report"].as_str().expect("a report");
    assert!(
        report.starts_with("java.lang.IllegalStateException: no cart for [typed text] | at org.example.faulty"),
        "{report}"
    );
    let events = client.ok("memory.log", json!({"limit": 1}));
    assert_eq!(events["events"][0]["evidence"]["incidents"][0]["app"], "org.example.faulty", "{events}");
    let again = client.ok("act.launch", json!({"package": "org.example.faulty", "then": "diff"}));
    assert_eq!(again["look"]["incidents"], Value::Null, "a crash is reported once");
    client.ok("session.start", json!({"session": "default", "goal": "find bugs"}));
    let bug = client.ok("session.bug.add", json!({"title": "Break breaks", "fromLog": true}));
    let actual = bug["bug"]["actual"].as_str().expect("what happened");
    assert!(actual.contains("org.example.faulty crashed") && !actual.contains("Zaphod"), "{bug}");
    assert_eq!(bug["bug"]["app"], "org.example.faulty", "{bug}");
    let description = bug["bug"]["description"].as_str().expect("the log");
    assert!(description.lines().skip(1).all(|line| line.starts_with("> ")), "{description}");
}

#[test]
#[ignore = "needs adb"]
fn crash_after_an_action_without_a_look_is_in_the_next_look() {
    let lab = Lab::new();
    let mut client = lab.faulty();
    client.ok("act.tap", json!({"value": "Break"}));
    let look = client.ok("observe.page", json!({"format": "outline"}));
    assert_eq!(look["incidents"][0]["app"], "org.example.faulty", "{look}");
    let events = client.ok("memory.log", json!({"limit": 1}));
    assert_eq!(
        (&events["events"][0]["op"], &events["events"][0]["evidence"]["incidents"][0]["kind"]),
        (&json!("tap"), &json!("crash"))
    );
    // A report after that names the app that crashed, although another one is in front.
    client.ok("session.start", json!({"session": "default", "goal": "find bugs"}));
    let bug = client.ok("session.bug.add", json!({"title": "Break breaks", "fromLog": true}));
    assert_eq!(bug["bug"]["app"], "org.example.faulty", "{bug}");
}

#[test]
#[ignore = "needs adb"]
fn app_that_does_not_respond_is_reported() {
    let lab = Lab::new();
    let mut client = lab.faulty();
    let tapped = client.ok("act.tap", json!({"value": "Freeze", "then": "outline"}));
    assert_eq!(
        tapped["look"]["incidents"],
        json!([{"kind": "notResponding", "app": "org.example.faulty", "report": ""}])
    );
    let woken = client.ok("act.tap", json!({"value": "Wait", "then": "outline"}));
    assert_eq!(woken["look"]["incidents"], Value::Null);
    assert!(woken["look"]["observation"]["outline"].as_str().is_some_and(|outline| outline.contains("\"Save\"")));
}

#[test]
#[ignore = "needs adb"]
fn settings_are_changed_and_returned_as_they_were() {
    let lab = Lab::new();
    let mut client = lab.faulty();
    let turned = client.ok(
        "act.configure",
        json!({"orientation": "landscape", "darkMode": true, "airplaneMode": true, "then": "outline"}),
    );
    assert_eq!(turned["before"], json!({"orientation": "auto", "darkMode": false, "airplaneMode": false}));
    assert_eq!(lab.world.phone.lock().turn(), 1);
    // Taps still hit on the turned screen.
    lab.world.phone.clear_inputs();
    client.ok("act.tap", json!({"value": "Save"}));
    assert_eq!(lab.world.phone.hits("tap"), ["Save"]);
    let back = client.ok("act.configure", json!({"orientation": "auto", "darkMode": false, "airplaneMode": false}));
    assert_eq!(back["before"], json!({"orientation": "landscape", "darkMode": true, "airplaneMode": true}));
    let own = client.ok("act.configure", json!({"locale": "de-DE", "localeApp": "org.example.faulty"}));
    assert_eq!(own["before"], json!({"locale": "", "localeApp": "org.example.faulty"}));
    let refused = client.fails("act.configure", json!({"locale": "de-DE"}), "DEVICE_ERROR");
    assert!(refused.message.contains("localeApp"), "{refused:?}");
    let nothing = client.fails("act.configure", json!({}), "INVALID_PARAMS");
    assert!(nothing.message.contains("at least one setting"), "{nothing:?}");
    let bad = client.fails("act.configure", json!({"locale": "de_DE"}), "INVALID_PARAMS");
    assert!(bad.message.contains("locale"), "{bad:?}");
}

#[test]
#[ignore = "needs adb"]
fn recordings_begin_end_and_become_artifacts() {
    let lab = Lab::new();
    let mut client = lab.world.client();
    client.fails("device.stopRecording", json!({}), "NOT_FOUND");
    client.ok("device.startRecording", json!({"maxMs": 60_000}));
    client.fails("device.startRecording", json!({}), "CONFLICT");
    let wrong = client.fails("device.stopRecording", json!({"saveFile": lab.dir.path()}), "INVALID_PARAMS");
    assert!(wrong.hint.as_deref().is_some_and(|hint| hint.contains(".mp4 instead")), "{wrong:?}");
    client.ok("device.startRecording", json!({"maxMs": 60_000}));
    let file = lab.dir.path().join("test.mp4");
    let saved = client.ok("device.stopRecording", json!({"saveFile": file}));
    let content = std::fs::read(&file).expect("a video");
    assert_eq!((&content[4..8], saved["sizeBytes"].as_u64()), (&b"ftyp"[..], Some(content.len() as u64)));
    assert!(lab.world.phone.lock().files.keys().all(|name| !name.contains("afd-")), "nothing is left on the phone");
    client.fails("device.stopRecording", json!({}), "NOT_FOUND");
}

#[test]
#[ignore = "needs adb"]
fn phone_with_the_app_and_adb_is_one_phone() {
    let lab = Lab::with(|phone, serial| {
        format!(
            "url = \"{}\"\ntoken = \"test-token-1234\"\nadb_serial = \"{serial}\"\nallow_apps = true\n",
            phone.url()
        )
    });
    let mut client = lab.faulty();
    let look = client.ok("observe.page", json!({"format": "outline"}));
    assert_ne!(look["mode"], "UIAUTOMATOR", "the app reads the screen");
    let tapped = client.ok("act.tap", json!({"value": "Break", "then": "diff"}));
    assert_eq!(tapped["look"]["incidents"][0]["app"], "org.example.faulty", "{tapped}");
    let serial = lab.adb.run(&["devices"]);
    let serial = serial.lines().find_map(|line| line.strip_suffix("\tdevice")).expect("a phone");
    let joined = client.ok("device.connectAdb", json!({"serial": serial}));
    assert_eq!((joined["device"]["name"].as_str(), joined["device"]["kind"].as_str()), (Some("emu"), Some("autofish")));
    assert_eq!(client.ok("device.list", json!({}))["devices"].as_array().map(Vec::len), Some(1));
}

#[test]
#[ignore = "needs adb"]
fn apps_are_opened_by_their_names() {
    let lab = Lab::new();
    let mut client = lab.world.client();
    client.ok("act.launch", json!({"name": "settings"}));
    assert!(lab.world.phone.lock().foreground().0 == "com.android.settings");
    // The package of this one is not named like it.
    let other = FAULTY.replace("org.example.faulty", "org.example.x1").replace("\"Faulty\"", "\"Odd one\"");
    client.ok("act.install", json!({"file": lab.apk("odd.apk", &other)}));
    client.ok("act.launch", json!({"name": "Odd one"}));
    assert_eq!(lab.world.phone.lock().foreground().0, "org.example.x1");
    let twin = FAULTY.replace("org.example.faulty", "net.example.settings");
    client.ok("act.install", json!({"file": lab.apk("twin.apk", &twin)}));
    let several = client.fails("act.launch", json!({"name": "Settings"}), "TARGET_AMBIGUOUS");
    assert_eq!(several.details["packages"], json!(["com.android.settings", "net.example.settings"]));
    client.fails("act.launch", json!({"name": "Nothing like it"}), "TARGET_NOT_FOUND");
    client.fails("act.launch", json!({}), "INVALID_PARAMS");
    client.fails("act.launch", json!({"name": "a", "package": "b.c"}), "INVALID_PARAMS");
}

#[test]
#[ignore = "needs adb"]
fn input_method_of_the_user_types_any_text_but_no_password() {
    let lab = Lab::new();
    let mut client = lab.faulty();
    let refused = client.fails("act.fill", json!({"value": "Name", "text": "Gr\u{fc}\u{df}e"}), "UNSUPPORTED");
    assert!(refused.message.contains("text"), "{refused:?}");
    let keyboard = FAULTY.replace("org.example.faulty", "com.android.adbkeyboard").replace("\"Faulty\"", "\"Typist\"");
    client.ok("act.install", json!({"file": lab.apk("keyboard.apk", &keyboard)}));
    lab.adb.run(&["shell", "ime set com.android.adbkeyboard/.AdbIME"]);
    let checks = client.ok("daemon.doctor", json!({}));
    assert!(checks.to_string().contains("any text but passwords through ADBKeyBoard"), "{checks}");
    client.ok("act.fill", json!({"value": "Name", "text": "Gr\u{fc}\u{df}e \u{4e2d}"}));
    assert_eq!(lab.world.phone.lock().var("name"), "Gr\u{fc}\u{df}e \u{4e2d}");
    let secret = client.fails("act.fill", json!({"value": "PIN", "text": "pass\u{fc}"}), "DEVICE_ERROR");
    assert!(secret.message.contains("password") && !secret.message.contains("pass\u{fc}"), "{secret:?}");
    assert_eq!(lab.world.phone.lock().var("pin"), "");
}
