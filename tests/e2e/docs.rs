//! Documentation that is generated from the code, and the vocabulary of the project.

use std::path::Path;

use afd_tests::docs::{assert_page, method_reference, repository, with_section};
use afd_tests::imports;
use afd_tests::{World, clients};
use serde_json::json;

#[test]
fn method_reference_is_up_to_date() {
    let world = World::new();
    let document = world.client().ok("rpc.discover", json!({}));
    assert_page("proto/METHODS.md", &method_reference(&document));
}

#[test]
fn generated_clients_are_up_to_date() {
    let document = afd::rpc::document();
    assert_page("client/python/afd/api.py", &clients::python(&document));
    assert_page("client/typescript/src/api.ts", &clients::typescript(&document));
}

#[test]
fn settings_table_is_up_to_date() {
    let page = std::fs::read_to_string(repository("docs/settings.md")).expect("reads");
    assert_page("docs/settings.md", &with_section(&page, "settings", &afd_base::config::keys::markdown()));
}

/// Identifiers that must not come back; each has a standard name now.
const IDENTIFIERS: &[&str] = &[
    "Wish",
    "Filing",
    "Desk",
    "Aim",
    "Sought",
    "Comings",
    "Speaks",
    "Lookouts",
    "Acted",
    "Shelled",
    "Waited",
    "ScrolledTo",
    "Nonsense",
    "DeviceList_",
    "put_off",
    "come_back",
    "stood_still",
    "came_by_itself",
    "wordless",
    "take_like",
    "pictured",
    "take_up",
    "carry_out",
    "let_go",
];

/// Phrases that must not come back in docs, texts and comments.
const PHRASES: &[&str] = &[
    "after so long",
    "how somebody else goes on",
    "what is wrong",
    "what is to be done",
    "what was tested",
    "not well",
    "it could be nicer",
    "it is there",
    "take over what another tool",
    "answered 500 without",
    "it said no more",
    "mend the settings",
    "nothing but blanks",
    "somebody asked for it",
    "it is so:",
    "counts from the next start",
    "who owns the phone",
    "an answer carries",
    "a text that is one of its values",
    "a fault of the daemon",
    "others may enter",
    "something else than a socket",
    "have no text of their own: the label",
    "are merely put in order",
    "what cured which failure",
    "answered nonsense",
    "let go of",
    "so many",
    "as often as",
    "the most of",
    "what can be acted on",
    "the row that takes taps",
    "the end of a cable",
    "its cable",
    "design ",
    "seed 00",
    "the house",
    "a room ",
    "the rooms",
];

/// Returns the project's own source and documentation files.
fn sources(dir: &Path, out: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("lists").flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            sources(&path, out);
        } else if ["rs", "md", "toml", "service", "socket"].iter().any(|e| path.extension().is_some_and(|x| x == *e)) {
            out.push(path);
        }
    }
}

#[test]
fn project_speaks_the_vocabulary_of_the_field() {
    let mut files = Vec::new();
    sources(&repository("."), &mut files);
    assert!(files.len() > 300, "only {} files were found", files.len());
    let mut found = Vec::new();
    for file in files.iter().filter(|f| !f.ends_with("e2e/docs.rs")) {
        let text = std::fs::read_to_string(file).expect("reads");
        for (i, line) in text.lines().enumerate() {
            let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let identifier = words.filter(|w| IDENTIFIERS.contains(w)).map(str::to_owned);
            let lower = line.to_lowercase();
            let phrase = PHRASES.iter().filter(|p| lower.contains(**p)).map(|p| (*p).to_owned());
            found.extend(identifier.chain(phrase).map(|what| format!("{}:{}: {what}", file.display(), i + 1)));
        }
    }
    assert!(found.is_empty(), "{} places:\n{}", found.len(), found.join("\n"));
}

/// Returns the names of the project's crates that a crate depends on, except those of the wire contract and of sentence
/// models.
fn crates_used_by(manifest: &str) -> Vec<String> {
    let dependencies = manifest.split("\n[").find(|part| part.starts_with("dependencies]")).expect("dependencies");
    let names = dependencies.lines().filter_map(|line| line.split_once(['.', ' ']).map(|(name, _)| name));
    let ours = names.filter_map(|name| name.strip_prefix("afd-")).filter(|name| !["proto", "encoder"].contains(name));
    ours.map(str::to_owned).collect()
}

/// A crate can use only what its manifest allows, so the table in the architecture page must match the manifests.
#[test]
fn crates_use_what_the_architecture_says() {
    let text = std::fs::read_to_string(repository("docs/architecture.md")).expect("reads");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `afd")?.split_once("` | "));
    let mut checked = 0;
    for (name, rest) in rows {
        let listed = rest.split(" | ").next().expect("a column");
        let directory = name.strip_prefix('-').unwrap_or_default();
        let manifest = std::fs::read_to_string(repository("daemon").join(directory).join("Cargo.toml")).expect("reads");
        let mut used = crates_used_by(&manifest);
        used.sort();
        match listed {
            "all" => {
                assert_eq!(used.len(), 8, "{used:?}");
                assert!(
                    !manifest.contains("rusqlite"),
                    "use cases reach the database through the crates that own its tables"
                );
            }
            "none" => assert!(used.is_empty(), "{name}: {used:?}"),
            listed => {
                let mut listed: Vec<&str> = listed.split(", ").collect();
                listed.sort_unstable();
                assert_eq!(used, listed, "afd{name}");
            }
        }
        checked += 1;
    }
    assert_eq!(checked, 9);
}

/// Use cases pass on a connection of SQLite, so the compiler would allow them to run statements on it.
#[test]
fn use_cases_run_no_sql() {
    let mut files = Vec::new();
    sources(&repository("daemon/src"), &mut files);
    assert!(files.len() > 80, "only {} files were found", files.len());
    let calls = [
        ".execute(\"",
        ".execute_batch(",
        "c.prepare(",
        "connection.prepare(",
        ".prepare_cached(",
        ".query_row(",
        ".pragma_",
    ];
    let found = |file: &std::path::PathBuf| {
        let text = std::fs::read_to_string(file).expect("reads");
        calls.into_iter().find(|call| text.contains(call)).map(|call| format!("{}: {call}", file.display()))
    };
    assert_eq!(files.iter().filter_map(found).collect::<Vec<_>>(), Vec::<String>::new());
}

/// Files that import each other can only be understood, and changed, together.
#[test]
fn no_files_import_each_other_in_a_circle() {
    let daemon = ["base", "conversation", "device", "encoder", "experience", "recall", "screen", "store", "workspace"];
    let crates = daemon.map(|name| format!("daemon/{name}")).into_iter();
    for name in crates.chain(["daemon", "client", "client/link", "client/mcp", "proto"].map(str::to_owned)) {
        let imports = imports::of(&repository(&name).join("src"));
        assert!(name == "daemon/encoder" || imports.values().any(|to| !to.is_empty()), "{name}: no imports were found");
        assert_eq!(imports::circles(&imports), Vec::<Vec<String>>::new(), "{name}");
    }
}

#[test]
fn steps_of_the_justfile_are_those_of_ci() {
    let read = |name: &str| std::fs::read_to_string(repository(name)).expect("reads");
    let (ci, justfile) = (read(".ci/run").replace("step ", ""), read("justfile"));
    let mut recipe = "";
    let mut compared = 0;
    for line in justfile.lines() {
        match line.strip_prefix("    ") {
            Some(command) if ["check", "test", "doc"].contains(&recipe) => {
                assert!(ci.contains(command), "{command} is no step of .ci/run");
                compared += 1;
            }
            Some(_) => {}
            None => recipe = line.split([':', ' ']).next().unwrap_or_default(),
        }
    }
    assert_eq!(compared, 5);
}
