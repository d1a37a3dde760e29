//! `afctl uninstall`: tells what afd has stored, and removes it.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::{Call, service};
use crate::dial;
use crate::human::{bytes, paint, parts};
use crate::options::Context;
use crate::outcome::{FAILED, Failure};
use crate::spawn;

/// Options of `uninstall`.
#[derive(Debug, Args)]
pub struct Uninstall {
    /// Stop the daemon and delete all of it: memory, artifacts, backups, settings, logs and units
    #[arg(long)]
    purge: bool,
}

/// Returns the directories and files of afd that exist, at their default places.
fn places() -> Vec<PathBuf> {
    let parent = |path: PathBuf| path.parent().map(Path::to_owned);
    let uid = rustix::process::geteuid().as_raw();
    let dirs = [
        parent(afd_proto::paths::database()),
        parent(afd_proto::paths::config()),
        Some(afd_proto::paths::state_dir()),
        parent(afd_proto::paths::socket(uid)),
    ];
    // Only directories that are named after afd are its own.
    let own = |dir: &PathBuf| dir.file_name().is_some_and(|name| name == "afd" || name == format!("afd-{uid}").as_str());
    let mut places: Vec<PathBuf> = dirs.into_iter().flatten().filter(own).filter(|dir| dir.is_dir()).collect();
    places.extend(service::files());
    places
}

fn size(path: &Path) -> u64 {
    let Ok(meta) = std::fs::symlink_metadata(path) else { return 0 };
    if !meta.is_dir() {
        return meta.len();
    }
    std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| size(&entry.path())).sum()
}

/// Checks that no daemon on another socket uses the memory.
fn check_unused() -> Result<(), Failure> {
    let mut lock = afd_proto::paths::database().into_os_string();
    lock.push(".lock");
    let Ok(file) = std::fs::File::open(&lock) else { return Ok(()) };
    if !matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock)) {
        return Ok(());
    }
    let pid = std::fs::read_to_string(&lock).unwrap_or_default();
    let pid = pid.split_whitespace().next().unwrap_or("unknown").to_owned();
    Err(Failure::new("CONFLICT", format!("a daemon on another socket (pid {pid}) uses the memory; nothing was deleted"), FAILED)
        .with_hint(format!("stop it with `kill {pid}`, or name its socket with --socket")))
}

fn run(context: &Context, purge: bool) -> Result<Value, Failure> {
    let found: Vec<Value> = places().iter().map(|path| json!({"path": path, "bytes": size(path), "link": path.is_symlink()})).collect();
    if purge {
        if !service::files().is_empty() || spawn::enabled_unit().is_some() {
            // Before the files go, as systemd would start the daemon again.
            service::stop();
        }
        dial::stop(&context.global)?;
        check_unused()?;
        for path in places().into_iter().filter(|path| !path.is_symlink()) {
            let removed = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
            removed.map_err(|e| Failure::new("CONFLICT", format!("{}: {e}", path.display()), FAILED))?;
        }
    }
    Ok(json!({"purged": purge, "places": found}))
}

fn render(data: &Value) -> Option<String> {
    let purged = data["purged"] == true;
    let verb = if purged { paint(parts::GOOD, "deleted") } else { paint(parts::DIM, "stored") };
    let mut out = String::new();
    for place in data["places"].as_array()? {
        let verb = if place["link"] == true && purged { paint(parts::WARN, "left, as it is a link:") } else { verb.clone() };
        out += &format!("{verb} {}  {}\n", place["path"].as_str()?, bytes(place["bytes"].as_u64()?));
    }
    if !purged {
        out += "nothing was deleted; --purge deletes all of it. Files that were saved elsewhere stay.\n";
    }
    out += "the programs afd, afctl and afmcp are removed as they were installed\n";
    Some(out)
}

impl Uninstall {
    /// Returns the call of the command.
    pub fn call(self) -> Call {
        Call::local("uninstall", if self.purge { "purge" } else { "list" }, Some(render), move |context| run(context, self.purge))
    }
}
