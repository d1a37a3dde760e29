//! `afctl mcp`: executes the bridge for MCP clients, which is a program of its own, as it needs an async runtime.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::{ArgMatches, Args};

use crate::options::Context;
use crate::outcome::{FAILED, Failure, Outcome};
use crate::output::print;

/// Options of `mcp`: only global ones.
#[derive(Debug, Args)]
pub struct Mcp {}

/// Replaces this program by the bridge; returns only if that fails.
///
/// # Errors
/// None; a bridge that cannot be executed is printed as a failure.
pub fn run(_: &ArgMatches, context: &Context) -> Result<u8, clap::Error> {
    let global = &context.global;
    let mut command = Command::new(program());
    let paths = [("--socket", &global.socket), ("--memory-db", &global.memory_db), ("--config", &global.config)];
    for (flag, path) in paths {
        if let Some(path) = path {
            command.arg(flag).arg(path);
        }
    }
    for (flag, text) in [("--session", &global.session), ("--device", &global.device)] {
        if let Some(text) = text {
            command.arg(flag).arg(text);
        }
    }
    if global.no_spawn {
        command.arg("--no-spawn");
    }
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
