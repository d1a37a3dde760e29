//! Import from `af`: which records are imported, which are corrected, and that repeating the import adds nothing.

use std::path::{Path, PathBuf};

use afd_tests::{Client, TestPhone, World, programs};
use rusqlite::Connection;
use serde_json::{Value, json};

const FINGERPRINT: &str = "act=com.android.settings/.Settings|mode=SYSTEM_API|wv=0|rid=recycler_view|cls=RecyclerView";

/// Creates a database like those of `af` 0.5, including incorrect records.
fn create_af_database(dir: &Path) -> PathBuf {
    let path = dir.join("af.db");
    let c = Connection::open(&path).expect("opens");
    c.execute_batch(
        "PRAGMA journal_mode = WAL;
         CREATE TABLE session_state (session TEXT PRIMARY KEY, app TEXT, activity TEXT, page_fingerprint TEXT);
         CREATE TABLE events (id INTEGER PRIMARY KEY, created_at TEXT, session TEXT, app TEXT, activity TEXT, page_fingerprint TEXT, category TEXT,
            op TEXT, args_json TEXT, status TEXT, error_code TEXT, failure_cause TEXT, evidence_json TEXT, duration_ms INTEGER);
         CREATE TABLE transitions (id INTEGER PRIMARY KEY, pre_app TEXT, pre_activity TEXT, pre_page_fingerprint TEXT, action_category TEXT,
            action_op TEXT, action_args_json TEXT, post_app TEXT, post_activity TEXT, post_page_fingerprint TEXT, verify_op TEXT,
            verify_args_json TEXT, success_count INTEGER, verified_count INTEGER, failure_count INTEGER, last_success_at TEXT);
         CREATE TABLE recoveries (id INTEGER PRIMARY KEY, pre_app TEXT, pre_activity TEXT, pre_page_fingerprint TEXT, failure_cause TEXT,
            recovery_category TEXT, recovery_op TEXT, recovery_args_json TEXT, success_count INTEGER, failure_count INTEGER, last_success_at TEXT);
         CREATE TABLE notes (id INTEGER PRIMARY KEY, app TEXT, topic TEXT, content TEXT, session TEXT, created_at TEXT);
         CREATE TABLE artifacts (id INTEGER PRIMARY KEY, session TEXT, trace_id TEXT, category TEXT, op TEXT, kind TEXT, mime_type TEXT,
            file_path TEXT, size_bytes INTEGER, content_hash TEXT, created_at TEXT);",
    )
    .expect("creates the tables");
    let transition = |op: &str, args: &str, verify: &str, counts: [i64; 3]| {
        c.execute(
            "INSERT INTO transitions VALUES (NULL, 'com.android.settings', 'com.android.settings/.Settings', ?1, 'act', ?2, ?3, 'com.android.settings',
                'com.android.settings/.SubSettings', 'act=com.android.settings/.SubSettings|mode=SYSTEM_API|wv=0', ?4, '{\"text\":\"hunter2\"}', ?5, ?6, ?7,
                '2026-05-01T10:00:00.5+00:00')",
            (FINGERPRINT, op, args, verify, counts[0], counts[1], counts[2]),
        )
        .expect("inserts");
    };
    transition("tap", r#"{"by":"text","value":"Wi-Fi"}"#, "top-activity", [3, 2, 1]);
    // The same action with another verification is the same transition.
    transition("tap", r#"{"by":"text","value":"Wi-Fi","exactMatch":false}"#, "text-contains", [1, 1, 0]);
    transition("tap", r#"{"by":"ref","value":"@n2"}"#, "top-activity", [5, 5, 0]);
    transition("tap", r#"{"by":"text","value":"Bluetooth"}"#, "top-activity", [0, 1, 0]);
    transition("text", r#"{"text":"hunter2"}"#, "text-contains", [1, 0, 0]);
    transition("tap", r#"{"x":540.0,"y":1200.0}"#, "", [1, 0, 0]);
    let recovery = "INSERT INTO recoveries VALUES (NULL, 'com.android.settings', 'com.android.settings/.Settings', ?1, ?2, 'recover', 'back', '{\"times\":2}', 2, 0, '2026-05-01T10:00:00+00:00')";
    c.execute(recovery, (FINGERPRINT, "REF_ALIAS_STALE")).expect("inserts");
    c.execute(recovery, (FINGERPRINT, "NETWORK_ERROR")).expect("inserts");
    for (topic, content) in [("nav/wifi", "first"), ("nav/wifi", "second"), ("", "no topic"), ("nav/empty", " ")] {
        c.execute(
            "INSERT INTO notes VALUES (NULL, 'com.android.settings', ?1, ?2, 'wf-1', '2026-05-01T10:00:00+00:00')",
            (topic, content),
        )
        .expect("inserts");
    }
    std::fs::write(dir.join("shot.jpg"), "12345").expect("writes");
    for file in ["shot.jpg", "gone.jpg"] {
        c.execute("INSERT INTO artifacts VALUES (NULL, 'wf-1', 'invoke-1', 'observe', 'screenshot', 'screenshot_image', 'image/jpeg', ?1, 5, 'h', '2026-05-01T10:00:00+00:00')", [dir.join(file).display().to_string()]).expect("inserts");
    }
    c.execute("INSERT INTO events (created_at, session, category, op, args_json, status) VALUES ('x', 's', 'act', 'text', '{\"text\":\"hunter2\"}', 'ok')", []).expect("inserts");
    path
}

/// Starts a world with a directory for the files of `af`.
fn world_with_import_directory() -> (World, PathBuf) {
    let world = World::with(TestPhone::start(), "");
    let dir = world.dir().join("af");
    std::fs::create_dir(&dir).expect("creates the directory");
    (world, dir)
}

/// Opening and closing the daemon's own database would release the POSIX locks that keep other processes from deleting
/// its write-ahead log.
#[test]
fn daemons_own_database_is_refused_before_it_is_opened() {
    let (world, dir) = world_with_import_directory();
    let own = PathBuf::from(world.client().ok("daemon.status", json!({}))["database"].as_str().expect("a path"));
    let (link, second) = (dir.join("link"), dir.join("second"));
    std::os::unix::fs::symlink(&own, &link).expect("creates the link");
    std::fs::hard_link(&own, &second).expect("creates the link");
    for path in [own, link, second] {
        let error = world.client().fails("memory.importAf", json!({"databaseFile": path}), "INVALID_PARAMS");
        assert_eq!(error.details["path"], "databaseFile", "{}", path.display());
    }
}

fn tally(report: &Value, name: &str) -> [u64; 5] {
    ["found", "added", "present", "cleaned", "skipped"]
        .map(|k| report[name][k].as_u64().unwrap_or_else(|| panic!("{report}")))
}

#[test]
fn database_is_imported_with_corrections() {
    let (world, dir) = world_with_import_directory();
    let path = create_af_database(&dir);
    let mut client = world.client();
    let params = json!({"databaseFile": path, "dryRun": true});
    let preview = client.ok("memory.importAf", params.clone());
    assert_eq!(tally(&preview, "notes"), [4, 3, 0, 1, 1]);
    assert_eq!(client.ok("memory.stats", json!({}))["notes"], 0, "a dry run changes nothing");
    let report = client.ok("memory.importAf", json!({"databaseFile": path}));
    for name in ["notes", "transitions", "recoveries", "artifacts", "events"] {
        assert_eq!(report[name], preview[name], "{name}");
    }
    // Six rows: two are the same transition, and one has an alias as its target.
    assert_eq!(tally(&report, "transitions"), [6, 4, 0, 2, 1]);
    assert_eq!(tally(&report, "recoveries"), [2, 2, 0, 0, 0]);
    assert_eq!(tally(&report, "artifacts"), [2, 2, 0, 1, 0]);
    assert_eq!(tally(&report, "events"), [1, 0, 0, 0, 1]);
    let why: Vec<&str> =
        report["remarks"].as_array().expect("remarks").iter().filter_map(|r| r["why"].as_str()).collect();
    assert!(why.iter().any(|w| w.contains("alias")) && why.iter().any(|w| w.contains("typed text")), "{why:?}");

    let known = experience(&mut client);
    let find = |label: &str| {
        known["transitions"]
            .as_array()
            .expect("rows")
            .iter()
            .find(|t| t["action"]["target"]["label"] == label)
            .unwrap_or_else(|| panic!("no {label}: {known}"))
            .clone()
    };
    let counts = |t: &Value| ["successCount", "verifiedCount", "failureCount"].map(|k| t[k].as_i64().expect("a count"));
    let wifi = find("Wi-Fi");
    assert_eq!(
        (counts(&wifi), wifi["matchScope"].as_str(), wifi["postActivity"].as_str()),
        ([4, 3, 1], Some("page"), Some("com.android.settings/.SubSettings"))
    );
    let bluetooth = find("Bluetooth");
    assert_eq!(
        (counts(&bluetooth), bluetooth["lastSuccessAt"].clone()),
        ([0, 0, 1], Value::Null),
        "a failed act earns no credit"
    );
    let causes: Vec<&str> =
        known["recoveries"].as_array().expect("rows").iter().filter_map(|r| r["failureCause"].as_str()).collect();
    assert!(causes.contains(&"REF_ALIAS_STALE") && causes.contains(&"DEVICE_UNREACHABLE"));
    let text = known.to_string();
    assert!(!text.contains("@n2") && !text.contains("hunter2"));

    let notes = client.ok("memory.search", json!({"topic": "nav/wifi"}));
    let chain: Vec<&str> =
        notes["notes"].as_array().expect("notes").iter().filter_map(|n| n["content"].as_str()).collect();
    assert_eq!((chain, notes["notes"][0]["session"].as_str()), (vec!["second", "first"], Some("wf-1")));
    // Imported notes are listed after notes that were saved here, as they are older.
    client.ok("memory.save", json!({"topic": "own", "content": "saved here"}));
    client.ok("memory.importAf", json!({"databaseFile": path}));
    assert_eq!(client.ok("memory.search", json!({}))["notes"][0]["topic"], "own");
    let artifacts = client.ok("artifact.list", json!({}));
    let status: Vec<&Value> = artifacts["artifacts"].as_array().expect("rows").iter().map(|a| &a["status"]).collect();
    assert_eq!(status, ["missing", "present"]);
}

fn experience(client: &mut Client) -> Value {
    client.ok(
        "memory.experience",
        json!({"app": "com.android.settings", "activity": "com.android.settings/.Settings", "pageFp": FINGERPRINT}),
    )
}

#[test]
fn second_import_adds_only_what_af_learned_since() {
    let (world, dir) = world_with_import_directory();
    let path = create_af_database(&dir);
    let files = || -> Vec<_> {
        std::fs::read_dir(&dir)
            .expect("reads")
            .flatten()
            .map(|e| (e.file_name(), std::fs::read(e.path()).expect("reads")))
            .collect()
    };
    let before = files();
    let mut client = world.client();
    client.ok("memory.importAf", json!({"databaseFile": path}));
    let known = experience(&mut client);
    let again = client.ok("memory.importAf", json!({"databaseFile": path}));
    assert_eq!(tally(&again, "notes"), [4, 0, 3, 1, 1]);
    assert_eq!(tally(&again, "transitions"), [6, 0, 4, 2, 1]);
    assert_eq!((tally(&again, "recoveries"), tally(&again, "artifacts")), ([2, 0, 2, 0, 0], [2, 0, 2, 1, 0]));
    assert_eq!(experience(&mut client), known);
    assert_eq!(files(), before, "the source is unchanged");

    // Only what `af` has learned since is added.
    Connection::open(&path)
        .expect("opens")
        .execute("UPDATE transitions SET success_count = 10 WHERE id = 1", [])
        .expect("updates");
    client.ok("memory.importAf", json!({"databaseFile": path}));
    let more = client.ok("memory.experience", json!({"pageFp": FINGERPRINT}));
    let wifi = more["transitions"]
        .as_array()
        .expect("rows")
        .iter()
        .find(|t| t["action"]["target"]["label"] == "Wi-Fi")
        .expect("the transition")
        .clone();
    assert_eq!(wifi["successCount"], 11);
}

#[test]
fn rebuilding_projections_keeps_imported_counters() {
    let (mut world, dir) = world_with_import_directory();
    let path = create_af_database(&dir);
    world.client().ok("memory.importAf", json!({"databaseFile": path}));
    world.daemon.stop();
    let c = Connection::open(world.dir().join("memory.db")).expect("opens");
    let rows = || {
        let mut statement = c
            .prepare(
                "SELECT uid, action_key, success_count, verified_count, failure_count FROM transitions ORDER BY uid",
            )
            .expect("prepares");
        let rows = statement
            .query_map([], |r| {
                Ok((
                    r.get::<_, String>(0)?,
                    r.get::<_, String>(1)?,
                    r.get::<_, i64>(2)?,
                    r.get::<_, i64>(3)?,
                    r.get::<_, i64>(4)?,
                ))
            })
            .expect("reads");
        rows.map(|r| r.expect("a row")).collect::<Vec<_>>()
    };
    let before = rows();
    assert_eq!(before.len(), 4);
    afd_experience::memory::rebuild::all(&c).expect("rebuilds");
    assert_eq!(rows(), before);
}

#[test]
fn settings_are_imported_with_the_token_but_without_the_database() {
    let phone = TestPhone::start();
    let url = phone.url();
    let world = World::bare(phone, "");
    let dir = world.dir().join("af");
    std::fs::create_dir(&dir).expect("creates the directory");
    create_af_database(&dir);
    let config = dir.join("config.toml");
    let text = format!(
        "[output]\ndefault = \"json\"\n[remote]\nurl = \"{url}\"\ntoken = \"{}\"\n[memory]\ndb = \"af.db\"\n[artifacts]\ndir = \"shots\"\n",
        afd_tests::phone::TOKEN
    );
    std::fs::write(&config, text).expect("writes");
    let afctl = |args: &[&str]| -> Value {
        let mut command = std::process::Command::new(programs::path("afctl"));
        command
            .env_clear()
            .env("HOME", world.dir())
            .env("AFD_SOCKET", world.socket())
            .args(args)
            .arg("--config")
            .arg(&config);
        let output = command.output().expect("runs");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
    };
    let report = afctl(&["import", "af", "--dry-run"]);
    assert_eq!((report["data"]["dryRun"].as_bool(), report["data"]["notes"]["added"].as_u64()), (Some(true), Some(3)));
    let mut client = world.client();
    assert_eq!(client.ok("device.list", json!({}))["devices"], json!([]));
    let report = afctl(&["import", "af"]);
    assert!(!report.to_string().contains(afd_tests::phone::TOKEN));
    let outcomes: Vec<(String, String)> = report["data"]["settings"]
        .as_array()
        .expect("settings")
        .iter()
        .map(|s| (s["key"].as_str().unwrap_or("").to_owned(), s["outcome"].as_str().unwrap_or("").to_owned()))
        .collect();
    let of = |key: &str| outcomes.iter().find(|(k, _)| k == key).map(|(_, o)| o.as_str());
    assert_eq!(
        (of("remote.url"), of("remote.token"), of("artifacts.dir"), of("output.default"), of("memory.db")),
        (Some("added"), Some("added"), Some("added"), Some("added"), Some("skipped"))
    );
    assert_eq!(client.ok("observe.top", json!({}))["device"], "default");
    assert_eq!(client.ok("config.get", json!({"key": "artifacts.dir"}))["value"], json!(dir.join("shots")));
    let again = afctl(&["import", "af"]);
    assert!(again["data"]["settings"].as_array().expect("settings").iter().all(|s| s["outcome"] != "added"), "{again}");
}

#[test]
fn files_that_are_not_af_databases_are_refused() {
    let (world, dir) = world_with_import_directory();
    let mut client = world.client();
    client.fails("memory.importAf", json!({}), "INVALID_PARAMS");
    client.fails("memory.importAf", json!({"databaseFile": "af.db"}), "INVALID_PARAMS");
    client.fails("memory.importAf", json!({"databaseFile": dir.join("none.db")}), "NOT_FOUND");
    let text = dir.join("text.db");
    std::fs::write(&text, "no database at all, but long enough".repeat(50)).expect("writes");
    client.fails("memory.importAf", json!({"databaseFile": text}), "CONFLICT");
    let old = dir.join("old.db");
    Connection::open(&old)
        .and_then(|c| c.execute_batch("CREATE TABLE memory_events (id INTEGER)"))
        .expect("creates a table");
    client.fails("memory.importAf", json!({"databaseFile": old}), "CONFLICT");
    let traces = dir.join("traces.db");
    Connection::open(&traces)
        .and_then(|c| c.execute_batch("CREATE TABLE traces (id INTEGER)"))
        .expect("creates a table");
    assert_eq!(tally(&client.ok("memory.importAf", json!({"databaseFile": traces})), "notes"), [0; 5]);
}

#[test]
fn imported_transitions_appear_as_hints() {
    let (world, dir) = world_with_import_directory();
    let path = create_af_database(&dir);
    let mut client = world.client();
    let fingerprint = client.ok("observe.page", json!({}))["page"]["fingerprint"].clone();
    let c = Connection::open(&path).expect("opens");
    c.execute("UPDATE transitions SET pre_page_fingerprint = ?1", [fingerprint.as_str().expect("a fingerprint")])
        .expect("updates");
    drop(c);
    client.ok("memory.importAf", json!({"databaseFile": path}));
    let page = client.ok("observe.page", json!({}));
    let texts: Vec<&str> = page["hints"].as_array().expect("hints").iter().filter_map(|h| h["text"].as_str()).collect();
    assert!(texts.iter().any(|t| t.starts_with("on a page with this key: tap \"Wi-Fi\": 4 of")), "{texts:?}");
}

#[test]
fn counters_of_two_af_databases_add_up() {
    let (world, dir) = world_with_import_directory();
    let other = world.dir().join("other");
    std::fs::create_dir(&other).expect("creates the directory");
    let (first, second) = (create_af_database(&dir), create_af_database(&other));
    Connection::open(&second)
        .expect("opens")
        .execute("UPDATE notes SET created_at = '2025-01-01T00:00:00+00:00'", [])
        .expect("updates");
    let mut client = world.client();
    let count = |client: &mut afd_tests::Client| {
        let known = client.ok("memory.experience", json!({"pageFp": FINGERPRINT}));
        let rows = known["transitions"].as_array().expect("rows");
        rows.iter().find(|t| t["action"]["target"]["label"] == "Wi-Fi").expect("the transition")["successCount"].clone()
    };
    for path in [&first, &second, &first, &second] {
        client.ok("memory.importAf", json!({"databaseFile": path}));
    }
    assert_eq!(count(&mut client), 8);
}
