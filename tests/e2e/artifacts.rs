//! Artifacts: where files are saved, their permissions, deduplication and retention.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use afd_tests::{Client, Daemon, World, wait};
use serde_json::{Value, json};

fn saved_file(response: &Value) -> PathBuf {
    PathBuf::from(response["artifact"]["savedFile"].as_str().unwrap_or_else(|| panic!("no artifact: {response}")))
}

fn list_artifacts(client: &mut Client) -> Vec<Value> {
    client.ok("artifact.list", json!({"limit": 100}))["artifacts"].as_array().expect("artifacts").clone()
}

fn list_files(dir: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(dir).map(|d| d.flatten().map(|e| e.path()).collect()).unwrap_or_default()
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}

/// Replaces the settings of a world, except its device, and reloads them.
fn replace_settings(world: &World, settings: &str) {
    let path = world.dir().join("config.toml");
    let before = std::fs::read_to_string(&path).expect("reads");
    let device = before.split("[artifacts]").next().unwrap_or_default().split("[limits]").next().unwrap_or_default();
    std::fs::write(&path, format!("{device}\n{settings}\n")).expect("writes");
    world.client().ok("daemon.reload", json!({}));
}

#[test]
fn artifact_is_a_private_file_described_by_its_row() {
    let world = World::new();
    let mut client = world.client_for("ann");
    let shot = client.ok("observe.screenshot", json!({}));
    let path = saved_file(&shot);
    let content = std::fs::read(&path).expect("reads");
    assert!(path.starts_with(world.dir().join("artifacts")));
    assert_eq!(std::fs::metadata(&path).expect("exists").permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::metadata(world.dir().join("artifacts")).expect("exists").permissions().mode() & 0o777, 0o700);
    let row = &list_artifacts(&mut client)[0];
    assert_eq!(
        (row["session"].as_str(), row["device"].as_str(), row["kind"].as_str()),
        (Some("ann"), Some("pixel"), Some("screenshot_image"))
    );
    assert_eq!((row["traceId"].clone(), row["filePath"].as_str()), (shot["traceId"].clone(), path.to_str()));
    assert_eq!((row["mimeType"].as_str(), row["sizeBytes"].as_u64()), (Some("image/jpeg"), Some(content.len() as u64)));
    assert_eq!((row["status"].as_str(), row["contentHash"].as_str().map(str::len)), (Some("present"), Some(64)));
    assert_eq!(list_files(&world.dir().join("artifacts")), [path], "no temporary file is left");
}

#[test]
fn equal_content_is_stored_once_and_deleted_with_its_last_row() {
    let world = World::new();
    let mut client = world.client();
    let (first, second) = (client.ok("observe.screenshot", json!({})), client.ok("observe.screenshot", json!({})));
    assert_eq!(saved_file(&first), saved_file(&second));
    assert_eq!((list_artifacts(&mut client).len(), list_files(&world.dir().join("artifacts")).len()), (2, 1));
    let id = |response: &Value| response["artifact"]["artifactId"].clone();
    assert_eq!(client.ok("artifact.delete", json!({"id": id(&first)}))["fileDeleted"], false);
    assert!(saved_file(&first).exists());
    assert_eq!(client.ok("artifact.delete", json!({"id": id(&second)}))["fileDeleted"], true);
    assert!(!saved_file(&first).exists());
    client.fails("artifact.delete", json!({"id": id(&second)}), "NOT_FOUND");
    client.fails("artifact.get", json!({"id": id(&second)}), "NOT_FOUND");
}

#[test]
fn path_comes_from_the_call_then_the_kind_then_the_shared_root() {
    let world = World::new();
    let mut client = world.client();
    let at = |name: &str| path_text(&world.dir().join(name));
    replace_settings(&world, &format!("[artifacts]\ndir = \"{}\"", at("root")));
    assert!(saved_file(&client.ok("observe.screenshot", json!({}))).starts_with(world.dir().join("root")));
    assert!(
        saved_file(&client.ok("observe.screenshot", json!({"artifactDir": at("mine")})))
            .starts_with(world.dir().join("mine"))
    );
    replace_settings(
        &world,
        &format!(
            "[artifacts]\ndir = \"{}\"\nscreenshot_file = \"{}\"\nscreen_file = \"relative/screen.json\"\npage_dir = \"{}\"",
            at("root"),
            at("kind.jpg"),
            at("pages")
        ),
    );
    assert_eq!(
        saved_file(&client.ok("observe.screenshot", json!({"artifactDir": at("mine")}))),
        world.dir().join("kind.jpg")
    );
    assert_eq!(
        saved_file(&client.ok("observe.screenshot", json!({"saveFile": at("flag.jpg")}))),
        world.dir().join("flag.jpg")
    );
    // Relative paths in the settings are relative to the configuration file.
    assert_eq!(
        saved_file(&client.ok("observe.screen", json!({"full": true}))),
        world.dir().join("relative/screen.json")
    );
    let page = client.ok("observe.page", json!({"saveDir": at("flag-pages")}));
    assert!(saved_file(&page["screen"]).starts_with(world.dir().join("flag-pages")));
    assert!(page["screen"]["rows"].as_array().is_some_and(|r| !r.is_empty()), "a small page is in the response, too");
    let error = client.fails("observe.screenshot", json!({"saveFile": "relative.jpg"}), "INVALID_PARAMS");
    assert_eq!(error.details["path"], "saveFile");
    client.fails("observe.screenshot", json!({"saveFile": path_text(world.dir())}), "INVALID_PARAMS");
    for own in ["memory.db", "memory.db-wal", "memory.db.key", "config.toml", "run/../memory.db", "run/afd.sock"] {
        client.fails("observe.screenshot", json!({"saveFile": at(own)}), "INVALID_PARAMS");
    }
    let beside = at("memory.db-pictures/1.jpg");
    assert_eq!(
        path_text(&saved_file(&client.ok("observe.screenshot", json!({"saveFile": beside})))),
        beside,
        "only the prefix of the name is the same"
    );
    replace_settings(&world, &format!("[artifacts]\nscreenshot_file = \"{}\"", at("memory.db")));
    client.fails("observe.screenshot", json!({}), "INVALID_PARAMS");
}

#[test]
fn environment_of_the_daemon_overrides_its_configuration_file() {
    let mut world = World::new();
    world.daemon.stop();
    append_settings(
        &world,
        &format!("[artifacts]\nscreenshot_file = \"{}\"", path_text(&world.dir().join("file.jpg"))),
    );
    let variable = path_text(&world.dir().join("variable.jpg"));
    world.daemon = Daemon::start_with_env(world.dir(), &[("AF_SCREENSHOT_FILE", &variable)]);
    let mut client = world.client();
    assert_eq!(path_text(&saved_file(&client.ok("observe.screenshot", json!({})))), variable);
    let setting = client.ok("config.get", json!({"key": "artifacts.screenshot_file"}));
    assert_eq!(
        (setting["source"].as_str(), setting["origin"].as_str(), setting["value"].as_str()),
        (Some("env"), Some("AF_SCREENSHOT_FILE"), Some(variable.as_str()))
    );
}

fn append_settings(world: &World, more: &str) {
    let path = world.dir().join("config.toml");
    let text = std::fs::read_to_string(&path).expect("reads");
    std::fs::write(path, format!("{text}\n{more}\n")).expect("writes");
}

#[test]
fn oversized_results_are_returned_only_as_files() {
    let world = World::new();
    let mut client = world.client();
    replace_settings(&world, "[limits]\ninline_bytes = 1000");
    let page = client.ok("observe.page", json!({}));
    for part in ["screen", "refs"] {
        let part = &page[part];
        assert_eq!((part["rows"].clone(), part["rowsInArtifact"].clone()), (json!([]), json!(true)));
        let written: Value = serde_json::from_slice(&std::fs::read(saved_file(part)).expect("reads")).expect("JSON");
        let count = part["rowCount"].as_u64().or(part["refCount"].as_u64()).expect("a count");
        assert_eq!(written["rows"].as_array().map(|r| r.len() as u64), Some(count));
        assert_eq!(written["page"]["key"], page["page"]["key"]);
    }
    // The aliases in the file are valid targets.
    client.ok("act.tap", json!({"by": "ref", "value": "@n2"}));
    let shot = client.ok("observe.screenshot", json!({"inline": true}));
    assert!(shot["screenshotBase64"].is_null() && saved_file(&shot).exists());
    let id = shot["artifact"]["artifactId"].clone();
    client.fails("artifact.get", json!({"id": id, "content": true}), "LIMIT_EXCEEDED");
    replace_settings(&world, "");
    assert!(
        client.ok("artifact.get", json!({"id": id, "content": true}))["base64"]
            .as_str()
            .is_some_and(|b| b.starts_with("/9j/"))
    );
    let screen = client.ok("observe.screen", json!({"full": true}));
    assert!(screen["windows"].is_array() && !screen["rows"].as_array().expect("rows").is_empty());
    let got = client.ok("artifact.get", json!({"id": screen["artifact"]["artifactId"], "content": true}));
    assert_eq!(got["kind"], "screen_full_json");
    assert!(serde_json::from_str::<Value>(got["text"].as_str().expect("text")).is_ok());
}

#[test]
fn deleted_or_overwritten_files_have_status_missing() {
    let world = World::new();
    let mut client = world.client();
    let shot = client.ok("observe.screenshot", json!({}));
    let saved = std::fs::read(saved_file(&shot)).expect("reads");
    std::fs::remove_file(saved_file(&shot)).expect("removes");
    assert_eq!(list_artifacts(&mut client)[0]["status"], "missing");
    // The watcher also records in the row that the file is missing, and that it has returned.
    let database = rusqlite::Connection::open(world.dir().join("memory.db")).expect("opens");
    let missing = || {
        database.query_row("SELECT missing_at IS NOT NULL FROM artifacts", [], |r| r.get::<_, bool>(0)).expect("reads")
    };
    wait::until("the watcher to notice the deletion", || missing().then_some(()));
    std::fs::write(saved_file(&shot), saved).expect("writes");
    wait::until("the watcher to notice that the file is back", || (!missing()).then_some(()));
    assert_eq!(list_artifacts(&mut client)[0]["status"], "present");
    let path = path_text(&world.dir().join("one.jpg"));
    client.ok("observe.screenshot", json!({"saveFile": path}));
    client.ok("act.tap", json!({"by": "text", "value": "Wi-Fi"}));
    client.ok("observe.screenshot", json!({"saveFile": path}));
    let status: Vec<Value> = list_artifacts(&mut client).iter().map(|a| a["status"].clone()).collect();
    assert_eq!(status, ["present", "missing", "present"]);
    let old = client.ok("artifact.list", json!({}))["artifacts"][1]["artifactId"].clone();
    assert_eq!(
        client.ok("artifact.delete", json!({"id": old}))["fileDeleted"],
        false,
        "the file has different content by now"
    );
}

#[test]
fn limits_job_deletes_the_oldest_artifacts_and_nothing_else() {
    let world = World::new();
    let mut client = world.client();
    let mut shots = Vec::new();
    for quality in [20, 40, 60, 80] {
        shots.push(saved_file(&client.ok("observe.screenshot", json!({"quality": quality}))));
    }
    let elsewhere = world.dir().join("elsewhere.jpg");
    client.ok("observe.screenshot", json!({"saveFile": path_text(&elsewhere)}));
    let foreign = world.dir().join("artifacts/holiday-photo.jpg");
    std::fs::write(&foreign, "mine").expect("writes");
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |m| m.len());
    replace_settings(&world, &format!("[artifacts]\nmax_bytes = {}", size(&shots[2]) + size(&shots[3])));
    let ran = client.ok("job.run", json!({"name": "artifact-limits"}));
    assert!(
        ran["lastError"].is_null() && ran["lastResult"].as_str().is_some_and(|r| r.contains("deleted 2 files")),
        "{ran}"
    );
    assert_eq!(
        shots.iter().map(|s| s.exists()).collect::<Vec<_>>(),
        [false, false, true, true],
        "the oldest files are deleted first"
    );
    assert!(elsewhere.exists() && foreign.exists());
    assert_eq!(list_artifacts(&mut client).len(), 3);
    client.fails("job.run", json!({"name": "nonsense"}), "NOT_FOUND");
    let jobs = client.ok("job.list", json!({}));
    assert_eq!(
        (jobs["jobs"][0]["name"].as_str(), jobs["jobs"][0]["runs"].as_u64()),
        (Some("artifact-limits"), Some(1))
    );
}

#[test]
fn artifacts_beyond_the_maximum_age_are_deleted() {
    let mut world = World::new();
    saved_file(&world.client().ok("observe.screenshot", json!({})));
    world.daemon.stop();
    let database = rusqlite::Connection::open(world.dir().join("memory.db")).expect("opens");
    database.execute("UPDATE artifacts SET created_at = created_at - 31 * 86400000", []).expect("updates");
    drop(database);
    world.daemon = Daemon::host(world.dir());
    let mut client = world.client();
    client.ok("job.run", json!({"name": "artifact-limits"}));
    assert_eq!((list_artifacts(&mut client).len(), list_files(&world.dir().join("artifacts")).len()), (0, 0));
}

#[test]
#[ignore = "needs mounts"]
fn full_disk_leaves_neither_file_nor_row() {
    let mut world = World::new();
    world.daemon.stop();
    let disk = world.dir().join("disk");
    std::fs::create_dir(&disk).expect("creates the directory");
    world.daemon = Daemon::start_with_disk(world.dir(), &disk, 64);
    let mut client = world.client();
    let small = client.ok("observe.screenshot", json!({"maxDim": 100, "artifactDir": path_text(&disk)}));
    let error = client.fails(
        "observe.screenshot",
        json!({"maxDim": 20_000, "format": "png", "artifactDir": path_text(&disk)}),
        "STORE_FULL",
    );
    assert!(error.message.contains("no space left") && error.hint.is_some());
    let rows = list_artifacts(&mut client);
    assert_eq!((rows.len(), rows[0]["filePath"].as_str()), (1, small["artifact"]["savedFile"].as_str()));
    // The daemon keeps running and writes what fits. The disk is mounted only in the daemon's namespace.
    let seen = PathBuf::from(format!("/proc/{}/root{}", world.daemon.pid(), path_text(&disk)));
    assert_eq!(list_files(&seen).len(), 1, "no partial file is left");
    client.ok("observe.screenshot", json!({"maxDim": 120, "artifactDir": path_text(&disk)}));
    client.ok("act.home", json!({}));
    assert_eq!(client.ok("daemon.status", json!({}))["store"]["writable"], true);
}

#[test]
#[ignore = "needs mounts"]
fn full_disk_of_the_database_is_told_and_ends_when_there_is_space() {
    let (world, seen) = World::on_disk("", 6_000);
    let mut client = world.client();
    let ballast = seen.join("ballast");
    client.ok("memory.save", json!({"topic": "before", "content": "c"}));
    client.ok("observe.page", json!({}));
    // Fill the disk.
    let mut file = std::fs::File::create(&ballast).expect("creates");
    while std::io::Write::write_all(&mut file, &[0; 1024]).is_ok() {}
    drop(file);
    let content = "x ".repeat(20_000);
    let error = client.fails("memory.save", json!({"topic": "too much", "content": content}), "STORE_FULL");
    assert!(error.hint.is_some(), "{error:?}");
    let store = client.ok("daemon.status", json!({}))["store"].clone();
    assert_eq!(store["writable"], false, "{store}");
    assert!(store["advice"].as_str().is_some_and(|a| a.contains("disk space")), "{store}");
    client.ok("observe.page", json!({}));
    std::fs::remove_file(&ballast).expect("removes");
    client.ok("memory.save", json!({"topic": "after", "content": "c"}));
    assert_eq!(client.ok("daemon.status", json!({}))["store"]["writable"], true);
    assert_eq!(client.ok("memory.search", json!({}))["notes"].as_array().map(Vec::len), Some(2));
}

#[test]
fn only_regular_files_are_replaced_and_links_are_not_followed() {
    let world = World::new();
    let mut client = world.client();
    let at = |name: &str| world.dir().join(name);
    let made = std::process::Command::new("mkfifo").arg(at("fifo")).status().expect("mkfifo runs");
    assert!(made.success());
    for path in ["/dev/null".to_owned(), path_text(&at("fifo"))] {
        let error = client.fails("observe.screenshot", json!({"saveFile": path}), "INVALID_PARAMS");
        assert_eq!(error.details["path"], "saveFile");
    }
    client.fails("observe.screenshot", json!({"saveFile": "/proc/nope/x.jpg"}), "INVALID_PARAMS");
    std::fs::write(at("precious"), "mine").expect("writes");
    // Another user may have chosen the target of a link: a file of the caller, one of the daemon's own, or none yet.
    for target in ["precious", "memory.db", "memory.db.key", "config.toml", "nowhere"] {
        let before = std::fs::read(at(target)).ok();
        let calls = [
            ("observe.screenshot", json!({"saveFile": path_text(&at("link"))})),
            ("observe.screen", json!({"full": true, "saveFile": path_text(&at("link"))})),
            ("session.export", json!({"file": path_text(&at("link"))})),
            ("session.report", json!({"file": path_text(&at("link"))})),
        ];
        for (method, params) in calls {
            let _ = std::fs::remove_file(at("link"));
            std::os::unix::fs::symlink(at(target), at("link")).expect("creates the link");
            client.ok(method, params);
            assert!(std::fs::symlink_metadata(at("link")).expect("exists").is_file(), "{method}: the link is replaced");
            if target != "memory.db" {
                assert_eq!(std::fs::read(at(target)).ok(), before, "{method} through a link to {target}");
            }
        }
    }
    assert_eq!(&std::fs::read(at("memory.db")).expect("reads")[..15], b"SQLite format 3");
    client.ok("memory.save", json!({"topic": "t", "content": "c"}));
    client.ok("observe.screenshot", json!({}));
}

/// The limits job must not delete files that other stores or programs wrote into the same directory.
#[test]
fn foreign_files_in_the_shared_root_are_kept() {
    let world = World::new();
    let mut client = world.client();
    let root = world.dir().join("artifacts");
    let recorded = saved_file(&client.ok("observe.screenshot", json!({})));
    let requested =
        saved_file(&client.ok("observe.screenshot", json!({"quality": 30, "artifactDir": path_text(&root)})));
    let other = root.join("screenshot_image-0123456789abcdef01234567-ffffffff.jpg");
    std::fs::copy(&recorded, &other).expect("copies");
    let database = rusqlite::Connection::open(world.dir().join("memory.db")).expect("opens");
    database.busy_timeout(std::time::Duration::from_secs(5)).expect("sets the timeout");
    let name = recorded.file_name().and_then(|n| n.to_str()).expect("a name");
    let orphan = root.join(name.replacen(&name[17..41], "0123456789abcdef01234567", 1));
    std::fs::copy(&recorded, &orphan).expect("copies");
    let old = std::process::Command::new("touch")
        .args(["-d", "3 hours ago"])
        .args([&requested, &other, &orphan])
        .status()
        .expect("touch runs");
    assert!(old.success());
    client.ok("job.run", json!({"name": "artifact-limits"}));
    assert_eq!(
        [&recorded, &requested, &other, &orphan].map(|f| f.exists()),
        [true, true, true, false],
        "only this store's orphans are deleted"
    );
}
