//! Entry point of the `afd` daemon.

use std::io::Write;
use std::process::ExitCode;

use afd::lifecycle::{Args, StartError, run};
use afd_base::platform::limit_heaps;
use clap::Parser;

fn main() -> ExitCode {
    limit_heaps();
    match run(Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error may be closed.
            let _ = writeln!(std::io::stderr(), "afd: {error}");
            ExitCode::from(match error {
                StartError::AlreadyRunning(_) => 3,
                // `EX_CONFIG` from sysexits.h, because another start would fail in the same way.
                StartError::Config(_) | StartError::Damaged { .. } => 78,
                _ => 1,
            })
        }
    }
}
