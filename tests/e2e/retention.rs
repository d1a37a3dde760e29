//! Pruning: old events and observations are deleted, and knowledge learned from them is kept.

use afd_experience::memory::rebuild;
use afd_tests::{Client, World};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::learning::rows;

const SETTINGS: &str = "com.android.settings";
const DAY_MS: i64 = 86_400_000;

/// Produces successes, failures, recoveries, checks, and a page that appears spontaneously.
fn work(world: &World, client: &mut Client) {
    world.phone.scene(SETTINGS, None);
    client.ok("observe.page", json!({}));
    client.ok("act.tap", json!({"by": "text", "value": "Display", "exactMatch": true}));
    client.ok("observe.page", json!({}));
    client.ok("verify.textContains", json!({"text": "Screen timeout"}));
    client.fails("verify.textContains", json!({"text": "Pluto"}), "ASSERTION_FAILED");
    client.ok("act.back", json!({}));
    client.fails("act.tap", json!({"by": "text", "value": "Pluto"}), "TARGET_NOT_FOUND");
    client.ok("recover.relaunch", json!({"package": SETTINGS}));
    client.ok("observe.page", json!({}));
    client.fails("act.tap", json!({"by": "text", "value": "Pluto"}), "TARGET_NOT_FOUND");
    client.ok("act.tap", json!({"by": "text", "value": "Wi-Fi", "exactMatch": true}));
    client.ok("observe.page", json!({}));
    world.advance(60_000);
    world.phone.scene(SETTINGS, None);
    client.ok("observe.page", json!({}));
}

fn counters(connection: &Connection) -> [Vec<Vec<String>>; 3] {
    let mut all = ["transitions", "outcomes", "recoveries"].map(|table| rows(connection, table));
    // Floating-point sums depend on the order, so compare them with 6 decimals.
    let real = |value: &str| value.strip_prefix("Real(")?.strip_suffix(')')?.parse::<f64>().ok();
    for value in all.iter_mut().flatten().flatten() {
        if let Some(number) = real(value) {
            *value = format!("{number:.6}");
        }
    }
    all
}

fn count(connection: &Connection, table: &str) -> i64 {
    connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).expect("counts")
}

fn open(world: &World) -> Connection {
    Connection::open(world.dir().join("memory.db")).expect("opens")
}

#[test]
fn pruning_keeps_what_was_learned() {
    let mut world = World::with_clock();
    let mut client = world.client();
    work(&world, &mut client);
    work(&world, &mut client);
    world.advance(100 * DAY_MS);
    work(&world, &mut client);
    let asked = |client: &mut Client| {
        let known = client.ok("memory.experience", json!({"app": SETTINGS, "limit": 100}));
        (known, client.ok("session.show", json!({"session": "default"}))["statistics"].clone())
    };
    let known = asked(&mut client);
    let pages = |client: &mut Client| {
        client.ok("session.show", json!({"session": "default"}))["pages"].as_array().map(Vec::len)
    };
    let visited = pages(&mut client);

    let dry = client.ok("memory.prune", json!({"older": "90d", "dryRun": true}));
    assert!(dry["events"].as_i64() > Some(15) && dry["observations"].as_i64() > Some(10), "{dry}");
    let log = client.ok("memory.log", json!({"limit": 1000}))["events"].as_array().map_or(0, Vec::len);
    let done = client.ok("memory.prune", json!({"older": "90d"}));
    assert!(done["events"].as_i64() >= dry["events"].as_i64().map(|n| n - 2), "{done} of {dry}");
    let left = client.ok("memory.log", json!({"limit": 1000}))["events"].as_array().map_or(0, Vec::len);
    assert_eq!(left as i64, log as i64 - done["events"].as_i64().expect("a number"));
    assert_eq!(asked(&mut client), known, "what was learned, and the totals of the session");
    assert_eq!(pages(&mut client), visited);
    let again = client.ok("memory.prune", json!({"older": "90d"}));
    assert_eq!((&again["events"], &again["observations"]), (&json!(0), &json!(0)));

    world.daemon.stop();
    let connection = open(&world);
    let before = counters(&connection);
    for _ in 0..2 {
        rebuild::all(&connection).expect("rebuilds");
        assert_eq!(counters(&connection), before, "the baselines stand for what is gone");
    }
}

/// Pruning in several steps has the same result as pruning once.
#[test]
fn pruning_in_steps_ends_where_pruning_at_once_does() {
    let mut world = World::with_clock();
    let mut client = world.client();
    for _ in 0..3 {
        work(&world, &mut client);
        world.advance(30 * DAY_MS);
    }
    world.daemon.stop();
    let before = counters(&open(&world));
    let clock = world.dir().join("clock");
    world.daemon =
        afd_tests::Daemon::start_with_env(world.dir(), &[("AFD_TEST_CLOCK", clock.to_str().expect("a path in UTF-8"))]);
    let mut client = world.client();
    world.advance(400 * DAY_MS);
    for days in [470, 450, 440, 410] {
        client.ok("memory.prune", json!({"older": format!("{days}d")}));
    }
    let left = client.ok("memory.log", json!({"limit": 1000}))["events"].clone();
    assert_eq!(left.as_array().map(Vec::len), Some(1), "the last action of the phone: {left}");
    world.daemon.stop();
    let connection = open(&world);
    assert!(count(&connection, "baseline_outcomes") > 3 && count(&connection, "baseline_recoveries") > 0);
    assert_eq!(count(&connection, "observations"), 1);
    assert_eq!(counters(&connection), before);
    rebuild::all(&connection).expect("rebuilds");
    assert_eq!(counters(&connection), before);
}

#[test]
fn age_of_what_is_pruned_is_checked() {
    let world = World::new();
    let mut client = world.client();
    for older in ["", "90", "0d", "59m", "-3d", "1y"] {
        let error = client.fails("memory.prune", json!({"older": older}), "INVALID_PARAMS");
        assert!(error.message.contains("older"), "{error:?}");
    }
}

#[test]
fn job_keeps_the_memory_within_its_limits() {
    let world = World::with_clock_and("\n[memory]\nmax_event_days = 10\nmax_observation_days = 5\n");
    let mut client = world.client();
    work(&world, &mut client);
    world.advance(6 * DAY_MS);
    let run = |client: &mut Client| client.ok("job.run", json!({"name": "memory-limits"}));
    let events = |client: &mut Client| client.ok("memory.stats", json!({}))["events"].as_i64().expect("a number");
    let (all, seen) = (events(&mut client), client.ok("memory.stats", json!({}))["observations"].as_i64());
    run(&mut client);
    assert_eq!(events(&mut client), all, "only observations are old enough");
    assert!(client.ok("memory.stats", json!({}))["observations"].as_i64() < seen);
    client.ok("config.set", json!({"key": "memory.max_bytes", "value": "1"}));
    let job = run(&mut client);
    assert!(job["lastResult"].as_str().is_some_and(|text| text.contains("still larger")), "{job}");
    assert_eq!(events(&mut client), all, "the last seven days stay");
    world.advance(2 * DAY_MS);
    run(&mut client);
    assert!(events(&mut client) <= 1, "a limit of size deletes the oldest");
}

#[test]
fn words_of_a_deleted_note_leave_the_file() {
    let mut world = World::new();
    let mut client = world.client();
    let id = client.ok("memory.save", json!({"topic": "t", "content": "the code is zanzibar"}))["note"]["id"].clone();
    client.ok("memory.save", json!({"topic": "t", "content": "another one"}));
    client.ok("memory.delete", json!({"id": id}));
    client.ok("job.run", json!({"name": "memory-limits"}));
    assert_eq!(client.ok("memory.search", json!({"query": "another"}))["notes"].as_array().map(Vec::len), Some(1));
    world.daemon.stop();
    let holds = |file: &str| std::fs::read(world.dir().join(file)).is_ok_and(|b| b.windows(6).any(|w| w == b"anziba"));
    assert!(!holds("memory.db") && !holds("memory.db-wal"));
}

#[test]
fn vacuum_gives_space_back() {
    let world = World::new();
    let mut client = world.client();
    let empty = client.ok("memory.vacuum", json!({}))["afterBytes"].as_u64().expect("a size");
    let text = "a long note ".repeat(4000);
    let ids: Vec<Value> = (0..40)
        .map(|i| client.ok("memory.save", json!({"topic": format!("t/{i}"), "content": text}))["note"]["id"].clone())
        .collect();
    for id in ids {
        client.ok("memory.delete", json!({"id": id}));
    }
    // Each deletion has requested the job, so it may have run already.
    client.ok("job.run", json!({"name": "memory-limits"}));
    let pragma = |name: &str| {
        open(&world).query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0)).expect("a number")
    };
    assert!(
        pragma("freelist_count") <= pragma("page_count") / 10,
        "{} of {}",
        pragma("freelist_count"),
        pragma("page_count")
    );
    let done = client.ok("memory.vacuum", json!({}));
    assert!(done["afterBytes"].as_u64() <= done["beforeBytes"].as_u64(), "{done}");
    assert!(done["afterBytes"].as_u64().is_some_and(|size| size < empty + (256 << 10)), "{done}, empty {empty}");
    client.ok("memory.save", json!({"topic": "after", "content": "writes go on"}));
}
