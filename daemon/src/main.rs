//! Entry point of the `afd` daemon.

use std::process::ExitCode;

use afd::lifecycle::{Args, StartError, run};
use clap::Parser;

fn main() -> ExitCode {
    match run(Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("afd: {error}");
            ExitCode::from(if matches!(error, StartError::AlreadyRunning(_)) { 3 } else { 1 })
        }
    }
}
