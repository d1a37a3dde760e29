//! Where the socket and the files are: the conventions that daemon and clients share.

use std::path::PathBuf;

fn var(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from)
}

/// A base directory; relative ones are to be ignored (XDG Base Directory Specification).
fn base(name: &str) -> Option<PathBuf> {
    var(name).filter(|p| p.is_absolute())
}

/// The home directory: `$HOME`, else what the user database says.
fn home() -> PathBuf {
    base("HOME").or_else(std::env::home_dir).filter(|p| p.is_absolute()).unwrap_or_else(std::env::temp_dir)
}

/// The socket: `$AFD_SOCKET`, else `$XDG_RUNTIME_DIR/afd/afd.sock`, else `/tmp/afd-<uid>/afd.sock`.
pub fn socket(uid: u32) -> PathBuf {
    var("AFD_SOCKET").unwrap_or_else(|| match base("XDG_RUNTIME_DIR") {
        Some(dir) => dir.join("afd/afd.sock"),
        None => PathBuf::from(format!("/tmp/afd-{uid}/afd.sock")),
    })
}

/// The settings file: `$AFD_CONFIG`, else `$AF_CONFIG`, else `$XDG_CONFIG_HOME/afd/config.toml`.
pub fn config() -> PathBuf {
    var("AFD_CONFIG")
        .or_else(|| var("AF_CONFIG"))
        .unwrap_or_else(|| base("XDG_CONFIG_HOME").unwrap_or_else(|| home().join(".config")).join("afd/config.toml"))
}

/// The default database: `$XDG_DATA_HOME/afd/memory.db`.
pub fn database() -> PathBuf {
    base("XDG_DATA_HOME").unwrap_or_else(|| home().join(".local/share")).join("afd/memory.db")
}

/// Logs and progress files: `$XDG_STATE_HOME/afd`.
pub fn state_dir() -> PathBuf {
    base("XDG_STATE_HOME").unwrap_or_else(|| home().join(".local/state")).join("afd")
}
