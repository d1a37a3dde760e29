//! Records of what setup changed in a file, for an exact undo. A record contains only the changed part, because
//! settings may contain secrets.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::files;
use afd_link::fnv;

/// The changes that setup made to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Path of the changed file.
    pub file: PathBuf,
    /// Whether the file existed before setup.
    pub existed: bool,
    /// The edit that setup made; `None` if another program changed the file between two runs of setup.
    pub splice: Option<Splice>,
    /// The entry that was written, as text; `None` for the skill, a file that setup owns entirely.
    pub entry: Option<String>,
    /// Whether setup added the list of servers because the file had none.
    pub with_list: bool,
    /// Directories that were created, outermost first.
    pub directories: Vec<PathBuf>,
}

/// An edit that replaced one part of a text file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Splice {
    /// Offset of the replaced part in bytes.
    pub at: usize,
    /// Replaced text.
    pub removed: String,
    /// Text inserted in its place.
    pub inserted: String,
    /// Hash of the whole file's text after the edit.
    pub hash: String,
}

impl Splice {
    /// Returns the edit that turns `before` into `after`.
    pub fn between(before: &str, after: &str) -> Self {
        let shared = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
        let at = before.floor_char_boundary(after.floor_char_boundary(shared));
        let (old, new) = (&before[at..], &after[at..]);
        let shared = old.bytes().rev().zip(new.bytes().rev()).take_while(|(a, b)| a == b).count();
        let end = (0..=shared)
            .rev()
            .find(|end| old.is_char_boundary(old.len() - end) && new.is_char_boundary(new.len() - end));
        let end = end.unwrap_or(0);
        let part = |text: &str| text[..text.len() - end].to_owned();
        Self { at, removed: part(old), inserted: part(new), hash: hash(after) }
    }

    /// Returns the text before the edit, or `None` if `now` is not the result of the edit.
    pub fn undone(&self, now: &str) -> Option<String> {
        if hash(now) != self.hash {
            return None;
        }
        let rest = now.get(self.at..)?.strip_prefix(&self.inserted)?;
        Some(format!("{}{}{rest}", now.get(..self.at)?, self.removed))
    }
}

/// Returns the length and the FNV-1a hash of `text`, joined by a dash.
fn hash(text: &str) -> String {
    format!("{}-{:016x}", text.len(), fnv::hash(text.as_bytes()))
}

/// Returns the path of the record for a file.
fn path(file: &Path) -> PathBuf {
    let name = hash(&file.to_string_lossy());
    afd_proto::paths::state_dir().join("setup").join(format!("{name}.json"))
}

/// Returns the record for a file, if there is a valid one.
pub fn of(file: &Path) -> Option<Record> {
    let text = files::read(&path(file)).ok().flatten()?;
    serde_json::from_str::<Record>(&text).ok().filter(|record| record.file == file)
}

/// Stores a record that only its owner can read.
///
/// # Errors
/// If the record cannot be written.
pub fn keep(record: &Record) -> Result<(), String> {
    let path = path(&record.file);
    let told = |e: std::io::Error| format!("cannot keep what was changed in {}: {e}", path.display());
    let directory = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory).map_err(told)?;
    let mut new = tempfile::NamedTempFile::new_in(directory).map_err(told)?;
    std::io::Write::write_all(&mut new, serde_json::json!(record).to_string().as_bytes()).map_err(told)?;
    new.persist(&path).map_err(|e| told(e.error))?;
    Ok(())
}

/// Removes the record for a file.
pub fn forget(file: &Path) {
    // Without the record, a later `--undo` has nothing to do.
    let _ = std::fs::remove_file(path(file));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splice_is_undone_to_the_byte() {
        let pairs = [
            ("", "abc"),
            ("abc", ""),
            ("{}", "{\"a\":1}"),
            ("aXb", "aYb"),
            ("aa", "aaa"),
            ("x\u{e9}y", "x\u{e8}y"),
            ("\u{1f600}", "\u{1f601}"),
        ];
        for (before, after) in pairs {
            let splice = Splice::between(before, after);
            assert_eq!(splice.undone(after).as_deref(), Some(before), "{splice:?}");
            assert_eq!(splice.undone(&format!("{after} ")), None);
        }
    }
}
