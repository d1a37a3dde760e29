//! A month of an agent's work (`AFD_BENCH_EVENTS`, by default 300,000 events): the size of the database before and
//! after the maintenance jobs, and the duration of an observation afterwards, compared with a fresh memory.
//!
//! An hour of work is done through the socket with a practice phone and exported. Copies of it with other uids, times,
//! apps and sessions are imported until the number of events is reached.

use std::time::Instant;

use afd_tests::copies::multiply;
use afd_tests::{Client, World};
use serde_json::json;

use crate::{Times, report};

pub const SETTINGS: &str = "com.android.settings";
pub const SESSION: &str = "agent-of-the-hour";
const DAY_MS: i64 = 86_400_000;
const DAYS: i64 = 30;
/// Steps of the hour that is repeated.
const STEPS: usize = 60;
const ROWS: [&str; 4] = ["Display", "Wi-Fi", "Storage", "Battery"];
/// Number of hours per import.
const AT_A_TIME: usize = 60;
const LOOKS: usize = 60;

/// Works for an hour. Returns the lines of the export and the number of its events.
pub fn hour() -> (Vec<String>, usize) {
    let world = World::process();
    let mut client = world.client_for(SESSION);
    client.ok("session.start", json!({"goal": "check every row of the settings", "app": SETTINGS}));
    for step in 0..STEPS {
        let row = ROWS[step % ROWS.len()];
        world.phone.scene(SETTINGS, None);
        client.ok("act.tap", json!({"by": "text", "value": row, "exactMatch": true, "then": "diff"}));
        client.ok("verify.topActivity", json!({"expected": SETTINGS}));
        client.ok("verify.textContains", json!({"text": row}));
        if step % 7 == 0 {
            client.fails("act.tap", json!({"by": "text", "value": "Pluto"}), "TARGET_NOT_FOUND");
        }
        let said = json!([{"role": "user", "content": format!("Step {step}: check {row}, the limit is {}.", step * 37 % 101)},
            {"role": "assistant", "content": format!("{row} opens, value {}.", step * 53 % 97)}]);
        client.ok("conversation.append", json!({"messages": said}));
        if step % 10 == 0 {
            client.ok(
                "memory.save",
                json!({"topic": format!("row/{row}"), "content": format!("{row} took two taps in step {step}"), "app": SETTINGS}),
            );
            client.ok("session.result.add", json!({"name": format!("{row} opens"), "status": "passed"}));
        }
    }
    client.ok("session.bug.add", json!({"title": "the switch needs two taps", "severity": "high"}));
    client.ok(
        "pattern.save",
        json!({"kind": "solution", "text": "open the list again when a row is missing", "app": SETTINGS}),
    );
    client.ok("recall.store", json!({"text": "reports go to the release channel", "app": SETTINGS}));
    client.ok("session.end", json!({}));
    let file = world.dir().join("hour.jsonl");
    let exported = client.ok("memory.export", json!({"file": file}));
    let events = exported["records"]["event"].as_u64().expect("a number") as usize;
    (std::fs::read_to_string(&file).expect("reads").lines().map(str::to_owned).collect(), events)
}

/// Fills a memory with a month of work, through `memory.import`.
fn fill(world: &World, client: &mut Client, lines: &[String], hours: usize) {
    let file = world.dir().join("month.jsonl");
    for first in (0..hours).step_by(AT_A_TIME) {
        let back = |copy| DAYS * DAY_MS - copy as i64 * DAYS * DAY_MS / hours as i64;
        multiply(lines, (SETTINGS, SESSION), first..(first + AT_A_TIME).min(hours), back, &file);
        let taken = client.ok("memory.import", json!({"file": file}));
        assert_eq!(taken["records"]["event"]["leftOut"], 0, "{taken}");
    }
}

fn database(world: &World) -> f64 {
    std::fs::metadata(world.dir().join("memory.db")).expect("a database").len() as f64 / (1 << 20) as f64
}

fn looks(world: &World) -> Times {
    let mut client = world.client();
    world.phone.scene(SETTINGS, None);
    client.ok("observe.page", json!({}));
    let look = |_| {
        let started = Instant::now();
        client.ok("observe.page", json!({}));
        started.elapsed()
    };
    Times::new((0..LOOKS).map(look).collect())
}

/// Measures and prints the results.
pub fn run() {
    let wanted = std::env::var("AFD_BENCH_EVENTS").ok().and_then(|n| n.parse().ok()).unwrap_or(300_000_usize);
    let (lines, events) = hour();
    let hours = wanted.div_ceil(events);
    let (fresh, month) = (World::process(), World::process());
    let mut client = month.client();
    client.connection.set_timeout(Some(std::time::Duration::from_secs(900))).expect("sets a timeout");
    let started = Instant::now();
    fill(&month, &mut client, &lines, hours);
    let taken_in = started.elapsed();
    let ready = |client: &mut Client| client.ok("recall.status", json!({}))["due"] == 0;
    afd_tests::wait::until_for("the entries", std::time::Duration::from_secs(900), || ready(&mut client).then_some(()));
    let stats = client.ok("memory.stats", json!({}));
    assert_eq!(stats["events"], hours * events);
    println!(
        "a month: {} events in {hours} sessions, {} records taken in within {:.0} s",
        hours * events,
        hours * (lines.len() - 2),
        taken_in.as_secs_f64()
    );
    println!("{stats}");
    let before = database(&month);
    let jobs = client.ok("job.list", json!({}))["jobs"].clone();
    for job in jobs.as_array().expect("jobs") {
        let started = Instant::now();
        let done = client.ok("job.run", json!({"name": job["name"]}));
        println!("job {}: {} in {:.1} s", job["name"], done["lastResult"], started.elapsed().as_secs_f64());
    }
    client.ok("memory.vacuum", json!({}));
    println!(
        "database: {before:.1} MiB, {:.1} MiB after the jobs, {:.0} bytes an event",
        database(&month),
        database(&month) * 1_048_576.0 / (hours * events) as f64
    );
    let (few, many) = (looks(&fresh), looks(&month));
    report("observe.page after a month, p50", many.p50() / 1e3, few.p50() / 1e3, "ms", "a fresh memory", "1.5x");
    report("observe.page after a month, p99", many.p99() / 1e3, few.p99() / 1e3, "ms", "a fresh memory", "-");
}
