//! Recording of events from 8 clients, each acknowledged after its commit, compared with one transaction per event.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use afd_experience::memory::events::Event;
use afd_experience::memory::record;
use afd_experience::memory::{Origin, Place};
use afd_proto::memory::{Category, EventStatus};
use afd_proto::vocabulary::{Action, Verb};
use afd_store::{Store, new_uid, now_ms};
use rusqlite::Connection;

use crate::report;

const CLIENTS: usize = 8;
const EVENTS: usize = 400;
const ROUNDS: usize = 5;

fn event(seq: i64) -> Event {
    Event {
        uid: new_uid(),
        seq,
        request: None,
        category: Category::Act,
        op: "tap".into(),
        status: EventStatus::Ok,
        sent: true,
        action: Some(Action::of(Verb::Tap)),
        failure: None,
        error: None,
        result: None,
        evidence: Some(serde_json::json!({"x": 540, "y": 1200})),
        duration_ms: 5,
        before: Place { page_key: Some("act=a.b/.C|wv=0|cls=FrameLayout".into()), ..Place::default() },
        parent: None,
        judges: false,
        at: now_ms(),
    }
}

fn origin(n: usize) -> Origin {
    Origin { store: "o".into(), session: i64::try_from(n).expect("fits in i64") + 1, device: 1, trace: "t".into() }
}

fn prepare(connection: &Connection) -> afd_store::Result<()> {
    afd_device::row_id(connection, "o", "pixel", None, "autofish")?;
    (0..CLIENTS).try_for_each(|n| afd_workspace::row_id(connection, "o", &format!("s{n}")).map(|_| ()))
}

/// Returns the events recorded per second through the store, which commits in groups.
fn grouped(path: &Path) -> f64 {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let store = Arc::new(
            Store::open(path, &afd_base::task::Tasks::default(), |_, _| {}, afd_experience::memory::last_seq)
                .expect("opens"),
        );
        store.write(prepare).await.expect("prepares");
        let started = Instant::now();
        let clients: Vec<_> = (0..CLIENTS)
            .map(|n| {
                let store = store.clone();
                tokio::spawn(async move {
                    for _ in 0..EVENTS {
                        let event = event(store.next_seq());
                        store.write(move |c| record::event(c, &origin(n), &event)).await.expect("records");
                    }
                })
            })
            .collect();
        for client in clients {
            client.await.expect("the client does not panic");
        }
        (CLIENTS * EVENTS) as f64 / started.elapsed().as_secs_f64()
    })
}

/// Returns the events recorded per second with one transaction each.
fn one_by_one(path: &Path) -> f64 {
    drop(
        Store::open(path, &afd_base::task::Tasks::default(), |_, _| {}, afd_experience::memory::last_seq)
            .expect("makes the schema"),
    );
    let connection = Connection::open(path).expect("opens");
    connection
        .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;")
        .expect("sets the pragmas");
    connection.set_prepared_statement_cache_capacity(128);
    prepare(&connection).expect("prepares");
    let shared = Mutex::new((connection, 0));
    let started = Instant::now();
    std::thread::scope(|scope| {
        for n in 0..CLIENTS {
            let shared = &shared;
            scope.spawn(move || {
                for _ in 0..EVENTS {
                    let mut guard = shared.lock().expect("locks");
                    guard.1 += 1;
                    let event = event(guard.1);
                    guard.0.execute_batch("BEGIN IMMEDIATE").expect("begins");
                    record::event(&guard.0, &origin(n), &event).expect("records");
                    guard.0.execute_batch("COMMIT").expect("commits");
                }
            });
        }
    });
    (CLIENTS * EVENTS) as f64 / started.elapsed().as_secs_f64()
}

pub fn run() {
    // The build directory is on a disk, while the temporary directory may be in memory.
    let exe = std::env::current_exe().expect("the path of this program");
    let dir = tempfile::tempdir_in(exe.parent().expect("a parent directory")).expect("a temporary directory");
    let mut rounds: Vec<(f64, f64)> = (0..ROUNDS)
        .map(|n| (grouped(&dir.path().join(format!("g{n}.db"))), one_by_one(&dir.path().join(format!("o{n}.db")))))
        .collect();
    rounds.sort_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
    let (ours, reference) = rounds[ROUNDS / 2];
    report("recorded events, 8 clients", ours, reference, "events/s", "one transaction each", "at least 3.5x");
}
