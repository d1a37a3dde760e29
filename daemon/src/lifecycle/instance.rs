//! One daemon per socket and one per database, by locks on files that are never deleted.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read, Seek};
use std::os::unix::fs::{DirBuilderExt, FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::StartError;

/// How long a daemon that is leaving may take: its drain, and the end of its writes.
const LEAVING: Duration = Duration::from_secs(20);
/// How long a lock of a process that is being killed may stay.
const DYING: Duration = Duration::from_secs(3);
/// How often a lock is tried again.
const RETRY: Duration = Duration::from_millis(10);
/// What the lock file of a daemon says that is on its way out.
const LEAVING_WORD: &str = "leaving";

/// Held until it is dropped, or the process ends.
pub(super) struct Locks {
    /// The database itself, so that neither a link to it nor a deleted lock file lets a second daemon in. It must stay open:
    /// closing it would end the locks that SQLite holds on it. It is free before the files are, which others wait for.
    _database: File,
    files: [File; 2],
}

impl Locks {
    /// Takes the locks of a socket and a database; waits for a daemon that is leaving.
    pub(super) fn take(socket: &Path, database: &Path) -> Result<Self, StartError> {
        let socket = lock_socket(socket)?;
        let (file, database) = lock_database(database)?;
        Ok(Self { files: [socket, file], _database: database })
    }

    /// Tells who waits for these locks that they will soon be free.
    pub(super) fn note_leaving(&self) {
        for file in &self.files {
            if let Err(error) = sign(file, LEAVING_WORD) {
                tracing::debug!(%error, "cannot write to a lock file");
            }
        }
    }
}

/// Writes who holds a lock, in one step: somebody may be reading it. A longer text replaces a shorter one.
fn sign(file: &File, word: &str) -> std::io::Result<()> {
    file.write_all_at(format!("{} {word}\n", std::process::id()).as_bytes(), 0)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Makes sure of the socket's directory, and takes its lock.
fn lock_socket(socket: &Path) -> Result<File, StartError> {
    let refuse = |why: String| StartError::Socket { path: socket.display().to_string(), why };
    // The kernel's limit for the path of a socket.
    if socket.as_os_str().len() > 107 {
        return Err(refuse("its path is longer than 107 bytes; choose a shorter one with --socket".into()));
    }
    match std::fs::symlink_metadata(socket) {
        Ok(meta) if !meta.file_type().is_socket() => return Err(refuse("the path exists and is not a socket".into())),
        _ => {}
    }
    let dir = socket.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !dir.exists() {
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|e| refuse(format!("cannot make its directory: {e}")))?;
    }
    let meta = std::fs::symlink_metadata(dir).map_err(|e| refuse(e.to_string()))?;
    if !meta.is_dir() {
        return Err(refuse("its directory is not a directory (a link does not count)".into()));
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(refuse(format!("its directory belongs to user {}", meta.uid())));
    }
    if meta.mode() & 0o077 != 0 {
        return Err(refuse(format!(
            "its directory {} is accessible to other users (mode {:o}); use mode 700",
            dir.display(),
            meta.mode() & 0o777
        )));
    }
    lock(&beside(socket, ".lock"), &format!("serves the socket {}", socket.display()))
}

/// Takes the lock of a database, and that of the file itself.
fn lock_database(database: &Path) -> Result<(File, File), StartError> {
    if let Some(dir) = database.parent().filter(|d| !d.as_os_str().is_empty() && !d.exists()) {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(|e| StartError::System(format!("cannot make {}: {e}", dir.display())))?;
    }
    let fail = |e: std::io::Error| StartError::System(format!("cannot open {}: {e}", database.display()));
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(database).map_err(fail)?;
    let real = database.canonicalize().map_err(fail)?;
    let what = format!("uses the database {}", database.display());
    let beside = lock(&beside(&real, ".lock"), &what)?;
    match file.try_lock() {
        Ok(()) => Ok((beside, file)),
        Err(std::fs::TryLockError::WouldBlock) => Err(StartError::Taken(format!("another daemon {what}"))),
        Err(std::fs::TryLockError::Error(error)) => Err(fail(error)),
    }
}

/// Who holds a lock, as its file says it.
#[derive(Default)]
struct Holder {
    pid: Option<i32>,
    leaving: bool,
}

impl Holder {
    fn read(mut file: &File) -> Self {
        let mut text = String::new();
        let _ = file.rewind().and_then(|()| file.read_to_string(&mut text));
        let mut words = text.split_whitespace();
        Self { pid: words.next().and_then(|pid| pid.parse().ok()), leaving: words.next() == Some(LEAVING_WORD) }
    }

    /// Until when it is worth waiting: the lock of a daemon that ends will be free.
    fn patience(&self) -> Duration {
        let alive = self.pid.and_then(rustix::process::Pid::from_raw).is_some_and(|pid| {
            // One that was killed is there until its parent has asked for its end.
            rustix::process::test_kill_process(pid).is_ok() && !is_zombie(pid)
        });
        match (self.leaving, alive) {
            (true, _) => LEAVING,
            (false, false) => DYING,
            (false, true) => Duration::ZERO,
        }
    }
}

fn is_zombie(pid: rustix::process::Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']))
}

fn lock(path: &Path, what: &str) -> Result<File, StartError> {
    let fail = |e: std::io::Error| StartError::System(format!("cannot lock {}: {e}", path.display()));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    let file = options.open(path).map_err(fail)?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(std::fs::TryLockError::WouldBlock) => {
                let holder = Holder::read(&file);
                if begun.elapsed() >= holder.patience() {
                    let who = holder.pid.map_or_else(|| "another daemon".to_owned(), |pid| format!("another daemon (pid {pid})"));
                    return Err(StartError::Taken(format!("{who} {what}")));
                }
                std::thread::sleep(RETRY);
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(fail(error)),
        }
    }
    file.set_len(0).and_then(|()| sign(&file, "")).map_err(fail)?;
    Ok(file)
}
