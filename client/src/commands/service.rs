//! The `service` commands, which manage the daemon's systemd user units.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::Subcommand;
use serde_json::{Value, json};

use super::{Call, Group, units};
use afd_link::dial;
use afd_link::human::{paint, parts};
use afd_link::options::Context;
use afd_link::outcome::{FAILED, Failure};
use afd_link::spawn;

/// Run the daemon under systemd.
#[derive(Debug, Subcommand)]
pub enum Service {
    /// Write the user units, and start the daemon through its socket
    Install {
        /// Only write the files: do not enable or start anything
        #[arg(long)]
        no_start: bool,
        /// Replace unit files that were changed or come from elsewhere; each is kept with the suffix `.old`
        #[arg(long)]
        replace: bool,
    },
    /// Stop the units and remove them
    Uninstall,
    /// Show the state of the units
    Status,
    /// Show the daemon's log: from the journal if systemd runs the daemon, else from the log file
    Logs {
        /// Number of most recent lines to show
        #[arg(long, short = 'n', default_value_t = 50)]
        lines: usize,
        /// Keep showing new lines as they are written
        #[arg(long, short)]
        follow: bool,
    },
}

fn unit_dir() -> Result<PathBuf, Failure> {
    spawn::unit_dir().ok_or_else(|| Failure::new("UNSUPPORTED", "neither XDG_CONFIG_HOME nor HOME is set", FAILED))
}

/// Returns two lists: the unit files that afctl wrote and that have not been changed since, and any other files at the
/// paths of the units.
pub(super) fn files() -> (Vec<PathBuf>, Vec<PathBuf>) {
    spawn::unit_dir().map(|dir| units::found(&dir)).unwrap_or_default()
}

/// Stops and disables the units; returns whether `systemctl` succeeded.
pub(super) fn stop() -> bool {
    systemctl(&["disable", "--now", "afd.socket", "afd.service"]).is_ok()
}

/// Makes systemd listen on the daemon's socket again, even if systemd had given up after too many starts. Does nothing
/// if systemd does not manage the daemon.
pub(super) fn revive(context: &Context) -> Result<(), Failure> {
    if context.global.socket.is_some() || spawn::enabled_unit().is_none() {
        return Ok(());
    }
    systemctl(&["reset-failed", "afd.socket", "afd.service"])?;
    systemctl(&["start", "afd.socket"]).map(drop)
}

/// State of the daemon's service as reported by systemd.
pub(super) struct State {
    /// Whether the service is in the state `failed`.
    pub failed: bool,
    /// The state in words, with the last result and the number of restarts.
    pub words: String,
    /// Up to 3 errors that the service logged to the journal in the last 10 minutes.
    pub errors: Vec<String>,
}

/// Returns the state of the daemon's unit; `None` if systemd does not manage it.
pub(super) fn state() -> Option<State> {
    let unit = spawn::enabled_unit()?;
    let shown = show("afd.service").ok()?;
    let value = |key: &str| shown.get(key).map_or("unknown", String::as_str);
    let words = format!(
        "{unit} is enabled; afd.service is {} ({}), last result {}, restarted {} times",
        value("activeState"),
        value("subState"),
        value("result"),
        value("nRestarts")
    );
    let failed = value("activeState") == "failed";
    let journal = Command::new("journalctl")
        .args([
            "--user",
            "--unit",
            "afd.service",
            "--priority",
            "err",
            "--lines",
            "3",
            "--output",
            "cat",
            "--since",
            "-10min",
        ])
        .output();
    let errors = journal
        .map(|output| String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
        .unwrap_or_default();
    Some(State { failed, words, errors })
}

/// Names of the unit properties to show.
const SHOWN: &str = "LoadState,ActiveState,SubState,UnitFileState,MainPID,NRestarts,StatusText,MemoryCurrent,Result";

/// Returns the properties in [`SHOWN`] that are set for a unit, keyed by name in camel case.
fn show(unit: &str) -> Result<BTreeMap<String, String>, Failure> {
    let shown = systemctl(&["show", unit, "--property", SHOWN])?;
    let set = shown
        .lines()
        .filter_map(|line| line.split_once('='))
        .filter(|(_, value)| !value.is_empty() && *value != "[not set]");
    Ok(set.map(|(key, value)| (key[..1].to_lowercase() + &key[1..], value.to_owned())).collect())
}

/// Runs `systemctl --user` and returns its output.
fn systemctl(arguments: &[&str]) -> Result<String, Failure> {
    let output = Command::new("systemctl").arg("--user").args(arguments).output();
    let fail = |why: String| {
        Failure::new("UNSUPPORTED", format!("systemctl --user {}: {why}", arguments.join(" ")), FAILED)
            .with_hint("systemd must run for this user; `loginctl enable-linger` keeps it running without a login")
    };
    let output = output.map_err(|e| fail(e.to_string()))?;
    if !output.status.success() {
        return Err(fail(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the absolute path of the installed daemon.
fn program() -> Result<PathBuf, Failure> {
    let program = spawn::program("afd");
    let candidates = std::env::var_os("PATH").unwrap_or_default();
    let found = if program.is_absolute() {
        Some(program)
    } else {
        std::env::split_paths(&candidates).map(|d| d.join("afd")).find(|p| p.is_file())
    };
    found.ok_or_else(|| Failure::new("NOT_FOUND", "afd is neither beside afctl nor in PATH", FAILED))
}

fn install(context: &Context, (no_start, replace): (bool, bool)) -> Result<Value, Failure> {
    if context.global.socket.is_some() {
        return Err(Failure::new("INVALID_PARAMS", "--socket: the units have the default socket of the user", FAILED));
    }
    let (dir, program) = (unit_dir()?, program()?);
    let files = units::write(&dir, &program, replace)?;
    if !no_start {
        // A daemon that was started by a command still holds the database. It exits once its calls in flight have
        // finished.
        dial::stop(&context.global)?;
        systemctl(&["daemon-reload"])?;
        let _ = systemctl(&["reset-failed", "afd.socket", "afd.service"]);
        systemctl(&["enable", "--now", "afd.socket"])?;
    }
    let files: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    Ok(json!({"files": files, "program": program.display().to_string(), "started": !no_start}))
}

fn uninstall() -> Result<Value, Failure> {
    let ((files, left), stopped) = (files(), stop());
    for path in &files {
        std::fs::remove_file(path).map_err(|e| Failure::new("CONFLICT", format!("{}: {e}", path.display()), FAILED))?;
    }
    let _ = systemctl(&["daemon-reload"]);
    let shown = |paths: Vec<PathBuf>| paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    Ok(json!({"removed": shown(files), "left": shown(left), "stopped": stopped}))
}

fn status() -> Result<Value, Failure> {
    let dir = unit_dir()?;
    let mut units = serde_json::Map::new();
    for name in units::names() {
        let mut unit = serde_json::Map::new();
        // The units may also come from a distribution package, outside the user's directory.
        let loaded = match show(name) {
            Ok(shown) => {
                let loaded = shown.get("loadState").is_some_and(|state| state == "loaded");
                unit.extend(shown.into_iter().map(|(key, value)| (key, value.into())));
                loaded
            }
            Err(failure) => {
                unit.insert("problem".into(), failure.message.into());
                false
            }
        };
        unit.insert("installed".into(), (loaded || dir.join(name).exists()).into());
        units.insert(name.to_owned(), unit.into());
    }
    Ok(units.into())
}

fn logs(lines: usize, follow: bool) -> Failure {
    let managed = unit_dir().is_ok_and(|dir| dir.join("afd.service").exists());
    let count = lines.to_string();
    let mut command = if managed {
        let mut command = Command::new("journalctl");
        command.args(["--user", "--unit", "afd.service", "--lines", &count]);
        command
    } else {
        let mut command = Command::new("tail");
        command.args(["-n", &count]).arg(spawn::log_file(&spawn::Start::default()));
        command
    };
    if follow {
        // The daemon renames its log file when it gets large, so `tail` must reopen it by name.
        command.arg(if managed { "--follow" } else { "-F" });
    }
    let error = command.exec();
    Failure::new("UNSUPPORTED", format!("cannot run {}: {error}", command.get_program().display()), FAILED)
}

fn installed(data: &Value) -> Option<String> {
    let files: Vec<&str> = data["files"].as_array()?.iter().filter_map(Value::as_str).collect();
    let what =
        if data["started"] == true { "systemd starts the daemon when it is needed" } else { "nothing was started" };
    Some(format!("{} {}\n{what}\n", paint(parts::GOOD, "wrote"), files.join(", ")))
}

impl Group for Service {
    fn call(self, _: &Context) -> Call {
        match self {
            Service::Install { no_start, replace } => {
                Call::local("service", "install", Some(installed), move |context| install(context, (no_start, replace)))
            }
            Service::Uninstall => Call::local("service", "uninstall", None, |_| uninstall()),
            Service::Status => Call::local("service", "status", None, |_| status()),
            Service::Logs { lines, follow } => Call::local("service", "logs", None, move |_| Err(logs(lines, follow))),
        }
    }
}
