//! `afctl setup` on realistic settings files.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use afd_tests::programs;

/// A home directory and a project in it.
struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a directory");
        std::fs::create_dir_all(root.path().join("home/project")).expect("a directory");
        Self { root }
    }

    fn home(&self) -> PathBuf {
        self.root.path().canonicalize().expect("a path").join("home")
    }

    fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    fn setup(&self, args: &[&str]) -> Output {
        let mut command = Command::new(programs::path("afctl"));
        command.env_clear().env("HOME", self.home()).env("XDG_STATE_HOME", self.root.path().join("state"));
        command.env("PATH", "/usr/bin:/bin").current_dir(self.project());
        command.arg("setup").args(args).arg("--yes").output().expect("afctl runs")
    }

    fn write(&self, file: &Path, text: &str) {
        std::fs::create_dir_all(file.parent().expect("a directory")).expect("a directory");
        std::fs::write(file, text).expect("writes");
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Program, its settings file, the content of the file, and a part of the content after the setup.
const FILES: &[(&str, &str, &str, &str)] = &[
    ("codex", ".codex/config.toml", "mcp_servers = { foo = { command = \"y\" } }\n", "foo = { command = \"y\" }"),
    (
        "codex",
        ".codex/config.toml",
        "# c\nmodel=\"x\"\r\n\r\n[mcp_servers.foo]\r\ncommand=\"y\"\r\n",
        "model=\"x\"\r\n\r\n[mcp_servers.foo]\r\n",
    ),
    ("codex", ".codex/config.toml", "mcp_servers.foo.command = \"y\"", "[mcp_servers.afd]"),
    (
        "vscode",
        "project/.vscode/mcp.json",
        "{\n  // mine\n  \"servers\": {\n    \"notes\": { \"type\": \"http\" },\n  },\n}\n",
        "// mine",
    ),
    ("cursor", "project/.cursor/mcp.json", "\u{feff}{\"mcpServers\":{\"a\":{\"command\":\"x\"}}}", "\u{feff}{"),
    ("claude-code", "project/.mcp.json", "{\t\"mcpServers\": {}\n}", "{\t\"mcpServers\""),
    ("gemini-cli", "project/.gemini/settings.json", "{ // theme\n \"theme\": \"x\",\n}\n", "// theme"),
    (
        "windsurf",
        ".codeium/windsurf/mcp_config.json",
        "{\r\n  \"mcpServers\": {\r\n    \"b\": {}\r\n  }\r\n}\r\n",
        "\"b\": {},\r\n",
    ),
    ("zed", ".config/zed/settings.json", "// Zed\n{\n  \"context_servers\": {\n    // none\n  }\n}\n", "// none"),
    (
        "opencode",
        "project/opencode.jsonc",
        "{\n  \"mcp\": {\n    \"x\": {\"type\": \"local\"}, // x\n  },\n}\n",
        "\"type\": \"local\"",
    ),
    ("claude-desktop", ".config/Claude/claude_desktop_config.json", "{}\n", "mcpServers"),
    (
        "cline",
        ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        "{\n    \"mcpServers\": {}\n}",
        "\n        \"afd\": {",
    ),
];

#[test]
fn settings_are_edited_and_restored_to_the_byte() {
    for (program, file, before, kept) in FILES {
        let place = Place::new();
        let file = place.home().join(file);
        place.write(&file, before);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).expect("a mode");
        let done = place.setup(&[program]);
        assert!(done.status.success(), "{program}: {}", text(&done));
        let after = std::fs::read_to_string(&file).expect("reads");
        assert!(after.contains("afctl") && after.contains(kept), "{program}: {after}");
        assert_eq!(std::fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o640);
        let again = place.setup(&[program]);
        assert!(again.status.success() && text(&again).contains("already set up"), "{program}: {}", text(&again));
        let other = place.setup(&[program, "--toolsets", "testing,devices"]);
        assert!(
            other.status.success() && std::fs::read_to_string(&file).is_ok_and(|t| t.contains("testing,devices")),
            "{}",
            text(&other)
        );
        assert!(place.setup(&[program, "--undo"]).status.success());
        assert_eq!(std::fs::read_to_string(&file).as_deref().ok(), Some(*before), "{program}");
        assert!(text(&place.setup(&[program, "--undo"])).contains("nothing to undo"));
    }
}

/// Returns the files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("reads").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn each_program_is_set_up_where_there_is_no_file_yet() {
    let programs = [
        "claude-code",
        "claude-desktop",
        "cline",
        "codex",
        "cursor",
        "gemini-cli",
        "goose",
        "opencode",
        "vscode",
        "windsurf",
        "zed",
    ];
    for program in programs {
        let place = Place::new();
        let done = place.setup(&[program]);
        assert!(done.status.success(), "{program}: {}", text(&done));
        let made = files(&place.home());
        let settings = made
            .iter()
            .filter(|path| !path.ends_with("SKILL.md"))
            .map(|path| std::fs::read_to_string(path).expect("reads"));
        assert!(
            settings.into_iter().any(|text| text.contains("afctl") && text.contains("\"mcp\"")),
            "{program}: {made:?}"
        );
        assert!(text(&place.setup(&[program])).contains("already set up"), "{program}");
        assert_eq!(files(&place.home()), made, "{program}: a second setup changes nothing");
        assert!(place.setup(&[program, "--undo"]).status.success(), "{program}");
        assert_eq!(files(&place.home()), Vec::<PathBuf>::new(), "{program}");
    }
}

#[test]
fn undo_removes_what_setup_made_and_nothing_else() {
    let place = Place::new();
    let project = place.project();
    assert!(place.setup(&["claude-code"]).status.success());
    assert!(project.join(".mcp.json").is_file() && project.join(".claude/skills/afd/SKILL.md").is_file());
    assert!(place.setup(&["claude-code", "--undo"]).status.success());
    assert_eq!(std::fs::read_dir(&project).expect("reads").count(), 0, "files and directories are gone");
    // In a file that was changed since the setup, `--undo` removes only the entry.
    let file = project.join(".cursor/mcp.json");
    place.write(&file, "{\n  \"mcpServers\": {}\n}\n");
    assert!(place.setup(&["cursor"]).status.success());
    let changed =
        std::fs::read_to_string(&file).expect("reads").replace("\"mcpServers\"", "\"theme\": 1,\n  \"mcpServers\"");
    place.write(&file, &changed);
    assert!(place.setup(&["cursor", "--undo"]).status.success());
    let left = std::fs::read_to_string(&file).expect("reads");
    assert!(left.contains("theme") && left.contains("mcpServers") && !left.contains("afd"), "{left}");
    // An entry that setup did not write is kept.
    let own = "{\"mcpServers\": {\"afd\": {\"command\": \"mine\"}}}";
    place.write(&file, own);
    let refused = place.setup(&["cursor", "--undo"]);
    assert!(refused.status.code() == Some(1) && text(&refused).contains("by hand"), "{}", text(&refused));
    assert_eq!(std::fs::read_to_string(&file).expect("reads"), own);
}

#[test]
fn what_cannot_be_edited_safely_is_left_with_the_lines_to_add() {
    let files = [
        ("vscode", ".vscode/mcp.json", "{\"servers\": {}, \"servers\": {}}"),
        ("vscode", ".vscode/mcp.json", "{\"servers\": ["),
        ("codex", "../.codex/config.toml", "mcp_servers = 3\n"),
        ("goose", "../.config/goose/config.yaml", "extensions:\n  dev: # mine\n    enabled: true\n"),
    ];
    for (program, file, before) in files {
        let place = Place::new();
        let file = place.project().join(file);
        place.write(&file, before);
        let refused = place.setup(&[program]);
        assert_eq!(refused.status.code(), Some(1), "{program}: {}", text(&refused));
        assert!(text(&refused).contains("afctl") && text(&refused).contains("by hand"), "{}", text(&refused));
        assert_eq!(std::fs::read_to_string(&file).expect("reads"), before);
    }
}

#[test]
fn links_of_a_repository_are_not_followed_out_of_it() {
    let place = Place::new();
    let bashrc = place.home().join(".bashrc");
    place.write(&bashrc, "mine");
    std::fs::create_dir_all(place.project().join(".claude/skills/afd")).expect("a directory");
    symlink(&bashrc, place.project().join(".claude/skills/afd/SKILL.md")).expect("links");
    let refused = place.setup(&["claude-code"]);
    assert!(refused.status.code() == Some(1) && text(&refused).contains("leads out"), "{}", text(&refused));
    assert!(!place.project().join(".mcp.json").exists(), "nothing is half done");
    assert_eq!(std::fs::read_to_string(&bashrc).expect("reads"), "mine");
    // The user's own settings may be a link; the preview names the file that changes.
    let kept = place.home().join("dotfiles/codex.toml");
    place.write(&kept, "a = 1\n");
    std::fs::create_dir_all(place.home().join(".codex")).expect("a directory");
    symlink(&kept, place.home().join(".codex/config.toml")).expect("links");
    let done = place.setup(&["codex"]);
    assert!(done.status.success() && text(&done).contains(&kept.display().to_string()), "{}", text(&done));
    assert!(std::fs::read_to_string(&kept).is_ok_and(|text| text.contains("afd")));
    assert!(std::fs::symlink_metadata(place.home().join(".codex/config.toml")).expect("a link").is_symlink());
}
