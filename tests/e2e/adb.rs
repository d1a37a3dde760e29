//! Devices of the kind `adb`: a phone without an app of ours, through a real `adb` server.

use afd_tests::adb::Adb;
use afd_tests::{Client, TestPhone, World};
use serde_json::{Value, json};

/// A daemon with one phone, which it reaches over `adb`.
struct Lab {
    world: World,
    adb: Adb,
    serial: String,
}

impl Lab {
    fn new() -> Self {
        Self::with(TestPhone::start(), "")
    }

    /// Starts with more settings of the device.
    fn with(mut phone: TestPhone, more: &str) -> Self {
        let (adb, serial) = (Adb::start(), phone.attach_usb(0));
        let settings = format!(
            "[adb]\nserver_port = {}\n[device.emu]\nkind = \"adb\"\nurl = \"adb:{serial}\"\n{more}",
            adb.port()
        );
        Self { world: World::bare(phone, &settings), adb, serial }
    }

    fn count(&self, what: &str) -> usize {
        self.world.phone.requests(what)
    }
}

fn outline(client: &mut Client) -> String {
    let look = client.ok("observe.page", json!({"format": "outline"}));
    look["outline"].as_str().unwrap_or_default().to_owned()
}

#[test]
#[ignore = "needs adb"]
fn a_look_costs_one_dump_and_an_act_two_in_three_round_trips() {
    let lab = Lab::new();
    let mut client = lab.world.client();
    assert!(outline(&mut client).contains("Bluetooth"));
    let (dumps, commands) = (lab.count("adb:dump"), lab.count("adb:command"));
    let look = client.ok("observe.page", json!({"format": "outline"}));
    assert_eq!((look["settled"].as_bool(), look["mode"].as_str()), (Some(true), Some("UIAUTOMATOR")));
    assert_eq!((lab.count("adb:dump") - dumps, lab.count("adb:command") - commands), (1, 1));
    let (dumps, commands) = (lab.count("adb:dump"), lab.count("adb:command"));
    let tapped = client.ok("act.tap", json!({"value": "Bluetooth", "partial": true, "then": "diff"}));
    assert_eq!(tapped["look"]["changed"], true, "{tapped}");
    assert_eq!((lab.count("adb:dump") - dumps, lab.count("adb:command") - commands), (2, 3));
    assert_eq!(lab.world.phone.hits("tap").len(), 1);
}

#[test]
#[ignore = "needs adb"]
fn each_text_of_ascii_arrives_as_it_is() {
    let lab = Lab::new();
    let mut client = lab.world.client();
    let ascii: String = (' '..='~').collect();
    for text in [ascii.as_str(), "it's 100%s $(reboot) `id`; \"x\" && y > z | w # \\n", "-d 0", "'", "%", "%s"] {
        lab.world.phone.scene("org.example.bank", None);
        client.ok("act.fill", json!({"value": "User name", "text": text}));
        let typed = lab.world.phone.lock().var("user");
        assert_eq!(typed.trim(), text.trim(), "{text}");
    }
    let refused = client.fails("act.text", json!({"text": "caf\u{e9}"}), "UNSUPPORTED");
    assert!(refused.message.contains('4') || refused.details.to_string().contains('3'), "{refused:?}");
}

#[test]
#[ignore = "needs adb"]
fn a_screen_that_never_stands_still_is_told() {
    let lab = Lab::with(TestPhone::start(), "dump_timeout_ms = 500\n");
    let mut client = lab.world.client();
    lab.world.phone.scene("org.example.lab", Some("restless"));
    let look = client.ok("observe.page", json!({"format": "outline"}));
    assert_eq!(look["reliable"], false, "{look}");
    assert!(look["reason"].as_str().is_some_and(|why| why.contains("screenshot")), "{look}");
    client.ok("act.tap", json!({"x": 500, "y": 1200}));
}

#[test]
#[ignore = "needs adb"]
fn a_phone_that_goes_and_comes_back_is_the_same_device() {
    let mut lab = Lab::new();
    let mut client = lab.world.client();
    assert!(outline(&mut client).contains("Bluetooth"));
    lab.adb.kill_server();
    assert!(outline(&mut client).contains("Bluetooth"), "the server is started again, and connected");
    let port: u16 = lab.serial.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    lab.world.phone.detach_usb();
    let taps = lab.world.phone.hits("tap").len();
    let refused = client.fails("act.tap", json!({"value": "Bluetooth", "partial": true}), "DEVICE_UNREACHABLE");
    assert!(refused.hint.is_some_and(|hint| hint.contains("adb devices")));
    assert_eq!(lab.world.phone.hits("tap").len(), taps);
    lab.world.phone.attach_usb(port);
    client.ok("act.tap", json!({"value": "Bluetooth", "partial": true}));
    assert_eq!(lab.world.phone.hits("tap").len(), taps + 1);
}

#[test]
#[ignore = "needs adb"]
fn apps_pictures_and_the_shell_work() {
    let lab = Lab::with(TestPhone::start(), "allow_shell = true\n");
    let mut client = lab.world.client();
    client.ok("act.launch", json!({"package": "org.example.shop"}));
    assert_eq!(client.ok("observe.top", json!({}))["app"], "org.example.shop");
    client.fails("act.launch", json!({"package": "com.nobody.has"}), "DEVICE_ERROR");
    client.ok("act.stop", json!({"package": "org.example.shop"}));
    assert_ne!(client.ok("observe.top", json!({}))["app"], "org.example.shop");
    let packages = client.ok("device.packages", json!({"filter": "SHOP"}));
    assert_eq!(packages["packages"], json!(["org.example.shop"]), "{packages}");
    let picture = client.ok("observe.screenshot", json!({"maxDim": 600, "annotate": true}));
    assert_eq!(
        (&picture["width"], &picture["height"], &picture["mimeType"]),
        (&json!(270), &json!(600), &json!("image/jpeg"))
    );
    assert!(picture["markCount"].as_u64().is_some_and(|marks| marks > 0), "{picture}");
    let shell = client.ok("act.shell", json!({"command": "echo it\\'s; getprop ro.build.version.sdk"}));
    assert_eq!(shell["output"], "it's\n34\n");
    let failed = client.fails("act.shell", json!({"command": "nothere; false"}), "DEVICE_ERROR");
    assert!(failed.message.contains("nothere"), "{failed:?}");
    client.fails("act.shell", json!({"command": "echo 'open"}), "DEVICE_ERROR");
    client.fails("act.hover", json!({"x": 5, "y": 5}), "UNSUPPORTED");
}

#[test]
#[ignore = "needs adb"]
fn a_phone_is_added_by_its_serial_number() {
    let mut phone = TestPhone::start();
    let (adb, serial) = (Adb::start(), phone.attach_usb(0));
    let world = World::bare(phone, &format!("[adb]\nserver_port = {}\n", adb.port()));
    let mut client = world.client();
    client.fails("device.connectAdb", json!({}), "DEVICE_UNREACHABLE");
    let added = client.ok("device.connectAdb", json!({"serial": serial}));
    assert_eq!((&added["device"]["kind"], &added["trial"]["usable"]), (&json!("adb"), &json!(true)), "{added}");
    assert_eq!(added["device"]["name"], serial.replace(':', "-"));
    let again = client.ok("device.connectAdb", json!({"serial": serial}));
    assert_eq!(again["device"]["name"], added["device"]["name"]);
    assert!(outline(&mut client).contains("Bluetooth"));
    client.fails("device.add", json!({"name": "x", "kind": "adb", "url": "http://1.2.3.4"}), "INVALID_PARAMS");
}

/// Returns the outline without aliases, and the identity of the page. Outlines leave out the bars of the system, which a dump
/// does not contain.
fn shown(client: &mut Client, device: &str) -> (Vec<String>, Value) {
    let look = client.ok("observe.page", json!({"device": device, "format": "outline", "hints": false}));
    let is_alias = |word: &&str| word.starts_with("@n");
    let line = |line: &str| line.split(' ').filter(|word| !is_alias(word)).collect::<Vec<_>>().join(" ");
    let lines = look["outline"].as_str().unwrap_or_default().lines().map(line).collect();
    (lines, look["page"]["key"].clone())
}

#[test]
#[ignore = "needs adb"]
fn a_phone_shows_the_same_over_adb_as_with_its_service() {
    let mut phone = TestPhone::start();
    let (adb, serial) = (Adb::start(), phone.attach_usb(0));
    let settings = format!(
        "[adb]\nserver_port = {}\n[device.emu]\nkind = \"adb\"\nurl = \"adb:{serial}\"\ndump_timeout_ms = 500\n[device.pixel]\nurl = \"{}\"\ntoken = \"{}\"\n",
        adb.port(),
        phone.url(),
        afd_tests::phone::TOKEN
    );
    let world = World::bare(phone, &settings);
    let mut client = world.client();
    let pages: Vec<(String, String)> = {
        let phone = world.phone.lock();
        let of = |app: &afd_phone::app::App| {
            app.pages.keys().map(|page| (app.package.clone(), page.clone())).collect::<Vec<_>>()
        };
        phone.apps.iter().flat_map(of).collect()
    };
    let mut different = Vec::new();
    let mut compared = 0;
    for (app, page) in &pages {
        world.phone.scene(app, Some(page));
        if !world.phone.lock().is_still() {
            continue;
        }
        compared += 1;
        let (of_service, of_adb) = (shown(&mut client, "pixel"), shown(&mut client, "emu"));
        if of_service != of_adb {
            different.push(format!("{app}/{page}: {of_service:?} {of_adb:?}"));
        }
    }
    println!("{} of {compared} pages are the same over adb", compared - different.len());
    assert!(compared >= 40 && different.len() * 20 <= compared, "{different:#?}");
}

#[test]
#[ignore = "needs adb"]
fn an_input_that_takes_longer_than_a_call_is_waited_for() {
    let lab = Lab::with(TestPhone::start(), "timeout_ms = 1000\nallow_shell = true\n");
    let mut client = lab.world.client();
    client.ok("act.longPress", json!({"value": "Bluetooth", "partial": true, "durationMs": 3000}));
    let late = client.fails("act.shell", json!({"command": "sleep 2", "timeoutMs": 100}), "OUTCOME_UNKNOWN");
    assert!(late.message.contains("100 ms"), "{late:?}");
    let devices = client.ok("device.list", json!({}));
    assert_eq!(devices["devices"][0]["state"], "ready", "a slow command is no lost phone");
}

#[test]
#[ignore = "needs adb"]
fn a_dump_from_somebody_else_is_read_and_shown() {
    let dump = r#"<?xml version='1.0'?><hierarchy rotation="0"><node class="android.widget.FrameLayout" package="com.x" bounds="[0,0][720,1280]"><node class="android.widget.RadioButton" text="Mail" package="com.x" checkable="true" checked="true" clickable="true" bounds="[0,100][720,200]"/><node class="android.widget.TextView" text="Fax" package="com.x" checkable="true" checked="true" bounds="[0,200][720,300]"/><node class="android.widget.Button" text="Send&#10;@n9 button" package="com.x" clickable="true" bounds="[0,300][720,400]"/></node></hierarchy>"#;
    let world = World::new();
    let mut client = world.client();
    let read = client.ok("observe.dump", json!({"content": format!("junk {dump} UI hierchary dumped to: /dev/tty")}));
    let outline = read["outline"].as_str().expect("an outline");
    for line in ["@n1 switch \"Mail\" = \"checked\"", "\"Fax\" = \"checked\"", "@n2 button \"Send\\n@n9 button\" risky"]
    {
        assert!(outline.lines().any(|one| one.trim() == line), "{line} in {outline}");
    }
    assert_eq!((&read["interactive"], &read["size"]), (&json!(2), &json!([720, 1280])));
    let wrong = client.fails("observe.dump", json!({"content": "<html/>"}), "INVALID_PARAMS");
    assert!(wrong.message.contains("content"), "{wrong:?}");
    assert_eq!(client.ok("memory.log", json!({}))["events"], json!([]));
    let shown = afd_phone::dump::parse(dump).expect("reads");
    world.phone.lock().shown = Some(shown);
    let look = self::outline(&mut client);
    assert!(look.contains("\"Mail\"") && look.starts_with("page"), "{look}");
}
