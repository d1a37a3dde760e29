//! Progress files, and resuming a session after the daemon was killed.

use std::process::Command;

use afd_tests::{Daemon, World};
use serde_json::{Value, json};

use super::work_in_session;

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

#[test]
fn session_is_resumed_after_the_daemon_was_killed() {
    let mut world = World::process();
    work_in_session(&mut world.client_for("qa"));
    world.daemon.signal("KILL");
    world.daemon.wait();
    world.daemon = Daemon::start(world.dir());
    let resumed = world.client_for("qa").ok("session.resume", json!({}));
    assert_eq!(resumed["reopened"], false);
    let prompt = resumed["resumptionPrompt"].as_str().expect("a prompt");
    for expected in [
        "look at the network page: passed (it opens)",
        "turn Wi-Fi on: failed (the switch does nothing)",
        "In progress: check the battery page",
        "Progress: the page is open",
        "[critical, open] The Wi-Fi switch does nothing",
        "[low, open] A typo in the battery page",
        "1. Finish the current task: check the battery page",
        "Start: read the about page",
        "Retry the failed task: turn Wi-Fi on",
        "device: pixel",
    ] {
        assert!(prompt.contains(expected), "{expected:?} is not in:\n{prompt}");
    }
    assert_eq!(resumed["taskQueue"][0]["description"], "read the about page");
    assert_eq!(resumed["progress"]["criticalFindings"], json!(["The Wi-Fi switch does nothing: it stays off"]));
}

#[test]
fn progress_files_are_updated_on_every_change_if_requested() {
    let world = World::new();
    let mut client = world.client_for("a/b c");
    let dir = world.dir().join("progress");
    client.ok("session.start", json!({"goal": "g", "autoProgress": true, "progressDir": dir}));
    client.ok("session.task.add", json!({"description": "first", "priority": 3}));
    let file = dir.join("progress-a%2Fb%20c.json");
    let written: Value = serde_json::from_str(&read(&file.display().to_string())).expect("JSON");
    assert_eq!(
        written["pendingTasks"][0],
        json!({"id": written["pendingTasks"][0]["id"], "description": "first", "priority": 3})
    );
    for key in [
        "sessionId",
        "agentVersion",
        "timestamp",
        "summary",
        "completedTasks",
        "currentTask",
        "bugs",
        "criticalFindings",
        "coverage",
        "nextSteps",
        "blockers",
        "lastCommit",
        "uncommittedChanges",
    ] {
        assert!(written.get(key).is_some(), "{key} is missing");
    }
    client.ok("session.bug.add", json!({"title": "bad", "severity": "high"}));
    let text = read(&file.with_extension("txt").display().to_string());
    for line in [
        "BUGS FOUND (1)",
        "[HIGH] bad",
        "PENDING TASKS (1)",
        "- first (Priority: 3)",
        "CURRENT TASK\n------------\nNone",
    ] {
        assert!(text.contains(line), "{line} is not in:\n{text}");
    }
    client.ok("session.progress", json!({"auto": false, "nextSteps": ["read the log"], "blockers": ["no network"]}));
    client.ok("session.task.add", json!({"description": "second"}));
    let still: Value = serde_json::from_str(&read(&file.display().to_string())).expect("JSON");
    assert_eq!(still["pendingTasks"].as_array().map(Vec::len), Some(1), "the file is no longer written");
    let state = world.dir().join(".local/state/afd/progress-a%2Fb%20c.json");
    let result = client.ok("session.progress", json!({}));
    assert_eq!(result["file"], json!(state), "the state directory is the default");
    assert_eq!(result["progress"]["nextSteps"][0], "read the log");
    assert!(read(result["reportFile"].as_str().expect("a file")).contains("BLOCKERS\n--------\n! no network"));
    let left: Vec<_> = std::fs::read_dir(&dir).expect("lists").collect();
    assert_eq!(left.len(), 2, "no temporary file is left");
    client.fails("session.progress", json!({"dir": "relative"}), "INVALID_PARAMS");
    client.fails("session.progress", json!({"dir": "/proc/nowhere"}), "INVALID_PARAMS");
}

/// Runs git in the working directory `repo` of a world.
fn git(world: &World, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.arg("-C").arg(world.dir().join("repo")).env("HOME", world.dir()).args(arguments);
    let done = command.output().expect("git");
    assert!(done.status.success(), "{done:?}");
}

/// Creates a repository with one commit and one untracked file.
fn repository(world: &World) -> std::path::PathBuf {
    let repo = world.dir().join("repo");
    std::fs::create_dir(&repo).expect("creates the directory");
    git(world, &["init", "-q"]);
    std::fs::write(repo.join("a.txt"), "a").expect("writes");
    git(world, &["add", "."]);
    git(world, &["-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-q", "-m", "Begin the work"]);
    std::fs::write(repo.join("b.txt"), "b").expect("writes");
    repo
}

#[test]
fn progress_includes_the_git_state_of_the_working_directory() {
    let world = World::new();
    let repo = repository(&world);
    let mut client = world.client_for("g");
    client.ok("session.start", json!({"directory": repo}));
    let result = client.ok("session.progress", json!({}));
    assert!(result["progress"]["lastCommit"].as_str().is_some_and(|c| c.ends_with(" Begin the work")), "{result}");
    assert_eq!(result["progress"]["uncommittedChanges"], json!(["?? b.txt"]));
    assert!(
        client.ok("session.resume", json!({}))["resumptionPrompt"]
            .as_str()
            .is_some_and(|p| p.contains("Begin the work"))
    );
    // A directory that is not a repository only causes a warning.
    let result = client.ok("session.progress", json!({"directory": "/"}));
    assert!(result["warnings"][0].as_str().is_some_and(|w| w.contains("the git state of /")), "{result}");
    assert_eq!(result["progress"]["lastCommit"], Value::Null);
}

#[test]
fn programs_that_the_configuration_of_a_repository_names_do_not_run() {
    let world = World::new();
    let repo = repository(&world);
    let git = |arguments: &[&str]| git(&world, arguments);
    let mut client = world.client_for("g");
    client.ok("session.start", json!({"directory": repo}));
    // A repository whose configuration names a program that git would run is not read.
    git(&["config", "filter.x.clean", "touch ran"]);
    let result = client.ok("session.progress", json!({}));
    assert!(
        result["warnings"][0].as_str().is_some_and(|w| w.contains("programs")) && !repo.join("ran").exists(),
        "{result}"
    );
    git(&["config", "--unset", "filter.x.clean"]);
    // The same applies to a filter in the configuration of a worktree, and to one hidden in a configuration that is too
    // long to be read.
    std::fs::write(repo.join(".gitattributes"), "* filter=x\n").expect("writes");
    std::fs::write(repo.join("a.txt"), "changed").expect("writes");
    let refuses = |client: &mut afd_tests::Client, what: &str| {
        let result = client.ok("session.progress", json!({}));
        assert!(result["warnings"][0].is_string() && !repo.join("ran").exists(), "{what}: {result}");
    };
    git(&["config", "extensions.worktreeConfig", "true"]);
    git(&["config", "--worktree", "filter.x.clean", "touch ran; cat"]);
    refuses(&mut client, "worktree");
    git(&["config", "--worktree", "--unset", "filter.x.clean"]);
    let config = std::fs::read_to_string(repo.join(".git/config")).expect("reads");
    let long = format!("{config}[filter \"x\"]\nclean = touch ran; cat\n{}", "smudge = cat\n".repeat(120_000));
    std::fs::write(repo.join(".git/config"), long).expect("writes");
    refuses(&mut client, "long");
    std::fs::write(repo.join(".git/config"), config).expect("writes");
    // Filters of a submodule do not run.
    git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "./", "sub"]);
    git(&["-C", "sub", "config", "filter.x.clean", "touch ../ran; cat"]);
    std::fs::write(repo.join("sub/.gitattributes"), "* filter=x\n").expect("writes");
    std::fs::write(repo.join("sub/a.txt"), "changed").expect("writes");
    let result = client.ok("session.progress", json!({}));
    assert!(result["progress"]["uncommittedChanges"].is_array() && !repo.join("ran").exists(), "{result}");
    // A missing object of a partial clone is not fetched.
    git(&["config", "extensions.partialClone", "origin"]);
    git(&["config", "remote.origin.promisor", "true"]);
    git(&["config", "remote.origin.url", "./nowhere"]);
    git(&["config", "remote.origin.uploadpack", "touch ran; false"]);
    let head = Command::new("git").arg("-C").arg(&repo).args(["rev-parse", "HEAD"]).output().expect("runs").stdout;
    let head = String::from_utf8(head).expect("text");
    std::fs::remove_file(repo.join(".git/objects").join(&head[..2]).join(head[2..].trim())).expect("removes");
    client.ok("session.progress", json!({}));
    assert!(!repo.join("ran").exists());
}

#[test]
fn progress_file_moves_a_session_to_another_database() {
    let world = World::new();
    let mut client = world.client_for("qa");
    work_in_session(&mut client);
    let file = client.ok("session.progress", json!({"dir": world.dir()}))["file"].clone();
    client.fails("session.resume", json!({"file": file}), "CONFLICT");
    let other = World::new();
    let mut elsewhere = other.client_for("moved");
    let resumed = elsewhere.ok("session.resume", json!({"file": file}));
    assert_eq!((&resumed["fromFile"], &resumed["session"]), (&json!(true), &json!("moved")));
    let prompt = resumed["resumptionPrompt"].as_str().expect("a prompt");
    assert!(
        prompt.contains("In progress: check the battery page")
            && prompt.contains("[critical, open] The Wi-Fi switch does nothing")
    );
    let shown = elsewhere.ok("session.show", json!({}));
    assert_eq!(shown["tasks"], json!({"pending": 1, "active": 1, "passed": 1, "failed": 1, "skipped": 0}));
    // Resolved bugs stay resolved, and a task can be blocked by one that comes later in the file.
    let mut first = world.client_for("b");
    let ids: Vec<i64> = ["a", "b", "c"]
        .map(|d| first.ok("session.task.add", json!({"description": d}))["id"].as_i64().expect("an id"))
        .into();
    first.ok("session.task.add", json!({"description": "last", "priority": 9, "blockedBy": [ids[2]]}));
    let bug = first.ok("session.bug.add", json!({"title": "gone", "severity": "critical"}))["bug"]["id"].clone();
    first.ok("session.bug.resolve", json!({"id": bug, "reason": "fixed"}));
    let file = first.ok("session.progress", json!({"dir": world.dir()}))["file"].clone();
    let mut third = other.client_for("third");
    let resumed = third.ok("session.resume", json!({"session": "third", "file": file}));
    assert_eq!(resumed["progress"]["criticalFindings"], json!([]));
    let queue = resumed["taskQueue"].as_array().expect("tasks");
    assert_eq!((&queue[3]["description"], &queue[3]["blockedBy"]), (&json!("last"), &json!([queue[2]["id"]])));
    let mut used = other.client_for("used");
    used.ok("session.task.add", json!({"description": "mine"}));
    used.fails("session.resume", json!({"session": "used", "file": file}), "CONFLICT");
    let bad = other.dir().join("bad.json");
    std::fs::write(&bad, r#"{"sessionId": 5}"#).expect("writes");
    let refused = elsewhere.fails("session.resume", json!({"session": "new", "file": bad}), "INVALID_PARAMS");
    assert!(refused.message.contains("sessionId"), "{}", refused.message);
}

#[test]
fn progress_file_with_the_published_members_alone_is_accepted() {
    let world = World::new();
    let file = world.dir().join("progress-checkout.json");
    let published = json!({
        "sessionId": "checkout", "agentVersion": "1.0.0", "timestamp": "2026-03-01T10:00:00.000Z", "summary": "half done",
        "completedTasks": [{"id": "t1", "description": "open the cart", "status": "passed", "summary": "it opens",
                            "completedAt": "2026-03-01T09:30:00.000Z"}],
        "currentTask": {"id": "t2", "description": "pay by card", "startedAt": "2026-03-01T09:40:00.000Z", "progress": "card typed",
                        "lastAction": "click pay"},
        "pendingTasks": [{"id": "t3", "description": "pay by voucher", "priority": 1, "blockedBy": ["t2"]}],
        "bugs": [{"title": "The total is wrong", "severity": "critical"}], "criticalFindings": ["The total is wrong"],
        "coverage": {"pagesVisited": ["/cart", "/pay"], "elementsTestedCount": 7, "coveragePercent": 41.5},
        "nextSteps": ["look at the log"], "blockers": [], "lastCommit": "abc123 start", "uncommittedChanges": []
    });
    std::fs::write(&file, published.to_string()).expect("writes");
    let mut client = world.client_for("checkout");
    let resumed = client.ok("session.resume", json!({"file": file}));
    assert!(
        resumed["resumptionPrompt"]
            .as_str()
            .is_some_and(|p| p.contains("pay by card") && p.contains("The total is wrong")),
        "{resumed}"
    );
    let shown = client.ok("session.show", json!({}));
    assert_eq!(shown["tasks"], json!({"pending": 1, "active": 1, "passed": 1, "failed": 0, "skipped": 0}));
    assert_eq!((&shown["bugs"]["open"], &shown["nextSteps"][0]), (&json!(1), &json!("look at the log")), "{shown}");
    let pages: Vec<&str> =
        shown["pages"].as_array().expect("pages").iter().filter_map(|p| p["name"].as_str()).collect();
    assert_eq!(pages, ["/cart", "/pay"], "{shown}");
}
