//! Removes secrets from the service's error messages.

use afd_proto::Secret;

use crate::DriverError;

/// Reduces the error of a failed shell command to its exit code and stderr. The service's error message quotes the
/// command, possibly truncated and in an unspecified form. Stderr may repeat words from the command, so those words are
/// masked.
pub(super) fn redact_command(error: DriverError, command: &Secret) -> DriverError {
    let DriverError::Refused { status, message } = error else { return error };
    let exit: String =
        message.split("exit=").nth(1).unwrap_or_default().chars().take_while(char::is_ascii_digit).collect();
    let (stderr, truncated) = match message.split_once("; stderr=") {
        Some((_, stderr)) => (stderr.trim_end_matches(" ..."), stderr.ends_with(" ...")),
        None => ("", false),
    };
    let mut words: Vec<String> = stderr.split_whitespace().map(str::to_owned).collect();
    if truncated {
        words.pop();
    }
    let mut stderr = words.join(" ");
    let mut secrets: Vec<&str> = command
        .expose()
        .split(|c: char| c.is_whitespace() || "'\"=;|&$()".contains(c))
        .filter(|w| w.len() > 2)
        .collect();
    secrets.sort_by_key(|w| std::cmp::Reverse(w.len()));
    for secret in secrets {
        stderr = stderr.replace(secret, "<...>");
    }
    let exit = if exit.is_empty() { String::new() } else { format!(" with exit code {exit}") };
    let stderr = if stderr.is_empty() { String::new() } else { format!(": {stderr}") };
    DriverError::Refused { status, message: format!("the command failed{exit}{stderr}").into() }
}

/// Replaces the device's error message, which might quote a secret in any form.
pub(super) fn redact_body(error: DriverError, message: &str) -> DriverError {
    match error {
        DriverError::Refused { status, .. } => DriverError::Refused { status, message: message.into() },
        DriverError::Protocol(_) => DriverError::Protocol(format!("{message} (details withheld)").into()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_errors_keep_the_exit_code_and_mask_the_command() {
        let of = |message: &str| match redact_command(
            DriverError::Refused { status: Some(500), message: message.into() },
            &Secret::new("login --pin hunter2"),
        ) {
            DriverError::Refused { message, .. } => message.to_string(),
            other => panic!("{other:?}"),
        };
        let message =
            of("Shizuku command failed (exit=127): login --pin hunter2; stderr=sh: login: not found, hunter2 neither");
        assert_eq!(message, "the command failed with exit code 127: sh: <...>: not found, <...> neither");
        // Truncated by the service or in transit, within the command or within stderr.
        assert_eq!(of("Shizuku command failed (exit=1): login --pin hun ..."), "the command failed with exit code 1");
        assert_eq!(
            of("Shizuku command failed (exit=1): x; stderr=no hun ..."),
            "the command failed with exit code 1: no"
        );
        assert_eq!(of("login --pin hunter2: boom"), "the command failed");
    }
}
