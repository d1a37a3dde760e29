//! Session names. Clients that are connected at the same time get different names, even across processes. A name is
//! reserved by a lock on a file, which the operating system releases when the process ends.

use std::fs::{File, TryLockError};
use std::path::Path;

use afd_link::fnv;

/// Maximum number of simultaneous clients that get numbered variants of one name.
const MAX_CLIENTS: usize = 100;

/// Name of a session; it is reserved until this value is dropped.
#[derive(Debug)]
pub struct Name {
    name: String,
    _lock: Option<File>,
}

impl Name {
    /// Returns a name without reserving it; clients may share it.
    pub fn given(name: &str) -> Self {
        Self { name: name.to_owned(), _lock: None }
    }

    pub fn as_str(&self) -> &str {
        &self.name
    }
}

/// Returns the session name for a client in a directory. It consists of the client's name, the last part of the path
/// for readability, and a hash of the whole path, so that different directories do not share private data.
pub fn of(client: &str, directory: Option<&Path>) -> String {
    let hash = directory.map(|d| format!("{:08x}", fnv::hash(d.as_os_str().as_encoded_bytes()) >> 32));
    joined(&["mcp".into(), plain(client), last_part(directory), hash.unwrap_or_default()])
}

/// Reserves the session name for a client in a directory, with a number appended if the name is taken. If no lock can
/// be acquired, clients share the name.
///
/// Earlier versions used only the last part of the path for the name. If `known` returns true for such an earlier name,
/// the first directory that asks for the name keeps using it.
pub fn free(client: &str, directory: Option<&Path>, known: impl Fn(&str) -> bool) -> Name {
    let name = of(client, directory);
    let locks = afd_proto::paths::state_dir().join("mcp-sessions");
    if std::fs::create_dir_all(&locks).is_err() {
        return Name::given(&name);
    }
    let name = directory.and_then(|d| adopted(&locks, client, d, &known)).unwrap_or(name);
    let names = std::iter::once(name.clone()).chain((2..=MAX_CLIENTS).map(|n| format!("{name}-{n}")));
    for name in names {
        let Ok(file) = File::create(locks.join(format!("{name}.lock"))) else { break };
        match file.try_lock() {
            Ok(()) => return Name { name, _lock: Some(file) },
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(_)) => break,
        }
    }
    Name::given(&name)
}

/// Returns the name that earlier versions gave to a client in a directory, if this directory owns the name. The first
/// directory that asks for an existing session with that name becomes its owner, which is recorded in a file.
fn adopted(locks: &Path, client: &str, directory: &Path, known: impl Fn(&str) -> bool) -> Option<String> {
    let ascii = |text: &str| -> String {
        text.chars()
            .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' })
            .take(MAX_PART)
            .collect()
    };
    let last = directory.file_name()?.to_string_lossy().into_owned();
    // Earlier versions replaced other characters with dashes, so such names were not distinct.
    if !last.chars().any(|c| c.is_ascii_alphanumeric()) || !last.is_ascii() {
        return None;
    }
    let name = joined(&["mcp".into(), ascii(client), ascii(&last)]);
    let owner = locks.join(format!("{name}.directory"));
    match std::fs::read(&owner) {
        Ok(path) => (path == directory.as_os_str().as_encoded_bytes()).then_some(name),
        Err(_) if known(&name) => {
            let mut file = File::create_new(&owner).ok()?;
            std::io::Write::write_all(&mut file, directory.as_os_str().as_encoded_bytes()).ok()?;
            Some(name)
        }
        Err(_) => None,
    }
}

/// Maximum length of each part of a name, in characters.
const MAX_PART: usize = 40;

/// Keeps letters and digits of any script, `-`, `_` and `.`, and replaces all other characters with dashes. Truncates
/// the result to [`MAX_PART`] characters.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' })
        .take(MAX_PART)
        .collect()
}

fn last_part(directory: Option<&Path>) -> String {
    directory.and_then(Path::file_name).map(|name| plain(&name.to_string_lossy())).unwrap_or_default()
}

fn joined(parts: &[String]) -> String {
    parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_have_names_of_their_own() {
        let name = |path: &str| of("editor", Some(Path::new(path)));
        assert_ne!(name("/one/app"), name("/two/app"));
        assert_ne!(name("/x/\u{9879}\u{76ee}"), name("/x/\u{5de5}\u{5177}"));
        assert!(
            name("/x/\u{9879}\u{76ee}").starts_with("mcp-editor-\u{9879}\u{76ee}-"),
            "{}",
            name("/x/\u{9879}\u{76ee}")
        );
        assert_eq!(name("/one/app"), name("/one/app"));
        assert_eq!(of("", None), "mcp");
    }

    #[test]
    fn old_name_goes_to_one_directory_only() {
        let locks = tempfile::tempdir().expect("a directory");
        let of = |path: &str, known: bool| adopted(locks.path(), "editor", Path::new(path), |_| known);
        assert_eq!(of("/one/app", false), None, "nothing was recorded under it");
        assert_eq!(of("/one/app", true), Some("mcp-editor-app".to_owned()));
        assert_eq!(of("/two/app", true), None);
        assert_eq!(of("/one/app", true), Some("mcp-editor-app".to_owned()));
        assert_eq!(of("/x/\u{9879}", true), None, "it was shared by all such directories");
    }
}
