//! Linux-specific code of the client. Only Linux is tested.

use std::io;
use std::os::unix::net::UnixStream;

/// Returns whether a process is an afd daemon, judging by its executable name.
pub fn is_daemon(pid: u32) -> bool {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim_end() == "afd"
}

/// Returns the user id of the process at the other end of a socket.
///
/// # Errors
/// If the system does not report the user id.
pub fn peer(stream: &UnixStream) -> io::Result<u32> {
    Ok(rustix::net::sockopt::socket_peercred(stream)?.uid.as_raw())
}
