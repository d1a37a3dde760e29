//! Waiting for conditions, and scrolling to an element.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use afd_phone::fault::Kind;
use afd_tests::{World, wait};
use serde_json::{Value, json};

#[test]
fn wait_ends_when_its_condition_is_met() {
    let world = World::new();
    let mut client = world.client();
    let shown = client.ok("observe.wait", json!({"until": "text", "text": "wi-fi"}));
    assert_eq!((shown["matchedCount"].as_u64(), shown["nodes"][0]["text"].as_str()), (Some(1), Some("Wi-Fi")));
    client.ok("observe.wait", json!({"until": "settled"}));
    client.ok("observe.wait", json!({"until": "activity", "text": ".Settings"}));
    std::thread::scope(|scope| {
        let waits = |until: &'static str, text: &'static str| {
            let mut client = world.client_for(until);
            scope.spawn(move || client.ok("observe.wait", json!({"until": until, "text": text, "timeoutMs": 30_000})))
        };
        let waiting =
            [waits("gone", "Battery"), waits("activity", "SubSettings"), waits("text", "Network preferences")];
        world.client_for("actor").ok("act.tap", json!({"by": "text", "value": "Wi-Fi"}));
        for waited in waiting {
            let waited = waited.join().expect("does not panic");
            assert_eq!(waited["topActivity"], "com.android.settings/.SubSettings");
        }
    });
}

#[test]
fn wait_times_out_and_blocks_no_other_call() {
    let world = World::new();
    let mut client = world.client();
    let error = client.fails("observe.wait", json!({"until": "text", "text": "Pluto", "timeoutMs": 300}), "TIMEOUT");
    assert!(!error.message.contains("Pluto"), "the text is not echoed, since it may have been typed");
    assert_eq!(error.details["topActivity"], "com.android.settings/.Settings");
    client.fails("observe.wait", json!({"until": "gone", "text": "Wi-Fi", "timeoutMs": 300}), "TIMEOUT");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            world.client_for("w").call("observe.wait", json!({"until": "text", "text": "Pluto", "timeoutMs": 4000}))
        });
        wait::until("the wait to observe", || (world.phone.requests("/api/screen") > 5).then_some(()));
        // The device is free during the wait.
        let start = std::time::Instant::now();
        for _ in 0..5 {
            client.ok("act.key", json!({"keyCode": 24}));
        }
        assert!(start.elapsed() < std::time::Duration::from_secs(3));
        assert_eq!(waiting.join().expect("does not panic").map_err(|e| e.code), Err("TIMEOUT".to_owned()));
    });
    for bad in [
        json!({"until": "text"}),
        json!({"until": "settled", "text": "x"}),
        json!({"until": "settled", "timeoutMs": 0}),
    ] {
        client.fails("observe.wait", bad, "INVALID_PARAMS");
    }
}

#[test]
fn wait_ignores_observations_from_before_the_call() {
    let world = World::new();
    let mut client = world.client();
    std::thread::scope(|scope| {
        // Another wait keeps the stream of observations running.
        scope.spawn(|| {
            world.client_for("w").call("observe.wait", json!({"until": "text", "text": "Pluto", "timeoutMs": 1500}))
        });
        for _ in 0..5 {
            client.ok("observe.wait", json!({"until": "text", "text": "Battery"}));
            client.ok("act.tap", json!({"by": "text", "value": "Wi-Fi"}));
            let waited = client.ok("observe.wait", json!({"until": "settled"}));
            assert_eq!(
                waited["topActivity"], "com.android.settings/.SubSettings",
                "the page after the tap is returned"
            );
            client.ok("act.back", json!({}));
        }
    });
}

/// 500 clients, each with its own connection, wait for the same text.
#[test]
fn many_waiting_clients_share_one_stream_of_observations() {
    let world = World::new();
    let count = 500;
    let mut streams: Vec<UnixStream> = (0..count)
        .map(|n| {
            let mut stream = UnixStream::connect(world.socket()).expect("connects");
            let params = json!({"until": "text", "text": "Network preferences", "timeoutMs": 60_000, "hints": false, "session": format!("s{}", n % 7)});
            writeln!(stream, "{}", json!({"jsonrpc": "2.0", "id": n, "method": "observe.wait", "params": params})).expect("writes");
            stream
        })
        .collect();
    let mut client = world.client();
    wait::until("all clients to wait", || {
        (client.ok("daemon.status", json!({}))["callsInFlight"].as_u64() > Some(count)).then_some(())
    });
    let (start, before) = (std::time::Instant::now(), world.phone.requests("/api/screen"));
    wait::until("some observations", || (world.phone.requests("/api/screen") >= before + 10).then_some(()));
    let (observations, elapsed) = (world.phone.requests("/api/screen") - before, start.elapsed());
    // One stream observes at most every 200 ms, however many clients wait.
    assert!(elapsed.as_millis() as usize >= (observations - 1) * 200, "{observations} observations in {elapsed:?}");
    world.client_for("actor").ok("act.tap", json!({"by": "text", "value": "Wi-Fi"}));
    for stream in &mut streams {
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).expect("a response");
        let response: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(response["result"]["topActivity"], "com.android.settings/.SubSettings", "{line}");
    }
    drop(streams);
    // Without waiting clients the stream ends.
    wait::until("the daemon to be idle", || {
        (client.ok("daemon.status", json!({}))["callsInFlight"].as_u64() == Some(1)).then_some(())
    });
    let after = wait::until("the last observation", || {
        let now = world.phone.requests("/api/screen");
        client.ok("observe.top", json!({}));
        (world.phone.requests("/api/screen") == now).then_some(now)
    });
    client.fails("observe.wait", json!({"until": "text", "text": "Pluto", "timeoutMs": 1}), "TIMEOUT");
    assert!(world.phone.requests("/api/screen") <= after + 2);
}

#[test]
fn wait_survives_transient_errors_and_reports_permanent_ones() {
    let world = World::new();
    let mut client = world.client();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            world
                .client_for("w")
                .ok("observe.wait", json!({"until": "text", "text": "Network preferences", "timeoutMs": 30_000}))
        });
        wait::until("the wait to observe", || (world.phone.requests("/api/screen") > 2).then_some(()));
        world.phone.fault("/api/screen", Kind::Status { status: 500, body: "busy".into(), content_type: None });
        wait::until("the fault to be injected", || world.phone.lock().faults.is_empty().then_some(()));
        client.ok("act.tap", json!({"by": "text", "value": "Wi-Fi"}));
        waiting.join().expect("does not panic");
    });
    world.phone.run(json!({"do": "token", "token": "another"}));
    client.fails("observe.wait", json!({"until": "settled"}), "DEVICE_AUTH");
    let gone = json!({"until": "settled", "url": "http://127.0.0.1:9", "timeoutMs": 20_000});
    client.fails("observe.wait", gone, "DEVICE_UNREACHABLE");
}

#[test]
fn scroll_to_searches_down_then_up_and_stops_at_the_end() {
    let world = World::new();
    let mut client = world.client();
    let found = client.ok("act.scrollTo", json!({"text": "about phone"}));
    assert!(found["scrolls"].as_u64() > Some(0) && found["target"]["label"] == "About phone", "{found}");
    let (x, y) = (found["point"]["x"].as_f64().expect("x"), found["point"]["y"].as_f64().expect("y"));
    client.ok("act.tap", json!({"x": x, "y": y}));
    assert_eq!(world.phone.hits("tap").last().map(String::as_str), Some("About phone, Practice Phone"));
    client.ok("act.back", json!({}));
    // From the end back up to the start.
    client.ok("act.scrollTo", json!({"text": "Wi-Fi"}));
    assert_eq!(client.ok("act.scrollTo", json!({"text": "Wi-Fi"}))["scrolls"], 0);
    let error = client.fails("act.scrollTo", json!({"text": "Pluto"}), "TARGET_NOT_FOUND");
    assert!(error.details["scrolls"].as_u64() >= Some(4));
    let log = client.ok("memory.log", json!({"limit": 1}));
    let event = &log["events"][0];
    assert_eq!((event["op"].as_str(), event["failureCause"].as_str()), (Some("scrollTo"), Some("TARGET_NOT_FOUND")));
    client.fails("act.scrollTo", json!({"text": " "}), "INVALID_PARAMS");
    client.fails("act.scrollTo", json!({"text": "Pluto", "timeoutMs": 1}), "TIMEOUT");
    world.client_for("ann").ok("device.lease", json!({"ttlMs": 60_000}));
    client.fails("act.scrollTo", json!({"text": "Wi-Fi"}), "DEVICE_BUSY");
}

#[test]
fn scroll_to_repeated_with_its_key_is_executed_once() {
    let world = World::new();
    let mut client = world.client();
    let first = client.ok("act.scrollTo", json!({"text": "About phone", "requestKey": "k"}));
    let swipes = world.phone.hits("swipe").len();
    let again = client.ok("act.scrollTo", json!({"text": "About phone", "requestKey": "k"}));
    assert_eq!((again["replayed"].as_bool(), again["scrolls"].clone()), (Some(true), first["scrolls"].clone()));
    assert_eq!(world.phone.hits("swipe").len(), swipes);
}

#[test]
fn lost_swipe_of_scroll_to_has_an_unknown_outcome() {
    let world = World::new();
    let mut client = world.client();
    world.phone.fault("/api/swipe", Kind::DropAfter);
    client.fails("act.scrollTo", json!({"text": "About phone"}), "OUTCOME_UNKNOWN");
    assert_eq!(world.phone.hits("swipe").len(), 1, "the swipe is not repeated");
}

#[test]
fn device_lost_while_scrolling_has_an_unknown_outcome() {
    let world = World::new();
    let mut client = world.client();
    let skip = 8;
    world.phone.lock().faults.push(afd_phone::fault::Fault {
        path: "/api/screen".into(),
        skip,
        times: u32::MAX,
        kind: Kind::DropBefore,
    });
    let error = client.fails("act.scrollTo", json!({"text": "Pluto"}), "OUTCOME_UNKNOWN");
    assert!(error.message.contains("scrolls were done"), "{error:?}");
}

#[test]
fn lease_taken_by_another_session_stops_scrolling() {
    let world = World::new();
    world.phone.lock().faults.push(afd_phone::fault::Fault {
        path: "/api/swipe".into(),
        skip: 0,
        times: 1,
        kind: Kind::Hold,
    });
    std::thread::scope(|scope| {
        let scrolling =
            scope.spawn(|| world.client_for("ben").call("act.scrollTo", json!({"text": "Pluto"})).map_err(|e| e.code));
        wait::until("the first swipe", || (!world.phone.hits("swipe").is_empty()).then_some(()));
        world.client_for("ann").ok("device.lease", json!({"ttlMs": 60_000}));
        world.phone.release();
        assert_eq!(scrolling.join().expect("does not panic"), Err("DEVICE_BUSY".to_owned()));
    });
    assert_eq!(world.phone.hits("swipe").len(), 1);
}
