//! The socket: inherited from systemd, or made here.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

use super::StartError;

/// A listener, and what is to be removed at the end.
pub(super) struct Bound {
    listener: UnixListener,
    own: Option<PathBuf>,
}

/// Removes the socket that was made here; one that was inherited stays.
pub(super) struct Cleanup(Option<PathBuf>);

impl Cleanup {
    pub(super) fn remove(self) {
        if let Some(path) = self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Bound {
    pub(super) fn into_parts(self) -> (UnixListener, Cleanup) {
        (self.listener, Cleanup(self.own))
    }
}

/// Takes the inherited socket, or makes one. Only the holder of the lock comes here, so that a leftover may be removed.
pub(super) fn bind(path: &Path) -> Result<Bound, StartError> {
    let refuse = |why: String| StartError::Socket { path: path.display().to_string(), why };
    let inherited = listenfd::ListenFd::from_env().take_unix_listener(0).map_err(|e| refuse(format!("the inherited socket: {e}")))?;
    if let Some(listener) = inherited {
        listener.set_nonblocking(true).map_err(|e| refuse(e.to_string()))?;
        let listener = UnixListener::from_std(listener).map_err(|e| refuse(e.to_string()))?;
        return Ok(Bound { listener, own: None });
    }
    match std::fs::remove_file(path) {
        Ok(()) => tracing::info!(socket = %path.display(), "removed a socket that an earlier daemon left"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(refuse(format!("cannot remove what is there: {error}"))),
    }
    let listener = UnixListener::bind(path).map_err(|e| refuse(e.to_string()))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(|e| refuse(e.to_string()))?;
    Ok(Bound { listener, own: Some(path.to_owned()) })
}
