//! `afmcp`: lets clients of the Model Context Protocol use afd, over standard input and output or over HTTP on
//! 127.0.0.1. `afctl mcp` executes it.
//!
//! The bridge contains little logic. [`schema`] derives the tools from the marked rows of the method table, [`server`]
//! answers the client, and [`daemon`] forwards calls to the daemon, which it starts if necessary and to which it
//! reconnects after a restart. [`resources`] and [`prompts`] give access to the memory, [`follow`] notifies the client
//! of changed resources, and [`names`] assigns a session to each client. [`stdio`] serves one client and [`http`]
//! several. [`input`] checks messages, [`arguments`] normalises tool arguments, and [`hints`] translates hints to
//! tools. [`fixtures`] contains what the public conformance suite expects.

mod arguments;
mod daemon;
mod fixtures;
mod follow;
mod hints;
mod http;
mod input;
mod names;
mod prompts;
mod resources;
mod schema;
mod server;
mod stdio;
mod uses;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use afd_link::bridge::Mcp;
use afd_link::options::{Address, Global};
use afd_proto::tool::Toolset;
use clap::{Args, Command, FromArgMatches};
use rmcp::ServiceExt;

use daemon::Daemon;
use server::Bridge;

/// Maximum time to wait until the last responses have been written.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    if let Err(why) = afd_proto::paths::check() {
        eprintln!("afmcp: {why}");
        return ExitCode::FAILURE;
    }
    let about = "Serve afd to MCP clients on standard input and output, or over HTTP";
    let command = Command::new("afmcp").version(env!("CARGO_PKG_VERSION")).about(about);
    let matches = Mcp::augment_args(Global::augment_args(command)).about(about).get_matches();
    let parsed = Global::from_arg_matches(&matches).and_then(|global| Ok((global, Mcp::from_arg_matches(&matches)?)));
    let (global, options) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => error.exit(),
    };
    let address = Address::of(&global, &matches);
    let mut toolsets = options.toolsets;
    toolsets.push(Toolset::Core);
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("afmcp: cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let served = runtime.block_on(async {
        let daemon = Arc::new(Daemon::new(global, address));
        match options.http {
            Some(port) => http::serve(daemon, toolsets, port, options.token_file).await,
            None => {
                let bridge = Bridge::new(daemon, toolsets, Arc::default());
                let (transport, writing) = stdio::transport();
                let served = match bridge.serve(transport).await {
                    Ok(service) => service.waiting().await.map(|_| ()).map_err(|e| e.to_string()),
                    Err(error) => Err(error.to_string()),
                };
                // The last responses may not have been written yet.
                let _ = tokio::time::timeout(LAST_ANSWERS, writing).await;
                served
            }
        }
    });
    // The daemon cancels calls that are still waiting when this process exits.
    runtime.shutdown_background();
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("afmcp: {error}");
            ExitCode::FAILURE
        }
    }
}
