//! Where the socket and the files are: the conventions that daemon and clients share.

use std::path::PathBuf;

fn var(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from)
}

fn home() -> PathBuf {
    var("HOME").unwrap_or_else(|| PathBuf::from("/"))
}

/// The socket: `$AFD_SOCKET`, else `$XDG_RUNTIME_DIR/afd/afd.sock`, else `/tmp/afd-<uid>/afd.sock`.
pub fn socket(uid: u32) -> PathBuf {
    var("AFD_SOCKET").unwrap_or_else(|| match var("XDG_RUNTIME_DIR") {
        Some(dir) => dir.join("afd/afd.sock"),
        None => PathBuf::from(format!("/tmp/afd-{uid}/afd.sock")),
    })
}

/// The settings file: `$AFD_CONFIG`, else `$AF_CONFIG`, else `$XDG_CONFIG_HOME/afd/config.toml`.
pub fn config() -> PathBuf {
    var("AFD_CONFIG")
        .or_else(|| var("AF_CONFIG"))
        .unwrap_or_else(|| var("XDG_CONFIG_HOME").unwrap_or_else(|| home().join(".config")).join("afd/config.toml"))
}

/// The default database: `$XDG_DATA_HOME/afd/memory.db`.
pub fn database() -> PathBuf {
    var("XDG_DATA_HOME").unwrap_or_else(|| home().join(".local/share")).join("afd/memory.db")
}

/// Logs and progress files: `$XDG_STATE_HOME/afd`.
pub fn state_dir() -> PathBuf {
    var("XDG_STATE_HOME").unwrap_or_else(|| home().join(".local/state")).join("afd")
}
