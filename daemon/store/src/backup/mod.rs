//! Backups: directories that contain copies of the database, its key and the artifacts. The copy of the database is
//! checked when it is made.
//!
//! A backup is written under a temporary name and renamed when it is complete. An artifact is copied, or hard-linked to
//! its copy in an earlier backup. It is never linked to the file in use, so changes to that file do not affect backups.
//! [`restore`] replaces the database with a backup.

mod error;
pub mod restore;

use std::collections::HashSet;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use afd_proto::backup::{Backup, BackupReason, Verified};
use parking_lot::Mutex;
use rusqlite::Connection;
use sha2::{Digest, Sha256};

use crate::{now_ms, open_copy, open_foreign};
use afd_base::file::{self, TEMP_PREFIX, with_suffix};
use afd_base::hex;

pub use error::{BackupError, Result};

/// Name of the database copy in a backup.
const DATABASE: &str = "memory.db";
/// Name of the key copy in a backup.
const KEY: &str = "memory.db.key";
/// Name of the directory in a backup that contains the artifact files. Each file is named after its hash.
const ARTIFACTS: &str = "artifacts";
/// Name of the file that describes a backup. It is written last.
const MANIFEST: &str = "manifest.json";
/// Maximum size of the manifest, in bytes.
const MAX_MANIFEST: u64 = 64 << 10;
/// Suffix of directories that contain databases that were replaced by a restore.
const REPLACED: &str = "-replaced";

/// An artifact file that belongs to the memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Path of the file.
    pub path: PathBuf,
    /// SHA-256 of the file's content, in hexadecimal digits.
    pub hash: String,
}

/// How to find the artifact files of a database, and how to change their paths.
#[derive(Debug, Clone)]
pub struct ArtifactFiles {
    /// Root directory for artifacts.
    pub root: PathBuf,
    /// Returns the artifact files to which a database refers.
    pub of: fn(&Connection) -> crate::Result<Vec<Stored>>,
    /// Changes the artifact paths in a database to paths below this root directory.
    pub re_root: fn(&Connection, &Path) -> crate::Result<()>,
}

/// Maximum number of lost artifacts whose paths are listed.
const MAX_LOST: usize = 100;

/// Artifacts without an intact copy: their number, and the first [`MAX_LOST`] of their paths.
#[derive(Debug, Default)]
struct Lost {
    count: u64,
    paths: Vec<String>,
}

impl Lost {
    fn add(&mut self, path: &Path) {
        self.count += 1;
        if self.paths.len() < MAX_LOST {
            self.paths.push(path.display().to_string());
        }
    }
}

/// Returns the names to try, in turn, for a directory that is created at this time (Unix milliseconds). The names sort
/// by time.
fn names(at: i64) -> impl Iterator<Item = String> {
    let time = jiff::Timestamp::from_millisecond(at).unwrap_or_default().strftime("%Y%m%dT%H%M%SZ").to_string();
    std::iter::once(time.clone()).chain((2..).map(move |n: u32| format!("{time}-{n}")))
}

/// Lock that is held while the name for a complete backup is chosen and the backup's directory is renamed.
static NAMING: Mutex<()> = Mutex::new(());

/// The backups in a directory.
#[derive(Debug, Clone)]
pub struct Backups {
    dir: PathBuf,
    artifacts: ArtifactFiles,
}

impl Backups {
    /// Creates a handle for the backups in a directory, which need not exist.
    pub fn new(dir: PathBuf, artifacts: ArtifactFiles) -> Self {
        Self { dir, artifacts }
    }

    /// Returns the directory that contains the backups.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Makes a backup of a connection's database, and of the key beside the file `database`. Blocks until the backup is
    /// on disk.
    ///
    /// # Errors
    /// If the backup cannot be made or checked. An incomplete backup is removed.
    pub fn create(&self, from: &Connection, database: &Path, reason: BackupReason) -> Result<Backup> {
        let created_at = now_ms();
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir).map_err(BackupError::io(&self.dir))?;
        let private = std::fs::Permissions::from_mode(0o700);
        let temp = tempfile::Builder::new()
            .prefix(&file::unfinished("backup", database))
            .permissions(private)
            .tempdir_in(&self.dir);
        let temp = temp.map_err(BackupError::io(&self.dir))?;
        crate::copy(from, &temp.path().join(DATABASE))?;
        let backup = self.complete(temp.path(), database, (created_at, reason))?;
        let _naming = NAMING.lock();
        let name = names(created_at).find(|name| !self.dir.join(name).exists()).unwrap_or_default();
        let to = self.dir.join(&name);
        std::fs::rename(temp.path(), &to).map_err(BackupError::io(&to))?;
        // The directory has been renamed, so it must not be deleted.
        let _ = temp.keep();
        sync_dir(&self.dir)?;
        Ok(Backup { name, ..backup })
    }

    /// Checks the database copy in a directory, adds the key and the artifacts, and finally writes the manifest.
    fn complete(&self, dir: &Path, database: &Path, (created_at, reason): (i64, BackupReason)) -> Result<Backup> {
        let copy = dir.join(DATABASE);
        restrict(&copy)?;
        let (connection, schema) = open_copy(&copy).map_err(|error| BackupError::copied("the database", error))?;
        let key = read_key(&with_suffix(database, ".key"))?;
        if let Some(key) = &key {
            let path = dir.join(KEY);
            file::replace(&path, key).map_err(BackupError::io(&path))?;
        }
        let (artifacts, artifact_bytes) = self.copy_all(&(self.artifacts.of)(&connection)?, &dir.join(ARTIFACTS))?;
        let backup = Backup {
            // The name of the directory is used instead.
            name: String::new(),
            created_at,
            reason,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            schema,
            origin: crate::origin_of(&connection)?.unwrap_or_default(),
            database_bytes: std::fs::metadata(&copy).map_err(BackupError::io(&copy))?.len(),
            database_hash: hash_of(&copy)?,
            key_hash: key.map(|key| hex::encode(&Sha256::digest(key))),
            artifacts,
            artifact_bytes,
        };
        let manifest = dir.join(MANIFEST);
        let text = serde_json::to_vec_pretty(&backup).map_err(|e| BackupError::io(&manifest)(e.into()))?;
        file::replace(&manifest, &text).map_err(BackupError::io(&manifest))?;
        Ok(backup)
    }

    /// Returns the backups, newest first, and the names of directories that are not readable backups.
    ///
    /// # Errors
    /// If the directory exists and cannot be read.
    pub fn list(&self) -> Result<(Vec<Backup>, Vec<String>)> {
        let entries = match std::fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), Vec::new())),
            Err(error) => return Err(BackupError::io(&self.dir)(error)),
        };
        let (mut backups, mut unreadable) = (Vec::new(), Vec::new());
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(TEMP_PREFIX) || name.ends_with(REPLACED) {
                continue;
            }
            match self.manifest(&name) {
                Ok(backup) => backups.push(backup),
                Err(_) => unreadable.push(name),
            }
        }
        backups.sort_by(|a, b| (b.created_at, &b.name).cmp(&(a.created_at, &a.name)));
        unreadable.sort();
        Ok((backups, unreadable))
    }

    fn manifest(&self, name: &str) -> Result<Backup> {
        let unreadable = |why: String| BackupError::Unreadable { name: name.to_owned(), why };
        if let Some(link) =
            [self.dir.join(name), self.dir.join(name).join(MANIFEST)].iter().find(|path| path.is_symlink())
        {
            return Err(unreadable(format!("{} is a link", link.display())));
        }
        let text = file::read_capped(&self.dir.join(name).join(MANIFEST), MAX_MANIFEST)
            .map_err(|e| unreadable(e.to_string()))?;
        let backup: Backup = serde_json::from_slice(&text).map_err(|e| unreadable(e.to_string()))?;
        // Use the directory's current name, because the directory may have been renamed.
        Ok(Backup { name: name.to_owned(), ..backup })
    }

    /// Returns the backup with this name, or the newest backup if no name is given.
    ///
    /// # Errors
    /// `NotFound` if there is no such backup, `Unreadable` if its manifest cannot be read.
    pub fn find(&self, name: Option<&str>) -> Result<Backup> {
        let Some(name) = name else {
            return self
                .list()?
                .0
                .into_iter()
                .next()
                .ok_or_else(|| BackupError::NotFound("there are no backups".to_owned()));
        };
        // A name must be a single path component, so that it cannot lead to another directory.
        let is_part = Path::new(name).components().count() == 1 && !name.contains('/') && name != ".." && name != ".";
        if !is_part || !self.dir.join(name).is_dir() || self.dir.join(name).is_symlink() {
            return Err(BackupError::NotFound(format!("no such backup: {name:?}")));
        }
        self.manifest(name)
    }

    /// Checks the files of a backup. Missing or changed artifacts are listed in the result, because the backup can be
    /// restored without them. This function blocks.
    ///
    /// # Errors
    /// `Damaged` if the database or its key differs from what was written, or the database is not an afd memory.
    /// `Unreadable` if a file of the backup is a symbolic link.
    pub fn verify(&self, name: Option<&str>) -> Result<Verified> {
        let backup = self.find(name)?;
        let damaged = |why: String| BackupError::Damaged { name: backup.name.clone(), why };
        let dir = self.dir.join(&backup.name);
        let database = dir.join(DATABASE);
        if let Some(link) = [&database, &dir.join(KEY), &dir.join(ARTIFACTS)].into_iter().find(|path| path.is_symlink())
        {
            return Err(BackupError::Unreadable {
                name: backup.name.clone(),
                why: format!("{} is a link", link.display()),
            });
        }
        if hash_of(&database)? != backup.database_hash {
            return Err(damaged("the copy of the database differs from what was written".to_owned()));
        }
        if backup.key_hash.is_some() && hash_of(&dir.join(KEY)).ok() != backup.key_hash {
            return Err(damaged("its key is missing, or differs from what was written".to_owned()));
        }
        let (connection, _) = open_foreign(&database).map_err(|error| BackupError::copied(&backup.name, error))?;
        let (mut artifacts_checked, mut lost) = (0, Lost::default());
        for file in (self.artifacts.of)(&connection)? {
            match intact(&dir, &file.hash) {
                Some(_) => artifacts_checked += 1,
                None => lost.add(&file.path),
            }
        }
        Ok(Verified { backup, artifacts_checked, artifacts_lost: lost.count, lost: lost.paths })
    }

    /// Deletes a backup.
    ///
    /// # Errors
    /// `NotFound` if there is no such backup. Also returns an error if its files cannot be removed.
    pub fn delete(&self, name: &str) -> Result<()> {
        // Delete only backups, because nothing else in the directory belongs to afd.
        self.find(Some(name))?;
        let dir = self.dir.join(name);
        std::fs::remove_dir_all(&dir).map_err(BackupError::io(&dir))
    }

    /// Deletes the oldest automatic backups until at most `keep` are left and the size of all backups is at most
    /// `max_bytes`. The newest backup is never deleted. Returns the names of the deleted backups.
    ///
    /// # Errors
    /// If the directory cannot be read or a backup cannot be deleted.
    pub fn prune(&self, keep: usize, max_bytes: u64) -> Result<Vec<String>> {
        let (backups, _) = self.list()?;
        let newest = backups.first().map(|b| b.name.clone());
        let made: Vec<&Backup> =
            backups.iter().filter(|b| b.reason != BackupReason::Request && b.reason != BackupReason::Rescue).collect();
        let mut gone = Vec::new();
        for (i, backup) in made.iter().enumerate().rev() {
            let beyond = i >= keep.max(1);
            if Some(&backup.name) == newest.as_ref()
                || (!beyond && file::size_of_trees(&self.complete_dirs()) <= max_bytes)
            {
                continue;
            }
            self.delete(&backup.name)?;
            gone.push(backup.name.clone());
        }
        Ok(gone)
    }

    /// Returns the total size of all backups on disk (bytes), including unfinished ones. A file that several backups
    /// share is counted once.
    pub fn size(&self) -> u64 {
        file::size_of_trees(&[self.complete_dirs(), self.named(TEMP_PREFIX)].concat())
    }

    /// Returns the directories of the complete backups, newest first.
    fn complete_dirs(&self) -> Vec<PathBuf> {
        let backups = self.list().map(|(backups, _)| backups).unwrap_or_default();
        backups.iter().map(|backup| self.dir.join(&backup.name)).collect()
    }

    /// Returns the paths of the directory entries whose names start with this prefix.
    fn named(&self, prefix: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.dir).into_iter().flatten().flatten();
        entries.filter(|e| e.file_name().as_bytes().starts_with(prefix.as_bytes())).map(|e| e.path()).collect()
    }

    /// Removes unfinished backups of a database. The caller must hold the database's locks, so that no other process is
    /// making a backup of it.
    pub fn remove_unfinished(&self, database: &Path) {
        for dir in self.named(&file::unfinished("backup", database)) {
            match std::fs::remove_dir_all(&dir) {
                Ok(()) => tracing::info!(dir = %dir.display(), "removed a backup that was not completed"),
                Err(error) => {
                    tracing::warn!(%error, dir = %dir.display(), "cannot remove a backup that was not completed")
                }
            }
        }
    }

    /// Copies files into a directory and names each copy after its hash. If an earlier backup contains an intact copy,
    /// that copy is hard-linked instead. Files that cannot be read or have changed are left out. Returns the number of
    /// copied and linked files, and their total size (bytes).
    fn copy_all(&self, files: &[Stored], dir: &Path) -> Result<(u64, u64)> {
        if files.is_empty() {
            return Ok((0, 0));
        }
        std::fs::DirBuilder::new().mode(0o700).create(dir).map_err(BackupError::io(dir))?;
        let earlier = self.complete_dirs();
        // Backups made by earlier versions contain hard links to the files in use, which are not copies.
        let used: HashSet<(u64, u64)> = files.iter().filter_map(|file| inode(&file.path)).collect();
        let is_copy = |backup: &PathBuf, hash: &str| {
            let path = backup.join(ARTIFACTS).join(hash);
            inode(&path).filter(|inode| !used.contains(inode)).and_then(|_| intact(backup, hash))
        };
        let (mut count, mut bytes) = (0, 0);
        for file in files {
            let to = dir.join(&file.hash);
            if to.exists() {
                continue;
            }
            let copy = earlier.iter().find_map(|backup| is_copy(backup, &file.hash));
            if copy.is_none_or(|copy| std::fs::hard_link(copy, &to).is_err()) && !copy_to(file, &to)? {
                continue;
            }
            count += 1;
            bytes += std::fs::metadata(&to).map_err(BackupError::io(&to))?.len();
        }
        sync_dir(dir)?;
        Ok((count, bytes))
    }
}

/// Copies an artifact file that is in use. Returns false, and leaves no copy, if the file cannot be read or has
/// changed.
fn copy_to(file: &Stored, to: &Path) -> Result<bool> {
    let Ok(mut source) = file::open_regular(&file.path) else { return Ok(false) };
    let mut options = std::fs::OpenOptions::new();
    let mut target = options.write(true).create_new(true).mode(0o400).open(to).map_err(BackupError::io(to))?;
    // On Linux, the copy shares the file's blocks if the file system supports this.
    let copied = io::copy(&mut source, &mut target).and_then(|_| target.sync_all());
    match copied {
        Err(error) if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {
            Err(BackupError::io(to)(error))
        }
        Ok(()) if hash_of(to)? == file.hash => Ok(true),
        _ => {
            std::fs::remove_file(to).map_err(BackupError::io(to))?;
            Ok(false)
        }
    }
}

/// Returns the path of an artifact's copy in a backup. Returns `None` if the copy is missing, has changed or is a
/// symbolic link.
fn intact(backup: &Path, hash: &str) -> Option<PathBuf> {
    let copy = backup.join(ARTIFACTS).join(hash);
    let is_copy = Path::new(hash).components().count() == 1 && !copy.is_symlink();
    (is_copy && hash_of(&copy).is_ok_and(|now| now == hash)).then_some(copy)
}

/// Returns a file's device and inode numbers, which are the same for all hard links to the file.
fn inode(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()))
}

/// Reads the key beside a database. Returns `None` if there is no key yet.
fn read_key(path: &Path) -> Result<Option<Vec<u8>>> {
    match file::read_capped(path, 1 << 10) {
        Ok(key) => Ok(Some(key)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(BackupError::io(path)(error)),
    }
}

fn hash_of(path: &Path) -> Result<String> {
    file::hash_of(path).map_err(BackupError::io(path))
}

fn restrict(path: &Path) -> Result<()> {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(BackupError::io(path))
}

fn sync_dir(dir: &Path) -> Result<()> {
    std::fs::File::open(dir).and_then(|d| d.sync_all()).map_err(BackupError::io(dir))
}
