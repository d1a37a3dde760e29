//! Suggestions for unknown commands and flags: maps names from other tools to the commands of this program.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::cli::ENTRIES;
use crate::examples;

/// Words that users type, each with the command to suggest.
const MEANT: &[(&[&str], &str)] = &[
    (&["list", "ls"], "afctl device list, session list, artifact list or job list"),
    (&["search"], "afctl memory search --query WORDS"),
    (&["note", "remember", "save"], "afctl memory save --topic TOPIC --content TEXT"),
    (&["logs", "journal"], "afctl service logs, or afctl memory log for what was done"),
    (&["find", "locate", "exists"], "afctl look, or afctl check TEXT"),
    (&["swipe", "fling"], "afctl scroll down, or afctl act swipe --from X,Y --to X,Y"),
    (&["drag", "move"], "afctl act drag TARGET --to TARGET"),
    (&["shell", "adb", "exec", "run"], "afctl act shell --command COMMAND"),
    (&["stop-app", "kill", "close", "force-stop"], "afctl act stop PACKAGE"),
    (&["shutdown", "quit", "exit"], "afctl daemon shutdown"),
    (&["backups"], "afctl backup restore, or afctl backup list"),
    (&["retention"], "afctl memory prune --older 90d --dry-run"),
    (&["compact"], "afctl memory vacuum"),
    (&["prometheus"], "afctl daemon metrics"),
    (&["wait-for-device", "ping", "alive"], "afctl health"),
    (&["add", "pair", "attach"], "afctl init, or afctl device add NAME --url URL --ask-token"),
    (&["use", "select"], "afctl --device NAME COMMAND, or set AFD_SESSION and name one device"),
    (&["install"], "afctl app install, or afctl service install"),
    (&["navigate"], "afctl go PAGE"),
    (&["path", "route"], "afctl visual path --to PAGE"),
    (&["test", "tests"], "afctl session start, or afctl verify"),
    (&["record"], "afctl events"),
    (&["setup-mcp", "serve", "server"], "afctl setup PROGRAM, or afctl mcp"),
    (&["settings", "configure", "set", "get"], "afctl config list, or afctl config set KEY VALUE"),
    (&["http", "https"], "afctl init url --url URL"),
];

/// Flags of other tools, each with the equivalent command.
const FLAGS: &[(&[&str], &str)] = &[
    (&["--text", "--label", "--name", "--title", "--contains"], "afctl tap \"LABEL\""),
    (&["--id", "--resource-id", "--res-id"], "afctl tap --by res-id --value ID"),
    (&["--desc", "--content-desc"], "afctl tap --by desc --value TEXT"),
    (&["--coords", "--point", "--at", "--pos"], "afctl tap --xy X,Y"),
];

/// A suggestion for a command line that could not be parsed.
#[derive(Debug, PartialEq, Eq)]
pub struct Guess {
    /// Error message that names the unknown word.
    pub message: String,
    /// Command to try instead.
    pub command: String,
}

/// Returns the command to suggest for a word.
pub fn meant(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    let word = if word.contains("://") { "http" } else { word.as_str() };
    MEANT.iter().find(|(words, _)| words.contains(&word)).map(|(_, command)| *command)
}

/// Returns the command name that was typed, without its arguments.
fn command_of(args: &[String]) -> Option<String> {
    let mut at = args.iter().skip(1).filter(|arg| !arg.starts_with('-'));
    let first =
        at.next().filter(|word| ENTRIES.iter().any(|e| e.name == **word || e.aliases.contains(&word.as_str())))?;
    let mut group = crate::cli::group_of(first)?;
    let mut command = format!("afctl {first}");
    while let Some(sub) = at.next().and_then(|word| group.find_subcommand(word).cloned()) {
        command = format!("{command} {}", sub.get_name());
        group = sub;
    }
    Some(command)
}

/// Returns a suggestion for a command line that could not be parsed, if there is one.
pub fn of(error: &clap::Error, args: &[String]) -> Option<Guess> {
    let context = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = context(ContextKind::InvalidSubcommand)?;
            // The word is a top-level command that was typed as a subcommand of a group.
            let own =
                ENTRIES.iter().find(|e| e.name == word || e.aliases.contains(&word)).and_then(|e| examples::of(e.name));
            let command = own.or_else(|| meant(word))?;
            Some(Guess { message: format!("there is no command {word:?}"), command: command.to_owned() })
        }
        ErrorKind::UnknownArgument => {
            let unknown = context(ContextKind::InvalidArg)?;
            let at = args.iter().position(|arg| arg == unknown)?;
            let before = args.get(at.checked_sub(1)?)?;
            let is_number = |text: &str| text.parse::<f64>().is_ok();
            let flag =
                FLAGS.iter().find(|(flags, _)| flags.contains(&unknown)).map(|(_, command)| (*command).to_owned());
            let command = match flag {
                Some(command) => command,
                None if is_number(unknown) && is_number(before) => format!("afctl tap --xy {before},{unknown}"),
                None if matches!(before.as_str(), "visible" | "exists" | "present" | "text" | "that") => {
                    format!("afctl check {unknown:?}")
                }
                None => format!("{} --help, which lists the options", command_of(args)?),
            };
            Some(Guess { message: format!("unexpected argument {unknown:?}"), command })
        }
        ErrorKind::InvalidValue => {
            let value = context(ContextKind::InvalidValue)?;
            let is_output = context(ContextKind::InvalidArg)?.contains("--output");
            let message = format!("-o is the form of the output, not a file: {value:?}");
            (is_output && value.contains('.')).then(|| Guess { message, command: format!("afctl screenshot {value}") })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_is_a_command_or_means_two() {
        let mut met = std::collections::HashSet::new();
        for word in MEANT.iter().flat_map(|(words, _)| *words) {
            assert!(met.insert(*word), "{word} stands twice");
            assert!(
                crate::cli::ENTRIES.iter().all(|e| e.name != *word && !e.aliases.contains(word)),
                "{word} is a command"
            );
        }
        assert_eq!(meant("http://127.0.0.1:8081"), meant("https"));
        assert_eq!(meant("zork"), None);
    }
}
