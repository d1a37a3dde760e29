//! Simulated hours of agents at work, on an injected clock: memory, file descriptors and the database stay within
//! bounds.

use std::path::Path;

use afd_tests::{Client, World};
use serde_json::{Value, json};

const SETTINGS: &str = "com.android.settings";
/// Simulated hours; `AFD_FAULT_HOURS` overrides it.
const HOURS: u64 = 2;
/// Number of actions of each agent per hour.
const ACTS: u64 = 12;
const AGENTS: u64 = 3;
const HOUR_MS: u64 = 3_600_000;

/// Resources that the daemon uses.
#[derive(Debug, Clone, Copy)]
struct Used {
    resident_kib: u64,
    descriptors: usize,
    threads: usize,
    database_bytes: u64,
}

fn used(world: &World) -> Used {
    let process = Path::new("/proc").join(world.daemon.pid().to_string());
    let count = |dir: &str| std::fs::read_dir(process.join(dir)).expect("lists").count();
    let status = std::fs::read_to_string(process.join("status")).expect("reads");
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    let size = |file: &str| std::fs::metadata(world.dir().join(file)).map_or(0, |meta| meta.len());
    Used {
        resident_kib: resident.trim().trim_end_matches(" kB").parse().expect("a number"),
        descriptors: count("fd"),
        threads: count("task"),
        database_bytes: size("memory.db"),
    }
}

/// Simulates an hour of an agent: actions and observations of their outcomes, checks, notes and messages, in a session
/// that ends.
fn hour(world: &World, client: &mut Client, hour: u64) {
    client.ok("session.start", json!({"goal": "look at the settings", "app": SETTINGS}));
    for act in 0..ACTS {
        let row = ["Display", "Wi-Fi", "Storage", "Battery"][(hour + act) as usize % 4];
        world.phone.scene(SETTINGS, None);
        client.ok("act.tap", json!({"by": "text", "value": row, "exactMatch": true, "then": "diff"}));
        client.ok("verify.topActivity", json!({"expected": SETTINGS}));
        client.ok("observe.page", json!({}));
        let said = json!([{"role": "assistant", "content": format!("I opened {row} in hour {hour}.")},
            {"role": "tool", "toolCallId": "c", "content": "Brightness 54 %, adaptive off"}]);
        client.ok("conversation.append", json!({"messages": said}));
        world.advance((HOUR_MS / ACTS / AGENTS) as i64);
    }
    client.ok("session.end", json!({}));
    client.ok("session.delete", json!({}));
}

/// Runs the background jobs of an hour.
fn jobs(client: &mut Client) {
    let jobs = client.ok("job.list", json!({}))["jobs"].clone();
    for job in jobs.as_array().expect("jobs") {
        let done = client.ok("job.run", json!({"name": job["name"]}));
        assert_eq!(done["lastError"], Value::Null, "{done}");
    }
}

#[test]
fn hours_of_work_leave_nothing_behind() {
    let hours: u64 = std::env::var("AFD_FAULT_HOURS").ok().and_then(|n| n.parse().ok()).unwrap_or(HOURS);
    let world = World::with_clock_and("\n[memory]\nmax_event_days = 1\nmax_observation_days = 1\n[backup]\nkeep = 1\n");
    let mut first = None;
    for n in 0..hours {
        for agent in 0..AGENTS {
            hour(&world, &mut world.client_for(&format!("agent-{agent}-{n}")), n);
        }
        jobs(&mut world.client());
        let now = used(&world);
        println!("hour {}: {now:?}", n + 1);
        // The first hours fill caches and learn the pages.
        if n + 1 == hours.div_ceil(3) {
            first = Some(now);
        }
    }
    let (first, last) = (first.expect("hours"), used(&world));
    assert!(last.descriptors <= first.descriptors + 8, "{first:?} {last:?}");
    assert!(last.threads <= first.threads + 4, "{first:?} {last:?}");
    assert!(last.resident_kib <= first.resident_kib + first.resident_kib / 4 + 4096, "{first:?} {last:?}");
    let per_act = (last.database_bytes.saturating_sub(first.database_bytes))
        / ((hours - hours.div_ceil(3)) * AGENTS * ACTS).max(1);
    println!("{per_act} bytes in the database for each act");
}
