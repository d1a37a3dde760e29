//! `afctl setup`: adds afd to the configuration of an agent's program, with a short skill where it knows skills. Shows what it would
//! write, and writes it after a yes. All else in a file is kept as it is, and `--undo` takes back what was added.

mod edit;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, FromArgMatches, ValueEnum};
use serde_json::json;

use crate::ask;
use crate::options::Context;
use crate::outcome::{FAILED, Failure, Outcome, USAGE};
use crate::output::print;

/// What an agent should know, for programs that load skills.
const SKILL: &str = include_str!("skill.md");

/// Programs that can be set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Program {
    /// Claude Code: .mcp.json and a skill in this directory
    ClaudeCode,
    /// Codex: ~/.codex/config.toml
    Codex,
    /// Cursor: .cursor/mcp.json in this directory
    Cursor,
    /// VS Code: .vscode/mcp.json in this directory
    #[value(name = "vscode")]
    VsCode,
}

/// Options of `setup`.
#[derive(Debug, Args)]
pub struct Setup {
    /// Program to set up
    #[arg(value_enum)]
    program: Program,
    /// Write without asking
    #[arg(long)]
    yes: bool,
    /// Remove what an earlier setup added
    #[arg(long)]
    undo: bool,
}

/// A file to be written; without content it is removed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Change {
    file: PathBuf,
    content: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// If the arguments are invalid. A file that cannot be read or written is printed as a failure.
pub fn run(matches: &ArgMatches, context: &Context) -> Result<u8, clap::Error> {
    let setup = Setup::from_arg_matches(matches)?;
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let done = std::env::current_dir()
        .map_err(|e| e.to_string())
        .and_then(|here| changes(&setup, &here, &home, &command_path()))
        .and_then(|changes| apply(&setup, &changes));
    let failure = match done {
        Ok(true) => return Ok(0),
        Ok(false) => Failure::new("INVALID_PARAMS", "nothing was written", USAGE).with_hint("repeat the command with --yes to write it"),
        Err(error) => Failure::new("INTERNAL", error, FAILED),
    };
    let outcome = Outcome::failed("setup", "write", failure);
    print(&outcome, context.global.output);
    Ok(outcome.exit())
}

/// Returns how to call this program: by its name if it is found in PATH, else by its path.
fn command_path() -> String {
    let own = std::env::current_exe().ok().and_then(|p| p.canonicalize().ok());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join("afctl")).find(|p| p.is_file()).and_then(|p| p.canonicalize().ok());
    match (own, found) {
        (Some(own), found) if found.as_ref() != Some(&own) => own.display().to_string(),
        _ => "afctl".to_owned(),
    }
}

/// Returns what has to be written.
fn changes(setup: &Setup, here: &Path, home: &Path, command: &str) -> Result<Vec<Change>, String> {
    let server = json!({"command": command, "args": ["mcp"]});
    let json_file = |file: PathBuf, list: &str, server: &serde_json::Value| -> Result<Change, String> {
        let before = read(&file)?;
        let added = (!setup.undo).then(|| server.to_string());
        let content = edit::json(&before, list, added.as_deref()).map_err(|e| format!("{}: {e}", file.display()))?;
        Ok(Change { file, content })
    };
    Ok(match setup.program {
        Program::ClaudeCode => {
            let skill = here.join(".claude/skills/afd/SKILL.md");
            let content = (!setup.undo).then(|| SKILL.to_owned());
            vec![json_file(here.join(".mcp.json"), "mcpServers", &server)?, Change { file: skill, content }]
        }
        Program::Cursor => vec![json_file(here.join(".cursor/mcp.json"), "mcpServers", &server)?],
        Program::VsCode => {
            let server = json!({"type": "stdio", "command": command, "args": ["mcp"]});
            vec![json_file(here.join(".vscode/mcp.json"), "servers", &server)?]
        }
        Program::Codex => {
            let file = home.join(".codex/config.toml");
            let table = format!("[mcp_servers.afd]\ncommand = {}\nargs = [\"mcp\"]\n", json!(command));
            let content = edit::toml(&read(&file)?, "mcp_servers.afd", (!setup.undo).then_some(table.as_str()));
            vec![Change { file, content }]
        }
    })
}

/// Returns the text of a file; empty if there is none.
fn read(file: &Path) -> Result<String, String> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(format!("{}: {error}", file.display())),
    }
}

/// Shows the changes and writes them; returns whether they were written.
fn apply(setup: &Setup, changes: &[Change]) -> Result<bool, String> {
    let mut out = std::io::stdout();
    for change in changes {
        let _ = match &change.content {
            Some(content) => writeln!(out, "write {}\n\n{}", change.file.display(), content.trim_end()),
            None => writeln!(out, "remove {}", change.file.display()),
        };
        let _ = writeln!(out);
    }
    if !setup.yes && !ask::yes("Write this? [y/N] ")? {
        return Ok(false);
    }
    for change in changes {
        write(change).map_err(|e| format!("{}: {e}", change.file.display()))?;
    }
    let _ = writeln!(out, "done; restart the program if it is running");
    Ok(true)
}

/// Replaces a file at once, or removes it.
fn write(change: &Change) -> std::io::Result<()> {
    let Some(content) = &change.content else {
        return match std::fs::remove_file(&change.file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => {
                // A directory that is empty now was made by the setup.
                let _ = change.file.parent().map(std::fs::remove_dir);
                Ok(())
            }
        };
    };
    let dir = change.file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(dir)?;
    // A link is followed: configuration files often are links to a place under version control.
    let target = change.file.canonicalize().unwrap_or_else(|_| change.file.clone());
    let mut file = tempfile::NamedTempFile::new_in(target.parent().unwrap_or(dir))?;
    file.write_all(content.as_bytes())?;
    if let Ok(before) = std::fs::metadata(&target) {
        file.as_file().set_permissions(before.permissions())?;
    }
    file.persist(&target).map_err(|e| e.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(program: Program, undo: bool) -> Setup {
        Setup { program, yes: true, undo }
    }

    #[test]
    fn each_program_is_set_up_and_taken_back() {
        for program in [Program::ClaudeCode, Program::Codex, Program::Cursor, Program::VsCode] {
            let (here, home) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
            let all = changes(&setup(program, false), here.path(), home.path(), "afctl").expect("changes");
            all.iter().for_each(|change| write(change).expect("writes"));
            let first = read(&all[0].file).expect("reads");
            assert!(first.contains("afctl") && first.contains("\"mcp\""), "{program:?}: {first}");
            let again = changes(&setup(program, false), here.path(), home.path(), "afctl").expect("changes");
            assert_eq!(again, all, "{program:?}: a second setup changes nothing");
            let back = changes(&setup(program, true), here.path(), home.path(), "afctl").expect("changes");
            back.iter().for_each(|change| write(change).expect("writes"));
            assert!(all.iter().all(|change| !change.file.exists()), "{program:?}");
        }
    }
}
