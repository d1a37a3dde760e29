//! Questions to the person at the terminal.

use std::io::{BufRead, IsTerminal, Write};

use afd_proto::Secret;

use afd_link::outcome::{Failure, USAGE};

/// Asks for a word; `None` if nobody can be asked.
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

/// Asks a question that is answered with yes or no; no if nobody can be asked.
///
/// # Errors
/// If the answer cannot be read.
pub fn yes(question: &str) -> Result<bool, String> {
    Ok(word(question)?.is_some_and(|answer| matches!(answer.to_lowercase().as_str(), "y" | "yes")))
}

/// Asks for a token without showing it; without a terminal, reads it from standard input.
///
/// # Errors
/// If there is none.
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
