//! README and the pages in `docs`: each command that they show works, and each link has a target.
//!
//! Blocks fenced as `sh` are run, page by page, in an empty home directory with a practice phone. Blocks that need a
//! build, a second terminal, a real phone or another service are fenced as `bash` and are not run. Blocks fenced as
//! `sh chromium` are run with a practice site instead of a phone.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use afd_tests::docs::repository;
use afd_tests::{daemon, programs};

use crate::command_line::{afctl, envelope, temporary_home};

/// Returns README, CONTRIBUTING and the pages of `docs`.
fn pages() -> Vec<PathBuf> {
    fn below(dir: &Path, out: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).expect("lists").flatten() {
            let path = entry.path();
            if path.is_dir() {
                below(&path, out);
            } else if path.extension().is_some_and(|e| e == "md") {
                out.push(path);
            }
        }
    }
    let mut pages = vec![repository("README.md"), repository("CONTRIBUTING.md")];
    below(&repository("docs"), &mut pages);
    pages
}

/// Returns the code blocks of a page with this language, joined.
fn blocks(page: &str, word: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for line in page.lines() {
        if let Some(named) = line.strip_prefix("```") {
            inside = !inside && named.trim() == word;
        } else if inside {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// Runs the commands of a page in an empty home directory, with a practice phone.
fn run(name: &str) {
    run_blocks(name, "sh", &["init", "practice"], "phonePid");
}

/// Runs the blocks of a page in a language, after `init`. `practice` is the field of its result with the process id of what
/// it started.
fn run_blocks(name: &str, language: &str, init: &[&str], practice: &str) {
    let page = std::fs::read_to_string(repository(name)).expect("reads");
    let script = blocks(&page, language);
    assert!(!script.is_empty(), "{name} shows no command");
    let home = temporary_home();
    let programs = programs::path("afctl").parent().expect("a directory").to_owned();
    let path = std::env::join_paths(
        std::iter::once(programs).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )
    .expect("a path");
    let (init, _) = envelope(&afctl(home.path()).args(init).output().expect("runs"));
    let phone = init["data"][practice].as_u64().and_then(|pid| u32::try_from(pid).ok()).expect("a practice phone");
    let work = home.path().join("work");
    std::fs::create_dir(&work).expect("a directory");
    // The environment of `afctl` above.
    let of_home = afctl(home.path());
    let mut shell = Command::new("sh");
    shell.env_clear().envs(of_home.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = shell
        .env("PATH", path)
        .args(["-eux", "-c", &script])
        .current_dir(&work)
        .stdin(Stdio::null())
        .output()
        .expect("runs");
    let (stopped, _) = envelope(&afctl(home.path()).args(["daemon", "shutdown"]).output().expect("runs"));
    daemon::send_signal(phone, "KILL");
    let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    let tail: Vec<&str> = said.lines().rev().take(24).collect();
    assert!(
        ran.status.success(),
        "{name}: {:?}\n{}",
        ran.status,
        tail.into_iter().rev().collect::<Vec<_>>().join("\n")
    );
    let ended = stopped["status"] == "ok" || stopped["error"]["code"] == "NO_DAEMON";
    assert!(ended, "{stopped}");
}

/// Defines a test for each page that shows commands.
macro_rules! run_pages {
    ($($test:ident: $page:literal,)*) => {
        const RUN: &[&str] = &[$($page),*];
        $(
            #[test]
            fn $test() {
                run($page);
            }
        )*
    };
}

run_pages! {
    readme_works: "README.md",
    getting_started_works: "docs/getting-started.md",
    agents_work: "docs/agents.md",
    testing_works: "docs/testing.md",
    memory_works: "docs/memory.md",
    operations_work: "docs/operations.md",
    settings_work: "docs/settings.md",
    protocol_works: "docs/protocol.md",
}

#[test]
#[ignore = "needs chromium"]
fn tours_of_the_browser_work() {
    for page in ["README.md", "docs/getting-started.md"] {
        run_blocks(page, "sh chromium", &["init", "browser", "practice"], "sitePid");
    }
}

#[test]
fn no_page_with_commands_is_left_out() {
    let root = repository(".");
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("reads");
        let name = page.strip_prefix(&root).unwrap_or(&page).to_string_lossy().replace("./", "");
        assert!(RUN.contains(&name.as_str()) || blocks(&text, "sh").is_empty(), "{name} is not run");
    }
}

/// Returns the anchor of a heading.
fn anchor(heading: &str) -> String {
    let kept = |c: char| (c.is_alphanumeric() || matches!(c, '-' | '_')).then_some(c);
    let text = heading.trim().to_lowercase();
    text.chars().filter_map(|c| if c == ' ' { Some('-') } else { kept(c) }).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut checked = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("reads");
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|t| !t.contains("://") && !t.contains(' ')) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let linked = if file.is_empty() { page.clone() } else { page.parent().expect("a directory").join(file) };
            assert!(linked.exists(), "{}: {target}", page.display());
            if !heading.is_empty() {
                let linked = std::fs::read_to_string(&linked).expect("a page");
                let mut headings = linked.lines().filter_map(|line| line.strip_prefix('#'));
                assert!(headings.any(|h| anchor(h.trim_start_matches('#')) == heading), "{}: {target}", page.display());
            }
            checked += 1;
        }
    }
    assert!(checked > 30, "only {checked} links were found");
}
