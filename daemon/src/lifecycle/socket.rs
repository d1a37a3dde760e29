//! The socket: inherited from systemd, or made here.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

use super::StartError;

/// A listener, and what is to be removed at the end.
pub(super) struct BoundSocket {
    listener: UnixListener,
    own: Cleanup,
}

/// Removes the socket that was made here, as long as it is still that one; one that was inherited stays.
pub(super) struct Cleanup(Option<(PathBuf, FileId)>);

/// Device and inode.
type FileId = (u64, u64);

fn id_of(path: &Path) -> Option<FileId> {
    std::fs::symlink_metadata(path).ok().map(|m| (m.dev(), m.ino()))
}

impl Cleanup {
    pub(super) fn remove(self) {
        if let Some((path, id)) = self.0
            && id_of(&path) == Some(id)
        {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl BoundSocket {
    pub(super) fn into_parts(self) -> (UnixListener, Cleanup) {
        (self.listener, self.own)
    }
}

/// Takes the inherited socket, or makes one. Only the holder of the lock comes here, so that a leftover may be removed.
pub(super) fn bind(path: &Path) -> Result<BoundSocket, StartError> {
    let refuse = |why: String| StartError::Socket { path: path.display().to_string(), why };
    let inherited = listenfd::ListenFd::from_env().take_unix_listener(0).map_err(|e| refuse(format!("the inherited socket: {e}")))?;
    if let Some(listener) = inherited {
        listener.set_nonblocking(true).map_err(|e| refuse(e.to_string()))?;
        let listener = UnixListener::from_std(listener).map_err(|e| refuse(e.to_string()))?;
        return Ok(BoundSocket { listener, own: Cleanup(None) });
    }
    if std::os::unix::net::UnixStream::connect(path).is_ok() {
        // Somebody answers there in spite of our lock, whose file was deleted perhaps.
        return Err(StartError::Taken(format!("another daemon serves the socket {}", path.display())));
    }
    match std::fs::remove_file(path) {
        Ok(()) => tracing::info!(socket = %path.display(), "removed a socket that a previous daemon left"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(refuse(format!("cannot remove what is there: {error}"))),
    }
    let listener = UnixListener::bind(path).map_err(|e| refuse(e.to_string()))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(|e| refuse(e.to_string()))?;
    let own = Cleanup(id_of(path).map(|id| (path.to_owned(), id)));
    Ok(BoundSocket { listener, own })
}
