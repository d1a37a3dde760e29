//! `memory.experience` with a million transitions, compared with a thousand, through the socket.

use std::time::Instant;

use afd_tests::World;
use rusqlite::Connection;
use serde_json::json;

use crate::{Times, report, world};

const SMALL: usize = 1_000;
const LARGE: usize = 1_000_000;
const PER_PAGE: usize = 10;
const PAGES_PER_APP: usize = 50;
const CALLS: usize = 3_000;
const ROUNDS: usize = 3;

fn fill(path: &std::path::Path, count: usize) {
    let mut connection = Connection::open(path).expect("opens");
    let transaction = connection.transaction().expect("begins");
    {
        let mut page = transaction
            .prepare(
                "INSERT INTO pages (uid, origin, app, activity, page_key, fingerprint, structure_key, updated_at)
                 VALUES (?1, 'o', ?2, ?3, ?4, ?4, ?5, 0)",
            )
            .expect("prepares");
        let mut insert = transaction
            .prepare(
                "INSERT INTO transitions (uid, origin, from_key, page_id, app, activity, action_key, action, success_count, verified_count,
                    failure_count, last_success_at, last_at, updated_at)
                 VALUES (?1, 'o', ?2, ?3, ?4, ?5, ?6, '{\"verb\":\"tap\"}', ?7, ?8, ?9, ?10, ?10, ?10)",
            )
            .expect("prepares");
        let mut outcome = transaction
            .prepare(
                "INSERT INTO outcomes (uid, origin, transition_id, kind, to_key, below_key, page_id, count, verified_count, weight,
                    weighted_at, duration_ms, last_at, updated_at)
                 VALUES (?1, 'o', ?2, 'page', ?3, '', ?4, ?5, ?6, ?5, 0, 0, 0, 0)",
            )
            .expect("prepares");
        let mut page_id = 0;
        for n in 0..i64::try_from(count).expect("fits in i64") {
            let number = n / i64::try_from(PER_PAGE).expect("fits in i64");
            let app = number / i64::try_from(PAGES_PER_APP).expect("fits in i64");
            let activity = format!("org.app{app}/.Page{}", number % 7);
            let structure = format!("{number:032x}");
            if n % i64::try_from(PER_PAGE).expect("fits in i64") == 0 {
                let key = format!("act={activity}|wv=0|rid=p{number}|cls=FrameLayout");
                page.execute((format!("p{number}"), format!("org.app{app}"), &activity, key, &structure))
                    .expect("inserts");
                page_id = transaction.last_insert_rowid();
            }
            let (success, verified) = ((n * 7) % 13, (n * 3) % 5);
            insert
                .execute((
                    format!("u{n}"),
                    &structure,
                    page_id,
                    format!("org.app{app}"),
                    &activity,
                    format!("tap|{n}"),
                    success,
                    verified,
                    n % 3,
                    n,
                ))
                .expect("inserts");
            let id = transaction.last_insert_rowid();
            outcome.execute((format!("o{n}"), id, &structure, page_id, success, verified)).expect("inserts");
        }
    }
    transaction.commit().expect("commits");
}

fn measure(world: &World, count: usize) -> Vec<std::time::Duration> {
    let mut client = world.client();
    (0..CALLS)
        .map(|i| {
            let page = (i * 7919) % (count / PER_PAGE);
            let app = page / PAGES_PER_APP;
            let activity = format!("org.app{app}/.Page{}", page % 7);
            let params = json!({"app": format!("org.app{app}"), "activity": activity, "pageFp": format!("act={activity}|mode=SYSTEM_API|wv=0|rid=p{page}|cls=FrameLayout"), "limit": 20});
            let started = Instant::now();
            let known = client.ok("memory.experience", params);
            let took = started.elapsed();
            assert_eq!(known["transitions"].as_array().map(Vec::len), Some(20));
            took
        })
        .collect()
}

pub fn run() {
    let (small, large) = (world(|db| fill(db, SMALL)), world(|db| fill(db, LARGE)));
    let (mut small_times, mut large_times) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        small_times.extend(measure(&small, SMALL));
        large_times.extend(measure(&large, LARGE));
    }
    let (small, large) = (Times::new(small_times), Times::new(large_times));
    report(
        "memory.experience, 1,000,000 transitions, p50",
        large.p50(),
        small.p50(),
        "us",
        "1,000 transitions",
        "none",
    );
    report("memory.experience, 1,000,000 transitions, p99", large.p99(), small.p99(), "us", "1,000 transitions", "2x");
}
