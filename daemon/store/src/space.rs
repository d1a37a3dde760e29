//! Measures and frees the space that the database uses on disk and in memory.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::Connection;

use super::{Result, Store, StoreError};
use afd_base::file::with_suffix;
use afd_base::task::run_blocking;

/// Sizes of a database's files, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Size of the database file, in bytes.
    pub file: u64,
    /// Free space within the database file, in bytes.
    pub free: u64,
    /// Size of the write-ahead log, in bytes.
    pub wal: u64,
}

/// How long an attempt to empty the write-ahead log waits for readers. Writers have to wait during this time.
const SCRUB_WAIT: Duration = Duration::from_secs(2);
/// Interval and maximum number of background attempts to empty the write-ahead log. These attempts do not wait for
/// readers.
const SCRUB_EVERY: Duration = Duration::from_secs(1);
const SCRUBS: usize = 600;

impl Store {
    /// Frees the cached pages and prepared statements of the writer connection and of all idle reader connections.
    pub async fn shrink(&self) {
        let shrink = |c: &Connection| {
            c.flush_prepared_statement_cache();
            Ok::<_, StoreError>(c.execute_batch("PRAGMA shrink_memory")?)
        };
        let pool = self.pool.clone();
        let readers = self.readers.submit(move |own| {
            shrink(own)?;
            // Take all connections before any is returned to the pool, so that none is taken twice.
            let idle = (0..pool.state().idle_connections).filter_map(|_| pool.try_get());
            idle.collect::<Vec<_>>().iter().try_for_each(|c| shrink(c))
        });
        let writer = self.write(move |c| shrink(c));
        if let (Err(error), _) | (_, Err(error)) = (readers.await, writer.await) {
            tracing::debug!(%error, "cannot free the caches of the database");
        }
    }

    /// Moves the write-ahead log into the database and empties it, so that neither contains deleted content. If a
    /// reader holds the log for too long, this is done in the background as soon as possible.
    ///
    /// # Errors
    /// If the database cannot be opened.
    pub async fn scrub(&self) -> Result<()> {
        if !empty_log(self.path.clone(), SCRUB_WAIT).await? && !self.is_scrubbing.swap(true, Ordering::AcqRel) {
            tracing::info!("a reader holds the write-ahead log; the log is emptied when the reader ends");
            tokio::spawn(empty_log_later(self.path.clone(), self.is_scrubbing.clone()));
        }
        Ok(())
    }

    /// Returns the sizes of the database file, its free space and the write-ahead log.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn space(&self) -> Result<Space> {
        let wal = std::fs::metadata(with_suffix(&self.path, "-wal")).map_or(0, |meta| meta.len());
        self.read(move |c| {
            let value = |name: &str| {
                Ok::<_, StoreError>(c.pragma_query_value(None, name, |row| row.get::<_, i64>(0))?.max(0).unsigned_abs())
            };
            let page = value("page_size")?;
            Ok(Space { file: value("page_count")? * page, free: value("freelist_count")? * page, wal })
        })
        .await
    }

    /// Releases up to `pages` free pages of the database file to the file system. Has no effect on a database that was
    /// created by a version without this feature and has not been rewritten since.
    ///
    /// # Errors
    /// If the write fails.
    pub async fn shorten(&self, pages: u32) -> Result<()> {
        self.write(move |c| {
            let mut statement = c.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
            let mut rows = statement.query([])?;
            while rows.next()?.is_some() {}
            Ok(())
        })
        .await
    }

    /// Rewrites the whole database without its free space. Other writes wait until this is done.
    ///
    /// # Errors
    /// If the database is damaged or cannot be rewritten, for example because the disk is full.
    pub async fn vacuum(&self) -> Result<()> {
        if let Some(damage) = self.damage() {
            return Err(StoreError::Unavailable(damage));
        }
        let work = |c: &Connection| {
            // Otherwise, `VACUUM` would make its copy of the database in memory.
            let done = c.execute_batch(
                "PRAGMA temp_store = FILE; PRAGMA auto_vacuum = INCREMENTAL; VACUUM; PRAGMA wal_checkpoint(TRUNCATE);",
            );
            c.execute_batch("PRAGMA temp_store = MEMORY")?;
            Ok(done?)
        };
        self.writer.alone(work).await
    }
}

/// Moves the write-ahead log into the database and empties the log. Returns whether this was possible within `wait`.
async fn empty_log(path: PathBuf, wait: Duration) -> Result<bool> {
    let work = move || {
        let connection = Connection::open(&path)?;
        connection.busy_timeout(wait)?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>("busy"))
    };
    match run_blocking(work).await.map_err(|panic| StoreError::Unavailable(panic.to_string()))? {
        Ok(busy) => Ok(busy == 0),
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Empties the write-ahead log once no reader holds it, and gives up after [`SCRUBS`] attempts. Clears `is_running` at
/// the end.
async fn empty_log_later(path: PathBuf, is_running: Arc<AtomicBool>) {
    let mut emptied = Ok(false);
    for _ in 0..SCRUBS {
        tokio::time::sleep(SCRUB_EVERY).await;
        emptied = empty_log(path.clone(), Duration::ZERO).await;
        if !matches!(emptied, Ok(false)) {
            break;
        }
    }
    is_running.store(false, Ordering::Release);
    match emptied {
        Ok(true) => {}
        Ok(false) => {
            tracing::warn!(
                "the write-ahead log, which may hold deleted content, is still held; it is emptied with the next deletion"
            )
        }
        Err(error) => tracing::warn!(%error, "cannot empty the write-ahead log, which may hold deleted content"),
    }
}
