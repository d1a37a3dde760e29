//! Arguments.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Parser;

use crate::config::{Override, Overrides};

/// A resident daemon that gives AI agents hands on a phone and a memory of what they did there.
///
/// It serves JSON-RPC 2.0 on a Unix socket: one JSON text per line, Content-Length frames, HTTP or WebSocket, told apart by
/// their first bytes. `afctl` is its client and starts it when it is needed.
#[derive(Debug, Clone, Parser)]
#[command(name = "afd", version)]
pub struct Args {
    /// The socket [default: $XDG_RUNTIME_DIR/afd/afd.sock]
    #[arg(long, value_name = "PATH", env = "AFD_SOCKET")]
    pub socket: Option<PathBuf>,
    /// The settings file [default: $XDG_CONFIG_HOME/afd/config.toml]
    #[arg(long, value_name = "FILE", env = "AFD_CONFIG")]
    pub config: Option<PathBuf>,
    /// The memory database [default: $XDG_DATA_HOME/afd/memory.db]
    #[arg(long, value_name = "FILE", env = "AF_DB")]
    pub memory_db: Option<PathBuf>,
    /// What to log, for example `info` or `afd=debug`
    #[arg(long, value_name = "FILTER", env = "AFD_LOG", default_value = "info")]
    pub log: String,
    /// Leave the terminal's session
    #[arg(long)]
    pub detached: bool,
}

/// The variables that stand for settings.
const VARIABLES: [(&str, &str); 4] = [
    ("artifacts.dir", "AF_ARTIFACT_DIR"),
    ("artifacts.screen_file", "AF_SCREEN_FILE"),
    ("artifacts.screenshot_file", "AF_SCREENSHOT_FILE"),
    ("artifacts.page_dir", "AF_PAGE_DIR"),
];

impl Args {
    /// What flags and environment decide.
    pub fn overrides(&self) -> Overrides {
        let uid = rustix::process::geteuid().as_raw();
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let mut values: BTreeMap<&'static str, Override> = VARIABLES
            .into_iter()
            .filter_map(|(key, name)| variable(name).map(|v| (key, Override { value: absolute(v), variable: Some(name) })))
            .collect();
        if let Some(db) = self.memory_db.clone().filter(|p| !p.as_os_str().is_empty()) {
            // A flag that says the same as the variable makes no difference.
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
