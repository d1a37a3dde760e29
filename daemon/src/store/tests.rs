use super::*;

fn temporary() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().expect("a directory");
    let store = Store::open(&dir.path().join("m.db"), &Tasks::default(), |_| Ok(0)).expect("opens");
    (dir, store)
}

#[tokio::test]
async fn a_failed_write_leaves_its_neighbours_alone() {
    let (_dir, store) = temporary();
    store.write(|c| Ok(c.execute_batch("CREATE TABLE t (n INTEGER UNIQUE) STRICT")?)).await.expect("creates");
    let insert = |n: i64| store.write(move |c| Ok(c.execute("INSERT INTO t VALUES (:n)", rusqlite::named_params! {":n": n})?));
    let (a, b, c) = tokio::join!(insert(1), insert(1), insert(2));
    assert!(a.is_ok() && matches!(b, Err(StoreError::Sql(_))) && c.is_ok());
    let count = store.read(|c| Ok(c.query_row("SELECT count(*) AS count FROM t", [], |r| r.get::<_, i64>("count"))?)).await.expect("reads");
    assert_eq!(count, 2);
}

#[tokio::test]
async fn work_that_panics_is_undone_and_the_writer_goes_on() {
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
async fn what_is_refused_is_undone() {
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
async fn what_follows_a_commit_comes_in_the_order_of_the_commits() {
    let (_dir, store) = temporary();
    let store = Arc::new(store);
    store.write(|c| Ok(c.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY) STRICT")?)).await.expect("creates");
    let (told, mut order) = tokio::sync::mpsc::unbounded_channel();
    let writers: Vec<_> = (0..200)
        .map(|_| {
            let (store, told) = (store.clone(), told.clone());
            let insert = |c: &Connection| {
                c.execute("INSERT INTO t DEFAULT VALUES", [])?;
                Ok(c.last_insert_rowid())
            };
            tokio::spawn(async move { store.write_then(insert, move |id| told.send(*id).expect("a receiver")).await.expect("writes") })
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
async fn a_newer_database_is_refused() {
    let (dir, store) = temporary();
    drop(store);
    Connection::open(dir.path().join("m.db")).and_then(|c| c.pragma_update(None, "user_version", SCHEMA + 1)).expect("writes");
    assert!(matches!(Store::open(&dir.path().join("m.db"), &Tasks::default(), |_| Ok(0)), Err(StoreError::TooNew { .. })));
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("m.db");
    std::fs::write(&path, "not a database, but long enough to look like one".repeat(100)).expect("writes");
    assert!(matches!(Store::open(&path, &Tasks::default(), |_| Ok(0)), Err(StoreError::Unavailable(_))));
}

#[tokio::test]
async fn a_group_that_was_rolled_back_is_not_said_to_be_done() {
    let (_dir, store) = temporary();
    store.write(|c| Ok(c.execute_batch("CREATE TABLE t (n INTEGER) STRICT")?)).await.expect("creates");
    // What SQLite does by itself when the disk is full.
    let insert = store.write(|c| Ok(c.execute("INSERT INTO t VALUES (1)", [])?));
    let fatal = store.write(|c| Ok(c.execute_batch("ROLLBACK")?));
    let (_, fatal) = tokio::join!(insert, fatal);
    assert!(fatal.is_err());
    store.write(|c| Ok(c.execute("INSERT INTO t VALUES (2)", [])?)).await.expect("goes on");
    let twos = store.read(|c| Ok(c.query_row("SELECT count(*) AS count FROM t WHERE n = 2", [], |r| r.get::<_, i64>("count"))?));
    assert_eq!(twos.await.expect("reads"), 1);
}

/// Before, a name server that did not answer filled the pool that readers were in, and every read waited for it.
#[test]
fn reads_go_on_while_all_threads_for_blocking_work_wait() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).max_blocking_threads(1).enable_all().build().expect("a runtime");
    let (free, waits) = std::sync::mpsc::channel::<()>();
    let (begun, begins) = std::sync::mpsc::channel();
    runtime.block_on(async {
        let (_dir, store) = temporary();
        let stuck = tokio::task::spawn_blocking(move || {
            begun.send(()).expect("somebody waits");
            waits.recv().expect("it ends");
        });
        begins.recv().expect("it begins");
        let read = store.read(|c| Ok(c.query_row("SELECT 7 AS n", [], |r| r.get::<_, i64>("n"))?));
        assert_eq!(read.await.expect("reads"), 7);
        assert!(!stuck.is_finished());
        free.send(()).expect("it waits");
        stuck.await.expect("ends");
    });
}
