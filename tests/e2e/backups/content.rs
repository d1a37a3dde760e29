//! Contents of backups: copies of artifacts, paths of another machine, and files that are not backups of afd.

use std::io::Write;
use std::path::{Path, PathBuf};

use afd_tests::{Client, Daemon, World};
use serde_json::{Value, json};

use super::{names, run, save, topics};

/// Takes a screenshot and returns its file.
fn screenshot(client: &mut Client) -> PathBuf {
    let saved = client.ok("observe.screenshot", json!({"device": "pixel"}))["artifact"]["savedFile"].clone();
    PathBuf::from(saved.as_str().expect("a path"))
}

#[test]
fn backup_survives_changed_and_lost_artifacts() {
    let mut world = World::process();
    let mut client = world.client();
    save(&mut client, "kept");
    let report = client.ok("session.report", json!({}))["file"].as_str().map(PathBuf::from).expect("a file");
    let picture = screenshot(&mut client);
    let name = client.ok("backup.create", json!({}))["name"].as_str().expect("a name").to_owned();
    let second = client.ok("backup.create", json!({}))["name"].as_str().expect("a name").to_owned();
    // Appending to a report does not change the copies.
    std::fs::OpenOptions::new().append(true).open(&report).and_then(|mut f| f.write_all(b"a line\n")).expect("appends");
    for backup in [&name, &second] {
        let verified = client.ok("backup.verify", json!({"name": backup}));
        assert_eq!((&verified["artifactsChecked"], &verified["artifactsLost"]), (&json!(2), &json!(0)), "{verified}");
    }
    let copies: Vec<PathBuf> = [&name, &second]
        .iter()
        .flat_map(|backup| {
            std::fs::read_dir(world.dir().join("backups").join(backup).join("artifacts")).expect("reads")
        })
        .map(|entry| entry.expect("an entry").path())
        .collect();
    let inodes: std::collections::HashSet<u64> =
        copies.iter().map(|c| std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(c).expect("exists"))).collect();
    assert_eq!((copies.len(), inodes.len()), (4, 2), "backups share what is the same");
    // A damaged copy is listed, and intact copies are restored.
    let of_picture =
        copies.iter().find(|c| std::fs::read(c).ok() == std::fs::read(&picture).ok()).expect("a copy").clone();
    std::fs::remove_file(&of_picture).expect("removes");
    std::fs::write(&of_picture, "something else").expect("writes");
    let damaged = of_picture
        .parent()
        .and_then(Path::parent)
        .and_then(Path::file_name)
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let verified = client.ok("backup.verify", json!({"name": damaged}));
    assert_eq!((&verified["artifactsLost"], &verified["lost"]), (&json!(1), &json!([picture])), "{verified}");
    world.daemon.stop();
    std::fs::remove_file(&picture).expect("removes");
    std::fs::remove_file(&report).expect("removes");
    let (restored, code) = run(&world, &["backup", "restore", &damaged]);
    assert_eq!(
        (&restored["data"]["artifacts"], &restored["data"]["lost"], code),
        (&json!(1), &json!([picture]), 0),
        "{restored}"
    );
    assert!(report.exists() && !picture.exists());
    world.daemon = Daemon::start(world.dir());
    assert_eq!(topics(&mut world.client()), ["kept"]);
}

/// Changes the database of a backup, and updates the manifest accordingly.
fn change_backup(backup: &Path, sql: &str) {
    let file = backup.join("memory.db");
    rusqlite::Connection::open(&file).and_then(|c| c.execute_batch(sql)).expect("changes the copy");
    let manifest = backup.join("manifest.json");
    let mut described: Value = serde_json::from_slice(&std::fs::read(&manifest).expect("reads")).expect("JSON");
    described["databaseHash"] = json!(afd_base::file::hash_of(&file).expect("reads"));
    std::fs::write(manifest, described.to_string()).expect("writes");
}

#[test]
fn backup_of_somebody_else_writes_and_deletes_nothing_outside_of_the_artifacts() {
    let mut world = World::process();
    let mut client = world.client();
    let (first, second) = (screenshot(&mut client), client.ok("session.report", json!({}))["file"].clone());
    let second = PathBuf::from(second.as_str().expect("a path"));
    let name = client.ok("backup.create", json!({}))["name"].as_str().expect("a name").to_owned();
    let backup = world.dir().join("backups").join(&name);
    world.daemon.stop();
    let (planted, elsewhere) =
        (world.dir().join(".bashrc"), world.dir().join("other/artifacts").join(first.file_name().expect("a name")));
    change_backup(
        &backup,
        &format!(
            "UPDATE artifacts SET file_path = '{}' WHERE file_path = '{}';
             UPDATE artifacts SET file_path = '{}' WHERE file_path = '{}';",
            planted.display(),
            second.display(),
            elsewhere.display(),
            first.display()
        ),
    );
    std::fs::remove_file(&first).expect("removes");
    let (restored, code) = run(&world, &["backup", "restore"]);
    assert_eq!((&restored["data"]["artifacts"], code), (&json!(1), 0), "{restored}");
    assert!(!planted.exists() && !elsewhere.exists(), "nothing is written outside");
    assert!(first.exists(), "a file of another home lies in this one's directory");
    world.daemon = Daemon::start(world.dir());
    // Deleting an artifact whose row named a file elsewhere does not delete that file, even if its content matches.
    std::fs::copy(&second, &planted).expect("copies");
    let mut client = world.client();
    let listed = client.ok("artifact.list", json!({}))["artifacts"].clone();
    let row =
        listed.as_array().expect("artifacts").iter().find(|a| a["kind"] == "session_report").expect("a report").clone();
    assert_eq!(client.ok("artifact.delete", json!({"id": row["artifactId"]}))["fileDeleted"], false);
    assert!(planted.exists());
}

#[test]
fn file_that_a_caller_named_is_not_deleted_with_its_artifact() {
    let world = World::new();
    let mut client = world.client();
    let file = world.dir().join("shot.jpg");
    let saved = client.ok("observe.screenshot", json!({"device": "pixel", "saveFile": file}))["artifact"].clone();
    assert_eq!(client.ok("artifact.delete", json!({"id": saved["artifactId"]}))["fileDeleted"], false, "{saved}");
    assert!(file.exists());
}

#[test]
fn what_is_no_memory_of_afd_is_refused_as_backup() {
    let world = World::process();
    let mut client = world.client();
    let dir = world.dir().join("backups");
    let mut make = || client.ok("backup.create", json!({}))["name"].as_str().expect("a name").to_owned();
    let (odd, newer, unversioned, linked, whole) = (make(), make(), make(), make(), make());
    change_backup(
        &dir.join(&whole),
        "CREATE TRIGGER sqliteXspy AFTER INSERT ON notes BEGIN DELETE FROM sessions; END; CREATE VIEW mine AS SELECT 1;",
    );
    change_backup(&dir.join(&odd), "DROP TABLE patterns;");
    change_backup(&dir.join(&newer), "PRAGMA user_version = 4000;");
    change_backup(&dir.join(&unversioned), "PRAGMA user_version = 0;");
    let copy = dir.join(&linked).join("memory.db");
    std::fs::rename(&copy, world.dir().join("elsewhere.db")).expect("moves");
    std::os::unix::fs::symlink(world.dir().join("elsewhere.db"), &copy).expect("links");
    std::os::unix::fs::symlink(dir.join(&whole), dir.join("link")).expect("links");
    for (name, why) in [
        (&odd, "patterns"),
        (&newer, "schema version 4000"),
        (&unversioned, "no memory of afd"),
        (&linked, "is a link"),
    ] {
        let refused = client.fails("backup.verify", json!({"name": name}), "STORE_UNAVAILABLE");
        assert!(refused.message.contains(why), "{why}: {refused:?}");
        assert_eq!(run(&world, &["backup", "restore", name]).1, 1, "{name}");
    }
    client.fails("backup.verify", json!({"name": "link"}), "NOT_FOUND");
    // Triggers and views are dropped, because they would run automatically.
    assert_eq!(run(&world, &["backup", "restore", &whole]).1, 0);
    let restored = rusqlite::Connection::open(world.dir().join("memory.db")).expect("opens");
    let foreign: i64 = restored
        .query_row("SELECT count(*) FROM sqlite_schema WHERE name IN ('sqliteXspy', 'mine')", [], |row| row.get(0))
        .expect("counts");
    assert_eq!(foreign, 0);
}

#[test]
fn unfinished_backups_and_restores_are_counted_and_removed_by_the_next_start() {
    let mut world = World::process();
    let mut client = world.client();
    save(&mut client, "kept");
    let made = client.ok("backup.create", json!({}))["name"].as_str().expect("a name").to_owned();
    world.daemon.kill();
    // Names of the partial files that a killed backup and a killed restore leave behind.
    let dir = world.dir().join("backups");
    let database = world.dir().canonicalize().expect("exists").join("memory.db");
    std::fs::write(world.dir().join("path"), database.as_os_str().as_encoded_bytes()).expect("writes");
    let tag = &afd_base::file::hash_of(&world.dir().join("path")).expect("reads")[..8];
    let (own, other) = (dir.join(format!(".afd-backup-{tag}-x1y2z3")), dir.join(".afd-backup-00000000-x1y2z3"));
    for half in [&own, &other] {
        std::fs::create_dir(half).expect("creates");
        std::fs::write(half.join("memory.db"), vec![0; 3_000_000]).expect("writes");
    }
    std::fs::write(world.dir().join("memory.db.restoring"), "half").expect("writes");
    world.daemon = Daemon::start(world.dir());
    assert!(!own.exists() && !world.dir().join("memory.db.restoring").exists());
    assert!(other.exists(), "another memory's may be in the making");
    let list = world.client().ok("backup.list", json!({}));
    assert!(list["totalBytes"].as_u64() > Some(3_000_000), "{list}");
    assert_eq!(names(&mut world.client()), [made]);
}
