//! One daemon per socket and per database, enforced by locks on files that are never deleted.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read, Seek};
use std::os::unix::fs::{DirBuilderExt, FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use super::StartError;
use afd_base::file::with_suffix;
use afd_base::platform;

/// Maximum wait for a daemon that is shutting down, which includes its drain and its last writes.
const SHUTDOWN_WAIT: Duration = Duration::from_secs(20);
/// Maximum wait for a lock held by a process that has been killed but not reaped.
const KILLED_WAIT: Duration = Duration::from_secs(3);
/// Interval between attempts to take a lock.
const RETRY: Duration = Duration::from_millis(10);
/// Word that marks the lock file of a daemon that is shutting down.
const LEAVING_MARK: &str = "leaving";

/// The locks of a running daemon, held until this value is dropped or the process exits.
pub(super) struct Locks {
    /// The locked database file itself, so that neither a link nor a deleted lock file lets a second daemon in. It must
    /// stay open: closing it would drop SQLite's own locks. As the first field, it is released before the lock files
    /// that other daemons wait for.
    _database: File,
    files: [File; 2],
    /// Description of the socket in the database's lock file.
    socket: String,
}

impl Locks {
    /// Locks a socket and a database; waits for a daemon that is shutting down.
    pub(super) fn acquire(socket: &Path, database: &Path) -> Result<Self, StartError> {
        let socket = lock_socket(socket, SHUTDOWN_WAIT)?;
        let (file, database) = lock_database(database)?;
        Ok(Self { files: [socket, file], _database: database, socket: String::new() })
    }

    /// Locks the file that has taken the place of the locked database.
    pub(super) fn lock_database_again(&mut self, database: &Path) -> Result<(), StartError> {
        let file = open_database(database)?;
        self._database = lock_opened(file, database)?;
        Ok(())
    }

    /// Writes the socket's path to the database's lock file. A client whose environment leads to another socket can
    /// then find the daemon by its database.
    pub(super) fn name_socket(&mut self, socket: &Path) {
        let absolute = std::path::absolute(socket).unwrap_or_else(|_| socket.to_owned());
        self.socket = format!("\n{}", absolute.display());
        if let Err(error) = write_holder(&self.files[1], &self.socket) {
            tracing::debug!(%error, "cannot write to a lock file");
        }
    }

    /// Takes the socket lock again if the lock file or its directory was removed. Recreates the directory.
    pub(super) fn keep_socket_lock(&mut self, socket: &Path) -> Result<(), StartError> {
        let held = self.files[0].metadata().map(|meta| (meta.dev(), meta.ino())).ok();
        let here = std::fs::symlink_metadata(with_suffix(socket, ".lock")).map(|meta| (meta.dev(), meta.ino())).ok();
        if held.is_none() || held != here {
            // There is no wait for another holder, because the next attempt follows soon.
            self.files[0] = lock_socket(socket, Duration::ZERO)?;
        }
        Ok(())
    }

    /// Marks the lock files, so that a daemon waiting for them knows that they will be released soon.
    pub(super) fn mark_leaving(&self) {
        let [socket, database] = &self.files;
        for (file, word) in [(socket, LEAVING_MARK.to_owned()), (database, format!("{LEAVING_MARK}{}", self.socket))] {
            if let Err(error) = write_holder(file, &word) {
                tracing::debug!(%error, "cannot write to a lock file");
            }
        }
    }
}

/// Writes the holder of a lock in a single write, because another process may be reading it. The text that one holder
/// writes only gets longer, so the file is not truncated.
fn write_holder(file: &File, word: &str) -> std::io::Result<()> {
    file.write_all_at(format!("{} {word}\n", std::process::id()).as_bytes(), 0)
}

/// Creates or checks the socket's directory, and takes the socket's lock.
fn lock_socket(socket: &Path, most: Duration) -> Result<File, StartError> {
    let refuse = |why: String| StartError::Socket { path: socket.display().to_string(), why };
    // Linux limits the path of a Unix socket to this length.
    if socket.as_os_str().len() > 107 {
        return Err(refuse("the path is longer than 107 bytes; choose a shorter one with --socket".into()));
    }
    match std::fs::symlink_metadata(socket) {
        Ok(meta) if !meta.file_type().is_socket() => return Err(refuse("the path exists and is not a socket".into())),
        _ => {}
    }
    let dir = socket.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !dir.exists() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(|e| refuse(format!("cannot create its directory: {e}")))?;
    }
    let meta = std::fs::symlink_metadata(dir).map_err(|e| refuse(e.to_string()))?;
    if !meta.is_dir() {
        return Err(refuse("its parent is not a directory (symbolic links are not followed)".into()));
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
    lock(&with_suffix(socket, ".lock"), &format!("serves the socket {}", socket.display()), most)
}

/// Takes the lock file of a database, and locks the database file itself.
fn lock_database(database: &Path) -> Result<(File, File), StartError> {
    if let Some(dir) = database.parent().filter(|d| !d.as_os_str().is_empty() && !d.exists()) {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(|e| StartError::System(format!("cannot create {}: {e}", dir.display())))?;
    }
    let file = open_database(database)?;
    let real = database.canonicalize().map_err(|e| cannot_open(database, &e))?;
    let lock_file =
        lock(&with_suffix(&real, ".lock"), &format!("uses the database {}", database.display()), SHUTDOWN_WAIT)?;
    Ok((lock_file, lock_opened(file, database)?))
}

fn cannot_open(database: &Path, error: &std::io::Error) -> StartError {
    StartError::System(format!("cannot open {}: {error}", database.display()))
}

fn open_database(database: &Path) -> Result<File, StartError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.open(database).map_err(|e| cannot_open(database, &e))
}

/// Locks the database file itself.
fn lock_opened(file: File, database: &Path) -> Result<File, StartError> {
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => {
            Err(StartError::AlreadyRunning(format!("another daemon uses the database {}", database.display())))
        }
        Err(std::fs::TryLockError::Error(error)) => Err(cannot_open(database, &error)),
    }
}

/// Holder of a lock, read from the lock file.
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
        Self { pid: words.next().and_then(|pid| pid.parse().ok()), leaving: words.next() == Some(LEAVING_MARK) }
    }

    /// Returns the maximum wait for the lock. Only a holder that is shutting down or dead will release it.
    fn max_wait(&self) -> Duration {
        let alive = self.pid.and_then(rustix::process::Pid::from_raw).is_some_and(platform::is_running);
        match (self.leaving, alive) {
            (true, _) => SHUTDOWN_WAIT,
            (false, false) => KILLED_WAIT,
            (false, true) => Duration::ZERO,
        }
    }
}

/// Takes a lock. Waits for a holder that is about to release it, but not longer than `most`.
fn lock(path: &Path, what: &str, most: Duration) -> Result<File, StartError> {
    let fail = |e: std::io::Error| StartError::System(format!("cannot lock {}: {e}", path.display()));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    let file = options.open(path).map_err(fail)?;
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(std::fs::TryLockError::WouldBlock) => {
                let holder = Holder::read(&file);
                if started.elapsed() >= holder.max_wait().min(most) {
                    let who = holder
                        .pid
                        .map_or_else(|| "another daemon".to_owned(), |pid| format!("another daemon (pid {pid})"));
                    return Err(StartError::AlreadyRunning(format!("{who} {what}")));
                }
                std::thread::sleep(RETRY);
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(fail(error)),
        }
    }
    file.set_len(0).and_then(|()| write_holder(&file, "")).map_err(fail)?;
    Ok(file)
}
