//! Starts the daemon when none is running.
//!
//! The daemon reports its state to this program in the same way as to systemd (`NOTIFY_SOCKET`), so that this program
//! can report why a start failed.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::options::af_database;
use crate::trust;

/// Maximum time for the daemon to start, including the migration of a large database.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// Flag for `open` that refuses a symbolic link in place of the lock file, because another user may have created the
/// link.
const NO_FOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits() as i32;

/// Options for starting the daemon.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// Path of the socket on which the daemon listens.
    pub socket: PathBuf,
    /// Database file; `None` for the default.
    pub memory_db: Option<PathBuf>,
    /// Configuration file; `None` for the default.
    pub config: Option<PathBuf>,
    /// Log file; `None` for the default.
    pub log: Option<PathBuf>,
    /// Whether the socket is a private one rather than the one that a systemd unit manages.
    pub private: bool,
}

/// Error: no daemon could be started.
#[derive(Debug)]
pub struct NoDaemon {
    /// Error message.
    pub message: String,
    /// Suggested next step, if known.
    pub hint: Option<String>,
}

impl NoDaemon {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }
}

/// Returns whether a connection error means that no daemon is listening.
pub fn is_not_listening(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

/// Starts the daemon and connects to it. If several callers do this at once, one of them starts the daemon and all
/// connect to it.
///
/// # Errors
/// Returns the daemon's own error message if it did not start, or an error if an enabled systemd unit manages the
/// daemon.
pub fn start(start: &Start) -> Result<Connection, NoDaemon> {
    match enabled_unit().filter(|_| !start.private) {
        Some(unit) => Err(NoDaemon {
            message: format!("afd is managed by systemd ({unit} is enabled) but is not running"),
            hint: Some(start_hint(start.private)),
        }),
        None => start_private(start),
    }
}

/// Returns a hint on how to start the daemon.
pub fn start_hint(private: bool) -> String {
    match enabled_unit().filter(|_| !private) {
        Some(_) => "`afctl daemon restart` lets systemd start it, and `afctl doctor` tells why it stopped".to_owned(),
        None => "start it with `afctl daemon start`".to_owned(),
    }
}

fn lock_file(socket: &Path) -> PathBuf {
    let mut name = socket.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// Returns the process id of the daemon that serves a socket, from its lock file.
pub fn daemon_pid(socket: &Path) -> Option<u32> {
    std::fs::read_to_string(lock_file(socket)).ok()?.split_whitespace().next()?.parse().ok()
}

/// Returns whether a daemon, even one that is shutting down, holds the lock for a socket.
pub fn is_locked(socket: &Path) -> bool {
    let Ok(file) = std::fs::File::open(lock_file(socket)) else { return false };
    matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock))
}

/// Returns the socket of the daemon that uses a database, read from the lock file that the daemon holds.
pub fn socket_of(database: &Path) -> Option<PathBuf> {
    let real = database.canonicalize().ok()?;
    let locked = is_locked(&real);
    let text = std::fs::read_to_string(lock_file(&real)).ok().filter(|_| locked)?;
    let socket = PathBuf::from(text.lines().nth(1)?);
    socket.is_absolute().then_some(socket)
}

fn directory_of(socket: &Path) -> &Path {
    socket.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Acquires the lock that a process must hold while it starts the daemon for a socket, and waits for the lock if
/// necessary. Dropping the returned file releases the lock.
///
/// # Errors
/// If the socket's directory is not trusted or cannot be created.
pub fn start_lock(socket: &Path) -> Result<std::fs::File, NoDaemon> {
    let dir = directory_of(socket);
    let fail = |what: &str, e: io::Error| NoDaemon::new(format!("{what}: {e}"));
    // Check the directory before anything is written to it.
    trust::check_directory(socket).map_err(|e| fail("the socket's directory is not trusted", e))?;
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(|e| fail("cannot create the socket's directory", e))?;
    let lock = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(NO_FOLLOW)
        .open(dir.join("afd.spawn.lock"));
    let lock = lock.map_err(|e| fail("cannot open the start lock", e))?;
    lock.lock().map_err(|e| fail("cannot acquire the start lock", e))?;
    Ok(lock)
}

/// Number of times that a daemon is started which ends before a connection is made.
const STARTS: u32 = 3;

/// Starts a daemon, and waits until it reports that it listens.
fn start_once(start: &Start, dir: &Path) -> Result<(), NoDaemon> {
    let fail = |what: &str, e: io::Error| NoDaemon::new(format!("{what}: {e}"));
    let report_path = dir.join(format!("start-{}.sock", std::process::id()));
    let _ = std::fs::remove_file(&report_path);
    let report = UnixDatagram::bind(&report_path)
        .map_err(|e| fail("cannot create the socket for the daemon's start report", e))?;
    let result = launch(start, &report_path).and_then(|child| wait(child, &report, start));
    let _ = std::fs::remove_file(&report_path);
    result.map(|_| ())
}

/// Like [`start`], for a daemon on a socket that no systemd unit manages.
///
/// # Errors
/// Returns the daemon's own error message if it did not start.
pub fn start_private(start: &Start) -> Result<Connection, NoDaemon> {
    let fail = |what: &str, e: io::Error| NoDaemon::new(format!("{what}: {e}"));
    let dir = directory_of(&start.socket);
    let _lock = start_lock(&start.socket)?;
    // Another process may have started the daemon while this process waited for the lock.
    match Connection::open(&start.socket) {
        Err(error) if is_not_listening(&error) => {}
        Err(error) => return Err(fail("cannot connect to the daemon", error)),
        Ok(connection) => return Ok(connection),
    }
    for _ in 1..STARTS {
        start_once(start, dir)?;
        match Connection::open(&start.socket) {
            // Another process ended it immediately.
            Err(error) if is_not_listening(&error) => {}
            opened => return opened.map_err(|e| fail("the daemon started, but connecting failed", e)),
        }
    }
    start_once(start, dir)?;
    Connection::open(&start.socket).map_err(|e| fail("the daemon started, but connecting failed", e))
}

/// Returns the directory for the user's systemd units; `None` if there is no home directory.
pub fn unit_dir() -> Option<PathBuf> {
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
    let config = config.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")));
    Some(config?.join("systemd/user"))
}

/// Returns the enabled systemd user unit that runs the daemon, if any.
pub fn enabled_unit() -> Option<&'static str> {
    let units = unit_dir()?;
    [("afd.socket", "sockets.target.wants"), ("afd.service", "default.target.wants")]
        .into_iter()
        .find(|(unit, target)| units.join(target).join(unit).exists())
        .map(|(unit, _)| unit)
}

/// Returns the path of another executable of this project, which is normally in the same directory as this one. If it
/// is not there, returns its bare name, which is looked up in `PATH`.
pub fn program(name: &str) -> PathBuf {
    let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join(name))).filter(|p| p.is_file());
    beside.unwrap_or_else(|| PathBuf::from(name))
}

/// Environment variables that apply to a single call and must not become defaults of the daemon.
const PER_CALL: [&str; 9] = [
    "AF_URL",
    "AF_TOKEN",
    "AF_DB",
    "AFD_SOCKET",
    "AF_ARTIFACT_DIR",
    "AF_SCREEN_FILE",
    "AF_SCREENSHOT_FILE",
    "AF_PAGE_DIR",
    "ANDROID_SERIAL",
];

/// Returns the command that starts the daemon with these options.
pub fn command(start: &Start) -> Command {
    let mut command = Command::new(program("afd"));
    command.arg("--socket").arg(&start.socket);
    let of_environment = af_database().map(|db| std::path::absolute(&db).unwrap_or(db));
    let database = start.memory_db.as_ref();
    let by_flag = database.filter(|db| Some(*db) != of_environment.as_ref());
    if let Some(db) = by_flag {
        command.arg("--memory-db").arg(db);
    }
    if let Some(config) = &start.config {
        command.arg("--config").arg(config);
    }
    for name in PER_CALL {
        command.env_remove(name);
    }
    // Pass a database named by `AF_DB` in that variable, because the daemon reports where its database setting comes
    // from.
    if let Some(db) = database.filter(|_| by_flag.is_none()) {
        command.env("AF_DB", db);
    }
    command.current_dir("/").stdin(Stdio::null());
    command
}

/// Returns the log file for a daemon that is started with these options.
pub fn log_file(start: &Start) -> PathBuf {
    start.log.clone().unwrap_or_else(|| afd_proto::paths::state_dir().join("afd.log"))
}

fn launch(start: &Start, report: &Path) -> Result<std::process::Child, NoDaemon> {
    let mut command = command(start);
    command.arg("--detached").arg("--log-file").arg(log_file(start));
    let program = program("afd");
    command.env("NOTIFY_SOCKET", report).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(|e| {
        NoDaemon::new(format!(
            "cannot start {}: {e}; afctl looks in its own directory, then in PATH",
            program.display()
        ))
    })
}

/// Waits until the daemon reports that it is ready, or why it failed to start.
fn wait(mut child: std::process::Child, report: &UnixDatagram, start: &Start) -> Result<(), NoDaemon> {
    let deadline = Instant::now() + START_TIMEOUT;
    let _ = report.set_read_timeout(Some(Duration::from_millis(100)));
    let mut buffer = [0; 4096];
    let mut status_text = None;
    while Instant::now() < deadline {
        if let Ok(n) = report.recv(&mut buffer) {
            let text = String::from_utf8_lossy(&buffer[..n]).into_owned();
            if text.lines().any(|l| l == "READY=1") {
                return Ok(());
            }
            status_text = text.lines().find_map(|l| l.strip_prefix("STATUS=").map(str::to_owned)).or(status_text);
            if text.lines().any(|l| l.starts_with("ERRNO=")) {
                let _ = child.wait();
                return Err(NoDaemon::new(format!(
                    "the daemon did not start: {}",
                    status_text.unwrap_or_else(|| "no error message was given".into())
                )));
            }
        } else if let Ok(Some(status)) = child.try_wait() {
            let log = log_file(start);
            return Err(NoDaemon::new(format!(
                "the daemon exited during startup ({status}): {}; see {}",
                status_text.unwrap_or_default(),
                log.display()
            )));
        }
    }
    Err(NoDaemon::new(format!("the daemon was not ready after {} s", START_TIMEOUT.as_secs())))
}
