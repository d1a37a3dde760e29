//! Replaces a database with a backup. The caller must hold the database's locks, and no process may have it open.
//!
//! A copy of the backup is prepared beside the database and then renamed to `….restored`. After this rename, even a
//! crash cannot undo the restore: [`finish`] completes it, and the daemon calls [`finish`] at every start. The old
//! database's write-ahead log is never applied to the new one.

use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use afd_proto::backup::Restored;
use rusqlite::OpenFlags;

use super::{BackupError, Backups, DATABASE, KEY, Lost, REPLACED, Result, intact, names, read_key, restrict, sync_dir};
use crate::{StoreError, damage_mark, now_ms, open_copy};
use afd_base::file::{self, with_suffix};

/// Suffix of a database copy that is not complete yet.
const PARTIAL: &str = ".restoring";
/// Suffix of the complete database copy.
const COMPLETE: &str = ".restored";
/// Suffix of the key that belongs to the complete database copy.
const KEY_COMPLETE: &str = ".key.restored";

/// Checks a backup, by default the newest one, and replaces the database with it. The old database is kept in a
/// directory beside the backups.
///
/// # Errors
/// If the backup is damaged or cannot be restored. The database is then unchanged.
pub fn restore(backups: &Backups, name: Option<&str>, database: &Path) -> Result<Restored> {
    let database = &real(database);
    let backup = backups.verify(name)?.backup;
    let from = backups.dir().join(&backup.name);
    let partial = with_suffix(database, PARTIAL);
    // Remove the files of an interrupted restore. Otherwise, SQLite would roll back their journal into the new copy.
    clear(&partial).map_err(BackupError::io(&partial))?;
    let prepared = copy_file(&from.join(DATABASE), &partial).and_then(|()| prepare(backups, &partial, database));
    prepared.inspect_err(|_| _ = clear(&partial))?;
    if let Some(key) = read_key(&from.join(KEY))? {
        let path = with_suffix(database, KEY_COMPLETE);
        file::replace(&path, &key).map_err(BackupError::io(&path))?;
    }
    let replaced = keep_old(backups, database)?;
    let complete = with_suffix(database, COMPLETE);
    std::fs::rename(&partial, &complete).map_err(BackupError::io(&complete))?;
    finish(database)?;
    let (artifacts, lost) = put_back(backups, &from, database)?;
    Ok(Restored {
        backup,
        database: database.display().to_string(),
        replaced: replaced.map(|dir| dir.display().to_string()),
        artifacts,
        artifacts_lost: lost.count,
        lost: lost.paths,
    })
}

/// Adapts a restored copy to this machine. Removes foreign triggers and views, so that no foreign code runs. Changes
/// the artifact paths, which may come from another machine or user, to paths on this machine. Gives the copy an origin
/// of its own.
fn prepare(backups: &Backups, copy: &Path, database: &Path) -> Result<()> {
    {
        let mut connection = rusqlite::Connection::open(copy).map_err(StoreError::from)?;
        crate::drop_foreign(&connection)?;
        let changes = connection.transaction().map_err(StoreError::from)?;
        (backups.artifacts.re_root)(&changes, &backups.artifacts.root)?;
        changes.commit().map_err(StoreError::from)?;
    }
    become_another(copy, database)?;
    open_copy(copy).map(drop).map_err(|error| BackupError::copied("the copy", error))
}

/// Removes an incomplete copy and the files that SQLite keeps beside it.
fn clear(partial: &Path) -> io::Result<()> {
    ["", "-journal", "-wal", "-shm"].iter().try_for_each(|suffix| remove(&with_suffix(partial, suffix)))
}

/// Removes the incomplete copy that an interrupted restore left. The caller must hold the database's locks.
pub fn remove_unfinished(database: &Path) {
    let database = &real(database);
    if is_pending(database) {
        return;
    }
    let left = clear(&with_suffix(database, PARTIAL)).and_then(|()| remove(&with_suffix(database, KEY_COMPLETE)));
    if let Err(error) = left {
        tracing::warn!(%error, database = %database.display(), "cannot remove the files of an interrupted restore");
    }
}

/// Gives a restored copy a new origin, because its future records will differ from those that the original store has
/// recorded since the backup.
fn become_another(copy: &Path, replaced: &Path) -> Result<()> {
    let connection = rusqlite::Connection::open(copy).map_err(StoreError::from)?;
    let former = match rusqlite::Connection::open_with_flags(replaced, OpenFlags::SQLITE_OPEN_READ_ONLY) {
        Err(_) if !replaced.exists() => Vec::new(),
        // If the replaced database cannot be read, it is most likely the one from which the backup was made.
        opened => opened
            .map_err(StoreError::from)
            .and_then(|replaced| crate::origins_of(&replaced))
            .or_else(|_| crate::origins_of(&connection))?,
    };
    crate::renew_origin(&connection, &former)?;
    Ok(())
}

/// Returns a database's path with symbolic links resolved. Companion files are beside the database file itself, not
/// beside a link to it.
fn real(database: &Path) -> PathBuf {
    database.canonicalize().unwrap_or_else(|_| database.to_owned())
}

/// Returns whether a database has a pending restore, which [`finish`] must complete.
pub fn is_pending(database: &Path) -> bool {
    with_suffix(&real(database), COMPLETE).exists()
}

/// Completes a pending restore, if there is one. Returns whether there was one.
///
/// # Errors
/// If a file cannot be renamed or removed.
pub fn finish(database: &Path) -> Result<bool> {
    let database = &real(database);
    if !is_pending(database) {
        return Ok(false);
    }
    put_in_place(database).map_err(BackupError::io(database))?;
    Ok(true)
}

fn put_in_place(database: &Path) -> io::Result<()> {
    for suffix in ["-wal", "-shm"] {
        remove(&with_suffix(database, suffix))?;
    }
    remove(&damage_mark(database))?;
    let key = with_suffix(database, KEY_COMPLETE);
    if key.exists() {
        std::fs::rename(&key, with_suffix(database, ".key"))?;
    }
    std::fs::rename(with_suffix(database, COMPLETE), database)?;
    database.parent().map_or(Ok(()), |dir| std::fs::File::open(dir)?.sync_all())
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn copy_file(from: &Path, to: &Path) -> Result<()> {
    std::fs::copy(from, to).map_err(BackupError::io(to))?;
    restrict(to)?;
    std::fs::File::open(to).and_then(|f| f.sync_all()).map_err(BackupError::io(to))
}

/// Copies a file to a path that must not exist, because an existing file could be a hard link to the source.
fn copy_new(from: &Path, to: &Path) -> Result<()> {
    let mut source = std::fs::File::open(from).map_err(BackupError::io(from))?;
    let mut options = std::fs::OpenOptions::new();
    let mut target = options.write(true).create_new(true).mode(0o600).open(to).map_err(BackupError::io(to))?;
    io::copy(&mut source, &mut target).and_then(|_| target.sync_all()).map_err(BackupError::io(to))
}

/// Creates a new directory for the files that a restore replaces.
fn new_directory(parent: &Path) -> Result<PathBuf> {
    for name in names(now_ms()) {
        let dir = parent.join(name + REPLACED);
        match std::fs::DirBuilder::new().mode(0o700).create(&dir) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created.map(|()| dir.clone()).map_err(BackupError::io(&dir)),
        }
    }
    Err(BackupError::NotFound("no free name".to_owned()))
}

/// Moves the files of the database that is being replaced to a new directory. Returns the directory, or `None` if the
/// database is empty or missing.
fn keep_old(backups: &Backups, database: &Path) -> Result<Option<PathBuf>> {
    if std::fs::metadata(database).map_or(0, |meta| meta.len()) == 0 {
        return Ok(None);
    }
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(backups.dir())
        .map_err(BackupError::io(backups.dir()))?;
    let dir = new_directory(backups.dir())?;
    for suffix in ["", "-wal", ".key"] {
        let (from, to) = (with_suffix(database, suffix), dir.join(format!("{DATABASE}{suffix}")));
        if from.exists() && std::fs::hard_link(&from, &to).is_err() {
            copy_new(&from, &to)?;
        }
    }
    sync_dir(&dir)?;
    Ok(Some(dir))
}

/// Restores missing artifact files from a backup. Returns the number of restored files, and the files that have no
/// intact copy or cannot be written.
fn put_back(backups: &Backups, from: &Path, database: &Path) -> Result<(u64, Lost)> {
    let (connection, _) = open_copy(database)?;
    let (mut count, mut lost) = (0, Lost::default());
    for file in (backups.artifacts.of)(&connection)? {
        if std::fs::symlink_metadata(&file.path).is_ok() {
            continue;
        }
        let written = intact(from, &file.hash).map(|copy| copy_whole(&copy, &file.path));
        match written {
            Some(Ok(())) => count += 1,
            Some(Err(error)) => {
                // Continue, because the database is already restored.
                tracing::warn!(%error, file = %file.path.display(), "cannot put back an artifact");
                lost.add(&file.path);
            }
            None => lost.add(&file.path),
        }
    }
    Ok((count, lost))
}

/// Copies a file to a path that does not exist, completely or not at all.
fn copy_whole(from: &Path, to: &Path) -> io::Result<()> {
    let dir = to.parent().unwrap_or(Path::new("."));
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let mut temp = tempfile::Builder::new().prefix(file::TEMP_PREFIX).tempfile_in(dir)?;
    io::copy(&mut file::open_regular(from)?, temp.as_file_mut())?;
    temp.as_file().sync_all()?;
    temp.persist_noclobber(to).map(drop).map_err(|e| e.error)
}
