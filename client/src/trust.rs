//! Whether a socket is one of ours: tokens and typed text go to its owner.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// The superuser may do everything anyway, and listens for activated services.
const ROOT: u32 = 0;

fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn denied(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

/// Makes sure that only the caller decides what lies in a socket's directory. A directory that is not there is made later.
///
/// # Errors
/// `PermissionDenied` when it is a link, somebody else's, or others may write to it.
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
        return Err(denied(format!("{} can be written to by other users (mode {:o})", dir.display(), meta.mode() & 0o7777)));
    }
    Ok(())
}

/// Makes sure that the process that listens is the caller's.
///
/// # Errors
/// `PermissionDenied` when it is somebody else's.
pub fn check_peer(stream: &UnixStream, socket: &Path) -> io::Result<()> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?;
    let uid = peer.uid.as_raw();
    if uid != own_uid() && uid != ROOT {
        return Err(denied(format!("user {uid} listens at {}", socket.display())));
    }
    Ok(())
}
