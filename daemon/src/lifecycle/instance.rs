//! One daemon per socket and one per database, by locks on files that are never deleted.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::StartError;

/// Held until it is dropped, or the process ends.
pub(super) struct Lock {
    _file: File,
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Makes sure of the socket's directory, and takes its lock.
pub(super) fn lock_socket(socket: &Path) -> Result<Lock, StartError> {
    let refuse = |why: String| StartError::Socket { path: socket.display().to_string(), why };
    // The kernel's limit for the path of a socket.
    if socket.as_os_str().len() > 107 {
        return Err(refuse("its path is longer than 107 bytes; choose a shorter one with --socket".into()));
    }
    match std::fs::symlink_metadata(socket) {
        Ok(meta) if !meta.file_type().is_socket() => return Err(refuse("something else than a socket is there".into())),
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
            "others may enter its directory {} (mode {:o}); choose one that is yours alone (mode 700)",
            dir.display(),
            meta.mode() & 0o777
        )));
    }
    lock(&beside(socket, ".lock"), &format!("serves the socket {}", socket.display()))
}

/// Takes the lock of a database.
pub(super) fn lock_database(database: &Path) -> Result<Lock, StartError> {
    if let Some(dir) = database.parent().filter(|d| !d.as_os_str().is_empty() && !d.exists()) {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(|e| StartError::System(format!("cannot make {}: {e}", dir.display())))?;
    }
    lock(&beside(database, ".lock"), &format!("uses the database {}", database.display()))
}

fn lock(path: &Path, what: &str) -> Result<Lock, StartError> {
    let fail = |e: std::io::Error| StartError::System(format!("cannot lock {}: {e}", path.display()));
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path).map_err(fail)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(std::fs::TryLockError::WouldBlock) => {
            let mut pid = String::new();
            let _ = file.read_to_string(&mut pid);
            let pid = pid.trim();
            let who = if pid.is_empty() { "another daemon".to_owned() } else { format!("another daemon (pid {pid})") };
            return Err(StartError::Taken(format!("{who} {what}")));
        }
        Err(std::fs::TryLockError::Error(error)) => return Err(fail(error)),
    }
    let written = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{}", std::process::id()));
    written.map_err(fail)?;
    Ok(Lock { _file: file })
}
