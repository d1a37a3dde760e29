//! Keeps recall entries up to date with their rows.
//!
//! Triggers mark the entries of rows that a write has changed. After the commit, a task derives the marked entries,
//! newest first. It derives only a few immediately, for readers that wait for them. Another task derives the rest, for
//! example after an import or an upgrade.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::{Notify, watch};

use super::describe::describe;
use crate::app::Core;
use afd_recall::entries::{self, Source};
use afd_recall::{derive, repair};
use afd_store::{Connection, Piece, Result, Store, all_or_nothing};

/// Maximum number of entries in a write that follows a commit.
const AT_ONCE: i64 = 32;
/// Maximum number of such writes after a commit: enough for the messages of one call. Other writes come between them.
const WRITES: usize = 64;
/// Like [`WRITES`], but while many other entries are due.
const WHILE_BEHIND: usize = 4;
/// Maximum number of entries in a background write. Other writes do not wait for background writes.
const BEHIND: i64 = 200;
/// Maximum time spent on deriving entries immediately after a commit, because other writes wait meanwhile.
const MAX_TIME: Duration = Duration::from_millis(10);
/// Time for which commits are gathered before their entries are derived.
const GATHERED: Duration = Duration::from_millis(25);
/// Pause before the next attempt after a failure.
const PAUSE: Duration = Duration::from_secs(1);
/// Number of entries that are checked at a time.
const CHECKED: i64 = 300;

/// Derives up to `limit` entries that are due, unless the time limit of `piece` is reached first. Returns the number of
/// entries derived, or `limit` if more may be due.
pub fn some(c: &Connection, limit: i64, piece: &Piece) -> Result<i64> {
    let due = entries::due(c, limit)?;
    let mut done = 0;
    for source in &due {
        derive(c, source)?;
        done += 1;
        if piece.is_over() {
            return Ok(limit);
        }
    }
    Ok(done)
}

/// Derives an entry. An entry whose row is unreadable is abandoned, so that it does not block the others.
fn derive(c: &Connection, source: &Source) -> Result<()> {
    let derived = all_or_nothing(c, |c| {
        let described = if source.gone { None } else { describe(c, source)? };
        derive::settle(c, source, described.as_ref())
    });
    match derived {
        Err(error) if error.is_unreadable_row() => {
            tracing::warn!(%error, kind = source.kind, row = source.row, "cannot derive an entry");
            derive::give_up(c, source.id)
        }
        done => done,
    }
}

/// Derives the entry of a row in the write that recorded the row, which saves a write when the caller will read it. If
/// that fails, the entry stays due.
pub fn derive_now(c: &Connection, uid: &str) {
    let derived = entries::find(c, uid).and_then(|source| source.map_or(Ok(()), |source| derive(c, &source)));
    if let Err(error) = derived {
        tracing::warn!(%error, "cannot derive an entry while its row is recorded; it is tried again afterwards");
    }
}

/// Starts the tasks that derive entries after each commit that marked some.
pub fn start(core: &Arc<Core>) {
    let weak = Arc::downgrade(core);
    core.store.watch(entries::TABLE, entries::ARE_DUE, move || {
        if let Some(core) = weak.upgrade() {
            core.recall.progress.mark();
        }
    });
    let weak = Arc::downgrade(core);
    core.tasks.spawn("check-entries", move || check(weak.clone()));
    let (more, is_behind) = (Arc::<Notify>::default(), Arc::<AtomicBool>::default());
    let (weak, marked) = (Arc::downgrade(core), core.recall.progress.follow());
    let (notify, behind) = (more.clone(), is_behind.clone());
    core.tasks.spawn("entries", move || derive_newest(weak.clone(), marked.clone(), notify.clone(), behind.clone()));
    let weak = Arc::downgrade(core);
    core.tasks.spawn("entries-behind", move || derive_others(weak.clone(), more.clone(), is_behind.clone()));
}

/// After each commit that marked entries, derives the newest ones that are due, and wakes the task that derives the
/// others.
async fn derive_newest(
    core: Weak<Core>,
    mut marked: watch::Receiver<u64>,
    more: Arc<Notify>,
    is_behind: Arc<AtomicBool>,
) {
    // If this task is restarted after a panic, it begins with the entries that are due.
    marked.mark_changed();
    while marked.changed().await.is_ok() {
        let Some(core) = core.upgrade() else { return };
        // Many commits can follow each other, so they are handled together, unless a reader waits.
        let _ = tokio::time::timeout(GATHERED, core.recall.progress.wanted()).await;
        let upto = *marked.borrow_and_update();
        let most = if is_behind.load(Ordering::Relaxed) { WHILE_BEHIND } else { WRITES };
        let derived = derive_at_once(&core.store, most).await;
        core.recall.progress.advance(upto);
        match derived {
            Ok((false, false)) => {}
            Ok((_, more_are_due)) => {
                core.recall.nudge();
                if more_are_due {
                    more.notify_one();
                }
            }
            Err(error) => {
                tracing::warn!(%error, "cannot derive entries; it is tried again after the next write");
                // The store may wake this task after a rollback, too.
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Derives the newest entries that are due, in up to `most` writes. Returns whether any were due, and whether more are.
async fn derive_at_once(store: &Store, most: usize) -> Result<(bool, bool)> {
    let mut any = false;
    for _ in 0..most {
        let done = store.write_derived(|c| some(c, AT_ONCE, &Piece::lasting(MAX_TIME))).await?;
        any |= done > 0;
        if done < AT_ONCE {
            return Ok((any, false));
        }
    }
    Ok((any, true))
}

/// Derives entries in pieces, until none are due.
async fn derive_others(core: Weak<Core>, more: Arc<Notify>, is_behind: Arc<AtomicBool>) {
    loop {
        more.notified().await;
        while let Some(core) = core.upgrade() {
            is_behind.store(true, Ordering::Relaxed);
            match core.store.write_long(|c, piece| some(c, BEHIND, piece)).await {
                Ok(BEHIND) => tokio::task::yield_now().await,
                Ok(_) => {
                    core.recall.nudge();
                    // Deleted text may have left the index only now.
                    if let Err(error) = core.store.scrub().await {
                        tracing::warn!(%error, "cannot empty the database's log");
                    }
                    break;
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot derive entries; it is tried again after the next write");
                    break;
                }
            }
        }
        is_behind.store(false, Ordering::Relaxed);
    }
}

/// Checks once for entries that are missing or whose index is damaged, and marks them to be derived again.
async fn check(core: Weak<Core>) {
    let (mut after, mut damaged) = (0, 0);
    while let Some(core) = core.upgrade() {
        match check_some(&core.store, after).await {
            Ok(Some((last, found))) => {
                (after, damaged) = (last, damaged + found);
                tokio::task::yield_now().await;
            }
            Ok(None) => break,
            Err(error) => {
                tracing::warn!(%error, "cannot check the entries; it is tried again at the next start");
                break;
            }
        }
    }
    if damaged > 0 {
        tracing::warn!(damaged, "entries lacked a part of their index, and are derived again");
    }
}

/// Checks some entries after `after`. The first call also checks whether entries are missing. Returns the last checked
/// entry and the number of entries that will be derived again, or `None` if there is nothing left to check.
async fn check_some(store: &Store, after: i64) -> Result<Option<(i64, usize)>> {
    let mut found = 0;
    if after == 0 && store.read_all(repair::some_are_lost).await? {
        found += store.write(repair::restore).await?;
    }
    let Some((last, damaged)) = store.read_all(move |c| repair::check(c, after, CHECKED)).await? else {
        return Ok((found > 0).then_some((after, found)));
    };
    found += damaged.len();
    if !damaged.is_empty() {
        store.write(move |c| repair::derive_again(c, &damaged)).await?;
    }
    Ok(Some((last, found)))
}
