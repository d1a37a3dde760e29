use std::time::Duration;

use super::*;

fn temporary() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().expect("a directory");
    let store = Store::open(&dir.path().join("m.db"), &Tasks::default(), |_, _| {}, |_| Ok(0)).expect("opens");
    (dir, store)
}

#[tokio::test]
async fn failed_write_does_not_affect_others_of_its_group() {
    let (_dir, store) = temporary();
    store.write(|c| Ok(c.execute_batch("CREATE TABLE t (n INTEGER UNIQUE) STRICT")?)).await.expect("creates");
    let insert = |n: i64| store.write(move |c| Ok(c.execute("INSERT INTO t VALUES (:n)", crate::args! {n})?));
    let (a, b, c) = tokio::join!(insert(1), insert(1), insert(2));
    assert!(a.is_ok() && matches!(b, Err(StoreError::Sql(_))) && c.is_ok());
    let count = store
        .read(|c| Ok(c.query_row("SELECT count(*) AS count FROM t", [], |r| r.get::<_, i64>("count"))?))
        .await
        .expect("reads");
    assert_eq!(count, 2);
}

#[tokio::test]
async fn closing_ends_at_its_deadline_even_if_a_write_does_not() {
    let (dir, store) = temporary();
    store.write(|c| Ok(c.execute_batch("CREATE TABLE t (n INTEGER) STRICT")?)).await.expect("creates");
    let store = Arc::new(store);
    let (started, is_started) = std::sync::mpsc::channel();
    let endless = {
        let store = store.clone();
        tokio::spawn(async move {
            let work = move |c: &Connection| {
                started.send(()).expect("the test waits");
                Ok(c.execute(
                    "INSERT INTO t WITH RECURSIVE e(n) AS (VALUES (1) UNION ALL SELECT n FROM e) SELECT n FROM e",
                    [],
                )?)
            };
            store.write(work).await
        })
    };
    afd_base::task::run_blocking(move || is_started.recv()).await.expect("runs").expect("started");
    let closing = store.clone();
    afd_base::task::run_blocking(move || closing.close(Some(Instant::now()))).await.expect("closes");
    assert!(endless.await.expect("ends").is_err(), "what was not written is not acknowledged");
    let rows: i64 = Connection::open(dir.path().join("m.db"))
        .expect("opens")
        .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
        .expect("counts");
    assert_eq!(rows, 0);
}

#[tokio::test]
async fn panicking_write_is_rolled_back_and_the_writer_continues() {
    let (_dir, store) = temporary();
    store.write(|c| Ok(c.execute_batch("CREATE TABLE t (n INTEGER) STRICT")?)).await.expect("creates");
    let failed: Result<()> = store
        .write(|c| {
            c.execute("INSERT INTO t VALUES (1)", [])?;
            panic!("a fault");
        })
        .await;
    assert!(matches!(failed, Err(StoreError::Panicked(why)) if why == "a fault"));
    store.write(|c| Ok(c.execute("INSERT INTO t VALUES (2)", [])?)).await.expect("goes on");
    let sum = store.read(|c| Ok(c.query_row("SELECT sum(n) AS sum FROM t", [], |r| r.get::<_, i64>("sum"))?)).await;
    assert_eq!(sum.expect("reads"), 2);
}

#[tokio::test]
async fn read_sees_one_state_and_the_next_one_sees_what_was_written_meanwhile() {
    let (_dir, store) = temporary();
    let store = Arc::new(store);
    store.write(|c| Ok(c.execute_batch("CREATE TABLE t (n INTEGER) STRICT")?)).await.expect("creates");
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let (go_on, goes_on) = std::sync::mpsc::channel();
    let own = store.clone();
    let reading = tokio::spawn(async move {
        let work = move |c: &Connection| {
            let before = count(c)?;
            let _ = begun.send(());
            goes_on.recv().expect("is told");
            Ok((before, count(c)?))
        };
        own.read(work).await
    });
    has_begun.await.expect("begins");
    store.write(|c| Ok(c.execute("INSERT INTO t VALUES (1)", [])?)).await.expect("writes");
    go_on.send(()).expect("reads on");
    assert_eq!(reading.await.expect("ends").expect("reads"), (0, 0));
    for _ in 0..8 {
        let failed: Result<()> = store.read(|c| count(c).map(|n| panic!("{n} is a fault"))).await;
        assert!(matches!(failed, Err(StoreError::Panicked(_))));
        store.write(|c| Ok(c.execute("DELETE FROM t", [])?)).await.expect("writes");
        assert_eq!(store.read(count).await.expect("reads"), 0, "a read that failed holds nothing");
        store.write(|c| Ok(c.execute("INSERT INTO t VALUES (1)", [])?)).await.expect("writes");
    }
}

#[tokio::test]
async fn log_that_a_reader_holds_is_emptied_when_the_reader_ends() {
    let (dir, store) = temporary();
    let log = dir.path().join("m.db-wal");
    store.write(|c| Ok(c.execute_batch("CREATE TABLE t (n INTEGER) STRICT")?)).await.expect("creates");
    let reader = Connection::open(dir.path().join("m.db")).expect("opens");
    let snapshot = reader.unchecked_transaction().expect("begins");
    count(&snapshot).expect("reads");
    store.write(|c| Ok(c.execute("INSERT INTO t VALUES (1)", [])?)).await.expect("writes");
    store.scrub().await.expect("tries");
    let size = || std::fs::metadata(&log).expect("a log").len();
    assert!(size() > 0);
    snapshot.finish().expect("ends");
    let emptied = tokio::time::timeout(Duration::from_secs(30), async {
        while size() > 0 {
            tokio::task::yield_now().await;
        }
    });
    emptied.await.expect("the log is emptied");
}

fn count(c: &Connection) -> Result<i64> {
    Ok(c.query_row("SELECT count(*) AS n FROM t", [], |r| r.get("n"))?)
}

#[tokio::test]
async fn refused_write_is_rolled_back() {
    #[derive(Debug)]
    enum Refusal {
        Store(#[expect(dead_code, reason = "shown when the test fails")] StoreError),
        Known,
    }
    impl From<StoreError> for Refusal {
        fn from(error: StoreError) -> Self {
            Refusal::Store(error)
        }
    }
    let (_dir, store) = temporary();
    store.write(|c| Ok(c.execute_batch("CREATE TABLE t (n INTEGER) STRICT")?)).await.expect("creates");
    let refused = store.write_or_refuse(|c| {
        c.execute("INSERT INTO t VALUES (1)", []).map_err(StoreError::from)?;
        Err::<(), _>(Refusal::Known)
    });
    assert!(matches!(refused.await, Err(Refusal::Known)));
    let count = store.read(|c| Ok(c.query_row("SELECT count(*) AS n FROM t", [], |r| r.get::<_, i64>("n"))?)).await;
    assert_eq!(count.expect("reads"), 0);
}

#[tokio::test]
async fn callbacks_run_in_commit_order() {
    let (_dir, store) = temporary();
    let store = Arc::new(store);
    store.write(|c| Ok(c.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY) STRICT")?)).await.expect("creates");
    let (ids, mut order) = tokio::sync::mpsc::unbounded_channel();
    let writers: Vec<_> = (0..200)
        .map(|_| {
            let (store, ids) = (store.clone(), ids.clone());
            let insert = |c: &Connection| {
                c.execute("INSERT INTO t DEFAULT VALUES", [])?;
                Ok(c.last_insert_rowid())
            };
            tokio::spawn(async move {
                store.write_then(insert, move |id| ids.send(*id).expect("a receiver")).await.expect("writes")
            })
        })
        .collect();
    for writer in writers {
        writer.await.expect("ends");
    }
    for id in 1..=200 {
        assert_eq!(order.recv().await, Some(id));
    }
}

#[tokio::test]
async fn newer_schema_is_refused() {
    let (dir, store) = temporary();
    drop(store);
    Connection::open(dir.path().join("m.db"))
        .and_then(|c| c.pragma_update(None, "user_version", SCHEMA + 1))
        .expect("writes");
    assert!(matches!(
        Store::open(&dir.path().join("m.db"), &Tasks::default(), |_, _| {}, |_| Ok(0)),
        Err(StoreError::TooNew { .. })
    ));
}

#[tokio::test]
async fn file_that_is_not_a_database_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("m.db");
    std::fs::write(&path, "not a database, but long enough to look like one".repeat(100)).expect("writes");
    assert!(matches!(Store::open(&path, &Tasks::default(), |_, _| {}, |_| Ok(0)), Err(StoreError::Damaged(_))));
}

#[tokio::test]
async fn rolled_back_group_is_not_acknowledged() {
    let (_dir, store) = temporary();
    store.write(|c| Ok(c.execute_batch("CREATE TABLE t (n INTEGER) STRICT")?)).await.expect("creates");
    // SQLite also rolls the transaction back on its own if the disk is full.
    let insert = store.write(|c| Ok(c.execute("INSERT INTO t VALUES (1)", [])?));
    let fatal = store.write(|c| Ok(c.execute_batch("ROLLBACK")?));
    let (_, fatal) = tokio::join!(insert, fatal);
    assert!(fatal.is_err());
    store.write(|c| Ok(c.execute("INSERT INTO t VALUES (2)", [])?)).await.expect("goes on");
    let twos = store
        .read(|c| Ok(c.query_row("SELECT count(*) AS count FROM t WHERE n = 2", [], |r| r.get::<_, i64>("count"))?));
    assert_eq!(twos.await.expect("reads"), 1);
}

/// Regression test: readers shared a thread pool with DNS lookups, so every read waited if a name server did not
/// answer.
#[test]
fn reads_continue_while_the_blocking_pool_is_exhausted() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let (free, waits) = std::sync::mpsc::channel::<()>();
    let (begun, begins) = std::sync::mpsc::channel();
    runtime.block_on(async {
        let (_dir, store) = temporary();
        let stuck = tokio::task::spawn_blocking(move || {
            begun.send(()).expect("a receiver");
            waits.recv().expect("a sender");
        });
        begins.recv().expect("the blocking task starts");
        let read = store.read(|c| Ok(c.query_row("SELECT 7 AS n", [], |r| r.get::<_, i64>("n"))?));
        assert_eq!(read.await.expect("reads"), 7);
        assert!(!stuck.is_finished());
        free.send(()).expect("the blocking task is waiting");
        stuck.await.expect("ends");
    });
}

type Order = parking_lot::Mutex<Vec<&'static str>>;

fn push(order: &Order, name: &'static str) -> Result<()> {
    order.lock().push(name);
    Ok(())
}

#[tokio::test]
async fn an_act_does_not_wait_for_the_writes_of_others() {
    let (_dir, store) = temporary();
    let store = std::sync::Arc::new(store);
    let order = std::sync::Arc::new(Order::default());
    let (release, released) = std::sync::mpsc::channel::<()>();
    let (start, started) = std::sync::mpsc::channel::<()>();
    let held = store.clone();
    let mut writes = vec![tokio::spawn(async move {
        held.write(move |_| {
            let _ = start.send(());
            released.recv().map_err(|e| StoreError::Unavailable(e.to_string()))
        })
        .await
    })];
    let submitted = async |count: u64| {
        while store.pending() < count {
            tokio::task::yield_now().await;
        }
    };
    submitted(1).await;
    // The writer has taken it, so that the other writes wait together.
    started.recv().expect("it runs");
    for (i, (lane, name)) in [(1, "a1"), (1, "a2"), (1, "a3"), (2, "b1")].into_iter().enumerate() {
        let (store, order) = (store.clone(), order.clone());
        let write = async move { store.write(move |_| push(&order, name)).await };
        writes.push(tokio::spawn(in_lane(lane, write)));
        submitted(i as u64 + 2).await;
    }
    let (acting, done) = (store.clone(), order.clone());
    writes.push(tokio::spawn(async move { acting.write_first(move |_| push(&done, "tap")).await }));
    submitted(6).await;
    release.send(()).expect("the writer waits");
    store.flush().await.expect("flushed");
    assert_eq!(*order.lock(), ["tap", "a1", "b1", "a2", "a3"], "a flush waits for all");
    for write in writes {
        write.await.expect("a task").expect("written");
    }
}

#[tokio::test]
async fn plans_do_not_depend_on_what_was_counted_when_tables_were_small() {
    let (dir, store) = temporary();
    let small = "CREATE TABLE t (a INTEGER, b INTEGER, UNIQUE (a, b)) STRICT; CREATE INDEX t_by_b ON t (b, a); INSERT INTO t VALUES (1, 1); ANALYZE;";
    store.write(move |c| Ok(c.execute_batch(small)?)).await.expect("creates");
    drop(store);
    let store = Store::open(&dir.path().join("m.db"), &Tasks::default(), |_, _| {}, |_| Ok(0)).expect("opens");
    let plan = |c: &Connection| {
        Ok(c.query_row("EXPLAIN QUERY PLAN DELETE FROM t WHERE a = 1", [], |row| row.get::<_, String>("detail"))?)
    };
    let plan = store.write(plan).await.expect("explains");
    assert!(plan.starts_with("SEARCH"), "{plan}");
    let left = |c: &Connection| {
        Ok(c.query_row("SELECT count(*) AS n FROM sqlite_schema WHERE name LIKE 'sqlite_stat_'", [], |row| {
            row.get::<_, i64>("n")
        })?)
    };
    assert_eq!(store.read(left).await.expect("reads"), 0);
}

#[tokio::test]
async fn opening_is_written_with_the_first_write_that_is_committed_and_only_then() {
    let (_dir, store) = temporary();
    store.write(|c| Ok(c.execute_batch("CREATE TABLE t (what TEXT NOT NULL) STRICT")?)).await.expect("creates");
    let insert = |c: &Connection, what: &str| Ok(c.execute("INSERT INTO t VALUES (?1)", [what]).map(|_| ())?);
    let opening = Opening::new(move |c| insert(c, "begun"));
    let rows = || {
        store.read(|c| {
            Ok(c.query_row("SELECT group_concat(what, ' ') AS all_rows FROM t", [], |row| {
                row.get::<_, Option<String>>("all_rows")
            })?)
        })
    };
    with_opening(opening.clone(), async {
        let refused = store.write(move |c| {
            insert(c, "lost")?;
            Err::<(), _>(StoreError::Full)
        });
        refused.await.expect_err("fails");
        assert_eq!((opening.is_committed(), rows().await.expect("reads")), (false, None));
        for what in ["one", "two"] {
            store.write(move |c| insert(c, what)).await.expect("writes");
        }
    })
    .await;
    store.write(move |c| insert(c, "of another call")).await.expect("writes");
    assert_eq!(
        (opening.is_committed(), rows().await.expect("reads").as_deref()),
        (true, Some("begun one two of another call"))
    );
}

#[tokio::test]
async fn changes_of_a_watched_table_are_told_before_the_writer_is_answered() {
    let (_dir, store) = temporary();
    store
        .write(|c| Ok(c.execute_batch("CREATE TABLE t (n INTEGER) STRICT; CREATE TABLE other (n INTEGER) STRICT")?))
        .await
        .expect("creates");
    let told = Arc::new(AtomicU64::new(0));
    let count = told.clone();
    store.watch("t", "SELECT 1 FROM t WHERE n > 0", move || {
        count.fetch_add(1, Ordering::SeqCst);
    });
    let insert = |sql: &'static str| store.write(move |c| Ok(c.execute(sql, [])?));
    insert("INSERT INTO other VALUES (1)").await.expect("inserts");
    assert_eq!(told.load(Ordering::SeqCst), 0, "another table");
    insert("INSERT INTO t VALUES (1)").await.expect("inserts");
    assert_eq!(told.load(Ordering::SeqCst), 1);
    store
        .write(|c| {
            Ok(c.execute_batch("CREATE TRIGGER copied AFTER INSERT ON other BEGIN INSERT INTO t VALUES (NEW.n); END")?)
        })
        .await
        .expect("creates");
    insert("INSERT INTO other VALUES (2)").await.expect("inserts");
    assert_eq!(told.load(Ordering::SeqCst), 2, "by a trigger");
    insert("UPDATE t SET n = 0").await.expect("updates");
    assert_eq!(told.load(Ordering::SeqCst), 2, "the query finds nothing");
}

#[tokio::test]
async fn failed_derivation_is_rolled_back_and_later_writes_are_synced() {
    let (_dir, store) = temporary();
    store.write(|c| Ok(c.execute_batch("CREATE TABLE t (n INTEGER) STRICT")?)).await.expect("creates");
    let insert =
        |c: &Connection, n: i64| Ok::<_, StoreError>(c.execute("INSERT INTO t VALUES (:n)", crate::args! {n})?);
    store.write_derived(move |c| insert(c, 1)).await.expect("inserts");
    let failed = store.write_derived(move |c| insert(c, 2).and(Err::<(), _>(StoreError::Full))).await;
    assert!(matches!(failed, Err(StoreError::Full)), "{failed:?}");
    let panicked: Result<()> = store
        .write_derived(move |c| {
            insert(c, 3)?;
            panic!("as a bug does")
        })
        .await;
    assert!(matches!(panicked, Err(StoreError::Panicked(_))), "{panicked:?}");
    let synchronous =
        store.write(|c| Ok(c.query_row("PRAGMA synchronous", [], |row| row.get::<_, i64>("synchronous"))?));
    assert_eq!(synchronous.await.expect("reads"), 2, "full");
    let sum = store.read(|c| Ok(c.query_row("SELECT sum(n) AS sum FROM t", [], |row| row.get::<_, i64>("sum"))?));
    assert_eq!(sum.await.expect("reads"), 1);
}
