//! `afctl uninstall`: lists what afd has stored, and deletes it on request.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::{Call, service};
use crate::ask;
use afd_link::human::{bytes, count, paint, parts};
use afd_link::options::Context;
use afd_link::outcome::{FAILED, Failure, USAGE};
use afd_link::{dial, spawn};

/// Options for `uninstall`.
#[derive(Debug, Args)]
pub struct Uninstall {
    /// Stop the daemon and delete all stored data: memory, artifacts, backups, settings, logs and units
    #[arg(long)]
    purge: bool,
    /// Delete the data without asking; only with --purge
    #[arg(long, requires = "purge")]
    yes: bool,
}

/// Predicate that returns whether afd creates entries with the given name.
type Given = fn(&str) -> bool;

/// Names of the entries that afd creates in a directory. All other entries were created by others and are kept.
struct Layout {
    files: Given,
    directories: &'static [(Given, &'static Layout)],
}

const DATA: Layout = Layout {
    files: |name| is_database(name) || is_temporary(name),
    directories: &[(|name| name == "artifacts", &ARTIFACTS), (|name| name == "backups", &BACKUPS)],
};
const ARTIFACTS: Layout = Layout { files: |name| is_artifact(name) || is_temporary(name), directories: &[] };
const BACKUPS: Layout =
    Layout { files: is_temporary, directories: &[(|name| is_backup(name) || is_temporary(name), &BACKUP)] };
const BACKUP: Layout = Layout {
    files: |name| is_database(name) || name == "manifest.json" || is_temporary(name),
    directories: &[(|name| name == "artifacts", &COPIES)],
};
const COPIES: Layout = Layout { files: |name| is_hex(name, 64), directories: &[] };
const CONFIG: Layout = Layout { files: |name| name == "config.toml" || is_temporary(name), directories: &[] };
const STATE: Layout = Layout {
    files: |name| {
        matches!(name, "afd.log" | "afd.log.1" | "afd.log.2" | "afd.log.3") || is_progress(name) || is_temporary(name)
    },
    directories: &[(|name| name == "setup", &RECORDS), (|name| name == "mcp-sessions", &SESSIONS)],
};
const RECORDS: Layout = Layout { files: |name| name.ends_with(".json") || is_temporary(name), directories: &[] };
const SESSIONS: Layout =
    Layout { files: |name| name.ends_with(".lock") || name.ends_with(".directory"), directories: &[] };
const RUNTIME: Layout = Layout {
    files: |name| {
        matches!(name, "afd.sock" | "afd.sock.lock" | "afd.spawn.lock")
            || (name.starts_with("start-") && name.ends_with(".sock"))
    },
    directories: &[],
};

fn is_database(name: &str) -> bool {
    let suffixes = [
        "",
        "-wal",
        "-shm",
        "-journal",
        ".key",
        ".lock",
        ".damaged",
        ".restoring",
        ".restoring-journal",
        ".restored",
        ".key.restored",
    ];
    name.strip_prefix("memory.db").is_some_and(|suffix| suffixes.contains(&suffix))
}

fn is_temporary(name: &str) -> bool {
    name.starts_with(".afd-")
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Returns whether a name is that of an artifact: `kind-hash-tag.extension` or `kind-hash.extension`.
fn is_artifact(name: &str) -> bool {
    let Some((stem, _)) = name.rsplit_once('.') else { return false };
    let stem = stem.rsplit_once('-').filter(|(_, tag)| is_hex(tag, 8)).map_or(stem, |(rest, _)| rest);
    stem.rsplit_once('-').is_some_and(|(_, hash)| is_hex(hash, 24))
}

/// Returns whether a name is that of a backup: a time such as `20261123T031500Z`, optionally followed by `-` and a
/// number. Also accepts such a name with the suffix `-replaced`, which marks a database that a restore replaced.
fn is_backup(name: &str) -> bool {
    let name = name.strip_suffix("-replaced").unwrap_or(name);
    let (time, number) = name.split_once('-').unwrap_or((name, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (day, clock) = time.strip_suffix('Z').and_then(|t| t.split_once('T')).unwrap_or_default();
    day.len() == 8 && clock.len() == 6 && digits(day) && digits(clock) && digits(number)
}

fn is_progress(name: &str) -> bool {
    name.starts_with("progress-") && (name.ends_with(".json") || name.ends_with(".txt"))
}

/// Entries found in one of afd's directories.
#[derive(Default)]
struct Found {
    /// Files that afd created, and links to files.
    files: Vec<PathBuf>,
    /// Directories, each after its subdirectories.
    directories: Vec<PathBuf>,
    /// Entries that afd did not create.
    left: Vec<PathBuf>,
}

impl Found {
    /// Walks a directory without following links to directories.
    fn look(&mut self, dir: &Path, layout: &Layout) {
        if dir.is_symlink() {
            return self.left.push(dir.to_owned());
        }
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for path in entries {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let inner = layout.directories.iter().find(|(fits, _)| fits(&name)).map(|(_, inner)| *inner);
            match inner.filter(|_| path.is_dir()) {
                Some(inner) => self.look(&path, inner),
                None if (layout.files)(&name) && (path.is_symlink() || !path.is_dir()) => self.files.push(path),
                None => self.left.push(path),
            }
        }
        self.directories.push(dir.to_owned());
    }

    fn bytes(&self) -> u64 {
        self.files.iter().filter_map(|file| std::fs::symlink_metadata(file).ok()).map(|meta| meta.len()).sum()
    }

    /// Deletes the files, then the directories that have become empty.
    fn delete(&self) -> Result<(), Failure> {
        for file in &self.files {
            match std::fs::remove_file(file) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Failure::new("CONFLICT", format!("{}: {e}", file.display()), FAILED));
                }
                _ => {}
            }
        }
        // A directory that is not empty contains files that afd did not create, so it is kept.
        self.directories.iter().for_each(|dir| _ = std::fs::remove_dir(dir));
        Ok(())
    }
}

/// Returns what afd has stored, by directory. Omits files at other paths set by environment variables, because they are
/// the user's own.
fn places() -> Vec<(PathBuf, Found)> {
    let parent = |path: PathBuf| path.parent().map(Path::to_owned);
    let uid = rustix::process::geteuid().as_raw();
    let dirs = [
        (parent(afd_proto::paths::database()), &DATA),
        (parent(afd_proto::paths::default_config()), &CONFIG),
        (Some(afd_proto::paths::state_dir()), &STATE),
        (parent(afd_proto::paths::default_socket(uid)), &RUNTIME),
    ];
    let look = |(dir, layout): (Option<PathBuf>, &Layout)| {
        let dir = dir.filter(|dir| dir.is_dir())?;
        let mut found = Found::default();
        found.look(&dir, layout);
        Some((dir, found))
    };
    let mut places: Vec<_> = dirs.into_iter().filter_map(look).collect();
    let (units, others) = service::files();
    places.extend(units.into_iter().map(|unit| (unit.clone(), Found { files: vec![unit], ..Found::default() })));
    places.extend(others.into_iter().map(|unit| (unit.clone(), Found { left: vec![unit], ..Found::default() })));
    places
}

/// Checks that no daemon on another socket uses the memory database.
fn check_unused() -> Result<(), Failure> {
    let mut lock = afd_proto::paths::database().into_os_string();
    lock.push(".lock");
    let Ok(file) = std::fs::File::open(&lock) else { return Ok(()) };
    if !matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock)) {
        return Ok(());
    }
    let pid = std::fs::read_to_string(&lock).unwrap_or_default();
    let pid = pid.split_whitespace().next().unwrap_or("unknown").to_owned();
    Err(Failure::new(
        "CONFLICT",
        format!("a daemon on another socket (pid {pid}) uses the memory; nothing was deleted"),
        FAILED,
    )
    .with_hint(format!("stop it with `kill {pid}`, or name its socket with --socket")))
}

/// Maximum number of files to list that afd did not create.
const MAX_LEFT: usize = 50;

/// Asks the user whether to delete what was found.
fn confirm(found: &[(PathBuf, Found)]) -> Result<(), Failure> {
    let lines = found
        .iter()
        .map(|(place, found)| format!("  {}  {}\n", place.display(), count(found.files.len() as u64, "file")));
    let question = format!("This stops the daemon and deletes:\n{}Delete them? [y/N] ", lines.collect::<String>());
    let answer = ask::yes(&question)
        .map_err(|e| Failure::new("INVALID_PARAMS", format!("the answer cannot be read: {e}"), USAGE))?;
    if answer {
        return Ok(());
    }
    Err(Failure::new("INVALID_PARAMS", "nothing was deleted: not confirmed", USAGE).with_hint(
        "`afctl uninstall` lists what would be deleted; `afctl uninstall --purge --yes` deletes it without asking",
    ))
}

fn run(context: &Context, options: &Uninstall) -> Result<Value, Failure> {
    let mut found = places();
    if options.purge {
        if !options.yes {
            confirm(&found)?;
        }
        if !service::files().0.is_empty() || spawn::enabled_unit().is_some() {
            // Stop the units before the files are deleted, because systemd would start the daemon again.
            service::stop();
        }
        dial::stop(&context.global)?;
        check_unused()?;
        // The daemon may have written, and removed, files while it stopped.
        found = places();
        found.iter().try_for_each(|(_, found)| found.delete())?;
    }
    let place = |(path, found): &(PathBuf, Found)| json!({"path": path.display().to_string(), "files": found.files.len(), "bytes": found.bytes()});
    let sizes: Vec<Value> = found.iter().map(place).collect();
    let left: Vec<String> =
        found.iter().flat_map(|(_, found)| &found.left).map(|path| path.display().to_string()).collect();
    Ok(
        json!({"purged": options.purge, "places": sizes, "leftCount": left.len(), "left": left[..left.len().min(MAX_LEFT)]}),
    )
}

fn render(data: &Value) -> Option<String> {
    let purged = data["purged"] == true;
    let verb = if purged { paint(parts::GOOD, "deleted") } else { paint(parts::DIM, "stored") };
    let mut out = String::new();
    for place in data["places"].as_array()?.iter().filter(|place| place["files"] != 0) {
        let files = count(place["files"].as_u64()?, "file");
        let size = if purged { String::new() } else { format!(", {}", bytes(place["bytes"].as_u64()?)) };
        out += &format!("{verb} {}  {files}{size}\n", place["path"].as_str()?);
    }
    for path in data["left"].as_array()? {
        out += &format!(
            "{} {}\n",
            paint(parts::WARN, if purged { "left, not afd's:" } else { "not afd's:" }),
            path.as_str()?
        );
    }
    let more = data["leftCount"].as_u64()?.saturating_sub(data["left"].as_array()?.len() as u64);
    if more > 0 {
        out += &format!("and {more} more\n");
    }
    if !purged {
        out += "nothing was deleted; --purge deletes the files of afd. Files that were saved elsewhere stay.\n";
    }
    out += "the programs afd, afctl and afmcp are kept; remove them in the same way as they were installed\n";
    Some(out)
}

impl Uninstall {
    /// Returns the call for the `uninstall` command.
    pub fn call(self) -> Call {
        Call::local("uninstall", if self.purge { "purge" } else { "list" }, Some(render), move |context| {
            run(context, &self)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_files_are_known_by_their_names() {
        for name in ["memory.db", "memory.db-wal", "memory.db.key.restored"] {
            assert!(is_database(name), "{name}");
        }
        assert!(!is_database("memory.db.old") && !is_database("memory.dbx"));
        assert!(is_artifact("screenshot_image-0123456789abcdef01234567-00112233.jpg"));
        assert!(is_artifact("screenshot_image-0123456789abcdef01234567.jpg"));
        assert!(!is_artifact("holiday-photo.jpg") && !is_artifact("notes"));
        for name in
            ["20261123T031500Z", "20261123T031500Z-2", "20261123T031500Z-replaced", "20261123T031500Z-2-replaced"]
        {
            assert!(is_backup(name), "{name}");
        }
        assert!(!is_backup("family") && !is_backup("20261123") && !is_backup("2026112xT031500Z"));
    }
}
