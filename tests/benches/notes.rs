//! `memory.search` in 100,000 notes, compared with 1,000, through the socket.

use std::time::{Duration, Instant};

use afd_experience::memory::notes::{NewNote, save};
use afd_tests::World;
use serde_json::json;

use crate::{Times, report, world};

const SMALL: usize = 1_000;
const LARGE: usize = 100_000;
const CALLS: usize = 300;
const ROUNDS: usize = 3;

const QUERIES: [(&str, &str); 6] = [
    ("a rare word", "xylophone"),
    ("a two-character Chinese word", "蓝牙"),
    ("a part of an identifier", "ycler_rare"),
    ("a common word", "settings"),
    ("a common two-character word", "设置"),
    ("two common words", "open page"),
];

fn content(n: usize) -> String {
    // The rare words are in ten notes, however many notes there are.
    let rare =
        if n.is_multiple_of(100) && n < SMALL { " xylophone 蓝牙开关 com.a:id/recycler_rare_list" } else { "" };
    format!(
        "open settings and tap row {} of page {}, then 打开设置 com.a:id/item_{} {}{rare}",
        n % 17,
        n % 1009,
        n * 7919 % 100_003,
        ["wifi", "display", "battery", "storage", "sound"][n % 5],
    )
}

fn fill(path: &std::path::Path, count: usize) {
    let mut connection = rusqlite::Connection::open(path).expect("opens");
    let transaction = connection.transaction().expect("begins");
    let session = afd_workspace::row_id(&transaction, "o", "bench").expect("a session");
    for n in 0..count {
        let note = NewNote {
            uid: None,
            app: format!("org.app{}", n % 20),
            topic: format!("nav/{}", n % 300),
            content: content(n),
            trace: "t".into(),
            at: None,
            scope: afd_proto::vocabulary::RecordScope::App,
        };
        save(&transaction, "o", session, &note).expect("saves");
    }
    transaction.commit().expect("commits");
}

fn measure(world: &World, query: &str) -> Vec<Duration> {
    let mut client = world.client();
    let search = |_| {
        let started = Instant::now();
        let found = client.ok("memory.search", json!({"query": query}));
        let took = started.elapsed();
        assert!(found["notes"].as_array().is_some_and(|n| !n.is_empty()), "no note found for {query:?}");
        took
    };
    (0..CALLS).map(search).collect()
}

pub fn run() {
    let (small, large) = (world(|db| fill(db, SMALL)), world(|db| fill(db, LARGE)));
    for (what, query) in QUERIES {
        let (mut small_times, mut large_times) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            small_times.extend(measure(&small, query));
            large_times.extend(measure(&large, query));
        }
        let (small, large) = (Times::new(small_times), Times::new(large_times));
        report(&format!("{what} in 100,000 notes, p50"), large.p50(), small.p50(), "us", "1,000 notes", "3x");
    }
}
