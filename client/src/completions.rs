//! `completions`: prints a shell completion script.

use clap::{ArgMatches, Args, Command, FromArgMatches};

use afd_link::options::Context;

/// Options for `completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// Shell to generate the script for
    shell: clap_complete::Shell,
}

/// Returns a command reduced to what a shell completes: names, and the options of each command. Every new shell reads
/// the script, so it should be short. For that reason the global options are completed only before the command, not
/// after each of the 150 commands.
fn for_completion(whole: &Command, is_root: bool) -> Command {
    let own = whole
        .get_arguments()
        .filter(|arg| is_root || !arg.is_global_set())
        .filter(|arg| !["help", "version"].contains(&arg.get_id().as_str()));
    let args = own.map(|arg| {
        let names: Vec<&'static str> =
            arg.get_possible_values().iter().map(|value| forever(value.get_name())).collect();
        let completes = arg.get_action().takes_values() && (!names.is_empty() || arg.is_positional());
        let mut bare = clap::Arg::new(arg.get_id().clone());
        // Values that a shell cannot complete need no completion rule.
        bare = if completes { bare.action(arg.get_action().clone()) } else { bare.action(clap::ArgAction::SetTrue) };
        if completes && !names.is_empty() {
            bare = bare.value_parser(clap::builder::PossibleValuesParser::new(names));
        }
        let bare = if let Some(short) = arg.get_short() { bare.short(short) } else { bare };
        match arg.get_long() {
            Some(long) => bare.long(forever(long)),
            None => bare,
        }
    });
    let subs = whole.get_subcommands().filter(|sub| sub.get_name() != "help").map(|sub| for_completion(sub, false));
    let bare = Command::new(forever(whole.get_name())).disable_help_flag(true).disable_help_subcommand(true);
    bare.about(forever(&whole.get_about().map(ToString::to_string).unwrap_or_default())).args(args).subcommands(subs)
}

/// Leaks a string, because clap requires names with the lifetime `'static`. The program exits as soon as the script is
/// printed.
fn forever(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// Generates and prints the completion script.
///
/// # Errors
/// If the shell is unknown.
pub fn run(matches: &ArgMatches, _: &Context, mut whole: Command) -> Result<u8, clap::Error> {
    let mut script = Vec::new();
    let shell = Completions::from_arg_matches(matches)?.shell;
    whole.build();
    clap_complete::generate(shell, &mut for_completion(&whole, true), "afctl", &mut script);
    if matches!(shell, clap_complete::Shell::Bash | clap_complete::Shell::PowerShell) {
        // Strip the indentation, which makes up a third of these scripts.
        let lines =
            String::from_utf8_lossy(&script).lines().map(|line| format!("{}\n", line.trim_start())).collect::<String>();
        script = lines.into_bytes();
    }
    Ok(u8::from(!crate::output::write(&script)))
}
