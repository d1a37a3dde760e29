//! `memory.import`, and the imports that a stopped daemon left incomplete.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::upkeep::{ImportParams, Imported};
use tempfile::NamedTempFile;

use super::{check, pieces};
use crate::app::checks::absolute;
use crate::app::{Core, Error, Result, scope};
use afd_base::file;
use afd_base::task::run_blocking;
use afd_store::exchange::imports::{self, Import};
use afd_store::{self as store, Connection, Store, StoreError};

/// Pause before the first retry of a failed import. Each further pause is twice as long as the previous one, up to
/// [`MAX_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_secs(2);
/// Maximum pause before a failed import is retried.
const MAX_PAUSE: Duration = Duration::from_secs(300);

/// Maximum time to wait for an import that is about to be retried.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// Interval at which a waiting call checks whether an import is still incomplete.
const POLL: Duration = Duration::from_millis(20);

/// Sets a flag when dropped, to end work on another thread.
#[derive(Default)]
struct EndOnDrop(Arc<AtomicBool>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Implements `memory.import`.
///
/// # Errors
/// `INVALID_PARAMS` if the file cannot be read or a line is invalid; nothing is imported in these cases.
pub async fn import(core: &Arc<Core>, params: &ImportParams) -> Result<Imported> {
    let path = absolute("file", &params.file)?;
    let (dry_run, merge) = (params.dry_run.unwrap_or(false), params.merge.unwrap_or(false));
    let turn = core.locks.memory.clone().lock_owned().await;
    let ended = EndOnDrop::default();
    let (stop, database) = (ended.0.clone(), core.store.path().to_owned());
    scope::report(0, None, "checking the file");
    let copy = run_blocking(move || checked_copy(&path, &database, &stop)).await??;
    if dry_run {
        let records = import_dry_run_on_copy(&core.store, copy, merge, ended).await?;
        return Ok(Imported { dry_run, ..records });
    }
    let own = core.clone();
    core.finish(async move {
        let _turn = turn;
        let (import, path) = accept(&own.store, copy, merge).await?;
        let done = pieces::apply(&own, import, &path, false).await;
        match &done {
            Ok(_) => remove(&path),
            Err(_) => resume(&own),
        }
        done
    })
    .await?
}

/// Checks a file and copies it to the directory of the database.
fn checked_copy(path: &Path, database: &Path, stop: &AtomicBool) -> Result<NamedTempFile> {
    let wrong = |got: &dyn std::fmt::Display| {
        Error::param("file", "a file written by `memory export`", format!("{}: {got}", path.display()))
    };
    let input = BufReader::new(file::open_regular(path).map_err(|error| wrong(&error))?);
    let failed = |error: io::Error| {
        Error::from(StoreError::Unavailable(format!("cannot copy the file beside the database: {error}")))
    };
    let mut copy = temporary(database).map_err(failed)?;
    let (mut out, mut failure) = (BufWriter::new(copy.as_file_mut()), None);
    let checked = check(input, |bytes| {
        if stop.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        out.write_all(bytes).inspect_err(|error| failure = Some(io::Error::from(error.kind())))
    });
    if let Some(failure) = failure {
        return Err(failed(failure));
    }
    checked?;
    out.flush().map_err(failed)?;
    drop(out);
    copy.as_file().sync_all().map_err(failed)?;
    Ok(copy)
}

fn prefix(database: &Path) -> String {
    file::unfinished("import", database)
}

/// Returns the directory that contains the database file itself, not a link to it.
fn directory(database: &Path) -> PathBuf {
    let real = database.canonicalize().unwrap_or_else(|_| database.to_owned());
    real.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

/// Creates a temporary file next to the database. The file is deleted unless the caller keeps it.
fn temporary(database: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(&prefix(database)).tempfile_in(directory(database))
}

/// Imports the records in a file, then rolls the import back.
///
/// # Errors
/// If a line is invalid.
pub fn import_dry_run(connection: &Connection, input: &[u8], merge: bool) -> Result<Imported> {
    check(input, |_| Ok(()))?;
    store::taken_back(connection, |c| pieces::at_once(c, input, merge))
}

/// Imports a checked file into a temporary copy of the database, and returns the counts.
async fn import_dry_run_on_copy(
    store: &Store,
    records: NamedTempFile,
    merge: bool,
    ended: EndOnDrop,
) -> Result<Imported> {
    let scratch = temporary(store.path()).map_err(StoreError::from_io)?.into_temp_path();
    // Moved into the closure, so that the file is deleted even if the call is cancelled.
    let scratch = store.read_all(move |c| store::copy(c, &scratch).map(|()| scratch)).await?;
    let stop = ended.0.clone();
    let done = run_blocking(move || {
        let connection = store::open_scratch(&scratch, stop)?;
        let input = BufReader::new(records.reopen().map_err(StoreError::from_io)?);
        pieces::at_once(&connection, input, merge)
    });
    let done = done.await?;
    drop(ended);
    done
}

/// Accepts a checked file: from now on its import survives crashes. Returns the import and the path of its copy.
async fn accept(store: &Store, copy: NamedTempFile, merge: bool) -> Result<(Import, PathBuf)> {
    let (file, path) = copy.keep().map_err(|error| StoreError::from_io(error.error))?;
    drop(file);
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let synced =
        File::open(path.parent().unwrap_or(Path::new("."))).and_then(|dir| dir.sync_all()).map_err(StoreError::from_io);
    let accepted = match synced {
        Ok(()) => store.write(move |c| imports::accept(c, &name, merge)).await,
        Err(error) => Err(error),
    };
    match accepted {
        Ok(import) => Ok((import, path)),
        Err(error) => {
            remove(&path);
            Err(error.into())
        }
    }
}

fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_file(path) {
        tracing::warn!(%error, path = %path.display(), "cannot remove the copy of an imported file");
    }
}

/// Waits until no import is incomplete. Returns a guard that prevents other imports from starting until it is dropped.
///
/// # Errors
/// `STORE_UNAVAILABLE` if an import keeps failing, for example because the disk is full.
pub async fn whole(core: &Core) -> Result<tokio::sync::OwnedMutexGuard<()>> {
    let mut waited = Duration::ZERO;
    loop {
        let turn = core.locks.memory.clone().lock_owned().await;
        if core.store.read_all(imports::incomplete).await?.is_empty() {
            return Ok(turn);
        }
        drop(turn);
        if waited >= MAX_WAIT {
            let error = Error::new(ErrorCode::StoreUnavailable, "an accepted import is incomplete and keeps failing");
            return Err(error.hint("the log has the cause; the daemon retries the import"));
        }
        tokio::time::sleep(POLL).await;
        waited += POLL;
    }
}

/// Resumes incomplete imports in the background, and removes copies of files that were not accepted.
pub fn resume(core: &Arc<Core>) {
    let weak = Arc::downgrade(core);
    core.tasks.spawn("import", move || retry_until_complete(weak.clone()));
}

async fn retry_until_complete(core: Weak<Core>) {
    let mut pause = FIRST_PAUSE;
    while let Some(core) = core.upgrade() {
        match complete_all(&core).await {
            Ok(()) => return,
            Err(_) if *core.runtime.stopping().borrow() => return,
            Err(error) => tracing::warn!(error = %error.message, "cannot complete an import; it is retried"),
        }
        drop(core);
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

/// Completes all accepted imports.
async fn complete_all(core: &Arc<Core>) -> Result<()> {
    let _turn = core.locks.memory.lock().await;
    let waiting = core.store.read_all(imports::incomplete).await?;
    let dir = directory(core.store.path());
    let prefix = prefix(core.store.path());
    for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(&prefix) && waiting.iter().all(|import| import.file != name) {
            remove(&entry.path());
        }
    }
    for import in waiting {
        let path = dir.join(&import.file);
        if !path.is_file() {
            tracing::error!(file = %path.display(), "the copy of an accepted file is missing; the rest of it is not imported");
            core.store.write(move |c| imports::complete(c, import.id)).await?;
            continue;
        }
        tracing::info!(file = %path.display(), "resuming an import");
        pieces::apply(core, import, &path, true).await?;
        remove(&path);
    }
    Ok(())
}
