//! What people call commands that have another name here: the message for a command that does not exist names the right one.

/// Words, and the command that they mean.
const MEANT: &[(&[&str], &str)] = &[
    (&["devices", "phones"], "afctl device list"),
    (&["list", "ls"], "afctl device list, session list, artifact list or job list"),
    (&["sessions"], "afctl session list"),
    (&["notes", "search"], "afctl memory search --query WORDS"),
    (&["note", "remember", "save"], "afctl memory save --topic TOPIC --content TEXT"),
    (&["history", "log", "logs"], "afctl memory log"),
    (&["version"], "afctl daemon version, or afctl --version"),
    (&["find", "locate", "exists", "elements", "tree", "hierarchy"], "afctl look, or afctl check TEXT"),
    (&["swipe", "fling"], "afctl scroll down, or afctl act swipe --from X,Y --to X,Y"),
    (&["drag", "move"], "afctl act drag TARGET --to TARGET"),
    (&["shell", "adb", "exec", "run"], "afctl act shell --command COMMAND"),
    (&["stop-app", "kill", "close", "force-stop"], "afctl act stop PACKAGE"),
    (&["stop", "shutdown", "quit", "exit"], "afctl daemon shutdown"),
    (&["restart"], "afctl daemon shutdown; the next command starts it again"),
    (&["add", "pair", "attach"], "afctl init, or afctl device add NAME --url URL --ask-token"),
    (&["use", "select"], "afctl --device NAME COMMAND, or set AFD_SESSION and name one device"),
    (&["install", "uninstall"], "afctl app install"),
    (&["path", "navigate", "goto", "route"], "afctl visual path --to PAGE"),
    (&["states", "pages", "graph"], "afctl visual states, or afctl visual graph"),
    (&["hints", "experience", "learned"], "afctl memory experience"),
    (&["test", "tests"], "afctl session start, or afctl verify"),
    (&["record", "watch", "follow", "tail"], "afctl events"),
    (&["setup-mcp", "serve", "server"], "afctl setup PROGRAM, or afctl mcp"),
    (&["lock", "lease", "reserve"], "afctl device lease"),
    (&["files", "artifacts", "screenshots"], "afctl artifact list"),
    (&["settings", "configure", "set", "get"], "afctl config list, or afctl config set KEY VALUE"),
    (&["methods", "api"], "afctl daemon methods"),
    (&["http", "https"], "afctl init url --url URL"),
];

/// Returns the command that a word means, as a person would type it.
pub fn meant(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    let word = if word.contains("://") { "http" } else { word.as_str() };
    MEANT.iter().find(|(words, _)| words.contains(&word)).map(|(_, command)| *command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_is_a_command_or_means_two() {
        let mut met = std::collections::HashSet::new();
        for word in MEANT.iter().flat_map(|(words, _)| *words) {
            assert!(met.insert(*word), "{word} stands twice");
            assert!(crate::cli::ENTRIES.iter().all(|e| e.name != *word && !e.aliases.contains(word)), "{word} is a command");
        }
        assert_eq!(meant("http://127.0.0.1:8081"), meant("https"));
        assert_eq!(meant("zork"), None);
    }
}
