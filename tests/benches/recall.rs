//! Benchmarks of recall with 100,000 entries (`AFD_BENCH_ENTRIES` sets another number):
//!
//! * search in the vector index, compared with exact search in memory and over the same rows in SQLite;
//! * saving a note in a large memory, compared with an empty one;
//! * related entries that calls return with their results, compared with an empty memory.

use std::path::Path;
use std::time::{Duration, Instant};

use afd_base::model::embed::normalize;
use afd_recall::index::Index;
use afd_recall::search::Scope;
use afd_recall::vectors;
use afd_store::Reader;
use afd_tests::{Daemon, World};
use rusqlite::{Connection, named_params};
use serde_json::json;

use crate::{Times, report, world};

const DIMENSIONS: usize = 384;
const CENTRES: usize = 2_000;
const QUERIES: usize = 100;
const NEAREST: usize = 10;
const CALLS: usize = 200;
const RESTARTS: usize = 10;

/// A deterministic random number generator (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns an approximately normally distributed number.
    fn normal(&mut self) -> f32 {
        (0..6).map(|_| (self.next() >> 40) as f32 / (1 << 24) as f32).sum::<f32>() - 3.0
    }

    fn vector(&mut self, centre: Option<&[f32]>, spread: f32) -> Vec<f32> {
        let mut vector: Vec<f32> =
            (0..DIMENSIONS).map(|i| centre.map_or(0.0, |c| c[i]) + spread * self.normal()).collect();
        normalize(&mut vector);
        vector
    }
}

/// Returns clustered vectors, like those of texts, and queries near some of the clusters.
fn vectors_and_queries(count: usize) -> (Vec<Vec<f32>>, Vec<Vec<f32>>) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let centres: Vec<Vec<f32>> = (0..CENTRES).map(|_| random.vector(None, 1.0)).collect();
    let mut around = |n: usize| {
        (0..n)
            .map(|_| {
                let centre = random.next() as usize % CENTRES;
                random.vector(Some(&centres[centre]), 0.06)
            })
            .collect::<Vec<_>>()
    };
    (around(count), around(QUERIES))
}

fn fill(connection: &Connection, all: &[Vec<f32>]) -> i64 {
    connection.execute_batch("BEGIN").expect("begins");
    let model = vectors::model(connection, "bench", DIMENSIONS as i64).expect("a model").id;
    let mut insert = connection
        .prepare(
            "INSERT INTO entries (id, uid, kind, row_id, due, version, type, words, content, at)
             VALUES (:id, 'u' || :id, 'note', :id, 0, :id, 'note', 20, 1, 1)",
        )
        .expect("prepares");
    for (i, vector) in all.iter().enumerate() {
        let id = i as i64 + 1;
        insert.execute(named_params! {":id": id}).expect("inserts");
        vectors::put(connection, model, id, 1, vector).expect("puts");
    }
    connection.execute_batch("COMMIT").expect("commits");
    model
}

fn best(mut scored: Vec<(i64, f32)>) -> Vec<i64> {
    scored.sort_by(|a, b| b.1.total_cmp(&a.1));
    scored.into_iter().take(NEAREST).map(|(id, _)| id).collect()
}

fn exact(all: &[Vec<f32>], query: &[f32]) -> Vec<i64> {
    best(all.iter().enumerate().map(|(i, v)| (i as i64 + 1, vectors::product(query, v))).collect())
}

fn exact_in_sqlite(connection: &Connection, query: &[f32]) -> Vec<i64> {
    let mut statement = connection.prepare_cached("SELECT entry_id, vector FROM embeddings").expect("prepares");
    let mut rows = statement.query([]).expect("queries");
    let mut scored = Vec::new();
    while let Some(row) = rows.next().expect("a row") {
        let bytes = row.get_ref("vector").expect("a vector").as_blob().expect("a blob");
        let vector: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        scored.push((row.get("entry_id").expect("an id"), vectors::product(query, &vector)));
    }
    best(scored)
}

/// Measures and prints the results.
pub fn run() {
    let count = std::env::var("AFD_BENCH_ENTRIES").ok().and_then(|n| n.parse().ok()).unwrap_or(100_000);
    nearest(count);
    one_more();
    offered(count.min(100_000));
}

fn nearest(count: usize) {
    let world = World::process();
    let path = world.dir().join("bench.db");
    let dir = world.dir().to_owned();
    let connection = database(&dir, &path);
    let (all, queries) = vectors_and_queries(count);
    let model = fill(&connection, &all);
    let started = Instant::now();
    let mut index = Index::default();
    index.follow(&connection, &[model]).expect("follows");
    let loaded = started.elapsed();
    let (mut found, mut ours, mut memory, mut sqlite) = (0, Vec::new(), Vec::new(), Vec::new());
    for (i, query) in queries.iter().enumerate() {
        let started = Instant::now();
        let snapshot = connection.unchecked_transaction().expect("begins");
        let everything = Scope { reader: Reader::Keeper, archived: true, ..Scope::default() };
        let near = index.nearest(&snapshot, model, query, NEAREST, &everything, |_| true).expect("searches");
        snapshot.finish().expect("ends");
        ours.push(started.elapsed());
        let started = Instant::now();
        let wanted = exact(&all, query);
        memory.push(started.elapsed());
        if i < 20 {
            let started = Instant::now();
            assert_eq!(exact_in_sqlite(&connection, query), wanted);
            sqlite.push(started.elapsed());
        }
        found += near.iter().filter(|(id, _)| wanted.contains(id)).count();
    }
    let (ours, memory, sqlite) = (Times::new(ours), Times::new(memory), Times::new(sqlite));
    println!(
        "{count} entries of {DIMENSIONS} dimensions: recall@10 {:.3} (goal 0.97), index loaded in {:.0} ms, {:.0} bytes an entry",
        found as f64 / (QUERIES * NEAREST) as f64,
        loaded.as_secs_f64() * 1e3,
        index.bytes() as f64 / count as f64
    );
    report("nearest 10, p50", ours.p50() / 1e3, memory.p50() / 1e3, "ms", "exact in memory", "0.33x");
    report("nearest 10, p50", ours.p50() / 1e3, sqlite.p50() / 1e3, "ms", "exact over SQLite", "0.1x");
    report("nearest 10, p99", ours.p99() / 1e3, memory.p99() / 1e3, "ms", "exact in memory", "-");
}

/// Returns an empty database with the newest schema, in a file.
fn database(dir: &Path, path: &Path) -> Connection {
    let source = Connection::open(dir.join("memory.db")).expect("opens");
    source.execute("VACUUM INTO :path", named_params! {":path": path.to_str().expect("a path")}).expect("copies");
    Connection::open(path).expect("opens")
}

/// Measures saving a note in an empty memory and in one with 50,000 notes.
fn one_more() {
    let save = |world: &World, from: usize| -> Times {
        let mut client = world.client();
        Times::new(
            (0..CALLS)
                .map(|n| {
                    let started = Instant::now();
                    client.ok("memory.save", json!({"topic": format!("t{}", from + n), "content": content(from + n)}));
                    started.elapsed()
                })
                .collect(),
        )
    };
    let (small, large) = (World::process(), filled(50_000));
    let (few, many) = (save(&small, 1_000_000), save(&large, 1_000_000));
    report("save a note beside 50,000, p50", many.p50() / 1e3, few.p50() / 1e3, "ms", "an empty memory", "-");
}

fn content(n: usize) -> String {
    const WORDS: [&str; 16] = [
        "login", "basket", "coupon", "rotate", "crash", "list", "empty", "slow", "upload", "photo", "invoice", "wifi",
        "map", "route", "mail", "draft",
    ];
    let word = |i: usize| WORDS[(n / (i * 7 + 1) + i * n) % WORDS.len()];
    format!(
        "{} {} {} {} on page {} of run {n} gives E{:05}",
        word(1),
        word(2),
        word(3),
        word(4),
        n % 211,
        n * 7919 % 100_003
    )
}

/// Returns a daemon with this number of notes, all of them indexed.
fn filled(count: usize) -> World {
    let world = world(|path| {
        let mut connection = Connection::open(path).expect("opens");
        let transaction = connection.transaction().expect("begins");
        let session = afd_workspace::row_id(&transaction, "o", "bench").expect("a session");
        for n in 0..count {
            let note = afd_experience::memory::notes::NewNote {
                uid: None,
                app: "com.shop".into(),
                topic: format!("t/{}", n % 300),
                content: content(n),
                trace: "t".into(),
                at: None,
                scope: afd_proto::vocabulary::RecordScope::App,
            };
            afd_experience::memory::notes::save(&transaction, "o", session, &note).expect("saves");
        }
        transaction.commit().expect("commits");
    });
    let mut client = world.client();
    let started = Instant::now();
    afd_tests::wait::until_for("the entries", Duration::from_secs(1_200), || {
        Some(()).filter(|()| client.ok("recall.status", json!({}))["due"] == 0)
    });
    println!("{count} entries were derived behind in {:.1} s", started.elapsed().as_secs_f64());
    world
}

/// Durations of calls, by kind of call.
struct Offers {
    tasks: Times,
    bugs: Times,
    results: Times,
    searches: Times,
}

/// Measures the related entries that are returned automatically when a task is started and when a bug is reported. For
/// comparison, a test result is recorded like a bug but without a search.
fn offered(count: usize) {
    let measure = |world: &World| -> Offers {
        let mut client = world.client_for("bench-tasks");
        client.ok("session.start", json!({"goal": "test", "app": "com.shop"}));
        let mut took: [Vec<Duration>; 4] = Default::default();
        for n in 0..CALLS {
            client.ok("session.task.add", json!({"description": format!("check the {}", content(n * 31))}));
            let mut timed = |place: usize, method: &str, params: serde_json::Value| {
                let started = Instant::now();
                client.ok(method, params);
                took[place].push(started.elapsed());
            };
            timed(0, "session.task.start", json!({}));
            timed(1, "session.bug.add", json!({"title": format!("bug: {}", content(n * 37)), "app": "com.shop"}));
            timed(
                2,
                "session.result.add",
                json!({"name": format!("result: {}", content(n * 39)), "status": "passed", "app": "com.shop"}),
            );
            timed(3, "recall.search", json!({"query": content(n * 41)}));
            client.ok("session.task.finish", json!({}));
        }
        let [tasks, bugs, results, searches] = took.map(Times::new);
        Offers { tasks, bugs, results, searches }
    };
    let (mut small, mut large) = (World::process(), filled(count));
    let (few, many) = (measure(&small), measure(&large));
    let with = |what: &str, rank: &str| format!("{what}, {count} entries, {rank}");
    for (rank, of) in [("p50", Times::p50 as fn(&Times) -> f64), ("p99", Times::p99)] {
        let ms = |times: &Times| of(times) / 1e3;
        let task = with("start a task, with what is known", rank);
        report(&task, ms(&many.tasks), ms(&few.tasks), "ms", "an empty memory", "+5 ms");
        let bug = with("add a bug, with similar ones", rank);
        report(&bug, ms(&many.bugs), ms(&many.results), "ms", "a result, without", "+5 ms");
        report(&bug, ms(&many.bugs), ms(&few.bugs), "ms", "an empty memory", "-");
        report(&with("recall.search", rank), ms(&many.searches), ms(&few.searches), "ms", "an empty memory", "-");
    }
    let (few, many) = (first(&mut small), first(&mut large));
    let task = with("start a task as the first call", "p50");
    report(&task, many.p50() / 1e3, few.p50() / 1e3, "ms", "an empty memory", "+5 ms");
}

/// Measures starting a task as the first call after a start of the daemon, before the index is loaded.
fn first(world: &mut World) -> Times {
    let tasks = (0..RESTARTS).map(|n| {
        let session = format!("bench-first-{n}");
        world
            .client_for(&session)
            .ok("session.start", json!({"app": "com.shop", "tasks": [format!("check the {}", content(n * 43))]}));
        world.daemon.stop();
        world.daemon = Daemon::start(world.dir());
        let mut client = world.client_for(&session);
        let started = Instant::now();
        client.ok("session.task.start", json!({}));
        started.elapsed()
    });
    Times::new(tasks.collect())
}
