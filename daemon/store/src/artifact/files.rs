//! The files of artifacts.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{ArtifactError, NewArtifact, Place};
use afd_base::file::{hash_of, replace};
use afd_base::hex;

/// The file of a saved artifact. It was either just written, or already existed with the same content.
#[derive(Debug, Clone)]
pub struct File {
    pub(super) path: PathBuf,
    pub(super) hash: String,
    /// Whether the file did not exist before.
    pub(super) created: bool,
}

fn hash(content: &[u8]) -> String {
    hex::encode(&Sha256::digest(content))
}

/// Returns the part of a file name in the shared root that identifies the store to which the file belongs.
pub(super) fn store_tag(store: &str) -> String {
    hash(store.as_bytes())[..8].to_owned()
}

/// Writes an artifact's content to its destination, unless the file there already has this content.
pub(super) fn write(store: &str, new: &NewArtifact) -> Result<File, ArtifactError> {
    let hash = hash(&new.content);
    let path = match &new.place {
        Place::File(path) => path.clone(),
        Place::Dir(dir) => dir.join(format!("{}-{}.{}", new.kind, &hash[..24], new.extension)),
        // Several stores may use the same root; each cleans up only its own files.
        Place::Root(dir) => dir.join(format!("{}-{}-{}.{}", new.kind, &hash[..24], store_tag(store), new.extension)),
    };
    // A symlink is replaced, not followed: another user may have chosen its target.
    let existing = std::fs::symlink_metadata(&path).ok().filter(|m| !m.is_symlink());
    if existing.as_ref().is_some_and(|m| !m.is_file()) {
        return Err(ArtifactError::NotAFile(path));
    }
    let created = existing.is_none();
    // Only a file of the same size can have the same content.
    let same_size = existing.is_some_and(|m| m.len() == new.content.len() as u64);
    if !same_size || hash_of(&path).ok().is_none_or(|old| old != hash) {
        replace(&path, &new.content).map_err(ArtifactError::io(&path))?;
    }
    Ok(File { path, hash, created })
}

/// Returns the store's tag in the name of a file in a shared root, which has the form `kind-hash-tag.extension`; `None`
/// if the name has another form.
pub(super) fn tag_of(name: &str) -> Option<&str> {
    let (stem, extension) = name.rsplit_once('.')?;
    let parts: Vec<&str> = stem.rsplitn(3, '-').collect();
    let &[tag, hash, kind] = parts.as_slice() else { return None };
    let hex = |text: &str, length: usize| text.len() == length && text.bytes().all(|b| b.is_ascii_hexdigit());
    let word = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (hex(tag, 8) && hex(hash, 24) && word(kind) && word(extension)).then_some(tag)
}

/// Returns whether a file is below a directory after symbolic links in the paths have been resolved.
pub(super) fn is_below(path: &Path, root: &Path) -> bool {
    let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
    parent.zip(root.canonicalize().ok()).is_some_and(|(parent, root)| parent.starts_with(root))
}

/// Removes a file if its content still has this hash. Returns false if the file was changed or no longer exists.
pub(super) fn remove_if(path: &Path, hash: &str) -> Result<bool, ArtifactError> {
    if hash_of(path).ok().is_none_or(|now| now != hash) {
        return Ok(false);
    }
    std::fs::remove_file(path).map_err(ArtifactError::io(path))?;
    Ok(true)
}
