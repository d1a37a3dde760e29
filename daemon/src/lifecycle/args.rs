//! Command-line arguments.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Parser;

use afd_base::config::{Override, Overrides, keys};

/// Value of `--restore` that selects the newest backup.
pub(super) const NEWEST: &str = "newest";

/// Daemon that lets AI agents operate Android phones and remembers what they did there.
///
/// It serves JSON-RPC 2.0 on a Unix socket: one JSON text per line, Content-Length frames, HTTP or WebSocket,
/// distinguished by the first bytes. `afctl` is its client and starts it on demand.
#[derive(Debug, Clone, Parser)]
#[command(name = "afd", version)]
pub struct Args {
    /// Path of the Unix socket [default: $XDG_RUNTIME_DIR/afd/afd.sock]
    #[arg(long, value_name = "PATH", env = "AFD_SOCKET")]
    pub socket: Option<PathBuf>,
    /// Configuration file [default: $XDG_CONFIG_HOME/afd/config.toml]
    #[arg(long, value_name = "FILE", env = "AFD_CONFIG")]
    pub config: Option<PathBuf>,
    /// Memory database [default: $XDG_DATA_HOME/afd/memory.db]
    #[arg(long, value_name = "FILE", env = "AF_DB")]
    pub memory_db: Option<PathBuf>,
    /// Log filter, for example `info` or `afd=debug`
    #[arg(long, value_name = "FILTER", env = "AFD_LOG", default_value = "info")]
    pub log: String,
    /// Write the log to this file, which is renamed when it gets large, instead of standard error
    #[arg(long, value_name = "FILE")]
    pub log_file: Option<PathBuf>,
    /// Restore a backup, by default the newest, print the result as JSON, and exit
    #[arg(long, value_name = "BACKUP", num_args = 0..=1, require_equals = true, default_missing_value = NEWEST)]
    pub restore: Option<String>,
    /// Try the sentence model in a directory within memory and time limits, print the result as JSON, and exit
    #[arg(long, value_name = "DIRECTORY", hide = true)]
    pub try_model: Option<PathBuf>,
    /// Detach from the terminal's session
    #[arg(long)]
    pub detached: bool,
}

impl Args {
    /// Returns the settings that flags and environment variables override.
    pub fn overrides(&self) -> Overrides {
        let uid = rustix::process::geteuid().as_raw();
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let mut values: BTreeMap<&'static str, Override> = keys::variables()
            .filter(|(key, _)| *key != "memory.db")
            .filter_map(|(key, name)| {
                variable(name).map(|v| (key, Override { value: absolute(v), variable: Some(name) }))
            })
            .collect();
        if let Some(db) = self.memory_db.clone().filter(|p| !p.as_os_str().is_empty()) {
            // clap merges the flag and the variable, so a value equal to the variable's counts as coming from the
            // variable.
            let from_variable = variable("AF_DB").as_ref() == Some(&db);
            values.insert("memory.db", Override { value: absolute(db), variable: from_variable.then_some("AF_DB") });
        }
        Overrides {
            socket: self.socket.clone().unwrap_or_else(|| afd_proto::paths::socket(uid)),
            config: absolute(self.config.clone().unwrap_or_else(afd_proto::paths::config)),
            values,
        }
    }
}
