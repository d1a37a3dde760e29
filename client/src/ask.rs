//! Prompts the user at the terminal.

use std::io::{BufRead, IsTerminal, Write};

use afd_proto::Secret;

use afd_link::outcome::{Failure, USAGE};

/// Asks a question. Returns the answer without surrounding whitespace, or `None` if standard input is not a terminal or
/// has ended.
///
/// # Errors
/// If the answer cannot be read.
pub fn word(question: &str) -> Result<Option<String>, String> {
    if !std::io::stdin().is_terminal() {
        return Ok(None);
    }
    let mut out = std::io::stderr();
    let _ = write!(out, "{question}");
    let _ = out.flush();
    let mut answer = String::new();
    match std::io::stdin().lock().read_line(&mut answer).map_err(|e| e.to_string())? {
        0 => Ok(None),
        _ => Ok(Some(answer.trim().to_owned())),
    }
}

/// Asks a yes/no question. Returns true only if the answer is `y` or `yes`; without a terminal, returns false.
///
/// # Errors
/// If the answer cannot be read.
pub fn yes(question: &str) -> Result<bool, String> {
    Ok(word(question)?.is_some_and(|answer| matches!(answer.to_lowercase().as_str(), "y" | "yes")))
}

/// Prompts for a token without echoing it; without a terminal, reads it from standard input.
///
/// # Errors
/// If the token cannot be read or is empty.
pub fn token() -> Result<Secret, Failure> {
    let read = if std::io::stdin().is_terminal() {
        rpassword::prompt_password("Token shown in the phone's app: ")
    } else {
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line).map(|_| line)
    };
    let text = read.map_err(|e| Failure::new("INVALID_PARAMS", format!("the token cannot be read: {e}"), USAGE))?;
    match text.trim() {
        "" => Err(Failure::new("INVALID_PARAMS", "no token was given", USAGE).with_hint("the phone's app shows it")),
        token => Ok(Secret::new(token)),
    }
}
