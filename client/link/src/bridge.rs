//! Options that `afctl mcp` passes to the bridge.

use std::path::PathBuf;

use afd_proto::tool::Toolset;
use clap::Args;

/// Options for `mcp` and for the bridge that it executes.
#[derive(Debug, Args)]
pub struct Mcp {
    /// Toolsets to offer in addition to core, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "SET")]
    pub toolsets: Vec<Toolset>,
    /// Serve HTTP on this port of 127.0.0.1 instead of standard input and output; 0 picks a free port
    #[arg(long, value_name = "PORT")]
    pub http: Option<u16>,
    /// File with the token that HTTP clients must send; if it does not exist, it is created with a new token
    #[arg(long, value_name = "FILE", requires = "http")]
    pub token_file: Option<PathBuf>,
}
