//! Background tasks that panic: each is caught, counted and started again; the writer ends the daemon with a failure.
//!
//! The fault exists only in builds with debug assertions; without them there is nothing to test.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;

use afd_tests::{Client, Daemon, TestPhone, World, wait};
use serde_json::json;

use crate::framings::open;

struct Faulty {
    world: World,
    faults: PathBuf,
}

impl Faulty {
    fn new() -> Option<Self> {
        Self::with("")
    }

    fn with(settings: &str) -> Option<Self> {
        Self::asked(settings, None)
    }

    /// A daemon with settings, one of whose tasks is asked to panic before it starts.
    fn asked(settings: &str, task: Option<&str>) -> Option<Self> {
        if !cfg!(debug_assertions) {
            println!("left out: the programs have no faults to ask for");
            return None;
        }
        let mut world = World::with(TestPhone::start(), settings);
        let faults = world.dir().join("faults");
        std::fs::create_dir(&faults).expect("makes");
        if let Some(task) = task {
            std::fs::write(faults.join(task), "").expect("writes");
        }
        world.daemon.signal("TERM");
        world.daemon.wait();
        world.daemon = Daemon::start_with_env(world.dir(), &[("AFD_TEST_PANICS", faults.to_str().expect("text"))]);
        Some(Self { world, faults })
    }

    /// Asks a task to panic at its next step.
    fn ask(&self, task: &str) {
        std::fs::write(self.faults.join(task), "").expect("writes");
    }
}

pub fn restarts(client: &mut Client, task: &str) -> Option<u64> {
    let status = client.ok("daemon.status", json!({}));
    let entry = status["tasks"].as_array().expect("tasks").iter().find(|t| t["name"] == task)?.clone();
    (entry["state"] == "running").then(|| entry["restarts"].as_u64().expect("a number"))
}

#[test]
fn a_device_whose_task_panics_goes_on_and_keeps_its_queue() {
    let Some(faulty) = Faulty::new() else { return };
    let mut client = faulty.world.client();
    client.ok("observe.top", json!({}));
    faulty.ask("device:pixel");
    // The task panics before it takes the next call out of its queue.
    client.ok("observe.page", json!({"hints": false}));
    assert_eq!(restarts(&mut client, "device:pixel"), Some(1));
    client.ok("act.home", json!({}));
    assert!(faulty.world.daemon.log().contains("a test asked device:pixel to panic"));
}

#[test]
fn an_act_that_a_panic_cut_off_has_an_unknown_outcome_and_is_recorded() {
    let Some(faulty) = Faulty::new() else { return };
    let mut client = faulty.world.client();
    client.ok("observe.top", json!({}));
    faulty.ask("act");
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
fn jobs_readers_watchers_and_streams_go_on() {
    let Some(faulty) = Faulty::new() else { return };
    let world = &faulty.world;
    let mut client = world.client();
    faulty.ask("job:artifact-limits");
    let failed = client.ok("job.run", json!({"name": "artifact-limits"}));
    assert!(failed["lastError"].as_str().is_some_and(|e| e.contains("panic")), "{failed}");
    assert!(client.ok("job.run", json!({"name": "artifact-limits"}))["lastError"].is_null());

    faulty.ask("store-reader");
    for _ in 0..8 {
        client.ok("memory.log", json!({}));
    }
    assert!(!faulty.faults.join("store-reader").exists(), "it panicked, and others went on reading");

    faulty.ask("watch:pixel");
    client.ok("observe.wait", json!({"until": "settled"}));
    assert!(world.daemon.log().contains("a test asked watch:pixel to panic"));

    faulty.ask("settings-watcher");
    let config = world.dir().join("config.toml");
    let text = std::fs::read_to_string(&config).expect("reads");
    std::fs::write(&config, format!("{text}\n[limits]\nbatch = 7\n")).expect("writes");
    wait::until("the watcher to be back", || (restarts(&mut client, "settings-watcher") == Some(1)).then_some(()));
    std::fs::write(&config, format!("{text}\n[limits]\nbatch = 8\n")).expect("writes");
    wait::until("the change to count", || (client.ok("config.get", json!({"key": "limits.batch"}))["value"] == 8).then_some(()));

    client.ok("observe.screenshot", json!({}));
    faulty.ask("artifact-watcher");
    let file = client.ok("observe.screenshot", json!({"quality": 20}))["artifact"]["savedFile"].as_str().expect("a file").to_owned();
    std::fs::remove_file(&file).expect("removes");
    wait::until("the fault", || (!faulty.faults.join("artifact-watcher").exists()).then_some(()));
    wait::until("it to be counted", || (restarts(&mut client, "artifact-watcher") == Some(1)).then_some(()));
    let readers = (0..4).filter_map(|n| restarts(&mut client, &format!("store-reader-{n}"))).sum::<u64>();
    assert_eq!(readers, 1, "and so is the reader");
}

/// Before, a job whose task had panicked never ran again.
#[test]
fn a_job_that_panics_on_its_own_clock_runs_again() {
    let Some(faulty) = Faulty::with("\n[artifacts]\nmax_bytes = 4096\n") else { return };
    let mut client = faulty.world.client();
    let runs = |client: &mut Client| {
        let jobs = client.ok("job.list", json!({}));
        let job = jobs["jobs"].as_array().expect("jobs").iter().find(|j| j["name"] == "artifact-limits").expect("there").clone();
        job["runs"].as_u64().expect("a number")
    };
    faulty.ask("job:artifact-limits");
    // So much is written that the limits are looked at.
    client.ok("observe.screenshot", json!({}));
    wait::until("the job to be back", || (restarts(&mut client, "job:artifact-limits") == Some(1)).then_some(()));
    let before = runs(&mut client);
    client.ok("observe.screenshot", json!({"quality": 30}));
    wait::until("it to run again", || (runs(&mut client) > before).then_some(()));
}

#[test]
fn what_drops_tokenizers_is_started_again() {
    let Some(faulty) = Faulty::with("\n[conversation]\ntokenizer_idle_ms = 1\n") else { return };
    let mut client = faulty.world.client();
    faulty.ask("tokenizer-sweeper");
    let say = |client: &mut Client| client.ok("conversation.append", json!({"messages": [{"role": "user", "content": "some words"}]}));
    say(&mut client);
    let told = || faulty.world.daemon.log().contains("a test asked tokenizer-sweeper to panic").then_some(());
    wait::until("the fault", told);
    // Once all tables are dropped, it has ended by itself.
    wait::until("it to come to its end", || restarts(&mut client, "tokenizer-sweeper").is_none().then_some(()));
    say(&mut client);
}

#[test]
fn the_check_of_the_database_is_started_again() {
    let Some(faulty) = Faulty::asked("", Some("integrity-check")) else { return };
    let mut client = faulty.world.client();
    wait::until("the check to be back", || (restarts(&mut client, "integrity-check") == Some(1)).then_some(()));
}

#[test]
fn without_ears_for_signals_the_daemon_ends_and_says_why() {
    let Some(mut faulty) = Faulty::new() else { return };
    faulty.ask("signals");
    faulty.world.daemon.signal("HUP");
    assert!(!faulty.world.daemon.wait().success(), "its service manager is to start it again");
    assert!(faulty.world.daemon.log().contains("signals failed"));
}

#[test]
fn without_its_writer_the_daemon_ends_and_says_why() {
    let Some(mut faulty) = Faulty::new() else { return };
    let mut stream = open(&faulty.world);
    writeln!(stream, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": "daemon.version"})).expect("writes");
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("reads");
    faulty.ask("store-writer");
    let answer = faulty.world.client().call("memory.save", json!({"topic": "t", "content": "c"}));
    assert!(answer.is_err());
    assert!(!faulty.world.daemon.wait().success(), "its service manager is to start it again");
    assert!(faulty.world.daemon.log().contains("store-writer failed"));
    faulty.world.daemon = Daemon::start(faulty.world.dir());
    faulty.world.client().ok("memory.save", json!({"topic": "t", "content": "c"}));
}
