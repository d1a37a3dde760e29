//! `afctl`: the command line of `afd`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(afctl::run::run(std::env::args_os()))
}
