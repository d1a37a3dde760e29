//! Backups: directories with a copy of the database, its key and the artifacts, which are checked when they are made.
//!
//! A backup is written under a temporary name and renamed when it is complete. Artifacts are linked where the disk allows it: their
//! files never change. [`restore`] puts a backup back.

mod error;
pub mod restore;

use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use afd_proto::backup::{Backup, BackupReason, Verified};
use parking_lot::Mutex;
use rusqlite::Connection;
use sha2::{Digest, Sha256};

use crate::file::{self, TEMP_PREFIX, with_suffix};
use crate::hex;
use crate::store::{self, now_ms, open_copy};

pub use error::{BackupError, Result};

/// Name of the copied database in a backup.
const DATABASE: &str = "memory.db";
/// Name of the copied key.
const KEY: &str = "memory.db.key";
/// Name of the directory with the files of artifacts, each under its hash.
const ARTIFACTS: &str = "artifacts";
/// Name of the file that describes a backup and is written last.
const MANIFEST: &str = "manifest.json";
/// Maximum size of this file, bytes.
const MAX_MANIFEST: u64 = 64 << 10;
/// Suffix of directories with databases that a restore replaced.
const REPLACED: &str = "-replaced";

/// An artifact file that belongs to the memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Path of the file.
    pub path: PathBuf,
    /// SHA-256 of its content.
    pub hash: String,
}

/// Reads the artifact files that a database refers to.
pub type FilesOf = fn(&Connection) -> store::Result<Vec<Stored>>;

/// Returns names for something that is made at a time, to be tried in turn: they sort as times do.
fn names(at: i64) -> impl Iterator<Item = String> {
    let time = jiff::Timestamp::from_millisecond(at).unwrap_or_default().strftime("%Y%m%dT%H%M%SZ").to_string();
    std::iter::once(time.clone()).chain((2..).map(move |n: u32| format!("{time}-{n}")))
}

/// Held from choosing the name of a backup until it has it.
static NAMING: Mutex<()> = Mutex::new(());

/// The backups in a directory.
#[derive(Debug, Clone)]
pub struct Backups {
    dir: PathBuf,
    files_of: FilesOf,
}

impl Backups {
    /// Refers to the backups in a directory, which need not exist.
    pub fn new(dir: PathBuf, files_of: FilesOf) -> Self {
        Self { dir, files_of }
    }

    /// Returns the directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Makes a backup of the database of a connection, and of the key beside `database`. Blocks until it is on disk.
    ///
    /// # Errors
    /// [`BackupError`]; nothing of it remains then.
    pub fn create(&self, from: &Connection, database: &Path, reason: BackupReason) -> Result<Backup> {
        let created_at = now_ms();
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir).map_err(BackupError::io(&self.dir))?;
        let private = std::fs::Permissions::from_mode(0o700);
        let temp = tempfile::Builder::new().prefix(TEMP_PREFIX).permissions(private).tempdir_in(&self.dir);
        let temp = temp.map_err(BackupError::io(&self.dir))?;
        store::copy(from, &temp.path().join(DATABASE))?;
        let backup = self.complete(temp.path(), database, (created_at, reason))?;
        let _naming = NAMING.lock();
        let name = names(created_at).find(|name| !self.dir.join(name).exists()).unwrap_or_default();
        let to = self.dir.join(&name);
        std::fs::rename(temp.path(), &to).map_err(BackupError::io(&to))?;
        // It has gone to its place.
        let _ = temp.keep();
        sync_dir(&self.dir)?;
        Ok(Backup { name, ..backup })
    }

    /// Checks the copy of a database in a directory, adds the key and the artifacts, and writes the description last.
    fn complete(&self, dir: &Path, database: &Path, (created_at, reason): (i64, BackupReason)) -> Result<Backup> {
        let copy = dir.join(DATABASE);
        restrict(&copy)?;
        let (connection, schema) = open_copy(&copy).map_err(|error| BackupError::copied("the database", error))?;
        let key = read_key(&with_suffix(database, ".key"))?;
        if let Some(key) = &key {
            let path = dir.join(KEY);
            file::replace(&path, key).map_err(BackupError::io(&path))?;
        }
        let (artifacts, artifact_bytes) = link_all(&(self.files_of)(&connection)?, &dir.join(ARTIFACTS))?;
        let backup = Backup {
            // It goes by the name of its directory.
            name: String::new(),
            created_at,
            reason,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            schema,
            origin: store::origin_of(&connection)?.unwrap_or_default(),
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

    /// Lists the backups, newest first, and the names of directories that are none.
    ///
    /// # Errors
    /// When the directory exists and cannot be read.
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
        let text = file::read_capped(&self.dir.join(name).join(MANIFEST), MAX_MANIFEST).map_err(|e| unreadable(e.to_string()))?;
        let backup: Backup = serde_json::from_slice(&text).map_err(|e| unreadable(e.to_string()))?;
        // A renamed directory goes by its own name.
        Ok(Backup { name: name.to_owned(), ..backup })
    }

    /// Returns a backup by its name; without one, the newest.
    ///
    /// # Errors
    /// `NotFound`, or `Unreadable` when its description cannot be read.
    pub fn find(&self, name: Option<&str>) -> Result<Backup> {
        let Some(name) = name else {
            return self.list()?.0.into_iter().next().ok_or_else(|| BackupError::NotFound("there are no backups".to_owned()));
        };
        // A name is one part of a path, so that no other directory can be meant.
        let is_part = Path::new(name).components().count() == 1 && !name.contains('/') && name != ".." && name != ".";
        if !is_part || !self.dir.join(name).is_dir() {
            return Err(BackupError::NotFound(format!("no such backup: {name:?}")));
        }
        self.manifest(name)
    }

    /// Checks the files of a backup. Blocks.
    ///
    /// # Errors
    /// `Damaged` with the first fault.
    pub fn verify(&self, name: Option<&str>) -> Result<Verified> {
        let backup = self.find(name)?;
        let damaged = |why: String| BackupError::Damaged { name: backup.name.clone(), why };
        let dir = self.dir.join(&backup.name);
        let database = dir.join(DATABASE);
        if hash_of(&database)? != backup.database_hash {
            return Err(damaged("the copy of the database is not what was written".to_owned()));
        }
        if backup.key_hash.is_some() && hash_of(&dir.join(KEY)).ok() != backup.key_hash {
            return Err(damaged("its key is missing, or not what was written".to_owned()));
        }
        let (connection, _) = open_copy(&database).map_err(|error| BackupError::copied(&backup.name, error))?;
        let mut artifacts_checked = 0;
        for file in std::fs::read_dir(dir.join(ARTIFACTS)).into_iter().flatten().flatten() {
            let hash = file.file_name().to_string_lossy().into_owned();
            if hash_of(&file.path())? != hash {
                return Err(damaged(format!("the artifact {hash} is not what was written")));
            }
            artifacts_checked += 1;
        }
        if artifacts_checked < backup.artifacts {
            return Err(damaged(format!("{} of {} artifacts are missing", backup.artifacts - artifacts_checked, backup.artifacts)));
        }
        drop(connection);
        Ok(Verified { backup, artifacts_checked })
    }

    /// Deletes a backup.
    ///
    /// # Errors
    /// `NotFound`, or when its files cannot be removed.
    pub fn delete(&self, name: &str) -> Result<()> {
        // Whatever else is in the directory is not ours to delete.
        self.find(Some(name))?;
        let dir = self.dir.join(name);
        std::fs::remove_dir_all(&dir).map_err(BackupError::io(&dir))
    }

    /// Deletes the oldest backups that nobody asked for: those beyond `keep`, and as many as it takes to get below `max_bytes`. The newest
    /// backup always stays. Returns the names of those that were deleted.
    ///
    /// # Errors
    /// When the directory cannot be read or a backup cannot be deleted.
    pub fn prune(&self, keep: usize, max_bytes: u64) -> Result<Vec<String>> {
        let (backups, _) = self.list()?;
        let newest = backups.first().map(|b| b.name.clone());
        let made: Vec<&Backup> = backups.iter().filter(|b| b.reason != BackupReason::Request && b.reason != BackupReason::Rescue).collect();
        let mut gone = Vec::new();
        for (i, backup) in made.iter().enumerate().rev() {
            let beyond = i >= keep.max(1);
            if Some(&backup.name) == newest.as_ref() || (!beyond && self.size() <= max_bytes) {
                continue;
            }
            self.delete(&backup.name)?;
            gone.push(backup.name.clone());
        }
        Ok(gone)
    }

    /// Returns the size of all backups on disk, bytes. A file that several of them share counts once.
    pub fn size(&self) -> u64 {
        let backups = self.list().map(|(backups, _)| backups).unwrap_or_default();
        file::size_of_trees(&backups.iter().map(|b| self.dir.join(&b.name)).collect::<Vec<_>>())
    }
}

/// Reads the key beside a database; `None` if there is none yet.
fn read_key(path: &Path) -> Result<Option<Vec<u8>>> {
    match file::read_capped(path, 1 << 10) {
        Ok(key) => Ok(Some(key)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(BackupError::io(path)(error)),
    }
}

/// Links or copies files into a directory, each under its hash. A file that is gone, or not what it was, is left out.
/// Returns their number and size.
fn link_all(files: &[Stored], dir: &Path) -> Result<(u64, u64)> {
    let (mut count, mut bytes) = (0, 0);
    for file in files {
        if !dir.exists() {
            std::fs::DirBuilder::new().mode(0o700).create(dir).map_err(BackupError::io(dir))?;
        }
        let to = dir.join(&file.hash);
        if to.exists() || hash_of(&file.path).ok().as_ref() != Some(&file.hash) {
            continue;
        }
        if std::fs::hard_link(&file.path, &to).is_err() {
            std::fs::copy(&file.path, &to).map_err(BackupError::io(&to))?;
            restrict(&to)?;
        }
        count += 1;
        bytes += std::fs::metadata(&to).map_err(BackupError::io(&to))?.len();
    }
    Ok((count, bytes))
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
