//! The files of artifacts.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{ArtifactError, New, Place};
use crate::file::replace;
use crate::hex;

/// A file that is there now.
#[derive(Debug, Clone)]
pub struct File {
    pub(super) path: PathBuf,
    pub(super) hash: String,
    /// Whether nothing was there before.
    pub(super) created: bool,
}

fn hash(content: &[u8]) -> String {
    hex::encode(&Sha256::digest(content))
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
    Some(hex::encode(&digest.finalize()))
}

/// Puts the content in its place, unless it is there already.
pub(super) fn write(store: &str, new: &New) -> Result<File, ArtifactError> {
    let hash = hash(&new.content);
    let path = match &new.place {
        Place::File(path) => path.clone(),
        Place::Dir(dir) => dir.join(format!("{}-{}.{}", new.kind, &hash[..24], new.extension)),
        // The shared root may be shared by several stores, each of which tidies up after itself only.
        Place::Root(dir) => dir.join(format!("{}-{}-{}.{}", new.kind, &hash[..24], mark_of(store), new.extension)),
    };
    // A link is replaced: where it leads was perhaps decided by somebody else.
    let there = std::fs::symlink_metadata(&path).ok().filter(|m| !m.is_symlink());
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
