//! Commands that newcomers guessed before they had seen any help. Most of them work; for the others, the error message
//! names a command that works.
//!
//! No guess in `guesses/first.txt` may fail without such a message. The guesses in `guesses/held.txt` were scored once
//! before their rules were written: 29 of 50 worked, 11 named the right command, and 10 failed.

use afctl::{cli, guess, rewrite};

/// Result of a guess.
enum Became {
    /// It works.
    Works,
    /// It fails, and the message names a command that can be parsed.
    Redirected,
    /// It fails without naming such a command.
    Lost(String),
}

/// Splits a line into words like a shell.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Returns whether the first words of a command name a command of the program.
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

fn became(line: &str) -> Became {
    let words = rewrite::plain(words(line));
    let Err(error) = cli::command().try_get_matches_from(&words) else { return Became::Works };
    // Help and version count as valid.
    if !error.use_stderr() {
        return Became::Works;
    }
    match guess::of(&error, &words) {
        Some(guess) if exists(&guess.command) => Became::Redirected,
        Some(guess) => Became::Lost(format!("{line}: {:?} is no command", guess.command)),
        None => Became::Lost(format!("{line}: {}", error.to_string().lines().next().unwrap_or_default())),
    }
}

#[test]
fn none_of_the_first_guesses_is_lost() {
    let lines: Vec<&str> = include_str!("guesses/first.txt").lines().collect();
    assert_eq!(lines.len(), 50);
    let lost = lines.into_iter().filter_map(|line| match became(line) {
        Became::Lost(why) => Some(why),
        Became::Works | Became::Redirected => None,
    });
    let lost: Vec<String> = lost.collect();
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

#[test]
fn most_guesses_work_and_few_are_lost() {
    for (half, text) in [("tuned", include_str!("guesses/tuned.txt")), ("held", include_str!("guesses/held.txt"))] {
        let (mut works, mut redirected, mut lost) = (0, 0, Vec::new());
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        for line in &lines {
            match became(line) {
                Became::Works => works += 1,
                Became::Redirected => redirected += 1,
                Became::Lost(why) => lost.push(why),
            }
        }
        println!(
            "{half}: {} guesses, {works} work, {redirected} name another command, {} are lost",
            lines.len(),
            lost.len()
        );
        lost.iter().for_each(|why| println!("  {why}"));
        assert!(lines.len() >= 50, "{half}");
        assert!(works * 100 >= lines.len() * 60 && lost.len() * 100 <= lines.len() * 10, "{half}");
    }
}
