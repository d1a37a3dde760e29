//! Runs command lines in the shell of a phone.

use std::time::Duration;

use super::shell::script;
use crate::DriverError;
use crate::adb::{Adb, RunError};
use crate::usb::AdbSettings;

/// Maximum length of the phone's message in an error, in characters.
const MAX_MESSAGE: usize = 1_000;
/// What Android prints before the reason why a command failed.
const FAILURES: [&str; 6] =
    ["Error:", "Error type", "Exception occurred", "java.lang.", "** No activities found", "Failure ["];

/// What Android prints if the system ends while it performs a command.
const CUT_OFF: [&str; 4] =
    ["Failure calling service", "Failed transaction", "DeadObjectException", "DeadSystemException"];

/// The shell of one phone, through the adb server.
#[derive(Clone)]
pub struct Remote {
    adb: AdbSettings,
    serial: String,
    /// Maximum wait for a command.
    timeout: Duration,
}

impl Remote {
    /// Returns the shell of a phone. Nothing is sent until it is used.
    pub fn new(adb: AdbSettings, serial: &str, timeout: Duration) -> Self {
        Self { adb, serial: serial.to_owned(), timeout }
    }

    /// Returns the phone's serial number.
    pub fn serial(&self) -> &str {
        &self.serial
    }

    /// Returns the maximum wait for a command.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Runs a command line, and returns what it prints until a line begins with `end`.
    pub async fn run(&self, command: &str, end: &str, within: Duration) -> Result<Vec<u8>, RunError> {
        self.run_with(command, None, end, within).await
    }

    /// Like [`Self::run`], with the first bytes of a file as the standard input of the command.
    pub async fn run_with(
        &self,
        command: &str,
        input: Option<(tokio::fs::File, u64)>,
        end: &str,
        within: Duration,
    ) -> Result<Vec<u8>, RunError> {
        let adb = Adb::new(&self.adb.read());
        adb.exec(&self.serial, command, input, end, within).await
    }

    /// Runs a command line that changes nothing, and returns what it prints.
    pub async fn query(&self, command: &str) -> Result<String, DriverError> {
        let output = self.run(command, "", self.timeout).await.map_err(of_read)?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    /// Runs a command line that acts on the phone, and returns what it prints. `takes` is the time that it needs for itself,
    /// and `parts` the number of inputs in it.
    pub async fn act(&self, command: &str, takes: Duration, parts: usize) -> Result<String, DriverError> {
        self.act_with(command, None, takes, parts).await
    }

    /// Like [`Self::act`], with the first bytes of a file as the standard input of the command.
    pub async fn act_with(
        &self,
        command: &str,
        input: Option<(tokio::fs::File, u64)>,
        takes: Duration,
        parts: usize,
    ) -> Result<String, DriverError> {
        let script = script(command);
        let output = self.run_with(&script.text, input, &script.mark, self.timeout + takes).await.map_err(of_input)?;
        let (output, code) = script.result(&String::from_utf8_lossy(&output));
        let code = code.ok_or_else(|| DriverError::Lost("the phone's shell ended before the command".to_owned()))?;
        if is_cut_off(&output, code) {
            return Err(DriverError::Lost(format!("the command was cut off: {}", refused(&output, code))));
        }
        match (code, failure(&output)) {
            (0, None) => Ok(output.trim().to_owned()),
            // Some of the inputs may have been performed.
            (_, why) if parts > 1 => Err(DriverError::Lost(why.unwrap_or_else(|| format!("code {code}")))),
            (code, _) => Err(refused(&output, code)),
        }
    }
}

/// Returns whether a command ended without saying whether it was performed: it was killed, or the system ended under it.
fn is_cut_off(output: &str, code: i32) -> bool {
    let is_killed = code > 128 && code < 255;
    is_killed || code != 0 && CUT_OFF.iter().any(|mark| output.contains(mark))
}

/// Returns the line that says why a command failed; `None` if none does.
fn failure(output: &str) -> Option<String> {
    let mut lines = output.lines().map(str::trim);
    let mut line = lines.find(|line| FAILURES.iter().any(|mark| line.starts_with(mark)));
    // The error itself follows.
    if line.is_some_and(|line| line.starts_with("Exception occurred")) {
        line = lines.find(|line| !line.is_empty()).or(line);
    }
    line.map(|line| line.chars().take(MAX_MESSAGE).collect())
}

/// Returns the error of a command that the phone did not perform.
pub fn refused(output: &str, code: i32) -> DriverError {
    let why = failure(output).unwrap_or_else(|| output.trim().chars().take(MAX_MESSAGE).collect());
    let message =
        if why.is_empty() { format!("the command ended with code {code}") } else { format!("{why} (code {code})") };
    DriverError::Refused { status: None, message: message.into() }
}

/// Returns the error of a command that changes nothing.
pub fn of_read(error: RunError) -> DriverError {
    DriverError::Unreachable(error.to_string().into())
}

/// Returns the error of a command that acts on the phone.
pub fn of_input(error: RunError) -> DriverError {
    match error {
        RunError::NotSent(why) => DriverError::Unreachable(why.into()),
        RunError::Lost(why) | RunError::Late(why) => DriverError::Lost(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_that_was_cut_off_may_have_been_performed() {
        assert!(is_cut_off("cmd: Failure calling service package: Broken pipe (32)\n", 20));
        assert!(is_cut_off("", 137) && !is_cut_off("Error: no", 255) && !is_cut_off("Failure [X]", 1));
    }

    #[test]
    fn reason_of_a_failure_is_the_line_that_names_it() {
        let output = "Starting: Intent { cmp=a/.B }\nError type 3\nError: Activity class {a/.B} does not exist.\n";
        let DriverError::Refused { message, .. } = refused(output, 1) else { panic!("another error") };
        assert_eq!(&*message, "Error type 3 (code 1)");
        let thrown =
            "Exception occurred while executing 'grant':\njava.lang.IllegalArgumentException: Unknown package: a\n";
        assert_eq!(failure(thrown).as_deref(), Some("java.lang.IllegalArgumentException: Unknown package: a"));
        assert_eq!(failure("Starting: Intent { act=a.Error: cmp=a/.ExceptionView }\n"), None);
    }
}
