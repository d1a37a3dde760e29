//! `afmcp`: lets clients of the Model Context Protocol use afd, over standard input and output. `afctl mcp` executes it.
//!
//! It is thin: [`tools`] says which methods are offered and how they are described, [`schema`] makes the input schemas from the
//! method table, and [`server`] forwards calls to the daemon, which it starts when needed and finds again after a restart.

mod schema;
mod server;
mod tools;

use std::process::ExitCode;

use afctl::options::Global;
use clap::{Args, Command, FromArgMatches};
use rmcp::ServiceExt;

use server::Bridge;

fn main() -> ExitCode {
    let command = Command::new("afmcp").version(env!("CARGO_PKG_VERSION")).about("Serve afd to an MCP client on standard input and output");
    let matches = Global::augment_args(command).get_matches();
    let global = match Global::from_arg_matches(&matches) {
        Ok(global) => global,
        Err(error) => error.exit(),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("afmcp: cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let served = runtime.block_on(async {
        let service = Bridge::new(global).serve(rmcp::transport::stdio()).await.map_err(|e| e.to_string())?;
        service.waiting().await.map_err(|e| e.to_string())
    });
    // Calls that are still waiting end with the process: the daemon cancels them.
    runtime.shutdown_background();
    match served {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("afmcp: {error}");
            ExitCode::FAILURE
        }
    }
}
