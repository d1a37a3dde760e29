//! Phones over USB, through the real `adb`.

use afd_tests::adb::Adb;
use afd_tests::{Client, Daemon, TestPhone, World, phone::TOKEN, wait};
use serde_json::{Value, json};

use crate::runtime::tasks::restarts;

/// Starts a world whose daemon has no devices, and an `adb` to which the phone is attached. Returns them with the
/// serial of the phone.
fn start_with_usb() -> (World, Adb, String) {
    let adb = Adb::start();
    let mut phone = TestPhone::start();
    let serial = phone.attach_usb(0);
    let output = adb.run(&["connect", &serial]);
    assert!(output.contains("connected"), "{output}");
    let settings = format!("[adb]\nserver_port = {}\n", adb.port());
    let world = World::start(phone, &settings, Daemon::start);
    (world, adb, serial)
}

/// Connects the phone over USB and sets its token.
fn connect(client: &mut Client) -> Value {
    let connected = client.ok("device.connectUsb", json!({}));
    client.ok(
        "config.set",
        json!({"key": format!("device.{}.token", connected["device"].as_str().expect("a name")), "value": TOKEN}),
    );
    connected
}

/// Returns the state of the first device.
fn state(client: &mut Client) -> String {
    client.ok("device.list", json!({}))["devices"][0]["state"].as_str().expect("a state").to_owned()
}

#[test]
#[ignore = "needs adb"]
fn usb_connection_adds_a_device_and_one_forward_until_removed() {
    let (world, adb, serial) = start_with_usb();
    let mut client = world.client();
    let plan = client.ok("device.connectUsb", json!({"printOnly": true}));
    assert_eq!(
        (plan["forwarded"].as_bool(), plan["configWritten"].as_bool(), plan["deviceSerial"].as_str()),
        (Some(false), Some(false), Some(serial.as_str()))
    );
    assert_eq!(adb.forwards(), Vec::<String>::new());
    let connected = connect(&mut client);
    let (local, remote) =
        (connected["localPort"].as_u64().expect("a port"), connected["devicePort"].as_u64().expect("a port"));
    assert_eq!((connected["device"].as_str(), connected["transport"].as_str()), (Some("default"), Some("usb-forward")));
    assert_eq!(
        (connected["forwarded"].as_bool(), connected["reused"].as_bool(), connected["tokenConfigured"].as_bool()),
        (Some(true), Some(false), Some(false))
    );
    assert_eq!(connected["hint"]["packageName"], "com.memohai.autofish");
    assert_eq!(adb.forwards(), [format!("{serial} tcp:{local} tcp:{remote}")]);
    assert_eq!(client.ok("observe.top", json!({}))["topActivity"], "com.android.settings/.Settings");
    let health = client.ok("device.health", json!({}));
    assert_eq!(
        health["connection"],
        json!({"url": format!("http://127.0.0.1:{local}"), "transport": "usb-forward", "device": serial, "localPort": local, "devicePort": remote})
    );
    // Connecting again uses the same forward, keeps the token and does not disclose it.
    let again = client.ok("device.connectUsb", json!({}));
    assert_eq!(
        (again["localPort"].as_u64(), again["reused"].as_bool(), again["tokenConfigured"].as_bool()),
        (Some(local), Some(true), Some(true))
    );
    assert_eq!(adb.forwards().len(), 1);
    assert!(!again.to_string().contains(TOKEN));
    client.ok("act.tap", json!({"by": "text", "value": "Wi-Fi"}));
    client.ok("device.remove", json!({"name": "default"}));
    assert_eq!(adb.forwards(), Vec::<String>::new());
}

#[test]
#[ignore = "needs adb"]
fn observation_works_after_adb_was_killed() {
    let (world, adb, serial) = start_with_usb();
    let mut client = world.client();
    let local = connect(&mut client)["localPort"].clone();
    client.ok("observe.top", json!({}));
    adb.kill_server();
    wait::until("the killed server to be noticed", || (state(&mut client) == "unreachable").then_some(()));
    adb.run(&["start-server"]);
    assert_eq!(client.ok("observe.top", json!({}))["topActivity"], "com.android.settings/.Settings");
    assert_eq!(adb.forwards().len(), 1);
    assert!(adb.forwards()[0].starts_with(&format!("{serial} tcp:{local}")));
    assert_eq!(state(&mut client), "ready");
    // The same applies if the server is not running, and to an action.
    adb.kill_server();
    client.ok("act.back", json!({}));
    assert_eq!(world.phone.hits("back").len(), 1);
    assert_eq!(adb.forwards().len(), 1);
}

#[test]
#[ignore = "needs adb"]
fn unplugged_phone_is_unreachable_until_plugged_in_again() {
    let (mut world, adb, serial) = start_with_usb();
    let mut client = world.client();
    connect(&mut client);
    client.ok("observe.top", json!({}));
    let port: u16 = serial.rsplit(':').next().expect("a port").parse().expect("a number");
    world.phone.detach_usb();
    wait::until("the phone to become unreachable", || (state(&mut client) == "unreachable").then_some(()));
    client.fails("observe.top", json!({}), "DEVICE_UNREACHABLE");
    world.phone.attach_usb(port);
    wait::until("the phone to be reachable again", || (state(&mut client) == "ready").then_some(()));
    client.ok("observe.top", json!({}));
    assert_eq!(adb.forwards().len(), 1);
}

#[test]
#[ignore = "needs adb"]
fn failed_usb_connections_are_explained_and_leave_no_forward() {
    let (mut world, adb, serial) = start_with_usb();
    let mut client = world.client();
    client.fails("device.connectUsb", json!({"serial": "R5CT30ABCDE"}), "DEVICE_UNREACHABLE");
    let port = world.phone.lock().hint.as_ref().map_or(0, |h| h.service_port);
    world.phone.lock().hint.as_mut().expect("a hint").service_running = false;
    client.fails("device.connectUsb", json!({}), "DEVICE_UNREACHABLE");
    world.phone.lock().hint.as_mut().expect("a hint").package = "org.example.other".into();
    client.fails("device.connectUsb", json!({}), "NOT_FOUND");
    {
        let mut phone = world.phone.lock();
        let hint = phone.hint.as_mut().expect("a hint");
        (hint.package, hint.service_running, hint.service_port) = ("com.memohai.autofish.debug".into(), true, 9);
    }
    // Nothing listens on that port: the forward that was created for the check is removed.
    client.fails("device.connectUsb", json!({}), "DEVICE_UNREACHABLE");
    assert_eq!(adb.forwards(), Vec::<String>::new());
    world.phone.lock().hint.as_mut().expect("a hint").service_port = port;
    let occupied = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("binds");
    let local = occupied.local_addr().expect("an address").port();
    client.fails("device.connectUsb", json!({"localPort": local}), "CONFLICT");
    drop(occupied);
    assert_eq!(client.ok("device.connectUsb", json!({"localPort": local, "name": "lab"}))["localPort"], local);
    let url = world.phone.url();
    client.ok("device.add", json!({"name": "other", "url": url, "token": TOKEN}));
    client.fails("device.connectUsb", json!({"name": "other"}), "CONFLICT");
    let mut another = TestPhone::start();
    adb.run(&["connect", &another.attach_usb(0)]);
    client.fails("device.connectUsb", json!({}), "DEVICE_AMBIGUOUS");
    client.ok("device.connectUsb", json!({"serial": serial}));
    client.ok("config.set", json!({"key": "adb.path", "value": "/nonexistent/adb"}));
    client.fails("device.connectUsb", json!({}), "UNSUPPORTED");
    world.phone.detach_usb();
}

#[test]
#[ignore = "needs adb"]
fn removing_a_device_from_the_file_removes_its_forward() {
    let (world, adb, _) = start_with_usb();
    let mut client = world.client();
    connect(&mut client);
    assert_eq!(adb.forwards().len(), 1);
    std::fs::write(world.dir().join("config.toml"), format!("[adb]\nserver_port = {}\n", adb.port())).expect("writes");
    wait::until("the forward to be removed", || adb.forwards().is_empty().then_some(()));
}

#[test]
#[ignore = "needs adb"]
fn shared_forward_is_removed_with_its_last_device() {
    let (world, adb, _) = start_with_usb();
    let mut client = world.client();
    let shared = client.ok("device.connectUsb", json!({"name": "first"}))["localPort"].clone();
    assert_eq!(client.ok("device.connectUsb", json!({"name": "second"}))["localPort"], shared);
    let plan = client.ok("device.connectUsb", json!({"name": "first", "printOnly": true}));
    assert_eq!((plan["localPort"].clone(), plan["reused"].as_bool()), (shared, Some(true)));
    assert!(plan["nextStep"].as_str().is_some_and(|s| s.contains("device.first.token")));
    client.ok("device.remove", json!({"name": "first"}));
    assert_eq!(adb.forwards().len(), 1);
    client.ok("device.remove", json!({"name": "second"}));
    assert_eq!(adb.forwards(), Vec::<String>::new());
}

#[test]
#[ignore = "needs adb"]
fn changed_device_port_replaces_the_forward() {
    let (world, adb, serial) = start_with_usb();
    let mut client = world.client();
    let local = connect(&mut client)["localPort"].clone();
    client.ok("observe.top", json!({}));
    let second = TestPhone::start();
    let port = second.url().rsplit(':').next().expect("a port").to_owned();
    client.ok("config.set", json!({"key": "device.default.usb.device_port", "value": port}));
    client.ok("observe.top", json!({}));
    assert!(second.requests("/api/app/top") > 0, "the observation went to the previous service");
    assert_eq!(adb.forwards(), [format!("{serial} tcp:{local} tcp:{port}")]);
}

#[test]
#[ignore = "needs adb"]
fn foreign_forward_is_reused_and_not_removed() {
    let (world, adb, serial) = start_with_usb();
    let mut client = world.client();
    let port = world.phone.lock().hint.as_ref().map_or(0, |h| h.service_port);
    let foreign_port = adb.run(&["-s", &serial, "forward", "tcp:0", &format!("tcp:{port}")]).trim().to_owned();
    let connected = connect(&mut client);
    assert_eq!((connected["localPort"].to_string(), connected["reused"].as_bool()), (foreign_port, Some(true)));
    client.ok("observe.top", json!({}));
    client.ok("device.remove", json!({"name": "default"}));
    assert_eq!(adb.forwards().len(), 1);
}

#[test]
#[cfg(debug_assertions)]
#[ignore = "needs adb"]
fn usb_watch_and_forward_removal_are_restarted_after_panics() {
    let (mut world, adb, serial) = start_with_usb();
    let faults = world.dir().join("faults");
    std::fs::create_dir(&faults).expect("creates the directory");
    world.daemon.stop();
    world.daemon = Daemon::start_with_env(world.dir(), &[("AFD_TEST_PANICS", faults.to_str().expect("text"))]);
    let mut client = world.client();
    connect(&mut client);
    client.ok("observe.top", json!({}));
    std::fs::write(faults.join(format!("usb:{serial}")), "").expect("writes");
    adb.kill_server();
    wait::until("the watch to be restarted", || (restarts(&mut client, "usb:default") == Some(1)).then_some(()));
    adb.run(&["start-server"]);
    assert_eq!(client.ok("observe.top", json!({}))["topActivity"], "com.android.settings/.Settings");
    std::fs::write(faults.join(format!("forward:{serial}")), "").expect("writes");
    assert_eq!(adb.forwards().len(), 1);
    std::fs::write(world.dir().join("config.toml"), format!("[adb]\nserver_port = {}\n", adb.port())).expect("writes");
    wait::until("the forward to be removed", || adb.forwards().is_empty().then_some(()));
    assert!(!faults.join(format!("forward:{serial}")).exists(), "the first attempt panicked");
}
