//! Full and read-only disks, damaged database files, and clock jumps: every kind of write either succeeds or is
//! refused.

use std::io::Write;
use std::path::{Path, PathBuf};

use afd_proto::Effect;
use afd_tests::{Client, Daemon, World};
use serde_json::{Value, json};

const FILES: [&str; 3] = ["memory.db", "memory.db-wal", "memory.db-shm"];

/// Replaces the absolute paths in an example with paths in a directory, and removes devices and sessions so that the
/// defaults apply.
fn params_in(dir: &Path, example: &str) -> Value {
    let mut params: Value = serde_json::from_str(example).expect("an example is JSON");
    for (name, value) in params.as_object_mut().expect("an object") {
        if value.as_str().is_some_and(|text| text.starts_with('/')) {
            let last = value.as_str().and_then(|text| Path::new(text).file_name()).unwrap_or_default();
            *value = json!(dir.join(last));
        } else if name == "dryRun" {
            *value = json!(false);
        }
    }
    if let Some(fields) = params.as_object_mut() {
        fields.retain(|name, _| name != "device" && name != "session" && name != "scope");
    }
    params
}

/// Calls every writing method with its example. Returns the names of the methods that succeeded and of those that
/// failed because of the disk. Other documented errors are ignored (for example, no such bug); a broken connection or
/// an internal error fails the test.
fn write_everything(client: &mut Client, dir: &Path) -> (Vec<&'static str>, Vec<&'static str>) {
    let (mut done, mut refused) = (Vec::new(), Vec::new());
    let writes = afd_proto::methods().filter(|m| m.effect != Effect::Read);
    let spared = ["daemon.shutdown", "device.remove", "device.add", "device.connectUsb", "memory.save"];
    for method in writes.filter(|m| !spared.contains(&m.name)) {
        match client.call(method.name, params_in(dir, method.example)) {
            Ok(_) => done.push(method.name),
            Err(error) => {
                assert_ne!(error.code, "BROKEN", "{}: {error:?}", method.name);
                assert_ne!(error.number, -32603, "{}: {error:?}", method.name);
                if ["STORE_FULL", "STORE_UNAVAILABLE"].contains(&error.code.as_str()) {
                    assert!(error.hint.is_some(), "{}: {error:?}", method.name);
                    refused.push(method.name);
                }
            }
        }
    }
    (done, refused)
}

fn topics(client: &mut Client) -> Vec<String> {
    let notes = client.ok("memory.search", json!({"limit": 100}));
    notes["notes"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|n| n["topic"].as_str().unwrap_or_default().to_owned())
        .collect()
}

fn integrity(database: &Path) -> String {
    let connection = rusqlite::Connection::open(database).expect("opens");
    connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checks")
}

/// Returns the temporary files that writes left behind.
fn leftovers(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let (dirs, files): (Vec<_>, Vec<_>) = entries.map(|e| e.path()).partition(|path| path.is_dir());
    let own = files
        .into_iter()
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".afd-")));
    own.chain(dirs.iter().flat_map(|dir| leftovers(dir))).collect()
}

#[test]
#[ignore = "needs mounts"]
fn full_disk_refuses_writes_of_every_kind_and_loses_nothing() {
    let (world, seen) = World::on_disk("allow_shell = true\nallow_intent = true\n", 8_000);
    let disk = world.dir().join("disk");
    let mut client = world.client();
    client.ok("memory.save", json!({"topic": "before", "content": "c"}));
    client.ok("observe.page", json!({}));
    let mut ballast = std::fs::File::create(seen.join("ballast")).expect("creates");
    while ballast.write_all(&[0; 1024]).is_ok() {}
    drop(ballast);
    // Small writes may still find room in the files that are there.
    let mut kept = vec!["before".to_owned()];
    for n in 0..40 {
        let topic = format!("note {n}");
        if client.call("memory.save", json!({"topic": topic, "content": "x".repeat(20_000)})).is_ok() {
            kept.push(topic);
        }
    }
    assert!(kept.len() < 30, "the disk is full: {kept:?}");
    // An observation needs no disk space; only a new session does.
    assert!(client.ok("observe.page", json!({}))["page"].is_object());
    let (_, refused) = write_everything(&mut client, &disk);
    for kind in ["act.home", "session.start", "conversation.append", "backup.create", "pattern.save", "memory.vacuum"] {
        assert!(refused.contains(&kind), "{kind} is not among {refused:?}");
    }
    let acts = world.phone.hits("home").len();
    assert_eq!(client.ok("daemon.status", json!({}))["store"]["writable"], false);
    assert!(leftovers(&seen).is_empty(), "{:?}", leftovers(&seen));

    std::fs::remove_file(seen.join("ballast")).expect("removes");
    client.ok("memory.save", json!({"topic": "after", "content": "c"}));
    client.ok("act.home", json!({}));
    assert_eq!(world.phone.hits("home").len(), acts + 1);
    kept.push("after".to_owned());
    let found = topics(&mut client);
    assert!(kept.iter().all(|topic| found.contains(topic)), "{kept:?} {found:?}");
    assert_eq!(found.len(), kept.len(), "what was refused is not there: {found:?}");
    let (done, refused) = write_everything(&mut client, &disk);
    assert!(refused.is_empty() && done.len() > 20, "{refused:?}");
    assert_eq!(integrity(&seen.join("memory.db")), "ok");
}

#[test]
#[ignore = "needs mounts"]
fn read_only_directories_refuse_only_what_goes_there() {
    let mut world = World::process();
    let mut client = world.client();
    client.ok("observe.screenshot", json!({}));
    client.ok("backup.create", json!({}));
    world.daemon.stop();
    let elsewhere = world.dir().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("creates the directory");
    let dirs = ["artifacts", "backups", "elsewhere"].map(|name| world.dir().join(name));
    world.daemon = Daemon::start_with_read_only(world.dir(), &dirs);
    let mut client = world.client();
    client.ok("act.home", json!({}));
    client.ok("memory.save", json!({"topic": "t", "content": "c"}));
    for (method, params) in [
        ("observe.screenshot", json!({})),
        ("observe.screenshot", json!({"saveFile": elsewhere.join("x.jpg")})),
        ("backup.create", json!({})),
        ("session.export", json!({"file": elsewhere.join("x.jsonl")})),
        ("memory.export", json!({"file": elsewhere.join("x.jsonl")})),
    ] {
        let error = client.call(method, params.clone()).err().unwrap_or_else(|| panic!("{method} {params} succeeded"));
        assert!(error.message.to_lowercase().contains("read-only"), "{method} {params}: {error:?}");
        assert!(error.hint.is_some() || error.details["path"].is_string(), "{method} {params}: {error:?}");
    }
    write_everything(&mut client, &elsewhere);
    let findings = client.ok("daemon.doctor", json!({}))["findings"].clone();
    let bad: Vec<&str> = findings
        .as_array()
        .into_iter()
        .flatten()
        .filter(|f| f["level"] != "ok")
        .filter_map(|f| f["message"].as_str())
        .collect();
    for name in ["artifacts", "backups"] {
        assert!(bad.iter().any(|message| message.contains(name)), "{name}: {bad:?}");
    }
    assert_eq!(client.ok("daemon.status", json!({}))["store"]["writable"], true);
    client.ok("act.home", json!({}));
}

#[test]
#[ignore = "needs mounts"]
fn database_on_a_read_only_disk_is_refused_by_name() {
    let mut world = World::process();
    world.daemon.stop();
    let data = world.dir().join("data");
    std::fs::create_dir(&data).expect("creates the directory");
    for file in FILES {
        let _ = std::fs::rename(world.dir().join(file), data.join(file));
    }
    std::os::unix::fs::symlink(data.join("memory.db"), world.dir().join("memory.db")).expect("links");
    let before = std::fs::read(data.join("memory.db")).expect("reads");
    let why = Daemon::try_start_with_read_only(world.dir(), std::slice::from_ref(&data)).err().expect("does not start");
    assert!(why.contains("memory.db") && why.to_lowercase().contains("read-only"), "{why}");
    assert!(std::fs::read(data.join("memory.db")).expect("reads") == before);
}

#[test]
fn damaged_log_loses_at_most_its_end() {
    let mut world = World::process();
    let mut client = world.client();
    client.ok("memory.save", json!({"topic": "first", "content": "c"}));
    // The write-ahead log contains some hundred pages that were not checkpointed.
    for n in 0..20 {
        client.ok("memory.save", json!({"topic": format!("note {n:02}"), "content": "x".repeat(4_000)}));
    }
    world.daemon.kill();
    let log = world.dir().join("memory.db-wal");
    let mut bytes = std::fs::read(&log).expect("reads");
    assert!(bytes.len() > 400_000, "{}", bytes.len());
    let middle = bytes.len() / 2;
    bytes[middle..middle + 64].fill(0x5a);
    std::fs::write(&log, &bytes).expect("writes");
    // The index of the log is rebuilt, regardless of its content.
    std::fs::write(world.dir().join("memory.db-shm"), [0xa5; 32_768]).expect("writes");
    world.daemon = Daemon::start(world.dir());
    let mut client = world.client();
    let mut found = topics(&mut client);
    found.retain(|topic| topic != "first");
    found.sort();
    assert!(!found.is_empty() && found.len() < 20, "{found:?}");
    let expected: Vec<String> = (0..found.len()).map(|n| format!("note {n:02}")).collect();
    assert_eq!(found, expected, "what is left is the beginning");
    client.ok("memory.save", json!({"topic": "after", "content": "c"}));
    world.daemon.stop();
    assert_eq!(integrity(&world.dir().join("memory.db")), "ok");
}

#[test]
fn truncated_log_and_cut_database_are_told_apart() {
    let mut world = World::process();
    let mut client = world.client();
    for n in 0..40 {
        client.ok("memory.save", json!({"topic": format!("note {n:02}"), "content": "x".repeat(4_000)}));
    }
    world.daemon.kill();
    let log = world.dir().join("memory.db-wal");
    let length = std::fs::metadata(&log).expect("a log").len();
    std::fs::OpenOptions::new().write(true).open(&log).expect("opens").set_len(length - 5_000).expect("cuts");
    world.daemon = Daemon::start(world.dir());
    assert!(topics(&mut world.client()).len() >= 38);
    world.daemon.stop();
    let database = world.dir().join("memory.db");
    let length = std::fs::metadata(&database).expect("a database").len();
    std::fs::OpenOptions::new().write(true).open(&database).expect("opens").set_len(length / 2).expect("cuts");
    let why = Daemon::try_start(world.dir()).err().expect("does not start");
    assert!(why.contains("memory.db") && why.contains("afctl backup restore"), "{why}");
}

#[test]
fn damaged_index_is_noticed_and_stops_writing() {
    let mut world = World::process();
    let mut client = world.client();
    for n in 0..300 {
        client.ok("memory.save", json!({"topic": format!("note {n:03}"), "content": "c"}));
    }
    world.daemon.stop();
    let database = world.dir().join("memory.db");
    let connection = rusqlite::Connection::open(&database).expect("opens");
    let sql = "SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'notes' AND rootpage > 0 ORDER BY rootpage LIMIT 1";
    let page: u32 = connection.query_row(sql, [], |row| row.get(0)).expect("an index");
    let size: u32 = connection.query_row("PRAGMA page_size", [], |row| row.get(0)).expect("a size");
    drop(connection);
    let mut bytes = std::fs::read(&database).expect("reads");
    let at = (page - 1) as usize * size as usize;
    bytes[at..at + 512].fill(0x5a);
    std::fs::write(&database, &bytes).expect("writes");
    // The damage is found at startup or by the check in the background.
    let Ok(daemon) = Daemon::try_start(world.dir()) else { return };
    world.daemon = daemon;
    let mut client = world.client();
    let store = afd_tests::wait::until("the damage to be noticed", || {
        let store = client.ok("daemon.status", json!({}))["store"].clone();
        (store["writable"] == false).then_some(store)
    });
    assert!(store["advice"].as_str().is_some_and(|advice| advice.contains("afctl backup restore")), "{store}");
    client.fails("memory.save", json!({"topic": "t", "content": "c"}), "STORE_UNAVAILABLE");
    let refused = client.fails("observe.page", json!({}), "STORE_UNAVAILABLE");
    assert!(refused.message.contains("damaged") && refused.hint.is_some(), "{refused:?}");
}

/// Lets the clock jump, then acts, observes and runs all jobs.
fn work_after(world: &World, client: &mut Client, jump: i64) {
    world.advance(jump);
    client.ok("session.start", json!({"session": format!("jump {jump}"), "goal": "g"}));
    client.ok("device.lease", json!({"ttlMs": 30_000}));
    client.ok("act.tap", json!({"by": "text", "value": "Storage", "then": "diff"}));
    client.ok("act.home", json!({"requestKey": format!("key {jump}")}));
    assert_eq!(client.ok("act.home", json!({"requestKey": format!("key {jump}")}))["replayed"], true);
    client.ok("device.release", json!({}));
    assert!(client.ok("observe.page", json!({}))["settled"].is_boolean());
    for job in client.ok("job.list", json!({}))["jobs"].as_array().into_iter().flatten() {
        let done = client.ok("job.run", json!({"name": job["name"]}));
        assert_eq!(done["lastError"], Value::Null, "{done}");
    }
    world.phone.scene("com.android.settings", None);
}

#[test]
fn jumps_of_the_clock_neither_stop_work_nor_lose_what_is_stored() {
    const DAY: i64 = 86_400_000;
    let world = World::with_clock();
    let mut client = world.client();
    client.ok("memory.save", json!({"topic": "first", "content": "c"}));
    for jump in [-3_600_000, -30 * DAY, 31 * DAY, 60_000] {
        work_after(&world, &mut client, jump);
    }
    let log = client.ok("memory.log", json!({"limit": 100}));
    let events = log["events"].as_array().expect("events");
    assert_eq!(events.iter().filter(|e| e["op"] == "tap").count(), 4, "nothing that was recorded is deleted: {log}");
    let seqs: Vec<i64> = events.iter().filter_map(|e| e["seq"].as_i64()).collect();
    assert!(seqs.is_sorted_by(|a, b| a > b), "{seqs:?}");
    // After years, old records are deleted, but not notes.
    work_after(&world, &mut client, 800 * DAY);
    assert_eq!(topics(&mut client), ["first"]);
}

#[test]
fn lock_of_another_program_is_named_and_can_be_waited_for() {
    let world = World::new();
    let mut client = world.client();
    client.ok("memory.save", json!({"topic": "t", "content": "before"}));
    let other = rusqlite::Connection::open(world.dir().join("memory.db")).expect("opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("locks");
    let busy = client.fails("memory.save", json!({"topic": "t", "content": "meanwhile"}), "STORE_BUSY");
    assert!(busy.message.contains("another program"), "{busy:?}");
    client.fails("act.home", json!({"device": "pixel"}), "STORE_BUSY");
    assert!(world.phone.hits("home").is_empty(), "nothing is sent that cannot be recorded");
    let store = client.ok("daemon.status", json!({}))["store"].clone();
    assert!(
        store.to_string().contains("another program holds the lock") && !store.to_string().contains("disk"),
        "{store}"
    );
    other.execute_batch("ROLLBACK").expect("unlocks");
    client.ok("memory.save", json!({"topic": "t", "content": "after"}));
    assert_eq!(client.ok("daemon.status", json!({}))["store"]["writable"], true);
}
