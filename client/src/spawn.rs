//! Starting the daemon when none runs.
//!
//! The daemon is told to report to us as it would to systemd (`NOTIFY_SOCKET`), so that a failed start is told, not guessed.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::trust;

/// How long a start may take: migrations of a large database included.
const PATIENCE: Duration = Duration::from_secs(30);
/// A link in the place of our lock was made by somebody else.
const NO_FOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
/// When the log is put aside, bytes.
const MAX_LOG: u64 = 10 << 20;

/// What the daemon is started with.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// The socket.
    pub socket: PathBuf,
    /// The database, if not the usual one.
    pub memory_db: Option<PathBuf>,
    /// The settings, if not the usual ones.
    pub config: Option<PathBuf>,
    /// Where it logs, if not to the usual place.
    pub log: Option<PathBuf>,
    /// Whether the socket is one that no unit manages.
    pub private: bool,
}

/// Why there is no daemon.
#[derive(Debug)]
pub struct NoDaemon {
    /// What happened.
    pub why: String,
    /// What to do next, if it is known.
    pub hint: Option<String>,
}

impl NoDaemon {
    fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), hint: None }
    }
}

/// Whether an error of connecting means that no daemon listens.
pub fn nobody_listens(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

/// Starts the daemon and connects to it. Of several callers at once, one starts it and the others use it.
///
/// # Errors
/// The daemon's own words when it did not start.
pub fn start(start: &Start) -> Result<Connection, NoDaemon> {
    match enabled_unit().filter(|_| !start.private) {
        Some(unit) => Err(NoDaemon {
            why: format!("afd is managed by systemd ({unit} is enabled), but does not run"),
            hint: Some(start_hint(start.private)),
        }),
        None => start_private(start),
    }
}

/// How the daemon is started here.
pub fn start_hint(private: bool) -> String {
    match enabled_unit().filter(|_| !private) {
        Some(unit) => format!("start it with `systemctl --user start {unit}`"),
        None => "start it with `afctl daemon start`".to_owned(),
    }
}

fn lock_file(socket: &Path) -> PathBuf {
    let mut name = socket.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// The process that serves a socket, as its lock says it.
pub fn holder(socket: &Path) -> Option<u32> {
    std::fs::read_to_string(lock_file(socket)).ok()?.split_whitespace().next()?.parse().ok()
}

/// Whether a daemon lives that serves a socket, be it on its way out.
pub fn is_held(socket: &Path) -> bool {
    let Ok(file) = std::fs::File::open(lock_file(socket)) else { return false };
    matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock))
}

/// Like [`start`], for a daemon on a socket of its own, which no unit manages.
///
/// # Errors
/// The daemon's own words when it did not start.
pub fn start_private(start: &Start) -> Result<Connection, NoDaemon> {
    let dir = start.socket.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let fail = |what: &str, e: io::Error| NoDaemon::new(format!("{what}: {e}"));
    // Before anything is written there.
    trust::check_directory(&start.socket).map_err(|e| fail("the socket's directory is not trusted", e))?;
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|e| fail("cannot make the socket's directory", e))?;
    let lock =
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).custom_flags(NO_FOLLOW).open(dir.join("afd.spawn.lock"));
    let lock = lock.map_err(|e| fail("cannot lock", e))?;
    lock.lock().map_err(|e| fail("cannot lock", e))?;
    // Somebody else may have started it while this waited for the lock.
    match Connection::open(&start.socket) {
        Err(error) if nobody_listens(&error) => {}
        Err(error) => return Err(fail("cannot connect", error)),
        Ok(connection) => return Ok(connection),
    }
    let report_path = dir.join(format!("start-{}.sock", std::process::id()));
    let _ = std::fs::remove_file(&report_path);
    let report = UnixDatagram::bind(&report_path).map_err(|e| fail("cannot listen for the daemon's report", e))?;
    let result = launch(start, &report_path).and_then(|child| wait(child, &report, start));
    let _ = std::fs::remove_file(&report_path);
    result?;
    Connection::open(&start.socket).map_err(|e| fail("the daemon started, but", e))
}

/// A user unit that is to run the daemon.
fn enabled_unit() -> Option<&'static str> {
    let config = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")))?;
    let units = config.join("systemd/user");
    [("afd.socket", "sockets.target.wants"), ("afd.service", "default.target.wants")]
        .into_iter()
        .find(|(unit, target)| units.join(target).join(unit).exists())
        .map(|(unit, _)| unit)
}

/// A program of ours: beside this one, else in `PATH`.
pub fn program(name: &str) -> PathBuf {
    let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join(name))).filter(|p| p.is_file());
    beside.unwrap_or_else(|| PathBuf::from(name))
}

fn launch(start: &Start, report: &Path) -> Result<std::process::Child, NoDaemon> {
    let program = program("afd");
    let log = start.log.clone().unwrap_or_else(|| afd_proto::paths::state_dir().join("afd.log"));
    let stderr = open_log(&log).map_or_else(|_| Stdio::null(), Stdio::from);
    let mut command = Command::new(&program);
    command.arg("--detached").arg("--socket").arg(&start.socket);
    if let Some(db) = &start.memory_db {
        command.arg("--memory-db").arg(db);
    }
    if let Some(config) = &start.config {
        command.arg("--config").arg(config);
    }
    // Whose environment? This call's device is not the daemon's.
    const OURS: [&str; 9] = [
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
    for name in OURS {
        command.env_remove(name);
    }
    command
        .env("NOTIFY_SOCKET", report)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn()
        .map_err(|e| NoDaemon::new(format!("cannot start {}: {e}; it is looked for beside afctl, then in PATH", program.display())))
}

fn open_log(path: &Path) -> io::Result<std::fs::File> {
    if let Some(dir) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    if std::fs::metadata(path).is_ok_and(|m| m.len() > MAX_LOG) {
        std::fs::rename(path, path.with_extension("log.old"))?;
    }
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// Waits until the daemon says that it is ready, or why it is not.
fn wait(mut child: std::process::Child, report: &UnixDatagram, start: &Start) -> Result<(), NoDaemon> {
    let deadline = Instant::now() + PATIENCE;
    let _ = report.set_read_timeout(Some(Duration::from_millis(100)));
    let mut buffer = [0; 4096];
    let mut said = None;
    while Instant::now() < deadline {
        if let Ok(n) = report.recv(&mut buffer) {
            let text = String::from_utf8_lossy(&buffer[..n]).into_owned();
            if text.lines().any(|l| l == "READY=1") {
                return Ok(());
            }
            said = text.lines().find_map(|l| l.strip_prefix("STATUS=").map(str::to_owned)).or(said);
            if text.lines().any(|l| l.starts_with("ERRNO=")) {
                let _ = child.wait();
                return Err(NoDaemon::new(format!("the daemon did not start: {}", said.unwrap_or_else(|| "it did not say why".into()))));
            }
        } else if let Ok(Some(status)) = child.try_wait() {
            let log = start.log.clone().unwrap_or_else(|| afd_proto::paths::state_dir().join("afd.log"));
            return Err(NoDaemon::new(format!(
                "the daemon ended at its start ({status}): {}; see {}",
                said.unwrap_or_default(),
                log.display()
            )));
        }
    }
    Err(NoDaemon::new(format!("the daemon is not ready after {} s", PATIENCE.as_secs())))
}
