//! The programs that can be set up: where each stores its MCP servers, and in which format.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Value, json};
use toml_edit::{Array, Table, value};

use super::edit;

/// Programs that can be set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Program {
    /// Claude Code: .mcp.json and a skill in this directory
    ClaudeCode,
    /// Claude Desktop: claude_desktop_config.json in its settings directory
    ClaudeDesktop,
    /// Cline, in VS Code: cline_mcp_settings.json in its settings directory
    Cline,
    /// Codex: ~/.codex/config.toml
    Codex,
    /// Cursor: .cursor/mcp.json in this directory
    Cursor,
    /// Gemini CLI: .gemini/settings.json in this directory
    GeminiCli,
    /// Goose: ~/.config/goose/config.yaml
    Goose,
    /// OpenCode: opencode.json in this directory
    #[value(name = "opencode")]
    OpenCode,
    /// VS Code: .vscode/mcp.json in this directory
    #[value(name = "vscode")]
    VsCode,
    /// Windsurf: ~/.codeium/windsurf/mcp_config.json
    Windsurf,
    /// Zed: ~/.config/zed/settings.json
    Zed,
}

/// Where a setup applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scope {
    /// In this directory
    Project,
    /// Everywhere, for this user
    User,
}

/// Format of a settings file, with the name of its server list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A JSON file, with or without comments; the entry goes into the object with this name.
    Json(&'static str),
    /// TOML: a table with this name.
    Toml(&'static str),
    /// YAML: a mapping with this name. An existing file is not edited.
    Yaml(&'static str),
}

/// Files and entry to write for a program.
#[derive(Debug, Clone)]
pub struct Place {
    /// Settings file that lists the servers.
    pub file: PathBuf,
    /// Format of this file.
    pub form: Form,
    /// The server's entry, as JSON.
    pub server: Value,
    /// File for the skill, if the program supports skills.
    pub skill: Option<PathBuf>,
    /// Project directory that links must not lead out of; `None` if the file does not belong to a project.
    pub within: Option<PathBuf>,
}

/// Directories of the user and the project.
pub struct Directories<'a> {
    /// Working directory.
    pub here: &'a Path,
    /// Home directory.
    pub home: &'a Path,
    /// The user's configuration directory.
    pub config: &'a Path,
}

impl Program {
    /// Returns the default scope of a setup.
    pub fn usual_scope(self) -> Scope {
        match self {
            Program::ClaudeCode | Program::Cursor | Program::VsCode | Program::GeminiCli | Program::OpenCode => {
                Scope::Project
            }
            Program::ClaudeDesktop
            | Program::Cline
            | Program::Codex
            | Program::Goose
            | Program::Windsurf
            | Program::Zed => Scope::User,
        }
    }

    /// Returns the files and the entry for a program in a scope.
    ///
    /// # Errors
    /// If the program has no such scope.
    pub fn place(self, scope: Scope, at: &Directories<'_>, command: &str, args: &[String]) -> Result<Place, String> {
        let code = at.config.join("Code/User");
        let servers = Form::Json("mcpServers");
        let (project, user, form): (Option<&str>, Option<PathBuf>, Form) = match self {
            Program::ClaudeCode => (Some(".mcp.json"), Some(at.home.join(".claude.json")), servers),
            Program::ClaudeDesktop => (None, Some(desktop(at).join("Claude/claude_desktop_config.json")), servers),
            Program::Cline => (
                None,
                Some(code.join("globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json")),
                servers,
            ),
            Program::Codex => {
                (Some(".codex/config.toml"), Some(codex_home(at.home).join("config.toml")), Form::Toml("mcp_servers"))
            }
            Program::Cursor => (Some(".cursor/mcp.json"), Some(at.home.join(".cursor/mcp.json")), servers),
            Program::GeminiCli => (Some(".gemini/settings.json"), Some(at.home.join(".gemini/settings.json")), servers),
            Program::Goose => (None, Some(at.config.join("goose/config.yaml")), Form::Yaml("extensions")),
            Program::OpenCode => (
                Some(opencode(at.here)),
                Some(at.config.join("opencode").join(opencode(&at.config.join("opencode")))),
                Form::Json("mcp"),
            ),
            Program::VsCode => (Some(".vscode/mcp.json"), Some(code.join("mcp.json")), Form::Json("servers")),
            Program::Windsurf => (None, Some(at.home.join(".codeium/windsurf/mcp_config.json")), servers),
            Program::Zed => {
                (Some(".zed/settings.json"), Some(at.config.join("zed/settings.json")), Form::Json("context_servers"))
            }
        };
        let file = match scope {
            Scope::Project => project.map(|file| at.here.join(file)),
            Scope::User => user,
        };
        let name = self.to_possible_value().map(|v| v.get_name().to_owned()).unwrap_or_default();
        let scopes = if scope == Scope::Project { "user" } else { "project" };
        let file = file.ok_or_else(|| format!("--scope: {name} only has {scopes} settings"))?;
        let skills = if scope == Scope::Project { at.here } else { at.home };
        Ok(Place {
            file,
            form,
            server: self.server(command, args),
            skill: (self == Program::ClaudeCode).then(|| skills.join(".claude/skills/afd/SKILL.md")),
            within: (scope == Scope::Project).then(|| at.here.to_owned()),
        })
    }

    fn server(self, command: &str, args: &[String]) -> Value {
        match self {
            Program::VsCode => json!({"type": "stdio", "command": command, "args": args}),
            Program::OpenCode => {
                let whole: Vec<&str> = std::iter::once(command).chain(args.iter().map(String::as_str)).collect();
                json!({"type": "local", "command": whole, "enabled": true})
            }
            Program::Zed => json!({"source": "custom", "command": command, "args": args, "env": {}}),
            Program::Goose => {
                json!({"name": edit::NAME, "type": "stdio", "cmd": command, "args": args, "enabled": true, "timeout": 300})
            }
            _ => json!({"command": command, "args": args}),
        }
    }
}

/// Returns the directory in which desktop programs keep their settings.
fn desktop(at: &Directories<'_>) -> PathBuf {
    if cfg!(target_os = "macos") { at.home.join("Library/Application Support") } else { at.config.to_owned() }
}

fn codex_home(home: &Path) -> PathBuf {
    std::env::var_os("CODEX_HOME").filter(|dir| !dir.is_empty()).map_or_else(|| home.join(".codex"), PathBuf::from)
}

/// Returns the settings file of OpenCode in a directory: `opencode.jsonc` if it exists, else `opencode.json`.
fn opencode(directory: &Path) -> &'static str {
    if directory.join("opencode.jsonc").exists() { "opencode.jsonc" } else { "opencode.json" }
}

impl Place {
    /// Returns the entry as a TOML table.
    pub fn table(&self) -> Table {
        let mut table = Table::new();
        table.insert("command", value(self.server["command"].as_str().unwrap_or_default()));
        let args: Array = self.server["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        table.insert("args", value(args));
        table
    }

    /// Returns the lines that a user has to add by hand.
    pub fn lines(&self) -> String {
        match self.form {
            Form::Json(list) => edit::new_json(list, &self.server),
            Form::Toml(list) => format!("[{list}.{}]\n{}", edit::NAME, self.table()),
            Form::Yaml(list) => self.yaml(list),
        }
    }

    /// Returns the entry as YAML. Values are written as JSON, which is valid YAML.
    fn yaml(&self, list: &str) -> String {
        let members =
            self.server.as_object().into_iter().flatten().map(|(name, value)| format!("    {name}: {value}\n"));
        format!("{list}:\n  {}:\n{}", edit::NAME, members.collect::<String>())
    }
}
