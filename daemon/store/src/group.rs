//! Runs a group of writes and commits them together.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::hooks::Action;
use tokio::sync::OwnedSemaphorePermit;

use super::damage::{Damage, Files};
use super::error::catch_panic;
use super::queue::{Next, Queue};
use super::work::{Acknowledge, Done, Queued, Report, Work};
use super::{Result, Risk, StoreError};

/// Maximum number of writes in a group. All writes in a group share one commit.
pub(super) const MAX_GROUP: usize = 256;
/// Time after which no further writes join a group and it is committed. A write that arrives while a group runs waits
/// at most for this time, one more write, and the commit.
const MAX_GROUP_TIME: Duration = Duration::from_millis(10);

/// Duration above which a group of writes is logged as slow.
const LONG_GROUP: Duration = Duration::from_millis(20);

/// Callback that is called with the connection when the database's content is at risk.
pub(super) type Rescue = Box<dyn Fn(&Connection, Risk) + Send>;

/// A watched table. After each commit that changed rows of the table, `changed` is called if `query` finds a row.
pub(super) struct Watched {
    pub(super) table: &'static str,
    pub(super) query: &'static str,
    pub(super) changed: Box<dyn Fn() + Send + Sync>,
}

/// Records whether the open transaction has changed rows of the watched table.
#[derive(Default)]
pub(super) struct Changes {
    watched: OnceLock<Watched>,
    are_seen: AtomicBool,
}

impl Changes {
    /// Makes a connection record changes to the watched table.
    pub(super) fn note(self: &Arc<Self>, connection: &Connection) -> Result<()> {
        let changes = self.clone();
        let note = move |_: Action, _: &str, table: &str, _: i64| {
            if changes.watched.get().is_some_and(|watched| watched.table == table) {
                changes.are_seen.store(true, Ordering::Relaxed);
            }
        };
        Ok(connection.update_hook(Some(note))?)
    }

    pub(super) fn watch(&self, watched: Watched) {
        let _ = self.watched.set(watched);
    }

    /// Calls the callback if the transaction that just ended changed rows of the watched table and the query finds a
    /// row or fails. The callback may also be called after a rollback.
    pub(super) fn tell(&self, connection: &Connection) {
        if self.are_seen.swap(false, Ordering::Relaxed)
            && let Some(watched) = self.watched.get()
            && connection.prepare_cached(watched.query).and_then(|mut query| query.exists([])).unwrap_or(true)
        {
            (watched.changed)();
        }
    }
}

/// State that the writer checks and updates for each group.
pub(super) struct Watch {
    pub(super) files: Files,
    pub(super) damage: Damage,
    pub(super) rescue: Rescue,
    pub(super) changes: Arc<Changes>,
}

impl Watch {
    /// Checks, after a commit, that the data was written to the files that the daemon will read at its next start. If
    /// not, records that the database is gone, and calls `rescue`.
    fn check_files(&mut self, connection: &Connection) -> Result<()> {
        let Err(what) = self.files.check() else { return Ok(()) };
        if !self.damage.is_gone() {
            self.damage.set_gone(what.clone());
            (self.rescue)(connection, Risk::Gone);
        }
        Err(StoreError::Unavailable(what))
    }
}

/// The result of a group of writes, and what is needed to acknowledge the writes.
pub(super) struct Group {
    pub(super) acknowledgements: Vec<Acknowledge>,
    pub(super) permits: Vec<OwnedSemaphorePermit>,
    pub(super) committed: Result<()>,
}

/// Runs as many queued writes as fit into a group, and commits them together.
pub(super) fn commit_group(
    connection: &Connection,
    queue: &mut Queue<Queued>,
    watch: &mut Watch,
    holds_long: bool,
) -> Group {
    let damage = &watch.damage.clone();
    let mut begun = match damage.get() {
        Some(what) if damage.is_gone() => Err(StoreError::Unavailable(what)),
        Some(what) => Err(StoreError::Damaged(what)),
        None => connection.execute_batch("BEGIN IMMEDIATE").map_err(StoreError::from),
    };
    let (mut acknowledgements, mut permits): (Vec<Acknowledge>, Vec<_>) = (Vec::new(), Vec::new());
    let changes = connection.total_changes();
    let (started, mut has_long) = (Instant::now(), false);
    while permits.len() < MAX_GROUP && started.elapsed() < MAX_GROUP_TIME {
        let Some(Next { write: Queued { work, report, _permit: permit }, is_long }) =
            queue.pop_into_group(permits.is_empty(), holds_long)
        else {
            break;
        };
        has_long |= is_long;
        permits.push(permit);
        acknowledgements.push(match &begun {
            Ok(()) => acknowledgement(report, in_savepoint(connection, work, damage)),
            Err(error) => acknowledgement(report, Err(error.duplicate())),
        });
        // If the disk is full, SQLite rolls the transaction back on its own. Without this check, the remaining writes
        // would then be committed individually.
        if begun.is_ok() && connection.is_autocommit() {
            begun = Err(StoreError::Unavailable(
                "a write of the same group failed, and the group was rolled back".to_owned(),
            ));
        }
        if is_long {
            break;
        }
    }
    let committed = begun.and_then(|()| connection.execute_batch("COMMIT").map_err(StoreError::from));
    // Do not acknowledge writes to a deleted file.
    let committed = committed.and_then(|()| watch.check_files(connection));
    note_commit(connection, damage, &committed, connection.total_changes() > changes);
    watch.changes.tell(connection);
    if started.elapsed() > LONG_GROUP {
        tracing::debug!(
            ms = started.elapsed().as_millis() as u64,
            writes = permits.len(),
            has_long,
            "a group of writes took long"
        );
    }
    Group { acknowledgements, permits, committed }
}

/// Runs work in its own transaction, whose commit is not synced to disk. The next synced commit also syncs this one,
/// because SQLite syncs the whole write-ahead log.
pub(super) fn unsynced<T>(connection: &Connection, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
    connection.execute_batch("PRAGMA synchronous = NORMAL")?;
    let done = connection.execute_batch("BEGIN IMMEDIATE").map_err(StoreError::from).and_then(|()| {
        let done = catch_panic(|| work(connection));
        done.and_then(|value| connection.execute_batch("COMMIT").map(|()| value).map_err(StoreError::from))
    });
    if !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    connection.execute_batch("PRAGMA synchronous = FULL")?;
    done
}

/// Records whether a group was committed, and rolls the group back if it was not.
fn note_commit(connection: &Connection, damage: &Damage, committed: &Result<()>, has_changes: bool) {
    match committed {
        Ok(()) if has_changes => damage.set_failing(None),
        Err(error) if damage.get().is_none() => damage.set_failing(Some(error)),
        _ => {}
    }
    if let Err(error) = committed {
        damage.count_rollback();
        if !connection.is_autocommit() {
            let _ = connection.execute_batch("ROLLBACK");
        }
        damage.set_if_damaged(error);
        tracing::warn!(%error, "a group of writes was not committed");
    }
}

fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(|_| ())
}

/// Runs a write in a savepoint, and rolls back its changes if the write fails.
fn in_savepoint(connection: &Connection, work: Work, damage: &Damage) -> Done {
    execute(connection, "SAVEPOINT work")?;
    let done = catch_panic(|| Ok::<_, StoreError>(work(connection)));
    let is_done = matches!(done, Ok(Ok(_)));
    let ended = if is_done { Ok(()) } else { execute(connection, "ROLLBACK TO work") };
    if !is_done {
        damage.count_rollback();
    }
    match ended.and_then(|()| execute(connection, "RELEASE work")) {
        Err(error) if is_done => Err(error.into()),
        _ => done,
    }
}

/// Returns the acknowledgement for a write, to be called with the result of the commit. If the write itself failed, its
/// error is reported instead of the commit's error, because it is more specific.
fn acknowledgement(report: Report, done: Done) -> Acknowledge {
    Box::new(move |committed| {
        report(match done {
            Ok(Ok(value)) => committed.map(|()| Ok(value)),
            failed => failed,
        });
    })
}
