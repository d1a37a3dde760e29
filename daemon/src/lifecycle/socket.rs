//! The listening socket: inherited from systemd, or created here.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener as StdListener;
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

use super::StartError;

/// A listener and its clean-up.
pub(super) struct BoundSocket {
    listener: UnixListener,
    cleanup: Cleanup,
}

/// Removes the socket file that [`bind`] created, if the path still refers to it. An inherited socket is left alone.
pub(super) struct Cleanup(Option<(PathBuf, FileId)>);

/// Device and inode numbers.
type FileId = (u64, u64);

fn file_id(path: &Path) -> Option<FileId> {
    std::fs::symlink_metadata(path).ok().map(|m| (m.dev(), m.ino()))
}

impl Cleanup {
    pub(super) fn remove(self) {
        if let Some((path, id)) = self.0
            && file_id(&path) == Some(id)
        {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl BoundSocket {
    pub(super) fn into_parts(self) -> (UnixListener, Cleanup) {
        (self.listener, self.cleanup)
    }
}

/// Takes the socket that the service manager passed, if there is one.
pub(super) fn take_inherited() -> Result<Option<StdListener>, StartError> {
    let refuse = |e| StartError::System(format!("cannot use the inherited socket: {e}"));
    listenfd::ListenFd::from_env().take_unix_listener(0).map_err(refuse)
}

/// Returns the path of an inherited socket; `None` if it has none.
pub(super) fn path_of(listener: &StdListener) -> Option<PathBuf> {
    Some(listener.local_addr().ok()?.as_pathname()?.to_owned())
}

/// Uses the inherited socket or creates one. The caller holds the instance lock, so a leftover socket may be removed.
pub(super) fn bind(path: &Path, inherited: Option<StdListener>) -> Result<BoundSocket, StartError> {
    let refuse = |why: String| StartError::Socket { path: path.display().to_string(), why };
    if let Some(listener) = inherited {
        listener.set_nonblocking(true).map_err(|e| refuse(e.to_string()))?;
        let listener = UnixListener::from_std(listener).map_err(|e| refuse(e.to_string()))?;
        return Ok(BoundSocket { listener, cleanup: Cleanup(None) });
    }
    if std::os::unix::net::UnixStream::connect(path).is_ok() {
        // A daemon answers although we hold the lock: its lock file was probably deleted.
        return Err(StartError::AlreadyRunning(format!("another daemon serves the socket {}", path.display())));
    }
    match std::fs::remove_file(path) {
        Ok(()) => tracing::info!(socket = %path.display(), "removed the stale socket of a previous daemon"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(refuse(format!("cannot remove the stale socket: {error}"))),
    }
    let listener = UnixListener::bind(path).map_err(|e| refuse(e.to_string()))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(|e| refuse(e.to_string()))?;
    let cleanup = Cleanup(file_id(path).map(|id| (path.to_owned(), id)));
    Ok(BoundSocket { listener, cleanup })
}
