//! Writing files in one step, readable by their owner only.

use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{ArtifactError, New, Place};

/// How the names of unfinished files begin.
pub(super) const UNFINISHED: &str = ".afd-";

/// A file that is there now.
#[derive(Debug, Clone)]
pub struct File {
    pub(super) path: PathBuf,
    pub(super) hash: String,
    /// Whether nothing was there before.
    pub(super) created: bool,
}

fn hex(hash: &[u8]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hash(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

/// What names in the shared root say of the store that they belong to.
pub(super) fn mark_of(store: &str) -> String {
    hash(store.as_bytes())[..8].to_owned()
}

/// The hash of a file; `None` when it cannot be read.
pub(super) fn hash_of(path: &Path) -> Option<String> {
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut digest = Sha256::new();
    std::io::copy(&mut std::fs::File::open(path).ok()?, &mut digest).ok()?;
    Some(hex(&digest.finalize()))
}

/// Puts the content in its place, unless it is there already.
pub(super) fn write(store: &str, new: &New) -> Result<File, ArtifactError> {
    let hash = hash(&new.content);
    let path = match &new.place {
        Place::File(path) => followed(path),
        Place::Dir(dir) => dir.join(format!("{}-{}.{}", new.kind, &hash[..24], new.extension)),
        // The shared root may be shared by several stores, each of which tidies up after itself only.
        Place::Root(dir) => dir.join(format!("{}-{}-{}.{}", new.kind, &hash[..24], mark_of(store), new.extension)),
    };
    let there = std::fs::metadata(&path).ok();
    if there.as_ref().is_some_and(|m| !m.is_file()) {
        return Err(ArtifactError::NoFile(path));
    }
    let created = there.is_none();
    // Only a file of the same size is worth reading.
    let same_size = there.is_some_and(|m| m.len() == new.content.len() as u64);
    if !same_size || hash_of(&path).is_none_or(|there| there != hash) {
        replace(&path, &new.content).map_err(ArtifactError::io(&path))?;
    }
    Ok(File { path, hash, created })
}

/// Removes a file that still holds what it held; false when it does not, or is gone.
pub(super) fn remove_if(path: &Path, hash: &str) -> Result<bool, ArtifactError> {
    if hash_of(path).is_none_or(|now| now != hash) {
        return Ok(false);
    }
    std::fs::remove_file(path).map_err(ArtifactError::io(path))?;
    Ok(true)
}

/// Where a link leads, so that what it leads to is replaced and not the link; one that leads nowhere is followed a step.
fn followed(path: &Path) -> PathBuf {
    let step = || std::fs::read_link(path).ok().map(|to| path.parent().unwrap_or(Path::new("/")).join(to));
    path.canonicalize().ok().or_else(step).unwrap_or_else(|| path.to_owned())
}

/// Replaces a file in one step.
fn replace(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("/"));
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
