//! Connects to the daemon, starting it if necessary, and converts errors of calls into command-line failures.

use std::path::{Path, PathBuf};
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::daemon::{DaemonShutdown, DaemonStatus, DaemonVersion};
use afd_proto::vocabulary::NoParams;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::connection::{CallError, Connection, Interrupted, Unresponsive};
use crate::options::Global;
use crate::outcome::{FAILED, Failure, INTERRUPTED, NO_DAEMON};
use crate::{own_settings, platform, spawn};

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the socket path given by the options, or else the default path. If neither the options nor the environment
/// name a socket and the default path does not exist, returns the socket of the daemon that uses the database. Such a
/// daemon may have been started with a different runtime directory, for example from cron or over ssh.
pub fn socket(global: &Global) -> PathBuf {
    if let Some(named) = &global.socket {
        return absolute(named);
    }
    let default = afd_proto::paths::socket(rustix::process::geteuid().as_raw());
    if std::env::var_os("AFD_SOCKET").is_some_and(|named| !named.is_empty())
        || default.exists()
        || spawn::is_locked(&default)
    {
        return default;
    }
    spawn::socket_of(&own_settings::database(global)).unwrap_or(default)
}

/// Default interval between liveness probes while waiting for a response; `AFD_PROBE_MS` overrides it.
const PROBE_INTERVAL: Duration = Duration::from_secs(10);
/// Maximum number of times that a call is attempted if the daemon exits before it responds.
const MAX_ATTEMPTS: u32 = 10;
/// Pause before the second attempt; the pause doubles with each further attempt, up to [`MAX_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(20);
/// Maximum pause between attempts. A daemon that is killed repeatedly needs a moment to start.
const MAX_PAUSE: Duration = Duration::from_millis(100);
/// Maximum time to wait for a daemon to finish its calls and writes and exit.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum time to wait for a daemon to acknowledge a shutdown request.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum time to wait if a daemon holds the lock but its socket is missing. A starting daemon will create the socket,
/// and an exiting daemon will release the lock.
const ORPHAN_WAIT: Duration = Duration::from_secs(5);
/// Polling interval while waiting for a daemon to start or stop.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A regular call: starts the daemon if necessary, and requires the database given by the options.
    Call,
    /// A query to whichever daemon is running; never starts one.
    RunningOnly,
}

/// Pauses before the next attempt; `attempts` is the number of failed attempts so far.
fn pause(attempts: u32) {
    std::thread::sleep(FIRST_PAUSE.saturating_mul(1 << attempts.saturating_sub(1).min(8)).min(MAX_PAUSE));
}

/// Connects, starting the daemon if necessary and allowed. Retries if the daemon exits while its database is being
/// checked.
pub fn connect(global: &Global, purpose: Purpose) -> Result<Connection, Failure> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        let mut connection = open(global, purpose)?;
        if purpose == Purpose::RunningOnly {
            return Ok(connection);
        }
        match check_database(global, &mut connection) {
            Ok(()) => return Ok(connection),
            Err(Unchecked::Failed(failure)) => return Err(failure),
            Err(Unchecked::Call(CallError::Io(error))) if is_disconnect(&error) && attempts < MAX_ATTEMPTS => {
                pause(attempts)
            }
            Err(Unchecked::Call(error)) => return Err(failure(error, global)),
        }
    }
}

/// Opens a connection, starting the daemon if necessary and allowed.
fn open(global: &Global, purpose: Purpose) -> Result<Connection, Failure> {
    let socket = socket(global);
    let mut opened = Connection::open(&socket);
    if opened.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
        && is_made_again(global, &socket)
    {
        opened = Connection::open(&socket);
    }
    let is_absent = |error: &std::io::Error| {
        spawn::is_not_listening(error) && (socket.exists() || held_lock(global, &socket).is_none())
    };
    let mut connection = match opened {
        Ok(connection) => connection,
        Err(error) if purpose == Purpose::Call && !global.no_spawn && is_absent(&error) => start(global)?,
        Err(error) => return Err(unreachable(global, &socket, &error)),
    };
    let timeout = global.timeout_ms.filter(|ms| *ms > 0).map(Duration::from_millis);
    connection.set_timeout(timeout).map_err(|e| Failure::new("INTERNAL", e.to_string(), FAILED))?;
    let probe = std::env::var("AFD_PROBE_MS")
        .ok()
        .and_then(|ms| ms.parse().ok())
        .filter(|ms| *ms > 0)
        .map(Duration::from_millis);
    connection.set_probe(probe.unwrap_or(PROBE_INTERVAL));
    Ok(connection)
}

/// Converts the command-line options to options for starting a daemon.
fn options(global: &Global) -> spawn::Start {
    let config =
        global.config.clone().or_else(|| std::env::var_os("AF_CONFIG").filter(|v| !v.is_empty()).map(PathBuf::from));
    spawn::Start {
        socket: socket(global),
        memory_db: global.memory_db.as_deref().filter(|p| !p.as_os_str().is_empty()).map(absolute),
        config: config.as_deref().map(absolute),
        log: None,
        // A socket given by an option is not the one that a systemd unit manages.
        private: global.socket.is_some(),
    }
}

fn start(global: &Global) -> Result<Connection, Failure> {
    spawn::start(&options(global)).map_err(|e| {
        let mut failure = Failure::new("NO_DAEMON", e.message, NO_DAEMON);
        let default = "use --socket to reach a daemon on another socket, --memory-db to name another database";
        failure.hint = Some(e.hint.unwrap_or_else(|| default.to_owned()));
        failure
    })
}

/// Returns the path next to which the daemon that serves a socket holds its lock file. This is the socket or, if the
/// lock file next to the socket was removed together with its directory, the database. Returns `None` if no daemon
/// holds either lock.
fn held_lock(global: &Global, socket: &Path) -> Option<PathBuf> {
    if spawn::is_locked(socket) {
        return Some(socket.to_owned());
    }
    // The lock file is next to the database itself, not next to a link to it.
    let database = own_settings::database(global).canonicalize().ok()?;
    (spawn::socket_of(&database).as_deref() == Some(socket)).then_some(database)
}

/// Returns the path next to which the running daemon holds its lock file, and the daemon's process id if known.
pub fn holder(global: &Global) -> Option<(PathBuf, Option<u32>)> {
    let lock = held_lock(global, &socket(global))?;
    let pid = spawn::daemon_pid(&lock);
    Some((lock, pid))
}

/// Waits until the socket of a running daemon exists, and returns whether it does. The socket is missing briefly while
/// a daemon starts or stops, and a running daemon recreates its socket if it was removed.
fn is_made_again(global: &Global, socket: &Path) -> bool {
    let waited = std::time::Instant::now();
    while waited.elapsed() < ORPHAN_WAIT && !socket.exists() && held_lock(global, socket).is_some() {
        std::thread::sleep(STOP_POLL_INTERVAL);
    }
    socket.exists()
}

/// Returns the failure for a connection that could not be opened.
fn unreachable(global: &Global, socket: &Path, error: &std::io::Error) -> Failure {
    let at = socket.display();
    let (what, hint) = match error.kind() {
        std::io::ErrorKind::PermissionDenied => (
            format!("the socket {at} is not trusted: {error}"),
            "remove the untrusted socket or directory, or choose another path with --socket or AFD_SOCKET".to_owned(),
        ),
        std::io::ErrorKind::TimedOut => {
            (format!("the daemon at {at} accepts no connections"), unresponsive_hint(socket))
        }
        std::io::ErrorKind::NotFound if held_lock(global, socket).is_some() => {
            let what = format!(
                "a daemon is running, but its socket {at} is missing: it was deleted, or the daemon is still starting"
            );
            (what, "`afctl daemon restart` ends it after its calls, and starts a new one".to_owned())
        }
        _ => (format!("cannot connect to the daemon at {at}: {error}"), spawn::start_hint(false)),
    };
    let mut failure = Failure::new("NO_DAEMON", what, NO_DAEMON);
    failure.hint = Some(hint);
    failure
}

/// Returns the hint for a daemon that is running but does not respond.
fn unresponsive_hint(socket: &Path) -> String {
    let pid = spawn::daemon_pid(socket).map_or_else(String::new, |pid| format!(" (pid {pid})"));
    format!(
        "inspect the daemon process{pid} and kill it if necessary; the next command starts a new one, and no acknowledged write is lost"
    )
}

/// Whether a call may be retried if the daemon exits before it responds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Retrying is safe: the call only reads, or has a request key.
    Safe,
    /// Retrying is not safe: the daemon might execute the call twice.
    Never,
}

/// Calls a method, starting the daemon if necessary. Retries if the daemon was shutting down.
pub fn call(
    global: &Global,
    purpose: Purpose,
    retry: Retry,
    prepare: impl Fn(&mut Connection),
    method: &str,
    params: &Value,
) -> Result<Box<RawValue>, Failure> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        let mut connection = connect(global, purpose)?;
        prepare(&mut connection);
        match connection.call_raw(method, params) {
            Ok(result) => return Ok(result),
            Err(CallError::Io(error)) if is_disconnect(&error) && retry == Retry::Safe && attempts < MAX_ATTEMPTS => {
                pause(attempts)
            }
            Err(error) => {
                let skew = version_skew(&error, &mut connection);
                let mut failure = failure(error, global);
                if let Some(skew) = skew {
                    failure.hint = Some(skew);
                }
                return Err(failure);
            }
        }
    }
}

/// Returns whether the daemon exited or closed the connection.
fn is_disconnect(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), UnexpectedEof | ConnectionReset | BrokenPipe)
}

/// Returns a hint if the daemon did not understand a call because it is older than this program.
fn version_skew(error: &CallError, connection: &mut Connection) -> Option<String> {
    let CallError::Rpc { number: -32601 | -32602, data, .. } = error else { return None };
    let code = &data["code"];
    let unknown = code == ErrorCode::UnknownMethod.name()
        || code.is_null()
        || data["details"]["got"].as_str().is_some_and(|got| got.starts_with("an unknown "));
    let version = unknown.then(|| connection.call_as::<DaemonVersion>(&NoParams {}).ok()).flatten()?;
    let theirs = version.version;
    is_older(&theirs, env!("CARGO_PKG_VERSION")).then(|| {
        format!(
            "the daemon has version {theirs}, afctl has {}: `afctl daemon restart` starts the newer one after the calls in flight",
            env!("CARGO_PKG_VERSION")
        )
    })
}

fn is_older(version: &str, than: &str) -> bool {
    let parts = |v: &str| v.split(['.', '-', '+']).map_while(|part| part.parse::<u64>().ok()).collect::<Vec<_>>();
    parts(version) < parts(than)
}

/// Waits until the stopping daemon with process id `pid` releases a lock. Returns false if it still holds the lock
/// after `within`.
fn is_released(lock: &Path, pid: Option<u32>, within: Duration) -> bool {
    let deadline = std::time::Instant::now() + within;
    // Another daemon may have acquired the lock in the meantime.
    while spawn::is_locked(lock) && spawn::daemon_pid(lock) == pid {
        if std::time::Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(STOP_POLL_INTERVAL);
    }
    true
}

/// Waits until the stopping daemon with process id `pid` has exited, which releases its lock.
///
/// # Errors
/// Returns `TIMEOUT` if the daemon takes longer than `STOP_TIMEOUT`.
pub fn wait_for_exit(lock: &Path, pid: Option<u32>) -> Result<(), Failure> {
    if is_released(lock, pid, STOP_TIMEOUT) {
        return Ok(());
    }
    Err(Failure::new("TIMEOUT", "the daemon was asked to stop and has not exited yet", FAILED)
        .with_hint("its log says what it is waiting for; `afctl status` shows whether it is still running"))
}

/// Stops the daemon once its calls in flight have finished; returns whether a daemon was running. If the daemon has no
/// socket or does not answer, sends SIGTERM, then SIGKILL.
pub fn stop(global: &Global) -> Result<bool, Failure> {
    // Resolve the socket once, because the database's lock file names the socket only while the daemon is running.
    let socket = socket(global);
    let Some((lock, pid)) = holder(global) else { return stop_by_call(global, &socket) };
    let asked = Connection::open(&socket).and_then(|mut connection| {
        connection.set_timeout(Some(ANSWER_TIMEOUT))?;
        connection.call_as::<DaemonShutdown>(&NoParams {}).map_err(|error| std::io::Error::other(format!("{error:?}")))
    });
    if asked.is_ok() {
        return wait_for_exit(&lock, pid).map(|()| true);
    }
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::KILL] {
        // The process id may belong to another process, for example if a container shares the lock file.
        let process = pid
            .filter(|pid| platform::is_daemon(*pid))
            .and_then(|pid| rustix::process::Pid::from_raw(i32::try_from(pid).ok()?));
        if is_released(&lock, pid, Duration::ZERO)
            || process.is_none_or(|process| rustix::process::kill_process(process, signal).is_err())
        {
            break;
        }
        if is_released(&lock, pid, STOP_TIMEOUT) {
            return Ok(true);
        }
    }
    wait_for_exit(&lock, pid).map(|()| true)
}

/// Stops a daemon that listens on the socket without holding its lock. Returns whether one was running.
fn stop_by_call(global: &Global, socket: &Path) -> Result<bool, Failure> {
    let mut connection = match Connection::open(socket) {
        Ok(connection) => connection,
        Err(error) if spawn::is_not_listening(&error) => return Ok(false),
        Err(error) => return Err(unreachable(global, socket, &error)),
    };
    connection.call_as::<DaemonShutdown>(&NoParams {}).map_err(|e| failure(e, global))?;
    Ok(true)
}

/// Acquires the lock that a command must hold while it starts a daemon. Dropping the returned file releases the lock.
pub fn start_lock(global: &Global) -> Result<std::fs::File, Failure> {
    spawn::start_lock(&socket(global)).map_err(|e| Failure::new("NO_DAEMON", e.message, NO_DAEMON))
}

/// Runs the daemon executable with an option that makes it perform a single task and exit. Returns the JSON that it
/// prints.
pub fn run_once(global: &Global, option: &str) -> Result<Value, Failure> {
    let output = spawn::command(&options(global)).arg(option).stdin(std::process::Stdio::null()).output();
    let output = output.map_err(|e| Failure::new("NO_DAEMON", format!("cannot start afd: {e}"), NO_DAEMON))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let why = text.lines().last().unwrap_or("it gave no reason").trim_start_matches("afd: ").to_owned();
        return Err(Failure::new("STORE_UNAVAILABLE", why, FAILED));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|e| Failure::new("INTERNAL", format!("afd printed something unexpected: {e}"), FAILED))
}

/// Reason why [`check_database`] failed.
enum Unchecked {
    /// The call to the daemon failed.
    Call(CallError),
    /// The daemon uses another database; the variant holds the failure to report.
    Failed(Failure),
}

/// Checks that the daemon uses the database given by the options, if they name one.
fn check_database(global: &Global, connection: &mut Connection) -> Result<(), Unchecked> {
    let Some(wanted) = global.memory_db.as_deref().filter(|p| !p.as_os_str().is_empty()).map(absolute) else {
        return Ok(());
    };
    let status = connection.call_as::<DaemonStatus>(&NoParams {}).map_err(Unchecked::Call)?;
    let used = PathBuf::from(status.database);
    let same = |p: &Path| p.canonicalize().unwrap_or_else(|_| p.to_owned());
    if same(&used) == same(&wanted) {
        return Ok(());
    }
    let mut failure = Failure::new(
        "CONFLICT",
        format!("the daemon uses the database {}, not {}", used.display(), wanted.display()),
        FAILED,
    );
    failure.hint =
        Some("unset AF_DB, stop the running daemon (`afctl daemon shutdown`), or use another socket (--socket)".into());
    failure.details = json!({"used": used, "wanted": wanted});
    Err(Unchecked::Failed(failure))
}

/// Converts a call error into a failure for the envelope.
pub fn failure(error: CallError, global: &Global) -> Failure {
    match error {
        CallError::Rpc { number, message, data } => Failure::from_response(number, message, data),
        CallError::Io(error) => connection_failure(&error, global),
    }
}

fn connection_failure(error: &std::io::Error, global: &Global) -> Failure {
    let inner = error.get_ref();
    if inner.is_some_and(|e| e.is::<Interrupted>()) {
        let mut failure = Failure::new(
            "INTERRUPTED",
            "interrupted; an action that was already sent may still be executed",
            INTERRUPTED,
        );
        failure.status = "interrupted";
        failure.retryable = true;
        return failure;
    }
    if inner.is_some_and(|e| e.is::<Unresponsive>()) {
        let mut failure = Failure::new("NO_DAEMON", error.to_string(), NO_DAEMON);
        failure.hint = Some(unresponsive_hint(&socket(global)));
        return failure;
    }
    if error.kind() == std::io::ErrorKind::TimedOut {
        let mut failure =
            Failure::new("TIMEOUT", format!("no response within {} ms", global.timeout_ms.unwrap_or(0)), FAILED);
        failure.hint = Some("an action may still be executed: observe before you repeat it".into());
        return failure;
    }
    Failure::new("NO_DAEMON", format!("lost the connection to the daemon: {error}"), NO_DAEMON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (version, older) in [("0.0.9", true), ("0.1.0", false), ("0.2.0", false), ("0.10.0", false), ("", true)] {
            assert_eq!(is_older(version, "0.1.0"), older, "{version}");
        }
        assert!(is_older("0.9.1", "0.10.0"));
    }
}
