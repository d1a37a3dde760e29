//! `afctl` starts the daemon if none is running, and reports why it cannot.

use std::path::Path;
use std::process::Stdio;

use afd_tests::{TestPhone, World, wait};
use serde_json::{Value, json};

use crate::command_line::{afctl, envelope, temporary_home};

/// Returns whether a process has exited but was not reaped yet, as can happen to a daemon whose starter has exited.
fn is_zombie(pid: u64) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|s| s.contains(") Z "))
}

#[test]
fn different_database_is_a_conflict_that_names_both() {
    let world = World::new();
    let other = world.dir().join("other.db");
    let observe_with = |db: &Path| {
        envelope(
            &afctl(world.dir())
                .env("AFD_SOCKET", world.socket())
                .env("AF_DB", db)
                .args(["observe", "top"])
                .output()
                .expect("runs"),
        )
    };
    let (response, code) = observe_with(&other);
    assert_eq!((response["error"]["code"].as_str(), code), (Some("CONFLICT"), 1));
    let message = response["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("memory.db") && message.contains("other.db"), "{message}");
    assert!(!other.exists());
    assert_eq!(observe_with(&world.dir().join("memory.db")).1, 0);
}

#[test]
fn concurrent_commands_start_the_daemon_once() {
    let home = temporary_home();
    let phone = TestPhone::start();
    let callers: Vec<_> = (0..20)
        .map(|_| {
            let mut command = afctl(home.path());
            command
                .args(["observe", "top"])
                .env("AF_URL", phone.url())
                .env("AF_TOKEN", afd_tests::phone::TOKEN)
                .stdout(Stdio::piped());
            command.spawn().expect("runs")
        })
        .collect();
    for caller in callers {
        let (response, code) = envelope(&caller.wait_with_output().expect("exits"));
        assert_eq!((response["status"].as_str(), code), (Some("ok"), 0), "{response}");
    }
    let (status, _) = envelope(&afctl(home.path()).arg("status").output().expect("runs"));
    let pid = status["data"]["pid"].as_u64().expect("a pid");
    assert_eq!(status["data"]["database"], json!(home.path().join(".local/share/afd/memory.db")));
    let started = std::fs::read_to_string(home.path().join(".local/state/afd/afd.log"))
        .expect("a log")
        .matches("INFO afd::lifecycle: ready")
        .count();
    assert_eq!(started, 1);
    let (response, code) = envelope(&afctl(home.path()).args(["daemon", "shutdown"]).output().expect("runs"));
    assert_eq!((response["status"].as_str(), code), (Some("ok"), 0));
    wait::until("the daemon to exit", || {
        (!Path::new(&format!("/proc/{pid}")).exists() || is_zombie(pid)).then_some(())
    });
    let (gone, code) = envelope(&afctl(home.path()).args(["daemon", "shutdown"]).output().expect("runs"));
    assert_eq!((gone["error"]["code"].as_str(), code), (Some("NO_DAEMON"), 3), "a shutdown does not start a daemon");
}

#[test]
fn failed_start_is_reported() {
    let home = temporary_home();
    std::fs::create_dir_all(home.path().join(".config/afd")).expect("creates the directory");
    std::fs::write(home.path().join(".config/afd/config.toml"), "[device.a]\nurl = 5\n").expect("writes");
    let (response, code) = envelope(&afctl(home.path()).args(["observe", "top"]).output().expect("runs"));
    assert_eq!((response["error"]["code"].as_str(), code), (Some("NO_DAEMON"), 3));
    assert!(response["error"]["message"].as_str().is_some_and(|m| m.contains("line 2")), "{response}");
}

/// The database of `af`, set by its environment variable, must not be opened as the daemon's own.
#[test]
fn database_of_af_is_not_used_as_the_daemons_own() {
    let home = temporary_home();
    let af_database = home.path().join("af.db");
    let schema = "CREATE TABLE events (id INTEGER);
        CREATE TABLE notes (id INTEGER PRIMARY KEY, app TEXT, topic TEXT, content TEXT, session TEXT, created_at TEXT);
        INSERT INTO notes VALUES (1, 'a', 't', 'c', 's', '2026-05-01T10:00:00Z');";
    rusqlite::Connection::open(&af_database).and_then(|c| c.execute_batch(schema)).expect("creates the database");
    let before = std::fs::read(&af_database).expect("reads");
    let call =
        |args: &[&str]| envelope(&afctl(home.path()).env("AF_DB", &af_database).args(args).output().expect("runs"));
    let (refused, code) = call(&["memory", "stats"]);
    assert_eq!(code, 3);
    assert!(refused["error"]["message"].as_str().is_some_and(|m| m.contains("import af")), "{refused}");
    let (report, code) = call(&["import", "af"]);
    assert_eq!((report["data"]["notes"]["added"].as_u64(), code), (Some(1), 0), "{report}");
    assert_eq!(std::fs::read(&af_database).expect("reads"), before);
    let (stopped, _) = envelope(&afctl(home.path()).args(["daemon", "shutdown"]).output().expect("runs"));
    assert_eq!(stopped["status"], "ok");
}

/// Regression: with the database given, the first command after a kill failed in half of the cases.
#[test]
fn no_safe_call_is_lost_when_the_daemon_is_killed_again_and_again() {
    let home = temporary_home();
    let database = home.path().join("named.db");
    let run = |args: &[&str]| envelope(&afctl(home.path()).env("AF_DB", &database).args(args).output().expect("runs"));
    assert_eq!(run(&["memory", "save", "--topic", "t", "--content", "c"]).1, 0);
    let done = std::sync::atomic::AtomicBool::new(false);
    let lost: Vec<Value> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut lost = Vec::new();
                    while !done.load(std::sync::atomic::Ordering::Relaxed) {
                        let (found, code) = run(&["memory", "search"]);
                        if code != 0 {
                            lost.push(found);
                        }
                    }
                    lost
                })
            })
            .collect();
        for _ in 0..8 {
            let status = afd_tests::wait::until("a daemon", || Some(run(&["status"])).filter(|(_, code)| *code == 0)).0;
            let pid = status["data"]["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()).expect("a process");
            afd_tests::daemon::send_signal(pid, "KILL");
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        callers.into_iter().flat_map(|caller| caller.join().expect("does not panic")).collect()
    });
    run(&["daemon", "shutdown"]);
    assert!(lost.is_empty(), "{lost:?}");
}

#[test]
fn daemon_is_found_by_its_memory() {
    let home = temporary_home();
    let elsewhere = home.path().join("elsewhere");
    std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), 0o700).create(&elsewhere).expect("creates");
    let run = |args: &[&str], runtime: Option<&Path>| {
        let mut command = afctl(home.path());
        if let Some(runtime) = runtime {
            command.env("XDG_RUNTIME_DIR", runtime);
        }
        envelope(&command.args(args).output().expect("runs"))
    };
    assert_eq!(run(&["memory", "save", "--topic", "t", "--content", "c"], None).1, 0);
    let pid = run(&["status"], None).0["data"]["pid"].clone();
    // As from cron or ssh, with a different runtime directory.
    let (found, code) = run(&["memory", "search"], Some(&elsewhere));
    assert_eq!((found["data"]["notes"].as_array().map(Vec::len), code), (Some(1), 0), "{found}");
    assert_eq!(run(&["status"], Some(&elsewhere)).0["data"]["pid"], pid);
    // An explicit socket is used as given.
    let named = elsewhere.join("named.sock");
    let (refused, code) = run(&["--socket", named.to_str().expect("text"), "status"], Some(&elsewhere));
    assert_eq!(code, 3, "{refused}");
    assert_eq!(run(&["daemon", "shutdown"], Some(&elsewhere)).1, 0);
    assert_eq!(run(&["status"], None).1, 3, "it was this daemon that stopped");
}

#[test]
#[ignore = "needs another user"]
fn without_a_home_directory_nothing_is_read_or_written() {
    let stranger = || {
        let mut command = std::process::Command::new("setpriv");
        command
            .args(["--reuid", "23457", "--regid", "23457", "--clear-groups"])
            .arg(afd_tests::programs::path("afctl"))
            .env_clear();
        command
    };
    let home = temporary_home();
    let temporary = home.path().join("tmp");
    std::fs::create_dir_all(temporary.join(".config/afd")).expect("creates");
    std::fs::write(temporary.join(".config/afd/config.toml"), "[visual]\ndetector = \"/evil\"\n").expect("writes");
    let mut command = stranger();
    command.args(["-o", "json", "config", "get", "visual.detector"]).env("TMPDIR", &temporary);
    let (refused, code) = envelope(&command.output().expect("runs"));
    assert_eq!((refused["error"]["code"].as_str(), code), (Some("INVALID_PARAMS"), 2), "{refused}");
    assert!(refused["error"]["message"].as_str().is_some_and(|m| m.contains("HOME")), "{refused}");
}
