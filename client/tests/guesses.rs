//! Commands that newcomers guessed before they had seen any help: each can be parsed, or the message names a command that can.

use afctl::{cli, guess};

const GUESSES: &[&str] = &[
    "afctl tap Wi-Fi",
    "afctl screenshot",
    "afctl screenshot shot.png",
    "afctl screenshot -o shot.png",
    "afctl devices",
    "afctl devices list",
    "afctl list",
    "afctl status",
    "afctl version",
    "afctl --version",
    "afctl help tap",
    "afctl type hello",
    "afctl click Display",
    "afctl open com.android.settings",
    "afctl launch com.android.settings",
    "afctl start com.android.settings",
    "afctl app launch com.android.settings",
    "afctl find Display",
    "afctl swipe up",
    "afctl scroll down",
    "afctl scroll-to About",
    "afctl press enter",
    "afctl press back",
    "afctl back",
    "afctl home",
    "afctl keyevent KEYCODE_HOME",
    "afctl shell input tap 300 600",
    "afctl tap 300 600",
    "afctl tap 300,600",
    "afctl tap --text Display",
    "afctl tap --id com.android.settings:id/search_bar",
    "afctl longpress Display",
    "afctl long-press Display",
    "afctl look",
    "afctl snapshot",
    "afctl dump",
    "afctl ui",
    "afctl wait Display",
    "afctl wait-for Display --timeout 5",
    "afctl assert visible Display",
    "afctl check Display",
    "afctl fill Search wifi",
    "afctl note add text",
    "afctl notes",
    "afctl history",
    "afctl session start",
    "afctl sessions",
    "afctl mcp",
    "afctl connect http://127.0.0.1:18099",
    "afctl -d pixel tap Wi-Fi",
];

/// Whether the first words of a command lead to one of the program.
fn exists(command: &str) -> bool {
    let mut at = cli::command();
    at.build();
    let mut words = command.split_whitespace().skip(1).peekable();
    if words.peek().is_some_and(|word| word.starts_with("--")) {
        return true;
    }
    let mut found = false;
    for word in words {
        let Some(next) = at.find_subcommand(word.trim_end_matches([',', ';'])).cloned() else { break };
        (at, found) = (next, true);
    }
    found
}

#[test]
fn guessed_commands_work_or_name_the_right_one() {
    assert_eq!(GUESSES.len(), 50);
    let mut lost = Vec::new();
    for line in GUESSES {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let Err(error) = cli::command().try_get_matches_from(&words) else { continue };
        // Help and version are answers.
        if !error.use_stderr() {
            continue;
        }
        let tip = error.to_string().contains("a similar argument exists");
        match guess::of(&error, &words) {
            Some(guess) if exists(&guess.command) => {}
            Some(guess) => lost.push(format!("{line}: {:?} is no command", guess.command)),
            None if tip => {}
            None => lost.push(format!("{line}: {error}")),
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}
