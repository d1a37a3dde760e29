//! `afctl doctor`: checks the environment of this program and, through the daemon, that of the daemon.

use std::path::Path;

use afd_proto::daemon::DaemonVersion;
use afd_proto::doctor::{DaemonDoctor, Diagnosis, Finding, Level};
use afd_proto::vocabulary::NoParams;
use clap::{ArgMatches, Args};
use serde_json::Value;

use super::service;
use crate::output::print;
use afd_link::dial::{self, Purpose};
use afd_link::human::{paint, parts};
use afd_link::options::Context;
use afd_link::outcome::{FAILED, Outcome};
use afd_link::{spawn, trust};

/// Options for `doctor`.
#[derive(Debug, Args)]
pub struct Doctor {}

fn finding(check: &str, level: Level, message: impl Into<String>, advice: Option<String>) -> Finding {
    Finding { check: check.to_owned(), level, message: message.into(), advice }
}

/// Runs the checks, prints the findings, and returns the exit code: 1 if a finding is an error, else 0. Warnings do not
/// count.
///
/// # Errors
/// Never returns an error.
pub fn run(_: &ArgMatches, context: &Context) -> Result<u8, clap::Error> {
    let findings = examine(context);
    let diagnosis = Diagnosis { ok: findings.iter().all(|f| f.level != Level::Error), findings };
    let exit = if diagnosis.ok { 0 } else { FAILED };
    let result = Ok(serde_json::value::to_raw_value(&diagnosis).unwrap_or_default());
    print(
        &Outcome { category: "doctor".into(), op: "doctor".into(), result, render: Some(render), only: None },
        context.global.output,
    );
    Ok(exit)
}

fn examine(context: &Context) -> Vec<Finding> {
    let socket = dial::socket(&context.global);
    let mut found = vec![directory(&socket)];
    found.extend(context.global.socket.is_none().then(units).into_iter().flatten());
    let mut connection = match dial::connect(&context.global, Purpose::Call) {
        Ok(connection) => connection,
        Err(failure) => {
            let hint = failure
                .hint
                .unwrap_or_else(|| format!("its log is {}", spawn::log_file(&spawn::Start::default()).display()));
            found.push(finding("daemon", Level::Error, failure.message, Some(hint)));
            return found;
        }
    };
    match connection.call_as::<DaemonVersion>(&NoParams {}) {
        Ok(version) if version.version != env!("CARGO_PKG_VERSION") => {
            let message = format!("it has version {}, afctl has {}", version.version, env!("CARGO_PKG_VERSION"));
            found.push(finding(
                "daemon",
                Level::Warning,
                message,
                Some("`afctl daemon restart` starts the installed one".to_owned()),
            ));
        }
        Ok(version) => {
            found.push(finding("daemon", Level::Ok, format!("version {}, pid {}", version.version, version.pid), None))
        }
        Err(error) => found.push(finding("daemon", Level::Error, dial::failure(error, &context.global).message, None)),
    }
    match connection.call_as::<DaemonDoctor>(&NoParams {}) {
        Ok(diagnosis) => found.extend(diagnosis.findings),
        Err(error) => {
            let failure = dial::failure(error, &context.global);
            found.push(finding("daemon", Level::Error, failure.message, failure.hint));
        }
    }
    found
}

/// Returns the findings about the daemon's systemd unit; none if systemd does not manage the daemon.
fn units() -> Vec<Finding> {
    let Some(state) = service::state() else { return Vec::new() };
    let level = if state.failed { Level::Error } else { Level::Ok };
    let advice = state.failed.then(|| "fix the errors in the journal, then run `afctl daemon restart`".to_owned());
    let journal = state.errors.into_iter().map(|line| finding("journal", Level::Warning, line, None));
    std::iter::once(finding("systemd", level, state.words, advice)).chain(journal).collect()
}

fn directory(socket: &Path) -> Finding {
    match trust::check_directory(socket) {
        Ok(()) => finding("socket", Level::Ok, socket.display().to_string(), None),
        Err(error) => {
            let advice = "remove the directory if it is not yours, or choose another path with --socket or AFD_SOCKET";
            finding("socket", Level::Error, format!("{}: {error}", socket.display()), Some(advice.to_owned()))
        }
    }
}

fn render(data: &Value) -> Option<String> {
    let diagnosis: Diagnosis = serde_json::from_value(data.clone()).ok()?;
    let mut out = String::new();
    for finding in &diagnosis.findings {
        let style = match finding.level {
            Level::Ok => parts::GOOD,
            Level::Warning => parts::WARN,
            Level::Error => parts::BAD,
        };
        out += &format!("{:<9} {}: {}\n", paint(style, finding.level.word()), finding.check, finding.message);
        if let Some(advice) = &finding.advice {
            out += &format!("          {advice}\n");
        }
    }
    Some(out)
}
