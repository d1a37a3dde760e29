//! `memory.import` of many records (`AFD_BENCH_RECORDS`, by default 1,000,000), compared with a tenth of them, and the
//! latency of another client's observations and actions during the import.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use afd_tests::copies::multiply;
use afd_tests::{World, wait};
use serde_json::json;

use crate::month::{SESSION, SETTINGS, hour};
use crate::{Times, report};

const DAY_MS: i64 = 86_400_000;
const HOUR_MS: i64 = 3_600_000;
/// Number of observations and actions that are timed without an import.
const QUIET_CALLS: usize = 60;

/// Alternates observations and actions until `is_done` returns true for the number of pairs. Returns the durations of
/// the calls.
fn timed_calls(world: &World, is_done: impl Fn(usize) -> bool) -> [Times; 2] {
    let mut client = world.client_for("others");
    let mut took = [Vec::new(), Vec::new()];
    while !is_done(took[0].len()) {
        for (took, (method, params)) in
            took.iter_mut().zip([("observe.page", json!({})), ("act.key", json!({"keyCode": 66}))])
        {
            let started = Instant::now();
            client.ok(method, params);
            took.push(started.elapsed());
        }
    }
    took.map(Times::new)
}

/// Imports copies of an hour of work while another client observes and acts. Returns the durations of the import and of
/// the other client's calls.
fn import(lines: &[String], copies: usize) -> (Duration, [Times; 2]) {
    let world = World::process();
    world.phone.scene(SETTINGS, None);
    let file = world.dir().join("large.jsonl");
    let count = multiply(lines, (SETTINGS, SESSION), 0..copies, |copy| 400 * DAY_MS - copy as i64 * HOUR_MS, &file);
    let mut client = world.client();
    client.connection.set_timeout(Some(Duration::from_secs(3_600))).expect("sets a timeout");
    let is_imported = AtomicBool::new(false);
    let started = Instant::now();
    let (took, others) = std::thread::scope(|scope| {
        let others = scope.spawn(|| timed_calls(&world, |_| is_imported.load(Ordering::Relaxed)));
        let done = client.ok("memory.import", json!({"file": file}));
        let took = started.elapsed();
        is_imported.store(true, Ordering::Relaxed);
        assert_eq!(done["records"]["event"]["leftOut"], 0, "{done}");
        (took, others.join().expect("calls"))
    });
    wait::until_for("the index", Duration::from_secs(3_600), || {
        (client.ok("recall.status", json!({}))["due"] == 0).then_some(())
    });
    println!(
        "{count} records: imported in {:.1} s, indexed after {:.1} s",
        took.as_secs_f64(),
        started.elapsed().as_secs_f64()
    );
    (took, others)
}

/// Measures and prints the results.
pub fn run() {
    let wanted = std::env::var("AFD_BENCH_RECORDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000_000_usize);
    let (lines, _) = hour();
    let copies = wanted.div_ceil(lines.len() - 2);
    let alone = World::process();
    alone.phone.scene(SETTINGS, None);
    let quiet = timed_calls(&alone, |count| count >= QUIET_CALLS);
    let (few, _) = import(&lines, copies / 10);
    let (many, beside) = import(&lines, copies);
    report("memory.import", many.as_secs_f64() * 1e3, few.as_secs_f64() * 1e3, "ms", "a tenth of the records", "10x");
    for ((name, beside), quiet) in ["observe.page", "act.key"].iter().zip(&beside).zip(&quiet) {
        report(&format!("{name} beside an import, p50"), beside.p50() / 1e3, quiet.p50() / 1e3, "ms", "without", "-");
        report(
            &format!("{name} beside an import, p99"),
            beside.p99() / 1e3,
            quiet.p99() / 1e3,
            "ms",
            "without",
            "100 ms",
        );
    }
}
