//! The files of the systemd units: written with the path of the installed program, and changed or removed only as long
//! as they are as they were written.

use std::io::Write;
use std::path::{Path, PathBuf};

use afd_link::fnv;
use afd_link::outcome::{FAILED, Failure};

/// The units, by name, as they are in the repository.
const UNITS: [(&str, &str); 2] = [
    ("afd.service", include_str!("../../../systemd/afd.service")),
    ("afd.socket", include_str!("../../../systemd/afd.socket")),
];
/// The path of the daemon in the unit, which is replaced by that of the installed one.
const PROGRAM: &str = "%h/.local/bin/afd";
/// Begins the last line of a file, which has the hash of the lines before it.
const MARK: &str = "# Written by `afctl service install`; ";
/// Suffix of what `--replace` keeps of a file.
const KEPT: &str = ".old";

/// Returns the names of the units.
pub(super) fn names() -> [&'static str; 2] {
    UNITS.map(|(name, _)| name)
}

/// What is at the place of a unit file.
enum Present {
    Nothing,
    /// A file as it was written.
    Ours,
    /// Something else, in words.
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

/// Adds the line by which a file is known to be as it was written.
fn marked(text: &str) -> String {
    format!("{text}{MARK}{:016x}\n", fnv::hash(text.as_bytes()))
}

fn is_as_written(text: &str) -> bool {
    text.rfind(MARK).is_some_and(|at| marked(&text[..at]) == text)
}

/// Quotes a path for a command line of a unit, as `systemd.service` and `systemd.syntax` describe it.
///
/// # Errors
/// The message, for a path that a unit cannot name: one that is no text, or that holds control characters or a dollar
/// sign, which stands for a variable.
fn quoted(path: &Path) -> Result<String, String> {
    let text = path.to_str().ok_or_else(|| format!("{}: it is not UTF-8", path.display()))?;
    if let Some(c) = text.chars().find(|c| c.is_control() || *c == '$') {
        return Err(format!("{text:?}: a unit cannot name a path with {c:?}"));
    }
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    let plain = |c: char| c.is_alphanumeric() || "/._-+@:,=~%".contains(c);
    Ok(if escaped.chars().all(plain) { escaped } else { format!("\"{escaped}\"") })
}

/// Writes the unit files to a directory; returns their paths. What is there and was not written so stays, unless
/// `replace` is set: then it is kept under another name.
///
/// # Errors
/// `CONFLICT` if something else is at the place of a file, or it cannot be written; `UNSUPPORTED` if the path of the
/// program cannot be named.
pub(super) fn write(dir: &Path, program: &Path, replace: bool) -> Result<Vec<PathBuf>, Failure> {
    let program = quoted(program)
        .map_err(|why| Failure::new("UNSUPPORTED", why, FAILED).with_hint("install afd at another path"))?;
    let io = |path: &Path, e: std::io::Error| Failure::new("CONFLICT", format!("{}: {e}", path.display()), FAILED);
    std::fs::create_dir_all(dir).map_err(|e| io(dir, e))?;
    let places = UNITS.map(|(name, text)| (dir.join(name), text));
    // Nothing is written if one of them cannot be.
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
            // A link that somebody put there meanwhile is replaced, not followed.
            file.persist(path).map_err(|e| e.error)?;
            std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o644))
        });
        written.map_err(|e| io(path, e))?;
    }
    Ok(places.map(|(path, _)| path).into())
}

/// Returns a name beside a file under which nothing is kept yet.
fn free_name(path: &Path) -> PathBuf {
    let named = |number: String| PathBuf::from(format!("{}{KEPT}{number}", path.display()));
    let mut names = std::iter::once(named(String::new())).chain((2..).map(|n: u32| named(n.to_string())));
    names.find(|name| std::fs::symlink_metadata(name).is_err()).unwrap_or_else(|| named(String::new()))
}

/// Returns the unit files in a directory that are as they were written, and what else is at their places.
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
        // A link, also one that masks the unit, is not followed.
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
