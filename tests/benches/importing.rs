//! `memory.import` of many records (`AFD_BENCH_RECORDS`, 1,000,000), compared with a tenth of them, and what a look and an act of others cost
//! meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use afd_tests::copies::multiply;
use afd_tests::{Client, World, wait};
use serde_json::json;

use crate::month::{SESSION, SETTINGS, hour};
use crate::{Times, report};

const DAY_MS: i64 = 86_400_000;
/// Pause between the calls of the others.
const PAUSE: Duration = Duration::from_millis(20);

/// Runs some work, and returns how long looks and acts of another client took meanwhile.
fn with_others(world: &World, work: impl FnOnce()) -> [Times; 2] {
    let stop = AtomicBool::new(false);
    world.phone.scene(SETTINGS, None);
    std::thread::scope(|scope| {
        let others = scope.spawn(|| {
            let mut client = world.client_for("others");
            let mut took = [Vec::new(), Vec::new()];
            while !stop.load(Ordering::Relaxed) {
                for (took, (method, params)) in took.iter_mut().zip([("observe.page", json!({})), ("act.key", json!({"keyCode": 66}))]) {
                    let started = Instant::now();
                    client.ok(method, params);
                    took.push(started.elapsed());
                    std::thread::sleep(PAUSE);
                }
            }
            took.map(Times::new)
        });
        work();
        stop.store(true, Ordering::Relaxed);
        others.join().expect("calls")
    })
}

/// Takes in copies of an hour, and waits until what follows from them is known.
fn import(lines: &[String], copies: usize) -> (Duration, [Times; 2]) {
    let world = World::process();
    let file = world.dir().join("large.jsonl");
    let count = multiply(lines, (SETTINGS, SESSION), 0..copies, 30 * DAY_MS, &file);
    let mut client = world.client();
    client.connection.set_timeout(Some(Duration::from_secs(3_600))).expect("sets a timeout");
    let started = Instant::now();
    let mut taken = Duration::ZERO;
    let others = with_others(&world, || {
        let done = client.ok("memory.import", json!({"file": file}));
        taken = started.elapsed();
        assert_eq!(done["records"]["event"]["leftOut"], 0, "{done}");
        let ready = |client: &mut Client| client.ok("recall.status", json!({}))["due"] == 0;
        wait::until_for("the entries", Duration::from_secs(3_600), || {
            std::thread::sleep(Duration::from_millis(200));
            ready(&mut client).then_some(())
        });
    });
    println!("{count} records: taken in within {:.1} s, searchable within {:.1} s", taken.as_secs_f64(), started.elapsed().as_secs_f64());
    (taken, others)
}

/// Measures and prints the results.
pub fn run() {
    let wanted = std::env::var("AFD_BENCH_RECORDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000_000_usize);
    let (lines, _) = hour();
    let copies = wanted.div_ceil(lines.len() - 2);
    let alone = World::process();
    let quiet = with_others(&alone, || std::thread::sleep(Duration::from_secs(10)));
    let (few, _) = import(&lines, copies / 10);
    let (many, beside) = import(&lines, copies);
    report("memory.import", many.as_secs_f64() * 1e3, few.as_secs_f64() * 1e3, "ms", "a tenth of the records", "10x");
    for ((name, beside), quiet) in ["observe.page", "act.key"].iter().zip(&beside).zip(&quiet) {
        report(&format!("{name} beside an import, p50"), beside.p50() / 1e3, quiet.p50() / 1e3, "ms", "without", "-");
        report(&format!("{name} beside an import, p99"), beside.p99() / 1e3, quiet.p99() / 1e3, "ms", "without", "100 ms");
    }
}
