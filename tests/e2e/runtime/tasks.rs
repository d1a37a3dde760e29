//! Panics of background tasks: each is caught and counted, and the task is restarted. Without the store writer or the
//! signal handler the daemon exits with a failure instead.
//!
//! Panics can be injected only into builds with debug assertions; without them these tests are left out.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;

use afd_tests::{Client, Daemon, TestPhone, World, wait};
use serde_json::json;

use crate::framings::open;

/// A world whose daemon panics on request.
struct FaultyWorld {
    world: World,
    faults: PathBuf,
}

impl FaultyWorld {
    fn new() -> Self {
        Self::with("")
    }

    fn with(settings: &str) -> Self {
        Self::with_initial_panic(settings, None)
    }

    /// Starts a daemon with these settings; `task`, if any, panics at its first step.
    fn with_initial_panic(settings: &str, task: Option<&str>) -> Self {
        let mut world = World::with_process(TestPhone::start(), settings);
        let faults = world.dir().join("faults");
        std::fs::create_dir(&faults).expect("creates the directory");
        if let Some(task) = task {
            std::fs::write(faults.join(task), "").expect("writes");
        }
        world.daemon.stop();
        world.daemon = Daemon::start_with_env(world.dir(), &[("AFD_TEST_PANICS", faults.to_str().expect("text"))]);
        Self { world, faults }
    }

    /// Makes a task panic at its next step.
    fn inject_panic(&self, task: &str) {
        std::fs::write(self.faults.join(task), "").expect("writes");
    }
}

/// Returns how often a task was restarted, or `None` if it is not running.
pub fn restarts(client: &mut Client, task: &str) -> Option<u64> {
    let status = client.ok("daemon.status", json!({}));
    let entry = status["tasks"].as_array().expect("tasks").iter().find(|t| t["name"] == task)?.clone();
    (entry["state"] == "running").then(|| entry["restarts"].as_u64().expect("a number"))
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "needs debug assertions")]
fn device_task_survives_a_panic_and_keeps_its_queue() {
    let faulty = FaultyWorld::new();
    let mut client = faulty.world.client();
    client.ok("observe.top", json!({}));
    faulty.inject_panic("device:pixel");
    // The task panics before it takes the next call out of its queue.
    client.ok("observe.page", json!({"hints": false}));
    assert_eq!(restarts(&mut client, "device:pixel"), Some(1));
    client.ok("act.home", json!({}));
    assert!(faulty.world.daemon.log().contains("a test asked device:pixel to panic"));
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "needs debug assertions")]
fn act_interrupted_by_a_panic_is_recorded_as_unknown() {
    let faulty = FaultyWorld::new();
    let mut client = faulty.world.client();
    client.ok("observe.top", json!({}));
    faulty.inject_panic("act");
    let error = client.fails("act.home", json!({"requestKey": "k"}), "OUTCOME_UNKNOWN");
    assert!(error.hint.is_some());
    assert_eq!(faulty.world.phone.hits("home").len(), 1);
    let log = client.ok("memory.log", json!({}));
    assert_eq!((log["events"][0]["op"].as_str(), log["events"][0]["status"].as_str()), (Some("home"), Some("unknown")));
    client.fails("act.home", json!({"requestKey": "k"}), "OUTCOME_UNKNOWN");
    client.ok("act.back", json!({}));
    assert_eq!(faulty.world.phone.hits("home").len(), 1, "not sent again");
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "needs debug assertions")]
fn answer_of_the_device_outlives_a_panic_that_comes_after_it() {
    let faulty = FaultyWorld::new();
    let mut client = faulty.world.client();
    client.ok("observe.top", json!({}));
    faulty.inject_panic("answered");
    client.ok("act.home", json!({"requestKey": "k"}));
    assert_eq!(client.ok("act.home", json!({"requestKey": "k"}))["replayed"], true);
    faulty.inject_panic("look-after-act");
    let acted = client.ok("act.back", json!({"then": "outline"}));
    assert!(acted["look"].is_null(), "{acted}");
    let log = client.ok("memory.log", json!({}));
    for (i, op) in ["back", "home"].into_iter().enumerate() {
        assert_eq!(
            (log["events"][i]["op"].as_str(), log["events"][i]["status"].as_str()),
            (Some(op), Some("ok")),
            "{log}"
        );
    }
    assert_eq!((faulty.world.phone.hits("home").len(), faulty.world.phone.hits("back").len()), (1, 1));
}

/// A closed, full or unread standard error changes neither the result of actions nor the shutdown.
#[test]
fn log_that_cannot_be_written_fails_and_holds_up_nothing() {
    let mut world = World::with_process(TestPhone::start(), "");
    world.daemon.stop();
    let pipe = world.dir().join("log-pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    // Open the pipe for reading and writing, so that opening does not block although nobody reads it.
    let unread = format!("2<>{}", pipe.display());
    for redirection in ["2>&-", "2>/dev/full", &unread] {
        world.daemon = Daemon::start_with_stderr(world.dir(), redirection);
        let mut client = world.client();
        // More lines than a pipe holds.
        for _ in 0..120 {
            client.ok("act.home", json!({}));
        }
        let log = client.ok("memory.log", json!({"limit": 1}));
        assert_eq!(log["events"][0]["status"], "ok", "{redirection}");
        world.daemon.stop();
    }
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "needs debug assertions")]
fn jobs_readers_watchers_and_streams_survive_panics() {
    let faulty = FaultyWorld::new();
    let world = &faulty.world;
    let mut client = world.client();
    faulty.inject_panic("job:artifact-limits");
    let failed = client.ok("job.run", json!({"name": "artifact-limits"}));
    assert!(failed["lastError"].as_str().is_some_and(|e| e.contains("panic")), "{failed}");
    assert!(client.ok("job.run", json!({"name": "artifact-limits"}))["lastError"].is_null());

    faulty.inject_panic("store-reader");
    for _ in 0..8 {
        client.ok("memory.log", json!({}));
    }
    assert!(!faulty.faults.join("store-reader").exists(), "a reader panicked, and the others continued");

    faulty.inject_panic("watch:pixel");
    client.ok("observe.wait", json!({"until": "settled"}));
    assert!(world.daemon.log().contains("a test asked watch:pixel to panic"));

    faulty.inject_panic("settings-watcher");
    let config = world.dir().join("config.toml");
    let text = std::fs::read_to_string(&config).expect("reads");
    std::fs::write(&config, format!("{text}\n[limits]\nbatch = 7\n")).expect("writes");
    wait::until("the watcher to be restarted", || (restarts(&mut client, "settings-watcher") == Some(1)).then_some(()));
    std::fs::write(&config, format!("{text}\n[limits]\nbatch = 8\n")).expect("writes");
    wait::until("the change to take effect", || {
        (client.ok("config.get", json!({"key": "limits.batch"}))["value"] == 8).then_some(())
    });

    client.ok("observe.screenshot", json!({}));
    faulty.inject_panic("artifact-watcher");
    let file = client.ok("observe.screenshot", json!({"quality": 20}))["artifact"]["savedFile"]
        .as_str()
        .expect("a file")
        .to_owned();
    std::fs::remove_file(&file).expect("removes");
    wait::until("the panic", || (!faulty.faults.join("artifact-watcher").exists()).then_some(()));
    wait::until("the restart to be counted", || (restarts(&mut client, "artifact-watcher") == Some(1)).then_some(()));
    let readers = (0..4).filter_map(|n| restarts(&mut client, &format!("store-reader-{n}"))).sum::<u64>();
    assert_eq!(readers, 1, "the restart of the reader is counted, too");
}

/// Regression: a job whose task had panicked never ran again.
#[test]
#[cfg_attr(not(debug_assertions), ignore = "needs debug assertions")]
fn scheduled_job_runs_again_after_a_panic() {
    let faulty = FaultyWorld::with("\n[artifacts]\nmax_bytes = 4096\n");
    let mut client = faulty.world.client();
    let runs = |client: &mut Client| {
        let jobs = client.ok("job.list", json!({}));
        let job = jobs["jobs"]
            .as_array()
            .expect("jobs")
            .iter()
            .find(|j| j["name"] == "artifact-limits")
            .expect("the job")
            .clone();
        job["runs"].as_u64().expect("a number")
    };
    faulty.inject_panic("job:artifact-limits");
    // Exceeds `max_bytes`, which triggers the job.
    client.ok("observe.screenshot", json!({}));
    wait::until("the job to be restarted", || (restarts(&mut client, "job:artifact-limits") == Some(1)).then_some(()));
    let before = runs(&mut client);
    client.ok("observe.screenshot", json!({"quality": 30}));
    wait::until("the job to run again", || (runs(&mut client) > before).then_some(()));
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "needs debug assertions")]
fn tokenizer_sweeper_is_restarted_after_a_panic() {
    let faulty = FaultyWorld::with("\n[conversation]\ntokenizer_idle_ms = 1\n");
    let mut client = faulty.world.client();
    faulty.inject_panic("tokenizer-sweeper");
    let append_message = |client: &mut Client| {
        client.ok("conversation.append", json!({"messages": [{"role": "user", "content": "some words"}]}))
    };
    append_message(&mut client);
    let panicked = || faulty.world.daemon.log().contains("a test asked tokenizer-sweeper to panic").then_some(());
    wait::until("the panic", panicked);
    // Once all tables are dropped, the task ends by itself.
    wait::until("the task to end", || restarts(&mut client, "tokenizer-sweeper").is_none().then_some(()));
    append_message(&mut client);
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "needs debug assertions")]
fn integrity_check_is_restarted_after_a_panic() {
    let faulty = FaultyWorld::with_initial_panic("", Some("integrity-check"));
    let mut client = faulty.world.client();
    wait::until("the check to be restarted", || (restarts(&mut client, "integrity-check") == Some(1)).then_some(()));
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "needs debug assertions")]
fn panic_of_the_signal_handler_stops_the_daemon() {
    let mut faulty = FaultyWorld::new();
    faulty.inject_panic("signals");
    faulty.world.daemon.signal("HUP");
    assert!(!faulty.world.daemon.wait().success(), "the failure makes the service manager restart it");
    assert!(faulty.world.daemon.log().contains("signals failed"));
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "needs debug assertions")]
fn panic_of_the_store_writer_stops_the_daemon() {
    let mut faulty = FaultyWorld::new();
    let mut stream = open(&faulty.world);
    writeln!(stream, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": "daemon.version"})).expect("writes");
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("reads");
    faulty.inject_panic("store-writer");
    let response = faulty.world.client().call("memory.save", json!({"topic": "t", "content": "c"}));
    assert!(response.is_err());
    assert!(!faulty.world.daemon.wait().success(), "the failure makes the service manager restart it");
    assert!(faulty.world.daemon.log().contains("store-writer failed"));
    faulty.world.daemon = Daemon::start(faulty.world.dir());
    faulty.world.client().ok("memory.save", json!({"topic": "t", "content": "c"}));
}
