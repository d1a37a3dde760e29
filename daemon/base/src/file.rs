//! File helpers: atomic replacement and size-limited reading.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::hex;

/// Name prefix of temporary files, which are renamed when they are complete.
pub const TEMP_PREFIX: &str = ".afd-";

/// Replaces a file atomically. The new file has mode 600, and missing directories are created with mode 700. A symbolic
/// link at `path` is replaced rather than followed, because another user may have chosen its target.
///
/// # Errors
/// If the file cannot be written. Its previous content is then intact.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    replace_with(path, |file| file.write_all(content)).map(|_| ())
}

/// Like [`replace`], but calls `content` to write the content. Returns the file's size in bytes.
///
/// # Errors
/// If the file cannot be written. Its previous content is then intact.
pub fn replace_with(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<u64> {
    let dir = path.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !dir.is_dir() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    // The temporary file is created with mode 600, and is deleted if anything fails.
    let file = tempfile::Builder::new().prefix(TEMP_PREFIX).tempfile_in(dir)?;
    let mut buffered = io::BufWriter::new(&file);
    content(&mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    file.as_file().sync_all()?;
    let size = file.as_file().metadata()?.len();
    file.persist(path).map_err(|e| e.error)?;
    // The rename is durable only once the directory is synced.
    std::fs::File::open(dir)?.sync_all()?;
    Ok(size)
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// `InvalidInput` if the path is not a regular file, `FileTooLarge` if the file exceeds the limit, otherwise the I/O
/// error.
pub fn read_capped(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    let size = file.metadata()?.len();
    let mut content = Vec::with_capacity(usize::try_from(size.min(limit)).unwrap_or_default());
    file.take(limit.saturating_add(1)).read_to_end(&mut content)?;
    if content.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {limit} bytes")));
    }
    Ok(content)
}

/// Returns the path of a companion file: the path with a suffix appended to its name.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Returns the name prefix for a database's incomplete files of this kind. The prefix contains a hash of the database's
/// path, so that databases in the same directory have different prefixes.
pub fn unfinished(kind: &str, database: &Path) -> String {
    let real = database.canonicalize().unwrap_or_else(|_| database.to_owned());
    format!("{TEMP_PREFIX}{kind}-{}-", &hex::encode(&Sha256::digest(real.as_os_str().as_bytes()))[..8])
}

/// Returns the SHA-256 of the content of a regular file, in hexadecimal digits.
///
/// # Errors
/// If the file cannot be read or is not a regular file.
pub fn hash_of(path: &Path) -> io::Result<String> {
    let mut file = open_regular(path)?;
    let mut digest = Sha256::new();
    let mut block = vec![0; 64 << 10];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(hex::encode(&digest.finalize())),
            read => digest.update(&block[..read]),
        }
    }
}

/// Opens a regular file for reading.
///
/// # Errors
/// `InvalidInput` if the path is not a regular file, otherwise the I/O error.
pub fn open_regular(path: &Path) -> io::Result<std::fs::File> {
    // Opening a FIFO must not block until it has a writer.
    let file = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(file)
}

/// Returns the total size (bytes) of the files in these directories and their subdirectories. A file with several hard
/// links counts once. Entries that cannot be read are skipped.
pub fn size_of_trees(dirs: &[PathBuf]) -> u64 {
    fn walk(dir: &Path, seen: &mut HashMap<(u64, u64), u64>) {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => walk(&entry.path(), seen),
                Ok(meta) if meta.is_file() => _ = seen.insert((meta.dev(), meta.ino()), meta.len()),
                _ => {}
            }
        }
    }
    let mut seen = HashMap::new();
    dirs.iter().for_each(|dir| walk(dir, &mut seen));
    seen.values().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacing_a_symlink_leaves_its_target_untouched() {
        let dir = tempfile::tempdir().expect("a directory");
        let (precious, link) = (dir.path().join("precious"), dir.path().join("link"));
        std::fs::write(&precious, "mine").expect("writes");
        std::os::unix::fs::symlink(&precious, &link).expect("links");
        replace(&link, b"new").expect("replaces");
        assert_eq!(std::fs::read_to_string(&precious).expect("reads"), "mine");
        assert!(std::fs::symlink_metadata(&link).expect("exists").is_file());
        assert_eq!(std::fs::read(&link).expect("reads"), b"new");
        std::os::unix::fs::symlink(dir.path().join("nowhere"), dir.path().join("dangling")).expect("links");
        replace(&dir.path().join("dangling"), b"new").expect("replaces");
        assert!(!dir.path().join("nowhere").exists());
    }

    #[test]
    fn read_capped_rejects_special_and_oversized_files() {
        let dir = tempfile::tempdir().expect("a directory");
        assert_eq!(
            read_capped(Path::new("/dev/zero"), 10).expect_err("not a file").kind(),
            io::ErrorKind::InvalidInput
        );
        assert_eq!(read_capped(dir.path(), 10).expect_err("not a file").kind(), io::ErrorKind::InvalidInput);
        let path = dir.path().join("f");
        std::fs::write(&path, "0123456789").expect("writes");
        assert_eq!(read_capped(&path, 10).expect("fits"), b"0123456789");
        assert_eq!(read_capped(&path, 9).expect_err("too large").kind(), io::ErrorKind::FileTooLarge);
    }
}
