//! `afctl mcp`: executes the bridge for MCP clients, which is a program of its own, as it needs an async runtime.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::{ArgMatches, FromArgMatches};

use crate::output::print;
use afd_link::bridge::Mcp;
use afd_link::options::Context;
use afd_link::outcome::{FAILED, Failure, Outcome};

/// Replaces this program by the bridge; returns only if that fails.
///
/// # Errors
/// None; a bridge that cannot be executed is printed as a failure.
pub fn run(matches: &ArgMatches, context: &Context) -> Result<u8, clap::Error> {
    let Mcp { toolsets, http, token_file } = Mcp::from_arg_matches(matches)?;
    let global = &context.global;
    let mut command = Command::new(program());
    let paths = [
        ("--socket", &global.socket),
        ("--memory-db", &global.memory_db),
        ("--config", &global.config),
        ("--token-file", &token_file),
    ];
    for (flag, path) in paths {
        if let Some(path) = path {
            command.arg(flag).arg(path);
        }
    }
    let toolsets = (!toolsets.is_empty()).then(|| toolsets.iter().map(|set| set.word()).collect::<Vec<_>>().join(","));
    let http = http.map(|port| port.to_string());
    let url = context.address.url.clone();
    let texts = [
        ("--session", &global.session),
        ("--device", &global.device),
        ("--url", &url),
        ("--toolsets", &toolsets),
        ("--http", &http),
    ];
    for (flag, text) in texts {
        if let Some(text) = text {
            command.arg(flag).arg(text);
        }
    }
    if global.no_spawn {
        command.arg("--no-spawn");
    }
    // Not as an argument, which others can read.
    match &context.address.token {
        Some(token) => command.env("AF_TOKEN", token),
        None => command.env_remove("AF_TOKEN"),
    };
    command.env_remove("AF_URL");
    let error = command.exec();
    let failure = Failure::new("INTERNAL", format!("cannot execute {}: {error}", program().display()), FAILED)
        .with_hint("afmcp belongs beside afctl, or in a directory of PATH");
    let outcome = Outcome::failed("mcp", "serve", failure);
    print(&outcome, global.output);
    Ok(outcome.exit())
}

/// Returns the bridge beside this program, else that in PATH.
fn program() -> PathBuf {
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join("afmcp")));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from("afmcp"))
}
