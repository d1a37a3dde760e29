//! The SQLite database: one writer thread that commits in groups, a pool of readers, migrations.
//!
//! Only the machinery is here; the SQL lives with its subject. A write is acknowledged after its commit. Writes run in
//! the order in which they were handed over, each in a savepoint of its own, so that one failure fails nobody else.

mod columns;
mod damage;
mod error;
mod migrate;
mod query;
mod readers;
mod stamp;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::{Connection, OpenFlags};

use crate::task::Tasks;

pub use columns::{json, readable, word};
use damage::Damage;
pub use error::{Result, StoreError};
pub use migrate::SCHEMA;
pub use query::{Conditions, Page};
use readers::{Pool, Readers};
pub use stamp::{new_uid, now_ms};
use writer::Writer;

/// The database.
pub struct Store {
    path: PathBuf,
    origin: String,
    writer: Writer,
    readers: Readers,
    pool: Pool,
    seq: AtomicI64,
    damage: Damage,
}

impl Store {
    /// Looks whether a path can be a database of ours, without touching it.
    ///
    /// # Errors
    /// When something else is there.
    pub fn probe(path: &Path) -> Result<()> {
        let refuse = |why: &str| Err(StoreError::Unavailable(format!("{} {why}", path.display())));
        let meta = match std::fs::metadata(path) {
            Ok(meta) => meta,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return refuse(&format!("cannot be read: {error}")),
        };
        if !meta.is_file() {
            return refuse("is not a regular file");
        }
        let mut head = [0; 16];
        let read = std::fs::File::open(path).and_then(|mut f| std::io::Read::read_exact(&mut f, &mut head));
        match read {
            Ok(()) if &head == b"SQLite format 3\0" => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof && meta.len() == 0 => Ok(()),
            Err(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => refuse(&format!("cannot be read: {error}")),
            _ => refuse("is not a database"),
        }
    }

    /// Opens the database, making or migrating it as needed. `last_seq` reads the last number in the order of what happened.
    ///
    /// # Errors
    /// [`StoreError`] when it is damaged, too new, or cannot be reached.
    pub fn open(path: &Path, tasks: &Tasks, last_seq: impl FnOnce(&Connection) -> Result<i64>) -> Result<Self> {
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir).map_err(|e| StoreError::Unavailable(format!("cannot make {}: {e}", dir.display())))?;
        }
        Self::probe(path)?;
        let mut connection = Connection::open(path)?;
        restrict(path);
        migrate::check(&connection, path)?;
        prepare_writer(&connection)?;
        migrate::run(&mut connection)?;
        let origin = migrate::origin(&connection)?;
        let seq = last_seq(&connection)?;
        let damage = Damage::default();
        let manager = SqliteConnectionManager::file(path)
            .with_flags(OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .with_init(|c| prepare(c));
        let (readers, pool) = Readers::start(manager, tasks)?;
        let writer = Writer::start(connection, damage.clone(), tasks)?;
        Ok(Self { path: path.to_owned(), origin, writer, readers, pool, seq: AtomicI64::new(seq), damage })
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The uid of this store, which marks the rows that it makes.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The next number in the order of what happens.
    pub fn next_seq(&self) -> i64 {
        self.seq.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// What is wrong with the database, once it is known.
    pub fn damage(&self) -> Option<String> {
        self.damage.get().map(|what| format!("it is damaged ({what})"))
    }

    /// Counts writes that were undone: what somebody keeps in memory of them is not in the database.
    pub fn undone(&self) -> Arc<AtomicU64> {
        self.damage.undone()
    }

    /// Writes that wait for their commit.
    pub fn pending(&self) -> u64 {
        self.writer.pending()
    }

    /// Does a piece of work in a transaction and returns after its commit.
    ///
    /// # Errors
    /// What the work returned, or why the commit failed; then nothing of it is in the database.
    pub async fn write<T: Send + 'static>(&self, work: impl FnOnce(&Connection) -> Result<T> + Send + 'static) -> Result<T> {
        self.writer.submit(work, |_| {}).await
    }

    /// Does a piece of work that may refuse: what it refuses is undone, and its reason is the error.
    ///
    /// # Errors
    /// What the work returned, or why the commit failed; then nothing of it is in the database.
    pub async fn write_or_refuse<T, E>(&self, work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.writer.submit(work, |_| {}).await
    }

    /// Does a piece of work; once it is committed, `then` is called with what came of it, in the order of the commits and before
    /// the caller is told. It runs on the writer thread and must not wait.
    ///
    /// # Errors
    /// What the work returned, or why the commit failed.
    pub async fn write_then<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
        then: impl FnOnce(&T) + Send + 'static,
    ) -> Result<T> {
        self.writer.submit(work, then).await
    }

    /// Does a piece of work and undoes it: what it returns is what would have come of it.
    ///
    /// # Errors
    /// What the work returned.
    pub async fn rehearse<T: Send + 'static>(&self, work: impl FnOnce(&Connection) -> Result<T> + Send + 'static) -> Result<T> {
        self.write(move |c| {
            c.execute_batch("SAVEPOINT rehearsal")?;
            let done = work(c);
            c.execute_batch("ROLLBACK TO rehearsal; RELEASE rehearsal")?;
            done
        })
        .await
    }

    /// Hands over a piece of work that nobody waits for; it is done in its turn. Waits only while too much is queued. A failure is
    /// logged under `what`; `then` is called after the commit, as in [`Store::write_then`].
    pub async fn write_behind<T: Send + 'static>(
        &self,
        what: &'static str,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
        then: impl FnOnce(&T) + Send + 'static,
    ) {
        self.writer.submit_behind(what, work, then).await;
    }

    /// Like [`Store::write_behind`] for what can be done without: it is left out when too much is queued.
    pub fn try_write_behind<T: Send + 'static>(
        &self,
        what: &'static str,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
        then: impl FnOnce(&T) + Send + 'static,
    ) {
        self.writer.try_submit_behind(what, work, then);
    }

    /// Waits until everything that was handed over so far is on disk.
    ///
    /// # Errors
    /// When the writer is gone.
    pub async fn flush(&self) -> Result<()> {
        self.write(|_| Ok(())).await
    }

    /// Finishes all writes and closes the file; later ones are refused.
    pub fn close(&self) {
        self.writer.close();
    }

    /// Like [`Store::read`], but sees everything that was handed over to be written so far.
    ///
    /// # Errors
    /// What the work returned, or that there is no connection.
    pub async fn read_all<T: Send + 'static>(&self, work: impl FnOnce(&Connection) -> Result<T> + Send + 'static) -> Result<T> {
        if self.pending() > 0 && self.damage().is_none() {
            self.flush().await?;
        }
        self.read(work).await
    }

    /// Reads on a thread for reading. When the caller goes away, the read is interrupted.
    ///
    /// # Errors
    /// What the work returned, or that there is no connection.
    pub async fn read<T: Send + 'static>(&self, work: impl FnOnce(&Connection) -> Result<T> + Send + 'static) -> Result<T> {
        let result = self.readers.submit(work).await;
        if let Err(error) = &result {
            self.damage.note(error);
        }
        result
    }

    /// Drops what the connections keep in memory for speed, where they are not at work.
    pub async fn shrink(&self) {
        let shrink = |c: &Connection| Ok::<_, StoreError>(c.execute_batch("PRAGMA shrink_memory")?);
        let pool = self.pool.clone();
        let readers = self.readers.submit(move |own| {
            shrink(own)?;
            // All at once, so that each is another one.
            let idle = (0..pool.state().idle_connections).filter_map(|_| pool.try_get());
            idle.collect::<Vec<_>>().iter().try_for_each(|c| shrink(c))
        });
        let writer = self.write(move |c| shrink(c));
        if let (Err(error), _) | (_, Err(error)) = (readers.await, writer.await) {
            tracing::debug!(%error, "memory is not given back");
        }
    }

    /// Checks the whole database, which may take long; damage is remembered and stops writing.
    ///
    /// # Errors
    /// When it cannot be read at all.
    pub async fn check(&self) -> Result<Option<String>> {
        let found = self.read(|c| Ok(c.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>("quick_check"))?)).await?;
        if found != "ok" {
            self.damage.set(found);
        }
        Ok(self.damage())
    }
}

/// What every connection needs.
fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(128);
    connection.busy_timeout(Duration::from_secs(5))?;
    connection
        .execute_batch("PRAGMA foreign_keys = ON; PRAGMA cache_size = -4000; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;")
}

fn prepare_writer(connection: &Connection) -> rusqlite::Result<()> {
    prepare(connection)?;
    // FULL: an acknowledged write survives a power cut. Group commit makes that nearly free.
    connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;")
}

/// The memory of what somebody did on a phone is nobody else's business.
fn restrict(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    if let Err(error) = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)) {
        tracing::warn!(%error, path = %path.display(), "cannot restrict the database file");
    }
}

#[cfg(test)]
mod tests;
