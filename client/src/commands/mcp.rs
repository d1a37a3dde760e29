//! `afctl mcp`: executes the bridge for MCP clients. The bridge is a separate program, because it needs an async
//! runtime.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::{ArgMatches, FromArgMatches};

use crate::output::print;
use afd_link::bridge::Mcp;
use afd_link::options::Context;
use afd_link::outcome::{FAILED, Failure, Outcome};

/// Replaces this process with the bridge; returns only if that fails.
///
/// # Errors
/// If the arguments are invalid. If the bridge cannot be executed, a failure is printed.
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
    // Pass the token in the environment, because other users can read the arguments of a process.
    match &context.address.token {
        Some(token) => command.env("AF_TOKEN", token),
        None => command.env_remove("AF_TOKEN"),
    };
    command.env_remove("AF_URL");
    let error = command.exec();
    let failure = Failure::new("INTERNAL", format!("cannot execute {}: {error}", program().display()), FAILED)
        .with_hint("install afmcp next to afctl, or in a directory of PATH");
    let outcome = Outcome::failed("mcp", "serve", failure);
    print(&outcome, global.output);
    Ok(outcome.exit())
}

/// Returns the path of the bridge: next to this program, else in `PATH`.
fn program() -> PathBuf {
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join("afmcp")));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from("afmcp"))
}
