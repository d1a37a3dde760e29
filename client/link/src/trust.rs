//! Checks that a socket belongs to the caller, since tokens and typed text are sent to its owner.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

use crate::platform;

/// User id of root. Root is trusted, because it can do anything anyway and may listen for socket-activated services.
const ROOT: u32 = 0;

fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn denied(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, message)
}

/// Checks that only the caller or root can change a socket's directory. A missing directory is accepted, since it is
/// created later.
///
/// # Errors
/// `PermissionDenied` if the directory is a symbolic link, belongs to another user, or is writable by other users.
pub fn check_directory(socket: &Path) -> io::Result<()> {
    let dir = socket.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let meta = match std::fs::symlink_metadata(dir) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if meta.is_symlink() {
        return Err(denied(format!("{} is a symbolic link", dir.display())));
    }
    if meta.uid() != own_uid() && meta.uid() != ROOT {
        return Err(denied(format!("{} belongs to user {}", dir.display(), meta.uid())));
    }
    if meta.mode() & 0o022 != 0 {
        return Err(denied(format!("{} is writable by other users (mode {:o})", dir.display(), meta.mode() & 0o7777)));
    }
    Ok(())
}

/// Checks that the listening process runs as the caller or root.
///
/// # Errors
/// `PermissionDenied` if the process runs as another user.
pub fn check_peer(stream: &UnixStream, socket: &Path) -> io::Result<()> {
    let uid = platform::peer(stream)?;
    if uid != own_uid() && uid != ROOT {
        return Err(denied(format!("user {uid} listens at {}", socket.display())));
    }
    Ok(())
}
