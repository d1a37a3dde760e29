//! The listening socket: inherited from systemd, or created here.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener as StdListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::net::UnixListener;
use tokio::sync::mpsc;

use super::StartError;
use super::instance::Locks;
use afd_base::task::run_blocking;

/// Interval at which the socket file is checked.
const CHECKED_EVERY: Duration = Duration::from_millis(500);
/// Minimum interval between log lines about a socket that cannot be recreated.
const LOG_EVERY: Duration = Duration::from_secs(60);

/// Device and inode numbers that identify a file.
type FileId = (u64, u64);

fn file_id(path: &Path) -> Option<FileId> {
    std::fs::symlink_metadata(path).ok().map(|m| (m.dev(), m.ino()))
}

/// A listener and its socket file.
pub(super) struct BoundSocket {
    pub(super) listener: UnixListener,
    pub(super) place: Place,
}

/// The socket file of a listener.
pub(super) struct Place {
    /// Path of the socket; `None` if an inherited socket has no path.
    path: Option<PathBuf>,
    id: Option<FileId>,
    is_ours: bool,
}

impl Place {
    fn is_there(&self) -> bool {
        self.path.as_ref().is_none_or(|path| file_id(path).is_some_and(|id| Some(id) == self.id))
    }

    /// Removes the socket file if this daemon created it, and stops recreating it. An inherited socket stays.
    pub(super) fn remove(&mut self) {
        let is_there = self.is_ours && self.is_there();
        if let Some(path) = self.path.take().filter(|_| is_there) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Watches the socket file. If the file was removed, recreates it with its lock and directory, and sends the new
/// listener to `listeners`.
pub(super) async fn keep(place: Arc<Mutex<Place>>, locks: Arc<Mutex<Locks>>, listeners: mpsc::Sender<UnixListener>) {
    let Some(path) = place.lock().path.clone() else { return };
    let mut logged: Option<Instant> = None;
    loop {
        tokio::time::sleep(CHECKED_EVERY).await;
        let (place, locks, path) = (place.clone(), locks.clone(), path.clone());
        match run_blocking(move || recreate(&place, &locks, &path)).await {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(listener))) => {
                tracing::warn!("recreated the socket, which was removed");
                if listeners.send(listener).await.is_err() {
                    return;
                }
            }
            Ok(Err(error)) if logged.is_none_or(|at| at.elapsed() >= LOG_EVERY) => {
                tracing::error!(%error, "cannot recreate the socket, which was removed; retrying");
                logged = Some(Instant::now());
            }
            Ok(Err(_)) => {}
            Err(panic) => std::panic::panic_any(panic.to_string()),
        }
    }
}

/// Recreates the socket if it is missing.
fn recreate(place: &Mutex<Place>, locks: &Mutex<Locks>, path: &Path) -> Result<Option<UnixListener>, StartError> {
    let mut place = place.lock();
    // The lock of an inherited socket has another path, until the daemon creates the socket itself.
    if place.path.is_some() && (place.is_ours || !place.is_there()) {
        locks.lock().keep_socket_lock(path)?;
    }
    if place.is_there() {
        return Ok(None);
    }
    let bound = bind(path, None)?;
    *place = bound.place;
    Ok(Some(bound.listener))
}

/// Takes the socket that the service manager passed, if there is one.
pub(super) fn take_inherited() -> Result<Option<StdListener>, StartError> {
    let refuse = |e| StartError::System(format!("cannot use the inherited socket: {e}"));
    listenfd::ListenFd::from_env().take_unix_listener(0).map_err(refuse)
}

/// Returns the path of an inherited socket; `None` if the socket has no path.
pub(super) fn path_of(listener: &StdListener) -> Option<PathBuf> {
    Some(listener.local_addr().ok()?.as_pathname()?.to_owned())
}

/// Uses the inherited socket or creates one. The caller holds the instance lock, so a leftover socket may be removed.
pub(super) fn bind(path: &Path, inherited: Option<StdListener>) -> Result<BoundSocket, StartError> {
    let refuse = |why: String| StartError::Socket { path: path.display().to_string(), why };
    if let Some(listener) = inherited {
        let named = path_of(&listener);
        listener.set_nonblocking(true).map_err(|e| refuse(e.to_string()))?;
        let listener = UnixListener::from_std(listener).map_err(|e| refuse(e.to_string()))?;
        let path = named;
        return Ok(BoundSocket {
            listener,
            place: Place { id: path.as_deref().and_then(file_id), path, is_ours: false },
        });
    }
    if std::os::unix::net::UnixStream::connect(path).is_ok() {
        // Another daemon responds although this process holds the lock: that daemon's lock file was probably deleted.
        return Err(StartError::AlreadyRunning(format!("another daemon serves the socket {}", path.display())));
    }
    match std::fs::remove_file(path) {
        Ok(()) => tracing::info!(socket = %path.display(), "removed the stale socket of a previous daemon"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(refuse(format!("cannot remove the stale socket: {error}"))),
    }
    let listener = UnixListener::bind(path).map_err(|e| refuse(e.to_string()))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(|e| refuse(e.to_string()))?;
    Ok(BoundSocket { listener, place: Place { path: Some(path.to_owned()), id: file_id(path), is_ours: true } })
}
