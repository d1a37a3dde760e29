//! Reaching the daemon, starting it if need be, and what its errors mean for a command line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::daemon::{DaemonStatus, DaemonVersion};
use afd_proto::vocabulary::NoParams;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::cli::Global;
use crate::connection::{CallError, Connection, Interrupted, Unresponsive};
use crate::outcome::{FAILED, Failure, INTERRUPTED, NO_DAEMON};
use crate::spawn;

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The socket that is meant.
pub fn socket(global: &Global) -> PathBuf {
    global.socket.as_deref().map_or_else(|| afd_proto::paths::socket(rustix::process::geteuid().as_raw()), absolute)
}

/// How often the daemon is asked whether it is alive, while its answer is awaited.
const PROBE: Duration = Duration::from_secs(10);
/// How often a call is asked again that met a daemon on its way out.
const ATTEMPTS: u32 = 5;
/// How long a daemon that was asked to stop may take: its drain, and the end of its writes.
const STOPPING: Duration = Duration::from_secs(30);
/// How often it is looked whether it has ended.
const LOOK: Duration = Duration::from_millis(10);

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A call to the memory that the caller means.
    Call,
    /// A question to whatever daemon runs, which never starts one.
    Running,
}

/// Connects, starting the daemon if need be.
///
/// # Errors
/// Why there is no daemon.
pub fn connect(global: &Global, purpose: Purpose) -> Result<Connection, Failure> {
    let socket = socket(global);
    let mut connection = match Connection::open(&socket) {
        Ok(connection) => connection,
        Err(error) if spawn::nobody_listens(&error) && purpose == Purpose::Call && !global.no_spawn => start(global, socket)?,
        Err(error) => return Err(unreachable(&socket, &error)),
    };
    let timeout = global.timeout_ms.filter(|ms| *ms > 0).map(Duration::from_millis);
    connection.set_timeout(timeout).map_err(|e| Failure::new("INTERNAL", e.to_string(), FAILED))?;
    let probe = std::env::var("AFD_PROBE_MS").ok().and_then(|ms| ms.parse().ok()).filter(|ms| *ms > 0).map(Duration::from_millis);
    connection.set_probe(probe.unwrap_or(PROBE));
    if purpose == Purpose::Call {
        check_database(global, &mut connection)?;
    }
    Ok(connection)
}

fn start(global: &Global, socket: PathBuf) -> Result<Connection, Failure> {
    let config = global.config.clone().or_else(|| std::env::var_os("AF_CONFIG").filter(|v| !v.is_empty()).map(PathBuf::from));
    let start = spawn::Start {
        socket,
        memory_db: global.memory_db.as_deref().filter(|p| !p.as_os_str().is_empty()).map(absolute),
        config: config.as_deref().map(absolute),
        log: None,
        // A socket of one's own is no business of the unit.
        private: global.socket.is_some(),
    };
    spawn::start(&start).map_err(|e| {
        let mut failure = Failure::new("NO_DAEMON", e.why, NO_DAEMON);
        let usual = "a daemon on another socket is reached with --socket; another database is named with --memory-db";
        failure.hint = Some(e.hint.unwrap_or_else(|| usual.to_owned()));
        failure
    })
}

/// Why there is no connection.
fn unreachable(socket: &Path, error: &std::io::Error) -> Failure {
    let at = socket.display();
    let (what, hint) = match error.kind() {
        std::io::ErrorKind::PermissionDenied => (
            format!("the socket {at} is not trusted: {error}"),
            "remove what somebody else made there, or choose another place with --socket or AFD_SOCKET".to_owned(),
        ),
        std::io::ErrorKind::TimedOut => (format!("the daemon at {at} takes no connections"), unresponsive_hint(socket)),
        _ => (format!("no daemon answers at {at}: {error}"), spawn::start_hint(false)),
    };
    let mut failure = Failure::new("NO_DAEMON", what, NO_DAEMON);
    failure.hint = Some(hint);
    failure
}

/// What to do about a daemon that is there and answers nobody.
fn unresponsive_hint(socket: &Path) -> String {
    let pid = spawn::holder(socket).map_or_else(String::new, |pid| format!(" (pid {pid})"));
    format!("see what it does{pid} and end it if need be; the next command starts a new one, and nothing that was acknowledged is lost")
}

/// What a call may do when the daemon that it reached went away before it answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// It reads, or carries a request key: the same call again does nothing twice.
    Safe,
    /// It might do something twice.
    Never,
}

/// Calls a method; starts the daemon if need be, and asks again if it met one that was on its way out.
///
/// # Errors
/// Why there is no result.
pub fn call(
    global: &Global,
    purpose: Purpose,
    repeat: Repeat,
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
            Err(CallError::Broken(error)) if went_away(&error) && repeat == Repeat::Safe && attempts < ATTEMPTS => {}
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

/// Whether the daemon ended, or closed the connection.
fn went_away(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), UnexpectedEof | ConnectionReset | BrokenPipe)
}

/// A call that the daemon does not understand: whether that is because it is older than this program.
fn version_skew(error: &CallError, connection: &mut Connection) -> Option<String> {
    let CallError::Answered { number: -32601 | -32602, data, .. } = error else { return None };
    let code = &data["code"];
    let unknown = code == ErrorCode::UnknownMethod.name() || code.is_null() || data["details"]["got"] == "an unknown one";
    let version = unknown.then(|| connection.call_as::<DaemonVersion>(&NoParams {}).ok()).flatten()?;
    let theirs = version.version;
    is_older(&theirs, env!("CARGO_PKG_VERSION")).then(|| {
        format!(
            "the daemon has version {theirs} and this is {}: stop it with `afctl daemon shutdown`, and the next command starts the newer one",
            env!("CARGO_PKG_VERSION")
        )
    })
}

fn is_older(version: &str, than: &str) -> bool {
    let parts = |v: &str| v.split(['.', '-', '+']).map_while(|part| part.parse::<u64>().ok()).collect::<Vec<_>>();
    parts(version) < parts(than)
}

/// Waits until the daemon of a process that was asked to stop has ended; false when it takes too long.
pub fn wait_for_end(global: &Global, pid: Option<u32>) -> bool {
    let socket = socket(global);
    let deadline = std::time::Instant::now() + STOPPING;
    // Another one may have been started by then.
    while spawn::is_held(&socket) && spawn::holder(&socket) == pid {
        if std::time::Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(LOOK);
    }
    true
}

/// A database that this call names must be the one that the daemon uses.
fn check_database(global: &Global, connection: &mut Connection) -> Result<(), Failure> {
    let Some(wanted) = global.memory_db.as_deref().filter(|p| !p.as_os_str().is_empty()).map(absolute) else { return Ok(()) };
    let status = connection.call_as::<DaemonStatus>(&NoParams {}).map_err(|e| failure(e, global))?;
    let used = PathBuf::from(status.database);
    let same = |p: &Path| p.canonicalize().unwrap_or_else(|_| p.to_owned());
    if same(&used) == same(&wanted) {
        return Ok(());
    }
    let mut failure =
        Failure::new("CONFLICT", format!("the daemon uses the database {}, not {}", used.display(), wanted.display()), FAILED);
    failure.hint = Some("unset AF_DB, stop the daemon first (`afctl daemon shutdown`), or give it another socket (--socket)".into());
    failure.details = json!({"used": used, "wanted": wanted});
    Err(failure)
}

/// What went wrong, as the envelope has it.
pub fn failure(error: CallError, global: &Global) -> Failure {
    match error {
        CallError::Answered { number, message, data } => Failure::answered(number, message, data),
        CallError::Broken(error) => broken(&error, global),
    }
}

fn broken(error: &std::io::Error, global: &Global) -> Failure {
    let inner = error.get_ref();
    if inner.is_some_and(|e| e.is::<Interrupted>()) {
        let mut failure = Failure::new("INTERRUPTED", "interrupted; an action may still be done", INTERRUPTED);
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
        let mut failure = Failure::new("TIMEOUT", format!("no answer within {} ms", global.timeout_ms.unwrap_or(0)), FAILED);
        failure.hint = Some("an action may still be done: observe before you repeat it".into());
        return failure;
    }
    Failure::new("NO_DAEMON", format!("the connection to the daemon broke: {error}"), NO_DAEMON)
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
