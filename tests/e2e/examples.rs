//! The programs in `examples` work on a practice phone as their page describes.

use std::process::Command;

use afd_tests::endpoint::{Endpoint, Reply};
use afd_tests::site::TestSite;
use afd_tests::{TestPhone, World, docs, programs};
use serde_json::json;

use crate::clients::{compile_client, given, node, run};

/// Returns a command that runs an example like a user of this world, with the programs in `PATH`, after what the home
/// directory has.
fn of_world(world: &World, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let own = programs::path("afctl").parent().expect("a directory").to_owned();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([world.dir().to_owned(), own].into_iter().chain(std::env::split_paths(&others)))
        .expect("a path");
    let mut command = Command::new(program);
    command.env("PATH", path).env("HOME", world.dir()).env("AFD_SOCKET", world.socket()).current_dir(world.dir());
    command
}

fn python(world: &World, example: &str) -> Command {
    let mut command = of_world(world, given("AFD_PYTHON"));
    command.arg("-B").arg(docs::repository("examples/python").join(example));
    command.env("PYTHONPATH", docs::repository("client/python"));
    command
}

#[test]
fn smoke_test_reports_what_passed_and_what_failed() {
    let world = World::new();
    // Both runs begin in the same second. A child writes the program, because other tests may start processes while this
    // one has the file open, and a file that is open for writing cannot be executed.
    let write = r#"printf '#!/bin/sh\necho 1795791459\n' > date && chmod +x date"#;
    run(Command::new("sh").args(["-c", write]).current_dir(world.dir()));
    let smoke = || of_world(&world, docs::repository("examples/shell/smoke.sh"));
    run(smoke().arg("passed.xml"));
    let report = std::fs::read_to_string(world.dir().join("passed.xml")).expect("a report");
    assert!(report.contains(r#"tests="4" failures="0""#), "{report}");
    let failed = smoke().args(["failed.xml", "Zork"]).output().expect("runs");
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    assert_eq!(String::from_utf8_lossy(&failed.stdout), "failed: Zork can be changed\n");
    let report = std::fs::read_to_string(world.dir().join("failed.xml")).expect("a report");
    assert!(report.contains(r#"tests="4" failures="1""#), "{report}");
}

#[test]
#[ignore = "needs Python packages"]
fn second_run_follows_what_the_first_noted() {
    let world = World::new();
    assert_eq!(run(&mut python(&world, "remember.py")), "found: Display\n");
    assert_eq!(run(&mut python(&world, "remember.py")), "followed: Display\n");
}

#[test]
#[ignore = "needs Python packages"]
fn plugin_prints_events() {
    let world = World::new();
    let mut client = world.client();
    client.ok("act.tap", json!({"value": "Display"}));
    let printed = run(python(&world, "watch.py").arg("1"));
    assert!(printed.ends_with(" default pixel tap ok\n"), "{printed}");
}

/// Runs a TypeScript example with the typed client, and returns what it printed.
fn typescript(world: &World, example: &str) -> String {
    let modules = given("AFD_NODE_MODULES");
    compile_client(&modules, &world.dir().join("node_modules/afd-client/dist"));
    for (from, to) in [
        ("client/typescript/package.json", "node_modules/afd-client/package.json"),
        ("examples/typescript/package.json", "package.json"),
        (&format!("examples/typescript/{example}"), example),
    ] {
        std::fs::copy(docs::repository(from), world.dir().join(to)).expect("copies");
    }
    let mut command = node(&modules);
    command.current_dir(world.dir()).arg(example).env("AFD_SOCKET", world.socket());
    run(command.env("HOME", world.dir()))
}

/// Returns a world with a browser that shows the practice site.
fn with_site() -> (World, TestSite, tempfile::TempDir) {
    let (site, profile) = (TestSite::start(), tempfile::tempdir().expect("a directory"));
    let settings = format!(
        "[device.web]\nkind = \"browser\"\nurl = \"{}/\"\n[device.web.browser]\nprofile = {:?}\n",
        site.url(),
        profile.path()
    );
    (World::bare(TestPhone::start(), &settings), site, profile)
}

const BROWSED: &str = "page \"My account - Harbour Tea\" chromium\nreport.csv complete 60 bytes\n";

#[test]
#[ignore = "needs chromium and Python packages"]
fn a_script_browses() {
    let (world, _site, _profile) = with_site();
    assert_eq!(run(&mut python(&world, "browse.py")), BROWSED);
}

#[test]
#[ignore = "needs chromium and Node packages"]
fn a_typed_client_browses() {
    let (world, _site, _profile) = with_site();
    assert_eq!(typescript(&world, "browse.ts"), BROWSED);
}

#[test]
#[ignore = "needs Node packages"]
fn typed_client_taps() {
    let world = World::new();
    let printed = typescript(&world, "tap.ts");
    assert!(printed.starts_with("page \"Settings\"") && printed.contains("page \"Display\""), "{printed}");
}

#[test]
#[ignore = "needs Python packages"]
fn example_agent_of_the_docs_does_its_task() {
    let page = std::fs::read_to_string(docs::repository("docs/agents.md")).expect("reads");
    let example = docs::repository("examples/python/agent.py");
    let source = std::fs::read_to_string(&example).expect("reads");
    assert!(page.contains(&format!("```python\n{source}```")), "the page shows another agent");
    let world = World::new();
    let say = |step: serde_json::Value| Reply::Text(step.to_string());
    let model = Endpoint::start(vec![
        say(json!({"do": "tap", "label": "Zork"})),
        say(json!({"do": "tap", "label": "Display"})),
        say(json!({"do": "tap", "label": "Dark theme"})),
        say(json!({"do": "done", "answer": "it is on"})),
    ]);
    let mut command = python(&world, "agent.py");
    command
        .arg("Turn the dark theme on")
        .env("MODEL", "m")
        .env("MODEL_URL", format!("{}/chat/completions", model.url()));
    let printed = run(&mut command);
    assert_eq!(printed, "it is on\n");
    let told = model.requests().last().expect("a request").body["messages"].to_string();
    assert!(told.contains("TARGET_NOT_FOUND") && told.contains("Dark theme, on, ON"), "{told}");
}
