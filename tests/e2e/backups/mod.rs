//! Backups: created while the daemon is running, verified, retained, and restored over a damaged database.

mod content;
mod kills;

use std::io::{Seek, Write};
use std::path::{Path, PathBuf};

use afd_tests::{Client, Daemon, TestPhone, World};
use serde_json::{Value, json};

use crate::command_line::{afctl, envelope};
use crate::upgrades::BACK_TO_11;

fn save(client: &mut Client, topic: &str) {
    client.ok("memory.save", json!({"topic": topic, "content": format!("about {topic}")}));
}

fn topics(client: &mut Client) -> Vec<String> {
    let notes = client.ok("memory.search", json!({"limit": 100}));
    let mut topics: Vec<String> = notes["notes"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|n| n["topic"].as_str().unwrap_or_default().to_owned())
        .collect();
    topics.sort();
    topics
}

fn names(client: &mut Client) -> Vec<String> {
    let list = client.ok("backup.list", json!({}));
    list["backups"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|b| b["name"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Overwrites a part of a file.
fn overwrite(path: &Path, at: u64, len: usize) {
    let mut file = std::fs::OpenOptions::new().write(true).open(path).expect("opens");
    file.seek(std::io::SeekFrom::Start(at)).expect("seeks");
    file.write_all(&vec![0x5a; len]).expect("writes");
}

/// Runs `afctl` with the environment of a world, and returns the envelope and the exit code.
pub fn run(world: &World, args: &[&str]) -> (Value, i32) {
    let dir = world.dir();
    let mut command = afctl(dir);
    command
        .env("AFD_SOCKET", world.socket())
        .env("AFD_CONFIG", dir.join("config.toml"))
        .env("AF_DB", dir.join("memory.db"));
    envelope(&command.args(args).output().expect("runs"))
}

#[test]
fn damaged_database_is_restored_by_one_command() {
    let mut world = World::process();
    let mut client = world.client();
    save(&mut client, "before");
    let picture = client.ok("observe.screenshot", json!({"device": "pixel"}))["artifact"]["savedFile"].clone();
    let picture = PathBuf::from(picture.as_str().expect("a path"));
    let made = client.ok("backup.create", json!({}));
    assert_eq!((made["reason"].as_str(), made["artifacts"].as_u64()), (Some("request"), Some(1)));
    let verified = client.ok("backup.verify", json!({}));
    assert_eq!((&verified["backup"]["name"], verified["artifactsChecked"].as_u64()), (&made["name"], Some(1)));
    save(&mut client, "after");
    world.daemon.stop();
    overwrite(&world.dir().join("memory.db"), 0, 4096);
    std::fs::remove_file(&picture).expect("removes");
    let why = Daemon::try_start(world.dir()).err().expect("does not start");
    assert!(why.contains("memory.db") && why.contains("afctl backup restore"), "{why}");

    let (restored, code) = run(&world, &["backup", "restore"]);
    assert_eq!((restored["data"]["backup"]["name"].as_str(), code), (made["name"].as_str(), 0), "{restored}");
    assert_eq!(restored["data"]["artifacts"], json!(1));
    assert!(picture.exists());
    let replaced = PathBuf::from(restored["data"]["replaced"].as_str().expect("a directory"));
    assert_eq!(std::fs::read(replaced.join("memory.db")).expect("what was there is kept")[..4], [0x5a; 4]);
    world.daemon = Daemon::start(world.dir());
    assert_eq!(topics(&mut world.client()), ["before"]);
    save(&mut world.client(), "later");
}

#[test]
fn restore_of_a_running_daemon_stops_it_and_ignores_the_old_log() {
    let mut world = World::process();
    let mut client = world.client();
    save(&mut client, "before");
    client.ok("backup.create", json!({}));
    save(&mut client, "after");
    // The kill leaves a write-ahead log of the newer database next to it.
    world.daemon.kill();
    assert!(std::fs::metadata(world.dir().join("memory.db-wal")).is_ok_and(|m| m.len() > 0));
    world.daemon = Daemon::start(world.dir());
    save(&mut world.client(), "last");
    let (restored, code) = run(&world, &["backup", "restore"]);
    assert_eq!(code, 0, "{restored}");
    assert!(world.daemon.wait().success(), "the running daemon was stopped in good order");
    world.daemon = Daemon::start(world.dir());
    assert_eq!(topics(&mut world.client()), ["before"]);
}

#[test]
fn interrupted_restore_is_completed_by_the_next_start() {
    let mut world = World::process();
    save(&mut world.client(), "before");
    let made = world.client().ok("backup.create", json!({}));
    save(&mut world.client(), "after");
    world.daemon.kill();
    // The state that a restore leaves if it dies in its last step.
    let copy = world.dir().join("backups").join(made["name"].as_str().expect("a name")).join("memory.db");
    std::fs::copy(copy, world.dir().join("memory.db.restored")).expect("copies");
    world.daemon = Daemon::start(world.dir());
    assert_eq!(topics(&mut world.client()), ["before"]);
    assert!(!world.dir().join("memory.db.restored").exists());
    assert!(Daemon::try_start(world.dir()).is_err(), "the new file is locked as well");
}

#[test]
fn damaged_backup_is_told_and_never_restored() {
    let world = World::process();
    let mut client = world.client();
    save(&mut client, "kept");
    let made = client.ok("backup.create", json!({}));
    let name = made["name"].as_str().expect("a name").to_owned();
    let copy = world.dir().join("backups").join(&name).join("memory.db");
    overwrite(&copy, 8192, 100);
    let error = client.fails("backup.verify", json!({"name": name}), "STORE_UNAVAILABLE");
    assert!(error.message.contains(&name), "{error:?}");
    let (failed, code) = run(&world, &["backup", "restore", &name]);
    assert_eq!(code, 1, "{failed}");
    assert!(failed["error"]["message"].as_str().is_some_and(|m| m.contains("damaged")), "{failed}");
    assert_eq!(topics(&mut client), ["kept"], "the daemon was not even stopped");
    for odd in ["", "typo", ".."] {
        let (failed, _) = run(&world, &["backup", "restore", odd]);
        assert_eq!(failed["error"]["code"], "NOT_FOUND", "{failed}");
    }
    for odd in ["../backups", "/etc", "..", "nothing", ""] {
        client.fails("backup.verify", json!({"name": odd}), "NOT_FOUND");
        client.fails("backup.delete", json!({"name": odd}), "NOT_FOUND");
    }
    client.ok("backup.delete", json!({"name": name}));
    assert!(names(&mut client).is_empty());
}

#[test]
fn due_backups_are_made_and_old_ones_deleted() {
    let mut world = World::with_clock_and("\n[backup]\nkeep = 2\n");
    let mut client = world.client();
    save(&mut client, "one");
    let asked = client.ok("backup.create", json!({}))["name"].as_str().expect("a name").to_owned();
    let run = |client: &mut Client| {
        client.ok("job.run", json!({"name": "backup"}))["lastResult"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(run(&mut client), "not due");
    let mut made = Vec::new();
    for day in 0..4 {
        world.advance(25 * 3_600_000);
        assert!(run(&mut client).starts_with("made"), "day {day}");
        assert_eq!(run(&mut client), "not due", "day {day}");
        made.extend(names(&mut client).into_iter().next());
    }
    assert_eq!(names(&mut client), [made[3].clone(), made[2].clone(), asked], "those that were asked for stay");
    let status = client.ok("daemon.status", json!({}));
    assert!(status["lastBackupAt"].is_i64() && status["sizes"]["backupBytes"].as_u64() > Some(100_000), "{status}");
    world.daemon.stop();
}

#[test]
fn deleting_names_the_backups_that_still_hold_the_content() {
    let world = World::new();
    let mut client = world.client_for("private");
    client.ok("session.start", json!({}));
    let before = client.ok("backup.create", json!({}))["name"].clone();
    client.ok("conversation.append", json!({"messages": [{"role": "user", "content": "my pin is 4711"}]}));
    let note = client.ok("memory.save", json!({"topic": "t", "content": "a secret"}));
    let holds = client.ok("backup.create", json!({}))["name"].clone();
    let erased = client.ok("conversation.delete", json!({"position": 1}));
    assert_eq!(erased["backups"], json!([holds]), "not {before}, which is older than the message");
    assert_eq!(client.ok("memory.delete", json!({"id": note["note"]["id"]}))["backups"], json!([holds]));
    assert_eq!(client.ok("session.delete", json!({"session": "private"}))["backups"], json!([holds, before]));
}

#[test]
fn database_that_is_deleted_is_noticed_and_saved() {
    for deleted in ["memory.db", "memory.db-wal"] {
        let mut world = World::process();
        let mut client = world.client();
        save(&mut client, "before");
        std::fs::remove_file(world.dir().join(deleted)).expect("removes");
        let error =
            client.fails("memory.save", json!({"topic": "lost", "content": "never acknowledged"}), "STORE_UNAVAILABLE");
        assert!(error.message.contains("deleted or replaced"), "{error:?}");
        client.fails("act.home", json!({"device": "pixel"}), "STORE_UNAVAILABLE");
        let store = client.ok("daemon.status", json!({}))["store"].clone();
        assert_eq!(store["writable"], json!(false), "{store}");
        assert!(store["advice"].as_str().is_some_and(|a| a.contains("afctl backup restore")), "{store}");
        world.daemon.kill();
        // The next start detects that a file was deleted.
        match Daemon::try_start(world.dir()) {
            Err(why) => assert!(deleted == "memory.db" && why.contains("afctl backup restore"), "{why}"),
            Ok(mut daemon) => {
                let mut connection = daemon.connect();
                let store = connection.call("daemon.status", json!({})).expect("answers")["store"].clone();
                assert!(deleted == "memory.db-wal" && store["writable"] == false, "{store}");
                daemon.stop();
            }
        }
        let (restored, code) = run(&world, &["backup", "restore"]);
        assert_eq!((restored["data"]["backup"]["reason"].as_str(), code), (Some("rescue"), 0), "{deleted}: {restored}");
        world.daemon = Daemon::start(world.dir());
        assert!(topics(&mut world.client()).contains(&"before".to_owned()), "{deleted}");
    }
}

#[test]
fn known_damage_is_remembered_and_hands_work_without_memory_if_allowed() {
    let mut world = World::process();
    let mut client = world.client();
    for n in 0..200 {
        save(&mut client, &format!("topic {n}"));
    }
    client.ok("backup.create", json!({}));
    world.daemon.stop();
    let file = world.dir().join("memory.db");
    // Overwrite a page that the daemon does not read at startup.
    let connection = rusqlite::Connection::open(&file).expect("opens");
    let page = "SELECT max(pageno) FROM dbstat WHERE name = 'notes' AND pagetype = 'leaf'";
    let page: u64 = connection.query_row(page, [], |row| row.get::<_, i64>(0)).expect("a page").unsigned_abs();
    drop(connection);
    overwrite(&file, (page - 1) * 4096, 4096);
    std::fs::write(world.dir().join("memory.db.damaged"), "found earlier").expect("marks");
    world.daemon = Daemon::start(world.dir());
    world.client().fails("memory.save", json!({"topic": "t", "content": "c"}), "STORE_UNAVAILABLE");
    world.daemon.stop();

    let config = world.dir().join("config.toml");
    let settings = std::fs::read_to_string(&config).expect("reads") + "\n[memory]\nrequired = false\n";
    std::fs::write(&config, settings).expect("writes");
    world.daemon = Daemon::start(world.dir());
    let mut client = world.client();
    let page = client.ok("observe.page", json!({"device": "pixel"}));
    assert_eq!(page["recorded"], json!(false));
    assert_eq!(client.ok("act.home", json!({"device": "pixel"}))["recorded"], json!(false));
    let error = client.fails("act.home", json!({"device": "pixel", "requestKey": "k"}), "REFUSED");
    assert_eq!(error.details["path"], json!("requestKey"));
    // Calls whose data would be lost are refused.
    client.fails("memory.save", json!({"topic": "t", "content": "c"}), "STORE_UNAVAILABLE");
    client.fails("session.start", json!({"goal": "g"}), "STORE_UNAVAILABLE");
    client.fails("backup.create", json!({}), "STORE_UNAVAILABLE");
    let (acted, code) = run(&world, &["act", "back", "--device", "pixel"]);
    assert_eq!((acted["data"]["recorded"].as_bool(), code), (Some(false), 0), "{acted}");
    let (restored, code) = run(&world, &["backup", "restore"]);
    assert_eq!(code, 0, "{restored}");
    world.daemon.wait();
    world.daemon = Daemon::start(world.dir());
    assert_eq!(world.client().ok("observe.page", json!({"device": "pixel"}))["recorded"], Value::Null);
    save(&mut world.client(), "again");
}

#[test]
fn restores_in_a_row_keep_what_each_replaces() {
    let mut world = World::process();
    save(&mut world.client(), "one");
    world.client().ok("backup.create", json!({}));
    save(&mut world.client(), "two");
    world.daemon.stop();
    // The names of the replaced databases begin with the second of the restore.
    let kept: Vec<PathBuf> = (0..3)
        .map(|_| {
            let (restored, code) = run(&world, &["backup", "restore"]);
            assert_eq!(code, 0, "{restored}");
            PathBuf::from(restored["data"]["replaced"].as_str().expect("a directory"))
        })
        .collect();
    let distinct: std::collections::HashSet<&PathBuf> = kept.iter().collect();
    assert_eq!(distinct.len(), 3, "{kept:?}");
    let first = rusqlite::Connection::open(kept[0].join("memory.db")).expect("opens");
    let notes: i64 = first.query_row("SELECT count(*) FROM notes", [], |row| row.get(0)).expect("counts");
    assert_eq!(notes, 2);
}

#[test]
fn only_backups_are_deleted_and_counted() {
    let world = World::with(TestPhone::start(), "\n[backup]\nmax_bytes = 4000000\n");
    let mut client = world.client();
    let foreign = world.dir().join("backups/family");
    std::fs::create_dir_all(&foreign).expect("creates");
    std::fs::write(foreign.join("photo"), vec![0; 8_000_000]).expect("writes");
    let made = client.ok("backup.create", json!({}))["name"].clone();
    client.fails("backup.delete", json!({"name": "family"}), "STORE_UNAVAILABLE");
    assert!(foreign.join("photo").exists());
    let list = client.ok("backup.list", json!({}));
    assert!(list["totalBytes"].as_u64() < Some(4_000_000) && list["unreadable"] == json!(["family"]), "{list}");
    let key = world.dir().join("backups").join(made.as_str().expect("a name")).join("memory.db.key");
    std::fs::write(key, [7; 32]).expect("writes");
    client.fails("backup.verify", json!({"name": made}), "STORE_UNAVAILABLE");
}

#[test]
fn backups_can_be_made_at_once() {
    let world = World::new();
    let made: Vec<String> = std::thread::scope(|scope| {
        let makers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    world.client().ok("backup.create", json!({}))["name"].as_str().expect("a name").to_owned()
                })
            })
            .collect();
        makers.into_iter().map(|maker| maker.join().expect("does not panic")).collect()
    });
    let mut listed = names(&mut world.client());
    listed.sort();
    let mut made = made;
    made.sort();
    assert_eq!(listed, made);
}

#[test]
fn hands_go_on_by_themselves_after_the_database_was_deleted_if_allowed() {
    let home = crate::command_line::temporary_home();
    let phone = TestPhone::start();
    let config = home.path().join(".config/afd");
    std::fs::create_dir_all(&config).expect("creates");
    let settings = format!(
        "[memory]\nrequired = false\n[device.pixel]\nurl = \"{}\"\ntoken = \"{}\"\n",
        phone.url(),
        afd_tests::phone::TOKEN
    );
    std::fs::write(config.join("config.toml"), settings).expect("writes");
    let run = |arguments: &[&str]| envelope(&afctl(home.path()).args(arguments).output().expect("runs"));
    assert_eq!(run(&["memory", "save", "--topic", "t", "--content", "c"]).1, 0);
    std::fs::remove_file(home.path().join(".local/share/afd/memory.db")).expect("removes");
    // The daemon notices this at the next write and exits. The next command starts it without its memory.
    let acted = afd_tests::wait::until("an action without recording", || {
        let (acted, code) = run(&["act", "home"]);
        (code == 0).then_some(acted)
    });
    assert_eq!(acted["data"]["recorded"], json!(false), "{acted}");
    assert_eq!(run(&["backup", "restore"]).1, 0);
    let (found, _) = run(&["memory", "search"]);
    assert_eq!(found["data"]["notes"].as_array().map(Vec::len), Some(1), "{found}");
    run(&["daemon", "shutdown"]);
}

#[test]
fn older_schema_is_backed_up_before_it_is_changed() {
    let mut world = World::bare(TestPhone::start(), "");
    world.daemon.stop();
    let connection = rusqlite::Connection::open(world.dir().join("memory.db")).expect("opens");
    connection.execute_batch(&format!("{BACK_TO_11} PRAGMA user_version = 11")).expect("makes it older");
    drop(connection);
    world.daemon = Daemon::start(world.dir());
    let list = world.client().ok("backup.list", json!({}))["backups"].clone();
    assert_eq!((list[0]["reason"].as_str(), list[0]["schema"].as_u64()), (Some("migration"), Some(11)), "{list}");
    // A repeated migration creates no further backup, so it does not fill the disk.
    world.daemon.stop();
    let connection = rusqlite::Connection::open(world.dir().join("memory.db")).expect("opens");
    connection.execute_batch(&format!("{BACK_TO_11} PRAGMA user_version = 11")).expect("makes it older");
    drop(connection);
    world.daemon = Daemon::start(world.dir());
    assert_eq!(names(&mut world.client()).len(), 1);
}

#[test]
fn backups_are_private_and_no_place_for_other_files() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let mut client = world.client();
    let made = client.ok("backup.create", json!({}));
    let dir = world.dir().join("backups").join(made["name"].as_str().expect("a name"));
    let mode = |path: &Path| std::fs::metadata(path).expect("exists").permissions().mode() & 0o777;
    assert_eq!((mode(&world.dir().join("backups")), mode(&dir)), (0o700, 0o700));
    for file in ["memory.db", "memory.db.key", "manifest.json"] {
        assert_eq!(mode(&dir.join(file)), 0o600, "{file}");
    }
    let file = dir.join("memory.db");
    let error = client.fails("observe.screenshot", json!({"device": "pixel", "saveFile": file}), "INVALID_PARAMS");
    assert!(error.message.contains("does not belong to the daemon"), "{error:?}");
}
