//! Options that `afctl mcp` hands to the bridge.

use std::path::PathBuf;

use afd_proto::tool::Toolset;
use clap::Args;

/// Options of `mcp`, and of the bridge that it executes.
#[derive(Debug, Args)]
pub struct Mcp {
    /// Sets of tools to offer beside core, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "SET")]
    pub toolsets: Vec<Toolset>,
    /// Serve HTTP on this port of 127.0.0.1 instead of standard input and output; 0 takes a free one
    #[arg(long, value_name = "PORT")]
    pub http: Option<u16>,
    /// File with the token that HTTP clients must send; created with a new token if it does not exist
    #[arg(long, value_name = "FILE", requires = "http")]
    pub token_file: Option<PathBuf>,
}
