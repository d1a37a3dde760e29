//! Files: replaced in one step, read up to a limit.

use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// How the names of unfinished files begin.
pub const UNFINISHED: &str = ".afd-";

/// Replaces a file in one step; only its owner may read it, and missing directories are made for its owner alone. A link that
/// stands in its place is replaced and never followed: where it leads was perhaps decided by somebody else.
///
/// # Errors
/// When the file cannot be written; then it is as it was.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let dir = path.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !dir.is_dir() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    // Made with mode 0600, and gone again if anything fails.
    let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(dir)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    // The name is on disk too once its directory is.
    std::fs::File::open(dir)?.sync_all()
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// `InvalidInput` when it is no regular file, `FileTooLarge` when it is larger, else what the system says.
pub fn read_capped(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    // Opening a pipe must not wait for its writer.
    let file = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut content = Vec::with_capacity(usize::try_from(meta.len().min(limit)).unwrap_or_default());
    file.take(limit.saturating_add(1)).read_to_end(&mut content)?;
    if content.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {limit} bytes")));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_replaced_and_what_it_leads_to_stays() {
        let dir = tempfile::tempdir().expect("a directory");
        let (precious, link) = (dir.path().join("precious"), dir.path().join("link"));
        std::fs::write(&precious, "mine").expect("writes");
        std::os::unix::fs::symlink(&precious, &link).expect("links");
        replace(&link, b"new").expect("replaces");
        assert_eq!(std::fs::read_to_string(&precious).expect("reads"), "mine");
        assert!(std::fs::symlink_metadata(&link).expect("is there").is_file());
        assert_eq!(std::fs::read(&link).expect("reads"), b"new");
        std::os::unix::fs::symlink(dir.path().join("nowhere"), dir.path().join("dangling")).expect("links");
        replace(&dir.path().join("dangling"), b"new").expect("replaces");
        assert!(!dir.path().join("nowhere").exists());
    }

    #[test]
    fn what_has_no_end_is_not_read() {
        let dir = tempfile::tempdir().expect("a directory");
        assert_eq!(read_capped(Path::new("/dev/zero"), 10).expect_err("no file").kind(), io::ErrorKind::InvalidInput);
        assert_eq!(read_capped(dir.path(), 10).expect_err("no file").kind(), io::ErrorKind::InvalidInput);
        let path = dir.path().join("f");
        std::fs::write(&path, "0123456789").expect("writes");
        assert_eq!(read_capped(&path, 10).expect("fits"), b"0123456789");
        assert_eq!(read_capped(&path, 9).expect_err("too large").kind(), io::ErrorKind::FileTooLarge);
    }
}
