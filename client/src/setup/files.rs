//! Reads and replaces configuration files safely. Links that lead out of a project are not followed, only regular files
//! are read, and concurrent changes are not overwritten.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Maximum length of a configuration file in bytes.
const MAX_LENGTH: u64 = 16 * 1024 * 1024;
/// `O_NONBLOCK` on Linux: `open` does not wait for the other end of a named pipe.
const O_NONBLOCK: i32 = 0o4000;

/// Returns the path of a file with all links resolved. The file need not exist. If `within` is given, links must not
/// lead out of that directory.
///
/// # Errors
/// If a link is dangling or leads out of `within`, or if the path exists and is not a regular file.
pub fn real(file: &Path, within: Option<&Path>) -> Result<PathBuf, String> {
    let real = resolved(file)?;
    if let Some(project) = within {
        let project = project.canonicalize().map_err(|e| format!("{}: {e}", project.display()))?;
        if !real.starts_with(&project) {
            return Err(format!(
                "{}: a link leads out of this directory, to {}; it is not followed",
                file.display(),
                real.display()
            ));
        }
    }
    match std::fs::metadata(&real) {
        Ok(found) if !found.is_file() => Err(format!("{}: expected a file, got {}", file.display(), kind(&found))),
        Ok(_) => Ok(real),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(real),
        Err(error) => Err(format!("{}: {error}", file.display())),
    }
}

fn resolved(file: &Path) -> Result<PathBuf, String> {
    match std::fs::symlink_metadata(file) {
        Ok(_) => file.canonicalize().map_err(|e| format!("{}: a link leads nowhere: {e}", file.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => match (file.parent(), file.file_name()) {
            (Some(parent), Some(name)) => Ok(resolved(parent)?.join(name)),
            _ => Err(format!("{}: {error}", file.display())),
        },
        Err(error) => Err(format!("{}: {error}", file.display())),
    }
}

fn kind(found: &std::fs::Metadata) -> &'static str {
    if found.is_dir() { "a directory" } else { "a device or a pipe" }
}

/// Returns the text of a file; `None` if it does not exist.
///
/// # Errors
/// If the file cannot be read, is not a regular file, is longer than `MAX_LENGTH`, or is not UTF-8.
pub fn read(file: &Path) -> Result<Option<String>, String> {
    let told = |what: String| format!("{}: {what}", file.display());
    let open = match std::fs::OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(file) {
        Ok(open) => open,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(told(error.to_string())),
    };
    let length = open.metadata().map_err(|e| told(e.to_string()))?;
    if !length.is_file() {
        return Err(told(format!("expected a file, got {}", kind(&length))));
    }
    if length.len() > MAX_LENGTH {
        return Err(told(format!("expected at most {MAX_LENGTH} bytes, got {}", length.len())));
    }
    let mut bytes = Vec::new();
    open.take(MAX_LENGTH).read_to_end(&mut bytes).map_err(|e| told(e.to_string()))?;
    String::from_utf8(bytes).map(Some).map_err(|_| told("expected UTF-8".to_owned()))
}

/// Replaces a file atomically, or removes it if `after` is `None`. Returns the directories that were created, outermost
/// first.
///
/// # Errors
/// If the content of the file is not `before`, or if the file cannot be written.
pub fn replace(file: &Path, before: Option<&str>, after: Option<&str>) -> Result<Vec<PathBuf>, String> {
    let told = |e: std::io::Error| format!("{}: {e}", file.display());
    if read(file)?.as_deref() != before || resolved(file)? != file {
        return Err(format!("{}: it was changed meanwhile; repeat the command", file.display()));
    }
    let Some(after) = after else {
        std::fs::remove_file(file).map_err(told)?;
        return Ok(Vec::new());
    };
    let directory = file.parent().unwrap_or(Path::new("."));
    let mut made: Vec<PathBuf> = directory.ancestors().take_while(|dir| !dir.exists()).map(Path::to_owned).collect();
    made.reverse();
    std::fs::create_dir_all(directory).map_err(told)?;
    let mut new = tempfile::NamedTempFile::new_in(directory).map_err(told)?;
    new.write_all(after.as_bytes()).map_err(told)?;
    if let Ok(known) = std::fs::metadata(file) {
        new.as_file().set_permissions(known.permissions()).map_err(told)?;
    }
    new.as_file().sync_all().map_err(told)?;
    new.persist(file).map_err(|e| told(e.error))?;
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn links_do_not_lead_out_of_a_project() {
        let (project, outside) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
        let (here, other) =
            (project.path().canonicalize().expect("a path"), outside.path().canonicalize().expect("a path"));
        std::fs::write(other.join("bashrc"), "mine").expect("writes");
        symlink(other.join("bashrc"), here.join("out.json")).expect("links");
        symlink(&other, here.join("dir")).expect("links");
        symlink(here.join("nowhere"), here.join("dangling.json")).expect("links");
        std::fs::write(here.join("inside.json"), "{}").expect("writes");
        symlink(here.join("inside.json"), here.join("link.json")).expect("links");
        for file in ["out.json", "dir/new/mcp.json", "dangling.json", "../x.json"] {
            assert!(real(&here.join(file), Some(&here)).is_err(), "{file}");
        }
        assert_eq!(real(&here.join("link.json"), Some(&here)), Ok(here.join("inside.json")));
        assert_eq!(real(&here.join("a/b.json"), Some(&here)), Ok(here.join("a/b.json")));
        assert_eq!(
            real(&here.join("out.json"), None),
            Ok(other.join("bashrc")),
            "the user's own settings may be links"
        );
        assert!(real(&here, None).is_err() && real(Path::new("/dev/null"), None).is_err());
    }

    #[test]
    fn file_is_replaced_only_if_it_is_what_it_was() {
        let dir = tempfile::tempdir().expect("a directory");
        let dir = dir.path().canonicalize().expect("a path");
        let file = dir.join("a/b/c.json");
        assert_eq!(replace(&file, None, Some("one")), Ok(vec![dir.join("a"), dir.join("a/b")]));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).expect("a mode");
        assert!(replace(&file, None, Some("two")).is_err() && replace(&file, Some("zero"), Some("two")).is_err());
        assert_eq!(replace(&file, Some("one"), Some("two")), Ok(vec![]));
        assert_eq!(std::fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o640);
        assert_eq!((replace(&file, Some("two"), None), file.exists()), (Ok(vec![]), false));
    }
}
