//! Locations of the socket and the files that the daemon and its clients share.

use std::path::PathBuf;

fn var(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from)
}

/// Returns a base directory from the environment variable with this name. Relative paths are ignored, as the XDG Base
/// Directory Specification requires.
fn base(name: &str) -> Option<PathBuf> {
    var(name).filter(|p| p.is_absolute())
}

/// Returns `$HOME`, else the home directory in the user database, or `None` if neither is known.
fn known_home() -> Option<PathBuf> {
    base("HOME").or_else(std::env::home_dir).filter(|p| p.is_absolute())
}

/// Returns the home directory. Programs call [`check`] first, so the fallback, a directory that does not exist, is
/// never used.
fn home() -> PathBuf {
    known_home().unwrap_or_else(|| PathBuf::from("/nonexistent"))
}

/// Checks that the environment or the home directory determines the locations of settings, memory and logs.
///
/// # Errors
/// Returns an error message if there is no home directory and the environment does not name all of these locations.
pub fn check() -> Result<(), String> {
    let named = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"].iter().all(|name| base(name).is_some());
    if named || known_home().is_some() {
        return Ok(());
    }
    Err("HOME is not set, and the user database names no home directory: set HOME to an absolute path".to_owned())
}

/// Returns the path of the socket: `$AFD_SOCKET`, else `$XDG_RUNTIME_DIR/afd/afd.sock`, else `/tmp/afd-<uid>/afd.sock`.
pub fn socket(uid: u32) -> PathBuf {
    var("AFD_SOCKET").unwrap_or_else(|| default_socket(uid))
}

/// Returns the path of the socket that is used if `$AFD_SOCKET` is not set.
pub fn default_socket(uid: u32) -> PathBuf {
    match base("XDG_RUNTIME_DIR") {
        Some(dir) => dir.join("afd/afd.sock"),
        None => PathBuf::from(format!("/tmp/afd-{uid}/afd.sock")),
    }
}

/// Returns the path of the configuration file: `$AFD_CONFIG`, else `$AF_CONFIG`, else
/// `$XDG_CONFIG_HOME/afd/config.toml`.
pub fn config() -> PathBuf {
    var("AFD_CONFIG").or_else(|| var("AF_CONFIG")).unwrap_or_else(default_config)
}

/// Returns the path of the configuration file that is used if neither `$AFD_CONFIG` nor `$AF_CONFIG` is set.
pub fn default_config() -> PathBuf {
    base("XDG_CONFIG_HOME").unwrap_or_else(|| home().join(".config")).join("afd/config.toml")
}

/// Returns the default path of the database: `$XDG_DATA_HOME/afd/memory.db`.
pub fn database() -> PathBuf {
    base("XDG_DATA_HOME").unwrap_or_else(|| home().join(".local/share")).join("afd/memory.db")
}

/// Returns the directory for logs and progress files: `$XDG_STATE_HOME/afd`.
pub fn state_dir() -> PathBuf {
    base("XDG_STATE_HOME").unwrap_or_else(|| home().join(".local/state")).join("afd")
}
