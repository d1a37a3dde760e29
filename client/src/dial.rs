//! Reaching the daemon, starting it if need be, and what its errors mean for a command line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::Global;
use crate::connection::{CallError, Connection};
use crate::outcome::Failure;
use crate::spawn;

/// Exit code of a failure.
pub const FAILED: u8 = 1;
/// Exit code of a wrong command line.
pub const USAGE: u8 = 2;
/// Exit code when there is no daemon.
pub const NO_DAEMON: u8 = 3;
/// Exit code after Ctrl-C.
pub const INTERRUPTED: u8 = 130;

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The socket that is meant.
pub fn socket(global: &Global) -> PathBuf {
    global.socket.as_deref().map_or_else(|| afd_proto::paths::socket(rustix::process::geteuid().as_raw()), absolute)
}

/// Connects, starting the daemon if need be.
///
/// # Errors
/// Why there is no daemon.
pub fn connect(global: &Global, may_start: bool) -> Result<Connection, Failure> {
    let socket = socket(global);
    let mut connection = match Connection::open(&socket) {
        Ok(connection) => connection,
        Err(error) if spawn::nobody_listens(&error) && may_start && !global.no_spawn => {
            let start = spawn::Start {
                socket: socket.clone(),
                memory_db: global.memory_db.as_deref().filter(|p| !p.as_os_str().is_empty()).map(absolute),
                config: global
                    .config
                    .clone()
                    .or_else(|| std::env::var_os("AF_CONFIG").filter(|v| !v.is_empty()).map(PathBuf::from))
                    .as_deref()
                    .map(absolute),
                log: None,
            };
            spawn::start(&start).map_err(|e| {
                let mut failure = Failure::new("NO_DAEMON", e.0, NO_DAEMON);
                failure.hint =
                    Some("a daemon on another socket is reached with --socket; another database is named with --memory-db".into());
                failure
            })?
        }
        Err(error) => {
            let mut failure = Failure::new("NO_DAEMON", format!("no daemon answers at {}: {error}", socket.display()), NO_DAEMON);
            failure.hint = Some("start it with `afctl daemon start`".into());
            return Err(failure);
        }
    };
    let timeout = global.timeout_ms.filter(|ms| *ms > 0).map(Duration::from_millis);
    connection.set_timeout(timeout).map_err(|e| Failure::new("INTERNAL", e.to_string(), FAILED))?;
    check_database(global, &mut connection)?;
    Ok(connection)
}

/// A database that this call names must be the one that the daemon uses.
fn check_database(global: &Global, connection: &mut Connection) -> Result<(), Failure> {
    let Some(wanted) = global.memory_db.as_deref().filter(|p| !p.as_os_str().is_empty()).map(absolute) else { return Ok(()) };
    let status = connection.call("daemon.status", json!({})).map_err(|e| failure(e, global))?;
    let used = PathBuf::from(status["database"].as_str().unwrap_or_default());
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
        CallError::Answered { number, message, data } => {
            let text = |key: &str| data.get(key).and_then(Value::as_str).map(str::to_owned);
            let code = text("code").unwrap_or_else(|| if number == -32601 { "UNSUPPORTED".into() } else { "INVALID_PARAMS".into() });
            Failure {
                status: "failed",
                code,
                message,
                hint: text("hint"),
                details: data.get("details").cloned().unwrap_or_default(),
                retryable: data.get("retryable").and_then(Value::as_bool).unwrap_or(false),
                trace: text("traceId"),
                exit: FAILED,
            }
        }
        CallError::Broken(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
            let mut failure = Failure::new("TIMEOUT", format!("no answer within {} ms", global.timeout_ms.unwrap_or(0)), FAILED);
            failure.hint = Some("an action may still be done: observe before you repeat it".into());
            failure
        }
        CallError::Broken(error) if error.kind() == std::io::ErrorKind::Interrupted => {
            let mut failure = Failure::new("INTERRUPTED", "interrupted; an action may still be done", INTERRUPTED);
            failure.status = "interrupted";
            failure.retryable = true;
            failure
        }
        CallError::Broken(error) => Failure::new("NO_DAEMON", format!("the connection to the daemon broke: {error}"), NO_DAEMON),
    }
}
