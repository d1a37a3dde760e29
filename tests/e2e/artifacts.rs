//! Files that were written: where, how, for how long.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use afd_tests::{Client, Daemon, TestPhone, World, wait};
use serde_json::{Value, json};

fn file(answer: &Value) -> PathBuf {
    PathBuf::from(answer["artifact"]["savedFile"].as_str().unwrap_or_else(|| panic!("no artifact: {answer}")))
}

fn list(client: &mut Client) -> Vec<Value> {
    client.ok("artifact.list", json!({"limit": 100}))["artifacts"].as_array().expect("artifacts").clone()
}

fn files(dir: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(dir).map(|d| d.flatten().map(|e| e.path()).collect()).unwrap_or_default()
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// The settings of a world, its device aside, are what is written here.
fn configure(world: &World, settings: &str) {
    let path = world.dir().join("config.toml");
    let before = std::fs::read_to_string(&path).expect("reads");
    let device = before.split("[artifacts]").next().unwrap_or_default().split("[limits]").next().unwrap_or_default();
    std::fs::write(&path, format!("{device}\n{settings}\n")).expect("writes");
    world.client().ok("daemon.reload", json!({}));
}

#[test]
fn an_artifact_is_a_private_file_with_a_row_that_says_what_it_is() {
    let world = World::new();
    let mut client = world.client_for("ann");
    let shot = client.ok("observe.screenshot", json!({}));
    let path = file(&shot);
    let content = std::fs::read(&path).expect("reads");
    assert!(path.starts_with(world.dir().join("artifacts")));
    assert_eq!(std::fs::metadata(&path).expect("is there").permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::metadata(world.dir().join("artifacts")).expect("is there").permissions().mode() & 0o777, 0o700);
    let row = &list(&mut client)[0];
    assert_eq!(
        (row["session"].as_str(), row["device"].as_str(), row["kind"].as_str()),
        (Some("ann"), Some("pixel"), Some("screenshot_image"))
    );
    assert_eq!((row["traceId"].clone(), row["filePath"].as_str()), (shot["traceId"].clone(), path.to_str()));
    assert_eq!((row["mimeType"].as_str(), row["sizeBytes"].as_u64()), (Some("image/jpeg"), Some(content.len() as u64)));
    assert_eq!((row["status"].as_str(), row["contentHash"].as_str().map(str::len)), (Some("present"), Some(64)));
    assert_eq!(files(&world.dir().join("artifacts")), [path], "nothing unfinished is left");
}

#[test]
fn equal_content_is_stored_once_and_goes_with_its_last_row() {
    let world = World::new();
    let mut client = world.client();
    let (first, second) = (client.ok("observe.screenshot", json!({})), client.ok("observe.screenshot", json!({})));
    assert_eq!(file(&first), file(&second));
    assert_eq!((list(&mut client).len(), files(&world.dir().join("artifacts")).len()), (2, 1));
    let id = |answer: &Value| answer["artifact"]["artifactId"].clone();
    assert_eq!(client.ok("artifact.delete", json!({"id": id(&first)}))["fileDeleted"], false);
    assert!(file(&first).exists());
    assert_eq!(client.ok("artifact.delete", json!({"id": id(&second)}))["fileDeleted"], true);
    assert!(!file(&first).exists());
    client.fails("artifact.delete", json!({"id": id(&second)}), "NOT_FOUND");
    client.fails("artifact.get", json!({"id": id(&second)}), "NOT_FOUND");
}

#[test]
fn the_place_is_the_call_then_the_kind_then_the_shared_root() {
    let world = World::new();
    let mut client = world.client();
    let at = |name: &str| text(&world.dir().join(name));
    configure(&world, &format!("[artifacts]\ndir = \"{}\"", at("root")));
    assert!(file(&client.ok("observe.screenshot", json!({}))).starts_with(world.dir().join("root")));
    assert!(file(&client.ok("observe.screenshot", json!({"artifactDir": at("mine")}))).starts_with(world.dir().join("mine")));
    configure(
        &world,
        &format!(
            "[artifacts]\ndir = \"{}\"\nscreenshot_file = \"{}\"\nscreen_file = \"relative/screen.json\"\npage_dir = \"{}\"",
            at("root"),
            at("kind.jpg"),
            at("pages")
        ),
    );
    assert_eq!(file(&client.ok("observe.screenshot", json!({"artifactDir": at("mine")}))), world.dir().join("kind.jpg"));
    assert_eq!(file(&client.ok("observe.screenshot", json!({"saveFile": at("flag.jpg")}))), world.dir().join("flag.jpg"));
    // A relative path in the settings is meant from where the settings are.
    assert_eq!(file(&client.ok("observe.screen", json!({"full": true}))), world.dir().join("relative/screen.json"));
    let page = client.ok("observe.page", json!({"saveDir": at("flag-pages")}));
    assert!(file(&page["screen"]).starts_with(world.dir().join("flag-pages")));
    assert!(page["screen"]["rows"].as_array().is_some_and(|r| !r.is_empty()), "a small page travels in the answer as well");
    let error = client.fails("observe.screenshot", json!({"saveFile": "relative.jpg"}), "INVALID_PARAMS");
    assert_eq!(error.details["path"], "saveFile");
    client.fails("observe.screenshot", json!({"saveFile": text(world.dir())}), "INVALID_PARAMS");
    for own in ["memory.db", "memory.db-wal", "memory.db.key", "config.toml", "run/../memory.db", "run/afd.sock"] {
        client.fails("observe.screenshot", json!({"saveFile": at(own)}), "INVALID_PARAMS");
    }
    let beside = at("memory.db-pictures/1.jpg");
    assert_eq!(text(&file(&client.ok("observe.screenshot", json!({"saveFile": beside})))), beside, "only a name that begins alike");
    configure(&world, &format!("[artifacts]\nscreenshot_file = \"{}\"", at("memory.db")));
    client.fails("observe.screenshot", json!({}), "INVALID_PARAMS");
}

#[test]
fn variables_of_the_daemon_come_before_its_file() {
    let mut world = World::new();
    world.daemon.signal("TERM");
    world.daemon.wait();
    configure_file(&world, &format!("[artifacts]\nscreenshot_file = \"{}\"", text(&world.dir().join("file.jpg"))));
    let variable = text(&world.dir().join("variable.jpg"));
    world.daemon = Daemon::start_with_env(world.dir(), &[("AF_SCREENSHOT_FILE", &variable)]);
    let mut client = world.client();
    assert_eq!(text(&file(&client.ok("observe.screenshot", json!({})))), variable);
    let setting = client.ok("config.get", json!({"key": "artifacts.screenshot_file"}));
    assert_eq!(
        (setting["source"].as_str(), setting["origin"].as_str(), setting["value"].as_str()),
        (Some("env"), Some("AF_SCREENSHOT_FILE"), Some(variable.as_str()))
    );
}

fn configure_file(world: &World, more: &str) {
    let path = world.dir().join("config.toml");
    let text = std::fs::read_to_string(&path).expect("reads");
    std::fs::write(path, format!("{text}\n{more}\n")).expect("writes");
}

#[test]
fn what_is_too_large_for_an_answer_is_only_in_the_file() {
    let world = World::new();
    let mut client = world.client();
    configure(&world, "[limits]\ninline_bytes = 1000");
    let page = client.ok("observe.page", json!({}));
    for part in ["screen", "refs"] {
        let part = &page[part];
        assert_eq!((part["rows"].clone(), part["rowsInArtifact"].clone()), (json!([]), json!(true)));
        let written: Value = serde_json::from_slice(&std::fs::read(file(part)).expect("reads")).expect("JSON");
        let count = part["rowCount"].as_u64().or(part["refCount"].as_u64()).expect("a count");
        assert_eq!(written["rows"].as_array().map(|r| r.len() as u64), Some(count));
        assert_eq!(written["page"]["key"], page["page"]["key"]);
    }
    // The aliases in the file can be used.
    client.ok("act.tap", json!({"by": "ref", "value": "@n2"}));
    let shot = client.ok("observe.screenshot", json!({"inline": true}));
    assert!(shot["screenshotBase64"].is_null() && file(&shot).exists());
    let id = shot["artifact"]["artifactId"].clone();
    client.fails("artifact.get", json!({"id": id, "content": true}), "LIMIT_EXCEEDED");
    configure(&world, "");
    assert!(client.ok("artifact.get", json!({"id": id, "content": true}))["base64"].as_str().is_some_and(|b| b.starts_with("/9j/")));
    let screen = client.ok("observe.screen", json!({"full": true}));
    assert!(screen["windows"].is_array() && !screen["rows"].as_array().expect("rows").is_empty());
    let got = client.ok("artifact.get", json!({"id": screen["artifact"]["artifactId"], "content": true}));
    assert_eq!(got["kind"], "screen_full_json");
    assert!(serde_json::from_str::<Value>(got["text"].as_str().expect("text")).is_ok());
}

#[test]
fn files_that_vanish_or_are_overwritten_are_missing() {
    let world = World::new();
    let mut client = world.client();
    let shot = client.ok("observe.screenshot", json!({}));
    let saved = std::fs::read(file(&shot)).expect("reads");
    std::fs::remove_file(file(&shot)).expect("removes");
    assert_eq!(list(&mut client)[0]["status"], "missing");
    // The watcher notes it in the row too, and notes it when the file comes back.
    let database = rusqlite::Connection::open(world.dir().join("memory.db")).expect("opens");
    let missing = || database.query_row("SELECT missing_at IS NOT NULL FROM artifacts", [], |r| r.get::<_, bool>(0)).expect("reads");
    wait::until("the watcher to notice", || missing().then_some(()));
    std::fs::write(file(&shot), saved).expect("writes");
    wait::until("the watcher to notice that it is back", || (!missing()).then_some(()));
    assert_eq!(list(&mut client)[0]["status"], "present");
    let path = text(&world.dir().join("one.jpg"));
    client.ok("observe.screenshot", json!({"saveFile": path}));
    client.ok("act.tap", json!({"by": "text", "value": "Wi-Fi"}));
    client.ok("observe.screenshot", json!({"saveFile": path}));
    let status: Vec<Value> = list(&mut client).iter().map(|a| a["status"].clone()).collect();
    assert_eq!(status, ["present", "missing", "present"]);
    let old = client.ok("artifact.list", json!({}))["artifacts"][1]["artifactId"].clone();
    assert_eq!(client.ok("artifact.delete", json!({"id": old}))["fileDeleted"], false, "the file holds something else by now");
}

#[test]
fn a_job_keeps_the_limits_and_touches_nothing_else() {
    let world = World::new();
    let mut client = world.client();
    let mut shots = Vec::new();
    for quality in [20, 40, 60, 80] {
        shots.push(file(&client.ok("observe.screenshot", json!({"quality": quality}))));
    }
    let elsewhere = world.dir().join("elsewhere.jpg");
    client.ok("observe.screenshot", json!({"saveFile": text(&elsewhere)}));
    let foreign = world.dir().join("artifacts/holiday-photo.jpg");
    std::fs::write(&foreign, "mine").expect("writes");
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |m| m.len());
    configure(&world, &format!("[artifacts]\nmax_bytes = {}", size(&shots[2]) + size(&shots[3])));
    let ran = client.ok("job.run", json!({"name": "artifact-limits"}));
    assert!(ran["lastError"].is_null() && ran["lastResult"].as_str().is_some_and(|r| r.contains("deleted 2 files")), "{ran}");
    assert_eq!(shots.iter().map(|s| s.exists()).collect::<Vec<_>>(), [false, false, true, true], "the oldest go first");
    assert!(elsewhere.exists() && foreign.exists());
    assert_eq!(list(&mut client).len(), 3);
    client.fails("job.run", json!({"name": "nonsense"}), "NOT_FOUND");
    let jobs = client.ok("job.list", json!({}));
    assert_eq!((jobs["jobs"][0]["name"].as_str(), jobs["jobs"][0]["runs"].as_u64()), (Some("artifact-limits"), Some(1)));
}

#[test]
fn old_files_go_by_age() {
    let mut world = World::new();
    file(&world.client().ok("observe.screenshot", json!({})));
    world.daemon.signal("TERM");
    world.daemon.wait();
    let database = rusqlite::Connection::open(world.dir().join("memory.db")).expect("opens");
    database.execute("UPDATE artifacts SET created_at = created_at - 31 * 86400000", []).expect("ages it");
    drop(database);
    world.daemon = Daemon::start(world.dir());
    let mut client = world.client();
    client.ok("job.run", json!({"name": "artifact-limits"}));
    assert_eq!((list(&mut client).len(), files(&world.dir().join("artifacts")).len()), (0, 0));
}

#[test]
fn a_full_disk_leaves_neither_file_nor_row() {
    let mut world = World::with(TestPhone::start(), "");
    world.daemon.signal("TERM");
    world.daemon.wait();
    let disk = world.dir().join("disk");
    std::fs::create_dir(&disk).expect("makes");
    let Some(daemon) = Daemon::start_with_disk(world.dir(), &disk, 64) else {
        eprintln!("this system lets nobody mount a disk; not tested");
        return;
    };
    world.daemon = daemon;
    let mut client = world.client();
    let small = client.ok("observe.screenshot", json!({"maxDim": 100, "artifactDir": text(&disk)}));
    let error = client.fails("observe.screenshot", json!({"maxDim": 20_000, "format": "png", "artifactDir": text(&disk)}), "STORE_FULL");
    assert!(error.message.contains("no space left") && error.hint.is_some());
    let rows = list(&mut client);
    assert_eq!((rows.len(), rows[0]["filePath"].as_str()), (1, small["artifact"]["savedFile"].as_str()));
    // The daemon goes on, and what fits is written; the disk shows through the daemon's own view of it.
    let seen = PathBuf::from(format!("/proc/{}/root{}", world.daemon.pid(), text(&disk)));
    assert_eq!(files(&seen).len(), 1, "no half file is left");
    client.ok("observe.screenshot", json!({"maxDim": 120, "artifactDir": text(&disk)}));
    client.ok("act.home", json!({}));
    assert_eq!(client.ok("daemon.status", json!({}))["store"]["writable"], true);
}

#[test]
fn only_regular_files_are_replaced_and_links_are_not_followed() {
    let world = World::new();
    let mut client = world.client();
    let at = |name: &str| world.dir().join(name);
    let made = std::process::Command::new("mkfifo").arg(at("fifo")).status().expect("mkfifo runs");
    assert!(made.success());
    for place in ["/dev/null".to_owned(), text(&at("fifo"))] {
        let error = client.fails("observe.screenshot", json!({"saveFile": place}), "INVALID_PARAMS");
        assert_eq!(error.details["path"], "saveFile");
    }
    client.fails("observe.screenshot", json!({"saveFile": "/proc/nope/x.jpg"}), "INVALID_PARAMS");
    std::fs::write(at("precious"), "mine").expect("writes");
    // Where a link leads may have been decided by somebody else: to a file of the caller, to our own, or to nothing yet.
    for target in ["precious", "memory.db", "memory.db.key", "config.toml", "nowhere"] {
        let before = std::fs::read(at(target)).ok();
        let ways = [
            ("observe.screenshot", json!({"saveFile": text(&at("link"))})),
            ("observe.screen", json!({"full": true, "saveFile": text(&at("link"))})),
            ("session.export", json!({"file": text(&at("link"))})),
            ("session.report", json!({"file": text(&at("link"))})),
        ];
        for (method, params) in ways {
            let _ = std::fs::remove_file(at("link"));
            std::os::unix::fs::symlink(at(target), at("link")).expect("links");
            client.ok(method, params);
            assert!(std::fs::symlink_metadata(at("link")).expect("is there").is_file(), "{method}: the link is replaced");
            if target != "memory.db" {
                assert_eq!(std::fs::read(at(target)).ok(), before, "{method} through a link to {target}");
            }
        }
    }
    assert_eq!(&std::fs::read(at("memory.db")).expect("reads")[..15], b"SQLite format 3");
    client.ok("memory.save", json!({"topic": "t", "content": "c"}));
    client.ok("observe.screenshot", json!({}));
}

/// What another store, or somebody else, wrote into the same directory is not ours to tidy.
#[test]
fn files_of_others_in_the_shared_root_stay() {
    let world = World::new();
    let mut client = world.client();
    let root = world.dir().join("artifacts");
    let mine = file(&client.ok("observe.screenshot", json!({})));
    let theirs = file(&client.ok("observe.screenshot", json!({"quality": 30, "artifactDir": text(&root)})));
    let other = root.join("screenshot_image-0123456789abcdef01234567-ffffffff.jpg");
    std::fs::copy(&mine, &other).expect("copies");
    let database = rusqlite::Connection::open(world.dir().join("memory.db")).expect("opens");
    database.busy_timeout(std::time::Duration::from_secs(5)).expect("waits");
    let name = mine.file_name().and_then(|n| n.to_str()).expect("a name");
    let stray = root.join(name.replacen(&name[17..41], "0123456789abcdef01234567", 1));
    std::fs::copy(&mine, &stray).expect("copies");
    let old = std::process::Command::new("touch").args(["-d", "3 hours ago"]).args([&theirs, &other, &stray]).status().expect("touch runs");
    assert!(old.success());
    client.ok("job.run", json!({"name": "artifact-limits"}));
    assert_eq!([&mine, &theirs, &other, &stray].map(|f| f.exists()), [true, true, true, false], "only our own strays go");
}
