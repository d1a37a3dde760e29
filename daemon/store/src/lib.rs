//! The SQLite database: one writer thread with group commit, a pool of reader threads, and migrations.
//!
//! This crate contains only the machinery; the crates that own the data contain the SQL. A write is acknowledged after
//! its commit. Device writes run first, in the order of their submission. Writes from other callers take turns
//! (`queue`). Each write has its own savepoint, so that a failed write does not affect the others in its group.

pub mod artifact;
pub mod backup;
mod checkpoints;
mod columns;
mod connections;
mod copy;
mod damage;
mod error;
pub mod exchange;
mod group;
pub mod job;
mod migrate;
mod piece;
mod query;
mod queue;
mod readers;
mod savepoint;
mod space;
mod sql;
mod stamp;
mod work;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Instant;

use r2d2_sqlite::SqliteConnectionManager;
/// A connection to the database, passed to each read or write. All changes that one write makes are committed together.
/// Only crates that own tables run SQL on a connection.
pub use rusqlite::Connection;
use rusqlite::OpenFlags;
/// A value that can be bound to a parameter of an SQL statement.
pub use rusqlite::ToSql;

use afd_base::task::{Tasks, run_blocking};

pub use columns::{json, parse_list, said_elsewhere, skip_unreadable, to_json, word};
pub use connections::probe;
use connections::{forget_statistics, prepare, prepare_writer, restrict};
pub use copy::{copy, open_copy, open_foreign, open_scratch};
use damage::Damage;
pub use damage::{Failing, damage_mark};
pub use error::{Result, Risk, StoreError};
use group::{Watched, unsynced};
pub use migrate::{
    SCHEMA, drop_foreign, former_origins, in_memory, origin_of, origins_of, renew_origin, schema_of, start_over,
    unchecked_in_memory,
};
pub use piece::Piece;
pub use query::{Conditions, Page, Reader};
use queue::Turn;
pub use queue::{Opening, in_lane, lane, new_lane, with_opening};
use readers::{Pool, Readers};
pub use savepoint::{all_or_nothing, taken_back};
pub use space::Space;
pub use sql::Sql;
pub use stamp::{new_uid, now_ms, rfc3339};
use writer::Writer;

/// An open database.
pub struct Store {
    path: PathBuf,
    origin: String,
    writer: Writer,
    readers: Readers,
    pool: Pool,
    seq: AtomicI64,
    damage: Damage,
    /// Whether a background task is waiting to empty the write-ahead log.
    is_scrubbing: Arc<AtomicBool>,
}

impl Store {
    /// Opens the database, and creates or migrates it as needed. `rescue` is called when the database's content is at
    /// risk; `last_seq` reads the highest sequence number in use.
    ///
    /// # Errors
    /// If the database is damaged, has a newer schema, or cannot be opened.
    pub fn open(
        path: &Path,
        tasks: &Tasks,
        rescue: impl Fn(&Connection, Risk) + Send + 'static,
        last_seq: impl FnOnce(&Connection) -> Result<i64>,
    ) -> Result<Self> {
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir)
                .map_err(|e| StoreError::Unavailable(format!("cannot create {}: {e}", dir.display())))?;
        }
        probe(path)?;
        let damage = Damage::new(path);
        let gone = damage.marked_as_gone();
        if let Some(what) = gone.clone().filter(|_| std::fs::metadata(path).map_or(0, |meta| meta.len()) == 0) {
            // Do not create a new database, because it would hide that the old one is gone.
            return Err(StoreError::Damaged(what));
        }
        let mut connection = Connection::open(path)?;
        restrict(path);
        migrate::check(&connection, path)?;
        if let Some(what) = gone {
            damage.set_marked(what);
        } else if damage.is_marked() {
            match copy::integrity(&connection) {
                Ok(None) => damage.dispel(),
                Ok(Some(fault)) | Err(StoreError::Damaged(fault)) => damage.set(fault),
                Err(error) => return Err(error),
            }
        }
        // This takes effect only in an empty database.
        connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL")?;
        prepare_writer(&connection)?;
        migrate::run(&mut connection, |c| rescue(c, Risk::Migration))?;
        forget_statistics(&connection, path);
        let origin = migrate::origin(&connection)?;
        let seq = last_seq(&connection)?;
        let manager = SqliteConnectionManager::file(path)
            .with_flags(OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .with_init(|c| prepare(c));
        let (readers, pool) = Readers::start(manager, tasks)?;
        let writer = Writer::start(connection, path, damage.clone(), Box::new(rescue), tasks)?;
        Ok(Self {
            path: path.to_owned(),
            origin,
            writer,
            readers,
            pool,
            seq: AtomicI64::new(seq),
            damage,
            is_scrubbing: Arc::default(),
        })
    }

    /// Returns the path of the database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns this store's uid, which marks the rows that the store creates.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the next sequence number for events, intents and observations.
    pub fn next_seq(&self) -> i64 {
        self.seq.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Returns a description of the known damage to the database; `None` if no damage is known.
    pub fn damage(&self) -> Option<String> {
        self.damage.get().map(|what| if self.is_gone() { what } else { format!("the database is damaged: {what}") })
    }

    /// Returns why the last write failed, for example because the disk is full, or `None` if it did not fail.
    pub fn failing(&self) -> Option<Failing> {
        self.damage.failing()
    }

    /// Returns the counter of rolled-back writes. After it changes, data that was cached in memory may no longer match
    /// the database.
    pub fn rollback_count(&self) -> Arc<AtomicU64> {
        self.damage.rollback_count()
    }

    /// Sets the callback for changes to a table. After each commit that changed rows of the table, the writer runs
    /// `query` and calls `changed` if the query finds a row. Only then do the callers of the writes get their results.
    /// Both `query` and `changed` must be quick, because all writes wait for them. Only the first call of this method
    /// has an effect.
    pub fn watch(&self, table: &'static str, query: &'static str, changed: impl Fn() + Send + Sync + 'static) {
        self.writer.watch(Watched { table, query, changed: Box::new(changed) });
    }

    /// Returns the number of writes that have not been committed yet.
    pub fn pending(&self) -> u64 {
        self.writer.slots().taken() as u64
    }

    /// Makes all later sequence numbers greater than `least`.
    pub fn raise_seq(&self, least: i64) {
        self.seq.fetch_max(least, Ordering::SeqCst);
    }

    /// Runs the work in a transaction, and returns the work's result once the transaction is committed.
    ///
    /// # Errors
    /// If the work or the commit fails. The database then contains none of the work's changes.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.writer.submit(Turn::Lane(lane()), work, None).await
    }

    /// Like [`Store::write`], for rows that can be derived again from other data. Does not wait until the commit is on
    /// disk, so a power failure may undo the write.
    ///
    /// # Errors
    /// If the work or the commit fails. The database then contains none of the work's changes.
    pub async fn write_derived<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        match self.damage.get() {
            Some(what) => Err(StoreError::Damaged(what)),
            None => self.writer.alone(move |c| unsynced(c, work)).await,
        }
    }

    /// Like [`Store::write_or_refuse`], for one piece of a long operation. [`Piece::is_over`] says when the piece must
    /// end. Each piece is committed separately, so that other writes do not wait for it.
    ///
    /// # Errors
    /// If the work or the commit fails. The database then contains none of the work's changes.
    pub async fn write_long<T, E>(
        &self,
        work: impl FnOnce(&Connection, &Piece) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let slots = self.writer.slots().clone();
        self.writer.submit(Turn::Long(lane()), move |c| work(c, &Piece::begin(slots)), None).await
    }

    /// Like [`Store::write`], for work with its own error type. If the work returns an error, its changes are rolled
    /// back, and the caller gets the error.
    ///
    /// # Errors
    /// If the work or the commit fails. The database then contains none of the work's changes.
    pub async fn write_or_refuse<T, E>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.writer.submit(Turn::Lane(lane()), work, None).await
    }

    /// Like [`Store::write`], for a record of an action that was or is about to be performed on a device. Such writes
    /// run before all other queued writes, up to a limit that prevents starvation.
    ///
    /// # Errors
    /// If the work or the commit fails.
    pub async fn write_first<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.writer.submit(Turn::Device, work, None).await
    }

    /// Like [`Store::write_first`], but calls `then` with the result after the commit, in commit order and before the
    /// caller gets the result. `then` runs on the writer thread and must not block.
    ///
    /// # Errors
    /// If the work or the commit fails.
    pub async fn write_then<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
        then: impl FnOnce(&T) + Send + 'static,
    ) -> Result<T> {
        self.writer.submit(Turn::Device, work, Some(Box::new(then))).await
    }

    /// Runs the work, rolls back its changes, and returns its result.
    ///
    /// # Errors
    /// If the work fails.
    pub async fn dry_run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.write(move |c| taken_back(c, work)).await
    }

    /// Queues a device write without waiting for its commit; waits only while the queue is full. A failure is logged
    /// under the name `what`. After the commit, `then` is called as in [`Store::write_then`].
    pub async fn write_behind<T: Send + 'static>(
        &self,
        what: &'static str,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
        then: impl FnOnce(&T) + Send + 'static,
    ) {
        self.writer.submit_behind(what, work, then).await;
    }

    /// Like [`Store::write_behind`], for an optional write, which takes its turn in the caller's lane. The write is
    /// dropped if the queue is full.
    pub fn try_write_behind<T: Send + 'static>(
        &self,
        what: &'static str,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
        then: impl FnOnce(&T) + Send + 'static,
    ) {
        self.writer.try_submit_behind(what, work, then);
    }

    /// Waits until all writes submitted so far are on disk.
    ///
    /// # Errors
    /// If the writer has stopped, or a commit fails.
    pub async fn flush(&self) -> Result<()> {
        self.writer.flush(None).await
    }

    /// Finishes all queued writes and stops the writer; later writes are refused. Writes that are unfinished at the
    /// deadline are rolled back, and their callers get an error.
    pub fn close(&self, deadline: Option<Instant>) {
        self.writer.close(deadline);
    }

    /// Like [`Store::read`], but sees all writes submitted so far, except writes whose results other callers are still
    /// waiting for.
    ///
    /// # Errors
    /// If the work fails, or no connection is available.
    pub async fn read_all<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        if self.pending() > 0 && self.damage().is_none() {
            self.writer.flush(Some(queue::lane())).await?;
        }
        self.read(work).await
    }

    /// Runs the work on a reader thread, on a consistent snapshot of the database. The work is interrupted if the
    /// caller drops the returned future.
    ///
    /// # Errors
    /// If the work fails, or no connection is available.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let result = self.readers.submit(work).await;
        if let Err(error) = &result {
            self.damage.set_if_damaged(error);
        }
        result
    }

    /// Checks the integrity of the whole database, which may take a long time. Damage is recorded and returned, and all
    /// further writes are refused. If the database is undamaged, a suspicion of damage is cleared.
    ///
    /// # Errors
    /// If the database cannot be read at all.
    pub async fn check(&self) -> Result<Option<String>> {
        let path = self.path.clone();
        // Use a new connection, because a fault that another connection met may exist only in that connection's memory.
        let look = move || {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            copy::integrity(&Connection::open_with_flags(path, flags)?)
        };
        match run_blocking(look).await? {
            Ok(None) => self.damage.dispel(),
            Ok(Some(fault)) | Err(StoreError::Damaged(fault)) => self.damage.set(fault),
            Err(error) => return Err(error),
        }
        Ok(self.damage())
    }

    /// Waits until an operation encounters possible damage, or finds that the file was deleted or replaced.
    pub async fn suspected(&self) {
        self.damage.suspected().await;
    }

    /// Returns whether the database file was deleted or replaced while this daemon used it. Its content can still be
    /// copied.
    pub fn is_gone(&self) -> bool {
        self.damage.is_gone()
    }
}

#[cfg(test)]
mod tests;
