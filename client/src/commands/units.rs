//! The systemd unit files. They are written with the path of the installed program. Later they are changed or removed
//! only if they have not been edited.

use std::io::Write;
use std::path::{Path, PathBuf};

use afd_link::fnv;
use afd_link::outcome::{FAILED, Failure};

/// Names of the unit files, each with the contents of the file in the repository.
const UNITS: [(&str, &str); 2] = [
    ("afd.service", include_str!("../../../systemd/afd.service")),
    ("afd.socket", include_str!("../../../systemd/afd.socket")),
];
/// Path of the daemon in the repository's unit file; it is replaced by the path of the installed program.
const PROGRAM: &str = "%h/.local/bin/afd";
/// Start of the last line of a unit file; the line ends with the hash of the text before it.
const MARK: &str = "# Written by `afctl service install`; ";
/// Suffix that `--replace` appends to the name of an existing file in order to keep it.
const KEPT: &str = ".old";

/// Returns the names of the units.
pub(super) fn names() -> [&'static str; 2] {
    UNITS.map(|(name, _)| name)
}

/// What exists at the path of a unit file.
enum Present {
    Nothing,
    /// A unit file that afctl wrote and that has not been changed since.
    Ours,
    /// Anything else, with the reason why it does not count as an unchanged unit file written by afctl.
    Other(String),
}

impl Present {
    fn at(path: &Path) -> Self {
        let Ok(meta) = std::fs::symlink_metadata(path) else { return Self::Nothing };
        if meta.is_symlink() {
            return Self::Other(match std::fs::read_link(path) {
                Ok(target) if target == Path::new("/dev/null") => "the unit is masked".to_owned(),
                target => format!("it is a link to {}", target.unwrap_or_default().display()),
            });
        }
        match std::fs::read_to_string(path) {
            Ok(text) if is_as_written(&text) => Self::Ours,
            Ok(_) => Self::Other("it was changed, or an earlier version wrote it".to_owned()),
            Err(error) => Self::Other(error.to_string()),
        }
    }
}

/// Appends a line with a hash of the text, so that a later run can detect whether the file was changed.
fn marked(text: &str) -> String {
    format!("{text}{MARK}{:016x}\n", fnv::hash(text.as_bytes()))
}

fn is_as_written(text: &str) -> bool {
    text.rfind(MARK).is_some_and(|at| marked(&text[..at]) == text)
}

/// Quotes a path for a command line in a unit file, as specified by `systemd.service` and `systemd.syntax`.
///
/// # Errors
/// Returns an error message if the path cannot appear in a unit file: if it is not UTF-8, or contains a control
/// character or a dollar sign, which would start a variable.
fn quoted(path: &Path) -> Result<String, String> {
    let text = path.to_str().ok_or_else(|| format!("{}: it is not UTF-8", path.display()))?;
    if let Some(c) = text.chars().find(|c| c.is_control() || *c == '$') {
        return Err(format!("{text:?}: a unit cannot name a path with {c:?}"));
    }
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    let plain = |c: char| c.is_alphanumeric() || "/._-+@:,=~%".contains(c);
    Ok(if escaped.chars().all(plain) { escaped } else { format!("\"{escaped}\"") })
}

/// Writes the unit files to a directory and returns their paths. Overwrites only files that afctl wrote and that are
/// unchanged. If another file is in the way, renames it if `replace` is set, and otherwise writes nothing.
///
/// # Errors
/// Returns `CONFLICT` if another file is in the way or a file cannot be written, and `UNSUPPORTED` if a unit file
/// cannot contain the program's path.
pub(super) fn write(dir: &Path, program: &Path, replace: bool) -> Result<Vec<PathBuf>, Failure> {
    let program = quoted(program)
        .map_err(|why| Failure::new("UNSUPPORTED", why, FAILED).with_hint("install afd at another path"))?;
    let io = |path: &Path, e: std::io::Error| Failure::new("CONFLICT", format!("{}: {e}", path.display()), FAILED);
    std::fs::create_dir_all(dir).map_err(|e| io(dir, e))?;
    let places = UNITS.map(|(name, text)| (dir.join(name), text));
    // Check all files first: either all are written or none.
    for (path, _) in &places {
        if let Present::Other(why) = Present::at(path)
            && !replace
        {
            return Err(Failure::new("CONFLICT", format!("{}: {why}; nothing was written", path.display()), FAILED)
                .with_hint(format!("`afctl service install --replace` keeps it as {}{KEPT}", path.display())));
        }
    }
    for (path, text) in &places {
        if matches!(Present::at(path), Present::Other(_)) {
            std::fs::rename(path, free_name(path)).map_err(|e| io(path, e))?;
        }
        let written = tempfile::NamedTempFile::new_in(dir).and_then(|mut file| {
            file.write_all(marked(&text.replace(PROGRAM, &program)).as_bytes())?;
            // If a link was created here in the meantime, it is replaced, not followed.
            file.persist(path).map_err(|e| e.error)?;
            std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o644))
        });
        written.map_err(|e| io(path, e))?;
    }
    Ok(places.map(|(path, _)| path).into())
}

/// Returns an unused path next to a file, to which the file can be renamed.
fn free_name(path: &Path) -> PathBuf {
    let named = |number: String| PathBuf::from(format!("{}{KEPT}{number}", path.display()));
    let mut names = std::iter::once(named(String::new())).chain((2..).map(|n: u32| named(n.to_string())));
    names.find(|name| std::fs::symlink_metadata(name).is_err()).unwrap_or_else(|| named(String::new()))
}

/// Returns two lists: the unit files in a directory that afctl wrote and that have not been changed since, and any
/// other files at the paths of the units.
pub(super) fn found(dir: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut ours, mut others) = (Vec::new(), Vec::new());
    for path in names().map(|name| dir.join(name)) {
        match Present::at(&path) {
            Present::Nothing => {}
            Present::Ours => ours.push(path),
            Present::Other(_) => others.push(path),
        }
    }
    (ours, others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_or_refused() {
        let of = |text: &str| quoted(Path::new(text));
        assert_eq!(of("/usr/bin/afd").as_deref(), Ok("/usr/bin/afd"));
        assert_eq!(of("/home/a b/afd").as_deref(), Ok("\"/home/a b/afd\""));
        assert_eq!(of("/home/100%/afd").as_deref(), Ok("/home/100%%/afd"));
        assert_eq!(of("/home/say \"hi\"\\/afd").as_deref(), Ok("\"/home/say \\\"hi\\\"\\\\/afd\""));
        assert_eq!(of("/home/it's; rm/afd").as_deref(), Ok("\"/home/it's; rm/afd\""));
        for refused in ["/home/$HOME/afd", "/home/a\nExecStartPre=evil/afd", "/home/\u{7}/afd"] {
            assert!(of(refused).is_err(), "{refused:?}");
        }
        let bytes: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"/home/\xff/afd");
        assert!(quoted(Path::new(bytes)).is_err());
    }

    #[test]
    fn units_that_are_not_as_written_stay() {
        let dir = tempfile::tempdir().expect("a directory");
        let write = |replace| super::write(dir.path(), Path::new("/usr/bin/afd"), replace);
        let unit = dir.path().join("afd.service");
        assert_eq!(write(false).expect("writes").len(), 2);
        assert_eq!(write(false).expect("writes its own again").len(), 2);
        let changed = std::fs::read_to_string(&unit).expect("reads").replace("MemoryMax=3G", "MemoryMax=9G");
        std::fs::write(&unit, &changed).expect("writes");
        assert_eq!(write(false).expect_err("it was changed").code, "CONFLICT");
        assert_eq!(std::fs::read_to_string(&unit).expect("reads"), changed);
        assert_eq!(found(dir.path()), (vec![dir.path().join("afd.socket")], vec![unit.clone()]));
        write(true).expect("replaces");
        assert_eq!(std::fs::read_to_string(dir.path().join("afd.service.old")).expect("is kept"), changed);
        // A link is not followed, even one that masks the unit.
        let target = dir.path().join("bashrc");
        std::fs::write(&target, "mine").expect("writes");
        for to in [target.as_path(), Path::new("/dev/null")] {
            std::fs::remove_file(&unit).expect("removes");
            std::os::unix::fs::symlink(to, &unit).expect("links");
            assert_eq!(write(false).expect_err("a link").code, "CONFLICT");
        }
        assert_eq!(std::fs::read_to_string(&target).expect("reads"), "mine");
    }
}
