//! Sharing devices: one queue per device, leases, several devices.

use afd_phone::fault::Kind;
use afd_tests::{TestPhone, World, wait};
use serde_json::json;

#[test]
fn lease_keeps_others_from_acting_but_not_from_observing() {
    let world = World::new();
    let (mut ann, mut ben) = (world.client_for("ann"), world.client_for("ben"));
    let lease = ann.ok("device.lease", json!({"ttlMs": 60_000}));
    assert_eq!(lease["lease"]["session"], "ann");
    let error = ben.fails("act.home", json!({}), "DEVICE_BUSY");
    assert_eq!(error.details["holder"], "ann");
    assert!(error.details["remainingMs"].as_u64().is_some_and(|ms| ms > 0 && ms <= 60_000));
    ben.fails("device.lease", json!({"ttlMs": 1000}), "DEVICE_BUSY");
    ben.ok("observe.page", json!({}));
    ben.ok("verify.textContains", json!({"text": "Wi-Fi"}));
    // Adding the same device again changes nothing.
    ben.ok("device.add", json!({"name": "pixel", "url": world.phone.url(), "token": afd_tests::phone::TOKEN}));
    ben.fails("act.home", json!({}), "DEVICE_BUSY");
    assert_eq!(ben.ok("device.release", json!({}))["released"], false);
    ann.ok("act.home", json!({}));
    ann.ok("device.release", json!({}));
    ben.ok("act.home", json!({}));
    assert_eq!(world.phone.hits("home").len(), 2);
    ben.fails("device.lease", json!({"ttlMs": 0}), "INVALID_PARAMS");
}

#[test]
fn queued_action_is_refused_if_a_lease_was_taken_meanwhile() {
    let world = World::new();
    world.phone.fault("/api/press/home", Kind::Hold);
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| world.client_for("ann").ok("act.home", json!({})));
        wait::until("the first action to be in flight", || (!world.phone.hits("home").is_empty()).then_some(()));
        let waiting = scope.spawn(|| world.client_for("ben").call("act.back", json!({})).map_err(|e| e.code));
        let mut ann = world.client_for("ann");
        wait::until("the second action to be queued", || {
            (ann.ok("device.list", json!({}))["devices"][0]["waiting"].as_u64() >= Some(1)).then_some(())
        });
        ann.ok("device.lease", json!({"ttlMs": 60_000}));
        world.phone.release();
        slow.join().expect("does not panic");
        assert_eq!(waiting.join().expect("does not panic"), Err("DEVICE_BUSY".to_owned()));
    });
    assert!(world.phone.hits("back").is_empty());
}

#[test]
fn pipelined_calls_act_in_their_order() {
    let world = World::new();
    let mut client = world.client();
    client.ok("observe.top", json!({}));
    let keys: Vec<u32> = (10..60).collect();
    let mut stream = std::os::unix::net::UnixStream::connect(world.socket()).expect("connects");
    let lines: String =
        keys.iter().map(|k| format!("{}\n", json!({"jsonrpc": "2.0", "id": k, "method": "act.key", "params": if k % 2 == 0 { json!({"keyCode": k}) } else { json!({"keyCode": k, "requestKey": k.to_string()}) }}))).collect();
    std::io::Write::write_all(&mut stream, lines.as_bytes()).expect("writes");
    let responses: Vec<String> =
        std::io::BufRead::lines(std::io::BufReader::new(stream)).take(keys.len()).map(|l| l.expect("a line")).collect();
    assert!(responses.iter().all(|a| a.contains("\"result\"")), "{responses:?}");
    let typed: Vec<String> = world.phone.lock().inputs.iter().map(|i| i.detail.clone()).collect();
    assert_eq!(typed, keys.iter().map(u32::to_string).collect::<Vec<_>>());
}

#[test]
fn identical_queued_reads_share_one_response() {
    let world = World::new();
    world.phone.fault("/api/press/home", Kind::Hold);
    let waiting =
        |c: &mut afd_tests::Client| c.ok("device.list", json!({}))["devices"][0]["waiting"].as_u64().unwrap_or(0);
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| world.client_for("ann").ok("act.home", json!({})));
        wait::until("the action to be in flight", || (!world.phone.hits("home").is_empty()).then_some(()));
        let readers: Vec<_> = (0..8)
            .map(|i| {
                scope.spawn({
                    let world = &world;
                    move || world.client_for(&format!("s{i}")).ok("observe.screen", json!({"hints": false}))
                })
            })
            .collect();
        let mut watcher = world.client();
        wait::until("the readers to be queued", || (waiting(&mut watcher) >= 8).then_some(()));
        // Each fault applies to one request: if every reader sent its own, most would get the real screen.
        for _ in 0..2 {
            world.phone.fault(
                "/api/screen",
                Kind::Status {
                    status: 200,
                    body: r#"{"ok":true,"data":"[mode: SHARED]\n[topActivity: a.b/.C]","error":null}"#.into(),
                    content_type: None,
                },
            );
        }
        world.phone.release();
        slow.join().expect("does not panic");
        let modes: Vec<_> = readers.into_iter().map(|r| r.join().expect("does not panic")["mode"].clone()).collect();
        assert!(modes.iter().all(|m| m == "SHARED"), "{modes:?}");
    });
}

#[test]
fn calls_reach_the_device_they_name() {
    let world = World::new();
    let second = TestPhone::start();
    let mut client = world.client();
    let params = json!({"name": "second", "kind": "autofish", "url": second.url(), "token": afd_tests::phone::TOKEN});
    let added = client.ok("device.add", params.clone());
    assert_eq!(added["device"]["kind"], "autofish", "{added}");
    assert!(client.ok("device.add", params)["savedIn"].is_string(), "the same device again");
    assert!(added["savedIn"].as_str().is_some_and(|f| f.ends_with("config.toml")));
    client.ok("act.tap", json!({"device": "second", "by": "text", "value": "Storage"}));
    assert_eq!((second.page(), world.phone.page()), ("storage".to_owned(), "home".to_owned()));
    let error = client.fails("act.home", json!({}), "DEVICE_AMBIGUOUS");
    assert_eq!(error.details["devices"].as_array().map(Vec::len), Some(2));
    let error = client.fails("act.home", json!({"device": "third"}), "DEVICE_UNKNOWN");
    assert_eq!(error.details["known"].as_array().map(Vec::len), Some(2));
    client.fails("device.add", json!({"name": "second", "url": "http://127.0.0.1:1"}), "CONFLICT");
    client.fails("device.add", json!({"name": "a b", "url": "http://127.0.0.1:1"}), "INVALID_PARAMS");
    client.fails("device.add", json!({"name": "x", "url": "ftp://127.0.0.1"}), "INVALID_PARAMS");
    let unknown = client.fails(
        "device.add",
        json!({"name": "x", "kind": "toaster", "url": "http://127.0.0.1:1"}),
        "INVALID_PARAMS",
    );
    assert!(
        unknown.details["path"] == "kind"
            && unknown.message.contains("autofish")
            && unknown.message.contains("toaster"),
        "{unknown:?}"
    );
    client.ok("device.remove", json!({"name": "second"}));
    client.ok("act.home", json!({}));
    assert!(!std::fs::read_to_string(world.dir().join("config.toml")).expect("reads").contains("second"));
}

#[test]
fn call_with_a_url_reaches_only_that_phone() {
    let world = World::new();
    let second = TestPhone::start();
    let mut client = world.client();
    let done = client.ok("act.home", json!({"url": second.url(), "token": afd_tests::phone::TOKEN}));
    assert_eq!(done["device"].as_str(), Some(second.url().as_str()));
    assert_eq!((second.hits("home").len(), world.phone.hits("home").len()), (1, 0));
    client.fails("act.home", json!({"url": second.url()}), "DEVICE_AUTH");
    client.fails("act.home", json!({"url": second.url(), "device": "pixel"}), "INVALID_PARAMS");
    // The URL of a configured device means that device, so that there is only one queue for it.
    assert_eq!(client.ok("act.home", json!({"url": world.phone.url()}))["device"], "pixel");
    client.ok("act.home", json!({}));
}
