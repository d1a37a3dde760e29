//! `afctl man`: writes manual pages for all commands.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use serde_json::json;

use crate::output::print;
use afd_link::options::Context;
use afd_link::outcome::{FAILED, Failure, Outcome};

/// Options for `man`.
#[derive(Debug, Args)]
pub struct Man {
    /// Directory to write the pages to; it is created if it does not exist
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

/// Removes the `help` subcommands, which need no page.
fn without_help(command: Command) -> Command {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, without_help))
}

/// Writes a manual page for each command of the program.
///
/// # Errors
/// If the arguments are invalid. If a page cannot be written, a failure is printed.
pub fn run(matches: &ArgMatches, context: &Context, whole: Command) -> Result<u8, clap::Error> {
    let Man { dir } = Man::from_arg_matches(matches)?;
    let mut command = without_help(whole);
    command.build();
    let written = std::fs::create_dir_all(&dir).and_then(|()| clap_mangen::generate_to(command, &dir));
    let result = match written.and_then(|()| Ok(std::fs::read_dir(&dir)?.count())) {
        Ok(pages) => Ok(serde_json::value::to_raw_value(&json!({"dir": dir, "pages": pages})).unwrap_or_default()),
        Err(error) => Err(Failure::new("INTERNAL", format!("{}: {error}", dir.display()), FAILED)),
    };
    let render = |data: &serde_json::Value| {
        let dir = data["dir"].as_str()?;
        Some(format!("{} pages in {dir}; read one with: man -l {dir}/afctl.1", data["pages"]))
    };
    let outcome = Outcome { category: "man".into(), op: "write".into(), result, render: Some(render), only: None };
    print(&outcome, context.global.output);
    Ok(outcome.exit())
}
