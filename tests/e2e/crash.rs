//! Crash safety: `kill -9` of the daemon loses no acknowledged event.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use afd_phone::fault::Kind;
use afd_tests::{CallError, Daemon, World, wait};
use serde_json::json;

/// Number of rounds; `AFD_FAULT_ROUNDS` overrides it.
const ROUNDS: usize = 30;
const CLIENTS: usize = 8;
/// Number of events to wait for in each round before the daemon is killed.
const EVENTS_PER_ROUND: usize = 20;

#[test]
fn no_acknowledged_event_is_lost() {
    let rounds = std::env::var("AFD_FAULT_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(ROUNDS);
    let mut world = World::process();
    let mut expected = Vec::new();
    for round in 0..rounds {
        let acknowledged = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let clients: Vec<_> = (0..CLIENTS)
            .map(|n| {
                let (mut connection, acknowledged, stop) = (world.daemon.connect(), acknowledged.clone(), stop.clone());
                std::thread::spawn(move || {
                    while !stop.load(Ordering::SeqCst) {
                        let params = json!({"session": format!("s{n}"), "keyCode": 66});
                        match connection.call("act.key", params) {
                            Ok(done) => acknowledged
                                .lock()
                                .expect("locks")
                                .push(done["eventId"].as_str().expect("an id").to_owned()),
                            Err(CallError::Io(_)) => return,
                            Err(other) => panic!("round {round}: {other:?}"),
                        }
                    }
                })
            })
            .collect();
        wait::until("enough acknowledged events", || {
            (acknowledged.lock().expect("locks").len() >= EVENTS_PER_ROUND).then_some(())
        });
        world.daemon.kill();
        stop.store(true, Ordering::SeqCst);
        clients.into_iter().for_each(|c| c.join().expect("does not panic"));
        expected.append(&mut acknowledged.lock().expect("locks"));
        world.daemon = Daemon::start(world.dir());
    }
    assert!(expected.len() >= rounds * EVENTS_PER_ROUND);
    println!("{rounds} rounds, {} acknowledged events", expected.len());
    let connection = rusqlite::Connection::open(world.dir().join("memory.db")).expect("opens");
    for uid in &expected {
        let status: String = connection
            .query_row("SELECT status FROM events WHERE uid = ?1", [uid], |r| r.get(0))
            .unwrap_or_else(|e| panic!("{uid} is lost: {e}"));
        assert_eq!(status, "ok");
    }
    let ok: i64 =
        connection.query_row("SELECT count(*) FROM events WHERE status = 'ok'", [], |r| r.get(0)).expect("counts");
    let unknown: i64 =
        connection.query_row("SELECT count(*) FROM events WHERE status = 'unknown'", [], |r| r.get(0)).expect("counts");
    // Every input that reached the phone has an event, acknowledged or not. Every successful event has an input.
    let inputs = i64::try_from(world.phone.hits("key").len()).expect("fits");
    assert!(ok <= inputs && inputs <= ok + unknown, "{ok} ok, {unknown} unknown, {inputs} inputs");
    let integrity: String = connection.query_row("PRAGMA integrity_check", [], |r| r.get(0)).expect("checks");
    assert_eq!(integrity, "ok");
}

#[test]
fn open_intent_becomes_an_unknown_outcome() {
    let mut world = World::process();
    world.phone.fault("/api/press/home", Kind::Hold);
    let mut connection = world.daemon.connect();
    let caller = std::thread::spawn(move || connection.call("act.home", json!({"requestKey": "k"})));
    wait::until("the action to reach the phone", || (!world.phone.hits("home").is_empty()).then_some(()));
    world.daemon.kill();
    assert!(matches!(caller.join().expect("ends"), Err(CallError::Io(_))));
    world.daemon = Daemon::start(world.dir());
    let mut client = world.client();
    let log = client.ok("memory.log", json!({}));
    assert_eq!((log["events"][0]["status"].as_str(), log["events"][0]["op"].as_str()), (Some("unknown"), Some("home")));
    // The request key returns the same outcome, and nothing is sent again.
    client.fails("act.home", json!({"requestKey": "k"}), "OUTCOME_UNKNOWN");
    assert_eq!(world.phone.hits("home").len(), 1);
}
