//! `afctl` starts the daemon where none runs, and tells why it cannot.

use std::path::Path;
use std::process::Stdio;

use afd_tests::{TestPhone, World, wait};
use serde_json::json;

use crate::command_line::{afctl, envelope, private_home};

/// A daemon whose starter has ended may wait for its parent.
fn is_zombie(pid: u64) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|s| s.contains(") Z "))
}

#[test]
fn another_database_is_a_conflict_that_names_both() {
    let world = World::new();
    let other = world.dir().join("other.db");
    let ask = |db: &Path| {
        envelope(&afctl(world.dir()).env("AFD_SOCKET", world.socket()).env("AF_DB", db).args(["observe", "top"]).output().expect("runs"))
    };
    let (answer, code) = ask(&other);
    assert_eq!((answer["error"]["code"].as_str(), code), (Some("CONFLICT"), 1));
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("memory.db") && message.contains("other.db"), "{message}");
    assert!(!other.exists());
    assert_eq!(ask(&world.dir().join("memory.db")).1, 0);
}

#[test]
fn the_daemon_is_started_when_none_runs_and_only_once() {
    let home = private_home();
    let phone = TestPhone::start();
    let callers: Vec<_> = (0..20)
        .map(|_| {
            let mut command = afctl(home.path());
            command.args(["observe", "top"]).env("AF_URL", phone.url()).env("AF_TOKEN", afd_tests::phone::TOKEN).stdout(Stdio::piped());
            command.spawn().expect("runs")
        })
        .collect();
    for caller in callers {
        let (answer, code) = envelope(&caller.wait_with_output().expect("ends"));
        assert_eq!((answer["status"].as_str(), code), (Some("ok"), 0), "{answer}");
    }
    let (status, _) = envelope(&afctl(home.path()).arg("status").output().expect("runs"));
    let pid = status["data"]["pid"].as_u64().expect("a pid");
    assert_eq!(status["data"]["database"], json!(home.path().join(".local/share/afd/memory.db")));
    let started =
        std::fs::read_to_string(home.path().join(".local/state/afd/afd.log")).expect("a log").matches("INFO afd::lifecycle: ready").count();
    assert_eq!(started, 1);
    let (answer, code) = envelope(&afctl(home.path()).args(["daemon", "shutdown"]).output().expect("runs"));
    assert_eq!((answer["status"].as_str(), code), (Some("ok"), 0));
    wait::until("the daemon to end", || (!Path::new(&format!("/proc/{pid}")).exists() || is_zombie(pid)).then_some(()));
    let (gone, code) = envelope(&afctl(home.path()).args(["daemon", "shutdown"]).output().expect("runs"));
    assert_eq!((gone["error"]["code"].as_str(), code), (Some("NO_DAEMON"), 3), "a shutdown starts nothing");
}

#[test]
fn a_failed_start_is_told() {
    let home = private_home();
    std::fs::create_dir_all(home.path().join(".config/afd")).expect("makes");
    std::fs::write(home.path().join(".config/afd/config.toml"), "[device.a]\nurl = 5\n").expect("writes");
    let (answer, code) = envelope(&afctl(home.path()).args(["observe", "top"]).output().expect("runs"));
    assert_eq!((answer["error"]["code"].as_str(), code), (Some("NO_DAEMON"), 3));
    assert!(answer["error"]["message"].as_str().is_some_and(|m| m.contains("line 2")), "{answer}");
}

/// Who exports the variables of `af` must not have its database opened as ours.
#[test]
fn a_database_of_af_is_not_taken_for_ours() {
    let home = private_home();
    let theirs = home.path().join("af.db");
    rusqlite::Connection::open(&theirs).and_then(|c| c.execute_batch("CREATE TABLE events (id INTEGER); CREATE TABLE notes (id INTEGER PRIMARY KEY, app TEXT, topic TEXT, content TEXT, session TEXT, created_at TEXT); INSERT INTO notes VALUES (1, 'a', 't', 'c', 's', '2026-05-01T10:00:00Z');")).expect("makes");
    let before = std::fs::read(&theirs).expect("reads");
    let call = |args: &[&str]| envelope(&afctl(home.path()).env("AF_DB", &theirs).args(args).output().expect("runs"));
    let (refused, code) = call(&["memory", "stats"]);
    assert_eq!(code, 3);
    assert!(refused["error"]["message"].as_str().is_some_and(|m| m.contains("import af")), "{refused}");
    let (report, code) = call(&["import", "af"]);
    assert_eq!((report["data"]["notes"]["added"].as_u64(), code), (Some(1), 0), "{report}");
    assert_eq!(std::fs::read(&theirs).expect("reads"), before);
    let (stopped, _) = envelope(&afctl(home.path()).args(["daemon", "shutdown"]).output().expect("runs"));
    assert_eq!(stopped["status"], "ok");
}
